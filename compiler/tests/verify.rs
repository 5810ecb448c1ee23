//! `Ruleset::verify` and matching on bytes that no compiler wrote. Broken invariants are rejected with their offset.
//! Neither exceeds its step bound, even for automata with cyclic references.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use reptile_compiler::automaton::Strategy;
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_engine::automaton::Ruleset;
use reptile_engine::format::automaton::{
    AutomatonDraft, FallbackPattern, MAX_FALLBACK_BYTES, MAX_PASSES, MAX_RULES, MAX_WILDCARD_BRANCHES,
    MAX_WILDCARD_DEPTH, MAX_WILDCARDS, NEEDS_ALL, NO_RANK, NO_RANKS, NO_WILDCARD, PatternText, State, TextFlags,
    WildcardAutomaton, decode, write,
};
use reptile_engine::format::fingerprints::Fingerprints;

use crate::support::rulesets::compiled;

/// Fingerprints that exclude no position.
const ANYWHERE: Fingerprints = [0xFF; 80];

/// Rules that use all parts of an automaton except joint ranks.
const BODY: &str = "user-agent: *\ndisallow: /shop/\nallow: /shop/index.html\nallow: /shop/*.html$\ndisallow: /*?sort=\n\
     disallow: /*a*b\nallow: /a*\ndisallow: /a\nallow: /b$\ndisallow: /c\ndisallow: /d\ndisallow: /e\ndisallow: /f\n\
     disallow: /g\ndisallow: /h\ndisallow:\nallow: /*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a\n";

const STATE: State<'static> = State {
    label: &[],
    accept: NO_RANKS,
    accept_at_end: NO_RANKS,
    disallows: false,
    disallows_at_end: false,
    settled: false,
    wildcards: &[],
    children: &[],
};

/// Returns the range of a header field, numbered from 0 to 7.
fn field(bytes: &[u8], place: usize) -> std::ops::Range<usize> {
    let width = usize::from(bytes[0]);
    1 + place * width..1 + (place + 1) * width
}

fn steps_of(bytes: &[u8]) -> (bool, usize) {
    let (result, steps) = Ruleset::new(bytes).unwrap().verify_counted();
    (result.is_ok(), steps)
}

#[test]
fn errors_name_offset_expected_and_found() {
    let whole = compiled(BODY, &GOOGLE_LIB, Strategy::Factored);
    Ruleset::new(&whole).unwrap().verify().unwrap();
    let error_of = |bytes: &[u8]| match Ruleset::new(bytes).and_then(|ruleset| ruleset.verify()) {
        Err(error) => error.to_string(),
        Ok(()) => panic!("accepted"),
    };
    assert_eq!(
        error_of(&whole[..16]),
        "Invalid automaton bytes at offset 0: expected a header, found the end of the bytes"
    );
    assert_eq!(
        error_of(&[&[3][..], &whole[1..]].concat()),
        "Invalid automaton bytes at offset 0: expected numbers of two or four bytes, found another width"
    );
    let mut root_at_the_end = whole.clone();
    root_at_the_end[field(&whole, 1)].copy_from_slice(&(whole.len() as u16 - 1).to_le_bytes());
    assert_eq!(
        error_of(&root_at_the_end),
        format!("Invalid automaton bytes at offset {}: expected a state, found the end of the bytes", whole.len() - 1)
    );
    let padded = [&whole[..], &[0]].concat();
    assert_eq!(
        error_of(&padded),
        format!(
            "Invalid automaton bytes at offset {}: expected as many bytes as a writer writes, found another number",
            whole.len()
        )
    );
}

#[test]
fn truncated_automata_are_rejected() {
    for strategy in [Strategy::Factored, Strategy::Fallback] {
        let whole = compiled(BODY, &GOOGLE_LIB, strategy);
        for len in 0..whole.len() {
            let cut = &whole[..len];
            assert!(Ruleset::new(cut).and_then(|ruleset| ruleset.verify()).is_err(), "cut to {len} bytes");
        }
        let (bytes, mut draft) = (decode(&whole).unwrap(), AutomatonDraft::default());
        draft.clone_from(&bytes.draft());
        assert_eq!(write(&draft).unwrap(), whole);
    }
}

#[test]
fn wrong_number_widths_are_rejected() {
    // An automaton large enough for four-byte numbers, changed to claim two-byte numbers.
    let large: String = (0..10_000).map(|n| format!("disallow: /{n}\n")).collect();
    let mut wide = compiled(&format!("user-agent: *\n{large}"), &GOOGLE_LIB, Strategy::Factored);
    assert_eq!(wide[0], 4);
    Ruleset::new(&wide).unwrap().verify().unwrap();
    wide[0] = 2;
    assert!(Ruleset::new(&wide).unwrap().verify().is_err());
}

