//! Questions about shortening a text as V1 does it: one end of it, what is missing, where the whole is.

use haft::preview::{Budget, Shape, fits, preview};
use haft::{Limits, OutputId, ToolName, hint};
use serde_json::{Value, json};

use super::{Answer, number, text};

pub(super) fn answer(question: &Value) -> Answer {
    let whole = text(question, "text")?;
    let standard = Limits::default().text;
    let budget = Budget {
        lines: number(question, "max_lines", standard.lines),
        bytes: number(question, "max_bytes", standard.bytes),
    };
    if fits(whole, budget) {
        return Ok(json!({ "content": whole, "truncated": false }));
    }
    let address = format!("{}{}", haft::ADDRESS, OutputId::mint());
    let task = ToolName::parse("task").expect("a plain word is a name");
    let hint = hint(&address, Some(&task).filter(|_| question["task_tool"] == true));
    let content = match question["direction"].as_str() {
        Some("tail") => {
            let shown = preview(whole, budget, Shape::Tail);
            format!("{}\n\n{hint}\n\n{}", shown.notice(), shown.tail)
        }
        _ => {
            let shown = preview(whole, budget, Shape::Head);
            format!("{}\n\n{}\n\n{hint}", shown.head, shown.notice())
        }
    };
    Ok(json!({ "content": content, "truncated": true, "outputPath": address, "saved": whole }))
}
