//! The section `reading`: the protocol interpretation that a set was compiled with, and its reference time.
//!
//! The names are for display; other sections contain their effects on decisions. The fetch profile's numbers let a
//! reader compute, without the compiler, how long a response stays fresh.

use super::container::Section;
use super::{FormatError, TooLarge, pad, put, put_long, u16_at, u32_at, u64_at};

/// Maximum size in bytes of a dialect's or fetch profile's name.
pub const MAX_READING_NAME_BYTES: usize = 0xFFFF;

/// Size in bytes before the names.
const FIXED_BYTES: usize = 40;

/// The section's length is a multiple of this many bytes.
const UNIT: usize = 8;

/// Flag: the set has a reference time.
const HAS_AT: u32 = 1;
/// Flag: responses without a `max-age` stay fresh for a time.
const HAS_FRESHNESS: u32 = 2;
/// Flag: a response's own `max-age` counts.
const HAS_MAX_AGE_CAP: u32 = 4;
/// Flag: the set is by time.
const BY_TIME: u32 = 8;

/// The protocol interpretation that a set was compiled with, and its reference time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interpretation<'a> {
    /// The dialect's name.
    pub dialect: &'a str,
    /// The fetch profile's name.
    pub profile: &'a str,
    /// The reference time in seconds since 1970; `None` if no time was given and no capture has one.
    pub at: Option<i64>,
    /// Lifetime of a response without a `max-age`, in seconds; `None` if the profile caches no responses.
    pub freshness: Option<i64>,
    /// Maximum lifetime that a response's own `max-age` can set, in seconds; `None` if `max-age` does not count.
    pub max_age_cap: Option<i64>,
    /// How long an origin may be unreachable, in seconds, while its last answer is kept or everything is disallowed.
    /// After that everything is allowed.
    pub patience: i64,
    /// Whether the set is by time: it contains all captures, and the spans in which each policy is active.
    pub by_time: bool,
}

impl<'a> Interpretation<'a> {
    /// Writes the section.
    pub(super) fn write(&self) -> Result<Vec<u8>, TooLarge> {
        for name in [self.dialect, self.profile] {
            if name.len() > MAX_READING_NAME_BYTES {
                let (limit, found) = (MAX_READING_NAME_BYTES as u64, name.len() as u64);
                return Err(TooLarge { what: "bytes of a dialect's or profile's name", limit, found });
            }
        }
        let mut out = Vec::with_capacity(FIXED_BYTES + self.dialect.len() + self.profile.len() + UNIT);
        for number in [self.at, self.freshness, self.max_age_cap] {
            put_long(&mut out, number.unwrap_or(0) as u64);
        }
        put_long(&mut out, self.patience as u64);
        let flag = |number: Option<i64>, flag| if number.is_some() { flag } else { 0 };
        let by_time = if self.by_time { BY_TIME } else { 0 };
        let of_numbers =
            flag(self.at, HAS_AT) | flag(self.freshness, HAS_FRESHNESS) | flag(self.max_age_cap, HAS_MAX_AGE_CAP);
        put(&mut out, of_numbers | by_time);
        out.extend_from_slice(&(self.dialect.len() as u16).to_le_bytes());
        out.extend_from_slice(&(self.profile.len() as u16).to_le_bytes());
        out.extend_from_slice(self.dialect.as_bytes());
        out.extend_from_slice(self.profile.as_bytes());
        pad(&mut out, UNIT);
        Ok(out)
    }

    /// Proves that the section is canonical.
    pub(crate) fn verify(section: &'a [u8]) -> Result<(), FormatError> {
        match Interpretation::read(section)?.write() {
            Ok(written) if written == section => Ok(()),
            _ => Err(FormatError::new(Section::Reading.name(), "the only encoding of its content", "another encoding")),
        }
    }

