//! The same capture in every format gives the same result, or the same error.

use super::*;
use crate::open::Input;
use crate::spill::Scratch;
use crate::warc::InputPlace;
use crate::{ReadOptions, Reading};

/// The field, its cell in TSV and CSV, its values in JSON, and a part of the result.
type Case = (Field, &'static str, &'static [&'static str], &'static str);

const CASES: [Case; 59] = [
    (Field::Status, "404", &["404", "\"404\"", "404.0", "4.04e2"], "status: Some(404)"),
    (Field::Status, "404.0", &["\"404.0\"", "404.0"], "status: Some(404)"),
    (Field::Status, "404.00", &["\"404.00\""], "status: Some(404)"),
    (Field::Status, " 404 ", &["\" 404 \""], "status: Some(404)"),
    (Field::Status, "0404", &["\"0404\""], "status: Some(404)"),
    (Field::Status, "", &["\"\"", "null"], "status: None"),
    (Field::Status, "100", &["100"], "status: Some(100)"),
    (Field::Status, "999", &["999"], "status: Some(999)"),
    (Field::Status, "99", &["99", "99.0"], "a number from 100 to 999, found \"99\""),
    (Field::Status, "1000", &["1000"], "a number from 100 to 999, found \"1000\""),
    (Field::Status, "99999", &["99999"], "a number from 100 to 999, found \"99999\""),
    (Field::Status, "404.5", &["404.5", "\"404.5\""], "found \"404.5\""),
    (Field::Status, "404.", &["\"404.\""], "found \"404.\""),
    (Field::Status, "+404", &["\"+404\""], "found \"+404\""),
    (Field::Status, "-404", &["-404", "\"-404\""], "found \"-404\""),
    (Field::Status, "404 Not Found", &["\"404 Not Found\""], "found \"404 Not Found\""),
    (Field::Status, "true", &["true"], "found \"true\""),
    (Field::Time, "1773500966", &["1773500966", "\"1773500966\"", "1773500966.0"], "time: Some(1773500966)"),
    (Field::Time, "1773500966.75", &["1773500966.75", "\"1773500966.75\""], "time: Some(1773500966)"),
    (Field::Time, "1773500966999", &["1773500966999"], "time: Some(1773500966)"),
    (Field::Time, "20260314150926", &["20260314150926", "20260314150926.0"], "time: Some(1773500966)"),
    (Field::Time, " 2026-03-14T15:09:26Z ", &["\" 2026-03-14T15:09:26Z \""], "time: Some(1773500966)"),
    (Field::Time, "", &["\"\"", "null"], "time: None"),
    (Field::Time, "yesterday", &["\"yesterday\""], "found \"yesterday\""),
    (Field::Time, "-1", &["-1"], "found \"-1\""),
    (Field::Time, "false", &["false"], "found \"false\""),
    (Field::Redirects, "2", &["2", "2.0", "\"2\"", "[\"/a\", \"/b\"]"], "redirects: 2"),
    (Field::Redirects, "2.0", &["\"2.0\""], "redirects: 2"),
    (Field::Redirects, "", &["\"\"", "null"], "redirects: 0"),
    (Field::Redirects, "0", &["0", "[]"], "redirects: 0"),
    (Field::Redirects, "4294967296", &["4294967296", "4294967296.0"], "redirects: 4294967295"),
    (Field::Redirects, "99999999999999999999999", &["\"99999999999999999999999\""], "redirects: 4294967295"),
    (Field::Redirects, "-1", &["-1", "\"-1\""], "expected the number of redirects, found \"-1\""),
    (Field::Redirects, "0.5", &["0.5"], "expected the number of redirects, found \"0.5\""),
    (Field::Redirects, "/a", &["\"/a\""], "expected the number of redirects, found \"/a\""),
    (Field::Failed, "true", &["true", "\"true\""], "has_failed: true"),
    (Field::Failed, "1", &["1", "1.0", "\"1\""], "has_failed: true"),
    (Field::Failed, "1.0", &["\"1.0\""], "has_failed: true"),
    (Field::Failed, "No", &["\"No\""], "has_failed: false"),
    (Field::Failed, "", &["\"\"", "null"], "has_failed: false"),
    (Field::Failed, "2", &["2", "\"2\""], "expected true or false for failed, found \"2\""),
    (Field::Error, "timeout", &["\"timeout\""], "has_failed: true"),
    (Field::Error, "true", &["true"], "has_failed: true"),
    (Field::Error, "110", &["110"], "has_failed: true"),
    (Field::Error, "0", &["0", "\"0\""], "has_failed: false"),
    (Field::Error, "NaN", &["\"NaN\""], "has_failed: false"),
    (Field::Truncated, "length", &["\"length\""], "truncated: Some(Length)"),
    (Field::Truncated, "1", &["1", "1.0", "true", "\"TRUE\""], "truncated: Some(Unspecified)"),
    (Field::Truncated, "0", &["0", "false", "\"\""], "truncated: None"),
    (Field::Truncated, "half", &["\"half\""], "\"unspecified\" for truncated, found \"half\""),
    (Field::ContentType, "text/html; a=b", &["\"text/html; a=b\"", "[\"text/html; a=b\"]"], "Some(\"text/html\")"),
    (Field::ContentType, "", &["\"\"", "[]", "null"], "media_type: None"),
    (Field::CacheControl, "max-age=60", &["\"max-age=60\"", "[\"max-age=60\"]"], "max_age: Some(60)"),
    (Field::Body, "", &["\"\""], "body Some(\"\")"),
    (Field::Body, "a: b", &["\"a: b\"", "\"\\u0061: b\""], "body Some(\"a: b\")"),
    (Field::Base64, "YTogYg==", &["\"YTogYg==\"", "\"YTogYg\"", "\"YTog\\r\\nYg\""], "body Some(\"a: b\")"),
    (Field::Base64, "", &["\"\""], "body Some(\"\")"),
    (Field::Base64, "x=", &["\"x=\""], "not a valid capture: the body is not base64"),
    (Field::Url, "", &["\"\"", "null"], "no valid url: "),
];

/// Returns the one result of an input: the capture and its body, or the reason and the details of an invalid one.
fn result_in(text: &str) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let (options, mut found) = (ReadOptions::default(), Vec::new());
    let reading = Reading::new(&options, Scratch::default());
    let input = Input::open(file.path()).unwrap();
    reading
        .read(input, InputPlace::default(), &mut |item| {
            item.read(&mut |item| {
                found.extend(shown_item(item));
                Ok(())
            })
        })
        .unwrap();
    assert_eq!(found.len(), 1, "{text}");
    found.remove(0)
}

