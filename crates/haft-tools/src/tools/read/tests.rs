//! What reading shows, and what it refuses.

mod contents;

use std::fs;

use expect_test::expect;
use haft::{Content, SessionId, ToolContext};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use crate::testing::{Bench, run};

fn path(path: &str) -> Value {
    json!({"filePath": path})
}

#[test]
fn numbered_lines_in_an_envelope() {
    let bench = Bench::new();
    bench.file("src/app.py", "\u{feff}x = 1\r\ny = 2\r\n");
    bench.file("empty", "");
    bench.check(
        "read",
        path("src/app.py"),
        expect![[r#"
        title: src/app.py
        <path>$ws/src/app.py</path>
        <type>file</type>
        <content>
        1: x = 1
        2: y = 2

        (End of file - total 2 lines)
        </content>"#]],
    );
    bench.check(
        "read",
        json!({"path": "src/app.py", "offset": "2"}),
        expect![[r#"
        title: src/app.py
        <path>$ws/src/app.py</path>
        <type>file</type>
        <content>
        2: y = 2

        (End of file - total 2 lines)
        </content>"#]],
    );
    bench.check(
        "read",
        json!({"file_path": "src/app.py", "offset": 0, "limit": 1}),
        expect![[r#"
        title: src/app.py
        <path>$ws/src/app.py</path>
        <type>file</type>
        <content>
        1: x = 1

        (Showing lines 1-1 of 2. Use offset=2 to continue.)
        </content>"#]],
    );
    bench.check(
        "read",
        json!({"filePath": "src/app.py", "offset": 3}),
        expect!["rejected: Offset 3 is out of range for this file (2 lines)"],
    );
    bench.check(
        "read",
        path("empty"),
        expect![[r#"
        title: empty
        <path>$ws/empty</path>
        <type>file</type>
        <content>


        (End of file - total 0 lines)
        </content>"#]],
    );
    bench.check(
        "read",
        json!({"filePath": "empty", "offset": 2}),
        expect!["rejected: Offset 2 is out of range for this file (0 lines)"],
    );
}

#[test]
fn no_line_is_shown_where_none_is_wanted() {
    let bench = Bench::new();
    bench.file("a.txt", "one\ntwo\nthree");
    let done = bench.completed("read", json!({"filePath": "a.txt", "limit": 0}));
    assert!(done.text().contains("(No line is shown, there are 3. Use a limit above 0.)"), "{}", done.text());
}

#[test]
fn metadata_for_people() {
    let bench = Bench::new();
    bench.file("a.txt", "one\ntwo\nthree");
    let done = bench.completed("read", json!({"filePath": "a.txt", "limit": 2}));
    let path = bench.path("a.txt");
    assert_eq!(
        Value::Object(done.metadata),
        json!({
            "preview": "one\ntwo", "truncated": true, "loaded": [],
            "display": {
                "type": "file", "path": path, "text": "one\ntwo", "lineStart": 1, "lineEnd": 2, "totalLines": 3,
                "truncated": true,
            },
        })
    );
}

#[test]
fn a_page_is_capped() {
    let bench = Bench::new();
    bench.file("big", "z".repeat(79) + "\n" + &("z".repeat(79) + "\n").repeat(2000));
    let done = bench.completed("read", path("big"));
    let text = done.text();
    assert!(
        text.ends_with(
            "(Output capped at 50 KB. Showing lines 1-640. Use offset=641 to continue.)\n</content>"
        )
    );
    assert_eq!(done.metadata["truncated"], true);
    bench.file("exact", "r\n".repeat(2000));
    assert!(bench.completed("read", path("exact")).text().contains("(End of file - total 2000 lines)"));
}

#[test]
fn a_missing_file_has_neighbours() {
    let bench = Bench::new();
    bench.file("README.md", "hi");
    bench.check(
        "read",
        path("readme"),
        expect![[r#"
        rejected: File not found: $ws/readme

        Did you mean one of these?
        $ws/README.md"#]],
    );
    bench.check("read", path("quux.py"), expect!["rejected: File not found: $ws/quux.py"]);
    bench.check(
        "read",
        path("no/such/dir/f.txt"),
        expect!["rejected: File not found: $ws/no/such/dir/f.txt"],
    );
    bench.check("read", path("~/.ssh/id_rsa"), expect![[r#"
        rejected: File not found: $ws/~/.ssh/id_rsa

        A leading ~ or file:// is not expanded: give an absolute path or one relative to the working directory."#]]);
    bench.check("read", path("README.md/below"), expect!["rejected: File not found: $ws/README.md/below"]);
}

#[test]
fn directories_are_listed() {
    let bench = Bench::new();
    ["d/b.txt", "d/A.txt", "d/.hidden", "d/real/x", "d/new\nline"].iter().for_each(|file| {
        bench.file(file, "");
    });
    bench.link("d/link", "real");
    bench.link("d/dangling", "nowhere");
    bench.check(
        "read",
        path("d"),
        expect![[r#"
        title: d
        <path>$ws/d</path>
        <type>directory</type>
        <entries>
        .hidden
        A.txt
        b.txt
        dangling
        link/
        new\u{a}line
        real/

        (7 entries)
        </entries>"#]],
    );
    bench.check(
        "read",
        json!({"filePath": "d", "offset": 2, "limit": 3}),
        expect![[r#"
        title: d
        <path>$ws/d</path>
        <type>directory</type>
        <entries>
        A.txt
        b.txt
        dangling

        (Showing 3 of 7 entries. Use 'offset' parameter to read beyond entry 5)
        </entries>"#]],
    );
    let denied = bench.denying(&[("read", "d")]);
    assert!(!denied.rejected("read", path("d")).contains("b.txt"));
}

#[test]
fn images_and_documents_are_attached() {
    let bench = Bench::new();
    bench.file("i.png", b"\x89PNG\r\n\x1a\nrest");
    bench.file("doc", b"%PDF-1.4\n");
    let image = bench.completed("read", path("i.png"));
    assert_eq!(image.text(), "Image read successfully");
    assert_eq!(image.metadata["truncated"], false);
    let media = Content::Media {
        mime: "image/png".to_owned(),
        data: b"\x89PNG\r\n\x1a\nrest".as_slice().into(),
        name: Some("i.png".to_owned()),
    };
    assert_eq!(image.content[1], media);
    assert!(
        image.structured["body"].get("data").is_none(),
        "the structured output does not repeat the image"
    );
    assert_eq!(bench.completed("read", path("doc")).text(), "PDF read successfully");
    bench.file("n.txt", "a\0b");
    bench.check("read", path("n.txt"), expect!["rejected: Cannot read binary file: $ws/n.txt"]);
}

#[test]
fn large_media_are_refused() {
    let bench = Bench::new();
    let file = fs::File::create(bench.path("huge.png")).unwrap();
    std::io::Write::write_all(&mut &file, b"\x89PNG\r\n\x1a\n").unwrap();
    file.set_len(1 << 40).unwrap();
    bench.check(
        "read",
        path("huge.png"),
        expect!["rejected: Media exceeds 20971520 byte ingestion limit: $ws/huge.png (1099511627776 bytes)"],
    );
}

#[test]
fn instructions_come_once() {
    let bench = Bench::new();
    bench.file("AGENTS.md", "the root's are in the system prompt");
    bench.file("area/AGENTS.md", "# House Rules\nAlways knock.");
    bench.file("area/CLAUDE.md", "not this one");
    bench.file("area/room/CONTEXT.md", "mind the step");
    bench.file("area/room/f.txt", "body");
    bench.file("area/g.txt", "body");
    bench.check(
        "read",
        path("area/room/f.txt"),
        expect![[r#"
        title: area/room/f.txt
        <path>$ws/area/room/f.txt</path>
        <type>file</type>
        <content>
        1: body

        (End of file - total 1 lines)
        </content>

        <system-reminder>
        Instructions from: $ws/area/room/CONTEXT.md
        mind the step
        </system-reminder>

        <system-reminder>
        Instructions from: $ws/area/AGENTS.md
        # House Rules
        Always knock.
        </system-reminder>"#]],
    );
    assert_eq!(bench.completed("read", path("area/g.txt")).metadata["loaded"], json!([]));
    assert_eq!(
        bench.denying(&[]).completed("read", path("area/AGENTS.md")).metadata["loaded"],
        json!([]),
        "what is read itself needs no reminder"
    );
}

#[test]
fn instructions_are_not_a_way_around_the_rules() {
    let bench = Bench::new();
    fs::write(bench.outside("secret"), "CANARY").unwrap();
    bench.file("a/f.txt", "body");
    bench.file("b/f.txt", "body");
    bench.file("b/AGENTS.md", "CANARY");
    bench.link("a/AGENTS.md", bench.outside("secret"));
    let denied = bench.denying(&[("read", "b/AGENTS.md")]);
    assert!(!denied.completed("read", path("a/f.txt")).text().contains("CANARY"));
    assert!(!denied.completed("read", path("b/f.txt")).text().contains("CANARY"));
}

#[test]
fn nothing_outside_is_read_without_consent() {
    let bench = Bench::new();
    fs::write(bench.outside("secret.txt"), "CANARY42").unwrap();
    fs::create_dir(bench.path("../ws-evil")).unwrap();
    fs::write(bench.path("../ws-evil/secret.txt"), "CANARY42").unwrap();
    bench.link("l", "../out/secret.txt");
    bench.link("d", "../out");
    let outside = bench.outside("secret.txt");
    let outside = outside.to_str().unwrap();
    let paths = [
        "../out/secret.txt".to_owned(),
        outside.to_owned(),
        bench.path("../ws-evil/secret.txt").to_str().unwrap().to_owned(),
        "../ws-evil/secret.txt".to_owned(),
        "l".to_owned(),
        "d/secret.txt".to_owned(),
        "d/absent.txt".to_owned(),
        "d".to_owned(),
        format!("/proc/self/root{outside}"),
        "sub/..//..//./out/secret.txt".to_owned(),
    ];
    let denied = bench.denying(&[("external_directory", "*")]);
    for one in &paths {
        let why = denied.rejected("read", path(one));
        assert!(why.contains("external_directory") && !why.contains("CANARY42"), "{one}: {why}");
    }
    for one in [format!("file://{outside}"), "~/secret.txt".to_owned()] {
        assert!(denied.rejected("read", path(&one)).contains("File not found"), "{one}");
    }
    bench.check_questions(
        "read",
        path("d/secret.txt"),
        expect![[r#"
        external_directory on $out/* (always: $out/*)
        read on $out/secret.txt, d/secret.txt = $ws/d/secret.txt (always: *)
        read d/secret.txt
    "#]],
    );
    bench.check_questions(
        "read",
        path("d"),
        expect![[r#"
        external_directory on $out/* (always: $out/*)
        read on $out, d = $ws/d (always: *)
        read d
    "#]],
    );
}

#[test]
fn names_are_relative_to_the_repository() {
    let bench = Bench::new();
    bench.file("top.txt", "in the worktree");
    bench.file("pkg/a.txt", "x");
    let at = bench.at("pkg");
    at.check_questions(
        "read",
        path("../top.txt"),
        expect![[r#"
        read on top.txt = $ws/top.txt (always: *)
        read top.txt
    "#]],
    );
    assert_eq!(at.completed("read", path("a.txt")).title, "pkg/a.txt");
    assert!(at.denying(&[("read", "pkg/*")]).rejected("read", path("a.txt")).contains("permission denied"));
}

#[test]
fn special_files_are_refused_at_once() {
    let bench = Bench::new();
    let mode = Mode::from_raw_mode(0o600);
    mknodat(CWD, bench.path("p"), FileType::Fifo, mode, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(bench.path("s")).unwrap();
    bench.link("a", "b");
    bench.link("b", "a");
    bench.check("read", path("p"), expect!["rejected: p is a FIFO, not a regular file"]);
    bench.check(
        "write",
        json!({"filePath": "p", "content": "x"}),
        expect!["rejected: p is a FIFO, not a regular file"],
    );
    bench.check("read", path("s"), expect!["rejected: s is a socket, not a regular file"]);
    bench.check(
        "read",
        path("/dev/zero"),
        expect!["rejected: /dev/zero is a character device, not a regular file"],
    );
    bench.check("read", path("/proc/self/environ"), expect!["rejected: /proc/self/environ belongs to the kernel's interfaces (/proc, /sys, /dev), which file tools do not touch"]);
    bench.check("read", path("a"), expect!["rejected: $ws/a is a loop of symbolic links"]);
    bench.check(
        "read",
        path("a\0b"),
        expect!["rejected: the path holds a NUL character, which no file name can"],
    );
    assert!(bench.completed("read", path("/proc/self")).text().contains("<type>directory</type>"));
}

#[test]
fn huge_files_are_read_in_part() {
    let bench = Bench::new();
    let sparse = fs::File::create(bench.path("sparse")).unwrap();
    std::io::Write::write_all(&mut &sparse, "line\n".repeat(3000).as_bytes()).unwrap();
    sparse.set_len(1 << 40).unwrap();
    let done = bench.completed("read", path("sparse"));
    assert!(done.text().contains("Showing lines 1-2000 of more than"), "{}", &done.text()[..200]);
    bench.file("line", "a".repeat(30 << 20));
    assert!(bench.completed("read", path("line")).text().len() < 3000);
}

#[test]
fn retained_outputs_are_read_by_address() {
    let bench = Bench::new();
    let own =
        run(bench.services.outputs.retain(&bench.context(), "one\ntwo\n")).unwrap().address().to_string();
    let shown = bench.completed("read", json!({"filePath": own, "offset": 2}));
    assert_eq!(
        shown.text(),
        format!(
            "<path>{own}</path>\n<type>file</type>\n<content>\n2: two\n\n(End of file - total 2 lines)\n</content>"
        )
    );

    let other = ToolContext { session: SessionId::mint(), ..bench.context() };
    let foreign = run(bench.services.outputs.retain(&other, "CANARY")).unwrap().address().to_string();
    assert!(bench.completed("read", path(&foreign)).text().contains("CANARY"), "rules allow it");
    bench.check(
        "read",
        path("haft://output/out_gone"),
        expect![[r#"rejected: there is no output "out_gone": it is gone or has expired"#]],
    );
    bench.check(
        "read",
        path("haft://output/../x y"),
        expect![[r#"rejected: there is no output "../x y": it is gone or has expired"#]],
    );
}

#[test]
fn the_outputs_of_other_sessions_need_consent() {
    let bench = Bench::new().denying(&[("external_directory", "*")]);
    let other = ToolContext { session: SessionId::mint(), ..bench.context() };
    let foreign = run(bench.services.outputs.retain(&other, "CANARY")).unwrap().address().to_string();
    let why = bench.rejected("read", path(&foreign));
    assert!(why.contains("external_directory haft://output/") && !why.contains("CANARY"), "{why}");
    let own = run(bench.services.outputs.retain(&bench.context(), "mine")).unwrap().address().to_string();
    assert!(bench.completed("read", path(&own)).text().contains("1: mine"));
}

#[test]
fn bad_arguments_are_named() {
    let bench = Bench::new();
    bench.file("f", "x");
    bench.check("read", json!({}), expect![[r#"
        rejected: Invalid tool input: The read tool was called with invalid arguments: filePath: is required: expected a string, but it is missing.
        Please rewrite the input so it satisfies the expected schema."#]]);
    bench.check("read", json!({"filePath": "f", "offset": 1e30}), expect![[r#"
        rejected: Invalid tool input: The read tool was called with invalid arguments: offset: 1e30 is too large.
        Please rewrite the input so it satisfies the expected schema."#]]);
    bench.check("read", json!({"filePath": "f", "limit": 2.5}), expect![[r#"
        rejected: Invalid tool input: The read tool was called with invalid arguments: limit: expected an integer, got 2.5.
        Please rewrite the input so it satisfies the expected schema."#]]);
    bench.check("read", json!({"filePath": "f", "offset": -1}), expect![[r#"
        rejected: Invalid tool input: The read tool was called with invalid arguments: offset: it is less than the minimum of 0, got -1.
        Please rewrite the input so it satisfies the expected schema."#]]);
    bench.check("read", json!({"filePath": "f", "ofset": 1}), expect![[r#"
        rejected: Invalid tool input: The read tool was called with invalid arguments: ofset: unknown field, did you mean offset?
        Please rewrite the input so it satisfies the expected schema."#]]);
    bench.check(
        "read",
        json!({"filePath": "f", "offset": 9007199254740993u64}),
        expect!["rejected: Offset 9007199254740993 is out of range for this file (1 lines)"],
    );
}
