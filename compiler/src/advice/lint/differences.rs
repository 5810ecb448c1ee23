//! Compiles a file under each dialect in use, and finds rules whose own paths are decided differently.

use std::collections::HashMap;

use bumpalo::Bump;
use reptile_engine::format::FormatError;
use reptile_engine::norm::NormalForm;
use reptile_engine::set::{Agent, Policy, Set};
use reptile_engine::url::{Origin, Scheme};
use reptile_engine::verdict::Verdict;

use super::characters::quote;
use super::codes::Code;
use super::findings::{Findings, Severity};
use crate::automaton::Workspace;
use crate::body::{RawRule, Robots};
use crate::capture::{Capture, Outcome, Profile};
use crate::dialect::crawlers::{Resolved, of_name};
use crate::dialect::{BING, Dialect, GOOGLE, GOOGLE_LIB, RFC9309, YANDEX};
use crate::rules::groups::{Named, named};
use crate::set::{OwnedOrigin, Prepared, compile_single, prepare};

/// The dialects used by today's crawlers. The others are historical or overly literal, and differ often.
const IN_USE: [&Dialect; 5] = [&GOOGLE_LIB, &GOOGLE, &RFC9309, &YANDEX, &BING];

/// Maximum size of a file whose rules are compared, in bytes.
///
/// Comparing takes a compiled set per dialect. Google and Yandex read half of this.
pub const MAX_COMPARED_BYTES: usize = 1 << 20;

/// Maximum rules per file whose paths are compared. A finding reports that later rules were not.
pub const MAX_COMPARED_RULES: usize = 2000;

/// Maximum steps for comparing one file's paths.
///
/// A path costs its length in bytes, times the sum of wildcards plus one over all groups for its crawler. Only files
/// built to keep matchers busy need more; even in those, the first rules are compared.
pub const MAX_COMPARED_STEPS: usize = 5_000_000;

/// The origin for which a single file is compiled.
pub(super) const ORIGIN: Origin<'static> = Origin { scheme: Scheme::Http, host: b"localhost", port: 80 };

/// A dialect, and the file compiled under it.
struct Reader {
    dialect: &'static Dialect,
    set: Set<Vec<u8>>,
    /// The cost of a path byte for each name in lower case (`None` for the default group): the name's groups plus their
    /// wildcards.
    costs: HashMap<Option<Vec<u8>>, usize>,
}

impl Reader {
    fn cost(&self, name: Option<&[u8]>) -> usize {
        self.costs.get(&name.map(<[u8]>::to_ascii_lowercase)).copied().unwrap_or(1)
    }
}

/// Compiles a file for [`ORIGIN`]. Returns `None` if it exceeds a limit.
pub(super) fn compiled(body: &[u8], dialect: &Dialect, arena: &Bump) -> Option<Set<Vec<u8>>> {
    compiled_from(prepare(body, dialect, arena).ok()?, dialect)
}

/// Compiles a prepared file for [`ORIGIN`]. Returns `None` if it exceeds a limit.
pub(super) fn compiled_from(prepared: Prepared, dialect: &Dialect) -> Option<Set<Vec<u8>>> {
    let origin = OwnedOrigin { host: ORIGIN.host.into(), scheme: ORIGIN.scheme, port: ORIGIN.port };
    let (capture, profile) = (Capture::default(), Profile::of_dialect(dialect));
    let result = (Outcome::Use, Some(prepared));
    let compiled = compile_single(&origin, &capture, result, dialect, profile, &mut Workspace::default());
    Set::from_bytes(compiled.ok()?.to_bytes()).ok()
}

fn reader(body: &[u8], robots: &Robots<'_>, dialect: &'static Dialect) -> Option<Reader> {
    let set = compiled(body, dialect, &Bump::new())?;
    let mut costs = HashMap::new();
    for group in &robots.groups {
        let wildcards: usize = group.rules.iter().map(|rule| memchr::memchr_iter(b'*', rule.value).count()).sum();
        for value in group.agents {
            let name = match named(value, dialect) {
                Named::Everyone => None,
                Named::Token(token) => Some(token.to_ascii_lowercase()),
            };
            *costs.entry(name).or_insert(0) += wildcards + 1;
        }
    }
    Some(Reader { dialect, set, costs })
}

