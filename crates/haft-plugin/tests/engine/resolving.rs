//! What names stand for.

use serde_json::json;

use crate::driver::Host;

/// A tool that shows what it imported.
fn shown(files: &[(&str, &str)], imports: &str, expression: &str) -> String {
    let entry = format!(
        "{imports}\nexport default {{ description: '', execute: () => JSON.stringify({expression}) }}"
    );
    let mut files = files.to_vec();
    files.push((".opencode/tool/t.ts", &entry));
    let mut host = Host::with(&files);
    host.loaded(".opencode/tool/t.ts");
    host.output(json!({}))
}

#[test]
fn paths_may_lack_their_extension_or_have_the_one_of_tomorrow() {
    let files = [
        (".opencode/tool/a.ts", "export const a = 1"),
        (".opencode/tool/b.mts", "export const b = 2"),
        (".opencode/tool/c/index.ts", "export const c = 3"),
        (".opencode/d.js", "export const d = 4"),
        (".opencode/tool/e.json", "{ \"e\": 5, \"a-b\": 1 }"),
        (".opencode/tool/f.txt", "six\n"),
    ];
    let imports = "import { a } from './a'\nimport { a as a2 } from './a.js'\nimport { b } from './b.mjs'\nimport { c } from './c'\nimport { d } from '../d.js'\nimport e from './e.json' with { type: 'json' }\nimport { e as e2 } from './e.json'\nimport f from './f.txt'";
    assert_eq!(shown(&files, imports, "[a, a2, b, c, d, e.e, e2, f]"), r#"[1,1,2,3,4,5,5,"six\n"]"#);
}

#[test]
fn packages_are_found_upward_with_their_conditions_in_order() {
    let files = [
        (
            "node_modules/modern/package.json",
            r##"{ "name": "modern", "exports": { ".": { "types": "./x.d.ts", "node": { "import": "./node.mjs", "require": "./node.cjs" }, "default": "./default.js" },
                "./sub/*": "./lib/*.js", "./sub/private/*": null, "./package.json": "./package.json" }, "imports": { "#inner": "./lib/inner.js" } }"##,
        ),
        (
            "node_modules/modern/node.mjs",
            "import inner from '#inner'; import { self } from 'modern/sub/self'; export default ['node', inner, self]",
        ),
        ("node_modules/modern/node.cjs", "module.exports = 'required'"),
        ("node_modules/modern/default.js", "export default 'default'"),
        ("node_modules/modern/lib/a.js", "exports.name = 'sub a'"),
        ("node_modules/modern/lib/self.js", "exports.self = 'self'"),
        ("node_modules/modern/lib/inner.js", "module.exports = 'inner'"),
        ("node_modules/old/package.json", r#"{ "name": "old", "main": "lib/main" }"#),
        (
            "node_modules/old/lib/main.js",
            "module.exports = function old() { return require('modern') }; module.exports.named = 1",
        ),
        (
            ".opencode/node_modules/@scope/near/package.json",
            r#"{ "name": "@scope/near", "type": "module", "module": "m.js", "main": "c.js" }"#,
        ),
        (".opencode/node_modules/@scope/near/m.js", "export const kind = 'module'"),
        (".opencode/node_modules/@scope/near/c.js", "export const kind = 'main'"),
        ("node_modules/bare/index.js", "export default 'bare'"),
    ];
    let imports = "import modern from 'modern'\nimport { name } from 'modern/sub/a'\nimport old, { named } from 'old'\nimport { kind } from '@scope/near'\nimport bare from 'bare'";
    let expected = r#"[["node","inner","self"],"sub a","required",1,"module","bare"]"#;
    assert_eq!(shown(&files, imports, "[modern, name, old(), named, kind, bare]"), expected);
}

