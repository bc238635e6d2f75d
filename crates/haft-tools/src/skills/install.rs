//! Installing skills from an index, a directory or an archive: checked whole, written beside, swapped in by one rename.

mod archive;
mod package;
mod place;

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use haft::{BoxFuture, visible};
use serde::Deserialize;

use self::archive::is_archive;
use self::package::{
    FILE_BYTES_MAX, FILES_MAX, Package, SKILL_BYTES_MAX, check, is_name, package, regular, relative,
};
use self::place::{Staged, check_taken, stage, sweep};
use super::FILE;
use crate::web::{Address, BadAddress, shown};

/// How long getting all skills of a source may take.
pub const TIME_MAX: Duration = Duration::from_secs(120);
const INDEX: &str = "index.json";
const INDEX_BYTES_MAX: u64 = 1 << 20;
/// All skills of a source together.
const TOTAL_BYTES_MAX: u64 = 64 << 20;
const SKILLS_MAX: usize = 100;

/// Gets what is at an address.
pub trait Fetch: Send + Sync {
    /// Gets it whole, or fails if it is larger. It must not follow a redirect to another origin.
    fn fetch<'a>(&'a self, address: &'a str, bytes_max: u64) -> BoxFuture<'a, Result<Vec<u8>, FetchError>>;
}

/// Why something could not be got, in words for a person.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct FetchError(pub String);

/// Why skills were not installed. Those that were there are as they were.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// It could not be got.
    #[error("could not get {address}")]
    Fetch {
        /// What.
        address: String,
        /// Why.
        #[source]
        source: FetchError,
    },
    /// The index is none.
    #[error("{address} is not an index of skills: {problem}")]
    Index {
        /// The index.
        address: String,
        /// What is wrong.
        problem: String,
    },
    /// A skill is not as it must be.
    #[error("the skill {name} cannot be installed: {problem}")]
    Skill {
        /// Its name.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// The source is neither a directory nor an address.
    #[error("{0} holds no skill: expected a directory with {FILE}, one with {INDEX}, or a .zip archive")]
    Nothing(String),
    /// The address is none that an index can stand at.
    #[error("{address} cannot be installed from: {problem}")]
    Address {
        /// The address, without what could be secret.
        address: String,
        /// What is wrong.
        problem: String,
    },
    /// Another skill of its name is there.
    #[error("the skill {name} is already there, installed {from}; remove {path} first, or use --replace")]
    Taken {
        /// Its name.
        name: String,
        /// Where the one that is there came from.
        from: String,
        /// The directory it is in.
        path: String,
    },
    /// All skills of the source together are too large.
    #[error(
        "the skills of {0} are larger than {max} MiB together; it has to be split into several",
        max = TOTAL_BYTES_MAX >> 20
    )]
    TooLarge(String),
    /// It takes too long.
    #[error("getting the skills of {address} took longer than {} seconds; try again later", .time.as_secs_f32())]
    TimedOut {
        /// The source.
        address: String,
        /// How long it was given.
        time: Duration,
    },
    /// The disk said no.
    #[error("could not write {path}")]
    Write {
        /// Where.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// A skill that was installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Its name.
    pub name: String,
    /// The version its index gave it.
    pub version: Option<String>,
    /// Whether anything changed.
    pub is_new: bool,
}

/// Gets files of this machine, by a path or a `file://` address.
pub struct LocalFetch;

impl Fetch for LocalFetch {
    fn fetch<'a>(&'a self, address: &'a str, bytes_max: u64) -> BoxFuture<'a, Result<Vec<u8>, FetchError>> {
        let read = match local(address) {
            None => Err(FetchError("only directories and file:// addresses can be read here".to_owned())),
            Some(path) => regular(path, bytes_max).map_err(FetchError),
        };
        Box::pin(std::future::ready(read))
    }
}

