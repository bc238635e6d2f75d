//! What tools do: files, programs, timers, the network by way of haft.

use serde_json::json;

use crate::driver::{Host, execute};

#[test]
fn files_are_read_and_written() {
    let body = "const fs = await import('node:fs'); const { readFile } = await import('fs/promises');
      fs.mkdirSync('a/b', { recursive: true }); fs.writeFileSync('a/b/c.txt', 'hé'); fs.appendFileSync('a/b/c.txt', Buffer.from([33]));
      const stat = fs.statSync('a/b/c.txt'); const names = fs.readdirSync('a'); let error; try { fs.readFileSync('gone') } catch (e) { error = e }
      return JSON.stringify([await readFile('a/b/c.txt', 'utf8'), stat.size, stat.isFile(), names, error.code, error.errno, error.syscall, error.message])";
    let mut host = Host::tool(&execute(body));
    let expected =
        r#"["hé!",4,true,["b"],"ENOENT",-2,"open","ENOENT: no such file or directory, open 'gone'"]"#;
    assert_eq!(host.output(json!({})), expected);
    assert_eq!(std::fs::read_to_string(host.path("a/b/c.txt")).unwrap(), "hé!");
}

#[test]
fn programs_run_and_are_heard() {
    let body = "const { execSync, spawnSync, exec } = await import('node:child_process'); const { promisify } = await import('node:util');
      const piped = spawnSync('cat', { input: 'in' }).stdout.toString(); const failed = spawnSync('sh', ['-c', 'exit 3']).status; const absent = spawnSync('no-such-program').error.code;
      const { stdout, stderr } = await promisify(exec)('echo out; echo err >&2');
      return JSON.stringify([execSync('echo hi').toString(), piped, failed, absent, stdout, stderr])";
    let mut host = Host::tool(&execute(body));
    assert_eq!(host.output(json!({})), r#"["hi\n","in",3,"ENOENT","out\n","err\n"]"#);
}

#[test]
fn large_outputs_of_programs_arrive_whole() {
    let body = "const { spawn } = await import('node:child_process'); const child = spawn('head', ['-c', '3000000', '/dev/zero']); let n = 0; child.stdout.on('data', (d) => { n += d.length }); return await new Promise((done) => child.on('close', (code) => done(`${code} ${n}`)))";
    let mut host = Host::tool(&execute(body));
    assert_eq!(host.output(json!({})), "0 3000000");
}

#[test]
fn fetch_is_a_question_to_haft() {
    let body = "const r = await fetch('https://example.com/a', { method: 'POST', body: 'hi' }); return `${r.status} ${r.headers.get('x-a')} ${await r.text()}`";
    let mut host = Host::tool(&execute(body)).answering(|ask| {
        assert_eq!((&ask["op"], &ask["for"]), (&json!("fetch"), &json!(2)));
        assert_eq!((&ask["with"]["method"], &ask["with"]["body"]), (&json!("POST"), &json!("aGk=")));
        json!({ "ok": { "status": 201, "statusText": "Created", "url": "https://example.com/a", "redirected": false, "headers": [["x-a", "b"]], "body": "Ym9keQ==" } })
    });
    assert_eq!(host.output(json!({})), "201 b body");
}

#[test]
fn what_the_kernel_forbids_is_put_to_haft() {
    // Whoever runs as root is forbidden little; this is.
    let body = "const fs = await import('node:fs'); fs.writeFileSync('/proc/sys/kernel/ostype', 'x'); return fs.readFileSync('/proc/sys/kernel/ostype', 'utf8')";
    let mut host = Host::tool(&execute(body)).answering(|ask| {
        assert_eq!((&ask["op"], &ask["with"]["op"]), (&json!("file"), &json!("writeFile")));
        assert_eq!(ask["with"]["data"], "eA==");
        json!({ "error": { "name": "Error", "message": "haft says no", "code": "EACCES" } })
    });
    let error = host.call(json!({}))["error"].clone();
    assert_eq!((&error["message"], &error["code"]), (&json!("haft says no"), &json!("EACCES")), "{error}");
}

#[test]
fn digests_text_and_addresses() {
    let body = "const { createHash, createHmac, randomUUID } = await import('node:crypto');
      return JSON.stringify([createHash('md5').update('a').digest('hex'), createHash('sha256').update('a').digest('base64'), createHmac('sha1', 'k').update('a').digest('hex'), createHmac('md5', 'k').update('a').digest('hex'), randomUUID().length,
        new TextDecoder('latin1').decode(new Uint8Array([233])), new URL('../b?c#d', 'http://h:80/a/x').href, atob('aGk='), structuredClone(new Map([[1, 2]])).get(1)])";
    let mut host = Host::tool(&execute(body));
    let expected = r#"["0cc175b9c0f1b6a831c399e269772661","ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=","40e7d441cadb17b07f050341aa23a6820ed81c8b","ddcf3d210049e7135f61affae73731cd",36,"é","http://h/b?c#d","hi",2]"#;
    assert_eq!(host.output(json!({})), expected);
}

#[test]
fn questions_name_the_call_they_belong_to_though_others_run() {
    let body = "if (args.slow) await ctx.ask({ permission: 'slow', patterns: [] }); const first = await fetch('http://a/1'); const second = await fetch('http://a/2'); return String(first.status + second.status)";
    let mut host = Host::tool(&execute(body)).answering(|_| {
        json!({ "ok": { "status": 200, "statusText": "", "url": "http://a/", "redirected": false, "headers": [], "body": "" } })
    });
    let slow = host.begin("default", json!({ "slow": true }));
    let ask = host.until(|line| line["with"]["permission"] == "slow").unwrap();
    assert_eq!(host.output(json!({})), "400");
    host.send(&json!({ "answer": ask["ask"], "ok": null }));
    assert_eq!(host.answer_to(slow)["ok"]["output"], "400");
    let calls: Vec<u64> = host
        .said
        .iter()
        .filter(|line| line["op"] == "fetch")
        .filter_map(|line| line["for"].as_u64())
        .collect();
    assert_eq!(calls, [slow + 1, slow + 1, slow, slow]);
}
