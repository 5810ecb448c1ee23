//! Tests decisions that depend on time: when a copy goes stale, and which rules applied at a URL's own time.
#![cfg(feature = "compile")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use reptile::{Capture, Cause, Compiler, Dialect, ErrorKind, Group, PolicySource, Profile, Robots, Set, Verdict};

const DAY: i64 = 86_400;

#[test]
fn fetch_outcomes_decide_and_go_stale() {
    let profile = Profile::of_dialect(Dialect::google());
    let of = |capture: &Capture| Robots::from_capture(capture, Dialect::google(), profile).unwrap();
    for (status, verdict, source, expires_at) in [
        (404, Verdict::Allow, PolicySource::AllowAll(Cause::Status(404)), None),
        (503, Verdict::Disallow, PolicySource::DisallowAll(Cause::Status(503)), Some(30 * DAY)),
    ] {
        let mut capture = Capture::without_body("https://a.example/robots.txt").unwrap();
        (capture.status, capture.time) = (Some(status), Some(0));
        let robots = of(&capture);
        assert_eq!(robots.agent("a").unwrap().decide("/").unwrap(), verdict);
        let site = robots.site().unwrap();
        assert_eq!((site.source, site.status, site.fetched_at), (source, Some(status), Some(0)));
        assert_eq!(site.expires_at, expires_at);
    }
    let mut capture = Capture::new("https://a.example/robots.txt", "user-agent: *\ndisallow: /").unwrap();
    assert_eq!(of(&capture).site().unwrap().stale_at, None);
    capture.time = Some(1000);
    assert_eq!(of(&capture).site().unwrap().stale_at, Some(1000 + DAY));
    capture.cache_control = Some("max-age=600".into());
    assert_eq!(of(&capture).site().unwrap().stale_at, Some(1600));
}

/// Returns a set by time with one site: a file, then a failure, which the file outlives for thirty days, then a new
/// file.
fn set_by_time(by_time: bool) -> Set {
    let mut compiler = Compiler::with_profile(Dialect::google(), Profile::from_name("rfc9309").unwrap(), None);
    compiler = compiler.by_time(by_time);
    for (time, body) in
        [(0, Some("user-agent: *\ndisallow: /a")), (DAY, None), (60 * DAY, Some("user-agent: *\nallow: /"))]
    {
        let mut capture = Capture::without_body("https://a.example/robots.txt").unwrap();
        capture.body = body.map(Into::into);
        capture.status = Some(if body.is_some() { 200 } else { 503 });
        capture.time = Some(time);
        compiler.add(capture).unwrap();
    }
    compiler.finish().unwrap().into_set().unwrap()
}

#[test]
fn dated_verdicts_equal_verdicts_and_provenance() {
    let mut capture = Capture::new("https://c.example/robots.txt", "user-agent: *\ndisallow: /a").unwrap();
    capture.time = Some(7 * DAY);
    let fresh = Robots::from_capture(&capture, Dialect::google(), Profile::of_dialect(Dialect::google())).unwrap();
    let only = fresh.agents(["AnyBot", "OtherBot"]).unwrap();
    let (plain, timed) = (set_by_time(false), set_by_time(true));
    let replaced = plain.with_robots([("https://b.example".parse().unwrap(), fresh)]);
    let pages = ["https://a.example/a", "https://a.example/b", "https://b.example/a", "no url", "HTTPS://A.example/a"];
    // Several batches.
    let urls: Vec<&str> = pages.iter().copied().cycle().take(101).collect();
    let mut known = 0;
    for (agents, times) in [
        (plain.agents(["AnyBot", "OtherBot"]).unwrap(), None),
        (timed.agents(["AnyBot", "OtherBot"]).unwrap(), None),
        (replaced.agents(["AnyBot", "OtherBot"]).unwrap(), None),
        (only, None),
        (timed.agents(["AnyBot"]).unwrap(), Some(vec![-1, 0, DAY, 60 * DAY - 1, 31 * DAY + 1, 60 * DAY])),
    ] {
        let times: Option<Vec<i64>> = times.map(|times| times.into_iter().cycle().take(urls.len()).collect());
        let mut verdicts = vec![Verdict::Unknown; urls.len() * agents.len()];
        let mut expected = verdicts.clone();
        let mut fetched_at = vec![Some(-5); urls.len()];
        match &times {
            None => agents.decide_all(&urls, &mut expected).unwrap(),
            Some(times) => agents.decide_all_at(&urls, times, &mut expected).unwrap(),
        }
        agents.decide_all_dated(&urls, times.as_deref(), &mut verdicts, &mut fetched_at).unwrap();
        assert_eq!(verdicts, expected);
        for agent in agents.iter() {
            for (row, (url, &fetched_at)) in urls.iter().zip(&fetched_at).enumerate() {
                let found = match &times {
                    None => agent.provenance(url),
                    Some(times) => agent.provenance_at(url, times[row]),
                };
                assert_eq!(found.unwrap().fetched_at, fetched_at, "{url}");
                known += usize::from(fetched_at.is_some());
            }
        }
        let short = agents.decide_all_dated(&urls, times.as_deref(), &mut verdicts, &mut fetched_at[1..]).unwrap_err();
        assert_eq!(
            (short.kind(), short.to_string().as_str()),
            (ErrorKind::BufferLength, "101 URLs need a buffer of as many fetch times, found 100")
        );
        let no_times = agents.decide_all_dated(&urls, Some(&[]), &mut verdicts, &mut fetched_at).unwrap_err();
        assert_eq!(no_times.kind(), ErrorKind::BufferLength);
    }
    assert!(known > 500, "{known}");
}

