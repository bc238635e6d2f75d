//! What each file offers, kept from one start to the next, so that starting haft runs no code.
//!
//! What was kept holds as long as every file that was read to find it out has the same content. A file that has the same
//! size and the same time of change, and was not changed just when it was looked at, is taken to be the same.

use std::collections::HashMap;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::desk::Engine;
use crate::discovery::{CodeFile, Role};
use crate::error::Fault;
use crate::words::Loaded;

/// The form of what is kept. Another version of haft may find something else in the same file.
const VERSION: &str = concat!("4 ", env!("CARGO_PKG_VERSION"));
/// What is kept is no longer than this; anything longer is not ours.
const KEPT_BYTES_MAX: u64 = 64 << 20;
/// A module is no larger than this, and there are no more of them.
const MODULE_BYTES_MAX: u64 = 64 << 20;
const MODULES_MAX: usize = 6_000;
/// A file that changed so shortly before it was looked at may have changed again in the same tick of its clock.
const TICK: Duration = Duration::from_secs(2);

/// What a file offers, and by which files that is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) loaded: Loaded,
    /// What it was loaded with.
    pub(crate) engine: Engine,
    /// Whether that was configured, so that nobody knows what trying would have found.
    is_engine_configured: bool,
    stamps: Vec<Stamp>,
}

/// An engine, and how it came to be the one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chosen {
    /// The configuration names it.
    Configured(Engine),
    /// It is the first that could load the file.
    Found(Engine),
}

/// By what a file is known again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    path: PathBuf,
    bytes: u64,
    /// When it was changed, in nanoseconds of Unix time; nothing if that says nothing yet.
    changed: Option<u128>,
    digest: String,
    #[serde(skip)]
    settled: Settled,
}

/// When a file was changed that was too young to be known by that when it was first looked at. It is looked into until it
/// is old enough. It says nothing about the file that its stamp does not say.
#[derive(Debug, Clone, Default)]
struct Settled(Arc<OnceLock<u128>>);

impl PartialEq for Settled {
    fn eq(&self, _: &Settled) -> bool {
        true
    }
}

impl Eq for Settled {}

impl Manifest {
    /// Takes down what was found out by loading a file, whose content was looked at before.
    pub(crate) fn new(before: &Content, loaded: Loaded, engine: Chosen) -> Option<Manifest> {
        if loaded.modules.len() > MODULES_MAX {
            return None;
        }
        let mut stamps = vec![before.0.clone()];
        for module in loaded.modules.iter().filter(|module| **module != before.0.path) {
            stamps.push(Stamp::of(module)?);
        }
        let (engine, is_engine_configured) = match engine {
            Chosen::Configured(engine) => (engine, true),
            Chosen::Found(engine) => (engine, false),
        };
        Some(Manifest { loaded, engine, is_engine_configured, stamps })
    }

    /// Whether its engine is the one that the file would be loaded with now.
    fn is_of(&self, wanted: Option<Engine>) -> bool {
        match wanted {
            Some(wanted) => wanted == self.engine,
            // The embedded engine is tried first.
            None => !self.is_engine_configured || self.engine == Engine::Embedded,
        }
    }

    /// Whether all of it is still so.
    pub(crate) fn holds(&self) -> bool {
        self.stamps.iter().all(Stamp::holds)
    }
}

/// A file as it was at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Content(Stamp);

impl Content {
    /// Looks at a file.
    pub(crate) fn of(path: &Path) -> Option<Content> {
        Stamp::of(path).map(Content)
    }

    /// Whether it is still so.
    pub(crate) fn holds(&self) -> bool {
        self.0.holds()
    }
}

/// A file that could not be loaded, as it was then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Failed {
    pub(crate) fault: Fault,
    pub(crate) content: Content,
    /// What it was loaded with: another engine, or more time, may do better.
    pub(crate) tried_with: String,
}

