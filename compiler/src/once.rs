//! Answers a single question about a robots.txt while reading it, for callers that would discard a compiled set.
//!
//! Shares the parsing of lines, product tokens, normal forms and precedence with the compiler, and keeps only the best
//! rule so far. Returns the deciding line and no further explanation. For several questions about the same file,
//! compile it ([`crate::set`]).

use reptile_engine::format::TooLarge;
use reptile_engine::format::tokens::NameMatching;
use reptile_engine::norm::{NormalForm, Pattern};
use reptile_engine::url::{Path, path_of};
use reptile_engine::verdict::RuleKind;

use crate::body::{DiagnosticKind, RawDirective, RawRule, Visitor, read};
use crate::dialect::crawlers::Resolved;
use crate::dialect::{Dialect, GroupChoice};
use crate::limits::MAX_ONCE_STEPS;
use crate::oracle::OracleAnswer;
use crate::rules::groups::{Named, named};
use crate::rules::order::{key_of, meaning_of, slash_before_index};

/// Decides whether an agent may fetch `url` according to the file `body`, and returns the line that decided.
///
/// Any text has a path: [`path_of`] reads it like the dialects' reference.
///
/// Takes one pass over the lines. Allocates only for patterns or paths that the normal form rewrites, and for a URL
/// whose path lacks the first slash.
///
/// Time: linear in the body, plus, for each rule in the agent's groups that begins like the path, at most linear in the
/// path and the pattern, up to a total of [`MAX_ONCE_STEPS`]. Any bytes are a valid robots.txt.
///
/// # Errors
/// Returns an error if the rules take more steps. [`crate::set`] takes fewer steps, or refuses the file.
///
/// ```
/// use reptile_compiler::{dialect::{GOOGLE_LIB, crawlers::of_name}, once::decide_once};
///
/// let body = b"user-agent: *\nallow: /p\ndisallow: /\n";
/// let agent = of_name(b"AnyBot", &GOOGLE_LIB);
/// let answer = decide_once(body, &GOOGLE_LIB, &agent, b"https://example.com/private")?;
/// assert_eq!((answer.allowed, answer.line), (true, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn decide_once(body: &[u8], dialect: &Dialect, agent: &Resolved, url: &[u8]) -> Result<OracleAnswer, TooLarge> {
    decide_path_once(body, dialect, agent, &path_of(url))
}

/// Decides like [`decide_once`] for a URL's path.
///
/// # Errors
/// The errors of [`decide_once`].
pub fn decide_path_once(
    body: &[u8],
    dialect: &Dialect,
    agent: &Resolved,
    path: &Path<'_>,
) -> Result<OracleAnswer, TooLarge> {
    path.with(|path| {
        let path = &*dialect.normal_form.path(path);
        if is_always_allowed(path, dialect) {
            return Ok(ALLOWED);
        }
        let best = BestRule::new(dialect, path, MAX_ONCE_STEPS);
        let mut question = OnceQuery { agent, place: usize::MAX, counts: false, best };
        read(body, dialect, &mut question);
        question.best.answer()
    })
}

/// The answer if no rule decides.
const ALLOWED: OracleAnswer = OracleAnswer { allowed: true, line: 0 };

fn is_always_allowed(path: &[u8], dialect: &Dialect) -> bool {
    dialect.robots_txt_always_allowed && path == b"/robots.txt"
}

/// Decides a path by the rules of the groups that a crawler obeys.
///
/// Adds the work to `steps`: the bytes compared, and for each wildcard pattern that is tried, its length and the
/// path's.
///
/// # Errors
/// Returns an error if patterns with wildcards take more than `most_steps` steps.
pub(crate) fn decide_by_rules<'b>(
    rules: impl Iterator<Item = RawRule<'b>>,
    dialect: &Dialect,
    path: &Path<'_>,
    most_steps: usize,
    steps: &mut usize,
) -> Result<OracleAnswer, TooLarge> {
    path.with(|path| {
        let path = &*dialect.normal_form.path(path);
        if is_always_allowed(path, dialect) {
            return Ok(ALLOWED);
        }
        let mut best = BestRule::new(dialect, path, most_steps);
        rules.for_each(|rule| best.add(&rule));
        *steps += best.compared + best.steps;
        best.answer()
    })
}

/// Returns the index of a user-agent line's product token among a crawler's tokens.
///
/// `*` comes after all tokens. Returns `None` if the crawler does not obey the line.
#[inline]
pub(crate) fn place_of(
    value: &[u8],
    dialect: &Dialect,
    tokens: &[Vec<u8>],
    honors_default_group: bool,
) -> Option<usize> {
    match (named(value, dialect), dialect.name_matching) {
        (Named::Everyone, _) => honors_default_group.then_some(tokens.len()),
        (Named::Token(name), NameMatching::Contained) => tokens
            .iter()
            .position(|token| name.windows(token.len().max(1)).any(|window| window.eq_ignore_ascii_case(token))),
        (Named::Token(name), _) => tokens.iter().position(|token| name.eq_ignore_ascii_case(token)),
    }
}

