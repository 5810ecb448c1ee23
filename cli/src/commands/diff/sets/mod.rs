//! `reptile diff` of two compiled sets: which origins came, went and changed, and which URLs flip.
//!
//! [`content`] compares what two policies say, and [`flips`] decides URLs by both sets.
//!
//! Time: a look-up for each origin of either set, and one comparison for each pair of policies that an origin has.
//! Memory: the origins that are listed, and [`MAX_PAIRS`] comparisons.

mod content;
mod flips;

use std::collections::{BinaryHeap, HashMap};
use std::io::{BufWriter, Write};

use reptile::Origin;
use reptile::contents::{FormatError, OriginRecord, Set};
use serde_json::json;

use super::Args;
use crate::error::{Exit, Failure, Result, Stop};
use crate::outputs::file::Output;
use crate::outputs::json::json_line;
use crate::outputs::summary::grouped;
use crate::sets::{Loaded, damaged};
use content::Change;

/// Maximum number of origins listed per kind, in host order; all are counted.
const MAX_LISTED: usize = 1000;

/// Maximum number of cached comparisons of policies and other directives.
const MAX_PAIRS: usize = 1 << 20;

/// A change to an origin between two sets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Added,
    Gone,
    Changed,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::Added, Kind::Gone, Kind::Changed];

    fn word(self) -> &'static str {
        ["added", "gone", "changed"][self as usize]
    }

    fn sign(self) -> char {
        ['+', '-', '~'][self as usize]
    }
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

/// Two sets that are compared, and what is known of their parts.
struct Pair<'s> {
    old: &'s Set<&'s [u8]>,
    new: &'s Set<&'s [u8]>,
    policies: HashMap<(u32, u32), bool>,
    other: HashMap<(Option<u32>, Option<u32>), bool>,
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
    let pair = Pair { old: &sets[0], new: &sets[1], policies: HashMap::new(), other: HashMap::new() };
    let compared = compare(args, pair, &mut out);
    let any = compared
        .and_then(|any| out.flush().map(|()| any).map_err(Stop::Write))
        .map_err(|stop| stop.failure(out.get_ref(), &args.new))?;
    Ok(Exit::from_bad(any))
}

/// Writes what changed. Returns whether anything did.
fn compare(args: &Args, mut pair: Pair<'_>, out: &mut impl Write) -> std::result::Result<bool, Stop> {
    let (lists, same) = pair.origins()?;
    let counts = Kind::ALL.map(|kind| lists[kind as usize].count);
    if args.json {
        let [added, gone, changed] = counts;
        let object = json!({"change": "counts", "added": added, "gone": gone, "changed": changed, "same": same});
        out.write_all(json_line(&object)?.as_bytes())?;
    } else {
        let [added, gone, changed, same] = [counts[0], counts[1], counts[2], same].map(grouped);
        writeln!(out, "@ origins: {added} added, {gone} gone, {changed} changed, {same} the same")?;
    }
    for (kind, Listed { count, first }) in Kind::ALL.into_iter().zip(lists) {
        let more = count - first.len() as u64;
        for origin in first.into_sorted_vec() {
            let change = match kind {
                Kind::Changed => pair.change(&origin)?,
                _ => Change::default(),
            };
            out.write_all(line(kind, &origin, &change, args.json)?.as_bytes())?;
        }
        if more > 0 && !args.json {
            writeln!(out, "{} ... and {} more", kind.sign(), grouped(more))?;
        }
    }
    let mut any = counts.iter().any(|&count| count > 0);
    if let Some(list) = &args.urls {
        any |= flips::compare(args, &mut pair, list, out)?;
    }
    Ok(any)
}

/// Returns an origin, and what happened to it, as a line.
fn line(kind: Kind, origin: &Origin, change: &Change, is_json: bool) -> Result<String> {
    if !is_json {
        let words = change.words();
        let separator = if words.is_empty() { "" } else { "\t" };
        return Ok(format!("{} {origin}{separator}{words}\n", kind.sign()));
    }
    let mut object = json!({"change": "origin", "origin": origin.to_string(), "kind": kind.word()});
    change.describe(&mut object);
    json_line(&object)
}

