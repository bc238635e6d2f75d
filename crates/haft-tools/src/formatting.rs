//! Formatters: programs that are run over files after they were changed.
//!
//! A formatter never touches the file itself. One that reads its standard input can only look; one that insists on a
//! file gets a copy in a directory of its own, and can change nothing else.

mod builtin;
mod choice;
mod run;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use haft::BoxFuture;

use crate::after::{AfterChange, Aftermath, TIME_MAX};
use crate::listed::ProgramEntry;
use crate::process::{Processes, untrusted};
use crate::workspace::{LeftFile, Workspace};
use builtin::Known;
use choice::Chosen;
use run::FormatError;

/// All formatters together are given so much time after a call, unless configured otherwise.
pub const FORMATTING_TIME: Duration = Duration::from_secs(10);
/// Larger files are not formatted.
const FORMATTED_BYTES_MAX: usize = 4 << 20;
/// What went wrong is told in so many characters.
const ERROR_CHARS_MAX: usize = 300;

/// The names of the formatters that are built in.
pub fn built_in_formatters() -> impl Iterator<Item = &'static str> {
    builtin::names()
}

/// The formatters of a location.
pub struct Formatters {
    workspace: Workspace,
    processes: Arc<Processes>,
    known: Vec<Known>,
    limit: Duration,
    /// Repositories that were said not to be trusted.
    told: Mutex<BTreeSet<PathBuf>>,
}

impl Formatters {
    /// Those that are built in, changed and joined by what is configured.
    pub fn new(
        workspace: Workspace,
        processes: Arc<Processes>,
        entries: &[ProgramEntry],
        limit: Duration,
    ) -> Formatters {
        let (known, limit) = (builtin::known(entries), limit.min(TIME_MAX));
        Formatters { workspace, processes, known, limit, told: Mutex::default() }
    }

    /// Whether nobody was told yet that a repository is not trusted.
    fn is_news(&self, repository: &Path) -> bool {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(repository.to_owned())
    }

    /// Runs every formatter that is for a file, each on what the one before left.
    async fn format(&self, file: &LeftFile, deadline: tokio::time::Instant) -> Option<Formatted> {
        let text = file.text().filter(|text| text.len() <= FORMATTED_BYTES_MAX && !text.is_empty())?;
        // What is outside belongs to a project that nobody may have trusted.
        let chosen: Vec<Chosen<'_>> = match file.place().is_inside() {
            true => self.known.iter().filter_map(|known| self.choose(known, file)).collect(),
            false => return None,
        };
        let mut formatted = Formatted::default();
        let own_programs = &self.processes.own_programs;
        if let Some(repository) = own_programs.stranger(file.place().real(), self.workspace.base()) {
            let first = chosen.first().filter(|_| self.is_news(&repository))?;
            formatted.by.push(first.name().to_owned());
            formatted.failed(first.name(), &FormatError::Untrusted(untrusted(&repository)));
            return Some(formatted);
        }
        // Many programs stumble over a byte order mark; it stays, whatever they do.
        let bare = text.strip_prefix(BOM).unwrap_or(text);
        let mut now = bare.to_owned();
        for chosen in &chosen {
            formatted.by.push(chosen.name().to_owned());
            match self.run(chosen, file, &now, deadline).await {
                Ok(text) => now = text,
                Err(error) => formatted.failed(chosen.name(), &error),
            }
        }
        if now != bare {
            let is_marked = text.len() > bare.len() && !now.starts_with(BOM);
            formatted.text = Some(if is_marked { format!("{BOM}{now}") } else { now });
        }
        (!formatted.by.is_empty()).then_some(formatted)
    }
}

const BOM: char = '\u{feff}';

/// What formatters made of a file.
#[derive(Default)]
struct Formatted {
    by: Vec<String>,
    text: Option<String>,
    error: Option<String>,
}

impl Formatted {
    /// Notes why one of them did nothing. What the first one says is enough.
    fn failed(&mut self, name: &str, error: &FormatError) {
        let said: String = haft::visible(&error.to_string()).chars().take(ERROR_CHARS_MAX).collect();
        let is_alone = self.by.len() == 1;
        self.error.get_or_insert(if is_alone { said } else { format!("{name}: {said}") });
    }
}

impl AfterChange for Formatters {
    fn name(&self) -> &'static str {
        "formatter"
    }

    fn follow<'a>(&'a self, files: &'a [LeftFile]) -> BoxFuture<'a, Vec<Aftermath>> {
        Box::pin(async move {
            let deadline = tokio::time::Instant::now() + self.limit;
            let mut aftermath = Vec::new();
            for (at, file) in files.iter().enumerate() {
                if let Some(Formatted { by, text, error }) = self.format(file, deadline).await {
                    let by = by.join(", ");
                    aftermath.push(Aftermath { file: at, by, text, error, verdict: None });
                }
            }
            aftermath
        })
    }
}
