//! Text from the file or a URL as the answers show it.

use reptile_records::text::printable;

/// Maximum number of characters shown from a file's line or a URL without `--full`.
const MAX_SHOWN: usize = 200;

/// Returns a file's line or a URL for output: safe for a terminal, and cut unless `full` is given.
pub fn shown(text: &[u8], full: bool) -> String {
    // A character has at most four bytes, so the cut part would not be shown anyway.
    let start = if full { text } else { &text[..text.len().min(MAX_SHOWN * 4 + 4)] };
    let text = printable(start);
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) if !full => format!("{}...", &text[..end]),
        _ => text,
    }
}
