//! What a project depends on, as its package managers write it down, and which of that is here.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::{Ecosystem, Package};
use crate::workspace::Sources;

/// The packages of a lock file of cargo whose sources were unpacked.
pub(super) fn cargo(
    sources: &Sources,
    lock: &str,
    registries: Option<usize>,
    checkouts: Option<usize>,
) -> Vec<Package> {
    let unpacked = registries.map_or_else(HashMap::new, |tree| directories_within(sources, tree));
    let cloned = checkouts.map_or_else(HashMap::new, |tree| directories_within(sources, tree));
    let package = |Locked { name, version, source }: Locked<'_>| {
        let (tree, root) = match source.strip_prefix("git+") {
            // A checkout is called after the beginning of its commit.
            Some(source) => (checkouts?, cloned.get(source.rsplit_once('#')?.1.get(..7)?)?),
            None => (registries?, unpacked.get(&format!("{name}-{version}"))?),
        };
        Some(Package {
            name: name.to_owned(),
            version: Some(version.to_owned()),
            ecosystem: Ecosystem::Cargo,
            tree,
            root: root.clone(),
        })
    };
    locked(lock).filter_map(package).collect()
}

/// A package in a lock file that comes from elsewhere.
struct Locked<'l> {
    name: &'l str,
    version: &'l str,
    source: &'l str,
}

fn locked(lock: &str) -> impl Iterator<Item = Locked<'_>> {
    lock.split("[[package]]").skip(1).filter_map(|package| {
        let value = |key: &str| {
            let lines = package.lines().take_while(|line| !line.starts_with('['));
            let mut values = lines.filter_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='));
            values.next()?.trim().strip_prefix('"')?.strip_suffix('"')
        };
        Some(Locked { name: value("name ")?, version: value("version ")?, source: value("source ")? })
    })
}

/// The directories in the directories of a tree, by their names.
fn directories_within(sources: &Sources, tree: usize) -> HashMap<String, PathBuf> {
    let mut found = HashMap::new();
    for above in sources.names(tree, Path::new("")) {
        for name in sources.names(tree, Path::new(&above)) {
            let path = Path::new(&above).join(&name);
            found.insert(name, path);
        }
    }
    found
}

/// The modules that a Go module requires, directly or not, whose sources are in the cache.
pub(super) fn go(sources: &Sources, listed: &str, tree: usize) -> Vec<Package> {
    let package = |line: &str| {
        let line = line.trim_start().trim_start_matches("require ");
        let mut words = line.split_whitespace();
        let (name, version) = (words.next()?, words.next()?);
        if !version.starts_with('v') || !name.contains('.') || !is_plain_path(name) || !is_plain(version) {
            return None;
        }
        let root = sources.within(tree, Path::new(&format!("{}@{version}", escaped(name))))?;
        let (name, version) = (name.to_owned(), Some(version.to_owned()));
        Some(Package { name, version, ecosystem: Ecosystem::Go, tree, root })
    };
    listed.lines().filter_map(package).collect()
}

/// The cache is on disks that do not tell `A` from `a`.
fn escaped(module: &str) -> String {
    let letter = |c: char| match c.is_ascii_uppercase() {
        true => format!("!{}", c.to_ascii_lowercase()),
        false => c.to_string(),
    };
    module.chars().map(letter).collect()
}

/// The packages of a directory of node packages. Where they are links, they lead to where the packages really are.
pub(super) fn node(sources: &Sources, tree: usize, directory: &Path) -> Vec<Package> {
    let package = |name: String| {
        let root = sources.within(tree, &directory.join(&name))?;
        Some(Package { name, version: None, ecosystem: Ecosystem::Node, tree, root })
    };
    let scoped = |name: String| match name.starts_with('@') {
        true => {
            let inner = sources.names(tree, &directory.join(&name)).into_iter();
            inner.map(|inner| format!("{name}/{inner}")).collect()
        }
        false => vec![name],
    };
    let names = sources.names(tree, directory).into_iter().filter(|name| !name.starts_with('.'));
    names.flat_map(scoped).filter_map(package).collect()
}

/// The sources that were copied into the workspace.
pub(super) fn vendored(sources: &Sources, tree: usize, directory: &Path) -> Vec<Package> {
    let names = sources.names(tree, directory).into_iter().filter(|name| !name.starts_with('.'));
    let package = |name: String| {
        let root = sources.within(tree, &directory.join(&name))?;
        Some(Package { name, version: None, ecosystem: Ecosystem::Vendored, tree, root })
    };
    names.filter_map(package).collect()
}

/// The packages of a directory that Python loads from.
pub(super) fn python(sources: &Sources, tree: usize, directory: &Path) -> Vec<Package> {
    let names = sources.names(tree, directory);
    // `httpx-0.27.0.dist-info` stands beside `httpx`.
    let known = |name: &String| {
        let (name, version) = name.strip_suffix(".dist-info")?.split_once('-')?;
        Some((name.to_lowercase(), version.to_owned()))
    };
    let versions: HashMap<String, String> = names.iter().filter_map(known).collect();
    let package = |file: &String| {
        let name = file.strip_suffix(".py").unwrap_or(file);
        if !is_plain(name) || name.starts_with(['_', '.']) || name.contains('.') {
            return None;
        }
        let root = sources.within(tree, &directory.join(file))?;
        let version = versions.get(&name.to_lowercase()).cloned();
        Some(Package { name: name.to_owned(), version, ecosystem: Ecosystem::Python, tree, root })
    };
    names.iter().filter_map(package).collect()
}

/// Whether a text can be the name of one thing in a directory, and leads nowhere else.
fn is_plain(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '~');
    !text.is_empty() && text != "." && text != ".." && text.chars().all(is_allowed)
}

fn is_plain_path(text: &str) -> bool {
    text.split('/').all(is_plain)
}
