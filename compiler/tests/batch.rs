//! Many URLs looked up together get the verdicts that each gets by itself: for batches of every fill, sorted and shuffled
//! URLs, several agents, every kind of spelling, and over damaged sets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code: a panic is the report")]

use crate::support;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use reptile_compiler::automaton::Strategy as Automata;
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_engine::set::{Agent, BATCH_URLS, Set};
use reptile_engine::verdict::Verdict;
use support::compile;

/// The number of hosts in the set.
const HOSTS: usize = 300;

/// A set of hosts with different rules, some of which name a crawler, some of which share their rules.
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

/// URLs of known and unknown hosts, hosts in other spellings, and texts that are no URLs. Many follow one of their host.
fn url() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => (0..HOSTS + 20, 0..60_u32).prop_map(|(host, path)| format!("http://h{host}/{path}")),
        2 => (0..3_u32, 0..60_u32).prop_map(|(host, path)| format!("https://h{host}/{path}")),
        1 => (0..HOSTS, 0..9_u32).prop_map(|(host, path)| format!("http://H{host}.:80?{path}")),
        1 => (0..9_u32).prop_map(|path| format!("http://%681/{path}")),
        1 => "[a-z:/@;]{0,12}".prop_map(|text| text),
    ]
}

/// The verdicts of each URL by itself, or none if the set turns out to be damaged.
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
fn a_batch_gives_the_verdicts_of_its_urls() {
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

#[test]
fn a_damaged_set_gives_the_same_verdicts_or_an_error() {
    let bytes = set_bytes();
    let urls: Vec<String> = (0..HOSTS + 5).map(|host| format!("http://h{host}/{}", host % 9)).collect();
    let (mut same, mut refused) = (0, 0);
    for seed in 0..4000_usize {
        let mut damaged = bytes.clone();
        // Behind header and section table, which opening checks.
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
