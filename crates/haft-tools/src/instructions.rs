//! Instructions for the system prompt: what the person and the project want every conversation to know.
//!
//! A project's instructions are only text for the model, so they are read whether or not anybody trusts the project;
//! what its configuration names besides is read once it is trusted. Nothing is read that the rules do not allow.

mod remote;

use std::collections::HashSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use haft::permission::{Ask, Effect, Gate, strictest};
use haft::{Action, ToolContext, ToolError, visible};
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;

use crate::blocking::blocking;
use crate::encoding::{Encoding, Extent, recognize};
use crate::web::{self, Web};
use crate::workspace::{Kind, Opened, Place, ReadTarget, Workspace};

/// In a project the first kind that there is any of counts.
const NAMES: &[&str] = &["AGENTS.md", "CLAUDE.md", "CONTEXT.md"];
/// Longer instructions are cut, and say so.
const FILE_BYTES_MAX: u64 = 64 << 10;
/// All of them together; what does not fit is left out.
const TOTAL_BYTES_MAX: usize = 256 << 10;
const FILES_MAX: usize = 100;
/// So many entries are looked at for one pattern.
const VISITED_MAX: usize = 20_000;
const DEPTH_MAX: usize = 16;
/// So many addresses are asked, all at once.
const ADDRESSES_MAX: usize = 10;

/// Where instructions may be, besides the project's own.
#[derive(Debug, Clone, Default)]
pub struct InstructionPlaces {
    /// Files of the person's own, of which the first that exists counts.
    pub global: Vec<PathBuf>,
    /// What the configuration names: paths and globs, absolute, below `~/`, or relative to the working directory and
    /// those above it; and addresses of the web.
    pub configured: Vec<String>,
    /// What `~/` stands for.
    pub home: Option<PathBuf>,
}

/// Instructions, with the file or the address they stand in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// The file or the address.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
}

impl Instruction {
    /// How a model is told.
    pub fn shown(&self) -> String {
        format!("Instructions from: {}\n{}", self.path.display(), self.text)
    }
}

/// What was loaded.
#[derive(Debug, Clone, Default)]
pub struct LoadedInstructions {
    /// The instructions, the person's first.
    pub instructions: Vec<Instruction>,
    /// What was left out, and why, in words for a person.
    pub warnings: Vec<String>,
}

/// Loads the instructions for a session's agent.
pub async fn load_instructions(
    workspace: &Workspace,
    gate: &Gate,
    web: &Web,
    context: &ToolContext,
    places: &InstructionPlaces,
) -> Result<LoadedInstructions, ToolError> {
    let mut addresses = Vec::new();
    for pattern in places.configured.iter().filter(|pattern| pattern.contains("://")) {
        if addresses.len() < ADDRESSES_MAX && !addresses.contains(&pattern.as_str()) {
            addresses.push(pattern.as_str());
        }
    }
    let mut loading = Loading {
        workspace,
        gate,
        context,
        fetched: remote::texts_at(web, gate, context, &addresses).await?,
        seen: HashSet::new(),
        loaded: LoadedInstructions::default(),
        bytes: 0,
    };
    if let Some(path) = places.global.iter().find(|path| path.is_file()) {
        loading.named(path).await?;
    }
    for place in of_project(workspace) {
        loading.add(place.clone(), ReadTarget::new(place, Action::new("read"))).await?;
    }
    for pattern in &places.configured {
        loading.configured(pattern, places.home.as_deref()).await?;
    }
    Ok(loading.loaded)
}

/// The project's own files: of the first kind, from the working directory up to the root.
fn of_project(workspace: &Workspace) -> Vec<Place> {
    let (directory, base) = (workspace.directory(), workspace.base());
    let levels: Vec<&Path> = directory.ancestors().take_while(|level| level.starts_with(base)).collect();
    let of_kind = |name: &&str| {
        let place = |level: &&Path| workspace.resolve(level.join(name).to_str()?).ok();
        let is_there = |place: &Place| place.kind() == Kind::File && place.is_inside();
        levels.iter().filter_map(place).filter(is_there).collect::<Vec<_>>()
    };
    NAMES.iter().map(of_kind).find(|places| !places.is_empty()).unwrap_or_default()
}