/// A verdict may leave out an automaton, but not the only one with rules of a kind.
#[test]
fn kinds_that_a_verdict_leaves_out_are_rejected() {
    for [first, second] in [["allow", "disallow"], ["disallow", "allow"]] {
        let whole =
            compiled(&format!("user-agent: *\n{first}: /*q\n{second}: /x*xr\n"), &GOOGLE_LIB, Strategy::Factored);
        let decoded = decode(&whole).unwrap();
        let mut draft = decoded.draft().clone();
        let last = draft.wildcards.iter().position(|wildcard| wildcard.next.is_some()).unwrap();
        let before = draft.wildcards[last].next;
        assert_ne!(draft.wildcards[last].deciding, before);
        draft.wildcards[last].deciding = before;
        let state = draft.states.iter_mut().find(|state| state.wildcards.contains(&(0, last as u32))).unwrap();
        state.wildcards = Vec::leak(vec![(0, before.unwrap()), (0, last as u32)]);
        let error = Ruleset::new(&write(&draft).unwrap()).unwrap().verify().unwrap_err();
        assert_eq!(error.found(), "a kind that is left out", "{first} and {second}");
    }
}

/// Returns a trie state that accepts rules of both kinds.
fn of_both_kinds<'s, 'd>(draft: &'s mut AutomatonDraft<'d>) -> &'s mut State<'d> {
    draft.states.iter_mut().find(|state| !state.accept.contains(&NO_RANK)).unwrap()
}

