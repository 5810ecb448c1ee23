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
mod equality;
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
mod uses;
mod values;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::str::FromStr;

use bumpalo::Bump;

pub use self::codes::Code;
use self::differences::differences;
pub use self::differences::{MAX_COMPARED_BYTES, MAX_COMPARED_RULES, MAX_COMPARED_STEPS};
use self::directives::Directives;
use self::documents::not_robots;
pub use self::equality::{Effect, Example};
pub use self::fix::{Change, Fix, FixOptions, Fixed, MAX_FIX_STEPS, Refusal, Unfixed, fix, fix_of_host, fix_with};
use self::groups::{blank_in_group, closed_site, collapse, empty_disallow, repeated_agents};
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
use crate::names::UnknownName;
use crate::oracle::decide_for;
use crate::rules::groups::assign;
use crate::rules::order::{OrderScratch, order};

/// Maximum findings per code and file that are listed by default. All are counted.
pub const MAX_FINDINGS_PER_CODE: u32 = 100;

/// Importance of a finding, in increasing order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The line could be shorter or plainer.
    Note,
    /// Some crawlers read the line differently, or it is probably a mistake.
    Warning,
    /// The line does not do what it says, or does more.
    Error,
}

impl Severity {
    /// All severities, from the least to the most severe.
    pub const ALL: [Severity; 3] = [Severity::Note, Severity::Warning, Severity::Error];

    /// Returns the name of the severity.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Severity {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Severity, UnknownName> {
        let find = Severity::ALL.into_iter().find(|severity| severity.as_str() == name);
        find.ok_or_else(|| UnknownName::new("severity", name, Severity::ALL.map(Severity::as_str)))
    }
}

/// A finding about a line of a robots.txt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The line, from 1. A finding about the whole file has line 1.
    pub line: u32,
    /// The kind of finding.
    pub code: Code,
    /// The severity.
    pub severity: Severity,
    /// The mistake.
    pub message: String,
    /// The replacement or advice, if there is any. At most one finding per line has a fix.
    pub fix: Option<Fix>,
}

/// All findings about a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linted {
    /// The findings in line order, up to the requested number per code. If a code has more, a final finding with the
    /// code [`Code::MoreFindings`] gives the number left out.
    pub findings: Vec<Finding>,
    /// The finding counts for each code and severity, including findings not listed.
    pub counts: BTreeMap<(Severity, Code), u64>,
    /// The results of the proofs about rules and groups, including results without a finding.
    pub proved: Proved,
    /// The number of findings that are not reported because their codes are [off by default](Code::is_off_by_default),
    /// for each code.
    pub withheld: BTreeMap<Code, u64>,
}

/// Counts of proof results about a file's rules and groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proved {
    /// The rules with a value.
    pub rules: u64,
    /// The rules that can never decide.
    pub never_decide: u64,
    /// The other rules whose removal changes no verdict.
    pub superfluous: u64,
    /// The rules without a proof result.
    pub unproved_rules: u64,
    /// The lists of rules for named crawlers, if there is a default group.
    pub groups: u64,
    /// The lists that open a path that the default group closes, because no rule matches it.
    pub groups_opening: u64,
    /// The lists that open such a path in another way.
    pub groups_opening_on_purpose: u64,
    /// The lists without a proof result.
    pub unproved_groups: u64,
}

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
    found.ignored = Ignored::read(body, dialect, &mut found);
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

/// Finds rules that cannot be compiled, because one URL would take too long to decide.
fn too_many_steps(body: &[u8], robots: &Robots<'_>, dialect: &Dialect, found: &mut Findings) {
    // Nearly all files have so few wildcards that their rules need not be ordered.
    if body.len() > MAX_BODY_BYTES || has_few_steps(body, robots.groups.len()) {
        return;
    }
    let arena = Bump::new();
    let assignment = assign(robots, dialect, &arena);
    let mut scratch = OrderScratch::default();
    let lists: Vec<_> = assignment.lists.iter().map(|list| order(list, dialect, &arena, &mut scratch)).collect();
    drop(scratch);
    let Err(TooManySteps { line, error }) = check_file(body, &assignment.tokens, &lists) else { return };
    found.add(line, Code::TooManySteps, Severity::Error, || {
        let message = format!("these rules are refused because they take too long for one URL: {error}");
        (message.into(), Some("use fewer different wildcards".into()))
    });
}

