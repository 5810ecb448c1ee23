//! Text aligned in the cells of a terminal.

use unicode_width::UnicodeWidthStr;

/// Returns a text's width in terminal cells: 2 for each East Asian wide character, 0 for each combining mark.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Returns a text padded with spaces to at least `cells` terminal cells. A wider text does not change.
pub fn pad(text: &str, cells: usize) -> String {
    let mut padded = text.to_owned();
    padded.extend(std::iter::repeat_n(' ', cells.saturating_sub(width(text))));
    padded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_a_terminal_shows_them() {
        for (text, cells) in [("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("ｱ", 1), ("a日", 3)] {
            assert_eq!(width(text), cells, "{text}");
            assert_eq!(pad(text, 5), format!("{text}{}", " ".repeat(5 - cells)), "{text}");
            assert_eq!(pad(text, cells.saturating_sub(1)), text);
        }
    }
}
