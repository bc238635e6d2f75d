//! The programs that tests need besides cargo: provided where we may, named loudly where we may not.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::cargo::{root, run};

/// A program, the package that has it, and what cannot be tested without it.
#[derive(Debug)]
pub(super) struct Prerequisite {
    pub(super) program: &'static str,
    package: Package,
    pub(super) suite: &'static str,
}

/// Where a program comes from.
#[derive(Debug, Clone, Copy)]
enum Package {
    /// Debian.
    Apt(&'static str),
    /// npm, in these versions; they are kept below the target directory and installed nowhere else.
    Npm(&'static [&'static str]),
    /// The same, for what is no program but is imported.
    Modules(&'static [&'static str]),
    /// A component of the toolchain in use. Where there is no rustup, or no such component, nobody is to blame.
    Rustup(&'static str),
}

use Package::{Apt, Modules, Npm, Rustup};

const PYRIGHT: &[&str] = &["pyright@1.1.414"];
const TYPESCRIPT: &[&str] = &["typescript-language-server@4.4.1", "typescript@5.9.3"];
/// What opencode gives its tools: the versions that ours are compared with.
const PLUGIN: &[&str] = &["zod@4.1.8", "@opencode-ai/plugin@1.18.33"];

#[rustfmt::skip]
const PREREQUISITES: &[Prerequisite] = &[
    Prerequisite { program: "git",     package: Apt("git"),        suite: "tidy, and tools inside a repository" },
    Prerequisite { program: "setpriv", package: Apt("util-linux"), suite: "files that an unprivileged user may not touch" },
    Prerequisite { program: "strace",  package: Apt("strace"),     suite: "durable before visible, and what scripts execute, seen from the kernel" },
    Prerequisite { program: "python3", package: Apt("python3"),    suite: "attempts to get out of the sandbox, and commands in Python" },
    Prerequisite { program: "sqlite3", package: Apt("sqlite3"),    suite: "the store, seen from outside" },
    Prerequisite { program: "tmux",    package: Apt("tmux"),       suite: "conversations on a real terminal" },
    Prerequisite { program: "bwrap",   package: Apt("bubblewrap"), suite: "the sandbox by bubblewrap" },
    Prerequisite { program: "clangd",  package: Apt("clangd"),     suite: "language servers: clangd" },
    Prerequisite { program: "node",    package: Apt("nodejs"),     suite: "language servers that misbehave" },
    Prerequisite { program: "npm",     package: Apt("npm"),        suite: "language servers that come from npm" },
    Prerequisite { program: "pyright-langserver",         package: Npm(PYRIGHT),    suite: "language servers: pyright" },
    Prerequisite { program: "typescript-language-server", package: Npm(TYPESCRIPT), suite: "language servers: typescript" },
    Prerequisite { program: "rust-analyzer", package: Rustup("rust-analyzer"), suite: "language servers: rust-analyzer" },
    Prerequisite { program: "zod",     package: Modules(PLUGIN),   suite: "the real zod and @opencode-ai/plugin beside ours" },
];

/// Whether missing programs may be installed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Install {
    WhereAllowed,
    Never,
}

