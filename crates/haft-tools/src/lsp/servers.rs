//! The language servers that are known: those that are built in, changed and joined by what is configured.
//!
//! None is ever fetched. A server is used if its program is there; otherwise people are told how to get it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::ServerEntry;
use crate::listed::{self, Listed};

/// A language server.
pub(super) type Known = Listed<Server>;

/// What only language servers have.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Server {
    /// What it is told when it is started.
    pub(super) initialization: Value,
    /// Files that make a directory the root of a project; the first list that is found anywhere above counts.
    pub(super) roots: &'static [&'static [&'static str]],
    /// How to get it; nothing for those that are configured.
    pub(super) install: &'static str,
}

/// A row: name, extensions, command, roots, how to install it.
type Row = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    &'static [&'static [&'static str]],
    &'static str,
);

const NODE: &[&str] = &["package-lock.json", "bun.lock", "bun.lockb", "pnpm-lock.yaml", "yarn.lock"];
const SCRIPTS: &[&str] = &[".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts"];
const C: &[&str] = &[".c", ".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hxx", ".h++", ".m", ".mm"];
const PYTHON: &[&str] =
    &["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "pyrightconfig.json"];
const GRADLE: &[&str] = &["settings.gradle", "settings.gradle.kts", "build.gradle", "build.gradle.kts"];
const TERRAFORM: &[&str] = &[".terraform.lock.hcl", "terraform.tfstate"];

#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("astro", &[".astro"], &["astro-ls", "--stdio"], &[NODE], "npm install -g @astrojs/language-server"),
    ("bash", &[".sh", ".bash", ".zsh", ".ksh"], &["bash-language-server", "start"], &[], "npm install -g bash-language-server"),
    ("clangd", C, &["clangd"], &[&["compile_commands.json", "compile_flags.txt", ".clangd"], &["CMakeLists.txt", "Makefile", "meson.build"]], "apt-get install clangd"),
    ("clojure-lsp", &[".clj", ".cljs", ".cljc", ".edn"], &["clojure-lsp", "listen"], &[&["deps.edn", "project.clj", "shadow-cljs.edn", "bb.edn"]], "https://clojure-lsp.io/installation"),
    ("csharp", &[".cs"], &["csharp-ls"], &[&[".slnx", "global.json"]], "dotnet tool install --global csharp-ls"),
    ("css", &[".css", ".scss", ".less"], &["vscode-css-language-server", "--stdio"], &[NODE], "npm install -g vscode-langservers-extracted"),
    ("dart", &[".dart"], &["dart", "language-server", "--client-id", "haft"], &[&["pubspec.yaml"]], "https://dart.dev/get-dart"),
    ("dockerfile", &[".dockerfile", "Dockerfile"], &["docker-langserver", "--stdio"], &[], "npm install -g dockerfile-language-server-nodejs"),
    ("elixir-ls", &[".ex", ".exs"], &["elixir-ls"], &[&["mix.lock"], &["mix.exs"]], "https://github.com/elixir-lsp/elixir-ls"),
    ("fsharp", &[".fs", ".fsi", ".fsx"], &["fsautocomplete"], &[&["global.json"]], "dotnet tool install --global fsautocomplete"),
    ("gleam", &[".gleam"], &["gleam", "lsp"], &[&["gleam.toml"]], "https://gleam.run/getting-started/installing"),
    ("gopls", &[".go"], &["gopls"], &[&["go.work"], &["go.mod"]], "go install golang.org/x/tools/gopls@latest"),
    ("haskell", &[".hs", ".lhs"], &["haskell-language-server-wrapper", "--lsp"], &[&["stack.yaml", "cabal.project", "hie.yaml"]], "ghcup install hls"),
    ("html", &[".html", ".htm"], &["vscode-html-language-server", "--stdio"], &[NODE], "npm install -g vscode-langservers-extracted"),
    ("jdtls", &[".java"], &["jdtls"], &[&["pom.xml", "settings.gradle", "settings.gradle.kts"], GRADLE, &[".project"]], "https://github.com/eclipse-jdtls/eclipse.jdt.ls"),
    ("json", &[".json", ".jsonc"], &["vscode-json-language-server", "--stdio"], &[], "npm install -g vscode-langservers-extracted"),
    ("julials", &[".jl"], &["julia", "--startup-file=no", "--history-file=no", "-e", "using LanguageServer; runserver()"], &[&["Project.toml"]], "julia -e 'using Pkg; Pkg.add(\"LanguageServer\")'"),
    ("kotlin-ls", &[".kt", ".kts"], &["kotlin-language-server"], &[GRADLE, &["pom.xml"]], "https://github.com/fwcd/kotlin-language-server"),
    ("lua-ls", &[".lua"], &["lua-language-server"], &[&[".luarc.json", ".luarc.jsonc", "stylua.toml", "selene.toml"]], "https://luals.github.io/#install"),
    ("nixd", &[".nix"], &["nixd"], &[&["flake.nix"]], "nix profile install nixpkgs#nixd"),
    ("ocaml-lsp", &[".ml", ".mli"], &["ocamllsp"], &[&["dune-workspace"], &["dune-project", ".merlin"]], "opam install ocaml-lsp-server"),
    ("php intelephense", &[".php"], &["intelephense", "--stdio"], &[&["composer.json", "composer.lock"]], "npm install -g intelephense"),
    ("prisma", &[".prisma"], &["prisma-language-server", "--stdio"], &[NODE], "npm install -g @prisma/language-server"),
    ("pyright", &[".py", ".pyi"], &["pyright-langserver", "--stdio"], &[PYTHON], "npm install -g pyright"),
    ("ruby-lsp", &[".rb", ".rake", ".gemspec", ".ru"], &["ruby-lsp"], &[&["Gemfile"]], "gem install ruby-lsp"),
    ("rust", &[".rs"], &["rust-analyzer"], &[&["Cargo.lock"], &["Cargo.toml"]], "rustup component add rust-analyzer"),
    ("sourcekit-lsp", &[".swift"], &["sourcekit-lsp"], &[&["Package.swift"]], "it comes with Swift: https://swift.org/install"),
    ("svelte", &[".svelte"], &["svelteserver", "--stdio"], &[NODE], "npm install -g svelte-language-server"),
    ("terraform", &[".tf", ".tfvars"], &["terraform-ls", "serve"], &[TERRAFORM], "https://github.com/hashicorp/terraform-ls"),
    ("texlab", &[".tex", ".bib"], &["texlab"], &[&[".latexmkrc", "latexmkrc", ".texlabroot"]], "cargo install --git https://github.com/latex-lsp/texlab"),
    ("tinymist", &[".typ", ".typc"], &["tinymist"], &[&["typst.toml"]], "https://github.com/Myriad-Dreamin/tinymist"),
    ("typescript", SCRIPTS, &["typescript-language-server", "--stdio"], &[NODE, &["tsconfig.json", "jsconfig.json", "package.json"]], "npm install -g typescript-language-server typescript"),
    ("vue", &[".vue"], &["vue-language-server", "--stdio"], &[NODE], "npm install -g @vue/language-server"),
    ("yaml-ls", &[".yaml", ".yml"], &["yaml-language-server", "--stdio"], &[], "npm install -g yaml-language-server"),
    ("zls", &[".zig", ".zon"], &["zls"], &[&["build.zig"]], "https://zigtools.org/zls/install"),
];

