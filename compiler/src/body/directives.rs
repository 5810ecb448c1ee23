//! Other directives: lines that decide no URL. Defines their kinds and values, and which ones count under a dialect.
//!
//! [`DirectiveReader`] selects the directives that a set stores. Each structured value also has its own parser, for
//! callers who need more than the text. The engine defines how a set stores them.

use core::time::Duration;

use reptile_engine::format::TooLarge;
use reptile_engine::format::directives::{
    Directive, DirectiveKind, DirectiveState, MAX_DIRECTIVE_BYTES, decimal_seconds,
};
use reptile_engine::url::split;

pub use super::directive_keys::kind_of;
use crate::body::{BodyFormat, DiagnosticKind, RawDirective, format};
use crate::dialect::{CrawlDelays, Dialect, Sitemaps};
use crate::limits::{MAX_CLEAN_PARAM_BYTES, MAX_DIRECTIVE_TEXT_BYTES, MAX_DIRECTIVES, MAX_OTHER_KEY_BYTES};

/// Returns whether the text before a colon can be an unknown key: up to [`MAX_OTHER_KEY_BYTES`] letters, digits, `-`
/// and `_`.
fn is_key(text: &[u8]) -> bool {
    let in_key = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-' || *byte == b'_';
    text.len() <= MAX_OTHER_KEY_BYTES && text.iter().all(in_key)
}

/// The limit that a file's lines about the use of pages exceed. Every use is then unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageOverLimit {
    /// The first line that is left out, or the first of the lines that are over the limit together.
    pub line: u32,
    /// The limit and the actual value.
    pub error: TooLarge,
}

/// Selects the other directives among the lines that are not rules.
///
/// A directive over a limit is left out entirely, with a diagnostic.
///
/// A line with an unknown key is a directive if the key looks like one and the file is not a web page. Lines are passed
/// one at a time, in order, so memory stays within the limits even for a file full of such lines.
pub struct DirectiveReader<'d, 'b> {
    dialect: &'d Dialect,
    /// Whether the body is a document with tags.
    has_tags: bool,
    directives: Vec<Directive<'b>>,
    /// Total bytes of values and unknown keys so far.
    bytes: usize,
    is_full: bool,
    usage_over_limit: Option<UsageOverLimit>,
    has_host: bool,
    /// The last group with a valid `Crawl-delay`.
    group_with_delay: Option<u32>,
}

impl<'d, 'b> DirectiveReader<'d, 'b> {
    /// Creates a reader for the lines of a body.
    #[must_use]
    pub fn new(dialect: &'d Dialect, body: &'b [u8]) -> DirectiveReader<'d, 'b> {
        DirectiveReader::of_document(dialect, format::document_of(body))
    }

    /// Creates a reader for the lines of a body that is this document.
    pub(crate) fn of_document(dialect: &'d Dialect, document: Option<BodyFormat>) -> DirectiveReader<'d, 'b> {
        DirectiveReader {
            dialect,
            has_tags: document.is_some_and(BodyFormat::has_tags),
            directives: Vec::new(),
            bytes: 0,
            is_full: false,
            usage_over_limit: None,
            has_host: false,
            group_with_delay: None,
        }
    }

    /// Adds the next line. Returns the reason if a limit excludes it.
    pub fn line(&mut self, line: RawDirective<'b>) -> Option<DiagnosticKind> {
        let RawDirective { group: part, key, value, line, kind, cut } = line;
        let kind = kind.unwrap_or_else(|| kind_of(key));
        if kind == DirectiveKind::Other && (self.has_tags || !is_key(key)) {
            return None;
        }
        let key = if kind == DirectiveKind::Other { key } else { b"" };
        let is_usage = matches!(kind, DirectiveKind::ContentUsage | DirectiveKind::ContentSignal);
        let mut leave_out = |what, limit: usize, found: usize| {
            if is_usage && self.usage_over_limit.is_none() {
                let error = TooLarge { what, limit: limit as u64, found: found as u64 };
                self.usage_over_limit = Some(UsageOverLimit { line, error });
            }
        };
        let too_long = match cut {
            Some(len) => Some((self.dialect.max_line_bytes, len)),
            None => (value.len() > MAX_DIRECTIVE_BYTES).then_some((MAX_DIRECTIVE_BYTES, value.len())),
        };
        if let Some((limit, found)) = too_long {
            leave_out("bytes in a line", limit, found);
            return Some(DiagnosticKind::DirectiveTooLong);
        }
        self.bytes += key.len() + value.len();
        self.is_full |= self.directives.len() == MAX_DIRECTIVES || self.bytes > MAX_DIRECTIVE_TEXT_BYTES;
        if self.is_full {
            if self.bytes > MAX_DIRECTIVE_TEXT_BYTES {
                leave_out("bytes in lines that are not rules", MAX_DIRECTIVE_TEXT_BYTES, self.bytes);
            } else {
                leave_out("lines that are not rules", MAX_DIRECTIVES, MAX_DIRECTIVES + 1);
            }
            return Some(DiagnosticKind::TooManyDirectives);
        }
        let is_for_all = matches!(kind, DirectiveKind::Sitemap | DirectiveKind::Host | DirectiveKind::CleanParam);
        let part = part.filter(|_| !is_for_all);
        let is_valid = self.is_valid(kind, value);
        let state = match is_valid {
            None => DirectiveState::NotRead,
            Some(false) => DirectiveState::Malformed,
            Some(true) if kind == DirectiveKind::CrawlDelay && part.is_none() => DirectiveState::Outside,
            // Lines arrive group by group, so it is enough to remember the last group with a delay.
            Some(true) if kind == DirectiveKind::CrawlDelay && self.group_with_delay == part => {
                DirectiveState::Superseded
            }
            Some(true) if kind == DirectiveKind::Host && self.has_host => DirectiveState::Superseded,
            Some(true) => DirectiveState::Counts,
        };
        self.has_host |= kind == DirectiveKind::Host && state == DirectiveState::Counts;
        if kind == DirectiveKind::CrawlDelay && state == DirectiveState::Counts {
            self.group_with_delay = part;
        }
        self.directives.push(Directive { kind, state, part, key, value, line });
        None
    }

