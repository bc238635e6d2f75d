//! What a command that failed lacked, as far as it can be told: to be named, and to be asked for.

use std::path::{Path, PathBuf};

use haft_sandbox::{Access, HostGrant, Level, Network, Profile, Refusal, refusals};

use super::Processes;
use super::wishes::{NetworkWish, Wishes, protecting};
use crate::workspace::{Kind, Workspace};

/// So many paths are asked for at once; a command that lacks more has not been thought through.
const PATHS_MAX: usize = 8;

/// Where every command has files of its own, which are no use to grant.
const OF_ITS_OWN: &[&str] = &["/dev", "/proc", "/run", "/sys"];

/// All of the network is more than most need: tests start a server and talk to it.
const TO_ITSELF: &str = "if it only talks to itself on 127.0.0.1, as tests do that start a server, network: [\"127.0.0.1\"] is enough";

/// What a command ran with, by which its refusals are judged.
#[derive(Debug, Clone)]
pub(crate) struct Reached {
    pub(super) profile: Profile,
    pub(super) wishes: Wishes,
    pub(super) directory: PathBuf,
}

/// What a command lacked.
#[derive(Debug, Default)]
pub(crate) struct Lacking {
    /// What would have to be asked for, with what was asked for already: only what was refused for certain.
    pub(crate) certain: Option<Wishes>,
    /// What there is to say.
    pub(crate) notes: Vec<String>,
}

impl Reached {
    /// Reads out of what a command printed, and what the proxy refused it, what it lacked.
    pub(crate) fn lacking(
        &self,
        output: &str,
        refused: &[String],
        processes: &Processes,
        workspace: &Workspace,
    ) -> Lacking {
        if self.profile.access == Access::Full {
            return Lacking::default();
        }
        let (mut certain, mut likely, mut notes) = (self.wishes.clone(), self.wishes.clone(), Vec::new());
        let (mut is_certain, mut is_likely, mut is_nameless) = (false, false, false);
        for host in refused.iter().filter_map(|host| HostGrant::parse(host).ok()) {
            notes.push(format!("refused by the sandbox: the host {host}"));
            is_certain |= add_host(&mut certain, host.clone());
            is_likely |= add_host(&mut likely, host);
        }
        let sure = self.sure(output, processes);
        for refusal in refusals(output, &self.directory) {
            let is_known = match &refusal {
                Refusal::Path(path) => match self.grantable(path, processes, workspace) {
                    Some(place) if likely.writable.len() < PATHS_MAX => {
                        let is_new = likely.writable.iter().all(|known| known.real() != place.real());
                        if is_new && sure.contains(&refusal) {
                            certain.writable.push(place.clone());
                            is_certain = true;
                        }
                        likely.writable.extend(is_new.then_some(place));
                        is_new
                    }
                    Some(_) | None => false,
                },
                // That a name cannot be found out may have other reasons.
                Refusal::Host(host) => {
                    let host = HostGrant::parse(host).ok().filter(|_| processes.sandbox().holds_hosts());
                    host.is_some_and(|host| add_host(&mut likely, host))
                }
                Refusal::Network if likely.network == NetworkWish::Nothing => {
                    likely.network = NetworkWish::Everything;
                    true
                }
                Refusal::Network => false,
            };
            is_likely |= is_known;
            is_nameless |= refusal == Refusal::Network;
            notes.push(format!("probably refused by the sandbox: {refusal}"));
        }
        if is_likely {
            notes.push(format!(
                "if the command is to do that, call again with {}, and the user is asked",
                likely.as_fields()
            ));
        }
        if is_nameless && self.profile.network == Network::Off && processes.sandbox().holds_hosts() {
            notes.push(TO_ITSELF.to_owned());
        }
        Lacking { certain: is_certain.then_some(certain), notes }
    }

    /// The refusals that have no other reason: a read-only file system, or what Landlock alone says of it.
    fn sure(&self, output: &str, processes: &Processes) -> Vec<Refusal> {
        let says_less = processes.sandbox().level() == Level::LandlockOnly;
        let is_sure = |line: &&str| {
            says_less || ["ead-only file system", "EROFS"].iter().any(|words| line.contains(words))
        };
        let lines: Vec<&str> = output.lines().filter(is_sure).collect();
        refusals(&lines.join("\n"), &self.directory)
    }

    /// Whether a path is a secret, which is no matter of changing it.
    fn is_hidden(&self, real: &Path) -> bool {
        let mut hidden = self.profile.hidden.iter().map(|path| path.canonicalize().unwrap_or(path.clone()));
        hidden.any(|path| real.starts_with(path))
    }

    /// What would have to be granted for a path to be changed: what is there, or the directory that it would be made
    /// in. Nothing, if it could be changed already, or could not be without a sandbox either.
    fn grantable(
        &self,
        path: &Path,
        processes: &Processes,
        workspace: &Workspace,
    ) -> Option<crate::workspace::Place> {
        let place = workspace.locate(path).ok()?;
        if let Some(held) = protecting(&self.profile, place.real()) {
            return workspace.locate(&held).ok();
        }
        let place = match place.kind() {
            Kind::File | Kind::Directory => place,
            Kind::Missing => {
                workspace.locate(path.parent()?).ok().filter(|above| above.kind() == Kind::Directory)?
            }
            Kind::Special(_) => return None,
        };
        let real = place.real();
        let is_home = processes.home.as_deref().is_some_and(|home| home == real);
        let is_useless = OF_ITS_OWN.iter().any(|own| real.starts_with(own))
            || self.profile.writable.iter().any(|root| real.starts_with(root));
        let is_too_much = real == Path::new("/") || is_home || self.is_hidden(real);
        let is_ours = rustix::fs::access(real, rustix::fs::Access::WRITE_OK).is_ok();
        (!is_useless && !is_too_much && is_ours).then_some(place)
    }
}

/// Adds a host, if it is not among them.
fn add_host(wishes: &mut Wishes, host: HostGrant) -> bool {
    match &mut wishes.network {
        NetworkWish::Everything => false,
        NetworkWish::Nothing => {
            wishes.network = NetworkWish::Hosts(vec![host]);
            true
        }
        NetworkWish::Hosts(hosts) if hosts.contains(&host) => false,
        NetworkWish::Hosts(hosts) => {
            hosts.push(host);
            true
        }
    }
}
