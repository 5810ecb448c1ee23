//! Evaluation of captures: the table in `corpora/fetch` under every profile through compiled sets, and the choice among
//! several captures, in every order and compared with a plain definition.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code: a panic is the report")]

use crate::support;
use bumpalo::Bump;
use proptest::prelude::*;
use reptile_compiler::automaton;
use reptile_compiler::capture::{
    self, Capture, Discarded, NUTCH, Outcome, Profile, Time, Truncation, YANDEX, challenger_of_header, max_age,
    media_type,
};
use reptile_compiler::dialect::crawlers::of_name;
use reptile_compiler::dialect::{self, Dialect, GOOGLE_LIB};
use reptile_compiler::limits::{MAX_BODY_BYTES_500_KIB, MAX_DISCARDED_LISTED, MAX_NOT_FOUND_BYTES, MAX_TIME, MIN_TIME};
use reptile_compiler::set::origin::OwnedOrigin;
use reptile_compiler::set::{BadCapture, CompiledSet, SetBuilder, prepare, prepare_capture};
use reptile_engine::set::Set;
use reptile_engine::verdict::{Cause, PolicySource, Reason, Verdict};
use serde::Deserialize;
use support::{read, workspace};

/// Number of cases in the table. Update it when you add one.
const CASES: usize = 64;

const BODY: &str = "user-agent: *\ndisallow: /blocked\n";
const HOUR: Time = 3600;
const DAY: Time = 24 * HOUR;

#[derive(Deserialize)]
struct Table {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Case {
    name: String,
    captures: Vec<WrittenCapture>,
    at: Option<Time>,
    google: String,
    rfc9309: String,
    yandex: String,
    nutch: String,
    commoncrawl: String,
    crawler_commons: String,
    #[serde(rename = "koster-1996")]
    koster_1996: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCapture {
    hour: Option<Time>,
    status: Option<u16>,
    #[serde(default)]
    redirects: u32,
    #[serde(rename = "type")]
    content_type: Option<String>,
    /// Name and value of another response header.
    header: Option<[String; 2]>,
    truncated: Option<String>,
    #[serde(default)]
    failed: bool,
    body: Option<String>,
    #[serde(default)]
    without_body: bool,
    #[serde(default)]
    padding: usize,
}

impl WrittenCapture {
    fn read(&self) -> (Capture, Option<Vec<u8>>) {
        let capture = Capture {
            status: self.status,
            redirects: self.redirects,
            time: self.hour.map(|hour| hour * HOUR),
            max_age: None,
            media_type: self.content_type.as_deref().map(media_type),
            challenger: self.header.as_ref().and_then(|[name, value]| challenger_of_header(name, value)),
            truncated: self.truncated.as_deref().map(|word| Truncation::from_name(word).unwrap()),
            has_failed: self.failed,
        };
        let body = self.body.clone().unwrap_or_else(|| BODY.to_owned()) + &"#".repeat(self.padding);
        (capture, (!self.without_body).then(|| body.into_bytes()))
    }
}

fn origin(host: &str) -> OwnedOrigin {
    OwnedOrigin::of_robots_url(format!("http://{host}/robots.txt").as_bytes()).unwrap()
}

fn compile(captures: &[(&str, &Capture, Option<&[u8]>)], profile: &'static Profile, at: Option<Time>) -> CompiledSet {
    let mut builder = SetBuilder::with_profile(&GOOGLE_LIB, profile, at);
    for (host, capture, body) in captures {
        let (outcome, record) =
            prepare_capture(capture, *body, profile, |body| prepare(body, &GOOGLE_LIB, &Bump::new())).unwrap();
        builder.add_capture([origin(host)], capture, outcome, record);
    }
    builder.finish(automaton::Strategy::default()).unwrap()
}

/// Returns all permutations of the numbers below `count`.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for order in orders(count - 1) {
        for place in 0..count {
            let mut order = order.clone();
            order.insert(place, count - 1);
            all.push(order);
        }
    }
    all
}

