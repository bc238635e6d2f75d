//! Installing skills from an index or a directory: checked whole, written beside, swapped in by one rename.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};

use haft::{BoxFuture, CallId, visible};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::FILE;
use crate::front_matter;

const INDEX: &str = "index.json";
const MARKER: &str = ".haft-skill.json";
const STAGING: &str = ".staging-";
const INDEX_BYTES_MAX: u64 = 1 << 20;
const FILE_BYTES_MAX: u64 = 1 << 20;
const SKILL_BYTES_MAX: u64 = 8 << 20;
const FILES_MAX: usize = 200;
const SKILLS_MAX: usize = 100;
const NAME_BYTES_MAX: usize = 64;
const PATH_BYTES_MAX: usize = 512;
const DEPTH_MAX: usize = 8;

/// Gets what is at an address.
pub trait Fetch: Send + Sync {
    /// Gets it whole, or fails if it is larger. It must not follow a redirect to another origin.
    fn fetch<'a>(&'a self, address: &'a str, bytes_max: u64) -> BoxFuture<'a, Result<Vec<u8>, FetchError>>;
}

/// Why something could not be got, in words for a person.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct FetchError(pub String);

/// Why skills were not installed. Those that were there are as they were.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// It could not be got.
    #[error("could not get {address}")]
    Fetch {
        /// What.
        address: String,
        /// Why.
        #[source]
        source: FetchError,
    },
    /// The index is none.
    #[error("{address} is not an index of skills: {problem}")]
    Index {
        /// The index.
        address: String,
        /// What is wrong.
        problem: String,
    },
    /// A skill is not as it must be.
    #[error("the skill {name} cannot be installed: {problem}")]
    Skill {
        /// Its name.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// The source is neither a directory nor an address.
    #[error("{0} holds no skill: expected a directory with {FILE}, or one with {INDEX}")]
    Nothing(String),
    /// The disk said no.
    #[error("could not write {path}")]
    Write {
        /// Where.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// A skill that was installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Its name.
    pub name: String,
    /// The version its index gave it.
    pub version: Option<String>,
    /// Whether anything changed.
    pub is_new: bool,
}

/// Gets files of this machine, by a path or a `file://` address.
pub struct LocalFetch;

impl Fetch for LocalFetch {
    fn fetch<'a>(&'a self, address: &'a str, bytes_max: u64) -> BoxFuture<'a, Result<Vec<u8>, FetchError>> {
        let path = address.strip_prefix("file://").unwrap_or(address);
        let read = match path.contains("://") {
            true => Err(FetchError("only directories and file:// addresses can be read here".to_owned())),
            false => regular(Path::new(path), bytes_max).map_err(FetchError),
        };
        Box::pin(std::future::ready(read))
    }
}

/// The skills of an index.
#[derive(Deserialize)]
struct Index {
    skills: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    name: String,
    files: Vec<String>,
    version: Option<String>,
}

/// A skill with everything that belongs to it.
struct Package {
    name: String,
    version: Option<String>,
    files: Vec<(PathBuf, Vec<u8>)>,
}

/// What is known of an installed skill.
#[derive(Serialize, Deserialize)]
struct Marker {
    source: String,
    version: Option<String>,
    digest: String,
}

/// Installs every skill of a source below a directory: of an index at an address, of a directory with an index, of a
/// directory that is one skill, or of one that holds several. Everything is got and checked before anything is written.
pub async fn install(fetch: &dyn Fetch, source: &str, into: &Path) -> Result<Vec<Installed>, InstallError> {
    let source = source.trim_end_matches('/');
    let local = source.strip_prefix("file://").unwrap_or(source);
    let directory = (!local.contains("://")).then(|| PathBuf::from(local));
    let packages = match directory.filter(|directory| !directory.join(INDEX).exists()) {
        Some(directory) => of_directory(&directory)?,
        None => of_index(fetch, source).await?,
    };
    packages.iter().try_for_each(check)?;
    packages.iter().map(|package| put(package, source, into)).collect()
}

async fn of_index(fetch: &dyn Fetch, base: &str) -> Result<Vec<Package>, InstallError> {
    let get = async |address: String, bytes_max: u64| {
        let got = fetch.fetch(&address, bytes_max).await;
        got.map_err(|source| InstallError::Fetch { address: visible(&address), source })
    };
    let address = format!("{base}/{INDEX}");
    let text = get(address.clone(), INDEX_BYTES_MAX).await?;
    let bad = |problem: String| InstallError::Index { address: visible(&address), problem };
    let index: Index = serde_json::from_slice(&text).map_err(|error| bad(error.to_string()))?;
    if index.skills.len() > SKILLS_MAX {
        return Err(bad(format!("it lists more than {SKILLS_MAX} skills")));
    }
    let mut packages = Vec::new();
    for Listed { name, files, version } in index.skills {
        let wrong = |problem: String| InstallError::Skill { name: visible(&name), problem };
        if !is_name(&name) {
            return Err(wrong("its name is not made of small letters, digits and single hyphens".to_owned()));
        }
        if files.len() > FILES_MAX {
            return Err(wrong(format!("it has more than {FILES_MAX} files")));
        }
        let mut got = Vec::new();
        let mut room = SKILL_BYTES_MAX;
        for file in files {
            let path = relative(&file).map_err(&wrong)?;
            let bytes = get(format!("{base}/{name}/{file}"), FILE_BYTES_MAX.min(room)).await?;
            room = room.saturating_sub(bytes.len() as u64);
            got.push((path, bytes));
        }
        packages.push(Package { name, version, files: got });
    }
    Ok(packages)
}

/// The skill that a directory is, or those that it holds.
fn of_directory(directory: &Path) -> Result<Vec<Package>, InstallError> {
    let shown = || visible(&directory.to_string_lossy());
    let is_skill = |directory: &Path| directory.join(FILE).symlink_metadata().is_ok();
    if is_skill(directory) {
        return Ok(vec![package(directory)?]);
    }
    let entries = directory
        .read_dir()
        .map_err(|error| InstallError::Fetch { address: shown(), source: FetchError(error.to_string()) })?;
    let mut inner: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| is_skill(path)).collect();
    inner.sort();
    inner.truncate(SKILLS_MAX);
    match inner.is_empty() {
        true => Err(InstallError::Nothing(shown())),
        false => inner.iter().map(|directory| package(directory)).collect(),
    }
}

