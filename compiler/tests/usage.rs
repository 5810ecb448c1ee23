//! Usage rules: the cases in `corpora/usage`, and random rules, by the oracle and by compiled sets.

use std::collections::BTreeMap;

use bumpalo::Bump;
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};
use reptile_compiler::advice::lint::{Code, lint};
use reptile_compiler::automaton::Strategy;
use reptile_compiler::body::DiagnosticKind;
use reptile_compiler::capture::{self, Capture, Outcome};
use reptile_compiler::dialect::crawlers::of_name;
use reptile_compiler::dialect::{ALL, Dialect, GOOGLE, RFC9309};
use reptile_compiler::limits::{MAX_DIRECTIVES, MAX_LINE_BYTES_GOOGLE, MIN_MERGED_RULES};
use reptile_compiler::oracle::{self, OracleUses};
use reptile_compiler::reason::{Access, Reasoner, StatedUses, Witness};
use reptile_compiler::set::{OwnedOrigin, SetBuilder, prepare};
use reptile_engine::format::directives::MAX_DIRECTIVE_BYTES;
use reptile_engine::format::usages::MAX_TIED_PATTERNS;
use reptile_engine::set::{Agent, Set, UsageCategory, UsageQuery};
use reptile_engine::verdict::{Preference, Verdict};
use serde::Deserialize;

use crate::support::{read, workspace};

/// Number of cases in `corpora/usage/cases.toml`. Update these when you add one.
const USAGE_CASES: usize = 35;
const SIGNAL_CASES: usize = 7;

/// Number of cases in `corpora/usage/tokens.toml`.
const TOKEN_CASES: usize = 18;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    usage: Vec<Case>,
    signals: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    body: String,
    agent: String,
    path: String,
    train: String,
    search: String,
    source: String,
}

fn set_of(body: &[u8], dialect: &Dialect, by_time: bool) -> Set<Vec<u8>> {
    let origin = OwnedOrigin::of_robots_url(b"https://a.example/robots.txt").unwrap();
    let mut builder = SetBuilder::new(dialect).by_time(by_time);
    builder.add([origin], prepare(body, dialect, &Bump::new()).unwrap());
    let set = Set::from_bytes(builder.finish(Strategy::default()).unwrap().to_bytes()).unwrap();
    set.verify().unwrap();
    set
}

fn query(usage: &[&str], signals: &[&str]) -> UsageQuery {
    let boxed = |label: &&str| -> Box<[u8]> { label.as_bytes().into() };
    let of_usage = usage.iter().map(|label| UsageCategory { usage: vec![boxed(label)], ..UsageCategory::default() });
    let of_signals =
        signals.iter().map(|label| UsageCategory { signals: vec![boxed(label)], ..UsageCategory::default() });
    UsageQuery::new(of_usage.chain(of_signals).collect())
}

/// Asks a set in each way. All ways agree.
fn ask(set: &Set<Vec<u8>>, agent: &str, path: &str, query: &UsageQuery) -> (Verdict, Vec<Preference>) {
    let url = format!("https://a.example{path}");
    let agent = set.crawler(agent.as_bytes()).unwrap();
    let (mut verdicts, mut found) = ([Verdict::Invalid; 2], vec![Preference::Unknown; 2 * query.len()]);
    let agents = [agent.clone(), agent];
    set.usage_all(&agents, [url.as_bytes()], query, &mut verdicts, &mut found).unwrap();
    assert_eq!(verdicts[0], verdicts[1]);
    assert_eq!(found[..query.len()], found[query.len()..]);
    if set.has_times() {
        let mut timed = found.clone();
        set.usage_all_at(&agents, [(url.as_bytes(), 0)], query, &mut verdicts, &mut timed).unwrap();
        assert_eq!(timed, found);
    }
    found.truncate(query.len());
    (verdicts[0], found)
}

