//! `filter --rights`: keeps the pages that may be fetched and used for a purpose.
//!
//! Only a response has statements. Requests and metadata about a page share the verdict of the response with their URL
//! that precedes or follows them, without other URLs in between.

use std::collections::VecDeque;

use reptile::{Agents, Error, Verdict};
use reptile_columns::RightsTable;
use reptile_records::pages::{CrawlerNames, JoinedPages, kind_of, page_of};
use reptile_records::warc::raw::Stored;
use reptile_records::warc::records::Record;

use super::plan::Plan;
use crate::error::{Failure, Result};

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
    pub fn open(plan: &Plan, agents: &Agents, by_time: bool) -> Result<Option<PageFilter>> {
        let (name, unknown) = match (&plan.rights.rights, &plan.purpose) {
            (None, None) => return Ok(None),
            (Some(_), Some(given)) => given,
            (Some(_), None) => {
                let message = "--rights: requires --purpose USE, the use that kept pages must permit, and --treat \
                               unknown-usage=VERDICT";
                return Err(Failure::new(message));
            }
            (None, Some(_)) => {
                let message = "--purpose: requires --rights PROFILE; with the profile robots, only robots.txt counts";
                return Err(Failure::new(message));
            }
        };
        let query = plan.rights.query(&[name], None)?;
        let table = RightsTable::new(agents.clone(), query, Some(*unknown), by_time);
        let names = table.names();
        let joined = plan.rights.joined(&names)?;
        Ok(Some(PageFilter { table, names, joined }))
    }

    /// Returns each crawler's verdict about a page, or `None` for a record that is not a page. A page without a valid
    /// time is invalid if the set has times.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn verdicts(&self, record: &Record) -> std::result::Result<Option<Vec<Verdict>>, Error> {
        let Some(mut page) = page_of(&self.names, record) else { return Ok(None) };
        self.joined.complete(&mut page, kind_of(record));
        let decided = self.table.decide(&page)?;
        Ok(Some(decided.rights.iter().map(|rights| self.table.verdict(rights)).collect()))
    }
}

/// The records that wait for their page's response.
#[derive(Default)]
pub struct Followers {
    /// The records, with the verdict about the preceding response if it has the same URL.
    waiting: VecDeque<(Record, Stored, Option<Verdict>)>,
    /// The URL and the verdict of the last response, if only records with its URL followed.
    last: Option<(Vec<u8>, Verdict)>,
}

/// A record with its verdict, or without one if the record is not about a page.
pub type Followed = (Record, Stored, Option<Verdict>);

impl Followers {
    /// Adds a response's record, and returns the records that precede it, with their verdicts, and then itself. A record
    /// between two responses with its URL belongs to one of them: its verdict is unknown if theirs differ.
    pub fn page(&mut self, record: Record, stored: Stored, verdict: Verdict) -> Vec<Followed> {
        let target = record.target.clone().unwrap_or_default();
        let verdict_of = |waiting: &Record, before: Option<Verdict>| match before {
            _ if waiting.target.as_ref() != Some(&target) => before.unwrap_or(Verdict::Unknown),
            Some(before) if before != verdict => Verdict::Unknown,
            _ => verdict,
        };
        let waiting = self.waiting.drain(..);
        let mut all: Vec<Followed> = waiting
            .map(|(waiting, stored, before)| {
                let verdict = verdict_of(&waiting, before);
                (waiting, stored, Some(verdict))
            })
            .collect();
        all.push((record, stored, Some(verdict)));
        self.last = Some((target, verdict));
        all
    }

    /// Adds another record, and returns the records whose verdicts are known.
    pub fn other(&mut self, record: Record, stored: Stored) -> Vec<Followed> {
        let Some(target) = &record.target else {
            let mut all = self.end();
            all.push((record, stored, None));
            return all;
        };
        let is_other = |known: Option<&Vec<u8>>| known.is_some_and(|known| known != target);
        let mut all = Vec::new();
        let first = self.waiting.front().and_then(|(waiting, ..)| waiting.target.as_ref());
        if is_other(self.last.as_ref().map(|(last, _)| last)) || is_other(first) {
            all = self.end();
        }
        if self.waiting.len() >= MAX_WAITING {
            // A response that is still to come may have another verdict.
            self.waiting.iter_mut().for_each(|(.., before)| *before = None);
            all = self.end();
        }
        let before = self.last.as_ref().map(|(_, verdict)| *verdict);
        self.waiting.push_back((record, stored, before));
        all
    }

    /// Ends the wait: no response follows, so the preceding response's verdict counts, or it is unknown.
    pub fn end(&mut self) -> Vec<Followed> {
        self.last = None;
        let waiting = self.waiting.drain(..);
        waiting.map(|(record, stored, before)| (record, stored, Some(before.unwrap_or(Verdict::Unknown)))).collect()
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

    /// Letters are URLs. A response has a verdict: `+` allow or `-` disallow.
    #[test]
    fn records_follow_only_their_own_page() {
        let cases = [
            ("a b b+ b c b c-", "?+++??-"),
            ("a a+", "++"),
            ("a+ a b+", "+++"),
            ("a+ a a+ a", "++++"),
            ("a+ a a-", "+?-"),
            ("a- a a a+ a", "-??++"),
            ("a+ b a", "+??"),
            ("a+ a b b-", "++--"),
            ("a+ a", "++"),
        ];
        for (records, expected) in cases {
            let mut followers = Followers::default();
            let mut all: Vec<Followed> = Vec::new();
            for text in records.split(' ') {
                let (record, stored) = record(&format!("https://{}.example/", &text[..1]));
                all.extend(match &text[1..] {
                    "+" => followers.page(record, stored, Verdict::Allow),
                    "-" => followers.page(record, stored, Verdict::Disallow),
                    _ => followers.other(record, stored),
                });
            }
            all.extend(followers.end());
            let letter = |verdict| match verdict {
                Some(Verdict::Allow) => '+',
                Some(Verdict::Disallow) => '-',
                _ => '?',
            };
            let found: String = all.iter().map(|(_, _, verdict)| letter(*verdict)).collect();
            assert_eq!(found, expected, "{records}");
        }
        assert_eq!(cases.len(), 9);
    }
}
