//! The store as its callers see it: through the seams, from several processes, with bad disks and dead processes.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests too")]
#![allow(clippy::print_stdout, reason = "a victim tells its parent when it is ready")]

mod support;

mod calls;
mod concurrency;
mod consent;
mod conversations;
mod crash;
mod damage;
mod journal;
mod opening;
mod outputs;
mod secrets;
mod sessions;
mod spooling;
mod sweeping;
