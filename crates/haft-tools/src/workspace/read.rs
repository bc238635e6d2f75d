//! Reading: the target that is approved, and what opening it finds.

use std::path::Path;

use haft::Action;
use haft::permission::{Ask, Permit, Question, Reach, Showing};

use super::Workspace;
use super::ask::questions;
use super::directory::OpenedDirectory;
use super::error::WorkspaceError;
use super::file::{Found, OpenedFile};
use super::place::{Kind, Place};
use super::protected::Protection;
use crate::blocking::blocking;

/// So many neighbours of a missing file are looked at.
const NEIGHBOURS_MAX: usize = 10_000;

/// A place that is to be looked at.
#[derive(Debug, Clone)]
pub struct ReadTarget {
    place: Place,
    action: Action,
    is_named: bool,
}

impl ReadTarget {
    /// A place to look at, under the action its rules are filed under.
    pub fn new(place: Place, action: Action) -> ReadTarget {
        ReadTarget { place, action, is_named: false }
    }

    /// A place that the person has named themselves: nobody is asked whether to leave the workspace for it.
    pub fn named(place: Place, action: Action) -> ReadTarget {
        ReadTarget { place, action, is_named: true }
    }

    /// Where it is.
    pub fn place(&self) -> &Place {
        &self.place
    }
}

impl Ask for ReadTarget {
    fn questions(&self) -> Vec<Question> {
        let mut questions = questions(&self.place, Protection::None, &self.action);
        if self.is_named {
            questions.retain(|question| question.action == self.action);
        }
        questions
    }

    fn reach(&self) -> Reach {
        Reach::Looks
    }

    fn show(&self) -> Showing {
        Showing { title: format!("{} {}", self.action, self.place.shown()), detail: String::new() }
    }
}

/// What was found where somebody was allowed to look.
#[derive(Debug)]
pub enum Opened {
    /// A regular file.
    File(OpenedFile),
    /// A directory.
    Directory(OpenedDirectory),
    /// Nothing; these names stand beside where it would be.
    Missing {
        /// Where nothing is.
        place: Place,
        /// The names, in no order.
        neighbours: Vec<String>,
    },
}

impl Workspace {
    /// Opens what was approved to be looked at.
    pub async fn read(&self, permit: Permit<ReadTarget>) -> Result<Opened, WorkspaceError> {
        let workspace = self.clone();
        blocking(move |_| {
            let place = permit.into_target().place;
            Ok(match workspace.open_place(&place)? {
                Found::File(file, _) => Opened::File(file),
                Found::Directory(fd) => Opened::Directory(OpenedDirectory::new(place, fd)),
                Found::Missing => {
                    let neighbours = workspace.neighbours(&place);
                    Opened::Missing { place, neighbours }
                }
            })
        })
        .await
    }

    /// The names beside a place. They only serve a suggestion, so a directory that cannot be read has none.
    fn neighbours(&self, place: &Place) -> Vec<String> {
        let Some(above) = place.real().parent().map(Path::to_owned) else { return Vec::new() };
        let above = Place::new(self, above.clone(), above, Kind::Directory);
        let Ok(Found::Directory(fd)) = self.open_place(&above) else { return Vec::new() };
        let Ok(found) = OpenedDirectory::new(above, fd).read(NEIGHBOURS_MAX) else { return Vec::new() };
        found.entries.into_iter().map(|entry| entry.name.to_string_lossy().into_owned()).collect()
    }
}
