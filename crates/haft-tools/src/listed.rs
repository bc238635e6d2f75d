//! Programs that files are given to, by the ends of their names: those that are built in, changed and joined by what is
//! configured. Formatters and language servers are such.

use std::path::Path;

/// A program, with what its kind needs besides.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Listed<Own> {
    pub(crate) name: String,
    /// How the names of its files end, with the dot, or whole names.
    pub(crate) extensions: Vec<String>,
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) own: Own,
}

/// What is configured of a program: a formatter, or what all kinds of programs have in common.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramEntry {
    /// Its name: that of one that is built in, or another.
    pub name: String,
    /// Whether it is not to be used.
    pub disabled: bool,
    /// Its command. In that of a formatter `$FILE` stands for the file.
    pub command: Option<Vec<String>>,
    /// Variables that it is given besides.
    pub environment: Vec<(String, String)>,
    /// How the names of its files end, with the dot.
    pub extensions: Option<Vec<String>>,
}

impl AsRef<ProgramEntry> for ProgramEntry {
    fn as_ref(&self) -> &ProgramEntry {
        self
    }
}

impl<Own> Listed<Own> {
    /// One that is built in.
    pub(crate) fn built_in(name: &str, extensions: &[&str], command: &[&str], own: Own) -> Listed<Own> {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Listed {
            name: name.to_owned(),
            extensions: owned(extensions),
            command: owned(command),
            environment: Vec::new(),
            own,
        }
    }

    /// Whether it is for files of this name.
    pub(crate) fn is_for(&self, path: &Path) -> bool {
        let Some(name) = path.file_name().map(|name| name.to_string_lossy()) else { return false };
        self.extensions.iter().any(|ending| match ending.starts_with('.') {
            // A name that is nothing but the ending has none.
            true => name.len() > ending.len() && name.ends_with(ending.as_str()),
            false => name == ending.as_str(),
        })
    }

    fn fulfil(&mut self, wish: &ProgramEntry) {
        if let Some(command) = &wish.command {
            self.command.clone_from(command);
        }
        if let Some(extensions) = &wish.extensions {
            self.extensions.clone_from(extensions);
        }
        self.environment.extend_from_slice(&wish.environment);
    }
}

/// Joins what is configured to what is built in. What has a name already is changed where it stands or taken away;
/// others come last, if it is known what they would do.
pub(crate) fn joined<Own: Default, Entry: AsRef<ProgramEntry>>(
    built_in: impl Iterator<Item = Listed<Own>>,
    entries: &[Entry],
    adapt: impl Fn(&mut Own, &Entry),
) -> Vec<Listed<Own>> {
    let mut listed: Vec<Listed<Own>> = built_in.collect();
    for entry in entries {
        let wish = entry.as_ref();
        let at = listed.iter().position(|known| known.name == wish.name);
        let base = at.map(|at| listed.remove(at));
        if wish.disabled {
            continue;
        }
        let mut known = base.unwrap_or_else(|| Listed::built_in(&wish.name, &[], &[], Own::default()));
        known.fulfil(wish);
        adapt(&mut known.own, entry);
        if !known.command.is_empty() && !known.extensions.is_empty() {
            listed.insert(at.unwrap_or(listed.len()), known);
        }
    }
    listed
}
