//! Other directives: which lines it is, what their values mean, and which of them count under a dialect.
//!
//! [`DirectiveReader`] turns the other lines of a file into what a set keeps. The values that have a form are read by a function
//! each, for whoever wants more than the text; `Clean-param` is in [`crate::advice::clean_param`]. Knows no bytes of the set.

use core::time::Duration;

use reptile_engine::format::directives::{
    Directive, DirectiveKind, DirectiveState, MAX_DIRECTIVE_BYTES, decimal_seconds,
};
use reptile_engine::url::split;

use crate::advice::clean_param::CleanParam;
use crate::body::{Diagnostic, DiagnosticKind, RawDirective};
use crate::dialect::{CrawlDelays, Dialect, Sitemaps};
use crate::limits::{MAX_DIRECTIVE_TEXT_BYTES, MAX_DIRECTIVES, MAX_OTHER_KEY_BYTES};

/// What a line with this key is about. Names are compared in any letter case and as a whole.
#[must_use]
pub fn kind_of(key: &[u8]) -> DirectiveKind {
    let named =
        |kind: &DirectiveKind| *kind != DirectiveKind::Other && key.eq_ignore_ascii_case(kind.name().as_bytes());
    DirectiveKind::ALL.into_iter().find(named).unwrap_or(DirectiveKind::Other)
}

/// Whether text in front of a colon can be a key that we do not know: letters, digits, `-` and `_`, not too many.
fn is_key(text: &[u8]) -> bool {
    let in_key = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-' || *byte == b'_';
    text.len() <= MAX_OTHER_KEY_BYTES && text.iter().all(in_key)
}

/// Picks the other directives out of the lines that are no rules. What is over a limit is left out as a whole, and noted.
///
/// A line with an unknown key is other directives if the key looks like one and the file is no web page. Takes one line after
/// the other, in their order, so that of a file full of such lines no more is kept than counts.
pub struct DirectiveReader<'d, 'b> {
    dialect: &'d Dialect,
    is_html: bool,
    fields: Vec<Directive<'b>>,
    /// Of the values and unknown keys so far.
    bytes: usize,
    is_full: bool,
    has_host: bool,
    /// The last part that has a delay.
    has_delay: Option<u32>,
}

impl<'d, 'b> DirectiveReader<'d, 'b> {
    /// A reader that has seen no line yet of a file, which may be a web page.
    #[must_use]
    pub fn new(dialect: &'d Dialect, is_html: bool) -> DirectiveReader<'d, 'b> {
        DirectiveReader {
            dialect,
            is_html,
            fields: Vec::new(),
            bytes: 0,
            is_full: false,
            has_host: false,
            has_delay: None,
        }
    }

    /// Takes the next line. Returns why it is left out, if it is and has to be noted.
    pub fn line(&mut self, line: RawDirective<'b>) -> Option<Diagnostic> {
        let RawDirective { part, key, value, line, is_sitemap } = line;
        let kind = if is_sitemap { DirectiveKind::Sitemap } else { kind_of(key) };
        if kind == DirectiveKind::Other && (self.is_html || !is_key(key)) {
            return None;
        }
        let key = if kind == DirectiveKind::Other { key } else { b"" };
        if value.len() > MAX_DIRECTIVE_BYTES {
            return Some(Diagnostic { line, kind: DiagnosticKind::DirectiveTooLong });
        }
        self.bytes += key.len() + value.len();
        self.is_full |= self.fields.len() == MAX_DIRECTIVES || self.bytes > MAX_DIRECTIVE_TEXT_BYTES;
        if self.is_full {
            return Some(Diagnostic { line, kind: DiagnosticKind::TooManyDirectives });
        }
        let is_for_all = matches!(kind, DirectiveKind::Sitemap | DirectiveKind::Host | DirectiveKind::CleanParam);
        let part = part.filter(|_| !is_for_all);
        let is_good = match (kind, self.dialect.other_directives) {
            (DirectiveKind::Sitemap, side) => match side.sitemap {
                Sitemaps::NotRead => None,
                Sitemaps::Any => Some(!value.is_empty()),
                Sitemaps::Absolute => Some(split(value).is_ok()),
            },
            (DirectiveKind::CrawlDelay, side) => match side.crawl_delay {
                CrawlDelays::NotRead => None,
                CrawlDelays::Seconds => Some(crawl_delay(value).is_some()),
                CrawlDelays::WholeSeconds => {
                    Some(value.iter().all(u8::is_ascii_digit) && crawl_delay(value) > Some(Duration::ZERO))
                }
            },
            (DirectiveKind::Host, side) if side.host => Some(host(value).is_some()),
            (DirectiveKind::CleanParam, side) if side.clean_param => Some(CleanParam::parse(value).is_some()),
            _ => None,
        };
        let state = match is_good {
            None => DirectiveState::NotRead,
            Some(false) => DirectiveState::Malformed,
            Some(true) if kind == DirectiveKind::CrawlDelay && part.is_none() => DirectiveState::Outside,
            // Parts come one after the other, so the last one is enough to know.
            Some(true) if kind == DirectiveKind::CrawlDelay && self.has_delay == part => DirectiveState::Superseded,
            Some(true) if kind == DirectiveKind::Host && self.has_host => DirectiveState::Superseded,
            Some(true) => DirectiveState::Counts,
        };
        self.has_host |= kind == DirectiveKind::Host && state == DirectiveState::Counts;
        if kind == DirectiveKind::CrawlDelay && state == DirectiveState::Counts {
            self.has_delay = part;
        }
        self.fields.push(Directive { kind, state, part, key, value, line });
        None
    }

    /// The other directives of the lines so far.
    #[must_use]
    pub fn finish(self) -> Vec<Directive<'b>> {
        self.fields
    }
}

/// Seconds, with a fraction or without: `2`, `4.5`, `.5`. What is finer than a nanosecond is cut.
#[must_use]
pub fn crawl_delay(value: &[u8]) -> Option<Duration> {
    decimal_seconds(value)
}

/// A number of 32 bits in digits alone.
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

/// Two times of day, `HHMM-HHMM`, also with white space around the hyphen or instead of it.
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

/// So many documents in so many seconds, perhaps at some hours only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRate {
    /// How many documents.
    pub documents: u32,
    /// In how many seconds.
    pub seconds: u32,
    /// When; at any hour without.
    pub hours: Option<Hours>,
}

/// `documents/time`, in seconds or with one of the units `s`, `m` and `h`, and perhaps [`visit_time`] behind.
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

/// A host's name and port; 80 if there is none.
///
/// The name is of two labels or more, of letters, digits and inner hyphens, and is no IPv4 address. Source: Yseed.
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

/// The signals of a `Content-Signal` value, each with whether it is `yes`: `search=yes, ai-train=no`. `None` if any of
/// them is neither `yes` nor `no`. Names that are not in the policy are signals too.
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

/// The path and the statement of preference of a `Content-Usage` value: `/ai-ok/ train-ai=y`; for all paths if there
/// is none. `None` without a statement. The statement is a dictionary of RFC 9651, and left as it is.
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
