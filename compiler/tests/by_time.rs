//! Sets by time: for every second, the set gives the same verdicts as a set compiled for that second. It also stores
//! everything that an ordinary set stores.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may")]

use crate::support;

use bumpalo::Bump;
use proptest::prelude::*;
use reptile_compiler::automaton::Strategy as Form;
use reptile_compiler::capture::{self, Capture, Captures, KeptCapture, Outcome, Profile};
use reptile_compiler::dialect::GOOGLE;
use reptile_compiler::limits::MAX_CAPTURES_BY_TIME;
use reptile_compiler::set::{OwnedOrigin, SetBuilder, prepare};
use reptile_engine::format::container;
use reptile_engine::format::histories::{CaptureHistory, CaptureRecord};
use reptile_engine::format::timelines::BEFORE_ALL_TIMES;
use reptile_engine::set::{Agent, Set};
use reptile_engine::threads::OneThread;
use reptile_engine::url::Scheme;
use reptile_engine::verdict::{Cause, PolicySource, Verdict};

/// Files that each disallow one path. The last two have the same rules.
const BODIES: [&str; 4] = [
    "user-agent: *\ndisallow: /0\n",
    "user-agent: *\ndisallow: /1\nsitemap: http://h0.example/1.xml\n",
    "user-agent: *\ndisallow: /2\n",
    "user-agent: *\ndisallow: /2\nsitemap: http://h0.example/3.xml\n",
];
const PATHS: usize = 3;
const HOSTS: usize = 2;

/// Capture times. `ASKED` extends from before the first capture to after the last one's patience.
const TIMES: std::ops::Range<i64> = 0..30;
const ASKED: std::ops::Range<i64> = -2..64;

/// A capture: origin number, time, outcome number, body number, max-age, status.
type Fetch = (usize, Option<i64>, u8, usize, Option<u64>, Option<u16>);

fn outcome_of(number: u8) -> Outcome {
    match number {
        0..=2 => Outcome::Use,
        3 => Outcome::Allow(Cause::Status(404)),
        4 => Outcome::Disallow(Cause::Status(403)),
        5 => Outcome::Unreachable(Cause::Status(503)),
        _ => Outcome::Unreachable(Cause::Network),
    }
}

fn origin(number: usize) -> OwnedOrigin {
    OwnedOrigin { host: format!("h{number}.example").into_bytes().into(), scheme: Scheme::Http, port: 80 }
}

fn compiled(fetches: &[Fetch], profile: &Profile, at: Option<i64>, by_time: bool) -> Set<Vec<u8>> {
    let mut builder = SetBuilder::with_profile(&GOOGLE, profile, at).by_time(by_time);
    for &(host, time, outcome, body, max_age, status) in fetches {
        let outcome = outcome_of(outcome);
        let body = BODIES[body].as_bytes();
        let record = (outcome == Outcome::Use).then(|| prepare(body, &GOOGLE, &Bump::new()).unwrap());
        let capture = Capture { time, max_age, status, ..Capture::default() };
        builder.add_capture([origin(host)], &capture, outcome, record);
    }
    let set = Set::from_bytes(builder.finish(Form::default()).unwrap().to_bytes()).unwrap();
    set.verify().unwrap();
    set
}

fn agent(set: &Set<Vec<u8>>) -> Agent {
    set.agent(b"any").unwrap()
}

/// Returns a URL for each origin and path.
fn urls() -> Vec<String> {
    (0..HOSTS).flat_map(|host| (0..PATHS).map(move |path| format!("http://h{host}.example/{path}"))).collect()
}

/// Decides by definition what applies to an origin at a time. Returns the policy source and the disallowed paths.
fn plainly(fetches: &[Fetch], host: usize, profile: &Profile, at: i64) -> Option<(PolicySource, Vec<usize>)> {
    let mut captures = Captures::default();
    for &(number, time, outcome, body, max_age, status) in fetches {
        if number == host && time.is_none_or(|time| time <= at) {
            let outcome = outcome_of(outcome);
            let prepared = prepare(BODIES[body].as_bytes(), &GOOGLE, &Bump::new()).unwrap();
            let body_hash = if outcome == Outcome::Use { prepared.body_hash } else { 0 };
            let max_age = max_age.map(|age| age as u32);
            captures.add(KeptCapture { time, outcome, body_hash, max_age, status, rules: body as u32 });
        }
    }
    let decision = captures.decide(profile, Some(at))?;
    let closed = match (decision.source.verdict(), decision.rules) {
        (Some(Verdict::Disallow), _) => (0..PATHS).collect(),
        (None, Some(body)) => (0..PATHS).filter(|path| BODIES[body as usize].contains(&format!("/{path}\n"))).collect(),
        _ => Vec::new(),
    };
    Some((decision.source, closed))
}

