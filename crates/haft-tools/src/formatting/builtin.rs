//! The formatters that are built in, as opencode has them, and when each is used.
//!
//! Those that reliably format their standard input are used so: they need no copy and no right to write anything.

use crate::listed::{self, Listed, ProgramEntry};

/// A formatter. In its command `$FILE` stands for the file.
pub(super) type Known = Listed<Formatter>;

/// What only formatters have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Formatter {
    pub(super) takes: Takes,
    pub(super) needs: Needs,
}

/// What a formatter formats.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Takes {
    /// Its standard input, to its standard output.
    Input,
    /// A file, in place.
    #[default]
    File,
}

/// What makes a formatter the project's own, besides its program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Needs {
    /// Nothing: its language has no other.
    #[default]
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

/// The names of those that are built in.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.0)
}

/// Those that are built in, changed and joined by what is configured.
pub(super) fn known(entries: &[ProgramEntry]) -> Vec<Known> {
    let built_in = |(name, extensions, command, takes, needs): &Row| {
        Listed::built_in(name, extensions, command, Formatter { takes: *takes, needs: *needs })
    };
    listed::joined(ROWS.iter().map(built_in), entries, |own, entry| {
        // Whoever names a command wants it to be used.
        if entry.command.is_some() {
            *own = Formatter::default();
        }
    })
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
        let entry = |name: &str| ProgramEntry { name: name.to_owned(), ..ProgramEntry::default() };
        let texts = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        let found = known(&[
            ProgramEntry { disabled: true, ..entry("gofmt") },
            ProgramEntry { extensions: texts(&[".rs", ".rs.in"]), ..entry("rustfmt") },
            ProgramEntry { command: texts(&["x", "$FILE"]), ..entry("prettier") },
            ProgramEntry { command: texts(&["y", "$FILE"]), extensions: texts(&[".y"]), ..entry("mine") },
            ProgramEntry { command: texts(&["z", "$FILE"]), ..entry("endless") },
        ]);
        let by_name = |name: &str| found.iter().find(|known| known.name == name);
        assert!(by_name("gofmt").is_none() && by_name("endless").is_none());
        assert_eq!(by_name("rustfmt").unwrap().extensions, [".rs", ".rs.in"]);
        assert_eq!(by_name("rustfmt").unwrap().own.takes, Takes::Input);
        let prettier = by_name("prettier").unwrap();
        assert_eq!((prettier.own.takes, prettier.own.needs), (Takes::File, Needs::Nothing));
        assert_eq!(by_name("mine").unwrap().command, ["y", "$FILE"]);
        assert_eq!(found.len(), ROWS.len());
    }
}
