//! Prepares a robots.txt, or a capture of one, for adding to a set.

use std::collections::HashSet;

use bumpalo::Bump;
use reptile_engine::format::directives::{Directive, encode};
use xxhash_rust::xxh3::xxh3_64;

use crate::automaton::{TooManySteps, check_file, has_few_steps};
use crate::body::directives::{DirectiveReader, UsageOverLimit};
use crate::body::format::document_of;
use crate::body::{Diagnostic, DiagnosticKind, Diagnostics, Robots, parse, parse_document};
use crate::capture::{Capture, Outcome, Profile};
use crate::dialect::Dialect;
use crate::limits::MAX_BODY_BYTES;
use crate::rules::groups::{Assignment, assign};
use crate::rules::order::{RuleList, order_all};
use crate::usage::rules::{UsageRules, usages_of};

/// One prepared robots.txt, ready to be added to a set. Owns its memory.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    /// The product tokens that the file names, in lower case and sorted, with the index of their group. A token with
    /// several entries has several groups, which decide together.
    pub tokens: Vec<(Box<[u8]>, u32)>,
    /// The index of the default group, for all crawlers that the file does not name.
    pub default_group: Option<u32>,
    /// The rules of each group, and each rule's line by position.
    pub groups: Vec<(RuleList, Vec<u32>)>,
    /// The usage rules of each group, and then those for crawlers without a group. Empty if there are none.
    pub usages: Vec<UsageRules>,
    /// The file's other directives, encoded as in a set.
    pub other: Box<[u8]>,
    /// The parser's diagnostics for the file.
    pub diagnostics: Diagnostics,
    /// The number of rules in the file, as written.
    pub rule_count: usize,
    /// The body's hash, [`hash_of_body`]. It decides between two files if nothing else does.
    pub body_hash: u64,
}

/// The error for a robots.txt that exceeds a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyOverLimit {
    /// The body has this number of bytes, more than [`MAX_BODY_BYTES`].
    Bytes(usize),
    /// One decision by its rules would take too long.
    Steps(TooManySteps),
}

impl std::fmt::Display for BodyOverLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BodyOverLimit::Bytes(found) => {
                write!(f, "robots.txt has {found} bytes, over the limit of {MAX_BODY_BYTES}")
            }
            BodyOverLimit::Steps(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BodyOverLimit {}

/// Reads one robots.txt.
///
/// Pure, so it can be called on any number of threads, each with its own arena. Call [`Bump::reset`] between calls.
///
/// # Errors
/// Returns an error if the body is longer than [`MAX_BODY_BYTES`], or one decision by its rules would take too long.
pub fn prepare(body: &[u8], dialect: &Dialect, arena: &Bump) -> Result<Prepared, BodyOverLimit> {
    Ok(Prepared { body_hash: hash_of_body(body), ..prepare_alone(body, dialect, arena)? })
}

/// Returns the hash by which a set identifies a body: XXH3-64 without a seed.
#[must_use]
pub fn hash_of_body(body: &[u8]) -> u64 {
    xxh3_64(body)
}

/// Prepares a set's only file like [`prepare`]. Such a set does not need the `body_hash`, so it is 0.
///
/// # Errors
/// Returns the same errors as [`prepare`].
pub fn prepare_alone(body: &[u8], dialect: &Dialect, arena: &Bump) -> Result<Prepared, BodyOverLimit> {
    check_size(body)?;
    let (robots, directives, over_limit) = read_all(body, dialect, arena);
    prepared_from(body, robots, &directives, over_limit, dialect, arena)
}

pub(super) fn read_all<'b>(
    body: &'b [u8],
    dialect: &Dialect,
    arena: &'b Bump,
) -> (Robots<'b>, Vec<Directive<'b>>, Option<UsageOverLimit>) {
    // Recognized once for both, because a page that begins with a comment is searched for directives.
    let document = document_of(body);
    let mut directives = DirectiveReader::of_document(dialect, document);
    let robots = parse_document(body, document, dialect, arena, |line| directives.line(line), |_| ());
    let over_limit = directives.usage_over_limit().cloned();
    (robots, directives.finish(), over_limit)
}

/// Prepares a file like [`prepare`], but leaves out the other directives, with the usage rules among them. Verdicts do
/// not need them.
///
/// # Errors
/// Returns the same errors as [`prepare`].
pub fn prepare_without_other(body: &[u8], dialect: &Dialect, arena: &Bump) -> Result<Prepared, BodyOverLimit> {
    check_size(body)?;
    let prepared = prepared_from(body, parse(body, dialect, arena), &[], None, dialect, arena)?;
    Ok(Prepared { body_hash: hash_of_body(body), ..prepared })
}

