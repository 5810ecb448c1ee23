//! Diagnostics about lines that do not count, or are only partly read.
//!
//! [`Diagnostics`] counts all diagnostics but keeps only the first ones, so that a file with millions of such lines
//! takes no more memory than its rules would. The linter ([`crate::advice::lint`]) reports more.

use crate::limits::MAX_DIAGNOSTICS;

/// A diagnostic about a line that does not count, or is only partly read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The line, from 1.
    pub line: u32,
    /// The kind of diagnostic.
    pub kind: DiagnosticKind,
}

/// The kinds of diagnostics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// A line longer than the dialect keeps. The rest is dropped.
    LineTooLong,
    /// A NUL byte, which ends the line in some dialects.
    Nul,
    /// A rule before the first user-agent line or after the end of a group. It applies to no crawler.
    RuleOutsideGroup,
    /// A key that decides no URL: another directive, or a mistake.
    UnknownKey,
    /// Text without a separator between key and value.
    NoSeparator,
    /// A file longer than the dialect reads. The remaining lines are dropped.
    BodyCut,
    /// A file so long that the dialect treats it as empty.
    BodyIgnored,
    /// A rule that begins with neither `/` nor `*` in a dialect that requires it. It is left out.
    RuleStart,
    /// A rule with bytes that the dialect does not accept. It is left out.
    RuleBytes,
    /// A rule longer than the dialect accepts. It is left out.
    RuleTooLong,
    /// A rule beyond the number that the dialect accepts. It is left out.
    TooManyRules,
    /// Another directive that is too long to keep. It is left out.
    DirectiveTooLong,
    /// Another directive beyond the number that is kept. It is left out.
    TooManyDirectives,
    /// Lines about the use of pages that are over a limit. Every use is unknown.
    UsageOverLimit,
    /// A web page instead of a robots.txt. Lines that look like rules count nevertheless.
    Html,
}

impl DiagnosticKind {
    /// All kinds, in declaration order.
    pub const ALL: [DiagnosticKind; 15] = [
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
        DiagnosticKind::UsageOverLimit,
        DiagnosticKind::Html,
    ];

    /// Returns the text for reports.
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
            DiagnosticKind::UsageOverLimit => "lines about uses over a limit, so every use is unknown",
            DiagnosticKind::Html => "web page instead of a robots.txt",
        }
    }
}

/// A file's diagnostics: the first [`MAX_DIAGNOSTICS`], and a count for each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    counts: [u64; DiagnosticKind::ALL.len()],
}

impl Diagnostics {
    /// Counts a diagnostic, and keeps it unless the limit is reached.
    pub fn add(&mut self, diagnostic: Diagnostic) {
        self.counts[diagnostic.kind as usize] += 1;
        if self.kept.len() < MAX_DIAGNOSTICS {
            // All but one kind arrive in line order, and a web page has one for nearly every line.
            match self.kept.last() {
                Some(last) if last.line > diagnostic.line => {
                    let at = self.kept.partition_point(|kept| kept.line <= diagnostic.line);
                    self.kept.insert(at, diagnostic);
                }
                _ => self.kept.push(diagnostic),
            }
        }
    }

    /// Returns the file's first diagnostics, in line order.
    #[must_use]
    pub fn first(&self) -> &[Diagnostic] {
        &self.kept
    }

    /// Returns the number of diagnostics of one kind, kept or not.
    #[must_use]
    pub fn count(&self, kind: DiagnosticKind) -> u64 {
        self.counts[kind as usize]
    }

    /// Returns the kinds that occur in the file, each with its count.
    pub fn counts(&self) -> impl Iterator<Item = (DiagnosticKind, u64)> + '_ {
        DiagnosticKind::ALL.into_iter().zip(self.counts).filter(|&(_, count)| count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_diagnostics_are_counted_but_only_the_first_are_kept() {
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
    fn kinds_are_listed_in_declaration_order() {
        for (place, kind) in DiagnosticKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, place);
        }
    }
}
