//! What is found in a script: words, what they become, and why a command is not plain.

use expect_test::{Expect, expect};

use super::read;

fn check(script: &str, expected: &Expect) {
    let mut found = String::new();
    for command in &read(script).commands {
        let why: Vec<String> = command.why.iter().map(|why| format!("{why:?}")).collect();
        let opaque = if command.is_opaque { " …" } else { "" };
        let indent = "  ".repeat(command.depth);
        found.push_str(&format!("{indent}{:?}{opaque} {}\n", command.words, why.join(" ")));
    }
    expected.assert_eq(&found);
}

#[test]
fn words_are_what_the_shell_makes_of_them() {
    check(
        r#"a 'b c' "d $e" f\ g $'h\t\x69\u4e16' {j,k} l* ~/m "$HOME/n" ~user o"p"'q' "" {} HEAD@{1} "r\"s\$t\
u""#,
        &expect![[r#"
            [a, 'b c', d …, 'f g', 'h	i世', …, l*, /nowhere/home/m, /nowhere/home/n, …, opq, '', {}, HEAD@{1}, 'r"s$tu'] Dynamic Unclear
        "#]],
    );
}

#[test]
fn what_follows_a_redirection_is_still_an_argument() {
    check(
        "rm > log -rf x; >f touch y; cat <<EOF -n\nEOF\n",
        &expect![[r#"
            [rm, -rf, x] Redirection Unclear
            [touch, y] Redirection Unclear
            [cat, -n] Redirection Unclear
        "#]],
    );
}

#[test]
fn what_wrappers_run_is_found_behind_them() {
    check(
        "sudo -u root env A=1 timeout 5 xargs rm -f",
        &expect![[r#"
            [sudo, -u, root, env, A=1, timeout, 5, xargs, rm, -f] Executes
              [env, A=1, timeout, 5, xargs, rm, -f] Executes
                [timeout, 5, xargs, rm, -f] Executes
                  [xargs, rm, -f] Executes
                    [rm, -f, …] Dynamic Executes
        "#]],
    );
    check(
        "bash -c 'a && bash -c \"b $c\"'",
        &expect![[r#"
            [bash, -c, 'a && bash -c "b $c"'] Executes
              [a] Executes
              [bash, -c, b …] … Dynamic Executes
        "#]],
    );
    check(
        "find . -name x -exec grep y {} + -o -exec rm z \\;",
        &expect![[r#"
            [find, ., -name, x, -exec, grep, y, {}, +, -o, -exec, rm, z, ';'] Executes
              [grep, y, …] Dynamic Executes
              [rm, z] Executes
        "#]],
    );
}

#[test]
fn commands_are_found_wherever_they_stand() {
    let script = "f() { a; }; if b; then c; elif d; then e; else g; fi; while h; do i; done; for x in $(j); do k; done; \
        case $(l) in m) n;; esac; (o); { p; }; q | r && s || t & u; v `w`; x <(y) > >(z); [ $(aa) ]; \
        bb \"${x:-$(cc)}\" $((1 + $(dd))); ee=$(ff); cat <<EOF\n$(gg)\nEOF\n! hh";
    let analysis = read(script);
    assert!(analysis.is_parsed);
    let names: Vec<&str> = analysis.commands.iter().filter_map(|command| command.name()).collect();
    for name in "a b c d e g h i j k l n o p q r s t u v w x y z aa bb cc dd ff gg hh cat".split(' ') {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
}

#[test]
fn a_script_inside_a_script_inside_a_script_has_an_end() {
    let mut script = "touch P".to_owned();
    for _ in 0..12 {
        script = format!("eval '{}'", script.replace('\'', r"'\''"));
    }
    let analysis = read(&script);
    assert!(analysis.commands.iter().any(|command| command.is_opaque));
    assert!(analysis.commands.len() < 20);
}
