//! Summaries: a conversation that becomes too long is told in short, and goes on from there.

use std::sync::Arc;

use haft::{Content, Finish, Message, Part, Role};
use serde_json::json;

use crate::conversation::{Conversation, Onward, RunError};
use crate::influence::{Compacted, Summarising, TextPlace};
use crate::interrupt::Interrupt;
use crate::provider::{Delta, Options, Prompt, ProviderError, Told, Utterance};
use crate::step::Pause;

/// So much room a model keeps for its answer.
const ROOM_TOKENS: u64 = 20_000;

const SYSTEM: &str = "You summarise a conversation between a person and a coding agent, so that the agent can go on with nothing but your summary. Keep: what the person wants, in their own words where it matters; decisions and their reasons; what was done, with the paths of files and what changed in them; what failed and why; what is left to do, in order. Leave out greetings and what is settled for good. Write no call of a tool.";

/// What stands before the rest of a conversation that does not fit.
const LEFT_OUT: &str = "The beginning of the conversation is left out, because it is too long.";

const REQUEST: &str = "Summarise our conversation so far as you were told to.";

impl Conversation {
    /// Whether the last answer left too little room for the next.
    pub(crate) fn is_too_long(&self) -> bool {
        let Some(limit) = self.served.info.context else { return false };
        let last = self.past.messages.iter().rfind(|message| message.role == Role::Assistant);
        let room = ROOM_TOKENS.min(limit / 4);
        last.is_some_and(|last| !last.is_summary && last.usage.context() > limit.saturating_sub(room))
    }

    /// Has the conversation summarised, and goes on from the summary.
    pub(crate) async fn compact(
        &mut self,
        interrupt: &Interrupt,
        why: Compacted,
    ) -> Result<Onward, RunError> {
        self.status("compacting");
        let influence = self.agency.parts().influence.clone();
        let asked_for = influence.summary(self.moment()).await.map_err(RunError::Influence)?;
        let request = request(asked_for);
        let mut conversation = self.told().await?;
        let mut pauses = 0;
        // What does not fit cannot be summarised either: the oldest goes first.
        let mut summary = loop {
            let told = conversation.iter().cloned().chain([in_words(&request)]).collect();
            let writing = async {
                let prompt = self.prompt_of(vec![SYSTEM.to_owned()], told, Options::default()).await?;
                Ok::<_, RunError>(self.write_summary(&prompt).await)
            };
            let written = tokio::select! {
                written = writing => written?,
                () = interrupt.fired() => return Ok(Onward::GoesOn),
            };
            match written {
                Ok(summary) => break summary,
                Err(ProviderError::TooLong(_)) if conversation.len() > 2 => {
                    conversation = newer_half(&conversation);
                }
                // Without a summary nothing goes on, so it is worth as much patience as an answer.
                Err(error) => match self.wait_after(error, &mut pauses, interrupt).await? {
                    Pause::Over => {}
                    Pause::Interrupted => return Ok(Onward::GoesOn),
                },
            }
        };
        summary.is_summary = true;
        self.edit_text(&mut summary).await?;
        let goes_on = influence.goes_on(self.moment(), why).await.map_err(RunError::Influence)?;
        let is_answered = self.past.messages.last().is_some_and(|last| last.role == Role::Assistant);
        let parts = self.agency.parts();
        // What the person asked last must stay in their own words.
        let asked = last_request(&self.past.messages);
        parts.transcript.save(&self.lease, &summary).await?;
        self.past.messages.push(summary);
        self.past.forget_outputs();
        if !goes_on && is_answered {
            self.tell("session.compacted", json!({})).await;
            return Ok(Onward::Stops);
        }
        let mut next = Message::new(Role::User, self.agent.name.clone());
        next.model = Some(self.served.model.clone());
        next.finish = Some(Finish::Stop);
        next.parts = asked;
        next.parts.push(Part::synthetic("Go on with what is left to do; if nothing is, say so."));
        parts.transcript.save(&self.lease, &next).await?;
        self.past.messages.push(next);
        self.tell("session.compacted", json!({})).await;
        Ok(Onward::GoesOn)
    }

    async fn edit_text(&self, summary: &mut Message) -> Result<(), RunError> {
        let influence = &self.agency.parts().influence;
        if let Some(Part::Text { text, .. }) = summary.parts.last_mut().filter(|_| influence.edits_text()) {
            let place = TextPlace { message: &summary.id, part: 0 };
            let edited = influence.text(self.moment(), place, std::mem::take(text)).await;
            *text = edited.map_err(RunError::Influence)?;
        }
        Ok(())
    }

