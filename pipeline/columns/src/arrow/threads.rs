//! A thread pool that also works in forked processes: [`in_pool`].

use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// This process's threads, with the process ID that started them.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Runs work in a pool with a thread for each processor, so that it can use all of them in `reptile`'s parallel
/// calls. The first call starts the threads.
///
/// `rayon`'s global pool hangs in a process that was forked after its threads were started, as Python's
/// `multiprocessing` does on Linux: the threads are not copied. This function then starts new ones. If threads cannot
/// be started, the work runs on the current thread.
///
/// ```
/// use reptile_columns::arrow::in_pool;
/// assert_eq!(in_pool(|| 2 + 2), 4);
/// ```
pub fn in_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    match pool() {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

fn pool() -> Option<Arc<ThreadPool>> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = process::id();
    if let Some((_, pool)) = pool.as_ref().filter(|(owner, _)| *owner == process) {
        return Some(pool.clone());
    }
    let started = Arc::new(ThreadPoolBuilder::new().thread_name(|_| "reptile".to_owned()).build().ok()?);
    // The parent process's threads do not exist here, so they cannot be ended.
    std::mem::forget(pool.replace((process, started.clone())));
    Some(started)
}