/// Adds a finding for each way in which the dialects disagree, on the first affected rule.
pub(super) fn differences(body: &[u8], robots: &Robots<'_>, dialect: &Dialect, found: &mut Findings) {
    let Some(first) = robots.groups.iter().find_map(|group| group.rules.first()) else { return };
    if body.len() > MAX_COMPARED_BYTES {
        not_compared(first.line, found);
        return;
    }
    let others = IN_USE.into_iter().filter(|other| other.name != dialect.name);
    let Some(reference) = Dialect::from_name(&dialect.name) else { return };
    // A body over the compiler's limit has no verdicts; there is a separate finding for the whole file.
    let readers: Option<Vec<Reader>> =
        [reference].into_iter().chain(others).map(|dialect| reader(body, robots, dialect)).collect();
    let Some(readers) = readers else { return };
    // A freshly compiled set is not damaged. If it were, there would be no differences to report.
    let _ = compare(robots, &readers, found);
}

/// Reports that the rules from a line on are not compared.
fn not_compared(line: u32, found: &mut Findings) {
    found.add(line, Code::NotCompared, Severity::Note, || {
        ("the file is so large that this rule and all after it were not compared between dialects".into(), None)
    });
}

/// Returns the simplest path that a rule matches, as written in a URL.
fn path_of_rule(rule: &RawRule<'_>) -> Vec<u8> {
    let value = rule.value.strip_suffix(b"$").unwrap_or(rule.value);
    let mut path: Vec<u8> = value.iter().copied().filter(|&byte| byte != b'*').collect();
    if path.first() != Some(&b'/') {
        path.insert(0, b'/');
    }
    NormalForm::Escaped.path(&path).into_owned()
}

/// A way in which the dialects disagree.
struct Disagreement {
    allowed: Vec<bool>,
    line: u32,
    agent: String,
    path: Vec<u8>,
    more: usize,
}

fn compare(robots: &Robots<'_>, readers: &[Reader], found: &mut Findings) -> Result<(), FormatError> {
    let dialect = readers[0].dialect;
    let mut disagreements: Vec<Disagreement> = Vec::new();
    let (mut rules_left, mut steps_left) = (MAX_COMPARED_RULES, MAX_COMPARED_STEPS);
    'file: for group in &robots.groups {
        // A name in the group that all dialects read alike. Names that some dialects cut have a separate finding.
        let alike = |value: &&&[u8]| readers.iter().all(|reader| named(value, reader.dialect) == named(value, dialect));
        let name = match group.agents.iter().find(alike).map(|value| named(value, dialect)) {
            Some(Named::Everyone) => None,
            Some(Named::Token(token)) if !token.is_empty() => Some(token),
            _ => continue,
        };
        let mut asked: Vec<(Policy<'_>, Agent)> = Vec::with_capacity(readers.len());
        for Reader { dialect, set, .. } in readers {
            let nobody = || Resolved { name: "*".into(), tokens: Vec::new(), honors_default_group: true };
            let agent = name.map_or_else(nobody, |name| of_name(name, dialect)).look_up(set)?;
            if let Some(policy) = set.policy(&ORIGIN)? {
                asked.push((policy, agent));
            }
        }
        let cost = readers.iter().map(|reader| reader.cost(name)).max().unwrap_or(1);
        for rule in group.rules {
            let path = path_of_rule(rule);
            let steps = path.len().saturating_mul(cost);
            if rules_left == 0 || steps > steps_left {
                not_compared(rule.line, found);
                break 'file;
            }
            (rules_left, steps_left) = (rules_left - 1, steps_left - steps);
            found.steps += steps as u64;
            let mut allowed = Vec::with_capacity(asked.len());
            for (policy, agent) in &asked {
                allowed.push(policy.decide(agent, &path)? == Verdict::Allow);
            }
            if allowed.iter().all(|one| *one == allowed[0]) {
                continue;
            }
            found.differing.insert(rule.line);
            match disagreements.iter_mut().find(|known| known.allowed == allowed) {
                Some(known) => known.more += 1,
                None => {
                    let agent = name.map_or_else(|| "*".to_owned(), quote);
                    disagreements.push(Disagreement { allowed, line: rule.line, agent, path, more: 0 });
                }
            }
        }
    }
    report(disagreements, readers, found);
    Ok(())
}