fn shown_item(item: Item) -> Option<String> {
    match item {
        Item::Robots(Robots { capture, body, .. }) => {
            Some(format!("{capture:?} body {:?}", body.map(|body| String::from_utf8(body).unwrap())))
        }
        Item::Bad { reason, detail, .. } => Some(format!("{reason}: {detail}")),
        _ => None,
    }
}

#[test]
fn every_format_has_the_same_rules() {
    let mut count = 0;
    for (field, text, values, expected) in CASES {
        let robots = "https://a.example/robots.txt";
        let name = field.name();
        // A table with a status is a table of captures.
        let (other, cell, value) = match field {
            Field::Url => ("status", "404", "404".to_owned()),
            _ => ("url", robots, format!("\"{robots}\"")),
        };
        let telling =
            if matches!(field, Field::Url | Field::Status | Field::Body | Field::Base64) { "" } else { "\tstatus" };
        let empty = if telling.is_empty() { "" } else { "\t" };
        let tsv = result_in(&format!("{other}\t{name}{telling}\n{cell}\t{text}{empty}\n"));
        assert!(tsv.contains(expected), "{name} {text}: {tsv}");
        let comma = |line: String| line.replace('\t', ",");
        assert_eq!(
            result_in(&comma(format!("{other}\t{name}{telling}\n{cell}\t{text}{empty}\n"))),
            tsv,
            "{name} {text}"
        );
        for json in values {
            let found = result_in(&format!("{{\"{other}\": {value}, \"{name}\": {json}}}\n"));
            assert_eq!(found, tsv, "{name} {json}");
            count += 1;
        }
        // Readers of columns pass the cells on.
        let mut cells = [Cell::Null; CELLS];
        cells[Field::Url as usize] = Cell::Text(robots.as_bytes());
        if field == Field::Url {
            cells[Field::Status as usize] = Cell::Text(b"404");
        }
        cells[field as usize] = Cell::Text(text.as_bytes());
        let found = item("row".into(), cells, &Zone::default()).unwrap();
        assert_eq!(shown_item(found).as_ref(), Some(&tsv), "{name} {text}");
        count += 3;
    }
    assert_eq!(count, 275);
}

#[test]
fn texts_over_a_limit_have_the_same_error_in_every_format() {
    let robots = "https://a.example/robots.txt";
    let mut count = 0;
    for field in [Field::Url, Field::Status, Field::Time, Field::Failed, Field::Redirects, Field::ContentType] {
        for (more, is_too_long) in [(0, false), (1, true)] {
            let (name, text) = (field.name(), "x".repeat(field.limit() + more));
            let other = if field == Field::Url {
                ("status", "404", "404".into())
            } else {
                ("url", robots, format!("\"{robots}\""))
            };
            let tsv = result_in(&format!("{}\t{name}\tbody\n{}\t{text}\t\n", other.0, other.1));
            let json =
                result_in(&format!("{{\"{}\": {}, \"{name}\": \"{text}\", \"body\": \"\"}}\n", other.0, other.2));
            assert_eq!(tsv, json, "{name}");
            assert_eq!(tsv.contains("more than") || tsv.contains("\"a long text\""), is_too_long, "{name}: {tsv}");
            count += 1;
        }
    }
    assert_eq!(count, 12);
}
