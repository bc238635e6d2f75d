//! The entry points, run over a small corpus and over random input.

use proptest::prelude::*;

use super::*;

const CORPUS: &[&[u8]] = &[
    b"",
    b"\n",
    b"one\ntwo\n",
    b"one\r\ntwo\rthree\n\nfour",
    b"\xef\xbb\xbfmarked\r\n",
    b"\xef\xbb\xbf",
    b"a\xff\xfe\nb\xe2\x82\n\xac",
    b"\xff\xfeh\0i\0\n\0\x0a\x0a\n\0\xd8\0",
    b"\xfe\xff\0h\0i\0\n\x0a\x0a\0\n\xd8\0\0\n",
    b"\x82\xb1\x82\xf1\n\x81\n\x81\x30\n\x81\x30\x81\n\x81\x30\x81\x30\n",
    b"na\xefve caf\xe9\r\n\x93quoted\x94",
    b"\0\0\n\0",
];

fn with_all_heads(content: &[u8], check: impl Fn(&[u8])) {
    for how in (0..10).chain(240..250) {
        for (chunk, offset, limit) in
            [(0, 0, 9), (1, 2, 1), (67, 1, 2), (255, 3, 255), (130, 200, 1), (5, 1, 0)]
        {
            check(&[&[how, chunk, offset, limit], content].concat());
        }
    }
}

#[test]
fn the_corpus_agrees_with_the_models() {
    for content in CORPUS {
        with_all_heads(content, lines);
        encodings(content);
    }
}

proptest! {
    #[test]
    fn random_bytes_agree_with_the_models(data: Vec<u8>) {
        lines(&data);
        encodings(&data);
    }

    #[test]
    fn random_texts_agree_with_the_models(
        head: [u8; 4],
        content in prop::collection::vec(
            prop::sample::select(b"\n\r\0\0a \x81\x82\xa0\xe2\xac\xff\xfe0\xd8".as_slice()), 0..80,
        ),
    ) {
        lines(&[head.as_slice(), &content].concat());
        encodings(&content);
    }
}
