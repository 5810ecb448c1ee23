//! Columns about uses against the library's answers about single URLs, and mistakes.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray, StructArray};
use proptest::prelude::*;
use reptile::usage::{Sources, UnknownUsage, Uses, Vocabulary, verdict_for};
use reptile::{Agents, Capture, Compiler, Dialect};
use reptile_columns::arrow::ArrayDecider;
use reptile_columns::{Column, Error, MAX_USES, Scope, UsageColumns, UsageOptions};

const NAMES: [&str; 2] = ["GPTBot", "MyBot"];
const USES: [&str; 2] = ["search", "train-ai"];

fn compiled(captures: &[(&str, i64, &str)], by_time: bool) -> Agents {
    let mut compiler = Compiler::new(Dialect::google()).by_time(by_time);
    for &(origin, time, body) in captures {
        let mut capture = Capture::new(format!("{origin}/robots.txt"), body).unwrap();
        capture.time = Some(time);
        compiler.add(capture).unwrap();
    }
    compiler.finish().unwrap().into_set().unwrap().agents(NAMES).unwrap()
}

fn options(uses: &[&str]) -> UsageOptions {
    let uses = uses.iter().map(|&name| name.to_owned()).collect();
    UsageOptions { uses, ..UsageOptions::default() }
}

fn uses(lines: Sources) -> Uses {
    Vocabulary::default().uses(USES, lines).unwrap()
}

fn decider(agents: &Agents, columns: &[Column], options: &UsageOptions) -> Result<ArrayDecider, Error> {
    ArrayDecider::with_usage(agents.clone(), columns, options.columns()?.as_ref())
}

fn urls(urls: &[Option<String>]) -> ArrayRef {
    Arc::new(urls.iter().map(Option::as_deref).collect::<StringArray>())
}

fn column(batch: &RecordBatch, name: &str) -> Vec<Option<String>> {
    batch[name].as_string::<i64>().iter().map(|word| word.map(str::to_owned)).collect()
}

fn body() -> impl Strategy<Value = String> {
    let path = "|/|/a|/a/b|/[*]b|/a[*]|/[*]b[$]";
    let statement = "(train-ai|search)=[yn](, ?(train-ai|search)=[yn])?|Train-AI=n|";
    let line = prop_oneof![
        4 => (path, statement).prop_map(|(path, statement)| format!("content-usage: {path} {statement}\n")),
        1 => (path, prop_oneof![Just("allow"), Just("disallow")]).prop_map(|(path, kind)| format!("{kind}: {path}\n")),
        1 => "(ai-train|search)=(yes|no)".prop_map(|signal| format!("content-signal: {signal}\n")),
        1 => prop_oneof![Just("user-agent: gptbot\n"), Just("user-agent: *\n")].prop_map(str::to_owned),
    ];
    prop::collection::vec(line, 0..12).prop_map(|lines| format!("user-agent: *\n{}", lines.concat()))
}

fn url() -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        8 => "https://[ab][.]example(/a?(/b)?c?)?".prop_map(Some),
        1 => "none|".prop_map(Some),
        1 => Just(None),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn columns_equal_the_librarys_answers(
        body in body(),
        later in body(),
        rows in prop::collection::vec((url(), prop::option::of(50_i64..300)), 0..40),
        lines in 0..3_usize,
        is_explained in any::<bool>(),
    ) {
        let origin = "https://a.example";
        let (now, timed) =
            (compiled(&[(origin, 100, &body)], false), compiled(&[(origin, 100, &body), (origin, 200, &later)], true));
        let (word, sources) =
            [("usage", Sources::USAGE), ("signals", Sources::SIGNALS), ("all", Sources::ALL)][lines];
        let options = UsageOptions {
            lines: word.into(),
            purpose: Some("train-ai".into()),
            unknown_usage: Some("disallow".into()),
            ..options(&USES)
        };
        // A column that needs explanations changes how rows are decided.
        let columns = if is_explained { &[Column::Line, Column::CaptureTime][..] } else { &[Column::CaptureTime] };
        let texts: Vec<Option<String>> = rows.iter().map(|(url, _)| url.clone()).collect();
        let times: ArrayRef = Arc::new(rows.iter().map(|(_, time)| *time).collect::<Int64Array>());
        let table: ArrayRef =
            Arc::new(StructArray::from(RecordBatch::try_from_iter([("url", urls(&texts)), ("time", times)]).unwrap()));
        let of_now = decider(&now, columns, &options).unwrap().parallel(false).decide(&urls(&texts)).unwrap();
        let of_times = decider(&timed, columns, &options).unwrap().times("time").decide_rows(&table, None).unwrap();
        for (agents, batch, has_times) in [(&now, of_now, false), (&timed, of_times, true)] {
            for agent in agents.iter() {
                let found = |name: &str| column(&batch, &format!("{}:{name}", agent.crawler()));
                let (search, train, purpose) = (found("search"), found("train-ai"), found("purpose"));
                for (row, (url, time)) in rows.iter().enumerate() {
                    let cells = [&search[row], &train[row], &purpose[row]].map(Option::as_deref);
                    let Some(url) = url else {
                        prop_assert_eq!(cells, [None; 3]);
                        continue;
                    };
                    let found = match (has_times, time) {
                        (false, _) => agent.usage(url, &uses(sources)).unwrap(),
                        (true, Some(time)) => agent.usage_at(url, *time, &uses(sources)).unwrap(),
                        (true, None) => {
                            prop_assert_eq!(cells, [Some("unknown"), Some("unknown"), Some("invalid")]);
                            continue;
                        }
                    };
                    let [search, train] = found.preferences[..] else { panic!("two uses") };
                    let purpose = verdict_for(found.verdict, train, UnknownUsage::Disallow);
                    let expected = [search.name(), train.name(), purpose.name()];
                    prop_assert_eq!(cells, expected.map(Some), "{} {} {:?}", body, url, time);
                }
            }
        }
    }
}

