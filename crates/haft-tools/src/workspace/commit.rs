//! Committing changes: every new content is staged beside its file and synced before the first file is touched; then
//! each takes its place by a rename, and the directories are synced. What fails half-way is taken back.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft::{Image, Intent, Reopen};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::attributes;
use super::digest::Digest;
use super::draft::check_replaceable;
use super::error::WorkspaceError;
use super::file::{LOOK, read_without_a_trace};
use super::lock::lock;
use super::readied::Ready;
use super::root::{Made, Root};
use super::temporary::Temporary;
use crate::blocking::{Stop, unattended};

/// So much of a file is compared at a time.
const PIECE_BYTES: usize = 128 << 10;
/// Comparing less takes no longer than having somebody else do it.
const COMPARED_ASIDE_BYTES_MIN: u64 = 256 << 10;

/// A file to be changed: where it is, what it must hold, and what it is to hold.
pub(super) struct Entry<'a> {
    pub(super) root: &'a Root,
    pub(super) relative: PathBuf,
    /// The name by which errors speak of it.
    pub(super) shown: String,
    pub(super) before: Option<&'a Image>,
    pub(super) after: Option<&'a Image>,
    /// What it is to hold, on the disk already.
    pub(super) ready: Option<Ready>,
}

/// Makes every file hold what it is to hold, or leaves all of them as they were. Whoever stops it is heeded until the
/// first file is touched.
pub(super) fn commit(entries: Vec<Entry<'_>>, stop: &Stop) -> Result<(), WorkspaceError> {
    // Dropped last: directories can be removed again only when nothing is left in them.
    let mut made = Made::default();
    let mut directories = Directories::default();
    let mut slots = Vec::with_capacity(entries.len());
    for entry in entries {
        slots.push(Slot::open(entry, &mut directories, &mut made)?);
    }
    if let Some(first) = slots.first() {
        directories.lock(&first.entry.shown, stop)?;
    }
    for slot in &mut slots {
        slot.standing = slot.look_again()?;
    }
    for slot in &mut slots {
        go_on(stop)?;
        slot.stage_and_compare()?;
    }
    go_on(stop)?;
    put_all(&mut slots)?;
    let durable = directories.sync().and(made.keep());
    // The space of what was replaced is given back when it is closed for the last time. That takes a while.
    let replaced: Vec<_> = slots.iter_mut().filter_map(|slot| slot.standing.take()).collect();
    unattended(move || drop(replaced));
    let shown = || slots.iter().map(|slot| slot.entry.shown.as_str()).collect::<Vec<_>>().join(", ");
    durable.map_err(|error| WorkspaceError::NotDurable { path: shown(), source: error.into() })
}

/// Fails once nobody waits for the commit any more.
pub(super) fn go_on(stop: &Stop) -> Result<(), WorkspaceError> {
    if stop.is_set() { Err(WorkspaceError::Stopped) } else { Ok(()) }
}