/// Clears a history's policy addresses, which differ between sets.
fn without_policies(history: CaptureHistory) -> CaptureHistory {
    let without = |capture: CaptureRecord| CaptureRecord { policy: capture.policy.map(|_| 0), ..capture };
    let CaptureHistory { newest, answered, .. } = history;
    CaptureHistory { newest: without(newest), answered: answered.map(without), ..history }
}

/// Returns the verdicts for some URLs and when their files were fetched, for one agent at a time.
fn dated(set: &Set<Vec<u8>>, urls: &[String], time: Option<i64>) -> (Vec<Verdict>, Vec<Option<i64>>) {
    let (agent, texts) = ([agent(set)], || urls.iter().map(|url| url.as_bytes()));
    let (mut verdicts, mut fetched_at) = (vec![Verdict::Invalid; urls.len()], vec![Some(-1); urls.len()]);
    match time {
        None => set.decide_all_dated(&agent, texts(), &mut verdicts, &mut fetched_at).unwrap(),
        Some(time) => {
            let timed = texts().map(|url| (url, time));
            set.decide_all_at_dated(&agent, timed, &mut verdicts, &mut fetched_at).unwrap();
        }
    }
    (verdicts, fetched_at)
}

/// Returns when the files of some URLs were fetched, from their sites' histories.
fn deciding_times(set: &Set<Vec<u8>>, urls: &[String]) -> Vec<Option<i64>> {
    let site = |url: &String| set.site(&reptile_engine::url::split(url.as_bytes()).unwrap().origin).unwrap();
    let time = |url| site(url)?.captures().unwrap()?.deciding().time;
    urls.iter().map(time).collect()
}

fn any_fetches() -> impl Strategy<Value = Vec<Fetch>> {
    let time = prop::option::weighted(0.9, TIMES);
    let max_age = prop::option::weighted(0.2, 0..9_u64);
    let status = prop::option::weighted(0.5, 200..202_u16);
    prop::collection::vec((0..HOSTS, time, 0..7_u8, 0..BODIES.len(), max_age, status), 0..12)
}

