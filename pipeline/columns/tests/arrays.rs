//! Tests every text type against `Agents::decide`, row by row.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{Int8Type, Int32Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, DictionaryArray, Int32Array, LargeBinaryArray, LargeStringArray,
    NullArray, RecordBatch, RecordBatchIterator, StringArray, StringViewArray, StructArray,
};
use proptest::prelude::*;
use reptile::{Agents, Capture, Compiler, Dialect, Robots, Verdict};
use reptile_columns::arrow::ArrayDecider;
use reptile_columns::{Column, ErrorKind, Scope, SetOrRobots};

/// Returns a set with the usual cases: rules, wildcards, a group for one crawler, and a closed origin.
pub fn source() -> SetOrRobots {
    let mut compiler = Compiler::new(Dialect::google());
    let shop =
        "user-agent: *\ndisallow: /cart\nallow: /cart/help\ndisallow: /*?sort=\n\nuser-agent: GPTBot\ndisallow: /\n";
    compiler.add(Capture::new("https://shop.example/robots.txt", shop).unwrap()).unwrap();
    let mut down = Capture::without_body("https://down.example/robots.txt").unwrap();
    down.status = Some(503);
    compiler.add(down).unwrap();
    SetOrRobots::Set(compiler.finish().unwrap().into_set().unwrap())
}

pub fn agents(names: &[&str]) -> Agents {
    source().agents(names, false).unwrap()
}

const NAMES: [&str; 3] = ["GPTBot", "MyBot", "Googlebot-Image"];

/// Returns the words in a dictionary column.
pub fn words(batch: &RecordBatch, name: &str) -> Vec<Option<String>> {
    let column = batch.column_by_name(name).unwrap_or_else(|| panic!("no column {name}"));
    let dictionary = column.as_dictionary::<Int8Type>();
    let words = dictionary.downcast_dict::<StringArray>().unwrap();
    words.into_iter().map(|word| word.map(str::to_owned)).collect()
}

fn url() -> impl Strategy<Value = Option<String>> {
    let host = prop_oneof![
        Just("https://shop.example"),
        Just("https://down.example"),
        Just("http://no.example"),
        Just("nonsense")
    ];
    let path = prop_oneof![
        Just(String::new()),
        "/(cart|cart/help|x)(/[a-z]{0,9})?([?]sort=[a-z]{0,3})?",
        "/\\PC{0,20}",
        Just("/cart/that-is-longer-than-a-view-holds/and/longer?sort=price".to_owned()),
    ];
    prop_oneof![9 => (host, path).prop_map(|(host, path)| Some(format!("{host}{path}"))), 1 => Just(None)]
}