/// Each draft breaks an invariant. The table gives the text that the error must contain.
#[test]
fn broken_invariants_are_rejected() {
    let whole = compiled(BODY, &GOOGLE_LIB, Strategy::Factored);
    let decoded = decode(&whole).unwrap();
    type Break = fn(&mut AutomatonDraft<'_>);
    let breaks: [(&str, &str, Break); 38] = [
        ("rules", "every rule listed once", |draft| draft.rule_count += 1),
        ("rules", "every rule listed once", |draft| draft.rule_count -= 1),
        ("rules", "ranks of rules of their kind", |draft| draft.rule_count = 1),
        ("otherwise", "every rule listed once", |draft| draft.otherwise = None),
        ("texts", "rules with texts outside of the trie", |draft| {
            draft.texts.remove(0);
        }),
        ("texts", "texts in the order", |draft| draft.texts.swap(0, 1)),
        ("texts", "texts in the order", |draft| draft.texts.insert(0, draft.texts[0])),
        ("texts", "the pattern of a rule", |draft| draft.texts[0].pattern = b""),
        ("texts", "the pattern of a rule", |draft| {
            let text = draft.texts.iter_mut().find(|text| text.rank % 2 == 1).unwrap();
            text.flags.opens_directory = true;
        }),
        ("texts", "texts that cannot be read off", |draft| {
            let shop = draft.states.iter().find(|state| state.label.ends_with(b"hop/")).unwrap();
            let rank = shop.accept[1];
            let text = PatternText { rank, flags: TextFlags::default(), pattern: b"/shop/" };
            draft.texts.push(text);
            draft.texts.sort();
        }),
        ("trie", "ranks of rules of their kind", |draft| {
            let state = draft.states.iter_mut().find(|state| state.accept[1] != NO_RANK).unwrap();
            state.accept[1] -= 1;
        }),
        ("trie", "ranks of rules of their kind", |draft| draft.states[0].accept_at_end[1] = draft.rule_count * 2 + 1),
        ("trie", "ranks at least as good", |draft| {
            let below_shop = draft.states.iter_mut().find(|state| state.label.ends_with(b"ndex.html")).unwrap();
            below_shop.accept[1] = NO_RANK;
        }),
        ("trie", "ranks at least as good", |draft| {
            let state = of_both_kinds(draft);
            state.accept_at_end = [state.accept[0], NO_RANK];
        }),
        ("trie", "ranks at least as good", |draft| {
            let state = of_both_kinds(draft);
            state.accept_at_end = [NO_RANK, state.accept[1]];
        }),
        ("trie", "every rule listed once", |draft| {
            let listed = draft.texts.iter().find(|text| text.pattern == b"/a*").unwrap().rank;
            let is_leaf = |state: &&mut State<'_>| state.disallows && state.children.is_empty();
            let state = draft.states.iter_mut().rfind(is_leaf).unwrap();
            state.accept[0] = listed;
            (state.disallows, state.disallows_at_end, state.settled) = (false, false, false);
        }),
        ("trie", "the flags that follow", |draft| {
            let state = draft.states.iter_mut().find(|state| state.disallows).unwrap();
            state.disallows = false;
        }),
        ("trie", "the flags that follow", |draft| draft.states[0].settled ^= true),
        ("trie", "a trie state that is reached on one way", |draft| {
            let states: Vec<usize> =
                (0..draft.states.len()).filter(|&at| draft.states[at].children.len() > 1).collect();
            let children = draft.states[states[0]].children.to_vec();
            let mut same = children.clone();
            same[1].1 = same[0].1;
            draft.states[states[0]].children = Vec::leak(same);
        }),
        ("lists", "two lists", |draft| {
            let state = draft.states.iter_mut().find(|state| state.wildcards.len() == 2).unwrap();
            state.wildcards = &state.wildcards[..1];
        }),
        ("lists", "two lists", |draft| {
            let state = draft.states.iter_mut().find(|state| state.wildcards.len() == 2).unwrap();
            state.wildcards = Vec::leak(vec![state.wildcards[0], (7, state.wildcards[1].1)]);
        }),
        ("lists", "the list that a verdict needs", |draft| {
            let state = draft.states.iter_mut().find(|state| state.wildcards.len() == 2).unwrap();
            state.wildcards = Vec::leak(vec![(NEEDS_ALL + 1, state.wildcards[0].1), state.wildcards[1]]);
        }),
        ("lists", "the list that a verdict needs", |draft| {
            let state = draft.states.iter_mut().find(|state| state.wildcards.len() == 2).unwrap();
            state.wildcards = Vec::leak(vec![(0, NO_WILDCARD), state.wildcards[1]]);
        }),
        ("lists", "the list that a verdict needs", |draft| {
            draft.wildcards.iter_mut().filter(|wildcard| wildcard.from > 0).for_each(|wildcard| wildcard.from += 100);
        }),
        ("lists", "the first automaton of the list", |draft| {
            draft.wildcards.iter_mut().find(|wildcard| wildcard.next.is_some()).unwrap().deciding = None;
        }),
        ("wildcards", "the best ranks", |draft| draft.wildcards[0].best = NO_RANKS),
        ("wildcards", "a wildcard automaton with a segment", |draft| draft.wildcards[0].children = &[]),
        ("wildcards", "a state without the flags of the trie", |draft| {
            let state = draft.wildcards[0].children[0].1 as usize;
            draft.states[state].settled = true;
        }),
        ("wildcards", "a state without the flags of the trie", |draft| {
            let state = draft.wildcards[0].children[0].1 as usize;
            draft.states[state].disallows = true;
        }),
        ("wildcards", "a state without the flags of the trie", |draft| {
            let state = draft.wildcards[0].children[0].1 as usize;
            draft.states[state].disallows_at_end = true;
        }),
        ("wildcards", "ranks of rules of their kind", |draft| {
            let state = draft.wildcards[0].children[0].1 as usize;
            draft.states[state].accept_at_end[1] = draft.rule_count * 2 + 1;
        }),
        ("wildcards", "a state of one automaton", |draft| {
            let children = draft.wildcards[0].children;
            draft.wildcards.last_mut().unwrap().children = children;
        }),
        ("wildcards", "a wildcard automaton before this one", |draft| {
            let state = draft.wildcards[0].children[0].1 as usize;
            draft.states[state].wildcards = &[(0, 0)];
        }),
        ("wildcards", "a wildcard automaton before this one", |draft| {
            let last = draft.wildcards.len() - 1;
            let state = draft.wildcards[last].children[0].1 as usize;
            draft.states[state].wildcards = &[(MAX_WILDCARD_BRANCHES as u8, 0)];
        }),
        ("wildcards", "an automaton that begins in the trie or after another", |draft| {
            let nested = draft.states.iter().find(|state| state.wildcards.len() == 1).unwrap().wildcards[0].1;
            draft.wildcards[nested as usize].from = 1;
        }),
        ("states", "the byte that a writer writes there", |draft| draft.states.push(STATE.clone())),
        ("fallbacks", "fallback patterns in the order", |draft| {
            let twice = draft.fallbacks[0].clone();
            draft.fallbacks.push(twice);
        }),
        ("fallbacks", "fallback patterns in the order", |draft| {
            let rank = draft.rule_count * 2;
            draft.fallbacks.push(FallbackPattern { rank, ..draft.fallbacks[0].clone() });
            draft.texts.push(PatternText { rank, flags: TextFlags::default(), pattern: b"/x" });
        }),
    ];
    for (number, (part, expected, break_it)) in breaks.into_iter().enumerate() {
        let mut draft = decoded.draft();
        break_it(&mut draft);
        let bytes = write(&draft).unwrap();
        let error = match Ruleset::new(&bytes).unwrap().verify() {
            Err(error) => error,
            Ok(()) => panic!("{number}, {part}: {expected}: accepted"),
        };
        assert!(error.expected().contains(expected), "{number}, {part}: {expected}: {error}");
    }
}

/// Segments that are prefixes, suffixes and parts of each other, so that states inherit transitions and ranks.
const SEGMENTS: &str = "user-agent: *\ndisallow: /*abc\ndisallow: /*bcd\nallow: /*cd\ndisallow: /*bc\nallow: /*abcde?\n\
     disallow: /*cab\ndisallow: /*xb*bc\nallow: /*b*d$\n";

/// Breaks a draft at the state or automaton with this number. Returns whether that is possible.
type BreakAt = fn(&mut AutomatonDraft<'_>, usize) -> bool;

#[test]
fn wildcard_automata_that_do_not_fit_their_segments_are_rejected() {
    let whole = compiled(SEGMENTS, &GOOGLE_LIB, Strategy::Factored);
    Ruleset::new(&whole).unwrap().verify().unwrap();
    let decoded = decode(&whole).unwrap();
    let breaks: [(&str, BreakAt); 6] = [
        ("fingerprints that pass every segment", |draft, at| {
            draft.wildcards.get_mut(at).map(|wildcard| wildcard.fingerprints = &[0; 80]).is_some()
        }),
        // For a one-byte segment, regardless of the following byte.
        ("fingerprints that pass every segment", |draft, at| {
            let Some(wildcard) = draft.wildcards.get_mut(at) else { return false };
            let mut tables = *wildcard.fingerprints;
            tables[32 + 7] = 0;
            wildcard.fingerprints = Box::leak(Box::new(tables));
            true
        }),
        ("the transitions of the suffix", |draft, at| {
            draft.states.get_mut(at).map(|state| state.children = &state.children[..state.children.len() / 2]).is_some()
        }),
        ("the transitions of the suffix", |draft, at| {
            let largest = draft.wildcards.iter().max_by_key(|wildcard| wildcard.children.len()).unwrap();
            let other = largest.children[0].1;
            let Some(state) = draft.states.get_mut(at).filter(|state| !state.children.is_empty()) else { return false };
            state.children = Vec::leak(state.children.iter().map(|&(byte, _)| (byte, other)).collect());
            true
        }),
        ("all that the state of the longest suffix finds", |draft, at| {
            draft.states.get_mut(at).map(|state| state.accept = NO_RANKS).is_some()
        }),
        ("another number for each segment", |draft, at| {
            let Some(state) = draft.states.get_mut(at).filter(|state| state.wildcards.len() == 1) else { return false };
            state.wildcards = Vec::leak(vec![state.wildcards[0]; 2]);
            true
        }),
    ];
    for (number, (expected, break_at)) in breaks.into_iter().enumerate() {
        let errors = (0..decoded.draft().states.len()).filter_map(|at| {
            let mut draft = decoded.draft();
            break_at(&mut draft, at).then(|| Ruleset::new(&write(&draft).unwrap()).unwrap().verify().err()).flatten()
        });
        let errors: Vec<String> = errors.map(|error| error.expected().to_string()).collect();
        assert!(errors.iter().any(|error| error.contains(expected)), "{number}, {expected}: {errors:?}");
    }
}

/// Returns automata whose size depends on `n`, each with a different kind of shared or cyclic reference.
fn self_referring(n: usize) -> Vec<(&'static str, Vec<u8>)> {
    let leak = |list: Vec<(u8, u32)>| &*Vec::leak(list);
    let trie = |states| AutomatonDraft {
        rule_count: 1,
        has_trie: true,
        states,
        otherwise: Some(1),
        ..AutomatonDraft::default()
    };
    let ladder = |next: &dyn Fn(usize) -> Vec<(u8, u32)>| {
        let states = (0..n).map(|at| State { settled: true, children: leak(next(at)), ..STATE.clone() });
        write(&trie(states.collect())).unwrap()
    };
    let after = |at: usize| (at + 1).min(n - 1) as u32;
    let mut all = vec![
        ("states that all lead to one", ladder(&|at| vec![(b'a', after(at)), (b'b', n as u32 - 1)])),
        ("a cycle of states", ladder(&|at| vec![(b'a', ((at + 1) % n) as u32)])),
        ("states reached along 2^n paths", ladder(&|at| vec![(b'a', after(at)), (b'b', after(at))])),
        ("every state leads to the first", ladder(&|at| vec![(b'a', 0), (b'b', after(at))])),
    ];
    // Deeply nested wildcard automata, and a cycle of them.
    for (name, nested) in [
        (
            "deep nesting",
            &(|at: usize| at.checked_sub(1).map(|at| (0_u8, at as u32))) as &dyn Fn(usize) -> Option<(u8, u32)>,
        ),
        ("a cycle of wildcard automata", &|at| Some((0, ((at + 1) % n) as u32))),
        ("automata that all lead to one", &|at| (at > 0).then_some((0, 0))),
    ] {
        let count = n.min(MAX_WILDCARDS);
        let last = count as u32 - 1;
        let mut states = vec![State { wildcards: leak(vec![(0, last), (0, last)]), ..STATE.clone() }];
        states.extend((0..count).map(|at| State {
            wildcards: leak(Vec::from_iter(nested(at).filter(|&(_, nested)| (nested as usize) < count))),
            ..STATE.clone()
        }));
        let wildcards = (0..count).map(|at| WildcardAutomaton {
            best: NO_RANKS,
            from: 0,
            next: None,
            deciding: (at == count - 1).then_some(last),
            fingerprints: &ANYWHERE,
            children: leak(vec![(b'a', at as u32 + 1)]),
        });
        let draft = AutomatonDraft { wildcards: wildcards.collect(), ..trie(states) };
        all.push((name, write(&draft).unwrap()));
    }
    // Lists that share their tails: wildcards after each of up to 200 prefixes of one path.
    let n = n.min(2000);
    // The prefixes are spread over several paths, so that matching starts few wildcards on each.
    let tails: String = (0..n).map(|at| format!("disallow: /{}{}*x{at}\n", at / 200, "a".repeat(at % 200))).collect();
    all.push((
        "lists that share their tails",
        compiled(&format!("user-agent: *\n{tails}"), &GOOGLE_LIB, Strategy::Factored),
    ));
    let texts: String = (0..n).map(|at| format!("disallow: /{at}*\n")).collect();
    all.push((
        "texts beyond those in the trie",
        compiled(&format!("user-agent: *\n{texts}"), &GOOGLE_LIB, Strategy::Factored),
    ));
    all
}

#[test]
fn verification_steps_are_linear() {
    const MOST: usize = 6;
    let sizes = [500, 1000, 2000].map(self_referring);
    let mut accepted = 0;
    for ((a, b), c) in sizes[0].iter().zip(&sizes[1]).zip(&sizes[2]) {
        let steps = [a, b, c].map(|(name, bytes)| {
            let (is_valid, steps) = steps_of(bytes);
            assert!(steps <= MOST * bytes.len(), "{name}: {steps} steps for {} bytes", bytes.len());
            assert!(steps >= bytes.len() / 2, "{name}: nothing was counted");
            accepted += usize::from(is_valid);
            (steps, bytes.len())
        });
        println!("{}: {steps:?} steps and bytes", a.0);
        // Doubling the bytes doubles the steps, with a third for constant costs.
        for pair in steps.windows(2) {
            let [(small, small_len), (large, large_len)] = pair else { unreachable!() };
            let growth = (*large as f64 / *small as f64) / (*large_len as f64 / *small_len as f64);
            assert!(growth < 1.33, "{}: {steps:?}", a.0);
        }
    }
    // The trie may be a graph if there are no wildcard automata, as in a DFA over whole patterns. The lists and texts
    // are compiled and therefore valid. The three drafts with wildcard automata are rejected.
    assert_eq!(accepted, (4 + 2) * 3);
}

#[test]
fn huge_counts_are_rejected_in_linear_time() {
    // Enough rules that numbers take four bytes.
    let large: String = (0..10_000).map(|n| format!("disallow: /{n}\n")).collect();
    let whole = compiled(&format!("{BODY}{large}"), &GOOGLE_LIB, Strategy::Factored);
    assert_eq!(whole[0], 4);
    let number_at = |place| u32::from_le_bytes(whole[field(&whole, place)].try_into().unwrap()) as usize;
    let (fallbacks, texts) = (number_at(2), number_at(3));
    // Counts: rules, fingerprints, wildcard automata, segments and bytes in a fallback pattern, texts.
    for at in [1, 21, 29, fallbacks + 8, fallbacks + 12, texts] {
        let mut bytes = whole.clone();
        bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        let (is_valid, steps) = steps_of(&bytes);
        assert!(!is_valid && steps <= 6 * bytes.len(), "{at}: {steps}");
        let ruleset = Ruleset::new(&bytes).unwrap();
        let _ = (ruleset.rules(), ruleset.verdict(b"/shop/aaaaaa"), ruleset.matches(b"/xaxaxaxa?sort="));
        let _ = ruleset.shape();
    }
    // A joint rank table for as many rules.
    let mut bytes = whole.clone();
    bytes[field(&whole, 0)].copy_from_slice(&u32::MAX.to_le_bytes());
    bytes[field(&whole, 4)].copy_from_slice(&40_u32.to_le_bytes());
    assert!(!steps_of(&bytes).0);
    assert!(Ruleset::new(&bytes).unwrap().joint_rank(u32::MAX - 8).is_err());
}

/// Flips every bit. The result is rejected, or is an automaton that still lists its rules.
#[test]
fn flipped_bits_are_rejected_or_keep_the_rules_listable() {
    for strategy in [Strategy::Factored, Strategy::Fallback] {
        let whole = compiled(BODY, &GOOGLE_LIB, strategy);
        let mut accepted = 0;
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << bit;
                let Ok(ruleset) = Ruleset::new(&bytes) else { continue };
                if ruleset.verify().is_ok() {
                    accepted += 1;
                    assert_eq!(ruleset.rules().unwrap().len(), ruleset.rule_count() as usize);
                }
                for path in [&b"/shop/index.html"[..], b"/xaxbxa?sort=.html", b"/", b"/a"] {
                    let _ = (ruleset.verdict(path), ruleset.matches(path), format!("{ruleset:?}"), ruleset.to_dot());
                }
            }
        }
        println!("{accepted} of {} changes accepted", whole.len() * 8);
        assert!(accepted < whole.len() * 8);
    }
}

