//! Proofs about pairs of rulesets, compared with the verdicts for all short paths. The engine and the oracle check every
//! example. `pairs_measured.rs` has the measurements.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code: a panic is the report")]

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;

use proptest::prelude::{BoxedStrategy, Just, Strategy, any, prop_oneof};
use proptest::sample::Index;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use reptile_compiler::dialect::crawlers::{Resolved, of_name};
use reptile_compiler::dialect::{ALL, Dialect, GOOGLE};
use reptile_compiler::limits::MAX_PROOF_STEPS;
use reptile_compiler::oracle;
use reptile_compiler::reason::{Access, Assumption, Reasoner, Witness};
use reptile_engine::norm::NormalForm;
use reptile_engine::set::{Agent, Set};
use reptile_engine::verdict::{RuleKind, Verdict};

use crate::reason::{compiled, policy};
use crate::support;

pub const ALLOW: RuleKind = RuleKind::Allow;
pub const DISALLOW: RuleKind = RuleKind::Disallow;

/// The seed of tests with few cases: the pairs of one case resemble each other, so that with random seeds an outcome
/// would now and then be too rare for [`Tally::assert_meaningful`].
const FIXED: RngSeed = RngSeed::Fixed(0);

/// The number of paths for which the oracle checks each ruleset's verdict.
const ORACLE_PATHS: usize = 3;

/// A robots.txt under a dialect, and a crawler.
pub struct File {
    pub body: Vec<u8>,
    pub dialect: &'static Dialect,
    set: Set<Vec<u8>>,
    crawler: Resolved,
    agent: Agent,
}

impl File {
    pub fn new(body: impl AsRef<[u8]>, dialect: &'static Dialect, name: &str) -> File {
        File::of(body.as_ref(), dialect, of_name(name.as_bytes(), dialect))
    }

    pub fn of(body: &[u8], dialect: &'static Dialect, crawler: Resolved) -> File {
        let body = body.to_vec();
        let set = compiled(&body, dialect);
        let agent = crawler.look_up(&set).unwrap();
        File { body, dialect, set, crawler, agent }
    }

    pub fn access(&self) -> Access<'_> {
        Access::of(&policy(&self.set), &self.agent).unwrap()
    }

    /// Decides a path as written by the oracle.
    fn decide_slowly(&self, path: &[u8]) -> RuleKind {
        let url = [b"http://h", path].concat();
        let answer = oracle::decide_for(&self.body, self.dialect, &self.crawler, &url);
        if answer.allowed { ALLOW } else { DISALLOW }
    }

    /// Fails unless the engine and the oracle give a path this verdict.
    pub fn assert_decides(&self, path: &[u8], expected: RuleKind) {
        let url = [b"http://h", path].concat();
        let question = || format!("{} {} {}", self.dialect.name, self.body.escape_ascii(), path.escape_ascii());
        assert_eq!(kind(self.set.decide(&self.agent, &url).unwrap()), expected, "engine: {}", question());
        assert_eq!(self.decide_slowly(path), expected, "oracle: {}", question());
    }
}

fn kind(verdict: Verdict) -> RuleKind {
    if verdict == Verdict::Disallow { DISALLOW } else { ALLOW }
}

/// A side's decider for all paths: a file, or one verdict.
enum Decider {
    File(Box<File>),
    Every(RuleKind),
}

/// A side, and its verdict for each path of a world.
struct Subject {
    decider: Decider,
    verdicts: Vec<RuleKind>,
}

impl Subject {
    fn new(decider: Decider, paths: &[String], turn: usize) -> Subject {
        let verdicts = match &decider {
            Decider::Every(verdict) => vec![*verdict; paths.len()],
            Decider::File(file) => {
                let policy = policy(&file.set);
                let decide = |path: &String| kind(policy.decide(&file.agent, path.as_bytes()).unwrap());
                let verdicts: Vec<RuleKind> = paths.iter().map(decide).collect();
                for step in 0..ORACLE_PATHS {
                    let at = (turn * 7919 + step * 104_729) % paths.len();
                    file.assert_decides(paths[at].as_bytes(), verdicts[at]);
                }
                verdicts
            }
        };
        Subject { decider, verdicts }
    }

