//! Indexes that are kept, forgotten, damaged.

use std::fs::File;
use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

use super::*;
use crate::encoding::Newline;

fn indexes(cache: &Path) -> Indexes {
    Indexes { settled_seconds: 0, ..Indexes::new(Some(cache)) }
}

fn identity(path: &Path, content: &str) -> Identity {
    fs::write(path, content).unwrap();
    Identity::of(&File::open(path).unwrap(), Newline::Byte).unwrap()
}

fn index(newlines: &[u64]) -> Index {
    Index::restore(STRIDE_BYTES, newlines.to_vec(), Some(900)).unwrap()
}

fn kept(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory.join(DIRECTORY)).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn what_another_process_of_the_same_number_is_writing_stays() {
    let top = TempDir::new().unwrap();
    let known = identity(&top.path().join("f"), "one");
    let index = index(&[0, 5, 5, 80]);
    indexes(top.path()).keep(&known, &index);
    let file = kept(top.path()).pop().unwrap();
    let others = file.with_extension(std::process::id().to_string());
    fs::rename(&file, &others).unwrap();
    indexes(top.path()).keep(&known, &index);
    assert_eq!(indexes(top.path()).recall(&known), Some(index));
    assert!(others.exists());
}

#[test]
fn an_index_is_found_by_the_next_process_too() {
    let top = TempDir::new().unwrap();
    let known = identity(&top.path().join("f"), "one");
    let index = index(&[0, 5, 5, 80]);
    indexes(top.path()).keep(&known, &index);
    assert_eq!(indexes(top.path()).recall(&known), Some(index));
    let file = kept(top.path()).pop().unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let other = identity(&top.path().join("f"), "other");
    assert_eq!(indexes(top.path()).recall(&other), None, "the file has another size now");
}

#[test]
fn a_damaged_index_is_none() {
    let top = TempDir::new().unwrap();
    let known = identity(&top.path().join("f"), "one");
    indexes(top.path()).keep(&known, &index(&[0, 5, 80]));
    let file = kept(top.path()).pop().unwrap();
    let whole = fs::read(&file).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        fs::write(&file, &damaged).unwrap();
        assert_eq!(indexes(top.path()).recall(&known), None, "byte {at}");
        fs::write(&file, &whole[..at]).unwrap();
        assert_eq!(indexes(top.path()).recall(&known), None, "cut at {at}");
    }
}

#[test]
fn only_the_latest_are_kept() {
    let top = TempDir::new().unwrap();
    let all = indexes(top.path());
    let known: Vec<Identity> =
        (0..FILES_MAX + 9).map(|at| identity(&top.path().join(format!("f{at}")), "x")).collect();
    known.iter().for_each(|known| all.keep(known, &index(&[0])));
    assert_eq!(kept(top.path()).len(), FILES_MAX);
    assert_eq!(all.remembered.lock().unwrap().len(), REMEMBERED_MAX);
    assert!(all.recall(known.last().unwrap()).is_some());
}

#[test]
fn a_file_that_just_changed_has_no_index() {
    let top = TempDir::new().unwrap();
    let known = identity(&top.path().join("f"), "one");
    let careful = Indexes { settled_seconds: i128::MAX, ..Indexes::new(Some(top.path())) };
    careful.keep(&known, &index(&[0]));
    assert_eq!(careful.recall(&known), None);
    assert!(!top.path().join(DIRECTORY).exists());
}

#[test]
fn what_cannot_be_true_is_no_index() {
    let restore = |newlines: &[u64], total| Index::restore(STRIDE_BYTES, newlines.to_vec(), total);
    assert!(restore(&[], None).is_some());
    assert!(restore(&[1], None).is_none());
    assert!(restore(&[0, 5, 4], None).is_none());
    assert!(restore(&[0, 5], Some(4)).is_none());
}
