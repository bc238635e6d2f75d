//! What a host was told, such as events: nobody waits for it, so somebody has to see that it comes to an end.
//!
//! What takes too long is given up and named in the log. The host hears that as it hears of any order that nobody waits
//! for any more, and lets go of what it held for it; one that does not listen even then is ended.

use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::Patience;
use super::shared::Shared;

/// Something that a host was told.
pub(super) struct Told {
    /// What does something about it, for people: `the hook event of /a/b.ts`.
    name: Arc<str>,
    since: Instant,
}

impl Told {
    pub(super) fn new(name: Arc<str>) -> Told {
        Told { name, since: Instant::now() }
    }
}

/// Sees that everything a host was told ends within a while. One task does so for a host, and only as long as there is
/// anything.
pub(super) fn watch(shared: &Arc<Shared>, patience: Patience) {
    if std::mem::replace(&mut shared.state().is_watched, true) {
        return;
    }
    let weak = Arc::downgrade(shared);
    shared.runtime().spawn(async move {
        let Patience { answer, busy } = patience;
        while let Some(until) = next(&weak, answer) {
            tokio::time::sleep_until(until).await;
            let Some(shared) = weak.upgrade() else { return };
            shared.give_up(answer, &format!("within {} s", answer.as_secs_f32()));
            // Whoever waits for haft, or for a person, does not listen either.
            if shared.is_asking() {
                continue;
            }
            let Ok(pulse) = shared.pulse() else { return };
            if !pulse.comes_within(busy).await && !shared.is_asking() {
                shared.end(format!("it ran for {} s without a pause", busy.as_secs_f32()));
            }
        }
    });
}

/// When the oldest of what a host was told is due. If there is nothing, nobody watches any more.
fn next(shared: &Weak<Shared>, patience: Duration) -> Option<Instant> {
    let shared = shared.upgrade()?;
    let mut state = shared.state();
    let oldest = state.waiting.values().filter_map(|waiting| waiting.told.as_ref()).map(|told| told.since);
    let due = oldest.min().map(|since| since + patience);
    state.is_watched = due.is_some();
    due
}

impl Shared {
    /// Whether it is busy with something that it was told not so long ago.
    pub(super) fn is_busy_with_news(&self, age: Duration) -> bool {
        let told = |told: &Told| told.since.elapsed() < age;
        self.state().waiting.values().any(|waiting| waiting.told.as_ref().is_some_and(told))
    }

    /// Whether it works at something that it was not only told.
    pub(super) fn works_at_more(&self) -> bool {
        self.state().waiting.values().any(|waiting| waiting.told.is_none())
    }

    /// Gives up what it was told so long ago; when that is, is for people.
    pub(super) fn give_up(self: &Arc<Shared>, patience: Duration, when: &str) {
        let late: Vec<(u64, Told)> = {
            let mut state = self.state();
            let is_late =
                |told: &Option<Told>| told.as_ref().is_some_and(|told| told.since.elapsed() >= patience);
            let late = state.waiting.extract_if(|_, waiting| is_late(&waiting.told));
            let taken = late.filter_map(|(id, waiting)| {
                waiting.forget();
                Some((id, waiting.told?))
            });
            taken.collect()
        };
        for (id, _) in &late {
            // One that is gone does nothing any more.
            let _gone = self.say(&json!({ "do": "abort", "id": id, "forget": true }));
        }
        let mut names: Vec<&Arc<str>> = late.iter().map(|(_, told)| &told.name).collect();
        names.sort();
        for same in names.chunk_by(|one, other| one == other) {
            let times = match same.len() {
                1 => String::new(),
                several => format!(", {several} times"),
            };
            self.log("warn", format!("{} was not done {when} and was given up{times}", same[0]));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::sync::Mutex;

    use haft::{BoxFuture, ToolContext};
    use serde_json::Value;
    use tokio::sync::Notify;

    use super::*;
    use crate::desk::{Behalf, Desk, Engine, HostProgram, LaunchError, Unanswered};
    use crate::host::outbox::Outbox;
    use crate::host::shared::Waiting;
    use crate::host::{Holds, Launched};
    use crate::words::{Said, Wish};

    /// No process at all.
    struct Nothing;

    impl Holds for Nothing {
        fn end(self: Box<Self>) -> Option<String> {
            None
        }
    }

    /// Only hears.
    #[derive(Default)]
    struct Ears {
        heard: Mutex<Vec<String>>,
        news: Notify,
    }

    impl Desk for Ears {
        fn launch(&self, _: &HostProgram) -> Result<Launched, LaunchError> {
            Err(LaunchError::Absent(Engine::Embedded))
        }

        fn answer<'a>(&'a self, _: Wish, _: Behalf) -> BoxFuture<'a, Result<Value, Unanswered>> {
            Box::pin(std::future::ready(Err(Unanswered::failed("nobody is here"))))
        }

        fn heard(&self, said: Said, _: Option<ToolContext>) {
            if let Said::Log { text, .. } = said {
                self.heard.lock().unwrap().push(text);
                self.news.notify_one();
            }
        }
    }

    #[tokio::test]
    async fn what_is_never_done_is_given_up_and_named() {
        let ears = Arc::new(Ears::default());
        let (letters, sink) = std::io::pipe().unwrap();
        let outbox = Outbox::open(sink.into(), 8).unwrap();
        let shared = Arc::new(Shared::new(ears.clone(), "/p.ts".into(), outbox, Box::new(Nothing)));
        let name: Arc<str> = Arc::from("the hook event of /p.ts");
        let told: Vec<u64> = (0..3).map(|_| shared.expect(Waiting::told(name.clone())).unwrap()).collect();
        let awaited = shared.expect(Waiting::new(tokio::sync::oneshot::channel().0, None)).unwrap();
        let patience = Patience { answer: Duration::from_millis(1), busy: Duration::from_secs(3600) };
        watch(&shared, patience);
        while shared.told() > 0 {
            ears.news.notified().await;
        }
        shared.outbox().take();
        let letters: Vec<Value> = BufReader::new(letters)
            .lines()
            .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
            .collect();
        let is_forgotten = |letter: &&Value| letter["do"] == "abort" && letter["forget"] == true;
        let forgotten = letters.iter().filter(is_forgotten);
        let mut aborted: Vec<u64> = forgotten.filter_map(|letter| letter["id"].as_u64()).collect();
        aborted.sort_unstable();
        assert_eq!(aborted, told, "{letters:?}");
        let heard = ears.heard.lock().unwrap().clone();
        assert!(heard.iter().all(|line| line.contains(&*name) && line.contains("given up")), "{heard:?}");
        assert!(shared.state().waiting.contains_key(&awaited), "somebody waits for it");
    }

    #[tokio::test]
    async fn one_that_does_not_listen_any_more_is_ended() {
        let (_letters, sink) = std::io::pipe().unwrap();
        let outbox = Outbox::open(sink.into(), 8).unwrap();
        let shared =
            Arc::new(Shared::new(Arc::new(Ears::default()), "/p.ts".into(), outbox, Box::new(Nothing)));
        shared.expect(Waiting::told(Arc::from("the hook event of /p.ts"))).unwrap();
        let (answer, ended) = tokio::sync::oneshot::channel();
        shared.expect(Waiting::new(answer, None)).unwrap();
        let moment = Duration::from_millis(1);
        watch(&shared, Patience { answer: moment, busy: moment });
        let why = ended.await.unwrap().unwrap_err().to_string();
        assert!(why.contains("without a pause"), "{why}");
    }
}
