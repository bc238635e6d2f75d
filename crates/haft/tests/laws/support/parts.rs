//! Recorder, outputs and grants that take down what is asked of them and fail or wait on command.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use haft::permission::{Grant, GrantBook, MemoryGrants};
use haft::{
    BoxFuture, Call, Change, Ended, Event, MemoryOutputs, MemoryRecorder, OpenOutput, Opened, Output,
    OutputId, OutputStore, Recorder, Remembered, Seq, SessionId, Settlement, StoreError, ToolContext,
};
use serde_json::Value;

/// What happened, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn say(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn text(&self) -> String {
        self.lines().join("\n")
    }

    pub(super) fn announce(&self, _seq: Seq, event: &Event) {
        self.say(format!("announced {}", word(event)));
    }
}

fn word(event: &Event) -> String {
    match event {
        Event::Called(_) => "pending".to_owned(),
        Event::Running(_) => "running".to_owned(),
        Event::Ended(_, ended) => ending(ended),
        Event::Asked(_) => "asked".to_owned(),
        Event::Replied(_, reply) => format!("replied:{}", reply.as_str()),
        Event::Output { .. } => "output".to_owned(),
        Event::Said { .. } => "said".to_owned(),
        Event::Session { name, .. } | Event::Reported { name, .. } => format!("reported:{name}"),
    }
}

/// A word for how a call ended.
fn ending(ended: &Ended) -> String {
    match ended {
        Ended::Settled(settlement) => match &**settlement {
            Settlement::Completed(_) => "completed".to_owned(),
            Settlement::Rejected(rejection) => format!("error:{}", rejection.kind()),
        },
        Ended::Declined => "error:declined".to_owned(),
        Ended::Broken(_) => "error:broken".to_owned(),
        Ended::Cancelled => "cancelled".to_owned(),
        Ended::Interrupted(_) => "interrupted".to_owned(),
    }
}

/// What a part does when it is asked for something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trouble {
    Fails,
    Waits,
}

/// A recorder in memory that takes down what it was told.
pub(crate) struct Notes {
    kept: MemoryRecorder,
    log: Log,
    troubles: Mutex<BTreeMap<&'static str, Trouble>>,
}

impl Notes {
    pub(super) fn new(log: Log) -> Notes {
        Notes { kept: MemoryRecorder::default(), log, troubles: Mutex::default() }
    }

    pub(crate) fn calls(&self) -> Vec<Remembered> {
        self.kept.calls()
    }

    /// How each call ended, in the order they were made.
    pub(crate) fn endings(&self) -> String {
        let word = |known: &Remembered| known.ended.as_ref().map_or("open".to_owned(), ending);
        self.calls().iter().map(word).collect::<Vec<_>>().join(" ")
    }

    /// From now on this step fails: `called`, `running`, `acting`, `ended` or `event`.
    pub(crate) fn fail_at(&self, step: &'static str) {
        self.troubles.lock().unwrap().insert(step, Trouble::Fails);
    }

    /// From now on this step never ends.
    pub(crate) fn wait_at(&self, step: &'static str) {
        self.troubles.lock().unwrap().insert(step, Trouble::Waits);
    }

    fn step<'a, T: Send + 'a>(
        &self,
        step: &'static str,
        work: impl FnOnce() -> BoxFuture<'a, Result<T, StoreError>>,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        let trouble = self.troubles.lock().unwrap().get(step).copied();
        match trouble {
            Some(Trouble::Fails) => Box::pin(std::future::ready(Err(StoreError::bare("the disk is full")))),
            Some(Trouble::Waits) => Box::pin(std::future::pending()),
            None => {
                if step != "event" {
                    self.log.say(format!("recorded {step}"));
                }
                work()
            }
        }
    }
}

impl Recorder for Notes {
    fn called<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Opened, StoreError>> {
        self.step("called", || self.kept.called(call))
    }

    fn running<'a>(
        &'a self,
        context: &'a ToolContext,
        changed_input: Option<&'a Value>,
    ) -> BoxFuture<'a, Result<Seq, StoreError>> {
        if let Some(input) = changed_input {
            self.log.say(format!("changed input {input}"));
        }
        self.step("running", || self.kept.running(context, changed_input))
    }

    fn acting<'a>(
        &'a self,
        context: &'a ToolContext,
        changes: &'a [Change],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.step("acting", || self.kept.acting(context, changes))
    }

    fn ended<'a>(
        &'a self,
        context: &'a ToolContext,
        ended: &'a Ended,
    ) -> BoxFuture<'a, Result<Seq, StoreError>> {
        self.step("ended", || self.kept.ended(context, ended))
    }

    fn cancelled(&self, context: &ToolContext) {
        self.log.say("recorded cancelled");
        self.kept.cancelled(context);
    }

    fn event<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Result<Seq, StoreError>> {
        self.step("event", || self.kept.event(event))
    }
}

/// An output store in memory.
#[derive(Default)]
pub(crate) struct Shelf {
    kept: MemoryOutputs,
    trouble: Mutex<Option<Trouble>>,
}

impl Shelf {
    pub(crate) fn wholes(&self) -> Vec<String> {
        self.kept.wholes()
    }

    /// From now on nothing can be retained.
    pub(crate) fn fail(&self) {
        *self.trouble.lock().unwrap() = Some(Trouble::Fails);
    }

    /// From now on retaining never ends.
    pub(crate) fn wait(&self) {
        *self.trouble.lock().unwrap() = Some(Trouble::Waits);
    }
}

impl OutputStore for Shelf {
    fn spool(&self, maker: &ToolContext) -> Result<Box<dyn haft::Spool>, StoreError> {
        self.kept.spool(maker)
    }

    fn retain<'a>(
        &'a self,
        maker: &'a ToolContext,
        whole: &'a str,
    ) -> BoxFuture<'a, Result<Output, StoreError>> {
        let trouble = *self.trouble.lock().unwrap();
        match trouble {
            Some(Trouble::Fails) => Box::pin(std::future::ready(Err(StoreError::bare("the disk is full")))),
            Some(Trouble::Waits) => Box::pin(std::future::pending()),
            None => self.kept.retain(maker, whole),
        }
    }

    fn open<'a>(
        &'a self,
        reader: &'a SessionId,
        id: &'a OutputId,
    ) -> BoxFuture<'a, Result<Option<OpenOutput>, StoreError>> {
        self.kept.open(reader, id)
    }
}

/// A grant book in memory.
#[derive(Default)]
pub(crate) struct Book {
    kept: MemoryGrants,
    trouble: Mutex<Option<Trouble>>,
}

impl Book {
    /// From now on no grant can be kept.
    pub(crate) fn fail(&self) {
        *self.trouble.lock().unwrap() = Some(Trouble::Fails);
    }

    /// From now on keeping a grant never ends.
    pub(crate) fn wait(&self) {
        *self.trouble.lock().unwrap() = Some(Trouble::Waits);
    }
}

impl GrantBook for Book {
    fn grants<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<Vec<Grant>, StoreError>> {
        self.kept.grants(session)
    }

    fn keep<'a>(&'a self, grants: &'a [Grant]) -> BoxFuture<'a, Result<(), StoreError>> {
        let trouble = *self.trouble.lock().unwrap();
        match trouble {
            Some(Trouble::Fails) => Box::pin(std::future::ready(Err(StoreError::bare("the disk is full")))),
            Some(Trouble::Waits) => Box::pin(std::future::pending()),
            None => self.kept.keep(grants),
        }
    }
}
