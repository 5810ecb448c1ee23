//! Each capture's fate: whether it decides, which capture decides instead, or why it is not used.
//!
//! An origin's deciding capture is known only after all captures have been read. Until then each waits as a row in
//! [`SpilledRows`], sorted by origin, in temporary files if necessary. Each origin's captures are then read twice: once
//! to choose with the compiler's own code, and once to assign their fates. The result is sorted again by input and
//! record.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use reptile::capture::{Capture, Captures, Discarded, KeptCapture, Outcome, Time, digest_of_hash};
use reptile::{Origin, Profile};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use crate::error::{Failure, Result};
use reptile_records::spill::{Scratch, SortedRows, SpilledRows};

/// Bytes of a row's key: an origin's hash or a position in the inputs, and a number that makes the row unique.
const KEY_BYTES: usize = 16 + 8;

/// A capture's fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// The capture decides for its origin. In a set by time, it decides for some time span.
    Used,
    /// Another capture decides.
    Superseded,
    /// The fetch failed, and an earlier response decides.
    Failed,
    /// The capture was fetched after the set's time.
    TooLate,
    /// The capture was deliberately skipped.
    LeftOut,
    /// The capture is invalid or unreadable.
    Bad,
}

impl Fate {
    /// Returns the fate's name in output files.
    pub fn as_str(self) -> &'static str {
        match self {
            Fate::Used => "used",
            Fate::Superseded => "superseded",
            Fate::Failed => "failed",
            Fate::TooLate => "too-late",
            Fate::LeftOut => "left-out",
            Fate::Bad => "bad",
        }
    }
}

/// A capture and its fate.
#[derive(Debug, Serialize, Deserialize)]
pub struct FateRow {
    /// The input's index on the command line.
    pub input: usize,
    /// The record, line or row number in the input, from 1, if there is one.
    pub record: Option<u64>,
    /// The capture's name in messages.
    pub name: String,
    /// The robots.txt URL, if it is known.
    pub url: String,
    /// The fetch time.
    pub time: Option<Time>,
    /// The response status.
    pub status: Option<u16>,
    /// Number of redirects followed.
    pub redirect_count: u32,
    /// The redirect targets that are in the input.
    pub redirects: Vec<String>,
    /// The fate.
    pub fate: Fate,
    /// The reason, or the deciding capture's name.
    pub detail: String,
    /// The digest of the body, if the capture's rules could decide.
    pub digest: String,
}

/// Capture details that only fates need.
pub struct CaptureSource {
    /// The capture's name in messages.
    pub name: String,
    /// Its record number in a WARC file.
    pub record: Option<u64>,
    /// The redirect targets.
    pub redirects: Vec<String>,
}

/// A capture that waits for the origin's other captures.
#[derive(Serialize, Deserialize)]
struct Candidate {
    row: FateRow,
    max_age: Option<u64>,
    body_hash: u64,
    /// Its outcome's index in [`Fates::outcomes`].
    outcome: usize,
}

impl Candidate {
    /// Returns the fields that the compiler compares, with the capture's number within its origin.
    fn kept(&self, outcomes: &[Outcome], number: u32) -> Option<KeptCapture> {
        let &FateRow { time, status, .. } = &self.row;
        let capture = Capture { time, status, max_age: self.max_age, ..Capture::default() };
        Some(KeptCapture::new(&capture, *outcomes.get(self.outcome)?, self.body_hash, number))
    }
}

/// All inputs' captures and their fates.
pub struct Fates {
    scratch: Scratch,
    profile: Profile,
    by_time: bool,
    /// The input paths, as given.
    inputs: Vec<String>,
    candidates: SpilledRows,
    decided: SpilledRows,
    /// The captures' distinct outcomes.
    outcomes: Vec<Outcome>,
    indices: BTreeMap<Outcome, usize>,
    /// Number of rows so far.
    count: u64,
}

impl Fates {
    /// Creates an empty collection. `inputs` are the input paths.
    pub fn new(scratch: &Scratch, profile: &Profile, by_time: bool, inputs: Vec<String>) -> Fates {
        let rows = || SpilledRows::new(scratch.clone());
        Fates {
            profile: profile.clone(),
            by_time,
            inputs,
            candidates: rows(),
            decided: rows(),
            outcomes: Vec::new(),
            indices: BTreeMap::new(),
            count: 0,
            scratch: scratch.clone(),
        }
    }

