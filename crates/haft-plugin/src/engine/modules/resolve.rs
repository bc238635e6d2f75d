//! From a specifier to a file, as Node and Bun resolve it: extensions may be left out, `.js` may mean a `.ts` file,
//! packages are looked for in every `node_modules` upward.

use std::path::{Component, Path, PathBuf};

use super::builtin;
use super::package::{Entry, Package};

/// What a specifier stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Target {
    File(PathBuf),
    /// One of our own files, by name.
    Internal(String),
}

/// Why a specifier stands for nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(in super::super) struct Missing {
    pub(in super::super) module: String,
    pub(in super::super) message: String,
    pub(in super::super) fix: Option<String>,
    /// Bun or Node may have what this engine has not.
    pub(in super::super) unsupported: bool,
    /// The file that asks for it.
    pub(in super::super) importer: Option<PathBuf>,
}

impl Missing {
    /// Where it is asked for: the first line of the importer that has the specifier in quotes.
    pub(in super::super) fn place(&self) -> Option<(&Path, u32, u32)> {
        let importer = self.importer.as_deref()?;
        let text = std::fs::read_to_string(importer).ok()?;
        let quoted = ['"', '\'', '`'].map(|quote| format!("{quote}{}{quote}", self.module));
        let found = |line: &str| quoted.iter().find_map(|quoted| line.find(quoted.as_str()));
        let (row, line, at) =
            text.lines().enumerate().find_map(|(row, line)| Some((row, line, found(line)?)))?;
        let column = line[..at].chars().count();
        Some((importer, u32::try_from(row).ok()? + 1, u32::try_from(column).ok()? + 1))
    }
}

/// Who asks: `import` and `require` are offered different files by packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Purpose {
    Import,
    Require,
}

impl Purpose {
    pub(super) fn conditions(self) -> &'static [&'static str] {
        match self {
            Purpose::Import => &["import", "node", "module", "default"],
            Purpose::Require => &["require", "node", "default"],
        }
    }
}

const EXTENSIONS: &[&str] = &["ts", "mts", "js", "mjs", "cjs", "cts", "json"];
/// TypeScript writes the extension its file will have one day.
const WRITTEN_FOR: &[(&str, &[&str])] =
    &[("js", &["ts", "tsx", "mts", "cts"]), ("mjs", &["mts"]), ("cjs", &["cts"]), ("jsx", &["tsx"])];
/// How often `imports` may lead to another name.
const DETOURS_MAX: usize = 8;

/// Resolves what `importer`, a file of the person, asks for.
pub(in super::super) fn resolve(
    importer: &Path,
    specifier: &str,
    purpose: Purpose,
) -> Result<Target, Missing> {
    let found = resolve_within(importer, specifier, purpose, DETOURS_MAX);
    found.map_err(|missing| Missing { importer: Some(importer.to_owned()), ..missing })
}

fn resolve_within(
    importer: &Path,
    specifier: &str,
    purpose: Purpose,
    detours: usize,
) -> Result<Target, Missing> {
    if let Some(found) = builtin::fixed(specifier) {
        return found;
    }
    if specifier.starts_with("haft:") {
        return Err(Missing {
            module: specifier.to_owned(),
            message: format!("`{specifier}` is internal to haft and cannot be imported"),
            fix: Some("import Node's modules, `bun`, `zod` or `@opencode-ai/plugin` instead".to_owned()),
            unsupported: false,
            importer: None,
        });
    }
    let folder = importer.parent().unwrap_or(Path::new("/"));
    if let Some(path) = as_path(specifier, folder) {
        let path = path.map_err(|message| missing(importer, specifier, message))?;
        return file(&path).map(Target::File).ok_or_else(|| {
            missing(
                importer,
                specifier,
                format!("there is no file `{specifier}` next to {}", importer.display()),
            )
        });
    }
    if let Some((scheme, _)) = specifier.split_once(':') {
        return Err(missing(importer, specifier, format!("modules cannot be imported from `{scheme}:`")));
    }
    if specifier.starts_with('#') {
        let entry = Package::around(importer).map(|package| package.import(specifier, purpose));
        return match entry {
            Some(Entry::Exact(path)) if path.is_file() => Ok(Target::File(real(&path))),
            Some(Entry::Elsewhere(name)) if detours > 0 => {
                resolve_within(importer, &name, purpose, detours - 1)
            }
            _ => {
                Err(missing(importer, specifier, format!("no `imports` of a package.json has `{specifier}`")))
            }
        };
    }
    package(importer, specifier, purpose)
}

