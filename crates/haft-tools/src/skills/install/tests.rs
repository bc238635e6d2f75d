//! Installing from directories, and from indexes that lie.

use std::collections::HashMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use haft::BoxFuture;
use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{Fetch, FetchError, Installed, Installing, LocalFetch, TIME_MAX, install};
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
    installed_from(web, "https://a.example/", into, false)
}

fn installed_from(
    fetch: &dyn Fetch,
    source: &str,
    into: &Path,
    replaces: bool,
) -> Result<Vec<Installed>, String> {
    let how = Installing { fetch, into, replaces, time_max: TIME_MAX, progress: &|_| {} };
    run(install(&how, source)).map_err(|error| haft::causes(&error))
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
        ".git/hooks/evil",
        "1/2/3/4/5/6/7/8/9/10",
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
        let done = installed_from(&LocalFetch, &source, into.path(), false).unwrap();
        assert_eq!(done[0].name, "tea", "{source}");
    }
    assert!(into.path().join("tea/scripts/a.sh").exists());

    std::os::unix::fs::symlink("/etc/hostname", tea.join("scripts/b")).unwrap();
    let error = installed_from(&LocalFetch, tea.to_str().unwrap(), into.path(), false).unwrap_err();
    assert!(error.contains("scripts/b is a link"), "{error}");
    let empty = TempDir::new().unwrap();
    let error = installed_from(&LocalFetch, empty.path().to_str().unwrap(), into.path(), false).unwrap_err();
    assert!(error.contains("holds no skill"), "{error}");
    assert!(installed_from(&LocalFetch, "https://a.example", into.path(), false).is_err());
}

#[test]
fn what_is_on_disk_counts_and_not_what_was_noted_of_it() {
    let into = TempDir::new().unwrap();
    let web = Web::new(&[
        ("index.json", &index("tea", &["b.txt", "SKILL.md"])),
        ("tea/SKILL.md", SKILL),
        ("tea/b.txt", "b"),
    ]);
    let file = into.path().join("tea/SKILL.md");
    installed(&web, into.path()).unwrap();
    let spoilings: [&dyn Fn(); 4] = [
        &|| fs::remove_file(&file).unwrap(),
        &|| fs::write(&file, format!("{SKILL}more\n")).unwrap(),
        &|| fs::write(into.path().join("tea/extra"), "").unwrap(),
        &|| std::os::unix::fs::symlink("/etc/hostname", into.path().join("tea/link")).unwrap(),
    ];
    for spoil in spoilings {
        spoil();
        assert!(installed(&web, into.path()).unwrap()[0].is_new);
        assert_eq!(fs::read_to_string(&file).unwrap(), SKILL);
        assert_eq!(names(&into.path().join("tea")), [".haft-skill.json", "SKILL.md", "b.txt"]);
        assert!(!installed(&web, into.path()).unwrap()[0].is_new);
    }
}

#[test]
fn a_skill_from_elsewhere_is_replaced_only_if_that_is_wanted() {
    let (into, from) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let web = Web::new(&[("index.json", &index("tea", &["SKILL.md"])), ("tea/SKILL.md", SKILL)]);
    let other = SKILL.replace("Hot", "Cold");
    fs::write(from.path().join("SKILL.md"), &other).unwrap();
    let other_source = from.path().to_str().unwrap();
    let file = into.path().join("tea/SKILL.md");
    installed(&web, into.path()).unwrap();
    let error = installed_from(&LocalFetch, other_source, into.path(), false).unwrap_err();
    assert!(error.contains("from https://a.example/tea") && error.contains("--replace"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), SKILL);
    assert!(installed_from(&LocalFetch, other_source, into.path(), true).unwrap()[0].is_new);
    assert_eq!(fs::read_to_string(&file).unwrap(), other);
    fs::remove_file(into.path().join("tea/.haft-skill.json")).unwrap();
    assert!(
        installed_from(&LocalFetch, other_source, into.path(), false).unwrap_err().contains("other means")
    );
}

