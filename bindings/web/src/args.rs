//! The arguments of a call, as JavaScript writes them.

use crate::failure::{Code, Failure};

/// Arguments that have not been read yet: for each its length, as four bytes in little-endian order, and its bytes.
#[derive(Clone)]
pub struct Args<'a>(&'a [u8]);

impl<'a> Args<'a> {
    pub fn new(bytes: &'a [u8]) -> Args<'a> {
        Args(bytes)
    }

    /// Returns the next argument.
    ///
    /// # Errors
    /// Returns an error if there is none. `index.js` never causes it.
    pub fn bytes(&mut self) -> Result<&'a [u8], Failure> {
        self.next().ok_or_else(|| Failure::new(Code::Argument, "an argument is missing"))
    }

    /// Returns the next argument, which is text.
    ///
    /// # Errors
    /// Returns an error if there is none, or it is not UTF-8. `index.js` never causes it.
    pub fn text(&mut self) -> Result<&'a str, Failure> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Failure::new(Code::Argument, "an argument is not UTF-8"))
    }

    /// Returns whether the next argument, a switch, is on: `1`.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn switch(&mut self) -> Result<bool, Failure> {
        Ok(self.bytes()? == b"1")
    }

    /// Returns the next argument, or `None` if its text is empty.
    ///
    /// # Errors
    /// Returns an error if there is none, or it is not UTF-8.
    pub fn given(&mut self) -> Result<Option<&'a str>, Failure> {
        Ok(Some(self.text()?).filter(|text| !text.is_empty()))
    }

    /// Returns the next arguments up to an empty one or the end, as texts.
    ///
    /// # Errors
    /// Returns an error if one is not UTF-8.
    pub fn list(&mut self) -> Result<Vec<&'a str>, Failure> {
        let mut texts = Vec::new();
        while !self.0.is_empty() {
            match self.given()? {
                Some(text) => texts.push(text),
                None => break,
            }
        }
        Ok(texts)
    }
}

impl<'a> Iterator for Args<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (len, rest) = self.0.split_first_chunk::<4>()?;
        let (argument, rest) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
        self.0 = rest;
        Some(argument)
    }
}