/// Writes wildcard automata that each lead to all 64 at the next depth, so that one path starts 64^depth of them.
fn fan(depth: usize) -> Vec<u8> {
    let leak = |list: Vec<(u8, u32)>| &*Vec::leak(list);
    let copies = MAX_WILDCARD_BRANCHES;
    let count = 1 + depth * copies;
    let mut states = vec![State { accept: [NO_RANK, 1], wildcards: leak(vec![(0, 0), (0, 0)]), ..STATE.clone() }];
    // The first automaton leads to the 64 at depth 1, and each of them to the 64 at depth 2. All promise a rule that
    // none has.
    states.extend((0..count).map(|at| {
        let next = if at == 0 { 1 } else { 1 + ((at - 1) / copies + 1) * copies };
        let nested = (0..copies).filter(|_| next < count).map(|copy| (copy as u8, (next + copy) as u32));
        State { wildcards: leak(nested.collect()), ..STATE.clone() }
    }));
    let wildcards = (0..count).map(|at| WildcardAutomaton {
        best: [0, NO_RANK],
        from: 0,
        next: None,
        deciding: (at == 0).then_some(0),
        fingerprints: &ANYWHERE,
        children: leak(vec![(b'a', at as u32 + 1)]),
    });
    let draft = AutomatonDraft {
        rule_count: 2,
        has_trie: true,
        states,
        wildcards: wildcards.collect(),
        ..AutomatonDraft::default()
    };
    write(&draft).unwrap()
}