    fn access(&self) -> Access<'_> {
        match &self.decider {
            Decider::File(file) => file.access(),
            Decider::Every(verdict) => Access::Every(*verdict),
        }
    }

    fn assert_decides(&self, path: &[u8], expected: RuleKind) {
        match &self.decider {
            Decider::File(file) => file.assert_decides(path, expected),
            Decider::Every(verdict) => assert_eq!(*verdict, expected),
        }
    }

    fn shown(&self) -> String {
        match &self.decider {
            Decider::File(file) => format!("{} {}", file.dialect.name, file.body.escape_ascii()),
            Decider::Every(verdict) => format!("{verdict:?} for all"),
        }
    }
}

/// Paths for which questions are answered by trying all of them, and a reasoner.
struct World<'p> {
    paths: &'p [String],
    forms: [NormalForm; 2],
    reasoner: Reasoner,
    /// The indices of the pages, the shortest first.
    by_len: Vec<usize>,
}

impl World<'_> {
    fn new(paths: &[String], forms: [NormalForm; 2]) -> World<'_> {
        let reasoner = if forms[0] == forms[1] { Reasoner::new(forms[0]) } else { Reasoner::of_forms(forms) };
        let is_page = |&at: &usize| forms.iter().all(|form| *form.path(paths[at].as_bytes()) != b"/robots.txt"[..]);
        let mut by_len: Vec<usize> = (0..paths.len()).filter(is_page).collect();
        by_len.sort_by_cached_key(|&at| len(forms, paths[at].as_bytes()));
        World { paths, forms, reasoner, by_len }
    }
}

/// Returns the length in which examples are shortest: in normal form if both sides share one.
fn len(forms: [NormalForm; 2], path: &[u8]) -> usize {
    if forms[0] == forms[1] { forms[0].path(path).len() } else { path.len() }
}

/// Returns all short paths over an alphabet, and those that resemble `/robots.txt`.
fn paths(alphabet: &[&str], max_len: usize) -> Vec<String> {
    let mut paths = support::paths(alphabet, max_len);
    paths.extend(["/robots.txt", "/robots.txta", "/robots.tx", "/a/robots.txt", "/robots.txt?"].map(str::to_owned));
    paths
}

/// An assumption, and whether it includes each path of a world, found by another algorithm.
struct Assumed {
    patterns: Vec<String>,
    form: NormalForm,
    assumption: Assumption,
    includes: Vec<bool>,
}

impl Assumed {
    fn new(patterns: Vec<String>, form: NormalForm, paths: &[String]) -> Assumed {
        let assumption = Assumption::new(&patterns, form).unwrap();
        let includes = paths.iter().map(|path| includes(&patterns, form, path.as_bytes())).collect();
        Assumed { patterns, form, assumption, includes }
    }
}

/// Returns whether a path matches one of an assumption's patterns, by trying every split of the path.
fn includes(patterns: &[String], form: NormalForm, path: &[u8]) -> bool {
    fn matches(segments: &[Vec<u8>], anchored: bool, rest: &[u8]) -> bool {
        let [segment, others @ ..] = segments else { return !anchored || rest.is_empty() };
        let Some(rest) = rest.strip_prefix(&segment[..]) else { return false };
        if others.is_empty() {
            return matches(others, anchored, rest);
        }
        (0..=rest.len()).any(|skip| matches(others, anchored, &rest[skip..]))
    }
    let path = form.path(path);
    patterns.iter().any(|pattern| {
        let (text, anchored) = pattern.strip_suffix('$').map_or((&pattern[..], false), |text| (text, true));
        let mut before = String::new();
        let segments = text.split('*').map(|segment| {
            // The text after a `?` may have another normal form.
            let query = if before.contains('?') { "?" } else { "" };
            before += segment;
            // A rule spells the characters of a segment as `Escaped` does, even if the path keeps them.
            let spelled = if form == NormalForm::AsWritten { NormalForm::Escaped } else { form };
            spelled.path(format!("{query}{segment}").as_bytes())[query.len()..].to_vec()
        });
        matches(&segments.collect::<Vec<_>>(), anchored, &path)
    })
}

