//! What a protected name leads to is protected as the name is: for tools, which ask, and for commands, which cannot.

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::nested::{is_confined, opaque, repository, tool};
use crate::support::{Place, Ran};

const OURS: &str = r#"{ "permission": { "webfetch": "deny" } }"#;
const WIDENS: &str = r#"{ "permission": { "external_directory": "allow" } }"#;

/// A link in the project, and what it leads to, which holds something.
fn linked(place: &Place, link: &str, target: &str, file: &str) {
    place.file(file, OURS);
    let link = place.ws().join(link);
    std::fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(target, link).unwrap();
}

fn write(place: &Place, path: &Path) -> Ran {
    place.run(&["call", "write", &format!("filePath={}", path.display()), &format!("content={WIDENS}")])
}

#[test]
fn what_a_protected_name_leads_to_is_protected() {
    // The link, what is in it, and the file that is read through it.
    let rows = [
        ("haft.jsonc", "shared/cfg.jsonc", "shared/cfg.jsonc"),
        (".opencode", "shared/oc", "shared/oc/tools/g.ts"),
        (".git/hooks", "../hooks-real", "hooks-real/pre-commit"),
        (".git/hooks/pre-commit", "../../scripts/check", "scripts/check"),
        (".vscode", "conf", "conf/tasks.json"),
        (".claude", "conf/claude", "conf/claude/settings.json"),
        (".envrc", "conf/envrc", "conf/envrc"),
        (".opencode/agent/ag.md", "../../src/ag.md", "src/ag.md"),
        (".opencode/skills/mine", "../../lib/skills/mine", "lib/skills/mine/SKILL.md"),
    ];
    for (link, target, file) in rows {
        let place = repository(&[]);
        linked(&place, link, target, file);
        let ran = write(&place, Path::new(file));
        assert!(ran.code == 6 && ran.err.contains("protected_path"), "{link}: {} {}", ran.code, ran.err);
        if is_confined(&place) {
            opaque(&place, ".", &format!("echo EVIL > {file}; rm {file}; mv {file} x; rm -rf {}", top(file)));
            assert_eq!(place.read(file), OURS, "{link}");
        }
        // What was agreed to can be done, by either way.
        let allowed =
            ["call", "write", &format!("filePath={file}"), "content={}", "--allow", "protected_path"];
        assert_eq!(place.run(&allowed).code, 0, "{link}");
        let command = format!("command=echo {{ }} > {file}");
        let ran = place.run(&["call", "bash", &command, "description=d", "--allow", "protected_path"]);
        assert_eq!((ran.code, place.read(file).as_str()), (0, "{ }\n"), "{link}: {}", ran.err);
    }
}

fn top(path: &str) -> &str {
    path.split('/').next().unwrap()
}

#[test]
fn every_link_on_the_way_stays_what_it_is() {
    let place = repository(&[("evil.jsonc", WIDENS), ("evil/g.js", &tool("EVIL"))]);
    linked(&place, "haft.jsonc", "shared/a", "shared/cfg.jsonc");
    symlink("cfg.jsonc", place.ws().join("shared/a")).unwrap();
    linked(&place, ".opencode/tool/g.js", "../../lib/g.js", "libs/one/g.js");
    symlink("libs/one", place.ws().join("lib")).unwrap();
    if !is_confined(&place) {
        return;
    }
    let ran =
        opaque(&place, ".", "ln -sfn ../evil.jsonc shared/a; ln -sfn evil lib; sleep 0.5; readlink shared/a");
    assert!(
        ran.out.contains("cfg.jsonc") && !ran.out.contains("evil"),
        "it is put back at once: {}",
        ran.out
    );
    assert_eq!(std::fs::read_link(place.ws().join("shared/a")).unwrap(), Path::new("cfg.jsonc"));
    assert_eq!(std::fs::read_link(place.ws().join("lib")).unwrap(), Path::new("libs/one"));
    opaque(
        &place,
        ".",
        "mv shared old; mkdir shared; cp evil.jsonc shared/a; mv libs old2; mkdir -p libs/one",
    );
    assert_eq!((place.read("haft.jsonc"), place.read("libs/one/g.js")), (OURS.to_owned(), OURS.to_owned()));
}

#[test]
fn what_is_not_there_yet_cannot_be_made_where_a_link_leads() {
    let place = repository(&[]);
    linked(&place, ".opencode/agent/ag.md", "../../src/ag.md", "src/other.md");
    assert_eq!(write(&place, Path::new("src/ag.md")).code, 6);
    assert_eq!(write(&place, Path::new("src/other.md")).code, 0, "what no link leads to is as before");
    if is_confined(&place) {
        opaque(&place, ".", "echo EVIL > src/ag.md; echo fine > src/other.md");
        assert!(!place.ws().join("src/ag.md").exists());
        assert_eq!(place.read("src/other.md"), "fine\n");
    }
}

