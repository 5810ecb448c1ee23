//! `reptile diff` of two compiled sets: added, removed and changed origins, and URLs whose verdicts change.
//!
//! The library compares the sets ([`reptile::diff`]), also over all URLs. [`content`] writes the changes to an origin,
//! and [`flips`] decides URLs by both sets. Memory: the listed origins, and the library's cached comparisons.

mod content;
mod flips;

use std::collections::BinaryHeap;
use std::io::{BufWriter, Write};

use reptile::Origin;
use reptile::contents::{OriginRecord, Set};
use reptile::diff::{Change, Diff, MAX_SET_STEPS, OriginChange, OriginPaths, PathDiff, PathRows, PathVerdicts};
use serde_json::json;

use super::args::Args;
use super::paths::{self, Words};
use crate::error::{Exit, Failure, Result, Stop, damaged};
use crate::outputs::file::Output;
use crate::outputs::json::json_line;
use crate::outputs::progress::Progress;
use crate::outputs::summary::grouped;
use crate::sets::Loaded;
use reptile_records::place::Place;

/// Maximum number of origins listed per kind: the first in host order. All are counted.
const MAX_LISTED: usize = 1000;

/// A kind of origin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OriginDifference {
    Added,
    Gone,
    /// The policy source changed.
    Outcome,
    /// Some verdict changed, although the policy source did not.
    Verdicts,
    /// The rules changed, and perhaps some verdict.
    Unproved,
    /// Something changed, but no verdict.
    Equal,
    Same,
}

/// The listed kinds of origins, in output order, with their lines' signs and their JSON names.
const LISTED: [(OriginDifference, char, &str); 6] = [
    (OriginDifference::Added, '+', "added"),
    (OriginDifference::Gone, '-', "gone"),
    (OriginDifference::Outcome, '~', "outcome"),
    (OriginDifference::Verdicts, '!', "verdicts"),
    (OriginDifference::Unproved, '?', "unproved"),
    (OriginDifference::Equal, '=', "equal"),
];

/// The origins of one kind: all are counted, and the first are listed.
#[derive(Default)]
struct ListedOrigins {
    count: u64,
    first: BinaryHeap<Origin>,
}

impl ListedOrigins {
    fn add(&mut self, record: &OriginRecord<'_>) {
        self.count += 1;
        let name = (record.host, record.scheme, record.port);
        let is_first = self.first.len() < MAX_LISTED
            || self.first.peek().is_some_and(|last| name < (&last.host, last.scheme, last.port));
        if is_first {
            self.first.push(owned(record));
            if self.first.len() > MAX_LISTED {
                self.first.pop();
            }
        }
    }
}

fn owned(record: &OriginRecord<'_>) -> Origin {
    Origin { host: record.host.into(), scheme: record.scheme, port: record.port }
}

/// Two sets, and their comparison.
struct Pair<'s> {
    old: &'s Set<&'s [u8]>,
    new: &'s Set<&'s [u8]>,
    diff: Diff<'s>,
    paths: PathDiff<'s>,
}

/// Runs the command for two sets.
///
/// # Errors
/// Returns an error if a set or the list of URLs cannot be read, if the sets cannot be compared, or the output cannot
/// be written.
pub fn run(args: &Args, new: &Place) -> Result<Exit> {
    if args.dialect.is_some() {
        return Err(Failure::new("--dialect is for robots.txt files; a set has the dialect that it was made with"));
    }
    let loaded = [Loaded::open_set(&args.old)?, Loaded::open_set(new)?];
    let sets = [loaded[0].set()?, loaded[1].set()?];
    for (loaded, path) in loaded.iter().zip([&args.old, new]) {
        loaded.set()?.verify_checksums().map_err(|error| damaged(path, &error))?;
    }
    let dialects = [sets[0].dialect(), sets[1].dialect()];
    if dialects[0] != dialects[1] {
        let message =
            format!("has the dialect {}, and the old set {}: they cannot be compared", dialects[1], dialects[0]);
        return Err(Failure::at(new, message));
    }
    let mut out = BufWriter::new(Output::stdout());
    let words = Words::of_versions(args.assumption.read()?);
    let assumption = words.assumed.assumption(sets[0].normal_form())?;
    let pair = Pair {
        old: &sets[0],
        new: &sets[1],
        diff: Diff::new(&sets[0], &sets[1]),
        paths: PathDiff::new(&sets[0], &sets[1]).under(assumption).with_max_steps(MAX_SET_STEPS),
    };
    let compared = compare(args, &words, pair, &mut out);
    let any = compared
        .and_then(|any| out.flush().map(|()| any).map_err(Stop::Write))
        .map_err(|stop| out.get_ref().stop_failure(stop, new))?;
    Ok(Exit::from_bad(any))
}

/// Writes all changes. Returns whether there are any.
fn compare(args: &Args, words: &Words, mut pair: Pair<'_>, out: &mut impl Write) -> std::result::Result<bool, Stop> {
    let mut lists = pair.lists()?;
    let counts = LISTED.map(|(kind, ..)| lists[kind as usize].count);
    let same = lists[OriginDifference::Same as usize].count;
    out.write_all(head(counts, same, words, args.json)?.as_bytes())?;
    let is_shown = |kind| !args.verdicts || kind != OriginDifference::Equal;
    for (kind, sign, _) in LISTED.into_iter().filter(|&(kind, ..)| is_shown(kind)) {
        let ListedOrigins { count, first } = std::mem::take(&mut lists[kind as usize]);
        let more = count - first.len() as u64;
        for origin in first.into_sorted_vec() {
            out.write_all(pair.line(kind, sign, &origin, words, args.json)?.as_bytes())?;
        }
        if more > 0 && !args.json {
            writeln!(out, "{sign} ... and {} more", grouped(more))?;
        }
    }
    let mut any = LISTED.iter().zip(counts).any(|(&(kind, ..), count)| count > 0 && is_shown(kind));
    if let Some(list) = &args.urls {
        any |= flips::compare(args, [pair.old, pair.new], &mut pair.diff, list, out)?;
    }
    Ok(any)
}