#[test]
fn usage_columns_follow_each_crawlers_columns() {
    let agents = compiled(&[("https://a.example", 100, "user-agent: *\ncontent-usage: search=y\n")], false);
    let options =
        UsageOptions { purpose: Some("search".into()), unknown_usage: Some("allow".into()), ..options(&USES) };
    let names = |columns: &[Column], options: &UsageOptions| -> Vec<String> {
        let schema = decider(&agents, columns, options).unwrap().schema(&arrow_schema::DataType::Utf8);
        schema.fields().iter().map(|field| field.name().clone()).collect()
    };
    let expected = [
        "url",
        "GPTBot:verdict",
        "GPTBot:search",
        "GPTBot:train-ai",
        "GPTBot:purpose",
        "MyBot:verdict",
        "MyBot:search",
        "MyBot:train-ai",
        "MyBot:purpose",
        "mask",
    ];
    assert_eq!(names(&[Column::Mask, Column::Verdict, Column::Url], &options), expected);
    let only_purpose = UsageOptions { uses: Vec::new(), ..options };
    assert_eq!(names(&[], &only_purpose), ["GPTBot:purpose", "MyBot:purpose"]);
    assert_eq!(names(&[Column::Mask, Column::Url], &only_purpose), ["url", "GPTBot:purpose", "MyBot:purpose", "mask"]);
}

