//! Tests for [`redirects`](super).

use super::rows::MAX_REVISITS;
use super::*;

/// Returns a store with `buffer_bytes` per buffer.
fn redirects(buffer_bytes: usize) -> Redirects {
    Redirects::new(Scratch { folder: None, buffer_bytes })
}

fn place(number: usize) -> RecordPlace {
    RecordPlace { input: 0, rank: 0, number: number as u64 + 1 }
}

fn url(number: usize) -> String {
    format!("http://h{number}/robots.txt")
}

fn identity(redirects: &Redirects, url: &str, time: Option<Time>) -> Identity {
    Identity { key: redirects.key(url), time, id: 0, digest: 0 }
}

fn status(status: u16) -> Capture {
    Capture { status: Some(status), ..Capture::default() }
}

fn add_redirect(redirects: &Redirects, number: usize, from: &str, to: &str, waits: bool) {
    let capture = status(301);
    let kind = AnswerKind::Redirect(&capture, to);
    redirects.add_answer(place(number), &identity(redirects, from, Some(1)), &kind).unwrap();
    if waits {
        redirects.add_waiting(place(number), format!("record {number}"), from, Some(1), &kind).unwrap();
    }
}

fn add_answer(redirects: &Redirects, number: usize, url: &str, body: &[u8]) {
    let identity = identity(redirects, url, Some(1));
    redirects.add_answer(place(number), &identity, &AnswerKind::Body(&status(200), body)).unwrap();
}

/// Resolves everything. Returns each capture's name, status, redirect count, and the reason if it was skipped.
fn resolve(redirects: &Redirects) -> Vec<(String, u16, u32, Vec<u8>)> {
    let mut found = Vec::new();
    let mut take = |robots: Robots, body: Option<&[u8]>| {
        let Capture { status, redirects, .. } = robots.capture;
        found.push((robots.name, status.unwrap(), redirects, body.unwrap_or_default().to_vec()));
    };
    let resolved = redirects.resolve(&mut |item| {
        match item {
            Item::Robots(mut robots) => {
                let body = robots.body.take();
                take(robots, body.as_deref());
            }
            Item::SameBody { body, robots } => robots.into_iter().for_each(|robots| take(robots, Some(&body))),
            Item::LeftOut { reason, name } => found_left_out(&mut take, reason, name),
            _ => panic!(),
        }
        Ok(())
    });
    resolved.unwrap();
    found
}

fn found_left_out(take: &mut dyn FnMut(Robots, Option<&[u8]>), reason: &str, name: Option<String>) {
    let capture = status(999);
    let name = name.unwrap();
    let robots = Robots { name, origins: Vec::new(), capture, body: None, is_file: false, fetch: None };
    take(robots, Some(reason.as_bytes()));
}

#[test]
fn redirect_chains_stop_at_the_limit() {
    for count in [MAX_REDIRECTS - 1, MAX_REDIRECTS, MAX_REDIRECTS + 1] {
        let all = redirects(1 << 20);
        for number in 0..count {
            add_redirect(&all, number, &url(number), &url(number + 1), number == 0);
        }
        add_answer(&all, count, &url(count), b"x");
        let found = resolve(&all);
        let (status, body) = if count <= MAX_REDIRECTS { (200, &b"x"[..]) } else { (301, &b""[..]) };
        let redirects = count.min(MAX_REDIRECTS) as u32;
        assert_eq!(found, [("record 0".to_owned(), status, redirects, body.to_vec())], "{count}");
    }
}

