//! Input that nobody wrote by hand: it is read or refused, and nothing overflows.

use haft::permission::Effect;
use proptest::prelude::*;

use super::{Place, decided, read, rules};

#[test]
fn deep_and_long_scripts_are_refused_or_read_but_never_too_much() {
    let place = Place::new();
    let allow = rules(&["*: allow"]);
    let nested =
        |open: &str, close: &str, times: usize| format!("{}ls{}", open.repeat(times), close.repeat(times));
    for script in [
        nested("(", ")", 100_000),
        nested("$(", ")", 50_000),
        nested("{ ", "; }", 20_000),
        nested("if true; then ", "; fi", 5_000),
        nested("! ", "", 10_000),
        nested("\"$(", ")\"", 20_000),
        nested("`", "`", 50_000),
        nested("${x:-", "}", 20_000),
        nested("$((", "))", 30_000),
        "[[ ".repeat(30_000),
        "a".repeat(1_000_000),
        "\\\n".repeat(60_000),
        "'".repeat(100_001),
        "<<a ".repeat(20_000),
        "case x in ".repeat(10_000),
        "a|".repeat(60_000),
    ] {
        let beginning: String = script.chars().take(12).collect();
        let effect = decided(&place.workspace, &allow, &script);
        let read = read(&script);
        assert!(read.is_parsed || effect == Effect::Ask, "{beginning}");
    }
}

#[test]
fn characters_above_ascii_are_letters_like_any_other() {
    for script in [
        "{\u{10ffff}",
        "{\u{4e3d}..",
        "echo {\u{fffc}\"\u{4e3d}",
        "\u{3000}<<\u{e9} \u{10ffff}",
        "$\u{e9} ${\u{e9}}",
    ] {
        read(script);
    }
    let names = |script: &str| -> Vec<String> {
        read(script).commands.iter().filter_map(|command| command.name().map(str::to_owned)).collect()
    };
    assert_eq!(
        names("ls\u{a0}x; \u{e9}cho \u{4e16}; caf\u{e9}=1 touch P"),
        ["ls\u{a0}x", "\u{e9}cho", "caf\u{e9}=1"]
    );
}

#[test]
fn many_words_are_read_in_reasonable_time() {
    let place = Place::new();
    let allow = rules(&["*: allow"]);
    let words: String = (0..20_000).map(|number| format!(" {number:x}")).collect();
    let names = "cp|mv -t sub|rsync -a|tee|sed -i s/a/b/|wget|some-program|git add|docker rm|docker run x|cmake|gcc|curl|split|jq|\
        python3 -m x|uv run x|cargo test|tar x";
    for name in names.split('|') {
        let script = format!("{name}{words}");
        assert!(read(&script).is_parsed, "{name}");
        decided(&place.workspace, &allow, &script);
    }
    // Many commands are compared with all that others write.
    for one in [
        "echo x > a{}.rs; cargo test; ",
        "echo x > a{}.c; make a{}; ",
        "split f y{}; sh z{}; ",
        "gcc $a{} x; ",
        "docker run a{} ls; ",
    ] {
        let script: String = (0..2_000).map(|number| one.replace("{}", &number.to_string())).collect();
        decided(&place.workspace, &allow, &script);
    }
    let deep = format!("git apply <<EOF\n+++ {}b\nEOF\nsh x", "a/".repeat(8_000));
    assert_ne!(decided(&place.workspace, &rules(&["*: allow", "touch *: deny"]), &deep), Effect::Allow);
    let lines = format!("awk '{{print 1,{} 2 > \"f\"}}'", "\n".repeat(50_000));
    decided(&place.workspace, &allow, &lines);
    // More than is taken down may be anything that is run later.
    let deny = rules(&["*: allow", "touch *: deny"]);
    for run in ["./x.sh", "bash x.sh", "make"] {
        let script = format!("cp{words} .; {run}");
        assert_ne!(decided(&place.workspace, &deny, &script), Effect::Allow, "{run}");
    }
}

#[test]
fn no_number_of_words_hides_what_a_launcher_runs() {
    let place = Place::new();
    let deny = rules(&["*: allow", "touch *: deny"]);
    let text = "\u{e9} ".repeat(3_000);
    for script in [
        format!("some-launcher{} touch P", " --x=y".repeat(2_000)),
        format!("some-launcher '{text}; touch P'"),
        format!("some-launcher{} touch P", " sh".repeat(20)),
    ] {
        let beginning: String = script.chars().take(24).collect();
        assert_ne!(decided(&place.workspace, &deny, &script), Effect::Allow, "{beginning}");
    }
}

#[test]
fn no_number_of_commands_hides_one() {
    let place = Place::new();
    let deny = rules(&["*: allow", "touch *: deny"]);
    let script = format!("{}touch P", "true; ".repeat(10_000));
    assert_eq!(decided(&place.workspace, &deny, &script), Effect::Deny);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_without_panic(script in "\\PC{0,80}") {
        read(&script);
    }

    #[test]
    fn any_mixture_of_syntax_is_read_without_panic(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "a", " ", "\n", ";", "&&", "||", "|", "&", "(", ")", "{", "}", "$(", "`", "'", "\"", "\\", "$x", "${", "<<E",
                "E\n", "<(", ">", "<", "<<<", "2>&1", "if ", "then ", "fi", "do ", "done", "case ", " in ", "esac", "[[", "]]",
                "((", "))", "=", "x=", "eval ", "bash -c ", "xargs ", "find . -exec ", "sed ", "awk ", "-", "--", "*", "~", "é",
                "\u{202e}", "#", "!", "$'", "\\x41", "git -c ", "env -S", "é'", "[", "]", ",", "..",
            ]),
            0..24,
        )
    ) {
        read(&pieces.concat());
    }
}
