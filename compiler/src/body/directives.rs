//! Other directives, the lines that decide no URL: their kinds, their values, and which of them count under a dialect.
//!
//! [`DirectiveReader`] turns the other lines of a file into the directives that a set keeps. Values that have a form are
//! read by a function each, for callers who want more than the text. How a set stores them is the engine's matter.

use core::time::Duration;

use reptile_engine::format::directives::{
    Directive, DirectiveKind, DirectiveState, MAX_DIRECTIVE_BYTES, decimal_seconds,
};
use reptile_engine::url::split;

use crate::body::{DiagnosticKind, RawDirective};
use crate::dialect::{CrawlDelays, Dialect, Sitemaps};
use crate::limits::{MAX_CLEAN_PARAM_BYTES, MAX_DIRECTIVE_TEXT_BYTES, MAX_DIRECTIVES, MAX_OTHER_KEY_BYTES};

/// The kind of directive that a key names. Keys are compared in any letter case and as a whole. Comments are not keys: no
/// key names a managed block.
#[must_use]
pub fn kind_of(key: &[u8]) -> DirectiveKind {
    let has_key = |kind: &DirectiveKind| {
        !matches!(kind, DirectiveKind::Other | DirectiveKind::ManagedBegin | DirectiveKind::ManagedEnd)
    };
    let named = |kind: &DirectiveKind| has_key(kind) && key.eq_ignore_ascii_case(kind.as_str().as_bytes());
    DirectiveKind::ALL.into_iter().find(named).unwrap_or(DirectiveKind::Other)
}

/// Whether the text before a colon can be an unknown key: up to [`MAX_OTHER_KEY_BYTES`] letters, digits, `-` and `_`.
fn is_key(text: &[u8]) -> bool {
    let in_key = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-' || *byte == b'_';
    text.len() <= MAX_OTHER_KEY_BYTES && text.iter().all(in_key)
}

/// Picks the other directives out of the lines that are not rules. A directive over a limit is left out as a whole, with a
/// diagnostic.
///
/// A line with an unknown key is a directive if the key looks like one and the file is not a web page. Takes the lines one
/// by one, in their order, so that of a file full of such lines no more is kept than the limits allow.
pub struct DirectiveReader<'d, 'b> {
    dialect: &'d Dialect,
    is_html: bool,
    directives: Vec<Directive<'b>>,
    /// Bytes of the values and unknown keys so far.
    bytes: usize,
    is_full: bool,
    has_host: bool,
    /// The last group that has a valid `Crawl-delay`.
    group_with_delay: Option<u32>,
}

impl<'d, 'b> DirectiveReader<'d, 'b> {
    /// A reader before the first line of a file; `is_html` says whether the file is a web page.
    #[must_use]
    pub fn new(dialect: &'d Dialect, is_html: bool) -> DirectiveReader<'d, 'b> {
        DirectiveReader {
            dialect,
            is_html,
            directives: Vec::new(),
            bytes: 0,
            is_full: false,
            has_host: false,
            group_with_delay: None,
        }
    }

