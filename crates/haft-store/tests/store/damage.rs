//! The journal when its files are damaged, its key is gone, or somebody else put something there.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use haft::{Call, Change, Image, Journal, SessionId};
use haft_store::{Notice, Redactor, Store, StoreOptions, digest};

use crate::support::{changing, damage_images, data_of, fresh, made, open, open_noticing, options};

const SMALL: usize = 10;
const LARGE: usize = 300_000;

/// A content that no other begins like.
fn text(mark: u8, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| mark ^ (at % 251) as u8).collect()
}

async fn change(store: &Store, before: &[u8], after: &[u8]) -> Call {
    made(store, &SessionId::mint(), &[changing(Path::new("/project/a"), before, after)]).await
}

async fn before(store: &Store, call: &Call) -> Result<Vec<u8>, String> {
    let found = store.changes(&call.context.call).await.unwrap().remove(0);
    content(found.change.before.as_ref().unwrap())
}

fn content(image: &Image) -> Result<Vec<u8>, String> {
    let content = image.content.as_ref().ok_or("not kept")?;
    let mut bytes = Vec::new();
    let read = content.open().and_then(|mut content| content.read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(|error| error.to_string())
}

fn file_of(data: &Path, content: &[u8]) -> PathBuf {
    data.join("journal").join(digest(content))
}

/// Damages what is kept of a content, without changing its size.
fn damage(data: &Path, content: &[u8]) {
    if content.len() < LARGE {
        return damage_images(data, Some(&digest(content)));
    }
    let file = file_of(data, content);
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    // Another file: a change within the same moment is seen by nobody.
    let aside = file.with_extension("damaged");
    fs::write(&aside, bytes).unwrap();
    fs::rename(aside, file).unwrap();
}

#[tokio::test]
async fn what_was_damaged_is_kept_anew_when_it_comes_again() {
    for bytes in [SMALL, LARGE] {
        let (dir, store) = fresh();
        let (old, new) = (text(1, bytes), text(2, bytes));
        let first = change(&store, &old, &new).await;
        damage(&data_of(&dir), &old);
        assert!(before(&store, &first).await.unwrap_err().contains("damaged"));
        let second = change(&store, &old, &new).await;
        assert!(before(&store, &second).await.unwrap() == old, "{bytes}");
        assert!(before(&store, &first).await.unwrap() == old, "and the earlier call has it back");
        assert!(store.journal_health().unwrap().is_whole());
    }
}

#[tokio::test]
async fn what_cannot_be_read_says_why_in_words() {
    let (dir, store) = fresh();
    let data = data_of(&dir);
    let large = text(1, LARGE);
    let call = change(&store, &large, b"new").await;
    let file = file_of(&data, &large);
    let whole = fs::read(&file).unwrap();
    for (bytes, said) in [
        (Some(&whole[..]), None),
        (Some(&[][..]), Some("what was kept is damaged")),
        (Some(&whole[..7]), Some("what was kept is damaged")),
        (Some(&whole[..16]), Some("what was kept is damaged")),
        (Some(&whole[..whole.len() - 1]), Some("what was kept is damaged")),
        (None, Some("what was kept is gone")),
    ] {
        match bytes {
            Some(bytes) => fs::write(&file, bytes).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        let found = before(&store, &call).await;
        match said {
            None => assert!(found.unwrap() == large),
            Some(said) => assert!(found.unwrap_err().contains(said), "{said}"),
        }
        let health = store.journal_health().unwrap();
        assert_eq!(health.is_whole(), said.is_none());
        assert_eq!(health.calls.contains(&call.context.call), said.is_some());
    }
}

#[tokio::test]
async fn changes_are_kept_after_the_key_is_lost_and_earlier_ones_come_back_with_it() {
    for bytes in [SMALL, LARGE] {
        let (dir, store) = fresh();
        let data = data_of(&dir);
        let (key, kept) = (data.join("images.key"), dir.path().join("backup"));
        let (one, two, three) = (text(1, bytes), text(2, bytes), text(3, bytes));
        let earlier = change(&store, &one, &two).await;
        drop(store);
        fs::rename(&key, &kept).unwrap();

        let (store, notices) = open_noticing(&data);
        assert_eq!(notices, [Notice::KeyLost { key: key.clone() }]);
        assert!(before(&store, &earlier).await.unwrap_err().contains("a key that is gone"));
        assert!(!key.exists(), "to look makes no key");
        let later = change(&store, &two, &three).await;
        drop(store);

        let store = open(&data);
        assert!(before(&store, &later).await.unwrap() == two, "what came again is kept with the new key");
        assert!(before(&store, &earlier).await.unwrap_err().contains("a key that is gone"));
        let health = store.journal_health().unwrap();
        assert_eq!((health.images, health.key_lost, health.damaged, health.missing), (3, 1, 0, 0));
        assert_eq!(health.read, 2, "what has no key was not read");
        assert_eq!(health.calls, std::slice::from_ref(&earlier.context.call));

        fs::rename(&kept, data.join("images.key.old")).unwrap();
        assert!(before(&store, &earlier).await.unwrap() == one);
        assert!(before(&store, &later).await.unwrap() == two);
        assert!(store.journal_health().unwrap().is_whole());
    }
}

#[tokio::test]
async fn a_path_whose_key_is_lost_leads_nowhere() {
    const SECRET: &str = "correct-horse-battery";
    let dir = tempfile::tempdir().unwrap();
    let data = data_of(&dir);
    let redactor = Redactor::from_env([("MY_TOKEN", SECRET)]);
    let (store, _) = Store::open(StoreOptions { redactor, ..options(&data) }).unwrap();
    let path = dir.path().join(SECRET);
    let new = Change { before: None, ..changing(&path, b"", b"new") };
    let call = made(&store, &SessionId::mint(), &[new]).await;
    let found = async || store.changes(&call.context.call).await.unwrap().remove(0).change.path;
    assert_eq!(found().await, path);
    let key = data.join("images.key");
    fs::rename(&key, data.join("images.key.old")).unwrap();
    assert_eq!(found().await, path, "a key beside it opens it");
    fs::remove_file(data.join("images.key.old")).unwrap();
    assert!(found().await.is_relative());
    // The same content comes again, with a new key.
    made(&store, &SessionId::mint(), &[changing(&dir.path().join("other"), b"", b"new")]).await;
    let health = store.journal_health().unwrap();
    assert_eq!((health.paths_lost, &health.calls[..]), (1, &[call.context.call.clone()][..]));
    store.forget_unreadable_images().await.unwrap();
    assert!(store.journal_health().unwrap().is_whole(), "it is not complained of for ever");
}

#[tokio::test]
async fn an_image_that_only_shows_what_came_of_a_call_keeps_it_from_nothing() {
    let (dir, store) = fresh();
    let (old, new) = (text(1, LARGE), text(2, LARGE));
    change(&store, &old, &new).await;
    damage(&data_of(&dir), &new);
    let health = store.journal_health().unwrap();
    assert_eq!((health.damaged, &health.calls[..]), (1, &[][..]));
    assert!(!health.is_whole());
}

#[tokio::test]
async fn the_newest_is_read_and_of_the_rest_the_size_is_known() {
    let (dir, store) = fresh();
    let data = data_of(&dir);
    const HUGE: usize = 40 << 20;
    let (old, new) = (text(1, HUGE), text(2, HUGE));
    change(&store, &old, b"something").await;
    // Images are ordered by milliseconds.
    tokio::time::sleep(std::time::Duration::from_millis(3)).await;
    change(&store, &new, b"else").await;
    damage(&data, &old);
    let health = store.journal_health().unwrap();
    assert!(health.is_whole() && health.read == 3 && health.images == 4, "{health:?}");
    assert!(health.read_bytes < health.bytes);
    damage(&data, &new);
    assert_eq!(store.journal_health().unwrap().damaged, 1);
    fs::write(file_of(&data, &old), b"cut").unwrap();
    assert_eq!(store.journal_health().unwrap().damaged, 2);
    assert_eq!(store.unreadable_images().unwrap(), (2, 2 * HUGE as u64));
}

#[tokio::test]
async fn what_nobody_can_read_is_given_up_and_nothing_else() {
    let (dir, store) = fresh();
    let data = data_of(&dir);
    let texts: Vec<_> = (0..6).map(|mark| text(mark, LARGE)).collect();
    let mut calls = Vec::new();
    for pair in texts.chunks(2) {
        calls.push(change(&store, &pair[0], &pair[1]).await);
    }
    damage(&data, &texts[0]);
    fs::remove_file(file_of(&data, &texts[2])).unwrap();
    assert_eq!(store.unreadable_images().unwrap(), (2, 2 * LARGE as u64));
    assert_eq!(store.forget_unreadable_images().await.unwrap(), (2, 2 * LARGE as u64));
    assert_eq!(before(&store, &calls[0]).await.unwrap_err(), "not kept");
    assert!(before(&store, &calls[2]).await.unwrap() == texts[4]);
    assert!(!file_of(&data, &texts[0]).exists());
    let health = store.journal_health().unwrap();
    assert!(health.is_whole() && health.images == 4);
    assert_eq!((health.read, health.read_bytes), (4, health.bytes));
}

#[tokio::test]
async fn a_sweep_takes_no_image_that_is_spoken_of_and_nothing_that_is_not_ours() {
    let (dir, store) = fresh();
    let data = data_of(&dir);
    let (old, new) = (text(1, LARGE), text(2, LARGE));
    let call = change(&store, &old, &new).await;
    damage(&data, &old);
    fs::write(file_of(&data, &new), b"").unwrap();
    let shelf = file_of(&data, &old).parent().unwrap().to_owned();
    let unused = file_of(&data, b"nobody speaks of it");
    let odd = file_of(&data, b"a directory");
    fs::create_dir_all(unused.parent().unwrap()).unwrap();
    fs::create_dir_all(odd.join("within")).unwrap();
    let foreign = [shelf.join("notes.txt"), data.join("journal/stray"), data.join("outputs/stray")];
    for path in foreign.iter().chain([&unused]) {
        fs::write(path, "x").unwrap();
    }
    let swept = store.sweep(crate::support::now_ms()).await.unwrap();
    assert_eq!((swept.leftovers, &swept.stuck[..]), (1, &[][..]));
    assert!(!unused.exists() && odd.exists() && foreign.iter().all(|path| path.exists()));
    assert!(file_of(&data, &old).exists() && file_of(&data, &new).exists());
    assert!(before(&store, &call).await.is_err());
    assert_eq!(store.usage().unwrap().journal_bytes, 2 * LARGE as u64);
}

#[tokio::test]
async fn a_store_that_lets_nothing_be_kept_says_so() {
    let (dir, store) = fresh();
    let data = data_of(&dir);
    change(&store, &text(1, LARGE), b"new").await;
    store.try_writing().unwrap();
    let journal = data.join("journal");
    let aside = data.join("aside");
    fs::rename(&journal, &aside).unwrap();
    fs::write(&journal, "no directory").unwrap();
    let why = store.try_writing().unwrap_err();
    assert!(why.to_string().contains(journal.to_str().unwrap()), "{why}");
    fs::remove_file(&journal).unwrap();
    fs::rename(&aside, &journal).unwrap();
    store.try_writing().unwrap();
    assert_eq!(fs::metadata(&journal).unwrap().permissions().mode() & 0o777, 0o700);
}
