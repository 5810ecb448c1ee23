//! Report on the captures in a set, and on skipped and invalid input.

use std::collections::BTreeMap;

use reptile::PolicySource;
use reptile::body::DiagnosticKind;
use reptile::capture::{Capture, CaptureReport, DiscardedCapture};

use crate::error::{Result, note};
use crate::outputs::summary::{Summary, grouped};
use reptile_records::captures::names::{Field, NameUse};
use reptile_records::detect::Content;
use reptile_records::place::Place;
use reptile_records::time::{now, show_time};
use reptile_records::warc::records::{Damage, Record};
use reptile_records::warc::redirects::REASONS;
use reptile_records::warc::{fault_of, unread};

/// Maximum number of files that messages name for each kind; all are counted.
pub const MAX_NAMED: u64 = 10;

/// Label of the summary row for damaged archives' records.
pub const UNTRUSTED: &str = "untrusted: records after damage, by --resync";

/// Returns the message for the first record of an archive that a search found.
pub fn untrusted_from(record: &str) -> String {
    format!(
        "{record}: found by a search behind damage; it and all later records of its file are untrusted: a website may have written them"
    )
}

/// The damaged and untrusted records of one archive, named in messages as they are found.
pub struct RecordFaults<'p> {
    path: &'p Place,
    /// Whether reading goes on behind damage of unknown length (`--resync`).
    resync: bool,
    /// Number of damaged records.
    pub damaged: u64,
    /// Number of records that a search behind damage found, or that follow such a record.
    pub untrusted: u64,
}

impl RecordFaults<'_> {
    pub fn of(path: &Place, resync: bool) -> RecordFaults<'_> {
        RecordFaults { path, resync, damaged: 0, untrusted: 0 }
    }

    /// Counts a damaged record.
    ///
    /// # Errors
    /// Returns an error if the archive cannot be read any further.
    pub fn add_damage(&mut self, damage: Damage) -> Result<()> {
        if damage.stops && !self.resync {
            return Err(unread(self.path, &damage).into());
        }
        self.damaged += 1;
        if self.damaged <= MAX_NAMED || damage.stops {
            let (path, number, fault) = (self.path.display(), damage.number, fault_of(&damage));
            note(format_args!("{path}: record {number}: {fault}: {}", damage.detail));
        }
        Ok(())
    }

    /// Counts a record, if it is untrusted.
    pub fn add_record(&mut self, record: &Record) {
        if record.is_untrusted {
            self.untrusted += 1;
            if self.untrusted == 1 {
                note(untrusted_from(&format!("{}: record {}", self.path.display(), record.number)));
            }
        }
    }
}

/// Counts of used, skipped and invalid input.
#[derive(Default)]
pub struct Report {
    /// Counts for each input, in command-line order.
    pub inputs: Vec<InputCounts>,
    /// Invalid files and captures, by kind of error.
    pub bad: BTreeMap<&'static str, u64>,
    /// Skipped items, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
    /// Unresolved redirects and revisits in the merged sets, according to their records.
    pub unresolved_in_sets: u64,
    /// Merged sets without this record.
    pub sets_without_record: u64,
    /// Remarks on captures that are used.
    pub remarks: BTreeMap<&'static str, u64>,
    /// Items that messages named, by reason.
    pub named: BTreeMap<&'static str, u64>,
    /// Records in damaged archives that a search found, or that follow such a record.
    pub untrusted: u64,
    /// Bodies that are not text.
    pub non_text: NonTextBodies,
    /// Column and key names in capture tables.
    pub names: NameUse,
    /// Whether some table has no status or no time in any capture.
    pub lacks_columns: bool,
    /// The compiler's report on the choice between captures.
    pub captures: CaptureReport,
    /// Rules as written, before equal rulesets are merged.
    pub rules: u64,
    /// Diagnostics, by kind.
    pub diagnostics: BTreeMap<DiagnosticKind, u64>,
}

/// Counts for one input.
#[derive(Clone, Copy, Debug, Default)]
pub struct InputCounts {
    /// Readable files and captures, including those that do not count.
    pub captures: u64,
    /// Total size of their bodies in bytes.
    pub bytes: u64,
    /// Unreadable files and captures.
    pub bad: u64,
    /// Captures with a response.
    pub answers: u64,
    /// Captures with a status.
    pub with_status: u64,
    /// Captures with a time.
    pub with_time: u64,
    /// Whether the captures come from named columns or keys.
    pub has_names: bool,
    /// Whether the input is a set. Then `captures` counts its origins, and `bytes` is its size.
    pub is_set: bool,
}

