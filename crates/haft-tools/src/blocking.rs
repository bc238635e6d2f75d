//! Work that blocks, away from the threads that drive futures.
//!
//! A blocking thread cannot be dropped, so the work is given a [`Stop`] that is set when whoever awaits it goes away.
//! Outside a tokio runtime the work runs where it is, because the core prescribes no runtime.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

/// Tells blocking work that nobody waits for it any more.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// Does blocking work. Dropping the future sets the work's stop.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce(&Stop) -> T + Send + 'static) -> T {
    let stop = Stop::default();
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return work(&stop) };
    let guard = StopOnDrop(stop.clone());
    let result = runtime.spawn_blocking(move || work(&stop)).await;
    drop(guard);
    match result {
        Ok(value) => value,
        Err(error) => match error.try_into_panic() {
            // A panic in the work is a panic of the caller: the core turns it into a defect.
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is shutting down, and this future with it.
            Err(_) => std::future::pending().await,
        },
    }
}

/// Has blocking work done that nobody waits for, and that does no harm if it is never begun.
pub(crate) fn unattended(work: impl FnOnce() + Send + 'static) {
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) => drop(runtime.spawn_blocking(work)),
        Err(_) => work(),
    }
}

/// Does blocking work that must not be left half done: dropping the future sets the work's stop and waits until the
/// work has ended. So whoever records that a call was cancelled does so when nothing of it happens any more, and the
/// process cannot end in the middle of it.
pub(crate) async fn blocking_to_the_end<T: Send + 'static>(
    work: impl FnOnce(&Stop) -> T + Send + 'static,
) -> T {
    let (working, ended) = mpsc::channel::<()>();
    let stop = Stop::default();
    let seen = stop.clone();
    let _waiting = EndOnDrop { stop, ended };
    blocking(move |_| {
        // Dropped with the work, whether it was done or never began.
        let _working = working;
        work(&seen)
    })
    .await
}

/// Stops the work, then waits for it.
struct EndOnDrop {
    stop: Stop,
    ended: mpsc::Receiver<()>,
}

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.stop.set();
        // Nothing is ever sent: this returns when the other end is gone.
        let _gone = self.ended.recv();
    }
}