/// The number of questions for each answer.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    none: u32,
    path: u32,
    unproved: u32,
}

/// The primitives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Primitive {
    Compare,
    Excess,
    CommonAllow,
    CommonDisallow,
    AnyAllow,
    AnyDisallow,
}

/// Questions and answers by kind.
#[derive(Default)]
struct Tally {
    pairs: u32,
    equivalent: u32,
    one_way: u32,
    both_ways: u32,
    /// For each primitive, and whether there was an assumption.
    answers: BTreeMap<(Primitive, bool), Counts>,
}

impl Tally {
    fn print(&self, name: &str) {
        let Tally { pairs, equivalent, one_way, both_ways, .. } = self;
        let sum = |pick: fn(&Counts) -> u32| self.answers.values().map(pick).sum::<u32>();
        let (none, path, unproved) = (sum(|counts| counts.none), sum(|counts| counts.path), sum(|c| c.unproved));
        println!("{name}: {pairs} pairs: {equivalent} equivalent, {one_way} differ one way, {both_ways} both ways");
        println!("  {} answers: {none} proofs, {path} examples, {unproved} unproved", none + path + unproved);
        for ((primitive, is_assumed), counts) in &self.answers {
            println!("  {primitive:?}{}: {counts:?}", if *is_assumed { " under an assumption" } else { "" });
        }
    }

    /// Fails unless all outcomes occurred often.
    fn assert_meaningful(&self, at_least: u32) {
        assert!(self.pairs >= at_least, "{} pairs", self.pairs);
        for count in [self.equivalent, self.one_way, self.both_ways] {
            assert!(count * 25 > self.pairs, "{count} of {}", self.pairs);
        }
        assert_eq!(self.answers.len(), 12);
        for (question, counts) in &self.answers {
            let all = counts.none + counts.path + counts.unproved;
            assert!(counts.none * 200 > all && counts.path * 100 > all, "{question:?} {counts:?}");
            assert_eq!(counts.unproved, 0, "{question:?}");
        }
    }
}

/// A question with its subjects.
struct Question<'q> {
    world: &'q World<'q>,
    sides: &'q [&'q Subject],
    wanted: [RuleKind; 2],
    assumed: Option<&'q Assumed>,
    primitive: Primitive,
}

impl Question<'_> {
    /// Fails unless an answer agrees with the verdicts for the paths of the world. Returns whether there is such a
    /// path among them.
    fn check(&self, witness: &Witness, tally: &RefCell<Tally>) {
        let Question { world, sides, wanted, assumed, primitive } = self;
        let fits = |&&at: &&usize| {
            let is_assumed = assumed.is_none_or(|assumed| assumed.includes[at]);
            is_assumed && sides.iter().zip(wanted).all(|(side, wanted)| side.verdicts[at] == *wanted)
        };
        let shortest = world.by_len.iter().find(fits).map(|&at| world.paths[at].as_bytes());
        let shown = || {
            let sides: Vec<String> = sides.iter().map(|side| side.shown()).collect();
            let patterns = assumed.map(|assumed| &assumed.patterns);
            let path = shortest.map(|path| path.escape_ascii().to_string());
            format!("{primitive:?} {wanted:?} {patterns:?}\n{}\n{witness:?}, by trying: {path:?}", sides.join("\n"))
        };
        let mut tally = tally.borrow_mut();
        let counts = tally.answers.entry((*primitive, assumed.is_some())).or_default();
        match witness {
            Witness::None => {
                counts.none += 1;
                assert_eq!(shortest, None, "wrong proof: {}", shown());
            }
            Witness::Path(path) => {
                counts.path += 1;
                let is_written = path.iter().all(|byte| !matches!(byte, 0 | b'\t' | b'\n' | b'\r' | b'#'));
                assert!(path.starts_with(b"/") && is_written, "{}", shown());
                for (side, wanted) in sides.iter().zip(wanted) {
                    side.assert_decides(path, *wanted);
                }
                let is_page = world.forms.iter().all(|form| *form.path(path) != b"/robots.txt"[..]);
                assert!(is_page, "{}", shown());
                assert!(assumed.is_none_or(|a| includes(&a.patterns, a.form, path)), "{}", shown());
                let len = |path| len(world.forms, path);
                assert!(shortest.is_none_or(|known| len(path) <= len(known)), "not the shortest: {}", shown());
            }
            Witness::Unproved => counts.unproved += 1,
        }
    }
}

