//! A batch of a column's cells, as texts in kept pages or copies.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use crate::captures::Cell;

/// Number of rows at which a batch is complete.
const BATCH_ROWS: usize = 1 << 16;

/// Total size of a column's texts, in bytes, at which a batch is complete.
pub const BATCH_BYTES: usize = 2 << 20;

/// Maximum size in bytes of a page that is kept until its cells are used. Writers make pages of about a megabyte. Texts
/// from larger pages are copied.
const MAX_KEPT_PAGE_BYTES: usize = 4 << 20;

/// Total size of kept pages, in bytes, at which a batch is complete.
const MAX_KEPT_BYTES: usize = 8 << 20;

/// A column's consecutive cells. A text stays in its page if the page is kept; otherwise it is copied.
pub struct Cells {
    /// Copies of texts whose pages are not kept.
    pub(super) own: Vec<u8>,
    pages: Vec<Bytes>,
    /// The dictionary's index among the pages, and its cached lookups.
    dictionary: Option<(u32, Hosts)>,
    /// Total size in bytes of pages that are kept only for these cells.
    pub(super) page_bytes: usize,
    places: Vec<TextLocation>,
    /// Total text size in bytes.
    text_bytes: usize,
    /// Maximum length of a kept cell in bytes.
    pub limit: usize,
}

/// A caller's cached lookups for a dictionary's texts, if they are hosts. The first caller creates them.
pub type Hosts = Arc<OnceLock<Box<dyn Any + Send + Sync>>>;

/// Dictionary bytes per host number. Each text follows its four-byte length, so no two texts start within the same four
/// bytes.
const BYTES_PER_NUMBER: usize = 4;

/// A text's location.
#[derive(Clone, Copy)]
struct TextLocation {
    /// The page's index among the kept pages, or one of the constants below.
    page: u32,
    len: u32,
    start: u32,
}

/// Marks a copied text, whose page is not kept.
const OWN: u32 = u32::MAX;

/// Marks a cell without a text.
const NULL: u32 = u32::MAX - 1;

/// Marks a text that is too long to be kept.
const TOO_LONG: u32 = u32::MAX - 2;

impl Cells {
    /// Creates an empty list. Cells longer than `limit` bytes are not kept.
    pub fn new(limit: usize) -> Cells {
        let (own, pages, places) = (Vec::new(), Vec::new(), Vec::new());
        Cells {
            own,
            pages,
            dictionary: None,
            page_bytes: 0,
            places,
            text_bytes: 0,
            limit: limit.min(TOO_LONG as usize),
        }
    }

    /// Returns the number of cells.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the total text size in bytes.
    pub fn text_bytes(&self) -> usize {
        self.text_bytes
    }

