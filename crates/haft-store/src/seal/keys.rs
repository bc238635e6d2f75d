//! The keys of a data directory: the one that is sealed with, and others that a person put beside it.

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::PathBuf;

use super::{Seal, read};
use crate::files::Places;

/// So many files beside the key are looked at.
const KEYS_MAX: usize = 64;

/// The keys that are there. Those beside the present one are read when they are first needed.
pub(crate) struct Keys {
    present: Option<Seal>,
    places: Places,
    beside: OnceCell<Vec<Seal>>,
}

impl Keys {
    pub(crate) fn of(places: &Places) -> io::Result<Keys> {
        Ok(Keys { present: Seal::existing(places)?, places: places.clone(), beside: OnceCell::new() })
    }

    /// The key of this name; of what says no name, the one that is sealed with.
    pub(crate) fn find(&self, name: Option<&str>) -> Option<&Seal> {
        match name {
            None => self.present.as_ref(),
            Some(name) => self.all().find(|seal| seal.name() == name),
        }
    }

    /// All of them, the present one first.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Seal> {
        let beside = std::iter::once_with(|| self.beside.get_or_init(|| beside(&self.places))).flatten();
        self.present.iter().chain(beside)
    }

    /// The file of the key that is sealed with.
    pub(crate) fn file(&self) -> PathBuf {
        self.places.key.clone()
    }
}

/// The keys that were put beside the present one. What is none, or cannot be read, is left out.
fn beside(places: &Places) -> Vec<Seal> {
    let beginning = places.key_with("");
    let beginning = beginning.file_name().unwrap_or_default().as_encoded_bytes();
    let is_one = |name: &OsStr| name.as_encoded_bytes().starts_with(beginning);
    let entries = fs::read_dir(&places.data).into_iter().flatten().filter_map(Result::ok);
    let files = entries.filter(|entry| is_one(&entry.file_name())).take(KEYS_MAX);
    files.filter_map(|entry| read(&entry.path()).ok().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_beside_the_present_one_is_found_by_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::in_dir(dir.path());
        let (old, new) = (Seal([1; 32]), Seal([2; 32]));
        let found = |seal: &Seal| {
            let keys = Keys::of(&places).unwrap();
            keys.find(Some(&seal.name())).map(Seal::name)
        };
        assert_eq!((found(&old), Keys::of(&places).unwrap().find(None).is_none()), (None, true));
        fs::write(&places.key, new.0).unwrap();
        assert_eq!((found(&old), found(&new)), (None, Some(new.name())));
        fs::write(places.key_with("old"), old.0).unwrap();
        fs::write(places.key_with("cut"), b"cut").unwrap();
        assert_eq!((found(&old), found(&new)), (Some(old.name()), Some(new.name())));
        assert_eq!(Keys::of(&places).unwrap().find(None).map(Seal::name), Some(new.name()));
    }
}
