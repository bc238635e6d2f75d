//! Terminals for programs that need one, and what is known of those that wait for somebody to type.

use serde_json::json;

use crate::bench::Bench;

#[test]
fn a_program_that_asks_for_a_terminal_gets_one_of_its_own() {
    let bench = Bench::new();
    let script = "[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && (: < /dev/tty) && stty size && echo $TERM";
    let ran = bench.completed("bash", json!({ "command": script, "pty": true }));
    assert_eq!(ran.text(), "24 80\nxterm-256color\n");
    let without =
        bench.completed("bash", json!({ "command": "[ -t 0 ] || [ -t 1 ] || (: < /dev/tty) || echo none" }));
    assert!(without.text().contains("none"), "{}", without.text());
}

#[test]
fn what_is_drawn_is_shown_as_text() {
    let bench = Bench::new();
    let script = r"printf '\033[31m10%%\r100%%\033[0m\nplain\n'; exit 2";
    let ran = bench.completed("bash", json!({ "command": script, "pty": true }));
    assert_eq!(
        (ran.structured["output"].as_str(), &ran.structured["exit"]),
        (Some("100%\nplain\n"), &json!(2))
    );
    // The whole is kept as it was sent.
    let many = r"for i in $(seq 1 20000); do printf '\033[32mline\033[0m\n'; done";
    let ran = bench.completed("bash", json!({ "command": many, "pty": true }));
    assert!(!ran.text().contains('\u{1b}') && ran.text().contains("line\nline\n"));
    assert!(bench.outputs.wholes()[0].starts_with("\u{1b}[32mline\u{1b}[0m\r\n"));
}

#[test]
fn a_job_on_a_terminal_is_typed_to() {
    let bench = Bench::new();
    let script = "read -p 'name? ' name; echo \"hello $name\"; cat";
    let id = bench.start_as(json!({ "command": script, "background": true, "pty": true }));
    bench.read_until(&id, "name? ");
    bench.write(&id, "you\n");
    bench.read_until(&id, "hello you");
    // Control and C interrupts what runs.
    bench.write(&id, "\u{3}");
    let ended = bench.job("wait", &id).1;
    assert!(["was ended by signal 2", "exited with code 130"].contains(&ended.as_str()), "{ended}");
}

#[test]
fn what_waits_for_input_is_recognised() {
    let bench = Bench::new();
    let ran =
        bench.completed("bash", json!({ "command": "echo begun; read x", "pty": true, "timeout": 1000 }));
    assert!(ran.text().contains("It waited for input"), "{}", ran.text());
    let ran = bench.completed("bash", json!({ "command": "sleep 60", "pty": true, "timeout": 500 }));
    assert!(!ran.text().contains("waited for input"), "{}", ran.text());

    let id = bench.start("echo begun; read x");
    bench.read_until(&id, "begun");
    let waited = bench.completed("jobs", json!({ "action": "wait", "id": id, "timeout": 1000 }));
    assert!(waited.text().contains("it waits for input"), "{}", waited.text());
}

#[test]
fn what_waits_for_input_among_other_things_is_recognised() {
    let bench = Bench::new();
    let waited = |script: &str, pty: bool| {
        let id = bench.start_as(json!({ "command": script, "background": true, "pty": pty }));
        bench.read_until(&id, "begun");
        let waited = bench.completed("jobs", json!({ "action": "wait", "id": id, "timeout": 1000 }));
        bench.job("kill", &id);
        waited.text().contains("it waits for input")
    };
    // One for each way to wait: what a line is edited with, poll, epoll, and a thread of its own.
    let select = "echo begun; exec bash --norc --noprofile -i";
    let python = |code: &str| {
        format!("exec python3 -uc 'import os, select, socket, threading\nprint(\"begun\")\n{code}'")
    };
    let poll = python("p = select.poll(); p.register(0, select.POLLIN); p.poll()");
    let epoll = python("e = select.epoll(); e.register(0, select.EPOLLIN); e.poll()");
    let thread = python("threading.Thread(target=os.read, args=(0, 1)).start(); threading.Event().wait()");
    for script in [select, &poll, &epoll, &thread] {
        assert!(waited(script, true), "{script}");
    }
    assert!(waited(&epoll, false));
    // A server has other things to do than to ask, and who only writes does not read.
    let server = python(
        "s = socket.socket(socket.AF_UNIX); s.bind(\"s\"); s.listen(); e = select.epoll(); \
         e.register(s, select.EPOLLIN); e.register(0, select.EPOLLIN); e.poll()",
    );
    let writer = python("p = select.poll(); p.register(0, select.POLLPRI); p.poll(60000)");
    for script in [server, writer] {
        assert!(!waited(&script, true), "{script}");
    }
}
