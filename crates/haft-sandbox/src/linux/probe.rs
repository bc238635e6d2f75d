//! Trying what this machine offers, by doing it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::memory::Group;
use super::program::{Helper, Helpers};
use super::{launch, sys};
use crate::profile::{Caches, Profile};
use crate::report::{Level, Mechanism, Report, State};
use crate::spec::{Failure, Heard, Program, Spec};

/// The strongest way of confining that works here, and with which helper: it does everything but start a program.
///
/// A machine may let one program do what it forbids another, so each is tried.
pub(crate) fn strongest(helpers: &Helpers, bubblewrap: Option<&Path>) -> (Level, Helper) {
    let by_strength = [Level::Namespaces, Level::Bubblewrap, Level::LandlockOnly];
    let mut ways =
        by_strength.into_iter().flat_map(|level| helpers.iter().map(move |helper| (level, helper)));
    let works = |(level, helper): &(Level, &Helper)| attempt(helper, *level, bubblewrap).is_ok();
    let (level, helper) = ways.find(works).unwrap_or((Level::None, helpers.last()));
    (level, helper.clone())
}

/// Everything there is to know of a machine at this level, which takes longer.
pub(crate) fn report(helper: &Helper, level: Level, bubblewrap: Option<&Path>) -> Report {
    let attempt = |level| attempt(helper, level, bubblewrap);
    let mut mechanisms = vec![mechanism("namespaces", attempt(Level::Namespaces), String::new())];
    if level != Level::Namespaces {
        mechanisms.push(mechanism("bubblewrap", attempt(Level::Bubblewrap), String::new()));
    }
    let abi = format!("version {}", sys::landlock_version());
    mechanisms.push(mechanism("landlock", attempt(Level::LandlockOnly), abi));
    mechanisms.push(mechanism("caches", caches(helper, level), "private layers".to_owned()));
    mechanisms.push(mechanism("hosts", hosts(level), "single hosts, through a proxy".to_owned()));
    mechanisms.push(mechanism("memory", memory(), "of whole commands, by control group".to_owned()));
    let judge = |other: &Helper| self::attempt(other, level, bubblewrap);
    mechanisms.push(mechanism("helper", Ok(()), helper.described(judge)));
    Report { level, mechanisms }
}

fn mechanism(name: &'static str, result: Result<(), String>, detail: String) -> Mechanism {
    let state = match result {
        Ok(()) => State::Works(detail),
        Err(why) => State::Missing(why),
    };
    Mechanism { name, state }
}

/// Whether the network can be limited to single hosts.
fn hosts(level: Level) -> Result<(), String> {
    match level {
        Level::Namespaces => Ok(()),
        Level::Bubblewrap | Level::LandlockOnly | Level::None => {
            Err("needs namespaces of our own".to_owned())
        }
    }
}

/// Whether the memory of a whole command can be limited.
fn memory() -> Result<(), String> {
    match Group::make(u64::MAX >> 1) {
        Some(_) => Ok(()),
        None => Err("no control group (version 2) to be had; each process is limited by itself".to_owned()),
    }
}

/// Whether a cache that does not exist can be written to: starts only in a directory that only a layer can make.
fn caches(helper: &Helper, level: Level) -> Result<(), String> {
    if level != Level::Namespaces {
        return Err("caches are read-only at this level".to_owned());
    }
    let home = PathBuf::from("/usr");
    let cache = "haft-probe";
    let program = Program { cwd: home.join(cache), ..nothing() };
    let caches = Some(Caches { home, paths: vec![cache.into()] });
    let profile = Profile { caches, ..Profile::read_only() };
    run(helper, &Spec { level, profile, program, bubblewrap: None })
}

fn attempt(helper: &Helper, level: Level, bubblewrap: Option<&Path>) -> Result<(), String> {
    match level {
        Level::Bubblewrap if bubblewrap.is_none() => return Err("not installed".to_owned()),
        // Without Landlock, what it would confine is not confined, so that level is not there at all.
        Level::LandlockOnly if sys::landlock_version() == 0 => {
            return Err("the kernel has no Landlock, or it is switched off".to_owned());
        }
        Level::None | Level::LandlockOnly | Level::Bubblewrap | Level::Namespaces => {}
    }
    let (profile, bubblewrap) = (Profile::read_only(), bubblewrap.map(Path::to_path_buf));
    run(helper, &Spec { level, profile, program: nothing(), bubblewrap })
}

/// No program: the helper stops where it would start one.
fn nothing() -> Program {
    Program { program: "".into(), args: Vec::new(), env: Vec::new(), cwd: "/".into() }
}

fn run(helper: &Helper, spec: &Spec) -> Result<(), String> {
    let result = (|| {
        let (mut command, idle) = launch::idle(helper)?;
        let watch = idle.instruct(spec, None)?;
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        Ok::<_, std::io::Error>((status, watch.told()?))
    })();
    match result {
        Ok((status, Heard { failure: None, is_tried: true, .. })) if status.success() => Ok(()),
        Ok((_, Heard { failure: Some(Failure::Setup(why) | Failure::Start(why)), .. })) => Err(why),
        Ok((status, _)) => Err(format!("the helper ended with {status}")),
        Err(error) => Err(format!("the helper could not be started: {error}")),
    }
}