fn package(importer: &Path, specifier: &str, purpose: Purpose) -> Result<Target, Missing> {
    let (name, subpath) = split(specifier);
    let within =
        Package::around(importer).filter(|package| package.name() == Some(name) && package.has_exports());
    let folders = importer
        .ancestors()
        .skip(1)
        .filter(|folder| folder.file_name().is_none_or(|last| last != "node_modules"))
        .map(|folder| folder.join("node_modules").join(name));
    let mut closed = false;
    for package in within.into_iter().chain(
        folders
            .filter(|folder| folder.is_dir())
            .map(|folder| Package::read(&folder).unwrap_or_else(|| Package::without_manifest(&folder))),
    ) {
        let found = match package.export(&subpath, purpose) {
            Entry::Exact(path) => probe_exact(&path),
            Entry::Loose(path) => file(&path).or_else(|| index_of(&package.folder, &subpath)),
            Entry::Closed | Entry::Elsewhere(_) => {
                closed = true;
                None
            }
        };
        if let Some(found) = found {
            return Ok(Target::File(found));
        }
    }
    if let Some(ours) = builtin::brought_along(specifier) {
        return Ok(ours);
    }
    let message = if closed {
        format!("the package `{name}` is installed but does not export `{subpath}`")
    } else {
        format!("the package `{name}` is not installed")
    };
    let mut missing = missing(importer, specifier, message);
    if !closed {
        let folder = importer.parent().unwrap_or(Path::new("/")).display();
        missing.fix = Some(format!("run `npm install {name}` in {folder} or a folder above it"));
    }
    Err(missing)
}

/// A specifier that is a path, made absolute.
fn as_path(specifier: &str, folder: &Path) -> Option<Result<PathBuf, String>> {
    if specifier.starts_with("file:") {
        let parsed = url::Url::parse(specifier).ok().and_then(|url| url.to_file_path().ok());
        return Some(parsed.ok_or_else(|| format!("`{specifier}` is no path of this machine")));
    }
    // What follows a `?` only makes a module distinct.
    let path = specifier.split('?').next().unwrap_or(specifier);
    let is_relative = path == "." || path == ".." || path.starts_with("./") || path.starts_with("../");
    (is_relative || path.starts_with('/')).then(|| Ok(normal(&folder.join(path))))
}

/// Finds the file that a path means.
pub(super) fn file(path: &Path) -> Option<PathBuf> {
    if path.is_file() {
        return Some(real(path));
    }
    if let Some(extension) = path.extension().and_then(|extension| extension.to_str())
        && let Some((_, sources)) = WRITTEN_FOR.iter().find(|(written, _)| *written == extension)
        && let Some(found) =
            sources.iter().map(|source| path.with_extension(source)).find(|path| path.is_file())
    {
        return Some(real(&found));
    }
    if let Some(found) = with_extension(path) {
        return Some(found);
    }
    if !path.is_dir() {
        return None;
    }
    let main = Package::read(path).map(|package| package.export(".", Purpose::Require));
    if let Some(Entry::Exact(main) | Entry::Loose(main)) = main
        && main != path
        && let Some(found) = main.is_file().then(|| real(&main)).or_else(|| with_extension(&main))
    {
        return Some(found);
    }
    with_extension(&path.join("index"))
}

fn with_extension(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    EXTENSIONS
        .iter()
        .map(|extension| path.with_file_name(format!("{name}.{extension}")))
        .find(|path| path.is_file())
        .map(|path| real(&path))
}

/// `exports` name whole files; only the extension of TypeScript's source may differ.
fn probe_exact(path: &Path) -> Option<PathBuf> {
    path.is_file().then(|| real(path))
}

fn index_of(folder: &Path, subpath: &str) -> Option<PathBuf> {
    (subpath == ".").then(|| with_extension(&folder.join("index"))).flatten()
}

/// A file is known by its real path, so that two ways to it are one module.
fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Takes `.` and `..` out without looking at the disk.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

/// `@a/b/c` is the package `@a/b` and its `./c`.
fn split(specifier: &str) -> (&str, String) {
    let parts = if specifier.starts_with('@') { 2 } else { 1 };
    let end = specifier.match_indices('/').nth(parts - 1).map_or(specifier.len(), |(at, _)| at);
    (&specifier[..end], format!(".{}", &specifier[end..]))
}

fn missing(importer: &Path, specifier: &str, message: String) -> Missing {
    let message = if message.contains(&importer.display().to_string()) {
        message
    } else {
        format!("{message} (imported by {})", importer.display())
    };
    Missing { module: specifier.to_owned(), message, fix: None, unsupported: false, importer: None }
}
