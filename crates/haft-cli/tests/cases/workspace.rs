//! The fresh directory of one case: `work/`, `outside/`, `home/`, its files, its rules and its environment.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, ensure};
use serde_json::{Map, Value};
use tempfile::TempDir;

use crate::case::Case;
use crate::content::{Names, content_of, generate};

/// Where the `config` of a case is written.
const CONFIG_FILE: &str = "opencode.json";

/// Families of variables that would let the person's own setup into a case.
const FOREIGN: [&str; 3] = ["HAFT_", "OPENCODE_", "XDG_"];

/// Where one case lives. Dropping it removes everything.
pub(crate) struct Workspace {
    pub(crate) names: Names,
    /// The whole of it, also what is outside the working directory.
    pub(crate) root: PathBuf,
    pub(crate) cwd: PathBuf,
    /// The file that holds the rules of the case.
    pub(crate) permission: PathBuf,
    home: PathBuf,
    // Removes the directory last, after it was made removable.
    _directory: TempDir,
}

impl Workspace {
    /// Makes an empty workspace with a working directory and nothing else.
    pub(crate) fn empty(subdir: Option<&str>, server: &str) -> anyhow::Result<Workspace> {
        let directory = tempfile::Builder::new().prefix("haftcase-").tempdir()?;
        let root = directory.path().canonicalize()?;
        let (top, outside, home) = (root.join("work"), root.join("outside"), root.join("home"));
        let cwd = subdir.map_or_else(|| top.clone(), |subdir| top.join(subdir));
        for made in [&cwd, &outside, &home] {
            fs::create_dir_all(made)?;
        }
        let mut names = Names::default();
        let parent = cwd.parent().context("a working directory has a parent")?;
        let places = [
            ("cwd", cwd.as_path()),
            ("root", &top),
            ("parent", parent),
            ("outside", &outside),
            ("home", &home),
        ];
        for (name, place) in places {
            names.bind(name, place.display().to_string());
        }
        names.bind("server", server.to_owned());
        let permission = root.join("permission.json");
        Ok(Workspace { names, root, cwd, permission, home, _directory: directory })
    }

    /// Lays out everything that a case describes.
    pub(crate) fn lay_out(case: &Case, server: &str) -> anyhow::Result<Workspace> {
        let workspace = Workspace::empty(case.subdir.as_deref(), server)?;
        if case.git {
            workspace.init_git()?;
        }
        let mut links = Vec::new();
        for (name, spec) in &case.files {
            let path = workspace.path(name);
            match spec.get("symlink").and_then(Value::as_str) {
                Some(target) => links.push((path, workspace.names.fill(target))),
                None => workspace.put(&path, spec).with_context(|| format!("could not make {name}"))?,
            }
        }
        for (path, target) in links {
            fs::create_dir_all(path.parent().unwrap_or(&workspace.root))?;
            symlink(target, &path).with_context(|| format!("could not link {}", path.display()))?;
        }
        if let Some(config) = &case.config {
            let config = workspace.names.fill_value(config)?;
            fs::write(workspace.cwd.join(CONFIG_FILE), config.to_string())?;
        }
        workspace.rules("permission.json", &case.permission)?;
        Ok(workspace)
    }

    /// Returns where a name of a case lies: as it is, or below the working directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.cwd.join(self.names.fill(name))
    }

    /// Writes rules beside the working directory, where no tool looks for them.
    pub(crate) fn rules(&self, name: &str, rules: &Value) -> anyhow::Result<PathBuf> {
        let path = self.root.join(name);
        fs::write(&path, self.names.fill_value(rules)?.to_string())?;
        Ok(path)
    }

    /// Writes the content of one file.
    pub(crate) fn write(&self, path: &Path, content: &Value) -> anyhow::Result<()> {
        let body = generate(&self.names.fill_value(content)?)?;
        fs::write(path, body).with_context(|| format!("could not write {}", path.display()))
    }

    /// Returns the environment of the binary: ours, a home of its own, and what the case adds.
    pub(crate) fn environment(
        &self,
        added: &Map<String, Value>,
    ) -> anyhow::Result<Vec<(OsString, OsString)>> {
        let foreign =
            |name: &OsString| FOREIGN.iter().any(|family| name.to_string_lossy().starts_with(family));
        let mut variables: Vec<_> = env::vars_os().filter(|(name, _)| !foreign(name)).collect();
        let mut set = |name: &str, value: OsString| variables.push((name.into(), value));
        set("HOME", self.home.clone().into());
        set("XDG_CONFIG_HOME", self.home.join(".config").into());
        set("XDG_DATA_HOME", self.home.join(".local/share").into());
        set("XDG_CACHE_HOME", self.home.join(".cache").into());
        set("XDG_STATE_HOME", self.home.join(".local/state").into());
        // The project files of a case are its own, and its server is on the loopback.
        set("HAFT_TRUST", "1".into());
        set("HAFT_CONFIG_CONTENT", r#"{"webfetch":{"allow_private":["127.0.0.1:*"]}}"#.into());
        for (name, value) in added {
            let value = value.as_str().with_context(|| format!("env {name} is not a string"))?;
            set(name, self.names.fill(value).into());
        }
        Ok(variables)
    }

    fn init_git(&self) -> anyhow::Result<()> {
        let top = self.root.join("work");
        let mut git = Command::new("git");
        git.args(["init", "-q"]).arg(top).env("HOME", &self.home).env("GIT_CONFIG_NOSYSTEM", "1");
        ensure!(git.status().context("could not run git")?.success(), "git init did not succeed");
        Ok(())
    }

    fn put(&self, path: &Path, spec: &Value) -> anyhow::Result<()> {
        fs::create_dir_all(path.parent().unwrap_or(&self.root))?;
        let Some(fields) = spec.as_object() else { return self.write(path, spec) };
        if fields.get("dir") == Some(&Value::Bool(true)) {
            fs::create_dir_all(path)?;
        } else {
            self.write(path, &content_of(fields).context("no content is described")?)?;
        }
        if let Some(offset) = fields.get("mtime") {
            let time = moment(offset.as_f64().context("mtime is a number of seconds")?);
            File::open(path)?.set_times(FileTimes::new().set_accessed(time).set_modified(time))?;
        }
        if let Some(wanted) = fields.get("mode") {
            fs::set_permissions(path, Permissions::from_mode(mode(wanted)?))?;
        }
        Ok(())
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        make_removable(&self.root);
    }
}

/// Reads a mode as cases write it: octal digits, as a string or as a number.
pub(crate) fn mode(value: &Value) -> anyhow::Result<u32> {
    let digits = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    u32::from_str_radix(&digits, 8).with_context(|| format!("mode {value} is not octal"))
}

fn moment(seconds_from_now: f64) -> SystemTime {
    let distance = Duration::from_secs_f64(seconds_from_now.abs());
    if seconds_from_now < 0.0 { SystemTime::now() - distance } else { SystemTime::now() + distance }
}

/// Opens every directory again that a case closed. What cannot be opened stays, as it would have.
fn make_removable(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let path = entry.path();
            fs::set_permissions(&path, Permissions::from_mode(0o755)).ok();
            make_removable(&path);
        }
    }
}
