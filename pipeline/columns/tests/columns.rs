//! Provenance columns, the mask, and times for URLs.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{TimestampMillisecondType, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, Date32Array, Date64Array, Int32Array, Int64Array, StringArray, StructArray,
    TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray, UInt64Array,
};
use arrow_schema::{DataType, Field};
use reptile::{Agents, Capture, Compiler, Crawler, Dialect, Set, Verdict};
use reptile_columns::arrow::ArrayDecider;
use reptile_columns::{Column, ErrorKind, MAX_MASKED_AGENTS, SetOrRobots};

use crate::arrays::{agents, words};

const URL: &str = "https://paper.example/news";

/// Returns a set by time: no capture before 1,000, disallowed from 1,000, and allowed from 2,000.
fn by_time() -> Set {
    let mut compiler = Compiler::new(Dialect::google()).by_time(true);
    for (time, rule) in [(1_000, "disallow"), (2_000, "allow")] {
        let body = format!("user-agent: *\n{rule}: /news\ndisallow: /x");
        let mut capture = Capture::new("https://paper.example/robots.txt", body).unwrap();
        capture.time = Some(time);
        compiler.add(capture).unwrap();
    }
    compiler.finish().unwrap().into_set().unwrap()
}

fn timed(names: &[&str]) -> Agents {
    SetOrRobots::Set(by_time()).agents(names, false).unwrap()
}

/// Returns rows with a URL and a time.
fn rows(times: ArrayRef) -> ArrayRef {
    let urls: ArrayRef = Arc::new(StringArray::from(vec![URL; times.len()]));
    let fields = [("seen", times), ("url", urls)];
    let fields = fields.map(|(name, array)| (Arc::new(Field::new(name, array.data_type().clone(), true)), array));
    Arc::new(StructArray::from(Vec::from(fields)))
}

#[test]
fn urls_are_decided_by_the_rules_at_their_time() {
    let seconds = [Some(999), Some(1_000), None, Some(1_999), Some(2_000), Some(253_402_300_800)];
    let expected = ["unknown", "disallow", "invalid", "disallow", "allow", "invalid"];
    let scaled = |by: i64| seconds.iter().map(move |second| second.map(|second| second * by));
    let small = seconds.iter().take(5);
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(seconds.to_vec())),
        Arc::new(UInt64Array::from_iter(scaled(1).map(|second| second.map(|second| second as u64)))),
        Arc::new(Int32Array::from_iter(small.map(|second| second.map(|second| second as i32)))),
        Arc::new(TimestampSecondArray::from(seconds.to_vec())),
        Arc::new(TimestampMillisecondArray::from_iter(scaled(1_000)).with_timezone("UTC")),
        Arc::new(TimestampMicrosecondArray::from_iter(scaled(1_000_000))),
        Arc::new(Date64Array::from_iter(scaled(1_000))),
        Arc::new(TimestampNanosecondArray::from_iter(scaled(1_000_000_000).take(5))),
    ];
    for times in arrays {
        for is_parallel in [true, false] {
            let decider =
                ArrayDecider::new(timed(&["MyBot"]), &[Column::Verdict]).unwrap().times("seen").parallel(is_parallel);
            let batch = decider.decide_rows(&rows(times.clone()), None).unwrap();
            let found: Vec<String> = words(&batch, "MyBot:verdict").into_iter().flatten().collect();
            assert_eq!(found, expected[..times.len()], "{}", times.data_type());
        }
    }
}

#[test]
fn times_keep_their_order_across_tasks() {
    let seconds = [Some(1_000), None, Some(2_000), Some(999), Some(1_999)];
    let expected = ["disallow", "invalid", "allow", "unknown", "disallow"];
    let times: Vec<Option<i64>> = (0..2 * 4096 + 3).map(|row| seconds[row % seconds.len()]).collect();
    let rows = rows(Arc::new(Int64Array::from(times)));
    for is_parallel in [true, false] {
        let decider =
            ArrayDecider::new(timed(&["A", "B"]), &[Column::Verdict]).unwrap().times("seen").parallel(is_parallel);
        let batch = decider.decide_rows(&rows, None).unwrap();
        for column in ["A:verdict", "B:verdict"] {
            let found = words(&batch, column);
            assert_eq!(found.len(), rows.len());
            assert!(found.iter().enumerate().all(|(row, word)| word.as_deref() == Some(expected[row % seconds.len()])));
        }
    }
}

#[test]
fn thirteen_digits_are_milliseconds_and_dates_are_days() {
    let decide = |times: ArrayRef| {
        let decider = ArrayDecider::new(timed(&["MyBot"]), &[Column::Verdict]).unwrap().times("seen");
        words(&decider.decide_rows(&rows(times), None).unwrap(), "MyBot:verdict")
    };
    let edges = [999_999_999_999, 1_000_000_000_000, 9_999_999_999_999, 10_000_000_000_000];
    let found = decide(Arc::new(Int64Array::from(edges.to_vec())));
    let word = |word: &str| Some(word.to_owned());
    assert_eq!(found, [word("invalid"), word("allow"), word("allow"), word("invalid")]);
    let days = decide(Arc::new(Date32Array::from(vec![Some(-1), Some(0), Some(1), Some(2_932_896), Some(2_932_897)])));
    assert_eq!(days, [word("unknown"), word("unknown"), word("allow"), word("allow"), word("invalid")]);
}