#[test]
fn every_case_matches_the_table_under_every_profile() {
    let table: Table = toml::from_slice(&read(&workspace().join("corpora/fetch/outcomes.toml"))).unwrap();
    assert_eq!(table.case.len(), CASES);
    let (mut compared, mut wrong) = (0, Vec::new());
    for case in &table.case {
        let captures: Vec<_> = case.captures.iter().map(WrittenCapture::read).collect();
        for profile in capture::ALL {
            let expected = match profile.as_str() {
                "google" => &case.google,
                "rfc9309" => &case.rfc9309,
                "yandex" => &case.yandex,
                "nutch" => &case.nutch,
                "commoncrawl" => &case.commoncrawl,
                "crawler-commons" => &case.crawler_commons,
                "koster-1996" => &case.koster_1996,
                other => panic!("no column for {other}"),
            };
            let mut bytes: Option<Vec<u8>> = None;
            for order in orders(captures.len()) {
                let captures = order.iter().map(|&index| &captures[index]);
                let captures: Vec<_> = captures.map(|(capture, body)| ("h", capture, body.as_deref())).collect();
                let made = compile(&captures, profile, case.at.map(|hour| hour * HOUR)).to_bytes();
                let bytes = bytes.get_or_insert_with(|| made.clone());
                assert!(*bytes == made, "{}: {}: input order changes the set", profile.name, case.name);
            }
            let set = Set::from_bytes(bytes.unwrap()).unwrap();
            set.verify().unwrap();
            let agent = set.agent(b"any").unwrap();
            let explained = set.explain(&agent, b"http://h/blocked").unwrap();
            let decided = set.decide(&agent, b"http://h/blocked").unwrap();
            compared += 1;
            if explained.to_string() != *expected || decided != explained.verdict {
                let (profile, case) = (profile.as_str(), &case.name);
                wrong.push(format!("{profile}: {case}: expected {expected}, found {explained}, decided {decided}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(compared, CASES * capture::ALL.len());
}

fn status(status: u16) -> Capture {
    Capture { status: Some(status), ..Capture::default() }
}

/// Returns the policy source of the only origin.
fn source(captures: &[(Capture, &str)], profile: &'static Profile, at: Option<Time>) -> Option<PolicySource> {
    let captures: Vec<_> = captures.iter().map(|(capture, body)| ("h", capture, Some(body.as_bytes()))).collect();
    compile(&captures, profile, at).report().origins.keys().next().copied()
}

#[test]
fn capture_limits_are_exact() {
    for profile in capture::ALL {
        let most = profile.max_redirects;
        for (redirects, used) in [(most - 1, true), (most, true), (most + 1, false), (u32::MAX, false)] {
            let found = source(&[(Capture { redirects, ..status(200) }, "")], profile, None).unwrap();
            assert_eq!(found == PolicySource::Rules, used, "{} {redirects}", profile.name);
        }
    }
    for (len, read) in
        [(MAX_BODY_BYTES_500_KIB - 1, true), (MAX_BODY_BYTES_500_KIB, true), (MAX_BODY_BYTES_500_KIB + 1, false)]
    {
        let body = "#".repeat(len);
        let expected = if read { PolicySource::Rules } else { PolicySource::AllowAll(Cause::TooLarge) };
        assert_eq!(source(&[(status(200), &body)], &YANDEX, None), Some(expected), "{len}");
        assert_eq!(source(&[(status(200), &body)], &NUTCH, None), Some(PolicySource::Rules), "{len}");
    }
    for profile in [&capture::GOOGLE, &capture::RFC9309] {
        let failed = Capture { time: Some(1000), ..status(503) };
        let good = Capture { time: Some(0), ..status(200) };
        for (seconds, is_over) in [(30 * DAY - 1, false), (30 * DAY, false), (30 * DAY + 1, true)] {
            let at = Some(1000 + seconds);
            let over = PolicySource::AllowAll(Cause::Unreachable(30));
            let is_gone = is_over && !profile.keeps_last_answer;
            let kept = if is_gone { over } else { PolicySource::LastGoodCopy(Cause::Status(503)) };
            assert_eq!(source(&[(good.clone(), ""), (failed.clone(), "")], profile, at), Some(kept), "{seconds}");
            let closed = if is_over { over } else { PolicySource::DisallowAll(Cause::Status(503)) };
            assert_eq!(source(&[(failed.clone(), "")], profile, at), Some(closed), "{seconds}");
        }
    }
    for (len, says_so) in
        [(MAX_NOT_FOUND_BYTES - 1, true), (MAX_NOT_FOUND_BYTES, true), (MAX_NOT_FOUND_BYTES + 1, false)]
    {
        let body = format!("{:>len$}", "Not Found");
        let closed = PolicySource::DisallowAll(Cause::Status(500));
        let expected = if says_so { PolicySource::AllowAll(Cause::NotFoundPage(500)) } else { closed };
        assert_eq!(source(&[(status(500), &body)], &capture::GOOGLE, None), Some(expected), "{len}");
        assert_eq!(source(&[(status(500), &body)], &capture::RFC9309, None), Some(closed), "{len}");
    }
    // Extreme times must not cause overflow.
    for at in [MIN_TIME, MAX_TIME, Time::MIN, Time::MAX] {
        let captures = [MIN_TIME, 0, MAX_TIME].map(|time| (Capture { time: Some(time), ..status(503) }, ""));
        let found = source(&captures, &capture::GOOGLE, Some(at));
        assert_eq!(found.is_none(), at == Time::MIN, "{at}");
    }
}

#[test]
fn stale_captures_are_counted() {
    for (name, age, limit) in [
        ("google", None, Some(DAY)),
        ("google", Some(10), Some(10)),
        ("google", Some(7 * DAY as u64), Some(7 * DAY)),
        ("google", Some(u64::MAX), None),
        ("rfc9309", Some(10), Some(10)),
        ("rfc9309", Some(7 * DAY as u64), Some(DAY)),
        ("yandex", Some(10), Some(DAY)),
        ("koster-1996", Some(10), Some(7 * DAY)),
        ("nutch", Some(10), None),
        ("commoncrawl", Some(10), None),
        ("crawler-commons", Some(10), None),
    ] {
        let profile = Profile::from_name(name).unwrap();
        let capture = Capture { time: Some(0), max_age: age, ..status(200) };
        let stale = |at| compile(&[("h", &capture, Some(b""))], profile, Some(at)).report().stale;
        match limit {
            Some(limit) => assert_eq!([limit - 1, limit, limit + 1].map(stale), [0, 0, 1], "{name} {age:?}"),
            None => assert_eq!(stale(100 * 365 * DAY), 0, "{name} {age:?}"),
        }
    }
}

#[test]
fn header_fields_are_parsed() {
    for (text, age) in [
        ("", None),
        ("public", None),
        ("max-age=60", Some(60)),
        ("public, Max-Age = \"60\" , s-maxage=9", Some(60)),
        ("max-age=1, max-age=2", Some(1)),
        ("max-age=99999999999999999999999", Some(u64::MAX)),
        ("max-age=-1", None),
        ("max-age=", None),
        ("max-age", None),
        ("no-cache, max-age=60", Some(0)),
        ("NO-STORE", Some(0)),
        ("no-cache=\"Set-Cookie\", max-age=60", Some(60)),
    ] {
        assert_eq!(max_age(text), age, "{text}");
    }
    assert_eq!(&*media_type(" Text/HTML ; charset=utf-8"), "text/html");
    assert_eq!(&*media_type(""), "");
}

#[test]
fn partial_lines_and_html_tags_are_removed_from_bodies() {
    let cut = Capture { truncated: Some(Truncation::Length), ..Capture::default() };
    for (body, whole) in [("a\nb", "a\n"), ("a\r", "a\r"), ("a", ""), ("", "")] {
        assert_eq!(*capture::GOOGLE.readable(&cut, body.as_bytes()), *whole.as_bytes(), "{body:?}");
    }
    let html = Capture { media_type: Some("text/html".into()), ..Capture::default() };
    for (body, text) in [
        ("<p>a</p>\n<br\n>b", "a\n<br\n>b"),
        ("a<>b<c>", "a<>b"),
        ("<<<a>b", "b"),
        ("a>b<c", "a>b<c"),
        ("a<b\r<c>d", "a<b\rd"),
        ("", ""),
    ] {
        assert_eq!(*NUTCH.readable(&html, body.as_bytes()), *text.as_bytes(), "{body:?}");
        assert_eq!(*capture::GOOGLE.readable(&html, body.as_bytes()), *body.as_bytes());
    }
    for (body, is_html) in [("a<HTML >b", true), ("<body\t>", true), ("<html lang=de>", false), ("<htm", false)] {
        let read = NUTCH.readable(&Capture::default(), body.as_bytes());
        assert_eq!(read.len() < body.len(), is_html, "{body}");
    }
    // Hostile bodies: tags and names that never end.
    for body in ["<".repeat(1 << 20), "<html ".repeat(1 << 18), "<>".repeat(1 << 19)] {
        assert_eq!(NUTCH.readable(&html, body.as_bytes()).len(), body.len());
    }
}

#[test]
fn bodies_are_required_only_if_used() {
    let read = |status: u16, profile| {
        let capture = Capture { status: Some(status), ..Capture::default() };
        prepare_capture(&capture, None, profile, |body| prepare(body, &GOOGLE_LIB, &Bump::new())).map(|_| ())
    };
    assert_eq!(read(200, &capture::GOOGLE), Err(BadCapture::NoBody));
    assert_eq!(read(206, &capture::GOOGLE), Err(BadCapture::NoBody));
    for (status, profile) in [(204, &capture::GOOGLE), (205, &capture::GOOGLE), (404, &capture::GOOGLE), (206, &YANDEX)]
    {
        assert_eq!(read(status, profile), Ok(()), "{status}");
    }
}

#[test]
fn every_dialect_has_a_profile() {
    for dialect in dialect::ALL {
        let expected = match dialect.as_str() {
            "google-lib" | "google" => "google",
            "rfc9309" | "rfc9309-strict" | "bing" => "rfc9309",
            "yandex" | "yandex-2017" => "yandex",
            _ => "koster-1996",
        };
        assert_eq!(Profile::of_dialect(dialect).name, expected);
    }
    for profile in capture::ALL {
        assert_eq!(Profile::from_name(profile.as_str()), Some(profile));
        // Patience matters only if something counts as unreachable.
        let effects = [profile.server_error, profile.network_error, profile.too_many_requests, profile.other_status];
        assert_eq!(effects.contains(&capture::Effect::Unreachable), profile.patience > 0, "{}", profile.name);
    }
}

/// An unreachable robots.txt does not restrict crawlers that obey none. It restricts all others.
#[test]
fn unreachable_files_restrict_obedient_crawlers_only() {
    let failed = status(503);
    let google: &Dialect = &dialect::GOOGLE;
    let set = Set::from_bytes(compile(&[("h", &failed, None)], &capture::GOOGLE, None).to_bytes()).unwrap();
    for (name, verdict) in [
        ("Googlebot", Verdict::Disallow),
        ("AdsBot-Google", Verdict::Disallow),
        ("FooBot", Verdict::Disallow),
        ("Google-Safety", Verdict::Allow),
    ] {
        let agent = of_name(name.as_bytes(), google).look_up(&set).unwrap();
        let mut verdicts = [Verdict::Invalid; 2];
        set.decide_each(&[agent.clone(), agent.clone()], b"http://h/", &mut verdicts).unwrap();
        assert_eq!(verdicts, [verdict; 2], "{name}");
        let explained = set.explain(&agent, b"http://h/").unwrap();
        assert_eq!(explained.verdict, verdict);
        let allowed = verdict == Verdict::Allow;
        assert_eq!(explained.reason(), if allowed { Reason::NoRule(None) } else { Reason::Fetch(Cause::Status(503)) });
    }
}

#[test]
fn discarded_captures_are_counted_and_listed() {
    for count in [MAX_DISCARDED_LISTED - 1, MAX_DISCARDED_LISTED, MAX_DISCARDED_LISTED + 1, 1000] {
        let captures: Vec<Capture> =
            (0..=count).map(|time| Capture { time: Some(time as Time), ..status(200) }).collect();
        let listed = |order: &mut dyn Iterator<Item = &Capture>| {
            let captures: Vec<_> = order.map(|capture| ("h", capture, Some(&b""[..]))).collect();
            let set = compile(&captures, &capture::GOOGLE, None);
            assert_eq!(set.report().discarded[&Discarded::Superseded], count as u64);
            set.report().listed()
        };
        let forwards = listed(&mut captures.iter());
        assert_eq!(forwards, listed(&mut captures.iter().rev()));
        assert_eq!(forwards.len(), count.min(MAX_DISCARDED_LISTED));
        assert!(forwards.iter().map(|discarded| discarded.time).eq((0..forwards.len()).map(|time| Some(time as Time))));
    }
}

/// A capture, its outcome, and its body.
type Known<'c> = (&'c Capture, Outcome, &'c String);

/// Returns the best among the latest captures: with rules if possible, then with the largest body hash.
fn best<'c>(of: &[Known<'c>]) -> Option<(Option<Time>, Outcome, &'c String)> {
    let time = of.iter().map(|(capture, ..)| capture.time).max()?;
    let last = of.iter().filter(|(capture, ..)| capture.time == time);
    let &(_, outcome, body) = last.max_by_key(|found| (found.1, xxhash_rust::xxh3::xxh3_64(found.2.as_bytes())))?;
    Some((time, outcome, body))
}

/// Decides by definition what an origin's captures mean, with all captures available at once.
fn plainly(
    captures: &[(Capture, String)],
    profile: &Profile,
    at: Option<Time>,
) -> Option<(PolicySource, Option<String>)> {
    let known: Vec<Known<'_>> = captures
        .iter()
        .filter(|(capture, _)| capture.time.is_none_or(|time| at.is_none_or(|at| time <= at)))
        .map(|(capture, body)| (capture, profile.outcome(capture, body.as_bytes()), body))
        .collect();
    let latest = known.iter().map(|(capture, ..)| capture.time).max()?;
    let at = at.or(captures.iter().filter_map(|(capture, _)| capture.time).max());
    let of = |outcome, body: &String| match outcome {
        Outcome::Use => (PolicySource::Rules, Some(body.clone())),
        Outcome::Allow(cause) => (PolicySource::AllowAll(cause), None),
        Outcome::Disallow(cause) | Outcome::Unreachable(cause) => (PolicySource::DisallowAll(cause), None),
    };
    let is_answer = |found: &Known<'_>| !matches!(found.1, Outcome::Unreachable(_));
    let answers: Vec<Known<'_>> = known.iter().copied().filter(is_answer).collect();
    let (time, outcome, body) = best(&known)?;
    assert_eq!(time, latest);
    let Outcome::Unreachable(cause) = outcome else { return Some(of(outcome, body)) };
    let answered = best(&answers);
    let failing_since = known
        .iter()
        .filter(|found| matches!(found.1, Outcome::Unreachable(_)))
        .filter_map(|found| found.0.time)
        .filter(|&time| answered.and_then(|(answered, ..)| answered).is_none_or(|answered| time > answered))
        .min();
    if let (Some(since), Some(at)) = (failing_since, at)
        && at - since > 30 * DAY
        && !(profile.keeps_last_answer && answered.is_some())
    {
        return Some((PolicySource::AllowAll(Cause::Unreachable(30)), None));
    }
    Some(match answered {
        Some((_, Outcome::Use, body)) => (PolicySource::LastGoodCopy(cause), Some(body.clone())),
        Some((_, outcome, body)) => of(outcome, body),
        None => of(outcome, body),
    })
}

fn any_capture() -> impl Strategy<Value = (Capture, String)> {
    let status =
        prop_oneof![Just(None), proptest::sample::select(vec![200, 204, 301, 403, 404, 429, 500, 503]).prop_map(Some)];
    let time = prop_oneof![Just(None), (0..50_i64).prop_map(|day| Some(day * DAY))];
    (status, time, 0..7_u32, any::<bool>(), 0..3_usize).prop_map(|(status, time, redirects, fails, body)| {
        let has_failed = fails && redirects == 3;
        let capture = Capture { status, time, redirects, has_failed, ..Capture::default() };
        (capture, format!("user-agent: *\ndisallow: /{body}\n"))
    })
}

proptest! {
    #![proptest_config(support::cases(4000))]
    #[test]
    fn capture_order_does_not_change_the_result(
        captures in proptest::collection::vec((0..3_usize, any_capture()), 1..12),
        profile in proptest::sample::select(&capture::ALL[..]),
        at in prop_oneof![Just(None), (0..90_i64).prop_map(|day| Some(day * DAY))],
        seed in any::<u64>(),
    ) {
        const HOSTS: [&str; 3] = ["a.example", "b.example", "c.example"];
        let view: Vec<_> = captures
            .iter()
            .map(|(host, (capture, body))| (HOSTS[*host], capture, Some(body.as_bytes())))
            .collect();
        let made = compile(&view, profile, at);
        let mut other = view.clone();
        // Shuffles with a linear congruential generator.
        let mut state = seed | 1;
        for _ in 0..300 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (a, b) = ((state >> 33) as usize % other.len(), (state >> 13) as usize % other.len());
            other.swap(a, b);
        }
        let again = compile(&other, profile, at);
        prop_assert!(made.to_bytes() == again.to_bytes());
        prop_assert_eq!(made.report().listed(), again.report().listed());
        prop_assert_eq!(&made.report().discarded, &again.report().discarded);
        prop_assert_eq!(&made.report().origins, &again.report().origins);
        prop_assert_eq!(made.report().stale, again.report().stale);
        // Every capture is either used or discarded.
        let discarded: u64 = made.report().discarded.values().sum();
        let origins: u64 = made.report().origins.values().sum();
        prop_assert_eq!(discarded + origins, view.len() as u64);

        // Each host's policy depends only on its own captures and follows the definition.
        let newest = at.or(captures.iter().filter_map(|(_, (capture, _))| capture.time).max());
        let set = Set::from_bytes(made.to_bytes()).unwrap();
        set.verify().unwrap();
        for (number, host) in HOSTS.into_iter().enumerate() {
            let own: Vec<_> = captures.iter().filter(|(host, _)| *host == number).map(|(_, own)| own.clone()).collect();
            let plain = plainly(&own, profile, newest);
            let agent = set.agent(b"any").unwrap();
            let closed: Vec<usize> = (0..3)
                .filter(|path| {
                    let url = format!("http://{host}/{path}");
                    set.decide(&agent, url.as_bytes()).unwrap() == Verdict::Disallow
                })
                .collect();
            let explained = set.explain(&agent, format!("http://{host}/").as_bytes()).unwrap();
            let expected = match &plain {
                None => Vec::new(),
                Some((PolicySource::DisallowAll(_), _)) => vec![0, 1, 2],
                Some((_, body)) => (0..3).filter(|path| body.as_ref().is_some_and(|body| body.contains(&format!("/{path}")))).collect(),
            };
            prop_assert_eq!(closed, expected);
            match plain {
                None => prop_assert_eq!(explained.verdict, Verdict::Unknown),
                Some((source, _)) => prop_assert_eq!(explained.source, source),
            }
        }
    }
}
