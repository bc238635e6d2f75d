//! A panic is a defect: it is caught at the edge of foreign code and handed on as an error.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use crate::error::BoxError;

/// Runs a future; a panic in it becomes an error.
pub(crate) async fn caught<T>(future: impl Future<Output = T>) -> Result<T, BoxError> {
    let mut future = pin!(future);
    std::future::poll_fn(|cx| match caught_now(|| future.as_mut().poll(cx)) {
        Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
        Ok(Poll::Pending) => Poll::Pending,
        Err(error) => Poll::Ready(Err(error)),
    })
    .await
}

/// Runs a function; a panic in it becomes an error. What it borrowed is not looked at again afterwards.
pub(crate) fn caught_now<T>(work: impl FnOnce() -> T) -> Result<T, BoxError> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| format!("panicked: {}", message(&*panic)).into())
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
