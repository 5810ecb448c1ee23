//! A set stores enough of each capture to be updated later, and reports the same crawlers as the compiler.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may")]

use std::collections::HashMap;

use bumpalo::Bump;
use proptest::prelude::*;
use reptile_compiler::automaton::Strategy as Form;
use reptile_compiler::capture::{self, Capture, Captures, KeptCapture, Outcome, Profile};
use reptile_compiler::dialect::crawlers::{ALL, of_name};
use reptile_compiler::dialect::resolve::resolve;
use reptile_compiler::dialect::{self, Dialect, GOOGLE_LIB, KOSTER_1994, RFC9309};
use reptile_compiler::set::{OwnedOrigin, SetBuilder, prepare};
use reptile_engine::set::{GroupKind, Set};
use reptile_engine::spec::GROUPS;
use reptile_engine::token::TokenSyntax;
use reptile_engine::url::Scheme;
use reptile_engine::verdict::{Cause, PolicySource};

const BODIES: [&[u8]; 3] = [b"user-agent: *\ndisallow: /a\n", b"user-agent: *\ndisallow: /b\n", b""];

fn origin(number: usize) -> OwnedOrigin {
    OwnedOrigin { host: format!("h{number}.example").into_bytes().into(), scheme: Scheme::Http, port: 80 }
}

/// A capture: origin number, time, outcome number, body number, max-age.
type Fetch = (usize, Option<i64>, u8, usize, Option<u64>);

fn outcome_of(number: u8) -> Outcome {
    match number {
        0 => Outcome::Use,
        1 => Outcome::Allow(Cause::Status(404)),
        2 => Outcome::Disallow(Cause::Status(403)),
        3 => Outcome::Unreachable(Cause::Status(503)),
        _ => Outcome::Unreachable(Cause::Network),
    }
}

fn compile(fetches: &[Fetch], profile: &Profile, at: Option<i64>) -> Vec<u8> {
    let mut builder = SetBuilder::with_profile(&GOOGLE_LIB, profile, at);
    for &(host, time, outcome, body, max_age) in fetches {
        let outcome = outcome_of(outcome);
        let record = (outcome == Outcome::Use).then(|| prepare(BODIES[body], &GOOGLE_LIB, &Bump::new()).unwrap());
        let capture = Capture { time, max_age, ..Capture::default() };
        builder.add_capture([origin(host)], &capture, outcome, record);
    }
    builder.finish(Form::default()).unwrap().to_bytes()
}

