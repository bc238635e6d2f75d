//! Entry points for fuzz targets: each takes any bytes, and panics only if something is wrong.
//!
//! A target is one line: `fuzz_target!(|data: &[u8]| haft_tools::fuzzing::patch(data));`

use crate::encoding::decode;
use crate::text::BOM;
use crate::tools::apply_patch::apply::apply;
use crate::tools::apply_patch::parse::parse;
use crate::tools::apply_patch::patch::FilePatch;
use crate::tools::edit::check_matchers;
use crate::tools::read::check_pages;
use crate::workspace::check_path;

/// Reads a patch, and applies it to what follows the first zero byte.
pub fn patch(data: &[u8]) {
    let (patch, file) = halves(data);
    let patch = match parse(&patch) {
        Ok(patch) => patch,
        Err(error) => return assert!(!error.told().is_empty()),
    };
    assert!(!patch.files.is_empty());
    for file_patch in &patch.files {
        assert!(!file_patch.path().is_empty() && file_patch.line() > 1);
        match file_patch {
            FilePatch::Delete { .. } => {}
            FilePatch::Add { text, .. } => assert!(text.is_empty() || text.ends_with('\n')),
            FilePatch::Update { path, chunks, move_to, .. } => {
                assert!(move_to.is_some() || !chunks.is_empty());
                match apply(path, &file, chunks) {
                    Ok(applied) if chunks.is_empty() => assert_eq!(applied.text, file),
                    Ok(applied) => {
                        assert!(
                            applied.text.trim_start_matches(BOM).is_empty() || applied.text.ends_with('\n')
                        );
                        assert!(!file.starts_with(BOM) || applied.text.starts_with(BOM), "a mark was lost");
                    }
                    Err(miss) => assert!(!miss.message.is_empty() && !miss.shown.is_empty()),
                }
            }
        }
    }
}

/// Looks for the first half in the second, as an edit does.
pub fn edit(data: &[u8]) {
    let (old, text) = halves(data);
    check_matchers(&text, &old);
}

/// Resolves a path, and compares with the kernel where that is possible.
pub fn path(data: &[u8]) {
    check_path(&String::from_utf8_lossy(data));
}

/// Pages of a text, in any encoding, read in chunks of any size and with an index of its lines.
pub fn lines(data: &[u8]) {
    check_pages(data);
}

/// Text that was decoded is encoded to the same bytes.
pub fn encodings(data: &[u8]) {
    if let Ok(text) = decode(data) {
        assert_eq!(text.encoding.encode(&text.text).as_deref(), Ok(data), "{text:?}");
    }
}

/// Two texts: what is before the first zero byte, and what is after it.
fn halves(data: &[u8]) -> (String, String) {
    let mut halves = data.splitn(2, |byte| *byte == 0);
    let mut half = || String::from_utf8_lossy(halves.next().unwrap_or_default()).into_owned();
    (half(), half())
}

#[cfg(test)]
mod line_tests;
#[cfg(test)]
mod patch_tests;
#[cfg(test)]
mod path_tests;