/// Checks each primitive for a pair of subjects.
fn check_pair(world: &World<'_>, pair: [&Subject; 2], assumed: &Assumed, tally: &RefCell<Tally>) {
    let [first, second] = pair.map(Subject::access);
    let reasoner = &world.reasoner;
    for assumed in [None, Some(assumed)] {
        let check = |primitive, sides: &[&Subject], wanted, witness: &Witness| {
            Question { world, sides, wanted, assumed, primitive }.check(witness, tally);
        };
        let only = assumed.map(|assumed| &assumed.assumption);
        let found = reasoner.compare(&first, &second, only).unwrap();
        check(Primitive::Compare, &pair, [ALLOW, DISALLOW], &found.first_only);
        check(Primitive::Compare, &pair, [DISALLOW, ALLOW], &found.second_only);
        assert_eq!(found.is_unproved(), [&found.first_only, &found.second_only].contains(&&Witness::Unproved));
        let excess = reasoner.excess(&first, &second, only).unwrap();
        check(Primitive::Excess, &pair, [ALLOW, DISALLOW], &excess);
        for (verdict, primitive) in [(ALLOW, Primitive::CommonAllow), (DISALLOW, Primitive::CommonDisallow)] {
            let common = reasoner.common(&first, &second, verdict, only).unwrap();
            check(primitive, &pair, [verdict; 2], &common);
        }
        if world.forms[0] == world.forms[1] {
            for (verdict, primitive) in [(ALLOW, Primitive::AnyAllow), (DISALLOW, Primitive::AnyDisallow)] {
                check(primitive, &pair[..1], [verdict; 2], &reasoner.any(&first, verdict, only).unwrap());
            }
        }
        if assumed.is_none() {
            let mut tally = tally.borrow_mut();
            tally.pairs += 1;
            let is_none = [&found.first_only, &found.second_only].map(|witness| *witness == Witness::None);
            tally.equivalent += u32::from(found.is_equivalent());
            tally.one_way += u32::from(is_none[0] != is_none[1]);
            tally.both_ways += u32::from(is_none == [false; 2]);
        }
    }
}

/// A rule: whether it allows, and its pattern.
type Rule = (bool, String);

