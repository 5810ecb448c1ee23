//! Lets callers run this crate's divisible work on their threads.
//!
//! Nothing here starts a thread.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Runs independent pieces of work, in any order or at the same time.
///
/// The result never depends on the order. Callers pass trait objects, because the set writer is long. With generics, it
/// would be compiled again for each implementation.
pub trait Threads: Sync {
    /// Calls `work` with ranges that together contain each number below `count` exactly once.
    fn run(&self, count: usize, work: &(dyn Fn(Range<usize>) + Sync));
}

impl dyn Threads + '_ {
    /// Runs two pieces of work and returns both results.
    pub(crate) fn both<A: Send, B: Send>(
        &self,
        mut a: impl FnMut() -> A + Send,
        mut b: impl FnMut() -> B + Send,
    ) -> (A, B) {
        if !HAS_THREADS {
            return (a(), b());
        }
        let (a, b) = (Once::new(a), Once::new(b));
        self.run(2, &|range| {
            if range.contains(&0) {
                a.run();
            }
            if range.contains(&1) {
                b.run();
            }
        });
        (a.result(), b.result())
    }

    /// Runs `work` for each number below `count` and returns the results in order.
    pub(crate) fn each_number<R: Send>(&self, count: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
        self.each(&(0..count).collect::<Vec<_>>(), || (), |(), &number| work(number))
    }

    /// Runs `work` for each item and returns the results in input order. `start` creates a state for each range of
    /// items.
    pub fn each<T: Sync, S, R: Send>(
        &self,
        items: &[T],
        start: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, &T) -> R + Sync,
    ) -> Vec<R> {
        if !HAS_THREADS || items.len() < 2 {
            let mut state = start();
            return items.iter().map(|item| work(&mut state, item)).collect();
        }
        let done = Mutex::new(Vec::new());
        self.run(items.len(), &|range| {
            let mut state = start();
            let first = range.start;
            let results: Vec<R> = items[range].iter().map(|item| work(&mut state, item)).collect();
            done.lock().unwrap_or_else(PoisonError::into_inner).push((first, results));
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let [(_, all)] = &mut done[..] {
            return std::mem::take(all);
        }
        done.sort_unstable_by_key(|&(first, _)| first);
        let mut results = Vec::with_capacity(items.len());
        done.into_iter().for_each(|(_, mut of_range)| results.append(&mut of_range));
        results
    }
}

/// Work that another thread may run, and its result.
struct Once<F, R>(Mutex<(F, Option<R>)>);

impl<F: FnMut() -> R, R> Once<F, R> {
    fn new(work: F) -> Once<F, R> {
        Once(Mutex::new((work, None)))
    }

    fn run(&self) {
        let (work, result) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *result = Some(work());
    }

    fn result(self) -> R {
        let (work, result) = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        result.unwrap_or_else(work)
    }
}

/// Whether there may be threads. Without them, the code that divides work would only make a WebAssembly module larger.
const HAS_THREADS: bool = cfg!(any(not(target_family = "wasm"), target_feature = "atomics"));

/// Number of times that [`sort`] halves its list. Three give eight parts; each costs a pass over the list.
const HALVINGS: u32 = 3;

/// Maximum length of a list that is sorted without halving.
const SHORT: usize = 1 << 14;

/// Sorts on all threads, in place. No two items may be equal, so that the result is unique.
///
/// Time: sorting each eighth of the list, plus three passes.
pub(crate) fn sort<T: Send>(things: &mut [T], threads: &dyn Threads, compare: &(impl Fn(&T, &T) -> Ordering + Sync)) {
    sort_parts(things, threads, compare, HALVINGS);
}

fn sort_parts<T: Send>(
    things: &mut [T],
    threads: &dyn Threads,
    compare: &(impl Fn(&T, &T) -> Ordering + Sync),
    halvings: u32,
) {
    if !HAS_THREADS || halvings == 0 || things.len() <= SHORT {
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
    fn run(&self, count: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
        work(0..count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs each number by itself, the last one first.
    struct Backwards;

    impl Threads for Backwards {
        fn run(&self, count: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
            (0..count).rev().for_each(|number| work(number..number + 1));
        }
    }

    #[test]
    fn results_do_not_depend_on_the_order_of_the_work() {
        for threads in [&OneThread as &dyn Threads, &Backwards] {
            for len in [0_usize, 1, 2, 1000] {
                let items: Vec<usize> = (0..len).collect();
                let doubled = threads.each(&items, || 2, |factor, item| item * *factor);
                assert_eq!(doubled, items.iter().map(|item| item * 2).collect::<Vec<_>>());
            }
            let (mut first, mut second) = (vec![1], vec![2]);
            let taken = threads.both(|| std::mem::take(&mut first), || std::mem::take(&mut second));
            assert_eq!(taken, (vec![1], vec![2]));
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn sorting_in_parts_agrees_with_standard_sort() {
        for len in [0, 1, SHORT - 1, SHORT, SHORT + 1, 5 * SHORT, 20 * SHORT + 7] {
            // Multiplying by an odd number is a bijection modulo 2^32, so all items are distinct.
            let mut things: Vec<u32> = (0..len as u32).map(|number| number.wrapping_mul(0x9E37_79B1)).collect();
            let mut sorted = things.clone();
            sorted.sort_unstable();
            sort(&mut things, &Backwards, &u32::cmp);
            assert!(things == sorted, "{len}");
        }
    }
}
