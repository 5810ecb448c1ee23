//! The counts of `reptile filter`: records by verdict, for the summary and for a lineage.

use reptile::Verdict;
use serde::{Deserialize, Serialize};

use crate::outputs::summary::Summary;
use crate::run::Run;
use crate::run::lineage::{InputState, Lineage, NamedCounts, RowCounts, SetState, counts_of};
use crate::sets::report::UNTRUSTED;

/// Counts of records by kind.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct FilterCounts {
    /// By verdict number.
    pub verdicts: [u64; 4],
    pub without_url: u64,
    /// Number of invalid records without a valid date.
    pub without_date: u64,
    pub damaged: u64,
    pub untrusted: u64,
    pub kept: u64,
    pub bytes: u64,
}

impl FilterCounts {
    /// Adds the counts of another part.
    pub fn and(mut self, other: FilterCounts) -> FilterCounts {
        self.verdicts.iter_mut().zip(other.verdicts).for_each(|(count, more)| *count += more);
        self.without_url += other.without_url;
        self.without_date += other.without_date;
        self.damaged += other.damaged;
        self.untrusted += other.untrusted;
        self.kept += other.kept;
        self.bytes += other.bytes;
        self
    }

    fn records(&self) -> u64 {
        self.verdicts.iter().sum::<u64>() + self.without_url + self.damaged
    }

    /// Returns the lineage of a part with these counts, without its inputs and outputs.
    pub fn lineage(&self, run: &Run, set: &SetState) -> Lineage {
        Lineage {
            set: Some(set.clone()),
            together: Some(counts_of(self.verdicts)),
            rows: RowCounts {
                read: Some(self.records()),
                written: Some(self.kept),
                without_url: Some(self.without_url),
                ..RowCounts::default()
            },
            invalid_rows: self.invalid_rows(),
            ..run.lineage()
        }
    }

    /// Returns an input with its counts.
    pub fn input(&self, state: InputState) -> InputState {
        let (rows, invalid) = (Some(self.records()), Some(self.invalid_rows().values().sum()));
        InputState { rows, invalid, ..state }
    }

    /// Returns the damaged records and those without a valid URL or date, by reason.
    fn invalid_rows(&self) -> NamedCounts {
        let invalid = self.verdicts[Verdict::Invalid as usize];
        let reasons =
            [("damaged", self.damaged), ("no-date", self.without_date), ("no-url", invalid - self.without_date)];
        let reasons = reasons.into_iter().filter(|&(_, count)| count > 0);
        reasons.map(|(reason, count)| (reason.to_owned(), count)).collect()
    }

    /// Prints the summary.
    pub fn report(&self) {
        let mut summary = Summary::default();
        summary.count("records", self.records());
        for verdict in [Verdict::Allow, Verdict::Disallow, Verdict::Unknown, Verdict::Invalid] {
            summary.count(format!("  {verdict}"), self.verdicts[verdict as usize]);
        }
        if self.without_date > 0 {
            summary.count("    without a valid date", self.without_date);
        }
        summary.count("  without a URL", self.without_url);
        summary.count("  damaged", self.damaged);
        if self.untrusted > 0 {
            summary.count(format!("  {UNTRUSTED}"), self.untrusted);
        }
        summary.count("kept", self.kept);
        summary.count("bytes written", self.bytes);
        summary.print();
    }
}