#[test]
fn urls_are_decided_at_their_own_time() {
    let set = set_by_time(true);
    set.verify().unwrap();
    assert!(set.has_times());
    let url = "https://a.example/a";
    let failed = Cause::Status(503);
    let spans = [
        (Some(0), Some(DAY - 1), PolicySource::Rules, Verdict::Disallow),
        (Some(DAY), Some(31 * DAY), PolicySource::LastGoodCopy(failed), Verdict::Disallow),
        (Some(31 * DAY + 1), Some(60 * DAY - 1), PolicySource::AllowAll(Cause::Unreachable(30)), Verdict::Allow),
        (Some(60 * DAY), None, PolicySource::Rules, Verdict::Allow),
    ];
    let found = set.spans(url).unwrap();
    let plain: Vec<_> = found.iter().map(|span| (span.from, span.until, span.source)).collect();
    assert_eq!(plain, spans.map(|(from, until, source, _)| (from, until, source)));
    assert_eq!(set.spans("https://b.example/").unwrap(), []);
    assert_eq!(set.spans("no url").unwrap(), []);

    let agents = set.agents(["AnyBot", "OtherBot"]).unwrap();
    let agent = agents.iter().next().unwrap();
    let (mut times, mut expected) = (vec![-1], vec![Verdict::Unknown]);
    for (from, until, _, verdict) in spans {
        times.extend([from.unwrap(), until.unwrap_or(i64::MAX)]);
        expected.extend([verdict; 2]);
    }
    let urls = vec![url; times.len()];
    let rows: Vec<Verdict> = expected.iter().flat_map(|&verdict| [verdict; 2]).collect();
    let mut verdicts = vec![Verdict::Invalid; rows.len()];
    agents.decide_all_at(&urls, &times, &mut verdicts).unwrap();
    assert_eq!(verdicts, rows);
    for (&time, &verdict) in times.iter().zip(&expected) {
        assert_eq!(agent.decide_at(url, time).unwrap(), verdict, "{time}");
        assert_eq!(agent.explain_at(url, time).unwrap().verdict, verdict, "{time}");
    }
    let explained = agent.explain_at(url, DAY).unwrap();
    assert_eq!(
        (explained.rule().map(|rule| rule.line), explained.source),
        (Some(2), PolicySource::LastGoodCopy(failed))
    );
    assert_eq!(
        (explained.group, explained.reason.to_string().as_str()),
        (Group::Default, "rule of the last good copy, now 503")
    );
    assert_eq!(agent.explain_at("no url", 0).unwrap().verdict, Verdict::Invalid);
    // Without a time, the set decides for its own.
    assert_eq!(agent.decide(url).unwrap(), Verdict::Allow);
    #[cfg(feature = "rayon")]
    {
        let (urls, times) = (urls.repeat(1000), times.repeat(1000));
        let mut verdicts = vec![Verdict::Invalid; rows.len() * 1000];
        agents.par_decide_all_at(&urls, &times, &mut verdicts).unwrap();
        assert_eq!(verdicts, rows.repeat(1000));
    }
    let error = agents.decide_all_at(&urls, &times[1..], &mut verdicts).unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (ErrorKind::BufferLength, "9 URLs need as many times, found 8")
    );
    assert_eq!(agents.decide_all_at(&urls, &times, &mut verdicts[1..]).unwrap_err().kind(), ErrorKind::BufferLength);
}

#[test]
fn sets_not_by_time_refuse_queries_for_a_time() {
    let replaced = set_by_time(true).with_robots([(
        "https://a.example".parse().unwrap(),
        Robots::parse("user-agent: *\ndisallow: /", Dialect::google()).unwrap(),
    )]);
    for (set, word) in [(set_by_time(false), "not by time"), (replaced, "replaced")] {
        let agent = set.agent("AnyBot").unwrap();
        let error = agent.decide_at("https://a.example/a", 0).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
        let others =
            [agent.explain_at("https://a.example/a", 0).unwrap_err(), set.spans("https://a.example/").unwrap_err()];
        assert!([error].iter().chain(&others).all(|error| error.kind() == ErrorKind::NoTimes));
    }
}
