//! Which projects the person trusts: a record outside of every repository.
//!
//! Trust is for one directory: mostly the git root, or the directory itself where there is no git. It says nothing about
//! the directories above, nor about any below, which can be trusted for themselves. With each it is recorded whose it was:
//! what another user has put in its place is not believed. A record that cannot be read trusts nothing and is an error.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::config::{Unread, read_bounded};
use crate::paths::{Env, Paths};
use crate::trusted::{Agreed, Stranger, Trusted};

const VERSION: u64 = 1;
/// How long another writer is waited for.
const LOCK_WAIT_MAX: Duration = Duration::from_secs(5);
const LOCK_RETRY: Duration = Duration::from_millis(20);

/// The record of trusted projects.
#[derive(Debug)]
pub(crate) struct Trust {
    state: PathBuf,
    home: Option<PathBuf>,
    for_process: bool,
    projects: Vec<TrustedProject>,
}

/// A project that is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrustedProject {
    /// Its root, and whose it was.
    pub(crate) agreed: Agreed,
    /// Since when, in milliseconds of Unix time.
    pub(crate) at: u64,
}

/// Why the record cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TrustError {
    /// It cannot be read.
    #[error("could not read the trust record {path:?}")]
    Read {
        /// The record.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It is not what haft writes.
    #[error("the trust record {path:?} is malformed ({reason}): repair it, or remove it to trust nothing")]
    Malformed {
        /// The record.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// It cannot be written.
    #[error("could not write the trust record {path:?}")]
    Write {
        /// The record.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Another process holds it.
    #[error("another haft has been writing the trust record {path:?} for too long")]
    Busy {
        /// The record.
        path: PathBuf,
    },
    /// The root holds the home directory, so everything in it would be one project.
    #[error(
        "{path:?} holds the home directory and is not one project: trust a directory inside it, or use --force"
    )]
    TooWide {
        /// The root.
        path: PathBuf,
    },
    /// The path cannot be recorded exactly.
    #[error("{path:?} is not UTF-8 text and cannot be recorded")]
    NotText {
        /// The root.
        path: PathBuf,
    },
}

impl Trust {
    /// Reads the record. `HAFT_TRUST=1` trusts every project for this process.
    pub(crate) fn load(paths: &Paths, env: &Env) -> Result<Trust, TrustError> {
        let projects = read(&record(&paths.state))?;
        Ok(Trust {
            state: paths.state.clone(),
            home: paths.home.clone(),
            for_process: env.is_on("HAFT_TRUST"),
            projects,
        })
    }

    /// What is trusted now.
    pub(crate) fn trusted(&self) -> Trusted {
        let agreed = self.projects.iter().map(|trusted| trusted.agreed.clone());
        Trusted::new(self.for_process, agreed.collect())
    }

    /// Whether a directory, in which links are resolved, is on record.
    pub(crate) fn is_recorded(&self, directory: &Path) -> bool {
        self.recorded(directory).is_some()
    }

    /// Who owns a directory now that is on record but not believed, because it was somebody else's then.
    pub(crate) fn stranger(&self, directory: &Path) -> Option<Stranger> {
        self.recorded(directory)?.agreed.stranger()
    }

    fn recorded(&self, directory: &Path) -> Option<&TrustedProject> {
        self.projects.iter().find(|trusted| trusted.agreed.path == directory)
    }

    /// The trusted projects, in the order in which they were trusted.
    pub(crate) fn list(&self) -> &[TrustedProject] {
        &self.projects
    }

    /// Trusts a root, in which links are resolved, as the one whose it is now. `false` if it was trusted already.
    pub(crate) fn add(&mut self, root: &Path) -> Result<bool, TrustError> {
        match self.is_too_wide(root) {
            true => Err(TrustError::TooWide { path: root.to_path_buf() }),
            false => self.add_by_force(root),
        }
    }

    /// Trusts a root even if it holds the home directory.
    pub(crate) fn add_by_force(&mut self, root: &Path) -> Result<bool, TrustError> {
        if root.to_str().is_none() {
            return Err(TrustError::NotText { path: root.to_path_buf() });
        }
        self.change(|projects| {
            let agreed = Agreed::now(root);
            let is_new = projects.iter().all(|trusted| trusted.agreed != agreed);
            if is_new {
                projects.retain(|trusted| trusted.agreed.path != root);
                projects.push(TrustedProject { agreed, at: now() });
            }
            is_new
        })
    }

