//! Values as words: each has one text, which `FromStr` reads back and the feature `serde` writes.

use std::collections::HashSet;
use std::fmt::{Debug, Display};
use std::str::FromStr;

use reptile::diff::{OriginChange, PathVerdicts};
use reptile::prove::Claim;
use reptile::summary::Access;
use reptile::{
    Cause, Challenger, DirectiveKind, DirectiveState, Group, Origin, PolicySource, Reason, RuleKind, Scheme,
    Truncation, Verdict,
};

/// Types that are serialized if the feature `serde` is on.
#[cfg(feature = "serde")]
trait Record: serde::Serialize + serde::de::DeserializeOwned {}
#[cfg(feature = "serde")]
impl<T: serde::Serialize + serde::de::DeserializeOwned> Record for T {}
#[cfg(not(feature = "serde"))]
trait Record {}
#[cfg(not(feature = "serde"))]
impl<T> Record for T {}

/// Checks that all values have different texts, which can be read back and are also the serialized form.
fn round_trip<T>(values: impl IntoIterator<Item = T>, texts: &[&str])
where
    T: FromStr<Err: Debug + Display> + Display + PartialEq + Debug + Record,
{
    let values: Vec<T> = values.into_iter().collect();
    let found: Vec<String> = values.iter().map(ToString::to_string).collect();
    assert_eq!(found, texts);
    assert_eq!(found.iter().collect::<HashSet<_>>().len(), texts.len());
    for (value, text) in values.iter().zip(texts) {
        assert_eq!(text.parse::<T>().as_ref().ok(), Some(value), "{text}");
        serialized(value, &serde_json::json!(text));
    }
    for wrong in ["", " ", "Allow ", "\u{1b}[31m"] {
        let error = wrong.parse::<T>().err().map(|error| error.to_string());
        assert!(error.is_some_and(|error| !error.contains('\u{1b}')), "{wrong:?}");
    }
}

/// Checks that a value is serialized as this JSON, and read back from it.
#[cfg(feature = "serde")]
fn serialized<T: Record + PartialEq + Debug>(value: &T, json: &serde_json::Value) {
    assert_eq!(serde_json::to_value(value).ok().as_ref(), Some(json));
    assert_eq!(serde_json::from_value::<T>(json.clone()).ok().as_ref(), Some(value));
    assert_eq!(serde_json::from_str::<T>(&json.to_string()).ok().as_ref(), Some(value));
}
#[cfg(not(feature = "serde"))]
fn serialized<T>(_: &T, _: &serde_json::Value) {}

/// Every kind of cause, with the smallest and the largest numbers.
const CAUSES: [(Cause, &str); 13] = [
    (Cause::Status(0), "0"),
    (Cause::Status(503), "503"),
    (Cause::Status(u16::MAX), "65535"),
    (Cause::Redirects, "too many redirects"),
    (Cause::Network, "network error"),
    (Cause::NotText, "not a text file"),
    (Cause::TooLarge, "too large"),
    (Cause::Unreachable(30), "unreachable for more than 30 days"),
    (Cause::NotFoundPage(500), "500, whose page says \"not found\""),
    (Cause::Challenge(Challenger::ANUBIS), "challenge page of Anubis"),
    (Cause::Challenge(Challenger::AWS_WAF), "challenge page of AWS WAF"),
    (Cause::Challenge(Challenger::VERCEL), "challenge page of Vercel"),
    (Cause::Challenge(Challenger::from_number(0)), "challenge page"),
];

