//! The best places of all files: where many words meet, and rare ones.
//!
//! How rare a word is shows only in the end, so each thread keeps more than will be shown and weighs it by what is known.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::passage::{Spot, Spots};
use super::query::{Query, Words};

/// So many places are kept at least, and twice as many at most.
const KEPT: usize = 400;
/// What scores less than this part of the best is not shown.
const WORTH_SHOWING: f64 = 0.3;

/// What a word counts for, by where it is.
const IN_NAME: f64 = 1.5;
const ON_LINE: f64 = 1.0;
const NEAR: f64 = 0.85;
const IN_PACKAGE: f64 = 0.8;
const IN_PATH: f64 = 0.6;
const IN_FILE: f64 = 0.3;
/// A word that counts for less than this does not meet the others.
const MEETS: f64 = 0.6;

/// A file that was searched.
#[derive(Debug, Clone)]
pub(super) struct File {
    /// The tree it is in.
    pub(super) tree: usize,
    /// Its path, relative to that tree.
    pub(super) relative: PathBuf,
    /// Which of the packages it belongs to; the workspace's own files belong to none.
    pub(super) package: Option<usize>,
    /// The words in its path.
    pub(super) in_path: Words,
    /// The words in the name of its package.
    pub(super) in_package: Words,
    /// Whether it is a test, or tells what has changed: seldom what was asked for.
    pub(super) is_aside: bool,
}

/// A place in a file.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(super) file: File,
    pub(super) spot: Spot,
    in_file: Words,
    /// How many places of its file are better.
    nth: usize,
}

/// What all threads found.
pub(super) struct Ranking {
    words: usize,
    /// How many files were read, and how many of them have each word.
    files: AtomicUsize,
    with: Vec<AtomicUsize>,
    found: Mutex<Vec<Found>>,
}

impl Ranking {
    pub(super) fn new(query: &Query) -> Ranking {
        let with = (0..query.len()).map(|_| AtomicUsize::new(0)).collect();
        Ranking { words: query.len(), files: AtomicUsize::new(0), with, found: Mutex::default() }
    }

    /// How many files were read.
    pub(super) fn files(&self) -> usize {
        self.files.load(Relaxed)
    }

    /// Takes in what was found in a file.
    pub(super) fn add(&self, file: &File, spots: Spots) {
        self.files.fetch_add(1, Relaxed);
        let in_file = spots.words;
        self.with.iter().enumerate().filter(|(word, _)| in_file.has(*word)).for_each(|(_, with)| {
            with.fetch_add(1, Relaxed);
        });
        if spots.spots.is_empty() {
            return;
        }
        let found = spots.spots.into_iter().enumerate();
        let found = found.map(|(nth, spot)| Found { file: file.clone(), spot, in_file, nth });
        let mut all = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(found);
        if all.len() > 2 * KEPT {
            self.sort(&mut all);
            all.truncate(KEPT);
        }
    }

    /// Whether all words meet at one of these places.
    pub(super) fn is_met(&self, some: &[Found]) -> bool {
        some.iter().any(|found| self.meeting(found) == self.words)
    }

    /// The places that were found so far, the best first.
    pub(super) fn best(&self) -> Vec<Found> {
        let mut all = self.found.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.sort(&mut all);
        all
    }

    /// Those of some places that are worth showing beside the best of them.
    pub(super) fn worth_showing(&self, mut some: Vec<Found>) -> Vec<Found> {
        let least = some.first().map_or(0.0, |best| self.score(best) * WORTH_SHOWING);
        some.retain(|found| self.score(found) >= least);
        some
    }

    fn sort(&self, all: &mut Vec<Found>) {
        let mut scored: Vec<(f64, Found)> = all.drain(..).map(|found| (self.score(&found), found)).collect();
        scored.sort_by(|(a_score, a), (b_score, b)| {
            let by_place = || {
                (a.file.tree, &a.file.relative, a.spot.line).cmp(&(
                    b.file.tree,
                    &b.file.relative,
                    b.spot.line,
                ))
            };
            b_score.total_cmp(a_score).then_with(by_place)
        });
        all.extend(scored.into_iter().map(|(_, found)| found));
    }

    fn score(&self, found: &Found) -> f64 {
        let words = (0..self.words).map(|word| self.rarity(word) * weight(found, word));
        let coverage = self.meeting(found) as f64 / self.words as f64;
        let Spot { defines, is_exact, is_import, .. } = found.spot;
        let factors = [
            (defines, 1.3),
            (is_exact, 1.25),
            (is_import, 0.5),
            (found.file.is_aside, 0.6),
            (found.nth == 1, 0.9),
            (found.nth > 1, 0.8),
        ];
        let factors = factors.iter().filter(|(holds, _)| *holds).map(|(_, factor)| factor);
        words.sum::<f64>() * (0.3 + 0.7 * coverage) * factors.product::<f64>()
    }

    /// How many of the words meet at a place.
    fn meeting(&self, found: &Found) -> usize {
        (0..self.words).filter(|word| weight(found, *word) >= MEETS).count()
    }

    fn rarity(&self, word: usize) -> f64 {
        let (files, with) = (self.files() as f64, self.with[word].load(Relaxed) as f64);
        ((files + 1.0) / (with + 1.0)).ln() + 0.5
    }
}

/// What a word counts for at a place.
fn weight(found: &Found, word: usize) -> f64 {
    let Found { file, spot, in_file, .. } = found;
    let places = [
        (spot.named, IN_NAME),
        (spot.on_line, ON_LINE),
        (spot.near, NEAR),
        (file.in_package, IN_PACKAGE),
        (file.in_path, IN_PATH),
        (*in_file, IN_FILE),
    ];
    places.iter().find(|(words, _)| words.has(word)).map_or(0.0, |(_, weight)| *weight)
}
