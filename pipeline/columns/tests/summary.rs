//! Summaries of origins as batches, compared with each agent's own answer.

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, RecordBatch};
use reptile::{Agents, Capture, Compiler, Dialect, Robots, Set};
use reptile_columns::arrow::{MAX_ORIGINS_IN_BATCH, summarize, summary_schema};

const FILES: [(&str, &str); 4] = [
    ("https://all.example", "user-agent: *\ndisallow: /"),
    (
        "https://some.example",
        "user-agent: *\nallow: /$\ndisallow: /\n\nuser-agent: GPTBot\ndisallow: /a\ndisallow: /b*",
    ),
    ("http://none.example:8080", "# nothing"),
    ("https://xn--bcher-kva.example", "user-agent: GPTBot\nallow: /\ndisallow: /*?"),
];

fn set() -> Set {
    let mut compiler = Compiler::new(Dialect::google());
    for (origin, body) in FILES {
        compiler.add(Capture::new(format!("{origin}/robots.txt"), body).unwrap()).unwrap();
    }
    compiler.finish().unwrap().into_set().unwrap()
}

/// Returns each row's cells, with empty texts for nulls.
fn rows(agents: &Agents, origins: Option<&[&str]>) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let add = |batch: RecordBatch| {
        assert_eq!(*batch.schema(), summary_schema());
        for row in 0..batch.num_rows() {
            let cell = |at: usize| match batch.column(at).as_string_opt::<i64>() {
                Some(texts) if texts.is_null(row) => String::new(),
                Some(texts) => texts.value(row).to_owned(),
                None => batch.column(at).as_primitive::<UInt32Type>().value(row).to_string(),
            };
            rows.push((0..batch.num_columns()).map(cell).collect());
        }
        Ok(())
    };
    summarize(agents, origins, add).unwrap();
    rows
}

/// Returns the expected row, built from an agent's own answer.
fn row(url: &str, agents: &Agents, agent: usize) -> Vec<String> {
    let agent = agents.iter().nth(agent).unwrap();
    let found = agent.access(url).unwrap();
    let path = |path: Option<std::borrow::Cow<'_, [u8]>>| String::from_utf8(path.unwrap_or_default().into()).unwrap();
    let (allow, disallow) = (found.allow_rules.to_string(), found.disallow_rules.to_string());
    let words = [found.access.name().into(), found.group.as_str().into(), allow, disallow, found.reason.to_string()];
    let paths = [path(found.allowed_path), path(found.disallowed_path)];
    [url.to_owned(), agent.crawler().to_string()].into_iter().chain(words).chain(paths).collect()
}

#[test]
fn every_origin_has_its_agents_answers() {
    let set = set();
    let agents = set.agents(["GPTBot", "OtherBot"]).unwrap();
    let stored: Vec<String> = set.origins().map(|origin| format!("{}/", origin.unwrap())).collect();
    assert_eq!(stored.len(), FILES.len());
    let expected: Vec<Vec<String>> =
        stored.iter().flat_map(|url| [row(url, &agents, 0), row(url, &agents, 1)]).collect();
    assert_eq!(rows(&agents, None), expected);
    let access: Vec<&str> = expected.iter().map(|row| row[2].as_str()).collect();
    assert!(["allowed", "disallowed", "partial"].iter().all(|word| access.contains(word)), "{access:?}");
}

#[test]
fn listed_texts_are_urls_hosts_or_invalid() {
    let agents = set().agents(["AnyBot"]).unwrap();
    for (text, url, access) in [
        ("all.example", "https://all.example/", "disallowed"),
        (" ALL.example ", "https://all.example/", "disallowed"),
        ("all.example/robots.txt", "all.example/robots.txt", "invalid"),
        ("https://some.example/a?b#c", "https://some.example/", "partial"),
        ("none.example:8080", "https://none.example:8080/", "unknown"),
        ("http://none.example:8080/", "http://none.example:8080/", "allowed"),
        ("bücher.example", "https://xn--bcher-kva.example/", "allowed"),
        ("http://all.example", "http://all.example/", "unknown"),
        ("", "", "invalid"),
        ("a b", "a b", "invalid"),
        ("all.example/path", "all.example/path", "invalid"),
        ("user@all.example", "user@all.example", "invalid"),
    ] {
        let found = rows(&agents, Some(&[text]));
        assert_eq!([&found[0][0][..], &found[0][2]], [url, access], "{text:?}");
        assert_eq!(found.len(), 1);
    }
}

#[test]
fn batches_are_bounded() {
    let agents = set().agents(["AnyBot", "GPTBot"]).unwrap();
    for (count, batches) in
        [(0, 0), (MAX_ORIGINS_IN_BATCH - 1, 1), (MAX_ORIGINS_IN_BATCH, 1), (MAX_ORIGINS_IN_BATCH + 1, 2)]
    {
        let origins = vec!["all.example"; count];
        let (mut rows, mut found) = (0, 0);
        let add = |batch: RecordBatch| {
            (rows, found) = (rows + batch.num_rows(), found + 1);
            Ok(())
        };
        summarize(&agents, Some(&origins), add).unwrap();
        assert_eq!((rows, found), (2 * count, batches));
    }
}

#[test]
fn a_replaced_site_answers_for_its_origin() {
    let fresh = Robots::parse("user-agent: *\ndisallow: /x", Dialect::google()).unwrap();
    let set = set().with_robots([("https://all.example".parse().unwrap(), fresh)]);
    let agents = set.agents(["AnyBot"]).unwrap();
    let found = rows(&agents, Some(&["all.example", "some.example"]));
    assert_eq!(found, [row("https://all.example/", &agents, 0), row("https://some.example/", &agents, 0)]);
    assert_eq!(found[0][2], "partial");
}