#[test]
fn every_word_is_read_back() {
    round_trip(Verdict::ALL, &["allow", "disallow", "unknown", "invalid"]);
    round_trip(Group::ALL, &["named", "default", "none"]);
    round_trip(RuleKind::ALL, &["Allow", "Disallow"]);
    round_trip(Scheme::ALL, &["http", "https", "ftp"]);
    round_trip(Truncation::ALL, &["length", "time", "disconnect", "unspecified"]);
    round_trip(Access::ALL, &["allowed", "disallowed", "partial", "unknown", "unproved", "invalid"]);
    round_trip(Claim::ALL, &["allow", "disallow", "same", "permits-no-more"]);
    round_trip(DirectiveState::ALL, &["counts", "not-read", "malformed", "outside", "superseded"]);
    let kinds = [
        "sitemap",
        "crawl-delay",
        "request-rate",
        "visit-time",
        "host",
        "clean-param",
        "content-signal",
        "content-usage",
        "noindex",
        "other",
        "managed-begin",
        "managed-end",
    ];
    round_trip(DirectiveKind::ALL, &kinds);
    round_trip(CAUSES.map(|(cause, _)| cause), &CAUSES.map(|(_, text)| text));
    let origins = ["https://example.com", "http://xn--bcher-kva.example:8080", "ftp://[2001:db8::1]"];
    round_trip(origins.map(|origin| origin.parse::<Origin>().unwrap()), &origins);
}

#[test]
fn every_reason_is_read_back() {
    round_trip(
        [Reason::Rule(None), Reason::NoRule(None), Reason::NoRobots, Reason::NoUrl, Reason::LongUrl],
        &["rule", "no rule matches", "no robots.txt is known", "no URL", "URL over 64 KiB"],
    );
    for (cause, text) in CAUSES {
        let texts = [
            text.to_owned(),
            format!("rule of the last good copy, now {text}"),
            format!("no rule of the last good copy matches, now {text}"),
        ];
        let reasons = [Reason::Fetch(cause), Reason::Rule(Some(cause)), Reason::NoRule(Some(cause))];
        round_trip(reasons, &texts.each_ref().map(String::as_str));
    }
}

#[test]
fn kinds_of_rules_are_read_in_any_letter_case() {
    for text in ["disallow", "Disallow", "DISALLOW"] {
        assert_eq!(text.parse(), Ok(RuleKind::Disallow));
    }
}

#[test]
fn numbers_have_one_spelling() {
    for text in ["+503", "0503", "-1", "65536", "unreachable for more than 07 days", "challenge page of Nobody"] {
        let error = text.parse::<Cause>().unwrap_err().to_string();
        assert!(error.starts_with("expected the result of a fetch (a status such as 503, "), "{error}");
        assert!(error.ends_with(&format!("), found \"{text}\"")), "{error}");
        assert!(text.parse::<Reason>().is_err());
    }
}

#[test]
fn kinds_without_text_are_serialized_as_words() {
    serialized(&OriginChange::Gone, &serde_json::json!("gone"));
    serialized(&PathVerdicts::Unproved, &serde_json::json!("unproved"));
    serialized(&PolicySource::Rules, &serde_json::json!("rules"));
    for (cause, text) in CAUSES {
        serialized(&PolicySource::LastGoodCopy(cause), &serde_json::json!({"last-good-copy": text}));
        serialized(&PolicySource::AllowAll(cause), &serde_json::json!({"allow-all": text}));
        serialized(&PolicySource::DisallowAll(cause), &serde_json::json!({"disallow-all": text}));
    }
}

#[cfg(feature = "serde")]
mod records {
    use super::serialized;
    use reptile::diff::{Change, PathDiff};
    use reptile::reason::{Extent, Witness};
    use reptile::{Capture, Compiler, Dialect, OneShot, Robots, Rule, RuleKind, Verdict, contents};
    use serde_json::json;

    type Tested = Result<(), Box<dyn std::error::Error>>;

    #[test]
    fn explanations_are_records() -> Tested {
        let robots = Robots::parse("user-agent: *\ndisallow: /private\nallow: /private/é", Dialect::google())?;
        let agent = robots.agent("GPTBot")?;
        let cases = [
            (
                "/private/1",
                json!({"verdict": "disallow", "group": "default", "allow": null, "decided_by": "Disallow",
                "disallow": {"kind": "Disallow", "pattern": "/private", "line": 2}, "source": "rules", "reason": "rule"}),
            ),
            (
                "/",
                json!({"verdict": "allow", "group": "default", "allow": null, "decided_by": null, "disallow": null,
                "source": "rules", "reason": "no rule matches"}),
            ),
        ];
        for (path, expected) in cases {
            serialized(&agent.explain(path)?, &expected);
        }
        Ok(())
    }

