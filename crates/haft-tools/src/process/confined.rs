//! A command with what the kernel will let it do. Whoever agrees to it agrees to both.

use std::path::{Path, PathBuf};

use haft::Action;
use haft::permission::{Ask, Question, Reach, Resource, Showing};
use haft_sandbox::{Absent, Network, Profile, Protected, SandboxError};

use super::lacking::Reached;
use super::wishes::{Widened, WishError, Wishes, holds};
use super::{Processes, ProfileName};
use crate::shell::{CommandTarget, Touch};
use crate::workspace::{Place, Workspace};

/// A script and the profile it runs under.
#[derive(Debug)]
pub(crate) struct ConfinedCommand {
    pub(super) command: CommandTarget,
    pub(super) profile: Profile,
    wishes: Wishes,
    /// Why there is no confinement, if there is none though there should be.
    unconfined: Option<String>,
    /// What has to be agreed to because of the wishes.
    wished: Vec<Question>,
    /// What might be denied, besides what the script itself says of that.
    perhaps: Vec<Question>,
    shown: Vec<String>,
    absent: Vec<PathBuf>,
    /// What was agreed to before, for the same script in the same call.
    agreed: Vec<Question>,
}

impl ConfinedCommand {
    /// Decides what the kernel will let a script do: what is configured, and what it asks for besides.
    pub(crate) fn new(
        processes: &Processes,
        name: ProfileName,
        workspace: &Workspace,
        command: CommandTarget,
        wishes: Wishes,
    ) -> Result<ConfinedCommand, WishError> {
        command.check(workspace)?;
        let profile = located(processes, name, workspace);
        let none = (Vec::new(), Vec::new(), Vec::new());
        let (profile, (wished, shown, absent), unconfined) = match name {
            ProfileName::FullAccess => (profile, none, None),
            ProfileName::ReadOnly | ProfileName::WorkspaceWrite => {
                let profile = allow_what_is_agreed(profile, processes, workspace, &command);
                let Widened { profile, questions, shown, absent } =
                    wishes.widen(profile, processes, workspace, command.script())?;
                match processes.sandbox().check(&profile) {
                    Ok(()) => (profile, (questions, shown, absent), None),
                    // Only a machine that cannot confine is a reason to run without confinement.
                    Err(why @ SandboxError::CannotEnforce { .. }) => {
                        (Profile::full_access(), (questions, shown, absent), Some(why.to_string()))
                    }
                    Err(why) => return Err(WishError::Impossible(why)),
                }
            }
        };
        Ok(ConfinedCommand {
            command,
            profile,
            wishes,
            unconfined,
            wished,
            perhaps: Vec::new(),
            shown,
            absent,
            agreed: Vec::new(),
        })
    }

    /// The directory it would run in.
    pub(crate) fn workdir(&self) -> &Place {
        self.command.workdir()
    }

    /// Whether the script could be read, so that it is known what it does.
    pub(crate) fn is_parsed(&self) -> bool {
        self.command.analysis().is_parsed
    }

    /// What it runs with, to judge its end by.
    pub(crate) fn reached(&self) -> Reached {
        Reached {
            profile: self.profile.clone(),
            wishes: self.wishes.clone(),
            directory: self.command.workdir().real().to_owned(),
        }
    }

    /// The same, where these questions were answered before: the script was run, and is to run again with more.
    pub(crate) fn again(mut self, agreed: Vec<Question>) -> ConfinedCommand {
        self.agreed = agreed;
        self.shown.insert(
            0,
            "It has been run, failed for want of this, and would be run again from the start.".to_owned(),
        );
        self
    }

    /// All that is agreed to by agreeing to this, one by one.
    pub(crate) fn consented(&self) -> Vec<Question> {
        let unconfined = self.unconfined.as_ref().map(|_| {
            Question::new(Action::new("unconfined"), Resource::new(self.command.script())).saving("*")
        });
        unconfined.into_iter().chain(self.wished.iter().cloned()).chain(self.command.questions()).collect()
    }

    /// Has one more question answered before it runs.
    pub(crate) fn asking(mut self, question: Question) -> ConfinedCommand {
        self.wished.insert(0, question);
        self
    }

