//! Text assembled from short pieces, which are copied in fixed-size blocks. [`cells`](super::cells) defines their
//! meaning.

/// Number of bytes per copy; few lines are longer.
const BYTES_AT_ONCE: usize = 64;

/// A text padded for block copies.
pub struct Fixed {
    /// The text, padded with zeros to a whole block.
    pub bytes: Vec<u8>,
    /// The text's length.
    pub len: usize,
}

impl Fixed {
    /// Pads a text.
    pub fn new(mut bytes: Vec<u8>) -> Fixed {
        let len = bytes.len();
        bytes.resize(len.next_multiple_of(BYTES_AT_ONCE), 0);
        Fixed { bytes, len }
    }
}

/// A text that grows by short pieces. Its buffer is longer than the text, so that pieces can be copied in fixed-size
/// blocks, which is faster than copying exact lengths. The next piece overwrites any excess bytes. See
/// [`TableDecider`](crate::TableDecider) for an example.
#[derive(Default)]
pub struct Text {
    bytes: Vec<u8>,
    len: usize,
}

impl Text {
    /// Appends bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.reserve(bytes.len());
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Appends the first `len` bytes of `bytes`, in whole blocks while enough bytes remain.
    #[inline]
    pub fn push_start(&mut self, bytes: &[u8], len: usize) {
        self.reserve(len);
        let to = &mut self.bytes[self.len..];
        let mut at = 0;
        while at < len {
            match (to[at..].first_chunk_mut(), bytes[at..].first_chunk::<BYTES_AT_ONCE>()) {
                (Some(to), Some(from)) => *to = *from,
                _ => to[at..len].copy_from_slice(&bytes[at..len]),
            }
            at += BYTES_AT_ONCE;
        }
        self.len += len;
    }

    /// Appends a padded text.
    #[inline]
    pub fn push_fixed(&mut self, fixed: &Fixed) {
        self.reserve(fixed.len);
        let (to, _) = self.bytes[self.len..].as_chunks_mut::<BYTES_AT_ONCE>();
        let (from, _) = fixed.bytes.as_chunks();
        // The buffer has at least one block after the text.
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        self.len += fixed.len;
    }

    /// Returns the text.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Clears the text and keeps its memory.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Reserves `more` bytes and a block after them.
    #[inline]
    fn reserve(&mut self, more: usize) {
        if self.bytes.len() < self.len + more + BYTES_AT_ONCE {
            self.grow(more);
        }
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        let len = (self.bytes.len() * 2).max(self.len + more + BYTES_AT_ONCE);
        self.bytes.resize(len, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_length_are_joined() {
        let source: Vec<u8> = (0..=255).collect();
        for len in 0..200 {
            let (mut text, mut expected) = (Text::default(), Vec::new());
            for (rest, push_len) in [(0, len), (256 - len, len), (3, 1), (100, len / 2)] {
                text.push_start(&source[rest..], push_len);
                text.push(&source[..3]);
                expected.extend_from_slice(&source[rest..rest + push_len]);
                expected.extend_from_slice(&source[..3]);
            }
            let fixed = Fixed::new(vec![b'x'; len]);
            text.push_fixed(&fixed);
            expected.resize(expected.len() + len, b'x');
            assert_eq!(text.as_bytes(), expected, "{len}");
        }
    }
}
