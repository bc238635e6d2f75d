//! What is said in trusted directories around a project. A repository can be made anywhere, also by a command, and must
//! not shed by that what is denied in the directory it lies in.

use std::path::{Path, PathBuf};

use haft::permission::{Effect, Rule};

use crate::trusted::Trusted;

/// Actions whose resources are files, named relative to the project.
const OF_FILES: [&str; 4] = ["edit", "list", "protected_path", "read"];

/// The directories around a project that somebody agreed to, the outermost first.
pub(super) fn levels(project: &Path, trusted: &Trusted) -> Vec<PathBuf> {
    let around = project.ancestors().skip(1).filter(|level| trusted.is_agreed(level));
    let mut levels: Vec<PathBuf> = around.map(Path::to_path_buf).collect();
    levels.reverse();
    levels
}

/// A rule that was written in a directory around the project, as it is read in the project.
pub(super) fn placed(rule: Rule, directory: &Path) -> Vec<Rule> {
    let (action, pattern) = (rule.action.as_str(), rule.resource.as_str());
    if pattern.starts_with(['*', '/']) {
        return vec![rule];
    }
    let is_any = action.contains(['*', '?']);
    if !is_any && !OF_FILES.contains(&action) {
        return vec![rule];
    }
    // A star in the name of a directory must not become a wildcard.
    let directory = directory.to_string_lossy().replace('*', "?");
    let absolute = format!("{}/{pattern}", directory.trim_end_matches('/'));
    let placed = Rule::new(action, &absolute, rule.effect, rule.origin.clone());
    match is_any && rule.effect != Effect::Allow {
        true => vec![rule, placed],
        false => vec![placed],
    }
}

#[cfg(test)]
mod tests {
    use haft::permission::{Layer, Origin};

    use super::*;

    #[test]
    fn rules_about_files_are_about_the_same_files_further_down() {
        let check = |action: &str, pattern: &str, effect: Effect, expected: &[&str]| {
            let rule = Rule::new(action, pattern, effect, Origin::named(Layer::Project, "f"));
            let placed = placed(rule, Path::new("/p/x*"));
            let patterns: Vec<&str> = placed.iter().map(|rule| rule.resource.as_str()).collect();
            assert_eq!(patterns, expected, "{action} {pattern}");
        };
        check("read", "*.pem", Effect::Deny, &["*.pem"]);
        check("read", "/etc/*", Effect::Deny, &["/etc/*"]);
        check("edit", "src/*", Effect::Deny, &["/p/x?/src/*"]);
        check("edit", "src/*", Effect::Allow, &["/p/x?/src/*"]);
        check("bash", "git push *", Effect::Deny, &["git push *"]);
        check("*", "src/*", Effect::Deny, &["src/*", "/p/x?/src/*"]);
        check("*", "src/*", Effect::Allow, &["/p/x?/src/*"]);
    }
}