    /// Returns whether a value is valid under the dialect, or `None` if the dialect does not read the directive.
    fn is_valid(&self, kind: DirectiveKind, value: &[u8]) -> Option<bool> {
        let read = self.dialect.other_directives;
        match kind {
            DirectiveKind::Sitemap => match read.sitemap {
                Sitemaps::NotRead => None,
                Sitemaps::Any => Some(!value.is_empty()),
                Sitemaps::Absolute => Some(is_sitemap(value)),
            },
            DirectiveKind::CrawlDelay => match read.crawl_delay {
                CrawlDelays::NotRead => None,
                CrawlDelays::Seconds => Some(crawl_delay(value).is_some()),
                CrawlDelays::WholeSeconds => {
                    Some(value.iter().all(u8::is_ascii_digit) && crawl_delay(value) > Some(Duration::ZERO))
                }
            },
            DirectiveKind::Host if read.host => Some(host(value).is_some()),
            DirectiveKind::CleanParam if read.clean_param => Some(CleanParam::parse(value).is_some()),
            _ => None,
        }
    }

    /// Returns the limit that left out a line about the use of pages, if one did. Then the others must not be relied on,
    /// because the missing line may disallow what they allow.
    #[must_use]
    pub fn usage_over_limit(&self) -> Option<&UsageOverLimit> {
        self.usage_over_limit.as_ref()
    }

    /// Returns the directives collected so far.
    #[must_use]
    pub fn finish(self) -> Vec<Directive<'b>> {
        self.directives
    }
}

/// Returns whether a value is one complete URL, as search engines require for a sitemap.
#[must_use]
pub fn is_sitemap(value: &[u8]) -> bool {
    split(value).is_ok() && !value.iter().any(u8::is_ascii_whitespace)
}

/// Parses seconds, with or without a fraction: `2`, `4.5`, `.5`. Digits after the ninth are dropped.
#[must_use]
pub fn crawl_delay(value: &[u8]) -> Option<Duration> {
    decimal_seconds(value)
}

/// Parses a 32-bit number that consists only of digits.
fn number(text: &[u8]) -> Option<u32> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Hours of the day in UTC, in minutes since midnight. The end may come before the start, for a night.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hours {
    /// The start.
    pub start: u32,
    /// The end.
    pub end: u32,
}

/// Parses two times of day, `HHMM-HHMM`, optionally with white space around or instead of the hyphen.
///
/// Source: actual use of the 1996 extensions; the mailing-list proposal leaves the format open.
#[must_use]
pub fn visit_time(value: &[u8]) -> Option<Hours> {
    let mut times = value.split(|byte| *byte == b'-' || byte.is_ascii_whitespace()).filter(|text| !text.is_empty());
    let minutes = |text: &[u8]| {
        let time = number(text).filter(|_| text.len() == 4)?;
        (time % 100 < 60 && time <= 2400).then_some(time / 100 * 60 + time % 100)
    };
    let hours = Hours { start: minutes(times.next()?)?, end: minutes(times.next()?)? };
    times.next().is_none().then_some(hours)
}

/// A document count per period, optionally limited to certain hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRate {
    /// The number of documents.
    pub documents: u32,
    /// The period in seconds.
    pub seconds: u32,
    /// The hours during which the rate applies, or `None` for any hour.
    pub hours: Option<Hours>,
}

