//! Tests.

use super::*;
use crate::engine::Sample;
use crate::records::Speed;

fn engine(name: &str) -> EngineRecord {
    EngineRecord { engine: name.into(), dialect: "rfc9309".into(), ..EngineRecord::default() }
}

fn score(engine: &str, dialect: &str, wrong: usize) -> Score {
    let (engine, dialect) = (engine.into(), dialect.into());
    Score { engine, dialect, rows: 103, right: 100 - wrong, wrong, unsupported: 2, failed: 1, ..Score::default() }
}

fn speed(engine: &str, model: &str, ns: u64, right: usize) -> Speed {
    Speed {
        engine: engine.into(),
        model: model.into(),
        input: "small".into(),
        round: 0,
        units: 1,
        samples: vec![Sample { ns, passes: 1, disallowed: 0 }],
        wall_ns: 0,
        void: None,
        checked: 10,
        right,
        dialect: "rfc9309".into(),
    }
}

/// Returns the table, text and chart of a summary.
fn summary_of(records: &Records) -> (Vec<Vec<String>>, String, Vec<String>) {
    let blocks = page("title", records);
    let Block::Table(table) = &blocks[1] else { panic!("the report does not open with a table") };
    let Block::Text(text) = &blocks[2] else { panic!("no text after the table") };
    let chart = match &blocks[4] {
        Block::Code(lines) => lines.clone(),
        _ => Vec::new(),
    };
    (std::iter::once(table.head.clone()).chain(table.rows.clone()).collect(), text.clone(), chart)
}

#[test]
fn reports_open_with_differences_and_speed() {
    let mut records = Records {
        engines: ["slow", "fast", "wrong", "shot", "none"].map(engine).to_vec(),
        // Scores for other dialects do not count.
        scores: vec![score("slow", "rfc9309", 7), score("slow", "google", 50), score("fast", "rfc9309", 0)],
        speeds: vec![
            speed("slow", "fresh", 1000, 10),
            speed("fast", "fresh", 10, 10),
            speed("wrong", "fresh", 100, 5),
            speed("shot", "one-shot", 30, 10),
            speed("slow", "one-shot", 10, 10),
        ],
        ..Records::default()
    };
    records.engines.push(EngineRecord { absent: Some("no program".into()), ..engine("ghost") });
    let (table, text, chart) = summary_of(&records);
    let expected = [
        "engine|dialect|verdict differences|rows compared|unanswered|time for new URLs|time for one question",
        "fast|rfc9309|0|100|3|1.0 x|-",
        "wrong|rfc9309|-|-|-|10.0 x, other verdicts|-",
        "slow|rfc9309|7|100|3|100.0 x|1.0 x",
        "shot|rfc9309|-|-|-|-|3.0 x",
        "none|rfc9309|-|-|-|-|-",
    ];
    assert_eq!(table.iter().map(|row| row.join("|")).collect::<Vec<_>>(), expected);
    assert!(text.starts_with("5 engines ran; 1 more is absent. "), "{text}");
    let starts: Vec<&str> = chart.iter().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(starts, ["fast", "wrong", "slow"]);
}

#[test]
fn summaries_only_have_columns_with_figures() {
    let verdicts = Records { engines: vec![engine("a")], scores: vec![score("a", "rfc9309", 1)], ..Records::default() };
    let (table, text, chart) = summary_of(&verdicts);
    assert_eq!((table[0].len(), table[1].join("|")), (5, "a|rfc9309|1|100|3".to_owned()));
    assert!(text.starts_with("1 engine ran. ") && !text.contains("Times"), "{text}");
    assert!(chart.is_empty());
    let speeds = vec![speed("a", "fresh", 10, 10), speed("b", "fresh", 20, 10)];
    let engines = vec![engine("b"), engine("a")];
    let (table, ..) = summary_of(&Records { engines, speeds, ..Records::default() });
    assert_eq!(table, [["engine", "time for new URLs"], ["a", "1.0 x"], ["b", "2.0 x"]]);
}
