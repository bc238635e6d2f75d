//! The formatters that are built in, as opencode has them, and when each is used.
//!
//! Those that reliably format their standard input are used so: they need no copy and no right to write anything.

use super::FormatterEntry;

/// A formatter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) name: String,
    /// How the names of its files end, with the dot.
    pub(super) extensions: Vec<String>,
    /// The program and its arguments, in which `$FILE` stands for the file.
    pub(super) command: Vec<String>,
    pub(super) environment: Vec<(String, String)>,
    pub(super) takes: Takes,
    pub(super) needs: Needs,
}

/// What a formatter formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// Its standard input, to its standard output.
    Input,
    /// A file, in place.
    File,
}

/// What makes a formatter the project's own, besides its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// Nothing: its language has no other.
    Nothing,
    /// One of these files, with such a text in it, beside the file or above.
    File(&'static [(&'static str, &'static str)]),
    /// That it is a dependency by this name in a manifest beside the file or above; its program may stand in this
    /// directory beside the manifest.
    Dependency { name: &'static str, manifest: &'static str, programs: &'static str },
}

/// A row: name, extensions, command, what it takes, what it needs.
type Row = (&'static str, &'static [&'static str], &'static [&'static str], Takes, Needs);

const SCRIPTS: &[&str] = &[
    ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".css", ".json", ".jsonc", ".graphql",
    ".gql",
];
const WEB: &[&str] = &[
    ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".html", ".htm", ".css", ".scss", ".less",
    ".vue", ".json", ".jsonc", ".yaml", ".yml", ".md", ".mdx", ".graphql", ".gql",
];
const C: &[&str] =
    &[".c", ".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hxx", ".h++", ".ino", ".C", ".H"];
const RUFF: &[(&str, &str)] = &[
    ("ruff.toml", ""),
    (".ruff.toml", ""),
    ("pyproject.toml", "ruff"),
    ("requirements.txt", "ruff"),
    ("Pipfile", "ruff"),
];
const PRETTIER: Needs =
    Needs::Dependency { name: "prettier", manifest: "package.json", programs: "node_modules/.bin" };
const PINT: Needs =
    Needs::Dependency { name: "laravel/pint", manifest: "composer.json", programs: "vendor/bin" };

#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("biome", SCRIPTS, &["biome", "format", "--stdin-file-path=$FILE"], Takes::Input, Needs::File(&[("biome.json", ""), ("biome.jsonc", "")])),
    ("clang-format", C, &["clang-format", "--assume-filename=$FILE"], Takes::Input, Needs::File(&[(".clang-format", ""), ("_clang-format", "")])),
    ("cljfmt", &[".clj", ".cljs", ".cljc", ".edn"], &["cljfmt", "fix", "--quiet", "$FILE"], Takes::File, Needs::Nothing),
    ("dart", &[".dart"], &["dart", "format", "$FILE"], Takes::File, Needs::Nothing),
    ("dfmt", &[".d"], &["dfmt", "-i", "$FILE"], Takes::File, Needs::Nothing),
    ("gleam", &[".gleam"], &["gleam", "format", "--stdin"], Takes::Input, Needs::Nothing),
    ("gofmt", &[".go"], &["gofmt"], Takes::Input, Needs::Nothing),
    ("htmlbeautifier", &[".erb", ".html.erb"], &["htmlbeautifier"], Takes::Input, Needs::Nothing),
    ("ktlint", &[".kt", ".kts"], &["ktlint", "-F", "$FILE"], Takes::File, Needs::Nothing),
    ("latexindent", &[".tex"], &["latexindent", "-w", "-s", "$FILE"], Takes::File, Needs::Nothing),
    ("mix", &[".ex", ".exs", ".eex", ".heex", ".leex", ".neex", ".sface"], &["mix", "format", "--stdin-filename", "$FILE", "-"], Takes::Input, Needs::Nothing),
    ("nixfmt", &[".nix"], &["nixfmt", "$FILE"], Takes::File, Needs::Nothing),
    ("ocamlformat", &[".ml", ".mli"], &["ocamlformat", "--name=$FILE", "-"], Takes::Input, Needs::File(&[(".ocamlformat", "")])),
    ("ormolu", &[".hs"], &["ormolu", "--stdin-input-file", "$FILE"], Takes::Input, Needs::Nothing),
    ("pint", &[".php"], &["pint", "$FILE"], Takes::File, PINT),
    ("prettier", WEB, &["prettier", "--stdin-filepath", "$FILE"], Takes::Input, PRETTIER),
    ("rubocop", &[".rb", ".rake", ".gemspec", ".ru"], &["rubocop", "--autocorrect", "--fail-level", "fatal", "$FILE"], Takes::File, Needs::Nothing),
    ("ruff", &[".py", ".pyi"], &["ruff", "format", "--stdin-filename", "$FILE", "-"], Takes::Input, Needs::File(RUFF)),
    ("rustfmt", &[".rs"], &["rustfmt", "$EDITION"], Takes::Input, Needs::Nothing),
    ("shfmt", &[".sh", ".bash"], &["shfmt", "--filename", "$FILE"], Takes::Input, Needs::Nothing),
    ("terraform", &[".tf", ".tfvars"], &["terraform", "fmt", "-"], Takes::Input, Needs::Nothing),
    ("zig", &[".zig", ".zon"], &["zig", "fmt", "$FILE"], Takes::File, Needs::Nothing),
];

/// Those that are built in, changed and joined by what is configured.
pub(super) fn known(entries: &[FormatterEntry]) -> Vec<Known> {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let mut known: Vec<Known> = ROWS
        .iter()
        .map(|(name, extensions, command, takes, needs)| Known {
            name: (*name).to_owned(),
            extensions: owned(extensions),
            command: owned(command),
            environment: Vec::new(),
            takes: *takes,
            needs: *needs,
        })
        .collect();
    for entry in entries {
        let at = known.iter().position(|known| known.name == entry.name);
        let base = at.map(|at| known.remove(at));
        if let Some(configured) = configured(base, entry) {
            known.insert(at.unwrap_or(known.len()), configured);
        }
    }
    known
}

/// A formatter as it is configured; `None` if it is not to be used, or if it is not known what it would do.
fn configured(base: Option<Known>, entry: &FormatterEntry) -> Option<Known> {
    if entry.disabled {
        return None;
    }
    let mut known = base.unwrap_or_else(|| Known {
        name: entry.name.clone(),
        extensions: Vec::new(),
        command: Vec::new(),
        environment: Vec::new(),
        takes: Takes::File,
        needs: Needs::Nothing,
    });
    if let Some(command) = &entry.command {
        // Whoever names a command wants it to be used.
        known = Known { command: command.clone(), takes: Takes::File, needs: Needs::Nothing, ..known };
    }
    if let Some(extensions) = &entry.extensions {
        known.extensions.clone_from(extensions);
    }
    known.environment.extend(entry.environment.iter().cloned());
    (!known.command.is_empty() && !known.extensions.is_empty()).then_some(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_names_its_files_and_is_told_which_one_it_formats_in_place() {
        let mut names: Vec<&str> = Vec::new();
        for (name, extensions, command, takes, _) in ROWS {
            assert!(
                !extensions.is_empty() && extensions.iter().all(|ending| ending.starts_with('.')),
                "{name}"
            );
            let names_file = command.iter().any(|part| part.contains("$FILE"));
            assert!(*takes == Takes::Input || names_file, "{name}");
            names.push(name);
        }
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    }

    #[test]
    fn what_is_configured_changes_joins_and_takes_away() {
        let entry = |name: &str| FormatterEntry { name: name.to_owned(), ..FormatterEntry::default() };
        let texts = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        let found = known(&[
            FormatterEntry { disabled: true, ..entry("gofmt") },
            FormatterEntry { extensions: texts(&[".rs", ".rs.in"]), ..entry("rustfmt") },
            FormatterEntry { command: texts(&["x", "$FILE"]), ..entry("prettier") },
            FormatterEntry { command: texts(&["y", "$FILE"]), extensions: texts(&[".y"]), ..entry("mine") },
            FormatterEntry { command: texts(&["z", "$FILE"]), ..entry("endless") },
        ]);
        let by_name = |name: &str| found.iter().find(|known| known.name == name);
        assert!(by_name("gofmt").is_none() && by_name("endless").is_none());
        assert_eq!(by_name("rustfmt").unwrap().extensions, [".rs", ".rs.in"]);
        assert_eq!(by_name("rustfmt").unwrap().takes, Takes::Input);
        let prettier = by_name("prettier").unwrap();
        assert_eq!((prettier.takes, prettier.needs), (Takes::File, Needs::Nothing));
        assert_eq!(by_name("mine").unwrap().command, ["y", "$FILE"]);
        assert_eq!(found.len(), ROWS.len());
    }
}
