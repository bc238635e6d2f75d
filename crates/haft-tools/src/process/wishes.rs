//! What a command asks for beyond its profile. Each wish is a question of its own, and what is agreed to is exactly what
//! the kernel then permits.

use std::path::{Path, PathBuf};

use haft::Action;
use haft::permission::{Question, Resource};
use haft_sandbox::{HostGrant, Level, Network, Profile};

use super::Processes;
use super::confined::with_writable;
use crate::workspace::{Kind, Place, ResolveError, Workspace, is_link};

/// What a command asks for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wishes {
    /// Files and directories to change.
    pub(crate) writable: Vec<Place>,
    /// The network.
    pub(crate) network: NetworkWish,
}

/// How much of the network a command asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum NetworkWish {
    #[default]
    Nothing,
    /// These hosts.
    Hosts(Vec<HostGrant>),
    /// All of it.
    Everything,
}

/// A wish that nobody can grant.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WishError {
    #[error("the whole file system cannot be made writable; name the directories that the command changes")]
    Root,
    #[error(transparent)]
    Unreachable(#[from] ResolveError),
    #[error("{0} is haft's own and cannot be made writable")]
    OfHaft(String),
    #[error(
        "this machine cannot hold a command to single hosts ({0}); set network to true to ask for all of the network"
    )]
    NoHosts(Level),
    /// Nothing could be run so.
    #[error("the command was not run: {0}")]
    Impossible(#[source] haft_sandbox::SandboxError),
}

/// A profile with the wishes in it, and what has to be agreed to before it is used.
pub(super) struct Widened {
    pub(super) profile: Profile,
    pub(super) questions: Vec<Question>,
    /// What there is to say about it to the person who is asked.
    pub(super) shown: Vec<String>,
    /// Paths that cannot be granted because nothing is there that could be changed.
    pub(super) absent: Vec<PathBuf>,
}

impl Wishes {
    /// Adds what is wished for to a profile that confines.
    pub(super) fn widen(
        &self,
        profile: Profile,
        processes: &Processes,
        workspace: &Workspace,
        script: &str,
    ) -> Result<Widened, WishError> {
        let mut widened = Widened { profile, questions: Vec::new(), shown: Vec::new(), absent: Vec::new() };
        for place in &self.writable {
            widened.path(place, processes, workspace)?;
        }
        widened.network(&self.network, processes, script)?;
        Ok(widened)
    }

    /// The questions whether to leave the workspace for what is to be changed. Whoever forbids that forbids this.
    pub(crate) fn leaving(&self) -> impl Iterator<Item = Question> {
        self.writable.iter().filter_map(Place::leaving)
    }

    /// As the fields of a call that asks for this.
    pub(crate) fn as_fields(&self) -> String {
        let list = |items: Vec<String>| serde_json::Value::from(items).to_string();
        let paths: Vec<String> =
            self.writable.iter().map(|place| place.real().to_string_lossy().into_owned()).collect();
        let writable = (!paths.is_empty()).then(|| format!("writable: {}", list(paths)));
        let network = match &self.network {
            NetworkWish::Nothing => None,
            NetworkWish::Hosts(hosts) => {
                Some(format!("network: {}", list(hosts.iter().map(ToString::to_string).collect())))
            }
            NetworkWish::Everything => Some("network: true".to_owned()),
        };
        writable.into_iter().chain(network).collect::<Vec<_>>().join(" and ")
    }
}