    #[test]
    fn summaries_are_records() -> Tested {
        let robots = Robots::parse("user-agent: *\ndisallow: /a$\n", Dialect::google())?;
        let agent = robots.agent("GPTBot")?;
        let expected = json!({"access": "partial", "group": "default", "allow_rules": 0, "disallow_rules": 1,
            "reason": "rule", "allowed_path": "/", "disallowed_path": "/a"});
        serialized(&agent.access("https://example.com")?, &expected);
        let json = json!({"access": "invalid", "group": "none", "allow_rules": 0, "disallow_rules": 0,
            "reason": "no URL", "allowed_path": null, "disallowed_path": null});
        serialized(&reptile::summary::Summary::invalid(), &json);
        Ok(())
    }

    #[test]
    fn bytes_that_are_not_text_are_kept() {
        for (pattern, expected) in [
            (&b"/caf\xE9"[..], json!([47, 99, 97, 102, 233])),
            (b"", json!("")),
            ("/é\0\"".as_bytes(), json!("/é\0\"")),
        ] {
            let rule = Rule { kind: RuleKind::Allow, pattern: pattern.into(), line: u32::MAX };
            serialized(&rule, &json!({"kind": "Allow", "pattern": expected, "line": u32::MAX}));
            serialized(&Witness::Path(pattern.into()), &json!({"path": expected}));
            let example = Some((Verdict::Allow, pattern.to_vec()));
            serialized(&Extent::Unproved { example }, &json!({"unproved": {"example": ["allow", expected]}}));
        }
        serialized(&Extent::Unproved { example: None }, &json!({"unproved": {"example": null}}));
        serialized(&Witness::None, &json!("none"));
        for wrong in [json!({"path": [256]}), json!({"path": 1}), json!({"path": null}), json!("path"), json!(0)] {
            assert!(serde_json::from_value::<Witness>(wrong).is_err());
        }
    }

    #[test]
    fn differences_are_records() -> Tested {
        let compiled = |body: &str| -> Result<Vec<u8>, reptile::Error> {
            let mut compiler = Compiler::new(Dialect::google());
            compiler.add(Capture::new("https://example.com/robots.txt", body)?)?;
            Ok(compiler.finish()?.to_bytes())
        };
        let (old, new) =
            (compiled("user-agent: *\ndisallow: /")?, compiled("user-agent: a\nuser-agent: *\ndisallow:")?);
        let (old, new) = (contents::Set::from_bytes(&old[..])?, contents::Set::from_bytes(&new[..])?);
        let change = reptile::diff::Diff::new(&old, &new).change(&"https://example.com".parse()?)?;
        let expected = json!({"source": null, "tokens": ["a"], "default_group": true, "other_directives": false});
        serialized::<Change>(&change, &expected);
        let url = reptile::urls::split(b"https://example.com/")?;
        let policy = |set: &contents::Set<&[u8]>| set.policy(&url.origin).map(|policy| policy.is_some());
        assert!(policy(&old)? && policy(&new)?);
        let mut diff = PathDiff::new(&old, &new);
        let policies = [old.policy(&url.origin)?, new.policy(&url.origin)?].map(Option::unwrap);
        let rows = diff.rows(&policies)?.rows;
        let json = serde_json::to_value(&rows[0].change)?;
        assert_eq!((&json["opens"]["path"]["path"], &json["closes"]), (&json!("/"), &json!("none")), "{json}");
        serialized(&rows[0].change, &json);
        Ok(())
    }

    #[test]
    fn a_verdict_is_a_word_in_every_answer() -> Tested {
        let (verdict, line) =
            OneShot::new("GPTBot", Dialect::google())?.decide("user-agent: *\ndisallow: /", "https://example.com/")?;
        assert_eq!(serde_json::to_string(&(verdict, line))?, r#"["disallow",2]"#);
        Ok(())
    }
}
