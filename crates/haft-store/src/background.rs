//! Work that blocks, off the threads that must not: a thread each, since it is rare and the core needs no runtime.

use tokio::sync::oneshot;

use crate::fault::Fault;

/// Does work on a thread of its own. It is finished even if nobody waits any more.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let (tell, outcome) = oneshot::channel();
    std::thread::Builder::new().name("haft-files".to_owned()).spawn(move || {
        // Whoever asked may have been dropped.
        let _unheard = tell.send(work());
    })?;
    outcome.await.unwrap_or(Err(Fault::Closed))
}
