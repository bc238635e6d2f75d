//! Where skills are looked for, the most important place last.
//!
//! 1. what `haft skill install` has put into the data directory
//! 2. `~/.claude/skills` and `~/.agents/skills`
//! 3. the same in the project, from the working directory up to its root
//! 4. `skill` and `skills` in every directory of configuration
//! 5. the directories that `skills.paths` names

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use haft_tools::skills::{Owner, SkillPlace, Skills};

use crate::config;
use crate::setting::Setting;

/// What other programs call their directories, with the variables that leave them out.
const OTHERS: [(&str, &[&str]); 2] = [
    (
        ".claude",
        &[
            "OPENCODE_DISABLE_EXTERNAL_SKILLS",
            "OPENCODE_DISABLE_CLAUDE_CODE",
            "OPENCODE_DISABLE_CLAUDE_CODE_SKILLS",
        ],
    ),
    (".agents", &["OPENCODE_DISABLE_EXTERNAL_SKILLS"]),
];

/// The directory that skills are installed in.
pub(crate) fn installed(setting: &Setting) -> PathBuf {
    setting.paths.data.join("skills")
}

/// The skills that can be found from here.
pub(crate) fn of(setting: &Setting) -> Skills {
    let root = setting.project();
    let projects = |is_trusted: bool| Owner::Project { root: root.clone(), is_trusted };
    let of_level = |level: &Path| projects(setting.trusted.holds(level));
    let mut places = vec![SkillPlace { directory: installed(setting), owner: Owner::Person }];
    let mut known = HashSet::from([installed(setting)]);
    let mut add = |directory: PathBuf, owner: Owner| {
        // A directory that is the person's and the project's is the person's.
        if known.insert(directory.clone()) {
            places.push(SkillPlace { directory, owner });
        }
    };
    let is_off = |variables: &[&str]| variables.iter().any(|variable| setting.env.is_on(variable));
    let others: Vec<&str> = OTHERS.iter().filter(|(_, off)| !is_off(off)).map(|(name, _)| *name).collect();
    for home in setting.paths.home.iter() {
        others.iter().for_each(|name| add(home.join(name).join("skills"), Owner::Person));
    }
    for level in setting.directory.ancestors().take_while(|level| level.starts_with(root)) {
        others.iter().for_each(|name| add(level.join(name).join("skills"), of_level(level)));
    }
    for directory in config::directories(&setting.env, &setting.paths, &setting.directory, root) {
        for name in ["skill", "skills"] {
            let owner = directory.level.as_deref().map_or(Owner::Person, of_level);
            add(directory.path.join(name), owner);
        }
    }
    for path in setting.config.skill_paths() {
        let directory = configured(setting, &path);
        let owner = match directory.starts_with(root) {
            true => projects(setting.trusted.covers(root, &directory)),
            false => Owner::Person,
        };
        add(directory, owner);
    }
    Skills::new(places)
}

/// A directory as the configuration names it.
fn configured(setting: &Setting, path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), &setting.paths.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => setting.directory.join(Path::new(path)),
    }
}