struct Loading<'a> {
    workspace: &'a Workspace,
    gate: &'a Gate,
    context: &'a ToolContext,
    /// What came from the addresses that were asked, or why nothing did.
    fetched: remote::Texts,
    seen: HashSet<PathBuf>,
    loaded: LoadedInstructions,
    bytes: usize,
}

impl Loading<'_> {
    async fn configured(&mut self, pattern: &str, home: Option<&Path>) -> Result<(), ToolError> {
        if pattern.contains("://") {
            self.keep_fetched(pattern);
            return Ok(());
        }
        let path = match (pattern.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(pattern),
        };
        let levels: Vec<PathBuf> = match path.is_absolute() {
            true => vec![path],
            false => {
                let base = self.workspace.base();
                let levels =
                    self.workspace.directory().ancestors().take_while(|level| level.starts_with(base));
                levels.map(|level| level.join(&path)).collect()
            }
        };
        let files =
            blocking(move |_| levels.iter().flat_map(|path| matching(path)).collect::<Vec<_>>()).await;
        if files.is_empty() {
            self.warn(format!("no instructions are at {}", visible(pattern)));
        }
        for file in files {
            self.named(&file).await?;
        }
        Ok(())
    }

    /// Keeps what came from an address. Its query may hold a key, which neither a person nor a model is shown.
    fn keep_fetched(&mut self, url: &str) {
        if self.loaded.instructions.len() == FILES_MAX || !self.seen.insert(PathBuf::from(url)) {
            return;
        }
        let shown = visible(&web::shown(url));
        match self.fetched.remove(url) {
            Some(Ok(text)) => self.keep(PathBuf::from(&shown), text, &shown),
            Some(Err(problem)) => self.warn(format!("the instructions at {shown} are left out: {problem}")),
            None => {
                self.warn(format!("the instructions at {shown} are left out: there are too many addresses"))
            }
        }
    }

    /// A file that the person, or a project they trust, has named.
    async fn named(&mut self, path: &Path) -> Result<(), ToolError> {
        let place = path.to_str().and_then(|path| self.workspace.resolve(path).ok());
        match place.filter(|place| place.kind() == Kind::File) {
            Some(place) => self.add(place.clone(), ReadTarget::named(place, Action::new("read"))).await,
            None => {
                self.warn(format!("the instructions at {} cannot be read", visible(&path.to_string_lossy())));
                Ok(())
            }
        }
    }

    /// Reads a file, if that needs nobody's consent.
    async fn add(&mut self, place: Place, target: ReadTarget) -> Result<(), ToolError> {
        if self.loaded.instructions.len() == FILES_MAX || !self.seen.insert(place.real().to_owned()) {
            return Ok(());
        }
        for question in target.questions() {
            if strictest(&self.gate.decisions(self.context, &question).await?) != Effect::Allow {
                self.warn(format!("the rules do not let the instructions in {} be read", place.shown()));
                return Ok(());
            }
        }
        let permit = self.gate.grant(self.context, target).await?;
        let text = match self.workspace.read(permit).await {
            Ok(Opened::File(file)) => blocking(move |_| text_of(file.into_file())).await,
            Ok(_) => None,
            Err(error) => {
                self.warn(error.to_string());
                return Ok(());
            }
        };
        if let Some(text) = text {
            self.keep(place.spelled().to_owned(), text, &place.shown());
        }
        Ok(())
    }

    fn keep(&mut self, path: PathBuf, text: String, shown: &str) {
        if text.trim().is_empty() {
            return;
        }
        if self.bytes + text.len() > TOTAL_BYTES_MAX {
            return self
                .warn(format!("the instructions in {shown} are left out: together they are too long"));
        }
        self.bytes += text.len();
        self.loaded.instructions.push(Instruction { path, text });
    }

    fn warn(&mut self, warning: String) {
        self.loaded.warnings.push(warning);
    }
}

