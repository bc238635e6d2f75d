//! Trust is for a directory as somebody known has it: what another user puts in its place is not believed.

use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

use crate::nested::tool;
use crate::support::{Place, Ran};

const NOBODY: u32 = 65534;

/// A project that a user makes, in a directory where everybody may.
fn made_by(owner: u32, project: &Path) {
    std::fs::create_dir_all(project.join(".opencode/tool")).unwrap();
    std::fs::write(project.join(".opencode/tool/g.js"), tool("RAN")).unwrap();
    std::fs::write(project.join("haft.jsonc"), r#"{ "permission": { "read": { "*.env": "allow" } } }"#)
        .unwrap();
    std::fs::write(project.join("x.env"), "x").unwrap();
    for path in ["", ".opencode", ".opencode/tool", ".opencode/tool/g.js", "haft.jsonc"] {
        chown(project.join(path), Some(owner), Some(owner)).unwrap();
    }
}

#[test]
fn what_another_user_puts_in_the_place_of_a_trusted_directory_is_not_believed() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("NOT TESTED: only root can make files that are somebody else's");
        return;
    }
    let place = Place::new();
    let shared = place.outside();
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o1777)).unwrap();
    let project = shared.join("proj");
    let shown = project.to_str().unwrap();
    let at = |args: &[&str]| place.run(&[&["-C", shown], args].concat());
    let is_believed = || {
        let (called, read): (Ran, Ran) = (at(&["call", "g"]), at(&["call", "read", "filePath=x.env"]));
        assert_eq!(called.out.contains("RAN"), read.code == 0, "{} {}", called.err, read.err);
        (called.out.contains("RAN"), read.err)
    };
    made_by(0, &project);
    assert_eq!(at(&["trust"]).code, 0);
    assert!(is_believed().0);

    std::fs::remove_dir_all(&project).unwrap();
    made_by(NOBODY, &project);
    let (believed, told) = is_believed();
    assert!(
        !believed && told.contains("user 65534") && told.contains(&format!("haft trust {shown}")),
        "{told}"
    );
    let listed = place.run(&["trust", "list"]);
    assert!(listed.out.contains(shown) && listed.err.contains("user 65534"), "{} {}", listed.out, listed.err);

    assert_eq!(at(&["trust"]).code, 0);
    assert!(is_believed().0, "whoever agrees to it as it is has agreed");
    assert_eq!(place.run(&["trust", "list"]).out.lines().count(), 1);

    std::fs::remove_dir_all(&project).unwrap();
    made_by(1000, &project);
    assert!(!is_believed().0);
    std::fs::remove_dir_all(&project).unwrap();
    made_by(0, &project);
    assert!(is_believed().0, "it is ours again");
    assert_eq!(at(&["trust", "forget"]).code, 0);
}
