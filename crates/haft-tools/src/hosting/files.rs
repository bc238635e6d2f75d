//! Files that the kernel keeps from a plugin: what it wants of them is done here, once somebody agrees to that file.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use haft::permission::{Ask, Permit, Question, Reach, Resource, Showing};
use haft::{Action, ToolContext, ToolError};
use rustix::fs::{Dir, FileType, Mode, OFlags, ResolveFlags};

use super::Hosting;
use crate::blocking::blocking;
use crate::workspace::{Place, Workspace, is_in_a_tree_of_the_kernel, is_of_the_kernel};

/// The action under which rules speak of what plugins do to files outside of what they have. Allowing everything does
/// not allow it.
pub const PLUGIN_FILE: &str = "plugin_file";
/// So much of a file is read for a plugin.
const READ_BYTES_MAX: u64 = 32 << 20;

/// What a plugin wants done to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileOp {
    /// Its content.
    Read,
    /// What it is.
    Stat,
    /// The names in a directory.
    List,
    /// A new content, or more of it.
    Write {
        /// The bytes.
        data: Vec<u8>,
        /// Whether they are added.
        appends: bool,
    },
}

impl FileOp {
    fn changes(&self) -> bool {
        match self {
            FileOp::Read | FileOp::Stat | FileOp::List => false,
            FileOp::Write { .. } => true,
        }
    }

    fn verb(&self) -> &'static str {
        match self {
            FileOp::Read => "read",
            FileOp::Stat => "look at",
            FileOp::List => "list",
            FileOp::Write { .. } => "write",
        }
    }
}

/// What came of it.
#[derive(Debug)]
pub enum FileDone {
    /// The content.
    Read(Vec<u8>),
    /// What it is.
    Stat(Box<fs::Metadata>),
    /// The names, each with what it is.
    List(Vec<(String, FileType)>),
    /// It was done.
    Done,
}

/// Why nothing came of it.
#[derive(Debug, thiserror::Error)]
pub enum FileProblem {
    /// Nobody agreed, or the path leads nowhere that can be spoken of.
    #[error(transparent)]
    Refused(#[from] ToolError),
    /// The system refused.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl Hosting {
    /// Does something to a file for a plugin.
    pub async fn file(
        &self,
        path: &Path,
        op: FileOp,
        context: &ToolContext,
    ) -> Result<FileDone, FileProblem> {
        let text = path
            .to_str()
            .ok_or_else(|| ToolError::failure("a path that is not text cannot be asked about"))?;
        let place = self.workspace.resolve(text).map_err(|error| ToolError::failure(error.to_string()))?;
        if let Some(hidden) = self.processes.hidden.iter().find(|hidden| place.real().starts_with(hidden)) {
            return Err(ToolError::Failure(format!("{} is haft's own", hidden.display())).into());
        }
        // Nobody is asked: what `/proc/self` is to haft is not what it is to the plugin, and opening a device may do
        // something.
        if is_in_a_tree_of_the_kernel(place.real()) {
            return Err(of_the_kernel().into());
        }
        let target = FileTarget { questions: questions(&self.workspace, &place, &op), place, op };
        let permit = self.gate.grant(context, target).await?;
        Ok(blocking(move |_| act(permit)).await?)
    }
}

fn questions(workspace: &Workspace, place: &Place, op: &FileOp) -> Vec<Question> {
    let path = place.real().to_string_lossy();
    let exactly = path.replace('*', "?");
    let own = Question::new(Action::new(PLUGIN_FILE), Resource::new(path.as_ref()));
    let own = own.saving(exactly.clone()).saving(format!("{exactly}/*"));
    let more = match op.changes() {
        true => workspace.changing_questions(place, &Action::new("edit")),
        false => vec![place.looking()],
    };
    std::iter::once(own).chain(place.leaving()).chain(more).collect()
}

/// A file that a plugin wants something of.
struct FileTarget {
    place: Place,
    op: FileOp,
    questions: Vec<Question>,
}

impl Ask for FileTarget {
    fn questions(&self) -> Vec<Question> {
        Question::merged(self.questions.iter().cloned())
    }

    fn reach(&self) -> Reach {
        if self.op.changes() { Reach::Changes } else { Reach::Looks }
    }

    fn show(&self) -> Showing {
        let title = format!("{} {} for a plugin", self.op.verb(), self.place.shown());
        Showing { title, detail: String::new() }
    }
}

/// Acts on what was agreed to and on nothing else: no link that came in between is followed.
fn act(permit: Permit<FileTarget>) -> io::Result<FileDone> {
    let FileTarget { place, op, .. } = permit.into_target();
    match op {
        FileOp::Read => {
            let file = open(place.real(), OFlags::RDONLY)?;
            check_regular(&file)?;
            let mut bytes = Vec::new();
            file.take(READ_BYTES_MAX + 1).read_to_end(&mut bytes)?;
            match bytes.len() as u64 > READ_BYTES_MAX {
                true => Err(io::Error::new(io::ErrorKind::FileTooLarge, "the file is too large")),
                false => Ok(FileDone::Read(bytes)),
            }
        }
        FileOp::Stat => Ok(FileDone::Stat(Box::new(open(place.real(), OFlags::PATH)?.metadata()?))),
        FileOp::List => {
            let directory = open(place.real(), OFlags::RDONLY | OFlags::DIRECTORY)?;
            let mut names = Vec::new();
            for entry in Dir::read_from(&directory)? {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy().into_owned();
                if name != "." && name != ".." {
                    names.push((name, entry.file_type()));
                }
            }
            Ok(FileDone::List(names))
        }
        FileOp::Write { data, appends } => {
            let mut file = open(place.real(), OFlags::WRONLY | OFlags::CREATE)?;
            check_regular(&file)?;
            match appends {
                true => drop(file.seek(SeekFrom::End(0))?),
                false => file.set_len(0)?,
            }
            file.write_all(&data)?;
            Ok(FileDone::Done)
        }
    }
}

/// Opens a path in which nothing is a link, and waits for nobody.
fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mode = if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(0o644) } else { Mode::empty() };
    let opened = rustix::fs::openat2(rustix::fs::CWD, path, flags, mode, ResolveFlags::NO_SYMLINKS)?;
    if is_of_the_kernel(path, &opened) {
        return Err(of_the_kernel());
    }
    Ok(File::from(opened))
}

fn of_the_kernel() -> io::Error {
    let why =
        "plugins are given no interfaces of the kernel, such as /proc, beyond those of their own process";
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

fn check_regular(file: &File) -> io::Result<()> {
    match file.metadata()?.is_file() {
        true => Ok(()),
        false => Err(io::Error::other("plugins are given regular files only")),
    }
}
