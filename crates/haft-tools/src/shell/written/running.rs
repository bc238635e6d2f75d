//! What commands do with code that their words name: they run it, or make programs of it. What they find by themselves in a
//! project is not looked into (`cargo test`, `npm test`), however it came there.

use crate::shell::guesses::{runs_none, takes_flags};
use crate::shell::interpreters::{LONG_VALUED, module};
use crate::shell::options::{is_given, subcommand};
use crate::shell::trees::looks_at_none;
use crate::shell::word::Word;
use crate::shell::wrappers::{SHELLS, is_interpreter, is_launcher, wrapper_of};

use super::named;

/// Commands that run what files say which their words name, besides interpreters.
#[rustfmt::skip]
const LOADING: &[&str] = &[
    "make", "gmake", "bmake", "just", "cmake", "ninja", "ctest", "gradle", "gradlew", "mvn", "mvnw",
    "dc", "m4", "gnuplot", "ansible-playbook", "bazel", "rake", "enable", "expect", "xmllint", "tox", "nox", "prove",
];
/// Options of interpreters that take the next word.
#[rustfmt::skip]
const VALUED: &[&str] = &[
    "-W", "-X", "-o", "-O", "-r", "-I", "-l", "-C", "+o", "+O", "--require", "--import", "--loader", "--rcfile", "--init-file",
    "-cp", "-classpath", "--class-path", LONG_VALUED,
];
/// Commands that make programs of what their words name, besides those that take flags by variables.
#[rustfmt::skip]
const COMPILING: &[&str] = &[
    "go", "ghc", "nim", "zig", "ocamlc", "ocamlopt", "nasm", "javac", "swiftc", "kotlinc", "scalac", "tsc", "esbuild", "swc", "babel", "dmd", "ldc2", "fpc", "crystal",
    "valac", "odin", "csc", "mcs", "emcc",
];
/// Words by which commands that do other things as well are told to run what follows.
const RUNNING: &[&str] =
    &["run", "r", "test", "exec", "x", "script", "start", "bench", "watch", "-run", "-r", "--run"];
/// Words by which they are told to do something else with it.
#[rustfmt::skip]
const STAYING: &[&str] = &[
    "fmt", "format", "lint", "check", "clippy", "vet", "doc", "typecheck", "type-check", "types", "add", "install", "ci", "prettier",
    "eslint", "tsc", "tree", "metadata", "audit", "fix",
];
/// Words by which they are told to make something of it.
const BUILDING: &[&str] = &["build", "b", "compile", "bundle", "transpile"];
/// Programs that run what a project has a name for.
const PACKAGING: &[&str] = &["npm", "pnpm", "yarn", "bun", "deno"];
/// Programs that look at code, or change how it is written, besides those that run none of their words.
#[rustfmt::skip]
const LOOKING: &[&str] = &[
    "pylint", "pyright", "basedpyright", "isort", "autopep8", "autoflake", "yapf", "bandit", "pyflakes", "pycodestyle", "pydocstyle",
    "vulture", "py_compile", "compileall", "tabnanny", "ast", "dis", "tokenize", "venv", "zipfile", "tarfile", "rubocop", "standardrb",
    "luacheck", "stylua", "golint", "golangci-lint", "staticcheck", "goimports", "gofumpt", "biome", "oxlint", "dprint", "stylelint",
    "svelte-check", "vue-tsc", "clang-tidy", "cppcheck", "ktlint", "swiftlint", "swiftformat", "phpcs", "phpcbf", "phpstan", "perltidy",
    "perlcritic", "styler", "lintr", "terraform", "tflint", "kubectl", "aws", "gcloud", "az", "gsutil", "open",
    "xdg-open", "code", "wl-copy", "pbcopy", "xclip", "cloc", "tokei", "scc", "ctags", "etags", "ast-grep", "semgrep", "comby", "git",
    "jj", "pre-commit", "pyupgrade", "checkbashisms", "bashate", "hadolint", "typos", "codespell", "license", "addlicense", "diffstat",
];
/// Programs that are known to run none of their words, and run code all the same.
const TESTING: &[&str] = &["pytest", "jest"];
/// What interpreters run of a directory that they are told.
#[rustfmt::skip]
const MAIN: &[&str] = &[
    "index.js", "index.mjs", "index.cjs", "index.node", "index.ts", "index.tsx", "index.jsx", "package.json", "__main__.py",
];
/// What they add to a name that nothing has.
const APPENDED: &[&str] = &[".js", ".json", ".node", ".ts", ".tsx", ".jsx", ".mjs"];
/// Endings of the names of files that are run by whatever their language has for it.
#[rustfmt::skip]
const CODE: &[&str] = &[
    "py", "pyw", "pyz", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "coffee", "rb", "pl", "pm", "t", "raku", "php", "phar",
    "lua", "jl", "r", "R", "go", "rs", "java", "kt", "kts", "scala", "sc", "groovy", "swift", "zig", "dart", "sh", "bash", "zsh", "fish",
    "ps1", "nu", "bats", "hs", "ml", "ex", "exs", "erl", "clj", "cljs", "cljc", "bb", "rkt", "scm", "lisp", "el", "fnl", "tcl", "nim", "cr",
    "d", "v", "odin", "cs", "csx", "fs", "fsx", "vb", "jar", "class", "wasm", "ipynb", "applescript", "scpt", "command",
];

