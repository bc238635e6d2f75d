//! A skill with everything that belongs to it, and what makes it one.

use std::fs;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};

use haft::visible;
use rustix::fs::OFlags;

use super::place::{MARKER, STAGING};
use super::{FILE, InstallError};
use crate::front_matter;

pub(super) const FILE_BYTES_MAX: u64 = 1 << 20;
pub(super) const SKILL_BYTES_MAX: u64 = 8 << 20;
pub(super) const FILES_MAX: usize = 200;
const NAME_BYTES_MAX: usize = 64;
const PATH_BYTES_MAX: usize = 512;
/// File systems have no longer names.
const PART_BYTES_MAX: usize = 255;
const DEPTH_MAX: usize = 8;

/// A skill with everything that belongs to it.
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: Option<String>,
    pub(super) files: Vec<(PathBuf, Vec<u8>)>,
}

/// The skill in a directory.
pub(super) fn package(directory: &Path) -> Result<Package, InstallError> {
    let wrong =
        |problem: String| InstallError::Skill { name: visible(&directory.to_string_lossy()), problem };
    let mut package = Package { name: String::new(), version: None, files: Vec::new() };
    let mut room = SKILL_BYTES_MAX;
    collect(directory, Path::new(""), 0, &mut room, &mut package.files).map_err(wrong)?;
    package.files.sort();
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
pub(super) fn check(package: &Package) -> Result<(), InstallError> {
    let wrong = |problem: String| InstallError::Skill { name: visible(&package.name), problem };
    let name = named(package).map_err(wrong)?;
    if name != package.name {
        return Err(wrong(format!("its {FILE} calls it {}", visible(&name))));
    }
    // To some file systems, names that differ only in their case are one name.
    let folded = |path: &Path| PathBuf::from(path.to_string_lossy().to_lowercase());
    let mut paths: Vec<(PathBuf, &Path)> =
        package.files.iter().map(|(path, _)| (folded(path), path.as_path())).collect();
    paths.sort();
    let shown = |path: &Path| visible(&path.to_string_lossy());
    match paths.windows(2).find(|pair| pair[1].0.starts_with(&pair[0].0)) {
        Some([(_, one), (_, other)]) if one != other && !other.starts_with(one) => {
            Err(wrong(format!("{} and {} differ only in their case", shown(one), shown(other))))
        }
        Some([(_, one), ..]) => Err(wrong(format!("{} is there twice", shown(one)))),
        Some(_) | None => Ok(()),
    }
}

/// The bits of a file's mode that say what it is, and those of a regular file.
const KIND: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;

/// Whether a mode that an archive gives is that of a regular file; one that says nothing about it is.
pub(super) fn is_listed(mode: Option<u32>) -> bool {
    mode.is_none_or(|mode| matches!(mode & KIND, 0 | REGULAR))
}

/// The name that a skill gives itself.
pub(super) fn named(package: &Package) -> Result<String, String> {
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
pub(super) fn is_name(name: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    name.len() <= NAME_BYTES_MAX && name.split('-').all(plain)
}

/// A path of an index as a path below a skill's directory. Whatever could mean something else is refused.
pub(super) fn relative(file: &str) -> Result<PathBuf, String> {
    let refused =
        |why: &str| Err(format!("the path {} {why}", visible(&file.chars().take(80).collect::<String>())));
    if file.is_empty() || file.len() > PATH_BYTES_MAX {
        return refused("is empty or too long");
    }
    if file.split('/').any(|name| name.len() > PART_BYTES_MAX) {
        return refused("has a name that is too long");
    }
    if file.chars().any(|c| c.is_control() || haft::is_deceptive(c) || "\\?#%:*\"<>|".contains(c)) {
        return refused("holds a character that is not allowed");
    }
    // Twice a slash, or one at an end, is an empty name.
    if file
        .split('/')
        .any(|name| name.is_empty() || name.starts_with(STAGING) || name == MARKER || name == ".git")
    {
        return refused("is not a plain relative path");
    }
    if file.split('/').count() > DEPTH_MAX + 1 {
        return refused("is nested too deep");
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
pub(super) fn regular(path: &Path, bytes_max: u64) -> Result<Vec<u8>, String> {
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

/// What a directory holds, as [`digest`] tells it, if it is one that could have been installed.
pub(super) fn digest_of(directory: &Path) -> Option<String> {
    let mut files = Vec::new();
    collect(directory, Path::new(""), 0, &mut SKILL_BYTES_MAX.clone(), &mut files).ok()?;
    files.sort();
    Some(digest(&files))
}

/// Tells one set of files, sorted by their paths, from another.
pub(super) fn digest(files: &[(PathBuf, Vec<u8>)]) -> String {
    let mut hasher = blake3::Hasher::new();
    for (path, bytes) in files {
        for piece in [path.to_string_lossy().as_bytes(), bytes] {
            hasher.update(&(piece.len() as u64).to_le_bytes());
            hasher.update(piece);
        }
    }
    hasher.finalize().to_hex().to_string()
}