proptest! {
    #![proptest_config(support::cases(2000))]

    #[test]
    fn every_second_matches_a_set_compiled_for_it(
        fetches in any_fetches(),
        patience in 0..30_i64,
        keeps_last_answer in any::<bool>(),
        at in prop::option::weighted(0.3, TIMES),
        sampled in prop::collection::vec(ASKED, 3),
    ) {
        let mut profile = capture::RFC9309.clone();
        (profile.patience, profile.keeps_last_answer) = (patience, keeps_last_answer);
        let set = compiled(&fetches, &profile, at, true);
        prop_assert!(set.has_times());
        let agent = agent(&set);
        let counting: Vec<Fetch> =
            fetches.iter().copied().filter(|fetch| fetch.1.is_none_or(|time| at.is_none_or(|at| time <= at))).collect();
        for time in ASKED.chain([i64::MIN, i64::MAX]) {
            let mut expected = Vec::new();
            for host in 0..HOSTS {
                let plain = plainly(&counting, host, &profile, time);
                let url = format!("http://h{host}.example/");
                let explained = set.explain_at(&agent, url.as_bytes(), time).unwrap();
                prop_assert_eq!(explained.verdict == Verdict::Unknown, plain.is_none(), "{} at {}", url, time);
                if let Some((source, _)) = plain {
                    prop_assert_eq!(explained.source, source, "{} at {}", url, time);
                }
                expected.extend((0..PATHS).map(|path| match &plain {
                    None => Verdict::Unknown,
                    Some((_, closed)) if closed.contains(&path) => Verdict::Disallow,
                    Some(_) => Verdict::Allow,
                }));
            }
            let urls = urls();
            let mut found = vec![Verdict::Invalid; urls.len()];
            let timed = urls.iter().map(|url| (url.as_bytes(), time));
            set.decide_all_at(std::slice::from_ref(&agent), timed, &mut found).unwrap();
            prop_assert_eq!(&found, &expected, "at {}", time);
            let (verdicts, fetched_at) = dated(&set, &urls, Some(time));
            prop_assert_eq!(&found, &verdicts, "at {}", time);
            if sampled.contains(&time) {
                let plain_set = compiled(&counting, &profile, Some(time), false);
                let agent = self::agent(&plain_set);
                let decided: Vec<Verdict> =
                    urls.iter().map(|url| plain_set.decide(&agent, url.as_bytes()).unwrap()).collect();
                prop_assert_eq!(&found, &decided, "at {}", time);
                prop_assert_eq!(fetched_at, deciding_times(&plain_set, &urls), "at {}", time);
            }
        }
    }

    /// Without a given time, a set by time answers like an ordinary set.
    #[test]
    fn sets_by_time_answer_like_ordinary_sets_by_default(
        fetches in any_fetches(),
        patience in 0..30_i64,
        keeps_last_answer in any::<bool>(),
        at in prop::option::weighted(0.3, TIMES),
    ) {
        let mut profile = capture::RFC9309.clone();
        (profile.patience, profile.keeps_last_answer) = (patience, keeps_last_answer);
        let (with, without) = (compiled(&fetches, &profile, at, true), compiled(&fetches, &profile, at, false));
        prop_assert_eq!(with.reading().at, without.reading().at);
        let times = deciding_times(&without, &urls());
        for set in [&with, &without] {
            let decided = urls().iter().map(|url| set.decide(&agent(set), url.as_bytes()).unwrap()).collect();
            prop_assert_eq!(dated(set, &urls(), None), (decided, times.clone()));
        }
        for url in urls() {
            let explain = |set: &Set<Vec<u8>>| set.explain(&agent(set), url.as_bytes()).unwrap();
            prop_assert_eq!(explain(&with), explain(&without));
        }
        for record in without.origins().map(Result::unwrap) {
            let find = reptile_engine::url::Origin { scheme: record.scheme, host: record.host, port: record.port };
            let (site, other) = (with.site(&find).unwrap().unwrap(), without.site_of(&record).unwrap());
            prop_assert_eq!(site.stale_at().unwrap(), other.stale_at().unwrap());
            prop_assert_eq!(site.expires_at().unwrap(), other.expires_at().unwrap());
            let own = site.captures().unwrap().map(without_policies);
            prop_assert_eq!(own, other.captures().unwrap().map(without_policies));
            let sitemap = |site: &reptile_engine::set::Site<'_>| {
                site.other().reader().unwrap().next().unwrap().map(|line| line.value.to_vec())
            };
            prop_assert_eq!(sitemap(&site), sitemap(&other));
        }
    }
}

#[test]
fn each_url_of_a_batch_is_decided_at_its_own_time() {
    let fetches = [(0, Some(10), 0, 0, None, None), (0, Some(20), 0, 1, None, None), (1, None, 0, 2, None, None)];
    let set = compiled(&fetches, &capture::RFC9309, None, true);
    let agents = [agent(&set), set.agent(b"other").unwrap()];
    let (mut urls, mut expected) = (Vec::new(), Vec::new());
    // More than one batch, in several orders: origins grouped or interleaved, with invalid URLs among them.
    for number in 0..500_i64 {
        let (time, place) = (number % 25, number / 100 % 2);
        let (url, verdict) = match (number * 7 % (5 - place), time) {
            (0, _) => ("no url", Verdict::Invalid),
            (1, _) => ("http://nowhere.example/0", Verdict::Unknown),
            (2, _) => ("http://H1.example/2", Verdict::Disallow),
            (3, ..10) => ("http://h0.example/0", Verdict::Unknown),
            (3, 10..20) => ("http://h0.example/0", Verdict::Disallow),
            (3, _) => ("http://h0.example/0", Verdict::Allow),
            _ => ("http://h1.example/0", Verdict::Allow),
        };
        urls.push((url.as_bytes(), time));
        expected.extend([verdict; 2]);
    }
    let mut found = vec![Verdict::Invalid; expected.len()];
    set.decide_all_at(&agents, urls.iter().copied(), &mut found).unwrap();
    assert_eq!(found, expected);
}

