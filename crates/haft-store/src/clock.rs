//! The time, as the store writes it down.

use std::time::{SystemTime, UNIX_EPOCH};

/// Unix milliseconds.
pub(crate) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_millis() as i64)
}