#[test]
fn all_skills_together_are_bounded() {
    let into = TempDir::new().unwrap();
    let files: Vec<String> = (0..7).map(|n| format!("{n}.bin")).collect();
    let mut listed: Vec<&str> = files.iter().map(String::as_str).collect();
    listed.push("SKILL.md");
    let skills: Vec<_> =
        (0..10).map(|n| serde_json::json!({"name": format!("s{n}"), "files": listed})).collect();
    let mut pages = HashMap::from([(
        "https://a.example/index.json".to_owned(),
        serde_json::json!({"skills": skills}).to_string(),
    )]);
    for n in 0..10 {
        pages.insert(format!("https://a.example/s{n}/SKILL.md"), SKILL.replace("tea", &format!("s{n}")));
        for file in &files {
            pages.insert(format!("https://a.example/s{n}/{file}"), "x".repeat(1 << 20));
        }
    }
    let (web, said) = (Web(pages), Mutex::new(Vec::new()));
    let progress = |text: &str| said.lock().unwrap().push(text.to_owned());
    let how = Installing {
        fetch: &web,
        into: into.path(),
        replaces: false,
        time_max: TIME_MAX,
        progress: &progress,
    };
    let error = run(install(&how, "https://a.example")).unwrap_err().to_string();
    assert!(error.contains("larger than 64 MiB together"), "{error}");
    assert!(names(into.path()).is_empty());
    assert_eq!(said.lock().unwrap()[1], "getting s1 (2 of 10)");
}

/// A site that never answers.
struct Silent;

impl Fetch for Silent {
    fn fetch<'a>(&'a self, _: &'a str, _: u64) -> BoxFuture<'a, Result<Vec<u8>, FetchError>> {
        Box::pin(std::future::pending())
    }
}

#[test]
fn nothing_is_waited_for_without_end() {
    let into = TempDir::new().unwrap();
    let time_max = Duration::from_millis(10);
    let how = Installing { fetch: &Silent, into: into.path(), replaces: false, time_max, progress: &|_| {} };
    let error = run(install(&how, "https://a.example")).unwrap_err().to_string();
    assert!(error.contains("took longer than 0.01 seconds"), "{error}");
}

