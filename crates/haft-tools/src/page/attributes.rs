//! The attributes of one tag, as far as they matter here. Their texts are kept in one place and used again.

use super::tags::Tag;

/// No value of an attribute is taken longer.
const VALUE_BYTES_MAX: usize = 16 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    Alt,
    AriaHidden,
    Checked,
    Class,
    Colspan,
    DataLanguage,
    DataSrc,
    Hidden,
    Href,
    Id,
    Open,
    Role,
    Src,
    Start,
    Style,
    Title,
    Type,
}

const NAMES: usize = Name::Type as usize + 1;

impl Name {
    fn of(name: &[u8]) -> Option<Name> {
        Some(match name {
            b"alt" => Name::Alt,
            b"aria-hidden" => Name::AriaHidden,
            b"checked" => Name::Checked,
            b"class" => Name::Class,
            b"colspan" => Name::Colspan,
            b"data-lang" | b"data-language" => Name::DataLanguage,
            b"data-src" => Name::DataSrc,
            b"hidden" => Name::Hidden,
            b"href" => Name::Href,
            b"id" => Name::Id,
            b"open" => Name::Open,
            b"role" => Name::Role,
            b"src" => Name::Src,
            b"start" => Name::Start,
            b"style" => Name::Style,
            b"title" => Name::Title,
            b"type" => Name::Type,
            _ => return None,
        })
    }
}

/// The attributes of one tag.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    values: [String; NAMES],
    given: [bool; NAMES],
    current: Option<Name>,
}

impl Attributes {
    pub(super) fn clear(&mut self) {
        for (value, given) in self.values.iter_mut().zip(&mut self.given) {
            if std::mem::take(given) {
                value.clear();
            }
        }
        self.current = None;
    }

    /// The next value belongs to this name. Of two of the same name the first counts.
    pub(super) fn name(&mut self, name: &[u8]) {
        self.current = Name::of(name).filter(|name| !self.given[*name as usize]);
        if let Some(name) = self.current {
            self.given[name as usize] = true;
        }
    }

    pub(super) fn value(&mut self, value: &[u8]) {
        if let Some(name) = self.current.take() {
            let value = &value[..value.len().min(VALUE_BYTES_MAX)];
            self.values[name as usize].push_str(&String::from_utf8_lossy(value));
        }
    }

    pub(super) fn get(&self, name: Name) -> Option<&str> {
        self.given[name as usize].then(|| self.values[name as usize].as_str())
    }

    pub(super) fn text(&self, name: Name) -> &str {
        &self.values[name as usize]
    }

    pub(super) fn classes(&self) -> impl Iterator<Item = &str> {
        self.text(Name::Class).split_ascii_whitespace()
    }

    /// Whether a reader of the page would not see what it holds.
    pub(super) fn hide(&self, tag: Tag) -> bool {
        self.get(Name::Hidden).is_some_and(|value| !value.eq_ignore_ascii_case("until-found"))
            || self.text(Name::AriaHidden).eq_ignore_ascii_case("true")
            || self.get(Name::Style).is_some_and(is_invisible)
            || (matches!(tag, Tag::Td | Tag::Div) && self.classes().any(|class| class == "linenos"))
    }

    /// Whether it is what copies something, which is no part of what it copies.
    pub(super) fn copies(&self) -> bool {
        [Name::Class, Name::Id, Name::Title].iter().any(|name| {
            let said = self.text(*name).to_ascii_lowercase();
            said.contains("copy") || said.contains("clipboard")
        })
    }

    /// Whether it marks the main content of a page.
    pub(super) fn is_main(&self, tag: Tag) -> bool {
        tag == Tag::Main || self.text(Name::Role).eq_ignore_ascii_case("main")
    }
}

/// Whether a style makes something invisible.
fn is_invisible(style: &str) -> bool {
    let compact: String =
        style.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_ascii_lowercase()).collect();
    compact.split(';').filter_map(|rule| rule.split_once(':')).any(|(property, value)| {
        let value = value.trim_end_matches("!important");
        match property {
            "display" => value == "none",
            "visibility" => matches!(value, "hidden" | "collapse"),
            "opacity" | "font-size" => {
                value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%').parse() == Ok(0.0)
            }
            _ => false,
        }
    })
}
