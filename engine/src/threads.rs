//! Lets callers run this crate's divisible work on their threads.
//!
//! Nothing here starts a thread.

use std::cmp::Ordering;

/// Runs independent pieces of work, in any order or at the same time.
///
/// The result never depends on the order.
pub trait Threads: Sync {
    /// Runs two pieces of work and returns both results.
    fn both<A: Send, B: Send>(&self, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B);

    /// Runs `work` for each item and returns the results in input order. Each participating thread has its own state,
    /// created by `start`.
    fn each<T: Send, S, R: Send>(
        &self,
        things: Vec<T>,
        start: impl Fn() -> S + Send + Sync,
        work: impl Fn(&mut S, T) -> R + Send + Sync,
    ) -> Vec<R>;
}

/// Number of times that [`sort`] halves its list. Three give eight parts; each costs a pass over the list.
const HALVINGS: u32 = 3;

/// Maximum length of a list that is sorted without halving.
const SHORT: usize = 1 << 14;

/// Sorts on all threads, in place. No two items may be equal, so that the result is unique.
///
/// Time: sorting each eighth of the list, plus three passes.
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

/// Runs all work on the calling thread.
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
    fn sorting_in_parts_agrees_with_standard_sort() {
        for len in [0, 1, SHORT - 1, SHORT, SHORT + 1, 5 * SHORT, 20 * SHORT + 7] {
            // Multiplying by an odd number is a bijection modulo 2^32, so all items are distinct.
            let mut things: Vec<u32> = (0..len as u32).map(|number| number.wrapping_mul(0x9E37_79B1)).collect();
            let mut sorted = things.clone();
            sorted.sort_unstable();
            sort(&mut things, &OneThread, &u32::cmp);
            assert!(things == sorted, "{len}");
        }
    }
}
