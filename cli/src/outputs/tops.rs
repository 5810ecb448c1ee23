//! The origins and rules that occur most often, counted in bounded memory.
//!
//! Counts are exact as long as there are few different keys. When there are too many, the rarer half is forgotten, and it is
//! remembered how often one of them may have occurred.

use std::collections::HashMap;

/// The most different keys that are counted at a time.
pub const MAX_COUNTED_KEYS: usize = 1 << 16;

/// Bytes of a key that are kept: more than a host has, and enough to know a rule by.
pub const MAX_KEY_BYTES: usize = 300;

/// How often keys occur.
#[derive(Debug, Default)]
pub struct Top {
    counts: HashMap<Vec<u8>, u64>,
    /// How much too low a count may be.
    missed: u64,
}

impl Top {
    /// Counts a key, which is cut if it is long.
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

    /// Forgets the rarer half of the keys.
    fn forget(&mut self) {
        let mut all: Vec<(Vec<u8>, u64)> = self.counts.drain().collect();
        let (rarer, median, _) = all.select_nth_unstable_by_key(MAX_COUNTED_KEYS / 2, |&(_, count)| count);
        let most = rarer.iter().map(|&(_, count)| count).max().unwrap_or(0).min(median.1);
        self.missed += most;
        self.counts = all.split_off(MAX_COUNTED_KEYS / 2).into_iter().collect();
    }

    /// Adds the counts of another part of the rows.
    pub fn merge(&mut self, other: &Top) {
        self.missed += other.missed;
        for (key, &times) in &other.counts {
            self.add(key, times);
        }
    }

    /// Starts again.
    pub fn clear(&mut self) {
        self.counts.clear();
        self.missed = 0;
    }

    /// The most frequent keys, at most so many, with their counts; of equal counts the first in the order of bytes.
    pub fn first(&self, most: usize) -> Vec<(&[u8], u64)> {
        let mut all: Vec<(&[u8], u64)> = self.counts.iter().map(|(key, &count)| (&key[..], count)).collect();
        all.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        all.truncate(most);
        all
    }

    /// How much too low a count may be: 0 if all are exact.
    pub fn missed(&self) -> u64 {
        self.missed
    }
}

/// What a report names.
#[derive(Debug, Default)]
pub struct Tops {
    /// The origins of URLs that are disallowed.
    pub disallowing: Top,
    /// The rules that disallow them.
    pub rules: Top,
    /// The origins of which no robots.txt is known.
    pub unknown: Top,
}

impl Tops {
    /// Each of them.
    fn all(&mut self) -> [&mut Top; 3] {
        [&mut self.disallowing, &mut self.rules, &mut self.unknown]
    }

    /// Adds the counts of another part of the rows.
    pub fn merge(&mut self, other: &Tops) {
        let others = [&other.disallowing, &other.rules, &other.unknown];
        self.all().into_iter().zip(others).for_each(|(top, other)| top.merge(other));
    }

    /// Starts again.
    pub fn clear(&mut self) {
        self.all().into_iter().for_each(Top::clear);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_keys_holds_at_its_edges_and_counts_are_never_too_high() {
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
    fn the_limit_of_a_key_holds_at_its_edges() {
        for len in [MAX_KEY_BYTES - 1, MAX_KEY_BYTES, MAX_KEY_BYTES + 1] {
            let mut top = Top::default();
            top.add(&vec![b'x'; len], 1);
            assert_eq!(top.first(1)[0].0.len(), len.min(MAX_KEY_BYTES));
        }
    }

    #[test]
    fn parts_add_up_whatever_their_order() {
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
