//! Where a script would run.

use std::path::PathBuf;

/// What a script's words depend on besides the script.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The directory it starts in, absolute.
    pub directory: PathBuf,
    /// What `~` and `$HOME` stand for.
    pub home: Option<PathBuf>,
}

impl Surroundings {
    /// The home directory, if it stays one word wherever it is put.
    pub(super) fn home_text(&self) -> Option<&str> {
        let home = self.home.as_deref()?.to_str()?;
        let splits = |c: char| c.is_whitespace() || "*?[]\\~".contains(c);
        (home.starts_with('/') && !home.contains(splits)).then(|| home.trim_end_matches('/'))
    }
}