/// Returns what is still missing after installing what could be; on CI nothing may be missing.
pub(super) fn provide(install: Install) -> Result<Vec<&'static Prerequisite>> {
    let mut missing = absent();
    if !missing.is_empty() && install == Install::WhereAllowed {
        if is_root()
            && is_present("apt-get")
            && let Err(error) = apt_get(&missing)
        {
            println!("could not install: {error:#}");
        }
        if is_present("npm") {
            for error in [npm(&missing, &scripts(), programs), npm(&missing, &modules(), imported)]
                .into_iter()
                .filter_map(Result::err)
            {
                println!("could not install: {error:#}");
            }
        }
        if let Err(error) = rustup(&missing) {
            println!("could not install: {error:#}");
        }
        missing = absent();
    }
    for Prerequisite { program, package, suite } in &missing {
        let how = match package {
            Apt(package) => format!("apt-get install {package}"),
            Npm(packages) => {
                format!("npm install --prefix {} {}", scripts().display(), packages.join(" "))
            }
            Modules(packages) => {
                format!("npm install --prefix {} {}", modules().display(), packages.join(" "))
            }
            Rustup(component) => format!("rustup component add {component}"),
        };
        println!("SKIPPED SUITE {suite}: needs {program} ({how})");
    }
    let is_owed = |missing: &&Prerequisite| !matches!(missing.package, Rustup(_));
    if missing.iter().any(is_owed) && std::env::var("CI").is_ok_and(|value| value == "true") {
        bail!("on CI no suite may be skipped");
    }
    Ok(missing)
}

fn absent() -> Vec<&'static Prerequisite> {
    let is_absent = |prerequisite: &&Prerequisite| match prerequisite.package {
        Apt(_) => !is_present(prerequisite.program),
        // The ones in these versions, whatever else is there.
        Npm(_) => !scripts().join("node_modules/.bin").join(prerequisite.program).exists(),
        Modules(_) => !modules().join("node_modules").join(prerequisite.program).exists(),
        // Rustup has a link for it even where it is not installed.
        Rustup(_) => !Command::new(prerequisite.program)
            .arg("--version")
            .output()
            .is_ok_and(|output| output.status.success()),
    };
    PREREQUISITES.iter().filter(is_absent).collect()
}

fn apt_get(missing: &[&Prerequisite]) -> Result<()> {
    let apt_get =
        |args: &[&str]| run(Command::new("apt-get").args(args).env("DEBIAN_FRONTEND", "noninteractive"));
    let packages = missing.iter().filter_map(|prerequisite| match prerequisite.package {
        Apt(package) => Some(package),
        Npm(_) | Modules(_) | Rustup(_) => None,
    });
    let packages: Vec<&str> = packages.collect();
    if packages.is_empty() {
        return Ok(());
    }
    apt_get(&["update"])?;
    packages.iter().try_for_each(|package| apt_get(&["install", "-y", "--no-install-recommends", package]))
}

/// Installs all of one place at once, because each installation removes what it does not name.
fn npm(
    missing: &[&Prerequisite],
    place: &Path,
    of_place: fn(Package) -> &'static [&'static str],
) -> Result<()> {
    if missing.iter().all(|prerequisite| of_place(prerequisite.package).is_empty()) {
        return Ok(());
    }
    std::fs::create_dir_all(place)?;
    let mut command = Command::new("npm");
    command
        .args(["install", "--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--prefix"])
        .arg(place);
    for prerequisite in PREREQUISITES {
        command.args(of_place(prerequisite.package));
    }
    run(&mut command)
}

/// Adds components to the toolchain in use, where rustup looks after it.
fn rustup(missing: &[&Prerequisite]) -> Result<()> {
    let components = missing.iter().filter_map(|prerequisite| match prerequisite.package {
        Rustup(component) => Some(component),
        Apt(_) | Npm(_) | Modules(_) => None,
    });
    let components: Vec<&str> = components.collect();
    if components.is_empty() || !is_present("rustup") {
        return Ok(());
    }
    run(Command::new("rustup").args(["component", "add"]).args(components))
}

fn programs(package: Package) -> &'static [&'static str] {
    if let Npm(packages) = package { packages } else { &[] }
}

fn imported(package: Package) -> &'static [&'static str] {
    if let Modules(packages) = package { packages } else { &[] }
}

/// Where programs from npm are kept: it goes with `cargo clean`, and stays until then.
fn scripts() -> PathBuf {
    target().join("lsp-servers")
}

/// Where packages from npm are kept that tests import.
pub(super) fn modules() -> PathBuf {
    target().join("plugin-packages")
}

fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

fn is_present(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