    /// Trusts a root no longer; it need not exist any more. `false` if it was not trusted.
    pub(crate) fn remove(&mut self, root: &Path) -> Result<bool, TrustError> {
        let real = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        self.change(|projects| {
            let before = projects.len();
            projects.retain(|TrustedProject { agreed, .. }| agreed.path != real && agreed.path != root);
            projects.len() < before
        })
    }

    fn is_too_wide(&self, root: &Path) -> bool {
        let real_home = self.home.as_ref().and_then(|home| home.canonicalize().ok());
        let holds = |home: &Option<PathBuf>| home.as_ref().is_some_and(|home| home.starts_with(root));
        root.parent().is_none() || holds(&self.home) || holds(&real_home)
    }

    /// Changes the record as it is now, which another process may have changed since it was loaded.
    fn change(&mut self, change: impl FnOnce(&mut Vec<TrustedProject>) -> bool) -> Result<bool, TrustError> {
        let path = record(&self.state);
        let failed = |source| TrustError::Write { path: path.clone(), source };
        create_private(&self.state).map_err(failed)?;
        let _lock = lock(&self.state.join("trust.lock"), &path)?;
        let mut projects = read(&path)?;
        let changed = change(&mut projects);
        if changed {
            write(&self.state, &path, &projects).map_err(failed)?;
        }
        self.projects = projects;
        Ok(changed)
    }
}

fn record(state: &Path) -> PathBuf {
    state.join("trust.json")
}

fn read(path: &Path) -> Result<Vec<TrustedProject>, TrustError> {
    let malformed = |reason: String| TrustError::Malformed { path: path.to_path_buf(), reason };
    let bytes = match read_bounded(path) {
        Ok(bytes) => bytes,
        Err(Unread::Absent) => return Ok(Vec::new()),
        Err(Unread::NotAFile(kind)) => return Err(malformed(format!("it is {kind}"))),
        Err(Unread::TooLarge) => return Err(malformed("it is too large".to_owned())),
        Err(Unread::Io(source)) => return Err(TrustError::Read { path: path.to_path_buf(), source }),
    };
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| malformed(error.to_string()))?;
    match value["v"].as_u64() {
        Some(VERSION) => {}
        Some(other) => return Err(malformed(format!("version {other}, this haft knows {VERSION}"))),
        None => return Err(malformed("it has no version".to_owned())),
    }
    let projects = value["projects"].as_array().ok_or_else(|| malformed("it has no projects".to_owned()))?;
    let project = |value: &Value| {
        let path = value["path"].as_str().map(PathBuf::from).filter(|path| path.is_absolute())?;
        let owner = value["owner"].as_u64().and_then(|owner| u32::try_from(owner).ok());
        Some(TrustedProject { agreed: Agreed { path, owner }, at: value["at"].as_u64()? })
    };
    let read: Option<Vec<_>> = projects.iter().map(project).collect();
    read.ok_or_else(|| malformed("a project needs an absolute path and a time".to_owned()))
}

/// Writes the record whole or not at all.
fn write(state: &Path, path: &Path, projects: &[TrustedProject]) -> io::Result<()> {
    let row = |TrustedProject { agreed, at }: &TrustedProject| json!({ "path": agreed.path.to_str(), "at": at, "owner": agreed.owner });
    let rows = projects.iter().map(row);
    let value = json!({ "v": VERSION, "projects": rows.collect::<Vec<_>>() });
    let new = state.join("trust.json.new");
    let mut file = private().create(true).write(true).truncate(true).open(&new)?;
    writeln!(file, "{value:#}")?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    File::open(state)?.sync_all()
}

/// Waits for other writers, but not for ever. Dropping the file lets the next one in.
fn lock(path: &Path, record: &Path) -> Result<File, TrustError> {
    let failed = |source| TrustError::Write { path: record.to_path_buf(), source };
    let file = private().create(true).append(true).open(path).map_err(failed)?;
    let since = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
            Err(TryLockError::WouldBlock) if since.elapsed() > LOCK_WAIT_MAX => {
                return Err(TrustError::Busy { path: record.to_path_buf() });
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_RETRY),
        }
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Opens files that only their owner can read.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

