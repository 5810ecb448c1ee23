//! Agents with several names, and names that contain others.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code: a panic is the report")]

use crate::support;
use reptile_compiler::automaton::Strategy;
use reptile_compiler::dialect::{Dialect, GOOGLE_LIB, KOSTER_1996};
use reptile_engine::format::tokens::NameMatching;
use reptile_engine::set::{Agent, Set};
use reptile_engine::verdict::Verdict;
use support::{compile, policy_of};

const BODY: &str = "user-agent: BigBot/2.0\ndisallow: /big\n\nuser-agent: bot\ndisallow: /bot\n\n\
                    user-agent: *\ndisallow: /rest\n";

fn set_of(dialect: &'static Dialect) -> Set<Vec<u8>> {
    Set::from_bytes(compile([("h", BODY.as_bytes())], dialect, Strategy::default())).unwrap()
}

/// Returns the paths that are disallowed for an agent. `decide`, `decide_each` and `explain` must agree.
fn closed(set: &Set<Vec<u8>>, agent: &Agent) -> Vec<&'static str> {
    let is_closed = |path: &&str| {
        let url = format!("http://h{path}");
        let verdict = set.decide(agent, url.as_bytes()).unwrap();
        let mut verdicts = [Verdict::Invalid; 2];
        set.decide_each(&[agent.clone(), agent.clone()], url.as_bytes(), &mut verdicts).unwrap();
        assert_eq!(verdicts, [verdict; 2]);
        assert_eq!(set.explain(agent, url.as_bytes()).unwrap().verdict, verdict);
        verdict == Verdict::Disallow
    };
    ["/big", "/bot", "/rest"].into_iter().filter(is_closed).collect()
}

#[test]
fn the_first_name_found_in_the_file_selects_the_group() {
    let set = set_of(&GOOGLE_LIB);
    assert_eq!(set.name_matching(), NameMatching::Equal);
    for (names, honors_default_group, expected) in [
        (&["bigbot", "bot"][..], true, &["/big"][..]),
        (&["bot", "bigbot"], true, &["/bot"]),
        (&["nobody", "BOT"], false, &["/bot"]),
        (&["nobody", "no-one"], true, &["/rest"]),
        (&["nobody", "no-one"], false, &[]),
        (&[], true, &["/rest"]),
        (&[], false, &[]),
    ] {
        let tokens: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
        let agent = set.agent_chain(&tokens, honors_default_group).unwrap();
        assert_eq!(closed(&set, &agent), expected, "{names:?}");
        assert_eq!(agent.honors_default_group(), honors_default_group);
        assert_eq!(agent.is_named(), names.iter().any(|name| !name.starts_with("no")), "{names:?}");
        let has_group = policy_of(&set, "h").has_group(&agent).unwrap();
        assert_eq!(has_group, agent.is_named() || honors_default_group, "{names:?}");
    }
    assert_eq!(set.agent(b"Bot").unwrap(), set.agent_chain(&[b"bot"], true).unwrap());
}

#[test]
fn koster_1996_finds_names_inside_file_tokens() {
    let set = set_of(&KOSTER_1996);
    assert_eq!(set.name_matching(), NameMatching::Contained);
    for (name, expected) in [("bot", "/big"), ("IGB", "/big"), ("bigbot/2.0", "/big"), ("bots", "/rest"), ("", "/rest")]
    {
        assert_eq!(closed(&set, &set.agent(name.as_bytes()).unwrap()), [expected], "{name}");
    }
    let agent = set.agent_chain(&[b"bots", b"bot"], false).unwrap();
    assert_eq!(closed(&set, &agent), ["/big"]);
}

#[test]
fn sets_with_an_unknown_name_comparison_are_rejected() {
    let mut bytes = compile([("h", BODY.as_bytes())], &GOOGLE_LIB, Strategy::default());
    let sections = u32::from_le_bytes(*bytes[20..].first_chunk().unwrap()) as usize;
    let (checksum_at, table_end) = (56, 64 + sections * 32);
    bytes[32] = 2;
    bytes[checksum_at..checksum_at + 8].fill(0);
    let checksum = xxhash_rust::xxh3::xxh3_64(&bytes[..table_end]);
    bytes[checksum_at..checksum_at + 8].copy_from_slice(&checksum.to_le_bytes());
    let error = Set::from_bytes(bytes).err().expect("a set from a later version was opened");
    assert_eq!(error.to_string(), "header: expected a way of comparing names that this version knows, found 2");
}
