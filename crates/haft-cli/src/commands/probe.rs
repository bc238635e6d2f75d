//! `haft probe`: hands a question from standard input to the probe that answers it.

use std::io::Read;

use serde_json::Value;

use crate::cli::Globals;
use crate::exit::{Exit, Failure};
use crate::probe;
use crate::setting::Setting;
use crate::terminal::Terminal;

pub(crate) async fn run(globals: &Globals, terminal: Terminal, kind: &str) -> Result<Exit, Failure> {
    let question = match kind {
        "kinds" | "tools" => Value::Null,
        _ => {
            let mut text = String::new();
            std::io::stdin().lock().read_to_string(&mut text)?;
            serde_json::from_str(&text)
                .map_err(|error| Failure::usage(format_args!("the question is not JSON: {error}")))?
        }
    };
    let (globals, kind) = (globals.clone(), kind.to_owned());
    // Probes make runtimes of their own, which cannot be made inside one.
    let answer = tokio::task::spawn_blocking(move || {
        probe::answer(&kind, &question, || Setting::load(&globals, terminal))
    });
    let answer = answer.await.map_err(|error| Failure::new(Exit::Defect, error))??;
    terminal.document(&answer)?;
    Ok(Exit::Ok)
}