impl Widened {
    fn path(&mut self, place: &Place, processes: &Processes, workspace: &Workspace) -> Result<(), WishError> {
        let real = place.real();
        if real == Path::new("/") {
            return Err(WishError::Root);
        }
        if is_of_haft(processes, real) {
            return Err(WishError::OfHaft(place.shown()));
        }
        if protecting(&self.profile, real).is_none() {
            self.questions.extend(workspace.changing_protected(&workspace.guarded(), place));
        }
        // Each is held as a whole, so it is asked for as a whole.
        while let Some(held) = protecting(&self.profile, real) {
            let found = workspace.locate(&held)?;
            self.questions.push(found.changing());
            self.shown.push(format!("May change {}, which is protected.", held.display()));
            self.profile.protected.retain(|protected| protected.path != held);
        }
        if self.profile.writable.iter().any(|root| real.starts_with(root)) {
            return Ok(());
        }
        let path = real.to_string_lossy();
        let exactly = path.replace('*', "?");
        let question = Question::new(Action::new("sandbox_write"), Resource::new(path.as_ref()));
        self.questions.push(question.saving(exactly.clone()).saving(format!("{exactly}/*")));
        self.shown.push(format!("May also change {path}, with everything in it."));
        match place.kind() {
            Kind::File | Kind::Directory => {
                let profile = std::mem::replace(&mut self.profile, Profile::read_only());
                self.profile = with_writable(profile, processes, real);
            }
            Kind::Missing | Kind::Special(_) => self.absent.push(real.to_owned()),
        }
        Ok(())
    }

    fn network(&mut self, wish: &NetworkWish, processes: &Processes, script: &str) -> Result<(), WishError> {
        let confinement = &processes.confinement;
        let action = || Action::new("network");
        let level = processes.sandbox().level();
        let has_hosts = processes.sandbox().holds_hosts();
        if confinement.network {
            self.profile.network = Network::Host;
            return Ok(());
        }
        let mut hosts = if has_hosts { confinement.hosts.clone() } else { Vec::new() };
        match wish {
            NetworkWish::Nothing => {}
            NetworkWish::Everything => {
                self.questions.push(Question::new(action(), Resource::new(script)).saving("*"));
                self.shown.push("With the network.".to_owned());
                self.profile.network = Network::Host;
                return Ok(());
            }
            NetworkWish::Hosts(_) if !has_hosts => return Err(WishError::NoHosts(level)),
            NetworkWish::Hosts(wished) => {
                let unknown: Vec<&HostGrant> = wished.iter().filter(|host| !hosts.contains(host)).collect();
                for host in &unknown {
                    let (name, bare) = (host.to_string(), host.without_port().to_string());
                    // Rules speak of names, and this stands for many: one that forbids any of them counts, so it is
                    // asked about each time.
                    self.questions.push(match host.is_wildcard() {
                        true => Question::new(action(), Resource::new(name).beginning("")),
                        // Who forbids a host forbids every port of it.
                        false => {
                            Question::new(action(), Resource::new(&name).or_forbidden_as(bare)).saving(name)
                        }
                    });
                }
                let names: Vec<String> = unknown.iter().map(ToString::to_string).collect();
                if !names.is_empty() {
                    self.shown.push(format!("With the network, but only to {}.", names.join(", ")));
                }
                let unknown: Vec<HostGrant> = unknown.into_iter().cloned().collect();
                hosts.extend(unknown);
            }
        }
        if !hosts.is_empty() {
            self.profile.network = Network::Hosts(hosts);
        }
        Ok(())
    }
}

/// What holds a path as protected: the path itself, what it lies in, or a link that leads to either.
pub(super) fn protecting(profile: &Profile, real: &Path) -> Option<PathBuf> {
    profile.protected.iter().map(|protected| &protected.path).find(|path| holds(path, real)).cloned()
}

/// Whether a protected path holds another one in place.
pub(super) fn holds(protected: &Path, real: &Path) -> bool {
    let leads_there = || protected.canonicalize().is_ok_and(|led| real.starts_with(led));
    real.starts_with(protected) || is_link(protected) && leads_there()
}

/// Whether a path is where haft keeps its record and its grants, or lies in it.
pub(super) fn is_of_haft(processes: &Processes, real: &Path) -> bool {
    processes.hidden.iter().any(|own| {
        let resolved = own.canonicalize();
        real.starts_with(resolved.as_deref().unwrap_or(own))
    })
}