/// Spans begin at changes only, however many captures there are.
#[test]
fn equal_captures_make_one_span() {
    let file = |time, body| (0, Some(time), 0, body, None, Some(200));
    let spans_of = |fetches: &[Fetch]| {
        let set = compiled(fetches, &capture::RFC9309, None, true);
        let record = set.origins().next().unwrap().unwrap();
        let site = set.site_of(&record).unwrap();
        let captures = site.timeline().unwrap().map_or(0, |timeline| timeline.captures.len());
        (captures, site.spans().unwrap().iter().map(|span| span.begin).collect::<Vec<_>>())
    };
    assert_eq!(spans_of(&[file(10, 0), file(20, 0), file(30, 1), file(40, 0)]), (4, vec![10, 30, 40]));
    // The last two files decide alike. Their other directives are stored only for the set's own time.
    assert_eq!(spans_of(&[file(10, 2), file(20, 3)]), (2, vec![10]));
    // Only one capture per second counts.
    assert_eq!(spans_of(&[file(10, 0), file(10, 1)]), (1, vec![10]));
    // After failures the file remains active for a while, and then everything is allowed.
    let month = capture::RFC9309.patience;
    let failed = |time| (0, Some(time), 6, 0, None, None);
    assert_eq!(spans_of(&[file(10, 0), failed(20), failed(30)]), (3, vec![10, 20, 20 + month + 1]));
    assert_eq!(spans_of(&[(0, None, 0, 0, None, None)]), (0, vec![BEFORE_ALL_TIMES]));
    assert_eq!(spans_of(&[(0, None, 0, 0, None, None), file(5, 1)]), (2, vec![BEFORE_ALL_TIMES, 5]));
}

#[test]
fn sets_without_times_reject_questions_about_times() {
    let set = compiled(&[(0, Some(10), 0, 0, None, None)], &capture::RFC9309, None, false);
    let agent = agent(&set);
    let refused = set.explain_at(&agent, b"http://h0.example/0", 20).unwrap_err().to_string();
    assert_eq!(refused, "reading: expected a set by time, for a question about a time, found a set without times");
    let urls = [(&b"http://h0.example/0"[..], 20)];
    assert!(set.decide_all_at(&[agent], urls, &mut [Verdict::Invalid]).is_err());
    let record = set.origins().next().unwrap().unwrap();
    assert!(!set.has_times() && set.policy_of_at(&record, 20).is_err());
    assert_eq!(set.site_of(&record).unwrap().spans().unwrap(), []);
}

/// Ordinary sets do not grow by a byte; a set by time differs only if its captures have times.
#[test]
fn without_capture_times_sets_differ_in_a_flag_only() {
    let fetches = [(0, None, 0, 0, None, None), (1, None, 0, 1, None, None)];
    let [with, without] = [true, false].map(|by_time| compiled(&fetches, &capture::RFC9309, None, by_time));
    let sizes = |set: &Set<Vec<u8>>| set.section_sizes().map(|(_, size)| size).collect::<Vec<_>>();
    assert_eq!(sizes(&with), sizes(&without));
    assert_eq!(with.to_draft().unwrap().reading.by_time, !without.to_draft().unwrap().reading.by_time);
}

/// Returns the error in a set by time with another reference time.
fn error_at(fetches: &[Fetch], at: i64) -> String {
    let set = compiled(fetches, &capture::RFC9309, None, true);
    let mut draft = set.to_draft().unwrap();
    draft.reading.at = Some(at);
    let (mut changed, header) = (Vec::new(), draft.header);
    container::write(&mut changed, &header, &draft.write(&OneThread).unwrap()).unwrap();
    Set::from_bytes(changed).unwrap().verify().unwrap_err().to_string()
}

#[test]
fn verify_rejects_a_policy_of_another_time() {
    let fetches = [(0, Some(10), 0, 0, None, None), (0, Some(20), 0, 1, None, None)];
    let expected = "captures: expected policy 3, which its origin has at the set's time, found ";
    assert_eq!(error_at(&fetches, 19), format!("{expected}policy 0"));
    assert_eq!(error_at(&fetches, 9), format!("{expected}no policy"));
}

#[test]
fn captures_by_time_are_limited_per_origin() {
    for (count, fits) in
        [(MAX_CAPTURES_BY_TIME - 1, true), (MAX_CAPTURES_BY_TIME, true), (MAX_CAPTURES_BY_TIME + 1, false)]
    {
        for by_time in [true, false] {
            let mut builder = SetBuilder::with_profile(&GOOGLE, &capture::RFC9309, None).by_time(by_time);
            for number in 0..count as i64 {
                // From both ends inwards, so that the captures are in neither order.
                let time = if number % 2 == 0 { number } else { -number };
                let capture = Capture { time: Some(time), ..Capture::default() };
                for _ in 0..2 {
                    let status = 400 + (number % 3) as u16;
                    builder.add_capture([origin(0)], &capture, Outcome::Allow(Cause::Status(status)), None);
                }
            }
            match builder.finish(Form::default()) {
                Ok(_) => assert!(fits || !by_time, "{count}"),
                Err(error) => {
                    assert!(!fits && by_time, "{count}");
                    assert_eq!((error.limit, error.found), (MAX_CAPTURES_BY_TIME as u64, count as u64));
                }
            }
        }
    }
}