/// What a language is called in the protocol, where that is not the name of the extension.
#[rustfmt::skip]
const LANGUAGES: &[(&str, &str)] = &[
    ("bash", "shellscript"), ("c++", "cpp"), ("cc", "cpp"), ("cjs", "javascript"), ("clj", "clojure"),
    ("cljc", "clojure"), ("cljs", "clojure"), ("cs", "csharp"), ("cts", "typescript"), ("cxx", "cpp"),
    ("edn", "clojure"), ("ex", "elixir"), ("exs", "elixir"), ("fs", "fsharp"), ("fsi", "fsharp"),
    ("fsx", "fsharp"), ("gemspec", "ruby"), ("h", "c"), ("h++", "cpp"), ("hh", "cpp"), ("hpp", "cpp"),
    ("hs", "haskell"), ("htm", "html"), ("hxx", "cpp"), ("jl", "julia"), ("js", "javascript"),
    ("jsx", "javascriptreact"), ("ksh", "shellscript"), ("kt", "kotlin"), ("kts", "kotlin"),
    ("lhs", "haskell"), ("m", "objective-c"), ("mjs", "javascript"), ("ml", "ocaml"),
    ("mli", "ocaml.interface"), ("mm", "objective-cpp"), ("mts", "typescript"), ("py", "python"),
    ("pyi", "python"), ("rake", "ruby"), ("rb", "ruby"), ("rs", "rust"), ("ru", "ruby"),
    ("sh", "shellscript"), ("tex", "latex"), ("bib", "bibtex"), ("tf", "terraform"),
    ("tfvars", "terraform-vars"), ("ts", "typescript"), ("tsx", "typescriptreact"), ("typ", "typst"),
    ("typc", "typst-code"), ("yml", "yaml"), ("zon", "zig"), ("zsh", "shellscript"), ("Dockerfile", "dockerfile"),
];

impl Known {
    /// The root of the project that a file belongs to: the nearest directory with one of the files that make one, not
    /// above `base`; or else `base` itself.
    pub(super) fn root(&self, file: &Path, base: &Path) -> PathBuf {
        let above = || file.ancestors().skip(1).take_while(|directory| directory.starts_with(base));
        let has = |directory: &Path, names: &[&str]| names.iter().any(|name| directory.join(name).exists());
        let found = self.own.roots.iter().find_map(|names| above().find(|directory| has(directory, names)));
        found.unwrap_or(base).to_owned()
    }
}

/// What the language of a file is called in the protocol.
pub(super) fn language(path: &Path) -> String {
    let of_name = |part: &std::ffi::OsStr| part.to_string_lossy().into_owned();
    let ending = path.extension().or(path.file_name()).map(of_name).unwrap_or_default();
    let known = LANGUAGES.iter().find(|(known, _)| *known == ending);
    known.map_or(ending.to_lowercase(), |(_, language)| (*language).to_owned())
}

