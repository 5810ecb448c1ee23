//! Rows that name their crawlers, as Arrow arrays.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt32Type};
use arrow_array::{
    Array, ArrayIterator, ArrayRef, BinaryArray, DictionaryArray, Int64Array, LargeStringArray, NullArray, RecordBatch,
    RecordBatchReader, StringArray, StringViewArray, StructArray,
};
use arrow_schema::{ArrowError, Field};
use reptile::{Capture, Compiler, Dialect, Set};
use reptile_columns::arrow::{ArrayDecider, VerdictStream};
use reptile_columns::{ByRow, Column, Error, ErrorKind};

use crate::arrays::words;

const SHOP: &str = "user-agent: *\ndisallow: /cart\n\nuser-agent: GPTBot\ndisallow: /\n";
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0";

fn set(by_time: bool) -> Set {
    let mut compiler = Compiler::new(Dialect::google()).by_time(by_time);
    let mut capture = Capture::new("https://shop.example/robots.txt", SHOP).unwrap();
    capture.time = Some(1_000);
    compiler.add(capture).unwrap();
    compiler.finish().unwrap().into_set().unwrap()
}

fn table(columns: &[(&str, ArrayRef)]) -> ArrayRef {
    let of = |(name, array): &(&str, ArrayRef)| {
        (Arc::new(Field::new(*name, array.data_type().clone(), true)), array.clone())
    };
    Arc::new(StructArray::from(columns.iter().map(of).collect::<Vec<_>>()))
}

fn decider(set: &Set, columns: &[Column], is_exact: bool) -> ArrayDecider {
    let by_row = ByRow::new(set, 0, false).unwrap().take_names_exactly(is_exact);
    ArrayDecider::by_row(by_row, "bot", columns, None).unwrap()
}

fn texts(batch: &RecordBatch, name: &str) -> Vec<Option<String>> {
    batch[name].as_string::<i64>().iter().map(|text| text.map(str::to_owned)).collect()
}

/// A cell, the crawler in it, and the verdict for `/` and its line.
const CASES: [(Option<&str>, Option<&str>, &str, Option<u32>); 7] = [
    (Some("GPTBot"), Some("GPTBot"), "disallow", Some(5)),
    (Some("CCBot"), Some("CCBot"), "allow", None),
    (Some("GPTBot/1.2 (+https://openai.com/gptbot)"), Some("GPTBot"), "disallow", Some(5)),
    (Some(BROWSER), None, "unknown", None),
    (Some("-"), None, "unknown", None),
    (Some(""), None, "unknown", None),
    (None, None, "unknown", None),
];

#[test]
fn every_type_of_names_gives_the_same_rows() {
    let set = set(false);
    let repeated: Vec<_> = CASES.repeat(200);
    let cells = || repeated.iter().map(|case| case.0);
    let bytes = || cells().map(|cell| cell.map(str::as_bytes));
    let mut padded = vec![Some("GPTBot")];
    padded.extend(cells());
    let names: [ArrayRef; 6] = [
        Arc::new(cells().collect::<StringArray>()),
        Arc::new(cells().collect::<LargeStringArray>()),
        Arc::new(cells().collect::<StringViewArray>()),
        Arc::new(bytes().collect::<BinaryArray>()),
        Arc::new(cells().collect::<DictionaryArray<Int32Type>>()),
        Arc::new(StringArray::from(padded).slice(1, repeated.len())),
    ];
    let urls: ArrayRef = Arc::new(StringArray::from(vec!["https://shop.example/"; repeated.len()]));
    let of_verdicts = decider(&set, &[Column::Verdict, Column::Agent], false);
    let of_lines = decider(&set, &[Column::Agent, Column::Verdict, Column::Line], false);
    let crawlers: Vec<Option<String>> = repeated.iter().map(|case| case.1.map(str::to_owned)).collect();
    let verdicts: Vec<Option<String>> = repeated.iter().map(|case| Some(case.2.to_owned())).collect();
    let lines: Vec<Option<u32>> = repeated.iter().map(|case| case.3).collect();
    let mut checked = 0;
    for (names, is_parallel) in names.into_iter().zip([true, false].into_iter().cycle()) {
        let rows = table(&[("bot", names), ("url", urls.clone())]);
        for decider in [&of_verdicts, &of_lines] {
            let batch = decider.clone().parallel(is_parallel).decide_rows(&rows, None).unwrap();
            assert_eq!((texts(&batch, "agent"), words(&batch, "verdict")), (crawlers.clone(), verdicts.clone()));
            if let Some(found) = batch.column_by_name("line") {
                assert_eq!(found.as_primitive::<UInt32Type>().iter().collect::<Vec<_>>(), lines);
                checked += 1;
            }
        }
    }
    assert_eq!(checked, 6);
    // A column without values names no crawler.
    let rows = table(&[("url", urls.slice(0, 2)), ("bot", Arc::new(NullArray::new(2)))]);
    let batch = of_verdicts.decide_rows(&rows, None).unwrap();
    assert_eq!((texts(&batch, "agent"), words(&batch, "verdict")), (vec![None; 2], vec![Some("unknown".into()); 2]));
}

