//! Reads archives: the captures in them, and the pages in them.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use reptile::rights::Profile;
use reptile::{Dialect, Robots};
use reptile_columns::{AnswerFormat, AnswerRows, RightsTable, RowFormat};
use reptile_records::open::Input;
use reptile_records::pages::{CrawlerNames, NextPage, Pages, page_of};
use reptile_records::place::Place;
use reptile_records::spill::Scratch;
use reptile_records::warc::InputPlace;
use reptile_records::{Item, ReadOptions, Reading};

use crate::files;

/// The items that were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// Responses with captures, or records.
    pub records: u64,
    /// Captures, or pages.
    pub found: u64,
}

/// Reads all captures of an input, with their bodies. With `searches`, reading continues after damage. Returns `None`
/// if the input is not captures, or cannot be read to its end.
#[must_use]
pub fn captures(path: &Path, searches: bool) -> Option<Read> {
    read(path, &ReadOptions { resync: searches, ..ReadOptions::default() })
}

/// Reads all captures that an index of WARC records lists in the file `w`. Returns `None` if the input is not such an
/// index, or cannot be read to its end.
#[must_use]
pub fn indexed(path: &Path) -> Option<Read> {
    read(path, &ReadOptions { warc_root: Some(Place::from(&**ROOT)), ..ReadOptions::default() })
}

/// A folder with a WARC file `w` of one record.
static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
    let block = "HTTP/1.1 200 OK\r\n\r\nuser-agent: *\ndisallow: /a\n";
    let record = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: \
         http://a.example/robots.txt\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    );
    let folder = files::written(b"").with_extension("root");
    std::fs::create_dir_all(&folder).expect("a folder for the WARC file");
    std::fs::write(folder.join("w"), record).expect("a writable folder");
    folder
});

fn read(path: &Path, options: &ReadOptions) -> Option<Read> {
    let reading = Reading::new(options, Scratch::default());
    let mut read = Read::default();
    let mut add = |item: Item| {
        item.read(&mut |item| {
            if let Ok(Some(response)) = item.into_response() {
                read.records += 1;
                read.found += response.captures.len() as u64;
            }
            Ok(())
        })
    };
    reading.read(Input::open(path).ok()?, InputPlace::default(), &mut add).ok()?;
    reading.resolve(&mut add).ok()?;
    Some(read)
}

/// The rights to a page, by rules of every kind.
static TABLE: LazyLock<RightsTable> = LazyLock::new(|| {
    let body = "user-agent: *\ndisallow: /private\ncontent-usage: train-ai=n\ncontent-signal: search=yes\n";
    let robots = Robots::parse(body, Dialect::google()).expect("a valid file");
    let query = Profile::named("aipref").expect("a profile that ships").query(["train-ai", "search"]);
    RightsTable::new(robots.agents(["GPTBot"]).expect("a valid name"), query.expect("uses of the profile"), None, false)
});

/// The names that elements for the table's crawlers have, and the format of its rows.
static NAMES_AND_FORMAT: LazyLock<(CrawlerNames, RowFormat)> =
    LazyLock::new(|| (TABLE.names(), TABLE.format(AnswerFormat::Tsv)));

/// Decides all pages of an archive. Returns `None` if the input is not an archive, or cannot be read.
///
/// # Panics
/// Panics unless each page has exactly one row.
#[must_use]
pub fn pages(path: &Path, searches: bool) -> Option<Read> {
    let (names, format) = &*NAMES_AND_FORMAT;
    let mut pages = Pages::open(path, searches).ok()?;
    let (mut read, mut rows) = (Read::default(), AnswerRows::default());
    loop {
        match pages.next_record().ok()? {
            NextPage::End => break,
            NextPage::Damaged(_) => {}
            NextPage::Record(record) => {
                read.records += 1;
                if let Some(page) = page_of(&names, &record) {
                    read.found += 1;
                    TABLE.push(&page, &TABLE.decide(&page).expect("the robots.txt is valid"), format, &mut rows);
                }
            }
        }
    }
    let AnswerRows::Text(text) = &rows else { panic!("TSV is text") };
    let lines = text.as_bytes().iter().filter(|&&byte| byte == b'\n').count() as u64;
    assert_eq!(lines, read.found, "rows of pages");
    Some(read)
}
