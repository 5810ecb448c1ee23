//! [`Lineage`]: a run's inputs, options, counts and outputs.
//!
//! It is the deterministic part in a metrics file, and the contents of `.FILE.made.json` and of the metadata in Parquet
//! and Arrow outputs. It does not depend on the clock, the thread count or the order in which files finish.
//! `cli/guide/batches.md` describes every field.

use std::collections::BTreeMap;

use reptile::contents::Set;
use reptile_columns::VERDICTS;
use reptile_records::fingerprint::Fingerprint;
use reptile_records::place::Place;
use reptile_records::redacted::redacted;
use reptile_records::tables::LINEAGE_KEY;
use reptile_records::time::show_time;
use serde::{Deserialize, Serialize};

use super::options::Options;
use crate::error::{Failure, Result};
use crate::outputs::identity::{Identity, Tool};
use crate::sets::report::Report;

/// The schema's name and version for a [`Lineage`]. Only changed or removed fields need a new version.
pub const SCHEMA: &str = "reptile-lineage/1";

/// The metadata key for a [`stamp`](Lineage::stamp) in Parquet and Arrow files.
pub const METADATA_KEY: &str = LINEAGE_KEY;

/// Counts by name.
pub type NamedCounts = BTreeMap<String, u64>;

/// A run's inputs, options, counts and outputs.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Lineage {
    /// [`SCHEMA`].
    pub schema: String,
    pub made_by: Tool,
    pub command: String,
    /// The set that decided, or that was written.
    pub set: Option<SetState>,
    pub options: Options,
    pub inputs: Vec<InputState>,
    pub rows: RowCounts,
    /// Each agent's verdicts.
    pub verdicts: Vec<AgentVerdicts>,
    /// The verdicts for all agents together.
    pub together: Option<NamedCounts>,
    /// Invalid rows by reason.
    pub invalid_rows: NamedCounts,
    pub captures: Option<CaptureCounts>,
    pub findings: Vec<FindingCounts>,
    pub outputs: Vec<OutputState>,
}

/// A set file, or a set that was compiled in memory from `path`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct SetState {
    pub path: String,
    pub bytes: u64,
    /// The bytes' hash, if it was computed.
    pub xxh3_64: Option<String>,
    pub dialect: String,
    pub profile: String,
    /// The set's time.
    pub as_of: Option<String>,
    pub by_time: bool,
    pub origins: u64,
}

/// An input as it was when it was opened.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct InputState {
    pub path: String,
    /// The path with credentials, for this run only.
    #[serde(skip)]
    pub file: Place,
    /// A regular file's stored size.
    pub bytes: Option<u64>,
    /// The last change's time.
    pub changed: Option<String>,
    pub etag: Option<String>,
    /// The stored bytes' hash, if it was computed.
    pub xxh3_64: Option<String>,
    /// Rows, records, captures, or a set's origins.
    pub rows: Option<u64>,
    /// Invalid rows, which `rows` includes, or bad captures, which it does not.
    pub invalid: Option<u64>,
    /// The captures' total body size.
    pub body_bytes: Option<u64>,
}

/// An output.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct OutputState {
    pub path: String,
    #[serde(skip)]
    pub file: Place,
    pub bytes: Option<u64>,
    pub xxh3_64: Option<String>,
    pub rows: Option<u64>,
}

/// Row counts. A count that a command does not have is null.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct RowCounts {
    pub read: Option<u64>,
    pub written: Option<u64>,
    /// Rows that name no crawler.
    pub without_agent: Option<u64>,
    /// Records without a URL.
    pub without_url: Option<u64>,
    /// Rows decided by another origin than their own.
    pub by_other_origin: Option<u64>,
}

/// An agent's verdicts.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct AgentVerdicts {
    pub agent: String,
    pub counts: NamedCounts,
}

/// The captures' fates.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct CaptureCounts {
    /// Readable files and captures.
    pub read: u64,
    pub body_bytes: u64,
    /// Unreadable captures, by reason.
    pub bad: NamedCounts,
    /// Skipped captures, by reason.
    pub left_out: NamedCounts,
    /// Captures that do not decide, by reason.
    pub discarded: NamedCounts,
    /// Number of captures with each fate, if `--fates` was given.
    pub fates: Option<NamedCounts>,
    /// Bodies that are not text, by kind.
    pub non_text: NamedCounts,
    pub untrusted: u64,
    /// Origins whose deciding capture is no longer fresh.
    pub stale: u64,
    pub ties: u64,
    /// Skipped redirects and revisits, also in merged sets, or `None` if a set does not record it.
    pub unresolved: Option<u64>,
    pub rules: u64,
    pub diagnostics: NamedCounts,
}

/// The findings of one kind.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct FindingCounts {
    pub severity: String,
    pub code: String,
    pub count: u64,
    /// Number of files with such findings.
    pub files: u64,
}

