//! Lists of names, shortened to fit on a screen because a file can name a million crawlers.

/// Maximum number of names shown.
pub const MAX_NAMES_SHOWN: usize = 16;

/// Maximum total size of the shown names in bytes, unless a single name is longer.
pub const MAX_NAMES_BYTES: usize = 1024;

/// The first few names, and the number of omitted names.
pub struct ShownNames {
    /// The names as shown in the list.
    pub shown: Vec<String>,
    /// The number of omitted names.
    pub more: usize,
}

/// Cuts a text longer than `max_bytes` after the last character that fits, and appends `...`.
pub fn cut(mut text: String, max_bytes: usize) -> String {
    if text.len() > max_bytes {
        let end = (0..=max_bytes).rev().find(|&end| text.is_char_boundary(end));
        text.truncate(end.unwrap_or(0));
        text.push_str("...");
    }
    text
}

impl ShownNames {
    /// Returns the first few out of `count` names. A name longer than the limit is cut.
    pub fn of(names: impl IntoIterator<Item = String>, count: usize) -> ShownNames {
        let (mut shown, mut bytes): (Vec<String>, usize) = (Vec::new(), 0);
        for name in names.into_iter().take(MAX_NAMES_SHOWN) {
            let name = cut(name, MAX_NAMES_BYTES);
            bytes += name.len();
            if bytes > MAX_NAMES_BYTES && !shown.is_empty() {
                break;
            }
            shown.push(name);
        }
        ShownNames { more: count.saturating_sub(shown.len()), shown }
    }

    /// Returns the names, separated by commas, and the number of omitted names.
    pub fn list(&self) -> String {
        let names = self.shown.join(",");
        if self.more == 0 { names } else { format!("{names} ... and {} more", self.more) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(count: usize, len: usize) -> String {
        ShownNames::of((0..count).map(|at| format!("{at:0>len$}")), count).list()
    }

    #[test]
    fn shown_names_stop_at_the_limit() {
        for (count, more) in
            [(MAX_NAMES_SHOWN - 1, ""), (MAX_NAMES_SHOWN, ""), (MAX_NAMES_SHOWN + 1, "15 ... and 1 more")]
        {
            assert!(list(count, 2).ends_with(more), "{count}");
            assert_eq!(list(count, 2).contains("more"), !more.is_empty(), "{count}");
        }
        assert_eq!(list(2, 1), "0,1");
    }

    #[test]
    fn shown_bytes_stop_at_the_limit() {
        let half = MAX_NAMES_BYTES / 2;
        for (len, names) in [(half - 1, 2), (half, 2), (half + 1, 1)] {
            assert_eq!(ShownNames::of((0..2).map(|_| "n".repeat(len)), 2).shown.len(), names, "{len}");
        }
        for (len, cut) in [(MAX_NAMES_BYTES - 1, false), (MAX_NAMES_BYTES, false), (MAX_NAMES_BYTES + 1, true)] {
            let text = ShownNames::of(["é".repeat(len / 2) + &"n".repeat(len % 2)], 1).list();
            assert_eq!(text.ends_with("..."), cut, "{len}");
            assert!(text.len() <= MAX_NAMES_BYTES + 3);
        }
    }
}
