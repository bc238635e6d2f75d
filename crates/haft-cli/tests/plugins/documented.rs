//! What opencode's page on custom tools shows, written anew: each kind of tool works as it is told there.

use serde_json::json;

use crate::project::{call, names, output, trusted};

#[test]
fn a_tool_that_asks_a_database() {
    let tool = r#"
import { tool } from "@opencode-ai/plugin"

export default tool({
  description: "Runs a query against the database of the project",
  args: { query: tool.schema.string().describe("The statement to run") },
  async execute(args) {
    const rows = await Bun.$`./fake-db ${args.query}`.json()
    return `${rows.length} rows, the first is ${rows[0].name}`
  },
})
"#;
    let place = trusted(&[(".opencode/tools/database.ts", tool)]);
    let database = place.file("fake-db", "#!/bin/sh\n[ \"$1\" = \"select * from 'pots'; --\" ] || exit 1\necho '[{\"name\": \"urn\"}, {\"name\": \"jug\"}]'\n");
    std::fs::set_permissions(&database, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(
        output(&place, "database", &json!({"query": "select * from 'pots'; --"})),
        "2 rows, the first is urn"
    );
    let shown = place.run(&["--json", "tools", "show", "database"]).json().to_string();
    assert!(shown.contains("Runs a query") && shown.contains("The statement to run"), "{shown}");
}

#[test]
fn several_tools_in_one_file() {
    let tool = r#"
import { tool } from "@opencode-ai/plugin"

const pair = { a: tool.schema.number().describe("One number"), b: tool.schema.number().default(3) }

export const add = tool({
  description: "Adds two numbers",
  args: pair,
  async execute(args) { return String(args.a + args.b) },
})

export const multiply = tool({
  description: "Multiplies two numbers",
  args: pair,
  async execute(args) { return String(args.a * args.b) },
})
"#;
    let place = trusted(&[(".opencode/tools/math.ts", tool)]);
    assert_eq!(output(&place, "math_add", &json!({"a": 2, "b": 5})), "7");
    assert_eq!(output(&place, "math_multiply", &json!({"a": 4})), "12", "a default is applied");
    let refused = call(&place, "math_add", &json!({"a": "two"}));
    assert_eq!(refused["status"], "error", "{refused:#}");
    assert!(refused["error"].to_string().contains("a: "), "{refused:#}");
    let names = names(&place);
    assert!(!names.contains(&"math".to_owned()) && names.contains(&"read".to_owned()), "{names:?}");
}

#[test]
fn a_tool_in_another_language() {
    let python = "import sys\nprint(int(sys.argv[1]) + int(sys.argv[2]))\n";
    let tool = r#"
import { tool } from "@opencode-ai/plugin"
import path from "path"

export default tool({
  description: "Adds two numbers with Python",
  args: { a: tool.schema.number(), b: tool.schema.number() },
  async execute(args, context) {
    const script = path.join(context.worktree, ".opencode/tools/add.py")
    const result = await Bun.$`python3 ${script} ${args.a} ${args.b}`.text()
    return result.trim()
  },
})
"#;
    let place = trusted(&[(".opencode/tools/python-add.ts", tool), (".opencode/tools/add.py", python)]);
    assert_eq!(output(&place, "python-add", &json!({"a": 20, "b": 22})), "42");
}

#[test]
fn a_tool_in_place_of_a_built_in() {
    let tool = r#"
import { tool } from "@opencode-ai/plugin"

export default tool({
  description: "A shell that runs nothing",
  args: { command: tool.schema.string() },
  async execute(args) { return `not run: ${args.command}` },
})
"#;
    let place = trusted(&[(".opencode/tools/bash.ts", tool)]);
    assert_eq!(output(&place, "bash", &json!({"command": "touch made"})), "not run: touch made");
    assert!(!place.ws().join("made").exists());
    std::fs::remove_file(place.ws().join(".opencode/tools/bash.ts")).unwrap();
    assert!(output(&place, "bash", &json!({"command": "touch made; echo ran"})).contains("ran"));
    assert!(place.ws().join("made").exists(), "the built-in is back");
}

#[test]
fn a_tool_that_knows_where_it_is() {
    let tool = r#"
import { tool } from "@opencode-ai/plugin"

export default tool({
  description: "Tells about the project",
  args: {},
  async execute(args, context) {
    const { agent, sessionID, messageID, callID, directory, worktree } = context
    return JSON.stringify({ agent, sessionID, messageID, callID, directory, worktree, aborted: context.abort.aborted })
  },
})
"#;
    let place = trusted(&[(".opencode/tools/project.ts", tool)]);
    let done = call(&place, "project", &json!({}));
    let told: serde_json::Value = serde_json::from_str(done["output"].as_str().unwrap()).unwrap();
    assert_eq!((&told["sessionID"], &told["callID"]), (&done["session"], &done["call"]));
    assert_eq!((&told["agent"], &told["aborted"]), (&json!("build"), &json!(false)));
    assert_eq!(told["directory"], json!(place.ws()));
    assert!(told["messageID"].as_str().unwrap().starts_with("msg_"), "{told}");
}