pub(crate) fn create_private(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct World {
        temp: tempfile::TempDir,
        paths: Paths,
    }

    fn world() -> World {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("home/repo/sub")).unwrap();
        let home = root.join("home");
        let env: Env = [("HOME", home.as_os_str())].into_iter().collect();
        World { temp, paths: Paths::from_env(&env).unwrap() }
    }

    impl World {
        fn repo(&self) -> PathBuf {
            self.temp.path().canonicalize().unwrap().join("home/repo")
        }

        fn trust(&self) -> Result<Trust, TrustError> {
            Trust::load(&self.paths, &Env::default())
        }

        fn record(&self, text: &str) -> Result<Trust, TrustError> {
            fs::create_dir_all(&self.paths.state).unwrap();
            fs::write(self.paths.state.join("trust.json"), text).unwrap();
            self.trust()
        }
    }

    #[test]
    fn trust_is_recorded_and_withdrawn_outside_of_the_project() {
        let world = world();
        let mut trust = world.trust().unwrap();
        assert!(!trust.trusted().holds(&world.repo()));
        assert!(trust.add(&world.repo()).unwrap() && trust.trusted().holds(&world.repo()));
        assert!(!trust.add(&world.repo()).unwrap());

        let again = world.trust().unwrap();
        assert!(again.trusted().holds(&world.repo()));
        assert_eq!(
            again.list().iter().map(|project| project.agreed.path.clone()).collect::<Vec<_>>(),
            [world.repo()]
        );
        assert!(again.list()[0].at > 1_600_000_000_000);
        assert_eq!(fs::read_dir(world.repo()).unwrap().count(), 1);

        assert!(trust.remove(&world.repo()).unwrap() && !trust.remove(&world.repo()).unwrap());
        assert!(!world.trust().unwrap().trusted().holds(&world.repo()));
    }

    #[test]
    fn trust_covers_one_root_and_nothing_above_or_below() {
        let world = world();
        let mut trust = world.trust().unwrap();
        trust.add(&world.repo()).unwrap();
        assert!(!trust.trusted().holds(&world.repo().join("sub")));
        assert!(!trust.trusted().holds(world.repo().parent().unwrap()));
        assert!(!trust.trusted().holds(&world.repo().with_file_name("repo2")));
    }

    #[test]
    fn what_holds_the_home_directory_needs_force() {
        let world = world();
        let home = world.repo().parent().unwrap().to_path_buf();
        let mut trust = world.trust().unwrap();
        for wide in [Path::new("/"), &home, home.parent().unwrap()] {
            assert!(matches!(trust.add(wide), Err(TrustError::TooWide { .. })), "{wide:?}");
        }
        assert!(trust.add_by_force(&home).unwrap() && trust.trusted().holds(&home));
    }

    #[test]
    fn a_variable_trusts_for_the_process_alone() {
        let world = world();
        let env: Env = [("HAFT_TRUST", "1")].into_iter().collect();
        assert!(Trust::load(&world.paths, &env).unwrap().trusted().holds(&world.repo()));
        let env: Env = [("HAFT_TRUST", "0")].into_iter().collect();
        assert!(!Trust::load(&world.paths, &env).unwrap().trusted().holds(&world.repo()));
        assert!(!world.paths.state.exists());
    }

    #[test]
    fn a_malformed_record_is_an_error_and_stays_as_it_is() {
        for text in [
            "",
            "{",
            "[]",
            "null",
            "{}",
            r#"{"v":2,"projects":[]}"#,
            r#"{"v":1}"#,
            r#"{"v":1,"projects":{}}"#,
            r#"{"v":1,"projects":["/x"]}"#,
            r#"{"v":1,"projects":[{"path":"x","at":1}]}"#,
            r#"{"v":1,"projects":[{"path":"/x"}]}"#,
        ] {
            let world = world();
            assert!(matches!(world.record(text), Err(TrustError::Malformed { .. })), "{text}");
            let mut blank = Trust {
                state: world.paths.state.clone(),
                home: None,
                for_process: false,
                projects: Vec::new(),
            };
            assert!(blank.add(&world.repo()).is_err());
            assert_eq!(fs::read_to_string(world.paths.state.join("trust.json")).unwrap(), text);
        }
        assert!(
            world()
                .record(r#"{"v":1,"projects":[{"path":"/x","at":1}]}"#)
                .unwrap()
                .trusted()
                .holds(Path::new("/x"))
        );
    }

    #[test]
    fn writers_do_not_lose_each_others_projects() {
        let world = world();
        let root = world.repo();
        std::thread::scope(|scope| {
            for n in 0..8 {
                let (paths, root) = (&world.paths, root.join(format!("p{n}")));
                scope.spawn(move || {
                    let mut trust = Trust::load(paths, &Env::default()).unwrap();
                    assert!(trust.add(&root).unwrap());
                });
            }
        });
        assert_eq!(world.trust().unwrap().list().len(), 8);
        let mode = fs::metadata(world.paths.state.join("trust.json")).unwrap().permissions();
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777, 0o600);
    }
}
