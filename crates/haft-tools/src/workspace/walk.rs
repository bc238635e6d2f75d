//! Walking: the files below a directory, without those that nobody wants to see.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use haft::permission::Permit;
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;

use super::Workspace;
use super::error::WorkspaceError;
use super::file::Found;
use super::ignored::{check_ignore_files, has_sound_ignore_files};
use super::lead::Candidate;
use super::read::ReadTarget;
use super::search::{Watch, is_gone};
use crate::blocking::{Stop, blocking};

/// So many entries are looked at.
const VISITED_MAX: usize = 1_000_000;
/// So deep below the directory. A tree is shown with its indentation, which grows with the square of its depth.
const DEPTH_MAX: usize = 128;

/// What to leave out of a walk, and where to stop.
#[derive(Debug, Clone)]
pub struct TreeSpec {
    /// Globs of what is left out, beside what ignore files name.
    pub ignore: Vec<String>,
    /// So many files are found at most.
    pub files_max: usize,
    /// A walk that takes longer ends with what it has found by then.
    pub deadline: Instant,
}

/// The files below a directory.
#[derive(Debug)]
pub struct Tree {
    /// Their paths, relative to the directory, sorted by name within each directory.
    pub files: Vec<PathBuf>,
    /// Whether there are more.
    pub has_more: bool,
    /// So many paths could not be read.
    pub unreadable: usize,
    /// Whether the walk ended before it had seen everything.
    pub is_partial: bool,
}

impl Workspace {
    /// Finds the files below the directory that was approved to be looked at. Links are names, never followed.
    pub async fn tree(&self, permit: Permit<ReadTarget>, spec: TreeSpec) -> Result<Tree, WorkspaceError> {
        let workspace = self.clone();
        blocking(move |stop| workspace.walk(&permit.into_target(), &spec, stop)).await
    }

    fn walk(&self, target: &ReadTarget, spec: &TreeSpec, stop: &Stop) -> Result<Tree, WorkspaceError> {
        let place = target.place();
        match self.open_place(place)? {
            Found::Directory(_) => {}
            Found::File(..) => return Err(WorkspaceError::NotDirectory { path: place.shown() }),
            Found::Missing => return Err(WorkspaceError::Missing { path: place.shown() }),
        }
        let mut unwanted = OverrideBuilder::new(place.real());
        for glob in &spec.ignore {
            unwanted.add(&format!("!{glob}")).map_err(WorkspaceError::Pattern)?;
        }
        let unwanted = unwanted.build().map_err(WorkspaceError::Pattern)?;
        check_ignore_files(place)?;
        let unsound = Arc::new(AtomicUsize::new(0));
        let left_out = unsound.clone();
        let walk = WalkBuilder::new(place.real())
            .hidden(false)
            .require_git(false)
            .follow_links(false)
            .overrides(unwanted)
            .max_depth(Some(DEPTH_MAX))
            .filter_entry(move |entry| {
                let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
                let is_sound = entry.depth() == 0 || !is_directory || has_sound_ignore_files(entry.path());
                left_out.fetch_add(usize::from(!is_sound), Ordering::Relaxed);
                is_sound
            })
            .sort_by_file_name(|a, b| a.cmp(b))
            .build();
        let watch = Watch::new(stop, spec.deadline);
        let mut tree = Tree { files: Vec::new(), has_more: false, unreadable: 0, is_partial: false };
        for (visited, entry) in walk.enumerate() {
            if visited >= VISITED_MAX || watch.is_over() {
                tree.is_partial = true;
                break;
            }
            let entry = match entry {
                Ok(entry) => entry,
                // What is gone is not there to be found; what cannot be read hides nothing else.
                Err(error) => {
                    tree.unreadable += usize::from(!is_gone(&error));
                    continue;
                }
            };
            if entry.file_type().is_some_and(|kind| kind.is_dir()) {
                tree.has_more |= entry.depth() == DEPTH_MAX;
            } else if tree.files.len() == spec.files_max {
                tree.has_more = true;
                break;
            } else if let Ok(relative) = entry.path().strip_prefix(place.real())
                && !self.is_withheld(entry.path())
                && Candidate::below(self, place, relative).is_there(self)
            {
                tree.files.push(relative.to_owned());
            }
        }
        tree.unreadable += unsound.load(Ordering::Relaxed);
        Ok(tree)
    }
}
