//! Statements about pages from another archive: a WARC or WAT file that belongs to a WET file.

use std::collections::HashMap;
use std::path::Path;

use reptile::rights::Statements;
use xxhash_rust::xxh3::xxh3_128;

use super::{CrawlerNames, NextPage, Page, PageKind, Pages, kind_of};
use crate::text::grouped;
use crate::warc::unread;
use crate::{Error, Result};

/// Maximum number of pages whose statements are kept for joining.
pub const MAX_JOINED_PAGES: usize = 1 << 24;

/// Maximum size in bytes of the texts that are kept for joining.
pub const MAX_JOINED_BYTES: usize = 1 << 28;

/// The statements about pages, by the ID of their record, and by URL and date.
#[derive(Debug, Default)]
pub struct JoinedPages {
    /// The index of the page's statements in `statements`, by a hash of its ID or of its URL and date.
    pages: HashMap<u128, u32>,
    /// Distinct statements. Most pages say nothing, and share one entry.
    statements: Vec<Statements>,
    text_bytes: usize,
}

impl JoinedPages {
    /// Adds the pages of a WARC or WAT file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read to its end, is damaged, or has no pages with statements, and for more
    /// pages than [`MAX_JOINED_PAGES`] or texts than [`MAX_JOINED_BYTES`] in all files.
    pub fn add_file(&mut self, path: &Path, names: &CrawlerNames) -> Result<()> {
        let mut pages = Pages::open(path, false)?;
        let mut is_empty = true;
        loop {
            let record = match pages.next_record()? {
                NextPage::End => break,
                NextPage::Damaged(damage) => return Err(unread(path, &damage)),
                NextPage::Record(record) => record,
            };
            if matches!(kind_of(&record), Some(PageKind::Response | PageKind::Metadata))
                && let Some(page) = names.page(&record)
            {
                is_empty = false;
                self.add(page, MAX_JOINED_PAGES, MAX_JOINED_BYTES).map_err(|message| Error::at(path, message))?;
            }
        }
        if is_empty {
            return Err(Error::at(path, "has no responses; expected a WARC or WAT file"));
        }
        Ok(())
    }

    fn add(&mut self, page: Page, max_pages: usize, max_bytes: usize) -> std::result::Result<(), String> {
        let keys = [page.id.as_deref().map(id_key), page.date.as_deref().map(|date| url_key(&page.url, date))];
        let place = self.statements.iter().take(MAX_SHARED).position(|known| *known == page.statements);
        let place = place.unwrap_or_else(|| {
            self.text_bytes += page.statements.text_bytes();
            self.statements.push(page.statements);
            self.statements.len() - 1
        });
        if self.text_bytes > max_bytes {
            return Err(format!("its pages' statements have more than {} bytes", grouped(max_bytes as u64)));
        }
        if self.pages.len() / 2 >= max_pages {
            return Err(format!("has more than {} pages, with the files before it", grouped(max_pages as u64)));
        }
        for key in keys.into_iter().flatten() {
            self.pages.insert(key, place as u32);
        }
        Ok(())
    }

    /// Replaces a page's statements with the joined page's, found by the ID of its response, or else by URL and date.
    pub fn complete(&self, page: &mut Page) {
        let by_id = page.id.as_deref().and_then(|id| self.pages.get(&id_key(id)));
        let by_url = || page.date.as_deref().and_then(|date| self.pages.get(&url_key(&page.url, date)));
        if let Some(found) = by_id.or_else(by_url).and_then(|&place| self.statements.get(place as usize)) {
            page.statements.clone_from(found);
        }
    }
}

/// Number of statements that pages may share: the first are the most frequent.
const MAX_SHARED: usize = 16;

fn id_key(id: &[u8]) -> u128 {
    xxh3_128(&[b"i", id].concat())
}

fn url_key(url: &[u8], date: &[u8]) -> u128 {
    xxh3_128(&[b"u", date, b" ", url].concat())
}

#[cfg(test)]
mod tests {
    use reptile::rights::Channel;

    use super::*;

    fn page(number: usize, text: &[u8]) -> Page {
        let mut statements = Statements::default();
        statements.add(Channel::RobotsHeader, b"", text);
        let (url, date) = (b"https://example.com/".to_vec(), Some(format!("2026-01-{number}").into()));
        Page { url, date, id: Some(format!("<{number}>").into()), statements }
    }

    #[test]
    fn pages_are_found_by_id_or_by_url_and_date() {
        let mut joined = JoinedPages::default();
        joined.add(page(1, b"noai"), 9, 99).unwrap();
        let noai = page(1, b"noai").statements;
        for (id, date, is_found) in [
            (Some("<1>"), None, true),
            (Some("<2>"), Some("2026-01-1"), true),
            (None, Some("2026-01-1"), true),
            (Some("<2>"), Some("2026-01-2"), false),
            (None, None, false),
        ] {
            let (id, date) = (id.map(Into::into), date.map(Into::into));
            let mut page = Page { id, date, statements: Statements::unavailable(), ..page(2, b"") };
            joined.complete(&mut page);
            assert_eq!(page.statements == noai, is_found, "{page:?}");
            assert_eq!(page.statements == Statements::unavailable(), !is_found);
        }
    }

    #[test]
    fn joined_pages_stop_at_their_limits() {
        for count in [4, 5, 6] {
            let mut joined = JoinedPages::default();
            let added: std::result::Result<(), String> = (0..count).try_for_each(|n| joined.add(page(n, b""), 5, 99));
            assert_eq!(added.is_ok(), count <= 5, "{count}");
        }
        for len in [9, 10, 11] {
            let mut joined = JoinedPages::default();
            assert_eq!(joined.add(page(1, &vec![b'a'; len]), 9, 10).is_ok(), len <= 10, "{len}");
        }
    }
}
