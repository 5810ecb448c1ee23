//! The part of a URL that rules are matched against.

use std::borrow::Cow;

use memchr::memchr;

use super::error::UrlError;
use crate::norm::NormalForm;
use crate::platform::as_chunks;

/// The part of a URL that rules are matched against: path, parameters and query, without the fragment.
///
/// A path always reads as if it began with `/`. The borrowed bytes lack the slash if the URL does
/// (`http://host?query`), so read them through [`Path::with`].
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) slash_missing: bool,
    /// Whether the bytes contain nothing that most normal forms change; see [`NormalForm::keeps_unescapable`]. May be
    /// false if this was not checked.
    pub(super) is_unescapable: bool,
}

/// Compares the bytes, and ignores `is_unescapable`.
impl PartialEq for Path<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.bytes, self.slash_missing) == (other.bytes, other.slash_missing)
    }
}

impl Eq for Path<'_> {}

impl<'a> Path<'a> {
    /// Wraps the bytes of a whole path, which begins with a slash.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Path<'a> {
        Path { bytes, slash_missing: false, is_unescapable: false }
    }

    /// Wraps a path that begins with a slash. `is_unescapable` may be true only if [`NormalForm::keeps_unescapable`]
    /// applies to the bytes.
    #[inline]
    pub(crate) const fn ordinary(bytes: &'a [u8], is_unescapable: bool) -> Path<'a> {
        Path { bytes, slash_missing: false, is_unescapable }
    }

    /// Returns the path in a normal form. Copies the path only if its bytes must change.
    #[inline(always)]
    pub(crate) fn normal(&self, form: NormalForm) -> Cow<'a, [u8]> {
        match self.is_unescapable && form.keeps_unescapable() {
            true => Cow::Borrowed(self.bytes),
            // Not a method, because a reference to `self` would force every path into memory between its URL and its
            // walk.
            false => normal_of(self.bytes, self.slash_missing, form),
        }
    }

    /// Calls `look` with the path's bytes.
    ///
    /// Copies them only in the rare case that the slash is missing.
    #[inline]
    pub fn with<R>(&self, look: impl FnOnce(&[u8]) -> R) -> R {
        if self.slash_missing { look(&self.to_vec()) } else { look(self.bytes) }
    }

    /// Copies the path's bytes.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let slash: &[u8] = if self.slash_missing { b"/" } else { b"" };
        [slash, self.bytes].concat()
    }
}

/// Implements [`Path::normal`] for any path.
#[inline(never)]
fn normal_of(bytes: &[u8], slash_missing: bool, form: NormalForm) -> Cow<'_, [u8]> {
    if slash_missing {
        return Cow::Owned(form.path(&[b"/", bytes].concat()).into_owned());
    }
    form.path(bytes)
}

/// Returns whether a byte is invalid in a URL and would break a line or column of output.
const fn is_control(byte: u8) -> bool {
    matches!(byte, 0 | b'\t' | b'\n' | b'\r')
}

/// Returns whether a URL has a control byte or a `#` after its authority. Examines every byte, in blocks that compile
/// to vector instructions. The last block overlaps the block before it, because a loop over the remaining bytes would
/// cost more than all the blocks (6 ns of 65 per URL, including the search for `#`).
#[inline]
pub(super) fn has_special(text: &[u8]) -> bool {
    let any = |bytes: &[u8]| bytes.iter().fold(false, |found, &byte| found | is_control(byte) | (byte == b'#'));
    let any_of_block = |block: &[u8; 16]| any(block);
    let (blocks, rest) = as_chunks(text);
    let found = blocks.iter().fold(false, |found, block| found | any_of_block(block));
    found | text.last_chunk().map_or_else(|| any(rest), any_of_block)
}

/// Returns the path of a text in which [`has_special`] found a byte, or an error if it was a control byte.
#[cold]
pub(super) fn path_with_special(tail: &[u8]) -> Result<Path<'_>, UrlError> {
    if tail.iter().any(|&byte| is_control(byte)) {
        return Err(UrlError::Control);
    }
    Ok(path_from(tail))
}

/// Returns the path of a URL, given the text after its authority.
#[inline]
pub(super) fn path_from(tail: &[u8]) -> Path<'_> {
    path_of_tail(match memchr(b'#', tail) {
        Some(fragment) => &tail[..fragment],
        None => tail,
    })
}

/// Implements [`path_from`] for text without a fragment.
#[inline]
pub(super) fn path_of_tail(tail: &[u8]) -> Path<'_> {
    match tail.first() {
        None => Path::new(b"/"),
        Some(b'/') => Path::new(tail),
        Some(_) => Path { slash_missing: true, ..Path::new(tail) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_bytes_are_found_at_every_position() {
        for byte in 0..=u8::MAX {
            assert_eq!(has_special(&[byte]), b"\0\t\n\r#".contains(&byte), "{byte}");
        }
        for len in 0..70 {
            let mut text = vec![b'a'; len];
            assert!(!has_special(&text), "{len}");
            for (at, byte) in (0..len).flat_map(|at| [(at, 0), (at, b'\t'), (at, b'\n'), (at, b'\r'), (at, b'#')]) {
                text[at] = byte;
                assert!(has_special(&text), "{byte} at {at} of {len}");
                text[at] = b'a';
            }
        }
    }

    #[test]
    fn two_special_bytes_are_found_at_every_position() {
        for (first, second) in (0..70).flat_map(|first| (first + 1..70).map(move |second| (first, second))) {
            let mut text = [b'a'; 100];
            (text[first], text[second]) = (b'#', b'#');
            assert!(has_special(&text), "{first}, {second}");
            text[second] = b'\n';
            assert!(has_special(&text), "{first}, {second}");
        }
    }
}