/// Bodies that are not text, by content. A server's robots.txt may have such a body.
#[derive(Default)]
pub struct NonTextBodies {
    counts: BTreeMap<&'static str, u64>,
    named: u64,
}

impl NonTextBodies {
    /// Counts a body if it is not text, and prints its name. Only the first few are named.
    pub fn add(&mut self, name: &str, content: Content) {
        if !content.is_text() {
            self.count(content);
            self.name(name, content);
        }
    }

    /// Counts a body that is not text.
    pub fn count(&mut self, content: Content) {
        *self.counts.entry(content.describe()).or_insert(0) += 1;
    }

    /// Prints the name of a body that is not text. Only the first few are named.
    pub fn name(&mut self, name: &str, content: Content) {
        self.named += 1;
        if self.named <= MAX_NAMED {
            note(format_args!("{name}: is {}, and is used as the server's robots.txt", content.describe()));
        }
    }

    /// Returns the number of bodies for each kind.
    pub fn counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.counts
    }

    /// Returns whether any body is not text.
    pub fn any(&self) -> bool {
        !self.counts.is_empty()
    }

    /// Adds a row for each kind.
    pub fn describe(&self, summary: &mut Summary) {
        for (what, &count) in &self.counts {
            summary.count(format!("  no text: {what}"), count);
        }
    }
}

impl Report {
    /// Returns whether any robots.txt was invalid.
    pub fn any_bad(&self) -> bool {
        !self.bad.is_empty()
    }

    /// Counts an input's readable file or capture.
    pub fn count_capture(&mut self, input: usize, bytes: u64, capture: &Capture) {
        if let Some(counts) = self.inputs.get_mut(input) {
            counts.captures += 1;
            counts.bytes += bytes;
            counts.answers += u64::from(!capture.has_failed);
            counts.with_status += u64::from(capture.status.is_some());
            counts.with_time += u64::from(capture.time.is_some());
        }
    }

    /// Prints the reason why an item is named. Only the first few items are named for each reason.
    pub fn name_item(&mut self, reason: &'static str, name: &str) {
        let named = self.named.entry(reason).or_insert(0);
        *named += 1;
        if *named <= MAX_NAMED {
            note(format_args!("{name}: {reason}"));
        }
    }

    /// Returns the number of readable files and captures.
    pub fn read(&self) -> u64 {
        self.files().map(|input| input.captures).sum()
    }

    /// Returns the total size of bodies and sets in bytes.
    pub fn bytes(&self) -> u64 {
        self.inputs.iter().map(|input| input.bytes).sum()
    }

    /// Returns the total size of bodies in bytes.
    pub fn body_bytes(&self) -> u64 {
        self.files().map(|input| input.bytes).sum()
    }

    /// Returns the number of redirects and revisits in the inputs whose target is missing.
    pub fn unresolved(&self) -> u64 {
        REASONS.iter().filter_map(|reason| self.left_out.get(reason)).sum()
    }

    /// Returns the number of unresolved redirects and revisits in inputs and sets, or `None` if a set does not record
    /// it.
    pub fn all_unresolved(&self) -> Option<u64> {
        (self.sets_without_record == 0).then(|| self.unresolved() + self.unresolved_in_sets)
    }

    /// Returns the inputs that are not sets.
    fn files(&self) -> impl Iterator<Item = &InputCounts> {
        self.inputs.iter().filter(|input| !input.is_set)
    }

    /// Adds rows for used and skipped input.
    pub fn describe_inputs(&self, summary: &mut Summary) {
        let sets = || self.inputs.iter().filter(|input| input.is_set);
        if sets().next().is_some() {
            summary.count("sets read", sets().count() as u64);
            summary.count("  origins in them", sets().map(|set| set.captures).sum());
            if self.unresolved_in_sets + self.sets_without_record > 0 {
                let mut row = grouped(self.unresolved_in_sets);
                if self.sets_without_record > 0 {
                    row += &format!(", not recorded for {} of the sets", grouped(self.sets_without_record));
                }
                summary.row("  unresolved redirects and revisits in them", row);
            }
        }
        if self.files().next().is_some() {
            summary.count("files read", self.read());
        }
        for (reason, &count) in &self.bad {
            summary.count(format!("  skipped: {reason}"), count);
        }
        for (reason, &count) in &self.left_out {
            summary.count(format!("  left out: {reason}"), count);
        }
        for (remark, &count) in &self.remarks {
            summary.count(format!("  remark: {remark}"), count);
        }
        if self.untrusted > 0 {
            summary.count(format!("  {UNTRUSTED}"), self.untrusted);
        }
        self.non_text.describe(summary);
        if !self.names.is_empty() {
            summary.row("columns used", self.names.used());
        }
        if let Some(names) = self.names.unused() {
            summary.row("  not used", names);
        }
    }

