//! Lines of groups, and the difference between two lists of lines.

use std::cmp::Ordering;

use reptile::DirectiveKind;
use reptile::body::RawRule;
use reptile::contents::Directive;
use xxhash_rust::xxh3::xxh3_64;

/// A line that is compared: a rule, or another directive.
#[derive(Clone, Copy)]
pub enum Line<'b> {
    /// A rule.
    Rule(&'b RawRule<'b>),
    /// Another directive.
    Directive(&'b Directive<'b>),
}

impl<'b> Line<'b> {
    /// Returns the value, as written.
    pub fn value(&self) -> &'b [u8] {
        match self {
            Line::Rule(rule) => rule.value,
            Line::Directive(line) => line.value,
        }
    }

    /// Returns the line number, from 1.
    pub fn number(&self) -> u32 {
        match self {
            Line::Rule(rule) => rule.line,
            Line::Directive(line) => line.line,
        }
    }

    /// Returns the key in its usual letter case. An unknown key is returned as written.
    pub fn key(&self) -> &'b [u8] {
        match self {
            Line::Rule(rule) => rule.kind.name().as_bytes(),
            Line::Directive(line) => match line.kind {
                DirectiveKind::Sitemap => b"Sitemap",
                DirectiveKind::CrawlDelay => b"Crawl-delay",
                DirectiveKind::RequestRate => b"Request-rate",
                DirectiveKind::VisitTime => b"Visit-time",
                DirectiveKind::Host => b"Host",
                DirectiveKind::CleanParam => b"Clean-param",
                DirectiveKind::ContentSignal => b"Content-Signal",
                DirectiveKind::ContentUsage => b"Content-Usage",
                DirectiveKind::Noindex => b"Noindex",
                _ => line.key,
            },
        }
    }
}

/// A line in the old file and in the new one.
type LinePair<'b> = (Line<'b>, Line<'b>);

/// The difference between two lists of lines.
#[derive(Default)]
pub struct Difference<'b> {
    /// The lines that only the first list has, in file order.
    pub removed: Vec<Line<'b>>,
    /// The lines that only the second list has, in file order.
    pub added: Vec<Line<'b>>,
    /// The moved rules: as few as possible, so that all other rules have the same order in both lists.
    pub moved: Vec<LinePair<'b>>,
}

impl Difference<'_> {
    /// Returns whether it has no lines.
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty() && self.moved.is_empty()
    }
}

/// Compares two lists of lines. A repeated line counts once. `is_ordered` says whether rule order matters. Time: n log
/// n for n bytes.
pub fn difference(lists: [Vec<Line<'_>>; 2], is_ordered: bool) -> Difference<'_> {
    let mut found = Difference::default();
    let mut common = Vec::new();
    let [mut old, mut new] = lists.map(|lines| hashed(lines).into_iter().peekable());
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => break,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(old), Some(new)) => old.cmp(new),
        };
        let old = if order == Ordering::Greater { None } else { old.next() };
        let new = if order == Ordering::Less { None } else { new.next() };
        match (old, new) {
            (Some(old), Some(new)) => common.extend(is_ordered.then_some((old.line, new.line))),
            (Some(old), None) => found.removed.push(old.line),
            (None, Some(new)) => found.added.push(new.line),
            (None, None) => {}
        }
    }
    found.removed.sort_unstable_by_key(Line::number);
    found.added.sort_unstable_by_key(Line::number);
    common.retain(|(old, _)| matches!(old, Line::Rule(_)));
    found.moved = moved(common);
    found
}

/// Returns the lines sorted by hash, each once, with its first line number.
fn hashed(lines: Vec<Line<'_>>) -> Vec<Hashed<'_>> {
    let mut lines: Vec<Hashed<'_>> =
        lines.into_iter().map(|line| Hashed { hash: xxh3_64(line.value()), line }).collect();
    lines.sort_unstable_by(|a, b| a.cmp(b).then(a.line.number().cmp(&b.line.number())));
    lines.dedup_by(|later, first| later.cmp(first) == Ordering::Equal);
    lines
}

/// A line with its value's hash.
struct Hashed<'b> {
    hash: u64,
    line: Line<'b>,
}

impl Hashed<'_> {
    /// Compares the text, regardless of line number.
    fn cmp(&self, other: &Hashed<'_>) -> Ordering {
        let keys = || self.line.key().cmp(other.line.key());
        self.hash.cmp(&other.hash).then_with(keys).then_with(|| self.line.value().cmp(other.line.value()))
    }
}

/// Returns the rules that moved. Time: n log n for n rules.
fn moved(mut common: Vec<LinePair<'_>>) -> Vec<LinePair<'_>> {
    common.sort_unstable_by_key(|(old, _)| old.number());
    // The longest subsequence of increasing new line numbers: for each length the end with the lowest line, and for
    // each rule its predecessor.
    let (mut ends, mut previous): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), Vec::with_capacity(common.len()));
    for (index, (_, new)) in common.iter().enumerate() {
        let length = ends.partition_point(|&end| common[end].1.number() < new.number());
        previous.push(length.checked_sub(1).map(|length| ends[length]));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut stays = vec![false; common.len()];
    let mut at = ends.last().copied();
    while let Some(index) = at {
        stays[index] = true;
        at = previous[index];
    }
    common.into_iter().zip(stays).filter(|(_, stays)| !stays).map(|(both, _)| both).collect()
}
