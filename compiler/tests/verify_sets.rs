//! `Set::verify` on sets whose records are valid by themselves, but contradict each other. Checksums are right.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::borrow::Cow;

use bumpalo::Bump;
use reptile_compiler::automaton::Strategy;
use reptile_compiler::dialect::{Dialect, GOOGLE, KOSTER_1996};
use reptile_compiler::set::{OwnedOrigin, SetBuilder, prepare};
use reptile_engine::automaton::Ruleset;
use reptile_engine::format::automaton::{decode, write};
use reptile_engine::format::container::{Container, Section};
use reptile_engine::format::draft::SetDraft;
use reptile_engine::format::policies::{PolicyDraft, UsageGroup};
use reptile_engine::format::usages::{MAX_TIED_PATTERNS, UsageDraft};
use reptile_engine::set::Set;
use reptile_engine::threads::OneThread;
use reptile_engine::url::Scheme;
use reptile_engine::verdict::Preference;

use crate::support::rulesets::compiled;
use crate::support::sets::{STRATEGIES, sample, sections_of, written};

/// Changes a set's content and writes it again. Returns what `verify` expected instead, if it rejects the set.
fn error_of(bytes: &[u8], change: impl FnOnce(&mut SetDraft<'_>)) -> Option<String> {
    let set = Set::from_bytes(bytes).unwrap();
    let mut draft = set.to_draft().unwrap();
    change(&mut draft);
    let header = draft.header;
    let changed = Set::from_bytes(written(&header, &draft.write(&OneThread).unwrap())).unwrap();
    let error = changed.verify().err();
    // In units of work, as several threads verify it.
    let in_parts = changed.verify_parts().iter().find_map(|part| changed.verify_part(part).err());
    assert_eq!(in_parts, error);
    error.map(|error| error.expected().to_owned())
}

/// Returns the place of a host's policy in a draft.
fn policy_of(draft: &SetDraft<'_>, host: &str) -> usize {
    draft.origins.iter().find(|origin| origin.host == host.as_bytes()).unwrap().policy as usize
}

/// Returns a policy with product tokens, and therefore with groups.
fn with_tokens<'d>(draft: &'d mut SetDraft<'_>) -> &'d mut PolicyDraft {
    draft.policies.iter_mut().find(|policy| !policy.tokens.is_empty()).unwrap()
}

/// Checksums alone find a changed byte in every section.
#[test]
fn checksums_cover_every_section() {
    let whole = sample(Strategy::Factored);
    assert_eq!(Set::from_bytes(&whole).unwrap().verify_checksums(), Ok(()));
    let container = Container::read(&whole).unwrap();
    for section in Section::ALL {
        let bytes = container.section(&whole, section);
        let start = bytes.as_ptr().addr() - whole.as_ptr().addr();
        assert!(!bytes.is_empty());
        for at in [start, start + bytes.len() - 1] {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            assert!(Set::from_bytes(&changed).unwrap().verify_checksums().is_err(), "{section:?}: {at}");
        }
    }
}

#[test]
fn records_that_contradict_each_other_are_rejected() {
    type Change = fn(&mut SetDraft<'_>);
    let changes: [(&str, Change); 7] = [
        ("a reference to a product token", |draft| with_tokens(draft).tokens[0].0 = u32::MAX),
        ("a reference to a ruleset", |draft| with_tokens(draft).groups[0].ruleset = u32::MAX),
        ("line numbers for", |draft| {
            draft.lines.iter_mut().max_by_key(|lines| lines.len()).unwrap().to_mut().pop();
        }),
        ("other directives for at most 0 groups", |draft| {
            let empty = policy_of(draft, "c.example") as u32;
            draft.origins.iter_mut().filter(|origin| origin.other.is_some()).for_each(|origin| origin.policy = empty);
        }),
        ("a policy with a fetched file's rules", |draft| {
            let closed = draft.origins.iter_mut().find(|origin| origin.host == b"closed.example").unwrap();
            closed.captures = None;
        }),
        ("statements of", |draft| {
            let usages = draft.policies.iter_mut().flat_map(|policy| &mut policy.usages);
            usages.for_each(|usage| usage.ruleset = u32::MAX);
        }),
        ("joint ranks in rulesets that decide together", |draft| {
            let policy = with_tokens(draft);
            policy.groups.push(policy.groups[0]);
            policy.tokens.push((policy.tokens[0].0, policy.groups.len() as u32 - 1));
        }),
    ];
    for bytes in STRATEGIES.map(sample) {
        assert_eq!(error_of(&bytes, |_| ()), None);
        for (expected, change) in changes {
            let error = error_of(&bytes, change).unwrap_or_default();
            assert!(error.contains(expected), "{expected}: {error}");
        }
    }
}

#[test]
fn automata_with_wrong_flags_are_rejected() {
    let error = error_of(&sample(Strategy::Factored), |draft| {
        for bytes in &mut draft.rulesets {
            let decoded = decode(bytes).unwrap();
            let mut automaton = decoded.draft();
            if let Some(state) = automaton.states.first_mut() {
                state.settled = !state.settled;
            }
            *bytes = Cow::Owned(write(&automaton).unwrap());
        }
    });
    let error = error.unwrap_or_default();
    assert!(error.starts_with("the flags that follow from the ranks"), "{error}");
}

/// In a set by time, an origin has the policy of the capture that is active at the set's time.
#[test]
fn policies_of_another_time_are_rejected() {
    let error = error_of(&sample(Strategy::Fallback), |draft| {
        let other = policy_of(draft, "a.example") as u32;
        let origins = draft.origins.iter_mut().filter(|origin| origin.captures.is_some());
        origins.for_each(|origin| origin.policy = other);
    });
    let error = error.unwrap_or_default();
    assert!(error.ends_with("which its origin has at the set's time"), "{error}");
}

/// The captures of a failed fetch have no rules that could be used later.
#[test]
fn captures_with_the_policy_of_a_failed_fetch_are_rejected() {
    let error = error_of(&sample(Strategy::Factored), |draft| {
        let closed = policy_of(draft, "closed.example") as u32;
        let captures = draft.captures.iter_mut().flat_map(|stored| stored.captures_mut());
        captures.filter_map(|capture| capture.policy.as_mut()).for_each(|policy| *policy = closed);
    });
    assert_eq!(error.as_deref(), Some("a policy with a fetched file's rules"));
}

/// A record of the section `origins` begins with the addresses of its policy, captures and other directives. The host
/// follows after 16 bytes.
#[test]
fn addresses_inside_records_are_rejected() {
    for bytes in STRATEGIES.map(sample) {
        let (header, sections) = sections_of(&bytes);
        let origins = &sections[Section::Origins as usize];
        for (field, host, expected) in [
            (0, "kept.example", "a reference to a policy"),
            (4, "kept.example", "a reference to captures"),
            (8, "a.example", "a reference to other directives"),
        ] {
            let mut damaged = sections.clone();
            let of_host = |at: &usize| origins[*at..].starts_with(host.as_bytes());
            for at in (16..origins.len()).step_by(8).filter(of_host) {
                let address = &mut damaged[Section::Origins as usize][at - 16 + field..][..4];
                let number = u32::from_le_bytes((&*address).try_into().unwrap());
                address.copy_from_slice(&number.saturating_add(1).to_le_bytes());
            }
            assert!(damaged != sections, "{expected}");
            let error = Set::from_bytes(written(&header, &damaged)).unwrap().verify().unwrap_err();
            assert_eq!(error.expected(), expected);
        }
    }
}

/// Rulesets without rules decide together without joint ranks.
#[test]
fn groups_without_rules_may_decide_together() {
    let error = error_of(&set_of("user-agent: a\ndisallow:\n"), |draft| {
        let automaton = automaton_of("", &GOOGLE);
        assert_eq!(Ruleset::new(&automaton).unwrap().rule_count(), 0);
        draft.rulesets.iter_mut().for_each(|ruleset| *ruleset = Cow::Owned(automaton.clone()));
        draft.lines.iter_mut().for_each(|lines| lines.to_mut().clear());
        let policy = with_tokens(draft);
        policy.groups.push(policy.groups[0]);
        policy.tokens.push((policy.tokens[0].0, policy.groups.len() as u32 - 1));
    });
    assert_eq!(error, None);
}

/// Compiles the rules of one group.
fn automaton_of(rules: &str, dialect: &Dialect) -> Vec<u8> {
    compiled(&format!("user-agent: *\n{rules}"), dialect, Strategy::Factored)
}

/// Writes a set with one file.
fn set_of(body: &str) -> Vec<u8> {
    let mut builder = SetBuilder::new(&GOOGLE);
    let origin = OwnedOrigin { host: b"a.example"[..].into(), scheme: Scheme::Http, port: 80 };
    builder.add([origin], prepare(body.as_bytes(), &GOOGLE, &Bump::new()).unwrap());
    builder.finish(Strategy::default()).unwrap().to_bytes()
}

/// Writes a set with usage rules that have these patterns. In a ruleset for uses, allows have wildcards and disallows are
/// plain; `verify` does not look at the patterns. `longer` is added to the stored lengths.
fn usage_error(rules: &str, dialect: &'static Dialect, longer: u32) -> Option<String> {
    let automaton = automaton_of(rules, dialect);
    let labels = [(b"train-ai"[..].into(), Preference::Allowed)];
    let mut statements = UsageDraft::default();
    statements.base = Some(statements.add(labels.clone().into()));
    for rule in Ruleset::new(&automaton).unwrap().rules().unwrap() {
        statements.add_rule(labels.clone().into(), rule.pattern.len() as u32 + longer);
    }
    error_of(&set_of("user-agent: *\ncontent-usage: /x train-ai=y\n"), |draft| {
        let mut usages = draft.policies.iter().flat_map(|policy| &policy.usages);
        let &UsageGroup { ruleset, statements: place, .. } = usages.find(|usage| usage.ruleset != u32::MAX).unwrap();
        draft.rulesets[ruleset as usize] = Cow::Owned(automaton);
        draft.usages[place as usize] = Cow::Owned(statements.encode().unwrap());
    })
}

#[test]
fn usage_rules_have_the_lengths_and_the_order_of_their_patterns() {
    let cases: [(&str, &'static Dialect, u32, Option<&str>); 9] = [
        ("disallow: /ab\n", &GOOGLE, 0, None),
        ("disallow: /ab\n", &GOOGLE, 1, Some("a pattern of 4 bytes")),
        ("disallow: /ab\ndisallow: /cd\nallow: /ef\nallow: /gh\n", &GOOGLE, 0, None),
        ("disallow: /abc\nallow: /de\nallow: /f\ndisallow: /g\n", &KOSTER_1996, 0, None),
        ("allow: /ab\ndisallow: /cd\n", &KOSTER_1996, 0, None),
        ("disallow: /ab\nallow: /cd\n", &KOSTER_1996, 0, Some("patterns of 3 bytes with wildcards before plain ones")),
        ("disallow: /ab\ndisallow: /cd\nallow: /e\n", &KOSTER_1996, 0, None),
        ("disallow: /ab\nallow: /cdef\n", &KOSTER_1996, 0, Some("rules sorted by length, longest first")),
        // A ruleset without rules.
        ("", &GOOGLE, 0, Some("statements of 0 rules")),
    ];
    for (rules, dialect, longer, expected) in cases {
        assert_eq!(usage_error(rules, dialect, longer).as_deref(), expected, "{rules}");
    }
}

#[test]
fn usage_rules_with_tied_patterns_are_limited() {
    let allows = |count: usize, front: &str| (0..count).map(|n| format!("allow: /{front}{n:04}\n")).collect::<String>();
    for (count, fits) in [(MAX_TIED_PATTERNS - 1, true), (MAX_TIED_PATTERNS, true), (MAX_TIED_PATTERNS + 1, false)] {
        let expected = format!("up to {MAX_TIED_PATTERNS} patterns of 5 bytes");
        assert_eq!(usage_error(&allows(count, ""), &GOOGLE, 0), (!fits).then_some(expected), "{count}");
        // Longer patterns, and plain ones, do not count.
        let longer = allows(MAX_TIED_PATTERNS, "a");
        let rules = format!("{longer}{}disallow: /b000\ndisallow: /c000\n", allows(count, ""));
        assert_eq!(usage_error(&rules, &GOOGLE, 0).is_none(), fits, "{count}");
    }
}
