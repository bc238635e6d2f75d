//! Where haft keeps its things and which project it stands in, worked out from a snapshot of the environment.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The environment variables as they were at one moment. An empty variable counts as absent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Env(BTreeMap<OsString, OsString>);

/// The directories of haft, and those of others that it reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Paths {
    /// The database and the retained outputs.
    pub(crate) data: PathBuf,
    /// What haft remembers about this machine: trust, logs.
    pub(crate) state: PathBuf,
    /// What can be made again.
    pub(crate) cache: PathBuf,
    /// The person's own configuration.
    pub(crate) config: PathBuf,
    /// The person's configuration of opencode, which is read too.
    pub(crate) opencode: Option<PathBuf>,
    /// The person's home directory.
    pub(crate) home: Option<PathBuf>,
}

impl Paths {
    /// What decides about everything else: neither tools nor commands get to it.
    pub(crate) fn own(&self) -> [PathBuf; 3] {
        [self.data.clone(), self.state.clone(), self.manifests()]
    }

    /// What is known of plugins without running them, and so which of them have a say.
    pub(crate) fn manifests(&self) -> PathBuf {
        self.cache.join("plugins")
    }

    /// Where that is kept which was taken away from protected paths, and who was let write there.
    pub(crate) fn custody(&self) -> PathBuf {
        self.data.join("custody")
    }

    /// Where git looks for what is configured for every repository.
    pub(crate) fn of_git(&self, env: &Env) -> Vec<PathBuf> {
        let system = env.absolute("GIT_CONFIG_SYSTEM").unwrap_or_else(|| PathBuf::from("/etc/gitconfig"));
        let in_home = |path: &str| Some(self.home.as_ref()?.join(path));
        let xdg = || env.absolute("XDG_CONFIG_HOME").or_else(|| in_home(".config"));
        let global = match env.absolute("GIT_CONFIG_GLOBAL") {
            Some(only) => vec![only],
            None => {
                xdg().map(|dir| dir.join("git/config")).into_iter().chain(in_home(".gitconfig")).collect()
            }
        };
        std::iter::once(system).chain(global).collect()
    }

    /// Where the person's own configuration lies, all of which is believed.
    pub(crate) fn configuration(&self) -> Vec<PathBuf> {
        std::iter::once(&self.config).chain(&self.opencode).cloned().collect()
    }
}

/// Why there is no place to keep things.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PathsError {
    /// Neither a home directory nor anything in its place is known.
    #[error(
        "no home directory: set HOME, or HAFT_HOME to a directory where haft may keep its data, state, cache and config"
    )]
    NoHome,
    /// The variable that moves everything is not an absolute path.
    #[error("HAFT_HOME must be an absolute path, found {0:?}")]
    Relative(PathBuf),
}

impl Env {
    /// Takes the variables of this process.
    pub(crate) fn real() -> Env {
        std::env::vars_os().collect()
    }

    /// The value of a variable that is set to something.
    pub(crate) fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// All variables that are set to something, as text.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
        let set = self.0.iter().filter(|(_, value)| !value.is_empty());
        set.map(|(name, value)| (name.to_string_lossy(), value.to_string_lossy()))
    }

    /// The person's home directory.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.absolute("HOME")
    }

    /// Whether a switch is on: `1` or `true`.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value == "1" || value.eq_ignore_ascii_case("true"))
    }

    /// A variable that names an absolute path. The XDG specification tells to ignore others.
    fn absolute(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }
}