/// Puts every file in its place. If one fails, those before it are taken back, the last first.
fn put_all(slots: &mut [Slot<'_>]) -> Result<(), WorkspaceError> {
    let needs_way_back = slots.len() > 1;
    for at in 0..slots.len() {
        if let Err(error) = slots[at].put(needs_way_back) {
            return Err(take_all_back(&mut slots[..at], error));
        }
    }
    Ok(())
}

/// Takes back what was put. One that cannot be taken back does not keep the others from it.
fn take_all_back(slots: &mut [Slot<'_>], error: WorkspaceError) -> WorkspaceError {
    let mut stuck = Vec::new();
    for slot in slots.iter_mut().rev() {
        if let Err(source) = slot.take_back() {
            stuck.push((slot.entry.shown.clone(), source));
        }
    }
    let paths = stuck.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>().join(", ");
    match stuck.pop() {
        Some((_, source)) => WorkspaceError::Torn { path: paths, why: error.to_string(), source },
        None => error,
    }
}

/// The directories that hold the files, each opened once.
#[derive(Default)]
struct Directories(Vec<((u64, u64), Arc<OwnedFd>)>);

impl Directories {
    fn share(&mut self, opened: OwnedFd) -> Result<Arc<OwnedFd>, Errno> {
        let stat = rustix::fs::fstat(&opened)?;
        #[expect(clippy::useless_conversion, reason = "their types differ from system to system")]
        let identity = (u64::from(stat.st_dev), u64::from(stat.st_ino));
        if let Some((_, known)) = self.0.iter().find(|(known, _)| *known == identity) {
            return Ok(known.clone());
        }
        let opened = Arc::new(opened);
        self.0.push((identity, opened.clone()));
        Ok(opened)
    }

    /// Locks all of them, in an order that is the same for everybody.
    fn lock(&mut self, shown: &str, stop: &Stop) -> Result<(), WorkspaceError> {
        self.0.sort_by_key(|(identity, _)| *identity);
        self.0.iter().try_for_each(|(_, directory)| lock(directory, shown, stop))
    }

    fn sync(&self) -> Result<(), Errno> {
        self.0.iter().try_for_each(|(_, directory)| sync(directory))
    }
}

/// A file in its directory, on its way from the old content to the new one.
struct Slot<'a> {
    entry: Entry<'a>,
    directory: Arc<OwnedFd>,
    name: PathBuf,
    standing: Option<(File, Stat)>,
    /// Holds the new content until it takes its place.
    staged: Option<Temporary>,
    /// Holds the old content while it may have to come back.
    aside: Option<Temporary>,
}

impl<'a> Slot<'a> {
    fn open(
        entry: Entry<'a>,
        directories: &mut Directories,
        made: &mut Made,
    ) -> Result<Slot<'a>, WorkspaceError> {
        let (Some(above), Some(name)) = (entry.relative.parent(), entry.relative.file_name()) else {
            return Err(WorkspaceError::Directory { path: entry.shown });
        };
        let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        // Directories are made only for a file that is new.
        let opened = match entry.before {
            None => entry.root.open_directory_making(above, made),
            Some(_) => entry.root.open_directory(above),
        };
        let directory = opened.and_then(|directory| directories.share(directory));
        let directory = directory.map_err(|error| sorted(&entry.shown, error))?;
        Ok(Slot { name: name.into(), entry, directory, standing: None, staged: None, aside: None })
    }

    /// What stands there now, if anything was to stand there.
    fn look_again(&self) -> Result<Option<(File, Stat)>, WorkspaceError> {
        let path = || self.entry.shown.clone();
        let flags = LOOK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&self.directory, &self.name, flags, Mode::empty()) {
            Ok(fd) => File::from(fd),
            Err(Errno::NOENT) if self.entry.before.is_none() => return Ok(None),
            Err(Errno::NOENT) => return Err(WorkspaceError::Changed { path: path() }),
            Err(error) => return Err(sorted(&self.entry.shown, error)),
        };
        let unreadable = |source: io::Error| WorkspaceError::Read { path: path(), source };
        let stat = rustix::fs::fstat(&file).map_err(|error| unreadable(error.into()))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(WorkspaceError::Changed { path: path() });
        }
        check_replaceable(&self.entry.shown, &stat)?;
        read_without_a_trace(&file);
        let is_planned_on = self.entry.before.is_some();
        if is_planned_on { Ok(Some((file, stat))) } else { Err(WorkspaceError::Changed { path: path() }) }
    }

    /// Writes the new content beside the file, and makes sure that the file still holds what the change was planned on.
    /// A large one is compared while the disk is waited for.
    fn stage_and_compare(&mut self) -> Result<(), WorkspaceError> {
        let is_large = self.entry.before.is_some_and(|image| image.bytes >= COMPARED_ASIDE_BYTES_MIN);
        let staged = match self.stage_ready()? {
            None if is_large => None,
            None => self.stage()?,
            ready => ready,
        };
        if staged.is_some() || !is_large {
            // In this order, so that little time is left in which somebody else could change the file unseen.
            self.staged = staged;
            return self.compare();
        }
        let slot = &*self;
        let (compared, staged) = std::thread::scope(|scope| {
            let comparing = scope.spawn(|| slot.compare());
            let staged = slot.stage();
            (comparing.join(), staged)
        });
        compared.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        self.staged = staged?;
        Ok(())
    }

    fn compare(&self) -> Result<(), WorkspaceError> {
        let path = || self.entry.shown.clone();
        let (Some((file, _)), Some(image)) = (&self.standing, self.entry.before) else { return Ok(()) };
        match holds(file, image) {
            Ok(true) => Ok(()),
            Ok(false) => Err(WorkspaceError::Changed { path: path() }),
            Err(source) => Err(WorkspaceError::Read { path: path(), source }),
        }
    }

    /// Gives the new content a name beside the file, if it is on the disk already as it would be written now.
    fn stage_ready(&mut self) -> Result<Option<Temporary>, WorkspaceError> {
        let (Some(ready), Some(image)) = (self.entry.ready.take(), self.entry.after) else { return Ok(None) };
        let standing = self.standing.as_ref().map(|(old, stat)| attributes::of(old, stat)).transpose();
        let standing =
            standing.map_err(|source| WorkspaceError::Read { path: self.entry.shown.clone(), source })?;
        if !ready.fits(image, standing.as_ref()) {
            return Ok(None);
        }
        // Where there is no way to name it, it is written anew.
        Ok(Temporary::of_unnamed(&self.directory, &self.beginning(), &ready.file).ok())
    }

    /// Writes the new content beside the file, on the disk.
    fn stage(&self) -> Result<Option<Temporary>, WorkspaceError> {
        let Some(image) = self.entry.after else { return Ok(None) };
        let path = || self.entry.shown.clone();
        let failed = |source: io::Error| WorkspaceError::Write { path: path(), source };
        let content = image.content.as_deref().ok_or_else(|| WorkspaceError::NotKept { path: path() })?;
        let is_private = self.standing.is_some() || image.attributes.is_some();
        let mode = if is_private { 0o600 } else { 0o666 };
        let (temporary, mut file) =
            Temporary::create(&self.directory, &self.beginning(), mode).map_err(failed)?;
        match content.in_memory() {
            Some(bytes) => file.write_all(bytes).map_err(failed)?,
            None => io::copy(&mut content.open().map_err(failed)?, &mut file).map(drop).map_err(failed)?,
        }
        match (&image.attributes, &self.standing) {
            (Some(given), _) => attributes::give(given, &file).map_err(failed)?,
            (None, Some((old, stat))) => attributes::keep(old, stat, &file).map_err(failed)?,
            (None, None) => {}
        }
        file.sync_all().map_err(failed)?;
        Ok(Some(temporary))
    }

    /// Lets the new content take its place. With a way back, the old one is kept beside it until the commit is over.
    fn put(&mut self, needs_way_back: bool) -> Result<(), WorkspaceError> {
        let path = || self.entry.shown.clone();
        let failed = |error: Errno| WorkspaceError::Write { path: path(), source: error.into() };
        match (self.staged.take(), &self.standing) {
            (Some(staged), None) => match staged.rename_to_nothing(&self.name) {
                Err(Errno::EXIST) => Err(WorkspaceError::Changed { path: path() }),
                renamed => renamed.map_err(failed),
            },
            (Some(staged), Some((old, _))) => {
                if needs_way_back {
                    let aside = Temporary::of_standing(&self.directory, &self.beginning(), &self.name, old);
                    let aside = aside.map_err(|source| WorkspaceError::Write { path: path(), source })?;
                    self.aside = Some(aside);
                }
                staged.rename(&self.name).map_err(failed)
            }
            (None, Some(_)) if needs_way_back => {
                let aside = Temporary::by_renaming(&self.directory, &self.beginning(), &self.name);
                self.aside = Some(aside.map_err(failed)?);
                Ok(())
            }
            (None, Some(_)) => {
                rustix::fs::unlinkat(&self.directory, &self.name, AtFlags::empty()).map_err(failed)
            }
            (None, None) => Ok(()),
        }
    }

    /// Undoes [`put`](Self::put), without needing any space for it.
    fn take_back(&mut self) -> Result<(), io::Error> {
        let taken = match (self.aside.take(), &self.entry.after) {
            (Some(aside), Some(_)) => aside.return_over(&self.name),
            (Some(aside), None) => aside.return_to_nothing(&self.name),
            (None, Some(_)) => rustix::fs::unlinkat(&self.directory, &self.name, AtFlags::empty()),
            (None, None) => Ok(()),
        };
        taken?;
        Ok(sync(&self.directory)?)
    }

    /// How the names of its temporary files begin, by which a later process finds them.
    fn beginning(&self) -> String {
        let digest = |image: Option<&Image>| image.map(|image| image.digest.clone());
        let (before, after) = (digest(self.entry.before), digest(self.entry.after));
        Intent { path: PathBuf::new(), before, after, midway: None }.temporary()
    }
}

/// Whether a file that was just opened holds exactly this.
fn holds(mut file: &File, image: &Image) -> io::Result<bool> {
    let Some(mut expected) = image.content.as_deref().and_then(Reopen::in_memory) else {
        return Ok(Digest::of_reader(file)?.to_string() == image.digest);
    };
    let mut piece = vec![0; PIECE_BYTES.min(expected.len() + 1)];
    loop {
        let read = match file.read(&mut piece) {
            Ok(0) => return Ok(expected.is_empty()),
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        match expected.strip_prefix(&piece[..read]) {
            Some(rest) => expected = rest,
            None => return Ok(false),
        }
    }
}

fn sorted(shown: &str, error: Errno) -> WorkspaceError {
    let path = shown.to_owned();
    match error {
        Errno::LOOP | Errno::XDEV | Errno::AGAIN => WorkspaceError::Moved { path },
        error => WorkspaceError::Write { path, source: error.into() },
    }
}

/// Makes the names in a directory durable, where its file system can.
pub(super) fn sync(directory: &OwnedFd) -> Result<(), Errno> {
    match rustix::fs::fsync(directory) {
        Err(Errno::BADF | Errno::INVAL) => Ok(()),
        synced => synced,
    }
}
