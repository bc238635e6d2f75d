//! What decides about everything else: haft's record, its keys and what a person trusts and configured.

use crate::support::Place;

#[test]
fn what_haft_keeps_is_no_tools_whoever_agrees() {
    let place = Place::new();
    place.run(&["call", "list", "path=."]);
    let trust = place.store().with_file_name("state").join("trust.json");
    let key = place.store().join("haft.db");
    assert!(key.exists(), "the store is where it is thought to be");
    let link = place.ws().join("link");
    std::os::unix::fs::symlink(place.store(), &link).unwrap();
    for args in [
        vec!["call", "write", "content={}", "filePath"],
        vec!["call", "read", "filePath"],
        vec!["call", "grep", "pattern=.", "path"],
    ] {
        for path in [trust.as_path(), key.as_path(), &link.join("haft.db")] {
            let mut args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
            let last = args.pop().unwrap();
            args.extend([format!("{last}={}", path.display()), "--yes".to_owned()]);
            let ran = place.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
            assert!(ran.err.contains("haft keeps its own data"), "{args:?}: {} {}", ran.code, ran.err);
        }
    }
    assert!(!trust.exists());
    let found = place.run(&[
        "call",
        "glob",
        "pattern=**/haft.db",
        &format!("path={}", place.home().display()),
        "--yes",
    ]);
    assert!(found.code == 0 && !found.out.contains("haft.db"), "{}", found.out);
}

#[test]
fn what_haft_keeps_is_no_commands_whoever_agrees() {
    let place = Place::new();
    place.run_with(&["auth", "login", "anthropic"], b"sk-ant-secret-words-of-mine");
    let (keys, trust) = (place.store().join("auth.json"), place.store().with_file_name("state/trust.json"));
    assert!(keys.exists(), "the keys are where they are thought to be");
    std::os::unix::fs::symlink(&keys, place.ws().join("link")).unwrap();
    let before = std::fs::read(&keys).unwrap();
    let scripts = [
        format!("cat {}", keys.display()),
        "cat ~/haft/data/auth.json".to_owned(),
        "cat link".to_owned(),
        "cd ~/haft/data && cat auth.json".to_owned(),
        format!("echo bad > {}; echo {{}} > {}", keys.display(), trust.display()),
        format!("python3 -c 'print(open(\"{}/\" + \"auth.json\").read())'", place.store().display()),
    ];
    for script in &scripts {
        let ran = place.run(&[
            "call",
            "bash",
            &format!("command={script}"),
            &format!("writable:=[\"{}\"]", place.home().display()),
            "--yes",
        ]);
        let is_named = !script.starts_with("python3");
        assert_eq!(
            ran.err.contains("haft keeps its own data"),
            is_named,
            "{script}: {} {}",
            ran.out,
            ran.err
        );
        assert!(!ran.out.contains("sk-ant-"), "{script}: {}", ran.out);
    }
    assert_eq!(std::fs::read(&keys).unwrap(), before);
    assert!(!trust.exists());
}

#[test]
fn what_a_person_trusts_and_configured_cannot_be_made_by_a_command_that_works_in_their_home() {
    for is_there in [false, true] {
        let place = Place::new();
        let home = place.home();
        if is_there {
            std::fs::create_dir(home.join(".config")).unwrap();
        }
        let names = [
            ".local/state/haft/trust.json",
            ".local/share/haft/auth.json",
            ".cache/haft/plugins/known.json",
            ".config/haft/haft.jsonc",
            ".config/opencode/plugin/own.ts",
        ];
        // The names are put together, so that nobody can tell from the script what it will do.
        let script = "import os,sys\nfor n in sys.argv[1:]:\n  n=n.replace('+','')\n  try:\n    os.makedirs(os.path.dirname(n),exist_ok=True); open(n,'w').write('{}')\n  except OSError as e: print(e)\n";
        std::fs::write(home.join("make.py"), script).unwrap();
        let words: Vec<String> =
            names.iter().map(|name| name.replace("haft", "ha+ft").replace("open", "op+en")).collect();
        let mut command = place.command(&[
            "call",
            "bash",
            &format!("command=python3 make.py {}; echo made", words.join(" ")),
            "--yes",
        ]);
        let ran = crate::support::ran(command.current_dir(&home).env_remove("HAFT_HOME").output().unwrap());
        assert!(ran.code == 0 && ran.out.contains("made"), "{} {}", ran.out, ran.err);
        let made: Vec<&str> = names.into_iter().filter(|name| home.join(name).exists()).collect();
        assert_eq!(made, Vec::<&str>::new(), "{}", ran.out);
    }
}