#[test]
fn an_index_lists_a_name_once_and_says_if_it_lists_none() {
    let into = TempDir::new().unwrap();
    let listed = serde_json::json!({"name": "tea", "files": ["SKILL.md"]});
    let twice = serde_json::json!({"skills": [listed, listed]}).to_string();
    let error = installed(&Web::new(&[("index.json", &twice), ("tea/SKILL.md", SKILL)]), into.path());
    assert!(error.unwrap_err().contains("lists tea twice"));
    let (none, said) = (Web::new(&[("index.json", r#"{"skills": []}"#)]), Mutex::new(String::new()));
    let progress = |text: &str| said.lock().unwrap().push_str(text);
    let how = Installing {
        fetch: &none,
        into: into.path(),
        replaces: false,
        time_max: TIME_MAX,
        progress: &progress,
    };
    assert_eq!(run(install(&how, "https://a.example")).unwrap(), []);
    assert_eq!(*said.lock().unwrap(), "https://a.example/index.json lists no skills");
}

#[test]
fn an_address_with_a_query_or_a_password_is_refused_and_tells_no_secret() {
    let into = TempDir::new().unwrap();
    for source in
        ["https://a.example/x?key=secret", "https://a.example/x#secret", "https://me:secret@a.example/x"]
    {
        let error = installed_from(&Silent, source, into.path(), false).unwrap_err();
        assert!(error.starts_with("https://a.example/x cannot be") && !error.contains("secret"), "{error}");
        assert!(error.contains("leave out"), "{error}");
    }
}

#[test]
fn what_an_interrupted_installation_left_is_removed_and_one_on_its_way_is_not() {
    let into = TempDir::new().unwrap();
    for name in [".staging-old", ".staging-new"] {
        fs::create_dir(into.path().join(name)).unwrap();
    }
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    fs::File::open(into.path().join(".staging-old")).unwrap().set_modified(long_ago).unwrap();
    let web = Web::new(&[("index.json", &index("tea", &["SKILL.md"])), ("tea/SKILL.md", SKILL)]);
    installed(&web, into.path()).unwrap();
    assert_eq!(names(into.path()), [".staging-new", "tea"]);
}

/// Marks an entry that is a link.
const LINK: u32 = 0o120_777;

/// An archive with these entries, each a name, a mode and a content.
fn zipped(at: &Path, entries: &[(&str, u32, &[u8])]) -> String {
    let path = at.join("skills.zip");
    let mut writer = ZipWriter::new(fs::File::create(&path).unwrap());
    for (name, mode, content) in entries {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        if *mode == LINK {
            writer.add_symlink(*name, std::str::from_utf8(content).unwrap(), options).unwrap();
            continue;
        }
        writer.start_file(*name, options.unix_permissions(*mode)).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn an_archive_is_one_skill_or_holds_several() {
    let (at, into) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let web = Web::new(&[]);
    let one = zipped(at.path(), &[("SKILL.md", 0o644, SKILL.as_bytes()), ("scripts/run.sh", 0o755, b"true")]);
    assert_eq!(installed_from(&web, &one, into.path(), false).unwrap()[0].name, "tea");
    assert_eq!(fs::read(into.path().join("tea/scripts/run.sh")).unwrap(), b"true");

    let into = TempDir::new().unwrap();
    let from_here = zipped(at.path(), &[("./SKILL.md", 0o644, SKILL.as_bytes()), ("./a/b.md", 0o644, b"b")]);
    installed_from(&web, &from_here, into.path(), false).unwrap();
    assert_eq!(fs::read(into.path().join("tea/a/b.md")).unwrap(), b"b");

    let into = TempDir::new().unwrap();
    let other = SKILL.replace("tea", "coffee");
    let entries = [("a/SKILL.md", SKILL.as_bytes()), ("b/SKILL.md", other.as_bytes()), ("README.md", b"x")];
    let several = zipped(at.path(), &entries.map(|(name, content)| (name, 0o644, content)));
    installed_from(&web, &several, into.path(), false).unwrap();
    assert_eq!(names(into.path()), ["coffee", "tea"]);
}

#[test]
fn an_archive_with_anything_wrong_in_it_installs_nothing() {
    let bomb = vec![0; 2 << 20];
    let long = "n".repeat(400);
    let cases: [(&str, u32, &[u8], &str); 10] = [
        ("../../out/PWNED", 0o644, b"x", "../../out/PWNED"),
        ("/out/PWNED", 0o644, b"x", "/out/PWNED"),
        ("a\\..\\PWNED", 0o644, b"x", "not allowed"),
        ("l", LINK, b"/etc/passwd", "link"),
        ("bomb", 0o644, &bomb, "larger than"),
        ("skill.md", 0o644, b"x", "differ only in their case"),
        ("./SKILL.md", 0o644, b"x", "there twice"),
        ("SKILL.md/x", 0o644, b"x", "there twice"),
        ("./../out", 0o644, b"x", "leads out"),
        (&long, 0o644, b"x", "too long"),
    ];
    for (name, mode, content, why) in cases {
        let (at, into) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let archive = zipped(at.path(), &[("SKILL.md", 0o644, SKILL.as_bytes()), (name, mode, content)]);
        let error = installed_from(&Web::new(&[]), &archive, into.path(), false).unwrap_err();
        assert!(error.contains(why), "{name}: {error}");
        assert!(names(into.path()).is_empty(), "{name}");
    }
    // A name that is there twice is written by no honest program.
    let (at, into) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let entries: [(&str, u32, &[u8]); 2] = [("SKILL.md", 0o644, SKILL.as_bytes()), ("SKILL.mX", 0o644, b"x")];
    let archive = zipped(at.path(), &entries);
    let mut bytes = fs::read(&archive).unwrap();
    while let Some(name) = bytes.windows(8).position(|name| name == b"SKILL.mX") {
        bytes[name + 7] = b'd';
    }
    fs::write(&archive, bytes).unwrap();
    let error = installed_from(&Web::new(&[]), &archive, into.path(), false).unwrap_err();
    assert!(error.contains("SKILL.md is there twice") && names(into.path()).is_empty(), "{error}");

    let (at, into) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let path = at.path().join("none.zip");
    fs::write(&path, "no archive").unwrap();
    let error = installed_from(&Web::new(&[]), path.to_str().unwrap(), into.path(), false).unwrap_err();
    assert!(error.contains("no archive"), "{error}");
}