fn package(directory: &Path) -> Result<Package, InstallError> {
    let wrong =
        |problem: String| InstallError::Skill { name: visible(&directory.to_string_lossy()), problem };
    let mut package = Package { name: String::new(), version: None, files: Vec::new() };
    let mut room = SKILL_BYTES_MAX;
    collect(directory, Path::new(""), 0, &mut room, &mut package.files).map_err(wrong)?;
    package.name = named(&package).map_err(wrong)?;
    Ok(package)
}

fn collect(
    top: &Path,
    below: &Path,
    depth: usize,
    room: &mut u64,
    files: &mut Vec<(PathBuf, Vec<u8>)>,
) -> Result<(), String> {
    if depth > DEPTH_MAX {
        return Err(format!("its directories are nested deeper than {DEPTH_MAX} levels"));
    }
    let read = top.join(below).read_dir().map_err(|error| error.to_string())?;
    let mut names: Vec<_> = read.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    for name in names.iter().filter(|name| *name != MARKER && *name != ".git") {
        let (path, inner) = (top.join(below).join(name), below.join(name));
        let found = path.symlink_metadata().map_err(|error| error.to_string())?;
        if found.is_dir() {
            collect(top, &inner, depth + 1, room, files)?;
            continue;
        }
        if found.is_symlink() {
            return Err(format!("{} is a link", visible(&inner.to_string_lossy())));
        }
        if files.len() == FILES_MAX {
            return Err(format!("it has more than {FILES_MAX} files"));
        }
        let bytes = regular(&path, FILE_BYTES_MAX.min(*room))
            .map_err(|problem| format!("{}: {problem}", visible(&inner.to_string_lossy())))?;
        *room -= bytes.len() as u64;
        files.push((inner, bytes));
    }
    Ok(())
}

/// Whether a skill is one, and is called what it says.
fn check(package: &Package) -> Result<(), InstallError> {
    let wrong = |problem: String| InstallError::Skill { name: visible(&package.name), problem };
    let name = named(package).map_err(wrong)?;
    if name != package.name {
        return Err(wrong(format!("its {FILE} calls it {}", visible(&name))));
    }
    let mut paths: Vec<&Path> = package.files.iter().map(|(path, _)| path.as_path()).collect();
    paths.sort();
    match paths.windows(2).find(|pair| pair[1].starts_with(pair[0])) {
        Some(pair) => Err(wrong(format!("{} is there twice", visible(&pair[0].to_string_lossy())))),
        None => Ok(()),
    }
}

/// The name that a skill gives itself.
fn named(package: &Package) -> Result<String, String> {
    let file = package.files.iter().find(|(path, _)| path == Path::new(FILE));
    let (_, bytes) = file.ok_or_else(|| format!("it has no {FILE}"))?;
    let text = std::str::from_utf8(bytes).map_err(|_| format!("its {FILE} is not UTF-8 text"))?;
    let split = front_matter::split(text).ok_or_else(|| format!("its {FILE} has no front matter"))?;
    let yaml = front_matter::parse(split.yaml)
        .map_err(|error| format!("{FILE}:{}: {}", error.line + 1, visible(&error.message)))?;
    let name = yaml.get("name").and_then(|name| name.as_text()).unwrap_or_default();
    match is_name(name) {
        true => Ok(name.to_owned()),
        false => Err(format!("its {FILE} has no name of small letters, digits and single hyphens")),
    }
}

