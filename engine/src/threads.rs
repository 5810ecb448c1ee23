//! How a caller lends its threads to work that this crate divides. Nothing here starts a thread.

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