/// The question, and the best answer so far.
struct OnceQuery<'q> {
    agent: &'q Resolved,
    /// The smallest index in the agent's chain of product tokens that a group has named so far.
    place: usize,
    /// Whether the current group names that product token.
    counts: bool,
    /// The best matching rule in the groups for that product token.
    best: BestRule<'q>,
}

impl<'b> Visitor<'b> for OnceQuery<'_> {
    const WANTS_ALL: bool = false;

    fn agent(&mut self, value: &'b [u8], begins_group: bool) {
        if begins_group {
            self.counts = false;
        }
        let dialect = self.best.dialect;
        let place = place_of(value, dialect, &self.agent.tokens, self.agent.honors_default_group);
        let Some(place) = place else { return };
        if place < self.place {
            // This token precedes those found so far in the chain, so their groups no longer count.
            (self.place, self.best.best, self.best.empty) = (place, None, None);
            self.counts = true;
        } else if place == self.place && dialect.group_choice == GroupChoice::Merge {
            self.counts = true;
        }
    }

    #[inline]
    fn rule(&mut self, rule: RawRule<'b>) {
        if self.counts {
            self.best.add(&rule);
        }
    }

    #[inline]
    fn directive(&mut self, _: RawDirective<'b>) {}

    #[inline]
    fn diagnostic(&mut self, _: u32, _: DiagnosticKind) {}
}

/// The deciding rule for a path, among the rules added so far.
struct BestRule<'q> {
    dialect: &'q Dialect,
    path: &'q [u8],
    /// The best matching rule: its precedence key, kind and line.
    best: Option<(u32, RuleKind, u32)>,
    /// The rule without a pattern, which is reported if no other rule matches.
    empty: Option<(RuleKind, u32)>,
    /// The steps taken to try patterns with wildcards, as counted by [`MAX_ONCE_STEPS`].
    steps: usize,
    /// Maximum number of steps. Beyond it, no more rules are tried.
    most_steps: usize,
    /// The number of rules compared, plus the number of their first bytes that equal the path's.
    compared: usize,
}

impl<'q> BestRule<'q> {
    fn new(dialect: &'q Dialect, path: &'q [u8], most_steps: usize) -> BestRule<'q> {
        BestRule { dialect, path, best: None, empty: None, steps: 0, most_steps, compared: 0 }
    }

    fn answer(&self) -> Result<OracleAnswer, TooLarge> {
        if self.steps > self.most_steps {
            let (limit, found) = (self.most_steps as u64, self.steps as u64);
            return Err(TooLarge { what: "steps to try each rule of a file on one URL", limit, found });
        }
        Ok(match (self.best, self.empty) {
            (Some((_, kind, line)), _) => OracleAnswer { allowed: kind == RuleKind::Allow, line },
            (None, Some((_, line))) => OracleAnswer { allowed: true, line },
            (None, None) => ALLOWED,
        })
    }

    #[inline]
    fn add(&mut self, rule: &RawRule<'_>) {
        let RawRule { kind, value, line } = meaning_of(rule, self.dialect);
        if value.is_empty() {
            if self.empty.is_none_or(|(best, _)| kind < best) {
                self.empty = Some((kind, line));
            }
        } else if !self.parts_early(value) {
            self.try_rule(kind, value, line);
        }
    }

    fn try_rule(&mut self, kind: RuleKind, value: &[u8], line: u32) {
        let order = self.dialect.order;
        let pattern = self.dialect.normal_form.pattern(value);
        let key = key_of(&pattern, kind, line, order);
        if self.improves(key) && self.may_try(&pattern) {
            if Pattern::new(&pattern).matches(self.path) {
                self.best = Some((key, kind, line));
            } else if kind == RuleKind::Allow && self.dialect.index_htm_opens_directory {
                if let Some(slash) = slash_before_index(&pattern) {
                    // The directory's pattern, including its `$`, has as many octets as the rule up to and including the
                    // `i`.
                    let key = key_of(&pattern[..slash + 2], kind, line, order);
                    let directory = Pattern { text: &pattern[..=slash], anchored: true };
                    if self.improves(key) && directory.matches(self.path) {
                        self.best = Some((key, kind, line));
                    }
                }
            }
        }
    }

    /// Counts the steps for a pattern, and returns whether it may be tried.
    fn may_try(&mut self, pattern: &[u8]) -> bool {
        if pattern.contains(&b'*') && self.steps <= self.most_steps {
            self.steps += self.path.len() + pattern.len();
        }
        self.steps <= self.most_steps
    }

    /// Returns whether a rule with this precedence key would decide if it matched. The first of equal rules decides.
    fn improves(&self, key: u32) -> bool {
        self.best.is_none_or(|(best, _, _)| key < best)
    }

    /// Returns whether a rule cannot match because its text differs from the path before any special byte.
    #[inline]
    fn parts_early(&mut self, value: &[u8]) -> bool {
        let path = self.path;
        let same = value.iter().zip(path).take_while(|&(a, b)| a == b && NormalForm::is_kept(*a)).count();
        self.compared += 1 + same;
        match value.get(same) {
            Some(&byte) if NormalForm::is_kept(byte) && path.get(same) != Some(&byte) => {
                // An allow for an index page may also allow its directory.
                same < path.len() || !value[same..].starts_with(b"index.htm")
            }
            _ => false,
        }
    }
}