/// Adds a finding for each disagreement.
fn report(disagreements: Vec<Disagreement>, readers: &[Reader], found: &mut Findings) {
    for Disagreement { allowed, line, agent, path, more } in disagreements {
        found.add(line, Code::DialectsDiffer, Severity::Warning, || {
            let names: Vec<&str> = readers
                .iter()
                .zip(&allowed)
                .filter(|(_, one)| **one != allowed[0])
                .map(|(reader, _)| reader.dialect.as_str())
                .collect();
            let word = |allowed: bool| if allowed { "allowed" } else { "disallowed" };
            let more = match more {
                0 => String::new(),
                1 => "; the same applies to the path of 1 more rule".into(),
                more => format!("; the same applies to the paths of {more} more rules"),
            };
            let message = format!(
                "\"{}\" is {} to \"{agent}\" by {}, and {} by {}{more}",
                quote(&path),
                word(allowed[0]),
                readers[0].dialect,
                word(!allowed[0]),
                names.join(", "),
            );
            (message.into(), None)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reptile_engine::verdict::RuleKind;

    /// Returns whether some rules of a file are not compared.
    fn is_cut(body: &str) -> bool {
        let found = crate::advice::lint::lint(body.as_bytes(), &GOOGLE_LIB, 1);
        found.counts.contains_key(&(Severity::Note, Code::NotCompared))
    }

    #[test]
    fn comparison_stops_at_each_limit() {
        for (bytes, cut) in
            [(MAX_COMPARED_BYTES - 1, false), (MAX_COMPARED_BYTES, false), (MAX_COMPARED_BYTES + 1, true)]
        {
            let rule = "user-agent: *\ndisallow: /a\n#";
            assert_eq!(is_cut(&format!("{rule}{}", "-".repeat(bytes - rule.len()))), cut, "{bytes}");
        }
        for (rules, cut) in
            [(MAX_COMPARED_RULES - 1, false), (MAX_COMPARED_RULES, false), (MAX_COMPARED_RULES + 1, true)]
        {
            let rules: String = (0..rules).map(|rule| format!("disallow: /{rule}\n")).collect();
            assert_eq!(is_cut(&format!("user-agent: *\n{rules}")), cut);
        }
        // The first rule has `wildcards - 1` wildcards and its own path is `/`. The second rule uses up the remaining
        // bytes.
        let wildcards = 10_000;
        let bytes = MAX_COMPARED_STEPS / wildcards;
        assert_eq!(bytes * wildcards, MAX_COMPARED_STEPS);
        for (bytes, cut) in [(bytes - 1, false), (bytes, false), (bytes + 1, true)] {
            let (stars, text) = ("*".repeat(wildcards - 1), "a".repeat(bytes - 2));
            assert_eq!(is_cut(&format!("user-agent: *\ndisallow: /{stars}\ndisallow: /{text}\n")), cut, "{bytes}");
        }
    }

    #[test]
    fn paths_are_derived_from_patterns() {
        for (value, path) in [("/a*b$", "/ab"), ("*.gif", "/.gif"), ("", "/"), ("/é", "/%C3%A9"), ("a", "/a")] {
            let rule = RawRule { kind: RuleKind::Allow, value: value.as_bytes(), line: 1 };
            assert_eq!(path_of_rule(&rule), path.as_bytes(), "{value}");
        }
    }
}
