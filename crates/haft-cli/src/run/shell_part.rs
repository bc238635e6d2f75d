//! What is typed, put into the shell part of a custom command: quoted, so that it stays an argument and is never code.
//!
//! Two readings have to agree on that: where a slot stands ([`shell_slots`]), and what the analysis that decides about
//! commands makes of the script, both with words of which nothing is known and with those that were typed. Whoever
//! decides about the command sees it as it will run.
//!
//! [`shell_slots`]: super::shell_slots

use haft_tools::shell::{Analysis, Command, Sort, Surroundings, Why, analyse};

use super::arguments::Arguments;
use super::shell_slots::{Found, Holds, found};
use super::template::{Slot, TemplateError};

/// What a word may hold that needs no quotes, besides letters and digits.
const PLAIN: &str = "_-./:@%+,";
/// A variable of which nothing is known stands for what is not typed yet.
const UNKNOWN: &str = "haft_slot";
/// A word that means nothing to any program.
const NEUTRAL: &str = "x";

/// The slots of a shell part.
pub(super) fn slots(script: &str) -> Result<Vec<Slot>, TemplateError> {
    Ok(found(script)?.into_iter().map(|found| found.slot).collect())
}

/// Fills a shell part. Words stay apart where they are arguments, and are one word everywhere else.
pub(super) fn fill(script: &str, arguments: &Arguments, last: usize) -> Result<String, TemplateError> {
    let found = found(script)?;
    if found.is_empty() {
        return Ok(script.to_owned());
    }
    check_template(script, &found)?;
    let typed = with(script, &found, |one| put(one.holds, of_slot(arguments, one.slot, last)));
    let neutral = with(script, &found, |one| {
        let words: Vec<String> =
            of_slot(arguments, one.slot, last).iter().map(|_| NEUTRAL.to_owned()).collect();
        put(one.holds, &words)
    });
    check_typed(script, &typed, &neutral)?;
    Ok(typed)
}

/// Refuses a script that runs a word of which nothing is known, or might.
fn check_template(script: &str, found: &[Found]) -> Result<(), TemplateError> {
    let mut name = UNKNOWN.to_owned();
    while script.contains(&name) {
        name.push('_');
    }
    let unknown = with(script, found, |one| match one.holds {
        Holds::Arguments | Holds::Word => format!("\"${{{name}}}\""),
        Holds::Quoted => format!("${{{name}}}"),
    });
    let is_assigned = found.iter().any(|one| one.is_assigned);
    let analysis = analysed(&unknown);
    let sets_for_others = |command: &Command| is_assigned && command.why.contains(&Why::Environment);
    let evaluates = analysis.commands.iter().any(|one| is_open(one) || sets_for_others(one));
    match evaluates || !analysis.is_parsed {
        true => Err(TemplateError::Evaluated { script: script.to_owned() }),
        false => Ok(()),
    }
}

/// Refuses words by which a script would run more than with others.
fn check_typed(script: &str, typed: &str, neutral: &str) -> Result<(), TemplateError> {
    let (typed, neutral) = (analysed(typed), analysed(neutral));
    let is_the_same = typed.is_parsed && names(&typed) == names(&neutral);
    match is_the_same && !typed.commands.iter().any(is_open) {
        true => Ok(()),
        false => Err(TemplateError::Commanding { script: script.to_owned() }),
    }
}

fn analysed(script: &str) -> Analysis {
    analyse(script, &Surroundings { directory: "/".into(), home: None })
}

/// Whether it is not known what a command runs.
fn is_open(command: &Command) -> bool {
    let is_nameless = command.sort == Sort::Simple && command.name().is_none();
    command.is_opaque || is_nameless || command.within.iter().any(is_open)
}

/// What a script runs.
fn names(analysis: &Analysis) -> Vec<&str> {
    let simple = analysis.commands.iter().filter(|command| command.sort == Sort::Simple);
    simple.map(|command| command.name().unwrap_or_default()).collect()
}

/// A script with something in the place of its slots.
fn with(script: &str, found: &[Found], put: impl Fn(&Found) -> String) -> String {
    let (mut filled, mut from) = (String::with_capacity(script.len()), 0);
    for one in found {
        filled.push_str(&script[from..one.start]);
        filled.push_str(&put(one));
        from = one.end;
    }
    filled.push_str(&script[from..]);
    filled
}

fn of_slot(arguments: &Arguments, slot: Slot, last: usize) -> &[String] {
    match slot {
        Slot::All => &arguments.words,
        Slot::Nth(number) => arguments.of_slot(number, last),
    }
}

fn put(holds: Holds, words: &[String]) -> String {
    match holds {
        Holds::Arguments => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
        // Without quotes it could become part of a name, of a variable for instance.
        Holds::Word => single_quoted(&words.join(" ")),
        Holds::Quoted if words.is_empty() => String::new(),
        // Within double quotes the shell looks for more than a slot, so they end here and begin again.
        Holds::Quoted => format!("\"{}\"", single_quoted(&words.join(" "))),
    }
}

