//! Text from inputs in messages: safe for a terminal, and short enough that the message remains visible.
//!
//! ```
//! use reptile_records::shown::shown;
//!
//! assert_eq!(shown(b"a.example\x1b[2J"), r"a.example\u{1b}[2J");
//! assert!(shown(&[b'x'; 1000]).ends_with("x... (1000 bytes)"));
//! ```

use crate::text::printable;

/// Maximum bytes of input text that a message shows.
const MAX_SHOWN_BYTES: usize = 200;

/// Returns the text for a message.
///
/// Truncates text over [`MAX_SHOWN_BYTES`], and appends its length.
pub fn shown(text: &[u8]) -> String {
    match text.get(..MAX_SHOWN_BYTES) {
        Some(start) if text.len() > MAX_SHOWN_BYTES => format!("{}... ({} bytes)", printable(start), text.len()),
        _ => printable(text),
    }
}

/// Maximum number of names that a message lists.
const MAX_LISTED_NAMES: usize = 30;

/// Lists names for a message: up to [`MAX_LISTED_NAMES`], and the number of the others.
///
/// ```
/// use reptile_records::shown::listed;
/// assert_eq!(listed(["url", "id"].iter()), "url, id");
/// ```
pub fn listed(names: impl ExactSizeIterator<Item = impl std::fmt::Display>) -> String {
    let more = names.len().saturating_sub(MAX_LISTED_NAMES);
    let names: Vec<String> = names.take(MAX_LISTED_NAMES).map(|name| name.to_string()).collect();
    names.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut() {
        for (count, more) in [(MAX_LISTED_NAMES - 1, ""), (MAX_LISTED_NAMES, ""), (MAX_LISTED_NAMES + 1, " and 1 more")]
        {
            let list = listed(vec!["x"; count].into_iter());
            assert_eq!(
                (list.matches('x').count(), &list[list.rfind('x').unwrap_or(0) + 1..]),
                (count.min(MAX_LISTED_NAMES), more)
            );
        }
    }

    #[test]
    fn long_text_is_truncated_at_the_limit() {
        for (len, is_cut) in [(MAX_SHOWN_BYTES - 1, false), (MAX_SHOWN_BYTES, false), (MAX_SHOWN_BYTES + 1, true)] {
            let text = "x".repeat(len);
            let expected = if is_cut { format!("{}... ({len} bytes)", &text[1..]) } else { text.clone() };
            assert_eq!(shown(text.as_bytes()), expected);
        }
        assert_eq!(shown(b"\x1b[1m"), "\\u{1b}[1m");
    }
}