/// Parses `documents/time`, in seconds or with a unit `s`, `m` or `h`, optionally followed by a [`visit_time`].
///
/// Source: the extensions proposed on the robots mailing list in October 1996.
#[must_use]
pub fn request_rate(value: &[u8]) -> Option<RequestRate> {
    let end = value.iter().position(u8::is_ascii_whitespace).unwrap_or(value.len());
    let (rate, rest) = (&value[..end], value[end..].trim_ascii());
    let slash = rate.iter().position(|&byte| byte == b'/')?;
    let (digits, unit) = match &rate[slash + 1..] {
        [digits @ .., b's' | b'S'] => (digits, 1),
        [digits @ .., b'm' | b'M'] => (digits, 60),
        [digits @ .., b'h' | b'H'] => (digits, 3600),
        digits => (digits, 1),
    };
    let (documents, seconds) = (number(&rate[..slash])?, number(digits)?.checked_mul(unit)?);
    let hours = if rest.is_empty() { None } else { Some(visit_time(rest)?) };
    (documents > 0 && seconds > 0).then_some(RequestRate { documents, seconds, hours })
}

/// Parses a host's name and port. The default port is 80.
///
/// The name has at least two labels, each with letters, digits and inner hyphens, and is not an IPv4 address. Source:
/// Yseed.
#[must_use]
pub fn host(value: &[u8]) -> Option<(&[u8], u16)> {
    let (name, port) = match value.iter().position(|&byte| byte == b':') {
        Some(colon) => (&value[..colon], u16::try_from(number(&value[colon + 1..])?).ok().filter(|&port| port > 0)?),
        None => (value, 80),
    };
    let is_label = |label: &[u8]| {
        let inside = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
        matches!(label, [first, .., last] if first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric())
            && label.iter().all(inside)
            || matches!(label, [only] if only.is_ascii_alphanumeric())
    };
    let labels = || name.split(|&byte| byte == b'.');
    let is_address = labels().count() == 4 && labels().all(|label| label.iter().all(u8::is_ascii_digit));
    (labels().count() > 1 && labels().all(is_label) && !is_address).then_some((name, port))
}

/// A `Clean-param` value, `name[&name...] [prefix]`; [`crate::advice::clean_param`] applies it to URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanParam<'v> {
    /// The parameter names. Letter case matters.
    pub names: Vec<&'v [u8]>,
    /// The path prefix, where each `*` is a wildcard. Empty for all paths.
    pub prefix: &'v [u8],
}

impl<'v> CleanParam<'v> {
    /// Parses a value.
    ///
    /// Returns `None` if it is longer than [`MAX_CLEAN_PARAM_BYTES`], names no parameter, has a third word, or has a
    /// prefix with bytes other than letters, digits and `.-/*_`.
    #[must_use]
    pub fn parse(value: &'v [u8]) -> Option<CleanParam<'v>> {
        if value.len() > MAX_CLEAN_PARAM_BYTES {
            return None;
        }
        let mut words = value.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
        let (names, prefix) = (words.next()?, words.next().unwrap_or_default());
        let names: Vec<&[u8]> = names.split(|&byte| byte == b'&').filter(|name| !name.is_empty()).collect();
        let in_prefix = |byte: &u8| byte.is_ascii_alphanumeric() || b".-/*_".contains(byte);
        let fits = words.next().is_none() && !names.is_empty() && prefix.iter().all(in_prefix);
        fits.then_some(CleanParam { names, prefix })
    }
}

/// Parses the signals in a `Content-Signal` value, each with whether it is `yes`: `search=yes, ai-train=no`.
///
/// Returns `None` if any signal is neither `yes` nor `no`. Names that the policy does not define count as signals.
///
/// Source: contentsignals.org.
#[must_use]
pub fn content_signal(value: &[u8]) -> Option<Vec<(&[u8], bool)>> {
    let signal = |text: &'_ [u8]| -> Option<(usize, bool)> {
        let equals = text.iter().position(|&byte| byte == b'=')?;
        match text[equals + 1..].trim_ascii() {
            answer if answer.eq_ignore_ascii_case(b"yes") => Some((equals, true)),
            answer if answer.eq_ignore_ascii_case(b"no") => Some((equals, false)),
            _ => None,
        }
    };
    let signals = value.split(|&byte| byte == b',').map(|text| {
        let (equals, answer) = signal(text)?;
        Some((text[..equals].trim_ascii(), answer)).filter(|(name, _)| !name.is_empty())
    });
    signals.collect()
}

/// Parses the optional path and the preference statement of a `Content-Usage` value: `/ai-ok/ train-ai=y`.
///
/// The statement is a dictionary as in RFC 9651, and is returned unparsed; [`Statement`](crate::usage::Statement) parses
/// it. A statement may be empty.
///
/// Source: draft-ietf-aipref-attach, section 3.2.
#[must_use]
pub fn content_usage(value: &[u8]) -> (Option<&[u8]>, &[u8]) {
    if !value.starts_with(b"/") {
        return (None, value);
    }
    let end = value.iter().position(|&byte| byte == b' ' || byte == b'\t').unwrap_or(value.len());
    (Some(&value[..end]), value[end..].trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_param_values_over_the_limit_are_malformed() {
        for (len, fits) in
            [(MAX_CLEAN_PARAM_BYTES - 1, true), (MAX_CLEAN_PARAM_BYTES, true), (MAX_CLEAN_PARAM_BYTES + 1, false)]
        {
            assert_eq!(CleanParam::parse(&vec![b'a'; len]).is_some(), fits, "{len}");
        }
    }
}
