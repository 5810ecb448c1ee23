//! `filter --rights`: keeps the pages that may be fetched and used for a purpose.
//!
//! Only a response has statements. Requests and metadata about a page follow its response: those before it wait, and
//! those after it share its verdict.

use std::collections::VecDeque;

use reptile::{Agents, Error, Verdict};
use reptile_columns::RightsTable;
use reptile_records::pages::{CrawlerNames, JoinedPages, PageKind, kind_of};
use reptile_records::warc::raw::Stored;
use reptile_records::warc::records::Record;

use crate::error::{Failure, Result};
use crate::options::{PurposeOptions, RightsOptions};

/// Maximum number of records that wait for their page's response. Crawlers write a request before a response.
const MAX_WAITING: usize = 16;

/// The question about pages.
pub struct PageFilter {
    table: RightsTable,
    names: CrawlerNames,
    joined: JoinedPages,
}

impl PageFilter {
    /// Prepares the question, and reads the files of `--rights-from`. Returns `None` without `--rights`.
    ///
    /// # Errors
    /// Returns an error for an invalid profile or use, if only one of `--rights` and `--purpose` is given, and for an
    /// unreadable file.
    pub fn open(
        rights: &RightsOptions,
        purpose: &PurposeOptions,
        agents: &Agents,
        by_time: bool,
    ) -> Result<Option<PageFilter>> {
        let (name, unknown) = match (&rights.rights, purpose.given()) {
            (None, None) => return Ok(None),
            (Some(_), Some(given)) => given,
            (Some(_), None) => {
                let message =
                    "--rights: requires --purpose USE, the use that kept pages must permit, and --unknown-usage";
                return Err(Failure::new(message));
            }
            (None, Some(_)) => {
                let message = "--purpose: requires --rights PROFILE; with the profile robots, only robots.txt counts";
                return Err(Failure::new(message));
            }
        };
        let query = rights.query(&[name], None)?;
        let table = RightsTable::new(agents.clone(), query, Some(unknown), by_time);
        let names = table.names();
        let joined = rights.joined(&names)?;
        Ok(Some(PageFilter { table, names, joined }))
    }

    /// Returns each crawler's verdict about a page, or `None` for a record that is not a page. A page without a valid
    /// time is invalid if the set has times.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn verdicts(&self, record: &Record) -> std::result::Result<Option<Vec<Verdict>>, Error> {
        let Some(mut page) = self.names.page(record) else { return Ok(None) };
        if kind_of(record) == Some(PageKind::Text) {
            self.joined.complete(&mut page);
        }
        let decided = self.table.decide(&page)?;
        Ok(Some(decided.rights.iter().map(|rights| self.table.verdict(rights)).collect()))
    }
}

/// The records that wait for their page's response, and the last response's verdict.
#[derive(Default)]
pub struct Followers {
    waiting: VecDeque<(Record, Stored)>,
    last: Option<(Vec<u8>, Verdict)>,
}

/// A record with its verdict, or without one if the record is not about a page.
pub type Followed = (Record, Stored, Option<Verdict>);

impl Followers {
    /// Adds a response's record, and returns the records that precede it, with their verdicts, and then itself.
    pub fn page(&mut self, record: Record, stored: Stored, verdict: Verdict) -> Vec<Followed> {
        let target = record.target.clone().unwrap_or_default();
        let mut all: Vec<Followed> = self
            .waiting
            .drain(..)
            .map(|(waiting, stored)| {
                let is_of_page = waiting.target.as_ref() == Some(&target);
                (waiting, stored, Some(if is_of_page { verdict } else { Verdict::Unknown }))
            })
            .collect();
        all.push((record, stored, Some(verdict)));
        self.last = Some((target, verdict));
        all
    }

    /// Adds another record, and returns the records whose verdicts are known.
    pub fn other(&mut self, record: Record, stored: Stored) -> Vec<Followed> {
        let mut all = Vec::new();
        let Some(target) = &record.target else {
            all.extend(self.end());
            all.push((record, stored, None));
            return all;
        };
        if let Some((last, verdict)) = &self.last
            && last == target
            && self.waiting.is_empty()
        {
            let verdict = *verdict;
            all.push((record, stored, Some(verdict)));
            return all;
        }
        if self.waiting.front().is_some_and(|(waiting, _)| waiting.target.as_ref() != Some(target))
            || self.waiting.len() >= MAX_WAITING
        {
            all.extend(self.end());
        }
        self.waiting.push_back((record, stored));
        all
    }

    /// Ends the wait: no response follows, so the permission is unknown.
    pub fn end(&mut self) -> Vec<Followed> {
        self.last = None;
        self.waiting.drain(..).map(|(record, stored)| (record, stored, Some(Verdict::Unknown))).collect()
    }
}

#[cfg(test)]
mod tests {
    use reptile_records::warc::raw::{NextStored, PlainRecords};

    use super::*;

    fn record(target: &str) -> (Record, Stored) {
        let text =
            format!("WARC/1.0\r\nWARC-Type: request\r\nWARC-Target-URI: {target}\r\nContent-Length: 0\r\n\r\n\r\n\r\n");
        match PlainRecords::new(text.as_bytes(), false).next_record().unwrap() {
            NextStored::Record(record, stored) => (record, stored),
            _ => panic!("not a record"),
        }
    }

    #[test]
    fn requests_wait_up_to_the_limit() {
        for count in [MAX_WAITING - 1, MAX_WAITING, MAX_WAITING + 1] {
            let mut followers = Followers::default();
            let mut early = 0;
            for _ in 0..count {
                let (record, stored) = record("https://example.com/");
                early += followers.other(record, stored).len();
            }
            assert_eq!(early > 0, count > MAX_WAITING, "{count}");
            let (record, stored) = record("https://example.com/");
            let all = followers.page(record, stored, Verdict::Allow);
            assert_eq!(all.len() + early, count + 1);
            assert!(all.iter().all(|(_, _, verdict)| *verdict == Some(Verdict::Allow)));
        }
    }

    #[test]
    fn records_follow_only_their_own_page() {
        let mut followers = Followers::default();
        let mut all: Vec<Followed> = Vec::new();
        for (target, verdict) in [
            ("https://a.example/", None),
            ("https://b.example/", None),
            ("https://b.example/", Some(Verdict::Allow)),
            ("https://b.example/", None),
            ("https://c.example/", None),
            ("https://b.example/", None),
            ("https://c.example/", Some(Verdict::Disallow)),
        ] {
            let (record, stored) = record(target);
            all.extend(match verdict {
                Some(verdict) => followers.page(record, stored, verdict),
                None => followers.other(record, stored),
            });
        }
        all.extend(followers.end());
        let found: Vec<_> = all.iter().map(|(_, _, verdict)| verdict.unwrap()).collect();
        use Verdict::{Allow, Disallow, Unknown};
        assert_eq!(found, [Unknown, Allow, Allow, Allow, Unknown, Unknown, Disallow]);
    }
}
