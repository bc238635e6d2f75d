//! Any bytes: finds a piece in a text, as an edit does, and panics only if something is wrong.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| haft_tools::fuzzing::edit(data));
