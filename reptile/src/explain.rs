//! The reasons for a verdict on one robots.txt: the chosen group, and the effect of each line.
//!
//! ```
//! use bumpalo::Bump;
//! use reptile::explain::ExplainedFile;
//! use reptile::{Dialect, crawlers};
//!
//! let (body, dialect, arena) = (b"user-agent: GPTBot\ndisallow: /\n", Dialect::google(), Bump::new());
//! let reading = ExplainedFile::new(body, dialect, &arena);
//! let agent = crawlers::of_name(b"GPTBot", dialect);
//! let choice = reading.choose(&agent);
//! assert_eq!(reading.naming_lines(&agent, &choice).collect::<Vec<_>>(), [1]);
//! ```

pub use reptile_compiler::advice::explanation::{DecidingReason, ExplainedFile};
pub use reptile_compiler::oracle::{Choice, ChosenBy, choose};

use reptile_compiler::dialect::crawlers::Resolved;
use reptile_engine::verdict::Explanation;

use crate::{Profile, RuleKind, Verdict};

/// The number of line numbers written out in a phrase.
const NUMBERS_SHOWN: usize = 8;

/// The reasons for a crawler's verdicts as phrases in English.
///
/// Texts from the file and from users are written by `shown`, which may escape or cut them.
///
/// ```
/// use bumpalo::Bump;
/// use reptile::explain::{Phrases, ExplainedFile};
/// use reptile::{Dialect, crawlers};
///
/// let (body, dialect, arena) = (b"user-agent: *\ndisallow: /\n", Dialect::google(), Bump::new());
/// let reading = ExplainedFile::new(body, dialect, &arena);
/// let agent = crawlers::of_name(b"GPTBot", dialect);
/// let choice = reading.choose(&agent);
/// let shown = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
/// let phrases = Phrases { reading: &reading, agent: &agent, choice: &choice, shown: &shown };
/// assert_eq!(phrases.group(&[1], 1), "line 1: for *, since no group names GPTBot");
/// ```
pub struct Phrases<'p> {
    /// The file.
    pub reading: &'p ExplainedFile<'p>,
    /// The crawler.
    pub agent: &'p Resolved,
    /// The groups that it obeys.
    pub choice: &'p Choice,
    /// Returns a text for output.
    pub shown: &'p dyn Fn(&[u8]) -> String,
}

impl Phrases<'_> {
    /// Returns the group that the crawler obeys, and why. `lines` are the first user-agent lines that assign it, and
    /// `count` is the number of all such lines.
    #[must_use]
    pub fn group(&self, lines: &[u32], count: usize) -> String {
        let name = self.name();
        let (line, merged) = match (count, self.choice.groups.len()) {
            (1, _) => ("line", ""),
            (_, 1) => ("lines", ""),
            _ => ("lines", ", taken together"),
        };
        let place = format!("{line} {}{merged}", numbers(lines, count));
        let token = |index: usize| (self.shown)(self.agent.tokens.get(index).map_or(&b""[..], Vec::as_slice));
        match self.choice.by {
            ChosenBy::Token(0) => format!("{place}: names {}", token(0)),
            ChosenBy::Token(index) => {
                format!("{place}: names {}, which {name} obeys where {} is not named", token(index), token(index - 1))
            }
            ChosenBy::DefaultGroup => format!("{place}: for *, since no group names {name}"),
            ChosenBy::Nobody => format!("none: {}", self.without_group()),
        }
    }

    /// Returns the reason for a verdict. `path` is the explained path, in the dialect's normal form. `profile` is the
    /// fetch profile that decides about failed fetches, if any.
    #[must_use]
    pub fn because(
        &self,
        explanation: &Explanation,
        why: DecidingReason,
        path: &[u8],
        profile: Option<&Profile>,
    ) -> String {
        let Some(rule) = explanation.rule() else {
            return match why {
                DecidingReason::NoGroup => self.without_group(),
                DecidingReason::Fetch(cause) => {
                    let profile = profile.map_or("", Profile::as_str);
                    let verb = if explanation.verdict == Verdict::Allow { "allows" } else { "disallows" };
                    format!("fetching the robots.txt gave: {cause}; then the fetch profile {profile} {verb} everything")
                }
                _ => explanation.reason().to_string(),
            };
        };
        let (kind, other) = match rule.kind {
            RuleKind::Allow => ("Allow", "Disallow"),
            RuleKind::Disallow => ("Disallow", "Allow"),
        };
        let reason = match why {
            DecidingReason::AlwaysAllowed => {
                format!("{} always allows {}", self.reading.dialect().name, (self.shown)(&rule.pattern))
            }
            DecidingReason::EmptyRule => "a rule without a value restricts nothing, and no other rule matches".into(),
            DecidingReason::Longer { octets, other } => {
                format!("the {kind} is longer: {} against {other}", octets_of(octets))
            }
            DecidingReason::AllowOnTie { octets } => {
                format!("both have {}, and then the Allow wins", octets_of(octets))
            }
            DecidingReason::First => "the first rule that matches decides".into(),
            _ => format!("no {other} matches"),
        };
        let index_page = if self.reading.opens_folder(rule, path) {
            "; an Allow of an index page also allows its folder"
        } else {
            ""
        };
        reason + index_page
    }

    /// Returns the reason why the crawler has no group.
    fn without_group(&self) -> String {
        let name = self.name();
        match (self.agent.tokens.is_empty(), self.agent.honors_default_group) {
            (true, _) => format!("{name} obeys no robots.txt"),
            (false, true) => format!("no group names {name}, and no group is for *"),
            (false, false) => format!("no group names {name}, which does not obey the rules for *"),
        }
    }

    fn name(&self) -> String {
        (self.shown)(self.agent.name.as_bytes())
    }
}

/// Returns a phrase with the first few of `count` numbers, and the number of others.
///
/// ```
/// assert_eq!(reptile::explain::numbers(&[3, 5, 8], 3), "3, 5 and 8");
/// ```
#[must_use]
pub fn numbers(first: &[u32], count: usize) -> String {
    let mut words: Vec<String> = first.iter().take(NUMBERS_SHOWN).map(u32::to_string).collect();
    if count > NUMBERS_SHOWN {
        words.push(format!("{} more", count - NUMBERS_SHOWN));
    }
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => words.concat(),
    }
}

/// Returns a number of octets in words: `1 octet`.
#[must_use]
pub fn octets_of(count: usize) -> String {
    format!("{count} {}", if count == 1 { "octet" } else { "octets" })
}
