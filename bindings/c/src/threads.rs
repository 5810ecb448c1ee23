//! Ends the library's threads.

use reptile_columns::arrow::end_pool;

use crate::border::{ReptileCode, call};

/// Number of rounds in which memory cannot be freed yet.
const EMPTY_ROUNDS: usize = 8;

/// Ends the threads that calls on all threads have started, and waits for them. Call it before `dlclose`, and before
/// the process ends if a leak checker should find nothing. Otherwise the call is optional, because idle threads only
/// wait.
///
/// Sets, agents and other handles stay valid, and a later call on all threads starts new threads. A call that is
/// running in another thread finishes first. Must not be called from a signal handler. Thread-safe.
#[unsafe(no_mangle)]
pub extern "C" fn reptile_shutdown() -> ReptileCode {
    let work = || {
        end_pool();
        // Threads leave memory to crossbeam's collector, which would free it when later threads work. Each round frees
        // the memory of several threads, and the first rounds only let the collector's clock advance.
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        for _ in 0..EMPTY_ROUNDS + threads {
            crossbeam_epoch::pin().flush();
        }
        Ok(())
    };
    // SAFETY: `message` may be null.
    unsafe { call(std::ptr::null_mut(), work) }
}
