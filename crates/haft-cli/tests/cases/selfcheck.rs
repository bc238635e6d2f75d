//! Checks the runner before it judges anything: a matcher that accepts everything would pass every case.

use std::ffi::OsStr;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::anyhow;
use serde_json::{Map, Value, json};

use crate::case::Case;
use crate::content::{Names, generate};
use crate::drive::{Answer, Haft, Run, User};
use crate::expect;
use crate::matching::matches;
use crate::options::Options;
use crate::outcome::{Failure, Outcome};
use crate::pattern;
use crate::server::Server;
use crate::workspace::Workspace;

/// Panics at the first thing that does not work.
pub(crate) fn run() {
    content();
    patterns();
    operators();
    expectations();
    outcomes();
    options();
    malformed_cases();
    driving();
    serving();
}

fn content() {
    let bytes = |spec: Value| generate(&spec).unwrap_or_else(|error| panic!("{spec}: {error:#}"));
    assert_eq!(bytes(json!("é\n")), "é\n".as_bytes());
    assert_eq!(bytes(json!({"text": "a", "mode": "0644"})), b"a");
    assert_eq!(bytes(json!({"base64": "/wA="})), [0xff, 0]);
    assert_eq!(bytes(json!({"repeat": ["ab", 3]})), b"ababab");
    assert_eq!(bytes(json!({"lines": {"format": "{n}={n:04}", "from": 9, "to": 10}})), b"9=0009\n10=0010\n");
    let lines = json!({"format": "y", "from": 1, "to": 2, "sep": "\r\n", "final_newline": false});
    assert_eq!(bytes(json!({"concat": ["x", {"lines": lines}]})), b"xy\r\ny");
    assert!(generate(&json!({"txt": "a"})).is_err(), "a misspelt content must not be empty");

    let names = names();
    let filled =
        names.fill_value(&json!({"{{cwd}}": ["{{cwd}}/{{other}}", {"$gen": {"repeat": ["{{cwd}}", 2]}}]}));
    let filled = filled.unwrap_or_else(|error| panic!("{error:#}"));
    assert_eq!(filled, json!({"/w+": ["/w+/{{other}}", "/w+/w+"]}));
}

fn patterns() {
    let check = |pattern: &str, text: &str, wanted: bool| {
        let found = pattern::compile(pattern, &names()).unwrap_or_else(|error| panic!("{error:#}"));
        assert_eq!(found.is_match(text), wanted, "/{pattern}/ on {text:?}");
    };
    check("^{{cwd}}$", "/w+", true);
    check("^{{cwd}}$", "/ww", false);
    // As in Python: the end is also before a last line feed, but not before an earlier one.
    check("a$", "a\n", true);
    check("a$", "a\nb", false);
    check("(?m)a$", "a\nb", true);
    check("(?s)a.b$", "a\nb", true);
    check(r"\$[$]$", "$$", true);
    check("[[]x[^]]", "[xy", true);
    assert!(pattern::compile("a(?=b)", &names()).is_err(), "look-around must not pass silently");
    assert!(pattern::compile(r"(a)\1", &names()).is_err(), "back references must not pass silently");
}

fn operators() {
    let got = json!({"s": "hello", "n": 3, "f": 3.0, "b": true, "a": [1, {"k": "v"}, "/w+"], "z": null});
    let verdict = |want: &Value| matches(want, &got, &names(), "");
    let holds = [
        json!({}),
        json!({"s": "hello", "n": 3.0, "f": 3, "b": true, "z": null, "missing": null}),
        json!({"s": {"$matches": "^h", "$not_matches": "x", "$type": "string", "$length": 5}}),
        json!({"n": {"$gte": 3, "$lte": 3, "$ne": 4, "$type": "number"}, "b": {"$type": "boolean"}}),
        json!({"a": {"$contains": {"k": {"$type": "string"}}, "$excludes": [2, "x"], "$length": 3}}),
        json!({"a": {"$contains": [1, "{{cwd}}"], "$set": ["{{cwd}}", {"k": "v"}, 1]}}),
        json!({"a": [1, {}, "{{cwd}}"], "z": {"$absent": true}, "missing": {"$absent": true}}),
        json!({"s": {"$any": ["bye", {"$matches": "l+"}]}, "missing": {"$not_matches": "x"}}),
        json!({"s": {"$gen": {"concat": ["hel", "lo"]}}}),
    ];
    for want in &holds {
        assert!(verdict(want).is_ok(), "{want} must hold: {:?}", verdict(want));
    }
    let fails = [
        json!({"s": "hell"}),
        json!({"missing": "x"}),
        json!({"b": 1}),
        json!({"n": true}),
        json!({"n": "3"}),
        json!({"a": [1, {}]}),
        json!({"a": [1, {"k": "w"}, "/w+"]}),
        json!({"s": {"k": 1}}),
        json!({"s": {"$matches": "^e"}}),
        json!({"n": {"$matches": "3"}}),
        json!({"s": {"$not_matches": "h"}}),
        json!({"s": {"$type": "array"}}),
        json!({"n": {"$gte": 4}}),
        json!({"n": {"$lte": 2}}),
        json!({"s": {"$gte": 0}}),
        json!({"n": {"$ne": 3.0}}),
        json!({"a": {"$length": 2}}),
        json!({"n": {"$length": 1}}),
        json!({"a": {"$contains": [1, 2]}}),
        json!({"s": {"$contains": "h"}}),
        json!({"a": {"$excludes": "{{cwd}}"}}),
        json!({"a": {"$set": [1, {"k": "v"}]}}),
        json!({"a": {"$set": [1, 1, {"k": "v"}, "/w+"]}}),
        json!({"s": {"$any": ["a", "b"]}}),
        json!({"s": {"$absent": true}}),
    ];
    for want in &fails {
        assert!(matches!(verdict(want), Err(Failure::Mismatch(_))), "{want} must not hold");
    }
    let broken = verdict(&json!({"s": {"$mathces": "h"}}));
    assert!(matches!(broken, Err(Failure::Broken(_))), "an unknown operator must not hold");
}

