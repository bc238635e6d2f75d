//! Programs in a workspace that somebody's configuration of git names: no command plants what the person's next git runs.

use std::path::Path;
use std::process::Command;

use Whose::{Persons, Repositorys};

use crate::commands::is_confined;
use crate::support::{Place, ran};

/// Whose configuration names a program.
#[derive(Clone, Copy, Debug)]
enum Whose {
    Persons,
    Repositorys,
}

/// Whose configuration it is and what it says, the file that is planted, and what the person does then. `WS` stands for
/// the workspace.
const NAMED: &[(Whose, &str, &str, &str)] = &[
    (Persons, "[core] fsmonitor = ./x.sh", "x.sh", "git status"),
    (Persons, "[core] fsmonitor = tools/in/x.sh", "tools/in/x.sh", "git status"),
    (Persons, "[core] fsmonitor = sh x.sh", "x.sh", "git status"),
    (Persons, "[core] fsmonitor = WS/x.sh", "x.sh", "git status"),
    (Repositorys, "[core] fsmonitor = ./x.sh", "x.sh", "git status"),
    (Persons, "[filter \"f\"] clean = ./x.sh %f", "x.sh", "echo 1 >> a; git add a"),
    (Persons, "[diff] external = ./x.sh", "x.sh", "echo 1 >> a; git diff"),
    (Persons, "[diff \"f\"] textconv = ./x.sh", "x.sh", "echo 1 >> a; git diff"),
    (Repositorys, "[diff \"f\"] command = ./x.sh", "x.sh", "echo 1 >> a; git diff"),
    (Persons, "[core] editor = ./x.sh", "x.sh", "git commit --amend"),
    (Persons, "[alias] go = !cd tools && ./x.sh", "tools/x.sh", "git go"),
    (Persons, "[gpg] program = ./x.sh", "x.sh", "git commit -S --allow-empty -m x"),
    (Persons, "[core] sshCommand = ./x.sh", "x.sh", "git ls-remote ssh://host/x"),
    (
        Persons,
        "[credential] helper = \"!WS/x.sh\"",
        "x.sh",
        "printf 'protocol=https\\nhost=h\\n\\n' | GIT_ASKPASS=true git credential fill",
    ),
    (Persons, "[sequence] editor = ./x.sh", "x.sh", "git rebase -i --root"),
    (Persons, "[core] hooksPath = hooks", "hooks/pre-commit", "git commit --allow-empty -m x"),
];

fn git(place: &Place, script: &str) {
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(place.ws()).env("HOME", place.home());
    let output = command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0").output().unwrap();
    eprintln!("{script}: {output:?}");
}

/// What a command would put in the place of the program.
fn planting(place: &Place, file: &str) -> String {
    let mark = place.ws().join("ran");
    let directory = Path::new(file).parent().unwrap().display().to_string();
    let directory = if directory.is_empty() { ".".to_owned() } else { directory };
    format!(
        "mkdir -p {directory}; printf '#!/bin/sh\\ntouch {}\\n' > new; chmod 755 new; cp new {file}; mv new {file}; chmod 755 {file}",
        mark.display()
    )
}

fn runs_it(place: &Place, person: &str) -> bool {
    git(place, person);
    let mark = place.ws().join("ran");
    let is_run = mark.exists();
    std::fs::remove_file(mark).ok();
    is_run
}

/// A repository with a commit, and what names the program.
fn prepared(whose: Whose, config: &str) -> Place {
    let place = Place::new();
    let persons = place.home().join(".gitconfig");
    std::fs::create_dir_all(place.home()).unwrap();
    std::fs::write(&persons, "[user]\n\tname = me\n\temail = me@example.com\n").unwrap();
    let attributes = "echo 'a filter=f diff=f' > .gitattributes";
    git(
        &place,
        &format!("git init -q; {attributes}; echo 1 > a; mkdir tools; git add .; git commit -q -m a"),
    );
    let named = match whose {
        Persons => persons,
        Repositorys => place.ws().join(".git/config"),
    };
    let before = std::fs::read_to_string(&named).unwrap();
    let config = config.replace("WS", place.ws().to_str().unwrap());
    std::fs::write(&named, format!("{before}\n{config}\n")).unwrap();
    place
}

fn bash(place: &Place, script: &str) {
    place.file("do.sh", script);
    let ran = ran(place.command(&["call", "bash", "command=sh do.sh"]).output().unwrap());
    eprintln!("{}{}", ran.out, ran.err);
}

#[test]
fn no_command_plants_a_program_that_git_is_told_to_run() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    for (whose, config, file, person) in NAMED {
        let place = prepared(*whose, config);
        git(&place, &planting(&place, file));
        assert!(runs_it(&place, person), "{config}: without haft it is run");
        std::fs::write(place.ws().join(file), "#!/bin/sh\nexit 0\n").unwrap();
        let aside = "mv tools aside; mkdir tools";
        for before in ["true", aside] {
            bash(&place, &format!("{before}; {}", planting(&place, file)));
            assert!(!runs_it(&place, person), "{config}: {before}, then changed");
        }

        let place = prepared(*whose, config);
        bash(&place, &planting(&place, file));
        assert!(!place.ws().join(file).exists(), "{config}: nothing is left");
        assert!(!runs_it(&place, person), "{config}: made anew");
    }
}

#[test]
fn no_command_writes_a_configuration_that_the_persons_includes() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    for config in ["[include] path = WS/git.cfg", "[includeIf \"gitdir:WS/\"] path = WS/git.cfg"] {
        let evil = "printf '[core]\\nfsmonitor = \"touch ran; false\"\\n' > git.cfg";
        let place = prepared(Persons, config);
        git(&place, evil);
        assert!(runs_it(&place, "git status"), "{config}: without haft it is run");
        std::fs::write(place.ws().join("git.cfg"), "").unwrap();
        bash(&place, evil);
        assert!(!runs_it(&place, "git status"), "{config}");
    }
}

#[test]
fn tools_ask_before_they_write_a_program_that_git_is_told_to_run() {
    for (whose, config, file, _) in NAMED {
        let place = prepared(*whose, config);
        let write = |path: &str| place.run(&["call", "write", &format!("filePath={path}"), "content=x"]);
        let asked = write(file);
        assert!(asked.code == 6 && asked.err.contains("protected_path"), "{config}: {}", asked.err);
        assert_eq!(write("tools/other").code, 0, "{config}: what git does not run is not asked about");
    }
}
