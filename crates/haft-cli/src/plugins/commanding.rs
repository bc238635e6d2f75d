//! The hook `command.execute.before`: what plugins make of a custom command before it is said.

use haft::{AgentId, BoxError, CallId, Message, MessageId, Part, Role, SessionId, ToolContext};
use haft_plugin::Plugins;
use serde_json::{Value, json};

use super::messages::{changed_parts, parts};

const HOOK: &str = "command.execute.before";

/// A custom command that is about to be said.
pub(crate) struct Commanded<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// What was typed after it.
    pub(crate) arguments: &'a str,
    /// Where it is said.
    pub(crate) session: &'a SessionId,
    /// To whom.
    pub(crate) agent: &'a AgentId,
}

/// What is said after plugins had their say. Each sees what those before it left; one that fails ends it.
pub(crate) async fn before_command(
    plugins: &Plugins,
    commanded: &Commanded<'_>,
    said: Vec<Part>,
) -> Result<Vec<Part>, BoxError> {
    if !plugins.has_hook(HOOK) {
        return Ok(said);
    }
    let Commanded { name, arguments, session, agent } = commanded;
    let mut message = Message::new(Role::User, (*agent).clone());
    message.parts = said;
    let context = ToolContext {
        session: (*session).clone(),
        agent: (*agent).clone(),
        message: MessageId::mint(),
        call: CallId::mint(),
    };
    let input = json!({ "command": name, "sessionID": session.as_str(), "arguments": arguments });
    let output = json!({ "parts": parts(&message, &[], session) });
    let output = plugins.run_hooks(HOOK, input, output, Some(&context)).await?;
    let told = output.get("parts").and_then(Value::as_array);
    let told =
        told.ok_or_else(|| format!("a plugin's hook {HOOK} left `parts` as something else than a list"))?;
    match changed_parts(&message, told) {
        left if left.is_empty() => Err(format!("the plugins' hooks {HOOK} left nothing to say").into()),
        left => Ok(left),
    }
}