    /// Has it asked about what it might do besides.
    pub(crate) fn wondering(mut self, perhaps: Vec<Question>) -> ConfinedCommand {
        self.perhaps = perhaps;
        self
    }

    /// A path that was to be changed and cannot be: nothing is there, or it is no longer what was agreed to.
    pub(crate) fn lost(&self) -> Option<&Path> {
        let is_moved = |path: &&PathBuf| path.canonicalize().ok().as_ref() != Some(*path);
        let wished =
            |path: &&PathBuf| self.wishes.writable.iter().any(|place| place.real() == path.as_path());
        let moved = self.profile.writable.iter().filter(wished).find(is_moved);
        self.absent.first().or(moved).map(PathBuf::as_path)
    }
}

/// What code may do that nobody looked at: what holds in a location, and the network that is configured.
pub(crate) fn own_profile(processes: &Processes, workspace: &Workspace) -> Profile {
    let confinement = &processes.confinement;
    let mut profile = located(processes, confinement.profile, workspace);
    if confinement.profile == ProfileName::FullAccess {
        return profile;
    }
    if confinement.network {
        profile.network = Network::Host;
    } else if !confinement.hosts.is_empty() && processes.sandbox().holds_hosts() {
        profile.network = Network::Hosts(confinement.hosts.clone());
    }
    profile
}

/// What holds in a location.
fn located(processes: &Processes, name: ProfileName, workspace: &Workspace) -> Profile {
    let roots = [workspace.base(), workspace.directory()];
    let mut profile = match name {
        ProfileName::FullAccess => return Profile::full_access(),
        ProfileName::ReadOnly => Profile::read_only(),
        ProfileName::WorkspaceWrite => Profile::workspace_write(roots),
    };
    if name == ProfileName::ReadOnly {
        profile.readable.extend(roots.map(Path::to_owned));
    }
    if let Some(home) = &processes.home {
        profile = profile.with_home(home);
    }
    profile.hidden.extend(processes.hidden.iter().cloned());
    profile.custody.clone_from(&processes.custody);
    profile.limits.memory_bytes = processes.confinement.memory_bytes.or(profile.limits.memory_bytes);
    for path in &processes.confinement.writable {
        profile = with_writable(profile, processes, path);
    }
    if name == ProfileName::WorkspaceWrite {
        let written = workspace.written_by_git();
        let is_known = |path: &PathBuf| profile.writable.iter().any(|root| path.starts_with(root));
        // Where a command could have made any of it, it is no proof of anything.
        if !written.iter().any(is_known) {
            profile.writable.extend(written);
        }
    }
    for directory in between(workspace) {
        profile = without_repository(profile.with_protected(directory), directory);
    }
    if workspace.directory() != workspace.base() {
        profile = without_repository(profile, workspace.directory());
    }
    profile = protect_believed(profile, processes, workspace.base());
    // First what may have to be made, so that nobody takes it away again.
    profile.protected.extend(processes.configuration.iter().map(|path| whole(path)));
    let guarded = workspace.guarded().paths();
    profile.protected.extend(guarded.map(|path| Protected { path, absent: Absent::Remove }));
    // Whatever was configured: what is nobody's is no command's.
    let is_somebodys =
        |path: &PathBuf| !workspace.is_withheld(&path.canonicalize().unwrap_or_else(|_| path.clone()));
    profile.writable.retain(is_somebodys);
    profile.readable.retain(is_somebodys);
    profile
}

/// A directory that is protected with all that is in it. What is not there is kept from being made where that is in
/// nobody's way.
fn whole(path: &Path) -> Protected {
    let absent = match path.parent().is_some_and(Path::is_dir) {
        true => Absent::Mask,
        false => Absent::Remove,
    };
    Protected { path: path.to_owned(), absent }
}

/// The directories between the repository's root and the working directory, whose configuration is read too.
fn between(workspace: &Workspace) -> impl Iterator<Item = &Path> {
    let (root, directory) = (workspace.base(), workspace.directory());
    directory.ancestors().skip(1).take_while(move |level| level.starts_with(root) && *level != root)
}