#[test]
fn rows_without_a_time_have_a_reason() {
    let columns = [Column::Reason, Column::Line, Column::Ruleset, Column::CaptureTime, Column::Mask, Column::Refused];
    let decider = ArrayDecider::new(timed(&["A", "B"]), &columns).unwrap().times("seen");
    let times = Int64Array::from(vec![Some(1_000), None, Some(2_000), Some(1)]);
    let batch = decider.decide_rows(&rows(Arc::new(times)), Some("url")).unwrap();
    let names: Vec<&str> = batch.schema_ref().fields().iter().map(|field| field.name().as_str()).collect();
    let of_each = ["A:reason", "A:line", "A:ruleset", "B:reason", "B:line", "B:ruleset"];
    assert_eq!(names, [&of_each[..], &["capture_time", "mask", "refused"]].concat());
    let reasons: Vec<_> = batch.column(0).as_string::<i64>().iter().map(Option::unwrap).collect();
    assert_eq!(reasons, ["rule", "no time", "rule", "no robots.txt is known"]);
    let lines: Vec<_> = batch.column(1).as_primitive::<UInt32Type>().iter().collect();
    assert_eq!(lines, [Some(2), None, Some(2), None]);
    let captured: Vec<_> = batch["capture_time"].as_primitive::<TimestampMillisecondType>().iter().collect();
    assert_eq!(captured, [Some(1_000_000), None, Some(2_000_000), None]);
    assert_eq!(batch["capture_time"].data_type().to_string(), "Timestamp(ms, \"UTC\")");
    let masks: Vec<_> = batch["mask"].as_primitive::<UInt64Type>().iter().collect();
    assert_eq!(masks, [Some(3), None, Some(0), None]);
    let rulesets: Vec<_> = batch["A:ruleset"].as_primitive::<UInt32Type>().iter().collect();
    assert!(rulesets[0].is_some() && rulesets[2].is_some() && rulesets[0] != rulesets[2], "{rulesets:?}");
    assert_eq!((rulesets[1], rulesets[3]), (None, None));
}

#[test]
fn provenance_matches_the_library() {
    let urls = [Some("https://shop.example/cart"), None, Some("https://no.example/"), Some("nonsense")];
    let array: ArrayRef = Arc::new(StringArray::from(urls.to_vec()));
    let agents = agents(&["GPTBot", "MyBot"]);
    let columns = [Column::Ruleset, Column::CaptureTime, Column::Verdict];
    let batch = ArrayDecider::new(agents.clone(), &columns).unwrap().decide(&array).unwrap();
    for (place, agent) in agents.iter().enumerate() {
        let found: Vec<_> = batch.column(2 * place).as_primitive::<UInt32Type>().iter().collect();
        let expected = urls.map(|url| url.and_then(|url| agent.provenance(url).unwrap().ruleset));
        assert_eq!(found, expected, "{}", agent.crawler());
    }
    assert_eq!(batch["capture_time"].null_count(), urls.len());
}

#[test]
fn a_mask_has_a_bit_for_each_crawler() {
    let names: Vec<String> = (0..=MAX_MASKED_AGENTS).map(|number| format!("Bot{}", "x".repeat(number))).collect();
    let mut compiler = Compiler::new(Dialect::google());
    let last = &names[MAX_MASKED_AGENTS - 1];
    let body = format!("user-agent: {last}\nuser-agent: Bot\ndisallow: /");
    compiler.add(Capture::new("https://shop.example/robots.txt", body).unwrap()).unwrap();
    let set = compiler.finish().unwrap().into_set().unwrap();
    let urls: ArrayRef = Arc::new(StringArray::from(vec![Some("https://shop.example/"), None, Some("nonsense")]));
    let decide = |count: usize| {
        let agents = set.agents(names[..count].iter().map(Crawler::verbatim)).unwrap();
        ArrayDecider::new(agents, &[Column::Mask])?.decide(&urls)
    };
    for count in [MAX_MASKED_AGENTS - 1, MAX_MASKED_AGENTS] {
        let batch = decide(count).unwrap();
        let expected = if count == MAX_MASKED_AGENTS { 1 | 1 << (MAX_MASKED_AGENTS - 1) } else { 1 };
        let masks: Vec<_> = batch["mask"].as_primitive::<UInt64Type>().iter().collect();
        assert_eq!(masks, [Some(expected), None, None]);
        let said = batch.schema_ref().metadata()["mask"].clone();
        assert!(said.starts_with("[\"Bot\",\"Botx\"") && said.matches(',').count() == count - 1, "{said}");
    }
    let error = decide(MAX_MASKED_AGENTS + 1).unwrap_err();
    assert!(error.kind() == ErrorKind::Column && error.to_string().contains("64") && error.to_string().contains("65"));
}

#[test]
fn unusable_times_are_errors() {
    let failed = |agents: Agents, column: &str, rows: &ArrayRef| {
        let decider = ArrayDecider::new(agents, &[Column::Verdict]).unwrap().times(column);
        let error = decider.decide_rows(rows, None).unwrap_err();
        (error.kind(), error.to_string())
    };
    let good = rows(Arc::new(Int64Array::from(vec![1_000])));
    let (kind, text) = failed(timed(&["A"]), "when", &good);
    assert!(kind == ErrorKind::Array && text.contains("\"when\""), "{text}");
    let (kind, text) = failed(timed(&["A"]), "url", &good);
    assert!(kind == ErrorKind::Array && text.contains("Utf8"), "{text}");
    let (kind, text) = failed(timed(&["A"]), "seen", &(Arc::new(StringArray::from(vec![URL])) as ArrayRef));
    assert!(kind == ErrorKind::Array && text.contains("without columns"), "{text}");
    let (kind, text) = failed(agents(&["MyBot"]), "seen", &good);
    assert!(kind == ErrorKind::NoTimes && text.contains("time"), "{text}");
    assert_eq!(timed(&["A"]).iter().next().unwrap().decide_at(URL, 1_000).unwrap(), Verdict::Disallow);
    assert!(matches!(good.data_type(), DataType::Struct(_)));
}
