//! The search itself: the workspace and the packages that the query names first, the others if that was not enough.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::language;
use super::packages::{Package, Surroundings};
use super::passage;
use super::query::{Query, Words};
use super::ranking::{File, Found, Ranking};
use crate::workspace::{Candidate, Ignoring, Lead, Sources, Stroll, Watch};

/// No source that somebody wrote is larger.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Lines that are longer on average were not written by anybody.
const LINE_BYTES_MAX: usize = 250;
/// Directories of tests, and how their files are called.
const TEST_DIRECTORIES: &[&str] = &["test", "tests", "__tests__", "spec", "benches", "testdata", "fixtures"];
const TEST_ENDINGS: &[&str] = &["test", "tests", ".spec", "_spec"];
/// Prose that says what was, not what is.
const HISTORIES: &[&str] = &["changelog", "changes", "history", "news", "releases"];

/// A search under way. Cloning it is cheap.
#[derive(Clone)]
pub(crate) struct CodeSearch {
    sources: Sources,
    surroundings: Surroundings,
    query: Query,
    progress: Arc<Progress>,
}

/// How much was searched.
pub(crate) struct Extent {
    /// So many files were read.
    pub(crate) files: usize,
    /// So many packages were searched.
    pub(crate) packages: usize,
    /// So many packages have their sources here.
    pub(crate) packages_known: usize,
    /// Whether it ended before it had seen everything.
    pub(crate) is_partial: bool,
}

impl CodeSearch {
    pub(crate) fn new(sources: Sources, surroundings: Surroundings, query: Query) -> CodeSearch {
        let progress = Arc::new(Progress::new(&query));
        CodeSearch { sources, surroundings, query, progress }
    }

    pub(super) fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Searches the workspace and the packages that the query names.
    pub(crate) fn look(&self, watch: &Watch) {
        self.run(watch, |search, watch| search.progress.first(search, watch));
    }

    /// Searches all other packages. Whoever names a package wants to know about that one: if all is said there, others
    /// would only add noise.
    pub(crate) fn look_further(&self, watch: &Watch) {
        self.run(watch, |search, watch| search.progress.others(search, watch));
    }

    /// Whether some places say all that was asked for of a package that was named.
    pub(crate) fn is_enough(&self, some: &[Found]) -> bool {
        let (known, searched) = (self.packages().len(), self.progress.searched.load(Ordering::Relaxed));
        searched == known || searched > 0 && self.progress.ranking.is_met(some)
    }

    /// The places that were found so far, the best first, each with its file.
    pub(crate) fn found(&self) -> Vec<(Found, Candidate)> {
        let with_file = |found: Found| {
            let file = self.sources.candidate(found.file.tree, &found.file.relative);
            (found, file)
        };
        self.progress.ranking.best().into_iter().map(with_file).collect()
    }

    /// Those of some places that are worth showing beside the best of them.
    pub(crate) fn worth_showing(&self, some: Vec<Found>) -> Vec<Found> {
        self.progress.ranking.worth_showing(some)
    }

    /// How much was searched.
    pub(crate) fn extent(&self) -> Extent {
        Extent {
            files: self.progress.ranking.files(),
            packages: self.progress.searched.load(Ordering::Relaxed),
            packages_known: self.packages().len(),
            is_partial: self.progress.gave_up.load(Ordering::Relaxed),
        }
    }

    pub(super) fn packages(&self) -> &[Package] {
        self.progress.packages.get().map(Vec::as_slice).unwrap_or_default()
    }

    /// What was found is there also if the work does not end in time.
    fn run(&self, watch: &Watch, work: impl FnOnce(&CodeSearch, &Watch) + Send + 'static) {
        let (search, watched) = (self.clone(), watch.clone());
        let done = watch.wait_for(move || work(&search, &watched));
        self.progress.gave_up.fetch_or(done.is_none(), Ordering::Relaxed);
    }
}

/// What is known so far.
struct Progress {
    ranking: Ranking,
    packages: OnceLock<Vec<Package>>,
    searched: AtomicUsize,
    gave_up: AtomicBool,
}

impl Progress {
    fn new(query: &Query) -> Progress {
        let (packages, searched) = (OnceLock::new(), AtomicUsize::new(0));
        Progress { ranking: Ranking::new(query), packages, searched, gave_up: AtomicBool::new(false) }
    }

    fn first(&self, CodeSearch { sources, surroundings, query, .. }: &CodeSearch, watch: &Watch) {
        let apart = surroundings.apart();
        let roots = vec![PathBuf::new()];
        let own = Stroll { tree: 0, roots, ignoring: Ignoring::Counts, except: apart.clone() };
        self.walk(sources, &own, query, watch);
        let packages = self.packages.get_or_init(|| distinct(surroundings.packages(sources), &apart));
        let named = packages.iter().filter(|package| is_named(query, package));
        self.walk_packages(sources, &named.collect::<Vec<_>>(), query, watch);
    }