/// A name that is also a safe name of a directory.
fn is_name(name: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    name.len() <= NAME_BYTES_MAX && name.split('-').all(plain)
}

/// A path of an index as a path below a skill's directory. Whatever could mean something else is refused.
fn relative(file: &str) -> Result<PathBuf, String> {
    let refused =
        |why: &str| Err(format!("the path {} {why}", visible(&file.chars().take(80).collect::<String>())));
    if file.is_empty() || file.len() > PATH_BYTES_MAX {
        return refused("is empty or too long");
    }
    if file.chars().any(|c| c.is_control() || haft::is_deceptive(c) || "\\?#%:*\"<>|".contains(c)) {
        return refused("holds a character that is not allowed");
    }
    // Twice a slash, or one at an end, is an empty name.
    if file.split('/').any(|name| name.is_empty() || name.starts_with(STAGING) || name == MARKER) {
        return refused("is not a plain relative path");
    }
    let path = PathBuf::from(file);
    match path.components().all(|part| matches!(part, Component::Normal(_)))
        && !file.split('/').any(|name| name == ".")
    {
        true => Ok(path),
        false => refused("leads out of the skill"),
    }
}

/// The bytes of a regular file.
fn regular(path: &Path, bytes_max: u64) -> Result<Vec<u8>, String> {
    use std::io::Read as _;
    let found = path.symlink_metadata().map_err(|error| error.to_string())?;
    if !found.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    // What became a link or a FIFO since is not followed and not waited for.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = fs::OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path);
    let file = file.map_err(|error| error.to_string())?;
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > bytes_max {
        return Err(format!("it is larger than {bytes_max} bytes"));
    }
    Ok(bytes)
}

/// Puts a skill in the place of an earlier version, at once or not at all.
fn put(package: &Package, source: &str, into: &Path) -> Result<Installed, InstallError> {
    let target = into.join(&package.name);
    let marker =
        Marker { source: source.to_owned(), version: package.version.clone(), digest: digest(package) };
    let known =
        fs::read(target.join(MARKER)).ok().and_then(|text| serde_json::from_slice::<Marker>(&text).ok());
    let is_new = known.is_none_or(|known| known.digest != marker.digest || known.version != marker.version);
    let installed = Installed { name: package.name.clone(), version: package.version.clone(), is_new };
    if !is_new {
        return Ok(installed);
    }
    let staging = Staging(into.join(format!("{STAGING}{}", CallId::mint())));
    let failed = |source| InstallError::Write { path: visible(&target.to_string_lossy()), source };
    write_all(&staging.0, package, &marker).map_err(failed)?;
    swap(&staging.0, &target).map_err(failed)?;
    fs::File::open(into).and_then(|directory| directory.sync_all()).map_err(failed)?;
    Ok(installed)
}

/// A directory on its way. Whatever is in it at the end goes: what was not finished, or what was replaced.
struct Staging(PathBuf);

impl Drop for Staging {
    fn drop(&mut self) {
        // Nobody looks into it; what cannot be removed now is only in the way.
        let _left = fs::remove_dir_all(&self.0);
    }
}

fn write_all(staging: &Path, package: &Package, marker: &Marker) -> std::io::Result<()> {
    fs::create_dir_all(staging)?;
    let marker = serde_json::to_vec(marker)?;
    let files = package.files.iter().map(|(path, bytes)| (path.as_path(), bytes));
    for (path, bytes) in files.chain([(Path::new(MARKER), &marker)]) {
        let path = staging.join(path);
        fs::create_dir_all(path.parent().unwrap_or(staging))?;
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o644).open(path)?;
        file.write_all(bytes)?;
        file.sync_all()?;
    }
    fs::File::open(staging)?.sync_all()
}

/// Exchanges two directories in one step where there is something to exchange with.
fn swap(staging: &Path, target: &Path) -> std::io::Result<()> {
    if target.symlink_metadata().is_err() {
        return fs::rename(staging, target);
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, staging, CWD, target, RenameFlags::EXCHANGE) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // Without that, the old one stands aside for a moment.
    let aside = staging.with_extension("old");
    fs::rename(target, &aside)?;
    if let Err(error) = fs::rename(staging, target) {
        fs::rename(&aside, target)?;
        return Err(error);
    }
    fs::remove_dir_all(aside)
}

fn digest(package: &Package) -> String {
    let mut hasher = blake3::Hasher::new();
    for (path, bytes) in &package.files {
        for piece in [path.to_string_lossy().as_bytes(), bytes] {
            hasher.update(&(piece.len() as u64).to_le_bytes());
            hasher.update(piece);
        }
    }
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests;
