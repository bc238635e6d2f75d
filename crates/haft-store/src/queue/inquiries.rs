//! Questions of the model's own that wait for somebody in another process.

use haft::permission::{Choice, Inquired, Inquiry, Told};
use haft::{InquiryId, StoreError};
use serde_json::{Value, json};

use super::{Answered, Queue, Waiting};
use crate::fault::Fault;
use crate::store::Store;

/// How ids of inquiries begin.
const INQUIRY: &str = "que_";
const ANSWER: &str = "answer";
const REJECT: &str = "reject";

/// Questions that wait for answers.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingInquiry {
    /// Their identity, to answer them by.
    pub id: InquiryId,
    /// The session that asks.
    pub session: String,
    /// The call that asks.
    pub call: String,
    /// The project it is asked in.
    pub project: String,
    /// When it was asked, in Unix milliseconds.
    pub asked_ms: i64,
    /// The questions.
    pub questions: Vec<Inquired>,
}

impl Queue {
    pub(super) async fn wait_for_answers(&self, inquiry: &Inquiry) -> Result<Told, StoreError> {
        let body = json!({ "questions": inquiry.questions.iter().map(written_question).collect::<Vec<_>>() });
        let answer = self.put_and_wait(inquiry.id.as_str(), &inquiry.context, &body).await?;
        Ok(match answer {
            None => Told::Nobody(self.gave_up()),
            Some(answer) => {
                let answers = answer.words.filter(|_| answer.word == ANSWER);
                let answers = answers.and_then(|answers| serde_json::from_str(&answers).ok());
                answers.map_or(Told::Dismissed, Told::Answers)
            }
        })
    }
}

impl Store {
    /// The questions of living processes that wait for answers, oldest first.
    pub fn pending_inquiries(&self) -> Result<Vec<PendingInquiry>, StoreError> {
        self.waiting(
            "read the questions",
            INQUIRY,
            |Waiting { id, session, call, project, asked_ms, body }| {
                let id = InquiryId::parse(&id)
                    .map_err(|error| Fault::Nonsense("an inquiry", error.to_string()))?;
                let questions = body["questions"].as_array().into_iter().flatten().map(read).collect();
                Ok(PendingInquiry { id, session, call, project, asked_ms, questions })
            },
        )
    }

    /// Answers questions, whichever process asks: for each what was chosen or said, or nothing at all to dismiss them.
    pub async fn answer_inquiry(
        &self,
        id: &InquiryId,
        answers: Option<&[Vec<String>]>,
    ) -> Result<Answered, StoreError> {
        let words = answers.map(|answers| self.0.redactor.redact_json(&json!(answers)).to_string());
        let word = if words.is_some() { ANSWER } else { REJECT };
        self.answer(id.as_str(), word, words, None).await
    }
}

/// A question as it is kept, in opencode's words.
pub fn written_question(asked: &Inquired) -> Value {
    let option = |option: &Choice| json!({ "label": option.label, "description": option.description });
    json!({
        "question": asked.question,
        "header": asked.header,
        "options": asked.options.iter().map(option).collect::<Vec<_>>(),
        "multiple": asked.is_multiple,
        "custom": asked.takes_words,
    })
}

fn read(asked: &Value) -> Inquired {
    let text = |of: &Value, key: &str| of[key].as_str().unwrap_or_default().to_owned();
    let option = |of: &Value| Choice { label: text(of, "label"), description: text(of, "description") };
    Inquired {
        question: text(asked, "question"),
        header: text(asked, "header"),
        options: asked["options"].as_array().into_iter().flatten().map(option).collect(),
        is_multiple: asked["multiple"] == true,
        takes_words: asked["custom"] == true,
    }
}
