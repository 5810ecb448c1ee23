//! The normal forms: how the bytes of a URL path and of a rule's pattern are made comparable.
//!
//! Both sides go through this file and no other. A set names one normal form in its header; the compiler
//! applied [`NormalForm::pattern`] to every rule of that set, and every look-up applies [`NormalForm::path`] to
//! its URL. Which reading of the protocol uses which form is not known here.
//!
//! In a normalised pattern two bytes are operators: every `*` stands for any run of bytes, also the empty one,
//! and a `$` that is the very last byte stands for the end of the path. Every other byte is itself. A form that
//! lets a rule name a literal `*` or `$` must keep it escaped on both sides.

use std::borrow::Cow;

/// A way of writing paths and patterns so that equal things have equal bytes.
///
/// The number of each form is stored in set files and never changes its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NormalForm {
    /// The path is taken as it is, up to a NUL byte. In a pattern the hex digits of `%xx` become upper case and
    /// bytes of 0x80 and above become `%XX`; nothing is decoded. Number 1.
    AsWritten,
}

impl NormalForm {
    /// The number that stands for this form in a set file.
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            NormalForm::AsWritten => 1,
        }
    }

    /// The form with this number, or `None` if this version of the engine does not know it.
    #[must_use]
    pub const fn from_number(number: u32) -> Option<NormalForm> {
        match number {
            1 => Some(NormalForm::AsWritten),
            _ => None,
        }
    }

    /// The normal form of a URL's path and query. Borrows when nothing has to change; one pass otherwise.
    #[must_use]
    pub fn path(self, path: &[u8]) -> Cow<'_, [u8]> {
        match self {
            NormalForm::AsWritten => Cow::Borrowed(path),
        }
    }

    /// The normal form of a rule's pattern. Borrows when nothing has to change; one pass otherwise, and at most
    /// three times the length.
    ///
    /// ```
    /// use reptile_engine::norm::NormalForm;
    /// let form = NormalForm::AsWritten;
    /// assert_eq!(&*form.pattern(b"/a/b"), b"/a/b");
    /// assert_eq!(&*form.pattern("/á%7e%".as_bytes()), b"/%C3%A1%7E%");
    /// ```
    #[must_use]
    pub fn pattern(self, pattern: &[u8]) -> Cow<'_, [u8]> {
        match self {
            NormalForm::AsWritten => escape_as_written(pattern),
        }
    }
}

fn escape_as_written(pattern: &[u8]) -> Cow<'_, [u8]> {
    let changes = |at: usize| match pattern[at] {
        b'%' => hex_pair(pattern, at).is_some_and(|pair| pair.iter().any(u8::is_ascii_lowercase)),
        byte => !byte.is_ascii(),
    };
    let Some(first) = (0..pattern.len()).find(|&at| changes(at)) else {
        return Cow::Borrowed(pattern);
    };
    let mut out = Vec::with_capacity(pattern.len() + 16);
    out.extend_from_slice(&pattern[..first]);
    let mut at = first;
    while at < pattern.len() {
        match (pattern[at], hex_pair(pattern, at)) {
            (b'%', Some(pair)) => {
                out.extend_from_slice(&[b'%', pair[0].to_ascii_uppercase(), pair[1].to_ascii_uppercase()]);
                at += 3;
            }
            (byte, _) if byte.is_ascii() => {
                out.push(byte);
                at += 1;
            }
            (byte, _) => {
                const HEX: &[u8; 16] = b"0123456789ABCDEF";
                out.extend_from_slice(&[b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
                at += 1;
            }
        }
    }
    Cow::Owned(out)
}

/// The two hex digits after the byte at `at`, if they are both there.
fn hex_pair(text: &[u8], at: usize) -> Option<[u8; 2]> {
    let pair = [*text.get(at + 1)?, *text.get(at + 2)?];
    pair.iter().all(u8::is_ascii_hexdigit).then_some(pair)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes_as_the_reference_does() {
        // The table of the reference's MaybeEscapePattern, as measured.
        let table: [(&[u8], &[u8]); 10] = [
            (b"/a/b/c", b"/a/b/c"),
            ("á".as_bytes(), b"%C3%A1"),
            (b"%aa", b"%AA"),
            (b"%%41", b"%%41"),
            (b"%gg", b"%gg"),
            (b"%4", b"%4"),
            (b"%", b"%"),
            (b"~%7e", b"~%7E"),
            (b"%2a*%24$", b"%2A*%24$"),
            (b"/a b", b"/a b"),
        ];
        for (raw, escaped) in table {
            assert_eq!(&*NormalForm::AsWritten.pattern(raw), escaped);
        }
    }

    #[test]
    fn numbers_round_trip() {
        let form = NormalForm::AsWritten;
        assert_eq!(NormalForm::from_number(form.number()), Some(form));
        assert_eq!(NormalForm::from_number(0), None);
    }

    proptest! {
        #[test]
        fn pattern_is_idempotent_and_ascii(raw in proptest::collection::vec(any::<u8>(), 0..64)) {
            let once = NormalForm::AsWritten.pattern(&raw).into_owned();
            prop_assert!(once.is_ascii());
            prop_assert_eq!(&*NormalForm::AsWritten.pattern(&once), &once[..]);
        }
    }
}