#[test]
fn matching_stops_at_the_pass_limit() {
    for depth in [1, 2, 3] {
        let mut bytes = fan(depth);
        // The header claims enough automata that their number does not stop the walk.
        let promised = field(&bytes, 7);
        bytes[promised].fill(0xFF);
        let ruleset = Ruleset::new(&bytes).unwrap();
        assert!(ruleset.verify().is_err());
        let begun: usize = (0..=depth as u32).map(|depth| MAX_WILDCARD_BRANCHES.pow(depth)).sum();
        let path = [b'a'; 12];
        let result = ruleset.matches(&path);
        // One pass is for the trie.
        assert_eq!(result.is_ok(), begun < MAX_PASSES, "{depth}: {begun} begun");
    }
    assert!(MAX_WILDCARD_BRANCHES.pow(2) > MAX_PASSES && MAX_WILDCARD_DEPTH > 3);
}

/// Unverified bytes may list more automata than the pass limit allows. The search that may replace a walk stops too.
#[test]
fn searching_a_list_stops_at_the_pass_limit() {
    let leak = |list: Vec<(u8, u32)>| &*Vec::leak(list);
    for count in [MAX_PASSES as u32 - 2, MAX_PASSES as u32 - 1, MAX_PASSES as u32] {
        let last = count - 1;
        let mut states = vec![State { wildcards: leak(vec![(0, last), (0, last)]), ..STATE.clone() }];
        states.extend((0..count).map(|_| State { accept: [NO_RANK, 1], ..STATE.clone() }));
        let wildcards = (0..count).map(|at| WildcardAutomaton {
            best: [NO_RANK, 1],
            from: 0,
            next: at.checked_sub(1),
            deciding: Some(at),
            fingerprints: &[0; 80],
            children: leak(vec![(b'a', at + 1)]),
        });
        let wildcards = wildcards.collect();
        let draft = AutomatonDraft { rule_count: 1, has_trie: true, states, wildcards, ..AutomatonDraft::default() };
        let bytes = write(&draft).unwrap();
        let ruleset = Ruleset::new(&bytes).unwrap();
        // Longer than one search, so that a walk begins every automaton. One pass is for the trie.
        let path = [b'b'; 100];
        assert_eq!(ruleset.verdict(&path).is_ok(), count < MAX_PASSES as u32, "{count}");
        assert_eq!(ruleset.verdict(&path), ruleset.verdict_counted(&path).map(|(verdict, _)| verdict), "{count}");
    }
}

