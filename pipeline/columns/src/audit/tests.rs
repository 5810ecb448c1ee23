//! Tests of an audit's limits, order and grace period.

use std::sync::Arc;

use reptile::capture::Time;
use reptile::{Capture, Compiler, Dialect, Error, Set, Verdict};

use super::requests::{Request, Requests};
use super::visits::{MAX_DELAY_SECONDS, MAX_RULE_TEXTS, MAX_TOPS};
use super::*;

fn set() -> Set {
    let mut compiler = Compiler::new(Dialect::google());
    let body = "user-agent: *\ndisallow: /\ncrawl-delay: 4.9\n";
    compiler.add(Capture::new("https://example.com/robots.txt", body).unwrap()).unwrap();
    compiler.finish().unwrap().into_set().unwrap()
}

fn request(time: Time, crawler: u32, origin: u32) -> Request {
    let (verdict, is_for_robots) = (Verdict::Allow, false);
    Request { time, crawler, origin, verdict, is_for_robots, status: None, identity: None, violation: None }
}

/// Returns a block with crawlers, origins and requests.
fn block(set: &Set, crawlers: usize, origins: usize, requests: Vec<Request>) -> Requests {
    let agent = set.agent("Bot").unwrap();
    let name = |number: usize| (Arc::from(format!("Bot{number}")), agent.clone());
    Requests {
        crawlers: (0..crawlers).map(name).collect(),
        origins: (0..origins).map(|number| (number as u64, b"https://example.com/".to_vec())).collect(),
        requests,
        ..Requests::default()
    }
}

fn audit(set: &Set, blocks: impl IntoIterator<Item = Requests>) -> Audited {
    let (mut sorter, mut audit) = (Sorter::default(), Audit::new(set));
    blocks.into_iter().for_each(|block| sorter.add(block));
    audit.add(sorter.take(Time::MAX), |_, _| Ok::<(), Error>(())).unwrap();
    audit.finish()
}

#[test]
fn crawlers_over_the_limit_are_counted_together() {
    let set = set();
    for count in [MAX_AUDITED_CRAWLERS - 1, MAX_AUDITED_CRAWLERS, MAX_AUDITED_CRAWLERS + 1] {
        let requests = (0..count).map(|number| request(0, number as u32, 0)).collect();
        let found = audit(&set, [block(&set, count, 1, requests)]);
        let others = found.crawlers.iter().filter(|counts| counts.name.is_empty());
        let others = others.map(|counts| counts.requests).sum::<u64>() as usize;
        assert_eq!(others, count.saturating_sub(MAX_AUDITED_CRAWLERS));
        assert_eq!(found.unordered as usize, others);
        assert_eq!(found.crawlers.iter().map(|counts| counts.requests).sum::<u64>() as usize, count);
    }
}

/// Many names that a client invents do not hide a crawler that appears later.
#[test]
fn known_and_named_crawlers_are_always_counted_apart() {
    let set = set();
    let agent = set.agent("Bot").unwrap();
    let mut names: Vec<(Arc<str>, reptile::Agent)> =
        (0..MAX_AUDITED_CRAWLERS + 10).map(|number| (Arc::from(format!("Bot{number}")), agent.clone())).collect();
    names.push((Arc::from("GPTBot"), set.agent("GPTBot").unwrap()));
    let requests = (0..names.len()).map(|number| request(0, number as u32, 0)).collect();
    let block = Requests { crawlers: names, ..block(&set, 0, 1, requests) };
    let found = audit(&set, [block]);
    assert!(found.crawlers.iter().any(|counts| &*counts.name == "GPTBot" && counts.requests == 1));
    assert_eq!(found.crawlers.len(), MAX_AUDITED_CRAWLERS + 2);
}

/// Returns a violation of the rule in a line.
fn violation_of(set: &Set, line: u32) -> Request {
    let url = b"https://example.com/x".to_vec();
    let mut explained = set.agent("Bot").unwrap().explain(&url).unwrap();
    explained.disallow.as_mut().unwrap().line = line;
    let (client, provenance, period) = (Vec::new(), reptile::Provenance::default(), (0, 0));
    let violation = Violation { url, client, provenance, period, explained, is_in_grace: false };
    Request { verdict: Verdict::Disallow, violation: Some(Box::new(violation)), ..request(0, 0, 0) }
}