impl SetState {
    /// Returns a set's state. `identity` is `None` if its bytes were not hashed.
    pub fn of<D: AsRef<[u8]>>(path: &Place, set: &Set<D>, bytes: u64, identity: Option<Identity>) -> SetState {
        let reading = set.reading();
        SetState {
            path: path.shown(),
            bytes,
            xxh3_64: identity.map(|identity| identity.xxh3_64),
            dialect: reading.dialect.into(),
            profile: reading.profile.into(),
            as_of: reading.at.map(show_time),
            by_time: set.has_times(),
            origins: set.origin_count(),
        }
    }

    /// Returns whether another set has the same bytes. Sets whose bytes were not hashed are never the same.
    pub fn is_same(&self, other: &SetState) -> bool {
        self.xxh3_64.is_some() && (self.bytes, &self.xxh3_64) == (other.bytes, &other.xxh3_64)
    }
}

impl InputState {
    /// Returns a path's current state. Only a regular file has a size and a time.
    pub fn of(path: &Place) -> InputState {
        match Fingerprint::of(path) {
            Ok(fingerprint) => InputState::new(path, &fingerprint),
            Err(_) => InputState { path: path.shown(), file: path.into(), ..Default::default() },
        }
    }

    /// Returns the state in a fingerprint.
    pub fn new(path: &Place, fingerprint: &Fingerprint) -> InputState {
        let Fingerprint { path: shown, bytes, changed, etag, xxh3_64 } = fingerprint;
        InputState {
            path: redacted(shown).into_owned(),
            file: path.into(),
            bytes: Some(*bytes),
            changed: changed.map(show_changed),
            etag: etag.clone(),
            xxh3_64: xxh3_64.clone(),
            ..Default::default()
        }
    }

    /// Returns whether this is the recorded input. If its bytes were hashed, size and hash decide. Otherwise the size,
    /// the last change's time and the entity tag decide.
    pub fn is_as(&self, recorded: &InputState) -> bool {
        let is_same = match &self.xxh3_64 {
            Some(_) => self.xxh3_64 == recorded.xxh3_64,
            None => (&self.changed, &self.etag) == (&recorded.changed, &recorded.etag),
        };
        (&self.path, self.bytes) == (&recorded.path, recorded.bytes) && is_same
    }
}

/// Formats a change's time according to RFC 3339, with nanoseconds.
fn show_changed((seconds, nanoseconds): (u64, u32)) -> String {
    let time = show_time(i64::try_from(seconds).unwrap_or(i64::MAX));
    format!("{}.{nanoseconds:09}Z", time.strip_suffix('Z').unwrap_or(&time))
}

impl OutputState {
    /// Returns an output with its row count, if it has one. The size and the hash are added later.
    pub fn new(path: &Place, rows: Option<u64>) -> OutputState {
        let shown = path.shown();
        OutputState { path: shown, file: path.into(), bytes: None, xxh3_64: None, rows }
    }

    /// Returns the size and the hash, if they are known.
    pub fn identity(&self) -> Option<Identity> {
        let (bytes, xxh3_64) = self.bytes.zip(self.xxh3_64.clone())?;
        Some(Identity { bytes, xxh3_64 })
    }

    /// Adds the size and the hash.
    pub fn with(self, identity: &Identity) -> OutputState {
        OutputState { bytes: Some(identity.bytes), xxh3_64: Some(identity.xxh3_64.clone()), ..self }
    }
}

impl CaptureCounts {
    /// Returns the counts in a report.
    pub fn of(report: &Report, fates: Option<NamedCounts>) -> CaptureCounts {
        CaptureCounts {
            read: report.read(),
            body_bytes: report.body_bytes(),
            bad: named(&report.bad),
            left_out: named(&report.left_out),
            discarded: report.captures.discarded.iter().map(|(why, &count)| (why.describe().into(), count)).collect(),
            fates,
            non_text: named(report.non_text.counts()),
            untrusted: report.untrusted,
            stale: report.captures.stale,
            ties: report.captures.ties,
            unresolved: report.all_unresolved(),
            rules: report.rules,
            diagnostics: report.diagnostics.iter().map(|(kind, &count)| (kind.describe().into(), count)).collect(),
        }
    }
}

/// Returns counts with owned names.
pub fn named<N: ToString>(counts: &BTreeMap<N, u64>) -> NamedCounts {
    counts.iter().map(|(name, &count)| (name.to_string(), count)).collect()
}

/// Returns verdict counts by name. `counts` has them by verdict number.
pub fn counts_of(counts: [u64; 4]) -> NamedCounts {
    VERDICTS.map(|verdict| (verdict.name().to_owned(), counts[verdict as usize])).into()
}

/// Adds counts to others.
fn add(counts: &mut NamedCounts, more: NamedCounts) {
    more.into_iter().for_each(|(name, count)| *counts.entry(name).or_default() += count);
}

/// Adds a count that may be unknown.
fn add_known(count: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *count = Some(count.unwrap_or_default() + more);
    }
}

