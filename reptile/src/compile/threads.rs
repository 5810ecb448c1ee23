//! The threads that a set is compiled on, and the progress that they report.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use reptile_engine::threads::{OneThread, Threads};

/// Progress of [`Compiler::finish`](crate::Compiler::finish).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// Rulesets are compiled. Several threads report at once, so that the counts may arrive in any order.
    Rulesets {
        /// The number of compiled rulesets.
        done: u64,
        /// The number of rulesets.
        total: u64,
    },
    /// Parts and added sets are merged. Reported once, at the start.
    Merging,
}

/// Minimum size of a builder's data for which several threads compile it, in bytes. Compiling less takes less time
/// than handing it to other threads, or than starting them.
#[cfg(feature = "rayon")]
const MIN_SHARED_BYTES: usize = 1 << 14;

/// A callback for progress.
pub(super) type OnProgress = dyn Fn(Progress) + Send + Sync;

/// Runs on all threads with the feature `rayon`, otherwise on the caller's thread.
pub(super) struct AllThreads<'p> {
    /// Whether the work is large enough for several threads.
    #[cfg(feature = "rayon")]
    is_large: bool,
    /// Receives the progress of the first list of work: compiling the rulesets.
    progress: Option<&'p OnProgress>,
    has_reported: AtomicBool,
}

impl<'p> AllThreads<'p> {
    /// Creates threads for compiling a builder's data, which report the progress of compiling rulesets.
    #[cfg_attr(not(feature = "rayon"), allow(unused_variables, reason = "there is only one thread"))]
    pub fn reporting(progress: Option<&'p OnProgress>, held_bytes: usize) -> AllThreads<'p> {
        AllThreads {
            #[cfg(feature = "rayon")]
            is_large: held_bytes >= MIN_SHARED_BYTES,
            progress,
            has_reported: AtomicBool::new(false),
        }
    }

    /// Creates threads that report nothing, for merging and for parts.
    pub fn quiet() -> AllThreads<'static> {
        AllThreads::reporting(None, usize::MAX)
    }
}

impl Threads for AllThreads<'_> {
    fn both<A: Send, B: Send>(&self, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
        #[cfg(feature = "rayon")]
        if self.is_large {
            return rayon::join(a, b);
        }
        OneThread.both(a, b)
    }

    fn each<T: Send, S, R: Send>(
        &self,
        things: Vec<T>,
        start: impl Fn() -> S + Send + Sync,
        work: impl Fn(&mut S, T) -> R + Send + Sync,
    ) -> Vec<R> {
        let progress = self.progress.filter(|_| !self.has_reported.swap(true, Ordering::Relaxed));
        let (total, done) = (things.len() as u64, AtomicU64::new(0));
        let work = |state: &mut S, thing| {
            let result = work(state, thing);
            if let Some(progress) = progress {
                progress(Progress::Rulesets { done: done.fetch_add(1, Ordering::Relaxed) + 1, total });
            }
            result
        };
        #[cfg(feature = "rayon")]
        if self.is_large {
            use rayon::iter::{IntoParallelIterator, ParallelIterator};
            return things.into_par_iter().map_init(start, work).collect();
        }
        OneThread.each(things, start, work)
    }
}
