//! Interpreters of languages: whether they are given code that nobody has looked at, by an option or by what they are fed.

use super::options::tells_alone;
use super::programs;
use super::word::{Certainty, Word};

/// Modules of Python that run what their words or their input say.
const CODE_MODULES: &[&str] = &[
    "timeit",
    "pdb",
    "code",
    "asyncio",
    "idlelib",
    "IPython",
    "ipdb",
    "pudb",
    "bpython",
    "ptpython",
    "xonsh",
    "ptipython",
];
/// Modules of Python that run another file or module of Python which their words name.
const RUNNING_MODULES: &[&str] = &[
    "cProfile",
    "profile",
    "trace",
    "coverage",
    "pyinstrument",
    "scalene",
    "viztracer",
    "memory_profiler",
    "kernprof",
    "debugpy",
    "runpy",
];

/// Modules of Python that pack and unpack what their words name.
const ARCHIVES: [&str; 2] = ["tarfile", "zipfile"];
/// Letters of options of Python that take what is behind them.
const VALUED: [char; 5] = ['c', 'm', 'W', 'X', 'Q'];
/// The long option of Python that takes the next word.
pub(super) const LONG_VALUED: &str = "--check-hash-based-pycs";
/// Interpreters with options of their own before the file that they run: those that take nothing, and those that take the
/// next word. With another one nobody here knows which word is the file.
#[rustfmt::skip]
const SCRIPTED: &[(&str, &str, &str)] = &[
    ("node nodejs",
        "--no-warnings --trace-warnings --no-deprecation --enable-source-maps --test --watch --inspect --inspect-brk --harmony \
         --expose-gc --preserve-symlinks --experimental-strip-types --experimental-vm-modules --experimental-modules",
        "-r --require --import --loader --experimental-loader -C --conditions --env-file"),
    ("perl", "-w -W -X -t -T -c", "-I"),
    ("ruby", "-w -W -c --yjit --jit --disable-gems", "-I -r"),
    ("php", "-q -n", "-c -d -z"),
    ("lua luajit", "-W -E", "-l"),
    ("julia", "-q --quiet", "-t -L"),
    ("Rscript", "--vanilla --no-save --no-restore --no-init-file", ""),
    ("tsx ts-node tclsh deno bun", "", ""),
];

/// The arguments of an interpreter up to the file that it runs: what stands behind it is the program's own.
pub(super) fn own<'w>(name: &str, arguments: &'w [Word]) -> &'w [Word] {
    let lists = |list: &str, one: &str| list.split_ascii_whitespace().any(|listed| listed == one);
    let Some((_, flags, valued)) = SCRIPTED.iter().find(|(names, ..)| lists(names, name)) else {
        return arguments;
    };
    let mut at = 0;
    while let Some(text) = arguments.get(at).and_then(Word::known) {
        match text.strip_prefix('-') {
            // A word that is no file tells what to do with those behind it.
            None if matches!(name, "deno" | "bun") && !text.contains(['.', '/']) => break,
            None => return &arguments[..=at],
            Some("" | "-") => break,
            Some(_) if lists(valued, text) => at += 2,
            Some(long) if lists(flags, text) || long.starts_with('-') && long.contains('=') => at += 1,
            Some(_) => break,
        }
    }
    arguments
}

/// Whether code for an interpreter is given by an option or fed: nobody has looked at it.
pub(super) fn runs_code(name: &str, arguments: &[Word]) -> bool {
    if tells_alone(name, arguments) {
        return false;
    }
    let arguments = own(name, arguments);
    let operands = || arguments.iter().any(|word| !word.text().starts_with('-'));
    let short = |letters: &[char]| {
        arguments.iter().any(|word| {
            let text = word.text();
            text.strip_prefix('-')
                .is_some_and(|cluster| !cluster.starts_with('-') && cluster.contains(letters))
        })
    };
    let long = |options: &[&str]| {
        arguments.iter().any(|word| options.iter().any(|one| word.text().starts_with(one)))
    };
    // What is not known may be an option with code.
    let may_be_code = || arguments.first().is_some_and(may_be_option) || !operands();
    match name {
        _ if is_python(name) => python(arguments),
        "perl" | "ruby" => short(&['e', 'E']) || may_be_code(),
        "node" | "nodejs" | "bun" => short(&['e', 'p']) || long(&["--eval", "--print"]) || may_be_code(),
        "php" => short(&['r', 'R', 'B', 'E']) || may_be_code(),
        "lua" | "luajit" | "tclsh" | "julia" | "Rscript" => short(&['e', 'E']) || may_be_code(),
        "deno" => arguments.first().is_some_and(|word| word.text() == "eval"),
        "awk" | "gawk" | "mawk" | "nawk" | "sed" | "gsed" => programs::does_more(name, arguments),
        _ => false,
    }
}

