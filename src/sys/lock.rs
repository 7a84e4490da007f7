//! Mutexes whose data is valid after any panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, also when another thread died while it held the lock. For data that every change
/// leaves whole.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
