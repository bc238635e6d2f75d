//! Which files there are: those in the directories of configuration, and those that the configuration names.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::Fault;
use crate::package;

/// The endings of files that hold code.
const ENDINGS: &[&str] = &["js", "ts", "mjs", "cjs", "mts", "cts"];
/// So many files of one directory are looked at.
const FILES_MAX: usize = 1000;

/// Whose word a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Owner {
    /// The person's: it is run.
    Person,
    /// The project's, which the person trusts there: it is run.
    Project,
    /// The project's, where nobody trusts it: it is known and not run.
    Stranger,
}

/// What the exports of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Tools, named after the file.
    Tools,
    /// Tools, each named as its export is: a file that stands by itself.
    Table,
    /// Plugins.
    Plugin,
}

/// A file with code.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeFile {
    /// Where it is.
    pub path: PathBuf,
    /// What its exports are.
    pub role: Role,
    /// Whose word it is.
    pub owner: Owner,
    /// What a plugin is given besides.
    pub options: Value,
}

/// A plugin that the configuration names.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// A path, an address of a file, or the name of a package.
    pub name: String,
    /// What it is given besides.
    pub options: Value,
    /// The directory that paths are seen from.
    pub directory: PathBuf,
    /// Whose word it is.
    pub owner: Owner,
}

/// Something that the configuration names and that cannot be found.
#[derive(Debug, Clone, PartialEq)]
pub struct Unfound {
    /// What was named.
    pub spec: Spec,
    /// Why there is nothing.
    pub fault: Fault,
}

/// Where to look.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// Directories of configuration, in order.
    pub directories: Vec<(PathBuf, Owner)>,
    /// What the configuration names, in order.
    pub specs: Vec<Spec>,
    /// The root of the project and whose it is: what lies in it is the project's, even if the person names it.
    pub project: Option<(PathBuf, Owner)>,
}

impl Places {
    /// Whose a named file is. What lies in the project is the project's, but for the person's own directories there.
    fn owner_of(&self, path: &Path, named_by: Owner) -> Owner {
        let is_below = |root: &Path| path.starts_with(root.canonicalize().as_deref().unwrap_or(root));
        let of_person =
            self.directories.iter().any(|(place, owner)| *owner == Owner::Person && is_below(place));
        match &self.project {
            Some((root, owner)) if named_by == Owner::Person && is_below(root) && !of_person => *owner,
            Some(_) | None => named_by,
        }
    }

    /// The files in the order in which they are registered, so that later ones win: tools, then plugins, and of these
    /// the named ones first.
    pub fn find(&self) -> (Vec<CodeFile>, Vec<Unfound>) {
        let mut files = Vec::new();
        for (directory, owner) in &self.directories {
            for folder in ["tool", "tools"] {
                files.extend(in_folder(&directory.join(folder), Role::Tools, *owner));
            }
            files.extend(alone(directory, *owner));
        }
        let mut unfound = Vec::new();
        let mut plugins: Vec<CodeFile> = Vec::new();
        for spec in &self.specs {
            match entry(spec) {
                // What nobody trusts takes the place of nothing, and whether it is there is nobody's concern.
                Ok(path)
                    if spec.owner == Owner::Stranger && plugins.iter().any(|known| known.path == path) => {}
                Err(_) if spec.owner == Owner::Stranger => {}
                Ok(path) => {
                    let owner = self.owner_of(&path, spec.owner);
                    let options = spec.options.clone();
                    plugins.retain(|known| known.path != path);
                    plugins.push(CodeFile { path, role: Role::Plugin, owner, options });
                }
                Err(fault) => unfound.push(Unfound { spec: spec.clone(), fault }),
            }
        }
        for is_persons in [true, false] {
            let of_them =
                self.directories.iter().filter(|(_, owner)| (*owner == Owner::Person) == is_persons);
            for (directory, owner) in of_them {
                for folder in ["plugin", "plugins"] {
                    let found = in_folder(&directory.join(folder), Role::Plugin, *owner);
                    let is_new = |file: &CodeFile| !plugins.iter().any(|known| known.path == file.path);
                    let new: Vec<CodeFile> = found.into_iter().filter(is_new).collect();
                    plugins.extend(new);
                }
            }
        }
        files.extend(plugins);
        (files, unfound)
    }
}

fn in_folder(folder: &Path, role: Role, owner: Owner) -> Vec<CodeFile> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().take(FILES_MAX).map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| holds_code(path)).collect();
    paths.sort();
    paths.into_iter().map(|path| CodeFile { path, role, owner, options: Value::Null }).collect()
}

/// A file named `tool` or `tools` that stands in a directory of configuration by itself.
fn alone(directory: &Path, owner: Owner) -> Vec<CodeFile> {
    let names =
        ["tool", "tools"].iter().flat_map(|name| ENDINGS.iter().map(move |end| format!("{name}.{end}")));
    let paths = names.map(|name| directory.join(name)).filter(|path| holds_code(path));
    paths.map(|path| CodeFile { path, role: Role::Table, owner, options: Value::Null }).collect()
}

