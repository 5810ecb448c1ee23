//! A thread pool that also works in forked processes: [`in_pool`], [`end_pool`].

use std::mem;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// This process's threads.
static POOL: Mutex<Option<Threads>> = Mutex::new(None);

/// A pool, with its threads and the process ID that started them.
struct Threads {
    process: u32,
    pool: Arc<ThreadPool>,
    handles: Vec<JoinHandle<()>>,
}

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

/// Ends the threads that [`in_pool`] has started in this process, and waits for them. The next call of [`in_pool`]
/// starts new threads. Work in progress is completed first, so such work must not call this function.
///
/// ```
/// use reptile_columns::arrow::{end_pool, in_pool};
/// assert_eq!(in_pool(|| 2 + 2), 4);
/// end_pool();
/// assert_eq!(in_pool(|| 3 + 3), 6);
/// ```
pub fn end_pool() {
    let ended = POOL.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(Threads { process, pool, handles }) = ended else { return };
    if process != process::id() {
        // The parent process's threads do not exist here, so they cannot be ended.
        mem::forget((pool, handles));
        return;
    }
    // The threads end when nothing uses the pool.
    drop(pool);
    for handle in handles {
        // A thread that panicked has ended too.
        let _ = handle.join();
    }
}

fn pool() -> Option<Arc<ThreadPool>> {
    let mut current = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = process::id();
    if let Some(threads) = current.as_ref().filter(|threads| threads.process == process) {
        return Some(threads.pool.clone());
    }
    let mut handles = Vec::new();
    let builder = ThreadPoolBuilder::new().spawn_handler(|started| {
        let name = thread::Builder::new().name("reptile".to_owned());
        handles.push(name.spawn(move || started.run())?);
        Ok(())
    });
    let pool = Arc::new(builder.build().ok()?);
    // The parent process's threads do not exist here, so they cannot be ended.
    mem::forget(current.replace(Threads { process, pool: pool.clone(), handles }));
    Some(pool)
}