/// The names of those that are built in.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.0)
}

/// Those that are built in, changed and joined by what is configured.
pub(super) fn known(entries: &[ServerEntry]) -> Vec<Known> {
    let built_in = |(name, extensions, command, roots, install): &Row| {
        let own = Server { initialization: initialization(name), roots, install };
        Listed::built_in(name, extensions, command, own)
    };
    listed::joined(ROWS.iter().map(built_in), entries, |own, entry| {
        if entry.program.command.is_some() {
            own.install = "";
        }
        if let Some(initialization) = &entry.initialization {
            own.initialization = initialization.clone();
        }
    })
}

/// Whether a program ended because it only stands for one that is not there: rustup has a link for every component.
pub(super) fn is_empty_proxy(why: &str) -> bool {
    let rustup = ["error: Unknown binary '", "is not installed for the toolchain '"];
    rustup.iter().any(|words| why.contains(words))
}

/// What a built-in server is told. One that would build the project by itself is told not to, because that runs code of
/// every dependency and writes where nothing can be written; and one that would fetch something, because nothing is.
fn initialization(name: &str) -> Value {
    match name {
        "rust" => json!({
            "checkOnSave": false,
            "cargo": { "buildScripts": { "enable": false } },
            "procMacro": { "enable": false },
            // Otherwise it reads all of the standard library and every dependency before it is ready.
            "cachePriming": { "enable": false },
        }),
        // Without its other half it would answer from one file while the project is being read.
        "typescript" => json!({
            "disableAutomaticTypingAcquisition": true,
            "tsserver": { "useSyntaxServer": "never" },
        }),
        // It asks for these, and cannot do without.
        "css" => json!({ "css": {}, "scss": {}, "less": {} }),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listed::ProgramEntry;

    #[test]
    fn every_row_names_its_files_and_how_to_get_it() {
        let names: Vec<&str> = ROWS.iter().map(|row| row.0).collect();
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
        for (name, extensions, command, _, install) in ROWS {
            assert!(!extensions.is_empty() && !command.is_empty() && !install.is_empty(), "{name}");
        }
    }

    #[test]
    fn what_is_configured_changes_joins_and_takes_away() {
        let entry = |name: &str| ProgramEntry { name: name.to_owned(), ..ProgramEntry::default() };
        let server = |program: ProgramEntry| ServerEntry { program, initialization: None };
        let texts = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        let found = known(&[
            server(ProgramEntry { disabled: true, ..entry("gopls") }),
            ServerEntry { program: entry("rust"), initialization: Some(json!({ "a": 1 })) },
            server(ProgramEntry { command: texts(&["y"]), extensions: texts(&[".y"]), ..entry("mine") }),
            server(ProgramEntry { command: texts(&["z"]), ..entry("endless") }),
        ]);
        let by_name = |name: &str| found.iter().find(|known| known.name == name);
        assert!(by_name("gopls").is_none() && by_name("endless").is_none());
        assert_eq!(by_name("rust").unwrap().own.initialization, json!({ "a": 1 }));
        assert_eq!(by_name("rust").unwrap().command, ["rust-analyzer"]);
        assert!(by_name("mine").unwrap().is_for(Path::new("/a/b.y")));
        assert_eq!(found.len(), ROWS.len());
    }

    #[test]
    fn the_nearest_root_counts_and_none_is_above_the_project() {
        let top = tempfile::TempDir::new().unwrap();
        let base = top.path().join("project");
        std::fs::create_dir_all(base.join("a/b/src")).unwrap();
        for marker in ["Cargo.toml", "project/a/Cargo.lock", "project/a/b/Cargo.toml"] {
            std::fs::write(top.path().join(marker), "").unwrap();
        }
        let all = known(&[]);
        let root = |name: &str, file: &str| {
            let server = all.iter().find(|known| known.name == name).unwrap();
            server.root(&base.join(file), &base).strip_prefix(&base).unwrap().to_owned()
        };
        assert_eq!(root("rust", "a/b/src/x.rs"), Path::new("a"));
        assert_eq!(root("rust", "x.rs"), Path::new(""));
        assert_eq!(root("clangd", "a/b/src/x.c"), Path::new(""));
    }

    #[test]
    fn files_are_known_by_their_names() {
        let all = known(&[]);
        let of = |path: &str| {
            let mut servers = all.iter().filter(|known| known.is_for(Path::new(path)));
            (servers.next().map(|known| known.name.clone()), language(Path::new(path)))
        };
        let some = |server: &str, language: &str| (Some(server.to_owned()), language.to_owned());
        assert_eq!(of("/a/x.tsx"), some("typescript", "typescriptreact"));
        assert_eq!(of("/a/x.hpp"), some("clangd", "cpp"));
        assert_eq!(of("/a/Dockerfile"), some("dockerfile", "dockerfile"));
        assert_eq!(of("/a/x.go"), some("gopls", "go"));
        assert_eq!(of("/a/.rs").0, None);
        assert_eq!(of("/a/x.unknown").0, None);
    }
}