#[test]
fn rules_over_the_limits_have_no_text_or_are_left_out() {
    let set = set();
    for count in [MAX_TOPS - 1, MAX_TOPS, MAX_TOPS + 1] {
        let found = audit(&set, [block(&set, 1, 1, (1..=count as u32).map(|line| violation_of(&set, line)).collect())]);
        assert_eq!(
            (found.rules.first(usize::MAX).len(), found.urls.first(2)[0].1),
            (count.min(MAX_TOPS), count as u64)
        );
    }
    for count in [MAX_RULE_TEXTS - 1, MAX_RULE_TEXTS, MAX_RULE_TEXTS + 1] {
        let last = count as u32;
        let lines = (1..=last).chain([last; 2]);
        let found = audit(&set, [block(&set, 1, 1, lines.map(|line| violation_of(&set, line)).collect())]);
        let key = String::from_utf8(found.rules.first(1)[0].0.to_vec()).unwrap();
        let text = format!("Bot0\thttps://example.com line {last}: Disallow: /");
        assert_eq!(key, if count > MAX_RULE_TEXTS { "Bot0\tanother rule" } else { &text });
    }
}

/// The texts of waiting requests are limited as well as their number.
#[test]
fn long_texts_do_not_wait() {
    let set = set();
    let agent = set.agent("Bot").unwrap();
    let explained = agent.explain("https://example.com/").unwrap();
    const URL_BYTES: usize = 1 << 16;
    let most = MAX_WAITING_BYTES / (URL_BYTES + 1);
    for count in [most - 1, most, most + 1] {
        let violated = |number: usize| {
            let (url, client, provenance, period) = (vec![b'x'; URL_BYTES], Vec::new(), Default::default(), (0, 0));
            let explained = explained.clone();
            let violation = Violation { url, client, provenance, period, explained, is_in_grace: false };
            Request { violation: Some(Box::new(violation)), ..request(number as Time, 0, 0) }
        };
        let mut sorter = Sorter::default();
        sorter.add(block(&set, 1, 1, (0..count).map(violated).collect()));
        let taken = sorter.take(0).requests.len();
        assert_eq!(taken, if count > most { count / 2 } else { 0 });
    }
}

#[test]
fn delays_are_digits_up_to_a_day() {
    for (value, has_delay) in [
        ("5", true),
        ("5.9", true),
        (&(MAX_DELAY_SECONDS - 1).to_string(), true),
        (&MAX_DELAY_SECONDS.to_string(), true),
        (&(MAX_DELAY_SECONDS + 1).to_string(), false),
        ("0.5", false),
        ("inf", false),
        ("1e5", false),
        ("+5", false),
        ("-5", false),
        ("5 s", false),
        ("", false),
    ] {
        let mut compiler = Compiler::new(Dialect::google());
        let body = format!("user-agent: *\ndisallow: /\ncrawl-delay: {value}\n");
        compiler.add(Capture::new("https://example.com/robots.txt", body.as_bytes()).unwrap()).unwrap();
        let set = compiler.finish().unwrap().into_set().unwrap();
        let found = audit(&set, [block(&set, 1, 1, vec![request(0, 0, 0), request(1, 0, 0)])]);
        assert_eq!(found.crawlers[0].delayed, u64::from(has_delay), "{value}");
    }
}

#[test]
fn requests_at_origins_and_pairs_over_the_limit_have_no_session() {
    let set = set();
    const { assert!(MAX_ORIGINS == MAX_VISITS) };
    for count in [MAX_ORIGINS - 1, MAX_ORIGINS, MAX_ORIGINS + 1] {
        let requests = (0..count).map(|number| request(0, 0, number as u32)).collect();
        let found = audit(&set, [block(&set, 1, count, requests)]);
        let counts = &found.crawlers[0];
        assert_eq!((counts.requests as usize, found.unordered as usize), (count, count.saturating_sub(MAX_ORIGINS)));
        assert_eq!(counts.sessions as usize, count.min(MAX_VISITS));
    }
    // As many pairs with half as many origins.
    let half = MAX_VISITS / 2;
    for more in [0, 1] {
        let pairs = (0..2 * half).map(|number| request(0, (number / half) as u32, (number % half) as u32));
        let requests = pairs.chain((0..more).map(|_| request(1, 2, 0))).collect();
        let found = audit(&set, [block(&set, 3, half, requests)]);
        assert_eq!(found.unordered, more);
    }
}

#[test]
fn days_over_the_limit_are_not_in_timelines() {
    let set = set();
    for count in [MAX_AUDITED_DAYS - 1, MAX_AUDITED_DAYS, MAX_AUDITED_DAYS + 1] {
        let requests = (0..count).map(|number| request(number as Time * DAY_SECONDS, 0, 0)).collect();
        let found = audit(&set, [block(&set, 1, 1, requests)]);
        assert_eq!(found.undated as usize, count.saturating_sub(MAX_AUDITED_DAYS));
        assert_eq!(found.days[0].len(), count.min(MAX_AUDITED_DAYS));
        assert_eq!(found.crawlers[0].requests as usize, count);
    }
}