/// Keeps a repository from coming to be in a directory within another one. Whoever works there next would use it.
fn without_repository(mut profile: Profile, directory: &Path) -> Profile {
    let path = directory.join(".git");
    if path.symlink_metadata().is_err() {
        profile.protected.push(Protected { path, absent: Absent::Remove });
    }
    profile
}

/// Lets one more path be changed, except for what makes later programs run something and what haft itself believes.
pub(super) fn with_writable(profile: Profile, processes: &Processes, path: &Path) -> Profile {
    protect_believed(profile.with_writable(path.to_owned()), processes, path)
}

/// Protects what is believed below a directory that may be changed, which is protected itself.
fn protect_believed(profile: Profile, processes: &Processes, within: &Path) -> Profile {
    let real = within.canonicalize();
    let within = real.as_deref().unwrap_or(within);
    let believed = processes.believed.iter();
    let below = believed.filter(|directory| directory.starts_with(within) && *directory != within);
    below.fold(profile, |profile, directory| without_repository(profile.with_protected(directory), directory))
}

/// What a person agrees to outside the workspace is what the kernel permits there, and no more. To work in a directory
/// is to read it: changing what the script does not name takes a wish.
fn allow_what_is_agreed(
    mut profile: Profile,
    processes: &Processes,
    workspace: &Workspace,
    command: &CommandTarget,
) -> Profile {
    let outside = command.outside(workspace);
    let workdir = command.workdir();
    let workdir = (!workdir.is_inside()).then(|| (workdir.real().to_owned(), Touch::Looks));
    for (path, touch) in outside.into_iter().chain(workdir) {
        // What is to be made is made in the directory that it was agreed to for.
        let there = if path.exists() { Some(path.as_path()) } else { made_in(&path) };
        match (there, touch) {
            // Of what may only be meant to be looked at, everything there is stays as it is: the kernel holds that.
            (Some(there), Touch::MayChange) if there.parent().is_none() => {}
            (Some(there), Touch::MayChange | Touch::Changes) => {
                profile = with_writable(profile, processes, there);
            }
            (Some(_), Touch::Looks) if path.exists() => profile.readable.push(path),
            (Some(_) | None, _) => {}
        }
    }
    let changed = command.protected(workspace);
    // To agree to what a directory of git's leads to is to agree to all that is protected in it or leads there.
    let is_agreed = |protected: &Path, path: &PathBuf| {
        let is_of_trees = || protected.starts_with(path) || workspace.leads_into(protected, path);
        holds(protected, path) || path.ends_with(".git/worktrees") && is_of_trees()
    };
    profile.protected.retain(|protected| !changed.iter().any(|path| is_agreed(&protected.path, path)));
    profile
}

/// The directory that something which is not there would be made in; never the root of everything.
fn made_in(path: &Path) -> Option<&Path> {
    path.parent().filter(|directory| directory.parent().is_some() && directory.is_dir())
}

impl Ask for ConfinedCommand {
    fn questions(&self) -> Vec<Question> {
        let asked = self.consented().into_iter().filter(|question| !self.agreed.contains(question));
        Question::merged(asked)
    }

    /// Where it is run again, that was answered before.
    fn perhaps(&self) -> Vec<Question> {
        match self.agreed.is_empty() {
            true => self.perhaps.iter().cloned().chain(self.command.perhaps()).collect(),
            false => Vec::new(),
        }
    }

    fn reach(&self) -> Reach {
        Reach::Changes
    }

    fn show(&self) -> Showing {
        let Showing { title, mut detail } = self.command.show();
        if let Some(why) = &self.unconfined {
            detail.push_str(&format!("\n\n# Nothing confines this command: {why}"));
        }
        for (at, line) in self.shown.iter().enumerate() {
            let before = if at == 0 { "\n\n" } else { "\n" };
            detail.push_str(&format!("{before}# {}", haft::visible(line)));
        }
        detail.push_str("\n\n# What a command does to files cannot be undone by haft.");
        Showing { title, detail }
    }
}
