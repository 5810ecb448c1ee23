//! The linter. It finds lines of a robots.txt that are wrong or are not read as intended, and suggests fixes.
//!
//! An error is a line that does not do what it says, or does more. A warning is a line that some crawlers read
//! differently, or that is probably a mistake. A note is a line that could be shorter or plainer.
//!
//! Every finding is about the file as the dialect reads it. A finding that a rule does nothing is certain: removing the
//! rule changes no verdict. Time: linear in the body, times the logarithm of the rule count, plus the proofs about its
//! rules and groups, which take at most [`MAX_FILE_PROOF_STEPS`](crate::limits::MAX_FILE_PROOF_STEPS).

mod agents;
mod characters;
mod codes;
mod data;
mod differences;
mod directives;
mod documents;
mod edits;
mod equality;
mod findings;
mod fix;
mod groups;
mod hints;
mod idle;
mod ignore;
mod inherited;
mod key_names;
mod keys;
mod lines;
mod proofs;
mod rendering;
mod repairs;
mod starts;
mod tokens;
mod uses;
mod values;

use std::cell::OnceCell;

use bumpalo::Bump;

use self::characters::quote;
pub use self::codes::Code;
use self::differences::differences;
pub use self::differences::{MAX_COMPARED_BYTES, MAX_COMPARED_RULES, MAX_COMPARED_STEPS};
use self::directives::Directives;
use self::documents::not_robots;
pub use self::edits::{Edit, edits_of};
pub use self::equality::{Effect, Example};
use self::findings::Findings;
pub use self::findings::{Finding, Fix, Linted, Proved, Severity};
pub use self::fix::{Change, FixOptions, Fixed, MAX_FIX_STEPS, Refusal, Unfixed, fix, fix_of_host, fix_with};
use self::groups::{GroupLines, blank_in_group, closed_site, collapse, empty_disallow, repeated_agents};
use self::hints::hints;
use self::idle::{idle_rules, merged_groups};
use self::ignore::Ignored;
use self::inherited::not_inherited;
use self::lines::{each_line, left_out, whole_file};
use self::proofs::proofs;
use self::rendering::rendering;
use self::uses::{UsageLines, over_limit, uses};
use crate::automaton::{TooManySteps, check_file, has_few_steps};
use crate::body::directives::DirectiveReader;
use crate::body::{BodyFormat, Diagnostic, Lines, Robots, parse_with};
use crate::dialect::Dialect;
use crate::dialect::crawlers::Resolved;
use crate::limits::MAX_BODY_BYTES;
use crate::oracle::decide_for;
use crate::rules::groups::assign;
use crate::rules::order::order_all;

/// Maximum findings per code and file that are listed by default. All are counted.
pub const MAX_FINDINGS_PER_CODE: u32 = 100;

/// Options for [`lint_with`].
///
/// ```
/// use reptile_compiler::advice::lint::{Code, LintOptions, lint_with};
/// use reptile_compiler::dialect::GOOGLE_LIB;
///
/// let body = b"user-agent: *\ndisallow: /a\nuser-agent: b\nallow: /\n";
/// assert!(lint_with(body, &GOOGLE_LIB, &LintOptions::default()).findings.is_empty());
/// let options = LintOptions { enabled: vec![Code::GroupOpensOnPurpose], ..LintOptions::default() };
/// assert_eq!(lint_with(body, &GOOGLE_LIB, &options).findings[0].line, 3);
/// ```
#[derive(Clone, Debug)]
pub struct LintOptions {
    /// Maximum number of findings listed per code. All are counted.
    pub max_per_code: u32,
    /// The host of the robots.txt, if known. It determines which URLs in rules belong to other sites.
    pub host: Option<Vec<u8>>,
    /// The codes to report that are [off by default](Code::is_off_by_default).
    pub enabled: Vec<Code>,
}

impl Default for LintOptions {
    fn default() -> LintOptions {
        LintOptions { max_per_code: MAX_FINDINGS_PER_CODE, host: None, enabled: Vec::new() }
    }
}

/// Lints a robots.txt with options like [`lint`].
#[must_use]
pub fn lint_with(body: &[u8], dialect: &Dialect, options: &LintOptions) -> Linted {
    let mut found = Findings::new(options.max_per_code, options.host.as_deref());
    found.enabled.clone_from(&options.enabled);
    lint_each(body, dialect, found).0
}

/// Lints a robots.txt.
///
/// Lists at most `max_per_code` findings per code, such as [`MAX_FINDINGS_PER_CODE`], and counts all.
#[must_use]
pub fn lint(body: &[u8], dialect: &Dialect, max_per_code: u32) -> Linted {
    lint_counted(body, dialect, max_per_code).0
}

/// Lints a host's robots.txt like [`lint`]. The host determines which URLs in rules belong to other sites.
#[must_use]
pub fn lint_of_host(body: &[u8], dialect: &Dialect, max_per_code: u32, host: Option<&[u8]>) -> Linted {
    lint_each(body, dialect, Findings::new(max_per_code, host)).0
}

