//! Somebody to ask, and something to ask for.

use std::sync::Mutex;

use haft::permission::{
    Answer, Ask, Asker, Gate, Permit, Question, Reach, Reply, Request, Resource, Showing,
};
use haft::{Action, BoxFuture, Change, ToolContext, ToolError};

/// Who is there to be asked.
#[derive(Clone)]
pub(crate) enum Somebody {
    /// Nobody.
    Nobody,
    /// Somebody who never answers here; replies come through the gate.
    Elsewhere,
    /// Somebody who answers at once.
    Answers(Reply),
}

/// An asker that takes down what it was asked and answers as it is told to.
pub(crate) struct Patient {
    who: Mutex<Somebody>,
    asked: Mutex<Vec<String>>,
}

impl Default for Patient {
    fn default() -> Patient {
        Patient { who: Mutex::new(Somebody::Nobody), asked: Mutex::default() }
    }
}

impl Patient {
    pub(crate) fn is(&self, who: Somebody) {
        *self.who.lock().unwrap() = who;
    }

    /// What was asked, in order.
    pub(crate) fn asked(&self) -> String {
        self.asked.lock().unwrap().join("; ")
    }
}

impl Asker for Patient {
    fn ask<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Answer> {
        self.asked.lock().unwrap().push(request.wanted());
        let who = self.who.lock().unwrap().clone();
        match who {
            Somebody::Nobody => {
                Box::pin(std::future::ready(Answer::Nobody("run it on a terminal".to_owned())))
            }
            Somebody::Elsewhere => Box::pin(std::future::pending()),
            Somebody::Answers(reply) => Box::pin(std::future::ready(Answer::Reply(reply))),
        }
    }
}

/// A target that consent is needed for: `edit src/a.rs`, with what an "always" would save.
#[derive(Debug, Clone)]
pub(crate) struct Asks {
    questions: Vec<Question>,
    perhaps: Vec<Question>,
    reach: Reach,
}

impl Asks {
    pub(crate) fn to(action: &str, resource: &str) -> Asks {
        let question = Question::new(Action::new(action), Resource::new(resource));
        Asks { questions: vec![question], perhaps: Vec::new(), reach: Reach::Changes }
    }

    /// Another resource in the same question.
    pub(crate) fn also(mut self, resource: &str) -> Asks {
        self.questions.last_mut().unwrap().resources.push(Resource::new(resource));
        self
    }

    /// Another question after these.
    pub(crate) fn then(mut self, action: &str, resource: &str) -> Asks {
        self.questions.push(Question::new(Action::new(action), Resource::new(resource)));
        self
    }

    pub(crate) fn saving(mut self, pattern: &str) -> Asks {
        self.questions.last_mut().unwrap().save.push(pattern.to_owned());
        self
    }

    /// What acting on it might do.
    pub(crate) fn perhaps(mut self, action: &str, resource: &str) -> Asks {
        self.perhaps.push(Question::new(Action::new(action), Resource::new(resource)).saving(resource));
        self
    }

    pub(crate) fn looking(mut self) -> Asks {
        self.reach = Reach::Looks;
        self
    }

    /// Asks the gate and says what came of it.
    pub(crate) async fn of(self, gate: &Gate, context: &ToolContext) -> String {
        let asked: Result<Permit<Asks>, ToolError> = gate.grant(context, self).await;
        match asked {
            Ok(permit) => {
                let question = permit.target().questions.first();
                format!("permitted {}", question.map_or("nothing", |q| q.resources[0].name()))
            }
            Err(ToolError::Refused(refusal)) => format!("refused: {refusal}"),
            Err(ToolError::Declined) => "declined".to_owned(),
            Err(ToolError::Edited(input)) => format!("edited: {input}"),
            Err(ToolError::Failure(words)) => format!("failure: {words}"),
            Err(ToolError::Defect(error)) => format!("defect: {error}"),
            Err(ToolError::Invalid(_) | ToolError::Stale | ToolError::Retain(_)) => {
                unreachable!("a gate judges no input and keeps no output")
            }
        }
    }
}

impl Ask for Asks {
    fn questions(&self) -> Vec<Question> {
        self.questions.clone()
    }

    fn perhaps(&self) -> Vec<Question> {
        self.perhaps.clone()
    }

    fn reach(&self) -> Reach {
        self.reach
    }

    fn changes(&self) -> Vec<Change> {
        Vec::new()
    }

    fn show(&self) -> Showing {
        Showing { title: "a change".to_owned(), detail: String::new() }
    }
}