/// A way to change a list of rules.
#[derive(Clone, Debug)]
enum Edit {
    Drop(Index),
    Duplicate(Index),
    Move(Index),
    Flip(Index),
    /// Adds or removes a final text.
    End(Index, &'static str),
    /// Spells a letter differently.
    Spell(Index, char, &'static str),
    Insert(Rule),
}

impl Edit {
    fn apply(&self, rules: &mut Vec<Rule>) {
        let place = |index: &Index, rules: &[Rule]| (!rules.is_empty()).then(|| index.index(rules.len()));
        match self {
            Edit::Insert(rule) => rules.push(rule.clone()),
            Edit::Drop(index) => drop(place(index, rules).map(|at| rules.remove(at))),
            Edit::Duplicate(index) => rules.extend(place(index, rules).map(|at| rules[at].clone())),
            Edit::Move(index) => {
                if let Some(rule) = place(index, rules).map(|at| rules.remove(at)) {
                    rules.push(rule);
                }
            }
            Edit::Flip(index) => {
                if let Some(at) = place(index, rules) {
                    rules[at].0 ^= true;
                }
            }
            Edit::End(index, end) => {
                if let Some(at) = place(index, rules) {
                    let pattern = &mut rules[at].1;
                    match pattern.strip_suffix(end).map(str::len) {
                        Some(len) => pattern.truncate(len),
                        None => *pattern += end,
                    }
                }
            }
            Edit::Spell(index, letter, spelling) => {
                if let Some(at) = place(index, rules) {
                    rules[at].1 = rules[at].1.replacen(*letter, spelling, 1);
                }
            }
        }
    }
}

fn edit(pattern: impl Strategy<Value = String> + 'static) -> impl Strategy<Value = Edit> {
    let index = any::<Index>;
    prop_oneof![
        2 => index().prop_map(Edit::Drop),
        2 => index().prop_map(Edit::Duplicate),
        1 => index().prop_map(Edit::Move),
        2 => index().prop_map(Edit::Flip),
        2 => (index(), prop_oneof![Just("*"), Just("$"), Just("a"), Just("/")])
            .prop_map(|(at, end)| Edit::End(at, end)),
        1 => (index(), prop_oneof![Just(('a', "%61")), Just(('/', "%2F")), Just(('b', "%62")), Just(('a', "*a"))])
            .prop_map(|(at, (letter, spelling))| Edit::Spell(at, letter, spelling)),
        2 => (any::<bool>(), pattern).prop_map(Edit::Insert),
    ]
}

/// Generates patterns of plain bytes, wildcards and end anchors.
fn plain_pattern() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "/[ab/]{0,3}",
        6 => "/?[ab*/]{0,5}[$]?",
        3 => Just("/".to_owned()),
        2 => "/[*]?[ab/?]{0,2}[*]?[$]?",
        1 => "/?[*][ab?]{1,2}([*][ab?$]{1,2}){0,3}[$]?",
        1 => "/[ab$]{0,3}",
        1 => "/[ab/*]{0,2}/index\\.html?[$]?",
        1 => "/robots.txt[$]?",
    ]
}

/// Generates patterns with bytes that normal forms rewrite.
fn any_pattern() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => plain_pattern(),
        4 => "/(%[2-6][0-9aAfF]|[ab*$?:]|/|\u{e9}|%){0,3}[$]?",
        1 => Just(String::new()),
        2 => "[*]{1,2}|/[*]{1,2}[$]?|[*][/?%:2]|/[*][?][*][:/a]",
    ]
}

/// Returns a robots.txt with one group, or two for the same crawlers.
fn body(rules: &[Rule], split: Option<usize>) -> String {
    let mut body = String::from("User-agent: *\n");
    for (at, (allow, pattern)) in rules.iter().enumerate() {
        if split == Some(at) {
            body += "\nUser-agent: *\n";
        }
        body += &format!("{}: {pattern}\n", if *allow { "Allow" } else { "Disallow" });
    }
    body
}

/// Rulesets to compare: an original, edited copies, and an unrelated one.
#[derive(Clone, Debug)]
struct Relatives {
    base: Vec<Rule>,
    edits: Vec<Vec<Edit>>,
    other: Vec<Rule>,
    every: bool,
    split: Option<usize>,
    patterns: Vec<String>,
}

impl Relatives {
    fn bodies(&self) -> Vec<String> {
        let edited = self.edits.iter().map(|edits| {
            let mut rules = self.base.clone();
            edits.iter().for_each(|edit| edit.apply(&mut rules));
            rules
        });
        let all = std::iter::once(self.base.clone()).chain(edited).chain([self.other.clone()]);
        all.map(|rules| body(&rules, self.split)).collect()
    }
}

