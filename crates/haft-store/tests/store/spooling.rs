//! Outputs that are kept while they are produced.

use std::io::Read;

use haft::{OutputStore, SessionId};
use haft_store::{REDACTED, Redactor, Store, StoreOptions};

use crate::support::{context, data_of, fresh, options};

async fn whole(store: &Store, session: &SessionId, id: &haft::OutputId) -> Vec<u8> {
    let mut bytes = Vec::new();
    store.open(session, id).await.unwrap().unwrap().reader.read_to_end(&mut bytes).unwrap();
    bytes
}

#[tokio::test]
async fn what_is_spooled_is_kept_byte_for_byte_and_counted() {
    let (_dir, store) = fresh();
    let session = SessionId::mint();
    let mut spool = store.spool(&context(&session)).unwrap();
    let mut produced = Vec::new();
    for line in 0..150_000 {
        let piece = format!("line {line} with some text and a byte that is no character: ");
        let piece = [piece.as_bytes(), b"\xff\n"].concat();
        spool.write(&piece).unwrap();
        produced.extend_from_slice(&piece);
    }
    let output = spool.keep().await.unwrap();
    assert_eq!((output.bytes, output.lines), (produced.len() as u64, 150_000));
    assert!(whole(&store, &session, &output.id).await == produced);
}

#[tokio::test]
async fn what_is_large_is_kept_whole_while_the_disk_takes_it() {
    let (_dir, store) = fresh();
    let session = SessionId::mint();
    let mut spool = store.spool(&context(&session)).unwrap();
    let piece = "a line of an output that does not end for long\n".repeat(20_000);
    const PIECES: usize = 150;
    for _ in 0..PIECES {
        spool.write(piece.as_bytes()).unwrap();
    }
    let output = spool.keep().await.unwrap();
    assert_eq!((output.bytes, output.lines), ((PIECES * piece.len()) as u64, PIECES as u64 * 20_000));
    let kept = whole(&store, &session, &output.id).await;
    assert!(kept.chunks(piece.len()).all(|chunk| chunk == piece.as_bytes()));
}

#[tokio::test]
async fn a_secret_is_found_wherever_the_pieces_part() {
    let dir = tempfile::tempdir().unwrap();
    let redactor = Redactor::of_secrets(["hunter2-and-more".to_owned()]);
    let (store, _) = Store::open(StoreOptions { redactor, ..options(&data_of(&dir)) }).unwrap();
    let session = SessionId::mint();
    let mut spool = store.spool(&context(&session)).unwrap();
    let text = format!("{}hunter2-and-more{}\n", "x".repeat(777), "y".repeat(100)).repeat(12_000);
    for piece in text.as_bytes().chunks(1009) {
        spool.write(piece).unwrap();
    }
    let output = spool.keep().await.unwrap();
    let kept = String::from_utf8(whole(&store, &session, &output.id).await).unwrap();
    assert!(!kept.contains("hunter2"));
    assert_eq!(kept, text.replace("hunter2-and-more", REDACTED));
}

#[tokio::test]
async fn what_is_not_kept_leaves_nothing_behind() {
    let (dir, store) = fresh();
    // Little, and so much that it is laid down apart.
    for pieces in [1, 16] {
        let mut spool = store.spool(&context(&SessionId::mint())).unwrap();
        (0..pieces).for_each(|_| spool.write(&vec![b'x'; 1 << 20]).unwrap());
        drop(spool);
    }
    assert_eq!(std::fs::read_dir(data_of(&dir).join("outputs")).unwrap().count(), 0);
}
