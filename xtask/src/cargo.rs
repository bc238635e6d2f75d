//! Running cargo from the root of the workspace, and reading what it built.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The root of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

/// The cargo that runs us, started in the root.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(root());
    command
}

/// Runs a command to its end; anything but success is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("could not start {program}"))?;
    if !status.success() {
        bail!("{program} ended with {status}");
    }
    Ok(())
}

/// A program that cargo built.
#[derive(Debug)]
pub(crate) struct Artifact {
    /// The directory of the package, which is also where cargo runs its tests.
    pub(crate) directory: PathBuf,
    pub(crate) target: String,
    pub(crate) kind: Kind,
    pub(crate) executable: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The tests inside a library or a binary.
    Unit,
    /// A file in `tests/`.
    Integration,
    /// A binary as users get it.
    Binary,
    /// Anything else: examples, benches.
    Other,
}

impl Artifact {
    /// The name of the package: in this workspace a package is called like its directory.
    pub(crate) fn package(&self) -> &str {
        self.directory.file_name().and_then(|name| name.to_str()).expect("a package has a directory")
    }
}

/// Builds what `args` ask for and lists the programs that came out, also those already fresh.
pub(crate) fn build(args: &[&str]) -> Result<Vec<Artifact>> {
    let mut command = cargo(args);
    command.arg("--message-format=json-render-diagnostics").stdout(Stdio::piped());
    let built = command.spawn().context("could not start cargo")?.wait_with_output()?;
    if !built.status.success() {
        bail!("cargo {} ended with {}", args.join(" "), built.status);
    }
    String::from_utf8(built.stdout)?.lines().filter_map(|line| artifact(line).transpose()).collect()
}

fn artifact(line: &str) -> Result<Option<Artifact>> {
    let message: Value = serde_json::from_str(line).context("could not read cargo's messages")?;
    let (Some("compiler-artifact"), Some(executable)) =
        (message["reason"].as_str(), message["executable"].as_str())
    else {
        return Ok(None);
    };
    let text = |value: &Value| value.as_str().map(str::to_owned).context("cargo left out a field");
    let manifest = PathBuf::from(text(&message["manifest_path"])?);
    let kind = match (message["target"]["kind"][0].as_str(), message["profile"]["test"].as_bool()) {
        (Some("test"), _) => Kind::Integration,
        (Some("lib" | "bin"), Some(true)) => Kind::Unit,
        (Some("bin"), _) => Kind::Binary,
        _ => Kind::Other,
    };
    Ok(Some(Artifact {
        directory: manifest.parent().context("a manifest lies in a directory")?.to_owned(),
        target: text(&message["target"]["name"])?,
        kind,
        executable: executable.into(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_told_apart_by_kind() {
        let line = |kind: &str, test: bool| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/a/haft/Cargo.toml","executable":"/t/x",
                "target":{{"kind":["{kind}"],"name":"x"}},"profile":{{"test":{test}}}}}"#
            )
        };
        let kind = |line: &str| artifact(line).unwrap().map(|artifact| artifact.kind);
        assert_eq!(kind(&line("lib", true)), Some(Kind::Unit));
        assert_eq!(kind(&line("bin", true)), Some(Kind::Unit));
        assert_eq!(kind(&line("bin", false)), Some(Kind::Binary));
        assert_eq!(kind(&line("test", true)), Some(Kind::Integration));
        assert_eq!(kind(&line("example", false)), Some(Kind::Other));
        assert_eq!(kind(r#"{"reason":"build-finished","success":true}"#), None);
        assert_eq!(artifact(&line("lib", true)).unwrap().unwrap().package(), "haft");
    }
}
