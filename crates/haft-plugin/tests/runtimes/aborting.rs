//! Calls that are to stop, and hosts.

use serde_json::json;

use crate::driver::{Host, execute, runtimes};

#[test]
fn the_signal_of_a_call_fires_and_what_it_asked_is_rejected() {
    let body = "if (args.ask) await ctx.ask({ permission: 'x', patterns: [] })
      return await new Promise((_, no) => { console.log('ready'); ctx.abort.addEventListener('abort', () => no(ctx.abort.reason)) })";
    for runtime in runtimes() {
        let mut host = Host::tool(&runtime, &execute(body));
        let id = host.begin("default", json!({}));
        host.until(|line| line["text"] == "ready");
        host.abort(id);
        assert_eq!(host.answer_to(id)["error"]["name"], "AbortError");
        let id = host.begin("default", json!({ "ask": true }));
        host.until(|line| line["op"] == "permission");
        host.abort(id);
        assert_eq!(host.answer_to(id)["error"]["name"], "AbortError");
    }
}

#[test]
fn programs_of_an_aborted_call_end_with_it() {
    let body = "const { spawn } = await import('node:child_process'); const child = spawn('sleep', ['1000']); console.log('ready'); return await new Promise((done) => child.on('close', (code, signal) => done(`${code} ${signal}`)))";
    for runtime in runtimes() {
        let mut host = Host::tool(&runtime, &execute(body));
        let id = host.begin("default", json!({}));
        host.until(|line| line["text"] == "ready");
        host.abort(id);
        assert_eq!(host.answer_to(id)["ok"]["output"], "null SIGKILL");
    }
}

#[test]
fn the_host_ends_with_haft() {
    for runtime in runtimes() {
        let mut host =
            Host::tool(&runtime, &execute("setInterval(() => {}, 1000); await new Promise(() => {})"));
        host.begin("default", json!({}));
        host.close();
    }
}
