//! Counts steps where a caller wants the count, at no cost where none does.

/// A step counter. `()` counts nothing, at no cost.
pub(crate) trait StepCounter: Default {
    /// Whether this counts anything.
    const COUNTS: bool;

    /// Adds steps.
    fn add(&mut self, steps: usize);

    /// Adds another count's steps.
    fn merge(&mut self, other: Self);
}

impl StepCounter for () {
    const COUNTS: bool = false;

    #[inline(always)]
    fn add(&mut self, _steps: usize) {}

    #[inline(always)]
    fn merge(&mut self, (): ()) {}
}

impl StepCounter for usize {
    const COUNTS: bool = true;

    fn add(&mut self, steps: usize) {
        *self += steps;
    }

    fn merge(&mut self, other: usize) {
        *self += other;
    }
}