    /// Returns the cell at an index.
    #[inline]
    pub fn get(&self, at: usize) -> Cell<'_> {
        let TextLocation { page, len, start } = self.places[at];
        let bytes = match self.pages.get(page as usize) {
            Some(page) => page,
            None if page == OWN => &self.own[..],
            None if page == NULL => return Cell::Null,
            None => return Cell::TooLong,
        };
        Cell::Text(&bytes[start as usize..][..len as usize])
    }

    /// Returns the number of a cell's text in the dictionary, or `None` if it is not a dictionary text.
    /// [`Cells::hosts`] returns an upper bound for these numbers.
    #[inline]
    pub fn number(&self, at: usize) -> Option<usize> {
        let TextLocation { page, start, .. } = self.places[at];
        let (dictionary, _) = self.dictionary.as_ref()?;
        (*dictionary == page).then_some(start as usize / BYTES_PER_NUMBER)
    }

    /// Returns the dictionary's cached lookups, and an upper bound for its text numbers.
    pub fn hosts(&self) -> Option<(&Hosts, usize)> {
        let (page, hosts) = self.dictionary.as_ref()?;
        let bytes = self.pages.get(*page as usize)?;
        Some((hosts, bytes.len() / BYTES_PER_NUMBER + 1))
    }

    /// Reserves memory for a batch of at most `rows` cells, and for the last read's surplus rows.
    pub fn reserve(&mut self, rows: usize) {
        self.places.reserve(rows.min(BATCH_ROWS + BATCH_ROWS / 8));
    }

    /// Removes the cells, and keeps the memory.
    pub fn clear(&mut self) {
        self.own.clear();
        self.dictionary = None;
        self.pages.clear();
        self.places.clear();
        (self.page_bytes, self.text_bytes) = (0, 0);
    }

    /// Returns whether the batch is complete.
    pub fn is_full(&self) -> bool {
        self.places.len() >= BATCH_ROWS || self.text_bytes >= BATCH_BYTES || self.page_bytes >= MAX_KEPT_BYTES
    }

    /// Keeps a page for as long as its cells. Returns its index, or `None` if it is too large.
    pub fn keep_page(&mut self, page: &Bytes) -> Option<u32> {
        let count = self.pages.len();
        let place = self.keep(page);
        if self.pages.len() > count {
            self.page_bytes += page.len();
        }
        place
    }

    /// Keeps a dictionary, which its row group's cells share, and its cached lookups. Returns its index, or `None` if
    /// it is too large: the last cells that need it may still be waiting.
    pub fn keep_dictionary(&mut self, page: &Bytes, hosts: &Hosts) -> Option<u32> {
        let place = self.keep(page)?;
        if self.dictionary.as_ref().is_none_or(|(before, _)| *before != place) {
            self.dictionary = Some((place, Arc::clone(hosts)));
        }
        Some(place)
    }

    fn keep(&mut self, page: &Bytes) -> Option<u32> {
        if page.len() > MAX_KEPT_PAGE_BYTES { None } else { self.keep_buffer(page) }
    }

    /// Keeps a buffer of any size that is in memory already, for other columns or later rows. Returns its index.
    pub fn keep_buffer(&mut self, page: &Bytes) -> Option<u32> {
        if self.pages.last().is_none_or(|last| (last.as_ptr(), last.len()) != (page.as_ptr(), page.len())) {
            self.pages.push(page.clone());
        }
        u32::try_from(self.pages.len() - 1).ok().filter(|&place| place < TOO_LONG)
    }

    /// Adds a text that starts at `start` in a kept page. Without a page, the text is copied.
    #[inline]
    pub fn push_of(&mut self, page: Option<u32>, start: usize, text: &[u8]) {
        match page {
            Some(page) if text.len() <= self.limit => {
                self.text_bytes += text.len();
                self.places.push(TextLocation { page, len: text.len() as u32, start: start as u32 });
            }
            _ => self.push(text),
        }
    }

    /// Adds a copy of a text.
    #[inline]
    pub fn push(&mut self, text: &[u8]) {
        if text.len() > self.limit {
            self.places.push(TextLocation { page: TOO_LONG, len: 0, start: 0 });
            return;
        }
        self.places.push(TextLocation { page: OWN, len: text.len() as u32, start: self.own.len() as u32 });
        self.text_bytes += text.len();
        self.own.extend_from_slice(text);
    }

    /// Adds an empty cell.
    pub fn push_null(&mut self) {
        self.places.push(TextLocation { page: NULL, len: 0, start: 0 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_over_the_limit_are_not_kept() {
        let mut cells = Cells::new(8);
        for len in [0, 7, 8, 9] {
            cells.push(&vec![b'a'; len]);
        }
        cells.push_null();
        cells.push(b"end");
        let found: Vec<Cell<'_>> = (0..cells.len()).map(|at| cells.get(at)).collect();
        let texts = [Cell::Text(b""), Cell::Text(b"aaaaaaa"), Cell::Text(b"aaaaaaaa")];
        assert_eq!(found, [&texts[..], &[Cell::TooLong, Cell::Null, Cell::Text(b"end")]].concat());
    }

    #[test]
    fn kept_pages_stop_at_their_limits() {
        for (len, is_kept) in
            [(MAX_KEPT_PAGE_BYTES - 1, true), (MAX_KEPT_PAGE_BYTES, true), (MAX_KEPT_PAGE_BYTES + 1, false)]
        {
            let mut cells = Cells::new(8);
            let page = Bytes::from(vec![b'a'; len]);
            for _ in 0..3 {
                let place = cells.keep_page(&page);
                assert_eq!(place, is_kept.then_some(0), "{len}");
                cells.push_of(place, 5, &page[5..8]);
            }
            assert_eq!((cells.page_bytes, cells.own.len()), if is_kept { (len, 0) } else { (0, 9) });
            assert!((0..3).all(|at| cells.get(at) == Cell::Text(b"aaa")));
        }
        for (len, is_full) in [(MAX_KEPT_BYTES - 1, false), (MAX_KEPT_BYTES, true), (MAX_KEPT_BYTES + 1, true)] {
            let mut cells = Cells::new(8);
            cells.keep_dictionary(&Bytes::from(vec![b'a'; MAX_KEPT_PAGE_BYTES]), &Hosts::default());
            assert!(!cells.is_full());
            let pages = [MAX_KEPT_PAGE_BYTES, (len - MAX_KEPT_PAGE_BYTES).min(MAX_KEPT_PAGE_BYTES)];
            for len in pages {
                cells.keep_page(&Bytes::from(vec![b'a'; len]));
            }
            cells.keep_page(&Bytes::from(vec![b'a'; len - pages.iter().sum::<usize>()]));
            assert_eq!(cells.is_full(), is_full, "{len}");
            cells.clear();
            assert!(!cells.is_full() && cells.pages.is_empty());
        }
    }
}
