//! The seam of the recorder: every step of a call on record, and what has an effect on the disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use haft::{
    BoxFuture, Call, CallId, Change, Ended, Event, Image, Opened, Recorder, Seq, SessionId, StoreError,
    ToolContext,
};
use serde_json::Value;

use crate::background::off_thread;
use crate::calls::{self, NewCall};
use crate::clock::now_ms;
use crate::end::End;
use crate::events::{self, NewEvent};
use crate::fault::Fault;
use crate::images;
use crate::paths::StoredPath;
use crate::store::Store;
use crate::writer::Durability;

/// A call that is being opened. What is queued is written even if nobody waits any longer, so a call that was opened
/// for nobody is cancelled behind it; one that was there before is not touched.
struct Opening<'a> {
    store: &'a Store,
    context: &'a ToolContext,
    is_new: Arc<AtomicBool>,
    told: bool,
}

impl Opening<'_> {
    fn tell(mut self) {
        self.told = true;
    }
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        if !self.told {
            let is_new = self.is_new.clone();
            self.store.cancel(self.context, move || is_new.load(Ordering::Relaxed));
        }
    }
}

impl Store {
    /// Records that a call was dropped, if it had not ended and if it counts when its turn comes.
    fn cancel(&self, context: &ToolContext, counts: impl FnOnce() -> bool + Send + 'static) {
        let Ok(end) = End::of(&Ended::Cancelled, &self.0.redactor) else { return };
        let call = context.call.clone();
        let at = now_ms();
        self.0.writer.post(self.durability_of_end(&context.call), move |connection| match counts() {
            true => end.record(connection, call.as_str(), at).map(drop),
            false => Ok(()),
        });
    }
}

impl Recorder for Store {
    fn called<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Opened, StoreError>> {
        let new = NewCall::of(call, &self.0, now_ms());
        let is_new = Arc::new(AtomicBool::new(false));
        let noted = is_new.clone();
        let opened = self.write("record a call", Durability::Brief, move |connection| {
            let opened = new.open(connection)?;
            noted.store(matches!(opened, Opened::New { .. }), Ordering::Relaxed);
            Ok(opened)
        });
        let opening = Opening { store: self, context: &call.context, is_new, told: false };
        Box::pin(async move {
            let opened = opened.await;
            opening.tell();
            opened
        })
    }

    fn running<'a>(
        &'a self,
        context: &'a ToolContext,
        changed_input: Option<&'a Value>,
    ) -> BoxFuture<'a, Result<Seq, StoreError>> {
        let call = context.call.clone();
        let changed_input = changed_input.map(|input| self.0.redactor.redact_json(input).to_string());
        let at = now_ms();
        Box::pin(self.write("record that a call runs", Durability::Brief, move |connection| {
            calls::run(connection, call.as_str(), changed_input.as_deref(), at)
        }))
    }

    fn acting<'a>(
        &'a self,
        context: &'a ToolContext,
        changes: &'a [Change],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.note_acting(&context.call);
        let what = "record what a call is about to change";
        let call = context.call.clone();
        let stored = |change: &Change| {
            let path = StoredPath::of(&change.path, &self.0.redactor, &self.0.places)?;
            Ok((path, change.clone()))
        };
        let changes: Result<Vec<_>, Fault> = changes.iter().map(stored).collect();
        Box::pin(async move {
            let changes = changes.map_err(|fault| self.0.put(what, fault))?;
            let images = changes.iter().flat_map(|(_, change)| [&change.before, &change.after]);
            let images: Vec<Image> = images.flatten().cloned().collect();
            let (places, bounds) = (self.0.places.clone(), self.0.journal);
            let shelf = places.clone();
            // The disk is waited for once: nothing is changed before both are done. A row without its file says what
            // was to be changed by a call that then did not begin.
            let shelving = async {
                match images::needs_shelf(bounds, &images) {
                    true => {
                        let shared = self.0.clone();
                        let shelve = move || Ok(images::shelve(&shelf, bounds, &images, &shared.whole)?);
                        off_thread(shelve).await.map(Some)
                    }
                    false => Ok(None),
                }
            };
            let at = now_ms();
            let recording = self.write(what, Durability::Disk, move |connection| {
                calls::act(connection, call.as_str(), &changes, &places, bounds, at)
            });
            let (shelved, recorded) = tokio::join!(shelving, recording);
            // As long as it is there, no file goes whose row is on the way.
            let adding = shelved.map_err(|fault| {
                let images = self.0.places.images.display();
                fault.into_error(format!("could not keep what the files hold now in {images}"))
            })?;
            let has_forgotten = recorded?;
            drop(adding);
            if has_forgotten {
                let store = self.clone();
                // What stays is removed by the next sweep.
                let _stays = off_thread(move || Ok(store.tidy_images().is_ok())).await;
            }
            Ok(())
        })
    }

    fn ended<'a>(
        &'a self,
        context: &'a ToolContext,
        ended: &'a Ended,
    ) -> BoxFuture<'a, Result<Seq, StoreError>> {
        let what = "record how a call ended";
        let end = match End::of(ended, &self.0.redactor) {
            Ok(end) => end,
            Err(fault) => return Box::pin(std::future::ready(Err(self.0.put(what, fault)))),
        };
        let call = context.call.clone();
        let at = now_ms();
        Box::pin(self.write(what, self.durability_of_end(&context.call), move |connection| {
            end.record(connection, call.as_str(), at)?.ok_or_else(|| calls::not_under_way(call.as_str()))
        }))
    }

    fn cancelled(&self, context: &ToolContext) {
        self.cancel(context, || true);
    }

    fn event<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Result<Seq, StoreError>> {
        let (name, session, call, body) = match event {
            // These are recorded with the states themselves, or retained.
            Event::Called(_)
            | Event::Running(_)
            | Event::Ended(..)
            | Event::Output { .. }
            | Event::Said { .. } => {
                return Box::pin(std::future::ready(Ok(Seq::default())));
            }
            Event::Asked(request) => about("permission.asked", &request.context, events::asked(request)),
            Event::Replied(request, reply) => {
                about("permission.replied", &request.context, events::replied(request, reply))
            }
            Event::Reported { name, context, body } => about(name, context, body.clone()),
            Event::Session { name, session, body } => (*name, session.clone(), None, body.clone()),
        };
        let body = self.0.redactor.redact_json(&body);
        let at_ms = now_ms();
        Box::pin(self.write("record an event", Durability::Brief, move |connection| {
            let (session, call) = (session.as_str(), call.as_ref().map(CallId::as_str));
            events::insert(connection, &NewEvent { at_ms, name, session, call, body: &body })
        }))
    }
}

/// An event that is about a call.
fn about(
    name: &'static str,
    context: &ToolContext,
    body: Value,
) -> (&'static str, SessionId, Option<CallId>, Value) {
    (name, context.session.clone(), Some(context.call.clone()), body)
}