impl<K: Into<OsString>, V: Into<OsString>> FromIterator<(K, V)> for Env {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Env {
        Env(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl Paths {
    /// Finds the directories: below `HAFT_HOME` if it is set, else where XDG says. Creates none of them.
    pub(crate) fn from_env(env: &Env) -> Result<Paths, PathsError> {
        let home = env.home();
        let xdg = |variable: &str, default: &str| {
            env.absolute(variable).or_else(|| Some(home.as_ref()?.join(default)))
        };
        let opencode = xdg("XDG_CONFIG_HOME", ".config").map(|dir| dir.join("opencode"));
        if let Some(moved) = env.get("HAFT_HOME").map(PathBuf::from) {
            if !moved.is_absolute() {
                return Err(PathsError::Relative(moved));
            }
            let [data, state, cache, config] =
                ["data", "state", "cache", "config"].map(|name| moved.join(name));
            return Ok(Paths { data, state, cache, config, opencode, home });
        }
        let ours =
            |variable, default| xdg(variable, default).map(|dir| dir.join("haft")).ok_or(PathsError::NoHome);
        Ok(Paths {
            data: ours("XDG_DATA_HOME", ".local/share")?,
            state: ours("XDG_STATE_HOME", ".local/state")?,
            cache: ours("XDG_CACHE_HOME", ".cache")?,
            config: ours("XDG_CONFIG_HOME", ".config")?,
            opencode,
            home,
        })
    }
}

/// The git root at or above a directory: the nearest with a `.git`, be it a directory or the file of a worktree.
/// The directory is taken as it is written, so links in it have to be resolved before.
pub(crate) fn project_root(cwd: &Path) -> Option<PathBuf> {
    cwd.ancestors().find(|directory| directory.join(".git").exists()).map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(variables: &[(&str, &str)]) -> Result<Paths, PathsError> {
        Paths::from_env(&variables.iter().copied().collect())
    }

    #[test]
    fn haft_home_moves_every_directory_of_ours() {
        let moved = paths(&[("HAFT_HOME", "/h"), ("HOME", "/home/ada"), ("XDG_DATA_HOME", "/d")]).unwrap();
        assert_eq!(
            [&moved.data, &moved.state, &moved.cache, &moved.config],
            [Path::new("/h/data"), Path::new("/h/state"), Path::new("/h/cache"), Path::new("/h/config")]
        );
        assert_eq!(moved.opencode.as_deref(), Some(Path::new("/home/ada/.config/opencode")));
        assert_eq!(paths(&[("HAFT_HOME", "/h")]).unwrap().opencode, None);
        assert_eq!(paths(&[("HAFT_HOME", "h")]), Err(PathsError::Relative("h".into())));
    }

    #[test]
    fn xdg_decides_otherwise_and_home_is_the_default() {
        let plain = paths(&[("HOME", "/home/ada")]).unwrap();
        assert_eq!(plain.data, Path::new("/home/ada/.local/share/haft"));
        assert_eq!(plain.state, Path::new("/home/ada/.local/state/haft"));
        assert_eq!(plain.cache, Path::new("/home/ada/.cache/haft"));
        assert_eq!(plain.config, Path::new("/home/ada/.config/haft"));

        let chosen = paths(&[
            ("HOME", "/home/ada"),
            ("XDG_DATA_HOME", "/d"),
            ("XDG_CONFIG_HOME", "/c"),
            ("XDG_CACHE_HOME", "not/absolute"),
            ("XDG_STATE_HOME", ""),
        ]);
        let chosen = chosen.unwrap();
        assert_eq!((chosen.data, chosen.config), ("/d/haft".into(), "/c/haft".into()));
        assert_eq!(chosen.opencode, Some("/c/opencode".into()));
        assert_eq!(chosen.cache, Path::new("/home/ada/.cache/haft"));
        assert_eq!(chosen.state, Path::new("/home/ada/.local/state/haft"));
    }

    #[test]
    fn the_configuration_of_git_is_where_git_looks_for_it() {
        for (variables, expected) in [
            (vec![], vec!["/etc/gitconfig", "/home/ada/.config/git/config", "/home/ada/.gitconfig"]),
            (
                vec![("XDG_CONFIG_HOME", "/c")],
                vec!["/etc/gitconfig", "/c/git/config", "/home/ada/.gitconfig"],
            ),
            (vec![("GIT_CONFIG_GLOBAL", "/g"), ("GIT_CONFIG_SYSTEM", "/s")], vec!["/s", "/g"]),
        ] {
            let env: Env = [("HOME", "/home/ada")].into_iter().chain(variables).collect();
            let found = Paths::from_env(&env).unwrap().of_git(&env);
            assert_eq!(found, expected.into_iter().map(PathBuf::from).collect::<Vec<_>>());
        }
    }

    #[test]
    fn without_any_home_the_error_says_what_to_set() {
        let error = paths(&[("HOME", ""), ("HAFT_HOME", "")]).unwrap_err().to_string();
        assert!(error.contains("HOME") && error.contains("HAFT_HOME"), "{error}");
        let error = paths(&[("XDG_DATA_HOME", "/d"), ("HOME", "relative")]).unwrap_err();
        assert_eq!(error, PathsError::NoHome);
    }

    #[test]
    fn switches_are_on_for_one_and_true_only() {
        let env: Env = [("A", "1"), ("B", "TRUE"), ("C", "0"), ("D", "yes"), ("E", "")].into_iter().collect();
        assert_eq!(
            ["A", "B", "C", "D", "E", "F"].map(|name| env.is_on(name)),
            [true, true, false, false, false, false]
        );
    }

    #[test]
    fn the_project_root_is_the_nearest_with_git_be_it_a_directory_or_a_file() {
        let temp = tempfile::tempdir().unwrap();
        let deep = temp.path().join("repo/sub/deep");
        std::fs::create_dir_all(&deep).unwrap();
        assert_eq!(project_root(&deep), None);
        std::fs::create_dir(temp.path().join("repo/.git")).unwrap();
        assert_eq!(project_root(&deep), Some(temp.path().join("repo")));
        std::fs::write(temp.path().join("repo/sub/.git"), "gitdir: ../elsewhere").unwrap();
        assert_eq!(project_root(&deep), Some(temp.path().join("repo/sub")));
    }
}
