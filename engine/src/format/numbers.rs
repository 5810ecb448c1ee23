//! A set of small numbers, one bit for each possible number.

/// A set of numbers that can count its members below each one.
#[derive(Default)]
pub(crate) struct NumberSet {
    words: Vec<u64>,
    /// For each word, the member count in the preceding words.
    before: Vec<u32>,
}

impl NumberSet {
    /// Creates an empty set for the numbers below `end`.
    pub fn below(end: usize) -> NumberSet {
        NumberSet { words: vec![0; end.div_ceil(64)], before: Vec::new() }
    }

    pub fn contains(&self, number: usize) -> bool {
        self.words.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 != 0)
    }

    /// Adds a number, and makes room for it if necessary.
    #[cfg(feature = "write")]
    pub fn insert(&mut self, number: usize) {
        let word = number / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (number % 64);
    }

    /// Adds `len` numbers, starting at `start`. Returns whether all of them are new, and `false` if there is no room
    /// for one.
    pub fn insert_all(&mut self, start: usize, len: usize) -> bool {
        let (mut at, end, mut are_new) = (start, start + len, true);
        while at < end {
            let count = (64 - at % 64).min(end - at);
            let mask = u64::MAX >> (64 - count) << (at % 64);
            let Some(word) = self.words.get_mut(at / 64) else { return false };
            are_new &= *word & mask == 0;
            *word |= mask;
            at += count;
        }
        are_new
    }

    /// Counts the members after the last insertion, as [`Self::rank`] requires.
    pub fn count(&mut self) {
        let counts = self.words.iter().map(|word| word.count_ones());
        self.before = counts.scan(0, |sum, count| Some(std::mem::replace(sum, *sum + count))).collect();
    }

    /// Returns the member count below `number`, or `None` if `number` is not a member.
    pub fn rank(&self, number: usize) -> Option<u32> {
        let (word, before) = (self.words.get(number / 64)?, self.before.get(number / 64)?);
        self.contains(number).then(|| before + (word & ((1 << (number % 64)) - 1)).count_ones())
    }

    /// Returns the members in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.words).flat_map(|(place, &word): (u32, _)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                left &= left.checked_sub(1)?;
                Some(place * 64 + bit)
            })
        })
    }
}

#[cfg(all(test, feature = "write"))]
mod tests {
    use super::NumberSet;

    #[test]
    fn rank_returns_the_count_of_smaller_members() {
        let numbers = [0, 1, 63, 64, 127, 1000, 1023, 1024];
        let mut set = NumberSet::default();
        numbers.iter().rev().for_each(|&number| set.insert(number));
        set.count();
        assert!(set.iter().map(|number| number as usize).eq(numbers));
        for number in 0..2000 {
            let rank = set.rank(number).map(|rank| rank as usize);
            assert_eq!(rank, numbers.iter().position(|&other| other == number), "{number}");
        }
        assert_eq!(NumberSet::default().rank(0), None);
    }

    #[test]
    fn insert_all_returns_whether_all_numbers_are_new_and_fit() {
        let mut set = NumberSet::below(130);
        for (start, len, are_new) in [(60, 70, true), (0, 60, true), (59, 1, false), (130, 0, true), (190, 5, false)] {
            assert_eq!(set.insert_all(start, len), are_new, "{start} {len}");
        }
        assert!((0..130).all(|number| set.contains(number)));
    }
}