#[test]
fn revisit_chains_stop_at_the_limit() {
    for count in [MAX_REVISITS - 1, MAX_REVISITS, MAX_REVISITS + 1] {
        let all = redirects(1 << 20);
        for number in 0..count {
            let reference = Reference { url: url(0), id: Some(u64::from(number) + 1), ..Reference::default() };
            let revisit = Revisit::new(reference, None, None);
            let identity = Identity { id: u64::from(number), ..identity(&all, &url(0), Some(1)) };
            all.add_answer(place(number as usize), &identity, &AnswerKind::Revisit(&revisit)).unwrap();
            if number == 0 {
                let kind = AnswerKind::Revisit(&revisit);
                all.add_waiting(place(0), "record 0".into(), &url(0), Some(1), &kind).unwrap();
            }
        }
        let identity = Identity { id: u64::from(count), ..identity(&all, &url(0), Some(1)) };
        all.add_answer(place(count as usize), &identity, &AnswerKind::Body(&status(200), b"x")).unwrap();
        let found = resolve(&all);
        assert_eq!(found[0].1, if count <= MAX_REVISITS { 200 } else { 999 }, "{count}");
    }
}

#[test]
fn urls_with_too_many_responses_are_skipped() {
    for count in [MAX_ANSWERS - 1, MAX_ANSWERS, MAX_ANSWERS + 1] {
        let all = redirects(8 << 20);
        (0..count).for_each(|number| add_answer(&all, number, &url(1), b"x"));
        add_redirect(&all, count, &url(0), &url(1), true);
        assert_eq!(resolve(&all)[0].1, if count <= MAX_ANSWERS { 200 } else { 999 }, "{count}");
    }
    assert!(TOO_MANY_ANSWERS.contains("65,536") && MAX_ANSWERS == 65_536);
}

#[test]
fn results_do_not_depend_on_memory() {
    let result = |buffer_bytes| {
        let all = redirects(buffer_bytes);
        for number in 0..300 {
            add_redirect(&all, number, &url(number), &url(number + 1 + number % 3), number % 2 == 0);
        }
        for number in 300..303 {
            add_answer(&all, number, &url(number), &vec![b'x'; number]);
        }
        resolve(&all)
    };
    let expected = result(8 << 20);
    assert_eq!(expected.len(), 150);
    for buffer_bytes in [1, 100, 10_000] {
        assert_eq!(result(buffer_bytes), expected, "{buffer_bytes}");
    }
}

#[test]
fn captures_with_a_shared_body_are_passed_on_in_bounded_parts() {
    let all = redirects(8 << 20);
    let count = 2 * MAX_SHARED_BYTES / 400;
    (0..count).for_each(|number| add_redirect(&all, number, &url(number), &url(count), true));
    add_answer(&all, count, &url(count), b"x");
    let mut sizes = Vec::new();
    let resolved = all.resolve(&mut |item| {
        let Item::SameBody { robots, .. } = item else { panic!() };
        let last = robots.last().map_or(0, shared_bytes);
        let bytes: usize = robots.iter().map(shared_bytes).sum();
        assert!(bytes < MAX_SHARED_BYTES + last);
        sizes.push(robots.len());
        Ok(())
    });
    resolved.unwrap();
    assert_eq!(sizes.iter().sum::<usize>(), count);
    assert!(sizes.len() > 1 && sizes.len() < 20, "{sizes:?}");
}

#[test]
fn usual_urls_are_in_normal_form() {
    let long = ["x".repeat(70), "y".repeat(250), "example".to_owned()].join(".");
    let usual = ["example", "a.example", "a-1.b2.example", "1.example", "a--b.ab--cd.e", "-a-.b", "1.0x1.a1", &long];
    let other =
        ["", "A.example", "a.xn--b.example", "1.2.3.4", "a.1", "a.0x1", "a..b", ".a", "a.", "a:80", "u@a.example"];
    let other = other.iter().chain(&["a_b.example", "a%61.example", "\u{e9}.example", "a.example/b", "a.example?"]);
    for (host, is_usual) in usual.iter().map(|host| (host, true)).chain(other.map(|host| (host, false))) {
        for scheme in ["http", "https"] {
            let url = format!("{scheme}://{host}/robots.txt");
            assert_eq!(is_normal(&url), is_usual, "{url}");
            assert!(!is_usual || Url::parse(&url).ok().and_then(normal).as_ref() == Some(&url), "{url}");
        }
    }
    for url in ["ftp://a.example/robots.txt", "https://a.example/robots.txt#b", "https://a.example/Robots.txt"] {
        assert!(!is_normal(url), "{url}");
    }
}