fn is_python(name: &str) -> bool {
    matches!(name, "python" | "python2" | "python3" | "pypy" | "pypy3")
}

/// The module that Python runs, and what stands behind it.
pub(super) fn module<'w>(name: &str, arguments: &'w [Word]) -> Option<(&'w str, &'w [Word])> {
    let mut at = 0;
    while let Some(word) = arguments.get(at).filter(|_| is_python(name)) {
        at += 1;
        if word.text() == LONG_VALUED {
            at += 1;
            continue;
        }
        let cluster = word.text().strip_prefix('-').filter(|cluster| !cluster.is_empty())?;
        let Some(letter) = cluster.find(VALUED).filter(|_| !cluster.starts_with('-')) else { continue };
        let attached = &cluster[letter + 1..];
        let value = if attached.is_empty() { arguments.get(at).map(Word::text) } else { Some(attached) };
        at += usize::from(attached.is_empty());
        match &cluster[letter..=letter] {
            "m" => return Some((value?, arguments.get(at..).unwrap_or_default())),
            "c" => return None,
            _ => {}
        }
    }
    None
}

/// Whether a module of Python that packs and unpacks is told to do one of that. An option may be abbreviated, and its value
/// may be attached to its letter.
pub(super) fn archives(name: &str, arguments: &[Word], option: &str) -> bool {
    let Some((module, rest)) = module(name, arguments) else { return false };
    let is_told = |word: &Word| match word.text().strip_prefix("--") {
        Some(long) => {
            let long = long.split('=').next().unwrap_or(long);
            !long.is_empty() && option.starts_with(long)
        }
        None => {
            let cluster = word.text().strip_prefix('-').unwrap_or_default().trim_start_matches('v');
            cluster.starts_with(&option[..1])
        }
    };
    ARCHIVES.contains(&module.split('.').next().unwrap_or(module)) && rest.iter().any(is_told)
}

/// Python takes code behind `-c` or for some modules, and is fed it where no file is named. What stands behind the file
/// is the program's own.
fn python(arguments: &[Word]) -> bool {
    let mut rest = arguments.iter();
    let mut is_running = false;
    while let Some(word) = rest.next() {
        let text = word.text();
        match text.strip_prefix('-') {
            _ if may_be_option(word) => return true,
            _ if text == LONG_VALUED => drop(rest.next()),
            None if is_running && text == "run" => {}
            None => return false,
            Some("") => return true,
            Some("-version" | "-help" | "V" | "VV" | "h" | "-help-all") => return false,
            Some(long) if long.starts_with('-') => {}
            // It goes on with what it is fed.
            Some(cluster) if cluster.starts_with('i') => return true,
            Some(cluster) => {
                let Some(at) = cluster.find(VALUED) else { continue };
                let (letter, attached) = (&cluster[at..=at], &cluster[at + 1..]);
                let value = match attached {
                    "" => rest.next().map(Word::text),
                    attached => Some(attached),
                };
                match (letter, value) {
                    ("c", _) | ("m", None) => return true,
                    ("m", Some(module)) => {
                        let package = module.split('.').next().unwrap_or(module);
                        if CODE_MODULES.contains(&package) {
                            return true;
                        }
                        is_running = RUNNING_MODULES.contains(&package);
                        if !is_running {
                            return false;
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    true
}

/// Whether a word is known only when it runs, and may then be an option with whatever stands behind it.
fn may_be_option(word: &Word) -> bool {
    let is_open = |word: &Word| word.certainty() == Certainty::Unknown && word.beginning().is_empty();
    let may_be = |word: &Word| is_open(word) || word.text().starts_with('-') && word.known().is_none();
    match word.values() {
        [] => may_be(word),
        values => values.iter().any(|value| may_be(value) || value.text().starts_with('-')),
    }
}
