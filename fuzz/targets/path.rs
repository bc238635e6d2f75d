//! Any bytes: resolves a path, and panics only if something is wrong.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| haft_tools::fuzzing::path(data));
