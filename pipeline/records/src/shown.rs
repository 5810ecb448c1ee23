//! Text from inputs in messages: safe for a terminal, and never so long that it hides the message.

use crate::text::printable;

/// Bytes of a stranger's text that a message shows.
pub const MAX_SHOWN_BYTES: usize = 200;

/// The text as a message shows it: its first [`MAX_SHOWN_BYTES`], and how many bytes it has if it has more.
pub fn shown(text: &[u8]) -> String {
    match text.get(..MAX_SHOWN_BYTES) {
        Some(start) if text.len() > MAX_SHOWN_BYTES => format!("{}... ({} bytes)", printable(start), text.len()),
        _ => printable(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_at_the_limit() {
        for (len, is_cut) in [(MAX_SHOWN_BYTES - 1, false), (MAX_SHOWN_BYTES, false), (MAX_SHOWN_BYTES + 1, true)] {
            let text = "x".repeat(len);
            let expected = if is_cut { format!("{}... ({len} bytes)", &text[1..]) } else { text.clone() };
            assert_eq!(shown(text.as_bytes()), expected);
        }
        assert_eq!(shown(b"\x1b[1m"), "\\u{1b}[1m");
    }
}
