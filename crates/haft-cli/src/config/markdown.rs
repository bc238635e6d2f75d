//! Agents and custom commands in Markdown: front matter with the keys of one, and below it the prompt or the template.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_tools::front_matter::{self, Yaml, YamlKind};

use super::commands;
use super::error::{ConfigError, Located, Problem};
use super::node::{Entry, Kind, Node};
use super::text::{Span, Text};

const DEPTH_MAX: usize = 6;
/// So many of each kind are found in one directory.
const FILES_MAX: usize = 500;

/// A directory with such files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Folder {
    name: &'static str,
    /// The table that they belong to.
    table: &'static str,
    /// The key that stands for what is below the front matter.
    body: &'static str,
    /// How far directories below are looked into.
    depth: usize,
}

const fn agents(name: &'static str, table: &'static str, depth: usize) -> Folder {
    Folder { name, table, body: "prompt", depth }
}

const fn commands(name: &'static str) -> Folder {
    Folder { name, table: commands::TABLE, body: commands::TEMPLATE, depth: DEPTH_MAX }
}

const FOLDERS: [Folder; 6] = [
    agents("agent", "agent", DEPTH_MAX),
    agents("agents", "agent", DEPTH_MAX),
    agents("mode", "mode", 0),
    agents("modes", "mode", 0),
    commands("command"),
    commands("commands"),
];

/// A file that describes one agent or one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Described {
    /// The file.
    pub(crate) path: PathBuf,
    /// The name of what it describes.
    name: String,
    folder: Folder,
}

impl Described {
    /// The name of the custom command that it describes.
    pub(crate) fn command(&self) -> Option<&str> {
        (self.folder.table == commands::TABLE).then_some(&self.name)
    }
}

/// What a directory of configuration describes in Markdown, sorted.
pub(crate) fn described_in(directory: &Path) -> Vec<Described> {
    let in_folder = |folder: &Folder| {
        let (top, mut found) = (directory.join(folder.name), Vec::new());
        collect(&top, &top, *folder, folder.depth, &mut found);
        found
    };
    FOLDERS.iter().flat_map(in_folder).collect()
}

fn collect(top: &Path, directory: &Path, folder: Folder, depth: usize, found: &mut Vec<Described>) {
    let Ok(entries) = directory.read_dir() else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if found.len() == FILES_MAX {
            return;
        }
        if path.is_dir() {
            // A link to a directory could lead round in a circle.
            if depth > 0 && !path.is_symlink() {
                collect(top, &path, folder, depth - 1, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "md")
            && let Ok(relative) = path.strip_prefix(top)
        {
            let name = relative.with_extension("").to_string_lossy().into_owned();
            found.push(Described { path, name, folder });
        }
    }
}

/// Reads a file as what would stand in a configuration: a table with one agent or one command in it.
pub(crate) fn parse(text: &Arc<Text>, file: &Described) -> Result<Node, ConfigError> {
    let written = text.as_str();
    let split = front_matter::split(written);
    let (yaml, at, body) = split.map_or(("", 0, written), |split| (split.yaml, split.yaml_at, split.body));
    let places = Places { text, yaml, at };
    let parsed = front_matter::parse(yaml).map_err(|error| {
        let problem = Problem::Syntax { message: error.message, hint: "" };
        Located::new(problem, &places.span(error.line, error.column, 1))
    })?;
    let mut thing = places.node(&parsed);
    let Kind::Object(fields) = &mut thing.kind else {
        return Err(thing.expected("a table of keys and values"));
    };
    if !body.trim().is_empty() {
        fields.retain(|field| field.key != file.folder.body);
        // Where its first word stands, not the empty lines before it.
        let start = written.len() - body.trim_start().len();
        let span = text.span(start..written.trim_end().len());
        let value = Node { kind: Kind::Text(body.trim().to_owned()), span: span.clone() };
        fields.push(Entry { key: file.folder.body.to_owned(), at: span, value });
    }
    let beginning = text.span(0..0);
    let table = |key: &str, value: Node| {
        let entry = Entry { key: key.to_owned(), at: beginning.clone(), value };
        Node { kind: Kind::Object(vec![entry]), span: beginning.clone() }
    };
    Ok(table(file.folder.table, table(&file.name, thing)))
}

/// Finds the places of YAML in the text around it.
struct Places<'a> {
    text: &'a Arc<Text>,
    yaml: &'a str,
    at: usize,
}

impl Places<'_> {
    fn span(&self, line: u32, column: u32, chars: usize) -> Span {
        let before: usize = self.yaml.split_inclusive('\n').take(line as usize - 1).map(str::len).sum();
        let rest = &self.yaml[before..];
        let bytes = |count: usize| rest.char_indices().nth(count).map_or(rest.len(), |(at, _)| at);
        let (start, end) = (bytes(column as usize - 1), bytes(column as usize - 1 + chars));
        self.text.span(self.at + before + start..self.at + before + end)
    }

    fn node(&self, yaml: &Yaml) -> Node {
        let span = self.span(yaml.line, yaml.column, yaml.chars);
        let kind = match &yaml.kind {
            YamlKind::Null => Kind::Null,
            YamlKind::Bool(value) => Kind::Bool(*value),
            YamlKind::Number(number) => Kind::Number(number.clone()),
            YamlKind::Text(text) => Kind::Text(text.clone()),
            YamlKind::List(items) => Kind::List(items.iter().map(|item| self.node(item)).collect()),
            YamlKind::Table(entries) => {
                let entry = |(key, value): &(Yaml, Yaml)| Entry {
                    key: key.as_text().unwrap_or_default().to_owned(),
                    at: self.span(key.line, key.column, key.chars),
                    value: self.node(value),
                };
                Kind::Object(entries.iter().map(entry).collect())
            }
        };
        Node { kind, span }
    }
}
