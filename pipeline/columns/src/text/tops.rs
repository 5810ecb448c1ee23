//! The most frequent origins and rules, counted in bounded memory.
//!
//! Counts are exact while there are few different keys. When there are too many, the rarer half is removed, and the
//! maximum undercount grows accordingly.

use std::collections::HashMap;

/// Maximum number of different keys counted at a time.
pub const MAX_COUNTED_KEYS: usize = 1 << 16;

/// Maximum number of stored bytes per key: longer than any host, and enough to identify a rule.
pub const MAX_KEY_BYTES: usize = 300;

/// Key counts.
///
/// ```
/// use reptile_columns::Top;
///
/// let mut top = Top::default();
/// top.add(b"https://a.example", 2);
/// top.add(b"https://b.example", 5);
/// assert_eq!(top.first(1), [(&b"https://b.example"[..], 5)]);
/// assert_eq!(top.missed(), 0);
/// ```
#[derive(Debug, Default)]
pub struct Top {
    counts: HashMap<Vec<u8>, u64>,
    /// The maximum undercount.
    missed: u64,
}

impl Top {
    /// Adds `times` to a key's count. Long keys are truncated.
    pub fn add(&mut self, key: &[u8], times: u64) {
        let key = &key[..key.len().min(MAX_KEY_BYTES)];
        if let Some(count) = self.counts.get_mut(key) {
            *count += times;
            return;
        }
        if self.counts.len() >= MAX_COUNTED_KEYS {
            self.forget();
        }
        self.counts.insert(key.to_vec(), times);
    }

    /// Removes the rarer half of the keys.
    fn forget(&mut self) {
        let mut all: Vec<(Vec<u8>, u64)> = self.counts.drain().collect();
        let (rarer, median, _) = all.select_nth_unstable_by_key(MAX_COUNTED_KEYS / 2, |&(_, count)| count);
        let most = rarer.iter().map(|&(_, count)| count).max().unwrap_or(0).min(median.1);
        self.missed += most;
        self.counts = all.split_off(MAX_COUNTED_KEYS / 2).into_iter().collect();
    }

    /// Adds the counts from other rows.
    pub fn merge(&mut self, other: &Top) {
        self.missed += other.missed;
        for (key, &times) in &other.counts {
            self.add(key, times);
        }
    }

    /// Adds to the maximum undercount.
    pub(crate) fn add_missed(&mut self, missed: u64) {
        self.missed += missed;
    }

    /// Clears the counts.
    pub fn clear(&mut self) {
        self.counts.clear();
        self.missed = 0;
    }

    /// Returns up to `most` of the most frequent keys with their counts. Equal counts are ordered by key bytes.
    pub fn first(&self, most: usize) -> Vec<(&[u8], u64)> {
        let mut all: Vec<(&[u8], u64)> = self.counts.iter().map(|(key, &count)| (&key[..], count)).collect();
        all.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        all.truncate(most);
        all
    }

    /// Returns the maximum undercount: 0 if all counts are exact.
    pub fn missed(&self) -> u64 {
        self.missed
    }
}

/// The most frequent keys in a report. See [`Top`] for an example.
#[derive(Debug, Default)]
pub struct Tops {
    /// The origins that disallow URLs.
    pub disallowing: Top,
    /// The rules that disallow URLs.
    pub rules: Top,
    /// The origins without a known robots.txt.
    pub unknown: Top,
}

impl Tops {
    /// Returns all three counters.
    fn all(&mut self) -> [&mut Top; 3] {
        [&mut self.disallowing, &mut self.rules, &mut self.unknown]
    }

    /// Adds the counts from other rows.
    pub fn merge(&mut self, other: &Tops) {
        let others = [&other.disallowing, &other.rules, &other.unknown];
        self.all().into_iter().zip(others).for_each(|(top, other)| top.merge(other));
    }

    /// Clears the counts.
    pub fn clear(&mut self) {
        self.all().into_iter().for_each(Top::clear);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stop_at_the_limit_and_counts_are_never_too_high() {
        for keys in [MAX_COUNTED_KEYS - 1, MAX_COUNTED_KEYS, MAX_COUNTED_KEYS + 1, 3 * MAX_COUNTED_KEYS] {
            let mut top = Top::default();
            for _ in 0..10 {
                top.add(b"often", 100);
            }
            for number in 1..keys {
                top.add(number.to_string().as_bytes(), 1);
            }
            top.add(b"often", 7);
            assert!(top.counts.len() <= MAX_COUNTED_KEYS);
            assert_eq!(top.missed() > 0, keys > MAX_COUNTED_KEYS, "{keys}");
            assert_eq!(top.first(1), [(&b"often"[..], 1007)]);
            assert!(top.first(10)[1].1 <= 1);
            assert!(1 <= top.first(10)[1].1 + top.missed());
        }
    }

    #[test]
    fn long_keys_are_truncated_at_the_limit() {
        for len in [MAX_KEY_BYTES - 1, MAX_KEY_BYTES, MAX_KEY_BYTES + 1] {
            let mut top = Top::default();
            top.add(&vec![b'x'; len], 1);
            assert_eq!(top.first(1)[0].0.len(), len.min(MAX_KEY_BYTES));
        }
    }

    #[test]
    fn parts_add_up_in_any_order() {
        let (mut a, mut b, mut both) = (Tops::default(), Tops::default(), Tops::default());
        for (number, key) in ["x", "y", "x", "z", "y", "x"].into_iter().enumerate() {
            let part = if number % 2 == 0 { &mut a } else { &mut b };
            part.rules.add(key.as_bytes(), 1);
        }
        both.merge(&b);
        both.merge(&a);
        let expected: [(&[u8], u64); 3] = [(b"x", 3), (b"y", 2), (b"z", 1)];
        assert_eq!(both.rules.first(9), expected);
        assert_eq!(both.rules.first(2), expected[..2]);
        assert_eq!((both.unknown.first(9).len(), both.rules.missed()), (0, 0));
        both.clear();
        assert_eq!(both.rules.first(9), []);
    }
}