fn expectations() {
    let workspace = workspace();
    let settlement = json!({
        "status": "error", "title": "T", "output": "one\ntwo\n\n", "metadata": {"x": 1},
        "error": {"message": "no"}
    });
    std::fs::write(workspace.cwd.join("f"), "body").unwrap_or_else(|error| panic!("{error}"));
    let verdict = |expect: Value| {
        let fields = expect.as_object().cloned().unwrap_or_default();
        expect::check(&fields, &settlement, &workspace, Duration::from_millis(50))
    };
    // Each expectation once as it holds and once as it must not.
    let pairs = [
        (json!({"status": ["error", "x"]}), json!({"status": "completed"})),
        (json!({"output_equals": "one\ntwo\n\n"}), json!({"output_equals": "one"})),
        (json!({"output_matches": ["^one", "two"]}), json!({"output_matches": ["one", "three"]})),
        (json!({"output_not_matches": ["three"]}), json!({"output_not_matches": ["three", "two"]})),
        (json!({"output_order": ["one", "ne", "two"]}), json!({"output_order": ["two", "one"]})),
        (json!({"output_line_set": ["two", "one"]}), json!({"output_line_set": ["one"]})),
        (json!({"output_max_bytes": 9}), json!({"output_max_bytes": 8})),
        (json!({"error_matches": ["^no$"]}), json!({"error_matches": ["one"]})),
        (json!({"error_not_matches": ["one"]}), json!({"error_not_matches": ["no"]})),
        (json!({"title_matches": "T"}), json!({"title_matches": "U"})),
        (json!({"metadata": {"x": 1}}), json!({"metadata": {"x": 2}})),
        (json!({"attachments": []}), json!({"attachments": [{}]})),
        (json!({"files": {"f": "body", "g": null}}), json!({"files": {"f": null}})),
        (json!({"files": {"f": {"matches": ["^b"], "is_symlink": false}}}), json!({"files": {"f": "other"}})),
        (json!({"files": {"../work": {"dir": true}}}), json!({"files": {"f": {"matches": ["x"]}}})),
        (json!({"max_ms": 50}), json!({"max_ms": 49})),
        (json!({}), json!({"output_json": {}})),
        (json!({}), json!({"saved_output": "x"})),
    ];
    for (holds, fails) in pairs {
        let right = verdict(holds.clone());
        assert!(right.is_ok(), "{holds} must hold: {right:?}");
        assert!(matches!(verdict(fails.clone()), Err(Failure::Mismatch(_))), "{fails} must not hold");
    }
}

fn outcomes() {
    let reason = "why".to_owned();
    let mismatch = || Err(Failure::Mismatch("m".to_owned()));
    let broken = || Err(Failure::Broken(anyhow!("b")));
    let passes = Outcome::Failed("listed as superseded but passes".to_owned());
    assert_eq!(Outcome::judge(Ok(()), None, false), Outcome::Passed);
    assert_eq!(Outcome::judge(Ok(()), Some(&reason), false), passes);
    assert_eq!(Outcome::judge(mismatch(), None, false), Outcome::Failed("m".to_owned()));
    assert_eq!(Outcome::judge(mismatch(), None, true), Outcome::Disputed("m".to_owned()));
    assert_eq!(Outcome::judge(mismatch(), Some(&reason), true), Outcome::Superseded(reason.clone()));
    assert_eq!(Outcome::judge(broken(), Some(&reason), true), Outcome::Failed("b".to_owned()));
}

