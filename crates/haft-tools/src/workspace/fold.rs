//! Names as a lenient file system or a reader might take them: folded so that look-alikes compare equal.
//!
//! Some file systems ignore case, drop invisible characters or trailing dots, or know a short alias. A protected name
//! has to be recognised in all these spellings, so folding is generous: at worst a harmless name is asked about.

/// Folds one component of a path.
pub(super) fn fold(component: &str) -> String {
    let shaped: String = component.chars().filter(|c| !is_ignorable(*c)).map(plain).collect();
    let folded: String = shaped.to_uppercase().to_lowercase();
    // A colon begins the name of a stream on NTFS.
    let file = folded.split(':').next().unwrap_or_default();
    let trimmed = file.trim_end_matches(['.', ' ']);
    match trimmed.strip_prefix("git~") {
        Some(number) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => ".git".to_owned(),
        _ => trimmed.to_owned(),
    }
}

/// Characters that show nothing and that some file systems ignore.
fn is_ignorable(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}' | '\u{e0000}'..='\u{e0fff}')
}

/// The ASCII character that a compatibility form stands for.
fn plain(c: char) -> char {
    let letter = |index: u32| {
        let base = if index < 26 { u32::from(b'A') } else { u32::from(b'a') - 26 };
        char::from_u32(base + index).unwrap_or(c)
    };
    match c {
        // Full-width forms.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        // Mathematical alphabets: thirteen times A to Z and a to z.
        '\u{1d400}'..='\u{1d6a3}' => letter((c as u32 - 0x1d400) % 52),
        // Circled letters.
        '\u{24b6}'..='\u{24e9}' => letter(c as u32 - 0x24b6),
        '\u{2024}' | '\u{fe52}' => '.',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn look_alikes_fold_to_the_same_name() {
        let spellings = [
            ".git",
            ".GIT",
            ".Git",
            ".g\u{200c}it",
            "\u{feff}.git",
            ".git.",
            ".git ",
            ".git. .",
            "git~1",
            "GIT~2",
            ".ｇｉｔ",
            "．git",
            ".𝐠𝐢𝐭",
            ".ⓖⓘⓣ",
            ".gıt",
            ".git::$INDEX_ALLOCATION",
        ];
        for spelling in spellings {
            assert_eq!(fold(spelling), ".git", "{spelling:?}");
        }
        assert_eq!(fold(".huſky"), ".husky");
        assert_eq!(fold("conﬁg"), "config");
        for other in ["git", ".gitignore", "git~", "git~x", ".github"] {
            assert_ne!(fold(other), ".git", "{other}");
        }
    }
}
