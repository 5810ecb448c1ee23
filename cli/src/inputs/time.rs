//! Times of fetches, as people and captures write them.

use std::time::SystemTime;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use reptile_compiler::capture::Time;
use reptile_compiler::limits::{MAX_TIME, MIN_TIME};

/// Reads a time: seconds since 1970, with a fraction that is dropped or without; thirteen digits are milliseconds, fourteen a
/// date and a time in UTC without separators, as web archives write it; RFC 3339 such as `2026-03-14T15:09:26Z`; a
/// date, which means its first second in UTC; or the time of an access log, such as `10/Oct/2000:13:55:36 -0700`.
///
/// # Errors
/// If the text is not a time, or not one that a set can hold.
pub fn read_time(text: &str) -> Result<Time, String> {
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = || match text.split_once('.') {
        Some((whole, fraction)) if is_digits(whole) && is_digits(fraction) && !fraction.is_empty() => {
            whole.parse().ok()
        }
        _ => text.parse::<Time>().ok(),
    };
    let moment = || text.parse::<Timestamp>().ok().map(Timestamp::as_second);
    let of_utc = |time: DateTime| Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second());
    let time = match text.len() {
        13 if is_digits(text) => text.parse::<Time>().ok().map(|milliseconds| milliseconds / 1000),
        14 if is_digits(text) => DateTime::strptime("%Y%m%d%H%M%S", text).ok().and_then(of_utc),
        26 if text.as_bytes()[2] == b'/' => {
            Timestamp::strptime("%d/%b/%Y:%H:%M:%S %z", text).ok().map(Timestamp::as_second)
        }
        // A longer text could be a time without a zone, which does not say when it was.
        10 => seconds().or_else(|| of_utc(text.parse::<Date>().ok()?.at(0, 0, 0, 0))),
        _ => seconds().or_else(moment),
    };
    let time =
        time.ok_or_else(|| format!("expected a time such as 2026-03-14T15:09:26Z, found \"{}\"", text.escape_debug()))?;
    in_range(time)
}

/// Checks that a time is in the range that a set can hold.
///
/// # Errors
/// If it is not.
pub fn in_range(time: Time) -> Result<Time, String> {
    if (MIN_TIME..=MAX_TIME).contains(&time) {
        return Ok(time);
    }
    Err(format!("expected a time in the years 1 to 9999, found {time} seconds since 1970"))
}

/// The current time by the clock of this machine.
pub fn now() -> Time {
    of_clock(SystemTime::now())
}

/// What a clock says, however wrong it is: before the year 1 the first time that a set can hold, and after 9999 the last.
fn of_clock(clock: SystemTime) -> Time {
    let limit = if clock < SystemTime::UNIX_EPOCH { MIN_TIME } else { MAX_TIME };
    Timestamp::try_from(clock).map_or(limit, |time| time.as_second().clamp(MIN_TIME, MAX_TIME))
}

/// A time in the form of RFC 3339.
pub fn show_time(time: Time) -> String {
    Timestamp::from_second(time).map_or_else(|_| format!("{time}"), |time| time.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_all_their_forms() {
        for (text, time) in [
            ("0", 0),
            ("1773500966", 1_773_500_966),
            ("2026-03-14T15:09:26Z", 1_773_500_966),
            ("2026-03-14T16:09:26+01:00", 1_773_500_966),
            ("2026-03-14T15:09:26.75Z", 1_773_500_966),
            ("2026-03-14", 1_773_446_400),
            ("-1", -1),
            ("1773500966.75", 1_773_500_966),
            ("1773500966000", 1_773_500_966),
            ("1773500966999", 1_773_500_966),
            ("20260314150926", 1_773_500_966),
            ("177350096600", 177_350_096_600),
            ("10/Oct/2000:13:55:36 -0700", 971_211_336),
            ("10/Oct/2000:20:55:36 +0000", 971_211_336),
            ("29/Feb/2024:00:00:00 +0530", 1_709_145_000),
        ] {
            assert_eq!(read_time(text), Ok(time), "{text}");
        }
        for text in [
            "",
            "now",
            "2026-13-01",
            "2026-03-14T15:09:26",
            "14.3.2026",
            "1e9",
            "5.",
            ".5",
            "20261301000000",
            "10/Oct/2000:13:55:36",
            "10/Okt/2000:13:55:36 -0700",
            "30/Feb/2024:00:00:00 +0530",
            "10/Oct/2000:13:55:36 -070x",
        ] {
            assert!(read_time(text).unwrap_err().starts_with("expected a time such as"), "{text}");
        }
        assert_eq!(show_time(1_773_500_966), "2026-03-14T15:09:26Z");
    }

    #[test]
    fn a_clock_may_say_anything() {
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
    fn the_limits_of_time_hold_at_their_edges() {
        for (time, fits) in [
            (MIN_TIME - 1, false),
            (MIN_TIME, true),
            (MIN_TIME + 1, true),
            (MAX_TIME - 1, true),
            (MAX_TIME, true),
            (MAX_TIME + 1, false),
            (i64::MAX, false),
        ] {
            assert_eq!(read_time(&time.to_string()).is_ok(), fits, "{time}");
        }
        assert_eq!(show_time(MAX_TIME), "9999-12-30T00:00:00Z");
        assert_eq!(show_time(MIN_TIME), "0001-01-01T00:00:00Z");
    }
}
