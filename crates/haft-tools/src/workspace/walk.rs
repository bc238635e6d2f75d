//! Walking: the files below a directory, without those that nobody wants to see.

use std::path::PathBuf;

use haft::permission::Permit;
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;

use super::Workspace;
use super::error::WorkspaceError;
use super::file::Found;
use super::read::ReadTarget;
use crate::blocking::{Stop, blocking};

/// So many entries are looked at.
const VISITED_MAX: usize = 1_000_000;

/// What to leave out of a walk, and where to stop.
#[derive(Debug, Clone)]
pub struct TreeSpec {
    /// Globs of what is left out, beside what ignore files name.
    pub ignore: Vec<String>,
    /// So many files are found at most.
    pub files_max: usize,
}

/// The files below a directory.
#[derive(Debug)]
pub struct Tree {
    /// Their paths, relative to the directory, sorted by name within each directory.
    pub files: Vec<PathBuf>,
    /// Whether there are more.
    pub has_more: bool,
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
        let walk = WalkBuilder::new(place.real())
            .hidden(false)
            .require_git(false)
            .follow_links(false)
            .overrides(unwanted)
            .sort_by_file_name(|a, b| a.cmp(b))
            .build();
        let mut files = Vec::new();
        // What cannot be read is passed over: the rest is still worth seeing.
        for (visited, entry) in walk.filter_map(Result::ok).enumerate() {
            let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
            if visited >= VISITED_MAX || stop.is_set() || (!is_directory && files.len() == spec.files_max) {
                return Ok(Tree { files, has_more: true });
            }
            if !is_directory && let Ok(relative) = entry.path().strip_prefix(place.real()) {
                files.push(relative.to_owned());
            }
        }
        Ok(Tree { files, has_more: false })
    }
}
