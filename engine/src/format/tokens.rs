//! The section `tokens`: the product tokens in a set's files, in lower case, numbered in byte order.
//!
//! The section contains the token count, each token's end, and then the tokens; all numbers have eight bytes.

#[cfg(feature = "write")]
mod write;

#[cfg(feature = "write")]
pub(super) use self::write::write_tokens;
use super::container::Section;
use super::pool::PoolReferences;
use super::{FormatError, NONE, u64_at};

/// Maximum number of product tokens in a set.
pub const MAX_TOKENS: u64 = NONE as u64;

/// Size of a number in bytes.
const NUMBER_BYTES: usize = 8;

/// The product tokens in a set, numbered in byte order.
#[derive(Clone, Copy)]
pub struct Tokens<'a>(pub(crate) &'a [u8]);

impl<'a> Tokens<'a> {
    /// Returns the number of tokens.
    ///
    /// # Errors
    /// Returns an error if the table is damaged.
    pub fn count(self) -> Result<u32, FormatError> {
        if self.0.is_empty() {
            return Ok(0);
        }
        let count = u64_at(self.0, 0).unwrap_or(u64::MAX);
        let fits = count <= MAX_TOKENS && count < (self.0.len() / NUMBER_BYTES) as u64;
        if fits { Ok(count as u32) } else { Err(self.error(0, "as many tokens as fit", format!("{count} tokens"))) }
    }

    #[cold]
    fn error(self, at: usize, expected: &str, found: impl Into<String>) -> FormatError {
        FormatError::at(Section::Tokens, at, expected, found)
    }

    /// Returns the token with a number.
    ///
    /// # Errors
    /// Returns an error if there is no token with that number.
    pub fn name(self, token: u32) -> Result<&'a [u8], FormatError> {
        let count = self.count()? as usize;
        let at = token as usize * NUMBER_BYTES;
        let name = || {
            let start = if token == 0 { 0 } else { u64_at(self.0, at)? };
            let end = u64_at(self.0, at + NUMBER_BYTES).filter(|_| (token as usize) < count)?;
            let names = self.0.get(NUMBER_BYTES + count * NUMBER_BYTES..)?;
            names.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
        };
        name().ok_or_else(|| self.error(at, "a token inside the section", format!("token {token} of {count}")))
    }

    /// Returns every token, in number order.
    pub fn iter(self) -> impl Iterator<Item = Result<&'a [u8], FormatError>> {
        let count = self.count();
        let error = count.as_ref().err().cloned();
        (0..count.unwrap_or(0)).map(move |token| self.name(token)).chain(error.map(Err))
    }

    /// Proves that the section is canonical.
    pub(crate) fn verify(self, steps: &mut u64) -> Result<PoolReferences, FormatError> {
        let count = self.count()?;
        let mut last = None;
        let mut end = if self.0.is_empty() { 0 } else { NUMBER_BYTES * (1 + count as usize) };
        if count == 0 && !self.0.is_empty() {
            return Err(self.error(0, "at least one token", "none"));
        }
        for token in 0..count {
            let name = self.name(token)?;
            *steps += 1 + name.len() as u64;
            let found = || format!("\"{}\"", name.escape_ascii());
            if last >= Some(name) {
                return Err(self.error(end, "distinct tokens sorted by their bytes", found()));
            }
            if name.iter().any(u8::is_ascii_uppercase) {
                return Err(self.error(end, "a token in lower case", found()));
            }
            (end, last) = (end + name.len(), Some(name));
        }
        if end != self.0.len() {
            return Err(self.error(end, "the end of the section", format!("{} more bytes", self.0.len() - end)));
        }
        Ok(PoolReferences::all(Section::Tokens, count as usize))
    }

    /// Returns the numbers of all tokens that contain this name, in any letter case; none for an empty name.
    ///
    /// Reads every token.
    ///
    /// # Errors
    /// Returns an error if the table is damaged.
    pub fn find_containing(self, name: &[u8]) -> Result<Vec<u32>, FormatError> {
        let name = name.to_ascii_lowercase();
        let finder = memchr::memmem::Finder::new(&name);
        let mut found = Vec::new();
        for token in 0..self.count()? {
            if !name.is_empty() && finder.find(self.name(token)?).is_some() {
                found.push(token);
            }
        }
        Ok(found)
    }

    /// Returns the number of the token that equals this name, in any letter case. Binary search.
    ///
    /// # Errors
    /// Returns an error if the table is damaged.
    pub fn find(self, name: &[u8]) -> Result<Option<u32>, FormatError> {
        let name = name.to_ascii_lowercase();
        let (mut low, mut high) = (0, self.count()?);
        while low < high {
            let middle = low.midpoint(high);
            match self.name(middle)?.cmp(&name) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Ok(Some(middle)),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok(None)
    }
}

/// The way to compare a crawler's product token with the tokens in the files. Letter case never matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameMatching {
    /// The tokens must be equal. Number 0.
    Equal,
    /// The file's token must contain the crawler's. If this selects several groups, the first in the file decides
    /// alone. Number 1.
    Contained,
}

impl NameMatching {
    /// Returns the stored number.
    #[must_use]
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// Returns the method with this number, or `None` if this version does not know it.
    #[must_use]
    pub const fn from_number(number: u32) -> Option<NameMatching> {
        match number {
            0 => Some(NameMatching::Equal),
            1 => Some(NameMatching::Contained),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn methods_have_two_numbers() {
        for number in (0..=65_536).chain([u32::MAX]) {
            let expected =
                [NameMatching::Equal, NameMatching::Contained].into_iter().find(|method| method.number() == number);
            assert_eq!(NameMatching::from_number(number), expected, "{number}");
            assert_eq!(expected.is_some(), number < 2);
        }
    }
}