fn relatives(pattern: fn() -> BoxedStrategy<String>) -> impl Strategy<Value = Relatives> {
    let rules = || proptest::collection::vec((any::<bool>(), pattern()), 0..=5);
    let edits = proptest::collection::vec(proptest::collection::vec(edit(pattern()), 1..=2), 3);
    let assumed = pattern().prop_map(|text| if text.starts_with(['/', '*']) { text } else { format!("/{text}") });
    let patterns = prop_oneof![
        1 => Just(Vec::new()),
        9 => proptest::collection::vec(assumed, 1..3),
    ];
    let split = proptest::option::weighted(0.2, 0..3_usize);
    (rules(), edits, rules(), any::<bool>(), split, patterns).prop_map(
        |(base, edits, other, every, split, patterns)| Relatives { base, edits, other, every, split, patterns },
    )
}

/// Compares all primitives with the verdicts for all paths of up to seven bytes.
fn differential(cases: u32, rng_seed: RngSeed) -> Tally {
    let paths = paths(&["a", "b", "/", "?", "$"], 6);
    let world = World::new(&paths, [GOOGLE.normal_form; 2]);
    let tally = RefCell::new(Tally::default());
    let config = Config { cases, rng_seed, failure_persistence: None, ..Config::default() };
    let turn = Cell::new(0);
    let outcome = TestRunner::new(config).run(&relatives(|| plain_pattern().boxed()), |relatives| {
        let mut deciders = vec![Decider::Every(if relatives.every { ALLOW } else { DISALLOW })];
        let files = relatives.bodies().into_iter().map(|body| File::new(body, &GOOGLE, "any"));
        deciders.extend(files.map(|file| Decider::File(Box::new(file))));
        let subject = |decider| {
            turn.set(turn.get() + 1);
            Subject::new(decider, &paths, turn.get())
        };
        let subjects: Vec<Subject> = deciders.into_iter().map(subject).collect();
        let assumed = Assumed::new(relatives.patterns, GOOGLE.normal_form, &paths);
        for (at, second) in subjects.iter().enumerate() {
            for first in &subjects[..at] {
                check_pair(&world, [first, second], &assumed, &tally);
            }
        }
        Ok(())
    });
    outcome.unwrap();
    tally.into_inner()
}

#[test]
fn answers_agree_with_all_short_paths() {
    const CASES: u32 = 60;
    let tally = differential(CASES, FIXED);
    tally.print("paths of up to 7 bytes");
    tally.assert_meaningful(CASES * 15);
}

#[test]
#[ignore = "takes minutes, for the figures"]
fn answers_for_100_000_pairs_agree_with_all_short_paths() {
    const CASES: u32 = 7000;
    let tally = differential(CASES, RngSeed::Random);
    tally.print("paths of up to 7 bytes");
    tally.assert_meaningful(100_000);
}

/// Returns a dialect for each normal form.
fn dialect_of_each_form() -> Vec<&'static Dialect> {
    let of_form = |form| ALL.into_iter().find(|dialect| dialect.normal_form == form).unwrap();
    NormalForm::ALL.into_iter().map(of_form).collect()
}

/// Compares all primitives in every normal form and for every two of them, with the verdicts for paths with escapes.
fn differential_of_forms(cases: u32, rng_seed: RngSeed) -> Tally {
    let paths = paths(&["a", "/", "?", "%61", "%2f", "%", "2", "%3A", ":", "$", "*", "%2A", "%C3", "c"], 3);
    let dialects = dialect_of_each_form();
    let worlds: Vec<World<'_>> = dialects
        .iter()
        .flat_map(|first| dialects.iter().map(|second| [first.normal_form, second.normal_form]))
        .map(|forms| World::new(&paths, forms))
        .collect();
    let tally = RefCell::new(Tally::default());
    let config = Config { cases, rng_seed, failure_persistence: None, ..Config::default() };
    let turn = Cell::new(0);
    let outcome = TestRunner::new(config).run(&relatives(|| any_pattern().boxed()), |relatives| {
        let bodies = relatives.bodies();
        // Subjects are built once for each body and dialect.
        let subjects: Vec<OnceCell<Subject>> = (0..bodies.len() * dialects.len()).map(|_| OnceCell::new()).collect();
        let subject = |body: usize, dialect: usize| {
            subjects[body * dialects.len() + dialect].get_or_init(|| {
                turn.set(turn.get() + 1);
                let file = File::new(&bodies[body], dialects[dialect], "any");
                Subject::new(Decider::File(Box::new(file)), &paths, turn.get())
            })
        };
        for (at, world) in worlds.iter().enumerate() {
            let (first, second) = (at / dialects.len(), at % dialects.len());
            let assumed = Assumed::new(relatives.patterns.clone(), world.forms[0], &paths);
            // The same file in two dialects, an edited one, and an unrelated one.
            for other in [0, 1, bodies.len() - 1] {
                if first != second || other > 0 {
                    check_pair(world, [subject(0, first), subject(other, second)], &assumed, &tally);
                }
            }
        }
        Ok(())
    });
    outcome.unwrap();
    tally.into_inner()
}

