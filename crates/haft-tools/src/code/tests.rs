//! Words, lines and passages, without files.

use std::path::Path;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::language;
use super::passage::spots;
use super::query::Query;

/// What each line of a file defines.
#[expect(clippy::needless_pass_by_value, reason = "an expectation is written where it is checked")]
fn check_defined(file: &str, lines: &str, expected: Expect) {
    let language = language::of(Path::new(file)).unwrap();
    let names: Vec<&str> = lines.lines().map(|line| language.defined(line).unwrap_or("-")).collect();
    expected.assert_eq(&names.join(" "));
}

#[test]
fn lines_that_define_something_name_it() {
    check_defined(
        "a.rs",
        "pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {\n\
         pub(crate) const unsafe extern \"C\" fn raw() {}\n\
         \x20   async fn recv(&mut self) -> Option<T> {\n\
         pub struct Sender<T> {\n\
         macro_rules! select {\n\
         const LIMIT: usize = 1;\n\
         let x = fn_call();\n\
         // fn in a comment\n\
         impl<T> Sender<T> {",
        expect!["channel raw recv Sender select LIMIT - - -"],
    );
    check_defined(
        "a.py",
        "class Client(Base):\n    async def get(self):\nx = 1\nreturn define(x)\ndefault = 1",
        expect!["Client get - - -"],
    );
    check_defined(
        "a.d.ts",
        "export declare function useState<S>(initial: S): [S, Dispatch<S>];\n\
         export default class App extends Component {\n\
         export const routes = [\n\
         \x20 const local = 1;\n\
         type Props = {\n\
         \x20 type: string;\n\
         \x20 render(node: Node): void;\n\
         \x20 async load(id) {\n\
         \x20 if (x) {\n\
         \x20 foo.bar(x);\n\
         export const enum Kind {",
        expect!["useState App routes - Props - render load - - Kind"],
    );
    check_defined(
        "a.go",
        "func (s *Server) Shutdown(ctx context.Context) error {\nfunc New() *Server {\ntype Handler interface {\nreturn x",
        expect!["Shutdown New Handler -"],
    );
    check_defined(
        "a.h",
        "int curl_easy_perform(CURL *curl);\n#define CURLE_OK 0\nstruct curl_slist {\nstatic void *grow(size_t n) {\n  return grow(1);\n  x = grow(2);",
        expect!["curl_easy_perform CURLE_OK curl_slist grow - -"],
    );
    check_defined(
        "A.java",
        "public final class HttpClient {\n  public static HttpClient newHttpClient() {\n  while (x) {\n  private record Pair(int a) {}",
        expect!["HttpClient newHttpClient - Pair"],
    );
}

#[test]
fn files_that_nobody_reads_have_no_language() {
    for name in ["a.min.js", "a.png", "Cargo.lock", "README", "data.json", ".env"] {
        assert!(language::of(Path::new(name)).is_none(), "{name}");
    }
    assert!(language::of(Path::new("README.md")).is_some_and(|language| language.is_prose));
}

#[test]
fn words_are_found_however_they_are_joined() {
    let query = Query::new("How to use read_to_string with a BufReader?").unwrap();
    assert_eq!(query.len(), 2, "the rest says how, not what");
    let count = |text: &str| query.words_in(text).count();
    assert_eq!(count("readToString(bufreader)"), 2);
    assert_eq!(count("READ-TO-STRING"), 1);
    assert_eq!(count("spread_to_string unbufreader"), 0, "they begin where a part of a name does");
    assert_eq!(count("myReadToString HTTPBufReader x_bufreader"), 2);
    assert_eq!(count("read a string"), 0);
    assert!(query.is_exactly("buf_reader") && !query.is_exactly("buf_reader_ext"));

    let query = Query::new("tokio io channels channel").unwrap();
    assert_eq!(query.words_in("channels").count(), 2, "one word is part of the other");
    assert_eq!(query.words_of_name("tokio-util").count(), 1);
    assert_eq!(query.words_of_name("kind").count(), 0);
    assert_eq!(Query::new("how to use it").map(|query| query.len()), Some(4), "nothing else is said");
    assert_eq!(Query::new("größe ÄNDERN").unwrap().words_in("GRÖSSE größe ändern").count(), 2);
}

#[test]
fn a_query_without_words_is_none() {
    for text in ["", "  ", "?!", "( ) *", "--", "__"] {
        assert!(Query::new(text).is_none(), "{text:?}");
    }
    // Nothing in it is taken for a regular expression.
    assert_eq!(Query::new("a.*b [x]{3} (?i)").unwrap().words_in("b x 3 i").count(), 3);
}

#[test]
fn a_definition_is_shown_with_what_stands_before_it_and_what_is_in_it() {
    let text = "\
use std::sync::Arc;

/// Makes a bounded channel.
///
/// It holds so many messages.
#[must_use]
pub fn channel<T>(
    buffer: usize,
) -> (Sender<T>, Receiver<T>)
where
    T: Send,
{
    inner(buffer)
}

fn other() {}
";
    let query = Query::new("bounded channel").unwrap();
    let found = spots(&query, language::of(Path::new("a.rs")).unwrap(), text);
    let best = found.spots[0];
    assert_eq!((best.line, best.start, best.end), (6, 2, 14));
    assert!(best.defines && best.is_exact && best.near.count() == 2);
    assert_eq!(found.spots.len(), 1, "what would overlap is one passage");

    let text = "class A:\n    # About b.\n    @cached\n    def b(self):\n        return 1\n\n    def c(self):\n        pass\n";
    let found = spots(&Query::new("b").unwrap(), language::of(Path::new("a.py")).unwrap(), text);
    assert_eq!((found.spots[0].start, found.spots[0].end), (1, 5));
}

/// Texts of what code is made of, and of what it is not.
fn texts() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "fn ", "alpha", "beta", "\n", "\n    ", "\r\n", "(", ")", "{", "}", "<", ">", "/// ", "# ", "* ",
        "pub", "const ", "func (", "\"", "é", "世", "\u{0}", ";", ":", ",", "=", "@", "#[", "where", "end",
        "_", "ALPHA", "\t", "use ",
    ];
    prop::collection::vec(prop::sample::select(PIECES), 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_text_has_passages_within_its_lines(text in texts(), words in "[a-zA-Z_é ?-]{0,12}( alpha| beta)?") {
        let Some(query) = Query::new(&words) else { return Ok(()) };
        let lines = text.lines().count();
        for name in ["x.rs", "x.py", "x.md", "x.ts", "x.go", "x.c", "x.kt"] {
            let mut last = None;
            for spot in spots(&query, language::of(Path::new(name)).unwrap(), &text).spots {
                prop_assert!(spot.start <= spot.line && spot.line < spot.end && spot.end <= lines, "{:?}", spot);
                prop_assert!(last != Some(spot.line), "no place comes twice");
                last = Some(spot.line);
            }
        }
    }
}
