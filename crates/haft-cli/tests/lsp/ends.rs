//! How servers end: asked to, made to, when nobody needs them, and when there would be too many. None is left behind.

use std::time::Duration;

use haft_tools::{LspLimits, ProfileName};

use crate::bench::{Bench, With, fake, is_missing, until, working_in};

fn with(limits: LspLimits, modes: &[&str]) -> Option<Bench> {
    let entries = vec![fake("fake", modes), fake("other", modes)];
    let bench = With { entries, limits, profile: ProfileName::FullAccess, ..With::default() };
    let bench = (!is_missing("node")).then(|| Bench::with(bench))?;
    bench.file("a.fake", "here\n");
    bench.file("a.other", "here\n");
    Some(bench)
}

#[test]
fn a_server_is_asked_to_end_and_is_gone_with_the_process_that_started_it() {
    for modes in [&[][..], &["stays"]] {
        let Some(bench) = with(LspLimits::default(), modes) else { return };
        bench.ask("hover", "a.fake", "here");
        let directory = bench.path("");
        assert!(!working_in(&directory).is_empty());
        let top = bench.let_go();
        assert_eq!(working_in(&directory), [0u32; 0], "{modes:?}");
        let heard = std::fs::read_to_string(top.path().join("heard.log")).unwrap();
        assert!(heard.contains("\nshutdown\n"), "{heard}");
        assert_eq!(heard.ends_with("shutdown\nexit\n"), modes.is_empty(), "{heard}");
    }
}

#[test]
fn a_server_that_nobody_uses_is_ended_and_started_when_it_is_needed_again() {
    let limits = LspLimits { idle: Duration::from_millis(200), ..LspLimits::default() };
    // An answer that nobody waits for keeps none.
    for modes in [&[][..], &["no-fence"]] {
        let Some(bench) = with(limits, modes) else { return };
        bench.ask("hover", "a.fake", "here");
        until("it is ended", || bench.servers.running() == 0 && bench.heard().contains(&"exit".to_owned()));
        assert_eq!(bench.ask("hover", "a.fake", "here").len(), 1);
    }
}

#[test]
fn there_are_never_more_than_so_many() {
    let limits = LspLimits { servers_max: 1, ..LspLimits::default() };
    let Some(bench) = with(limits, &[]) else { return };
    for _ in 0..2 {
        bench.ask("hover", "a.fake", "here");
        bench.ask("hover", "a.other", "here");
        assert_eq!(bench.servers.running(), 1);
    }
    until("the others are gone", || bench.heard().iter().filter(|line| *line == "exit").count() == 3);
}

#[test]
fn one_server_serves_a_project() {
    let Some(bench) = with(LspLimits::default(), &[]) else { return };
    bench.file("below/b.fake", "here\n");
    bench.ask("hover", "a.fake", "here");
    bench.ask("hover", "below/b.fake", "here");
    assert_eq!(bench.heard().iter().filter(|line| *line == "initialize").count(), 1);
}

#[test]
fn a_server_can_change_nothing_in_the_workspace() {
    if is_missing("node") {
        return;
    }
    let entries = vec![fake("fake", &["writes"])];
    let confined = Bench::with(With { entries, ..With::default() });
    confined.file("a.fake", "here\n");
    confined.ask("hover", "a.fake", "here");
    let written = confined.path("written.txt").exists();
    let free = with(LspLimits::default(), &["writes"]).unwrap();
    free.ask("hover", "a.fake", "here");
    assert!(free.path("written.txt").exists());
    // Where nothing can be confined, the bench runs servers without.
    let sandbox = haft_sandbox::Sandbox::with_helper(std::path::Path::new(env!("CARGO_BIN_EXE_haft")));
    assert_eq!(written, sandbox.check(&haft_sandbox::Profile::read_only()).is_err());
}
