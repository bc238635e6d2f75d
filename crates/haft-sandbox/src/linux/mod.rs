//! The sandbox on Linux. `helper` is where the second process starts; `supervise` stays outside, `init` goes in.

mod bubblewrap;
mod caches;
mod confine;
mod device;
mod guard;
mod helper;
mod identity;
mod init;
mod landlock;
mod launch;
mod limits;
mod loopback;
mod memory;
mod pins;
mod probe;
mod program;
mod proxy;
mod remembered;
mod removal;
mod seccomp;
mod supervise;
mod sweep;
mod sys;
mod told;
mod view;
mod wire;

pub(crate) use bubblewrap::installed as bubblewrap;
pub(crate) use helper::{BUILD, become_helper};
pub(crate) use launch::{Idle, Watch, idle};
pub(crate) use limits::harden;
pub(crate) use memory::half_of_it as half_of_memory;
pub(crate) use probe::{report, strongest};
pub(crate) use program::{Helper, Helpers};
pub(crate) use remembered::{forget, recalled, remember};
pub(crate) use sys::share_memory;
