//! The number of threads, and their start.

use crate::error::{Failure, Result};

/// Maximum number of threads, more than the largest machines have processors. Thousands of threads that wait for each
/// other take seconds for milliseconds of work.
const MAX_THREADS: u16 = 512;

/// A thread's stack size in bytes. No input causes unbounded recursion.
const STACK_BYTES: usize = 2 << 20;

/// Address space reserved per thread before it starts, in bytes: its stack and its first allocation.
const THREAD_BYTES: usize = STACK_BYTES + (1 << 20);

/// The number of threads, an option of several commands.
#[derive(Clone, clap::Args)]
pub struct Threads {
    /// Number of threads, up to 512; 0 means one per processor
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = threads, hide_default_value = true)]
    pub threads: u16,
}

/// Parses a number of threads.
fn threads(text: &str) -> std::result::Result<u16, String> {
    let number = text.parse().ok().filter(|number| *number <= MAX_THREADS);
    number.ok_or_else(|| format!("expected a number from 0 to {MAX_THREADS}"))
}

impl Threads {
    /// Starts the threads. Called once, before any work.
    ///
    /// Address space for all threads is reserved first and released. If memory runs out between two threads, the C
    /// library aborts the process without a message when the last thread makes its first allocation.
    ///
    /// # Errors
    /// Returns an error if the system cannot start the threads.
    pub fn start(&self) -> Result<()> {
        let failed = |why: &dyn std::fmt::Display| Failure::new(format!("the threads cannot be started: {why}"));
        let threads = match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads.into(),
        };
        let room = (threads + 1) * THREAD_BYTES;
        if let Err(error) = Vec::<u8>::new().try_reserve_exact(room) {
            return Err(failed(&format_args!("{threads} threads need {room} bytes: {error}")));
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_BYTES);
        pool.build_global().map_err(|error| failed(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_stop_at_the_limit() {
        for (number, fits) in [(0, true), (MAX_THREADS - 1, true), (MAX_THREADS, true), (MAX_THREADS + 1, false)] {
            assert_eq!(threads(&number.to_string()).is_ok(), fits, "{number}");
        }
        for text in ["", "-1", "1.5", "x", "65536", "18446744073709551616"] {
            assert_eq!(threads(text), Err("expected a number from 0 to 512".into()), "{text}");
        }
    }
}
