//! Skills in a ZIP archive: everything in it is looked at before anything of it is believed.
//!
//! Names are held to the same rules as those of an index, so none leads out of the skill; links are refused, and bytes
//! are counted as they are unpacked, whatever the archive says of its sizes. A name that is listed twice is refused, since
//! readers differ in which of the two they take.

use std::collections::{BTreeMap, HashSet};
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use super::package::{
    FILE_BYTES_MAX, FILES_MAX, Package, SKILL_BYTES_MAX, is_listed, named, regular, relative,
};
use super::{FILE, InstallError, SKILLS_MAX, TOTAL_BYTES_MAX};

/// Whether a path is one of an archive.
pub(super) fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("zip")) && path.is_file()
}

/// The skills in an archive: the one that it is, or those whose directories it holds.
pub(super) fn packages(path: &Path) -> Result<Vec<Package>, InstallError> {
    let wrong =
        |problem: String| InstallError::Skill { name: haft::visible(&path.to_string_lossy()), problem };
    let files = unpacked(path).map_err(wrong)?;
    let mut skills: BTreeMap<PathBuf, Vec<(PathBuf, Vec<u8>)>> = BTreeMap::new();
    let is_skill = files.iter().any(|(path, _)| path == Path::new(FILE));
    for (path, bytes) in files {
        let (skill, inner) = match (is_skill, path.components().next()) {
            (false, Some(first)) => {
                (PathBuf::from(first.as_os_str()), path.strip_prefix(first).map(PathBuf::from))
            }
            (true, _) | (false, None) => (PathBuf::new(), Ok(path)),
        };
        let inner = inner.map_err(|error| wrong(error.to_string()))?;
        skills.entry(skill).or_default().push((inner, bytes));
    }
    if !is_skill {
        skills.retain(|_, files| files.iter().any(|(path, _)| path == Path::new(FILE)));
    }
    if skills.is_empty() || skills.len() > SKILLS_MAX {
        return Err(wrong(format!("it holds no {FILE}, or more than {SKILLS_MAX}")));
    }
    let packages = skills.into_values().map(|mut files| {
        files.sort();
        let room = files.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>();
        if room > SKILL_BYTES_MAX || files.len() > FILES_MAX {
            return Err(wrong(format!(
                "a skill in it has more than {FILES_MAX} files or {SKILL_BYTES_MAX} bytes"
            )));
        }
        let mut package = Package { name: String::new(), version: None, files };
        package.name = named(&package).map_err(wrong)?;
        Ok(package)
    });
    packages.collect()
}

/// Everything in an archive.
fn unpacked(path: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>, String> {
    let bytes = regular(path, TOTAL_BYTES_MAX)?;
    let mut archive =
        ZipArchive::new(Cursor::new(&bytes)).map_err(|error| format!("it is no archive: {error}"))?;
    if let Some(twice) = listed_twice(&bytes, archive.central_directory_start()) {
        return Err(format!("{} is there twice", haft::visible(&twice)));
    }
    if archive.len() > SKILLS_MAX * FILES_MAX {
        return Err("it has too many entries".to_owned());
    }
    let (mut files, mut room) = (Vec::new(), TOTAL_BYTES_MAX);
    for at in 0..archive.len() {
        let entry =
            archive.by_index(at).map_err(|error| format!("its entry {at} cannot be read: {error}"))?;
        let name = entry.name().map_err(|error| format!("its entry {at} has no name: {error}"))?.into_owned();
        // Some programs write every name from here on.
        let name = name.strip_prefix("./").unwrap_or(&name);
        if name.is_empty() && entry.is_dir() {
            continue;
        }
        let inside = relative(name.trim_end_matches('/'))?;
        if entry.is_dir() {
            continue;
        }
        let shown = haft::visible(name);
        if !is_listed(entry.unix_mode()) {
            return Err(format!("{shown} is a link or no regular file"));
        }
        let mut unpacked = Vec::new();
        let limit = FILE_BYTES_MAX.min(room);
        entry.take(limit + 1).read_to_end(&mut unpacked).map_err(|error| format!("{shown}: {error}"))?;
        if unpacked.len() as u64 > limit {
            return Err(format!("{shown} is larger than {limit} bytes"));
        }
        room -= unpacked.len() as u64;
        files.push((inside, unpacked));
    }
    Ok(files)
}

/// What begins an entry of the list at the end of an archive, how long an entry is without its name and what follows it,
/// and where in it the lengths of those are.
const LISTED: &[u8] = b"PK\x01\x02";
const LISTED_BYTES: usize = 46;
const NAME_LENGTH_AT: usize = 28;

/// A name that is in an archive's list twice; the reader only knows the last of such entries.
fn listed_twice(archive: &[u8], list_at: u64) -> Option<String> {
    let mut names = HashSet::new();
    let mut rest = archive.get(usize::try_from(list_at).ok()?..)?;
    while rest.starts_with(LISTED) {
        let length = |nth: usize| {
            let at = NAME_LENGTH_AT + 2 * nth;
            Some(usize::from(u16::from_le_bytes(rest.get(at..at + 2)?.try_into().ok()?)))
        };
        let (name, extra, comment) = (length(0)?, length(1)?, length(2)?);
        let name = rest.get(LISTED_BYTES..LISTED_BYTES + name)?;
        if !names.insert(name) {
            return Some(String::from_utf8_lossy(name).into_owned());
        }
        rest = rest.get(LISTED_BYTES + name.len() + extra + comment..)?;
    }
    None
}
