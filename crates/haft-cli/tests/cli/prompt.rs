//! The prompt on a real terminal, driven through a pseudo-terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Stdio};

use crate::support::Place;

struct OnTerminal {
    child: Child,
    terminal: File,
    seen: String,
}

impl OnTerminal {
    fn start(place: &Place, args: &[&str]) -> OnTerminal {
        OnTerminal::start_on(place, args, None)
    }

    /// The same on a terminal of a kind.
    fn start_on(place: &Place, args: &[&str], term: Option<&str>) -> OnTerminal {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
        let theirs = File::options().read(true).write(true).open(name).unwrap();
        let end = || Stdio::from(theirs.try_clone().unwrap());
        let mut command = place.command(args);
        command.envs(term.map(|term| ("TERM", term)));
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        OnTerminal { child, terminal: File::from(ours), seen: String::new() }
    }

    /// Reads until something is shown.
    fn expect(&mut self, text: &str) {
        let mut buffer = [0; 4096];
        while !self.seen.contains(text) {
            match self.terminal.read(&mut buffer) {
                Ok(read) if read > 0 => self.seen.push_str(&String::from_utf8_lossy(&buffer[..read])),
                Ok(_) | Err(_) => panic!("{text:?} was never shown: {:?}", self.seen),
            }
        }
    }

    fn type_line(&mut self, line: &str) {
        self.seen.clear();
        self.terminal.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn end(mut self) -> i32 {
        let mut rest = [0; 4096];
        while self.terminal.read(&mut rest).is_ok_and(|read| read > 0) {}
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

#[test]
fn a_terminal_that_understands_only_text_gets_no_colours() {
    let place = Place::new();
    for (term, has_colours) in
        [(None, false), (Some("dumb"), false), (Some(""), false), (Some("xterm"), true)]
    {
        let mut session = OnTerminal::start_on(&place, &["doctor"], term);
        session.expect("version");
        assert_eq!(session.seen.contains('\u{1b}'), has_colours, "{term:?}: {:?}", session.seen);
        session.end();
    }
    let mut session = OnTerminal::start_on(&place, &["doctor", "--color", "always"], Some("dumb"));
    session.expect("version");
    assert!(session.seen.contains('\u{1b}'), "who asks for colours gets them: {:?}", session.seen);
    session.end();
}

#[test]
fn once_allows_this_time() {
    let place = Place::new();
    place.file(".env", "hidden text");
    let mut session = OnTerminal::start(&place, &["call", "read", "filePath=.env"]);
    session.expect("read .env");
    session.expect("always would allow");
    session.type_line("o");
    session.expect("hidden text");
    assert_eq!(session.end(), 0);
    assert_eq!(place.run(&["call", "read", "filePath=.env"]).code, 6);
}

#[test]
fn always_asks_how_far_and_is_kept() {
    let place = Place::new();
    place.file(".env", "hidden text");
    let mut session = OnTerminal::start(&place, &["call", "read", "filePath=.env"]);
    session.expect("reject?");
    session.type_line("always");
    session.expect("session, project, or user?");
    session.type_line("project");
    session.expect("hidden text");
    assert_eq!(session.end(), 0);
    assert_eq!(place.run(&["call", "read", "filePath=.env"]).code, 0);
}

#[test]
fn reject_takes_words_for_the_model() {
    let place = Place::new();
    let mut session = OnTerminal::start(&place, &["call", "write", "filePath=../outside/x", "content=new"]);
    session.expect("external_directory");
    session.expect("+new");
    session.expect("reject?");
    session.type_line("r write it here instead");
    session.expect("write it here instead");
    assert_eq!(session.end(), 5);
    assert!(!place.outside().join("x").exists());
}

#[test]
fn an_unclear_answer_asks_again() {
    let place = Place::new();
    place.file(".env", "hidden text");
    let mut session = OnTerminal::start(&place, &["call", "read", "filePath=.env"]);
    session.expect("reject?");
    session.type_line("");
    session.expect("reject?");
    session.type_line("maybe");
    session.expect("Type o, a or r.");
    session.expect("reject?");
    session.type_line("no");
    session.expect("what instead?");
    session.type_line("");
    assert_eq!(session.end(), 5);
}

#[test]
fn a_project_with_configuration_is_asked_about_once() {
    let place = Place::new();
    place.file("a.txt", "x");
    place.file("opencode.json", "{}");
    let mut session = OnTerminal::start(&place, &["call", "read", "filePath=a.txt"]);
    session.expect("Trust it?");
    session.type_line("y");
    session.expect("1: x");
    assert_eq!(session.end(), 0);
    assert_eq!(place.run(&["trust", "list"]).out.lines().count(), 1);
}

#[test]
fn a_key_that_is_typed_does_not_appear() {
    let key = "sk-typed-0123456789";
    let place = Place::new();
    let mut session = OnTerminal::start(&place, &["auth", "login", "anthropic"]);
    session.expect("will not appear");
    session.type_line(key);
    session.expect("is stored in");
    assert!(!session.seen.contains(key));
    assert_eq!(session.end(), 0);
    assert!(std::fs::read_to_string(place.store().join("auth.json")).unwrap().contains(key));
}