impl<'s> Pair<'s> {
    /// Returns the origins per kind, and the number of unchanged origins.
    fn origins(&mut self) -> std::result::Result<([Listed; 3], u64), FormatError> {
        let mut lists = [Listed::default(), Listed::default(), Listed::default()];
        let mut same = 0;
        let (old, new) = (self.old, self.new);
        for record in old.origins() {
            let record = record?;
            match new.origin_table().find(record.scheme, record.host, record.port)? {
                None => lists[Kind::Gone as usize].add(&record),
                Some(other) if self.are_same(&record, &other)? => same += 1,
                Some(_) => lists[Kind::Changed as usize].add(&record),
            }
        }
        for record in new.origins() {
            let record = record?;
            if old.origin_table().find(record.scheme, record.host, record.port)?.is_none() {
                lists[Kind::Added as usize].add(&record);
            }
        }
        Ok((lists, same))
    }

    /// Returns whether two records of one origin say the same, lines and times apart.
    fn are_same(&mut self, old: &OriginRecord<'s>, new: &OriginRecord<'s>) -> std::result::Result<bool, FormatError> {
        if !self.is_policy_same(old, new)? {
            return Ok(false);
        }
        let key = (old.other, new.other);
        if let Some(&known) = self.other.get(&key) {
            return Ok(known);
        }
        let is_same = content::same_other(&self.old.site_of(old)?, &self.new.site_of(new)?)?;
        remember(&mut self.other, key, is_same);
        Ok(is_same)
    }

    /// Returns whether two policies say the same for every crawler.
    fn is_policy_same(
        &mut self,
        old: &OriginRecord<'s>,
        new: &OriginRecord<'s>,
    ) -> std::result::Result<bool, FormatError> {
        let key = (old.policy, new.policy);
        if let Some(&known) = self.policies.get(&key) {
            return Ok(known);
        }
        let change = Change::of_policies(self.old, &self.old.policy_of(old)?, self.new, &self.new.policy_of(new)?)?;
        let is_same = change == Change::default();
        remember(&mut self.policies, key, is_same);
        Ok(is_same)
    }

    /// Returns the changes to an origin that is in both sets.
    fn change(&self, origin: &Origin) -> std::result::Result<Change, FormatError> {
        let find = |set: &'s Set<&'s [u8]>| set.origin_table().find(origin.scheme, &origin.host, origin.port);
        let (Some(old), Some(new)) = (find(self.old)?, find(self.new)?) else { return Ok(Change::default()) };
        let mut change =
            Change::of_policies(self.old, &self.old.policy_of(&old)?, self.new, &self.new.policy_of(&new)?)?;
        change.other = !content::same_other(&self.old.site_of(&old)?, &self.new.site_of(&new)?)?;
        Ok(change)
    }
}

/// Remembers a comparison, and forgets all others if there are too many.
fn remember<K: Eq + std::hash::Hash>(known: &mut HashMap<K, bool>, key: K, is_same: bool) {
    if known.len() >= MAX_PAIRS {
        known.clear();
    }
    known.insert(key, is_same);
}

#[cfg(test)]
mod tests {
    use super::*;
    use reptile::Scheme;

    #[test]
    fn the_limit_of_the_listed_origins_holds_at_its_edges() {
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

    #[test]
    fn the_limit_of_remembered_pairs_holds_at_its_edges() {
        let mut known: HashMap<usize, bool> = (0..MAX_PAIRS - 1).map(|key| (key, true)).collect();
        remember(&mut known, MAX_PAIRS - 1, true);
        assert_eq!(known.len(), MAX_PAIRS);
        remember(&mut known, MAX_PAIRS, true);
        assert_eq!(known.len(), 1);
    }
}
