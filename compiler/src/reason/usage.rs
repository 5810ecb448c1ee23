//! Statements about uses as conditions on a path.
//!
//! The longest matching rules decide together, and the most restrictive of their preferences holds. So the rules are
//! ordered by length and then by preference, and the first one that matches decides, like any other rule. A group whose
//! product token names a use is a separate condition.

use bumpalo::Bump;
use reptile_engine::automaton::Ruleset;
use reptile_engine::format::policies::UsageGroup;
use reptile_engine::format::usages::StatementView;
use reptile_engine::format::{FormatError, NONE};
use reptile_engine::norm::NormalForm;
use reptile_engine::set::{Set, UsageQuery};
use reptile_engine::verdict::Preference;

use super::access::Access;
use super::assumption::{AssumedPattern, Assumption};
use crate::rules::order::RuleList;

/// The preferences for some uses that the groups of a robots.txt state for a crawler, by path.
///
/// ```
/// use bumpalo::Bump;
/// use reptile_compiler::automaton::Strategy;
/// use reptile_compiler::reason::{Access, Reasoner, StatedUses, Witness};
/// use reptile_compiler::{dialect::GOOGLE_LIB, set::{OwnedOrigin, SetBuilder, prepare}};
/// use reptile_engine::set::{Set, UsageCategory, UsageQuery};
///
/// let body = b"user-agent: *\ndisallow: /a\ncontent-usage: train-ai=n\ncontent-usage: /a train-ai=y";
/// let mut builder = SetBuilder::new(&GOOGLE_LIB);
/// let origin = OwnedOrigin::of_robots_url(b"https://a.example/robots.txt")?;
/// builder.add([origin], prepare(body, &GOOGLE_LIB, &Bump::new())?);
/// let set = Set::from_bytes(builder.finish(Strategy::default())?.to_bytes())?;
/// let (agent, record) = (set.crawler(b"AnyBot")?, set.origins().next().expect("an origin")?);
/// let policy = set.policy_of(&record)?;
///
/// let training = UsageCategory { usage: vec![b"train-ai"[..].into()], ..UsageCategory::default() };
/// let uses = StatedUses::of(&set, &policy.usages_for(&agent)?, &[], &UsageQuery::new(vec![training]))?;
/// let found = Reasoner::new(set.normal_form()).uses(&Access::of(&policy, &agent)?, &uses)?;
/// // Paths that allow training must not be fetched.
/// assert_eq!(found, [[Witness::None, Witness::Path(b"/".into()), Witness::None]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct StatedUses<'s> {
    form: NormalForm,
    rules: Vec<StatedRule>,
    /// For each use, the preference without a matching rule.
    otherwise: Vec<Preference>,
    /// For each use, the preference in signals, which apply to every path.
    signals: Vec<Preference>,
    /// The rules of groups whose product token names a use, with the use's number.
    groups: Vec<(usize, Access<'s>)>,
}

/// A usage rule with a path.
#[derive(Clone, Debug)]
struct StatedRule {
    /// The pattern without the end anchor and trailing wildcards.
    text: Vec<u8>,
    anchored: bool,
    /// The pattern's length in bytes. The longer decides.
    len: u32,
    /// The preference for each use.
    preferences: Vec<Preference>,
}

impl<'s> StatedUses<'s> {
    /// Reads the preferences that some usage groups of a set state, for each category of a question. The groups decide
    /// together. `tokens` are the groups whose product token names a category, as from [`Policy::use_groups`].
    ///
    /// [`Policy::use_groups`]: reptile_engine::set::Policy::use_groups
    ///
    /// Time and memory: linear in the rules' text, times the number of categories.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn of<B: AsRef<[u8]>>(
        set: &'s Set<B>,
        groups: &[UsageGroup],
        tokens: &[(usize, Vec<u32>)],
        query: &UsageQuery,
    ) -> Result<StatedUses<'s>, FormatError> {
        let unknown = vec![Preference::Unknown; query.len()];
        let mut uses = StatedUses {
            form: set.normal_form(),
            rules: Vec::new(),
            otherwise: unknown.clone(),
            signals: unknown,
            groups: Vec::new(),
        };
        for (category, rulesets) in tokens {
            uses.groups.push((*category, Access::of_rulesets(set, rulesets)?));
        }
        for group in groups {
            let Some(view) = set.usages().get(group.statements)? else { continue };
            combine(&mut uses.signals, &query.stated_by_signals(view)?);
            let stated = |statement: StatementView<'_>| query.stated_by_rule(statement);
            if let Some(base) = view.base()? {
                combine(&mut uses.otherwise, &stated(base)?);
            }
            if group.ruleset == NONE {
                continue;
            }
            let ruleset = Ruleset::stored(set.rulesets().get(group.ruleset)?)?;
            for rule in RuleList::from_compiled(&ruleset.rules()?, &Bump::new()).iter() {
                let (statement, len) = view.rule(rule.rank / 2)?;
                let (text, anchored) = (rule.matcher.to_vec(), rule.anchored);
                uses.rules.push(StatedRule { text, anchored, len, preferences: stated(statement)? });
            }
        }
        Ok(uses)
    }

    /// Returns the number of uses.
    pub(super) fn len(&self) -> usize {
        self.otherwise.len()
    }

    /// Returns the rules of the groups whose product token names a use.
    pub(super) fn groups(&self, number: usize) -> impl Iterator<Item = &Access<'s>> {
        self.groups.iter().filter(move |(category, _)| *category == number).map(|(_, access)| access)
    }

    /// Returns the paths for which lines state a wanted preference for a use, or `None` if there are none.
    pub(super) fn paths(&self, number: usize, wanted: impl Fn(Preference) -> bool) -> Option<Assumption> {
        let signal = *self.signals.get(number)?;
        let is_wanted = |preference: Preference| wanted(preference.combined_with(signal));
        let pattern = |rule: &StatedRule| {
            let preference = rule.preferences.get(number).copied().unwrap_or(Preference::Unknown);
            AssumedPattern {
                text: rule.text.clone(),
                anchored: rule.anchored,
                place: u64::from(u32::MAX - rule.len) << 2 | leniency(preference),
                includes: is_wanted(preference),
            }
        };
        let patterns: Vec<AssumedPattern> = self.rules.iter().map(pattern).collect();
        let otherwise = is_wanted(*self.otherwise.get(number)?);
        (otherwise || patterns.iter().any(|pattern| pattern.includes))
            .then(|| Assumption::of_deciding(patterns, otherwise, self.form))
    }
}

/// Returns the place of a preference among rules of equal length: the most restrictive comes first.
fn leniency(preference: Preference) -> u64 {
    match preference {
        Preference::Disallowed => 0,
        Preference::Allowed => 1,
        Preference::Unknown | Preference::NotApplicable => 2,
    }
}

/// Combines preferences with others, use by use.
fn combine(all: &mut [Preference], others: &[Preference]) {
    all.iter_mut().zip(others).for_each(|(known, other)| *known = known.combined_with(*other));
}
