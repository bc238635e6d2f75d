//! What is the person's own is protected: their configuration, their credentials, and what runs when they log in.

use crate::support::Place;

/// Below the home directory; haft's own configuration is where `HAFT_HOME` says.
const OWN: &[&str] = &[
    "haft/config/agent/build.md",
    "haft/config/plugin/x.ts",
    "haft/config/AGENTS.md",
    ".config/opencode/config.json",
    ".config/opencode/plugin/x.ts",
    ".opencode/agent/build.md",
    ".ssh/authorized_keys",
    ".aws/config",
    ".docker/config.json",
    ".zshenv",
    ".config/systemd/user/x.service",
    ".config/fish/config.fish",
    ".config/git/config",
];

#[test]
fn what_is_the_persons_own_is_asked_about_from_any_project() {
    let place = Place::new();
    let outside = ["--allow", "external_directory"];
    let write = |path: &str, more: &[&str]| {
        let path = format!("filePath={}", place.home().join(path).display());
        place.run(&[&["call", "write", &path, "content=x"], &outside[..], more].concat())
    };
    for path in OWN {
        let ran = write(path, &[]);
        assert!(ran.code == 6 && ran.err.contains("protected_path"), "{path}: {} {}", ran.code, ran.err);
        assert!(!place.home().join(path).exists(), "{path}");
    }
    assert_eq!(write(OWN[0], &["--allow", "protected_path"]).code, 0, "whoever is asked may agree");
    let path = place.home().join(OWN[0]);
    let edit = [&format!("filePath={}", path.display()), "oldString=x", "newString=y"];
    assert_eq!(place.run(&[&["call", "edit"], &edit[..], &outside[..]].concat()).code, 6);
    assert_eq!(write(".config/other/notes", &[]).code, 0);
    assert_eq!(write("notes", &[]).code, 0);
}

#[test]
fn in_the_home_directory_it_is_asked_about_and_no_command_makes_it() {
    let place = Place::new();
    std::fs::create_dir_all(place.home().join(".config/opencode")).unwrap();
    let home = place.home();
    let home = home.to_str().unwrap();
    for path in OWN {
        let ran = place.run(&["-C", home, "call", "write", &format!("filePath={path}"), "content=x"]);
        assert!(ran.code == 6 && ran.err.contains("protected_path"), "{path}: {} {}", ran.code, ran.err);
    }
    let found = place.run(&["doctor"]).out;
    if !found.contains("sandbox  namespaces") && !found.contains("sandbox  bubblewrap") {
        eprintln!("NOT TESTED: commands are not confined here: {found}");
        return;
    }
    let each = OWN.iter().map(|path| format!("mkdir -p $(dirname {path}); echo x > {path}\n"));
    std::fs::write(place.home().join("w.sh"), each.collect::<String>() + "echo done\n").unwrap();
    let ran = place.run(&["-C", home, "call", "bash", "command=sh w.sh", "description=d"]);
    assert!(ran.out.contains("done"), "{} {}", ran.out, ran.err);
    for path in OWN {
        assert!(!place.home().join(path).exists(), "{path}");
    }
}

#[test]
fn a_home_directory_that_is_reached_by_a_link_is_the_same() {
    let place = Place::new();
    let link = place.root().join("linked");
    std::os::unix::fs::symlink(place.home(), &link).unwrap();
    for home in [place.home(), link.clone()] {
        let path = format!("filePath={}", home.join(".ssh/authorized_keys").display());
        let mut command =
            place.command(&["call", "write", &path, "content=x", "--allow", "external_directory"]);
        let done = command.env("HOME", &link).env("HAFT_HOME", link.join("haft")).output().unwrap();
        let told = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.code() == Some(6) && told.contains("protected_path"), "{path}: {told}");
    }
}
