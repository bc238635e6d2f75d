//! How a server speaks that does not say which version its findings are of, learned from what it does.
//!
//! Right behind every text it is sent a question that it cannot know. The protocol wants that refused, and a server takes
//! messages in their order: a refusal shows that it has read the text. What it says before that is about an older text,
//! unless it is one that says what it finds before it reads on. Which of these it is shows when a file is opened, since
//! there is no older text then, unless it was open before.

/// The question. Nothing is done to answer it.
pub(super) const QUESTION: &str = "$/haft/fence";
/// A server that leaves so many unanswered is asked no more.
pub(super) const UNANSWERED_MAX: usize = 8;

/// What is known of a question that was sent behind a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fence {
    /// It was not sent.
    None,
    /// It was sent, and is not answered.
    Ahead,
    /// It was answered: the text was read.
    Passed,
}

/// How a server was seen to speak.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Habits {
    /// Whether it says which version its findings are of.
    pub(super) gives_versions: Option<bool>,
    /// Whether it has ever answered the question.
    pub(super) answers: bool,
    /// How often it has spoken about one and the same text, at most. It need not have said something else: where nothing
    /// is wrong, one that speaks in steps says nothing but that in each.
    pub(super) steps: u32,
    /// Whether it was once given all its time to say more about a text. Nobody knows how often it speaks before that.
    pub(super) was_heard_out: bool,
    /// Whether it was seen to tell of a file that was opened before it read on.
    pub(super) speaks_at_once: Option<bool>,
}

impl Habits {
    /// Learns whether versions are named.
    pub(super) fn note_version(&mut self, version: Option<i32>) {
        self.gives_versions = Some(version.is_some() || self.gives_versions == Some(true));
    }

    /// Learns from what is said about a file that was just opened whether it is said at once.
    pub(super) fn note_opening(&mut self, fence: Fence) {
        match fence {
            Fence::None => {}
            Fence::Ahead => self.speaks_at_once = Some(true),
            Fence::Passed => self.speaks_at_once = self.speaks_at_once.or(Some(false)),
        }
    }

    /// Learns that a text was spoken about so many times.
    pub(super) fn note_step(&mut self, step: u32) {
        self.steps = self.steps.max(step);
    }

    /// Whether what is said while a question is ahead is about the text before the one that it was sent behind.
    pub(super) fn is_of_text_before(&self, fence: Fence) -> bool {
        fence == Fence::Ahead && self.answers && self.speaks_at_once == Some(false)
    }
}
