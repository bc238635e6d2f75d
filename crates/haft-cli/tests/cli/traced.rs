//! A trusted project with an untrusted repository in it, and programs in both that say that they ran.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::support::Place;

/// The project itself, a repository of its own within it, and a directory that is part of the project.
pub(crate) const DIRECTORIES: [&str; 3] = ["", "sub/", "packages/a/"];

/// Makes both repositories and trusts the outer one.
pub(crate) fn trust_the_outer(place: &Place) {
    for repository in [".git/HEAD", "sub/.git/HEAD"] {
        place.file(repository, "");
    }
    assert_eq!(place.run(&["trust"]).code, 0);
}

/// A program that says that it ran, and does nothing else.
pub(crate) fn program(place: &Place, file: &str) {
    let trace = place.outside().join("trace");
    let program = place.file(file, &format!("#!/bin/sh\necho {file} >> {}\n", trace.display()));
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Writes a file; gives what was told, and the programs that ran meanwhile, a line each.
pub(crate) fn write(place: &Place, file: &str) -> (Value, String) {
    let ran = place.run(&["call", "write", &format!("filePath={file}"), "content=x", "--yes", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    (ran.json(), taken(place))
}

/// The programs that have run since it was asked last, a line each.
pub(crate) fn taken(place: &Place) -> String {
    let trace = place.outside().join("trace");
    let programs = std::fs::read_to_string(&trace).unwrap_or_default();
    let _none = std::fs::remove_file(trace);
    programs
}
