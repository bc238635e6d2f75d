//! Facts that tools tell about their calls: recorded with each call, and therefore bounded.

use std::io::Write;

use serde_json::{Map, Value};

/// So long are the facts of one call as JSON.
const FACTS_BYTES_MAX: usize = 64 << 10;
/// So long is a title.
const TITLE_CHARS_MAX: usize = 1_000;
/// Where it is said that facts were left out.
const OMITTED: &str = "omitted";

/// The facts as they are recorded: all of them, or a word about their size.
pub(crate) fn bounded(facts: Map<String, Value>) -> Map<String, Value> {
    let mut length = Length(0);
    // Counting fails at nothing.
    let _counted = serde_json::to_writer(&mut length, &facts);
    if length.0 <= FACTS_BYTES_MAX {
        return facts;
    }
    let words = format!("metadata of {} bytes was left out; at most {FACTS_BYTES_MAX} are kept", length.0);
    Map::from_iter([(OMITTED.to_owned(), words.into())])
}

/// The beginning of a title.
pub(crate) fn cut(mut title: String) -> String {
    if let Some((end, _)) = title.char_indices().nth(TITLE_CHARS_MAX) {
        title.truncate(end);
        title.push('…');
    }
    title
}

/// Counts what is written.
struct Length(usize);

impl Write for Length {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{FACTS_BYTES_MAX, OMITTED, TITLE_CHARS_MAX, bounded, cut};
    use serde_json::{Map, Value, json};

    fn of(length: usize) -> Map<String, Value> {
        Map::from_iter([("a".to_owned(), Value::from("y".repeat(length)))])
    }

    #[test]
    fn facts_are_kept_whole_or_not_at_all() {
        let around = json!({ "a": "" }).to_string().len();
        let most = of(FACTS_BYTES_MAX - around);
        assert_eq!(bounded(most.clone()), most);
        let over = bounded(of(FACTS_BYTES_MAX - around + 1));
        assert_eq!(over.keys().collect::<Vec<_>>(), [OMITTED]);
        assert!(over[OMITTED].as_str().unwrap().contains("65537 bytes"), "{over:?}");
    }

    #[test]
    fn a_title_ends_somewhere() {
        assert_eq!(cut("a title".to_owned()), "a title");
        assert_eq!(cut("ä".repeat(TITLE_CHARS_MAX)).chars().count(), TITLE_CHARS_MAX);
        assert_eq!(cut("ä".repeat(5_000)).chars().count(), TITLE_CHARS_MAX + 1);
    }
}