    /// Takes the next line. Returns why, if a limit leaves it out.
    pub fn line(&mut self, line: RawDirective<'b>) -> Option<DiagnosticKind> {
        let RawDirective { group: part, key, value, line, kind } = line;
        let kind = kind.unwrap_or_else(|| kind_of(key));
        if kind == DirectiveKind::Other && (self.is_html || !is_key(key)) {
            return None;
        }
        let key = if kind == DirectiveKind::Other { key } else { b"" };
        if value.len() > MAX_DIRECTIVE_BYTES {
            return Some(DiagnosticKind::DirectiveTooLong);
        }
        self.bytes += key.len() + value.len();
        self.is_full |= self.directives.len() == MAX_DIRECTIVES || self.bytes > MAX_DIRECTIVE_TEXT_BYTES;
        if self.is_full {
            return Some(DiagnosticKind::TooManyDirectives);
        }
        let is_for_all = matches!(kind, DirectiveKind::Sitemap | DirectiveKind::Host | DirectiveKind::CleanParam);
        let part = part.filter(|_| !is_for_all);
        let is_valid = self.is_valid(kind, value);
        let state = match is_valid {
            None => DirectiveState::NotRead,
            Some(false) => DirectiveState::Malformed,
            Some(true) if kind == DirectiveKind::CrawlDelay && part.is_none() => DirectiveState::Outside,
            // Lines come group by group, so that the last group with a delay is enough to know.
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

    /// Whether a value is valid under the dialect; `None` if the dialect does not read the directive.
    fn is_valid(&self, kind: DirectiveKind, value: &[u8]) -> Option<bool> {
        let read = self.dialect.other_directives;
        match kind {
            DirectiveKind::Sitemap => match read.sitemap {
                Sitemaps::NotRead => None,
                Sitemaps::Any => Some(!value.is_empty()),
                Sitemaps::Absolute => Some(split(value).is_ok()),
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

    /// The directives of the lines so far.
    #[must_use]
    pub fn finish(self) -> Vec<Directive<'b>> {
        self.directives
    }
}

/// Reads seconds, with or without a fraction: `2`, `4.5`, `.5`. Digits after the ninth are cut.
#[must_use]
pub fn crawl_delay(value: &[u8]) -> Option<Duration> {
    decimal_seconds(value)
}

/// Reads a number of 32 bits that has digits only.
fn number(text: &[u8]) -> Option<u32> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Hours of the day in UTC, as minutes from midnight; the end may be before the beginning, for a night.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hours {
    /// When they begin.
    pub start: u32,
    /// When they end.
    pub end: u32,
}

/// Reads two times of day, `HHMM-HHMM`, also with white space around the hyphen or instead of it.
///
/// Source: the extensions of 1996 as they are used; the list message that proposes them leaves the format open.
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

/// A number of documents in a number of seconds, perhaps at some hours only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRate {
    /// How many documents.
    pub documents: u32,
    /// In how many seconds.
    pub seconds: u32,
    /// When; at any hour without.
    pub hours: Option<Hours>,
}

/// Reads `documents/time`, in seconds or with one of the units `s`, `m` and `h`, and perhaps a [`visit_time`] after it.
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

/// Reads the name and port of a host; the port is 80 unless the value names one.
///
/// The name has two labels or more, of letters, digits and inner hyphens, and is not an IPv4 address. Source: Yseed.
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
    /// The names of parameters. Letter case matters.
    pub names: Vec<&'v [u8]>,
    /// What the path must begin with, where each `*` is a wildcard. Empty for all paths.
    pub prefix: &'v [u8],
}

impl<'v> CleanParam<'v> {
    /// Reads a value. `None` if it is longer than [`MAX_CLEAN_PARAM_BYTES`], names no parameter, has a third word, or
    /// a prefix with other bytes than letters, digits and `.-/*_`.
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

/// Reads the signals of a `Content-Signal` value, each with whether it is `yes`: `search=yes, ai-train=no`.
///
/// `None` if any of them is neither `yes` nor `no`. Names that are not in the policy are signals too.
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

/// Reads the path, if any, and the statement of preference of a `Content-Usage` value: `/ai-ok/ train-ai=y`.
///
/// `None` without a statement. The statement is a dictionary of RFC 9651, and stays as it is.
///
/// Source: draft-ietf-aipref-attach, "Processing Content-Usage Rules".
#[must_use]
pub fn content_usage(value: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    if !value.starts_with(b"/") {
        return (!value.is_empty()).then_some((None, value));
    }
    let end = value.iter().position(|&byte| byte == b' ' || byte == b'\t')?;
    Some((Some(&value[..end]), value[end..].trim_ascii())).filter(|(_, statement)| !statement.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_a_value_holds_at_its_edges() {
        for (len, fits) in
            [(MAX_CLEAN_PARAM_BYTES - 1, true), (MAX_CLEAN_PARAM_BYTES, true), (MAX_CLEAN_PARAM_BYTES + 1, false)]
        {
            assert_eq!(CleanParam::parse(&vec![b'a'; len]).is_some(), fits, "{len}");
        }
    }
}