impl Lineage {
    /// Adds another part's inputs, counts and outputs.
    pub fn merge(&mut self, part: Lineage) {
        self.set = self.set.take().or(part.set);
        self.inputs.extend(part.inputs);
        self.outputs.extend(part.outputs);
        let RowCounts { read, written, without_agent, without_url, by_other_origin } = part.rows;
        add_known(&mut self.rows.read, read);
        add_known(&mut self.rows.written, written);
        add_known(&mut self.rows.without_agent, without_agent);
        add_known(&mut self.rows.without_url, without_url);
        add_known(&mut self.rows.by_other_origin, by_other_origin);
        for AgentVerdicts { agent, counts } in part.verdicts {
            match self.verdicts.iter_mut().find(|own| own.agent == agent) {
                Some(own) => add(&mut own.counts, counts),
                None => self.verdicts.push(AgentVerdicts { agent, counts }),
            }
        }
        if let Some(counts) = part.together {
            add(self.together.get_or_insert_default(), counts);
        }
        add(&mut self.invalid_rows, part.invalid_rows);
        // Captures and findings are counted once for the whole run.
        self.captures = self.captures.take().or(part.captures);
        self.findings.extend(part.findings);
    }

    /// Compares an existing output's lineage with this run: its lineage without parts, the set and the input that would
    /// make the output, and the output's current identity, `found`. Returns the first difference, worded to follow "was
    /// made".
    pub fn difference(
        &self,
        of_run: &Lineage,
        set: &SetState,
        input: &InputState,
        found: &Identity,
    ) -> Option<&'static str> {
        let is_file = |output: &OutputState| output.identity().as_ref() == Some(found);
        let (inputs, outputs) = (&self.inputs[..], &self.outputs[..]);
        [
            (self.schema == SCHEMA && self.made_by == of_run.made_by, "by another version of reptile"),
            (self.set.as_ref().is_some_and(|recorded| set.is_same(recorded)), "by another set"),
            (self.options == of_run.options, "with other options"),
            (
                input.xxh3_64.is_none() || inputs.iter().all(|input| input.xxh3_64.is_some()),
                "without a checksum of its input",
            ),
            (matches!(inputs, [recorded] if input.is_as(recorded)), "from another input, or the input has changed"),
            (matches!(outputs, [output] if is_file(output)), "with other bytes than it has now"),
        ]
        .into_iter()
        .find_map(|(is_same, how)| (!is_same).then_some(how))
    }

    /// Returns the text for an output's own metadata: without the outputs, because no file contains its own hash, and
    /// without the time at which an input changed, because copies of the same bytes should yield the same file.
    ///
    /// # Errors
    /// Returns an error if the text cannot be written as JSON.
    pub fn stamp(&self) -> Result<String> {
        let mut stamp = serde_json::to_value(self).map_err(Failure::new)?;
        if let Some(fields) = stamp.as_object_mut() {
            fields.remove("outputs");
        }
        let inputs = stamp.get_mut("inputs").and_then(serde_json::Value::as_array_mut);
        for input in inputs.into_iter().flatten().filter_map(serde_json::Value::as_object_mut) {
            input.remove("changed");
        }
        serde_json::to_string(&stamp).map_err(Failure::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_compared_by_hash_or_by_state() {
        let state = |hash: Option<&str>, changed: &str| InputState {
            path: "a".into(),
            bytes: Some(1),
            changed: Some(changed.into()),
            xxh3_64: hash.map(str::to_owned),
            ..Default::default()
        };
        for (current, recorded, is_same) in [
            (state(None, "1"), state(None, "1"), true),
            (state(None, "1"), state(Some("f"), "1"), true),
            (state(None, "2"), state(Some("f"), "1"), false),
            (state(Some("f"), "2"), state(Some("f"), "1"), true),
            (state(Some("e"), "1"), state(Some("f"), "1"), false),
            (state(Some("f"), "1"), state(None, "1"), false),
            (InputState { bytes: Some(2), ..state(None, "1") }, state(None, "1"), false),
            (InputState { path: "b".into(), ..state(None, "1") }, state(None, "1"), false),
            (InputState { etag: Some("x".into()), ..state(None, "1") }, state(None, "1"), false),
        ] {
            assert_eq!(current.is_as(&recorded), is_same, "{current:?} {recorded:?}");
        }
        assert_eq!(show_changed((1_773_500_966, 7)), "2026-03-14T15:09:26.000000007Z");
    }

    #[test]
    fn parts_are_added_in_any_number() {
        let part = |agent: &str, count| Lineage {
            rows: RowCounts { read: Some(count), ..Default::default() },
            verdicts: vec![AgentVerdicts { agent: agent.into(), counts: [("allow".into(), count)].into() }],
            invalid_rows: [("not-json".into(), 1)].into(),
            ..Default::default()
        };
        let mut all = Lineage::default();
        [part("a", 1), part("b", 2), part("a", 4)].into_iter().for_each(|part| all.merge(part));
        let counts = all.verdicts.iter().map(|verdicts| (verdicts.agent.as_str(), verdicts.counts["allow"]));
        assert_eq!(counts.collect::<Vec<_>>(), [("a", 5), ("b", 2)]);
        assert_eq!((all.rows.read, all.rows.written, all.invalid_rows["not-json"]), (Some(7), None, 3));
    }
}
