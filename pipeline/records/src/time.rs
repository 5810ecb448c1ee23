//! Fetch and visit times as people, programs and archives write them, and the zone for times without one.
//!
//! [`WrittenTime::parse`] reads a text and needs no zone; [`WrittenTime::in_zone`] turns the result into an instant.
//! `cli/guide/compile.md` lists the forms for users.
//!
//! ```
//! use reptile_records::time::{WrittenTime, Zone, read_time, show_time};
//!
//! // A time with a zone is an instant. A time without one depends on the zone.
//! let zone = Zone::of_name("+02:00")?;
//! assert_eq!(show_time(read_time("2026-03-14T15:09:26Z", &zone)?), "2026-03-14T15:09:26Z");
//! assert_eq!(show_time(read_time("2026-03-14 15:09:26", &zone)?), "2026-03-14T13:09:26Z");
//!
//! let written = WrittenTime::parse("20260314150926")?;
//! assert_eq!(show_time(written.in_zone(&Zone::default())?), "2026-03-14T15:09:26Z");
//! assert!(WrittenTime::parse("yesterday").is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::time::SystemTime;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::{Offset, TimeZone};
use reptile::capture::Time;
use reptile::limits::{MAX_TIME, MIN_TIME};

use super::shown::shown;

/// Maximum length of a written time in bytes. All forms are shorter, apart from meaningless fractions.
pub(crate) const MAX_TIME_BYTES: usize = 64;

/// The last year for 12-digit dates. Larger numbers would be milliseconds from 1976 to 2001.
const LAST_YEAR_OF_12_DIGITS: i16 = 2199;

/// The zone for times without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Default for Zone {
    fn default() -> Zone {
        Zone(TimeZone::UTC)
    }
}

impl Zone {
    /// Returns the zone with this name: UTC, an offset, or a name in the system's time zone database.
    ///
    /// # Errors
    /// Returns an error if the system does not know the zone.
    pub fn of_name(name: &str) -> Result<Zone, String> {
        if let Some(offset) = offset_of(name.as_bytes()) {
            return Ok(Zone(TimeZone::fixed(offset)));
        }
        let zone = TimeZone::get(name).ok().filter(|zone| !zone.is_unknown());
        zone.map(Zone).ok_or_else(|| {
            "expected UTC, an offset such as +02:00, or a name in this system's time zone database, such as Europe/Berlin"
                .to_owned()
        })
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.iana_name(), self.0.to_fixed_offset()) {
            (Some(name), _) => f.write_str(name),
            (None, Ok(Offset::UTC)) => f.write_str("UTC"),
            (None, Ok(offset)) => write!(f, "{offset}"),
            (None, Err(_)) => f.write_str("unknown"),
        }
    }
}

/// A time as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenTime {
    /// An instant: the text has a zone, or counts from 1970.
    Instant(Time),
    /// A local date and time, which only a zone turns into an instant.
    Local(DateTime),
}

impl WrittenTime {
    /// Parses a time, ignoring surrounding spaces. Time: linear in at most [`MAX_TIME_BYTES`].
    ///
    /// # Errors
    /// Returns an error if the text has no known form, or if the time is outside the range of a set.
    pub fn parse(text: &str) -> Result<WrittenTime, String> {
        let trimmed = text.trim_ascii();
        let written = Some(trimmed.as_bytes()).filter(|bytes| bytes.len() <= MAX_TIME_BYTES).and_then(written);
        let Some(written) = written else { return Err(not_a_time(trimmed)) };
        if let WrittenTime::Instant(time) = written {
            in_range(time)?;
        }
        Ok(written)
    }

    /// Returns the instant. A local time is in `zone`.
    ///
    /// # Errors
    /// Returns an error if a clock change skips or repeats the local time, or if it is outside the range of a set.
    pub fn in_zone(self, zone: &Zone) -> Result<Time, String> {
        let time = match self {
            WrittenTime::Instant(time) => time,
            WrittenTime::Local(time) => {
                let instant = zone.0.to_ambiguous_timestamp(time);
                if instant.is_ambiguous() {
                    let message = "is skipped or repeated when the clocks change; give times with offsets";
                    return Err(format!("expected one instant, found {time}, which in {zone} {message}"));
                }
                let instant = instant.unambiguous();
                instant.map_err(|_| format!("expected a time in the years 1 to 9999, found {time}"))?.as_second()
            }
        };
        in_range(time)
    }
}