#[test]
fn cases_hold_by_the_oracle_and_in_sets() {
    let text = String::from_utf8(read(&workspace().join("corpora/usage/cases.toml"))).unwrap();
    let cases: Cases = toml::from_str(&text).unwrap();
    assert_eq!((cases.usage.len(), cases.signals.len()), (USAGE_CASES, SIGNAL_CASES));
    for (cases, query) in
        [(cases.usage, query(&["train-ai", "search"], &[])), (cases.signals, query(&[], &["ai-train", "search"]))]
    {
        for Case { name, body, agent, path, train, search, source } in cases {
            assert!(["D", "F", "C"].contains(&&*source));
            let expected: Vec<Preference> = [train, search].map(|word| word.parse().unwrap()).into();
            let resolved = of_name(agent.as_bytes(), &GOOGLE);
            let is_allowed = oracle::decide_for(body.as_bytes(), &GOOGLE, &resolved, path.as_bytes()).allowed;
            let OracleUses { usage, signals } = oracle::uses(body.as_bytes(), &GOOGLE, &resolved, path.as_bytes());
            let of_label = |category: &UsageCategory| match (&*category.usage, &*category.signals) {
                _ if !is_allowed => Preference::NotApplicable,
                ([label], _) => usage.get(std::str::from_utf8(label).unwrap()),
                (_, [label]) => signals.get(std::str::from_utf8(label).unwrap()),
                _ => unreachable!(),
            };
            assert_eq!(query.categories().iter().map(of_label).collect::<Vec<_>>(), expected, "{name}: the oracle");
            for by_time in [false, true] {
                let set = set_of(body.as_bytes(), &GOOGLE, by_time);
                assert_eq!(ask(&set, &agent, &path, &query).1, expected, "{name}: a set, by time: {by_time}");
                let draft = set.to_draft().unwrap().write(&reptile_engine::threads::OneThread).unwrap();
                let mut bytes = Vec::new();
                let header = set.to_draft().unwrap().header;
                reptile_engine::format::container::write(&mut bytes, &header, &draft).unwrap();
                assert!(bytes == set.bytes(), "{name}: written again");
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenCase {
    name: String,
    body: String,
    agent: String,
    path: String,
    train: String,
    with_default: String,
    source: String,
}

/// Returns a question about training, by lines and by the token that names it.
fn training(has_default_group: bool) -> UsageQuery {
    let boxed = |text: &[u8]| vec![text.into()];
    let training = UsageCategory { usage: boxed(b"train-ai"), tokens: boxed(TOKEN), ..UsageCategory::default() };
    let query = UsageQuery::new(vec![training]);
    if has_default_group { query.with_default_group() } else { query }
}

/// The product token that names training.
const TOKEN: &[u8] = b"__usage_ai-training";

#[test]
fn groups_for_a_token_state_a_preference() {
    let text = String::from_utf8(read(&workspace().join("corpora/usage/tokens.toml"))).unwrap();
    let mut cases: BTreeMap<String, Vec<TokenCase>> = toml::from_str(&text).unwrap();
    let cases = cases.remove("tokens").unwrap();
    assert_eq!(cases.len(), TOKEN_CASES);
    for TokenCase { name, body, agent, path, train, with_default, source } in cases {
        assert!(["D", "F", "C"].contains(&&*source));
        let resolved = of_name(agent.as_bytes(), &GOOGLE);
        let (body, path) = (body.as_bytes(), &*path);
        let is_allowed = oracle::decide_for(body, &GOOGLE, &resolved, path.as_bytes()).allowed;
        for (has_default_group, expected) in [(false, train), (true, with_default)] {
            let expected: Preference = expected.parse().unwrap();
            let stated = oracle::uses(body, &GOOGLE, &resolved, path.as_bytes()).usage.get("train-ai");
            let by_group = oracle::stated_by_token(body, &GOOGLE, TOKEN, has_default_group, path.as_bytes());
            let found = if is_allowed { stated.combined_with(by_group) } else { Preference::NotApplicable };
            assert_eq!(found, expected, "{name}: the oracle, with the default group: {has_default_group}");
            for by_time in [false, true] {
                let set = set_of(body, &GOOGLE, by_time);
                assert_eq!(ask(&set, &agent, path, &training(has_default_group)).1, [expected], "{name}: {by_time}");
            }
        }
    }
}

/// After a failed fetch, preferences are unknown if everything is allowed, and inapplicable if nothing is.
#[test]
fn policies_without_rules_have_no_preferences() {
    for (status, expected) in [(404, Preference::Unknown), (503, Preference::NotApplicable)] {
        let capture = Capture { status: Some(status), time: Some(1), ..Capture::default() };
        let outcome = capture::GOOGLE.outcome(&capture, b"");
        assert_ne!(outcome, Outcome::Use);
        let origin = OwnedOrigin::of_robots_url(b"https://a.example/robots.txt").unwrap();
        let mut builder = SetBuilder::new(&GOOGLE);
        builder.add_capture([origin], &capture, outcome, None);
        let set = Set::from_bytes(builder.finish(Strategy::default()).unwrap().to_bytes()).unwrap();
        assert_eq!(ask(&set, "FooBot", "/x", &query(&["train-ai"], &["search"])).1, [expected; 2], "{status}");
        for has_default_group in [false, true] {
            assert_eq!(ask(&set, "FooBot", "/x", &training(has_default_group)).1, [expected], "{status}");
        }
    }
}

/// A pseudorandom file with usage rules, and pseudorandom paths. Few different bytes, so that patterns collide.
struct World {
    random: TestRng,
}

impl World {
    fn below(&mut self, limit: u32) -> u32 {
        self.random.next_u32() % limit
    }

    fn text(&mut self, most: u32, alphabet: &[u8]) -> String {
        let len = self.below(most + 1);
        (0..len).map(|_| char::from(alphabet[self.below(alphabet.len() as u32) as usize])).collect()
    }

    fn statement(&mut self) -> String {
        let all = ["a=y", "a=n", "b=y", "b=n", "a=y, b=n", "c", "", "A=n", "a=n,", "a=y;p=1, a=n"];
        all[self.below(all.len() as u32) as usize].into()
    }

    fn body(&mut self) -> String {
        let mut body = String::new();
        if self.below(4) == 0 {
            body += "Content-Signal: a=no\n";
        }
        for _ in 0..self.below(3) + 1 {
            let agents = ["*", "a", "b", "a\nUser-agent: *", "use", "b\nUser-agent: Use"];
            let agent = agents[self.below(agents.len() as u32) as usize];
            body += &format!("User-agent: {agent}\n");
            for _ in 0..self.below(12) {
                let pattern = format!("/{}", self.text(5, b"ab*$/"));
                let statement = self.statement();
                body += &match self.below(12) {
                    0 => format!("Content-Usage: {statement}\n"),
                    1 => "Content-Signal: b=yes, a = No\n".into(),
                    2 => format!("Disallow: {pattern}\n"),
                    _ => format!("Content-Usage: {pattern} {statement}\n"),
                };
            }
        }
        body
    }
}

fn compare_random(files: u32, paths: u32) -> u64 {
    let mut world = World { random: TestRng::deterministic_rng(RngAlgorithm::ChaCha) };
    let mut categories = query(&["a", "b"], &["a", "b"]).categories().to_vec();
    let tokens = vec![b"use"[..].into()];
    categories.push(UsageCategory { tokens: tokens.clone(), ..UsageCategory::default() });
    categories.push(UsageCategory { tokens, ..categories[0].clone() });
    let query = UsageQuery::new(categories);
    let (mut pairs, mut stated, mut by_tokens) = (0, [0_u64; 4], [0_u64; 4]);
    for file in 0..files {
        let body = world.body();
        let dialect = &ALL[file as usize % ALL.len()];
        let set = set_of(body.as_bytes(), dialect, file % 3 == 0);
        let has_default_group = file % 2 == 0;
        let query = if has_default_group { query.clone().with_default_group() } else { query.clone() };
        for _ in 0..paths {
            let path = format!("/{}", world.text(6, b"ab/*$"));
            let agent = ["a", "b", "c"][world.below(3) as usize];
            let resolved = of_name(agent.as_bytes(), dialect);
            let (verdict, found) = ask(&set, agent, &path, &query);
            let url = format!("https://a.example{path}");
            let is_allowed = oracle::decide_for(body.as_bytes(), dialect, &resolved, url.as_bytes()).allowed;
            assert_eq!(verdict == Verdict::Allow, is_allowed);
            let OracleUses { usage, signals } = oracle::uses(body.as_bytes(), dialect, &resolved, url.as_bytes());
            let by_token = oracle::stated_by_token(body.as_bytes(), dialect, b"use", has_default_group, url.as_bytes());
            let both = usage.get("a").combined_with(by_token);
            let expected = match is_allowed {
                true => [usage.get("a"), usage.get("b"), signals.get("a"), signals.get("b"), by_token, both],
                false => [Preference::NotApplicable; 6],
            };
            assert_eq!(found, expected, "{}: {agent} {path}\n{body}", dialect.name);
            pairs += 1;
            stated[found[0] as usize] += 1;
            by_tokens[found[4] as usize] += 1;
        }
    }
    for counts in [stated, by_tokens] {
        assert!(counts.iter().all(|&count| count > pairs / 100), "{counts:?}");
    }
    pairs
}

#[test]
fn random_rules_agree_with_the_oracle() {
    assert_eq!(compare_random(1_000, 20), 20_000);
}

#[test]
#[ignore = "takes minutes"]
fn a_million_random_pairs_agree_with_the_oracle() {
    assert_eq!(compare_random(20_000, 50), 1_000_000);
}

/// Returns all paths of up to `len` bytes after the slash.
fn short_paths(alphabet: &[u8], len: usize) -> Vec<String> {
    let mut paths = vec!["/".to_owned()];
    let mut start = 0;
    for _ in 0..len {
        let end = paths.len();
        for at in start..end {
            paths.extend(alphabet.iter().map(|&byte| format!("{}{}", paths[at], char::from(byte))).collect::<Vec<_>>());
        }
        start = end;
    }
    paths
}

/// Returns the preferences for each path, or an empty list if it must not be fetched.
fn ask_all(set: &Set<Vec<u8>>, agent: &Agent, paths: &[String], query: &UsageQuery) -> Vec<Vec<Preference>> {
    let urls: Vec<String> = paths.iter().map(|path| format!("https://a.example{path}")).collect();
    let (mut verdicts, mut found) =
        (vec![Verdict::Invalid; urls.len()], vec![Preference::Unknown; urls.len() * query.len()]);
    let agents = std::slice::from_ref(agent);
    set.usage_all(agents, urls.iter().map(|url| url.as_bytes()), query, &mut verdicts, &mut found).unwrap();
    let rows = found.chunks(query.len()).zip(verdicts);
    rows.map(|(row, verdict)| if verdict == Verdict::Allow { row.to_vec() } else { Vec::new() }).collect()
}

/// The preferences in the order of `Reasoner::uses`.
const PROVED: [Preference; 3] = [Preference::Allowed, Preference::Disallowed, Preference::Unknown];

/// Compares proofs with brute force. Each path found has its preference, and no path is shorter. If none was found,
/// none exists. Returns the number of proofs of each result.
fn compare_proofs(body: &str, dialect: &Dialect, paths: &[String], query: &UsageQuery) -> [u64; 2] {
    let set = set_of(body.as_bytes(), dialect, false);
    let record = set.origins().next().unwrap().unwrap();
    let policy = set.policy_of(&record).unwrap();
    let reasoner = Reasoner::new(set.normal_form());
    let mut counts = [0; 2];
    for name in ["a", "b", "c"] {
        let agent = set.crawler(name.as_bytes()).unwrap();
        let tokens = policy.use_groups(&set.use_tokens(query).unwrap(), &agent).unwrap();
        let uses = StatedUses::of(&set, &policy.usages_for(&agent).unwrap(), &tokens, query).unwrap();
        let proved = reasoner.uses(&Access::of(&policy, &agent).unwrap(), &uses).unwrap();
        assert_eq!(proved.len(), query.len());
        let answers = ask_all(&set, &agent, paths, query);
        for (number, witnesses) in proved.iter().enumerate() {
            for (preference, witness) in PROVED.into_iter().zip(witnesses) {
                let shown = format!("{}: {name} {number} {preference} {witness:?}\n{body}", dialect.name);
                let shortest = paths.iter().zip(&answers).find(|(_, row)| row.get(number) == Some(&preference));
                match witness {
                    Witness::Path(path) => {
                        let path = String::from_utf8(path.clone()).unwrap();
                        let len = |path: &str| set.normal_form().path(path.as_bytes()).len();
                        assert!(shortest.is_none_or(|(shortest, _)| len(shortest) >= len(&path)), "{shown}");
                        let answer = ask_all(&set, &agent, &[path], query);
                        assert_eq!(answer[0].get(number), Some(&preference), "{shown}");
                        counts[0] += 1;
                    }
                    Witness::None => {
                        assert_eq!(shortest, None, "{shown}");
                        counts[1] += 1;
                    }
                    Witness::Unproved => panic!("{shown}"),
                }
            }
        }
    }
    counts
}

#[test]
fn proofs_about_uses_agree_with_brute_force() {
    let mut world = World { random: TestRng::deterministic_rng(RngAlgorithm::ChaCha) };
    let mut both = query(&["a", "b"], &["a"]);
    let combined = UsageCategory {
        usage: vec![b"a"[..].into(), b"b"[..].into()],
        signals: vec![b"b"[..].into()],
        ..UsageCategory::default()
    };
    let tokens = vec![b"use"[..].into()];
    let with_token = UsageCategory { tokens: tokens.clone(), ..combined.clone() };
    let by_token = UsageCategory { tokens, ..UsageCategory::default() };
    let added = [combined, with_token, by_token];
    both = UsageQuery::new(both.categories().iter().cloned().chain(added).collect());
    let paths = short_paths(b"ab/$c", 4);
    assert_eq!(paths.len(), 781);
    let mut counts = [0; 2];
    for file in 0..300 {
        let found = compare_proofs(&world.body(), ALL[file % ALL.len()], &paths, &both);
        counts = [counts[0] + found[0], counts[1] + found[1]];
    }
    assert_eq!(counts[0] + counts[1], 300 * 3 * 6 * 3);
    assert!(counts.iter().all(|&count| count > 1000), "{counts:?}");
}

/// Groups that decide together are proved, too: the longest rules of all groups decide.
#[test]
fn proofs_combine_groups_that_decide_together() {
    // Merging the groups for a takes up the limit, so that those for b are kept apart.
    let mut body =
        String::from("User-agent: a\nUser-agent: b\nContent-Usage: a=y\nContent-Usage: /a* a=n\nDisallow: /ab\n");
    body.extend((0..MIN_MERGED_RULES).map(|number| format!("Disallow: /q{number:05}x\n")));
    for name in ["a", "b"] {
        body += &format!(
            "\nUser-agent: {name}\nContent-Usage: b=n\nContent-Usage: /*a a=y\nContent-Usage: /ab b=y\nDisallow: /b\n"
        );
    }
    let set = set_of(body.as_bytes(), &GOOGLE, false);
    let policy = set.policy_of(&set.origins().next().unwrap().unwrap()).unwrap();
    let groups = policy.usages_for(&set.crawler(b"b").unwrap()).unwrap();
    assert_eq!(groups.len(), 2, "{groups:?}");
    let counts = compare_proofs(&body, &GOOGLE, &short_paths(b"abc", 4), &query(&["a", "b"], &[]));
    assert_eq!(counts.iter().sum::<u64>(), 18);
    assert!(counts.iter().all(|&count| count > 0), "{counts:?}");
}

/// A proof that would take too long is not guessed.
#[test]
fn long_proofs_about_uses_stop() {
    let body = "User-agent: *\nDisallow: /*a\nDisallow: /*b\nContent-Usage: /*c*d a=y\n";
    let set = set_of(body.as_bytes(), &GOOGLE, false);
    let (agent, record) = (set.crawler(b"a").unwrap(), set.origins().next().unwrap().unwrap());
    let policy = set.policy_of(&record).unwrap();
    let uses = StatedUses::of(&set, &policy.usages_for(&agent).unwrap(), &[], &query(&["a"], &[])).unwrap();
    for (max_steps, is_proved) in [(0, false), (1_000, true)] {
        let reasoner = Reasoner::with_max_steps(set.normal_form(), max_steps);
        let found = reasoner.uses(&Access::of(&policy, &agent).unwrap(), &uses).unwrap();
        // No rule disallows the use, which needs no steps.
        assert_eq!(found[0][1], Witness::None);
        assert_eq!(found[0][0] == Witness::Path(b"/cd".into()), is_proved, "{found:?}");
        // The first path needs no steps, either.
        assert_eq!(found[0][2], Witness::Path(b"/".into()));
    }
}

/// Up to the limit, patterns of the same length are combined; over it, every use is unknown.
#[test]
fn tied_patterns_are_limited() {
    for (count, expected) in [
        (MAX_TIED_PATTERNS - 1, Preference::Disallowed),
        (MAX_TIED_PATTERNS, Preference::Disallowed),
        (MAX_TIED_PATTERNS + 1, Preference::Unknown),
    ] {
        let mut body = String::from("User-agent: *\n");
        for number in 1..count {
            body += &format!("Content-Usage: /{number:04}*b train-ai=y\n");
        }
        body += "Content-Usage: /*xyzab train-ai=n\n";
        let set = set_of(body.as_bytes(), &GOOGLE, false);
        let query = query(&["train-ai"], &[]);
        assert_eq!(ask(&set, "FooBot", "/0001xyzab", &query).1, [expected], "{count}");
        let message = format!(
            "every use is unknown, because the lines about uses exceed a limit: patterns with wildcards and the same \
             length: {count} is over the limit of {MAX_TIED_PATTERNS}"
        );
        let is_over = count > MAX_TIED_PATTERNS;
        assert_eq!(over_limit(&body), is_over.then_some((2, message)), "{count}");
    }
}

/// The longest dictionary that parsers must support has 1,024 members with keys of 64 characters (RFC 9651, section 3.2).
#[test]
fn the_longest_required_dictionary_fits() {
    let members: Vec<String> = (0..1024).map(|member| format!("k{member:063}=n")).collect();
    let members = members.join(", ");
    let last = format!("k{:063}", 1023);
    for (len, is_read) in [(-1, true), (0, true), (1, false)] {
        let path = "a".repeat(MAX_DIRECTIVE_BYTES.saturating_add_signed(len) - members.len() - "/ ".len());
        let body = format!("User-agent: *\nContent-Usage: other=n\nContent-Usage: /{path} {members}\n");
        let expected = if is_read { Preference::Disallowed } else { Preference::Unknown };
        let set = set_of(body.as_bytes(), &RFC9309, false);
        assert_eq!(ask(&set, "FooBot", &format!("/{path}"), &query(&[&last], &[])).1, [expected], "{len}");
        // If it is left out, no other line counts.
        assert_eq!(ask(&set, "FooBot", "/", &query(&["other"], &[])).1, [expected], "{len}");
    }
    // A statement whose end a dialect drops is not read as if it were whole.
    for (len, is_whole) in [(-1, true), (0, true), (1, false)] {
        let line = "Content-Usage: a=y, ";
        let rest = "b".repeat(MAX_LINE_BYTES_GOOGLE.saturating_add_signed(len) - line.len());
        let body = format!("User-agent: *\n{line}{rest}\n");
        let expected = if is_whole { Preference::Allowed } else { Preference::Unknown };
        assert_eq!(ask(&set_of(body.as_bytes(), &GOOGLE, false), "FooBot", "/", &query(&["a"], &[])).1, [expected]);
        let message = "every use is unknown, because the lines about uses exceed a limit: bytes in a line: 16664 is over \
                       the limit of 16663";
        assert_eq!(over_limit(&body), (!is_whole).then(|| (2, message.to_owned())), "{len}");
    }
}

/// Returns the line and the message of the finding about a limit. The diagnostics have the same line.
fn over_limit(body: &str) -> Option<(u32, String)> {
    let diagnostics = prepare(body.as_bytes(), &GOOGLE, &Bump::new()).unwrap().diagnostics;
    let of_kind = diagnostics.first().iter().filter(|found| found.kind == DiagnosticKind::UsageOverLimit);
    let noted: Vec<u32> = of_kind.map(|found| found.line).collect();
    let found = lint(body.as_bytes(), &GOOGLE, 9).findings;
    let found: Vec<_> = found.into_iter().filter(|finding| finding.code == Code::UsageOverLimit).collect();
    assert_eq!(noted, found.iter().map(|finding| finding.line).collect::<Vec<_>>());
    assert!(found.len() < 2 && diagnostics.first().is_sorted_by_key(|found| found.line));
    found.into_iter().next().map(|finding| (finding.line, finding.message))
}

/// Compiles 300 matching rules with a wildcard each, and as many as a file may have.
#[test]
fn many_wildcards_stay_within_the_limits() {
    for count in [300, MAX_DIRECTIVES] {
        let mut body = String::from("User-agent: *\n");
        for number in 0..count {
            body += &format!("Content-Usage: /*{}b a=y, l{}=n\n", "a".repeat(number % 300), number % 300);
        }
        let set = set_of(body.as_bytes(), &GOOGLE, false);
        let path = format!("/{}b", "a".repeat(400));
        let query = query(&["a", "l299", "l298"], &[]);
        let expected = [Preference::Allowed, Preference::Disallowed, Preference::Unknown];
        assert_eq!(ask(&set, "FooBot", &path, &query).1, expected, "{count}");
    }
    // If a line about usage is left out, the others do not count.
    let mut body = String::from("User-agent: *\nContent-Usage: a=y\n");
    body += &"Sitemap: https://a.example/s\n".repeat(MAX_DIRECTIVES - 1);
    for (more, expected) in [("", Preference::Allowed), ("Content-Usage: a=n\n", Preference::Unknown)] {
        let body = body.clone() + more + "unknown key\n";
        let set = set_of(body.as_bytes(), &GOOGLE, false);
        assert_eq!(ask(&set, "FooBot", "/", &query(&["a"], &[])).1, [expected], "{more}");
        let message = "every use is unknown, because the lines about uses exceed a limit: lines that are not rules: 4097 is \
                       over the limit of 4096";
        let is_over = expected == Preference::Unknown;
        assert_eq!(over_limit(&body), is_over.then(|| (MAX_DIRECTIVES as u32 + 2, message.to_owned())));
    }
}
