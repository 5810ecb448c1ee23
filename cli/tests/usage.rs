//! `reptile classify --usage`: preferences in every format, at any time, and errors.

use crate::support::Folder;

const OLD: &str = "user-agent: *\\ncontent-usage: train-ai=y\\ncontent-signal: search=yes, ai-train=no\\n";
const NEW: &str =
    "user-agent: *\\ndisallow: /x\\ncontent-usage: train-ai=n, search=y\\ncontent-usage: /*.pdf$ search=n\\n";

/// Creates a folder with two captures from one origin, and URLs with times.
fn folder() -> Folder {
    let folder = Folder::new();
    let capture = |time: &str, body: &str| {
        format!("{{\"url\":\"https://a.example/robots.txt\",\"time\":\"{time}\",\"body\":\"{body}\"}}\n")
    };
    folder.write("captures.jsonl", capture("2026-01-01", OLD) + &capture("2026-02-01", NEW));
    folder.write(
        "urls.tsv",
        "url\ttime\nhttps://a.example/1\t2026-01-15\nhttps://a.example/1\t2026-02-15\nhttps://a.example/x\t2026-01-15\n\
         https://a.example/x\t2026-02-15\nhttps://a.example/1.pdf\t2026-02-15\nhttps://b.example/\t2026-02-15\nnone\t2026-02-15\n",
    );
    folder.run(&["compile", "-o", "set", "captures.jsonl"]).says(0, &[]);
    folder.run(&["compile", "--by-time", "-o", "timed", "captures.jsonl"]).says(0, &[]);
    folder
}

fn classify(folder: &Folder, set: &str, options: &[&str]) -> String {
    let columns = ["classify", set, "urls.tsv", "--agent", "Bot", "--columns", "verdict"];
    folder.run(&[&columns, options].concat()).says(0, &[]).text()
}

#[test]
fn preferences_are_columns_in_every_format() {
    let folder = folder();
    let options = ["--usage", "train-ai,search", "--header"];
    let tsv = classify(&folder, "set", &options);
    let expected = [
        "Bot:verdict\tBot:train-ai\tBot:search",
        "allow\tdisallowed\tallowed",
        "allow\tdisallowed\tallowed",
        "disallow\tnot-applicable\tnot-applicable",
        "disallow\tnot-applicable\tnot-applicable",
        "allow\tunknown\tdisallowed",
        "unknown\tunknown\tunknown",
        "invalid\tunknown\tunknown",
    ];
    assert_eq!(tsv.lines().collect::<Vec<_>>(), expected);
    let csv = classify(&folder, "set", &[&options[..], &["--format", "csv"]].concat());
    assert_eq!(csv, tsv.replace('\t', ","));
    let jsonl = classify(&folder, "set", &["--usage", "train-ai,search", "--format", "jsonl"]);
    let first = r#"{"Bot:verdict":"allow","Bot:train-ai":"disallowed","Bot:search":"allowed"}"#;
    assert_eq!(jsonl.lines().next(), Some(first));
    // Parquet has the same words: written, and read again as a table.
    classify(&folder, "set", &["--usage", "train-ai,search", "-o", "out.parquet"]);
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let reader = SerializedFileReader::new(std::fs::File::open(folder.path("out.parquet")).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap().map(|row| {
        let cells =
            row.unwrap().get_column_iter().map(|(_, cell)| cell.to_string().replace('"', "")).collect::<Vec<_>>();
        cells.join("\t")
    });
    assert_eq!(rows.collect::<Vec<_>>(), expected[1..]);
}

#[test]
fn a_page_goes_by_the_statements_of_its_time() {
    let folder = folder();
    let text = classify(&folder, "timed", &["--at-column", "time", "--usage", "train-ai,search"]);
    let expected = [
        "allow\tallowed\tunknown",
        "allow\tdisallowed\tallowed",
        "allow\tallowed\tunknown",
        "disallow\tnot-applicable\tnot-applicable",
        "allow\tunknown\tdisallowed",
        "unknown\tunknown\tunknown",
        "invalid\tunknown\tunknown",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    let old = classify(&folder, "timed", &["--at", "2026-01-20", "--usage", "train-ai", "--combine"]);
    assert_eq!(old.lines().next(), Some("allow\tdisallowed"));
    let old = classify(&folder, "timed", &["--at", "2026-01-20", "--usage", "search", "--signals"]);
    assert_eq!(old.lines().next(), Some("allow\tallowed"));
}

#[test]
fn a_purpose_is_one_verdict_and_never_allowed_by_accident() {
    let folder = folder();
    for (unknown, expected) in [("allow", "allow"), ("disallow", "disallow"), ("unknown", "unknown")] {
        let text = classify(&folder, "set", &["--purpose", "train-ai", "--unknown-usage", unknown]);
        let found: Vec<&str> = text.lines().map(|line| line.split_once('\t').unwrap().1).collect();
        assert_eq!(found, ["disallow", "disallow", "disallow", "disallow", expected, "unknown", "invalid"]);
    }
    let text = classify(&folder, "set", &["--purpose", "search", "--unknown-usage", "disallow", "--usage", "search"]);
    assert_eq!(text.lines().next(), Some("allow\tallowed\tallow"));
}

#[test]
fn vocabularies_are_data_and_mistakes_are_errors() {
    let folder = folder();
    folder.write("ours", "training = train-ai train-genai | ai-train # ours\n");
    let text = classify(&folder, "set", &["--usage", "training", "--vocabulary", "ours"]);
    assert_eq!(text.lines().next(), Some("allow\tdisallowed"));
    folder.write("bad", "training = train-ai\ntraining\n");
    let run = |options: &[&str]| folder.run(&[&["classify", "set", "urls.tsv", "--agent", "Bot"], options].concat());
    for (options, says) in [
        (
            &["--usage", "search", "--vocabulary", "ours"][..],
            "--usage: the vocabulary ours has no use \"search\"; expected training",
        ),
        (
            &["--usage", "training", "--vocabulary", "bad"],
            "bad: line 2: expected category = labels | signals, found \"training\"",
        ),
        (&["--usage", "training", "--vocabulary", "none"], "none: is neither a vocabulary that ships"),
        (&["--usage", "Train-AI"], "has no use \"Train-AI\"; expected train-ai, search, ai-use"),
        (&["--usage", "ai-use", "--vocabulary", "aipref-07"], "has no use \"ai-use\"; expected train-ai, search"),
        (&["--usage", "search,search"], "--usage search: is given twice"),
        (&["--usage", "verdict", "--vocabulary", "any"], "--usage verdict: is given twice, or is the name of a column"),
        (&["--signals"], "--signals: requires --usage or --purpose"),
        (&["--vocabulary", "any"], "--vocabulary: requires --usage or --purpose"),
        (&["--purpose", "search"], "--unknown-usage <VERDICT>"),
    ] {
        run(options).says(2, &[says]);
    }
    let text = classify(&folder, "set", &["--usage", "train-ai,tdm", "--vocabulary", "any"]);
    assert_eq!(text.lines().next(), Some("allow\tdisallowed\tunknown"));
}
