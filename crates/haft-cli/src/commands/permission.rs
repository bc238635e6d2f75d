//! `haft permission`: what is decided, why, what a person would be shown, and answers to requests.

mod decide;
mod queue;
mod rehearse;

use crate::cli::{Globals, PermissionCommand};
use crate::exit::{Exit, Failure};
use crate::setting::Setting;
use crate::terminal::Terminal;

pub(crate) use rehearse::show_rehearsal;

pub(crate) async fn run(
    globals: &Globals,
    terminal: Terminal,
    command: PermissionCommand,
) -> Result<Exit, Failure> {
    let setting = match &command {
        // What waits for an answer was asked already, and what was agreed to is on record.
        PermissionCommand::Forget { .. } | PermissionCommand::Pending | PermissionCommand::Reply { .. } => {
            Setting::load_anyway(globals, terminal)?
        }
        PermissionCommand::Check { .. }
        | PermissionCommand::Explain { .. }
        | PermissionCommand::Preview { .. }
        | PermissionCommand::SuggestAlways { .. }
        | PermissionCommand::List => Setting::load(globals, terminal)?,
    };
    match command {
        PermissionCommand::Check { action, resource, consent } => {
            decide::check(&setting, &action, &resource, &consent).await
        }
        PermissionCommand::Explain { action, resource, consent } => {
            decide::explain(&setting, &action, &resource, &consent).await
        }
        PermissionCommand::Preview { tool, input, consent } => {
            rehearse::preview(&setting, tool, &input, &consent).await
        }
        PermissionCommand::SuggestAlways { tool, input, command } => {
            let input = command.map_or(input, |command| vec![format!("command={command}")]);
            rehearse::suggest(&setting, tool, &input).await
        }
        PermissionCommand::List => decide::list(&setting),
        PermissionCommand::Forget { grant } => queue::forget(&setting, &grant).await,
        PermissionCommand::Pending => queue::pending(&setting),
        PermissionCommand::Reply { request, reply, answer, .. } if queue::is_inquiry(&request) => {
            queue::answer(&setting, &request, &reply, &answer).await
        }
        PermissionCommand::Reply { request, reply, message, scope, .. } => {
            queue::reply(&setting, &request, &reply, message, &scope).await
        }
    }
}