/// Returns each origin's captures as stored in the set. Their rules are policy addresses.
fn captures_of(set: &Set<Vec<u8>>) -> HashMap<Vec<u8>, Captures> {
    let captures = set.origins().map(|origin| {
        let origin = origin.unwrap();
        let captures = match set.site_of(&origin).unwrap().captures().unwrap() {
            Some(history) => Captures::from_stored(&history).unwrap(),
            None => {
                let mut captures = Captures::default();
                let (outcome, rules) = (Outcome::Use, origin.policy);
                captures.add(KeptCapture { time: None, outcome, body_hash: 0, max_age: None, status: None, rules });
                captures
            }
        };
        (origin.host.to_vec(), captures)
    });
    captures.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Deciding again from the stored captures gives every origin the same policy, and adding further captures to them
    /// gives the same result as compiling all captures together.
    #[test]
    fn stored_captures_decide_like_the_originals(
        fetches in prop::collection::vec(
            (0..4_usize, prop::option::weighted(0.8, 0..40_i64), 0..5_u8, 0..3_usize, prop::option::of(0..9_u64)), 1..14),
        split in 0..14_usize,
        patience in 0..20_i64,
    ) {
        let mut profile = capture::RFC9309.clone();
        profile.patience = patience;
        let at = Some(40);
        let set = Set::from_bytes(compile(&fetches, &profile, at)).unwrap();
        set.verify().unwrap();
        let kept = captures_of(&set);
        let mut stale = 0;
        for record in set.origins() {
            let record = record.unwrap();
            let site = set.site_of(&record).unwrap();
            let decision = kept[record.host].decide(&profile, at).unwrap();
            let source = site.policy().source().unwrap();
            prop_assert_eq!(decision.source, source);
            if let Some(rules) = decision.rules {
                // The policy of a retained copy also records why it was retained; its rules are the capture's.
                let rules_of = |address| {
                    let policy = set.policy_of(&reptile_engine::format::origins::OriginRecord { policy: address, ..record });
                    let groups = policy.unwrap().groups().unwrap();
                    groups.into_iter().map(|group| (group.tokens, group.rules.number)).collect::<Vec<_>>()
                };
                prop_assert_eq!(rules_of(rules), rules_of(record.policy));
            }
            let is_stale = site.stale_at().unwrap().is_some_and(|until| until < 40);
            prop_assert_eq!(decision.is_stale, is_stale);
            stale += u64::from(is_stale);
            if let Some(until) = site.expires_at().unwrap() {
                prop_assert!(until >= 40);
                prop_assert_eq!(kept[record.host].decide(&profile, Some(until)).unwrap().source, source);
                let later = kept[record.host].decide(&profile, Some(until + 1)).unwrap().source;
                prop_assert!(matches!(later, PolicySource::AllowAll(Cause::Unreachable(_))));
            }
        }
        prop_assert!(stale <= set.origin_count());

        // Adding captures to stored ones gives the same result as compiling them at once. Plain files are excluded,
        // because their bodies are not stored.
        let split = split.min(fetches.len());
        let first = Set::from_bytes(compile(&fetches[..split], &profile, at)).unwrap();
        let mut kept = captures_of(&first);
        let plain: Vec<Vec<u8>> = first.origins().map(Result::unwrap)
            .filter(|record| record.captures.is_none()).map(|record| record.host.to_vec()).collect();
        for &(host, time, outcome, _, max_age) in &fetches[split..] {
            let outcome = outcome_of(outcome);
            // Body hashes matter only at equal times, and do not affect the sources compared below.
            let capture = KeptCapture {
                time, outcome, body_hash: 0, max_age: max_age.map(|age| age as u32), status: None, rules: u32::MAX,
            };
            kept.entry(origin(host).host.to_vec()).or_default().add(capture);
        }
        for record in set.origins() {
            let record = record.unwrap();
            if plain.iter().any(|host| **host == *record.host) {
                continue;
            }
            let again = kept[record.host].decide(&profile, at).unwrap();
            prop_assert_eq!(again.source, set.policy_of(&record).unwrap().source().unwrap());
        }
    }
}

#[test]
fn a_plain_file_has_no_history() {
    let set = Set::from_bytes(compile(&[(0, None, 0, 0, None)], &capture::GOOGLE, None)).unwrap();
    assert!(set.section_sizes().any(|(name, size)| name == "captures" && size == 0));
    let reading = set.reading();
    assert_eq!((reading.dialect, reading.profile, reading.at), ("google-lib", "google", None));
    assert_eq!((reading.freshness, reading.patience), (Some(86_400), 30 * 86_400));
}

/// Compiles a set without files, which still lists crawlers.
fn empty(dialect: &Dialect) -> Set<Vec<u8>> {
    let set = Set::from_bytes(SetBuilder::new(dialect).finish(Form::default()).unwrap().to_bytes()).unwrap();
    set.verify().unwrap();
    set
}