/// Parses a time. `zone` is used for a text without a zone.
///
/// # Errors
/// Returns the errors of [`WrittenTime::parse`] and [`WrittenTime::in_zone`].
pub fn read_time(text: &str, zone: &Zone) -> Result<Time, String> {
    WrittenTime::parse(text)?.in_zone(zone)
}

/// Returns the error message for a text that is not a time.
fn not_a_time(text: &str) -> String {
    let found = format!("expected a time such as 2026-03-14T15:09:26Z, found \"{}\"", shown(text.as_bytes()));
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.".contains(&byte));
    if !is_number || text.contains("..") || text.matches('-').count() > 1 {
        return found;
    }
    found
        + ": digits are a date (4, 6, 8, 12, 14) or count from 1970 (10: s, 13: ms, 16: us, 19: ns); @ makes it seconds"
}

/// Parses a time in any form.
fn written(text: &[u8]) -> Option<WrittenTime> {
    match text {
        [b'@', seconds @ ..] => {
            let digits = seconds.strip_prefix(b"-").unwrap_or(seconds);
            let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
            str::from_utf8(seconds).ok().filter(|_| is_number)?.parse().ok().map(WrittenTime::Instant)
        }
        _ if text.len() == 26 && text[2] == b'/' => {
            let time = Timestamp::strptime("%d/%b/%Y:%H:%M:%S %z", text).ok()?;
            Some(WrittenTime::Instant(time.as_second()))
        }
        _ => match text.iter().position(|byte| !byte.is_ascii_digit()) {
            None => number(text, b""),
            Some(at) if text[at] == b'.' => number(&text[..at], &text[at + 1..]).filter(|_| at + 1 < text.len()),
            Some(_) => calendar(text),
        },
    }
}

/// Parses digits and an optional fraction: a date, or a count from 1970 in the unit that the number of digits implies.
/// A count's fraction is dropped. A date's fraction must be zero, as written by programs that convert integers to
/// floats.
fn number(digits: &[u8], fraction: &[u8]) -> Option<WrittenTime> {
    if !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let per_second: u64 = match digits.len() {
        10 => 1,
        13 => 1_000,
        16 => 1_000_000,
        19 => 1_000_000_000,
        4 | 6 | 8 | 12 | 14 if fraction.iter().all(|&digit| digit == b'0') => return date_of_digits(digits),
        _ => return None,
    };
    let count: u64 = str::from_utf8(digits).ok()?.parse().ok()?;
    Time::try_from(count / per_second).ok().map(WrittenTime::Instant)
}

/// Parses a date of 4 to 14 digits, as web archives write it. Missing parts take their first value.
fn date_of_digits(digits: &[u8]) -> Option<WrittenTime> {
    let mut rest = Cursor(digits);
    let year = rest.number(4)?;
    let mut next = |default| if rest.0.is_empty() { Some(default) } else { rest.number(2) };
    let (month, day, hour, minute, second) = (next(1)?, next(1)?, next(0)?, next(0)?, next(0)?);
    let is_plausible = digits.len() != 12 || year <= LAST_YEAR_OF_12_DIGITS;
    local(Date::new(year, month as i8, day as i8).ok().filter(|_| is_plausible)?, [hour, minute, second])
}

