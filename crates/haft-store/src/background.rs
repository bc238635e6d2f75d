//! Work that blocks, off the threads that must not: on one that a runtime has for that, or on one of its own, since the
//! core needs no runtime.

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::fault::Fault;

/// Does work on another thread. Once it has begun it is finished, even if nobody waits any more.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let (tell, outcome) = oneshot::channel();
    let work = move || {
        // Whoever asked may have been dropped.
        let _unheard = tell.send(work());
    };
    match Handle::try_current() {
        Ok(runtime) => drop(runtime.spawn_blocking(work)),
        Err(_) => drop(std::thread::Builder::new().name("haft-files".to_owned()).spawn(work)?),
    }
    outcome.await.unwrap_or(Err(Fault::Closed))
}
