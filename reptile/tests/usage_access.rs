//! Permissions for uses over all pages of an origin, compared with the preferences of single pages.
#![cfg(feature = "compile")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::collections::BTreeSet;

use reptile::summary::UsageAccess;
use reptile::usage::{Preference, Sources, Uses, Vocabulary};
use reptile::{Capture, Compiler, Crawler, Dialect, Robots, Verdict};

fn uses(names: &[&str], sources: Sources) -> Uses {
    Vocabulary::named("any").unwrap().uses(names, sources).unwrap()
}

/// Returns the permission that the preferences of single pages show, if they show one.
fn shown_by(preferences: &BTreeSet<Preference>) -> Option<UsageAccess> {
    match preferences.iter().collect::<Vec<_>>()[..] {
        [] => None,
        [Preference::Allowed] => Some(UsageAccess::Allowed),
        [Preference::Disallowed] => Some(UsageAccess::Disallowed),
        [Preference::Unknown] => Some(UsageAccess::Unknown),
        [Preference::NotApplicable] => panic!("only pages that may be fetched count"),
        [_, _, ..] => Some(UsageAccess::Partial),
    }
}

#[test]
fn permissions_never_contradict_the_preferences_of_pages() {
    let mut state = 1_u64;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let mut paths = vec!["/".to_owned()];
    for at in 0..156 {
        paths.extend(["a", "b", "/", "$", "c"].map(|letter| format!("{}{letter}", paths[at])));
    }
    let uses = uses(&["a", "b"], Sources::ALL);
    let mut counts = [0_u64; UsageAccess::ALL.len()];
    for _ in 0..500 {
        let mut body = String::from("user-agent: *\n");
        for _ in 0..below(7) {
            let pattern: String = (0..below(4)).map(|_| ["a", "b", "*", "/", "$"][below(5)]).collect();
            let statement = ["a=y", "a=n", "b=n, a=y", "A=n", ""][below(5)];
            body += &match below(8) {
                0 | 1 => format!("disallow: /{pattern}\n"),
                2 => format!("allow: /{pattern}\n"),
                3 => format!("content-usage: {statement}\n"),
                4 => "content-signal: a=yes\n".to_owned(),
                _ => format!("content-usage: /{pattern} {statement}\n"),
            };
        }
        let agent = Robots::parse(&body, Dialect::google()).unwrap().agent("x").unwrap();
        let mut seen = [BTreeSet::new(), BTreeSet::new()];
        for path in &paths {
            let usage = agent.usage(path, &uses).unwrap();
            if usage.verdict == Verdict::Allow {
                seen.iter_mut().zip(usage.preferences).for_each(|(seen, preference)| {
                    seen.insert(preference);
                });
            }
        }
        for (permission, seen) in agent.permissions("/", &uses).unwrap().into_iter().zip(&seen) {
            counts[permission as usize] += 1;
            // The paths are longer than any pattern, so that two preferences would show.
            let expected = shown_by(seen).unwrap_or(UsageAccess::NotApplicable);
            let is_consistent = permission == expected || permission == UsageAccess::Partial && seen.len() < 2;
            assert!(is_consistent, "{permission} instead of {expected}: {body}");
        }
    }
    assert_eq!(counts.iter().sum::<u64>(), 1000);
    for permission in &UsageAccess::ALL[..5] {
        assert!(counts[*permission as usize] > 10, "{permission}: {counts:?}");
    }
    assert_eq!(counts[UsageAccess::Unproved as usize..], [0, 0]);
}

#[test]
fn origins_without_rules_have_permissions_too() {
    let mut compiler = Compiler::new(Dialect::google());
    let body = "user-agent: x\ncontent-usage: a=y\ndisallow: /x\n\nuser-agent: *\ndisallow: /\n";
    compiler.add(Capture::new("https://a.example/robots.txt", body).unwrap()).unwrap();
    let set = compiler.finish().unwrap().into_set().unwrap();
    let uses = uses(&["a", "b"], Sources::USAGE);
    for (crawler, url, expected) in [
        ("x", "https://a.example/", [UsageAccess::Allowed, UsageAccess::Unknown]),
        ("y", "https://a.example/page", [UsageAccess::NotApplicable; 2]),
        ("x", "https://b.example/", [UsageAccess::Unknown; 2]),
        ("x", "no url", [UsageAccess::Invalid; 2]),
    ] {
        let agent = set.agent(Crawler::from(crawler)).unwrap();
        assert_eq!(agent.permissions(url, &uses).unwrap(), expected, "{crawler} {url}");
    }
}

#[test]
fn permissions_have_stable_words() {
    for (number, permission) in UsageAccess::ALL.into_iter().enumerate() {
        assert_eq!((permission as usize, permission.to_string().parse()), (number, Ok(permission)));
    }
}