/// Parses a date and time with separators (ISO 8601, RFC 3339, SQL), or in ISO 8601 basic form with its `T`.
fn calendar(text: &[u8]) -> Option<WrittenTime> {
    let mut rest = Cursor(text);
    let year = rest.number(4)?;
    let is_basic = !rest.eat(b"-");
    let month = rest.number(2)?;
    if rest.0.is_empty() && !is_basic {
        return local(Date::new(year, month as i8, 1).ok()?, [0; 3]);
    }
    if !is_basic && !rest.eat(b"-") {
        return None;
    }
    let day = rest.number(2)?;
    let date = Date::new(year, month as i8, day as i8).ok()?;
    if rest.0.is_empty() {
        return local(date, [0; 3]);
    }
    let separators: &[u8] = if is_basic { b"Tt" } else { b"Tt " };
    if !rest.eat(separators) {
        return None;
    }
    let hour = rest.number(2)?;
    if !is_basic && !rest.eat(b":") {
        return None;
    }
    let minute = rest.number(2)?;
    let has_second = if is_basic { rest.0.first().is_some_and(u8::is_ascii_digit) } else { rest.eat(b":") };
    let second = if has_second { rest.number(2)? } else { 0 };
    if has_second && rest.eat(b".,") && !rest.eat_digits() {
        return None;
    }
    let time = local(date, [hour, minute, second])?;
    let zone = rest.0;
    match (time, zone) {
        (_, []) => Some(time),
        (WrittenTime::Local(time), [b' ', zone @ ..] | zone) => {
            let instant = offset_of(without_annotation(zone))?.to_timestamp(time).ok()?;
            Some(WrittenTime::Instant(instant.as_second()))
        }
        _ => None,
    }
}

/// Returns the local time, if it exists. A leap second becomes the second before it.
fn local(date: Date, [hour, minute, second]: [i16; 3]) -> Option<WrittenTime> {
    let second = if second == 60 { 59 } else { second };
    let time = jiff::civil::Time::new(hour as i8, minute as i8, second as i8, 0).ok()?;
    Some(WrittenTime::Local(date.to_datetime(time)))
}

/// Returns an offset without a zone name in brackets (RFC 9557), which adds no information.
fn without_annotation(zone: &[u8]) -> &[u8] {
    let start = zone.strip_suffix(b"]").and_then(|zone| zone.iter().position(|&byte| byte == b'['));
    start.map_or(zone, |start| &zone[..start])
}

/// Parses `UTC`, `GMT` or `Z` in any letter case, or `+HH`, `+HHMM` or `+HH:MM` with either sign.
fn offset_of(text: &[u8]) -> Option<Offset> {
    if [&b"Z"[..], b"UTC", b"GMT"].iter().any(|name| text.eq_ignore_ascii_case(name)) {
        return Some(Offset::UTC);
    }
    let (sign, digits) = match text {
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return None,
    };
    let mut rest = Cursor(digits);
    let hours = rest.number(2).filter(|&hours| hours < 24)?;
    let minutes = if rest.0.is_empty() {
        0
    } else {
        rest.eat(b":");
        rest.number(2).filter(|&minutes| minutes < 60)?
    };
    let seconds = sign * (i32::from(hours) * 3600 + i32::from(minutes) * 60);
    Offset::from_seconds(seconds).ok().filter(|_| rest.0.is_empty())
}

/// The rest of a text.
struct Cursor<'t>(&'t [u8]);

impl Cursor<'_> {
    /// Reads a number of exactly `len` digits.
    fn number(&mut self, len: usize) -> Option<i16> {
        let (digits, rest) = self.0.split_at_checked(len)?;
        let number = digits
            .iter()
            .try_fold(0, |number: i16, digit| digit.is_ascii_digit().then(|| number * 10 + i16::from(digit - b'0')))?;
        self.0 = rest;
        Some(number)
    }

    /// Skips a byte if it is one of these. Returns whether it was.
    fn eat(&mut self, bytes: &[u8]) -> bool {
        match self.0 {
            [first, rest @ ..] if bytes.contains(first) => {
                self.0 = rest;
                true
            }
            _ => false,
        }
    }

    /// Skips digits. Returns whether there were any.
    fn eat_digits(&mut self) -> bool {
        let len = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.0 = &self.0[len..];
        len > 0
    }
}

/// Checks that a time is in the range that a set can hold.
///
/// # Errors
/// Returns an error if the time is outside that range.
fn in_range(time: Time) -> Result<Time, String> {
    if (MIN_TIME..=MAX_TIME).contains(&time) {
        return Ok(time);
    }
    Err(format!("expected a time in the years 1 to 9999, found {time} seconds since 1970"))
}

/// Returns this machine's current time.
pub fn now() -> Time {
    of_clock(SystemTime::now())
}

/// Converts a clock time, and clamps it to the range that a set can hold: the years 1 to 9999.
fn of_clock(clock: SystemTime) -> Time {
    let limit = if clock < SystemTime::UNIX_EPOCH { MIN_TIME } else { MAX_TIME };
    Timestamp::try_from(clock).map_or(limit, |time| time.as_second().clamp(MIN_TIME, MAX_TIME))
}