/// The crawlers that may not fetch a page for a purpose: for each path and meaning of an unknown preference, the mask.
#[test]
fn refused_crawlers_follow_the_purpose() {
    const ROWS: usize = 6;
    let body = "user-agent: GPTBot\nallow: /\ncontent-usage: train-ai=n\ncontent-usage: /g train-ai=y\n\n\
                user-agent: MyBot\ndisallow: /x\ncontent-usage: /y train-ai=y\n";
    let agents = compiled(&[("https://a.example", 100, body)], false);
    let paths = ["/", "/y", "/x", "/g"].map(|path| Some(format!("https://a.example{path}")));
    let texts = urls(&[&paths[..], &[Some("none".to_owned()), None]].concat());
    let mut cases = 0;
    for (unknown, expected) in [
        (None, [Some(0), Some(0), Some(2), Some(0), None, None]),
        (Some("allow"), [Some(1), Some(1), Some(3), Some(0), None, None]),
        (Some("disallow"), [Some(3), Some(1), Some(3), Some(2), None, None]),
        (Some("unknown"), [None, Some(1), Some(3), None, None, None]),
    ] {
        let purpose = unknown.map(|_| "train-ai".to_owned());
        let options = UsageOptions { purpose, unknown_usage: unknown.map(str::to_owned), ..options(&["search"]) };
        // A column that needs explanations changes how rows are decided.
        for columns in [&[Column::Mask, Column::Refused][..], &[Column::Mask, Column::Line, Column::Refused]] {
            let found = decider(&agents, columns, &options).unwrap().decide(&texts).unwrap();
            let refused = found["refused"].as_list::<i64>();
            for (row, mask) in expected.into_iter().enumerate() {
                let cell = found["mask"].as_primitive::<UInt64Type>();
                assert_eq!(cell.is_valid(row).then(|| cell.value(row)), mask, "{unknown:?} {row}");
                let names: Option<Vec<&str>> = mask.map(|mask| {
                    NAMES.into_iter().enumerate().filter(|(at, _)| mask >> at & 1 == 1).map(|(_, name)| name).collect()
                });
                let listed = refused.is_valid(row).then(|| refused.value(row));
                let listed: Option<Vec<String>> =
                    listed.map(|list| list.as_string::<i64>().iter().flatten().map(str::to_owned).collect());
                assert_eq!(
                    listed.as_deref(),
                    names.map(|names| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()).as_deref()
                );
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 4 * 2 * ROWS);
}

#[test]
fn rows_keep_their_order_across_tasks() {
    let body = "user-agent: *\ndisallow: /x\ncontent-usage: train-ai=n\ncontent-usage: /a train-ai=y, search=n\n";
    let agents = compiled(&[("https://a.example", 100, body)], false);
    let paths = ["/", "/a", "/x"].map(|path| format!("https://a.example{path}"));
    let texts: Vec<Option<String>> =
        (0..3 * 4096 + 5).map(|row| Some(paths[(row % 5 + row % 7) % 3].clone())).collect();
    for is_parallel in [true, false] {
        let decider = decider(&agents, &[Column::Verdict], &options(&USES)).unwrap().parallel(is_parallel);
        let batch = decider.decide(&urls(&texts)).unwrap();
        for (name, words) in [
            ("MyBot:train-ai", ["disallowed", "allowed", "not-applicable"]),
            ("GPTBot:search", ["unknown", "disallowed", "not-applicable"]),
        ] {
            let words = (0..texts.len()).map(|row| Some(words[(row % 5 + row % 7) % 3].to_owned()));
            assert!(words.eq(column(&batch, name)), "{name}, parallel {is_parallel}");
        }
    }
}

#[test]
fn a_wider_scope_also_states_preferences() {
    let body = "user-agent: *\ncontent-usage: train-ai=n\n";
    let agents = compiled(&[("https://www.example.com", 100, body)], false);
    let texts = urls(&[Some("https://example.com/".to_owned())]);
    for (scope, word) in [(Scope::Origin, "unknown"), (Scope::Www, "disallowed")] {
        let decider = decider(&agents, &[], &options(&["train-ai"])).unwrap().in_scope(scope);
        assert_eq!(column(&decider.decide(&texts).unwrap(), "MyBot:train-ai"), [Some(word.to_owned())]);
    }
}

#[test]
fn mistakes_are_errors() {
    let agents = compiled(&[], false);
    let none = UsageOptions::default();
    let of_purpose = |purpose: Option<&str>, unknown: Option<&str>| UsageOptions {
        purpose: purpose.map(str::to_owned),
        unknown_usage: unknown.map(str::to_owned),
        ..none.clone()
    };
    for (options, says) in [
        (none.clone(), "no column is named"),
        (options(&["train"]), "has no use \"train\"; expected train-ai, search, ai-use"),
        (options(&["search", "search"]), "search: is given twice"),
        (
            UsageOptions { lines: "both".into(), ..options(&["search"]) },
            "lines: no statements are called \"both\"; expected usage, signals, tokens, default-group, all",
        ),
        (UsageOptions { lines: "all".into(), ..none.clone() }, "have no effect without uses or purpose"),
        (UsageOptions { vocabulary: "any".into(), ..none.clone() }, "have no effect without uses or purpose"),
        (UsageOptions { vocabulary: "any".into(), ..options(&["verdict"]) }, "verdict: is given twice, or is the name"),
        (UsageOptions { vocabulary: "no".into(), ..options(&["search"]) }, "vocabulary \"no\": expected aipref-08"),
        (of_purpose(Some("search"), None), "purpose: needs unknown_usage (allow, disallow or unknown)"),
        (of_purpose(None, Some("allow")), "unknown_usage: has no effect without purpose"),
        (of_purpose(Some("search"), Some("yes")), "unknown unknown_usage \"yes\"; expected allow, disallow, unknown"),
        (of_purpose(Some("train"), Some("allow")), "has no use \"train\""),
    ] {
        let error = decider(&agents, &[], &options).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    assert!(decider(&agents, &[Column::Verdict], &none).is_ok());
    assert!(decider(&agents, &[Column::Mask, Column::Mask], &options(&USES)).is_err());
}

#[test]
fn uses_stop_at_the_limit() {
    let agents = compiled(&[], false);
    let any = Vocabulary::named("any").unwrap();
    for (count, fits) in [(MAX_USES - 1, true), (MAX_USES, true), (MAX_USES + 1, false)] {
        let uses = any.uses((0..count).map(|number| format!("use-{number}")), Sources::ALL).unwrap();
        let decider = ArrayDecider::with_usage(agents.clone(), &[], Some(&UsageColumns::new(uses)));
        assert_eq!(decider.is_ok(), fits, "{count}");
        let Ok(decider) = decider else { continue };
        let batch = decider.decide(&urls(&[Some("https://a.example/".to_owned())])).unwrap();
        assert_eq!(batch.num_columns(), NAMES.len() * count);
    }
}
