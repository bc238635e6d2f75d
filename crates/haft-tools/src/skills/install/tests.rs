//! Installing from directories, and from indexes that lie.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use haft::BoxFuture;
use tempfile::TempDir;

use super::{Fetch, FetchError, Installed, LocalFetch, install};
use crate::testing::run;

/// Addresses with what is there.
struct Web(HashMap<String, String>);

impl Web {
    fn new(pages: &[(&str, &str)]) -> Web {
        Web(pages.iter().map(|(at, text)| (format!("https://a.example/{at}"), (*text).to_owned())).collect())
    }
}

impl Fetch for Web {
    fn fetch<'a>(&'a self, address: &'a str, bytes_max: u64) -> BoxFuture<'a, Result<Vec<u8>, FetchError>> {
        let found = match self.0.get(address) {
            Some(text) if text.len() as u64 <= bytes_max => Ok(text.clone().into_bytes()),
            Some(_) => Err(FetchError("too large".to_owned())),
            None => Err(FetchError(format!("nothing at {address}"))),
        };
        Box::pin(std::future::ready(found))
    }
}

const SKILL: &str = "---\nname: tea\ndescription: d\n---\nHot.\n";

fn index(name: &str, files: &[&str]) -> String {
    serde_json::json!({"skills": [{"name": name, "files": files, "version": "1"}]}).to_string()
}

fn installed(web: &Web, into: &Path) -> Result<Vec<Installed>, String> {
    run(install(web, "https://a.example/", into)).map_err(|error| haft::causes(&error))
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .map(|entries| entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect())
        .unwrap_or_default();
    names.sort();
    names
}

#[test]
fn an_index_is_installed_whole_and_again_only_if_it_changed() {
    let into = TempDir::new().unwrap();
    let web = Web::new(&[
        ("index.json", &index("tea", &["SKILL.md", "scripts/a.sh"])),
        ("tea/SKILL.md", SKILL),
        ("tea/scripts/a.sh", "echo\n"),
    ]);
    let first = installed(&web, into.path()).unwrap();
    assert_eq!(first, [Installed { name: "tea".to_owned(), version: Some("1".to_owned()), is_new: true }]);
    assert_eq!(fs::read_to_string(into.path().join("tea/scripts/a.sh")).unwrap(), "echo\n");
    assert!(!installed(&web, into.path()).unwrap()[0].is_new);

    let newer = Web::new(&[("index.json", &index("tea", &["SKILL.md"])), ("tea/SKILL.md", SKILL)]);
    assert!(installed(&newer, into.path()).unwrap()[0].is_new);
    assert!(!into.path().join("tea/scripts").exists(), "the old version is gone whole");
    assert_eq!(names(into.path()), ["tea"]);
}

#[test]
fn a_path_that_leads_elsewhere_installs_nothing() {
    for path in [
        "../../evil",
        "/etc/evil",
        "a/../../evil",
        "a\\..\\evil",
        "https://b.example/evil",
        "a//b",
        "./a",
        "a/.",
        "%2e%2e/evil",
        "a?b",
        "a#b",
        "c:evil",
        "",
        "a\nb",
        ".haft-skill.json",
    ] {
        let into = TempDir::new().unwrap();
        let address = format!("tea/{path}");
        let web = Web::new(&[
            ("index.json", &index("tea", &["SKILL.md", path])),
            ("tea/SKILL.md", SKILL),
            (&address, "evil"),
        ]);
        let error = installed(&web, into.path()).unwrap_err();
        assert!(error.contains("the skill tea cannot be installed"), "{path:?}: {error}");
        assert!(names(into.path()).is_empty(), "{path:?}");
    }
}

#[test]
fn a_name_that_is_no_name_installs_nothing() {
    for name in ["../tea", "Tea", "tea-", "", "a/b", ".staging-x", &"a".repeat(65)] {
        let into = TempDir::new().unwrap();
        let web = Web::new(&[("index.json", &index(name, &["SKILL.md"])), ("tea/SKILL.md", SKILL)]);
        assert!(installed(&web, into.path()).is_err(), "{name:?}");
        assert!(names(into.path()).is_empty(), "{name:?}");
    }
}

#[test]
fn a_skill_that_is_none_leaves_what_was_there() {
    let into = TempDir::new().unwrap();
    let sound = Web::new(&[("index.json", &index("tea", &["SKILL.md"])), ("tea/SKILL.md", SKILL)]);
    installed(&sound, into.path()).unwrap();
    let large = format!("{SKILL}{}", "x".repeat(2 << 20));
    for (files, text) in [
        (&["SKILL.md"][..], "no front matter"),
        (&["SKILL.md"], "---\nname: coffee\n---\n"),
        (&["other.md"], SKILL),
        (&["SKILL.md", "SKILL.md/x"], SKILL),
        (&["SKILL.md", "missing.txt"], SKILL),
        (&["SKILL.md"], &large),
    ] {
        let bad = Web::new(&[
            ("index.json", &index("tea", files)),
            ("tea/SKILL.md", text),
            ("tea/other.md", text),
            ("tea/SKILL.md/x", text),
        ]);
        installed(&bad, into.path()).unwrap_err();
        assert_eq!(fs::read_to_string(into.path().join("tea/SKILL.md")).unwrap(), SKILL);
        assert_eq!(names(into.path()), ["tea"]);
    }
    let none = Web::new(&[("index.json", "[]")]);
    assert!(installed(&none, into.path()).unwrap_err().contains("is not an index of skills"));
}

#[test]
fn a_directory_is_installed_and_its_links_are_not() {
    let from = TempDir::new().unwrap();
    let into = TempDir::new().unwrap();
    let tea = from.path().join("tea");
    fs::create_dir_all(tea.join("scripts")).unwrap();
    fs::write(tea.join("SKILL.md"), SKILL).unwrap();
    fs::write(tea.join("scripts/a.sh"), "echo\n").unwrap();
    for source in [tea.to_str().unwrap().to_owned(), format!("file://{}", from.path().display())] {
        let done = run(install(&LocalFetch, &source, into.path())).unwrap();
        assert_eq!(done[0].name, "tea", "{source}");
    }
    assert!(into.path().join("tea/scripts/a.sh").exists());

    std::os::unix::fs::symlink("/etc/hostname", tea.join("scripts/b")).unwrap();
    let error = run(install(&LocalFetch, tea.to_str().unwrap(), into.path())).unwrap_err();
    assert!(error.to_string().contains("scripts/b is a link"), "{error}");
    let empty = TempDir::new().unwrap();
    let error = run(install(&LocalFetch, empty.path().to_str().unwrap(), into.path())).unwrap_err();
    assert!(error.to_string().contains("holds no skill"), "{error}");
    assert!(run(install(&LocalFetch, "https://a.example", into.path())).is_err());
}
