//! The time that one exchange has. It stands still while a person is asked.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::WebError;

/// Counts down.
#[derive(Debug)]
pub(super) struct Clock {
    total: Duration,
    ends: Instant,
}

impl Clock {
    pub(super) fn start(total: Duration) -> Clock {
        Clock { total, ends: Instant::now() + total }
    }

    /// Waits for something, but not longer than there is time.
    pub(super) async fn within<T>(&self, work: impl Future<Output = T>) -> Result<T, WebError> {
        timeout_at(self.ends, work).await.map_err(|_| WebError::TimedOut(self.total))
    }

    /// Waits for something that may take as long as it likes.
    pub(super) async fn paused<T>(&mut self, work: impl Future<Output = T>) -> T {
        let began = Instant::now();
        let value = work.await;
        self.ends += began.elapsed();
        value
    }
}
