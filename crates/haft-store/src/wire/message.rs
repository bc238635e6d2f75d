//! How a message is written down. What providers want back unread is not redacted: changed, it would be refused.

use haft::{AgentId, CallId, CallPart, Finish, Input, Message, MessageId, Model, Note, Part, Role, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Media, MediaOf, Pen};
use crate::fault::Fault;
use crate::redact::Redactor;

/// Puts a message into its record, with the media it refers to.
pub(crate) fn encode(message: &Message, redactor: &Redactor) -> Result<(String, Vec<Media>), Fault> {
    let mut media = Vec::new();
    let record = MessageRecord::of(message, &mut Pen { redactor, media: &mut media })?;
    let json = serde_json::to_string(&record).map_err(|error| Fault::Json("a message", error))?;
    Ok((json, media))
}

/// The same for a message that is not said yet. Who is spoken to is left open unless the note says so.
pub(crate) fn encode_note(note: &Note, redactor: &Redactor) -> Result<(String, Vec<Media>), Fault> {
    let mut media = Vec::new();
    let pen = &mut Pen { redactor, media: &mut media };
    let parts: Result<_, Fault> = note.parts.iter().map(|part| PartRecord::of(part, pen)).collect();
    let record = MessageRecord {
        agent: note.agent.as_ref().map(AgentId::to_string).unwrap_or_default(),
        model: None,
        parts: parts?,
        usage: [0; 5],
        finish: None,
        summary: false,
    };
    let json = serde_json::to_string(&record).map_err(|error| Fault::Json("a note", error))?;
    Ok((json, media))
}

/// The word for who speaks.
pub(crate) fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct MessageRecord {
    agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<(String, String)>,
    parts: Vec<PartRecord>,
    #[serde(default)]
    usage: [u64; 5],
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finish: Option<FinishRecord>,
    #[serde(default)]
    summary: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum PartRecord {
    Text {
        text: String,
        #[serde(default)]
        synthetic: bool,
    },
    Reasoning {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Value>,
    },
    Media {
        mime: String,
        digest: String,
        name: Option<String>,
    },
    Call {
        call: String,
        provider_id: String,
        name: String,
        input: InputRecord,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Value>,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum InputRecord {
    Json(Value),
    Malformed { text: String, problem: String },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FinishRecord {
    Stop,
    Calls,
    Length,
    Filtered,
    Interrupted,
    Failed(String),
}

impl MessageRecord {
    fn of(message: &Message, pen: &mut Pen<'_>) -> Result<MessageRecord, Fault> {
        let Usage { input, output, reasoning, cache_read, cache_write } = message.usage;
        let parts: Result<_, Fault> = message.parts.iter().map(|part| PartRecord::of(part, pen)).collect();
        Ok(MessageRecord {
            agent: message.agent.to_string(),
            model: message.model.clone().map(|model| (model.provider, model.id)),
            parts: parts?,
            usage: [input, output, reasoning, cache_read, cache_write],
            finish: message.finish.as_ref().map(|finish| match finish {
                Finish::Stop => FinishRecord::Stop,
                Finish::Calls => FinishRecord::Calls,
                Finish::Length => FinishRecord::Length,
                Finish::Filtered => FinishRecord::Filtered,
                Finish::Interrupted => FinishRecord::Interrupted,
                Finish::Failed(why) => FinishRecord::Failed(pen.text(why)),
            }),
            summary: message.is_summary,
        })
    }

    pub(crate) fn into_note(self, id: &str, bytes: MediaOf<'_>) -> Result<Note, Fault> {
        let nonsense = |error: haft::InvalidId| Fault::Nonsense("a note", error.to_string());
        let agent = Some(self.agent).filter(|agent| !agent.is_empty());
        let parts: Result<_, Fault> = self.parts.into_iter().map(|part| part.into_core(bytes)).collect();
        Ok(Note {
            id: MessageId::parse(id).map_err(nonsense)?,
            agent: agent.map(|agent| AgentId::parse(&agent)).transpose().map_err(nonsense)?,
            parts: parts?,
            // Whoever goes on with the session is asked something anyway, and is told this along with it.
            is_aside: false,
        })
    }

    pub(crate) fn into_core(self, id: &str, role: &str, bytes: MediaOf<'_>) -> Result<Message, Fault> {
        let nonsense = |error: haft::InvalidId| Fault::Nonsense("a message", error.to_string());
        let [input, output, reasoning, cache_read, cache_write] = self.usage;
        let parts: Result<_, Fault> = self.parts.into_iter().map(|part| part.into_core(bytes)).collect();
        Ok(Message {
            id: MessageId::parse(id).map_err(nonsense)?,
            role: match role {
                "user" => Role::User,
                _ => Role::Assistant,
            },
            agent: AgentId::parse(&self.agent).map_err(nonsense)?,
            model: self.model.map(|(provider, id)| Model { provider, id }),
            parts: parts?,
            usage: Usage { input, output, reasoning, cache_read, cache_write },
            finish: self.finish.map(|finish| match finish {
                FinishRecord::Stop => Finish::Stop,
                FinishRecord::Calls => Finish::Calls,
                FinishRecord::Length => Finish::Length,
                FinishRecord::Filtered => Finish::Filtered,
                FinishRecord::Interrupted => Finish::Interrupted,
                FinishRecord::Failed(why) => Finish::Failed(why),
            }),
            is_summary: self.summary,
        })
    }
}

impl PartRecord {
    fn of(part: &Part, pen: &mut Pen<'_>) -> Result<PartRecord, Fault> {
        Ok(match part {
            Part::Text { text, is_synthetic } => {
                PartRecord::Text { text: pen.text(text), synthetic: *is_synthetic }
            }
            Part::Reasoning { text, opaque } => {
                PartRecord::Reasoning { text: pen.text(text), opaque: opaque.clone() }
            }
            Part::Media { mime, data, name } => PartRecord::Media {
                digest: pen.media(mime, data),
                mime: mime.clone(),
                name: name.as_deref().map(|name| pen.text(name)),
            },
            Part::Call(CallPart { call, provider_id, name, input, opaque }) => PartRecord::Call {
                call: call.to_string(),
                provider_id: provider_id.clone(),
                name: pen.text(name),
                input: match input {
                    Input::Json(value) => InputRecord::Json(pen.json(value)?),
                    Input::Malformed { text, problem } => {
                        InputRecord::Malformed { text: pen.command(text), problem: pen.text(problem) }
                    }
                },
                opaque: opaque.clone(),
            },
        })
    }

    fn into_core(self, bytes: MediaOf<'_>) -> Result<Part, Fault> {
        Ok(match self {
            PartRecord::Text { text, synthetic } => Part::Text { text, is_synthetic: synthetic },
            PartRecord::Reasoning { text, opaque } => Part::Reasoning { text, opaque },
            PartRecord::Media { mime, digest, name } => Part::Media { mime, data: bytes(&digest)?, name },
            PartRecord::Call { call, provider_id, name, input, opaque } => Part::Call(CallPart {
                call: CallId::parse(&call)
                    .map_err(|error| Fault::Nonsense("a message", error.to_string()))?,
                provider_id,
                name,
                input: match input {
                    InputRecord::Json(value) => Input::Json(value),
                    InputRecord::Malformed { text, problem } => Input::Malformed { text, problem },
                },
                opaque,
            }),
        })
    }
}
