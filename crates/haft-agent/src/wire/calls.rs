//! Calls as they are pieced together from a stream.

use serde_json::Value;

use crate::provider::{Delta, ModelCall};

/// The most calls of one answer.
const CALLS_MAX: usize = 512;

/// A call that is being written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Draft {
    /// The provider's id; may be empty.
    pub(crate) id: String,
    /// The tool.
    pub(crate) name: String,
    /// The arguments so far.
    pub(crate) arguments: String,
    /// What the provider wants back.
    pub(crate) opaque: Option<Value>,
}

impl Draft {
    /// Whether the arguments are a whole JSON value.
    pub(crate) fn is_whole(&self) -> bool {
        serde_json::from_str::<serde::de::IgnoredAny>(&self.arguments).is_ok()
    }
}

/// The calls of one answer. Each is given out once.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    given: Vec<ModelCall>,
    /// Ended, but not as JSON: whether they were cut is known at the end of the answer.
    doubtful: Vec<Draft>,
}

impl Calls {
    /// Whether there were any.
    pub(crate) fn any(&self) -> bool {
        !self.given.is_empty() || !self.doubtful.is_empty()
    }

    /// Takes a call that has ended.
    pub(crate) fn end(&mut self, mut draft: Draft, out: &mut Vec<Delta>) {
        if draft.arguments.trim().is_empty() {
            draft.arguments = "{}".to_owned();
        }
        match draft.is_whole() {
            true => self.give(draft, out),
            false => self.doubtful.push(draft),
        }
    }

    /// The end of the answer. If it ran out of room, calls that are not whole were cut and are dropped; else the model
    /// wrote them so, and is told.
    pub(crate) fn finish(&mut self, ran_out: bool, out: &mut Vec<Delta>) {
        for draft in std::mem::take(&mut self.doubtful) {
            if !ran_out {
                self.give(draft, out);
            }
        }
    }

    /// An id that is used twice is made unique, unless it is the same call that came twice.
    fn give(&mut self, draft: Draft, out: &mut Vec<Delta>) {
        let Draft { id, name, arguments, opaque } = draft;
        let same = |call: &ModelCall| call.id == id && call.name == name && call.arguments == arguments;
        if self.given.len() >= CALLS_MAX || !id.is_empty() && self.given.iter().any(same) {
            return;
        }
        let base = if id.is_empty() { format!("call_{}", self.given.len()) } else { id };
        let is_free = |id: &String| self.given.iter().all(|call| call.id != *id);
        let id = std::iter::once(base.clone())
            .chain((2..).map(|n| format!("{base}_{n}")))
            .find(is_free)
            .unwrap_or(base);
        let call = ModelCall { id, name, arguments, opaque };
        self.given.push(call.clone());
        out.push(Delta::Call(call));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(id: &str, arguments: &str) -> Draft {
        let (id, name) = (id.to_owned(), "t".to_owned());
        Draft { id, name, arguments: arguments.to_owned(), opaque: None }
    }

    fn given(drafts: &[(&str, &str)], ran_out: bool) -> Vec<(String, String)> {
        let (mut calls, mut out) = (Calls::default(), Vec::new());
        drafts.iter().for_each(|(id, arguments)| calls.end(draft(id, arguments), &mut out));
        calls.finish(ran_out, &mut out);
        let call = |delta| match delta {
            Delta::Call(call) => (call.id, call.arguments),
            other => panic!("{other:?}"),
        };
        out.into_iter().map(call).collect()
    }

    fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
        of.iter().map(|(id, arguments)| ((*id).to_owned(), (*arguments).to_owned())).collect()
    }

    #[test]
    fn one_call_twice_is_one_call_and_two_with_one_id_are_two() {
        assert_eq!(given(&[("a", "{}"), ("a", "{}")], false), pairs(&[("a", "{}")]));
        assert_eq!(given(&[("a", "{}"), ("a", "[1]")], false), pairs(&[("a", "{}"), ("a_2", "[1]")]));
        assert_eq!(given(&[("", ""), ("", "")], false), pairs(&[("call_0", "{}"), ("call_1", "{}")]));
    }

    #[test]
    fn a_call_that_was_cut_is_dropped_and_one_that_is_wrong_is_told() {
        assert_eq!(given(&[("a", "{\"x\": 1"), ("b", "{}")], true), pairs(&[("b", "{}")]));
        assert_eq!(
            given(&[("a", "{\"x\": 1"), ("b", "{}")], false),
            pairs(&[("b", "{}"), ("a", "{\"x\": 1")])
        );
    }
}
