//! What is asked and answered: questions about a target, requests that wait, replies, and who can be asked.

use std::sync::Arc;

use super::decision::Decision;
use super::grant::Scope;
use super::resource::Resource;
use super::rule::Ruleset;
use serde_json::Value;

use crate::BoxFuture;
use crate::id::{InquiryId, RequestId};
use crate::journal::Change;
use crate::name::Action;
use crate::secrets::command_without_secrets;
use crate::tool::ToolContext;
use crate::visible::visible;

/// What is to be done to what, put as one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What is to be done.
    pub action: Action,
    /// To what.
    pub resources: Vec<Resource>,
    /// The patterns that an "always" would allow from then on.
    pub save: Vec<String>,
}

impl Question {
    /// A question about one resource.
    pub fn new(action: Action, resource: Resource) -> Question {
        Question { action, resources: vec![resource], save: Vec::new() }
    }

    /// Questions of the same action as one, in the order in which the actions first come: a person is asked once.
    pub fn merged(questions: impl IntoIterator<Item = Question>) -> Vec<Question> {
        let mut merged: Vec<Question> = Vec::new();
        for question in questions {
            let Some(known) = merged.iter_mut().find(|known| known.action == question.action) else {
                merged.push(question);
                continue;
            };
            for resource in question.resources {
                if !known.resources.contains(&resource) {
                    known.resources.push(resource);
                }
            }
            for pattern in question.save {
                if !known.save.contains(&pattern) {
                    known.save.push(pattern);
                }
            }
        }
        merged
    }

    /// Says what an "always" would allow.
    pub fn saving(mut self, pattern: impl Into<String>) -> Question {
        self.save.push(pattern.into());
        self
    }
}

/// Whether an effect only looks at the world or changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// It looks.
    Looks,
    /// It changes something, so it is on record before it begins.
    Changes,
}

/// What a person is shown beside a question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Showing {
    /// One line.
    pub title: String,
    /// More, such as a diff. It is exactly what will happen.
    pub detail: String,
}

/// A target that consent is needed for. Whatever is needed to act on it is in it.
pub trait Ask: Send + Sync {
    /// What has to be agreed to, in order.
    fn questions(&self) -> Vec<Question>;

    /// What acting on it might do without anybody knowing beforehand. It is asked about where a rule denies something of
    /// the kind, and nowhere else; neither a rule nor a grant answers it.
    fn perhaps(&self) -> Vec<Question> {
        Vec::new()
    }

    /// Whether acting on it changes anything.
    fn reach(&self) -> Reach;

    /// The files that acting on it changes, by which a later process can tell whether it was done, and undo it.
    fn changes(&self) -> Vec<Change> {
        Vec::new()
    }

    /// What a person is shown.
    fn show(&self) -> Showing {
        Showing::default()
    }
}

/// A question that waits for somebody's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Its identity, to answer it by.
    pub id: RequestId,
    /// The call that asks.
    pub context: ToolContext,
    /// What is asked.
    pub question: Question,
    /// What was decided about each resource.
    pub decisions: Vec<Decision>,
    /// What a person is shown.
    pub showing: Showing,
    /// The input of the call, as long as it can still be another: until something was changed by it.
    pub input: Option<Value>,
}

impl Request {
    /// What is to be done, to what, in one line that is safe to print.
    pub fn wanted(&self) -> String {
        let names: Vec<&str> = self.question.resources.iter().map(Resource::name).collect();
        visible(&format!("{} {}", self.question.action, names.join(", ")))
    }
}

/// A person's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// This time.
    Once,
    /// This time, and whenever one of the question's patterns matches.
    Always(Scope),
    /// No, and, if words are given, what to do instead.
    Reject(Option<String>),
    /// Not this, but the same tool with this input. The call begins anew: the input is decoded like any other, and
    /// whatever it does is asked for again.
    Edit(Value),
}

impl Reply {
    /// Reads `once`, `always` or `reject`, and the older `allow`, `allow_always` and `deny`.
    pub fn parse(word: &str, scope: Scope, words: Option<String>) -> Option<Reply> {
        match word {
            "once" | "allow" => Some(Reply::Once),
            "always" | "allow_always" => Some(Reply::Always(scope)),
            "reject" | "deny" => Some(Reply::Reject(words.filter(|words| !words.trim().is_empty()))),
            _ => None,
        }
    }

    /// The word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Reply::Once => "once",
            Reply::Always(_) => "always",
            Reply::Reject(_) => "reject",
            Reply::Edit(_) => "edit",
        }
    }
}

/// What came of putting a question to somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// They replied.
    Reply(Reply),
    /// There is nobody to ask; the hint says what would help.
    Nobody(String),
}

/// Somebody who can be asked: a terminal, a queue, a page.
pub trait Asker: Send + Sync {
    /// Puts a question. One that is answered through [`Gate::reply`] instead may wait here for ever.
    fn ask<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Answer>;

    /// Puts questions of the model's own.
    fn inquire<'a>(&'a self, _inquiry: &'a Inquiry) -> BoxFuture<'a, Told> {
        Box::pin(std::future::ready(Told::Nobody("nobody is there to answer questions".to_owned())))
    }
}

/// Questions of the model's own, which concern no permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inquiry {
    /// Its identity, to answer it by.
    pub id: InquiryId,
    /// The call that asks.
    pub context: ToolContext,
    /// The questions.
    pub questions: Vec<Inquired>,
}

/// One question of the model's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inquired {
    /// The question.
    pub question: String,
    /// A word or two for it.
    pub header: String,
    /// What can be chosen.
    pub options: Vec<Choice>,
    /// Whether several can be chosen.
    pub is_multiple: bool,
    /// Whether an answer in one's own words is welcome.
    pub takes_words: bool,
}

/// Something that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What is chosen.
    pub label: String,
    /// What it means.
    pub description: String,
}

/// What came of putting questions to somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// For each question what was chosen or said; nothing where it was left open.
    Answers(Vec<Vec<String>>),
    /// They do not want to answer, which ends the turn.
    Dismissed,
    /// There is nobody to ask; the hint says what would help.
    Nobody(String),
}

/// Nobody. Every question is refused at once, with this hint.
pub struct Nobody(pub String);

impl Asker for Nobody {
    fn ask<'a>(&'a self, _request: &'a Request) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::ready(Answer::Nobody(self.0.clone())))
    }

    fn inquire<'a>(&'a self, _inquiry: &'a Inquiry) -> BoxFuture<'a, Told> {
        Box::pin(std::future::ready(Told::Nobody(self.0.clone())))
    }
}

/// The rules that hold for a call.
pub trait Policy: Send + Sync {
    /// The rules, all layers joined, for the agent and session of a call.
    fn rules(&self, context: &ToolContext) -> Arc<Ruleset>;
}

/// The same rules for every call.
impl Policy for Arc<Ruleset> {
    fn rules(&self, _context: &ToolContext) -> Arc<Ruleset> {
        self.clone()
    }
}

/// What was to be done as a refusal tells it, which is kept and shown where nobody has to agree: without its secrets.
pub(super) fn told(question: &Question) -> String {
    let names: Vec<String> =
        question.resources.iter().map(|resource| command_without_secrets(resource.name())).collect();
    visible(&format!("{} {}", question.action, names.join(", ")))
}
