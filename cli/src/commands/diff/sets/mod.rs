//! `reptile diff` of two compiled sets: added, removed and changed origins, and URLs whose verdicts change.
//!
//! The library compares the sets ([`reptile::diff`]). [`content`] writes the changes to an origin, and [`flips`]
//! decides URLs by both sets. Memory: the listed origins, and the library's cached comparisons.

mod content;
mod flips;

use std::collections::BinaryHeap;
use std::io::{BufWriter, Write};

use reptile::Origin;
use reptile::contents::{OriginRecord, Set};
use reptile::diff::{Change, Diff, OriginChange};
use serde_json::json;

use super::Args;
use crate::error::{Exit, Failure, Result, Stop, damaged};
use crate::outputs::file::Output;
use crate::outputs::json::json_line;
use crate::outputs::summary::grouped;
use crate::sets::Loaded;

/// Maximum number of origins listed per kind: the first in host order. All are counted.
const MAX_LISTED: usize = 1000;

/// The kinds of changes whose origins are listed, in this order.
const LISTED: [OriginChange; 3] = [OriginChange::Added, OriginChange::Gone, OriginChange::Changed];

/// Returns a kind's name in JSON.
fn name_of(kind: OriginChange) -> &'static str {
    ["added", "gone", "changed", "same"][kind as usize]
}

/// Returns the sign that starts the lines of a kind.
fn sign_of(kind: OriginChange) -> char {
    ['+', '-', '~', ' '][kind as usize]
}

/// The origins of one kind: all are counted, and the first are listed.
#[derive(Default)]
struct Listed {
    count: u64,
    first: BinaryHeap<Origin>,
}

impl Listed {
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
}

/// Runs the command for two sets.
///
/// # Errors
/// Returns an error if a set or the list of URLs cannot be read, if the sets cannot be compared, or the output cannot
/// be written.
pub fn run(args: &Args) -> Result<Exit> {
    if args.dialect.is_some() {
        return Err(Failure::new("--dialect is for robots.txt files; a set has the dialect that it was made with"));
    }
    let loaded = [Loaded::open_set(&args.old)?, Loaded::open_set(&args.new)?];
    let sets = [loaded[0].set()?, loaded[1].set()?];
    for (loaded, path) in loaded.iter().zip([&args.old, &args.new]) {
        loaded.set()?.verify_checksums().map_err(|error| damaged(path, &error))?;
    }
    let dialects = [sets[0].dialect(), sets[1].dialect()];
    if dialects[0] != dialects[1] {
        let message =
            format!("has the dialect {}, and the old set {}: they cannot be compared", dialects[1], dialects[0]);
        return Err(Failure::at(&args.new, message));
    }
    let mut out = BufWriter::new(Output::stdout());
    let pair = Pair { old: &sets[0], new: &sets[1], diff: Diff::new(&sets[0], &sets[1]) };
    let compared = compare(args, pair, &mut out);
    let any = compared
        .and_then(|any| out.flush().map(|()| any).map_err(Stop::Write))
        .map_err(|stop| out.get_ref().stop_failure(stop, &args.new))?;
    Ok(Exit::from_bad(any))
}

/// Writes all changes. Returns whether there are any.
fn compare(args: &Args, mut pair: Pair<'_>, out: &mut impl Write) -> std::result::Result<bool, Stop> {
    let mut lists = [Listed::default(), Listed::default(), Listed::default()];
    let mut same = 0_u64;
    pair.diff.each_origin(&mut |record, kind| match lists.get_mut(kind as usize) {
        Some(list) => list.add(record),
        None => same += 1,
    })?;
    let counts = LISTED.map(|kind| lists[kind as usize].count);
    if args.json {
        let [added, gone, changed] = counts;
        let object = json!({"change": "counts", "added": added, "gone": gone, "changed": changed, "same": same});
        out.write_all(json_line(&object)?.as_bytes())?;
    } else {
        let [added, gone, changed, same] = [counts[0], counts[1], counts[2], same].map(grouped);
        writeln!(out, "@ origins: {added} added, {gone} gone, {changed} changed, {same} the same")?;
    }
    for (kind, Listed { count, first }) in LISTED.into_iter().zip(lists) {
        let more = count - first.len() as u64;
        for origin in first.into_sorted_vec() {
            let change = match kind {
                OriginChange::Changed => pair.diff.change(&origin)?,
                _ => Change::default(),
            };
            out.write_all(line(kind, &origin, &change, args.json)?.as_bytes())?;
        }
        if more > 0 && !args.json {
            writeln!(out, "{} ... and {} more", sign_of(kind), grouped(more))?;
        }
    }
    let mut any = counts.iter().any(|&count| count > 0);
    if let Some(list) = &args.urls {
        any |= flips::compare(args, &mut pair, list, out)?;
    }
    Ok(any)
}

/// Returns the line for an origin's change.
fn line(kind: OriginChange, origin: &Origin, change: &Change, is_json: bool) -> Result<String> {
    if !is_json {
        let words = content::describe(change);
        let separator = if words.is_empty() { "" } else { "\t" };
        return Ok(format!("{} {origin}{separator}{words}\n", sign_of(kind)));
    }
    let mut object = json!({"change": "origin", "origin": origin.to_string(), "kind": name_of(kind)});
    content::add_json(change, &mut object);
    json_line(&object)
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
            let mut list = Listed::default();
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
