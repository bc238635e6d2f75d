//! A conversation that becomes too long, and plugins that know what must not be lost when it is summarised.

use serde_json::json;

use crate::model::{Model, calls, says};
use crate::project::{trusted, until};
use crate::support::Place;

/// A small model: after so many tokens, a conversation is too long.
const SMALL: &str = r#"{ "provider": { "openai": { "models": { "some-model": { "limit": { "context": 1000, "output": 100 } } } } } }"#;
const LONG: u64 = 900;

/// A project with a plugin, whose conversations are soon too long.
fn place(plugin: &str) -> Place {
    let place = trusted(&[
        (".opencode/plugin/compaction.ts", plugin),
        ("opencode.json", SMALL),
        ("NOTES.md", "- the urn is cracked\n- never move the jug\n"),
        ("a.txt", "a pot\n"),
    ]);
    assert!(!place.ws().join("compacted.txt").exists());
    place
}

/// What was asked of the model: for the work, for the summary, and for the rest of the work.
fn asked(place: &Place) -> [Vec<(String, String)>; 3] {
    let model = Model::saying(vec![
        calls("read", &json!({ "filePath": "a.txt" }), LONG),
        says("In short: a pot was seen.", LONG),
        says("All done.", 200),
    ]);
    let ran = model.run(place, &["look at the pot"]);
    assert_eq!((ran.code, ran.out.trim()), (0, "All done."), "{}", ran.err);
    [model.told(), model.told(), model.told()]
}

#[test]
fn a_plugin_adds_what_the_summary_must_not_lose() {
    let plugin = r#"
import type { Plugin } from "@opencode-ai/plugin"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"

export const KeepNotes: Plugin = async ({ client, directory }) => ({
  "experimental.session.compacting": async (input, output) => {
    const notes = await readFile(join(directory, "NOTES.md"), "utf8")
    const { data: messages } = await client.session.messages({ path: { id: input.sessionID } })
    const read = messages.flatMap((message) => message.parts).filter((part) => part.type === "tool").map((part) => part.state.input.filePath)
    output.context.push(`## Notes that stay\n${notes}`, `## Files that were read\n${read.join("\n")}`)
  },
  event: async ({ event }) => {
    if (event.type === "session.compacted") await writeFile(join(directory, "compacted.txt"), event.properties.sessionID)
  },
})
"#;
    let place = place(plugin);
    let [work, summary, rest] = asked(&place);
    assert_eq!(work.last().unwrap(), &("user".to_owned(), "look at the pot".to_owned()));
    let (who, words) = summary.last().unwrap();
    assert_eq!(who, "user");
    assert!(words.starts_with("Summarise our conversation so far"), "the usual is asked, too: {words}");
    assert!(
        words.contains("never move the jug") && words.ends_with("## Files that were read\na.txt"),
        "{words}"
    );
    assert!(summary.iter().any(|(_, words)| words.contains("a pot")), "all of it is summarised: {summary:?}");
    let told: Vec<&str> = rest.iter().skip(1).map(|(_, words)| words.as_str()).collect();
    assert!(told[0].ends_with("In short: a pot was seen."), "{told:?}");
    assert!(told[1].starts_with("look at the pot"), "what the person wants stays: {told:?}");
    assert_eq!(told.len(), 2, "the rest is gone: {told:?}");
    until("it was told of the end", || place.ws().join("compacted.txt").exists());
    assert!(place.read("compacted.txt").starts_with("ses_"));
}

#[test]
fn a_plugin_asks_for_the_summary_in_its_own_words() {
    let plugin = r#"
export const OwnWords = async () => ({
  "experimental.session.compacting": async (_, output) => {
    output.context.push("nobody hears this")
    output.prompt = "Write down, for a potter: which vessels were seen, and which are left."
  },
})
"#;
    let [_, summary, rest] = asked(&place(plugin));
    let words = "Write down, for a potter: which vessels were seen, and which are left.";
    assert_eq!(summary.last().unwrap(), &("user".to_owned(), words.to_owned()));
    assert!(rest.iter().any(|(_, words)| words.contains("In short")), "{rest:?}");
}
