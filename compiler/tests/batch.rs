//! A batch gets the same verdicts as separate look-ups. Covers all batch sizes, sorted and shuffled URLs, several
//! agents, alternative spellings, and damaged sets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code: a panic is the report")]

use std::cell::Cell;

use crate::support;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use reptile_compiler::automaton::Strategy as Automata;
use reptile_compiler::dialect::{ALL, GOOGLE_LIB};
use reptile_engine::set::{Agent, BATCH_URLS, Set};
use reptile_engine::verdict::Verdict;
use support::compile;

/// Number of hosts in the set.
const HOSTS: usize = 300;

/// Compiles hosts with different rules. Some hosts name a crawler, some share their rules.
fn set_bytes() -> Vec<u8> {
    let bodies: Vec<(String, String)> = (0..HOSTS)
        .map(|host| {
            let rules =
                format!("user-agent: *\ndisallow: /{}\n\nuser-agent: own\ndisallow: /*{}\n", host % 7, host % 50);
            (format!("h{host}"), if host % 10 == 0 { String::new() } else { rules })
        })
        .collect();
    compile(bodies.iter().map(|(host, body)| (host.as_str(), body.as_bytes())), &GOOGLE_LIB, Automata::default())
}

/// Generates URLs with known and unknown hosts, hosts in other spellings, and malformed URLs.
fn url() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => (0..HOSTS + 20, 0..60_u32).prop_map(|(host, path)| format!("http://h{host}/{path}")),
        2 => (0..3_u32, 0..60_u32).prop_map(|(host, path)| format!("https://h{host}/{path}")),
        1 => (0..HOSTS, 0..9_u32).prop_map(|(host, path)| format!("http://H{host}.:80?{path}")),
        1 => (0..9_u32).prop_map(|path| format!("http://%681/{path}")),
        1 => "[a-z:/@;]{0,12}".prop_map(|text| text),
    ]
}

/// Looks up each URL separately. Returns the verdicts, or `None` if the set turns out to be damaged.
fn one_by_one(set: &Set<Vec<u8>>, agents: &[Agent], urls: &[String]) -> Option<Vec<Verdict>> {
    let mut all = Vec::new();
    for url in urls {
        let mut row = vec![Verdict::Invalid; agents.len()];
        set.decide_each(agents, url.as_bytes(), &mut row).ok()?;
        all.extend(row);
    }
    Some(all)
}

fn together(set: &Set<Vec<u8>>, agents: &[Agent], urls: &[String]) -> Option<Vec<Verdict>> {
    let mut all = vec![Verdict::Unknown; agents.len() * urls.len()];
    set.decide_all(agents, urls.iter().map(String::as_bytes), &mut all).ok()?;
    Some(all)
}

#[test]
fn batches_match_single_lookups() {
    let set = Set::from_bytes(set_bytes()).unwrap();
    let agents = [b"any".as_slice(), b"own", b"any"].map(|name| set.agent(name).unwrap());
    let mut seen = [0_u32; 4];
    let cases = (prop::collection::vec(url(), 0..3 * BATCH_URLS), 0..=agents.len(), any::<bool>());
    TestRunner::deterministic()
        .run(&cases, |(mut urls, agent_count, is_sorted)| {
            if is_sorted {
                urls.sort_unstable();
            }
            let agents = &agents[..agent_count];
            prop_assert_eq!(together(&set, agents, &urls), one_by_one(&set, agents, &urls));
            Ok(())
        })
        .unwrap();
    for fill in [0, 1, BATCH_URLS - 1, BATCH_URLS, BATCH_URLS + 1, 2 * BATCH_URLS] {
        for distance in [0, 1, 7] {
            let urls: Vec<String> = (0..fill).map(|n| format!("http://h{}/{n}", n * distance)).collect();
            let verdicts = together(&set, &agents, &urls);
            assert_eq!(verdicts, one_by_one(&set, &agents, &urls), "{fill} URLs");
            verdicts.unwrap().iter().for_each(|&verdict| seen[verdict as usize] += 1);
        }
    }
    assert!(seen[Verdict::Allow as usize] > 0 && seen[Verdict::Disallow as usize] > 0, "{seen:?}");
}

/// Product tokens for files and agents. Some contain others.
const NAMES: [&str; 10] = ["a", "ab", "abc", "b", "bc", "c", "bot", "botany", "x", "nobody"];