/// Collects the findings.
struct Findings {
    list: Vec<Finding>,
    ignored: Ignored,
    max_per_code: u32,
    /// The host of the robots.txt, if known.
    host: Option<Vec<u8>>,
    /// The findings of each code, indexed as in [`Code::ALL`].
    by_code: Vec<CodeCounts>,
    steps: u64,
    /// The reported codes among those that are off by default.
    enabled: Vec<Code>,
    /// Lines with rules that an equal or a shorter rule makes ineffective, even if a comment ignores the finding.
    idle: HashMap<u32, Code>,
    /// Lines with rules whose removal is suggested.
    removable: HashSet<u32>,
    proved: Proved,
    /// Lines with rules whose own path another dialect decides differently.
    differing: HashSet<u32>,
    /// The findings with codes that are not reported.
    withheld: BTreeMap<Code, u64>,
}

/// Counters for one code.
#[derive(Clone, Default)]
struct CodeCounts {
    /// All findings, by severity.
    counts: [u64; Severity::ALL.len()],
    listed: u32,
    left_out: u64,
    /// The first line and the highest severity among the findings left out.
    first: Option<(u32, Severity)>,
}

impl Findings {
    fn new(max_per_code: u32, host: Option<&[u8]>) -> Findings {
        let by_code = vec![CodeCounts::default(); Code::ALL.len()];
        Findings {
            list: Vec::new(),
            ignored: Ignored::default(),
            max_per_code,
            host: host.map(<[u8]>::to_vec),
            by_code,
            steps: 0,
            enabled: Vec::new(),
            idle: HashMap::new(),
            removable: HashSet::new(),
            proved: Proved::default(),
            differing: HashSet::new(),
            withheld: BTreeMap::new(),
        }
    }

    /// Returns whether findings with a code are reported.
    fn is_enabled(&self, code: Code) -> bool {
        !code.is_off_by_default() || self.enabled.contains(&code)
    }

    /// Returns whether the next finding with a code is listed.
    fn has_room(&self, code: Code) -> bool {
        self.by_code.get(code as usize).is_some_and(|found| found.listed < self.max_per_code)
    }

    /// Returns the lines with a listed finding that suggests a fix other than removal.
    fn lines_with_fix(&self) -> HashSet<u32> {
        let has_fix = |finding: &&Finding| !matches!(finding.fix, None | Some(Fix::Remove));
        self.list.iter().filter(has_fix).map(|finding| finding.line).collect()
    }

    /// Counts a step.
    fn step(&mut self) {
        self.steps += 1;
    }