impl Stamp {
    fn of(path: &Path) -> Option<Stamp> {
        let (bytes, changed) = looks(path)?;
        let digest = blake3::hash(&content(path)?).to_hex().to_string();
        let is_old = |changed: &u128| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
            *changed + TICK.as_nanos() < now
        };
        let (path, changed, settled) = (path.to_owned(), changed.filter(is_old), Settled::default());
        Some(Stamp { path, bytes, changed, digest, settled })
    }

    fn holds(&self) -> bool {
        match looks(&self.path) {
            Some((bytes, _)) if bytes != self.bytes => false,
            Some((_, Some(changed)))
                if [self.changed, self.settled.0.get().copied()].contains(&Some(changed)) =>
            {
                true
            }
            Some(_) => self.is_still_in(),
            None => false,
        }
    }

    /// Looks into the file, and takes down when it was changed if that says something by now.
    fn is_still_in(&self) -> bool {
        let now = Stamp::of(&self.path).filter(|now| now.digest == self.digest);
        if let Some(changed) = now.as_ref().and_then(|now| now.changed) {
            // Somebody else may have done so; whoever comes later looks into the file again.
            let _known = self.settled.0.set(changed);
        }
        now.is_some()
    }
}

/// What is in a file. Hosts name these files, and are not believed: what is no regular file, or very large, is not read.
fn content(path: &Path) -> Option<Vec<u8>> {
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = fs::OpenOptions::new().read(true).custom_flags(nonblocking).open(path).ok()?;
    let metadata = file.metadata().ok()?;
    let expected = usize::try_from(metadata.len().min(MODULE_BYTES_MAX)).unwrap_or(0);
    let mut bytes = Vec::with_capacity(expected + 1);
    let read =
        metadata.is_file().then(|| file.take(MODULE_BYTES_MAX + 1).read_to_end(&mut bytes).ok()).flatten()?;
    (read as u64 <= MODULE_BYTES_MAX).then_some(bytes)
}

fn looks(path: &Path) -> Option<(u64, Option<u128>)> {
    let found = fs::metadata(path).ok()?;
    let changed = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Some((found.len(), changed.map(|since| since.as_nanos())))
}

/// What is kept about the files of one project.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Kept {
    version: String,
    files: HashMap<String, Manifest>,
    failed: HashMap<String, Failed>,
}

impl Kept {
    /// Reads what was kept. What cannot be read is found out again.
    pub(crate) fn read(path: &Path) -> Kept {
        let is_ours = fs::metadata(path).is_ok_and(|found| found.len() <= KEPT_BYTES_MAX);
        let text = is_ours.then(|| fs::read(path).ok()).flatten().unwrap_or_default();
        let kept: Kept = serde_json::from_slice(&text).unwrap_or_default();
        match kept.version == VERSION {
            true => kept,
            false => Kept { version: VERSION.to_owned(), ..Kept::default() },
        }
    }

    /// What was kept about a file, if it still holds.
    pub(crate) fn recall(&self, file: &CodeFile, wanted: Option<Engine>) -> Option<&Manifest> {
        let known = self.files.get(&key(file))?;
        (known.is_of(wanted) && known.holds()).then_some(known)
    }

    /// How a file failed, if it would fail in the same way again.
    pub(crate) fn recall_failure(&self, file: &CodeFile, tried_with: &str) -> Option<&Failed> {
        let known = self.failed.get(&key(file))?;
        (known.tried_with == tried_with && known.content.holds()).then_some(known)
    }

    /// Keeps how these files failed, if they did, but nothing of files that are gone.
    pub(crate) fn keep_failures<'a>(
        &mut self,
        files: impl IntoIterator<Item = (&'a CodeFile, Option<Failed>)>,
    ) {
        self.failed.retain(|_, failed| failed.content.0.path.exists());
        for (file, failed) in files {
            match failed {
                Some(failed) => self.failed.insert(key(file), failed),
                None => self.failed.remove(&key(file)),
            };
        }
    }

    /// Keeps what these files offer besides what is kept, but nothing of files that are gone.
    pub(crate) fn keep<'a>(&mut self, files: impl IntoIterator<Item = (&'a CodeFile, &'a Manifest)>) {
        self.files.retain(|_, manifest| manifest.stamps.first().is_some_and(|entry| entry.path.exists()));
        self.files.extend(files.into_iter().map(|(file, manifest)| (key(file), manifest.clone())));
    }

    /// Writes it where the next start finds it; nothing depends on it. Whoever reads at the same time finds the old one
    /// or the new one.
    pub(crate) fn write(&self, path: &Path) -> std::io::Result<()> {
        let directory = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(directory)?;
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        file.persist(path)?;
        Ok(())
    }
}

