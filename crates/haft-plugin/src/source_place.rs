//! Where in a file something is that people have to be told about: an export, or an argument of a tool.
//!
//! The text is searched, not parsed: that works for whatever an engine has loaded, never runs into anything, and a place
//! that is a little off still helps, since the message names what is meant.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// What is longer is no file that somebody looks into.
const TEXT_BYTES_MAX: u64 = 4 << 20;

/// The text of a file.
pub(crate) struct Source(String);

/// A line and a column, from one.
pub(crate) type LineColumn = (u32, u32);

impl Source {
    /// Reads a file; nothing comes of one that is no text.
    pub(crate) fn read(path: &Path) -> Source {
        let mut text = Vec::new();
        let read = File::open(path).and_then(|file| file.take(TEXT_BYTES_MAX).read_to_end(&mut text));
        Source(read.map(|_| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default())
    }

    /// Where something is exported, or brought by a plugin as `tool.NAME`.
    pub(crate) fn export(&self, name: &str) -> Option<LineColumn> {
        let name = name.strip_prefix("tool.").unwrap_or(name);
        if name == "default" {
            return ["export default", "module.exports", "as default"].iter().find_map(|words| {
                self.lines().find_map(|(at, line)| Some((at, column(line, line.find(words)?))))
            });
        }
        let found = self.lines().flat_map(|(at, line)| words(line, name).map(move |byte| (at, line, byte)));
        let best = found.min_by_key(|(_, line, byte)| Likeness::of(line, *byte, name));
        best.map(|(at, line, byte)| (at, column(line, byte)))
    }

    /// Where an argument of a tool is said; if that is not to be found, where the tool is.
    pub(crate) fn argument(&self, tool: &str, name: &str) -> Option<LineColumn> {
        let (begins, _) = self.export(tool)?;
        let mut found = self
            .lines()
            .filter(|(at, _)| *at >= begins)
            .flat_map(|(at, line)| words(line, name).map(move |byte| (at, line, byte)));
        let named = found.find(|(_, line, byte)| Likeness::of(line, *byte, name) == Likeness::Property);
        named.map(|(at, line, byte)| (at, column(line, byte))).or_else(|| self.export(tool))
    }

    /// The lines that are not comments, with their numbers.
    fn lines(&self) -> impl Iterator<Item = (u32, &str)> {
        let is_code = |line: &str| !["//", "/*", "*"].iter().any(|sign| line.trim_start().starts_with(sign));
        (1u32..).zip(self.0.lines()).filter(move |(_, line)| is_code(line))
    }
}

/// How much a word looks like what is searched for, the likeliest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    Declared,
    Property,
    Listed,
    Mentioned,
}

impl Likeness {
    fn of(line: &str, byte: usize, name: &str) -> Likeness {
        let before = line[..byte].trim_end_matches(['"', '\'', '`']).trim_end();
        let after = line[byte + name.len()..].trim_start_matches(['"', '\'', '`']).trim_start();
        let is_exported = line.trim_start().starts_with("export");
        let declares = ["const", "let", "var", "function", "function*", "class"];
        match declares.iter().any(|word| before.ends_with(word)) {
            true if is_exported => Likeness::Declared,
            _ if before.ends_with("exports.") || before.ends_with("exports[") => Likeness::Declared,
            _ if after.starts_with([':', '(']) => Likeness::Property,
            _ if is_exported => Likeness::Listed,
            _ => Likeness::Mentioned,
        }
    }
}

/// Where a name stands in a line as a whole word.
fn words<'a>(line: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_part = |char: char| char.is_alphanumeric() || char == '_' || char == '$';
    let is_whole = move |byte: &usize| {
        !line[..*byte].ends_with(is_part) && !line[byte + name.len()..].starts_with(is_part)
    };
    // Nothing is everywhere.
    let name_or_none = Some(name).filter(|name| !name.is_empty());
    name_or_none.into_iter().flat_map(|name| line.match_indices(name)).map(|(byte, _)| byte).filter(is_whole)
}

fn column(line: &str, byte: usize) -> u32 {
    u32::try_from(line[..byte].chars().count()).unwrap_or(u32::MAX).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::Source;

    #[test]
    fn exports_are_found_by_the_line_that_makes_them() {
        let source = Source(
            "// export const add comes below\nimport { add as plus } from './plus'\n\
             const helper = () => add(1)\nexport const add = tool({\n  args: { a: 7 },\n})\n\
             export { helper as also, sub }\n  export default tool({ args: { add: 1 } })\n"
                .to_owned(),
        );
        assert_eq!(source.export("add"), Some((4, 14)));
        assert_eq!(source.export("default"), Some((8, 3)));
        assert_eq!(source.export("sub"), Some((7, 26)));
        assert_eq!(source.export("nothing"), None);
        assert_eq!(source.argument("add", "a"), Some((5, 11)));
        assert_eq!(source.argument("add", "absent"), Some((4, 14)), "the tool is near enough");
    }

    #[test]
    fn tools_of_plugins_and_of_common_js_are_found_as_properties() {
        let source = Source(
            "exports.twice = {}\nconst a = 'my-tool'\nexport const P = async () => ({ tool: {\n  'my-tool': {},\n  b() {},\n} })\n"
                .to_owned(),
        );
        assert_eq!(source.export("twice"), Some((1, 9)));
        assert_eq!(source.export("tool.my-tool"), Some((4, 4)));
        assert_eq!(source.export("tool.b"), Some((5, 3)));
        assert_eq!(source.export(""), None);
    }
}