#[test]
fn what_a_package_does_not_export_is_not_found() {
    let mut host = Host::with(&[
        ("node_modules/shut/package.json", r#"{ "name": "shut", "exports": "./a.js" }"#),
        ("node_modules/shut/a.js", "export default 1"),
        ("t.ts", "import b from 'shut/b.js'\nexport default b"),
    ]);
    let error = host.load("t.ts", "tool")["error"].clone();
    assert_eq!((&error["kind"], &error["module"]), (&json!("module"), &json!("shut/b.js")));
    assert!(error["message"].as_str().unwrap().contains("does not export"), "{error}");
}

#[test]
fn commonjs_files_are_tools_too() {
    let mut host = Host::with(&[
        (
            "t.cjs",
            "const { join } = require('path'); const data = require('./data.json'); const esm = require('./esm.mjs');\n\
             exports.show = { description: '', args: {}, execute: () => [join('a', 'b'), data.x, esm.y, __filename === require.resolve('./t.cjs'), typeof module.exports.show, require('./cycle').done].join(' ') }",
        ),
        ("data.json", "{ \"x\": 1 }"),
        ("esm.mjs", "export const y = 2"),
        (
            "cycle.js",
            "exports.done = false; const back = require('./cycle-back.js'); exports.done = back.saw === false ? 'saw half' : back.saw",
        ),
        ("cycle-back.js", "exports.saw = require('./cycle.js').done"),
        ("whole.js", "module.exports = { description: 'w', args: {}, execute: () => 'whole' }"),
    ]);
    let found = host.loaded("t.cjs");
    assert_eq!(found["tools"][0]["key"], "show");
    assert_eq!(found["skipped"], json!([]));
    assert_eq!(host.call_named("show", json!({}))["ok"]["output"], "a/b 1 2 true object saw half");
    let mut modules: Vec<String> = serde_json::from_value(host.loaded("t.cjs")["modules"].clone()).unwrap();
    modules.retain(|module| ["t.cjs", "esm.mjs", "data.json"].iter().any(|file| module.ends_with(file)));
    assert_eq!(modules.len(), 3);
    let found = host.loaded("whole.js");
    assert_eq!((&found["tools"][0]["key"], &found["skipped"]), (&json!("default"), &json!([])));
}

#[test]
fn modules_may_use_the_names_of_commonjs_as_in_bun() {
    let imports = "import { sep } from 'node:path'\nconst { join } = require('path')\nconst data = require('./data.json')";
    let seen = shown(
        &[(".opencode/tool/data.json", "{ \"x\": 1 }")],
        imports,
        "[sep, join('a', 'b'), data.x, __dirname.endsWith('/tool'), __filename.endsWith('/t.ts')]",
    );
    assert_eq!(seen, r#"["/","a/b",1,true,true]"#);
    let own = "import { createRequire } from 'node:module'\nimport { dirname } from 'node:path'\nconst require = createRequire(import.meta.url)\nconst __dirname = dirname(import.meta.filename)";
    assert_eq!(shown(&[], own, "[require('path').sep, __dirname.length > 1]"), r#"["/",true]"#);
    let function = "function require(x: string) { return x + '!' }\nconst a = require('path')";
    assert_eq!(shown(&[], function, "a"), r#""path!""#);
}

#[test]
fn an_installed_package_wins_over_the_one_that_is_brought_along() {
    let files = [
        ("node_modules/zod/package.json", r#"{ "name": "zod", "type": "module", "exports": "./index.js" }"#),
        ("node_modules/zod/index.js", "export const z = { mine: true }"),
    ];
    assert_eq!(shown(&files, "import { z } from 'zod'", "z"), r#"{"mine":true}"#);
    assert_eq!(
        shown(
            &[],
            "import { z } from 'zod'\nimport * as v4 from 'zod/v4'",
            "[typeof z.string, typeof v4.string]"
        ),
        r#"["function","function"]"#
    );
}

#[test]
fn a_linked_package_is_one_module() {
    let host = Host::with(&[
        ("real/index.js", "export default {}"),
        (
            "t.ts",
            "import a from './real/index.js'\nimport b from './link/index.js'\nexport default { description: '', execute: () => String(a === b) }",
        ),
    ]);
    std::os::unix::fs::symlink(host.path("real"), host.path("link")).unwrap();
    let mut host = host;
    host.loaded("t.ts");
    assert_eq!(host.output(json!({})), "true");
}
