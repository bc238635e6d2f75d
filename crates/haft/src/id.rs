//! Identifiers: one newtype each, so that a session is never passed where a call is meant.
//!
//! Minted ids look like opencode's (`cal_` and 26 characters) and sort by time: twelve hex digits of Unix
//! milliseconds, three of a counter within the millisecond, eleven random base-62 characters. The milliseconds
//! do not wrap for eight thousand years, and two processes never need to agree on anything.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The longest identifier that is accepted from outside.
pub const ID_BYTES_MAX: usize = 128;

/// Why a string is not an identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{raw:?} is not a valid {kind} id: use 1 to {ID_BYTES_MAX} letters, digits, `_`, `-`, `.`, `:` or `/`"
)]
pub struct InvalidId {
    kind: &'static str,
    raw: String,
}

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $kind:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(std::sync::Arc<str>);

        impl $name {
            /// Makes a new one that no other process has made.
            pub fn mint() -> Self {
                Self(mint($prefix).into())
            }

            /// Takes an identifier from outside.
            pub fn parse(raw: &str) -> Result<Self, InvalidId> {
                match is_id(raw) {
                    true => Ok(Self(raw.into())),
                    false => Err(InvalidId { kind: $kind, raw: raw.chars().take(80).collect() }),
                }
            }

            /// The text of the identifier.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id_type!(
    /// One conversation, or one run of the command line.
    SessionId, "ses", "session"
);
id_type!(
    /// The assistant message that holds a call.
    MessageId, "msg", "message"
);
id_type!(
    /// One call, unique for ever. A provider's own call id is unique only within its message.
    CallId, "cal", "call"
);
id_type!(
    /// A permission request that waits for an answer.
    RequestId, "per", "permission request"
);
id_type!(
    /// Questions of the model's own that wait for answers.
    InquiryId, "que", "inquiry"
);
id_type!(
    /// A consent that was saved.
    GrantId, "grt", "grant"
);
id_type!(
    /// A retained whole.
    OutputId, "out", "output"
);
id_type!(
    /// A command that runs in the background.
    JobId, "job", "job"
);
id_type!(
    /// The agent on whose behalf a call is made, such as `build`.
    AgentId, "agt", "agent"
);

fn is_id(raw: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b':' | b'/');
    (1..=ID_BYTES_MAX).contains(&raw.len()) && raw.bytes().all(allowed)
}

/// Milliseconds and counter of the last id, packed, so that ids of one process ascend strictly.
static LAST: AtomicU64 = AtomicU64::new(0);

fn mint(prefix: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_millis() as u64);
    let previous = LAST
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some((last + 1).max(now << 12)))
        .expect("the closure always returns a value");
    let stamp = (previous + 1).max(now << 12);

    let mut random = [0u8; 11];
    getrandom::fill(&mut random).expect("the operating system has randomness");
    const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let tail = random.map(|byte| char::from(BASE62[usize::from(byte) % 62]));
    format!("{prefix}_{:012x}{:03x}{}", stamp >> 12, stamp & 0xfff, tail.iter().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minted_ids_ascend_and_are_accepted_again() {
        let ids: Vec<CallId> = (0..10_000).map(|_| CallId::mint()).collect();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(ids.iter().all(|id| CallId::parse(id.as_str()).as_ref() == Ok(id)));
        assert_eq!(ids[0].as_str().len(), "cal_".len() + 26);
    }

    #[test]
    fn what_could_be_mistaken_for_something_else_is_no_id() {
        for raw in ["", " ", "a b", "a\0", "ä", "a\n", &"x".repeat(129)] {
            assert!(SessionId::parse(raw).is_err(), "{raw:?}");
        }
    }
}
