//! What an action is done to, by which texts rules speak of it, and how wide a rule has to be to allow it.

use super::wildcard::Pattern;

/// What an action is done to. One thing may have several spellings (a path from the root of the project, and
/// from the root of the disk); a rule that matches one of them speaks of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Resource {
    name: String,
    others: Vec<String>,
    forbidding: Vec<String>,
    guessed: Vec<String>,
    beginnings: Vec<String>,
    directories: Vec<String>,
    allowed: Allowed,
}

/// How wide a rule or a grant has to be to allow a resource. To ask about it and to deny it any width will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Allowed {
    /// Any pattern that matches.
    ByAnyMatch,
    /// Only a lone `*`: its text says less than what it does.
    ByEverythingOnly,
    /// None: nobody knows what it does, so somebody has to look at it.
    ByNothing,
}

impl Resource {
    /// A resource with one spelling.
    pub fn new(name: impl Into<String>) -> Resource {
        Resource {
            name: name.into(),
            others: Vec::new(),
            forbidding: Vec::new(),
            guessed: Vec::new(),
            beginnings: Vec::new(),
            directories: Vec::new(),
            allowed: Allowed::ByAnyMatch,
        }
    }

    /// Adds another spelling that rules may use.
    pub fn or(mut self, spelling: impl Into<String>) -> Resource {
        let spelling = spelling.into();
        if self.spellings().all(|known| known != spelling) {
            self.others.push(spelling);
        }
        self
    }

    /// Adds a spelling by which it can be asked about and denied, but not allowed.
    pub fn or_forbidden_as(mut self, spelling: impl Into<String>) -> Resource {
        let spelling = spelling.into();
        let known = self.spellings().any(|known| known == spelling) || self.forbidding.contains(&spelling);
        if !known {
            self.forbidding.push(spelling);
        }
        self
    }

    /// Adds a spelling of something that it may stand for, though nobody knows. A rule that does not allow and matches this
    /// is taken into account as one that might speak of it.
    pub fn or_guessed(mut self, spelling: impl Into<String>) -> Resource {
        self.guessed.push(spelling.into());
        self
    }

    /// Says that only the beginning of its text is known. A rule that does not allow and might match what begins like
    /// this is taken into account.
    pub fn beginning(mut self, text: impl Into<String>) -> Resource {
        self.beginnings.push(text.into());
        self
    }

    /// Says that it stands for everything below a directory, whose name ends in a slash. A rule that does not allow and
    /// that names a directory with something below this one is taken into account.
    pub fn below(mut self, directory: impl Into<String>) -> Resource {
        self.directories.push(directory.into());
        self
    }

    /// Says how wide a rule has to be to allow it.
    pub fn allowed(mut self, allowed: Allowed) -> Resource {
        self.allowed = self.allowed.max(allowed);
        self
    }

    /// How wide a rule has to be to allow it.
    pub fn allowance(&self) -> Allowed {
        self.allowed
    }

    /// The spelling people are shown.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The spellings by which it can be allowed, the shown one first.
    pub fn spellings(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.others.iter().map(String::as_str))
    }

    pub(super) fn may_be_allowed_by(&self, pattern: &Pattern) -> bool {
        match self.allowed {
            Allowed::ByAnyMatch => self.spellings().any(|text| pattern.matches(text)),
            Allowed::ByEverythingOnly => pattern.is_everything(),
            Allowed::ByNothing => false,
        }
    }

    pub(super) fn is_spoken_of_by(&self, pattern: &Pattern) -> bool {
        let forbidding = self.forbidding.iter().map(String::as_str);
        self.spellings().chain(forbidding).any(|text| pattern.matches(text))
    }

    pub(super) fn is_known_whole(&self) -> bool {
        self.beginnings.is_empty() && self.directories.is_empty() && self.guessed.is_empty()
    }

    pub(super) fn might_be_spoken_of_by(&self, pattern: &Pattern) -> bool {
        self.guessed.iter().any(|text| pattern.matches(text))
            || self.beginnings.iter().any(|text| pattern.might_match_after(text))
            || self.directories.iter().any(|directory| pattern.might_match_below(directory))
    }
}