/// A word that the shell reads as this very word.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || PLAIN.contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => single_quoted(word),
    }
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    fn filled(script: &str, typed: &str) -> String {
        fill(script, &Arguments::typed(typed), 1).unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    #[test]
    fn what_is_typed_is_quoted_where_it_stands() {
        for (script, typed, expected) in [
            ("git diff $1", "src/a.rs", "git diff src/a.rs"),
            ("git log $1", "'x; rm -rf y' $(id)", "git log 'x; rm -rf y' '$(id)'"),
            (r#"echo "of $1!""#, "a `id` 'b'", r#"echo "of "'a `id` b'"!""#),
            ("grep $ARGUMENTS src", r#""two words" -n"#, "grep 'two words' -n src"),
            ("git diff $1 --stat", "", "git diff  --stat"),
            (r#"test -n "$1""#, "", r#"test -n """#),
            ("echo $1", "it's", r"echo 'it'\''s'"),
            ("for x in $ARGUMENTS; do cat \"$x\"; done", "a 'b c'", "for x in a 'b c'; do cat \"$x\"; done"),
            ("git log --format='%h #%s' $1", "a b", "git log --format='%h #%s' a b"),
            ("git diff $(git merge-base HEAD main) -- $1", "a", "git diff $(git merge-base HEAD main) -- a"),
            ("cat ${HOME}/x $1 | head # the first", "a", "cat ${HOME}/x a | head # the first"),
            ("bash tools/x.sh $1; echo a#b", "a b", "bash tools/x.sh a b; echo a#b"),
            ("A=b \\\n cat \\\n $1", "a b", "A=b \\\n cat \\\n a b"),
            ("[ -n \"$1\" ] && cat $1 2>&1", "a", "[ -n \"\"'a'\"\" ] && cat a 2>&1"),
            ("timeout 5 grep -rn \"$1\" src", "a b", "timeout 5 grep -rn \"\"'a b'\"\" src"),
        ] {
            assert_eq!(filled(script, typed), expected);
        }
    }

    #[test]
    fn what_is_no_argument_of_its_own_is_one_word() {
        for (script, typed, expected) in [
            ("cat src/$1.rs", "a b", "cat src/'a b'.rs"),
            ("echo $HOME$1", "_X", "echo $HOME'_X'"),
            ("echo $$$1", r"\';id", r"echo $$'\'\'';id'"),
            (
                "pattern=$ARGUMENTS; grep \"$pattern\" src",
                "foo touch made",
                "pattern='foo touch made'; grep \"$pattern\" src",
            ),
            ("NAME=$1 make", "a touch made", "NAME='a touch made' make"),
            ("X=$1 Y=\"$1\" make", "", "X='' Y=\"\" make"),
            ("export X=$1; make", "a b", "export X='a b'; make"),
            ("cat x > $1", "a b", "cat x > 'a b'"),
            ("cat >$1 x", "", "cat >'' x"),
            ("cat 2>&1 <$1 | sort", "a b", "cat 2>&1 <'a b' | sort"),
            ("wc -l <<< $1", "a b", "wc -l <<< 'a b'"),
            ("grep --file=$1 src", "a b", "grep --file='a b' src"),
            ("case $1 in a) echo y;; esac", "a b", "case 'a b' in a) echo y;; esac"),
            ("diff <(git show $1) b", "a c", "diff <(git show 'a c') b"),
        ] {
            assert_eq!(filled(script, typed), expected);
        }
    }

    #[test]
    fn what_is_the_shells_own_stays_so() {
        for script in [
            "echo $$1 \"$$1\"",
            r"awk '{ print $1 }' a",
            r"echo \$1",
            "echo $ARGUMENTS_X $HOME $0",
            "a # $(b) ${c}",
            "eval x; sh -c \"$y\"; cat <<E\nx\nE",
        ] {
            assert_eq!(filled(script, "x"), script);
        }
    }

    #[test]
    fn nothing_is_put_where_the_shell_might_read_it_otherwise() {
        for script in [
            "echo $(cat $1)",
            "echo \"$(cat \"$1\")\"",
            "echo ${x:-$1}",
            "cat <<E\n$1\nE",
            "(( $1 ))",
            "[[ $1 -eq 1 ]]",
            "a # $1",
            "a $1\n# $1\nb",
            "a=($1); echo x",
            "a=( $1 ); echo x",
            "a[$1]=x",
            "echo $[$1]",
            "echo $'a' $1",
            "echo \"$(case x in a) echo \"$1\";; esac)\"",
            "echo $(echo \")\") $1",
        ] {
            assert!(fill(script, &Arguments::typed("x"), 1).is_err(), "{script}");
        }
    }

    #[test]
    fn what_is_typed_is_no_program() {
        for script in [
            "$1 --version",
            "\"$1\" x",
            "$1=5 env",
            "X=1 $1",
            "> out $1",
            "2>out $1",
            "a; $1",
            "a &&\n$1",
            "a | $1",
            "if $1; then b; fi",
            "! $1",
            "for x in a; do $1; done",
            "{ $1; }",
            "( $1 )",
            "./$1 x",
            "X=1 \\\n $1 y",
            "command $1",
            "exec $1",
            "env $1",
            "sudo $1",
            "xargs $1",
            "timeout $1 make",
            "x=$1; $x y",
            "set -- $1; \"$@\"",
            "for x in $1; do $x; done",
            "PATH=$1 make",
            "IFS=$1; a b",
        ] {
            assert!(fill(script, &Arguments::typed("x"), 1).is_err(), "{script}");
        }
    }

    #[test]
    fn nothing_is_put_where_it_is_evaluated_once_more() {
        for script in [
            "sh -c \"grep $1 src\"",
            "bash -c \"$1\"",
            "bash $1",
            "eval $1",
            "eval \"grep $1\"",
            "let x=$1",
            "declare -i x=$1",
            "typeset -n x=$1",
            "x=$1; echo $((x))",
            "x=$1; eval \"grep $x\"",
            "test -v $1",
            "[ -v $1 ]",
            "[ \"$1\" \"$1\" ]",
            "test \"$1\" \"$1\"",
            "printf -v $1 x",
            "read $1",
            "echo a | xargs sh -c \"cat $1\"",
            "awk \"/$1/ { print }\" a",
            "python -c \"print($1)\"",
            "python3 $1",
            "perl -pe \"s/$1/x/\" a",
            "find . -exec sh -c \"cat $1\" \\;",
            "ssh host \"ls $1\"",
            "ssh host ls $1",
            "sed \"s/$1/x/e\" a",
            "trap $1 EXIT",
            "source $1",
            ". $1",
            "alias x=$1",
            "echo $1 | sh",
            "echo $1 > x.sh; sh x.sh",
            "export $1",
            "mapfile -C $1 x",
            "GIT_SSH=$1 git fetch",
            "env X=$1 make",
            "watch $1",
        ] {
            assert!(fill(script, &Arguments::typed("x"), 1).is_err(), "{script}");
        }
    }

    #[test]
    fn words_are_refused_that_make_a_program_run_more() {
        for (script, typed) in [
            ("find . $1", "-exec touch made ;"),
            ("test $1", "-v a[$(id)]"),
            ("git $1", "-c alias.x=!id x"),
            ("find . -name $1", "a -exec sh -c id ;"),
        ] {
            assert!(fill(script, &Arguments::typed("x y"), 1).is_ok(), "{script}");
            let error = fill(script, &Arguments::typed(typed), 1).unwrap_err();
            assert!(matches!(error, TemplateError::Commanding { .. }), "{script}: {error}");
        }
    }

    /// What stands in the directory after a script was run there with words.
    fn left_by(script: &str, arguments: &Arguments) -> Option<(String, Vec<String>)> {
        let script = fill(script, arguments, 1).ok()?;
        let directory = tempfile::tempdir().unwrap();
        let names = |path: &Path| {
            path.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
        };
        Command::new("bash").args(["-c", &script]).current_dir(&directory).output().unwrap();
        Some((script, names(directory.path())))
    }

    const ODD: &str = "[ a-c$`\\\\'\"*?~;&|<>(){}\\[\\]!#=\né-]{1,24}";

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn a_shell_reads_back_what_was_typed(typed in ODD) {
            let arguments = Arguments::typed(&typed);
            prop_assume!(!arguments.words.is_empty());
            let script = "v=$1; printf '%s\\0' $$ $1 \"<$1>\" x$1 $$$1 \"$v\" --o=$1";
            let script = fill(script, &arguments, 1).unwrap();
            let output = Command::new("bash").args(["-c", &script]).output().unwrap();
            let printed = String::from_utf8(output.stdout).unwrap();
            let process = printed.split('\0').next().unwrap_or_default();
            let (words, whole) = (arguments.words.join("\0"), arguments.words.join(" "));
            let expected = format!(
                "{process}\0{words}\0<{whole}>\0x{whole}\0{process}{whole}\0{whole}\0--o={whole}\0"
            );
            prop_assert_eq!(&printed, &expected, "{}", script);
        }

        #[test]
        fn a_shell_runs_nothing_that_was_typed(
            before in ODD, hostile in 0..6_usize, after in ODD, script in 0..10_usize,
        ) {
            let hostile = ["touch made", ";touch made;", "$(touch made)", "`touch made`", "\ntouch made\n", "> made"]
                [hostile];
            let script = [
                "echo $1", "v=$1; echo \"$v\" $v", "V=$ARGUMENTS true", "export V=$1; true", "echo \"a $1 b\" c$1",
                "true > $1", "true >\"$1\" x", "cat < $1", "case $1 in a) true;; esac", "for x in $1; do echo $x; done",
            ][script];
            let arguments = Arguments::typed(&format!("{before}{hostile}{after}"));
            let Some((script, left)) = left_by(script, &arguments) else { return Ok(()) };
            let asked_for = arguments.words.join(" ");
            prop_assert!(left.iter().all(|name| *name == asked_for), "{script}: {left:?}");
        }
    }
}
