//! Configuration of a repository that runs nothing: what `git init` and `git clone` write, and who commits.

/// Sections and the keys in them that no program is run by. `git` itself refuses addresses that are commands.
const HARMLESS: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "bare",
            "filemode",
            "ignorecase",
            "logallrefupdates",
            "precomposeunicode",
            "repositoryformatversion",
            "symlinks",
        ],
    ),
    ("remote", &["fetch", "url"]),
    ("branch", &["merge", "rebase", "remote"]),
    ("user", &["email", "name"]),
];

/// Whether a configuration is surely harmless. What is written in an unusual way is not looked at closely.
pub(crate) fn is_harmless(config: &str) -> bool {
    let mut keys: &[&str] = &[];
    config.lines().map(str::trim).all(|line| {
        if line.is_empty() {
            return true;
        }
        if line.contains(['\\', '#', ';']) {
            return false;
        }
        if let Some(header) = line.strip_prefix('[') {
            let Some(header) = header.strip_suffix(']') else { return false };
            let name = header.split(' ').next().unwrap_or_default();
            let found = HARMLESS.iter().find(|(section, _)| section.eq_ignore_ascii_case(name));
            keys = found.map_or(&[], |(_, keys)| keys);
            return found.is_some() && !header.contains(']');
        }
        let key = line.split('=').next().unwrap_or_default().trim();
        keys.iter().any(|known| known.eq_ignore_ascii_case(key))
    })
}

#[cfg(test)]
mod tests {
    use super::is_harmless;

    #[test]
    fn only_what_runs_nothing_is_harmless() {
        let made = "[core]\n\trepositoryformatversion = 0\n\tfileMode = true\n[remote \"origin\"]\n\turl = /x\n\
                    \tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n";
        assert!(is_harmless("") && is_harmless(made));
        for more in [
            "[core]\nfsmonitor = x",
            "[core] fsmonitor = x",
            "[core]fsmonitor=x\n[core]",
            "[core]\nbare = \\\nfalse\nfsmonitor = x",
            "[include]\npath = x",
            "[alias]\nst = !x",
            "[remote \"a\"]\nuploadpack = x",
            "[core]\nworktree = ..",
        ] {
            assert!(!is_harmless(&format!("{made}{more}")), "{more}");
        }
    }
}