    /// Prints a warning for tables without a status or a time in any row, which suggests an unknown column name.
    /// `inputs` are the paths; the same warning about several tables is printed once.
    pub fn note_missing(&mut self, inputs: &[String]) {
        let mut lacking: Vec<((bool, bool), Vec<&String>)> = Vec::new();
        for (counts, path) in self.inputs.iter().zip(inputs).filter(|(counts, _)| counts.has_names) {
            let lacks_status = counts.answers > 0 && counts.with_status == 0;
            let lacks_time = counts.captures > 0 && counts.with_time == 0;
            if !lacks_status && !lacks_time {
                continue;
            }
            let lacks = (lacks_status, lacks_time);
            match lacking.iter_mut().find(|(other, _)| *other == lacks) {
                Some((_, paths)) => paths.push(path),
                None => lacking.push((lacks, vec![path])),
            }
        }
        self.lacks_columns |= !lacking.is_empty();
        for ((lacks_status, lacks_time), paths) in lacking {
            let status = ("status", "each answer counts as 200", Field::Status);
            let time = ("time", "no time says which of several counts", Field::Time);
            let (what, then, field) = if lacks_status { status } else { time };
            let inputs = match &paths[..] {
                [first, others @ ..] if !others.is_empty() => {
                    format!("{first} and {} more inputs", grouped(others.len() as u64))
                }
                paths => paths.iter().map(|path| path.as_str()).collect(),
            };
            let both = if lacks_status && lacks_time { ", and none has a time" } else { "" };
            let known = field.names().iter().take(3).copied().collect::<Vec<_>>().join(", ");
            let unused = self.names.unused().map(|names| format!("; not used: {names}")).unwrap_or_default();
            note(format_args!(
                "{inputs}: no capture has a {what}{both}: {then} (expected a column such as {known}{unused})"
            ));
        }
    }

    /// Adds rows for policies that come from a fetch's result rather than from rules.
    pub fn describe_captures(&self, summary: &mut Summary) {
        let CaptureReport { at, origins, stale, discarded, .. } = &self.captures;
        if let Some(at) = at {
            summary.row("  as of", show_time(*at));
        }
        for (source, &count) in origins {
            let words = match source {
                PolicySource::LastGoodCopy(cause) => format!("the last good copy ({cause})"),
                PolicySource::AllowAll(cause) => format!("everything allowed ({cause})"),
                PolicySource::DisallowAll(cause) => format!("everything disallowed ({cause})"),
                _ => continue,
            };
            summary.count(format!("  {words}"), count);
        }
        if *stale > 0 {
            summary.count("  no longer fresh", *stale);
        }
        for (why, &count) in discarded {
            summary.count(format!("  discarded: {}", why.describe()), count);
        }
    }

    /// Prints the names of captures that do not count. Only the first few are named.
    pub fn name_discarded(&self) {
        let named = self.captures.listed();
        for DiscardedCapture { origin, time, status, why } in &named {
            let time = time.map(|time| format!(", fetched {}", show_time(time))).unwrap_or_default();
            let status = status.map(|status| format!(", status {status}")).unwrap_or_default();
            note(format_args!("discarded: {origin}/robots.txt{time}{status}: {}", why.describe()));
        }
        let more = self.captures.discarded.values().sum::<u64>() - named.len() as u64;
        if more > 0 {
            note(format_args!("discarded: {more} more"));
        }
    }

    /// Prints a warning for origins with different captures that have the same time or none.
    pub fn note_ties(&self) {
        let Some((origin, time)) = &self.captures.first_tie else { return };
        let time = time.map_or("without a time".into(), |time| format!("of {}", show_time(time)));
        note(format_args!(
            "{} times two different captures of an origin have the same time or none, and a hash of the body chooses: \
             first {origin}, {time}; `reptile compile --help` has the rule",
            self.captures.ties
        ));
    }

    /// Prints a warning if the set's time is in the future: one wrong clock makes all other captures look old.
    pub fn note_future(&self) {
        let now = now();
        if let Some(at) = self.captures.at.filter(|&at| at > now) {
            note(format_args!(
                "the set is for {}, which is in the future by the clock of this machine ({}); --at TIME chooses another time",
                show_time(at),
                show_time(now)
            ));
        }
    }

    /// Adds a row for each kind of diagnostic.
    pub fn describe_diagnostics(&self, summary: &mut Summary) {
        for (kind, &count) in &self.diagnostics {
            summary.count(format!("  diagnostic: {}", kind.describe()), count);
        }
    }
}
