//! The locks of the core, in one place so that shuttle's scheduler can take over from the system's.
//!
//! Locks are taken, copied out of and released; none is held across an `.await`.

#[cfg(feature = "shuttle")]
pub(crate) use shuttle::sync::{Mutex, MutexGuard};
#[cfg(not(feature = "shuttle"))]
pub(crate) use std::sync::{Mutex, MutexGuard};

use std::sync::PoisonError;

/// Takes a lock. A poisoned one is recovered: the panic that poisoned it has been reported as a defect already.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