/// The skills of an index.
#[derive(Deserialize)]
struct Index {
    skills: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    name: String,
    files: Vec<String>,
    version: Option<String>,
}

/// How skills are installed.
pub struct Installing<'a> {
    /// Gets what is at an address.
    pub fetch: &'a dyn Fetch,
    /// The directory that skills are installed below.
    pub into: &'a Path,
    /// Whether a skill may take the place of one that came from elsewhere.
    pub replaces: bool,
    /// How long getting everything may take; [`TIME_MAX`] unless there is a reason.
    pub time_max: Duration,
    /// Is told what happens, in words for a person.
    pub progress: &'a (dyn Fn(&str) + Send + Sync),
}

/// Installs every skill of a source: of an index at an address, of a directory with an index, of a directory that is
/// one skill, of one that holds several, or of an archive of either. Everything is got and checked before anything is swapped in.
pub async fn install(how: &Installing<'_>, source: &str) -> Result<Vec<Installed>, InstallError> {
    let base = normal(source)?;
    sweep(how.into);
    let directory = local(&base).filter(|directory| !directory.join(INDEX).exists());
    let mut run = Run { how, room: TOTAL_BYTES_MAX, base: &base, staged: Vec::new() };
    let getting = async {
        match directory {
            Some(path) if is_archive(path) => run.stage_archive(path),
            Some(directory) => run.stage_directory(directory),
            None => run.stage_index().await,
        }
    };
    let in_time = tokio::time::timeout(how.time_max, getting).await;
    in_time.map_err(|_| InstallError::TimedOut { address: visible(&base), time: how.time_max })??;
    run.staged.into_iter().map(|staged| staged.put(how.into)).collect()
}

/// The path of a source on this machine.
fn local(source: &str) -> Option<&Path> {
    match source.split_once("://") {
        None => Some(Path::new(source)),
        Some((scheme, path)) => scheme.eq_ignore_ascii_case("file").then_some(Path::new(path)),
    }
}

/// A source as it is noted and joined with names: with one spelling, and without what may be secret.
fn normal(source: &str) -> Result<String, InstallError> {
    if let Some(path) = local(source) {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        return Ok(path.to_string_lossy().into_owned());
    }
    let bad = |problem: String| InstallError::Address { address: visible(&shown(source)), problem };
    if source.contains(['?', '#']) {
        return Err(bad("leave out the query and the fragment, which begin with ? and #".to_owned()));
    }
    match Address::parse(source) {
        Ok(address) => Ok(address.as_str().trim_end_matches('/').to_owned()),
        Err(BadAddress::Scheme) => Err(bad("only directories, http:// and https:// can be".to_owned())),
        Err(error) => Err(bad(error.to_string())),
    }
}

/// One installation on its way. Skills go to the disk one by one, so that no more than one is in memory.
struct Run<'a> {
    how: &'a Installing<'a>,
    base: &'a str,
    /// So many bytes may still come.
    room: u64,
    staged: Vec<Staged>,
}