/// Generates a file with groups for some of [`NAMES`]. In large files a token's groups are not merged.
fn file_of_names() -> impl Strategy<Value = String> {
    let group = |rules: std::ops::Range<usize>| {
        let names = prop::collection::vec((0..NAMES.len()).prop_map(|name| NAMES[name]), 0..4);
        (names, any::<bool>(), prop::collection::vec((any::<bool>(), 0..12_u32), rules)).prop_map(
            |(names, is_default, rules)| {
                let names = names.into_iter().chain(is_default.then_some("*"));
                let names: String = names.map(|name| format!("user-agent: {name}\n")).collect();
                let kind = |allows: bool| if allows { "allow" } else { "disallow" };
                let rules: String =
                    rules.iter().map(|&(kind_of, path)| format!("{}: /{path}\n", kind(kind_of))).collect();
                names + &rules
            },
        )
    };
    let small = prop::collection::vec(group(0..4), 0..5).prop_map(|groups| groups.concat());
    let all: String = NAMES.iter().map(|name| format!("user-agent: {name}\n")).collect();
    let many: String = (100..1100).map(|rule| format!("disallow: /{rule}\n")).collect();
    let own: String = NAMES.iter().map(|name| format!("user-agent: {name}\nallow: /1\n")).collect();
    prop_oneof![20 => small.clone(), 1 => small.prop_map(move |groups| format!("{all}{many}{own}{groups}"))]
}

#[test]
fn many_agents_get_the_same_verdicts_as_one() {
    let agent = (prop::collection::vec(0..NAMES.len(), 0..4), any::<bool>());
    let cases = (
        prop::collection::vec(file_of_names(), 1..6),
        prop::collection::vec(agent, 2..24),
        prop::collection::vec((0..7_usize, 0..12_u32), 1..2 * BATCH_URLS),
        0..ALL.len(),
    );
    let (several, free, seen) = (Cell::new(0), Cell::new(0), Cell::new([0_u32; 4]));
    TestRunner::new_with_rng(
        ProptestConfig { cases: 300, ..ProptestConfig::default() },
        TestRng::deterministic_rng(RngAlgorithm::ChaCha),
    )
    .run(&cases, |(files, agents, urls, dialect)| {
        let files: Vec<(String, String)> =
            files.into_iter().enumerate().map(|(host, body)| (format!("h{host}"), body)).collect();
        let files = files.iter().map(|(host, body)| (host.as_str(), body.as_bytes()));
        let set = Set::from_bytes(compile(files, ALL[dialect], Automata::default())).unwrap();
        let agents: Vec<Agent> = agents
            .iter()
            .map(|(names, default)| {
                let names: Vec<&[u8]> = names.iter().map(|&name| NAMES[name].as_bytes()).collect();
                set.agent_chain(&names, *default).unwrap()
            })
            .collect();
        free.set(free.get() + agents.iter().filter(|agent| !agent.honors_default_group()).count());
        let urls: Vec<String> = urls.iter().map(|(host, path)| format!("http://h{host}/{path}")).collect();
        let rows = together(&set, &agents, &urls).unwrap();
        for (at, agent) in agents.iter().enumerate() {
            let column: Vec<Verdict> = rows.iter().skip(at).step_by(agents.len()).copied().collect();
            prop_assert_eq!(Some(column), one_by_one(&set, std::slice::from_ref(agent), &urls), "{:?}", agent);
        }
        for record in set.origins() {
            let policy = set.policy_of(&record.unwrap()).unwrap();
            let with_several = agents.iter().filter(|agent| policy.group_indices(agent).unwrap().len() > 1).count();
            several.set(several.get() + with_several);
        }
        let mut counts = seen.get();
        rows.iter().for_each(|&verdict| counts[verdict as usize] += 1);
        seen.set(counts);
        Ok(())
    })
    .unwrap();
    let (several, free, seen) = (several.get(), free.get(), seen.get());
    assert!(several > 20 && free > 100, "{several} with several groups, {free} without the default group");
    assert!(seen[..3].iter().all(|&count| count > 1000), "{seen:?}");
}

#[test]
fn damaged_sets_give_the_same_verdicts_or_errors() {
    let bytes = set_bytes();
    let urls: Vec<String> = (0..HOSTS + 5).map(|host| format!("http://h{host}/{}", host % 9)).collect();
    let (mut same, mut refused) = (0, 0);
    for seed in 0..4000_usize {
        let mut damaged = bytes.clone();
        // After the header and section table, which opening checks.
        let at = 448 + seed.wrapping_mul(0x9E37_79B9) % (damaged.len() - 448);
        damaged[at] ^= 1 << (seed % 8);
        let Ok(set) = Set::from_bytes(damaged) else { continue };
        let Ok(agent) = set.agent(b"own") else { continue };
        let agents = [agent];
        match one_by_one(&set, &agents, &urls) {
            Some(verdicts) => {
                assert_eq!(together(&set, &agents, &urls), Some(verdicts), "byte {at}");
                same += 1;
            }
            None => {
                assert_eq!(together(&set, &agents, &urls), None, "byte {at}");
                refused += 1;
            }
        }
    }
    assert!(same > 1000 && refused > 20, "{same} same, {refused} refused");
}
