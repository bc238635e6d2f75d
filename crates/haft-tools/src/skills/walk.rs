//! Walking places of skills: bounded in depth and number, every directory once.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::FILE;
use super::read::Reach;

const DEPTH_MAX: usize = 6;
const ENTRIES_MAX: usize = 20_000;

/// How much may still be looked at.
pub(super) struct Budget(usize);

impl Default for Budget {
    fn default() -> Budget {
        Budget(ENTRIES_MAX)
    }
}

impl Budget {
    pub(super) fn is_spent(&self) -> bool {
        self.0 == 0
    }
}

/// The files of skills at or below a place, sorted.
pub(super) fn skill_files(reach: &Reach, budget: &mut Budget, warnings: &mut Vec<String>) -> Vec<PathBuf> {
    let mut walk = Walk { reach, budget, warnings, seen: HashSet::new(), files: Vec::new() };
    walk.directory(&reach.directory, 0);
    walk.files
}

struct Walk<'a> {
    reach: &'a Reach,
    budget: &'a mut Budget,
    warnings: &'a mut Vec<String>,
    seen: HashSet<PathBuf>,
    files: Vec<PathBuf>,
}

impl Walk<'_> {
    fn directory(&mut self, directory: &Path, depth: usize) {
        let is_new = match self.reach.real(directory) {
            Ok(real) => real.is_some_and(|real| self.seen.insert(real)),
            Err(warning) => return self.warnings.push(warning),
        };
        if !is_new {
            return;
        }
        for path in entries(directory) {
            if self.budget.is_spent() {
                return;
            }
            self.budget.0 -= 1;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name == FILE {
                match self.reach.real(&path) {
                    Ok(Some(_)) => self.files.push(path),
                    Ok(None) => {}
                    Err(warning) => self.warnings.push(warning),
                }
            } else if depth < DEPTH_MAX && !is_passed_over(&name) && path.is_dir() {
                self.directory(&path, depth + 1);
            }
        }
    }
}

/// Some of the files in a skill's directory, sorted. Links are not followed.
pub(super) fn sample(reach: &Reach, skill: &Path, at_most: usize) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut budget = ENTRIES_MAX / 10;
    fill(&reach.directory, skill, at_most, 0, &mut budget, &mut files);
    files
}

fn fill(
    directory: &Path,
    skill: &Path,
    at_most: usize,
    depth: usize,
    budget: &mut usize,
    files: &mut Vec<PathBuf>,
) {
    for path in entries(directory) {
        if files.len() == at_most || *budget == 0 {
            return;
        }
        *budget -= 1;
        let Ok(found) = path.symlink_metadata() else { continue };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if found.is_file() && path != skill {
            files.push(path);
        } else if found.is_dir() && depth < DEPTH_MAX && !is_passed_over(&name) {
            fill(&path, skill, at_most, depth + 1, budget, files);
        }
    }
}

/// What a directory holds, sorted, and no more of it than is looked at anyway.
fn entries(directory: &Path) -> Vec<PathBuf> {
    let Ok(read) = directory.read_dir() else { return Vec::new() };
    let mut entries: Vec<PathBuf> = read.take(ENTRIES_MAX).flatten().map(|entry| entry.path()).collect();
    entries.sort();
    entries
}

/// Directories that hold other things than skills, however many they are.
fn is_passed_over(name: &str) -> bool {
    name.starts_with('.') || name == "node_modules"
}
