//! The findings about a file: their severities and fixes, and the collector that lists and counts them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::str::FromStr;

use super::codes::Code;
use super::ignore::Ignored;
use crate::names::UnknownName;

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

/// The remedy for a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fix {
    /// Advice in words.
    Words(String),
    /// A replacement for the line except its comment: one or more lines.
    Replace {
        /// The lines, without a final line end.
        text: String,
        /// Whether the dialect already reads the line in this way. Other dialects may not.
        keeps_verdicts: bool,
    },
    /// Removal of the line. No verdict changes under the dialect, but one may change under another.
    Remove,
}

/// Maximum length of a value in a fix, in bytes.
pub(super) const MAX_VALUE_BYTES: usize = 80;

impl Fix {
    /// Returns a line with a key and a value, or `None` if the value is long or has bytes that cannot be shown
    /// verbatim.
    pub(super) fn replace(key: &str, value: &[u8], keeps_verdicts: bool) -> Option<Fix> {
        let is_shown = value.len() <= MAX_VALUE_BYTES && value.iter().all(|byte| matches!(byte, b' '..=b'~'));
        let value = std::str::from_utf8(value).ok().filter(|_| is_shown)?;
        Some(Fix::Replace { text: format!("{key}: {value}").trim_end().into(), keeps_verdicts })
    }
}

impl fmt::Display for Fix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fix::Words(text) => f.write_str(text),
            Fix::Replace { text, .. } => f.write_str(&text.replace('\n', " | ")),
            Fix::Remove => f.write_str("remove it"),
        }
    }
}

impl From<&str> for Fix {
    fn from(words: &str) -> Fix {
        Fix::Words(words.into())
    }
}

impl From<String> for Fix {
    fn from(words: String) -> Fix {
        Fix::Words(words)
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

/// Collects the findings.
pub(super) struct Findings {
    list: Vec<Finding>,
    pub(super) ignored: Ignored,
    max_per_code: u32,
    /// The host of the robots.txt, if known.
    pub(super) host: Option<Vec<u8>>,
    /// The findings of each code, indexed as in [`Code::ALL`].
    by_code: Vec<CodeCounts>,
    pub(super) steps: u64,
    /// The reported codes among those that are off by default.
    pub(super) enabled: Vec<Code>,
    /// Lines with rules that an equal or a shorter rule makes ineffective, even if a comment ignores the finding.
    pub(super) idle: HashMap<u32, Code>,
    /// Lines with rules whose removal is suggested.
    pub(super) removable: HashSet<u32>,
    pub(super) proved: Proved,
    /// Lines with rules whose own path another dialect decides differently.
    pub(super) differing: HashSet<u32>,
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
    pub(super) fn new(max_per_code: u32, host: Option<&[u8]>) -> Findings {
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
    pub(super) fn is_enabled(&self, code: Code) -> bool {
        !code.is_off_by_default() || self.enabled.contains(&code)
    }

    /// Returns whether the next finding with a code is listed.
    pub(super) fn has_room(&self, code: Code) -> bool {
        self.by_code.get(code as usize).is_some_and(|found| found.listed < self.max_per_code)
    }

    /// Returns the lines with a listed finding that suggests a fix other than removal.
    pub(super) fn lines_with_fix(&self) -> HashSet<u32> {
        let has_fix = |finding: &&Finding| !matches!(finding.fix, None | Some(Fix::Remove));
        self.list.iter().filter(has_fix).map(|finding| finding.line).collect()
    }

    /// Counts a step.
    pub(super) fn step(&mut self) {
        self.steps += 1;
    }

    /// Adds a finding, unless a comment ignores it. `words` is called only if the finding is listed.
    pub(super) fn add(
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
    pub(super) fn keep_first_fixes(&mut self, agent_lines: &[u32]) {
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

    pub(super) fn finish(mut self) -> (Linted, u64) {
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