    fn others(&self, CodeSearch { sources, query, .. }: &CodeSearch, watch: &Watch) {
        let packages = self.packages.get().map(Vec::as_slice).unwrap_or_default();
        let others = packages.iter().filter(|package| !is_named(query, package));
        self.walk_packages(sources, &others.collect::<Vec<_>>(), query, watch);
    }

    fn walk_packages(&self, sources: &Sources, some: &[&Package], query: &Query, watch: &Watch) {
        for tree in 0..sources.trees().len() {
            let mut roots: Vec<PathBuf> = some
                .iter()
                .filter(|package| package.tree == tree)
                .map(|package| package.root.clone())
                .collect();
            roots.sort_unstable();
            let count = roots.len();
            let stroll = Stroll { tree, roots, ignoring: Ignoring::MeansNothing, except: Vec::new() };
            self.walk(sources, &stroll, query, watch);
            self.searched.fetch_add(count, Ordering::Relaxed);
        }
    }

    fn walk(&self, sources: &Sources, stroll: &Stroll, query: &Query, watch: &Watch) {
        let packages = self.packages.get().map(Vec::as_slice).unwrap_or_default();
        // By their place, so that each file finds its own.
        let mut owners: Vec<(&Path, usize, Words)> = packages
            .iter()
            .enumerate()
            .filter(|(_, package)| package.tree == stroll.tree)
            .map(|(at, package)| (package.root.as_path(), at, query.words_of_name(&package.name)))
            .collect();
        owners.sort_unstable_by_key(|(root, ..)| *root);
        let owners = &owners;
        let all_seen = sources.walk(stroll, watch, || {
            let mut bytes = Vec::new();
            move |lead: &Lead<'_>| {
                let Some(language) = language::of(lead.relative()) else { return };
                let Some(text) = read(lead, &mut bytes) else { return };
                let owner = owners.partition_point(|(root, ..)| *root <= lead.relative()).checked_sub(1);
                let owner = owner.map(|at| owners[at]).filter(|(root, ..)| lead.relative().starts_with(root));
                let file = file(query, stroll.tree, lead.relative(), owner);
                self.ranking.add(&file, passage::spots(query, language, &text));
            }
        });
        self.gave_up.fetch_or(!all_seen, Ordering::Relaxed);
    }
}

fn is_named(query: &Query, package: &Package) -> bool {
    !query.words_of_name(&package.name).is_empty()
}

fn file(query: &Query, tree: usize, relative: &Path, owner: Option<(&Path, usize, Words)>) -> File {
    let inner = owner.and_then(|(root, ..)| relative.strip_prefix(root).ok()).unwrap_or(relative);
    let in_package = owner.map(|(.., words)| words).unwrap_or_default();
    let is_test_directory = |part: &Path| TEST_DIRECTORIES.iter().any(|name| part == Path::new(name));
    let stem = inner.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let is_aside = HISTORIES.contains(&stem.to_lowercase().as_str())
        || inner.iter().any(|part| is_test_directory(Path::new(part)))
        || TEST_ENDINGS.iter().any(|ending| stem.ends_with(ending));
    File {
        tree,
        relative: relative.to_path_buf(),
        package: owner.map(|(_, at, _)| at),
        in_path: query.words_in(&inner.to_string_lossy()),
        in_package,
        is_aside,
    }
}

/// The text of a file that somebody may have written.
fn read<'b>(lead: &Lead<'_>, bytes: &'b mut Vec<u8>) -> Option<std::borrow::Cow<'b, str>> {
    let opened = lead.open().ok().filter(|opened| (1..=FILE_BYTES_MAX).contains(&opened.size))?;
    bytes.clear();
    opened.file.take(FILE_BYTES_MAX).read_to_end(bytes).ok()?;
    let lines = memchr::memchr_iter(b'\n', bytes).count() + 1;
    let is_written = memchr::memchr(0, bytes).is_none() && bytes.len() / lines <= LINE_BYTES_MAX;
    is_written.then(|| String::from_utf8_lossy(bytes))
}

/// Packages that are not part of the workspace itself, and not of each other.
fn distinct(mut packages: Vec<Package>, apart: &[PathBuf]) -> Vec<Package> {
    packages.retain(|package| package.tree != 0 || apart.iter().any(|path| package.root.starts_with(path)));
    packages.sort_by(|a, b| (a.tree, &a.root).cmp(&(b.tree, &b.root)));
    packages.dedup_by(|later, kept| later.tree == kept.tree && later.root.starts_with(&kept.root));
    packages
}
