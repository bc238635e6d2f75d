//! A server that misbehaves: a clear error, no hang, and the next question has a chance.

use std::time::Duration;

use haft_tools::{LspLimits, ProfileName};
use serde_json::json;

use crate::bench::{Bench, With, fake, is_missing, until};

fn hover(bench: &Bench) -> serde_json::Value {
    bench.question("hover", "a.fake", "here")
}

fn faking(modes: &[&str]) -> Option<Bench> {
    let bench = (!is_missing("node")).then(|| Bench::faking(modes))?;
    bench.file("a.fake", "it is\nä𝄞 here\n");
    Some(bench)
}

/// A bench where nothing is waited for longer than a moment.
fn impatient(modes: &[&str]) -> Option<Bench> {
    let moment = Duration::from_millis(300);
    let limits = LspLimits { start: Duration::from_secs(120), request: moment, ..LspLimits::default() };
    let with = With {
        entries: vec![fake("fake", modes)],
        limits,
        diagnosing: moment,
        profile: ProfileName::FullAccess,
        ..With::default()
    };
    let bench = (!is_missing("node")).then(|| Bench::with(with))?;
    bench.file("a.fake", "it is\nä𝄞 here\n");
    Some(bench)
}

#[test]
fn a_server_that_never_answers_is_not_waited_for() {
    let Some(bench) = impatient(&["mute"]) else { return };
    let said = bench.rejected("lsp", hover(&bench));
    assert!(said.contains("fake did not answer hover: it gave no answer within 0.3 s"), "{said}");
    assert!(said.contains("search with grep instead"), "{said}");
    until("the request is taken back", || bench.heard().contains(&"$/cancelRequest".to_owned()));
}

#[test]
fn a_server_that_never_becomes_ready_is_ended_and_left_alone_for_longer_and_longer() {
    if is_missing("node") {
        return;
    }
    let limits = LspLimits { start: Duration::from_millis(300), ..LspLimits::default() };
    let with = With {
        entries: vec![fake("fake", &["never-ready"])],
        limits,
        profile: ProfileName::FullAccess,
        ..With::default()
    };
    let bench = Bench::with(with);
    bench.file("a.fake", "here\n");
    let said = bench.rejected("lsp", hover(&bench));
    assert!(said.contains("fake did not become ready") && !said.contains("No LSP server"), "{said}");
    assert!(said.contains("it gave no answer within"), "{said}");
    until("it is ended", || bench.servers.running() == 0);
    // An edit goes well all the same.
    let told = bench.edit("a.fake", "here", "there");
    assert!(
        told.starts_with("Edit applied successfully.\n\nWhether a.fake has LSP errors now is not known"),
        "{told}"
    );
    until("it is ended again", || bench.servers.running() == 0);
    let said = bench.rejected("lsp", bench.question("hover", "a.fake", "there"));
    assert!(said.contains("fake ended 2 times in a row") && said.contains("it is tried again in"), "{said}");
    // Nobody is told again and again.
    assert_eq!(bench.edit("a.fake", "there", "here"), "Edit applied successfully.");
}

#[test]
fn a_server_that_does_not_start_says_why() {
    let cases: &[(&[&str], &str)] = &[
        (&["dies"], "exit status: 3: error: no licence"),
        (&["usage"], "no message of the protocol: \"usage: fake"),
        (&["refuses"], "it says: this project is not for me"),
    ];
    for (modes, why) in cases {
        let Some(bench) = faking(modes) else { return };
        let said = bench.rejected("lsp", hover(&bench));
        assert!(said.contains("fake did not become ready: it ended: ") && said.contains(why), "{said}");
        let told = bench.edit("a.fake", "here", "there");
        assert!(told.starts_with("Edit applied successfully."), "{told}");
    }
}

#[test]
fn a_link_to_a_component_that_rustup_has_not_installed_is_no_server() {
    let Some(bench) = faking(&["proxy"]) else { return };
    let said = bench.rejected("lsp", hover(&bench));
    assert!(said.contains("fake is not installed"), "{said}");
    assert_eq!(bench.edit("a.fake", "here", "there"), "Edit applied successfully.");
}

