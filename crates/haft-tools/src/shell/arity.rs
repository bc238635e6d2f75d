//! How many words name a command the way people think of it: `git commit`, `npm run build`.

/// Commands of two words.
const TWO: &str = "bazel brew bun cargo cdk cf cmake composer consul crictl deno docker eksctl firebase flyctl git \
    go gradle helm heroku hugo ip kind kubectl kustomize make mc minikube mongosh mysql mvn ng npm nvm nx openssl \
    pip pipenv pnpm poetry podman psql pulumi pyenv python rake rbenv redis-cli rustup serverless skaffold sls sst \
    swift systemctl terraform tmux turbo ufw vault vercel volta wp yarn";

/// Commands of three words, some of them only after a second one.
const THREE: &[(&str, &str)] = &[
    ("aws", ""),
    ("az", ""),
    ("bun", "run x"),
    ("cargo", "add run"),
    ("consul", "kv"),
    ("deno", "task"),
    ("docker", "builder compose container image network volume"),
    ("doctl", ""),
    ("eksctl", "create"),
    ("gcloud", ""),
    ("gh", ""),
    ("git", "config remote stash"),
    ("ip", "addr link netns route"),
    ("kind", "create"),
    ("kubectl", "kustomize rollout"),
    ("mc", "admin"),
    ("npm", "exec init run view"),
    ("openssl", "req x509"),
    ("pnpm", "dlx exec run"),
    ("podman", "container image"),
    ("pulumi", "stack"),
    ("sfdx", ""),
    ("terraform", "workspace"),
    ("vault", "auth kv"),
    ("yarn", "dlx run"),
];

/// How many words name the command that these begin, though there may be fewer of them.
pub(super) fn arity<W: AsRef<str>>(words: &[W]) -> usize {
    let Some(first) = words.first().map(AsRef::as_ref) else { return 0 };
    let second = words.get(1).map_or("", AsRef::as_ref);
    let of_three = THREE
        .iter()
        .find(|(command, _)| *command == first)
        .is_some_and(|(_, seconds)| seconds.is_empty() || seconds.split(' ').any(|one| one == second));
    let of_two = || TWO.split_ascii_whitespace().any(|command| command == first);
    if of_three {
        3
    } else if of_two() {
        2
    } else {
        1
    }
}

/// The words that name a command.
pub fn prefix<W: AsRef<str>>(words: &[W]) -> &[W] {
    &words[..arity(words).min(words.len())]
}