/// The files that a path or a glob means, sorted.
fn matching(path: &Path) -> Vec<PathBuf> {
    let is_glob = |part: &Path| part.to_string_lossy().contains(['*', '?', '[', '{']);
    if !is_glob(path) {
        return if path.is_file() { vec![path.to_owned()] } else { Vec::new() };
    }
    let Some(top) = path.ancestors().skip(1).find(|above| !is_glob(above)) else { return Vec::new() };
    let Ok(pattern) = path.strip_prefix(top) else { return Vec::new() };
    let mut wanted = OverrideBuilder::new(top);
    // A glob with a slash at its front is taken from the top.
    let Ok(wanted) = wanted.add(&format!("/{}", pattern.to_string_lossy())) else { return Vec::new() };
    let Ok(wanted) = wanted.build() else { return Vec::new() };
    let walk = WalkBuilder::new(top)
        .standard_filters(false)
        .follow_links(false)
        .overrides(wanted)
        .max_depth(Some(DEPTH_MAX))
        .sort_by_file_name(|a, b| a.cmp(b))
        .build();
    let files =
        walk.take(VISITED_MAX).flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    files.take(FILES_MAX).map(ignore::DirEntry::into_path).collect()
}

fn text_of(file: std::fs::File) -> Option<String> {
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).ok()?;
    let is_cut = bytes.len() as u64 > FILE_BYTES_MAX;
    bytes.truncate(FILE_BYTES_MAX as usize);
    let encoding = recognize(&bytes, if is_cut { Extent::Start } else { Extent::Whole });
    let mut text = Encoding::without_bom(&encoding.show(&bytes).0).to_owned();
    if is_cut {
        text.push_str("\n(The rest is left out; read the file for it.)");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::{InstructionPlaces, LoadedInstructions, load_instructions};
    use crate::testing::{Bench, run};
    use crate::web::testing::{Site, answer};

    fn load(bench: &Bench, global: &[&str], configured: &[&str]) -> LoadedInstructions {
        let places = InstructionPlaces {
            global: global.iter().map(|name| bench.outside(name)).collect(),
            configured: configured.iter().map(|pattern| (*pattern).to_owned()).collect(),
            home: Some(bench.outside("")),
        };
        let services = &bench.services;
        run(load_instructions(&services.workspace, &services.gate, &services.web, &bench.context(), &places))
            .unwrap()
    }

    fn names(bench: &Bench, loaded: &LoadedInstructions) -> Vec<String> {
        let name = |path: &std::path::Path| match path.strip_prefix(bench.path("")) {
            Ok(inner) => inner.display().to_string(),
            Err(_) => format!("out/{}", path.file_name().unwrap().display()),
        };
        loaded.instructions.iter().map(|instruction| name(&instruction.path)).collect()
    }

    #[test]
    fn the_first_kind_counts_from_the_directory_up_after_the_persons_own() {
        let bench = Bench::new();
        bench.file("AGENTS.md", "root\n");
        bench.file("sub/AGENTS.md", "sub\n");
        bench.file("sub/CLAUDE.md", "other\n");
        std::fs::write(bench.outside("b.md"), "mine\n").unwrap();
        let bench = bench.at("sub");
        let loaded = load(&bench, &["a.md", "b.md"], &[]);
        assert_eq!(names(&bench, &loaded), ["out/b.md", "sub/AGENTS.md", "AGENTS.md"]);
        let shown = loaded.instructions[1].shown();
        assert_eq!(shown, format!("Instructions from: {}\nsub\n", bench.path("sub/AGENTS.md").display()));
        assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    }

    #[test]
    fn configured_files_are_paths_and_globs() {
        let bench = Bench::new();
        bench.file("docs/a.md", "a\n");
        bench.file("docs/deep/b.md", "b\n");
        bench.file("docs/c.txt", "c\n");
        std::fs::write(bench.outside("own.md"), "own\n").unwrap();
        let loaded =
            load(&bench, &[], &["docs/*.md", "docs/**/*.md", "~/own.md", "missing.md", "ftp://a.example/x"]);
        assert_eq!(names(&bench, &loaded), ["docs/a.md", "docs/deep/b.md", "out/own.md"]);
        assert_eq!(loaded.warnings.len(), 2, "{:?}", loaded.warnings);
    }

    #[test]
    fn addresses_are_fetched_where_nobody_has_to_be_asked() {
        let site = Site::open(|seen, to| match seen.path.as_str() {
            "/a.md" => answer(to, "200 OK", &[("content-type", "text/plain; charset=latin1")], b"caf\xe9"),
            "/b.md" => answer(to, "200 OK", &[], &[b'x'; (64 << 10) + 1]),
            _ => answer(to, "404 Not Found", &[], b""),
        });
        let urls = [site.url("/a.md"), site.url("/b.md"), site.url("/c.md"), site.url("/a.md")];
        let urls = urls.each_ref().map(String::as_str);
        let bench = Bench::new();
        let loaded = load(&bench, &[], &urls);
        assert_eq!(loaded.instructions[0].shown(), format!("Instructions from: {}\ncafé", urls[0]));
        assert_eq!((loaded.instructions.len(), loaded.warnings.len()), (1, 2), "{:?}", loaded.warnings);
        assert_eq!(site.seen().len(), 3);
        for rule in [("webfetch", "*", "ask"), ("private_address", "*", "ask"), ("webfetch", "*a.md", "deny")]
        {
            let loaded = load(&bench.ruled(&[rule]), &[], &urls[..1]);
            assert!(loaded.instructions.is_empty() && loaded.warnings[0].contains("rules"), "{loaded:?}");
        }
        assert_eq!(site.seen().len(), 3);
    }

    #[test]
    fn addresses_are_asked_at_once_and_kept_in_order() {
        // Nobody is answered before all have asked.
        let all = std::sync::Barrier::new(3);
        let site = Site::open(move |seen, to| {
            all.wait();
            answer(to, "200 OK", &[], seen.path.as_bytes())
        });
        let urls = ["/a", "/b?key=secret", "/c"].map(|path| site.url(path));
        let loaded = load(&Bench::new(), &[], &urls.each_ref().map(String::as_str));
        let texts: Vec<&str> = loaded.instructions.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(texts, ["/a", "/b?key=secret", "/c"], "{:?}", loaded.warnings);
        assert_eq!(loaded.instructions[1].path.to_str().unwrap(), site.url("/b"), "keys are not shown");
    }

    #[test]
    fn warnings_about_addresses_tell_no_secret() {
        let loaded = load(&Bench::new(), &[], &["http://me:secret@127.0.0.1/x?key=secret"]);
        let [warning] = &loaded.warnings[..] else { panic!("{:?}", loaded.warnings) };
        assert!(warning.contains("http://127.0.0.1/x ") && !warning.contains("secret"), "{warning}");
    }

    #[test]
    fn nothing_is_read_that_rules_forbid_or_links_lead_out_to() {
        let bench = Bench::new();
        std::fs::write(bench.outside("secret"), "secret\n").unwrap();
        bench.link("AGENTS.md", bench.outside("secret"));
        assert!(load(&bench, &[], &[]).instructions.is_empty());
        bench.file("CLAUDE.md", "x\n");
        assert_eq!(load(&bench, &[], &[]).instructions.len(), 1);
        let denied = bench.denying(&[("read", "CLAUDE.md")]);
        let loaded = load(&denied, &[], &[]);
        assert!(loaded.instructions.is_empty() && loaded.warnings[0].contains("CLAUDE.md"), "{loaded:?}");
    }

    #[test]
    fn long_instructions_are_cut_and_say_so() {
        let bench = Bench::new();
        bench.file("AGENTS.md", "x".repeat(100 << 10));
        let loaded = load(&bench, &[], &[]);
        assert!(loaded.instructions[0].text.ends_with("read the file for it.)"));
    }
}