fn key(file: &CodeFile) -> String {
    let role = match file.role {
        Role::Tools => "tools",
        Role::Table => "table",
        Role::Plugin => "plugin",
    };
    // Options may hold what must not be written down.
    let options = blake3::hash(file.options.to_string().as_bytes()).to_hex();
    format!("{role} {} {options}", file.path.display())
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::{Chosen, Content, Kept, Manifest, TICK};
    use crate::desk::Engine;
    use crate::discovery::{CodeFile, Owner, Role};
    use crate::words::Loaded;
    use serde_json::Value;

    #[test]
    fn what_is_kept_holds_until_any_file_that_was_read_changes() {
        let root = tempfile::tempdir().unwrap();
        let (entry, helper) = (root.path().join("a.ts"), root.path().join("helper.ts"));
        std::fs::write(&entry, "import './helper'").unwrap();
        std::fs::write(&helper, "export const one = 1").unwrap();
        let file =
            CodeFile { path: entry.clone(), role: Role::Tools, owner: Owner::Person, options: Value::Null };
        let loaded = Loaded { modules: vec![entry.clone(), helper.clone()], ..Loaded::default() };
        let found = Chosen::Found(Engine::Embedded);
        let manifest = Manifest::new(&Content::of(&entry).unwrap(), loaded, found).unwrap();
        let place = root.path().join("kept.json");
        let mut kept = Kept::read(&place);
        kept.keep([(&file, &manifest)]);
        kept.write(&place).unwrap();

        let again = Kept::read(&place);
        assert_eq!(again.recall(&file, None), Some(&manifest));
        assert_eq!(again.recall(&file, Some(Engine::Node)), None);
        let other = CodeFile { options: Value::Bool(true), ..file.clone() };
        assert_eq!(again.recall(&other, None), None);

        std::fs::write(&helper, "export const one = 2").unwrap();
        assert_eq!(Kept::read(&place).recall(&file, None), None);
        let gone = CodeFile { path: root.path().join("b.ts"), ..file.clone() };
        std::fs::remove_file(&entry).unwrap();
        kept.keep([(&gone, &manifest)]);
        kept.keep([]);
        assert!(kept.files.is_empty(), "what is kept of files that are gone would only grow");
        std::fs::write(&place, "not JSON").unwrap();
        assert_eq!(Kept::read(&place).recall(&file, None), None);
    }

    #[test]
    fn an_engine_that_was_configured_counts_only_while_it_is() {
        use Engine::{Embedded, Node};
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a.ts");
        std::fs::write(&path, "").unwrap();
        let content = Content::of(&path).unwrap();
        let file = CodeFile { path, role: Role::Tools, owner: Owner::Person, options: Value::Null };
        for (engine, wanted, is_recalled) in [
            (Chosen::Configured(Node), Some(Node), true),
            (Chosen::Configured(Node), Some(Embedded), false),
            (Chosen::Configured(Node), None, false),
            (Chosen::Configured(Embedded), None, true),
            (Chosen::Found(Node), None, true),
            (Chosen::Found(Node), Some(Node), true),
        ] {
            let mut kept = Kept::default();
            kept.keep([(&file, &Manifest::new(&content, Loaded::default(), engine).unwrap())]);
            assert_eq!(kept.recall(&file, wanted).is_some(), is_recalled, "{engine:?} for {wanted:?}");
        }
    }

    #[test]
    fn a_file_that_was_young_is_known_by_its_time_once_it_is_old() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a.ts");
        let written = |text: &str, changed: SystemTime| {
            std::fs::write(&path, text).unwrap();
            std::fs::File::options().write(true).open(&path).unwrap().set_modified(changed).unwrap();
        };
        let now = SystemTime::now();
        written("export const one = 1", now);
        let content = Content::of(&path).unwrap();
        written("export const one = 2", now);
        assert!(!content.holds(), "it is too young to be known by its time");
        let earlier = now - TICK * 5;
        written("export const one = 1", earlier);
        assert!(content.holds());
        written("export const one = 2", earlier);
        assert!(content.holds(), "it is not looked into again");
        written("export const one = 2", earlier - TICK);
        assert!(!content.holds());
    }
}
