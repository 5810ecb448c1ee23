//! Calls about one robots.txt: the cases in `corpora/calls`, which every language runs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use reptile::body::is_location;
use reptile::urls::split;
use reptile::usage::{Preference, Sources, Vocabulary};
use reptile::{Capture, Compiler, Dialect, ErrorKind, OneShot, Profile, Robots, Verdict, dialects};
use serde::Deserialize;

/// Numbers of URLs, refused texts and accepted texts. They reveal a loader that skips cases.
const CASES: [usize; 3] = [66, 25, 36];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    body: String,
    url: Vec<Url>,
    refused: Vec<String>,
    accepted: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Url {
    text: String,
    #[serde(default)]
    bytes: usize,
    verdict: String,
}

impl Url {
    fn text(&self) -> String {
        format!("{}{}", self.text, "a".repeat(self.bytes.saturating_sub(self.text.len())))
    }

    fn verdict(&self) -> Verdict {
        self.verdict.parse().unwrap()
    }
}

fn cases() -> Cases {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../corpora/calls/cases.toml");
    let cases: Cases = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!([cases.url.len(), cases.refused.len(), cases.accepted.len()], CASES);
    cases
}

/// Every function about a URL of one robots.txt agrees on which texts are URLs or paths.
#[test]
fn a_text_is_a_url_or_a_path_or_invalid() {
    let cases = cases();
    let robots = Robots::parse(&cases.body, Dialect::google()).unwrap();
    let one_shot = OneShot::new("GPTBot", Dialect::google()).unwrap();
    let (agent, agents) = (robots.agent("GPTBot").unwrap(), robots.agents(["GPTBot", "MyBot"]).unwrap());
    let uses = Vocabulary::default().uses(["search"], Sources::USAGE).unwrap();
    let texts: Vec<String> = cases.url.iter().map(Url::text).collect();
    let mut all = vec![Verdict::Unknown; 2 * texts.len()];
    agents.decide_all(&texts, &mut all).unwrap();
    for ((case, text), row) in cases.url.iter().zip(&texts).zip(all.chunks(2)) {
        let verdict = case.verdict();
        let is_invalid = verdict == Verdict::Invalid;
        assert_eq!(agent.decide(text).unwrap(), verdict, "{text:.60?}");
        assert_eq!(row, [verdict; 2], "{text:.60?}");
        let explained = agent.explain(text).unwrap();
        assert_eq!(explained.verdict, verdict, "{text:.60?}");
        assert!(!is_invalid || explained.rule().is_none() && agent.matching_rules(text).unwrap().is_empty());
        let line = explained.rule().map(|rule| rule.line);
        assert_eq!(one_shot.decide(&cases.body, text).unwrap(), (verdict, line), "{text:.60?}");
        let usage = agent.usage(text, &uses).unwrap();
        assert_eq!(usage.verdict, verdict, "{text:.60?}");
        assert!(usage.preferences[0] != Preference::Allowed);
    }
}

/// One file answers like a set: a path like the URL with an origin before it.
#[test]
fn one_file_and_a_set_agree() {
    let cases = cases();
    let mut compiler = Compiler::new(Dialect::google());
    compiler.add(Capture::new("https://example.com/robots.txt", cases.body.clone()).unwrap()).unwrap();
    let set = compiler.finish().unwrap().into_set().unwrap().agent("GPTBot").unwrap();
    let mut paths = 0;
    for case in &cases.url {
        let (text, verdict) = (case.text(), case.verdict());
        if !text.starts_with('/') {
            assert_eq!(set.decide(&text).unwrap() == Verdict::Invalid, verdict == Verdict::Invalid, "{text:.60?}");
            assert_eq!(split(text.as_bytes()).is_err(), verdict == Verdict::Invalid, "{text:.60?}");
        } else if text.len() < 60_000 {
            assert_eq!(set.decide(format!("https://example.com{text}")).unwrap(), verdict, "{text:?}");
            paths += 1;
        }
    }
    assert_eq!(paths, 12);
}

#[test]
fn urls_paths_and_file_names_are_no_robots_txt() {
    let cases = cases();
    for dialect in dialects::ALL {
        let one_shot = OneShot::new("GPTBot", dialect).unwrap();
        for body in &cases.refused {
            assert!(is_location(body.as_bytes()), "{body}");
            let kinds = [Robots::parse(body, dialect).err(), one_shot.decide(body, &cases.body).err()]
                .map(|error| error.map(|error| error.kind()));
            assert_eq!(kinds, [Some(ErrorKind::NotRobots); 2], "{dialect} {body}");
            // A server may send any text, and these say nothing.
            let capture = Capture::new("https://example.com/robots.txt", body.clone()).unwrap();
            let robots = Robots::from_capture(&capture, dialect, Profile::of_dialect(dialect)).unwrap();
            assert_eq!(robots.agent("MyBot").unwrap().decide("/x").unwrap(), Verdict::Allow, "{dialect} {body}");
        }
        for body in &cases.accepted {
            assert!(!is_location(body.as_bytes()), "{body:?}");
            assert!(Robots::parse(body, dialect).is_ok(), "{dialect} {body:?}");
            // Even where the swapped text may be a robots.txt, its place as a URL allows nothing.
            assert_eq!(
                one_shot.decide("", body).unwrap().0 == Verdict::Invalid,
                !body.starts_with('/') || body.contains('\n')
            );
        }
    }
}
