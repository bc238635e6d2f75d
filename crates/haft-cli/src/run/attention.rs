//! Whether somebody has seen a question: what was typed before they could is no answer.

use std::time::Duration;

/// Keys count only after the question has been on screen for so long with no key pressed.
const QUIET: Duration = Duration::from_millis(300);
/// A question that nobody reacts to for so long rings a bell.
const PATIENCE: Duration = Duration::from_secs(10);

/// The attention a question has had.
#[derive(Debug, Clone)]
pub(crate) struct Attention {
    /// When it appeared, or the last key that came too early.
    since: Duration,
    has_it: bool,
    has_rung: bool,
}

impl Attention {
    pub(crate) fn new(now: Duration) -> Attention {
        Attention { since: now, has_it: false, has_rung: false }
    }

    /// Whether a key that is pressed now would be an answer.
    pub(crate) fn is_ready(&self, now: Duration) -> bool {
        self.has_it || now.saturating_sub(self.since) >= QUIET
    }

    /// Notes a key. Returns whether it is an answer.
    pub(crate) fn press(&mut self, now: Duration) -> bool {
        self.has_it = self.is_ready(now);
        self.since = now;
        self.has_rung |= self.has_it;
        self.has_it
    }

    /// Whether it is time to ring, which it is once.
    pub(crate) fn rings(&mut self, now: Duration) -> bool {
        let rings = !self.has_rung && now.saturating_sub(self.since) >= PATIENCE;
        self.has_rung |= rings;
        rings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn what_is_typed_on_is_no_answer() {
        let mut attention = Attention::new(ms(1000));
        assert!(!attention.press(ms(1000)) && !attention.press(ms(1200)) && !attention.press(ms(1499)));
        assert!(!attention.is_ready(ms(1700)) && attention.is_ready(ms(1799)));
        assert!(attention.press(ms(1800)) && attention.press(ms(1801)), "from then on every key counts");
    }

    #[test]
    fn it_rings_once_if_nobody_reacts() {
        let mut attention = Attention::new(ms(0));
        assert!(!attention.rings(ms(9999)) && attention.rings(ms(10_000)) && !attention.rings(ms(60_000)));
        let mut attention = Attention::new(ms(0));
        attention.press(ms(5000));
        assert!(!attention.rings(ms(60_000)), "somebody is there");
    }
}