/// Formats a local date and time, given in seconds as if in UTC, as a text for [`WrittenTime::parse`].
pub(crate) fn show_local(time: Time) -> String {
    let local = Timestamp::from_second(time).map(|time| Offset::UTC.to_datetime(time));
    local.map_or_else(|_| format!("@{time}"), |time| time.to_string())
}

/// Appends a time like [`show_time`], but five times as fast, for a column of times.
pub fn push_time(time: Time, text: &mut Vec<u8>) {
    let civil = Timestamp::from_second(time).map(|time| Offset::UTC.to_datetime(time));
    let Some(civil) = civil.ok().filter(|civil| (0..=9999).contains(&civil.year())) else {
        return text.extend_from_slice(show_time(time).as_bytes());
    };
    let mut shown = *b"0000-00-00T00:00:00Z";
    let mut put = |at: usize, number: u8| {
        shown[at] += number / 10;
        shown[at + 1] += number % 10;
    };
    let year = civil.year().unsigned_abs();
    put(0, (year / 100) as u8);
    put(2, (year % 100) as u8);
    let rest = [civil.month(), civil.day(), civil.hour(), civil.minute(), civil.second()];
    rest.into_iter().zip([5, 8, 11, 14, 17]).for_each(|(number, at)| put(at, number.unsigned_abs()));
    text.extend_from_slice(&shown);
}