/// Writes wildcard automata that each lead to the previous one once or twice. With two rungs, one path starts 2^depth
/// passes, and `verify` rejects them only for the pass limit.
fn ladder(depth: u32, rungs: u8) -> Vec<u8> {
    let leak = |list: Vec<(u8, u32)>| &*Vec::leak(list);
    let first = depth - 1;
    let mut states = vec![State { wildcards: leak(vec![(0, first), (0, first)]), ..STATE.clone() }];
    states.extend((0..depth).map(|at| match at.checked_sub(1) {
        None => State { accept: [NO_RANK, 1], ..STATE.clone() },
        Some(before) => State { wildcards: leak((0..rungs).map(|rung| (rung, before)).collect()), ..STATE.clone() },
    }));
    let wildcards = (0..depth).map(|at| WildcardAutomaton {
        best: [NO_RANK, 1],
        from: 0,
        next: None,
        deciding: (at == first).then_some(first),
        fingerprints: &ANYWHERE,
        children: leak(vec![(b'a', at + 1)]),
    });
    let texts = vec![PatternText { rank: 1, flags: TextFlags::default(), pattern: b"*a" }];
    let draft = AutomatonDraft {
        rule_count: 1,
        has_trie: true,
        states,
        wildcards: wildcards.collect(),
        texts,
        ..AutomatonDraft::default()
    };
    write(&draft).unwrap()
}