/// Returns the lines with the origin count for each kind.
fn head(counts: [u64; 6], same: u64, words: &Words, is_json: bool) -> Result<String> {
    let [added, gone, outcome, verdicts, unproved, equal] = counts;
    let changed = outcome + verdicts + unproved + equal;
    if is_json {
        let mut object = json!({"change": "counts", "added": added, "gone": gone, "changed": changed, "same": same});
        for ((_, _, name), count) in LISTED.iter().zip(counts).skip(2) {
            object[*name] = count.into();
        }
        return json_line(&object);
    }
    let of = grouped(changed + same);
    let proved = grouped(equal + same);
    let [added, gone, changed, same] = [added, gone, changed, same].map(grouped);
    let [outcome, verdicts, unproved] = [outcome, verdicts, unproved].map(grouped);
    let scope = words.assumed.scope();
    Ok(format!(
        "@ origins: {added} added, {gone} gone, {changed} changed, {same} the same\n\
         @ equal for every URL{scope}: {proved} of {of}; {verdicts} not, {unproved} unproved, \
         {outcome} with another fetch outcome\n"
    ))
}

impl<'s> Pair<'s> {
    /// Compares the sets, and returns the origins of each kind.
    fn lists(&mut self) -> std::result::Result<[ListedOrigins; 7], Stop> {
        let failure = |error: reptile::Error| Stop::Other(Failure::new(error));
        let (mut progress, mut shown) = (None, 0);
        let mut show = |done: u64, all| {
            progress.get_or_insert_with(|| Progress::of("pairs of rules", Some(all))).add(done - shown);
            shown = done;
        };
        self.paths.prove_origins(&mut self.diff, &mut show).map_err(failure)?;
        drop(progress);
        let mut lists: [ListedOrigins; 7] = Default::default();
        let mut report = |record: &OriginRecord<'_>, change, paths: Option<OriginPaths>| {
            let kind = match (change, paths) {
                (OriginChange::Added, _) => OriginDifference::Added,
                (OriginChange::Gone, _) => OriginDifference::Gone,
                (OriginChange::Same, _) => OriginDifference::Same,
                (OriginChange::Changed, Some(paths)) if paths.is_other_source => OriginDifference::Outcome,
                (OriginChange::Changed, paths) => match paths.map(|paths| paths.verdicts) {
                    Some(PathVerdicts::Changed) => OriginDifference::Verdicts,
                    Some(PathVerdicts::Equal) => OriginDifference::Equal,
                    Some(PathVerdicts::Unproved) | None => OriginDifference::Unproved,
                },
            };
            lists[kind as usize].add(record);
        };
        self.paths.each_origin(&mut self.diff, &mut report).map_err(failure)?;
        Ok(lists)
    }

    /// Returns the line for an origin.
    fn line(
        &mut self,
        kind: OriginDifference,
        sign: char,
        origin: &Origin,
        words: &Words,
        is_json: bool,
    ) -> std::result::Result<String, Stop> {
        let (mut change, mut rows) = (Change::default(), PathRows::default());
        let find = |set: &'s Set<&'s [u8]>| set.origin_table().find(origin.scheme, &origin.host, origin.port);
        if let (Some(old), Some(new)) = (find(self.old)?, find(self.new)?) {
            let failure = |error: reptile::Error| Stop::Other(Failure::new(error));
            change = self.diff.change(origin)?;
            let policies = self.paths.policies(&[old, new]).map_err(failure)?;
            rows = self.paths.rows(&policies).map_err(failure)?;
        }
        if !is_json {
            let text = content::describe(paths::describe(&rows, words), &change);
            let separator = if text.is_empty() { "" } else { "\t" };
            return Ok(format!("{sign} {origin}{separator}{text}\n"));
        }
        let name = match kind {
            OriginDifference::Added => "added",
            OriginDifference::Gone => "gone",
            _ => "changed",
        };
        let mut object = json!({"change": "origin", "origin": origin.to_string(), "kind": name});
        content::add_json(&change, &mut object);
        if let Some(row) = rows.rows.iter().find(|row| row.change.is_change()) {
            object["paths"] = words.object(Some(&row.names), Some(false), Some(&row.change));
        } else if name == "changed" {
            let is_equal = (kind != OriginDifference::Unproved).then_some(true);
            object["paths"] = words.object(None, is_equal, None);
        }
        Ok(json_line(&object)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reptile::Scheme;

    #[test]
    fn listed_origins_stop_at_the_limit() {
        for (count, listed) in
            [(MAX_LISTED - 1, MAX_LISTED - 1), (MAX_LISTED, MAX_LISTED), (MAX_LISTED + 1, MAX_LISTED)]
        {
            let mut list = ListedOrigins::default();
            for number in (0..count).rev() {
                let host = format!("h{number:05}.example");
                let record = OriginRecord {
                    host: host.as_bytes(),
                    scheme: Scheme::Http,
                    port: 80,
                    policy: 0,
                    captures: None,
                    other: None,
                };
                list.add(&record);
            }
            assert_eq!((list.count, list.first.len()), (count as u64, listed));
            let first = list.first.into_sorted_vec();
            assert_eq!(
                (&*first[0].host, &*first[listed - 1].host),
                (&b"h00000.example"[..], { format!("h{:05}.example", listed - 1).into_bytes().leak() as &[u8] })
            );
        }
    }
}
