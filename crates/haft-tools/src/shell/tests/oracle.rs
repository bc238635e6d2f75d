//! The analysis against a real shell: generated scripts run under strace, and what the kernel saw executed was found
//! beforehand, or would not have been allowed.
//!
//! `HAFT_ORACLE_SCRIPTS` says how many scripts, `HAFT_ORACLE_SEED` which ones.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use haft::permission::Effect;

use super::{Place, decided, rules};
use crate::shell::{CommandTarget, Sort};
use crate::workspace::Workspace;

/// As many as run in a few seconds.
const SCRIPTS: usize = 250;
/// Programs that do nothing; each is a name that can be executed.
const PROGRAMS: [&str; 4] = ["pa", "pb", "pc", "pd"];
/// Programs that scripts run others with.
const TOOLS: &str = "env timeout nice nohup setsid stdbuf xargs find cat echo true sh bash";

#[test]
fn what_a_real_shell_executes_was_found_or_was_not_allowed() {
    if !(is_there("/usr/bin/strace") && is_there("/bin/bash") && is_there("/usr/bin/timeout")) {
        eprintln!("SKIPPED: the differential oracle needs strace, bash and timeout");
        return;
    }
    let number = |name: &str, otherwise: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    let (scripts, seed) = (number("HAFT_ORACLE_SCRIPTS", SCRIPTS as u64), number("HAFT_ORACLE_SEED", 1));
    let bench = Bench::new();
    let narrow = rules(&["*: deny", "pa *: allow", "pb *: allow", "echo *: allow", "cat *: allow"]);
    let denying = rules(&["*: allow", "pd: deny", "pd *: deny"]);
    let (mut executed_something, mut narrowly_allowed, mut wrong) = (0, 0, Vec::new());
    for at in 0..scripts {
        let mut made = Generator(
            seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (at + 1).wrapping_mul(0xd134_2543_de82_ef95),
        );
        let script = made.script();
        let Some(executed) = bench.executed(&script) else { continue };
        executed_something += usize::from(!executed.is_empty());
        let target = CommandTarget::new(&bench.workspace, &script, None, None).unwrap();
        let commands = &target.analysis().commands;
        let found: BTreeSet<&str> = commands.iter().filter_map(|command| command.name()).collect();
        let unknown = commands.iter().any(|command| command.is_opaque || command.sort == Sort::Unread);
        let missed: Vec<&String> = executed.iter().filter(|name| !found.contains(name.as_str())).collect();
        if !unknown && !missed.is_empty() {
            wrong.push(format!("{missed:?} executed and not found in {script:?}"));
        }
        if decided(&bench.workspace, &narrow, &script) == Effect::Allow {
            narrowly_allowed += 1;
            if executed.iter().any(|name| !matches!(name.as_str(), "pa" | "pb" | "cat" | "echo")) {
                wrong.push(format!("allowed by rules for others: {script:?}"));
            }
        }
        if executed.contains("pd") && decided(&bench.workspace, &denying, &script) == Effect::Allow {
            wrong.push(format!("denied and run: {script:?}"));
        }
    }
    let first: Vec<&String> = wrong.iter().take(20).collect();
    assert!(wrong.is_empty(), "{} of {scripts}: {first:#?}", wrong.len());
    eprintln!(
        "{executed_something} of {scripts} executed something, {narrowly_allowed} were allowed by narrow rules"
    );
    // A run that executes nothing, or allows nothing, tests nothing.
    assert!(
        executed_something * 3 > scripts as usize,
        "only {executed_something} of {scripts} executed anything"
    );
    assert!(narrowly_allowed > 0, "no script was allowed");
}

fn is_there(path: &str) -> bool {
    Path::new(path).exists()
}

/// A directory in which scripts run, with programs that do nothing.
struct Bench {
    place: Place,
    workspace: Workspace,
    programs: PathBuf,
}

impl Bench {
    fn new() -> Bench {
        let place = Place::new();
        let programs = place.outside().join("bin");
        fs::create_dir(&programs).unwrap();
        PROGRAMS.iter().for_each(|name| symlink("/bin/true", programs.join(name)).unwrap());
        // Nothing else is within reach, because what other programs execute is their own affair.
        for name in TOOLS.split(' ') {
            let real = ["/usr/bin", "/bin"].iter().map(|directory| Path::new(directory).join(name));
            real.filter(|path| path.exists())
                .take(1)
                .for_each(|path| symlink(path, programs.join(name)).unwrap());
        }
        let workspace = place.workspace.clone();
        symlink("/bin/true", place.outside().join("ws/pd")).unwrap();
        Bench { place, workspace, programs }
    }

