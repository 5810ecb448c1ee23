//! The section `reading`: the reading of the protocol that a set was made under, and the time that it is for.
//!
//! The names are for people; the other sections hold what they mean for decisions. From the numbers of the fetch
//! profile a reader can tell, without the compiler, how long an answer stays fresh.

use super::container::Section;
use super::{FormatError, TooLarge, pad, put, put_long, u16_at, u32_at, u64_at};

/// The most bytes of the name of a dialect or of a fetch profile.
pub const MAX_READING_NAME_BYTES: usize = 0xFFFF;

/// Bytes of the section before the names.
const FIXED_BYTES: usize = 40;

/// The length of the section is a multiple of this many bytes.
const UNIT: usize = 8;

/// The flag that there is a time.
const HAS_AT: u32 = 1;
/// The flag that answers stay fresh for a time.
const HAS_FRESHNESS: u32 = 2;
/// The flag that an answer's own `max-age` counts.
const HAS_MAX_AGE_CAP: u32 = 4;
/// The flag that the set is by time.
const BY_TIME: u32 = 8;

/// The reading of the protocol that a set was made under, and the time that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading<'a> {
    /// The name of the dialect.
    pub dialect: &'a str,
    /// The name of the fetch profile.
    pub profile: &'a str,
    /// The time that the set is for, in seconds since 1970; `None` if no time was given and no capture has one.
    pub at: Option<i64>,
    /// For how many seconds an answer without a `max-age` is fresh; `None` if the profile keeps no answers.
    pub freshness: Option<i64>,
    /// The greatest `max-age`, in seconds, that an answer's own word can set; `None` if `max-age` does not count.
    pub max_age_cap: Option<i64>,
    /// For how many seconds an origin may be unreachable, with its last answer kept or everything disallowed; after
    /// that everything is allowed.
    pub patience: i64,
    /// Whether the set is by time: it has every capture of each origin, and the spans in which each policy is in force.
    pub by_time: bool,
}

impl<'a> Reading<'a> {
    /// Writes the section.
    pub(super) fn write(&self) -> Result<Vec<u8>, TooLarge> {
        for name in [self.dialect, self.profile] {
            if name.len() > MAX_READING_NAME_BYTES {
                let (limit, found) = (MAX_READING_NAME_BYTES as u64, name.len() as u64);
                return Err(TooLarge { what: "bytes of the name of a dialect or profile", limit, found });
            }
        }
        let mut out = Vec::new();
        for number in [self.at, self.freshness, self.max_age_cap] {
            put_long(&mut out, number.unwrap_or(0).cast_unsigned());
        }
        put_long(&mut out, self.patience.cast_unsigned());
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

    /// Proves that the section is what a writer makes of its content.
    pub(crate) fn verify(section: &'a [u8]) -> Result<(), FormatError> {
        match Reading::read(section)?.write() {
            Ok(written) if written == section => Ok(()),
            _ => Err(FormatError::new(Section::Reading.name(), "the only encoding of its content", "another encoding")),
        }
    }

    /// Reads the section.
    pub(crate) fn read(section: &'a [u8]) -> Result<Reading<'a>, FormatError> {
        let short = || {
            let found = format!("{} bytes", section.len());
            FormatError::new(Section::Reading.name(), format!("at least {FIXED_BYTES} bytes and the names"), found)
        };
        let flags = u32_at(section, 32).ok_or_else(short)?;
        let number = |at| u64_at(section, at).map(u64::cast_signed).ok_or_else(short);
        let optional = |at, flag| number(at).map(|number| Some(number).filter(|_| flags & flag != 0));
        let len = |at| u16_at(section, at).map(usize::from).ok_or_else(short);
        let (dialect_end, profile_len) = (FIXED_BYTES + len(36)?, len(38)?);
        let name = |start: usize, end: usize| {
            let bytes = section.get(start..end).ok_or_else(short)?;
            str::from_utf8(bytes).map_err(|error| {
                let at = start + error.valid_up_to();
                FormatError::at(Section::Reading, at, "a name in UTF-8", format!("\"{}\"", bytes.escape_ascii()))
            })
        };
        Ok(Reading {
            dialect: name(FIXED_BYTES, dialect_end)?,
            profile: name(dialect_end, dialect_end + profile_len)?,
            at: optional(0, HAS_AT)?,
            freshness: optional(8, HAS_FRESHNESS)?,
            max_age_cap: optional(16, HAS_MAX_AGE_CAP)?,
            patience: number(24)?,
            by_time: flags & BY_TIME != 0,
        })
    }

    /// The last second at which an answer is still fresh that was fetched at `time` and has this `max_age`, in seconds.
    /// `None` if the profile keeps no answers.
    #[must_use]
    pub fn fresh_until(&self, time: i64, max_age: Option<u32>) -> Option<i64> {
        let allowed = self.max_age_cap.zip(max_age).map(|(cap, age)| cap.min(age.into()));
        Some(time.saturating_add(allowed.unwrap_or(self.freshness?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READING: Reading<'_> = Reading {
        dialect: "d",
        profile: "profile",
        at: Some(-5),
        freshness: Some(86_400),
        max_age_cap: None,
        patience: 30,
        by_time: false,
    };

    #[test]
    fn a_reading_comes_back_and_has_one_encoding() {
        for reading in [READING, Reading { at: None, freshness: None, max_age_cap: Some(1), by_time: true, ..READING }]
        {
            let written = reading.write().unwrap();
            assert_eq!(Reading::read(&written), Ok(reading));
            for at in 0..written.len() {
                let mut other = written.clone();
                other[at] ^= 0x80;
                assert!(Reading::verify(&other).is_err() || Reading::read(&other) != Ok(reading), "{at}");
            }
            assert!(Reading::verify(&written[..written.len() - 1]).is_err());
            Reading::verify(&written).unwrap();
        }
        let absent_but_set = Reading { at: None, ..READING };
        let mut written = absent_but_set.write().unwrap();
        written[0] = 1;
        assert!(Reading::verify(&written).is_err());
    }

    #[test]
    fn the_limit_of_a_name_holds_at_its_edges() {
        for (len, fits) in
            [(MAX_READING_NAME_BYTES - 1, true), (MAX_READING_NAME_BYTES, true), (MAX_READING_NAME_BYTES + 1, false)]
        {
            let name = "n".repeat(len);
            assert_eq!(Reading { dialect: &name, ..READING }.write().is_ok(), fits, "{len}");
        }
    }

    #[test]
    fn freshness_is_by_the_answer_up_to_the_cap_and_else_by_the_profile() {
        assert_eq!(READING.fresh_until(100, Some(5)), Some(86_500));
        let capped = Reading { max_age_cap: Some(60), ..READING };
        assert_eq!(capped.fresh_until(100, Some(59)), Some(159));
        assert_eq!(capped.fresh_until(100, Some(61)), Some(160));
        assert_eq!(capped.fresh_until(100, None), Some(86_500));
        assert_eq!(Reading { freshness: None, ..capped }.fresh_until(100, Some(1)), None);
    }
}
