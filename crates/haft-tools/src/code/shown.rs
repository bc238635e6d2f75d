//! What is shown of what was found: as many passages as there is room for, each with its lines.

use std::collections::HashSet;
use std::io::Read as _;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::packages::{Ecosystem, Package};
use super::ranking::Found;
use super::search::CodeSearch;
use crate::workspace::{Candidate, Sources, Workspace};

/// A line that is longer is cut.
const LINE_CHARS_MAX: usize = 400;
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Lines of a file that were found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Passage {
    /// The path of the file: relative to the root of the project, or absolute where it lies outside.
    pub(crate) path: String,
    /// The number of the first line; lines are counted from 1.
    pub(crate) line: usize,
    /// The lines, without a final line ending.
    pub(crate) text: String,
    /// The package that the file belongs to, with its version where that is known; nothing for the project's own files.
    pub(crate) package: Option<String>,
    /// Whether something is defined there that the query asks for.
    pub(crate) definition: bool,
}

impl Passage {
    /// How much of the room it takes.
    fn chars(&self) -> usize {
        self.path.len() + self.text.len() + self.package.as_ref().map_or(0, String::len)
    }
}

/// The first passages that fit into so many characters, and whether there are more. The first is shown in any case, cut
/// where it does not fit.
pub(crate) fn show(
    workspace: &Workspace,
    search: &CodeSearch,
    some: &[Found],
    chars_max: usize,
) -> (Vec<Passage>, bool) {
    let (mut shown, mut seen, mut room) = (Vec::new(), HashSet::new(), chars_max);
    for found in some {
        let file = search.sources().candidate(found.file.tree, &found.file.relative);
        // It was there a moment ago.
        let Some(text) = lines(workspace, &file, found) else { continue };
        if !seen.insert(blake3::hash(text.as_bytes())) {
            continue;
        }
        let package = found.file.package.and_then(|at| search.packages().get(at));
        let mut passage = Passage {
            path: file.place().name().to_owned(),
            line: found.spot.start + 1,
            text,
            package: package.map(|package| described(search.sources(), package)),
            definition: found.spot.defines,
        };
        if passage.chars() > room {
            if !shown.is_empty() {
                return (shown, true);
            }
            cut(&mut passage.text, room);
        }
        room = room.saturating_sub(passage.chars());
        shown.push(passage);
    }
    (shown, false)
}

/// The lines of a place.
fn lines(workspace: &Workspace, file: &Candidate, found: &Found) -> Option<String> {
    let mut bytes = Vec::new();
    file.open(workspace).ok()?.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().skip(found.spot.start).take(found.spot.end - found.spot.start);
    let lines: Vec<String> = lines.map(|line| clipped(line.trim_end())).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn clipped(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARS_MAX) {
        Some((at, _)) => format!("{}...", &line[..at]),
        None => line.to_owned(),
    }
}

/// Whole lines, as many as fit.
fn cut(text: &mut String, room: usize) {
    let end = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= room).last().unwrap_or(0);
    let end = text[..end].rfind('\n').unwrap_or(end);
    text.truncate(end);
}

/// The name and version of a package.
fn described(sources: &Sources, package: &Package) -> String {
    let Package { name, version, ecosystem, tree, root } = package;
    let version = match ecosystem {
        Ecosystem::Node => node_version(sources, *tree, root),
        Ecosystem::Cargo | Ecosystem::Go | Ecosystem::Python | Ecosystem::Vendored => version.clone(),
    };
    let of = ecosystem.name();
    version.map_or_else(|| format!("{name} ({of})"), |version| format!("{name} {version} ({of})"))
}

fn node_version(sources: &Sources, tree: usize, root: &Path) -> Option<String> {
    let text = sources.text(tree, &root.join("package.json"))?;
    let described: serde_json::Value = serde_json::from_str(&text).ok()?;
    Some(described["version"].as_str()?.to_owned())
}