#[test]
fn nested_automata_multiply_the_passes_over_a_path() {
    for depth in 1..=12 {
        let bytes = ladder(depth, 2);
        let ruleset = Ruleset::new(&bytes).unwrap();
        // One pass for the trie, and 1 + 2 + 4 + ... for the automata.
        let passes = 1 << depth;
        assert_eq!(ruleset.passes(), Ok(passes), "{depth}");
        let error = ruleset.verify().err().map(|error| error.expected().to_string());
        assert_eq!(error, (passes > MAX_PASSES).then(|| "up to 256 passes over one path".into()), "{depth}");
        // A path that starts all of them, without a rule that ends matching early.
        let path = [&[b'a'; 11][..depth as usize - 1], b"b"].concat();
        assert_eq!(ruleset.matches(&path).is_ok(), passes <= MAX_PASSES, "{depth}");
    }
}

#[test]
fn matching_and_verification_stop_at_the_nesting_limit() {
    let limit = MAX_WILDCARD_DEPTH as u32;
    for depth in [limit - 1, limit, limit + 1] {
        let bytes = ladder(depth, 1);
        let ruleset = Ruleset::new(&bytes).unwrap();
        let path = [&vec![b'a'; depth as usize - 1][..], b"b"].concat();
        for result in [ruleset.matches(&path).map(|_| ()), ruleset.verify()] {
            let error = result.err().map(|error| error.expected().to_string());
            assert_eq!(error, (depth > limit).then(|| "wildcard automata that nest up to 16 deep".into()), "{depth}");
        }
    }
}

/// The compiler writes no such pattern.
#[test]
fn fallback_patterns_without_a_wildcard_match_as_a_whole_or_as_a_prefix() {
    for (anchored, path, matches) in [
        (false, "/a", true),
        (false, "/ab", true),
        (false, "/", false),
        (true, "/a", true),
        (true, "/ab", false),
        (true, "/", false),
    ] {
        let fallbacks = vec![FallbackPattern { rank: 1, anchored, text: b"/a" }];
        let bytes = write(&AutomatonDraft { rule_count: 1, fallbacks, ..AutomatonDraft::default() }).unwrap();
        let found = Ruleset::new(&bytes).unwrap().matches(path.as_bytes()).unwrap();
        assert_eq!(found.disallow, matches.then_some(1), "{path}, {anchored}");
    }
}

#[test]
fn fallback_patterns_for_one_path_are_limited() {
    for count in [MAX_PASSES - 2, MAX_PASSES - 1, MAX_PASSES] {
        let rank = |at: usize| at as u32 * 2 + 1;
        let fallbacks = (0..count).map(|at| FallbackPattern { rank: rank(at), anchored: false, text: b"/*x" });
        // Patterns with different prefixes, so that a path needs at most one.
        let others = (0..count).map(|at| FallbackPattern {
            rank: rank(count + at),
            anchored: false,
            text: format!("/{at}!*x").leak().as_bytes(),
        });
        let text = |at| PatternText { rank: rank(at), flags: TextFlags::default(), pattern: b"/*x" };
        let draft = AutomatonDraft {
            rule_count: 2 * count as u32,
            fallbacks: fallbacks.chain(others).collect(),
            texts: (0..2 * count).map(text).collect(),
            ..AutomatonDraft::default()
        };
        let bytes = write(&draft).unwrap();
        let ruleset = Ruleset::new(&bytes).unwrap();
        let fits = count < MAX_PASSES - 1;
        assert_eq!((ruleset.verify().is_ok(), ruleset.passes()), (fits, Ok(count + 2)), "{count}");
        assert_eq!(ruleset.matches(b"/7!y").is_ok(), fits, "{count}");
    }
}

