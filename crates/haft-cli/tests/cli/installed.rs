//! Where haft is installed: in a directory of its own, alone or with the programs that belong to it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Place, Ran, ran};

/// A directory to install haft into.
pub(crate) struct Installed {
    pub(crate) place: Place,
}

impl Installed {
    pub(crate) fn new(programs: &[(&str, &str)]) -> Installed {
        let installed = Installed { place: Place::new() };
        installed.place.global_config(r#"{ "sandbox": "off" }"#);
        programs.iter().for_each(|(from, name)| installed.install(Path::new(from), name));
        installed
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.place.outside().join(name)
    }

    /// As `install` does it: the old file stays what it is. By another process, since what this one has open for
    /// writing, a test beside this one may keep from being run.
    pub(crate) fn install(&self, from: &Path, name: &str) {
        let made = Command::new("install").arg(from).arg(self.at(name)).status();
        assert!(made.unwrap().success());
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        ran(self.command(args).output().unwrap())
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let plain = self.place.command(args);
        let mut command = Command::new(self.at("haft"));
        command.args(args).current_dir(self.place.ws()).env_clear();
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    }
}
