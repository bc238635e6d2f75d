//! Scripts that people do not write, made of everything a shell has.

use super::PROGRAMS;

/// Makes scripts, the same ones for the same number.
pub(super) struct Generator(u64);

impl Generator {
    /// The generator of one script of a run.
    pub(super) fn new(seed: u64, at: u64) -> Generator {
        Generator(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (at + 1).wrapping_mul(0xd134_2543_de82_ef95))
    }

    pub(super) fn script(&mut self) -> String {
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
        match self.below(42) {
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
            15 => self.here_document("cat", next),
            16 => format!("cat <<'EOF'\n{}\nEOF\n", self.argument(next)),
            17 => format!("x='a[$({})]'; (( {} ))", self.name(), self.pick(&["x", "x+1", "1"])),
            18 => format!("[[ {} -eq 1 ]]", self.argument(next)),
            19 => format!("sh <<EOF\n{}\nEOF\n", self.list(next)),
            20 => {
                let before =
                    self.pick(&[" ", " ", ";", " \\ ", "\\ ", " \\\n", " a\\\n", "\t", "\\\\ ", "\u{b}"]);
                format!("{}{before}# {}\n", self.simple(next), self.simple(next))
            }
            21 => format!("(exec {})", self.simple(next)),
            22 => format!("[ -n {} ] && {}", self.argument(next), self.simple(next)),
            23 => format!("export Y={}", self.argument(next)),
            24 => format!("shopt -s expand_aliases\nalias q={}\nq", quoted(&self.simple(next))),
            25 => format!("a=({} [{}]={})", self.argument(next), self.inside(next), self.argument(next)),
            26 => format!("a[{}]={}", self.inside(next), self.argument(next)),
            27 => format!("until {}; do {}; break; done", self.list(next), self.list(next)),
            28 => format!("function f {{ {}; }}; f", self.list(next)),
            29 => format!("for ((i=0;i<{};i++)); do {}; done", self.inside(next), self.list(next)),
            30 => format!("[[ {} && {} ]]", self.argument(next), self.argument(next)),
            31 => format!("{} > >({})", self.simple(next), self.list(next)),
            32 => format!(
                "{} < <({})",
                self.pick(&["read x", "mapfile x", ". /dev/stdin", "cat"]),
                self.list(next)
            ),
            33 => format!("printf -v x '%s' {}; $x", self.name()),
            34 => format!("read x <<< {}; $x", self.name()),
            35 => format!(
                "declare {}={}",
                self.pick(&["x", "-i x", "-n x", "-a x", "x[1]"]),
                self.argument(next)
            ),
            36 => format!("set -- {} {}; \"$@\"", self.name(), self.argument(next)),
            _ => self.simple(next),
        }
    }

    /// A here document, the delimiter of which may be spelled in odd ways, or stand in it as something else.
    fn here_document(&mut self, program: &str, depth: usize) -> String {
        let (start, end) = [
            ("EOF", "EOF"),
            ("EOF", "EOF"),
            ("'EOF'", "EOF"),
            ("\\EOF", "EOF"),
            ("-EOF", "\tEOF"),
            ("\"E F\"", "E F"),
            ("E\"O\"F", "EOF"),
            ("$'EOF'", "EOF"),
            ("\"E\\F\"", "E\\F"),
            ("EOF", "E\\\nOF"),
            ("EOF\u{b}", "EOF\u{b}"),
        ][self.below(11)];
        let within = self.pick(&["", "", "EF\n", " EOF\n", "\tEOF\n", "E\n", "\\\n", "EOF \n", "# x\n"]);
        let (body, after) = (self.argument(depth), self.simple(depth));
        format!("{program} <<{start}\n{within}{body}\n{end}\n{after}\nEOF\n")
    }

    /// What stands in brackets, and may go on in the next line.
    fn inside(&mut self, depth: usize) -> String {
        let argument = self.argument(depth);
        match self.below(4) {
            0 => format!("1 # {argument}\n"),
            1 => argument,
            _ => self.pick(&["0", "1", "i", "x", "1+1", "$x"]).to_owned(),
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
        match self.below(24) {
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
            11 => format!(
                "${{x{}$({})}}",
                self.pick(&["//a/", "#", "%", ":+", ":=", "/", ":"]),
                self.simple(next)
            ),
            12 => format!("$\"{}\"", self.pick(&["w", "$(pd)", "`pd`"])),
            13 => format!("${{x[{}]}}", self.inside(next)),
            14 => format!("$[{}]", self.inside(next)),
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
                        '!', '=', '*', '[', ']', '>', '\t', '\r', '\u{b}', '~', 'é',
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
