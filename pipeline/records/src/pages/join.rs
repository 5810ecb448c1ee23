//! Statements about pages from other archives: a WARC or WAT file that belongs to a WET file, and websites' files about
//! mining.

use std::collections::HashMap;

use reptile::rights::Statements;
use xxhash_rust::xxh3::xxh3_128;

use super::tdm::TdmFiles;
use super::{CrawlerNames, NextPage, Page, PageKind, Pages, kind_of, page_of};
use crate::place::Place;
use crate::text::grouped;
use crate::warc::unread;
use crate::{Error, Result};

/// Maximum number of pages whose statements are kept for joining.
pub const MAX_JOINED_PAGES: usize = 1 << 24;

/// Maximum size in bytes of the texts that are kept for joining.
pub const MAX_JOINED_BYTES: usize = 1 << 28;

/// The statements about pages, by URL and the ID of their record, and by URL and date.
#[derive(Debug, Default)]
pub struct JoinedPages {
    /// The index of the page's statements in `statements`, by its [`keys`].
    pages: HashMap<u128, u32>,
    /// Distinct statements. Most pages say nothing, and share one entry.
    statements: Vec<Statements>,
    /// The websites' files `/.well-known/tdmrep.json`.
    tdm_files: TdmFiles,
    text_bytes: usize,
}

impl JoinedPages {
    /// Adds the pages of a WARC or WAT file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read to its end, is damaged, or has no pages with statements, and for more
    /// pages than [`MAX_JOINED_PAGES`] or texts than [`MAX_JOINED_BYTES`] in all files.
    pub fn add_file(&mut self, path: &Place, names: &CrawlerNames) -> Result<()> {
        let mut pages = Pages::open(path, false)?;
        let mut is_empty = true;
        loop {
            let record = match pages.next_record()? {
                NextPage::End => break,
                NextPage::Damaged(damage) => return Err(unread(path, &damage)),
                NextPage::Record(record) => record,
            };
            if matches!(kind_of(&record), Some(PageKind::Response | PageKind::Metadata))
                && let Some(page) = page_of(names, &record)
            {
                is_empty = false;
                self.text_bytes += self.tdm_files.add(&record);
                self.add(page, MAX_JOINED_PAGES, MAX_JOINED_BYTES).map_err(|message| Error::at(path, message))?;
            }
        }
        if is_empty {
            return Err(Error::at(path, "has no responses; expected a WARC or WAT file"));
        }
        Ok(())
    }

    fn add(&mut self, page: Page, max_pages: usize, max_bytes: usize) -> std::result::Result<(), String> {
        if self.pages.len() / 2 >= max_pages {
            return Err(format!("has more than {} pages, with the files before it", grouped(max_pages as u64)));
        }
        for key in keys(&page) {
            let place = match self.pages.get(&key).and_then(|&place| self.statements.get(place as usize)) {
                None => self.place(page.statements.clone()),
                Some(known) if *known == page.statements => continue,
                Some(known) => {
                    let mut merged = known.clone();
                    merged.merge(&page.statements);
                    self.place(merged)
                }
            };
            self.pages.insert(key, place);
        }
        if self.text_bytes > max_bytes {
            return Err(format!("its pages' statements have more than {} bytes", grouped(max_bytes as u64)));
        }
        Ok(())
    }

    /// Returns the index of these statements.
    fn place(&mut self, statements: Statements) -> u32 {
        let count = self.statements.len();
        // The last statements belong to the page's other key.
        let mut known = (0..count.min(MAX_SHARED)).chain(count.checked_sub(1));
        let place = known.find(|&place| self.statements[place] == statements);
        let place = place.unwrap_or_else(|| {
            self.text_bytes += statements.text_bytes();
            self.statements.push(statements);
            self.statements.len() - 1
        });
        place as u32
    }

    /// Replaces the statements of a WET file's page with the joined page's, found by its URL, and by the ID of its
    /// response or else by the date. Statements from several such records are merged. Adds the statement in the
    /// website's `tdmrep.json` to any page.
    pub fn complete(&self, page: &mut Page, kind: Option<PageKind>) {
        if kind == Some(PageKind::Text) {
            self.join(page);
        }
        self.tdm_files.complete(&page.url, &mut page.statements);
    }

    fn join(&self, page: &mut Page) {
        let found = keys(page).find_map(|key| self.pages.get(&key));
        if let Some(found) = found.and_then(|&place| self.statements.get(place as usize)) {
            page.statements.clone_from(found);
        }
    }
}

/// Returns the keys of a page: hashes of its URL with its ID and with its date.
fn keys(page: &Page) -> impl Iterator<Item = u128> {
    let key = |kind: &[u8], value: &Vec<u8>| xxh3_128(&[kind, value, b" ", &page.url].concat());
    [page.id.as_ref().map(|id| key(b"i", id)), page.date.as_ref().map(|date| key(b"d", date))].into_iter().flatten()
}

/// Number of statements that pages may share: the first are the most frequent.
const MAX_SHARED: usize = 16;

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
    fn pages_are_found_by_url_and_id_or_date() {
        let mut joined = JoinedPages::default();
        joined.add(page(1, b"noai"), 9, 99).unwrap();
        let noai = page(1, b"noai").statements;
        let mut cases = 0;
        for (url, id, date, is_found) in [
            ("/", Some("<1>"), None, true),
            ("/", Some("<2>"), Some("2026-01-1"), true),
            ("/", None, Some("2026-01-1"), true),
            ("/", Some("<2>"), Some("2026-01-2"), false),
            ("/", None, None, false),
            ("/other", Some("<1>"), None, false),
            ("/other", Some("<1>"), Some("2026-01-1"), false),
        ] {
            let (id, date) = (id.map(Into::into), date.map(Into::into));
            let url = format!("https://example.com{url}").into();
            let mut page = Page { url, id, date, statements: Statements::unavailable() };
            joined.complete(&mut page, Some(PageKind::Text));
            assert_eq!(page.statements == noai, is_found, "{page:?}");
            assert_eq!(page.statements == Statements::unavailable(), !is_found);
            cases += 1;
        }
        assert_eq!(cases, 7);
    }

    /// Neither of two records about one page is known to be the right one.
    #[test]
    fn records_of_one_page_are_merged_in_any_order() {
        let all = |number: usize, texts: &[&[u8]]| {
            let mut joined = JoinedPages::default();
            texts.iter().for_each(|text| joined.add(page(number, text), 9, 99).unwrap());
            let mut found = Page { statements: Statements::unavailable(), ..page(number, b"") };
            joined.complete(&mut found, Some(PageKind::Text));
            let has_noai = found.statements.of(Channel::RobotsHeader).any(|(_, text)| text == b"noai");
            (has_noai, found.statements.lacks(Channel::RobotsHeader), found.statements.lacks(Channel::RobotsMeta))
        };
        for (texts, expected) in [
            (&[&b"noai"[..], b"all"][..], (true, true, false)),
            (&[b"all", b"noai"], (true, true, false)),
            (&[b"all", b"noai", b"all"], (true, true, false)),
            (&[b"noai", b"noai"], (true, false, false)),
            (&[b"all", b"all"], (false, false, false)),
            (&[b"all", b"none"], (false, true, false)),
        ] {
            assert_eq!(all(1, texts), expected, "{texts:?}");
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
