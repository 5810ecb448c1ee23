//! Tests which form the compiler chooses for a group's rules, and how many steps matching takes, with the cases in
//! `corpora/automaton`. `AUTOMATON.md` explains them. `equivalence.rs` tests that all forms give the same answers.
#![allow(clippy::unwrap_used, reason = "a test may")]

use std::path::Path;

use bumpalo::Bump;
use reptile_compiler::automaton::{Strategy, compile_counted};
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_compiler::set::prepare;
use reptile_engine::automaton::{Ruleset, Shape};
use reptile_engine::format::automaton::{Width, width};
use reptile_engine::verdict::Verdict;
use serde::Deserialize;

use crate::support::rulesets::{agrees, compiled, shape_of};

const CASES: usize = 16;
const WALKS: usize = 19;

#[derive(Deserialize)]
struct Cases {
    case: Vec<Case>,
    walk: Vec<Walk>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    patterns: Vec<String>,
    times: Option<usize>,
    trie: bool,
    wildcards: u32,
    fallbacks: bool,
    width: u32,
    bytes: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Walk {
    name: String,
    rules: Vec<String>,
    path: String,
    steps: usize,
}

impl Case {
    fn body(&self) -> String {
        let numbers = 0..self.times.unwrap_or(1);
        let rules = numbers.flat_map(|n| self.patterns.iter().map(move |text| text.replace("{n}", &n.to_string())));
        rules.fold("user-agent: *\n".to_owned(), |body, pattern| format!("{body}disallow: {pattern}\n"))
    }
}

fn cases() -> Cases {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpora/automaton/choices.toml");
    toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn automaton_of(body: &str) -> Vec<u8> {
    compiled(body, &GOOGLE_LIB, Strategy::Factored)
}

#[test]
fn every_walk_takes_the_expected_steps() {
    let walks = cases().walk;
    let mut wrong = Vec::new();
    for walk in &walks {
        let body = format!("user-agent: *\n{}\n", walk.rules.join("\n"));
        let automaton = automaton_of(&body);
        let ruleset = Ruleset::new(&automaton).unwrap();
        ruleset.verify().unwrap();
        let (_, steps) = ruleset.verdict_counted(walk.path.as_bytes()).unwrap();
        if steps != walk.steps || !agrees(ruleset, &body, &walk.path) {
            wrong.push(format!("{}: {steps} steps", walk.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(walks.len(), WALKS);
}

/// A fallback pattern may match any path, so skipped automata may be needed again after its wildcard.
#[test]
fn fallback_patterns_reenable_skipped_wildcard_automata() {
    // After one wildcard, and after two. In the second case the first wildcard's automaton is built all the same.
    for (front, wide) in [("/aaaab*", "/*zzzzz"), ("/aaaab*q*", "/*zzzzzzz")] {
        let mut body = format!("user-agent: *\ndisallow: {wide}\ndisallow: /aaaa{}\nallow: /aaaab*r\n", &wide[1..]);
        // Enough transitions that no automaton is built for the wildcard.
        let ends = ('!'..='~').filter(|end| !"#$*".contains(*end));
        body.extend(ends.map(|end| format!("allow: {front}a{end}\n")));
        body.extend((0..100).map(|n| format!("allow: {front}{}{n}\n", "xa".repeat(100))));
        let paths = ["/aaaabqa1zzzzzzz", "/aaaaba1zzzzz", "/aaaabqazzzzzzz", "/aaaazzzzzzz", "/aaaabqa1", "/zzzzzzz"];
        assert!(shape_of(&body, Strategy::Factored, paths).fallbacks);
    }
}

/// A wildcard with only allow rules matters only if a disallow rule wins, which may be a fallback pattern.
#[test]
fn allows_after_a_wildcard_are_tried_when_a_fallback_disallow_matches() {
    let allowed = "b".repeat(45);
    let body = format!("user-agent: *\nallow: /*{allowed}\ndisallow: /{}\n", "*a".repeat(17));
    let automaton = automaton_of(&body);
    let ruleset = Ruleset::new(&automaton).unwrap();
    assert!(ruleset.shape().fallbacks);
    let fallback = format!("/{}", "a".repeat(17));
    for path in [format!("{fallback}{allowed}"), format!("/{allowed}"), fallback] {
        assert!(agrees(ruleset, &body, &path), "{path}");
    }
}

/// A segment may end a rule and begin others, of which no automaton is built.
#[test]
fn rules_whose_continuations_become_fallback_patterns_are_kept() {
    for end in ["", "$"] {
        let mut body = format!("user-agent: *\ndisallow: /aaaab*q{end}\n");
        let ends = ('!'..='~').filter(|end| !"#$*".contains(*end));
        body.extend(ends.map(|end| format!("allow: /aaaab*q*a{end}\n")));
        body.extend((0..100).map(|n| format!("allow: /aaaab*q*{}{n}\n", "xa".repeat(100))));
        let paths = ["/aaaabq", "/aaaab/q", "/aaaabqx", "/aaaabqa1", "/aaaab"];
        let shape = shape_of(&body, Strategy::Factored, paths);
        assert!(shape.fallbacks && shape.wildcards > 0);
    }
}

/// A state's label has up to 255 bytes.
#[test]
fn long_segments_with_a_shared_start_match() {
    let segments = [254, 255, 256, 257, 600].map(|len| ["a", "b"].map(|byte| format!("xyz{}", byte.repeat(len))));
    let segments: Vec<String> = segments.into_iter().flatten().collect();
    for segment in &segments {
        let others = segments.iter().filter(|other| other.len() >= segment.len());
        let body = others.fold("user-agent: *\n".to_owned(), |body, segment| format!("{body}disallow: /*{segment}\n"));
        let paths = [format!("/p/{segment}"), format!("/p/{}", &segment[..segment.len() - 1])];
        assert!(!shape_of(&body, Strategy::Factored, paths).fallbacks);
    }
}

/// A verdict needs a wildcard's automaton unless an earlier one leads to the same verdict.
#[test]
fn automata_that_change_a_verdict_are_not_left_out() {
    let (text, segment) = ("d".repeat(10), "z".repeat(28));
    let [wide, narrow] = ["", &text].map(|text| format!("disallow: /{text}*{segment}"));
    let fallback = format!("allow: /{}", "*a".repeat(17));
    for (rules, path) in [
        // The earlier wildcard begins rules of both kinds, or of the other kind only.
        (&["disallow: /*s=", "allow: /*as=", "disallow: /de/*s="][..], "/de/as="),
        (&["allow: /*xyz", "disallow: /a*b"], "/abxyz"),
        (&["disallow: /*s=$", "disallow: /de/*s="], "/de/s=1"),
        // A rule of the other kind ranks between the two, after another wildcard.
        (&["disallow: /*x", "allow: /a*zx", "disallow: /abc*x"], "/abczx"),
        (&["allow: /*x", "disallow: /abc*x"], "/abcx"),
        // An allow after an earlier wildcard is better than the disallow accepted since.
        (&["allow: /a*x", "disallow: /", "allow: /ab*y"], "/abx"),
        // A fallback pattern of the other kind ranks between the two.
        (&[&wide, &fallback, &narrow], &format!("/{text}{}{segment}", "a".repeat(17))),
    ] {
        let body = format!("user-agent: *\n{}\n", rules.join("\n"));
        shape_of(&body, Strategy::Factored, [path]);
    }
}

/// A walk stops as soon as nothing can change the verdict, but no earlier. Automata that begin later run first.
#[test]
fn a_walk_stops_only_if_nothing_can_change_the_verdict() {
    let (wide, deep) = (format!("disallow: /*{}", "x".repeat(80)), format!("allow: /{}", "*y".repeat(20)));
    let mut tried = 0;
    for (rules, path) in [
        // A fallback pattern would change the trie's verdict, but a wildcard automaton finds a better rule.
        (&["disallow: /", &wide, &deep][..], &*format!("/{}:{}", "x".repeat(80), "y".repeat(20))),
        (&["disallow: /", &wide, &deep], "/:yyyyyyyyyyyyyyyyyyyy"),
        // At the path's end, another rule is accepted, which a wildcard automaton may overrule.
        (&["disallow: /a", "allow: /a$", "disallow: /*a$"], "/a"),
        (&["allow: /a", "disallow: /a$", "allow: /*a$"], "/a"),
        // Only rules of the other kind can change the trie's verdict.
        (&["disallow: /a", "disallow: /*bcd", "allow: /*cd"], "/abcd"),
        (&["disallow: /a", "disallow: /*bcd"], "/abcd"),
        (&["allow: /a", "allow: /*bcd", "disallow: /*cd"], "/abcd"),
        // A better disallow still matters if an automaton that runs later, or was deferred, may find an allow.
        (&["disallow: /q*a", "disallow: /q*zzzzzzz", "allow: /*bbb"], "/qabbb:zzzzzzz"),
        (&["disallow: /q*qa", "disallow: /q*zzzzzzz", "allow: /*bbbb"], "/qqabbbb:zzzzzzz"),
        (&["disallow: /q*qa", "disallow: /q*zzzzzzz", "allow: /*bbbb"], "/qqabbbb:"),
        (&["disallow: /*a", "disallow: /*zzzzzzz", "allow: /q*bbb"], "/qabbb:zzzzzzz"),
        (&["disallow: /*a", "disallow: /*zzzzzzz", "allow: /q*bbb"], "/qabbb:"),
        // The same within one automaton, and after another wildcard.
        (&["disallow: /*a", "allow: /*bbb", "disallow: /*zzzzzzz"], "/abbb:zzzzzzz"),
        (&["disallow: /*a", "allow: /*a*bbb"], "/abbb"),
        (&["disallow: /*a", "disallow: /*a*b", "allow: /*a*b*ccc"], "/abccc"),
        (&["disallow: /*a*b", "allow: /*ccccccc", "disallow: /*a*ddddddd"], "/abccccccc:ddddddd"),
        (&["disallow: /*a*b", "allow: /*ccccccc", "disallow: /*a*ddddddd"], "/abccccccc"),
    ] {
        for padding in [0, 1, 40, 57, 58, 59, 100, 116, 120] {
            let padding = ":".repeat(padding);
            let paths = [path.to_owned(), format!("{path}{padding}"), path.replace(':', &padding)];
            tried += paths.len();
            shape_of(&format!("user-agent: *\n{}\n", rules.join("\n")), Strategy::Factored, paths);
        }
    }
    assert_eq!(tried, 17 * 9 * 3);
}

/// The steps of compiling: states, and for each wildcard its rules and its automaton's nodes.
#[test]
fn compiling_takes_the_expected_steps() {
    for (pattern, steps) in [("/a", 1), ("/a*b", 2 + 1 + 2), ("/a*bc*d", 3 + 2 + 5)] {
        let arena = Bump::new();
        let body = format!("user-agent: *\ndisallow: {pattern}\n");
        let list = prepare(body.as_bytes(), &GOOGLE_LIB, &arena).unwrap().groups.swap_remove(0).0;
        assert_eq!(compile_counted(&list, Strategy::Factored, &arena).1, steps, "{pattern}");
    }
}

/// The best rule of the other kind may be a fallback pattern after one that cannot decide.
#[test]
fn every_fallback_pattern_is_tried_for_the_best_rule_of_each_kind() {
    let [worse, worst] = ["/*b", "/*c"].map(|front| format!("{front}{}", "*a".repeat(17)));
    // Longer than the patterns, so its rule precedes them.
    let path = format!("/bc{}/{}", "a".repeat(17), "long/".repeat(5));
    let body =
        format!("user-agent: *\nallow: {path}/and/longer/path\nallow: {path}\nallow: {worse}d\nallow: {worse}\n");
    let automaton = automaton_of(&format!("{body}disallow: {worst}\n"));
    let ruleset = Ruleset::new(&automaton).unwrap();
    assert!(ruleset.shape().fallbacks);
    let matches = ruleset.matches(path.as_bytes()).unwrap();
    let pattern_of = |rank: Option<u32>| {
        let rule = ruleset.rules().unwrap().into_iter().find(|rule| Some(rule.rank) == rank);
        rule.map(|rule| String::from_utf8(rule.pattern).unwrap())
    };
    assert_eq!(pattern_of(matches.allow), Some(path.clone()));
    assert_eq!(pattern_of(matches.disallow), Some(worst));
}

/// A state's label has at most 255 bytes, also after a branch that is deep in the text after a wildcard.
#[test]
fn long_texts_after_a_wildcard_branch_deep() {
    for branch in [1, 2, 100, 254, 255, 256, 300] {
        let texts = [b'b', b'c'].map(|byte| "a".repeat(branch) + &char::from(byte).to_string().repeat(700));
        let body = format!("user-agent: *\ndisallow: /*{}\ndisallow: /*{}\n", texts[0], texts[1]);
        shape_of(
            &body,
            Strategy::Factored,
            texts.iter().flat_map(|text| {
                [format!("/x/{text}"), format!("/{}", &text[..text.len() - 1]), format!("/a{text}/y")]
            }),
        );
    }
}

#[test]
fn long_texts_without_a_wildcard_match() {
    for len in [253, 254, 255, 256, 257, 510, 511, 512, 513] {
        let text = "a".repeat(len);
        let body = format!("user-agent: *\ndisallow: /{text}\n");
        shape_of(&body, Strategy::Factored, [format!("/{text}"), format!("/{text}b"), format!("/{}b", &text[1..])]);
    }
}

/// An automaton that began before a place still matters there, if one of its rules is better than those accepted so far.
#[test]
fn automata_that_began_earlier_are_kept_while_they_matter() {
    for [first, second] in [["allow", "disallow"], ["disallow", "allow"]] {
        for accepted in ["", "/a", "/abcdefgh"] {
            let accepted = if accepted.is_empty() { String::new() } else { format!("{second}: {accepted}\n") };
            let body = format!("user-agent: *\n{first}: /*xyz\n{accepted}{second}: /a*q\n{second}: /abcdefgh*r\n");
            let paths = ["/axyz", "/aq", "/aqxyz", "/abcdefghxyz", "/abcdefghrxyz", "/abcdefghr", "/bxyz"];
            shape_of(&body, Strategy::Factored, paths);
        }
    }
}

/// A better rule may end later in the path: a longer one, or one of the same length that comes first in the file.
#[test]
fn automata_read_on_after_a_rule() {
    for kinds in [["allow", "disallow"], ["disallow", "allow"], ["disallow", "disallow"]] {
        for [first, second] in [["/*/", "/*a"], ["/*a", "/*/"], ["/*b/", "/*a"], ["/*a", "/*ab"]] {
            let body = format!("user-agent: *\n{}: {first}\n{}: {second}\n", kinds[0], kinds[1]);
            shape_of(&body, Strategy::Factored, ["/a/", "/xa/a", "/ab/", "/xab/ab", "/b/a"]);
        }
    }
}

/// Two automata are joined only if the result leads to at most 64 automata.
#[test]
fn automata_are_joined_up_to_the_number_of_branches() {
    for count in [31, 32, 33, 40] {
        let mut body = "user-agent: *\n".to_owned();
        body.extend((10..10 + count).map(|n| format!("disallow: /*a{n}*b\ndisallow: /x*c{n}*d\n")));
        let paths = ["/a10b", "/xa10b", "/xc10d", "/xa41c41bd", "/xc42a42d", "/c10d", "/xc10b"];
        shape_of(&body, Strategy::Factored, paths);
    }
}

#[test]
fn automata_with_too_many_segments_to_be_joined_are_kept() {
    for count in [1, 10, 100, 1000] {
        let mut body = "user-agent: *\n".to_owned();
        body.extend((0..count).map(|n| format!("disallow: /*a{n}.\n")));
        body += "disallow: /x*c\n";
        let last = format!("/xya{}.", count - 1);
        shape_of(&body, Strategy::Factored, ["/a0.", "/xa0.", &last, "/xyc", "/yc"]);
    }
}

/// A verdict needs the allows of automata that were deferred, and of those beyond the number that can be.
#[test]
fn more_wildcard_automata_than_can_be_deferred_are_all_tried() {
    for count in [63, 64, 65, 66] {
        let mut body = "user-agent: *\ndisallow: /*/s=\n".to_owned();
        body.extend((0..count).map(|n| format!("allow: {}/*/x{n}=\n", "/a".repeat(n))));
        let front = "/a".repeat(count);
        let paths = (0..count).map(|n| format!("{front}/x{n}=/s=")).chain([format!("{front}/s=")]);
        assert!(shape_of(&body, Strategy::Factored, paths).wildcards >= count as u32, "{count}");
    }
}

/// A segment is searched for in parts of the path, and a similar text may come just before or after it.
#[test]
fn segments_are_found_at_every_position() {
    let body = "user-agent: *\ndisallow: /*?s=1\n";
    let automaton = automaton_of(body);
    let ruleset = Ruleset::new(&automaton).unwrap();
    for (at, similar) in (0..140).flat_map(|at| (at.max(6) - 6..at + 6).map(move |similar| (at, similar))) {
        let mut path = [b"/", &[b'a'; 160][..]].concat();
        path[1 + similar..][..3].copy_from_slice(b"?s=");
        path[1 + at..][..4].copy_from_slice(b"?s=1");
        assert_eq!(ruleset.verdict(&path), Ok(Verdict::Disallow), "{at}, {similar}");
        path[1 + at + 3] = b'2';
        assert_eq!(ruleset.verdict(&path), Ok(Verdict::Allow), "{at}, {similar}");
    }
}

/// On paths of up to 116 bytes, a search may rule out all wildcard automata. Counted walks do not use this search.
#[test]
fn paths_around_the_length_of_a_search_have_the_verdict_of_a_counted_walk() {
    let others = ["/*<1", "/*>2", "/*|3", "/*^4", "/aaa*~5"];
    let mut tried = 0;
    for (from, pattern) in
        [(1, "/*?s=1"), (1, "/*?s"), (1, "/*?s=1$"), (5, "/aaaa*?s=1"), (61, &format!("/{:a<60}*?s=1", ""))]
    {
        for count in 0..=others.len() {
            let rules = others[..count].iter().chain([&pattern]).map(|pattern| format!("disallow: {pattern}\n"));
            let automaton = automaton_of(&format!("user-agent: *\n{}", rules.collect::<String>()));
            let ruleset = Ruleset::new(&automaton).unwrap();
            for len in (1..=70).chain(112..=120) {
                for at in (1..len).map(Some).chain([None]) {
                    let mut path = [b"/", &vec![b'a'; len - 1][..]].concat();
                    if let Some(at) = at {
                        path.truncate(len.max(at + 4));
                        path.splice(at..len.min(at + 4), *b"?s=1");
                    }
                    let is_end = at.is_none_or(|at| at + 4 == path.len()) || !pattern.ends_with('$');
                    let is_found = at.is_some_and(|at| at >= from) && is_end;
                    let expected = if is_found { Verdict::Disallow } else { Verdict::Allow };
                    assert_eq!(ruleset.verdict(&path), Ok(expected), "{pattern} {count} {len} {at:?}");
                    assert_eq!(ruleset.verdict_counted(&path).map(|(verdict, _)| verdict), Ok(expected));
                    tried += 1;
                }
            }
        }
    }
    assert_eq!(tried, 105_870);
}

#[test]
fn every_case_compiles_to_the_expected_form() {
    let cases = cases();
    let mut wrong = Vec::new();
    for case in &cases.case {
        let automaton = automaton_of(&case.body());
        let ruleset = Ruleset::new(&automaton).unwrap();
        ruleset.verify().unwrap();
        let expected = Shape { trie: case.trie, wildcards: case.wildcards, fallbacks: case.fallbacks };
        let (found, found_width) = (ruleset.shape(), width(&automaton).unwrap());
        let expected_width = if case.width == 2 { Width::Two } else { Width::Four };
        if (found, found_width) != (expected, expected_width) || case.bytes.is_some_and(|len| len != automaton.len()) {
            wrong.push(format!("{}: {found:?}, {found_width:?}, {} bytes", case.name, automaton.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(cases.case.len(), CASES);
}