#[test]
fn what_a_link_leads_to_can_be_wished_for() {
    let place = repository(&[("w.sh", "echo '{ }' > src/ag.md; echo '{ }' > shared/cfg.jsonc\n")]);
    linked(&place, ".opencode/agent/ag.md", "../../src/ag.md", "src/ag.md");
    linked(&place, "haft.jsonc", "shared/cfg.jsonc", "shared/cfg.jsonc");
    if !is_confined(&place) {
        return;
    }
    let wish = r#"writable:=["src/ag.md","shared/cfg.jsonc"]"#;
    let wishing = ["call", "bash", "command=sh w.sh", "description=d", wish];
    assert_eq!((place.run(&wishing).code, place.read("src/ag.md").as_str()), (6, OURS));
    let ran = place.run(&[&wishing[..], &["--allow", "protected_path"]].concat());
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert_eq!([place.read("src/ag.md"), place.read("haft.jsonc")], ["{ }\n", "{ }\n"]);
}

#[test]
fn a_link_to_the_workspace_itself_protects_nothing_more() {
    let place = repository(&[("a.txt", "")]);
    linked(&place, ".opencode/here", "..", "x/a.txt");
    symlink("/", place.ws().join(".opencode/everything")).unwrap();
    assert_eq!(write(&place, Path::new("a.txt")).code, 0);
    let ran = place.run(&["call", "bash", "command=echo x > b.txt", "description=d"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
}

#[test]
fn what_a_trusted_directory_elsewhere_leads_to_is_protected() {
    let place = repository(&[("shared/oc/tools/g.ts", OURS)]);
    let other = place.outside().join("other");
    std::fs::create_dir(&other).unwrap();
    symlink(place.ws().join("shared/oc"), other.join(".opencode")).unwrap();
    assert_eq!(write(&place, Path::new("shared/oc/tools/h.ts")).code, 0, "nobody believes it");
    assert_eq!(place.run(&["trust", other.to_str().unwrap()]).code, 0);
    assert_eq!(write(&place, Path::new("shared/oc/tools/g.ts")).code, 6);
    if is_confined(&place) {
        opaque(&place, ".", "echo EVIL > shared/oc/tools/g.ts");
        assert_eq!(place.read("shared/oc/tools/g.ts"), OURS);
    }
}

#[test]
fn dotfiles_count_and_are_protected_where_they_really_are() {
    let place = Place::new();
    let (dotfiles, config) = (place.home().join("dotfiles"), place.home().join("haft/config"));
    std::fs::create_dir_all(dotfiles.join("haft/plugin")).unwrap();
    std::fs::create_dir_all(config.join("plugin")).unwrap();
    std::fs::write(dotfiles.join("haft/haft.jsonc"), OURS).unwrap();
    std::fs::write(dotfiles.join("haft/plugin/p.js"), "export default {}").unwrap();
    std::fs::write(dotfiles.join("bashrc"), OURS).unwrap();
    symlink("../../dotfiles/haft/haft.jsonc", config.join("haft.jsonc")).unwrap();
    symlink("../../../dotfiles/haft/plugin/p.js", config.join("plugin/p.js")).unwrap();
    symlink("dotfiles/bashrc", place.home().join(".bashrc")).unwrap();

    let at = |args: &[&str]| place.run(&[&["-C", dotfiles.to_str().unwrap()], args].concat());
    assert!(at(&["permission", "explain", "webfetch", "x"]).out.contains("deny"), "it is believed");
    for file in ["haft/haft.jsonc", "haft/plugin/p.js", "bashrc"] {
        let before = std::fs::read(dotfiles.join(file)).unwrap();
        let ran = at(&["call", "write", &format!("filePath={file}"), "content=x"]);
        assert!(ran.code == 6 && ran.err.contains("protected_path"), "{file}: {} {}", ran.code, ran.err);
        if is_confined(&place) {
            std::fs::write(dotfiles.join("w.sh"), format!("echo EVIL > {file}\nrm {file}\necho done"))
                .unwrap();
            let ran = at(&["call", "bash", "command=sh w.sh", "description=d"]);
            assert!(ran.out.contains("done"), "{} {}", ran.out, ran.err);
            assert_eq!(std::fs::read(dotfiles.join(file)).unwrap(), before, "{file}");
        }
    }
    assert_eq!(at(&["call", "write", "filePath=haft/notes", "content=x"]).code, 0);
}
