//! `package.json`: which file a package means by a name. Conditions are taken in the order the package lists them.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::resolve::Purpose;

/// A package's manifest and where it lies.
pub(super) struct Package {
    pub(super) folder: PathBuf,
    manifest: Map<String, Value>,
}

/// How a package says where something is.
pub(super) enum Entry {
    /// A path that is meant exactly.
    Exact(PathBuf),
    /// A path that may lack its extension.
    Loose(PathBuf),
    /// The package has a list of what it exports, and this is not on it.
    Closed,
    /// `imports` may point at another package.
    Elsewhere(String),
}

impl Package {
    pub(super) fn read(folder: &Path) -> Option<Package> {
        let text = std::fs::read_to_string(folder.join("package.json")).ok()?;
        let manifest = serde_json::from_str(&text).ok()?;
        Some(Package { folder: folder.to_owned(), manifest })
    }

    /// A folder that is a package only by where it lies.
    pub(super) fn without_manifest(folder: &Path) -> Package {
        Package { folder: folder.to_owned(), manifest: Map::new() }
    }

    /// The package that a file belongs to.
    pub(super) fn around(file: &Path) -> Option<Package> {
        file.ancestors()
            .skip(1)
            .take_while(|folder| folder.file_name().is_none_or(|name| name != "node_modules"))
            .find_map(Package::read)
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.text("name")
    }

    /// What `type` says of its `.js` files.
    pub(super) fn is_module(&self) -> Option<bool> {
        match self.text("type") {
            Some("module") => Some(true),
            Some("commonjs") => Some(false),
            _ => None,
        }
    }

    pub(super) fn has_exports(&self) -> bool {
        self.manifest.get("exports").is_some_and(|exports| !exports.is_null())
    }

    /// What the package means by a subpath: `.` or `./x`.
    pub(super) fn export(&self, subpath: &str, purpose: Purpose) -> Entry {
        let Some(exports) = self.manifest.get("exports").filter(|exports| !exports.is_null()) else {
            return self.without_exports(subpath, purpose);
        };
        let found = match exports {
            Value::Object(map) if map.keys().any(|key| key.starts_with('.')) => {
                lookup(map, subpath).and_then(|(target, star)| choose(target, star, purpose))
            }
            whole if subpath == "." => choose(whole, "", purpose),
            _ => None,
        };
        match found {
            Some(path) if path.starts_with("./") && !escapes(&path) => {
                Entry::Exact(self.folder.join(&path[2..]))
            }
            _ => Entry::Closed,
        }
    }

    /// What the package means by a name of its own: `#x`.
    pub(super) fn import(&self, name: &str, purpose: Purpose) -> Entry {
        let Some(Value::Object(imports)) = self.manifest.get("imports") else { return Entry::Closed };
        match lookup(imports, name).and_then(|(target, star)| choose(target, star, purpose)) {
            Some(path) if path.starts_with("./") && !escapes(&path) => {
                Entry::Exact(self.folder.join(&path[2..]))
            }
            Some(path) if !path.starts_with('.') && !path.starts_with('/') => Entry::Elsewhere(path),
            _ => Entry::Closed,
        }
    }

    fn without_exports(&self, subpath: &str, purpose: Purpose) -> Entry {
        if let Some(inside) = subpath.strip_prefix("./") {
            return Entry::Loose(self.folder.join(inside));
        }
        let module = self.text("module").filter(|_| matches!(purpose, Purpose::Import));
        let main = module.or_else(|| self.text("main")).unwrap_or("index");
        Entry::Loose(self.folder.join(main))
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.manifest.get(key).and_then(Value::as_str)
    }
}

/// Finds a name among exact keys and patterns; the longest prefix of a pattern wins.
fn lookup<'m, 's>(map: &'m Map<String, Value>, name: &'s str) -> Option<(&'m Value, &'s str)> {
    if let Some(target) = map.get(name).filter(|_| !name.contains('*')) {
        return Some((target, ""));
    }
    map.iter()
        .filter_map(|(key, target)| {
            let (before, after) = key.split_once('*')?;
            let star = name.strip_prefix(before)?.strip_suffix(after)?;
            (!star.is_empty()).then_some((before.len(), target, star))
        })
        .max_by_key(|(prefix, _, _)| *prefix)
        .map(|(_, target, star)| (target, star))
}

/// Takes the first target whose conditions hold.
fn choose(target: &Value, star: &str, purpose: Purpose) -> Option<String> {
    match target {
        Value::String(path) => Some(path.replace('*', star)),
        Value::Array(targets) => targets.iter().find_map(|target| choose(target, star, purpose)),
        Value::Object(conditions) => conditions
            .iter()
            .filter(|(condition, _)| purpose.conditions().contains(&condition.as_str()))
            .find_map(|(_, target)| choose(target, star, purpose)),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn escapes(path: &str) -> bool {
    path.split('/').any(|part| part == ".." || part == "node_modules")
}
