//! The hook `command.execute.before`: what plugins make of a custom command before it is said.

use haft::{AgentId, BoxError, Message, MessageId, Part, Role, SessionId};
use haft_plugin::Plugins;
use serde_json::json;

use super::chat::{in_conversation, left_parts};
use super::messages::parts;

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
    let context = in_conversation(session, agent, MessageId::mint());
    let input = json!({ "command": name, "sessionID": session.as_str(), "arguments": arguments });
    let output = json!({ "parts": parts(&message, &[], session) });
    let output = plugins.run_hooks(HOOK, input, output, Some(&context)).await?;
    match left_parts(HOOK, &message, &output)? {
        left if left.is_empty() => Err(format!("the plugins' hooks {HOOK} left nothing to say").into()),
        left => Ok(left),
    }
}
