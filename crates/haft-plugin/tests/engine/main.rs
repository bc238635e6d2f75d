//! Drives the real host over pipes.