#[test]
fn misspelled_names_are_errors_unless_they_are_exact() {
    let set = set(false);
    let names = ["GPTBot", "Googelbot", "CCBot"];
    let urls: ArrayRef = Arc::new(StringArray::from(vec!["https://shop.example/"; names.len()]));
    let rows = table(&[("url", urls), ("bot", Arc::new(StringArray::from_iter_values(names)))]);
    for columns in [&[Column::Verdict][..], &[Column::Line]] {
        let checked = decider(&set, columns, false);
        let error = checked.decide_rows(&rows, None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Crawler);
        assert!(error.to_string().contains("\"Googelbot\", which is nearly the crawler \"Googlebot\""), "{error}");
        let correct = rows.slice(0, 1);
        assert_eq!(checked.decide_rows(&correct, None).unwrap().num_rows(), 1, "the error does not last");
        assert_eq!(decider(&set, columns, true).decide_rows(&rows, None).unwrap().num_rows(), 3);
        let field = Arc::new(Field::new("rows", rows.data_type().clone(), false));
        let arrays: Vec<Result<ArrayRef, ArrowError>> = vec![Ok(rows.clone())];
        let mut stream = VerdictStream::new(ArrayIterator::new(arrays, field), None, checked).unwrap();
        let Some(Err(ArrowError::ExternalError(source))) = stream.next() else { panic!("no error") };
        assert_eq!(source.downcast::<Error>().unwrap().kind(), ErrorKind::Crawler);
    }
}

#[test]
fn rows_have_a_crawler_and_a_time() {
    let columns = [Column::Verdict, Column::CaptureTime];
    let urls: ArrayRef = Arc::new(StringArray::from(vec![Some("https://shop.example/"); 4]));
    let names: ArrayRef = Arc::new(StringArray::from(vec![Some("GPTBot"), Some("GPTBot"), Some("GPTBot"), None]));
    let times: ArrayRef = Arc::new(Int64Array::from(vec![Some(999), Some(1_000), None, Some(1_000)]));
    let rows = table(&[("url", urls), ("bot", names), ("time", times)]);
    let batch = decider(&set(true), &columns, false).times("time").decide_rows(&rows, None).unwrap();
    let expected = ["unknown", "disallow", "invalid", "unknown"].map(|word| Some(word.to_owned()));
    assert_eq!(words(&batch, "verdict"), expected);
    assert_eq!((0..4).map(|row| batch["capture_time"].is_valid(row)).collect::<Vec<_>>(), [false, true, false, false]);
}

#[test]
fn mistakes_are_errors_before_the_first_row() {
    let urls: ArrayRef = Arc::new(StringArray::from(Vec::<&str>::new()));
    let numbers: ArrayRef = Arc::new(Int64Array::from(Vec::<i64>::new()));
    let stream = |decider: ArrayDecider, rows: &ArrayRef| {
        let field = Arc::new(Field::new("rows", rows.data_type().clone(), false));
        let arrays: Vec<Result<ArrayRef, ArrowError>> = vec![Ok(rows.clone())];
        VerdictStream::new(ArrayIterator::new(arrays, field), None, decider).map(|stream| stream.schema())
    };
    let both = [("url", urls.clone()), ("bot", urls.clone()), ("time", numbers.clone())];
    let plain = |by_time| decider(&set(by_time), &[Column::Verdict], false);
    let cases: [(ArrayDecider, ArrayRef, ErrorKind, &str); 4] = [
        (plain(false), table(&[("url", urls.clone())]), ErrorKind::Array, "no column \"bot\" with crawlers"),
        (plain(false), urls.clone(), ErrorKind::Array, "only an array without columns"),
        (
            plain(false),
            table(&[("url", urls), ("bot", numbers)]),
            ErrorKind::Array,
            "has to be one of crawlers, as texts, found Int64",
        ),
        (plain(false).times("time"), table(&both), ErrorKind::NoTimes, "not by time"),
    ];
    let count = cases.len();
    for (decider, rows, kind, text) in cases {
        let error = stream(decider, &rows).unwrap_err();
        assert!(error.kind() == kind && error.to_string().contains(text), "{error}");
    }
    assert_eq!(count, 4);
    assert_eq!(stream(plain(true).times("time"), &table(&both)).unwrap().field(0).name(), "verdict");
    let by_row = || ByRow::new(&set(false), 0, false).unwrap();
    for (columns, text) in [
        (&[Column::Refused][..], "each row names its own"),
        (&[Column::Mask], "each row names its own"),
        (&[], "no column is named"),
    ] {
        let error = ArrayDecider::by_row(by_row(), "bot", columns, None).unwrap_err();
        assert!(error.kind() == ErrorKind::Column && error.to_string().contains(text), "{error}");
    }
}
