//! A panic is a defect: it is caught at the edge of foreign code and handed on as an error.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use crate::error::BoxError;

/// Starts a future and runs it; a panic in either becomes an error.
pub(crate) async fn caught<F: Future>(start: impl FnOnce() -> F) -> Result<F::Output, BoxError> {
    let mut future = pin!(caught_now(start)?);
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
