//! Diagnostics: what there is to know about lines that do not count, or are read in part.
//!
//! [`Diagnostics`] counts all of a file and keeps the first ones, so that a file of millions of such lines takes no
//! more memory than its rules would. The linter, which has more to say, is [`crate::advice::lint`].

use crate::limits::MAX_DIAGNOSTICS;

/// Something to know about a line that does not count, or is read in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The line, from 1.
    pub line: u32,
    /// What there is to know.
    pub kind: DiagnosticKind,
}

/// The kinds of diagnostics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// Longer than the dialect keeps; the rest was dropped.
    LineTooLong,
    /// A NUL byte, which ends the line in some dialects.
    Nul,
    /// A rule before the first user-agent line, or after the end of a group; it counts for nobody.
    RuleOutsideGroup,
    /// A key other than those that decide URLs; other directives, or a mistake.
    UnknownKey,
    /// Text without a separator between key and value.
    NoSeparator,
    /// A file longer than the dialect reads; the lines after that were dropped.
    BodyCut,
    /// A file so long that the dialect treats it as empty.
    BodyIgnored,
    /// A rule that begins with neither `/` nor `*`, in a dialect where it must; it was left out.
    RuleStart,
    /// A rule with bytes that the dialect does not accept in one; it was left out.
    RuleBytes,
    /// A rule longer than the dialect takes; it was left out.
    RuleTooLong,
    /// A rule after as many as the dialect takes; it was left out.
    TooManyRules,
    /// Another directive with more bytes than are kept; it was left out.
    DirectiveTooLong,
    /// Another directive after as many as are kept; it was left out.
    TooManyDirectives,
    /// The file is a web page and not a robots.txt; what looks like a rule in it counts nevertheless.
    Html,
}

impl DiagnosticKind {
    /// All kinds, in their order.
    pub const ALL: [DiagnosticKind; 14] = [
        DiagnosticKind::LineTooLong,
        DiagnosticKind::Nul,
        DiagnosticKind::RuleOutsideGroup,
        DiagnosticKind::UnknownKey,
        DiagnosticKind::NoSeparator,
        DiagnosticKind::BodyCut,
        DiagnosticKind::BodyIgnored,
        DiagnosticKind::RuleStart,
        DiagnosticKind::RuleBytes,
        DiagnosticKind::RuleTooLong,
        DiagnosticKind::TooManyRules,
        DiagnosticKind::DirectiveTooLong,
        DiagnosticKind::TooManyDirectives,
        DiagnosticKind::Html,
    ];

    /// The words for it in reports.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            DiagnosticKind::LineTooLong => "line too long, its end was dropped",
            DiagnosticKind::Nul => "NUL byte inside a line",
            DiagnosticKind::RuleOutsideGroup => "rule that is in no group",
            DiagnosticKind::UnknownKey => "key that decides nothing",
            DiagnosticKind::NoSeparator => "line without a separator",
            DiagnosticKind::BodyCut => "file too long, its end was dropped",
            DiagnosticKind::BodyIgnored => "file too long, treated as empty",
            DiagnosticKind::RuleStart => "rule that does not begin with \"/\" or \"*\", left out",
            DiagnosticKind::RuleBytes => "rule with bytes that the dialect does not accept, left out",
            DiagnosticKind::RuleTooLong => "rule too long, left out",
            DiagnosticKind::TooManyRules => "rule after the last that counts, left out",
            DiagnosticKind::DirectiveTooLong => "other directive too long, left out",
            DiagnosticKind::TooManyDirectives => "other directive after the last that is kept, left out",
            DiagnosticKind::Html => "web page instead of a robots.txt",
        }
    }
}

/// The diagnostics of a file: the first [`MAX_DIAGNOSTICS`], and the number of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    counts: Box<[u64; DiagnosticKind::ALL.len()]>,
}

impl Diagnostics {
    /// Counts a diagnostic, and keeps it if there are not too many already.
    pub fn add(&mut self, diagnostic: Diagnostic) {
        self.counts[diagnostic.kind as usize] += 1;
        if self.kept.len() < MAX_DIAGNOSTICS {
            self.kept.push(diagnostic);
        }
    }

    /// The first diagnostics of the file, in the order of their lines.
    #[must_use]
    pub fn first(&self) -> &[Diagnostic] {
        &self.kept
    }

    /// The number of diagnostics of one kind, whether they are kept or not.
    #[must_use]
    pub fn count(&self, kind: DiagnosticKind) -> u64 {
        self.counts[kind as usize]
    }

    /// The kinds that the file has, each with its number of diagnostics.
    pub fn counts(&self) -> impl Iterator<Item = (DiagnosticKind, u64)> + '_ {
        DiagnosticKind::ALL.into_iter().zip(*self.counts).filter(|&(_, count)| count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_counted_and_the_first_are_kept() {
        for count in [MAX_DIAGNOSTICS - 1, MAX_DIAGNOSTICS, MAX_DIAGNOSTICS + 1, 3 * MAX_DIAGNOSTICS] {
            let mut diagnostics = Diagnostics::default();
            for line in 1..=count as u32 {
                diagnostics.add(Diagnostic { line, kind: DiagnosticKind::NoSeparator });
            }
            assert_eq!(diagnostics.first().len(), count.min(MAX_DIAGNOSTICS));
            assert!(diagnostics.first().iter().zip(1..).all(|(diagnostic, line)| diagnostic.line == line));
            assert_eq!(diagnostics.counts().collect::<Vec<_>>(), [(DiagnosticKind::NoSeparator, count as u64)]);
        }
    }

    #[test]
    fn the_number_of_a_kind_is_its_place() {
        for (place, kind) in DiagnosticKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, place);
        }
    }
}
