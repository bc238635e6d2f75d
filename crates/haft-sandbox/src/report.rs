//! What confinement this machine offers, as `haft doctor` shows it.

use std::fmt;

/// How much a machine can confine. The order is by strength.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing: only full access can be run.
    None,
    /// Landlock and seccomp: writes, TCP and signals are confined; protected and hidden paths cannot be held.
    LandlockOnly,
    /// Everything, with namespaces that bubblewrap makes because this process may not.
    Bubblewrap,
    /// Everything, with namespaces of our own.
    Namespaces,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::None => "no confinement",
            Level::LandlockOnly => "Landlock only",
            Level::Bubblewrap => "bubblewrap",
            Level::Namespaces => "namespaces",
        })
    }
}

/// What was found when the machine was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The strongest level at which a command really ran.
    pub level: Level,
    /// Each mechanism, with what is the matter with it.
    pub mechanisms: Vec<Mechanism>,
}

impl Report {
    /// What is wanting, in words.
    pub fn missing(&self) -> impl Iterator<Item = &Mechanism> {
        self.mechanisms.iter().filter(|mechanism| matches!(mechanism.state, State::Missing(_)))
    }

    /// Whether a mechanism works.
    pub fn has(&self, name: &str) -> bool {
        self.mechanisms
            .iter()
            .any(|mechanism| mechanism.name == name && matches!(mechanism.state, State::Works(_)))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.level)?;
        for Mechanism { name, state } in &self.mechanisms {
            match state {
                State::Works(detail) if detail.is_empty() => write!(f, "\n  {name}: works")?,
                State::Works(detail) => write!(f, "\n  {name}: {detail}")?,
                State::Missing(why) => write!(f, "\n  {name}: missing, {why}")?,
            }
        }
        Ok(())
    }
}

/// One thing a kernel may offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mechanism {
    /// Its name: `namespaces`, `bubblewrap`, `landlock`, `caches`, `hosts`, `memory`, `helper`.
    pub name: &'static str,
    /// Whether it works.
    pub state: State,
}

/// Whether a mechanism works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Yes, with a detail such as a version; it may be empty.
    Works(String),
    /// No, and why.
    Missing(String),
}