fn options() {
    let parse = |line: &str| Options::parse(line.split_whitespace().map(str::to_owned));
    let flags = parse("--nocapture --test-threads=9 --color always -q --format=pretty -Z unstable-options");
    assert!(!flags.filtered() && flags.selects("a") && !flags.list && flags.threads == 4);
    let some = parse("read- --skip read-basic --list --test-threads 1");
    assert!(some.list && some.threads == 1 && some.selects("read-page-001"));
    assert!(!some.selects("read-basic-001") && !some.selects("write-x"));
    assert!(!parse("read --exact").selects("read-x") && !parse("--ignored").selects("a"));
}

fn malformed_cases() {
    let good = json!({"id": "a", "tool": "t", "input": {}, "expect": {"status": "error"}});
    assert!(Case::recognises(&good) && Case::parse(&good).is_ok());
    for (key, value) in
        [("expects", json!({})), ("expect", json!({"output_match": []})), ("tool", json!(null))]
    {
        let mut bad = good.clone();
        bad[key] = value;
        assert!(Case::parse(&bad).is_err(), "{bad} must not be a case");
    }
}

fn driving() {
    let workspace = workspace();
    let ask = |script: &str, deadline: Duration| -> anyhow::Result<Answer> {
        let arguments = ["-c", script].map(OsStr::new);
        let run = Run {
            workspace: &workspace,
            env: &Map::new(),
            user: User::Ourselves,
            arguments: &arguments,
            stdin: "{\"in\": 1}",
        };
        Haft::new("/bin/sh".into(), deadline).ask(&run)
    };
    let plenty = Duration::from_secs(30);
    let heard =
        ask("echo noise; echo trouble >&2; cat; exit 3", plenty).unwrap_or_else(|error| panic!("{error:#}"));
    assert_eq!(heard.json, json!({"in": 1}));
    let script = r#"printf '"%s %s %s"' "$HAFT_TRUST" "$HOME" "$(pwd)""#;
    let world = ask(script, plenty).unwrap_or_else(|error| panic!("{error:#}"));
    assert_eq!(world.json, json!(workspace.names.fill("1 {{home}} {{cwd}}")));
    assert!(ask("echo no", plenty).is_err_and(|error| error.to_string().contains("no JSON")));
    // The grandchild dies with the group, or the file would appear.
    let slow = ask("(sleep 0.2; touch late) & sleep 30", Duration::from_millis(50));
    assert!(slow.is_err_and(|error| error.to_string().contains("timed out")));
    std::thread::sleep(Duration::from_millis(300));
    assert!(!workspace.cwd.join("late").exists(), "a child of the binary outlived its deadline");
}

fn serving() {
    let first = json!({"status": 403, "headers": {"Location": "{{prefix}}/q"}});
    let routes = json!({"/p": [first, {"body": {"repeat": ["z", 3]}}]});
    let server = Server::start(routes.as_object().cloned().unwrap_or_default());
    let server = server.unwrap_or_else(|error| panic!("{error:#}"));
    let fetch = |path: &str| -> std::io::Result<String> {
        let host = server.url.trim_start_matches("http://").trim_end_matches("/case");
        let mut stream = TcpStream::connect(host)?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: h\r\nX-A: b\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    let starts = |path: &str, wanted: &str, within: &str| {
        let answer = fetch(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(answer.starts_with(wanted) && answer.contains(within), "{path} answered {answer}");
    };
    starts("/case/p?x=1", "HTTP/1.1 403 ", "\r\nlocation: /case/q\r\n");
    starts("/case/p", "HTTP/1.1 200 ", "\r\n\r\nzzz");
    starts("/case/p", "HTTP/1.1 200 ", "content-length: 3\r\n");
    starts("/case/q", "HTTP/1.1 404 ", "");
    starts("/p", "HTTP/1.1 404 ", "");
    let request = json!([{"path": "/p", "headers": {"x-a": "b"}}, {}, {}, {"path": "/q"}]);
    let verdict = matches(&request, &server.log(), &names(), "requests");
    assert!(verdict.is_ok(), "{verdict:?}");
}

fn names() -> Names {
    let mut names = Names::default();
    names.bind("cwd", "/w+".to_owned());
    names
}

fn workspace() -> Workspace {
    Workspace::empty(None, "").unwrap_or_else(|error| panic!("{error:#}"))
}