/// Writes a ruleset with a single list of wildcard automata, all starting at the beginning of the path.
fn list_of(count: usize) -> Result<Vec<u8>, reptile_engine::format::TooLarge> {
    let last = count as u32 - 1;
    let entry = &*Vec::leak(vec![(0, last), (0, last)]);
    let mut states = vec![State { wildcards: entry, ..STATE.clone() }];
    let rank = |at: usize| at as u32 * 2 + 1;
    states.extend((0..count).map(|at| State { accept: [NO_RANK, rank(at)], ..STATE.clone() }));
    let wildcards = (0..count).map(|at| WildcardAutomaton {
        best: [NO_RANK, rank(at)],
        from: 0,
        next: (at as u32).checked_sub(1),
        deciding: Some(at as u32),
        fingerprints: &ANYWHERE,
        children: Vec::leak(vec![(b'a', at as u32 + 1)]),
    });
    let text = |at| PatternText { rank: rank(at), flags: TextFlags::default(), pattern: b"*a" };
    write(&AutomatonDraft {
        rule_count: count as u32,
        has_trie: true,
        states,
        wildcards: wildcards.collect(),
        texts: (0..count).map(text).collect(),
        ..AutomatonDraft::default()
    })
}

#[test]
fn wildcard_automata_per_ruleset_are_limited() {
    for (count, fits) in [(MAX_PASSES - 2, true), (MAX_PASSES - 1, true), (MAX_PASSES, false)] {
        let bytes = list_of(count).unwrap();
        let ruleset = Ruleset::new(&bytes).unwrap();
        assert_eq!((ruleset.verify().is_ok(), ruleset.passes()), (fits, Ok(count + 1)), "{count}");
        // The last automaton in the list has the best rule, so matching starts all of them.
        assert_eq!(ruleset.matches(b"a").ok().map(|found| found.disallow), fits.then_some(Some(1)), "{count}");
    }
    assert!(list_of(MAX_WILDCARDS - 1).is_ok() && list_of(MAX_WILDCARDS).is_ok());
    let error = list_of(MAX_WILDCARDS + 1).unwrap_err();
    assert_eq!(error.to_string(), "wildcard automata in a ruleset: 16385 is over the limit of 16384");
}

#[test]
fn fallback_pattern_bytes_are_limited() {
    // One pattern: its header, a segment's length, the segment, and the end of the list.
    let overhead = 16 + 4 + 4;
    let text = vec![b'a'; MAX_FALLBACK_BYTES];
    for (bytes, fits) in [(MAX_FALLBACK_BYTES - 1, true), (MAX_FALLBACK_BYTES, true), (MAX_FALLBACK_BYTES + 1, false)] {
        let pattern = FallbackPattern { rank: 1, anchored: false, text: &text[..bytes - overhead] };
        let draft = AutomatonDraft { rule_count: 1, fallbacks: vec![pattern], ..AutomatonDraft::default() };
        let written = write(&draft);
        assert_eq!(written.is_ok(), fits, "{bytes}");
        let Ok(mut written) = written else { continue };
        assert_eq!(Ruleset::new(&written).unwrap().verdict(b"/"), Ok(reptile_engine::verdict::Verdict::Allow));
        if bytes == MAX_FALLBACK_BYTES {
            // One byte more than the writer allows: the list's end is no longer read.
            let at = u32::from_le_bytes(written[field(&written, 2)].try_into().unwrap()) as usize;
            let len = (bytes - overhead) as u32 + 1;
            written[at + 12..at + 16].copy_from_slice(&(len + 4).to_le_bytes());
            written[at + 16..at + 20].copy_from_slice(&len.to_le_bytes());
            written.push(0xFF);
            assert!(Ruleset::new(&written).unwrap().verdict(b"/").is_err());
        }
    }
}

#[test]
fn rules_per_ruleset_are_limited() {
    for (rules, fits) in [(MAX_RULES - 1, true), (MAX_RULES, true), (MAX_RULES + 1, false)] {
        let draft = AutomatonDraft { rule_count: rules as u32, ..AutomatonDraft::default() };
        assert_eq!(write(&draft).is_ok(), fits, "{rules}");
    }
    // Above 8,192 rules, numbers need four bytes.
    for (rules, width) in [(8_191, 2), (8_192, 2), (8_193, 4)] {
        let draft = AutomatonDraft { rule_count: rules, ..AutomatonDraft::default() };
        assert_eq!(write(&draft).unwrap()[0], width, "{rules}");
    }
}
