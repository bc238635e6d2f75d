//! Calls that are made in the person's place: which questions about them the person has answered by naming them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use haft::permission::{Answer, Asker, Inquiry, Reply, Request, Told};
use haft::{BoxFuture, CallId};

/// The question whether a call is only made again and again. Who makes it by hand knows.
const REPETITION: &str = "doom_loop";

/// Calls that are made in the person's place. Some questions about them are answered already.
#[derive(Clone, Default)]
pub(crate) struct NamedCalls(Arc<Mutex<HashMap<CallId, By>>>);

impl NamedCalls {
    pub(super) fn add(&self, call: &CallId, by: By) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(call.clone(), by);
    }

    fn is_answered(&self, request: &Request) -> bool {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&request.context.call) {
            Some(By::Person) => true,
            Some(By::Template) => request.question.action.as_str() == REPETITION,
            None => false,
        }
    }
}

/// Answers questions about what the person named, and leaves all others to somebody else.
pub(crate) struct Naming {
    pub(crate) named: NamedCalls,
    pub(crate) otherwise: Arc<dyn Asker>,
}

impl Asker for Naming {
    fn ask<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Answer> {
        match self.named.is_answered(request) {
            true => Box::pin(std::future::ready(Answer::Reply(Reply::Once))),
            false => self.otherwise.ask(request),
        }
    }

    fn inquire<'a>(&'a self, inquiry: &'a Inquiry) -> BoxFuture<'a, Told> {
        self.otherwise.inquire(inquiry)
    }
}

/// Who named a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// The person, who thereby agrees that it is read.
    Person,
    /// A template: the rules decide.
    Template,
}
