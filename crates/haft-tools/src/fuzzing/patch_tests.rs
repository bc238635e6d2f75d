//! The entry points on a small corpus and on random input, so that they are known to hold without a fuzzer.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::patch;

/// Pieces of patches and of what is like them.
const PIECES: &[&str] = &[
    "*** Begin Patch\n",
    "*** End Patch\n",
    "*** Add File: a\n",
    "*** Delete File: b\n",
    "*** Update File: c\n",
    "*** Move to: d\n",
    "*** End of File\n",
    "@@\n",
    "@@ a\n",
    "@@ -1,2 +1,2 @@\n",
    " ",
    "-",
    "+",
    "a",
    "b\n",
    "\n",
    "\r\n",
    "\r",
    "***",
    " a\n",
    "-a\n",
    "+b\n",
    "-\n",
    "“",
    "\u{feff}",
    "\u{a0}",
    "é\n",
    "<<'EOF'\n",
    "EOF\n",
    "\0",
];

#[test]
fn the_corpus_holds() {
    let body = "*** Begin Patch\n*** Update File: c\n@@ a\n-a\n+b\n\n*** End of File\n*** End Patch\n";
    for file in ["", "a", "a\na\n", "\u{feff}a\r\na\r\n", "a\n\na\n\n", "\r\r\n\n"] {
        patch(format!("{body}\0{file}").as_bytes());
    }
    patch(b"");
    patch(b"\0\0\xff\xfe");
}

proptest! {
    #[test]
    fn any_bytes_hold(data in vec(any::<u8>(), 0..200)) {
        patch(&data);
    }

    #[test]
    fn any_pieces_hold(body in vec(select(PIECES), 0..24), file in vec(select(PIECES), 0..12)) {
        let (body, file) = (body.concat(), file.concat());
        patch(format!("{body}\0{file}").as_bytes());
        patch(format!("*** Begin Patch\n*** Update File: c\n{body}\n*** End Patch\n\0{file}").as_bytes());
    }

    #[test]
    fn any_chunks_of_the_same_lines_hold(
        chunks in vec(select(&[" a\n", "-a\n", "+a\n", " \n", "-\n", "+\n", "\n", "@@\n", "@@ a\n", "*** End of File\n"][..]), 1..16),
        file in "(\u{feff})?([a ]?(\r)?\n){0,8}a?",
    ) {
        let chunks = chunks.concat();
        patch(format!("*** Begin Patch\n*** Update File: c\n@@\n a\n{chunks}*** End Patch\n\0{file}").as_bytes());
    }
}
