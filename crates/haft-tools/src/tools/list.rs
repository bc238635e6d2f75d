//! The tool `list`: the tree of files below a directory.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use haft::permission::Gate;
use haft::{Action, Encoded, Executor, Presented, ToolContext, ToolError, visible};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::searching;
use crate::services::ToolServices;
use crate::workspace::{ReadTarget, Tree, TreeSpec, Workspace};

const ACTION: &str = "list";
const FILES_MAX: usize = 100;

/// What is rarely worth seeing.
#[rustfmt::skip]
const IGNORED: &[&str] = &[
    "node_modules/", "__pycache__/", ".git/", "dist/", "build/", "target/", "vendor/", "bin/", "obj/", ".idea/",
    ".vscode/", ".zig-cache/", "zig-out", ".coverage", "coverage/", "tmp/", "temp/", ".cache/", "cache/", "logs/",
    ".venv/", "venv/", "env/",
];

/// Lists files and directories below a directory as a tree, at most 100 files.
///
/// Build output, dependencies, caches, version control and whatever ignore files name are left out; hidden files are
/// shown. Prefer glob or grep if you know what you are looking for.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// The directory to list: absolute, or relative to the working directory. Leave it out for the working directory.
    path: Option<String>,
    /// Further glob patterns of what to leave out, such as `*.log` or `fixtures/`.
    ignore: Option<Vec<String>>,
}

/// The files that were found.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The absolute path of the directory.
    path: String,
    /// Its path relative to the root of the project.
    name: String,
    /// The files, relative to the directory.
    files: Vec<String>,
    /// Whether there are more files than these.
    truncated: bool,
    /// So many paths could not be read.
    unreadable: usize,
    /// Whether time ran out before everything was seen.
    partial: bool,
}

pub(crate) struct List {
    workspace: Workspace,
    gate: Gate,
    time_max: Duration,
}

impl List {
    pub(crate) fn new(services: &ToolServices) -> List {
        let (workspace, gate) = (services.workspace.clone(), services.gate.clone());
        List { workspace, gate, time_max: searching::TIME_MAX }
    }
}

impl Executor for List {
    type Input = Input;
    type Output = Output;

    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("filePath", "path"), ("dirPath", "path"), ("dir_path", "path"), ("directory", "path")];

    async fn execute(&self, input: &Input, context: &ToolContext) -> Result<Output, ToolError> {
        let place = self.workspace.resolve(input.path.as_deref().unwrap_or("."))?;
        let (path, name) = (place.spelled_text(), place.name().to_owned());
        let permit = self.gate.grant(context, ReadTarget::new(place, Action::new(ACTION))).await?;
        let built_in = IGNORED.iter().map(|glob| (*glob).to_owned());
        let ignore = built_in.chain(input.ignore.iter().flatten().cloned()).collect();
        let deadline = Instant::now() + self.time_max;
        let tree = self.workspace.tree(permit, TreeSpec { ignore, files_max: FILES_MAX, deadline }).await?;
        let files = tree.files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
        let Tree { has_more, unreadable, is_partial, .. } = tree;
        Ok(Output { path, name, files, truncated: has_more, unreadable, partial: is_partial })
    }

    fn present(_: &Input, output: &Encoded<Output>) -> Presented {
        let mut root = Branch::default();
        output.files.iter().for_each(|file| root.add(file));
        let mut text = format!("{}/\n", visible(output.path.trim_end_matches('/')));
        root.print(1, &mut text);
        if output.truncated {
            text.push_str(&format!(
                "\n(Only the first {} files are shown. List a directory below, or use ignore.)\n",
                output.files.len()
            ));
        }
        text.push_str(&searching::caveats(output.unreadable, output.partial));
        Presented::text(text)
            .titled(output.name.as_str())
            .with("count", output.files.len())
            .with("truncated", output.truncated)
    }
}

/// A directory of the tree. Names are compared byte by byte, directories stand before files.
#[derive(Default)]
struct Branch<'a> {
    directories: BTreeMap<&'a str, Branch<'a>>,
    files: Vec<&'a str>,
}

impl<'a> Branch<'a> {
    fn add(&mut self, path: &'a str) {
        let (above, name) = path.rsplit_once('/').map_or(("", path), |(above, name)| (above, name));
        let names = above.split('/').filter(|name| !name.is_empty());
        names.fold(self, |branch, name| branch.directories.entry(name).or_default()).files.push(name);
    }

    fn print(&self, depth: usize, text: &mut String) {
        let indent = "  ".repeat(depth);
        for (name, branch) in &self.directories {
            text.push_str(&format!("{indent}{}/\n", visible(name)));
            branch.print(depth + 1, text);
        }
        let mut files = self.files.clone();
        files.sort_unstable();
        files.iter().for_each(|name| text.push_str(&format!("{indent}{}\n", visible(name))));
    }
}

#[cfg(test)]
mod tests;
