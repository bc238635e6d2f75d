//! Places: where a path leads, what is there, and by which names rules speak of it.

use std::fs::FileType;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use haft::permission::{Question, Resource};
use haft::visible;

use super::{Workspace, ask};

/// What is at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Missing,
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// Something that is neither; the words say what.
    Special(&'static str),
}

impl Kind {
    pub(super) fn of(found: FileType) -> Kind {
        match found {
            f if f.is_file() => Kind::File,
            f if f.is_dir() => Kind::Directory,
            f if f.is_fifo() => Kind::Special("a FIFO"),
            f if f.is_socket() => Kind::Special("a socket"),
            f if f.is_char_device() => Kind::Special("a character device"),
            f if f.is_block_device() => Kind::Special("a block device"),
            _ => Kind::Special("something unknown"),
        }
    }
}

/// Where a path leads. It proves nothing about consent; it is what consent is asked for.
#[derive(Debug, Clone)]
pub struct Place {
    spelled: PathBuf,
    real: PathBuf,
    kind: Kind,
    inside: bool,
    /// Whether it was spelled with a slash at its end, as only a directory can be.
    as_directory: bool,
    /// The name of what is really there.
    name: String,
    /// The name it was reached by, where a link was on the way.
    link: Option<String>,
    /// Whether what it is in is the root of the disk or the home directory.
    is_wide: bool,
}

impl Place {
    pub(super) fn new(workspace: &Workspace, spelled: PathBuf, real: PathBuf, kind: Kind) -> Place {
        let respelled = workspace.respelled(&spelled);
        let name_of = |path: &Path| {
            let relative = workspace.roots().find_map(|root| path.strip_prefix(root.path()).ok());
            text(match relative {
                Some(relative) if relative.as_os_str().is_empty() => Path::new("."),
                Some(relative) => relative,
                None => path,
            })
        };
        let inside = workspace.roots().any(|root| real.starts_with(root.path()));
        let link = (respelled != real).then(|| name_of(&respelled));
        let as_directory = false;
        let mut place =
            Place { name: name_of(&real), link, spelled, real, kind, inside, as_directory, is_wide: false };
        let is_home = |path: &Path| workspace.home().is_some_and(|home| home == path);
        place.is_wide = !inside && (place.surroundings().parent().is_none() || is_home(place.surroundings()));
        place
    }

    /// The same, spelled in this way.
    pub(super) fn spelled_as(self, path: &str) -> Place {
        Place { as_directory: path.ends_with('/'), ..self }
    }

    /// Whether it was spelled as only a directory can be.
    pub(super) fn is_spelled_as_directory(&self) -> bool {
        self.as_directory
    }

    /// Whether what it is in is the root of the disk or the home directory, so that everything lies below.
    pub(super) fn is_wide(&self) -> bool {
        self.is_wide
    }

    /// The absolute path as it was spelled.
    pub fn spelled(&self) -> &Path {
        &self.spelled
    }

    /// The canonical path, without links.
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// What is there.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether it really lies in the directory or the repository.
    pub fn is_inside(&self) -> bool {
        self.inside
    }

    /// The name it was reached by: relative to the repository, or absolute where it is not in it.
    pub fn name(&self) -> &str {
        self.link.as_deref().unwrap_or(&self.name)
    }

    /// The name, safe to show.
    pub fn shown(&self) -> String {
        visible(self.name())
    }

    /// The absolute path as it was spelled, as text.
    pub fn spelled_text(&self) -> String {
        text(&self.spelled)
    }

    /// The question whether its content may be looked at.
    pub(crate) fn looking(&self) -> Question {
        ask::looking(self)
    }

    /// The question whether it may be changed although it is protected.
    pub(crate) fn changing(&self) -> Question {
        ask::protected(self)
    }

    /// The question whether to leave the workspace for it; nothing, if it lies inside.
    pub(crate) fn leaving(&self) -> Option<Question> {
        (!self.inside).then(|| ask::leaving(self))
    }

    /// If a link outside the workspace was on the way: the question whether to leave by that link's name.
    pub(crate) fn leaving_by_its_name(&self) -> Option<Question> {
        let is_outside = |link: &String| Path::new(link).is_absolute();
        let by_link = !self.inside && self.link.as_ref().is_some_and(is_outside);
        let resource = || Resource::new(ask::everything_below_spelled(self));
        by_link.then(|| Question::new(ask::leaving_action(), resource()))
    }

    /// What rules speak of: what is really there and, where a link leads to it, also the link. A rule that denies
    /// either holds.
    pub(super) fn resources(&self) -> Vec<Resource> {
        let real = Resource::new(&self.name).or(text(&self.real));
        let link = self.link.as_ref().map(|name| Resource::new(name).or(text(&self.spelled)));
        std::iter::once(real).chain(link).collect()
    }

    /// What rules speak of who speak of everything below it, if it is a directory.
    pub(crate) fn everything_below(&self) -> Vec<Resource> {
        let below = |name: &str, path: &Path| {
            let directory =
                if name == "." { String::new() } else { format!("{}/", name.trim_end_matches('/')) };
            let path = format!("{}/", text(path).trim_end_matches('/'));
            Resource::new(format!("{directory}*")).or(format!("{path}*")).below(directory).below(path)
        };
        let link = self.link.as_ref().map(|name| below(name, &self.spelled));
        std::iter::once(below(&self.name, &self.real)).chain(link).collect()
    }

    /// The directory whose content is touched: itself, or the one it is in.
    pub(crate) fn surroundings(&self) -> &Path {
        match self.kind {
            Kind::Directory => &self.real,
            Kind::Missing | Kind::File | Kind::Special(_) => self.real.parent().unwrap_or(&self.real),
        }
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
