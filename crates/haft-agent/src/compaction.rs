//! Summaries: a conversation that becomes too long is told in short, and goes on from there.

use haft::{Content, Finish, Message, Part, Role};
use serde_json::json;

use crate::context;
use crate::conversation::{Conversation, RunError};
use crate::interrupt::Interrupt;
use crate::provider::{Delta, Options, Prompt, ProviderError, Utterance};

/// So much room a model keeps for its answer.
const ROOM_TOKENS: u64 = 20_000;

const SYSTEM: &str = "You summarise a conversation between a person and a coding agent, so that the agent can go on with nothing but your summary. Keep: what the person wants, in their own words where it matters; decisions and their reasons; what was done, with the paths of files and what changed in them; what failed and why; what is left to do, in order. Leave out greetings and what is settled for good. Write no call of a tool.";

const REQUEST: &str = "Summarise our conversation so far as you were told to.";

impl Conversation {
    /// Whether the last answer left too little room for the next.
    pub(crate) fn is_too_long(&self) -> bool {
        let Some(limit) = self.served.info.context else { return false };
        let last = self.history.messages.iter().rfind(|message| message.role == Role::Assistant);
        let room = ROOM_TOKENS.min(limit / 4);
        last.is_some_and(|last| !last.is_summary && last.usage.context() > limit.saturating_sub(room))
    }

    /// Has the conversation summarised, and goes on from the summary.
    pub(crate) async fn compact(&mut self, interrupt: &Interrupt) -> Result<(), RunError> {
        self.status("compacting");
        let mut conversation = context::told(&self.history, &self.pruned, &self.served.model);
        // What does not fit cannot be summarised either: the oldest goes first.
        let mut summary = loop {
            let prompt = Prompt {
                model: self.served.model.id.clone(),
                agent: self.agent.name.clone(),
                system: vec![SYSTEM.to_owned()],
                conversation: with_request(&conversation),
                tools: Vec::new(),
                options: Options::default(),
            };
            let written = tokio::select! {
                written = self.write_summary(&prompt) => written,
                () = interrupt.fired() => return Ok(()),
            };
            match written {
                Ok(summary) => break summary,
                Err(ProviderError::TooLong(_)) if conversation.len() > 2 => {
                    let half = conversation.len() / 2;
                    let from = conversation
                        .iter()
                        .skip(half)
                        .position(|utterance| {
                            matches!(utterance, Utterance::User(_) | Utterance::Assistant(_))
                        })
                        .map_or(conversation.len() - 1, |at| half + at);
                    conversation.drain(..from);
                }
                Err(error) => return Err(error.into()),
            }
        };
        summary.is_summary = true;
        let parts = self.agency.parts();
        // What the person asked last must stay in their own words.
        let asked = self.history.messages.iter().rfind(|message| message.role == Role::User).cloned();
        parts.transcript.save(&self.lease, &summary).await?;
        self.history.messages.push(summary);
        let mut next = Message::new(Role::User, self.agent.name.clone());
        next.model = Some(self.served.model.clone());
        next.finish = Some(Finish::Stop);
        next.parts = asked.map(|asked| asked.parts).unwrap_or_default();
        next.parts.push(Part::synthetic("Go on with what is left to do; if nothing is, say so."));
        parts.transcript.save(&self.lease, &next).await?;
        self.history.messages.push(next);
        self.tell("session.compacted", json!({})).await;
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

fn with_request(conversation: &[Utterance]) -> Vec<Utterance> {
    let request = Utterance::User(vec![Content::Text(REQUEST.to_owned())]);
    conversation.iter().cloned().chain([request]).collect()
}
