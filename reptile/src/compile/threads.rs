//! The threads that a set is compiled on, and the progress that they report.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use reptile_engine::threads::Threads;

/// Progress of [`Compiler::finish`](crate::Compiler::finish).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// Rulesets are compiled. Reported for several rulesets at a time. Several threads report at once, so the counts
    /// may arrive in any order.
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

    /// Returns the number of threads that share the work.
    fn count(&self) -> usize {
        #[cfg(feature = "rayon")]
        if self.is_large {
            return rayon::current_num_threads();
        }
        1
    }
}

/// Number of ranges for each thread. More ranges distribute slow rulesets more evenly, but each range allocates its own
/// working memory.
const RANGES_PER_THREAD: usize = 64;

impl Threads for AllThreads<'_> {
    fn run(&self, count: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
        let progress = self.progress.filter(|_| !self.has_reported.swap(true, Ordering::Relaxed));
        let done = AtomicU64::new(0);
        let len = count.div_ceil(self.count() * RANGES_PER_THREAD).max(1);
        let run = |number: usize| {
            let range = number * len..count.min((number + 1) * len);
            let ran = range.len() as u64;
            work(range);
            if let Some(progress) = progress {
                let done = done.fetch_add(ran, Ordering::Relaxed) + ran;
                progress(Progress::Rulesets { done, total: count as u64 });
            }
        };
        let ranges = 0..count.div_ceil(len);
        #[cfg(feature = "rayon")]
        if self.is_large {
            use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
            return ranges.into_par_iter().with_max_len(1).for_each(run);
        }
        ranges.for_each(run);
    }
}
