//! Properties of the answers of every set that `verify` accepts.

use reptile_engine::automaton::{Ruleset, RulesetRule};
use reptile_engine::set::Set;
use reptile_engine::verdict::{RuleKind, Verdict};

/// Checks that an accepted set gives the same answers in batches as alone.
pub fn check_batches<D: AsRef<[u8]>>(set: &Set<D>, names: &[&[u8]], urls: &[&[u8]]) {
    let agents: Vec<_> = names.iter().map(|name| set.crawler(name).unwrap()).collect();
    let mut verdicts = vec![Verdict::Invalid; agents.len() * urls.len()];
    set.decide_all(&agents, urls.iter().copied(), &mut verdicts).unwrap();
    for (at, agent) in agents.iter().enumerate() {
        let mut alone = vec![Verdict::Invalid; urls.len()];
        set.decide_all(std::slice::from_ref(agent), urls.iter().copied(), &mut alone).unwrap();
        for (place, url) in urls.iter().enumerate() {
            let verdict = set.decide(agent, url).unwrap();
            assert_eq!((alone[place], verdicts[place * agents.len() + at]), (verdict, verdict));
        }
    }
}

/// Returns whether every ruleset decides the URLs' paths like its listed rules.
pub fn answers_as_listed<D: AsRef<[u8]>>(set: &Set<D>, paths: &[Vec<u8>]) -> bool {
    (0..set.rulesets().len()).all(|ruleset| {
        let ruleset = Ruleset::stored(set.rulesets().get(ruleset).unwrap()).unwrap();
        let rules = ruleset.rules().unwrap();
        paths.iter().all(|path| {
            let is_match = |rule: &&RulesetRule| !rule.pattern.is_empty() && rule.matches(path);
            let best = |kind| rules.iter().filter(|rule| rule.kind == kind).find(is_match).map(|rule| rule.rank);
            let (allow, disallow) = (best(RuleKind::Allow), best(RuleKind::Disallow));
            let found = ruleset.matches(path).unwrap();
            let is_named = allow.or(disallow).is_none() || (found.allow, found.disallow) == (allow, disallow);
            let disallows = disallow.is_some_and(|rank| allow.is_none_or(|allow| rank < allow));
            is_named
                && found.verdict == ruleset.verdict(path).unwrap()
                && (found.verdict == Verdict::Disallow) == disallows
        })
    })
}
