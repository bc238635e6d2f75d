//! Which formatters are for a file, and where their programs are.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Formatters;
use super::builtin::{Known, Needs};
use crate::process::is_program;
use crate::workspace::LeftFile;

/// So much of a manifest is looked at.
const MANIFEST_BYTES_MAX: u64 = 1 << 20;

/// A formatter that is for a file, and its program.
pub(super) struct Chosen<'a> {
    pub(super) known: &'a Known,
    pub(super) program: PathBuf,
}

impl Chosen<'_> {
    pub(super) fn name(&self) -> &str {
        &self.known.name
    }
}

impl Formatters {
    /// A formatter with its program, if it is for the file.
    pub(super) fn choose<'a>(&self, known: &'a Known, file: &LeftFile) -> Option<Chosen<'a>> {
        if !known.is_for(file.place().real()) {
            return None;
        }
        let beside = match known.own.needs {
            Needs::Nothing => None,
            Needs::File(files) => {
                let has =
                    |directory: &Path| files.iter().any(|(name, text)| is_there(&directory.join(name), text));
                self.above(file).find(|directory| has(directory))?;
                None
            }
            Needs::Dependency { name, manifest, programs } => {
                let at = self.above(file).find(|directory| depends(&directory.join(manifest), name))?;
                Some(at.join(programs)).filter(|_| self.processes.own_programs.hold(at))
            }
        };
        let program = self.program(&known.command[0], beside.as_deref(), file)?;
        Some(Chosen { known, program })
    }

    /// The directories that a file is in, up to the root of the project.
    pub(super) fn above<'a>(&'a self, file: &'a LeftFile) -> impl Iterator<Item = &'a Path> {
        let base = self.workspace.base();
        file.place().real().ancestors().skip(1).take_while(move |directory| directory.starts_with(base))
    }

    /// Where a program is: in the project's own directories of programs, as far as they are trusted, or on the path.
    fn program(&self, name: &str, beside: Option<&Path>, file: &LeftFile) -> Option<PathBuf> {
        if name.contains('/') {
            return Some(self.workspace.directory().join(name)).filter(|path| is_program(path));
        }
        let own = beside.map(|directory| directory.join(name)).filter(|path| is_program(path));
        let in_modules = || {
            let (own, nearest) = (&self.processes.own_programs, self.above(file).next()?);
            own.installed(name, nearest, self.workspace.base())
        };
        own.or_else(in_modules).or_else(|| self.processes.on_path(name))
    }

    /// The edition of Rust that a file is written in, by the nearest manifest that says so.
    pub(super) fn edition(&self, file: &LeftFile) -> Option<String> {
        self.above(file).find_map(|directory| {
            let manifest = text_of(&directory.join("Cargo.toml"))?;
            let edition = |line: &str| {
                let value = line.trim().strip_prefix("edition")?.trim_start().strip_prefix('=')?;
                let value = value.trim().strip_prefix('"')?.get(..4)?;
                value.bytes().all(|byte| byte.is_ascii_digit()).then(|| value.to_owned())
            };
            manifest.lines().find_map(edition)
        })
    }
}

/// Whether a file is there and holds a text.
fn is_there(path: &Path, text: &str) -> bool {
    text_of(path).is_some_and(|found| found.contains(text))
}

/// Whether a manifest names a dependency.
fn depends(manifest: &Path, name: &str) -> bool {
    let Some(manifest) = text_of(manifest).and_then(|text| serde_json::from_str::<Value>(&text).ok()) else {
        return false;
    };
    ["dependencies", "devDependencies", "require", "require-dev"]
        .iter()
        .any(|table| manifest[table].get(name).is_some())
}

/// The text of a small file.
fn text_of(path: &Path) -> Option<String> {
    let is_file = path.metadata().is_ok_and(|found| found.is_file());
    let mut text = String::new();
    File::open(path).ok().filter(|_| is_file)?.take(MANIFEST_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}