/// What in the words of a command may name code that it runs.
pub(super) fn loaded(name: &str, words: &[Word]) -> Vec<String> {
    if let Some((module, rest)) = module(name, words) {
        return of_modules(module, rest);
    }
    let code = code(name, words);
    if !code.is_empty() || is_interpreter(name) {
        let texts: Vec<String> = code.iter().flat_map(named).collect();
        let within = texts.iter().filter(|text| !is_code(text));
        let within = within.flat_map(|text| {
            let main = MAIN.iter().map(move |main| format!("{text}/{main}"));
            main.chain(APPENDED.iter().map(move |ending| format!("{text}{ending}")))
        });
        return texts.iter().cloned().chain(within).collect();
    }
    // What these run stands behind them and is a command of its own.
    if wrapper_of(name).is_some() || only_looks(name) || is_told(STAYING, name, words) {
        return Vec::new();
    }
    let is_all = is_compiler(name);
    if is_all && !words.iter().any(|word| RUNNING.contains(&word.text())) || is_told(BUILDING, name, words) {
        return Vec::new();
    }
    let launches = is_launcher(name) && words.iter().any(|word| RUNNING.contains(&word.text()));
    let words = if launches { &words[..words.len().min(2)] } else { words };
    // Some are told a module of Python, or something in it.
    let told = words.iter().map(Word::text).filter(|text| !text.starts_with('-'));
    let modules = told.map(|text| format!("{}.py", text.split(':').next().unwrap_or(text).replace('.', "/")));
    words.iter().flat_map(named).filter(|text| is_all || is_code(text)).chain(modules).collect()
}

/// Whether a command makes programs of what its words name.
pub(super) fn compiles(name: &str, words: &[Word]) -> bool {
    let is_other = || is_interpreter(name) || only_looks(name);
    is_compiler(name) || is_told(BUILDING, name, words) && !is_other()
}

/// The words of a command that may name what it runs: to what is a program for interpreters, others follow as data.
pub(super) fn code<'w>(name: &str, words: &'w [Word]) -> &'w [Word] {
    let options: &[&str] = match name {
        "sed" | "gsed" => &["-f", "--file"],
        "awk" | "gawk" | "mawk" | "nawk" => &["-f", "--file", "-E", "--exec", "-i", "--include"],
        _ => &[],
    };
    if LOADING.contains(&name) || options.iter().any(|option| is_given(option, name, words, 0)) {
        return words;
    }
    if !options.is_empty() || !is_interpreter(name) {
        return &[];
    }
    let is_value = |at: usize| at > 0 && VALUED.contains(&words[at - 1].text());
    let is_option = |text: &str| text.starts_with('-') || SHELLS.contains(&name) && text.starts_with('+');
    let mut operands = (0..words.len()).filter(|at| !is_option(words[*at].text()) && !is_value(*at));
    let first = operands.next();
    let is_word = first.is_some_and(|at| RUNNING.contains(&words[at].text()));
    let script = if is_word { operands.next().or(first) } else { first };
    script.map_or(words, |at| &words[..=at])
}

/// What Python runs as a module, and what the module may run: its words may be files or modules.
fn of_modules(module: &str, rest: &[Word]) -> Vec<String> {
    let mut found = files_of(module);
    if !only_looks(module.split('.').next().unwrap_or(module)) {
        found.extend(rest.iter().flat_map(named).filter(|text| is_code(text)));
        let operands = rest.iter().map(Word::text).filter(|text| !text.starts_with('-'));
        found.extend(operands.flat_map(files_of));
    }
    found
}

/// The files by which Python may find a module.
fn files_of(module: &str) -> Vec<String> {
    let path = module.replace('.', "/");
    ["{}.py", "{}/__main__.py", "{}/__init__.py"].map(|file| file.replace("{}", &path)).to_vec()
}

fn is_compiler(name: &str) -> bool {
    takes_flags(name) || COMPILING.contains(&name)
}

/// Whether a program is known not to run the code that its words name.
fn only_looks(name: &str) -> bool {
    !TESTING.contains(&name) && (runs_none(name) || looks_at_none(name) || LOOKING.contains(&name))
}

/// Whether the first operand of a command is one of these words, or names what a project calls so.
fn is_told(list: &[&str], name: &str, words: &[Word]) -> bool {
    let Some(second) = subcommand(name, words) else { return false };
    let is_script = PACKAGING.contains(&name) && ["run", "run-script", "task"].contains(&second);
    let mut behind = words.iter().skip_while(|word| word.text() != second).skip(1).map(Word::text);
    list.contains(&second) || is_script && behind.next().is_some_and(|third| list.contains(&third))
}

/// Whether a name ends as those of code do.
fn is_code(text: &str) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    name.rsplit_once('.').is_some_and(|(_, ending)| CODE.contains(&ending))
}