#[test]
fn answers_about_normal_forms_agree_with_short_paths() {
    const CASES: u32 = 25;
    let tally = differential_of_forms(CASES, FIXED);
    tally.print("each two normal forms");
    tally.assert_meaningful(CASES * 102);
}

#[test]
#[ignore = "takes minutes, for the figures"]
fn answers_about_normal_forms_for_100_000_pairs_agree_with_short_paths() {
    const CASES: u32 = 1000;
    let tally = differential_of_forms(CASES, RngSeed::Random);
    tally.print("each two normal forms");
    tally.assert_meaningful(100_000);
}

fn of_rules(rules: &str) -> File {
    File::new(format!("user-agent: *\n{rules}"), Dialect::from_name("rfc9309").unwrap(), "any")
}

/// Each question stops exactly at its limit: one step fewer leaves it unproved, never answered wrongly.
#[test]
fn comparisons_stop_at_the_step_limit() {
    let form = NormalForm::Decoded;
    let first = of_rules("disallow: /*a*b\nallow: /*b*a$\n");
    let second = of_rules("disallow: /*a*b\nallow: /*b*a$\ndisallow: /*a*b$\n");
    let (first, second) = (first.access(), second.access());
    let compare = |max_steps| Reasoner::with_max_steps(form, max_steps).compare(&first, &second, None).unwrap();
    let needed = compare(MAX_PROOF_STEPS);
    assert!(needed.is_equivalent() && needed.steps > 10, "{needed:?}");
    for (max_steps, is_proved) in [(needed.steps - 1, false), (needed.steps, true), (needed.steps + 1, true)] {
        let found = compare(max_steps);
        assert_eq!((found.is_equivalent(), found.is_unproved()), (is_proved, !is_proved), "{max_steps}: {found:?}");
        let excess = |a, b| Reasoner::with_max_steps(form, max_steps).excess(a, b, None).unwrap();
        let both = [excess(&first, &second), excess(&second, &first)];
        assert_eq!(both, [found.first_only, found.second_only]);
    }
}

/// Returns rules whose proofs need a state for each subset of their patterns.
fn hard() -> String {
    (0..40).map(|n| format!("disallow: /*a{n}b*c{n}*d{n}\nallow: /*a{n}b*c{n}*d{n}e\n")).collect()
}

/// The common rules of two rulesets cost nothing, however hard they are.
#[test]
fn rulesets_that_differ_in_one_rule_are_compared_in_few_steps() {
    let path = |path: &str| Witness::Path(path.into());
    for (edit, first_only, second_only) in [
        ("disallow: /x\n", path("/x"), Witness::None),
        ("allow: /x\n", Witness::None, Witness::None),
        ("disallow: /a0\n", path("/a0"), Witness::None),
        ("disallow: /a0bc0d0e\n", Witness::None, Witness::None),
        ("allow: /a0bc0d0/////\n", Witness::None, path("/a0bc0d0/////")),
    ] {
        let (first, second) = (of_rules(&hard()), of_rules(&(hard() + edit)));
        let found = Reasoner::new(NormalForm::Decoded).compare(&first.access(), &second.access(), None).unwrap();
        assert_eq!((found.first_only, found.second_only), (first_only, second_only), "{edit:?}");
        assert!(found.steps < 50_000, "{edit:?}: {}", found.steps);
    }
}

