//! Becoming a program. All that it takes is made ready beforehand, so that only system calls are left for a process that
//! shares the memory of another one (`sys::start_sharing`).

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::sys::{self, Words};
use super::told::Told;
use crate::spec::Program;

/// Where a program is looked for if its environment does not say.
const USUAL_PATH: &str = "/bin:/usr/bin";

/// A program that a process can become.
pub(super) struct Ready {
    /// Where it may be; nothing, if it is only asked whether it could be started.
    places: Vec<CString>,
    args: Words,
    env: Words,
    directory: CString,
    /// Whether it is given a terminal.
    terminal: bool,
}

impl Ready {
    /// Makes a program ready. Fails where something of it cannot be told to the kernel.
    pub(super) fn of(program: &Program, terminal: bool) -> Result<Ready, Told> {
        let text = |text: &OsStr| {
            CString::new(text.as_bytes()).map_err(|_| Told::Start("it contains a NUL byte".to_owned()))
        };
        let texts = |texts: &mut dyn Iterator<Item = &OsStr>| texts.map(text).collect::<Result<Vec<_>, _>>();
        let settings = settings(program);
        let args = std::iter::once(&program.program).chain(&program.args).map(OsString::as_os_str);
        Ok(Ready {
            places: texts(&mut places(program).iter().map(OsString::as_os_str))?,
            args: Words::new(texts(&mut { args })?),
            env: Words::new(texts(&mut settings.iter().map(OsString::as_os_str))?),
            directory: text(program.cwd.as_os_str())?,
            terminal,
        })
    }

    /// Becomes the program, in a session of its own. Returns only what went wrong.
    pub(super) fn become_it(&self) -> Told {
        // Bubblewrap may have made the session already.
        rustix::process::setsid().ok();
        if self.terminal {
            rustix::process::ioctl_tiocsctty(rustix::stdio::stdin()).ok();
        }
        if let Err(error) = rustix::process::chdir(&self.directory) {
            let error = io::Error::from(error);
            return Told::Start(format!("could not enter {}: {error}", self.directory.to_string_lossy()));
        }
        if self.places.is_empty() {
            // Only asked whether it could be done.
            sys::exit_now(0)
        }
        if let Err(error) = sys::unblock_signals() {
            return Told::Setup(format!("could not unblock signals: {error}"));
        }
        let mut refused = None;
        for place in &self.places {
            let error = sys::execute(place, &self.args, &self.env);
            match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {}
                // There may be another one further on, but this is what is told.
                io::ErrorKind::PermissionDenied => refused = refused.or(Some(error)),
                _ => return Told::Start(error.to_string()),
            }
        }
        Told::Start(refused.unwrap_or_else(|| rustix::io::Errno::NOENT.into()).to_string())
    }
}

/// Where a program may be: a name without a slash is looked for as its own environment says.
fn places(program: &Program) -> Vec<OsString> {
    let name = &program.program;
    if name.is_empty() || name.as_bytes().contains(&b'/') {
        return Some(name.clone()).filter(|name| !name.is_empty()).into_iter().collect();
    }
    let path = program.env.iter().rev().find(|(variable, _)| variable == "PATH");
    let path = path.map_or(OsStr::new(USUAL_PATH), |(_, path)| path);
    std::env::split_paths(path).map(|directory| directory.join(name).into_os_string()).collect()
}

/// Variables as the kernel takes them. Of one that is set twice the last value counts.
fn settings(program: &Program) -> Vec<OsString> {
    let last: BTreeMap<&OsString, &OsString> =
        program.env.iter().map(|(name, value)| (name, value)).collect();
    let setting = |(name, value): (&OsString, &OsString)| [name.as_bytes(), b"=", value.as_bytes()].concat();
    last.into_iter().map(setting).map(OsString::from_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::{Program, places, settings};

    #[test]
    fn a_name_is_looked_for_where_its_environment_says() {
        let looked = |name: &str, env: &[(&str, &str)]| {
            let env = env.iter().map(|(name, value)| (name.into(), value.into())).collect();
            places(&Program { program: name.into(), args: Vec::new(), env, cwd: "/".into() })
        };
        assert_eq!(looked("a", &[]), ["/bin/a", "/usr/bin/a"]);
        assert_eq!(looked("a", &[("PATH", "/x:/y")]), ["/x/a", "/y/a"]);
        assert_eq!(looked("./a", &[("PATH", "/x")]), ["./a"]);
        assert!(looked("", &[("PATH", "/x")]).is_empty());
    }

    #[test]
    fn the_last_value_of_a_variable_counts() {
        let env = [("B", "1"), ("A", "x=y"), ("B", "2")].map(|(name, value)| (name.into(), value.into()));
        let program = Program { program: "a".into(), args: Vec::new(), env: env.to_vec(), cwd: "/".into() };
        assert_eq!(settings(&program), ["A=x=y", "B=2"]);
    }
}
