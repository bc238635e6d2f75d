//! Commands that run others in containers. Those stand among their words behind many options, and name what is in the
//! container; only some options name what is outside of it.

use super::command::Command;
use super::word::Word;

/// So many words may be the beginning of what is run.
pub(super) const WORDS_MAX: usize = 24;
/// Programs that run containers.
const CONTAINERS: &[&str] = &["docker", "podman", "nerdctl"];
/// Their words for that.
const ENTERING: &[&str] = &["run", "exec", CREATING];
/// The one that has it run later. To networks and volumes it means something else.
const CREATING: &str = "create";
/// Their options that say what a container has of what is outside of it.
const SHARING: &[&str] = &["-v", "--volume"];
/// Their options with a value that names nothing outside of it.
#[rustfmt::skip]
const INNER: &[&str] = &[
    "-w", "--workdir", "-u", "--user", "-e", "--env", "-p", "--publish", "--expose", "--name", "--network", "--net", "-h", "--hostname",
    "-l", "--label", "--entrypoint", "--tmpfs", "--platform", "-m", "--memory", "--cpus", "--shm-size", "--add-host", "--gpus", "--pull",
    "--restart", "--ulimit", "--dns", "--ip", "--cap-add", "--cap-drop", "--pid", "--ipc", "--link",
];
/// Their options that take nothing.
const FLAGS: &[&str] =
    &["--rm", "--init", "--detach", "--interactive", "--tty", "--privileged", "--read-only"];

/// Whether a command runs another one in a container.
pub(super) fn is_entered(name: &str, words: &[Word]) -> bool {
    let is_said = |word: &Word| ENTERING.contains(&word.text()) && word.text() != CREATING;
    CONTAINERS.contains(&name) && (words.iter().any(is_said) || verb(words).is_some())
}

/// The words behind the one that says to run something.
pub(super) fn within<'w, 't>(words: &'w [&'t str]) -> &'w [&'t str] {
    let at = words.iter().position(|word| ENTERING.contains(word));
    at.map_or(words, |at| &words[at + 1..])
}

/// Whether an option names the program, so that what stands behind the image are its words.
pub(super) fn is_replaced(words: &[&str]) -> bool {
    words.iter().any(|word| word.starts_with("--entry"))
}

/// Whether a word is known only when it runs, and can only be what a container is given of where the script works.
pub(super) fn is_shared(command: &Command, at: usize) -> bool {
    let name = command.name().unwrap_or_default();
    let before = at.checked_sub(1).and_then(|before| command.words.get(before)).map_or("", Word::text);
    let Some(token) = command.tokens.get(at) else { return false };
    let here = ["$(pwd)", "$PWD", "${PWD}", "$(id -u)", "$(id -g)"];
    let rest = here.iter().fold(token.clone(), |rest, here| rest.replace(here, ""));
    let is_valued = SHARING.contains(&before) || INNER.contains(&before) || before == "--mount";
    CONTAINERS.contains(&name) && is_valued && !rest.contains(['$', '`', '{', '*', '?', '['])
}

/// What a word names outside of the container; nothing, if that is to be found as for other commands.
pub(super) fn outer(name: &str, words: &[Word], at: usize) -> Option<Vec<String>> {
    if !CONTAINERS.contains(&name) || !words[at].alternatives().is_empty() {
        return None;
    }
    let entered = verb(words).filter(|entered| at > *entered)?;
    let text = words[at].text();
    let (option, value) = match text.split_once('=').filter(|_| text.starts_with("--")) {
        Some((option, value)) => (option, value),
        None if text.starts_with("-v") && text.len() > 2 => ("-v", text[2..].trim_start_matches('=')),
        None => (words[at - 1].text(), text),
    };
    let shared = |value: &str| vec![value.split(':').next().unwrap_or_default().to_owned()];
    let is_inside = at >= image(words, entered);
    match option {
        _ if is_inside || INNER.contains(&option) => Some(Vec::new()),
        _ if SHARING.contains(&option) => Some(shared(value)),
        "--mount" => sources(value),
        _ => None,
    }
}

/// Where the word stands that says to run something; nothing, if that is not sure: an option before it may take a word.
fn verb(words: &[Word]) -> Option<usize> {
    let is_said =
        |at: &usize| words.get(*at).and_then(Word::known).is_some_and(|word| ENTERING.contains(&word));
    let is_about =
        words.first().and_then(Word::known).is_some_and(|word| ["container", "compose"].contains(&word));
    Some(usize::from(is_about)).filter(is_said)
}

/// What a mount shows in the container; nothing, if it is not said plainly.
fn sources(mount: &str) -> Option<Vec<String>> {
    const FLAGS: &[&str] = &["readonly", "ro", "rw"];
    let mount = mount.replace('"', "");
    let parts = mount.split(',').filter(|part| !FLAGS.contains(part));
    let parts: Option<Vec<(&str, &str)>> = parts.map(|part| part.split_once('=')).collect();
    let is_source = |key: &str| ["source", "src"].contains(&key.trim().to_ascii_lowercase().as_str());
    let sources = parts?.into_iter().filter(|(key, _)| is_source(key));
    Some(sources.map(|(_, source)| source.to_owned()).collect())
}

/// Where the image or the container is named: the first word that is no option and that none takes.
fn image(words: &[Word], entered: usize) -> usize {
    let is_flag = |text: &str| {
        let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        letters.is_some_and(|letters| letters.chars().all(|letter| "itdP".contains(letter)))
            || FLAGS.contains(&text)
            || text.contains('=')
    };
    let is_free = |at: &usize| {
        let before = words[at - 1].text();
        let takes = *at > entered + 1 && before.starts_with('-') && !is_flag(before);
        !words[*at].text().starts_with('-') && !takes
    };
    (entered + 1..words.len()).find(is_free).unwrap_or(words.len())
}
