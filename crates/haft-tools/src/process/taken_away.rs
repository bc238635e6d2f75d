//! What is said of things that were taken away from protected paths: by whom they were made nobody can be sure, so it is
//! said where they are kept.

use haft_sandbox::Removed;

/// So many places are named.
const NAMED_MAX: usize = 3;

/// Says what became of that which appeared at a protected path while somebody ran, such as `the command`.
pub(crate) fn taken_away(removed: &Removed, who: &str) -> String {
    let Removed { path, kept } = removed;
    let named: Vec<_> = kept.iter().take(NAMED_MAX).map(|place| place.to_string_lossy()).collect();
    let besides = match kept.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more beside it"),
    };
    let became = match named.as_slice() {
        [] => "removed".to_owned(),
        named => format!("taken away, and is kept at {}{besides}", named.join(", ")),
    };
    format!("{} is protected: what appeared there while {who} ran was {became}", path.to_string_lossy())
}

/// Says how many more there were.
pub(crate) fn besides(count: u64) -> Option<String> {
    (count > 0).then(|| format!("what appeared at {count} more protected paths was taken away likewise"))
}

#[cfg(test)]
mod tests {
    use super::{Removed, taken_away};

    #[test]
    fn it_is_said_where_things_are_kept() {
        let say = |kept: &[&str]| {
            let kept = kept.iter().map(Into::into).collect();
            taken_away(&Removed { path: "/w/.vscode".into(), kept }, "it")
        };
        assert_eq!(say(&[]), "/w/.vscode is protected: what appeared there while it ran was removed");
        let one =
            "/w/.vscode is protected: what appeared there while it ran was taken away, and is kept at /k/1";
        assert_eq!(say(&["/k/1"]), one);
        assert_eq!(
            say(&["/k/1", "/k/2", "/k/3", "/k/4", "/k/5"]),
            format!("{one}, /k/2, /k/3 and 2 more beside it")
        );
    }
}
