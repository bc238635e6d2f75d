//! Calls as they are pieced together from a stream.

use haft::Finish;
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

/// The calls of one answer, as they are complete. Whether one comes twice is for whoever begins them to see.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    given: usize,
    /// Ended, but not as JSON: whether they were cut is known at the end of the answer.
    doubtful: Vec<Draft>,
}

/// How an answer ended, for the calls in it that are not whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// The model wrote them so, and is told.
    Written,
    /// It ran out of room while it wrote them, and is told that.
    Cut,
    /// Its provider held the rest back: there is no call.
    Withheld,
}

impl Rest {
    pub(crate) fn of(finish: &Finish) -> Rest {
        match finish {
            Finish::Length => Rest::Cut,
            Finish::Filtered => Rest::Withheld,
            Finish::Stop | Finish::Calls | Finish::Interrupted | Finish::Failed(_) => Rest::Written,
        }
    }
}

impl Calls {
    /// Whether there were any.
    pub(crate) fn any(&self) -> bool {
        self.given > 0 || !self.doubtful.is_empty()
    }

    /// Takes a call that has ended.
    pub(crate) fn end(&mut self, draft: Draft, out: &mut Vec<Delta>) {
        match draft.is_whole() {
            true => self.give(draft, false, out),
            false => self.doubtful.push(draft),
        }
    }

    /// Takes a call of which the provider itself says that it was cut.
    pub(crate) fn cut(&mut self, draft: Draft, out: &mut Vec<Delta>) {
        self.give(draft, true, out);
    }

    /// The end of the answer.
    pub(crate) fn finish(&mut self, rest: Rest, out: &mut Vec<Delta>) {
        for mut draft in std::mem::take(&mut self.doubtful) {
            // Who needs no arguments may write none; who was cut may have wanted to.
            if rest == Rest::Written && draft.arguments.trim().is_empty() {
                draft.arguments = "{}".to_owned();
            }
            match rest {
                Rest::Written => self.give(draft, false, out),
                Rest::Cut => self.give(draft, true, out),
                Rest::Withheld => {}
            }
        }
    }

    fn give(&mut self, draft: Draft, is_cut: bool, out: &mut Vec<Delta>) {
        if self.given >= CALLS_MAX {
            return;
        }
        let Draft { mut id, name, arguments, opaque } = draft;
        if id.is_empty() {
            id = format!("call_{}", self.given);
        }
        self.given += 1;
        out.push(Delta::Call(ModelCall { id, name, arguments, opaque, is_cut }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(id: &str, arguments: &str) -> Draft {
        let (id, name) = (id.to_owned(), "t".to_owned());
        Draft { id, name, arguments: arguments.to_owned(), opaque: None }
    }

    /// What is given of calls, one line each.
    fn given(drafts: &[(&str, &str)], rest: Rest) -> Vec<String> {
        let (mut calls, mut out) = (Calls::default(), Vec::new());
        drafts.iter().for_each(|(id, arguments)| calls.end(draft(id, arguments), &mut out));
        calls.finish(rest, &mut out);
        let call = |delta| match delta {
            Delta::Call(call) => {
                format!("{} {}{}", call.id, call.arguments, if call.is_cut { " cut" } else { "" })
            }
            other => panic!("{other:?}"),
        };
        out.into_iter().map(call).collect()
    }

    #[test]
    fn calls_without_an_id_are_told_apart() {
        assert_eq!(given(&[("", "{}"), ("", "")], Rest::Written), ["call_0 {}", "call_1 {}"]);
    }

    #[test]
    fn a_call_that_was_cut_is_told_as_cut_and_one_that_is_wrong_as_it_is() {
        let written = [("a", "{\"x\": 1"), ("b", "{}")];
        assert_eq!(given(&written, Rest::Written), ["b {}", "a {\"x\": 1"]);
        assert_eq!(given(&written, Rest::Cut), ["b {}", "a {\"x\": 1 cut"]);
        assert_eq!(given(&written, Rest::Withheld), ["b {}"]);
    }

    #[test]
    fn a_call_that_was_cut_before_its_first_argument_is_no_call_without_arguments() {
        assert_eq!(given(&[("a", "")], Rest::Written), ["a {}"]);
        assert_eq!(given(&[("a", "")], Rest::Cut), ["a  cut"]);
    }
}
