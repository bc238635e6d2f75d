//! The entry points about paths and edits on a small corpus and on random input.

use proptest::prelude::*;

use super::{edit, path};

#[test]
fn the_corpus_holds() {
    for spelled in
        ["", ".", "/", "..", "../..", "//x", "/proc/self/root/etc/hosts", "/dev/fd/0", "a/../b", "~", "a\0b"]
    {
        path(spelled.as_bytes());
    }
    for (old, text) in
        [("", ""), ("a", "a\r\na"), ("{\n}\n", "{\n  x\n}\n"), ("\\n", "\n\n"), ("é", "e\u{301}é")]
    {
        edit(format!("{old}\0{text}").as_bytes());
    }
}

proptest! {
    #[test]
    fn any_path_holds(spelled in "(/|\\.|\\.\\.|tmp|etc|proc|self|root|fd|0|\\PC){0,12}", bytes: Vec<u8>) {
        path(spelled.as_bytes());
        path(&bytes);
    }

    #[test]
    fn any_edit_holds(bytes: Vec<u8>, old in "[ab{} \t\r\n\\\\é]{0,12}", text in "[ab{} \t\r\n\\\\é]{0,40}") {
        edit(&bytes);
        edit(format!("{old}\0{text}").as_bytes());
    }
}
