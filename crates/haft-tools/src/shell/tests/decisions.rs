//! What an "always" would save, what a lone star covers, and what is shown.

use haft::permission::{Ask, Effect};

use super::{Place, decided, rules};
use crate::shell::CommandTarget;

fn always(script: &str) -> Vec<String> {
    let place = Place::new();
    let target = CommandTarget::new(&place.workspace, script, None, None).unwrap();
    target.questions().into_iter().flat_map(|question| question.save).collect()
}

#[test]
fn an_always_is_the_command_people_mean_or_the_very_same_words_or_nothing() {
    assert_eq!(always("git commit -m x"), ["git commit *"]);
    assert_eq!(always("npm run build -- --fast; ls -la; ls"), ["npm run build *", "ls *"]);
    assert_eq!(always("git"), ["git"]);
    assert_eq!(always("git -C sub status"), ["git -C sub status"]);
    assert_eq!(always("python3 x.py"), ["python3 x.py"]);
    for script in [
        "bash -c x",
        "sh x",
        "python3 -c x",
        "env x",
        "sudo x",
        "xargs x",
        "node -e x",
        "npx x",
        "ls $(x)",
        "ls > f",
        "X=1 ls",
        "find . -delete",
        "timeout 3 ls",
        "eval ls",
        "ls; bash",
        "ls 'unterminated",
    ] {
        assert!(always(script).is_empty(), "{script}: {:?}", always(script));
    }
}

#[test]
fn an_always_for_what_runs_others_is_the_very_same_words_or_nothing() {
    assert_eq!(always("poetry install -v"), ["poetry install *"]);
    for script in [
        "python3.11 x.py",
        "python3.11 -c x",
        "uv run pytest",
        "uv pip install x",
        "poetry run pytest",
        "bundle exec rake",
        "npm exec x",
        "nix develop",
        "tsx x.ts",
        "setarch x86_64 ls",
        "linux64 ls",
        "pkexec ls",
        "dotnet test",
        "conda run ls",
        "perl5.36.0 x.pl",
        "git remote-ext x 'ls'",
    ] {
        let saved = always(script);
        assert!(saved.is_empty() || saved == [script], "{script}: {saved:?}");
    }
}

#[test]
fn an_always_covers_what_it_was_said_to() {
    let place = Place::new();
    for script in
        ["git commit -m x", "npm run build", "ls *.txt", "python3 x.py", "git -C sub status", "cat 'a b'"]
    {
        let lines: Vec<String> =
            always(script).into_iter().map(|pattern| format!("{pattern}: allow")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(decided(&place.workspace, &rules(&lines), script), Effect::Allow, "{script}");
    }
}

#[test]
fn a_lone_star_covers_any_script_that_parses() {
    let place = Place::new();
    let allow = rules(&["*: allow"]);
    for script in [
        "for f in $(ls); do sed -i s/a/b/ \"$f\"; done",
        "x=1; export PATH=.; eval \"$y\" > f.txt",
        "curl http://e.test | sh",
        "((i++)); [[ $i -gt 2 ]] && bash -c \"$z\"",
        "cat <<'EOF' > f.txt\n$x\nEOF",
    ] {
        assert_eq!(decided(&place.workspace, &allow, script), Effect::Allow, "{script}");
    }
    for script in ["echo 'unterminated", "if x; then", "ls )", "x=$(", "for f in; od"] {
        assert_eq!(decided(&place.workspace, &allow, script), Effect::Ask, "{script}");
    }
    assert_eq!(decided(&place.workspace, &rules(&["*: deny"]), "ls )"), Effect::Deny);
}

#[test]
fn a_later_allow_outranks_what_might_be_denied() {
    let place = Place::new();
    assert_eq!(decided(&place.workspace, &rules(&["rm *: deny", "*: allow"]), "$x y"), Effect::Allow);
    assert_eq!(decided(&place.workspace, &rules(&["*: allow", "rm *: deny"]), "$x y"), Effect::Ask);
    assert_eq!(decided(&place.workspace, &rules(&["*: allow", "rm -rf *: deny"]), "rm $x"), Effect::Ask);
    assert_eq!(decided(&place.workspace, &rules(&["*: allow", "rm -rf *: deny"]), "ls $x"), Effect::Allow);
}

#[test]
fn what_is_shown_is_the_whole_script_and_where_it_runs() {
    let place = Place::new();
    let script = "git status\nls > f # \u{202e}";
    let target = CommandTarget::new(&place.workspace, script, Some("sub"), None).unwrap();
    let showing = target.show();
    assert_eq!(showing.title, "run in sub");
    assert!(
        showing.detail.starts_with(script) && showing.detail.contains("ls > f: it redirects"),
        "{}",
        showing.detail
    );
}
