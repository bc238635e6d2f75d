//! Formatters after a change: run only where trusted, never on the file itself, and never the reason that a change fails.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Place, Ran, ran};
use crate::traced;

const ROUGH: &str = "fn main() {\n    one();\n}\n";

/// A place whose person wants these formatters.
fn place(formatter: &Value, sandbox: &str) -> Place {
    let place = Place::new();
    let config = json!({ "formatter": formatter, "sandbox": sandbox, "files": { "format_seconds": 20 } });
    place.global_config(&config.to_string());
    place
}

/// A formatter of texts that runs a script on its file.
fn script(script: &str) -> Value {
    json!({ "mine": { "command": ["sh", "-c", script, "sh", "$FILE"], "extensions": [".txt"] } })
}

fn trusting(place: &Place, args: &[&str]) -> Ran {
    let mut command = place.command(args);
    let path = std::env::join_paths(
        std::iter::once(toolchain()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    ran(command.env("HAFT_TRUST", "1").env("PATH", path.unwrap()).output().unwrap())
}

/// Where the real rustfmt is: the one on the path may be a stand-in that looks for it in the home directory.
fn toolchain() -> std::path::PathBuf {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output().unwrap();
    std::path::Path::new(String::from_utf8(output.stdout).unwrap().trim()).join("bin")
}

fn edit(place: &Place, file: &str, old: &str, new: &str) -> Value {
    let (file, old, new) =
        (format!("filePath={file}"), format!("oldString={old}"), format!("newString={new}"));
    let ran = trusting(place, &["call", "edit", &file, &old, &new, "--session", "ses_format", "--json"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    ran.json()
}

/// Whether this machine cannot confine anything, so that no formatter was run.
fn is_unconfined(told: &Value) -> bool {
    told["metadata"]["formatter"]["error"].as_str().is_some_and(|error| error.starts_with("it was not run"))
}

fn residue(place: &Place) -> Vec<String> {
    let names = std::fs::read_dir(place.ws()).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter_map(|name| name.into_string().ok()).filter(|name| name.starts_with(".haft-tmp")).collect()
}

#[test]
fn rustfmt_finishes_what_was_edited_and_one_undo_takes_both_back() {
    let place = place(&json!(true), "workspace-write");
    place.file("Cargo.toml", "[package]\nname = \"x\"\nedition = \"2021\"\n");
    let file = place.file("src/main.rs", ROUGH);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o751)).unwrap();
    let told = edit(&place, "src/main.rs", "    one();", "async   move{one( )  };\nmod other;");
    if is_unconfined(&told) {
        return;
    }
    let formatted = place.read("src/main.rs");
    assert_eq!(formatted, "fn main() {\n    async move { one() };\n    mod other;\n}\n", "{told}");
    assert_eq!(told["metadata"]["formatter"], json!({ "name": "rustfmt", "changed": true }));
    let output = told["output"].as_str().unwrap();
    assert!(output.contains("The formatter rustfmt then changed src/main.rs:\n--- "), "{output}");
    assert!(output.contains("\n+    async move { one() };\n"), "{output}");
    let diff = told["metadata"]["diff"].as_str().unwrap();
    assert!(diff.contains("-    one();\n+    async move { one() };\n"), "{diff}");

    // The session has seen what the formatter left.
    let again = edit(&place, "src/main.rs", "async move { one() };", "two();");
    assert_eq!(again["metadata"]["formatter"], json!({ "name": "rustfmt", "changed": false }));
    assert_eq!(again["output"], "Edit applied successfully.");

    for call in [&again, &told] {
        let undone = trusting(&place, &["undo", call["call"].as_str().unwrap(), "--yes"]);
        assert_eq!(undone.code, 0, "{}", undone.err);
    }
    assert_eq!(place.read("src/main.rs"), ROUGH);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o751);
    assert!(residue(&place).is_empty());
}

#[test]
fn nothing_is_formatted_in_a_project_that_nobody_trusts() {
    let place = place(&script("echo formatted > \"$1\""), "off");
    place.file("a.txt", "one\n");
    let ran = place.run(&["call", "edit", "filePath=a.txt", "oldString=one", "newString=two", "--json"]);
    assert_eq!((ran.code, place.read("a.txt").as_str()), (0, "two\n"), "{}", ran.err);
    assert_eq!(ran.json()["metadata"]["formatter"], Value::Null);
}

#[test]
fn a_command_formats_a_copy_of_the_same_name_and_can_change_nothing_else() {
    let script = script(
        "cat \"$(dirname \"$1\")/../settings\" >> \"$1\"; basename \"$1\" >> \"$1\"; echo $WHO >> \"$1\"; \
         echo broken > \"$(dirname \"$1\")/../a.txt\"; true",
    );
    let mut formatter = script;
    formatter["mine"]["environment"] = json!({ "WHO": "me" });
    let place = place(&formatter, "workspace-write");
    place.file("settings", "from beside\n");
    place.file("a.txt", "one\n");
    let told = edit(&place, "a.txt", "one", "two");
    if is_unconfined(&told) {
        return;
    }
    assert_eq!(place.read("a.txt"), "two\nfrom beside\na.txt\nme\n", "{told}");
    assert_eq!(told["metadata"]["formatter"], json!({ "name": "mine", "changed": true }));
    let written = trusting(&place, &["call", "write", "filePath=new/b.txt", "content=b", "--json"]).json();
    assert_eq!(written["metadata"]["formatter"]["changed"], json!(true), "{written}");
    let undone = trusting(&place, &["undo", written["call"].as_str().unwrap(), "--yes"]);
    assert!(undone.code == 0 && !place.ws().join("new").exists(), "{}", undone.err);
    assert!(residue(&place).is_empty());
}

#[test]
fn a_formatter_that_fails_leaves_the_change_and_says_why() {
    let cases = [
        ("echo 'line 1: what?' >&2; exit 3", "line 1: what?"),
        ("kill -9 $$", "signal: 9 (SIGKILL)"),
        ("rm \"$1\"", "it left no file that could be read"),
        ("rm \"$1\"; ln -s /etc/passwd \"$1\"", "it left no file that could be read"),
        ("printf '\\0\\377' > \"$1\"", "what it made of the file is not text"),
        (": > \"$1\"", "what it made of the file is empty"),
        ("head -c 9000000 /dev/zero | tr '\\0' x > \"$1\"", "what it made of the file is far too large"),
        ("yes", "it printed more than"),
    ];
    for (does, why) in cases {
        let place = place(&script(does), "off");
        place.file("a.txt", "one\n");
        let told = edit(&place, "a.txt", "one", "two");
        let formatter = &told["metadata"]["formatter"];
        assert!(formatter["error"].as_str().unwrap_or_default().contains(why), "{does}: {told}");
        assert_eq!(formatter["changed"], json!(false));
        assert_eq!(place.read("a.txt"), "two\n");
        assert!(told["output"].as_str().unwrap().contains("The formatter mine left a.txt as it is: "));
        assert!(residue(&place).is_empty());
        let undone = trusting(&place, &["undo", told["call"].as_str().unwrap(), "--yes"]);
        assert_eq!((undone.code, place.read("a.txt").as_str()), (0, "one\n"), "{}", undone.err);
    }
}

#[test]
fn a_formatter_that_hangs_is_stopped() {
    let place = place(&script("sleep 1000"), "off");
    let config =
        json!({ "formatter": script("sleep 1000"), "sandbox": "off", "files": { "format_seconds": 1 } });
    place.global_config(&config.to_string());
    place.file("a.txt", "one\n");
    let told = edit(&place, "a.txt", "one", "two");
    let error = told["metadata"]["formatter"]["error"].as_str().unwrap();
    assert!(error.contains("s and was stopped"), "{told}");
    assert_eq!(place.read("a.txt"), "two\n");
    assert!(residue(&place).is_empty());
}

#[test]
fn what_somebody_else_changed_meanwhile_stays() {
    let somebody = "echo theirs > \"$(dirname \"$1\")/../a.txt\"; echo formatted > \"$1\"";
    let place = place(&script(somebody), "off");
    place.file("a.txt", "one\n");
    let told = edit(&place, "a.txt", "one", "two");
    assert_eq!(place.read("a.txt"), "theirs\n");
    assert_eq!(told["metadata"]["formatter"]["changed"], json!(false), "{told}");
    assert_eq!(trusting(&place, &["undo", told["call"].as_str().unwrap(), "--yes"]).code, 3);
    assert_eq!(place.read("a.txt"), "theirs\n");
}

#[test]
fn every_file_of_a_patch_is_formatted_and_none_of_a_rehearsal_or_an_undo() {
    let count = "echo ran >> \"$(dirname \"$1\")/../ran\"; echo formatted >> \"$1\"";
    let place = place(&script(count), "off");
    place.file("a.txt", "one\n");
    let patch = "patchText=*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** Add File: b.txt\n+b\n*** End Patch";
    trusting(&place, &["call", "apply_patch", patch, "--dry-run"]);
    assert!(!place.ws().join("ran").exists());

    let told = trusting(&place, &["call", "apply_patch", patch, "--json"]).json();
    assert_eq!(place.read("a.txt") + &place.read("b.txt"), "two\nformatted\nb\nformatted\n", "{told}");
    let by_file = |file: &str| json!({ "file": file, "name": "mine", "changed": true });
    assert_eq!(told["metadata"]["formatter"], json!([by_file("a.txt"), by_file("b.txt")]));
    assert_eq!(place.read("ran").lines().count(), 2);

    let undone = trusting(&place, &["undo", told["call"].as_str().unwrap(), "--yes"]);
    assert_eq!((undone.code, place.read("a.txt").as_str()), (0, "one\n"), "{}", undone.err);
    assert!(!place.ws().join("b.txt").exists());
    assert_eq!(place.read("ran").lines().count(), 2);
}

#[test]
fn programs_of_a_directory_that_is_not_trusted_itself_are_not_run() {
    const PACKAGE: &str = r#"{ "devDependencies": { "prettier": "*" } }"#;
    let place = place(&json!(true), "off");
    for directory in traced::DIRECTORIES {
        place.file(&format!("{directory}package.json"), PACKAGE);
        traced::program(&place, &format!("{directory}node_modules/.bin/prettier"));
    }
    traced::trust_the_outer(&place);
    let write = |file: &str| traced::write(&place, file);
    assert_eq!(write("a.ts").1, "node_modules/.bin/prettier\n");
    assert_eq!(write("packages/a/a.ts").1, "node_modules/.bin/prettier\n", "the trusted one further up");
    let (told, ran) = write("sub/a.ts");
    assert_eq!(ran, "", "{told}");
    let error = told["metadata"]["formatter"]["error"].as_str().unwrap_or_default();
    assert!(error.contains("sub is a repository of its own that nobody trusts"), "{told}");

    assert_eq!(place.run(&["trust", "sub"]).code, 0);
    assert_eq!(write("sub/b.ts").1, "sub/node_modules/.bin/prettier\n");
    assert_eq!(place.run(&["trust", "packages/a"]).code, 0);
    assert_eq!(write("packages/a/b.ts").1, "packages/a/node_modules/.bin/prettier\n");
}