    pub(crate) fn read(section: &'a [u8]) -> Result<Interpretation<'a>, FormatError> {
        let short = || {
            let found = format!("{} bytes", section.len());
            FormatError::new(Section::Reading.name(), format!("at least {FIXED_BYTES} bytes and the names"), found)
        };
        let flags = u32_at(section, 32).ok_or_else(short)?;
        let number = |at| u64_at(section, at).map(|number| number as i64).ok_or_else(short);
        let optional = |at, flag| number(at).map(|number| Some(number).filter(|_| flags & flag != 0));
        let len = |at| u16_at(section, at).map(usize::from).ok_or_else(short);
        let (dialect_end, profile_len) = (FIXED_BYTES + len(36)?, len(38)?);
        let name = |start: usize, end: usize| {
            let bytes = section.get(start..end).ok_or_else(short)?;
            std::str::from_utf8(bytes).map_err(|error| {
                let at = start + error.valid_up_to();
                FormatError::at(Section::Reading, at, "a name in UTF-8", format!("\"{}\"", bytes.escape_ascii()))
            })
        };
        Ok(Interpretation {
            dialect: name(FIXED_BYTES, dialect_end)?,
            profile: name(dialect_end, dialect_end + profile_len)?,
            at: optional(0, HAS_AT)?,
            freshness: optional(8, HAS_FRESHNESS)?,
            max_age_cap: optional(16, HAS_MAX_AGE_CAP)?,
            patience: number(24)?,
            by_time: flags & BY_TIME != 0,
        })
    }

    /// Returns the last second at which a response is fresh that was fetched at `time` with this `max_age` in seconds,
    /// or `None` if the profile caches no responses.
    #[must_use]
    pub fn fresh_until(&self, time: i64, max_age: Option<u32>) -> Option<i64> {
        let allowed = self.max_age_cap.zip(max_age).map(|(cap, age)| cap.min(age.into()));
        Some(time.saturating_add(allowed.unwrap_or(self.freshness?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READING: Interpretation<'_> = Interpretation {
        dialect: "d",
        profile: "profile",
        at: Some(-5),
        freshness: Some(86_400),
        max_age_cap: None,
        patience: 30,
        by_time: false,
    };

    #[test]
    fn readings_round_trip_and_have_one_encoding() {
        for reading in
            [READING, Interpretation { at: None, freshness: None, max_age_cap: Some(1), by_time: true, ..READING }]
        {
            let written = reading.write().unwrap();
            assert_eq!(Interpretation::read(&written), Ok(reading));
            for at in 0..written.len() {
                let mut other = written.clone();
                other[at] ^= 0x80;
                assert!(Interpretation::verify(&other).is_err() || Interpretation::read(&other) != Ok(reading), "{at}");
            }
            assert!(Interpretation::verify(&written[..written.len() - 1]).is_err());
            Interpretation::verify(&written).unwrap();
        }
        let absent_but_set = Interpretation { at: None, ..READING };
        let mut written = absent_but_set.write().unwrap();
        written[0] = 1;
        assert!(Interpretation::verify(&written).is_err());
    }

    #[test]
    fn names_longer_than_the_limit_are_rejected() {
        for (len, fits) in
            [(MAX_READING_NAME_BYTES - 1, true), (MAX_READING_NAME_BYTES, true), (MAX_READING_NAME_BYTES + 1, false)]
        {
            let name = "n".repeat(len);
            assert_eq!(Interpretation { dialect: &name, ..READING }.write().is_ok(), fits, "{len}");
        }
    }

    #[test]
    fn max_age_applies_up_to_the_cap_and_the_profile_otherwise() {
        assert_eq!(READING.fresh_until(100, Some(5)), Some(86_500));
        let capped = Interpretation { max_age_cap: Some(60), ..READING };
        assert_eq!(capped.fresh_until(100, Some(59)), Some(159));
        assert_eq!(capped.fresh_until(100, Some(61)), Some(160));
        assert_eq!(capped.fresh_until(100, None), Some(86_500));
        assert_eq!(Interpretation { freshness: None, ..capped }.fresh_until(100, Some(1)), None);
    }
}
