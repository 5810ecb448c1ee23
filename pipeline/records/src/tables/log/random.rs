//! Reproducible random numbers for tests.

/// A generator of numbers that looks random (xorshift64).
pub struct Random(pub u64);

impl Random {
    /// Returns a number below a limit.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    /// Returns one of several values.
    pub fn one<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}
