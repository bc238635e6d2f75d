//! Landlock on top of the mounts: it also holds for pipes, for descriptors from outside, and where there are no
//! namespaces.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope,
};

use crate::profile::Network;

/// The newest rules that were tried here. Older kernels hold fewer of them, which the probe reports.
const RULES: ABI = ABI::V7;

/// Lets this process and all it starts read everything it can see, and change only what is below `writable`.
pub(super) fn restrict(writable: &[PathBuf], network: &Network) -> Result<(), RulesetError> {
    let write = AccessFs::from_all(RULES);
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(write)?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?;
    let ruleset = match network {
        Network::Off => ruleset.handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp)?,
        Network::Loopback | Network::Hosts(_) | Network::Host => ruleset,
    };
    let mut ruleset = ruleset.create()?;
    let read = AccessFs::from_read(RULES);
    // Devices are reached through a private directory that holds only harmless ones, so asking them things is fine.
    let rules = writable.iter().map(|path| (path.as_path(), write)).chain([(Path::new("/"), read)]);
    for (path, access) in rules {
        // What is not there cannot be written either.
        let Ok(fd) = PathFd::new(path) else { continue };
        let access = if path.is_dir() { access } else { access & AccessFs::from_file(RULES) };
        ruleset = ruleset.add_rule(PathBeneath::new(fd, access))?;
    }
    ruleset.restrict_self()?;
    Ok(())
}
