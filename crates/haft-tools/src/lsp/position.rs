//! Places in a text: people and models count lines and characters from one, servers count units from zero.

use serde_json::{Value, json};

/// What a server counts the characters of a line in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Units {
    /// Bytes.
    Utf8,
    /// What every server knows.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl Units {
    /// The name of what is asked for first, and of what would do as well.
    pub(super) const OFFERED: [&'static str; 3] = ["utf-16", "utf-8", "utf-32"];

    /// What a server chose of it.
    pub(super) fn chosen(name: Option<&str>) -> Units {
        match name {
            Some("utf-8") => Units::Utf8,
            Some("utf-32") => Units::Utf32,
            Some(_) | None => Units::Utf16,
        }
    }

    fn length(self, text: &str) -> usize {
        match self {
            Units::Utf8 => text.len(),
            Units::Utf16 => text.encode_utf16().count(),
            Units::Utf32 => text.chars().count(),
        }
    }
}

/// A place that a text does not have.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OutsideText {
    /// There is no such line.
    #[error("there is no line {line}: the file has {lines} lines; lines are counted from 1")]
    Line {
        /// The line that was named.
        line: u32,
        /// How many there are.
        lines: usize,
    },
    /// The line is not so long.
    #[error(
        "there is no character {character} in line {line}, which has {characters}; characters are counted from 1"
    )]
    Character {
        /// The line.
        line: u32,
        /// The character that was named.
        character: u32,
        /// How many there are.
        characters: usize,
    },
}

/// A place of a text, counted from one, as a server counts it. The end of a line is a place too.
pub(super) fn in_units(text: &str, line: u32, character: u32, units: Units) -> Result<Value, OutsideText> {
    let mut lines = text.split('\n');
    let at = line.checked_sub(1).and_then(|before| lines.nth(before as usize));
    let outside = || OutsideText::Line { line, lines: text.split('\n').count() };
    let content = at.ok_or_else(outside)?.trim_end_matches('\r');
    let characters = content.chars().count();
    let Some(before) = character.checked_sub(1).filter(|before| *before as usize <= characters) else {
        return Err(OutsideText::Character { line, character, characters });
    };
    let end = content.char_indices().nth(before as usize).map_or(content.len(), |(at, _)| at);
    Ok(json!({ "line": line - 1, "character": units.length(&content[..end]) }))
}

/// A place as a server counts it, counted in characters from one: the line, and the character in it.
pub(super) fn for_people(text: &str, line: u32, character: u32, units: Units) -> (u32, u32) {
    let content = text.split('\n').nth(line as usize).unwrap_or_default();
    let mut passed = 0;
    let before = content.chars().take_while(|next| {
        passed += units.length(next.encode_utf8(&mut [0; 4]));
        passed <= character as usize
    });
    let before = u32::try_from(before.count()).unwrap_or(u32::MAX);
    // What lies beyond the text as we know it is told as the server told it.
    let before = if content.is_empty() { character } else { before };
    (line.saturating_add(1), before.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "one\r\nä𝄞b\n\nlast";

    #[test]
    fn characters_become_what_the_server_counts() {
        let at = |line, character, units| in_units(TEXT, line, character, units);
        let place = |line: u32, character: u32| Ok(json!({ "line": line, "character": character }));
        assert_eq!(at(1, 1, Units::Utf16), place(0, 0));
        assert_eq!(at(1, 4, Units::Utf16), place(0, 3));
        assert_eq!(at(2, 3, Units::Utf16), place(1, 3));
        assert_eq!(at(2, 3, Units::Utf8), place(1, 6));
        assert_eq!(at(2, 3, Units::Utf32), place(1, 2));
        assert_eq!(at(3, 1, Units::Utf16), place(2, 0));
        assert_eq!(at(4, 5, Units::Utf16), place(3, 4));
    }

    #[test]
    fn what_the_text_does_not_have_is_refused() {
        let refused =
            |line, character| in_units(TEXT, line, character, Units::Utf16).unwrap_err().to_string();
        assert!(refused(5, 1).starts_with("there is no line 5: the file has 4 lines"));
        assert!(refused(0, 1).starts_with("there is no line 0"));
        assert!(refused(1, 5).starts_with("there is no character 5 in line 1, which has 3"));
        assert!(refused(1, 0).starts_with("there is no character 0"));
    }

    proptest! {
        #[test]
        fn there_and_back(text in "[a-zä𝄞\n]{0,40}", line in 1u32..6, character in 1u32..9) {
            for units in [Units::Utf8, Units::Utf16, Units::Utf32] {
                let Ok(place) = in_units(&text, line, character, units) else { continue };
                let number = |key: &str| u32::try_from(place[key].as_u64().unwrap()).unwrap();
                prop_assert_eq!(for_people(&text, number("line"), number("character"), units), (line, character));
            }
        }
    }
}
