//! Lists of names that are cut where they would fill the screen, since a file can name a million crawlers.

/// The names that a list shows.
pub const MAX_NAMES_SHOWN: usize = 16;

/// Bytes of the names that a list shows, unless one name alone has more.
pub const MAX_NAMES_BYTES: usize = 1024;

/// The first of some names, and how many more there are.
pub struct Few {
    /// The names that are shown, as they are written in the list.
    pub shown: Vec<String>,
    /// The number of the other names.
    pub more: usize,
}

impl Few {
    /// Takes the first of `count` names. A name that is longer than the limit is cut.
    pub fn of(names: impl IntoIterator<Item = String>, count: usize) -> Few {
        let (mut shown, mut bytes): (Vec<String>, usize) = (Vec::new(), 0);
        for mut name in names.into_iter().take(MAX_NAMES_SHOWN) {
            if name.len() > MAX_NAMES_BYTES {
                name.truncate(name.floor_char_boundary(MAX_NAMES_BYTES));
                name.push_str("...");
            }
            bytes += name.len();
            if bytes > MAX_NAMES_BYTES && !shown.is_empty() {
                break;
            }
            shown.push(name);
        }
        Few { more: count.saturating_sub(shown.len()), shown }
    }

    /// The names with commas between them, and the number of the others.
    pub fn list(&self) -> String {
        let names = self.shown.join(",");
        if self.more == 0 { names } else { format!("{names} ... and {} more", self.more) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(count: usize, len: usize) -> String {
        Few::of((0..count).map(|at| format!("{at:0>len$}")), count).list()
    }

    #[test]
    fn the_number_of_names_is_limited() {
        for (count, more) in
            [(MAX_NAMES_SHOWN - 1, ""), (MAX_NAMES_SHOWN, ""), (MAX_NAMES_SHOWN + 1, "15 ... and 1 more")]
        {
            assert!(list(count, 2).ends_with(more), "{count}");
            assert_eq!(list(count, 2).contains("more"), !more.is_empty(), "{count}");
        }
        assert_eq!(list(2, 1), "0,1");
    }

    #[test]
    fn the_bytes_of_names_are_limited() {
        let half = MAX_NAMES_BYTES / 2;
        for (len, names) in [(half - 1, 2), (half, 2), (half + 1, 1)] {
            assert_eq!(Few::of((0..2).map(|_| "n".repeat(len)), 2).shown.len(), names, "{len}");
        }
        for (len, cut) in [(MAX_NAMES_BYTES - 1, false), (MAX_NAMES_BYTES, false), (MAX_NAMES_BYTES + 1, true)] {
            let text = Few::of(["é".repeat(len / 2) + &"n".repeat(len % 2)], 1).list();
            assert_eq!(text.ends_with("..."), cut, "{len}");
            assert!(text.len() <= MAX_NAMES_BYTES + 3);
        }
    }
}
