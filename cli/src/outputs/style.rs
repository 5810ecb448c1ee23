//! Text styles: the internal marker characters, and the terminal sequences that replace them.
//!
//! The markers are Unicode noncharacters, which normal text does not contain. If untrusted text contains them, they are
//! escaped, so only this program chooses styles. [`super::terminal`] replaces or removes the markers.

use reptile::Verdict;

/// A text style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Allowed or good.
    Good,
    /// Disallowed or removed.
    Bad,
    /// Unknown or invalid.
    Doubtful,
    /// The prefix of an error message.
    Error,
}

/// The marker that ends every style.
const END: char = '\u{FDD0}';

/// The markers and their terminal sequences.
const MARKS: [(char, &str); 5] = [
    (END, "\x1b[0m"),
    ('\u{FDD1}', "\x1b[32m"),
    ('\u{FDD2}', "\x1b[31m"),
    ('\u{FDD3}', "\x1b[33m"),
    ('\u{FDD4}', "\x1b[1;31m"),
];

impl Style {
    /// Returns the text in this style.
    pub fn of(self, text: &str) -> String {
        let begin = match self {
            Style::Good => '\u{FDD1}',
            Style::Bad => '\u{FDD2}',
            Style::Doubtful => '\u{FDD3}',
            Style::Error => '\u{FDD4}',
        };
        format!("{begin}{text}{END}")
    }

    /// Returns a verdict's style.
    pub fn of_verdict(verdict: Verdict) -> Style {
        match verdict {
            Verdict::Allow => Style::Good,
            Verdict::Disallow => Style::Bad,
            Verdict::Unknown | Verdict::Invalid => Style::Doubtful,
        }
    }
}

/// Returns a style marker's terminal sequence.
pub fn style_of(character: char) -> Option<&'static str> {
    MARKS.iter().find(|(mark, _)| *mark == character).map(|(_, style)| *style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use reptile_records::text::{MARKS as RESERVED, printable};

    /// Returns whether a character is a style marker.
    fn is_mark(character: char) -> bool {
        style_of(character).is_some()
    }

    #[test]
    fn text_from_files_escapes_every_mark() {
        assert!(MARKS.iter().all(|(mark, _)| RESERVED.contains(mark)));
    }

    #[test]
    fn untrusted_text_cannot_choose_styles() {
        for style in [Style::Good, Style::Bad, Style::Doubtful, Style::Error] {
            let text = style.of("x");
            assert_eq!(text.chars().filter(|&c| is_mark(c)).count(), 2);
            assert_eq!(printable(text.as_bytes()).chars().find(|&c| is_mark(c)), None);
        }
    }
}
