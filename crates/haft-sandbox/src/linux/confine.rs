//! The last steps before a command: no capabilities, no new privileges, Landlock, the filter, and then to become it.

use std::io;
use std::path::PathBuf;

use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_capabilities_secure_bits, set_no_new_privs,
};

use super::becoming::Ready;
use super::limits::{self, Counted};
use super::told::Told;
use super::{landlock, seccomp};
use crate::profile::{Profile, Temp};
use crate::report::Level;
use crate::spec::Spec;

/// Drops every capability for good: not even a program owned by root brings one back.
pub(super) fn give_up_capabilities() -> io::Result<()> {
    clear_ambient_capability_set()?;
    for number in 0..64 {
        // The kernel has fewer, and says so.
        if remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)).is_err() {
            break;
        }
    }
    set_capabilities_secure_bits(
        CapabilitiesSecureBits::NO_ROOT
            | CapabilitiesSecureBits::NO_ROOT_LOCKED
            | CapabilitiesSecureBits::NO_SETUID_FIXUP
            | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED,
    )?;
    let none = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}

/// Holds this process, and all it starts, to the profile by Landlock and the filter.
pub(super) fn restrict(profile: &Profile, writable: &[PathBuf], counted: Counted) -> Result<(), String> {
    limits::apply(&profile.limits, counted).map_err(|error| format!("could not limit resources: {error}"))?;
    set_no_new_privs(true).map_err(|error| format!("could not give up new privileges: {error}"))?;
    landlock::restrict(writable, &profile.network).map_err(|error| format!("Landlock refused: {error}"))?;
    seccomp::install(&profile.network).map_err(|error| format!("could not filter system calls: {error}"))
}

/// Where a profile can be written to when nothing is mounted.
pub(super) fn usual_places(profile: &Profile) -> Vec<PathBuf> {
    let devices = ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"].iter().map(PathBuf::from);
    let temp = match &profile.temp {
        Temp::Fresh => None,
        Temp::Directory(path) => Some(path.clone()),
    };
    devices.chain(temp).chain(profile.writable.iter().cloned()).collect()
}

/// Where a profile can be written to when bubblewrap has made private directories.
pub(super) fn private_places(profile: &Profile) -> Vec<PathBuf> {
    let private = ["/dev", "/tmp", "/var/tmp"].iter().map(PathBuf::from);
    private.chain(profile.writable.iter().cloned()).collect()
}

/// Confines this process and becomes the command. Returns only what went wrong.
pub(super) fn become_command(spec: &Spec, writable: &[PathBuf]) -> Told {
    let counted = if spec.level == Level::LandlockOnly { Counted::User } else { Counted::Namespace };
    match restrict(&spec.profile, writable, counted) {
        Ok(()) => match Ready::of(&spec.program, spec.profile.terminal) {
            Ok(ready) => ready.become_it(),
            Err(why) => why,
        },
        Err(why) => Told::Setup(why),
    }
}

/// Becomes the command as it is. Returns only what went wrong.
pub(super) fn become_free_command(profile: &Profile, ready: &Ready) -> Told {
    match limits::apply(&profile.limits, Counted::User) {
        Ok(()) => ready.become_it(),
        Err(error) => Told::Setup(format!("could not limit resources: {error}")),
    }
}