    async fn write_summary(&self, prompt: &Prompt) -> Result<Message, ProviderError> {
        let mut message = Message::new(Role::Assistant, self.agent.name.clone());
        message.model = Some(self.served.model.clone());
        let mut text = String::new();
        let mut deltas = self.served.provider.answer(prompt).await?;
        while let Some(delta) = deltas.next().await {
            match delta? {
                Delta::Text(piece) => text.push_str(&piece),
                Delta::Usage(usage) => message.usage = usage,
                Delta::Finished(_) => {
                    message.finish = Some(Finish::Stop);
                    message.parts.push(Part::text(text));
                    return Ok(message);
                }
                Delta::Reasoning(_) | Delta::ReasoningEnd(_) | Delta::Calling { .. } | Delta::Call(_) => {}
            }
        }
        Err(ProviderError::Broken {
            provider: self.served.model.provider.clone(),
            message: "the summary ended before it was finished".to_owned(),
        })
    }
}

/// The newer half of a conversation. No provider takes one that begins with an answer, or with results of calls that are
/// not in it.
fn newer_half(conversation: &[Arc<Told>]) -> Vec<Arc<Told>> {
    let newer = conversation.iter().skip(conversation.len().div_ceil(2));
    let newer = newer.skip_while(|told| matches!(told.utterance(), Utterance::Results(_)));
    std::iter::once(in_words(LEFT_OUT)).chain(newer.cloned()).collect()
}

/// What a person said last; what haft said in their place is said anew.
fn last_request(messages: &[Message]) -> Vec<Part> {
    let by_person = |part: &&Part| match part {
        Part::Text { is_synthetic, .. } => !is_synthetic,
        Part::Media { .. } => true,
        Part::Reasoning { .. } | Part::Call(_) => false,
    };
    let of_people = messages.iter().rev().filter(|message| message.role == Role::User);
    let said = of_people.map(|message| message.parts.iter().filter(by_person).cloned().collect());
    said.into_iter().find(|parts: &Vec<Part>| !parts.is_empty()).unwrap_or_default()
}

/// The words that ask for a summary.
fn request(Summarising { request, context }: Summarising) -> String {
    request.unwrap_or_else(|| {
        let usual = std::iter::once(REQUEST.to_owned());
        usual.chain(context).collect::<Vec<_>>().join("\n\n")
    })
}

/// What is said in the place of the person.
fn in_words(text: &str) -> Arc<Told> {
    Arc::new(Told::new(Utterance::User(vec![Content::Text(text.to_owned())])))
}

#[cfg(test)]
mod tests {
    use haft::AgentId;

    use super::*;
    use crate::provider::{CallResult, Uttered};

    fn answer(text: &str) -> Arc<Told> {
        Arc::new(Told::new(Utterance::Assistant(vec![Uttered::Text(text.to_owned())])))
    }

    fn results() -> Arc<Told> {
        let (id, name) = ("a".to_owned(), "read".to_owned());
        let result = CallResult { id, name, content: Vec::new().into(), is_error: false };
        Arc::new(Told::new(Utterance::Results(vec![result])))
    }

    #[test]
    fn what_is_left_of_a_conversation_begins_with_the_person_and_gets_shorter() {
        let utterance = |told: Option<&Arc<Told>>| told.map(|told| told.utterance().clone());
        let mut conversation =
            vec![in_words("go"), answer("one"), results(), answer("two"), results(), answer("three")];
        let mut lengths = Vec::new();
        while conversation.len() > 2 {
            conversation = newer_half(&conversation);
            assert_eq!(utterance(conversation.first()), utterance(Some(&in_words(LEFT_OUT))));
            assert!(
                !matches!(utterance(conversation.get(1)), Some(Utterance::Results(_))),
                "{conversation:?}"
            );
            lengths.push(conversation.len());
        }
        assert_eq!(lengths, [4, 2]);
        assert_eq!(utterance(conversation.last()), utterance(Some(&answer("three"))));
    }

    #[test]
    fn what_the_person_asked_for_stays_and_what_haft_said_for_them_does_not() {
        let said = |parts: Vec<Part>| {
            let mut message = Message::new(Role::User, AgentId::parse("build").unwrap());
            message.parts = parts;
            message
        };
        let go_on = || said(vec![Part::synthetic("Go on with what is left.")]);
        let asked = said(vec![Part::text("fix it"), Part::synthetic("Go on with what is left.")]);
        assert_eq!(last_request(&[asked, go_on(), go_on()]), [Part::text("fix it")]);
        assert_eq!(last_request(&[go_on()]), []);
    }
}