    /// Adds a finding, unless a comment ignores it. `words` is called only if the finding is listed.
    fn add(
        &mut self,
        line: u32,
        code: Code,
        severity: Severity,
        words: impl FnOnce() -> (Cow<'static, str>, Option<Fix>),
    ) {
        if self.is_listed(line, code, severity) {
            let (message, fix) = words();
            self.list(line, code, severity, message, fix);
        }
    }

    /// Lists a finding. Compiled once, unlike [`Findings::add`].
    #[inline(never)]
    fn list(&mut self, line: u32, code: Code, severity: Severity, message: Cow<'static, str>, fix: Option<Fix>) {
        self.list.push(Finding { line, code, severity, message: message.into_owned(), fix });
    }

    /// Counts a finding, and returns whether it is listed. Compiled once, unlike [`Findings::add`].
    fn is_listed(&mut self, line: u32, code: Code, severity: Severity) -> bool {
        let is_removable = matches!(code, Code::DuplicateRule | Code::ShadowedRule);
        if is_removable || code == Code::OverruledRule {
            self.idle.insert(line, code);
        }
        if self.ignored.has(line, code) {
            return false;
        }
        if !self.is_enabled(code) {
            *self.withheld.entry(code).or_default() += 1;
            return false;
        }
        if is_removable {
            self.removable.insert(line);
        }
        let found = &mut self.by_code[code as usize];
        found.counts[severity as usize] += 1;
        if found.listed == self.max_per_code {
            found.left_out += 1;
            let first = found.first.get_or_insert((line, severity));
            *first = (first.0.min(line), first.1.max(severity));
            return false;
        }
        found.listed += 1;
        true
    }

    /// Keeps the remedy only at the first of several rules without a group: one user-agent line suffices.
    fn keep_first_fixes(&mut self, agent_lines: &[u32]) {
        let outside = self.list.iter_mut().filter(|finding| finding.code == Code::RuleOutsideGroup);
        let mut last = None;
        for finding in outside {
            let group = Some(agent_lines.partition_point(|&line| line < finding.line));
            if group == last {
                finding.fix = None;
            }
            last = group;
        }
    }

    fn finish(mut self) -> (Linted, u64) {
        let mut counts = BTreeMap::new();
        for (&code, found) in Code::ALL.iter().zip(&self.by_code) {
            let by_severity = Severity::ALL.into_iter().zip(found.counts).filter(|&(_, count)| count > 0);
            counts.extend(by_severity.map(|(severity, count)| ((severity, code), count)));
            if let Some((line, severity)) = found.first {
                let message = format!("{} more of {code}, the first here", found.left_out);
                self.list.push(Finding { line, code: Code::MoreFindings, severity, message, fix: None });
            }
        }
        // Where the dialects differ, the wildcard may decide.
        let differs = |finding: &&mut Finding| self.differing.contains(&finding.line);
        for finding in self.list.iter_mut().filter(differs).filter(|finding| finding.code == Code::TrailingStar) {
            finding.fix = None;
        }
        // Findings with [`Code::MoreFindings`] differ only in their text.
        self.list.sort_by(|a, b| (a.line, a.code, &a.message).cmp(&(b.line, b.code, &b.message)));
        for of_line in self.list.chunk_by_mut(|a, b| a.line == b.line) {
            keep_one_fix(of_line);
        }
        let Findings { list: findings, proved, withheld, steps, .. } = self;
        (Linted { findings, counts, proved, withheld }, steps)
    }
}

/// Keeps only one fix per line: the most severe finding's, preferably one that can be applied automatically.
fn keep_one_fix(of_line: &mut [Finding]) {
    let rank = |finding: &Finding| {
        let fix = finding.fix.as_ref()?;
        // If there is no group, the reason is more useful than a new first line.
        let is_reason = finding.code != Code::NoGroup;
        Some((finding.severity, is_reason, !matches!(fix, Fix::Words(_)), matches!(fix, Fix::Remove)))
    };
    let best = of_line.iter().map(rank).max().flatten();
    let mut is_kept = false;
    for finding in of_line {
        if is_kept || rank(finding) != best {
            finding.fix = None;
        }
        is_kept |= finding.fix.is_some();
    }
}

/// The lines that matter to groups.
#[derive(Default)]
struct GroupLines<'b> {
    agents: Vec<u32>,
    /// Lines whose key is neither a user-agent nor a rule: the first after each user-agent line.
    others: Vec<(u32, &'b [u8])>,
    /// Blank lines: the first after each user-agent line.
    blanks: Vec<u32>,
}

impl<'b> GroupLines<'b> {
    /// Records a line with another key, if it is the first after a user-agent line.
    fn other(&mut self, line: u32, key: &'b [u8]) {
        if self.agents.last() > self.others.last().map(|(line, _)| line) {
            self.others.push((line, key));
        }
    }

    /// Returns the first line with another key after a user-agent line, if it is before a line.
    fn other_between(&self, agent: u32, end: u32) -> Option<&(u32, &'b [u8])> {
        let at = self.others.partition_point(|&(line, _)| line <= agent);
        self.others.get(at).filter(|&&(line, _)| line < end)
    }

    /// Records a blank line, if it is the first after a user-agent line.
    fn blank(&mut self, line: u32) {
        if self.agents.last() > self.blanks.last() {
            self.blanks.push(line);
        }
    }
}

/// Maximum characters in a quoted text; the rest is left out.
const MAX_QUOTED: usize = 80;

/// Quotes text from the file in a form that is safe in a message. Invisible characters and look-alikes are
/// named.
fn quote(text: &[u8]) -> String {
    let start = &text[..text.len().min(MAX_QUOTED * 4)];
    let characters: Vec<char> = String::from_utf8_lossy(start).chars().take(MAX_QUOTED + 1).collect();
    let mut shown = String::new();
    for (at, &character) in characters.iter().enumerate().take(MAX_QUOTED) {
        match characters::shown(&characters, at) {
            Some(name) => shown.push_str(&format!("<{name}>")),
            None if character.is_control() => shown.extend(character.escape_default()),
            None => shown.push(character),
        }
    }
    if characters.len() > MAX_QUOTED {
        shown.push_str("...");
    }
    shown
}
