//! Sweeping through the system calls of a deed with every kind of fault.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::scene::{Deed, Found, Scene};

/// The system calls that touch files or what is in them.
const CALLS: &str = "open,openat,openat2,read,pread64,write,pwrite64,ftruncate,fsync,fdatasync,rename,renameat,\
                     renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,fchmod,fchown,fsetxattr,flock";
/// Reading changes nothing, so dying there is dying at the next call that does; but it can fail.
const FAULTS: &[(&str, bool)] = &[("signal=KILL", false), ("error=EIO", true), ("error=ENOSPC", false)];
/// So many places are tried for a system call that occurs often.
const SAMPLES: usize = 12;
/// Tells which programs are absent.
const MISSING: &str = "HAFT_TEST_MISSING";

/// Does the deed with a fault at every place.
pub(crate) fn sweep(deed: &Deed<'_>) {
    if std::env::var(MISSING).is_ok_and(|missing| missing.split(' ').any(|program| program == "strace")) {
        return;
    }
    let scene = Scene::new(deed);
    let places = observed(&scene);
    let everything = std::env::var("HAFT_SWEEP").is_ok_and(|how| how == "all");
    let (mut done, mut undone, mut void) = (0, 0, 0);
    for (call, places) in &places {
        let step = if everything { 1 } else { places.len().div_ceil(SAMPLES) };
        for (fault, also_reading) in FAULTS {
            let is_reading = matches!(call.as_str(), "read" | "pread64");
            if is_reading && !also_reading {
                continue;
            }
            for at in places.iter().step_by(step) {
                match attempt(&scene, call, fault, *at) {
                    Some(Found::Old) => undone += 1,
                    Some(Found::New | Found::Unformatted) => done += 1,
                    Some(Found::Torn(how)) => panic!("torn at {call} {at} with {fault}: {how}"),
                    None => void += 1,
                }
            }
        }
    }
    // Faults that never prevent anything, or always do, would not have been where they were meant to be.
    assert!(done > 0 && undone > void, "{done} done, {undone} not done, {void} void");
}

/// Which of the deed's system calls, counted from one for each kind, are about files. Threads make that vary a little.
fn observed(scene: &Scene<'_>) -> BTreeMap<String, Vec<usize>> {
    let (output, log) = scene.traced(&["-y", "-e", &format!("trace={CALLS}")]);
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(scene.found(), Found::New);
    let mut counts: BTreeMap<String, (usize, Vec<usize>)> = BTreeMap::new();
    for line in log.lines() {
        let call = line.split_once(' ').map_or("", |(_, rest)| rest.trim_start());
        let Some((name, arguments)) = call.split_once('(') else { continue };
        if CALLS.split(',').any(|known| known == name) {
            let (count, places) = counts.entry(name.to_owned()).or_default();
            *count += 1;
            if is_about_a_file(arguments) {
                places.push(*count);
            }
        }
    }
    assert!(counts.len() > 5, "{counts:?}");
    counts
        .into_iter()
        .map(|(name, (_, places))| (name, places))
        .filter(|(_, places)| !places.is_empty())
        .collect()
}

/// Whether the first argument is a path or a descriptor of one. Others, such as `4<anon_inode:[eventfd]>`, wake threads.
fn is_about_a_file(arguments: &str) -> bool {
    let first = arguments.split([',', ')']).next().unwrap_or_default();
    match first.split_once('<') {
        Some((_, target)) => target.starts_with('/'),
        None => first.starts_with('"'),
    }
}

/// Does the deed with one fault, and finds out what came of it after the next start. `None` if the fault hit something
/// else than a file, by which threads wake each other, so that the deed slept on.
fn attempt(scene: &Scene<'_>, call: &str, fault: &str, at: usize) -> Option<Found> {
    scene.reset();
    let inject = format!("inject={call}:{fault}:when={at}");
    let (output, log) = scene.traced(&["-y", "-e", &format!("trace={call}"), "-e", &inject]);
    // Each thread meets the fault for itself.
    let mut hits = log.lines().filter(|line| line.contains("(INJECTED)"));
    let is_void = hits.any(|hit| hit.split_once('(').is_some_and(|(_, rest)| !is_about_a_file(rest)));
    let Some(output) = output else {
        assert!(is_void, "it hangs: {inject}");
        return None;
    };
    let place = || format!("{inject}: {}", String::from_utf8_lossy(&output.stdout));
    assert!(scene.is_whole(), "a file is torn: {}", place());

    let told = serde_json::from_slice::<Value>(&output.stdout).unwrap_or_default();
    let next = scene.haft(&["log", "--json"]);
    assert!(next.status.success(), "{}: {}", place(), String::from_utf8_lossy(&next.stderr));
    let found = scene.found();
    assert_eq!(scene.residue(), Vec::<std::path::PathBuf>::new(), "{}", place());
    if told["status"] == "completed" {
        let is_unformatted = told["metadata"]["formatter"]["changed"] == false;
        let expected = if is_unformatted { Found::Unformatted } else { Found::New };
        assert_eq!(found, expected, "a false success: {}", place());
    }
    let message = told["error"]["message"].as_str().unwrap_or_default();
    if told["error"]["kind"] == "failed" && !message.contains("could not be made durable") {
        assert_eq!(found, Found::Old, "a false failure: {}", place());
    }
    Some(found)
}
