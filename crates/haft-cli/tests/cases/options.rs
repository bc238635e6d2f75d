//! The command line of the runner: a filter, `--list`, and whatever `cargo test` passes to every test binary.

/// At most this many cases run at once.
const THREADS_MAX: usize = 4;

/// Flags of the standard harness that are followed by a value.
const VALUED: [&str; 6] = ["--color", "--format", "--logfile", "--shuffle-seed", "--skip", "-Z"];

/// Which cases to run, and how many at once.
pub(crate) struct Options {
    pub(crate) list: bool,
    pub(crate) threads: usize,
    wanted: Vec<String>,
    unwanted: Vec<String>,
    exact: bool,
    ignored_only: bool,
}

impl Options {
    /// Reads the arguments. Flags of the standard harness that mean nothing here are passed over.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Options {
        let mut options = Options {
            list: false,
            threads: THREADS_MAX,
            wanted: Vec::new(),
            unwanted: Vec::new(),
            exact: false,
            ignored_only: false,
        };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let (flag, inline) = match argument.split_once('=') {
                Some((flag, value)) if flag.starts_with('-') => (flag, Some(value.to_owned())),
                _ => (argument.as_str(), None),
            };
            match flag {
                "--list" => options.list = true,
                "--exact" => options.exact = true,
                "--ignored" => options.ignored_only = true,
                "--test-threads" => options.threads = threads(inline.or_else(|| arguments.next())),
                "--skip" => options.unwanted.extend(inline.or_else(|| arguments.next())),
                _ if VALUED.contains(&flag) => {
                    if inline.is_none() {
                        arguments.next();
                    }
                }
                _ if flag.starts_with('-') => {}
                _ => options.wanted.push(argument),
            }
        }
        options
    }

    /// Tells whether a case of this id is to run. No case is ever ignored, so `--ignored` selects none.
    pub(crate) fn selects(&self, id: &str) -> bool {
        let hit = |filter: &String| if self.exact { id == filter } else { id.contains(filter.as_str()) };
        !self.ignored_only
            && (self.wanted.is_empty() || self.wanted.iter().any(hit))
            && !self.unwanted.iter().any(hit)
    }

    /// Tells whether the person asked for less than everything.
    pub(crate) fn filtered(&self) -> bool {
        self.ignored_only || !self.wanted.is_empty() || !self.unwanted.is_empty()
    }
}

fn threads(value: Option<String>) -> usize {
    value.and_then(|text| text.parse().ok()).unwrap_or(THREADS_MAX).clamp(1, THREADS_MAX)
}
