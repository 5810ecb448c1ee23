//! Styles of text: characters that stand for them inside this program, and what a terminal takes for them.
//!
//! The characters are noncharacters of Unicode, which no text has. A stranger's text that has them nevertheless shows them
//! escaped, so that nobody but this program chooses a style. [`super::terminal`] replaces them, or takes them away.

use reptile::Verdict;

/// A style of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// What is allowed, or as it should be.
    Good,
    /// What is disallowed, or was removed.
    Bad,
    /// What is unknown or invalid.
    Doubtful,
    /// The beginning of an error.
    Error,
}

/// The end of every style.
const END: char = '\u{FDD0}';

/// The characters, and what a terminal takes for them.
const MARKS: [(char, &str); 5] = [
    (END, "\x1b[0m"),
    ('\u{FDD1}', "\x1b[32m"),
    ('\u{FDD2}', "\x1b[31m"),
    ('\u{FDD3}', "\x1b[33m"),
    ('\u{FDD4}', "\x1b[1;31m"),
];

impl Style {
    /// The text in this style.
    pub fn of(self, text: &str) -> String {
        let begin = match self {
            Style::Good => '\u{FDD1}',
            Style::Bad => '\u{FDD2}',
            Style::Doubtful => '\u{FDD3}',
            Style::Error => '\u{FDD4}',
        };
        format!("{begin}{text}{END}")
    }

    /// The style of a verdict.
    pub fn of_verdict(verdict: Verdict) -> Style {
        match verdict {
            Verdict::Allow => Style::Good,
            Verdict::Disallow => Style::Bad,
            Verdict::Unknown | Verdict::Invalid => Style::Doubtful,
        }
    }
}

/// What a terminal takes for a character that stands for a style.
pub fn style_of(character: char) -> Option<&'static str> {
    MARKS.iter().find(|(mark, _)| *mark == character).map(|(_, style)| *style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use reptile_records::text::{MARKS as RESERVED, printable};

    /// Returns whether a character stands for a style.
    fn is_mark(character: char) -> bool {
        style_of(character).is_some()
    }

    #[test]
    fn text_from_files_escapes_every_mark() {
        assert!(MARKS.iter().all(|(mark, _)| RESERVED.contains(mark)));
    }

    #[test]
    fn nobody_else_chooses_a_style() {
        for style in [Style::Good, Style::Bad, Style::Doubtful, Style::Error] {
            let text = style.of("x");
            assert_eq!(text.chars().filter(|&c| is_mark(c)).count(), 2);
            assert_eq!(printable(text.as_bytes()).chars().find(|&c| is_mark(c)), None);
        }
    }
}
