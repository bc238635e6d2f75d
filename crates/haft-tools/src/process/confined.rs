//! A command with what the kernel will let it do. Whoever agrees to it agrees to both.

use std::path::Path;

use haft::Action;
use haft::permission::{Ask, Question, Reach, Resource, Showing};
use haft_sandbox::{Network, Profile};

use super::{Processes, ProfileName};
use crate::shell::CommandTarget;
use crate::workspace::Workspace;

/// A script and the profile it runs under.
#[derive(Debug)]
pub(crate) struct ConfinedCommand {
    pub(super) command: CommandTarget,
    pub(super) profile: Profile,
    /// Why there is no confinement, if there is none though there should be.
    unconfined: Option<String>,
    asks_for_network: bool,
}

impl ConfinedCommand {
    /// Decides what the kernel will let a script do: what is configured, and what it asks for besides.
    pub(crate) fn new(
        processes: &Processes,
        workspace: &Workspace,
        command: CommandTarget,
        asks_for_network: bool,
    ) -> ConfinedCommand {
        let confinement = &processes.confinement;
        let roots = [workspace.base(), workspace.directory()];
        let mut profile = match confinement.profile {
            ProfileName::FullAccess => Profile::full_access(),
            ProfileName::ReadOnly => Profile::read_only(),
            ProfileName::WorkspaceWrite => Profile::workspace_write(roots),
        };
        let mut unconfined = None;
        if confinement.profile != ProfileName::FullAccess {
            if confinement.profile == ProfileName::ReadOnly {
                profile.readable.extend(roots.map(Path::to_owned));
            }
            if let Some(home) = &processes.home {
                profile = profile.with_home(home);
            }
            profile.hidden.extend(processes.hidden.iter().cloned());
            profile.writable.extend(confinement.writable.iter().cloned());
            allow_what_is_agreed(&mut profile, workspace, &command);
            if confinement.network || asks_for_network {
                profile.network = Network::Host;
            }
            if let Err(why) = processes.sandbox().check(&profile) {
                unconfined = Some(why.to_string());
                profile = Profile::full_access();
            }
        }
        let asks_for_network = asks_for_network && !confinement.network;
        ConfinedCommand { command, profile, unconfined, asks_for_network }
    }

    /// Whether the script could be read, so that it is known what it does.
    pub(crate) fn is_parsed(&self) -> bool {
        self.command.analysis().is_parsed
    }
}

/// What a person agrees to outside the workspace is what the kernel permits there, and no more.
fn allow_what_is_agreed(profile: &mut Profile, workspace: &Workspace, command: &CommandTarget) {
    let outside = command.outside(workspace);
    let workdir = (!command.workdir().is_inside()).then(|| (command.workdir().real().to_owned(), true));
    for (path, changes) in outside.into_iter().chain(workdir) {
        if !path.exists() {
            continue;
        }
        match changes {
            true => profile.writable.push(path),
            false => profile.readable.push(path),
        }
    }
    let changed = command.protected(workspace);
    profile.protected.retain(|protected| !changed.iter().any(|path| path.starts_with(&protected.path)));
}

impl Ask for ConfinedCommand {
    fn questions(&self) -> Vec<Question> {
        let question =
            |action, resource: &str| Question::new(Action::new(action), Resource::new(resource)).saving("*");
        let unconfined = self.unconfined.as_ref().map(|_| question("unconfined", self.command.script()));
        let network = self.asks_for_network.then(|| question("network", self.command.script()));
        unconfined.into_iter().chain(network).chain(self.command.questions()).collect()
    }

    fn reach(&self) -> Reach {
        Reach::Changes
    }

    fn show(&self) -> Showing {
        let Showing { title, mut detail } = self.command.show();
        if let Some(why) = &self.unconfined {
            detail.push_str(&format!("\n\n# Nothing confines this command: {why}"));
        }
        if self.asks_for_network {
            detail.push_str("\n\n# With the network.");
        }
        detail.push_str("\n\n# What a command does to files cannot be undone by haft.");
        Showing { title, detail }
    }
}