impl Run<'_> {
    async fn stage_index(&mut self) -> Result<(), InstallError> {
        let address = format!("{}/{INDEX}", self.base);
        let text = self.get(&address, INDEX_BYTES_MAX).await?;
        let bad = |problem: String| InstallError::Index { address: visible(&address), problem };
        let index: Index = serde_json::from_slice(&text).map_err(|error| bad(error.to_string()))?;
        if index.skills.len() > SKILLS_MAX {
            return Err(bad(format!("it lists more than {SKILLS_MAX} skills")));
        }
        let mut names = HashSet::new();
        // What is wrong with any of them is said before any is fetched.
        for Listed { name, files, .. } in &index.skills {
            let wrong = |problem: String| InstallError::Skill { name: visible(name), problem };
            if !is_name(name) {
                return Err(wrong(
                    "its name is not made of small letters, digits and single hyphens".to_owned(),
                ));
            }
            if !names.insert(name) {
                return Err(bad(format!("it lists {name} twice")));
            }
            if files.len() > FILES_MAX {
                return Err(wrong(format!("it has more than {FILES_MAX} files")));
            }
            self.check_place(name, &self.origin(name))?;
        }
        if index.skills.is_empty() {
            (self.how.progress)(&format!("{} lists no skills", visible(&address)));
        }
        let count = index.skills.len();
        for (at, Listed { name, files, version }) in index.skills.into_iter().enumerate() {
            (self.how.progress)(&format!("getting {name} ({} of {count})", at + 1));
            let mut package = Package { name, version, files: Vec::new() };
            let mut room = SKILL_BYTES_MAX;
            for file in files {
                let path = relative(&file)
                    .map_err(|problem| InstallError::Skill { name: package.name.clone(), problem })?;
                let address = format!("{}/{}/{file}", self.base, package.name);
                let bytes = self.get(&address, FILE_BYTES_MAX.min(room)).await?;
                room = room.saturating_sub(bytes.len() as u64);
                package.files.push((path, bytes));
            }
            package.files.sort();
            let origin = self.origin(&package.name);
            self.stage(&package, &origin)?;
        }
        Ok(())
    }

    async fn get(&mut self, address: &str, bytes_max: u64) -> Result<Vec<u8>, InstallError> {
        let got = self.how.fetch.fetch(address, bytes_max).await;
        let bytes = got.map_err(|source| InstallError::Fetch { address: visible(address), source })?;
        self.spend(bytes.len())?;
        Ok(bytes)
    }

    fn spend(&mut self, bytes: usize) -> Result<(), InstallError> {
        let left = self.room.checked_sub(bytes as u64);
        self.room = left.ok_or_else(|| InstallError::TooLarge(visible(self.base)))?;
        Ok(())
    }

    /// The skill that a directory is, or those that it holds.
    fn stage_directory(&mut self, directory: &Path) -> Result<(), InstallError> {
        let shown = || visible(&directory.to_string_lossy());
        let is_skill = |directory: &Path| directory.join(FILE).symlink_metadata().is_ok();
        let mut inner = vec![directory.to_owned()];
        if !is_skill(directory) {
            let entries = directory.read_dir().map_err(|error| InstallError::Fetch {
                address: shown(),
                source: FetchError(error.to_string()),
            })?;
            inner = entries.flatten().map(|entry| entry.path()).filter(|path| is_skill(path)).collect();
            inner.sort();
            inner.truncate(SKILLS_MAX);
        }
        if inner.is_empty() {
            return Err(InstallError::Nothing(shown()));
        }
        for directory in inner {
            let package = package(&directory)?;
            self.spend(package.files.iter().map(|(_, bytes)| bytes.len()).sum())?;
            let origin = directory.to_string_lossy();
            self.check_place(&package.name, &origin)?;
            self.stage(&package, &origin)?;
        }
        Ok(())
    }

    /// The skills in an archive.
    fn stage_archive(&mut self, path: &Path) -> Result<(), InstallError> {
        for package in archive::packages(path)? {
            let origin = self.origin(&package.name);
            self.check_place(&package.name, &origin)?;
            self.stage(&package, &origin)?;
        }
        Ok(())
    }

    /// Where a skill of an index comes from.
    fn origin(&self, name: &str) -> String {
        format!("{}/{name}", self.base)
    }

    fn check_place(&self, name: &str, origin: &str) -> Result<(), InstallError> {
        match self.how.replaces {
            true => Ok(()),
            false => check_taken(name, origin, self.how.into),
        }
    }

    fn stage(&mut self, package: &Package, origin: &str) -> Result<(), InstallError> {
        check(package)?;
        if self.staged.iter().any(|staged| staged.name() == package.name) {
            let problem = "the source holds two of this name".to_owned();
            return Err(InstallError::Skill { name: package.name.clone(), problem });
        }
        self.staged.push(stage(package, origin, self.how.into)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