    /// Removes all captures, because their inputs are read again.
    pub fn clear(&mut self) {
        let inputs = std::mem::take(&mut self.inputs);
        *self = Fates::new(&self.scratch, &self.profile, self.by_time, inputs);
    }

    /// Adds a capture that may decide to each of its origins.
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be written.
    pub fn add(
        &mut self,
        input: usize,
        source: &CaptureSource,
        origins: &[Origin],
        capture: &Capture,
        outcome: Outcome,
        body_hash: u64,
    ) -> Result<()> {
        let digest = if body_hash == 0 { String::new() } else { digest_of_hash(body_hash) };
        let next = self.outcomes.len();
        let outcome = *self.indices.entry(outcome).or_insert_with(|| {
            self.outcomes.push(outcome);
            next
        });
        for origin in origins {
            let mut row = self.row(input, &source.name);
            row.record = source.record.or(row.record);
            row.url = format!("{origin}/robots.txt");
            (row.time, row.status) = (capture.time, capture.status);
            row.digest.clone_from(&digest);
            (row.redirect_count, row.redirects) = (capture.redirects, source.redirects.clone());
            let candidate = Candidate { row, max_age: capture.max_age, body_hash, outcome };
            let Origin { scheme, port, host } = origin;
            let hash = xxh3_128(&[&[*scheme as u8], &port.to_le_bytes()[..], host].concat());
            self.count += 1;
            let text = serde_json::to_vec(&candidate).map_err(Failure::new)?;
            self.candidates.push(&[&hash.to_be_bytes(), &self.count.to_be_bytes(), &text])?;
        }
        Ok(())
    }

    /// Adds an invalid or skipped capture, with the reason.
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be written.
    pub fn add_unused(&mut self, input: usize, name: &str, fate: Fate, detail: String) -> Result<()> {
        let row = FateRow { fate, detail, ..self.row(input, name) };
        self.push_decided(&row)
    }

    /// Returns a row with only its position filled in.
    fn row(&self, input: usize, name: &str) -> FateRow {
        // Captures that are left out after all inputs were read name their input only in their message.
        let is_of = |path: &String| name.strip_prefix(&**path).is_some_and(|rest| rest.starts_with(':'));
        let input = match self.inputs.get(input) {
            Some(_) => input,
            None => self.inputs.iter().position(is_of).unwrap_or(input),
        };
        let record = self.inputs.get(input).and_then(|path| number_in(name, path));
        FateRow {
            input,
            record,
            name: name.to_owned(),
            url: String::new(),
            time: None,
            status: None,
            redirect_count: 0,
            redirects: Vec::new(),
            fate: Fate::Used,
            detail: String::new(),
            digest: String::new(),
        }
    }

    fn push_decided(&mut self, row: &FateRow) -> Result<()> {
        let place = [row.input as u64, row.record.unwrap_or_default()].map(u64::to_be_bytes);
        self.count += 1;
        let text = serde_json::to_vec(row).map_err(Failure::new)?;
        Ok(self.decided.push(&[&place[0], &place[1], &self.count.to_be_bytes(), &text])?)
    }

    /// Determines the fates, and passes each row to `sink`, ordered by input and record. Captures after `limit` are too
    /// late, and `at` is the set's time.
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be used, or if `sink` fails.
    pub fn finish(
        mut self,
        limit: Option<Time>,
        at: Option<Time>,
        sink: &mut dyn FnMut(FateRow) -> Result<()>,
    ) -> Result<()> {
        let candidates = std::mem::replace(&mut self.candidates, SpilledRows::new(self.scratch.clone())).finish()?;
        self.choose(&candidates, limit, at)?;
        drop(candidates);
        let decided = std::mem::replace(&mut self.decided, SpilledRows::new(self.scratch.clone())).finish()?;
        let mut cursor = decided.cursor()?;
        while let Some(row) = cursor.row() {
            sink(parsed(row.get(KEY_BYTES..).unwrap_or_default())?)?;
            cursor.advance()?;
        }
        Ok(())
    }

