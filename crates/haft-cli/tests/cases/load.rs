//! Finds the cases: those of the workspace first, then those of every directory in `HAFT_CASES`.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::case::Case;
use crate::scenario;

const SUPERSEDED: &str = "superseded.json";
const SCENARIOS: &str = "apply_patch_scenarios";

/// Everything the runner read.
pub(crate) struct Loaded {
    pub(crate) cases: Vec<Case>,
    /// Case ids that must fail as written, with the reason.
    pub(crate) superseded: BTreeMap<String, String>,
    /// What could not be read, and why.
    pub(crate) troubles: Vec<(String, String)>,
}

impl Loaded {
    pub(crate) fn ids(&self) -> BTreeSet<String> {
        self.cases.iter().map(|case| case.id.clone()).collect()
    }

    fn add(&mut self, seen: &mut BTreeSet<String>, file: &Path, value: &Value) {
        let id = value.get("id").and_then(Value::as_str).unwrap_or("a case without an id");
        match Case::parse(value) {
            // The first case of an id is the one that runs, so a copied file shadows its original.
            Ok(case) if !seen.insert(case.id.clone()) => {}
            Ok(case) => self.cases.push(case),
            Err(error) => {
                self.troubles.push((id.to_owned(), format!("{error:#} (in {})", file.display())));
            }
        }
    }

    fn add_directory(&mut self, seen: &mut BTreeSet<String>, directory: &Path) -> anyhow::Result<()> {
        let mut paths = entries(directory)?;
        paths.sort();
        for path in &paths {
            if path.extension().is_some_and(|extension| extension == "json") {
                match case_file(path) {
                    Ok(cases) => cases.iter().for_each(|case| self.add(seen, path, case)),
                    Err(error) => self.troubles.push((path.display().to_string(), format!("{error:#}"))),
                }
            }
        }
        let scenarios = directory.join(SCENARIOS);
        if scenarios.is_dir() {
            for case in scenario::cases(&scenarios)? {
                self.add(seen, &scenarios, &case);
            }
        }
        Ok(())
    }
}

/// Loads all cases. What is wrong with one file does not keep the others from running.
pub(crate) fn load() -> anyhow::Result<Loaded> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
    let superseded = superseded(&own.join(SUPERSEDED))?;
    let mut loaded = Loaded { cases: Vec::new(), superseded, troubles: Vec::new() };
    let mut seen = BTreeSet::new();
    loaded.add_directory(&mut seen, &own)?;
    for directory in env::split_paths(&env::var_os("HAFT_CASES").unwrap_or_default()) {
        if !directory.as_os_str().is_empty() {
            loaded.add_directory(&mut seen, &directory)?;
        }
    }
    Ok(loaded)
}

/// Lists what is in a directory.
pub(crate) fn entries(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let read = || fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>();
    read().with_context(|| format!("could not list {}", directory.display()))
}

/// Reads a JSON document.
pub(crate) fn json(path: &Path) -> anyhow::Result<Value> {
    let text = fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))
}

/// Returns the cases of a file, or nothing where it holds something else (attack cases, say).
fn case_file(path: &Path) -> anyhow::Result<Vec<Value>> {
    let Value::Array(values) = json(path)? else { return Ok(Vec::new()) };
    if !values.iter().any(Case::recognises) {
        return Ok(Vec::new());
    }
    ensure!(values.iter().all(Case::recognises), "some entries are cases and some are not");
    Ok(values)
}

fn superseded(path: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let document = json(path)?;
    let reasons = document.as_object().context("superseded.json is not an object")?;
    let reason = |(id, reason): (&String, &Value)| {
        Ok((id.clone(), reason.as_str().context("a reason is a string")?.to_owned()))
    };
    reasons.iter().map(reason).collect()
}
