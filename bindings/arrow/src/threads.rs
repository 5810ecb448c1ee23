//! Work on all threads, in any process: [`in_pool`].

use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The threads of this process, with the number of the process that started them.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Does some work in a pool of threads, as many as there are processors, so that the parallel calls of `reptile` in it use
/// them all. The threads are started by the first call.
///
/// The global pool of `rayon` hangs in a process that was forked after its threads were started, as Python's `multiprocessing`
/// does on Linux: the threads are not copied. This function then starts new ones. Where threads cannot be started, the
/// work is done on this one.
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
    // Threads of the process that this one was forked from are not here to end.
    std::mem::forget(pool.replace((process, started.clone())));
    Some(started)
}
