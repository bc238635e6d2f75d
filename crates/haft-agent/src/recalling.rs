//! A conversation on record, for those who only look at it.

use haft::{CallPart, Content, History, Message};

use crate::influence::{Recalled, RecalledResult};
use crate::past;

/// Every message that is on record, each with what came of its calls. A call whose message is still being written and
/// that has no end yet is under way, so it has no result; one in a finished message never came to its end.
pub fn recall(history: History) -> Vec<Recalled> {
    let History { messages, mut ended, .. } = history;
    let mut result = |message: &Message, call: &CallPart| {
        let (content, is_error) = match ended.remove(&call.call).map(past::told) {
            Some((content, kind)) => (content, kind.is_error()),
            None if message.finish.is_none() => return None,
            None => (vec![Content::Text(past::INTERRUPTED.to_owned())], true),
        };
        Some(RecalledResult { call: call.call.clone(), content: content.into(), is_error })
    };
    let mut recalled = Vec::with_capacity(messages.len());
    for message in messages {
        let results = message.calls().filter_map(|call| result(&message, call)).collect();
        recalled.push(Recalled { message, results });
    }
    recalled
}

/// Those that still count for the model: the last summary and what follows it.
pub fn since_summary(messages: &[Recalled]) -> &[Recalled] {
    let summary = messages.iter().rposition(|recalled| recalled.message.is_summary);
    &messages[summary.unwrap_or(0)..]
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use haft::{AgentId, CallId, Ended, Finish, Input, Part, Role};
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_are_under_way_only_in_a_message_that_is_being_written() {
        let message = |finish: Option<Finish>| {
            let call = CallPart {
                call: CallId::mint(),
                provider_id: "c".to_owned(),
                name: "read".to_owned(),
                input: Input::Json(json!({})),
                opaque: None,
            };
            let mut message = Message::new(Role::Assistant, AgentId::parse("build").unwrap());
            message.finish = finish;
            message.with(Part::Call(call))
        };
        let [ended, lost, under_way] =
            [message(Some(Finish::Calls)), message(Some(Finish::Calls)), message(None)];
        let first = ended.calls().next().unwrap().call.clone();
        let history = History {
            parent: None,
            messages: vec![ended, lost, under_way],
            ended: HashMap::from([(first, Ended::Declined)]),
        };
        let recalled = recall(history);
        let told = |at: usize| {
            let result = recalled[at].results.first()?;
            Some((result.is_error, result.content[0].as_text()?.to_owned()))
        };
        assert_eq!(told(0), Some((true, "The user declined this call.".to_owned())));
        assert_eq!(told(1), Some((true, past::INTERRUPTED.to_owned())));
        assert_eq!(told(2), None);
    }

    #[test]
    fn what_came_before_a_summary_does_not_count() {
        let message = |is_summary| {
            let agent = AgentId::parse("build").unwrap();
            Recalled {
                message: Message { is_summary, ..Message::new(Role::Assistant, agent) },
                results: Vec::new(),
            }
        };
        let messages = [message(false), message(true), message(false)];
        assert_eq!(since_summary(&messages), &messages[1..]);
        assert_eq!(since_summary(&messages[..1]), &messages[..1]);
    }
}