/// Formats a time according to RFC 3339.
pub fn show_time(time: Time) -> String {
    Timestamp::from_second(time).map_or_else(|_| format!("{time}"), |time| time.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts, the zone for texts without one, and the seconds since 1970, or `None` if the text is not a time.
    const TIMES: [(&str, &str, Option<Time>); 149] = [
        ("2018", "UTC", Some(1_514_764_800)),
        ("201806", "UTC", Some(1_527_811_200)),
        ("20180601", "UTC", Some(1_527_811_200)),
        ("201806011530", "UTC", Some(1_527_867_000)),
        ("20180601153045", "UTC", Some(1_527_867_045)),
        ("20260314150926", "UTC", Some(1_773_500_966)),
        ("2018", "+02:00", Some(1_514_757_600)),
        ("201806", "-05:30", Some(1_527_831_000)),
        ("20180601", "+02:00", Some(1_527_804_000)),
        ("201806011530", "-05:30", Some(1_527_886_800)),
        ("20180601153045", "+02:00", Some(1_527_859_845)),
        ("00010101000000", "UTC", Some(-62_135_596_800)),
        ("99991230000000", "UTC", Some(253_402_128_000)),
        ("20240229", "UTC", Some(1_709_164_800)),
        ("219912312359", "UTC", Some(7_258_118_340)),
        ("20180601.0", "UTC", Some(1_527_811_200)),
        ("20180601153045.00", "UTC", Some(1_527_867_045)),
        ("20181301", "UTC", None),
        ("20180230", "UTC", None),
        ("20230229", "UTC", None),
        ("0000", "UTC", None),
        ("201813", "UTC", None),
        ("201800", "UTC", None),
        ("20180601250000", "UTC", None),
        ("20180601156000", "UTC", None),
        ("201806011560", "UTC", None),
        ("220001010000", "UTC", None),
        ("946684800000", "UTC", None),
        ("177350096600", "UTC", None),
        ("20180601.5", "UTC", None),
        ("1773500966", "UTC", Some(1_773_500_966)),
        ("1773500966", "+02:00", Some(1_773_500_966)),
        ("1773500966.75", "UTC", Some(1_773_500_966)),
        ("1773500966000", "UTC", Some(1_773_500_966)),
        ("1773500966999", "-05:30", Some(1_773_500_966)),
        ("1773500966999.5", "UTC", Some(1_773_500_966)),
        ("1773500966999999", "UTC", Some(1_773_500_966)),
        ("1773500966999999999", "UTC", Some(1_773_500_966)),
        ("0000000000", "UTC", Some(0)),
        ("9223372036854775808", "UTC", Some(9_223_372_036)),
        ("9999999999999999999", "UTC", Some(9_999_999_999)),
        ("", "UTC", None),
        ("0", "UTC", None),
        ("1", "UTC", None),
        ("-1", "UTC", None),
        ("123", "UTC", None),
        ("12345", "UTC", None),
        ("1234567", "UTC", None),
        ("946684800", "UTC", None),
        ("17735009660", "UTC", None),
        ("177350096600000", "UTC", None),
        ("17735009660000000", "UTC", None),
        ("177350096600000000", "UTC", None),
        ("17735009660000000000", "UTC", None),
        ("-1773500966", "UTC", None),
        ("+1773500966", "UTC", None),
        ("5.", "UTC", None),
        (".5", "UTC", None),
        ("1773500966.", "UTC", None),
        ("1773500966.7.5", "UTC", None),
        ("1773500966,75", "UTC", None),
        ("1e9", "UTC", None),
        ("1.773500966e9", "UTC", None),
        ("NaN", "UTC", None),
        ("@0", "UTC", Some(0)),
        ("@-1", "+02:00", Some(-1)),
        ("@1773500966", "-05:30", Some(1_773_500_966)),
        ("@177350096600", "UTC", Some(177_350_096_600)),
        ("@", "UTC", None),
        ("@-", "UTC", None),
        ("@1.5", "UTC", None),
        ("@99999999999999999999", "UTC", None),
        ("2026-03-14", "UTC", Some(1_773_446_400)),
        ("2026-03-14", "+02:00", Some(1_773_439_200)),
        ("2026-03", "UTC", Some(1_772_323_200)),
        ("2026-03", "-05:30", Some(1_772_343_000)),
        ("2022-01-01 10:00:00", "UTC", Some(1_641_031_200)),
        ("2022-01-01 10:00:00", "+02:00", Some(1_641_024_000)),
        ("2024-06-01T00:00:00", "UTC", Some(1_717_200_000)),
        ("2024-06-01T00:00:00", "-05:30", Some(1_717_219_800)),
        ("2022-01-01T10:00", "UTC", Some(1_641_031_200)),
        ("2022-01-01 10:00", "+02:00", Some(1_641_024_000)),
        ("2022-01-01T10:00Z", "+02:00", Some(1_641_031_200)),
        ("2022-01-01 10:00:00+00", "+02:00", Some(1_641_031_200)),
        ("2022-01-01 10:00:00+0100", "UTC", Some(1_641_027_600)),
        ("2022-01-01 10:00:00 +0100", "UTC", Some(1_641_027_600)),
        ("2022-01-01 10:00:00+01:00", "+02:00", Some(1_641_027_600)),
        ("2022-01-01 10:00:00 UTC", "+02:00", Some(1_641_031_200)),
        ("2022-01-01 10:00:00 utc", "+02:00", Some(1_641_031_200)),
        ("2022-01-01 10:00:00 GMT", "+02:00", Some(1_641_031_200)),
        ("2022-01-01 10:00:00.000 UTC", "+02:00", Some(1_641_031_200)),
        ("2022-01-01 10:00:00Z", "+02:00", Some(1_641_031_200)),
        ("2022-01-01t10:00:00z", "+02:00", Some(1_641_031_200)),
        ("2026-03-14T15:09:26Z", "+02:00", Some(1_773_500_966)),
        ("2026-03-14T16:09:26+01:00", "UTC", Some(1_773_500_966)),
        ("2026-03-14T09:39:26-05:30", "+02:00", Some(1_773_500_966)),
        ("2026-03-14T15:09:26.75Z", "UTC", Some(1_773_500_966)),
        ("2026-03-14T15:09:26,75Z", "UTC", Some(1_773_500_966)),
        ("2026-03-14 15:09:26.123456789", "+02:00", Some(1_773_493_766)),
        ("2026-03-14T15:09:26-00:00", "+02:00", Some(1_773_500_966)),
        ("2026-03-14T15:09:26+01:00[Europe/Paris]", "UTC", Some(1_773_497_366)),
        ("2016-12-31T23:59:60Z", "UTC", Some(1_483_228_799)),
        ("20260314T150926Z", "+02:00", Some(1_773_500_966)),
        ("20260314T150926", "+02:00", Some(1_773_493_766)),
        ("20260314T1509", "UTC", Some(1_773_500_940)),
        ("20260314T150926.5+0100", "UTC", Some(1_773_497_366)),
        ("  2026-03-14T15:09:26Z\t", "UTC", Some(1_773_500_966)),
        ("0001-01-01", "UTC", Some(-62_135_596_800)),
        ("1969-12-31T23:59:59.5Z", "UTC", Some(-1)),
        ("1969-12-31", "UTC", Some(-86_400)),
        ("now", "UTC", None),
        ("2026-13-01", "UTC", None),
        ("2026-02-30", "UTC", None),
        ("2026-3-14", "UTC", None),
        ("26-03-14", "UTC", None),
        ("14.3.2026", "UTC", None),
        ("03/14/2026", "UTC", None),
        ("2026/03/14", "UTC", None),
        ("2026-03-14T", "UTC", None),
        ("2026-03-14T15", "UTC", None),
        ("2026-03-14T24:00:00Z", "UTC", None),
        ("2026-03-14T15:60:00Z", "UTC", None),
        ("2026-03-14T15:09:61Z", "UTC", None),
        ("2026-03-14  15:09:26", "UTC", None),
        ("2026-03-14_15:09:26", "UTC", None),
        ("2026-03-14T15:09:26.Z", "UTC", None),
        ("2026-03-14T15:09:26 CET", "UTC", None),
        ("2026-03-14T15:09:26+1", "UTC", None),
        ("2026-03-14T15:09:26+24:00", "UTC", None),
        ("2026-03-14T15:09:26+01:60", "UTC", None),
        ("2026-03-14T15:09:26+01:00 UTC", "UTC", None),
        ("2026-03-14T15:09:26[Europe/Paris]", "UTC", None),
        ("2026-03-14Z", "UTC", None),
        ("2026-03-14T15:09:26ZZ", "UTC", None),
        ("20260314 150926", "UTC", None),
        ("2026-0314", "UTC", None),
        ("202603-14", "UTC", None),
        ("2026-03-14T15:09:26Z2026-03-14T15:09:26Z", "UTC", None),
        ("9999-12-31", "UTC", None),
        ("0000-01-01", "UTC", None),
        ("0001-01-01", "+02:00", None),
        ("２０１８", "UTC", None),
        ("10/Oct/2000:13:55:36 -0700", "+02:00", Some(971_211_336)),
        ("10/Oct/2000:20:55:36 +0000", "UTC", Some(971_211_336)),
        ("29/Feb/2024:00:00:00 +0530", "UTC", Some(1_709_145_000)),
        ("10/Oct/2000:13:55:36", "UTC", None),
        ("10/Okt/2000:13:55:36 -0700", "UTC", None),
        ("30/Feb/2024:00:00:00 +0530", "UTC", None),
        ("10/Oct/2000:13:55:36 -070x", "UTC", None),
    ];

    #[test]
    fn appended_times_equal_shown_ones() {
        let mut times = vec![MIN_TIME - 1, MIN_TIME, MAX_TIME, MAX_TIME + 1, i64::MIN, i64::MAX, -1, 0, 951_782_400];
        times.extend((MIN_TIME..MAX_TIME).step_by(54_321_007));
        for time in times {
            let mut text = b"x".to_vec();
            push_time(time, &mut text);
            assert_eq!(text, format!("x{}", show_time(time)).as_bytes(), "{time}");
        }
    }

    #[test]
    fn times_are_read_in_all_their_forms() {
        for (text, zone, expected) in TIMES {
            let found = read_time(text, &Zone::of_name(zone).unwrap());
            match expected {
                Some(time) => assert_eq!(found, Ok(time), "{text} in {zone}"),
                None => assert!(found.unwrap_err().starts_with("expected a time"), "{text} in {zone}"),
            }
        }
        let invalid = TIMES.iter().filter(|(_, _, time)| time.is_none()).count();
        assert!(TIMES.len() - invalid >= 70 && invalid >= 70, "{} times, {invalid} invalid", TIMES.len());
        assert_eq!(show_time(1_773_500_966), "2026-03-14T15:09:26Z");
    }

    #[test]
    fn messages_for_numbers_list_the_valid_lengths() {
        for (text, lists_lengths) in [
            ("0", true),
            ("-1", true),
            ("946684800", true),
            ("1.5", true),
            ("now", false),
            ("2026-13-01", false),
            ("", false),
        ] {
            let message = read_time(text, &Zone::default()).unwrap_err();
            assert_eq!(message.contains("13: ms"), lists_lengths, "{message}");
        }
    }

    #[test]
    fn long_texts_are_not_times() {
        for (len, fits) in [(MAX_TIME_BYTES - 1, true), (MAX_TIME_BYTES, true), (MAX_TIME_BYTES + 1, false)] {
            let text = format!("{:1<len$}", "2026-03-14T15:09:26.");
            assert_eq!(read_time(&text, &Zone::default()).is_ok(), fits, "{len}");
        }
    }

    #[test]
    fn zones_have_names_or_offsets() {
        for (name, shown) in [
            ("UTC", Some("UTC")),
            ("z", Some("UTC")),
            ("gmt", Some("UTC")),
            ("+00:00", Some("UTC")),
            ("+02", Some("+02")),
            ("-0530", Some("-05:30")),
            ("+23:59", Some("+23:59")),
            ("+24", None),
            ("2", None),
            ("+2", None),
            ("", None),
            ("Nowhere/Else", None),
            ("Etc/Unknown", None),
            ("../../etc/passwd", None),
        ] {
            let zone = Zone::of_name(name);
            assert_eq!(zone.as_ref().ok().map(Zone::to_string).as_deref(), shown, "{name}: {zone:?}");
        }
    }

    /// Requires named zones from the system, which may lack them.
    #[test]
    fn clocks_that_change_make_local_times_ambiguous() {
        let Ok(zone) = Zone::of_name("Europe/Berlin") else { return };
        assert_eq!(zone.to_string(), "Europe/Berlin");
        for (text, time) in [
            ("2026-07-01 12:00:00", Some(1_782_900_000)),
            ("2026-01-01 12:00:00", Some(1_767_265_200)),
            ("2026-03-29 01:59:59", Some(1_774_745_999)),
            ("2026-03-29 02:30:00", None),
            ("2026-03-29 03:00:00", Some(1_774_746_000)),
            ("2026-10-25 02:30:00", None),
            ("2026-10-25 02:30:00+01:00", Some(1_792_891_800)),
        ] {
            let found = read_time(text, &zone);
            assert_eq!(found.as_ref().ok(), time.as_ref(), "{text}");
            assert!(found.is_ok() || found.unwrap_err().contains("skipped or repeated"), "{text}");
        }
    }

    #[test]
    fn clocks_are_clamped_to_the_range_of_a_set() {
        let before = |seconds: u64| SystemTime::UNIX_EPOCH - std::time::Duration::from_secs(seconds);
        let after = |seconds: u64| SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        for (clock, time) in [
            (after(0), 0),
            (before(1), -1),
            (after(1_773_500_966), 1_773_500_966),
            (after(MAX_TIME as u64 - 1), MAX_TIME - 1),
            (after(MAX_TIME as u64), MAX_TIME),
            (after(MAX_TIME as u64 + 1), MAX_TIME),
            (after(1 << 60), MAX_TIME),
            (before(MIN_TIME.unsigned_abs() - 1), MIN_TIME + 1),
            (before(MIN_TIME.unsigned_abs()), MIN_TIME),
            (before(MIN_TIME.unsigned_abs() + 1), MIN_TIME),
            (before(1 << 60), MIN_TIME),
        ] {
            assert_eq!(of_clock(clock), time, "{clock:?}");
        }
    }

    #[test]
    fn times_outside_the_range_are_rejected() {
        for (time, fits) in [
            (MIN_TIME - 1, false),
            (MIN_TIME, true),
            (MIN_TIME + 1, true),
            (MAX_TIME - 1, true),
            (MAX_TIME, true),
            (MAX_TIME + 1, false),
            (i64::MAX, false),
        ] {
            assert_eq!(read_time(&format!("@{time}"), &Zone::default()).is_ok(), fits, "{time}");
        }
        assert_eq!(show_time(MAX_TIME), "9999-12-30T00:00:00Z");
        assert_eq!(show_time(MIN_TIME), "0001-01-01T00:00:00Z");
    }
}
