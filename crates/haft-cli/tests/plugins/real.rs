//! The packages themselves: a tool beside which `@opencode-ai/plugin` and `zod` are installed uses those.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::project::{call, error, output, trusted};

/// Where `cargo xtask test` installs what comes from npm for plugins; nothing, if it has said that it could not.
fn packages() -> Option<PathBuf> {
    let missing = std::env::var("HAFT_TEST_MISSING").unwrap_or_default();
    if missing.split(' ').any(|missing| missing == "zod") {
        return None;
    }
    let target = Path::new(env!("CARGO_BIN_EXE_haft")).ancestors().nth(2).unwrap();
    let packages = target.join("plugin-packages/node_modules");
    assert!(packages.join("zod").exists(), "zod is not there; `cargo xtask test` installs it");
    Some(packages)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    let status = std::process::Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_tool_uses_the_real_packages_when_they_are_installed() {
    let Some(packages) = packages() else { return };
    let tool = r#"
import { tool } from "@opencode-ai/plugin"
import * as real from "zod"

export default tool({
  description: "Made with the packages themselves",
  args: {
    size: tool.schema.coerce.number().int().min(1).describe("How many"),
    kind: real.z.enum(["pot", "urn"]).default("urn"),
    when: tool.schema.iso.date().optional(),
  },
  async execute(args) { return `${args.size} ${args.kind} ${typeof real.z.core} ${real.core?.version?.major}` },
})
"#;
    let place = trusted(&[(".opencode/tool/real.ts", tool)]);
    for name in ["zod", "@opencode-ai/plugin"] {
        copy(&packages.join(name), &place.ws().join(".opencode/node_modules").join(name));
    }
    assert_eq!(output(&place, "real", &json!({"size": "3"})), "3 urn object 4");
    let told = error(&place, "real", &json!({"size": 0, "kind": "pan"}));
    assert!(told.contains("size") && told.contains("kind"), "{told}");
    let shown = place.run(&["--json", "tools", "show", "real"]).json().to_string();
    assert!(shown.contains("How many") && shown.contains("\"urn\""), "{shown}");
    let broken = place.ws().join(".opencode/node_modules/zod/index.js");
    std::fs::write(broken, "throw new Error('the package was asked')").unwrap();
    let broken = place.ws().join(".opencode/node_modules/zod/index.cjs");
    std::fs::write(broken, "throw new Error('the package was asked')").unwrap();
    assert_ne!(
        call(&place, "real", &json!({"size": 3}))["status"],
        "completed",
        "it is the package that is used"
    );
}