/// Prepares a file that is already parsed like [`prepare_without_other`]. `body_hash` is 0.
pub(crate) fn prepare_parsed<'b>(
    body: &[u8],
    robots: Robots<'b>,
    dialect: &Dialect,
    arena: &'b Bump,
) -> Result<Prepared, BodyOverLimit> {
    prepared_from(body, robots, &[], None, dialect, arena)
}

pub(super) fn check_size(body: &[u8]) -> Result<(), BodyOverLimit> {
    if body.len() > MAX_BODY_BYTES { Err(BodyOverLimit::Bytes(body.len())) } else { Ok(()) }
}

pub(super) fn prepared_from<'b>(
    body: &[u8],
    mut robots: Robots<'b>,
    directives: &[Directive<'b>],
    over_limit: Option<UsageOverLimit>,
    dialect: &Dialect,
    arena: &'b Bump,
) -> Result<Prepared, BodyOverLimit> {
    let assignment = assign(&robots, dialect, arena);
    let groups = order_all(&assignment, dialect, arena);
    if !has_few_steps(body, &robots.groups, assignment.most_lists()) {
        check_file(&assignment.tokens, &groups).map_err(BodyOverLimit::Steps)?;
    }
    let usages = match over_limit {
        None => usages_of(directives, &assignment, dialect, arena),
        Some(error) => Err(error),
    };
    let usages = usages.unwrap_or_else(|UsageOverLimit { line, .. }| {
        robots.diagnostics.add(Diagnostic { line, kind: DiagnosticKind::UsageOverLimit });
        Vec::new()
    });
    Ok(Prepared {
        usages,
        tokens: assignment.tokens.iter().map(|&(token, list)| (token.into(), list)).collect(),
        default_group: assignment.default_group,
        groups,
        other: other_directives(directives, &assignment),
        diagnostics: robots.diagnostics,
        rule_count: robots.groups.iter().map(|group| group.rules.len()).sum(),
        body_hash: 0,
    })
}

/// Returns a file's other directives, encoded as in a set. Records the groups merged by each rule list only for groups
/// with other directives.
fn other_directives(directives: &[Directive<'_>], assignment: &Assignment<'_>) -> Box<[u8]> {
    if directives.is_empty() {
        return Box::default();
    }
    let with_directives: HashSet<u32> = directives.iter().filter_map(|directive| directive.part).collect();
    let mut parts = Vec::new();
    for (list, index) in assignment.lists.iter().zip(0..) {
        parts.extend(list.groups.iter().filter(|group| with_directives.contains(group)).map(|&group| (index, group)));
    }
    // Everything within the reader's limits fits the format.
    encode(&parts, directives).map(Vec::into_boxed_slice).unwrap_or_default()
}

/// The reason that a capture cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadCapture {
    /// The body is over a limit.
    OverLimit(BodyOverLimit),
    /// The capture should have a body, but does not.
    NoBody,
}

impl std::fmt::Display for BadCapture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BadCapture::OverLimit(error) => error.fmt(f),
            BadCapture::NoBody => f.write_str("no body"),
        }
    }
}

impl std::error::Error for BadCapture {}

/// Returns the outcome of a capture by itself, and its rules if they are used.
///
/// `read` is [`prepare`], [`prepare_without_other`] or [`read_alone`](super::read_alone). Pure if `read` is pure.
///
/// # Errors
/// Returns an error if the rules are used but the body is missing or exceeds a limit. Status 204 and 205 need no body.
pub fn prepare_capture<P>(
    capture: &Capture,
    body: Option<&[u8]>,
    profile: &Profile,
    read: impl FnOnce(&[u8]) -> Result<P, BodyOverLimit>,
) -> Result<(Outcome, Option<P>), BadCapture> {
    let outcome = profile.outcome(capture, body.unwrap_or_default());
    if outcome != Outcome::Use {
        return Ok((outcome, None));
    }
    let may_lack_body = matches!(capture.status, Some(204 | 205));
    let body = body.or(may_lack_body.then_some(&[])).ok_or(BadCapture::NoBody)?;
    let made = read(&profile.readable(capture, body)).map_err(BadCapture::OverLimit)?;
    Ok((outcome, Some(made)))
}
