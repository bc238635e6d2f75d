//! Which program runs the code of plugins in the embedded engine: a small one that lies beside haft, or haft itself.
//!
//! The small one is trusted as haft is (`haft_sandbox::Beside`). It must be of the same build, since the two speak in words
//! that only their own build knows; its linker wrote the build into it, where it is read without running anything.

use std::path::PathBuf;

use haft_sandbox::Beside;

/// The small host's name.
const NAME: &str = "haft-host";
/// What it is made of, see `build.rs`.
const BUILD: &str = env!("HAFT_HOST_BUILD");
/// The notes of a program stand near its beginning.
const BEGINNING_BYTES: usize = 4 << 10;

/// The small host, or why haft is its own: where commands `may_write` beside haft, one of them could have put it there.
pub(crate) fn beside(may_write: bool) -> Result<PathBuf, String> {
    if may_write {
        return Err("commands may write where haft lies".to_owned());
    }
    let found = Beside::find(NAME)?;
    let path = found.path().display();
    let beginning = found.beginning(BEGINNING_BYTES).map_err(|error| format!("{path}: {error}"))?;
    match build_id(&beginning) {
        Some(build) if hex(build) == BUILD => Ok(found.path().to_owned()),
        Some(_) | None => Err(format!("{path} is of another build")),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The build that a linker wrote into a program, found in its beginning: a note called `GNU` of type 3 (`ELF`, 64 bits,
/// little-endian; no other is looked into).
fn build_id(beginning: &[u8]) -> Option<&[u8]> {
    const MAGIC: &[u8] = b"\x7fELF\x02\x01";
    const NOTES: u64 = 4;
    const BUILD_ID: u64 = 3;
    beginning.starts_with(MAGIC).then_some(())?;
    let headers = at(number(beginning, 32, 8)?)?;
    let (size, count) = (at(number(beginning, 54, 2)?)?, at(number(beginning, 56, 2)?)?);
    let header = |index: usize| beginning.get(headers.checked_add(index.checked_mul(size)?)?..);
    let notes = (0..count).filter_map(header).filter(|header| number(header, 0, 4) == Some(NOTES));
    let mut notes = notes.filter_map(|header| {
        let start = at(number(header, 8, 8)?)?;
        beginning.get(start..start.checked_add(at(number(header, 32, 8)?)?)?)
    });
    notes.find_map(|mut note| {
        loop {
            let (name, bytes) = (at(number(note, 0, 4)?)?, at(number(note, 4, 4)?)?);
            let content = name.checked_next_multiple_of(4)?.checked_add(12)?;
            let end = content.checked_add(bytes)?;
            if number(note, 8, 4)? == BUILD_ID && note.get(12..content)?.starts_with(b"GNU\0") {
                return note.get(content..end);
            }
            note = note.get(end.checked_next_multiple_of(4)?..)?;
        }
    })
}

/// A number of so many bytes, the least first.
fn number(bytes: &[u8], start: usize, len: usize) -> Option<u64> {
    let bytes = bytes.get(start..start + len)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn at(number: u64) -> Option<usize> {
    usize::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The beginning of a program with these notes, each a name, a type and a content.
    fn program(notes: &[(&[u8], u32, &[u8])]) -> Vec<u8> {
        const HEADER: usize = 64;
        const PART: usize = 56;
        let mut noted = Vec::new();
        for (name, kind, content) in notes {
            let lengths = [name.len() as u32, content.len() as u32, *kind];
            noted.extend(lengths.iter().flat_map(|number| number.to_le_bytes()));
            for part in [name, content] {
                noted.extend_from_slice(part);
                noted.resize(noted.len().next_multiple_of(4), 0);
            }
        }
        let mut program = vec![0; HEADER + 2 * PART];
        program[..6].copy_from_slice(b"\x7fELF\x02\x01");
        program[32] = HEADER as u8;
        program[54] = PART as u8;
        program[56] = 2;
        // The first part is another one.
        program[HEADER] = 1;
        let (second, start) = (HEADER + PART, program.len() as u8);
        program[second] = 4;
        program[second + 8] = start;
        program[second + 32..second + 40].copy_from_slice(&(noted.len() as u64).to_le_bytes());
        [program, noted].concat()
    }

    #[test]
    fn a_build_is_found_among_the_notes_of_a_program() {
        let other: (&[u8], u32, &[u8]) = (b"stapsdt\0", 3, b"12345");
        let known = program(&[other, (b"GNU\0", 5, b"xyz"), (b"GNU\0", 3, &[0xab; 8])]);
        assert_eq!(build_id(&known).map(hex).as_deref(), Some("abababababababab"));
        assert_eq!(build_id(&program(&[other])), None);
        // Whatever is missing at the end, nothing is made up.
        for end in 0..known.len() {
            assert_eq!(build_id(&known[..end]), None, "{end}");
        }
        assert_eq!(build_id(b"#!/bin/sh\n"), None);
    }

    #[test]
    fn nonsense_in_place_of_any_byte_is_no_reason_to_fail() {
        let known = program(&[(b"GNU\0", 3, &[0xab; 8])]);
        for at in 0..known.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut broken = known.clone();
                broken[at] = value;
                build_id(&broken);
            }
        }
    }
}