    /// Determines the fates of each origin's captures.
    fn choose(&mut self, candidates: &SortedRows, limit: Option<Time>, at: Option<Time>) -> Result<()> {
        let is_too_late = |time: Option<Time>| time.zip(limit).is_some_and(|(time, limit)| time > limit);
        let (mut ahead, mut behind) = (candidates.cursor()?, candidates.cursor()?);
        while let Some(origin) = behind.row().map(|row| row[..16].to_vec()) {
            let mut captures = Captures::new(self.by_time);
            // Names for the few captures that may still decide. For a set by time, also the other captures' numbers.
            let (mut names, mut replaced) = (HashMap::new(), BTreeSet::new());
            let mut number = 0;
            while let Some(row) = ahead.row().filter(|row| row.starts_with(&origin)) {
                let candidate: Candidate = parsed(&row[KEY_BYTES..])?;
                let kept = candidate.kept(&self.outcomes, number).filter(|kept| !is_too_late(kept.time));
                if let Some(kept) = kept {
                    let lost = captures.add(kept).into_iter().flatten().map(|kept| kept.rules);
                    if self.by_time {
                        replaced.extend(lost);
                    } else {
                        names.insert(number, candidate.row.name);
                        lost.for_each(|lost| drop(names.remove(&lost)));
                    }
                }
                number += 1;
                ahead.advance()?;
            }
            let decision = captures.decide(&self.profile, at);
            let decider = decision.map(|decision| decision.decider.rules);
            let failed = decision.and_then(|decision| decision.discarded).filter(|(_, why)| *why == Discarded::Failed);
            let failed = failed.map(|(kept, _)| kept.rules);
            let decider_name = decider.and_then(|decider| names.remove(&decider)).unwrap_or_default();
            let mut number = 0;
            while let Some(row) = behind.row().filter(|row| row.starts_with(&origin)) {
                let Candidate { mut row, .. } = parsed(&row[KEY_BYTES..])?;
                row.fate = match number {
                    _ if is_too_late(row.time) => Fate::TooLate,
                    _ if self.by_time && !replaced.contains(&number) => Fate::Used,
                    _ if Some(number) == decider => Fate::Used,
                    _ if Some(number) == failed => Fate::Failed,
                    _ => Fate::Superseded,
                };
                if matches!(row.fate, Fate::Failed | Fate::Superseded) && !self.by_time {
                    row.detail.clone_from(&decider_name);
                }
                self.push_decided(&row)?;
                number += 1;
                behind.advance()?;
            }
        }
        Ok(())
    }
}

fn parsed<T: for<'de> Deserialize<'de>>(text: &[u8]) -> Result<T> {
    serde_json::from_slice(text).map_err(|error| Failure::new(format!("a temporary file is damaged: {error}")))
}

/// Returns the record, line or row number in a capture's name. The input path is followed by `:17`, `: record 17` or
/// `: row 17`.
fn number_in(name: &str, path: &str) -> Option<u64> {
    let rest = name.strip_prefix(path)?.strip_prefix(':')?;
    let rest = [" record ", " row "].iter().find_map(|lead| rest.strip_prefix(lead)).unwrap_or(rest);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let is_whole = matches!(rest.as_bytes().get(digits), None | Some(b' ' | b':'));
    rest[..digits].parse().ok().filter(|_| is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_numbers_are_found_in_names() {
        for (name, path, expected) in [
            ("a.jsonl:17", "a.jsonl", Some(17)),
            ("a:b.jsonl:17", "a:b.jsonl", Some(17)),
            ("a.warc.gz: record 3 (http://h/robots.txt)", "a.warc.gz", Some(3)),
            ("a.parquet: row 5", "a.parquet", Some(5)),
            ("folder/h.example:8080", "folder", None),
            ("a.tar: h.example:8080/robots.txt", "a.tar", None),
            ("a.tar:12x", "a.tar", None),
            ("robots.txt", "robots.txt", None),
        ] {
            assert_eq!(number_in(name, path), expected, "{name}");
        }
    }
}