    /// The names of what was executed besides the shell itself; nothing, if the script did not end by itself.
    fn executed(&self, script: &str) -> Option<BTreeSet<String>> {
        let log = self.place.outside().join("log");
        let status = Command::new("/usr/bin/timeout")
            .args([
                "-s",
                "KILL",
                "5",
                "/usr/bin/strace",
                "-f",
                "-qq",
                "-e",
                "trace=execve",
                "-e",
                "signal=none",
                "-o",
            ])
            .arg(&log)
            .args(["/bin/bash", "-c", script])
            .current_dir(self.workspace.directory())
            .env_clear()
            .env("PATH", &self.programs)
            .env("FUNCNEST", "20")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let log = fs::read_to_string(&log).unwrap_or_default();
        let path = |line: &str| Some(line.split_once("execve(\"")?.1.split_once('"')?.0.to_owned());
        let successful = log.lines().filter(|line| line.ends_with("= 0"));
        let names = successful.filter_map(path).skip(1);
        let names = names.map(|path| path.rsplit('/').next().unwrap_or_default().to_owned());
        status.code().map(|_| names.collect())
    }
}

/// Makes scripts, the same ones for the same number.
struct Generator(u64);

impl Generator {
    fn script(&mut self) -> String {
        let mut script = self.list(0);
        if self.below(4) == 0 {
            script = self.garbled(&script);
        }
        script
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.below(from.len())]
    }

    fn list(&mut self, depth: usize) -> String {
        let mut list = self.statement(depth);
        for _ in 0..self.below(3) {
            list.push_str(self.pick(&["; ", " && ", " || ", "\n", " | ", " & ", ";", "&&", "|"]));
            list.push_str(&self.statement(depth));
        }
        list
    }

    fn statement(&mut self, depth: usize) -> String {
        if depth > 2 {
            return self.simple(depth);
        }
        let next = depth + 1;
        match self.below(28) {
            0 => format!("({})", self.list(next)),
            1 => format!("{{ {}; }}", self.list(next)),
            2 => format!("if {}; then {}; else {}; fi", self.list(next), self.list(next), self.list(next)),
            3 => format!("for i in 1 {}; do {}; done", self.argument(next), self.list(next)),
            4 => format!("while {}; do {}; break; done", self.list(next), self.list(next)),
            5 => format!(
                "case {} in x) {};; *) {};; esac",
                self.argument(next),
                self.list(next),
                self.list(next)
            ),
            6 => format!("f() {{ {}; }}; f", self.list(next)),
            7 => format!("! {}", self.simple(next)),
            8 => format!("x={}; $x", self.name()),
            9 => format!("x=$({})", self.list(next)),
            10 => format!(
                "{} {} {}",
                self.pick(&["bash -c", "sh -c", "eval", "bash -ec"]),
                quoted(&self.list(next)),
                self.argument(next)
            ),
            11 => {
                let wrapper = self.pick(&[
                    "env",
                    "env A=1",
                    "timeout 3",
                    "nice",
                    "nice -n 3",
                    "nohup",
                    "setsid",
                    "stdbuf -oL",
                    "command",
                    "time",
                    "timeout -k 1 3",
                    "env -i",
                    "builtin eval",
                    "command -p",
                    "env -u A",
                ]);
                format!("{wrapper} {}", self.simple(next))
            }
            12 => format!("echo a b | xargs {}{}", self.pick(&["", "-n1 ", "-I{} "]), self.simple(next)),
            13 => format!("find . -maxdepth 0 -exec {} \\;", self.name()),
            14 => format!("trap {} EXIT", quoted(&self.list(next))),
            15 => format!("cat <<EOF\n{}\nEOF\n", self.argument(next)),
            16 => format!("cat <<'EOF'\n{}\nEOF\n", self.argument(next)),
            17 => format!("x='a[$({})]'; (( {} ))", self.name(), self.pick(&["x", "x+1", "1"])),
            18 => format!("[[ {} -eq 1 ]]", self.argument(next)),
            19 => format!("sh <<EOF\n{}\nEOF\n", self.list(next)),
            20 => format!("{} # {}\n", self.simple(next), self.simple(next)),
            21 => format!("(exec {})", self.simple(next)),
            22 => format!("[ -n {} ] && {}", self.argument(next), self.simple(next)),
            23 => format!("export Y={}", self.argument(next)),
            24 => format!("shopt -s expand_aliases\nalias q={}\nq", quoted(&self.simple(next))),
            _ => self.simple(next),
        }
    }

    fn simple(&mut self, depth: usize) -> String {
        let mut words = Vec::new();
        if self.below(8) == 0 {
            words.push(format!("A={}", self.argument(depth)));
        }
        words.push(self.name());
        for _ in 0..self.below(3) {
            words.push(self.argument(depth));
        }
        if self.below(5) == 0 {
            words.push(
                self.pick(&["> o", "2>&1", ">/dev/null", "< f.txt", "<<< x", "2> o", "&> o", ">> o b"])
                    .to_owned(),
            );
        }
        words.join(self.pick(&[" ", " ", "  ", "\t", " \\\n"]))
    }

    fn name(&mut self) -> String {
        let name = self.pick(&PROGRAMS);
        match self.below(12) {
            0 => format!("'{name}'"),
            1 => format!("\"{name}\""),
            2 => format!("\\{name}"),
            3 => format!("{}\\\n{}", &name[..1], &name[1..]),
            4 => format!("$'p\\x6{}'", (name.as_bytes()[1] - b'`')),
            5 => format!("{}''{}", &name[..1], &name[1..]),
            6 => self.pick(&["./pd", "./p?", "p{d,a}", "$(echo pc)", "echo", "cat", "true", ":"]).to_owned(),
            _ => name.to_owned(),
        }
    }

    fn argument(&mut self, depth: usize) -> String {
        if depth > 2 {
            return self.pick(&["x", "'y z'", "\"w\"", "-n", "$x"]).to_owned();
        }
        let next = depth + 1;
        match self.below(20) {
            0 => format!("$({})", self.list(next)),
            1 => format!("`{}`", self.simple(3)),
            2 => format!("\"$({})\"", self.list(next)),
            3 => format!("\"${{z:-$({})}}\"", self.simple(next)),
            4 => format!("<({})", self.list(next)),
            5 => format!("$((1 + $({} ; echo 1)))", self.simple(next)),
            6 => format!("\"a`{}`\"", self.simple(3)),
            7 => format!("${{z-`{}`}}", self.simple(3)),
            8 => format!("'{}'", self.pick(&["$(pd)", "`pd`", "; pd", "a\nb", "\\"])),
            9 => format!("\"{}\"", self.pick(&["; pd", "a\nb", "\\$(pd)", "\\`pd\\`", "#", "it's"])),
            10 => self
                .pick(&[
                    "*", "p*", "{a,b}", "~", "$HOME", "a#b", "\\;", "\\&", "\\|", "$'a\\'b'", "!", "{}", "}",
                    "=", "[a]",
                ])
                .to_owned(),
            _ => self.pick(&["x", "-n", "--opt=1", "'y z'", "\"w\"", "$x", "\"$x\"", "1", "a=b"]).to_owned(),
        }
    }

    /// The script with one or two characters added, doubled or taken away.
    fn garbled(&mut self, script: &str) -> String {
        let mut chars: Vec<char> = script.chars().collect();
        for _ in 0..=self.below(2) {
            let at = self.below(chars.len() + 1);
            match self.below(3) {
                0 if at < chars.len() => {
                    chars.remove(at);
                }
                1 if at < chars.len() => chars.insert(at, chars[at]),
                _ => {
                    let added = [
                        '\'', '"', '\\', '\n', ';', '&', '|', '(', ')', '{', '}', '$', '`', '#', ' ', '<',
                        '!', '=', '*',
                    ];
                    chars.insert(at, added[self.below(added.len())]);
                }
            }
        }
        chars.into_iter().collect()
    }
}

fn quoted(script: &str) -> String {
    format!("'{}'", script.replace('\'', r"'\''"))
}
