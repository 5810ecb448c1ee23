//! How a caller lends its threads to work that this crate divides. Nothing here starts a thread.

use std::cmp::Ordering;

/// Runs pieces of work that do not depend on each other, in any order or at the same time. The outcome never depends on
/// the choice.
pub trait Threads: Sync {
    /// Runs two pieces of work and returns both results.
    fn both<A: Send, B: Send>(&self, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B);

    /// Runs `work` for each thing and returns the results in the order of the things. Each thread that takes part has a
    /// state of its own, which `start` makes.
    fn each<T: Send, S, R: Send>(
        &self,
        things: Vec<T>,
        start: impl Fn() -> S + Send + Sync,
        work: impl Fn(&mut S, T) -> R + Send + Sync,
    ) -> Vec<R>;
}

/// How often [`sort`] halves its list: into more parts than most machines have threads, since halving costs a pass.
const HALVINGS: u32 = 3;

/// The length up to which a list is sorted at once.
const SHORT: usize = 1 << 14;

/// Sorts on all threads, in place. No two things may be equal, so that there is only one outcome.
///
/// Time: that of sorting each eighth of the list, and three passes over it.
pub(crate) fn sort<T: Send>(things: &mut [T], threads: &impl Threads, compare: &(impl Fn(&T, &T) -> Ordering + Sync)) {
    sort_parts(things, threads, compare, HALVINGS);
}

fn sort_parts<T: Send>(
    things: &mut [T],
    threads: &impl Threads,
    compare: &(impl Fn(&T, &T) -> Ordering + Sync),
    halvings: u32,
) {
    if halvings == 0 || things.len() <= SHORT {
        return things.sort_unstable_by(compare);
    }
    let middle = things.len() / 2;
    things.select_nth_unstable_by(middle, compare);
    let (smaller, others) = things.split_at_mut(middle);
    threads.both(
        || sort_parts(smaller, threads, compare, halvings - 1),
        || sort_parts(others, threads, compare, halvings - 1),
    );
}

/// Runs everything on the thread that asks.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneThread;

impl Threads for OneThread {
    fn both<A: Send, B: Send>(&self, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
        (a(), b())
    }

    fn each<T: Send, S, R: Send>(
        &self,
        things: Vec<T>,
        start: impl Fn() -> S + Send + Sync,
        work: impl Fn(&mut S, T) -> R + Send + Sync,
    ) -> Vec<R> {
        let mut state = start();
        things.into_iter().map(|thing| work(&mut state, thing)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_in_parts_sorts() {
        for len in [0, 1, SHORT - 1, SHORT, SHORT + 1, 5 * SHORT, 20 * SHORT + 7] {
            // An odd factor gives each of the numbers below 2^32 another one.
            let mut things: Vec<u32> = (0..len as u32).map(|number| number.wrapping_mul(0x9E37_79B1)).collect();
            let mut sorted = things.clone();
            sorted.sort_unstable();
            sort(&mut things, &OneThread, &u32::cmp);
            assert!(things == sorted, "{len}");
        }
    }
}
