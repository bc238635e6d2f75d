//! Actions that several tools share: whoever may not edit may not write or patch either.

use haft::Action;

/// Tools that change files, whether they are built in, offered by a plugin, or only named in somebody's rules.
const EDITING: &[&str] = &["edit", "write", "apply_patch", "patch", "multiedit"];

/// The action that rules about a tool are filed under.
pub fn action_of(tool: &str) -> Action {
    if EDITING.contains(&tool) { Action::new("edit") } else { Action::new(tool) }
}
