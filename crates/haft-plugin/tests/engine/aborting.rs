//! Calls that are to stop.

use serde_json::json;

use crate::driver::{Host, execute};

#[test]
fn the_signal_of_a_call_fires() {
    let body = "return await new Promise((_, no) => { console.log('ready'); ctx.abort.addEventListener('abort', () => no(ctx.abort.reason)) })";
    let mut host = Host::tool(&execute(body));
    let id = host.begin("default", json!({}));
    host.until(|line| line["text"] == "ready");
    host.abort(id);
    assert_eq!(host.answer_to(id)["error"]["name"], "AbortError");
}

#[test]
fn a_loop_that_never_ends_is_interrupted_and_the_host_goes_on() {
    for body in [
        "if (args.loop) { console.log('ready'); for (;;); } return 'ok'",
        "if (args.loop) { console.log('ready'); await null; for (;;) { try { for (;;); } catch {} } } return 'ok'",
        "if (args.loop) { console.log('ready'); for (;;) await null } return 'ok'",
    ] {
        let mut host = Host::tool(&execute(body));
        let id = host.begin("default", json!({ "loop": true }));
        host.until(|line| line["text"] == "ready");
        host.abort(id);
        if body.contains("for (;;) await null") {
            // Its code goes on, in turns: haft ends such a host. It hears the abort, which is what is held here.
            continue;
        }
        assert_eq!(host.answer_to(id)["error"]["name"], "AbortError", "{body}");
        assert_eq!(host.output(json!({})), "ok");
    }
}

#[test]
fn a_loop_in_turns_hears_the_abort() {
    let body =
        "let n = 0; console.log('ready'); while (!ctx.abort.aborted) { n++; await null } return 'stopped'";
    let mut host = Host::tool(&execute(body));
    let id = host.begin("default", json!({}));
    host.until(|line| line["text"] == "ready");
    host.abort(id);
    assert_eq!(host.answer_to(id)["ok"]["output"], "stopped");
}

#[test]
fn questions_of_an_aborted_call_are_rejected() {
    let mut host = Host::tool(&execute("await ctx.ask({ permission: 'x', patterns: [] })"));
    let id = host.begin("default", json!({}));
    let ask = host.until(|line| line["op"] == "permission").unwrap();
    host.abort(id);
    assert_eq!(host.answer_to(id)["error"]["name"], "AbortError");
    host.send(&json!({ "answer": ask["ask"], "ok": null }));
    assert_eq!(host.call(json!({}))["error"]["kind"], "failure");
}

#[test]
fn programs_of_an_aborted_call_end_with_it() {
    let body = "const { spawn } = await import('node:child_process'); const child = spawn('sleep', ['1000']); console.log('pid ' + child.pid); return await new Promise((done) => child.on('close', (code, signal) => done(`${code} ${signal}`)))";
    let mut host = Host::tool(&execute(body));
    let id = host.begin("default", json!({}));
    host.until(|line| line["text"].as_str().is_some_and(|text| text.starts_with("pid ")));
    host.abort(id);
    assert_eq!(host.answer_to(id)["ok"]["output"], "null SIGKILL");
}

#[test]
fn a_program_that_is_waited_for_on_the_spot_ends_with_its_call() {
    let body = "const { execFileSync } = await import('node:child_process'); console.log('ready'); execFileSync('sleep', ['1000']); return ''";
    let mut host = Host::tool(&execute(body));
    let id = host.begin("default", json!({}));
    host.until(|line| line["text"] == "ready");
    host.abort(id);
    assert_eq!(host.answer_to(id)["error"]["name"], "AbortError");
}

#[test]
fn code_that_waits_for_a_program_on_the_spot_says_that_it_listens() {
    // Nothing is heard of the second, though it has not ended.
    for stdio in ["pipe", "ignore"] {
        let body = format!(
            "const {{ execFileSync }} = await import('node:child_process'); console.log('ready'); execFileSync('sleep', ['1000'], {{ stdio: '{stdio}' }}); return ''"
        );
        let mut host = Host::tool(&execute(&body));
        let id = host.begin("default", json!({}));
        host.until(|line| line["text"] == "ready");
        assert_eq!(host.order(json!({ "do": "ping" }))["ok"], json!(null), "{stdio}");
        host.abort(id);
        assert_eq!(host.answer_to(id)["error"]["name"], "AbortError", "{stdio}");
    }
}

#[test]
fn a_program_that_is_silent_is_waited_for_and_ends_in_time() {
    let body = "const { spawnSync } = await import('node:child_process'); const silent = spawnSync('sh', ['-c', 'exec >&- 2>&-; sleep 0.1; exit 3']); const late = spawnSync('sleep', ['1000'], { stdio: 'ignore', timeout: 10 }); return `${silent.status} ${late.error.code}`";
    assert_eq!(Host::tool(&execute(body)).output(json!({})), "3 ETIMEDOUT");
}

#[test]
fn the_host_ends_with_haft_whatever_its_code_does() {
    let mut host = Host::tool(&execute(
        "const { spawn } = await import('node:child_process'); const child = spawn('sleep', ['1000']); console.log('pid ' + child.pid); for (;;);",
    ));
    host.begin("default", json!({}));
    let line = host.until(|line| line["text"].as_str().is_some_and(|text| text.starts_with("pid "))).unwrap();
    let pid = line["text"].as_str().unwrap().trim_start_matches("pid ").to_owned();
    host.close();
    // A killed program may still be listed until somebody takes note of its end.
    let is_there = || {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z")
    };
    for _ in 0..1000 {
        if !is_there() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("the program outlived its host");
}

#[test]
fn a_question_that_code_waits_for_on_the_spot_ends_with_its_call() {
    let body =
        "const fs = await import('node:fs'); fs.writeFileSync('/proc/sys/kernel/ostype', 'x'); return ''";
    let mut host = Host::tool(&execute(body));
    let id = host.begin("default", json!({}));
    host.until(|line| line["op"] == "file");
    host.abort(id);
    assert_eq!(host.answer_to(id)["error"]["name"], "AbortError");
    assert_eq!(host.call_named("absent", json!({}))["error"]["kind"], "failure");
}

#[test]
fn programs_of_a_loop_that_is_interrupted_end_too() {
    let body = "const { spawn } = await import('node:child_process'); if (args.pid) { try { process.kill(args.pid, 0); return 'there' } catch (e) { return e.code } } const child = spawn('sleep', ['1000']); console.log('pid ' + child.pid); for (;;);";
    let mut host = Host::tool(&execute(body));
    let id = host.begin("default", json!({}));
    let line = host.until(|line| line["text"].as_str().is_some_and(|text| text.starts_with("pid "))).unwrap();
    let pid: u64 = line["text"].as_str().unwrap().trim_start_matches("pid ").parse().unwrap();
    host.abort(id);
    assert_eq!(host.answer_to(id)["error"]["name"], "AbortError");
    // It is gone once the host has taken note of its end.
    while host.output(json!({ "pid": pid })) == "there" {}
}
