//! What is known of a command besides what it printed, and how that is said.

use haft::visible;
use haft_sandbox::{Left, Removed};

/// What is known of a command besides what it printed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Traces {
    /// Protected paths at which something appeared, and was taken away.
    pub(crate) removed: Vec<Removed>,
    /// How many more there were.
    pub(crate) removed_besides: u64,
    /// Hosts that it asked for and that are not granted.
    pub(crate) refused: Vec<String>,
    /// Whether it was ended because it wanted more memory than it may have.
    pub(crate) out_of_memory: bool,
    /// What it had left running when it ended by itself.
    pub(crate) left: Left,
}

impl Traces {
    /// Why it was ended, if it wanted too much.
    pub(crate) fn about_memory(&self) -> Option<String> {
        let words = "it wanted more memory than a command may use (sandbox.memory)";
        self.out_of_memory.then(|| words.to_owned())
    }

    /// What was ended with it.
    pub(crate) fn about_left(&self) -> Option<String> {
        let names: Vec<String> = self.left.names.iter().map(|name| visible(name)).collect();
        let (processes, was) = match self.left.processes {
            0 => return None,
            1 => ("a process".to_owned(), "was"),
            several => (format!("{several} processes"), "were"),
        };
        Some(format!(
            "{processes} that it had left running ({}) {was} ended with it, finished or not",
            names.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::{Left, Traces};

    #[test]
    fn what_was_left_running_is_named() {
        let say = |processes, names: &[&str]| {
            let names = names.iter().map(ToString::to_string).collect();
            Traces { left: Left { processes, names }, ..Traces::default() }.about_left()
        };
        assert_eq!(say(0, &[]), None);
        let one = "a process that it had left running (sleep) was ended with it, finished or not";
        assert_eq!(say(1, &["sleep"]).as_deref(), Some(one));
        let several =
            "3 processes that it had left running (node, a\\u{1b}b) were ended with it, finished or not";
        assert_eq!(say(3, &["node", "a\u{1b}b"]).as_deref(), Some(several));
    }
}
