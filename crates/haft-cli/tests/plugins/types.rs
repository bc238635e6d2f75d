//! The types that `haft new` writes, as the compiler of TypeScript reads them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::project::trusted;

/// Uses what there is, and says of something that there is not that it is an error.
const PLUGIN: &str = r#"/// <reference path="../types/haft.d.ts" />
import { tool, type Plugin } from "@opencode-ai/plugin"

export const Uses: Plugin = async ({ client, project, $ }) => ({
  tool: {
    last: tool({
      description: "Repeats what was said last",
      args: { loud: tool.schema.boolean().optional() },
      async execute(args, context) {
        const said = context.messages.at(-1)?.parts.find((part) => part.type === "text")?.text ?? ""
        return args.loud ? said.toUpperCase() : said
      },
    }),
  },
  auth: {
    provider: "acme",
    methods: [
      {
        type: "oauth",
        label: "Account",
        prompts: [{ type: "select", key: "plan", message: "Which plan", options: [{ label: "Free", value: "free" }], condition: (inputs) => inputs.host !== "" }],
        async authorize(inputs) {
          const callback = async (code: string) => ({ type: "success" as const, access: code, refresh: inputs?.plan ?? "", expires: 0 })
          return { url: "https://acme.example", instructions: "", method: "code", callback }
        },
      },
      { type: "api", label: "Key", authorize: async () => ({ type: "failed" }) },
    ],
    async loader(getAuth, provider) {
      const auth = await getAuth()
      const renewed = { type: "oauth" as const, access: "a", refresh: "r", expires: Date.now() }
      if (auth.type === "oauth") await client.auth.set({ path: { id: provider.id }, body: renewed })
      return { apiKey: auth.type === "api" ? auth.key : "", fetch: async (url, init) => fetch(url, { ...init, headers: { "x-a": "b" } }) }
    },
  },
  provider: { id: "acme", models: async (provider, { auth }) => ({ ...provider.models, big: { name: auth?.type } }) },
  "command.execute.before": async ({ command, arguments: given, sessionID }, output) => {
    const known = (await client.command.list()).data?.find((one) => one.name === command)
    output.parts.push({ type: "text", text: `${known?.template.length} ${given.length} ${sessionID.length}` })
  },
  event: async ({ event }) => {
    const { data, error } = await client.session.messages({ path: { id: event.properties.sessionID }, query: { limit: 2 } })
    if (error) throw new Error(error.data.message)
    for (const { info, parts } of data) console.log(info.role, parts.map((part) => part.state?.status))
    const session = (await client.session.get({ path: { id: "x" }, throwOnError: true })).data
    await client.session.prompt({ path: { id: session!.id }, body: { noReply: true, parts: [{ type: "text", text: project.id }] } })
    const found = await client.find.text({ query: { pattern: "x" } })
    console.log(found.data?.[0].submatches[0].start, (await client.tool.ids()).data?.length, await $`true`)
    // @ts-expect-error a session is not deleted by plugins
    await client.session.delete({ path: { id: "x" } })
  },
})
"#;

/// The compiler, where `cargo xtask test` installs it with the language servers; nothing, if it has said that it could not.
fn compiler() -> Option<PathBuf> {
    let missing = std::env::var("HAFT_TEST_MISSING").unwrap_or_default();
    if missing.split(' ').any(|missing| missing == "typescript-language-server") {
        return None;
    }
    let target = Path::new(env!("CARGO_BIN_EXE_haft")).ancestors().nth(2).unwrap();
    let compiler = target.join("lsp-servers/node_modules/typescript/lib/tsc.js");
    assert!(compiler.exists(), "TypeScript is not there; `cargo xtask test` installs it");
    Some(compiler)
}

#[test]
fn what_is_written_for_somebody_has_types_that_hold() {
    let Some(compiler) = compiler() else { return };
    let place = trusted(&[]);
    for args in [["new", "tool", "greet"], ["new", "plugin", "watch"]] {
        assert_eq!(place.run(&args).code, 0);
    }
    place.file(".opencode/plugins/uses.ts", PLUGIN);
    let mut node = Command::new("node");
    node.arg(compiler).args(["--noEmit", "--strict", "--target", "es2022", "--lib", "es2022,dom"]);
    node.args(["--module", "esnext", "--moduleResolution", "bundler"]);
    node.args([".opencode/tools/greet.ts", ".opencode/plugins/watch.ts", ".opencode/plugins/uses.ts"]);
    let compiled = node.current_dir(place.ws()).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stdout));
    assert_eq!(place.run(&["tools", "check"]).code, 0);
}
