//! Questions of the model's own, put to whoever is there, announced before and after.

use std::sync::Arc;

use haft::permission::{Asker, Inquired, Inquiry, Told};
use haft::{Event, Events, InquiryId, ToolContext, ToolError};
use serde_json::{Value, json};

use crate::services::ToolServices;

/// Puts questions.
#[derive(Clone)]
pub(crate) struct Asking {
    asker: Arc<dyn Asker>,
    events: Events,
}

impl Asking {
    pub(crate) fn new(services: &ToolServices) -> Asking {
        Asking { asker: services.asker.clone(), events: services.events.clone() }
    }

    /// Puts questions and waits for an answer to each; nothing is chosen where one was left open.
    pub(crate) async fn ask(
        &self,
        context: &ToolContext,
        questions: Vec<Inquired>,
    ) -> Result<Vec<Vec<String>>, ToolError> {
        let count = questions.len();
        let inquiry = Inquiry { id: InquiryId::mint(), context: context.clone(), questions };
        self.publish("question.asked", context, asked(&inquiry)).await?;
        let told = self.asker.inquire(&inquiry).await;
        let mut body = json!({ "sessionID": context.session.as_str(), "requestID": inquiry.id.as_str() });
        match told {
            Told::Answers(mut answers) => {
                answers.resize(count, Vec::new());
                body["answers"] = json!(answers);
                self.publish("question.replied", context, body).await?;
                Ok(answers)
            }
            Told::Dismissed => {
                self.publish("question.rejected", context, body).await?;
                Err(ToolError::Declined)
            }
            Told::Nobody(hint) => {
                self.publish("question.rejected", context, body).await?;
                let message = "the question could not be put, because nobody is there to answer it; go on with what you know";
                Err(ToolError::Failure(format!("{message} ({hint})")))
            }
        }
    }

    async fn publish(&self, name: &'static str, context: &ToolContext, body: Value) -> Result<(), ToolError> {
        self.events.publish(Event::Reported { name, context: context.clone(), body }).await?;
        Ok(())
    }
}

/// The questions as people's programs are told of them.
fn asked(inquiry: &Inquiry) -> Value {
    let question = |asked: &Inquired| {
        let options: Vec<Value> = asked
            .options
            .iter()
            .map(|option| json!({ "label": option.label, "description": option.description }))
            .collect();
        json!({
            "question": asked.question,
            "header": asked.header,
            "options": options,
            "multiple": asked.is_multiple,
            "custom": asked.takes_words,
        })
    };
    json!({
        "id": inquiry.id.as_str(),
        "sessionID": inquiry.context.session.as_str(),
        "questions": inquiry.questions.iter().map(question).collect::<Vec<_>>(),
        "tool": {
            "messageID": inquiry.context.message.as_str(),
            "callID": inquiry.context.call.as_str(),
        },
    })
}