/// If a proof stops, a path that two rules match together can still be an example.
#[test]
fn pairs_of_rules_are_tried_after_a_proof_stops() {
    let first = of_rules("disallow: /*investment-conferences-archive/\n");
    let second =
        of_rules("disallow: /*investment-conferences-archive/\nallow: /*microsites-of-online-services/login.html\n");
    let excess = |reasoner: Reasoner| reasoner.compare(&second.access(), &first.access(), None).unwrap();
    let needed = excess(Reasoner::new(NormalForm::Decoded)).steps;
    assert!(needed > 1000, "{needed}");
    let excess = excess(Reasoner::with_max_steps(NormalForm::Decoded, needed - 1)).first_only;
    let Witness::Path(path) = excess else { panic!("{excess:?}") };
    second.assert_decides(&path, ALLOW);
    first.assert_decides(&path, DISALLOW);
}

/// Assumptions read wildcards and end anchors in every normal form.
#[test]
fn assumptions_are_read_in_every_normal_form() {
    for (form, pattern, path, expected) in [
        (NormalForm::Reserved, "/*?*/", "/?/", true),
        (NormalForm::Reserved, "/?a*:b", "/?ac:b", true),
        (NormalForm::Decoded, "/a$b", "/a$bc", true),
        (NormalForm::Decoded, "/a$", "/a$", false),
        (NormalForm::Decoded, "/a**$", "/ab", true),
        (NormalForm::Decoded, "/%61*", "/ab", true),
        (NormalForm::Escaped, "/%61*", "/ab", false),
        (NormalForm::Verbatim, "/a*b$c*", "/axb$cd", true),
        (NormalForm::Verbatim, "/a$", "/ab", false),
        (NormalForm::FullyDecoded, "/%2A", "/*", true),
        (NormalForm::FullyDecoded, "/%2A", "/x", false),
    ] {
        let assumption = Assumption::new([pattern], form).unwrap();
        assert_eq!(assumption.includes(path.as_bytes()), expected, "{form:?} {pattern} {path}");
        assert_eq!(includes(&[pattern.to_owned()], form, path.as_bytes()), expected, "{form:?} {pattern} {path}");
    }
}

/// A question about everything needs no rules, so no limit stops it. Equal rulesets need no search.
#[test]
fn questions_without_rules_need_no_steps_to_speak_of() {
    let hard: String = (0..40).map(|n| format!("disallow: /*a{n}b*c{n}*d{n}\n")).collect();
    let (hard, every) = (of_rules(&hard), Access::Every(DISALLOW));
    let reasoner = Reasoner::with_max_steps(NormalForm::Decoded, 0);
    let same = reasoner.compare(&hard.access(), &hard.access(), None).unwrap();
    assert_eq!((same.is_equivalent(), same.steps), (true, 0));
    let excess = reasoner.excess(&every, &hard.access(), None).unwrap();
    assert_eq!(excess, Witness::None);
}

/// A path that is too long for a URL is not an example, and its absence proves nothing.
#[test]
fn examples_of_differences_fit_in_a_url() {
    for (len, is_shown) in [(65_528, true), (65_529, true), (65_530, false)] {
        let path = format!("/{}", "a".repeat(len - 1));
        let (first, second) = (of_rules(""), of_rules(&format!("disallow: {path}\n")));
        let found = Reasoner::new(NormalForm::Decoded).compare(&first.access(), &second.access(), None).unwrap();
        let expected = if is_shown { Witness::Path(path.into_bytes()) } else { Witness::Unproved };
        assert_eq!((found.first_only, found.second_only), (expected, Witness::None), "{len}");
    }
}
