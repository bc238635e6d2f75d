//! Custom tools that need more than haft's own engine has: Node or Bun serve them, confined like any other code of theirs.

use crate::support::{Place, Ran, ran};

const TOOL: &str = r#"import { tool } from "@opencode-ai/plugin"
import { gunzipSync, gzipSync } from "node:zlib"
enum Way { In, Out }
export default tool({
  description: "packs and unpacks",
  args: { text: tool.schema.string(), loop: tool.schema.boolean().optional() },
  async execute(args: { text: string; loop?: boolean }): Promise<string> {
    console.log("working")
    if (args.loop) for (;;);
    return gunzipSync(gzipSync(args.text)).toString() + Way[Way.Out]
  },
})
"#;

/// A place with the tool, or nothing where this machine cannot confine code and that is asked of it.
fn place(sandbox: &str) -> Option<Place> {
    let place = Place::new();
    place.global_config(&format!(r#"{{ "sandbox": "{sandbox}" }}"#));
    place.file(".opencode/tool/zip.ts", TOOL);
    let checked = trusting(&place, &["tools", "check"]);
    if checked.out.contains("confine") {
        eprintln!("SKIPPED with the sandbox: this machine has none");
        return None;
    }
    assert_eq!(checked.code, 0, "{} {}", checked.out, checked.err);
    assert!(checked.out.contains("node") || checked.out.contains("bun"), "{}", checked.out);
    Some(place)
}

fn trusting(place: &Place, args: &[&str]) -> Ran {
    ran(place.command(args).env("HAFT_TRUST", "1").output().unwrap())
}

#[test]
fn a_tool_that_our_engine_cannot_run_is_run_by_one_that_can() {
    for place in ["off", "workspace-write"].into_iter().filter_map(place) {
        let called = trusting(&place, &["call", "--yes", "zip", "text=hello"]);
        assert_eq!(called.code, 0, "{} {}", called.out, called.err);
        assert!(called.out.contains("helloOut"), "{}", called.out);
        let called = trusting(&place, &["call", "--yes", "zip", "text:=3"]);
        assert!(called.err.contains("text"), "{}", called.err);
    }
}

#[test]
fn a_loop_that_never_ends_is_ended_there_too() {
    let place = place("off").expect("nothing is confined");
    let called = trusting(&place, &["call", "--yes", "zip", "text=x", "loop:=true"]);
    assert_ne!(called.code, 0);
    assert!(called.err.contains("without a pause"), "{}", called.err);
}

#[test]
fn what_is_wrong_in_another_runtime_is_told_and_not_what_the_first_one_lacks() {
    let place = Place::new();
    place.global_config(r#"{ "sandbox": "off" }"#);
    place.file(".opencode/tool/bad.ts", "import 'node:zlib'\n\nthrow new RangeError('too far')\n");
    let checked = trusting(&place, &["tools", "check"]);
    assert!(checked.out.contains("RangeError: too far"), "{} {}", checked.out, checked.err);
    assert!(checked.out.contains("bad.ts:3:"), "{}", checked.out);
}
