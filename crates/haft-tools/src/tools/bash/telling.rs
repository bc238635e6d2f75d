//! What the model is told of a command.

use std::time::Duration;

use haft::ToolError;

use super::Output;
use crate::jobs::Job;
use crate::process::{Ending, Ran, Shown, Traces, besides, taken_away};

/// What the model is told of a command that was started in the background.
pub(super) fn begun(job: &Job, has_timeout: bool) -> Output {
    let mut notes = vec![format!("it runs in the background as {}. {HOW_TO_FOLLOW}", job.id())];
    if has_timeout {
        notes.push("timeout was not heeded: a job runs until it ends or is killed".to_owned());
    }
    Output { output: String::new(), exit: None, notes, retained: None, job: Some(job.id().to_string()) }
}

/// What the model is told of a command that took long and goes on in the background.
pub(super) async fn moved(job: &Job, after: Duration) -> Result<Output, ToolError> {
    let Shown { output, retained } = job.read().await.map_err(ToolError::Retain)?;
    let notes = vec![format!(
        "it had not ended after {} ms, so it goes on in the background as {}; this is what it printed so far. {HOW_TO_FOLLOW}",
        after.as_millis(),
        job.id()
    )];
    Ok(Output { output, exit: None, notes, retained, job: Some(job.id().to_string()) })
}

const HOW_TO_FOLLOW: &str =
    "With the tool jobs, the action read shows what it prints, wait waits for its end, kill ends it.";

/// What the model is told of a command that was run.
pub(super) fn told(ran: Ran, timeout: Duration, lacking: Vec<String>) -> Output {
    let Ran { ending, captured, traces, waited_for_input } = ran;
    let text = captured.text.as_str();
    let mut notes = Vec::new();
    let exit = match ending {
        Ending::Exited(code) => {
            // Models do not read metadata, and many a command fails without a word.
            notes.extend((code != 0).then(|| format!("Command exited with code {code}.")));
            Some(code)
        }
        Ending::Signalled(signal) => {
            notes.push(format!("the command was ended by signal {signal}"));
            None
        }
        Ending::TimedOut => {
            notes.push(format!(
                "shell tool terminated command after exceeding timeout {} ms. If this command is expected to take longer and is not waiting for interactive input, retry with a larger timeout value in milliseconds.",
                timeout.as_millis()
            ));
            // What a terminal's user would have typed can be seen to be waited for; otherwise there are only its words.
            let words = match waited_for_input {
                Some(true) => Some("It waited for input"),
                Some(false) | None if looks_like_a_question(text) => {
                    Some("It seems to have waited for input")
                }
                Some(false) | None => None,
            };
            notes.extend(words.map(|words| {
                format!(
                    "{words}, which no command gets here: pass what it needs as options or through a pipe."
                )
            }));
            None
        }
    };
    notes.extend(traces.about_memory());
    notes.extend(traces.about_left());
    notes.extend(lacking);
    let Traces { removed, removed_besides, refused: _, out_of_memory: _, left: _ } = traces;
    notes.extend(removed.iter().map(|removed| {
        let (said, path) = (taken_away(removed, "the command"), removed.path.to_string_lossy());
        format!("{said}; if it is to be made, call again with writable: [{path:?}], and the user is asked")
    }));
    notes.extend(besides(removed_besides));
    let Shown { output, retained } = captured.into();
    Output { output, exit, notes, retained, job: None }
}

/// Whether the last thing that was printed looks like a question.
fn looks_like_a_question(text: &str) -> bool {
    let last = text.trim_end_matches(' ').rsplit('\n').next().unwrap_or_default();
    !last.is_empty() && last.ends_with([':', '?', ']', ')', '>'])
}
