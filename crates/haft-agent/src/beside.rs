//! Work that waits for a disk, away from the thread that drives everything else.

/// Does such work, and waits for it. Whoever stops waiting does not stop it, so it must come to an end by itself.
pub(crate) async fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is shutting down, and this future with it.
            Err(_) => std::future::pending().await,
        },
    }
}