/// Returns the same texts in every type, and one array that was sliced at its start.
fn arrays(urls: &[Option<String>]) -> Vec<ArrayRef> {
    let texts = || urls.iter().map(Option::as_deref);
    let bytes = || texts().map(|text| text.map(str::as_bytes));
    let mut padded: Vec<Option<&str>> = vec![Some("https://shop.example/cart"), None];
    padded.extend(texts());
    vec![
        Arc::new(texts().collect::<StringArray>()),
        Arc::new(texts().collect::<LargeStringArray>()),
        Arc::new(texts().collect::<StringViewArray>()),
        Arc::new(bytes().collect::<BinaryArray>()),
        Arc::new(bytes().collect::<LargeBinaryArray>()),
        Arc::new(bytes().collect::<BinaryViewArray>()),
        Arc::new(texts().collect::<DictionaryArray<Int32Type>>()),
        Arc::new(StringArray::from(padded.clone()).slice(2, urls.len())),
        Arc::new(padded.into_iter().collect::<StringViewArray>().slice(2, urls.len())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_type_gives_the_librarys_verdicts(urls in prop::collection::vec(url(), 0..40)) {
        let agents = agents(&NAMES);
        let decider = ArrayDecider::new(agents.clone(), &[Column::Verdict, Column::Refused]).unwrap();
        for (array, is_parallel) in arrays(&urls).into_iter().zip([true, false].into_iter().cycle()) {
            let batch = decider.clone().parallel(is_parallel).decide(&array).unwrap();
            prop_assert_eq!(batch.num_rows(), urls.len());
            let columns = NAMES.map(|name| words(&batch, &format!("{name}:verdict")));
            let refused = batch.column_by_name("refused").unwrap().as_list::<i64>();
            for (row, url) in urls.iter().enumerate() {
                let mut expected = [Verdict::Invalid; 3];
                if let Some(url) = url {
                    agents.decide(url, &mut expected).unwrap();
                }
                for (column, verdict) in columns.iter().zip(expected) {
                    prop_assert_eq!(column[row].as_deref(), url.as_ref().map(|_| verdict.name()));
                }
                let is_decided = matches!(expected[0], Verdict::Allow | Verdict::Disallow);
                prop_assert_eq!(refused.is_valid(row), is_decided);
                if is_decided {
                    let list = refused.value(row);
                    let list: Vec<&str> = list.as_string::<i64>().iter().flatten().collect();
                    let names = NAMES.into_iter().zip(expected).filter(|(_, verdict)| *verdict == Verdict::Disallow);
                    prop_assert_eq!(list, names.map(|(name, _)| name).collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn explanation_columns_match_explain(urls in prop::collection::vec(url(), 0..40)) {
        let agents = agents(&NAMES);
        let columns = [Column::Reason, Column::Line, Column::Verdict, Column::Rule, Column::Group, Column::Url];
        let array: ArrayRef = Arc::new(urls.iter().map(Option::as_deref).collect::<StringArray>());
        let batch = ArrayDecider::new(agents.clone(), &columns).unwrap().decide(&array).unwrap();
        prop_assert_eq!(batch.column(0).as_string::<i32>(), array.as_string::<i32>());
        for agent in agents.iter() {
            let name = |column: &str| format!("{}:{column}", agent.crawler());
            let (verdicts, groups) = (words(&batch, &name("verdict")), words(&batch, &name("group")));
            let lines = batch.column_by_name(&name("line")).unwrap().as_primitive::<UInt32Type>();
            let rules = batch.column_by_name(&name("rule")).unwrap().as_string::<i64>();
            let reasons = batch.column_by_name(&name("reason")).unwrap().as_string::<i64>();
            for (row, url) in urls.iter().enumerate() {
                let explained = url.as_ref().map(|url| agent.explain(url).unwrap());
                let explained = explained.as_ref();
                let text = |text: Option<String>, found: Option<&str>| text.as_deref() == found;
                prop_assert!(text(explained.map(|found| found.verdict.to_string()), verdicts[row].as_deref()));
                prop_assert!(text(explained.map(|found| found.group.to_string()), groups[row].as_deref()));
                prop_assert!(text(explained.map(|found| found.reason.to_string()), reasons.is_valid(row).then(|| reasons.value(row))));
                let rule = explained.and_then(|found| found.rule());
                prop_assert!(text(rule.map(ToString::to_string), rules.is_valid(row).then(|| rules.value(row))));
                prop_assert_eq!(rule.map(|rule| rule.line), lines.is_valid(row).then(|| lines.value(row)));
            }
        }
    }
}

#[test]
fn columns_are_in_the_documented_order() {
    let columns = [Column::Refused, Column::Line, Column::Url, Column::Verdict];
    let decider = ArrayDecider::new(agents(&["MyBot", "GPTBot"]), &columns).unwrap();
    let array: ArrayRef = Arc::new(StringArray::from(vec!["https://shop.example/"]));
    let batch = decider.decide(&array).unwrap();
    let names: Vec<String> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["url", "MyBot:line", "MyBot:verdict", "GPTBot:line", "GPTBot:verdict", "refused"]);
}

#[test]
fn more_rows_than_fit_in_a_part_are_decided() {
    let agents = agents(&["MyBot", "GPTBot"]);
    let urls = ["https://shop.example/cart", "https://shop.example/", "https://no.example/"];
    let rows = (1 << 19) + 5;
    let array: ArrayRef = Arc::new(StringViewArray::from_iter_values((0..rows).map(|row| urls[row % 3])));
    let batch = ArrayDecider::new(agents, &[Column::Verdict]).unwrap().decide(&array).unwrap();
    let column = batch.column_by_name("MyBot:verdict").unwrap().as_dictionary::<Int8Type>();
    let expected = [Verdict::Disallow, Verdict::Allow, Verdict::Unknown].map(|verdict| verdict as i8);
    assert!(column.keys().values().iter().enumerate().all(|(row, &key)| key == expected[row % 3]));
    assert_eq!(column.len(), rows);
}

#[test]
fn rows_keep_their_order_across_tasks() {
    let names = ["MyBot", "GPTBot", "Googlebot-Image"];
    let agents = agents(&names);
    let urls = [Some("https://shop.example/cart"), None, Some("https://shop.example/"), Some("nonsense")];
    // URLs repeat every 35 rows, so that tasks start at different points of the pattern.
    let url = |row: usize| urls[(row % 5 + row % 7) % urls.len()];
    let texts: Vec<Option<String>> = (0..3 * 4096 + 5).map(|row| url(row).map(str::to_owned)).collect();
    let mut verdicts = [Verdict::Invalid; 3];
    let expected: Vec<_> = texts
        .iter()
        .map(|text| {
            text.as_ref().map(|text| {
                agents.decide(text, &mut verdicts).unwrap();
                verdicts
            })
        })
        .collect();
    let columns = [Column::Mask, Column::Verdict, Column::Ruleset];
    for array in arrays(&texts) {
        for (is_parallel, columns) in [(true, &columns[..]), (false, &columns), (true, &columns[1..2])] {
            let decider = ArrayDecider::new(agents.clone(), columns).unwrap().parallel(is_parallel);
            let batch = decider.decide(&array).unwrap();
            for (place, name) in names.iter().enumerate() {
                let column = batch.column_by_name(&format!("{name}:verdict")).unwrap().as_dictionary::<Int8Type>();
                let keys: Vec<Option<i8>> = column.keys().iter().collect();
                let of_agent = expected.iter().map(|verdicts| verdicts.map(|verdicts| verdicts[place] as i8));
                assert!(of_agent.eq(keys), "{name}, {}, parallel {is_parallel}", array.data_type());
            }
            if columns.contains(&Column::Mask) {
                let bits = |verdicts: [Verdict; 3]| {
                    let bit = |(place, verdict): (usize, &Verdict)| u64::from(*verdict == Verdict::Disallow) << place;
                    let is_decided = matches!(verdicts[0], Verdict::Allow | Verdict::Disallow);
                    is_decided.then(|| verdicts.iter().enumerate().map(bit).sum::<u64>())
                };
                let masks = expected.iter().map(|verdicts| verdicts.and_then(bits));
                assert!(masks.eq(batch["mask"].as_primitive::<UInt64Type>().iter()), "{}", array.data_type());
            }
        }
    }
}

#[test]
fn arrays_without_any_value_give_nulls() {
    let decider = || ArrayDecider::new(agents(&NAMES), &[Column::Url, Column::Verdict, Column::Mask]).unwrap();
    let nulls: ArrayRef = Arc::new(NullArray::new(3));
    let rows = |columns: Vec<(&str, ArrayRef)>| -> ArrayRef {
        Arc::new(StructArray::from(RecordBatch::try_from_iter(columns).unwrap()))
    };
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["https://shop.example/cart"; 3]));
    let (dictionary, empty) = (Int32Array::from(vec![0; 3]), Arc::new(NullArray::new(1)));
    let dictionary: ArrayRef = Arc::new(DictionaryArray::try_new(dictionary, empty).unwrap());
    for (array, column, expected) in [
        (nulls.clone(), None, None),
        (dictionary, None, None),
        (nulls.slice(1, 2), None, None),
        (rows(vec![("n", nulls.clone())]), None, None),
        (rows(vec![("n", nulls.clone()), ("url", nulls.clone())]), None, None),
        (rows(vec![("n", nulls.clone()), ("link", texts.clone())]), None, Some("disallow".to_owned())),
        (rows(vec![("n", nulls.clone()), ("link", texts)]), Some("n"), None),
    ] {
        let batch = decider().decide_rows(&array, column).unwrap();
        assert_eq!(words(&batch, "MyBot:verdict"), vec![expected.clone(); array.len()]);
        let nulls = batch.columns().iter().map(|column| column.logical_null_count());
        assert!(nulls.into_iter().all(|nulls| nulls == if expected.is_none() { array.len() } else { 0 }));
    }
    let two = rows(vec![("a", nulls.clone()), ("b", nulls)]);
    assert_eq!(decider().decide_rows(&two, None).unwrap_err().kind(), ErrorKind::Array);
}

/// A part without rows of an array may begin anywhere in it.
#[test]
fn arrays_without_rows_give_valid_arrays() {
    let decider = ArrayDecider::new(agents(&NAMES), &[Column::Url, Column::Verdict]).unwrap();
    let texts = [Some("https://shop.example/cart"), Some("/")];
    for array in [
        Arc::new(StringArray::from_iter(texts)) as ArrayRef,
        Arc::new(LargeStringArray::from_iter(texts)),
        Arc::new(StringViewArray::from_iter(texts)),
        Arc::new(DictionaryArray::<Int32Type>::from_iter(texts)),
    ] {
        let rows = RecordBatch::try_from_iter([("url", array)]).unwrap();
        let parts = (0..=2).map(|start| Ok(rows.slice(start, 0))).collect::<Vec<_>>();
        let stream = FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new(parts, rows.schema())));
        let mut count = 0;
        for part in RecordBatchStreamReader::try_new(stream).unwrap() {
            let batch = decider.decide_rows(&(Arc::new(StructArray::from(part.unwrap())) as ArrayRef), None).unwrap();
            assert_eq!((batch.num_rows(), batch.num_columns()), (0, 1 + NAMES.len()));
            StructArray::from(batch).to_data().validate_full().unwrap();
            count += 1;
        }
        assert_eq!(count, 3);
    }
}

#[test]
fn arrays_without_text_are_errors() {
    let decider = ArrayDecider::new(agents(&["MyBot"]), &[Column::Verdict]).unwrap();
    let error = decider.decide(&(Arc::new(Int32Array::from(vec![1])) as ArrayRef)).unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (ErrorKind::Array, "the URLs have to be an array of texts, found Int32")
    );
    let numbers: ArrayRef =
        Arc::new(DictionaryArray::<Int32Type>::try_new(vec![0].into(), Arc::new(Int32Array::from(vec![1]))).unwrap());
    assert_eq!(decider.decide(&numbers).unwrap_err().kind(), ErrorKind::Array);
}

#[test]
fn invalid_crawler_and_column_names_are_errors() {
    let source = source();
    let error = |names: &[&str]| source.agents(names, false).unwrap_err().to_string();
    assert!(error(&[]).contains("no crawler is named"));
    assert!(error(&["GPTBot", "GPTBot"]).contains("twice"));
    assert!(error(&["Googelbot"]).contains("nearly the crawler \"Googlebot\""));
    assert!(error(&["ChatGPT"]).contains("write \"GPTBot\", \"OAI-SearchBot\" or \"ChatGPT-User\""));
    assert!(error(&["x>Googelbot>*"]).contains("nearly the crawler \"Googlebot\""));
    assert!(error(&["A>>B"]).contains("chain"));
    assert!(error(&["@unnamed"]).contains("@ai-training, @search"));
    assert!(error(&["Mozilla/5.0 (compatible; GPTBot/1.2)"]).contains("GPTBot"));
    assert!(source.agents(&["Googelbot"], true).is_ok());
    assert!(source.agents(&["@ai-training", "@search", "*", "x>y>*"], false).unwrap().len() > 10);
    let robots = SetOrRobots::Robots(Robots::parse("", Dialect::google()).unwrap());
    assert!(robots.agents(&["@search"], false).unwrap().len() > 10);
    assert!(Column::from_list("").is_err() && Column::from_list("url,url").is_err());
    assert_eq!(ArrayDecider::new(agents(&["MyBot"]), &[]).unwrap_err().kind(), ErrorKind::Column);
}

#[test]
fn a_wider_scope_decides_unknown_origins() {
    let mut compiler = Compiler::new(Dialect::google());
    compiler.add(Capture::new("https://www.example.com/robots.txt", "user-agent: *\ndisallow: /a").unwrap()).unwrap();
    let agents = compiler.finish().unwrap().into_set().unwrap().agents(["AnyBot"]).unwrap();
    let urls =
        ["https://www.example.com/a", "http://www.example.com/a", "https://example.com/b", "https://b.example/", "-"];
    for &scope in Scope::ALL {
        let array: ArrayRef = Arc::new(StringArray::from(urls.to_vec()));
        for columns in [&[Column::Verdict][..], &[Column::Verdict, Column::Line]] {
            let decider = ArrayDecider::new(agents.clone(), columns).unwrap().in_scope(scope);
            let batch = decider.decide(&array).unwrap();
            let verdicts = batch.column(0).as_dictionary::<Int8Type>();
            let agent = agents.iter().next().unwrap();
            for (row, url) in urls.iter().enumerate() {
                let expected = scope.decide(agent, url.as_bytes(), None).unwrap();
                assert_eq!(usize::try_from(verdicts.keys().value(row)), Ok(expected as usize), "{scope:?} {url}");
                assert_eq!(scope.explain(agent, url.as_bytes(), None).unwrap().0.verdict, expected);
            }
        }
        let known = urls.iter().filter(|url| {
            !matches!(
                scope.decide(agents.iter().next().unwrap(), url.as_bytes(), None).unwrap(),
                Verdict::Unknown | Verdict::Invalid
            )
        });
        assert_eq!(
            known.count(),
            match scope {
                Scope::Origin => 1,
                Scope::Scheme => 2,
                _ => 3,
            },
            "{scope:?}"
        );
    }
}
