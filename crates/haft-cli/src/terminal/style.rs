//! Colours, if they are wanted.

/// Paints text, or leaves it as it is.
#[derive(Clone, Copy)]
pub(crate) struct Style(pub(super) bool);

impl Style {
    /// No colours at all.
    #[cfg(test)]
    pub(crate) fn none() -> Style {
        Style(false)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.0 { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.paint("31", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }
}