/// Whether a file holds code and is there. Declarations of types hold none.
fn holds_code(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_declaration = [".d.ts", ".d.mts", ".d.cts"].iter().any(|end| name.ends_with(end));
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.contains(&ending)) && !is_declaration && path.is_file()
}

/// The file that a specification leads to.
fn entry(spec: &Spec) -> Result<PathBuf, Fault> {
    let name = spec.name.as_str();
    let path = match name.strip_prefix("file://") {
        Some(path) => Some(PathBuf::from(path)),
        None if name.starts_with('.') || name.starts_with('/') => Some(spec.directory.join(name)),
        None => None,
    };
    let Some(path) = path else { return package::installed(name, &spec.directory) };
    let path = path.canonicalize().map_err(|error| {
        Fault::new(format!("the plugin {name:?} cannot be found at {}: {error}", path.display()))
            .fix(format!("correct the path, which is seen from {}", spec.directory.display()))
    })?;
    match path.is_dir() {
        true => package::entry(&path),
        false => Ok(path),
    }
}

#[cfg(test)]
mod tests {
    use super::{CodeFile, Owner, Places, Role, Spec};
    use serde_json::{Value, json};

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    fn found(root: &tempfile::TempDir, specs: &[(&str, Value)]) -> (Vec<String>, Vec<String>) {
        let directory = root.path().canonicalize().unwrap();
        let specs = specs.iter().map(|(name, options)| Spec {
            name: (*name).to_owned(),
            options: options.clone(),
            directory: directory.clone(),
            owner: Owner::Project,
        });
        let directories =
            vec![(directory.join("global"), Owner::Person), (directory.join(".opencode"), Owner::Project)];
        let (files, unfound) = Places { directories, specs: specs.collect(), project: None }.find();
        let shown = |file: &CodeFile| {
            let role = match file.role {
                Role::Tools => "tools",
                Role::Table => "table",
                Role::Plugin => "plugin",
            };
            format!("{role} {}", file.path.strip_prefix(&directory).unwrap().display())
        };
        (files.iter().map(shown).collect(), unfound.into_iter().map(|one| one.fault.to_string()).collect())
    }

    #[test]
    fn files_are_found_in_the_order_in_which_later_ones_win() {
        let root = tree(&[
            (".opencode/tool/b.ts", ""),
            (".opencode/tool/a.d.ts", ""),
            (".opencode/tool/a.js", ""),
            (".opencode/tool/read.md", ""),
            (".opencode/tool/deep/c.js", ""),
            (".opencode/tools/c.mjs", ""),
            (".opencode/tool.js", ""),
            (".opencode/plugin/p.ts", ""),
            ("global/tools/g.cjs", ""),
            ("global/plugins/q.js", ""),
            ("named.js", ""),
        ]);
        let (files, unfound) = found(&root, &[("./named.js", json!({ "a": 1 }))]);
        assert!(unfound.is_empty(), "{unfound:?}");
        assert_eq!(
            files,
            [
                "tools global/tools/g.cjs",
                "tools .opencode/tool/a.js",
                "tools .opencode/tool/b.ts",
                "tools .opencode/tools/c.mjs",
                "table .opencode/tool.js",
                "plugin named.js",
                "plugin global/plugins/q.js",
                "plugin .opencode/plugin/p.ts",
            ]
        );
    }

    #[test]
    fn a_plugin_that_is_not_there_is_named_with_what_to_do() {
        let root = tree(&[("a.js", "")]);
        let (files, unfound) =
            found(&root, &[("./missing.js", Value::Null), ("some-package@1.2.3", Value::Null)]);
        assert!(files.is_empty(), "{files:?}");
        assert!(unfound[0].contains("missing.js") && unfound[0].contains("correct the path"), "{unfound:?}");
        assert!(unfound[1].contains("npm install some-package@1.2.3"), "{unfound:?}");
    }

    #[test]
    fn packages_are_found_in_the_next_node_modules_and_stay_inside_them() {
        let root = tree(&[
            (
                "node_modules/good/package.json",
                r#"{"exports":{"./server":{"import":"./server.js"},".":"./index.js"}}"#,
            ),
            ("node_modules/good/server.js", ""),
            ("node_modules/@scope/main/package.json", r#"{"main":"lib"}"#),
            ("node_modules/@scope/main/lib/index.js", ""),
            ("node_modules/evil/package.json", r#"{"main":"../../outside.js"}"#),
            ("outside.js", ""),
        ]);
        let specs = [("good@latest", Value::Null), ("@scope/main@2", Value::Null), ("evil", Value::Null)];
        let (files, unfound) = found(&root, &specs);
        assert_eq!(
            files,
            ["plugin node_modules/good/server.js", "plugin node_modules/@scope/main/lib/index.js"]
        );
        assert!(unfound[0].contains("outside"), "{unfound:?}");
    }
}