/// Lints like [`lint`], and also counts steps: bytes read, and comparisons of keys and rules, except for proofs.
///
/// The count is at most the body length, times a constant and the logarithm of the rule count.
#[must_use]
pub fn lint_counted(body: &[u8], dialect: &Dialect, max_per_code: u32) -> (Linted, u64) {
    lint_each(body, dialect, Findings::new(max_per_code, None))
}

/// A path that only rules for the whole site match.
const UNUSUAL_PATH: &[u8] = b"/\x7f";

/// Lints a body, and adds all findings to `found`.
fn lint_each(body: &[u8], dialect: &Dialect, mut found: Findings) -> (Linted, u64) {
    found.ignored = Ignored::read(body, dialect, |line, name| unknown_ignore(line, name, &mut found));
    let format = BodyFormat::of(body);
    if format.is_some_and(|format| not_robots(body, format, dialect, &mut found)) {
        return found.finish();
    }
    let arena = Bump::new();
    let is_html = format == Some(BodyFormat::Html);
    let mut lines = Lines::new(body, dialect.byte_order_mark).zip(1..).peekable();
    let (mut usage_lines, mut reader) = (UsageLines::default(), DirectiveReader::new(dialect, body));
    let robots = parse_with(
        body,
        dialect,
        &arena,
        |line| {
            usage_lines.add(line);
            reader.line(line);
            None
        },
        |Diagnostic { line, kind }| {
            while lines.next_if(|&(_, number)| number < line).is_some() {}
            let text = lines.peek().map_or(&b""[..], |&(text, _)| text);
            left_out(line, text, kind, dialect, &mut found);
        },
    );
    whole_file(body, &robots, &mut found);
    let (mut places, mut directives) = (GroupLines::default(), Directives::default());
    for (line, number) in Lines::new(body, dialect.byte_order_mark).zip(1..) {
        each_line(number, line, dialect, is_html, &mut places, &mut directives, &mut found);
    }
    let (mut agent_lines, mut by_group) = (&places.agents[..], Vec::with_capacity(robots.groups.len()));
    let merged = merged_groups(&robots, dialect, &mut found);
    let decided = OnceCell::new();
    let unnamed = Resolved { name: String::new(), tokens: Vec::new(), honors_default_group: true };
    let is_open = || *decided.get_or_init(|| decide_for(body, dialect, &unnamed, UNUSUAL_PATH).allowed);
    for ((index, group), merged) in robots.groups.iter().enumerate().zip(merged) {
        let (lines, rest) = agent_lines.split_at(group.agents.len().min(agent_lines.len()));
        agent_lines = rest;
        by_group.push(lines);
        collapse(group, lines, &places, &mut found);
        blank_in_group(group, lines, dialect, &places, &mut found);
        empty_disallow(group, dialect, &mut found);
        closed_site(&robots, index, dialect, is_open, &mut found);
        idle_rules(group, merged, dialect, &mut found);
        hints(group, dialect, &mut found);
    }
    found.keep_first_fixes(&places.agents);
    repeated_agents(&robots, &by_group, usage_lines.managed(), dialect, &mut found);
    uses(&usage_lines, &robots, &by_group, dialect, &mut found);
    tokens::contradictions(body, (&usage_lines, UNUSUAL_PATH), &robots, &by_group, dialect, &mut found);
    not_inherited(&usage_lines, &robots, dialect, &mut found);
    over_limit(&usage_lines, body, &robots, reader, dialect, &mut found);
    too_many_steps(body, &robots, dialect, &mut found);
    if !is_html {
        differences(body, &robots, dialect, &mut found);
        rendering(body, &robots, dialect, &mut found);
        proofs(body.len(), &robots, &by_group, &places, dialect, &mut found);
    }
    found.finish()
}

/// Finds a name that no code has in a comment that ignores findings.
fn unknown_ignore(line: u32, name: &[u8], found: &mut Findings) {
    found.add(line, Code::UnknownIgnore, Severity::Warning, || {
        (format!("there is no finding called \"{}\"", quote(name)).into(), None)
    });
}

/// Finds rules that cannot be compiled, because one URL would take too long to decide.
fn too_many_steps(body: &[u8], robots: &Robots<'_>, dialect: &Dialect, found: &mut Findings) {
    // Nearly all files have so few wildcards after the same texts that their rules need not be ordered.
    if body.len() > MAX_BODY_BYTES || has_few_steps(body, &robots.groups, robots.groups.len()) {
        return;
    }
    let arena = Bump::new();
    let assignment = assign(robots, dialect, &arena);
    let lists = order_all(&assignment, dialect, &arena);
    let Err(TooManySteps { line, error }) = check_file(&assignment.tokens, &lists) else { return };
    found.add(line, Code::TooManySteps, Severity::Error, || {
        let message = format!("these rules are refused because they take too long for one URL: {error}");
        (message.into(), Some("use fewer different wildcards".into()))
    });
}