#[test]
fn too_many_waiting_requests_are_counted_early() {
    let set = set();
    for count in [MAX_WAITING - 1, MAX_WAITING, MAX_WAITING + 1] {
        let mut sorter = Sorter::default();
        sorter.add(block(&set, 1, 1, (0..count).rev().map(|time| request(time as Time, 0, 0)).collect()));
        let taken = sorter.take(0).requests;
        assert_eq!(taken.len(), if count > MAX_WAITING { count / 2 } else { 0 });
        let rest = sorter.take(Time::MAX).requests;
        let times = taken.iter().chain(&rest).map(|request| request.time);
        assert!(times.clone().eq(0..count as Time), "{:?}", times.take(3).collect::<Vec<_>>());
    }
}

/// Requests of several blocks, in order, late and too late: sessions, pauses, and the pauses shorter than 4.9 s, which
/// logs with whole seconds show as 4 s or more.
#[test]
fn pauses_and_sessions_follow_the_order_of_time() {
    let set = set();
    let cases: [(&[Time], [u64; 5]); 7] = [
        // Times, then sessions, pauses, their sum, pauses with a delay, and those that are too short.
        (&[0], [1, 0, 0, 0, 0]),
        (&[0, 3], [1, 1, 3, 1, 1]),
        (&[0, 4], [1, 1, 4, 1, 0]),
        (&[4, 0], [1, 1, 4, 1, 0]),
        (&[0, 0, 9], [1, 2, 9, 2, 1]),
        (&[0, SESSION_SECONDS - 1], [1, 1, 299, 1, 0]),
        (&[0, SESSION_SECONDS, 2 * SESSION_SECONDS + 1], [3, 0, 0, 2, 0]),
    ];
    for (times, expected) in cases {
        let blocks = times.iter().map(|&time| block(&set, 1, 1, vec![request(time, 0, 0)]));
        let found = audit(&set, blocks);
        let counts = &found.crawlers[0];
        let found = [counts.sessions, counts.pauses, counts.paused, counts.delayed, counts.too_short];
        assert_eq!(found, expected, "{times:?}");
    }
    // Counted before an earlier request arrives: that one has no pause.
    let (mut sorter, mut audit) = (Sorter::default(), Audit::new(&set));
    for time in [100, 50] {
        sorter.add(block(&set, 1, 1, vec![request(time, 0, 0)]));
        audit.add(sorter.take(Time::MAX), |_, _| Ok::<(), Error>(())).unwrap();
    }
    let found = audit.finish();
    assert_eq!((found.unordered, found.crawlers[0].requests, found.crawlers[0].sessions), (1, 2, 1));
    assert_eq!(found.crawlers[0].period, Some((50, 100)));
}

/// Each answer to a request for robots.txt, and whether the crawler has a copy afterwards.
#[test]
fn copies_need_an_answer_that_can_be_followed() {
    let set = set();
    for (status, has_copy) in [
        (None, true),
        (Some(200), true),
        (Some(301), true),
        (Some(304), true),
        (Some(404), true),
        (Some(410), true),
        (Some(403), false),
        (Some(429), false),
        (Some(500), false),
        (Some(503), false),
    ] {
        let fetch = Request { is_for_robots: true, status, ..request(0, 0, 0) };
        let found = audit(&set, [block(&set, 1, 1, vec![fetch, request(10, 0, 0)])]);
        let counts = &found.crawlers[0];
        assert_eq!((counts.fetches, counts.copies), (1, u64::from(has_copy)), "{status:?}");
        assert_eq!(counts.oldest_copy, has_copy.then_some(10), "{status:?}");
        assert_eq!(counts.ages[if has_copy { 0 } else { COPY_AGES.len() + 1 }], 1, "{status:?}");
    }
}

#[test]
fn ages_of_copies_are_in_classes() {
    let set = set();
    for (age, class) in
        [(0, 0), (3_600, 0), (3_601, 1), (86_400, 1), (86_401, 2), (604_800, 2), (604_801, 3), (i64::MAX / 2, 3)]
    {
        let fetch = Request { is_for_robots: true, ..request(0, 0, 0) };
        let found = audit(&set, [block(&set, 1, 1, vec![fetch, request(age, 0, 0)])]);
        assert_eq!(found.crawlers[0].ages[class], 1, "{age}");
    }
}