#[test]
fn sets_resolve_names_like_the_compiler() {
    for dialect in dialect::ALL {
        let set = empty(dialect);
        let mut names: Vec<String> = ALL.iter().map(|crawler| crawler.name.to_owned()).collect();
        names.extend(
            ["yandex", "YANDEXfoo", "yandexbot", "Yandex-Other/3.0", "yande", "Nobody", "", "/", "a b", "*"]
                .map(str::to_owned),
        );
        for name in names {
            let upside_down: String = name
                .chars()
                .map(|c| if c.is_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() })
                .collect();
            for spelling in
                [name.clone(), upside_down, format!("{name}/2.1"), format!("{name} /2.1"), format!("{name} x")]
            {
                let expected = of_name(spelling.as_bytes(), dialect);
                let found = set.crawlers().find(spelling.as_bytes()).unwrap();
                assert_eq!(found.tokens, expected.tokens, "{spelling} under {}", dialect.name);
                assert_eq!(found.honors_default_group, expected.honors_default_group, "{spelling}");
            }
        }
        for (group, purposes) in GROUPS {
            let found = set.crawlers().with_purpose(purposes).map(|crawler| crawler.unwrap().name.to_vec());
            let mut expected: Vec<Vec<u8>> =
                resolve(group, dialect).unwrap().into_iter().map(|known| known.name.into_bytes()).collect();
            expected.sort_by_key(|name| name.to_ascii_lowercase());
            assert_eq!(found.collect::<Vec<_>>(), expected, "{group}");
        }
    }
    assert_eq!(empty(&RFC9309).crawlers().syntax(), Ok(TokenSyntax::Letters));
    assert_eq!(empty(&KOSTER_1994).crawlers().syntax(), Ok(TokenSyntax::WholeValue));
}

#[test]
fn groups_and_matching_rules_are_reported() {
    let body = b"user-agent: a\ndisallow: /x\nallow: /x/y*z$\ndisallow: /*y\ndisallow:\n\nuser-agent: *\ndisallow: /\n";
    let mut builder = SetBuilder::new(&GOOGLE_LIB);
    builder.add([origin(0)], prepare(body, &GOOGLE_LIB, &Bump::new()).unwrap());
    builder.add([origin(1)], prepare(b"user-agent: a\ndisallow: /\n", &GOOGLE_LIB, &Bump::new()).unwrap());
    let set = Set::from_bytes(builder.finish(Form::default()).unwrap().to_bytes()).unwrap();
    let (named, other) = (set.agent(b"A").unwrap(), set.agent(b"b").unwrap());
    let group = |number: usize, agent| {
        let url = format!("http://h{number}.example/");
        let url = reptile_engine::url::split(url.as_bytes()).unwrap();
        set.policy(&url.origin).unwrap().unwrap().group_of(agent).unwrap()
    };
    assert_eq!([group(0, &named), group(0, &other)], [GroupKind::Named, GroupKind::Default]);
    assert_eq!([group(1, &named), group(1, &other)], [GroupKind::Named, GroupKind::None]);
    let lines = |agent, url: &str| {
        let rules = set.matching_rules(agent, url.as_bytes()).unwrap();
        rules.into_iter().map(|rule| rule.line).collect::<Vec<u32>>()
    };
    assert_eq!(lines(&named, "http://h0.example/x/yz"), [3, 4, 2, 5]);
    assert_eq!(lines(&named, "http://h0.example/x/yzz/"), [4, 2, 5]);
    assert_eq!(lines(&named, "http://h0.example/"), [5]);
    assert_eq!(lines(&other, "http://h0.example/"), [8]);
    assert!(lines(&other, "http://h1.example/").is_empty());
    assert!(lines(&other, "http://nowhere.example/").is_empty());
    assert!(lines(&other, "no url").is_empty());
}

#[test]
fn allow_rules_for_index_pages_are_listed_once() {
    let body = b"user-agent: *\nallow: /d/index.html\ndisallow: /d/\n";
    let mut builder = SetBuilder::new(&GOOGLE_LIB);
    builder.add([origin(0)], prepare(body, &GOOGLE_LIB, &Bump::new()).unwrap());
    let set = Set::from_bytes(builder.finish(Form::Factored).unwrap().to_bytes()).unwrap();
    let policy = set.policy(&origin(0).borrowed()).unwrap().unwrap();
    let groups = policy.groups().unwrap();
    // The ruleset has a second rule, for the page's directory, which is listed under the same line.
    assert_eq!(groups[0].rules.ruleset.rule_count(), 3);
    let rules = groups[0].rules.all().unwrap();
    let listed: Vec<(u32, &[u8])> = rules.iter().map(|rule| (rule.line, &*rule.pattern)).collect();
    assert_eq!(listed, [(2, &b"/d/index.html"[..]), (3, b"/d/")]);
}