#[test]
fn a_server_that_ends_is_started_again() {
    let Some(bench) = faking(&["dies-once"]) else { return };
    // It ends in the middle of an answer, and the next one gives it.
    assert_eq!(
        bench.completed("lsp", hover(&bench)).metadata["result"][0]["contents"],
        r#"{"line":1,"character":4}"#
    );
    let Some(bench) = faking(&["dies-when-asked"]) else { return };
    let said = bench.rejected("lsp", hover(&bench));
    assert!(said.contains("fake did not answer hover: it ended: exit status: 7"), "{said}");
    let said = bench.rejected("lsp", hover(&bench));
    assert!(said.contains("fake ended 2 times in a row (exit status: 7)"), "{said}");
}

#[test]
fn a_server_that_no_longer_reads_keeps_nobody_waiting() {
    let Some(bench) = impatient(&["deaf"]) else { return };
    bench.file("a.fake", &format!("here\n{}", "x\n".repeat(1 << 20)));
    let said = bench.rejected("lsp", hover(&bench));
    assert!(said.contains("gave no answer within"), "{said}");
    let told = bench.edit("a.fake", "here", "there");
    assert!(told.contains("is not known, because fake was of no help: it gave no answer within"), "{told}");
}

#[test]
fn what_a_server_says_is_passed_on_and_what_it_asks_is_answered() {
    let Some(bench) = faking(&["complains"]) else { return };
    let said = bench.rejected("lsp", hover(&bench));
    assert!(said.contains("it says: cannot ") && !said.contains('\u{1b}'), "{said}");
    let Some(bench) = faking(&["undecided"]) else { return };
    assert_eq!(bench.completed("lsp", hover(&bench)).metadata["result"].as_array().unwrap().len(), 1);
    let Some(bench) = faking(&["reads-when-asked"]) else { return };
    assert_eq!(bench.completed("lsp", hover(&bench)).metadata["result"].as_array().unwrap().len(), 1);
    let Some(bench) = faking(&["rereads"]) else { return };
    let said = bench.rejected("lsp", hover(&bench));
    assert!(said.contains("it is still reading the project") && said.contains("try again"), "{said}");
    let said = bench.rejected("lsp", bench.question("goToImplementation", "a.fake", "here"));
    assert!(said.contains("fake does not offer goToImplementation"), "{said}");
    let said = bench.rejected("lsp", bench.question("outgoingCalls", "a.fake", "here"));
    assert!(said.contains("fake does not offer outgoingCalls"), "{said}");

    let mut entry = fake("fake", &["asks"]);
    entry.initialization = Some(json!({ "a": { "b": 7 } }));
    let bench = Bench::with(With { entries: vec![entry], ..With::default() });
    bench.file("a.fake", "here\n");
    let contents = &bench.completed("lsp", hover(&bench)).metadata["result"][0]["contents"];
    assert_eq!(contents["configured"], json!([7, null]));
    assert_eq!(
        contents["folders"][0]["uri"],
        format!("file://{}", bench.path("").display()).trim_end_matches('/')
    );
}

#[test]
fn characters_are_counted_as_the_server_counts_them() {
    let Some(bench) = faking(&["bytes"]) else { return };
    assert_eq!(
        bench.completed("lsp", hover(&bench)).metadata["result"][0]["contents"],
        r#"{"line":1,"character":7}"#
    );
}

#[test]
fn a_server_is_shown_files_as_they_are() {
    let Some(bench) = faking(&[]) else { return };
    let definition = || bench.ask("goToDefinition", "a.fake", "here")[0]["contents"].clone();
    assert_eq!(definition(), "it is\nä𝄞 here\n");
    bench.file("b.fake", "here");
    bench.ask("hover", "b.fake", "here");
    // Somebody else changes both, and removes one.
    bench.file("a.fake", "now here\n");
    std::fs::remove_file(bench.path("b.fake")).unwrap();
    assert_eq!(definition(), "now here\n");
    assert!(bench.heard().contains(&"textDocument/didClose".to_owned()));
    // Nothing is sent where nothing has changed.
    let before = bench.heard().len();
    definition();
    assert_eq!(bench.heard()[before..], ["textDocument/definition"]);
}

#[test]
fn whoever_stops_waiting_lets_the_server_stop_working() {
    let Some(bench) = faking(&["mute"]) else { return };
    bench.abandon("lsp", hover(&bench), || bench.heard().contains(&"textDocument/hover".to_owned()));
    until("the request is taken back", || bench.heard().contains(&"$/cancelRequest".to_owned()));
}
