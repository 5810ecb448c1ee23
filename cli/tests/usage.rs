//! `--usage`: preferences in every format, at any time, for whole origins, and errors.

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
    let text = classify(&folder, "timed", &["--at", "{time}", "--usage", "train-ai,search"]);
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
    let old = classify(&folder, "timed", &["--at", "2026-01-20", "--usage", "train-ai", "--usage-from", "all"]);
    assert_eq!(old.lines().next(), Some("allow\tdisallowed"));
    let old =
        classify(&folder, "timed", &["--at", "2026-01-20", "--usage", "search", "--usage-from", "content-signal"]);
    assert_eq!(old.lines().next(), Some("allow\tallowed"));
}

#[test]
fn a_purpose_is_one_verdict_and_never_allowed_by_accident() {
    let folder = folder();
    for (unknown, expected) in [("allow", "allow"), ("disallow", "disallow"), ("unknown", "unknown")] {
        let text = classify(&folder, "set", &["--purpose", "train-ai", "--treat", &format!("unknown-usage={unknown}")]);
        let found: Vec<&str> = text.lines().map(|line| line.split_once('\t').unwrap().1).collect();
        assert_eq!(found, ["disallow", "disallow", "disallow", "disallow", expected, "unknown", "invalid"]);
    }
    let text =
        classify(&folder, "set", &["--purpose", "search", "--treat", "unknown-usage=disallow", "--usage", "search"]);
    assert_eq!(text.lines().next(), Some("allow\tallowed\tallow"));
}

/// The mask and the list of refused crawlers follow the purpose, as does a verdict that is written instead of `unknown`.
#[test]
fn refused_crawlers_follow_the_purpose() {
    const NO: &str = "disallow\t1\tBot";
    let folder = folder();
    let refused = |options: &[&str]| {
        let asked = ["classify", "set", "urls.tsv", "--agent", "Bot", "--columns", "mask,refused"];
        let text = folder.run(&[&asked[..], &["--purpose", "train-ai"], options].concat()).says(0, &[]).text();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let (unknown, invalid) = ("unknown\t\tunknown", "invalid\t\tinvalid");
    for (options, expected) in [
        (&["unknown-usage=allow"][..], [NO, NO, NO, NO, "allow\t0\t", unknown, invalid]),
        (&["unknown-usage=disallow"], [NO, NO, NO, NO, NO, unknown, invalid]),
        (&["unknown-usage=unknown"], [NO, NO, NO, NO, unknown, unknown, invalid]),
        (&["unknown-usage=unknown", "--treat", "unknown=disallow"], [NO, NO, NO, NO, unknown, NO, invalid]),
        (&["unknown-usage=unknown", "--treat", "unknown=allow"], [NO, NO, NO, NO, unknown, unknown, invalid]),
        (&["unknown-usage=allow", "--treat", "unknown=allow"], [NO, NO, NO, NO, "allow\t0\t", "allow\t0\t", invalid]),
        (&["unknown-usage=allow", "--treat", "invalid=disallow"], [NO, NO, NO, NO, "allow\t0\t", unknown, NO]),
    ] {
        assert_eq!(refused(&[&["--treat"], options].concat()), expected, "{options:?}");
        let explained = refused(&[&["--scope", "www", "--treat"], options].concat());
        assert_eq!(explained, expected, "{options:?} by explanations");
    }
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
            "bad: line 2: expected category = labels | signals | tokens, found \"training\"",
        ),
        (
            &["--usage", "training", "--vocabulary", "none"],
            "none: expected aipref-08, aipref-07, legacy, any, or a file that can be read, found \"No such file",
        ),
        (&["--usage", "Train-AI"], "has no use \"Train-AI\"; expected train-ai, search, ai-use"),
        (&["--usage", "ai-use", "--vocabulary", "aipref-07"], "has no use \"ai-use\"; expected train-ai, search"),
        (&["--usage", "search,search"], "--usage search: is given twice"),
        (&["--usage", "verdict", "--vocabulary", "any"], "--usage verdict: is given twice, or is the name of a column"),
        (&["--usage-from", "content-signal"], "--usage-from: requires --usage or --purpose"),
        (&["--vocabulary", "any"], "--vocabulary: requires --usage or --purpose"),
        (&["--purpose", "search"], "--purpose: requires --treat unknown-usage=VERDICT"),
        (&["--purpose", "search", "--treat", "unknown=allow"], "--purpose: requires --treat unknown-usage=VERDICT"),
        (&["--treat", "unknown-usage=allow"], "--treat unknown-usage: requires --purpose"),
        (&["--treat", "unknown=allow,unknown=disallow"], "--treat: gives two verdicts for the same thing"),
        (&["--treat", "invalid=unknown"], "expected unknown, invalid or unknown-usage, then = and allow or disallow"),
    ] {
        run(options).says(2, &[says]);
    }
    let text = classify(&folder, "set", &["--usage", "train-ai,tdm", "--vocabulary", "any"]);
    assert_eq!(text.lines().next(), Some("allow\tdisallowed\tunknown"));
}

/// A case in `corpora/usage/cases.toml`.
#[derive(serde::Deserialize)]
struct Case {
    name: String,
    body: String,
    agent: String,
    path: String,
    train: String,
    search: String,
}

/// All cases, by kind of line.
#[derive(serde::Deserialize)]
struct Cases {
    usage: Vec<Case>,
    signals: Vec<Case>,
}

/// `test` and `classify` answer every case alike.
#[test]
fn cases_hold_in_the_command() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../corpora/usage/cases.toml")).unwrap();
    let cases: Cases = toml::from_str(&text).unwrap();
    assert_eq!((cases.usage.len(), cases.signals.len()), (35, 7));
    let folder = Folder::new();
    for (cases, options) in [(cases.usage, &[][..]), (cases.signals, &["--usage-from", "content-signal"])] {
        for Case { name, body, agent, path, train, search } in cases {
            folder.write("robots.txt", &body);
            folder.write("urls", format!("https://a.example{path}\n"));
            let ask = |before: &[&str], after: &[&str]| {
                let asked = ["--agent", &format!("exact:{agent}"), "--usage", "train-ai,search"];
                folder.run(&[before, &asked, options, after].concat()).says(0, &[]).text()
            };
            let tested: serde_json::Value =
                serde_json::from_str(&ask(&["test", "robots.txt"], &["--json", &path])).unwrap();
            let expected = serde_json::json!({"train-ai": train, "search": search});
            assert_eq!(tested["usage"], expected, "{name}: {body:?}");
            let classified = ask(&["classify", "robots.txt", "urls", "--host", "a.example"], &["--columns", "verdict"]);
            let verdict = tested["verdict"].as_str().unwrap();
            assert_eq!(classified, format!("{verdict}\t{train}\t{search}\n"), "{name}: {body:?}");
        }
    }
}

/// A case in `corpora/usage/tokens.toml`.
#[derive(serde::Deserialize)]
struct TokenCase {
    name: String,
    body: String,
    agent: String,
    path: String,
    train: String,
    with_default: String,
}

/// `test`, `classify` and `summarize` read groups for the token of a use, and a purpose follows them.
#[test]
fn groups_for_a_token_count_in_the_command() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../corpora/usage/tokens.toml")).unwrap();
    let mut cases: std::collections::BTreeMap<String, Vec<TokenCase>> = toml::from_str(&text).unwrap();
    let cases = cases.remove("tokens").unwrap();
    let folder = Folder::new();
    let mut compared = 0;
    for TokenCase { name, body, agent, path, train, with_default } in cases {
        folder.write("robots.txt", &body);
        folder.write("urls", format!("https://a.example{path}\n"));
        for (options, expected) in [
            (&[][..], &train),
            (&["--usage-from", "content-usage,token"], &train),
            (&["--usage-from", "all"], &train),
            (&["--usage-from", "content-usage,default-group"], &with_default),
        ] {
            let ask = |before: &[&str], after: &[&str]| {
                let asked = ["--agent", &format!("exact:{agent}"), "--usage", "train-ai"];
                folder.run(&[before, &asked, options, after].concat()).says(0, &[]).text()
            };
            let tested: serde_json::Value =
                serde_json::from_str(&ask(&["test", "robots.txt"], &["--json", &path])).unwrap();
            assert_eq!(tested["usage"]["train-ai"], **expected, "{name}: {options:?}");
            let classify = ["classify", "robots.txt", "urls", "--host", "a.example"];
            let purpose = ["--columns", "verdict", "--purpose", "train-ai", "--treat", "unknown-usage=unknown"];
            let verdict = tested["verdict"].as_str().unwrap();
            let for_training = match &**expected {
                "allowed" => "allow",
                "unknown" => "unknown",
                _ => "disallow",
            };
            let row = ask(&classify, &purpose);
            assert_eq!(row, format!("{verdict}\t{expected}\t{for_training}\n"), "{name}: {options:?}");
            compared += 1;
        }
    }
    assert_eq!(compared, 18 * 4);
    folder
        .write("robots.txt", "user-agent: *\ndisallow: /p\nuser-agent: __usage_ai-training\ndisallow: /\nallow: /o\n");
    let test = |options: &[&str]| {
        let asked = ["test", "robots.txt", "--agent", "Bot", "--usage", "train-ai", "--json"];
        folder.run(&[&asked, options].concat()).says(0, &[]).text()
    };
    assert!(test(&["/o"]).ends_with("\"usage\":{\"train-ai\":\"allowed\"},\"stated\":[5]}\n"));
    assert!(test(&["/p"]).ends_with("\"usage\":{\"train-ai\":\"not-applicable\"},\"stated\":[]}\n"));
    assert!(test(&["--usage-from", "content-usage", "/o"]).ends_with("\"train-ai\":\"unknown\"},\"stated\":[]}\n"));
    assert!(test(&["--vocabulary", "aipref-07", "/o"]).ends_with("\"train-ai\":\"unknown\"},\"stated\":[]}\n"));
}

#[test]
fn a_test_shows_the_lines_that_state_preferences() {
    let folder = Folder::new();
    folder.write(
        "robots.txt",
        "content-signal: search=yes\nuser-agent: *\ndisallow: /x\ncontent-usage: train-ai=n\ncontent-usage: /*.pdf train-ai=y\n",
    );
    let test = |options: &[&str]| folder.run(&[&["test", "robots.txt", "--agent", "Bot"], options].concat());
    let text = test(&["--usage", "train-ai,search", "--usage-from", "all", "/1.pdf", "/x"]).says(0, &[]).text();
    for line in [
        "   use       train-ai: allowed\n   use       search: allowed\n   stated    line 1: content-signal: search=yes\n   \
         stated    line 5: content-usage: /*.pdf train-ai=y\n",
        "   use       train-ai: not-applicable\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let brief = test(&["--usage", "train-ai", "--brief", "/1", "/x"]).says(0, &[]).text();
    assert_eq!(
        brief,
        "allow     disallowed      /1   no rule matches\ndisallow  not-applicable  /x   line 3: disallow: /x\n"
    );
    // A failed fetch states nothing.
    let failed = test(&["--usage", "train-ai", "--status", "404", "--json", "/1"]).says(0, &[]).text();
    assert!(failed.ends_with("\"usage\":{\"train-ai\":\"unknown\"},\"stated\":[]}\n"), "{failed}");
    // Only the lines that were read are shown.
    for (lines_of, lines) in [("content-signal", "[1]"), ("all", "[1,5]"), ("content-usage", "[5]")] {
        let text = test(&["--usage", "search", "--usage-from", lines_of, "--json", "/1.pdf"]).says(0, &[]).text();
        assert!(text.contains(&format!("\"stated\":{lines}")), "{text}");
    }
    let all = test(&["--usage", "train-ai", "--all-dialects", "--json", "/1.pdf"]).says(0, &[]).text();
    // The last two dialects have no wildcards.
    let allowed: Vec<bool> = all.lines().map(|line| line.contains("\"train-ai\":\"allowed\"")).collect();
    assert_eq!(allowed, [true, true, true, true, true, true, true, false, false], "{all}");
    test(&["--usage", "train-ai", "--all-dialects", "/1"])
        .says(2, &["--usage: with --all-dialects, it requires --json"]);
    test(&["--usage", "train", "/1"]).says(2, &["has no use \"train\""]);
    test(&["--usage-from", "all", "/1"]).says(2, &["--usage-from: requires --usage"]);
}

/// Preferences that are asked for in batches equal those of rows that are explained one at a time.
#[test]
fn batches_equal_explained_rows() {
    let folder = folder();
    let mut urls = String::from("url\ttime\n");
    for number in 0..1500 {
        let host = ["a.example", "b.example", "A.example:443", "a.example:81"][number % 4];
        let path = ["", "/x", "/1.pdf", "/y/%31.pdf?z", "/x/y.pdf"][number % 5];
        let time = ["2026-01-15", "2026-02-15", "2025-01-01", ""][number % 7 % 4];
        urls += &format!("https://{host}{path}\t{time}\n");
    }
    folder.write("urls.tsv", urls + "none\t2026-02-15\n");
    let mut compared = 0;
    for (set, time) in [("set", &[][..]), ("timed", &["--at", "2026-01-20"]), ("timed", &["--at", "{time}"])] {
        for uses in [
            &["--usage", "train-ai,search"][..],
            &["--usage", "search", "--usage-from", "content-signal"],
            &["--usage", "search", "--usage-from", "all", "--purpose", "train-ai", "--treat", "unknown-usage=disallow"],
        ] {
            for columns in ["verdict", "url,capture_time,verdict"] {
                let ask = |columns: &str| {
                    let asked =
                        ["classify", set, "urls.tsv", "--agent", "Bot", "--agent", "GPTBot", "--columns", columns];
                    let text = folder.run(&[&asked, uses, time].concat()).says(0, &[]).text();
                    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect::<Vec<Vec<_>>>()
                };
                let (batched, mut explained) = (ask(columns), ask(&format!("{columns},reason")));
                // Each crawler's columns are the verdict, the reason, the preferences and the purpose.
                let once = columns.split(',').count() - 1;
                for row in &mut explained {
                    let own = (row.len() - once) / 2;
                    row.remove(once + own + 1);
                    row.remove(once + 1);
                }
                assert_eq!(batched.len(), 1501);
                assert_eq!(batched, explained, "{set} {time:?} {uses:?} {columns}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 18);
}

/// Table: a robots.txt, and the access and what it permits for training and search, by `Content-Usage` lines, by signals
/// and combined.
const PERMISSIONS: [(&str, &str, [&str; 3]); 16] = [
    ("", "allowed", ["unknown unknown"; 3]),
    ("disallow: /", "disallowed", ["not-applicable not-applicable"; 3]),
    ("content-usage: train-ai=n, search=y", "allowed", ["disallowed allowed", "unknown unknown", "disallowed allowed"]),
    // Every page but /a is covered, and /a must not be fetched.
    (
        "disallow: /a\ncontent-usage: train-ai=n\ncontent-usage: /a train-ai=y",
        "partial",
        ["disallowed unknown", "unknown unknown", "disallowed unknown"],
    ),
    // The exception is a single page.
    (
        "disallow: /a\nallow: /ab$\ncontent-usage: train-ai=n\ncontent-usage: /a train-ai=y",
        "partial",
        ["partial unknown", "unknown unknown", "partial unknown"],
    ),
    (
        "content-usage: / train-ai=y\ncontent-usage: train-ai=n",
        "allowed",
        ["allowed unknown", "unknown unknown", "allowed unknown"],
    ),
    ("content-usage: /x train-ai=y", "allowed", ["partial unknown", "unknown unknown", "partial unknown"]),
    ("content-usage: Train-AI=n", "allowed", ["unknown unknown"; 3]),
    // A line that cannot be read hides shorter ones.
    (
        "content-usage: train-ai=n\ncontent-usage: /x/ Train-AI=n",
        "allowed",
        ["partial unknown", "unknown unknown", "partial unknown"],
    ),
    (
        "disallow: /\nallow: /x\ncontent-usage: train-ai=n\ncontent-usage: /*x train-ai=y, search=y\ncontent-usage: /x* search=n",
        "partial",
        ["allowed disallowed", "unknown unknown", "allowed disallowed"],
    ),
    (
        "content-signal: ai-train=no, search=yes\ncontent-usage: /x train-ai=y, search=n",
        "allowed",
        ["partial partial", "disallowed allowed", "disallowed partial"],
    ),
    (
        "disallow: /x\ncontent-usage: /robots.txt train-ai=n",
        "partial",
        ["partial unknown", "unknown unknown", "partial unknown"],
    ),
    // Groups for the token of a use.
    (
        "user-agent: __usage_ai-training\ndisallow: /",
        "disallowed",
        ["not-applicable not-applicable", "not-applicable not-applicable", "not-applicable not-applicable"],
    ),
    (
        "disallow: /x\nuser-agent: __usage_ai-training\ndisallow: /\nallow: /x",
        "partial",
        ["disallowed unknown", "unknown unknown", "disallowed unknown"],
    ),
    (
        "allow: /\ncontent-usage: train-ai=y\nuser-agent: __usage_ai-training\ndisallow: /x",
        "allowed",
        ["partial unknown", "unknown unknown", "partial unknown"],
    ),
    (
        "allow: /\ncontent-usage: /x train-ai=n, search=n\nuser-agent: __usage_ai-training\ndisallow:",
        "allowed",
        ["partial partial", "unknown unknown", "partial partial"],
    ),
];

#[test]
fn summaries_prove_what_an_origin_permits() {
    let folder = Folder::new();
    for (number, (body, ..)) in PERMISSIONS.iter().enumerate() {
        folder.write(&format!("robots/{number}.example"), format!("user-agent: *\n{body}\n"));
    }
    folder.run(&["compile", "-o", "set", "robots"]).says(0, &[]);
    let mut list: String = (0..PERMISSIONS.len()).map(|number| format!("{number}.example\n")).collect();
    list += "other.example\nno host\n";
    folder.write("list", list);
    let summarize = |options: &[&str]| {
        let asked = ["summarize", "set", "list", "--agent", "Bot", "--key", "host", "--usage", "train-ai,search"];
        folder.run(&[&asked, options].concat())
    };
    for (at, options) in
        [&[][..], &["--usage-from", "content-signal"], &["--usage-from", "all"]].into_iter().enumerate()
    {
        let run = summarize(options).says(0, &["  train-ai "]);
        let rows: Vec<(String, String)> = run
            .text()
            .lines()
            .map(|line| {
                let cells: Vec<&str> = line.split('\t').collect();
                (cells[2].to_owned(), cells[9..].join(" "))
            })
            .collect();
        let expected = PERMISSIONS.map(|(_, access, permitted)| (access, permitted[at]));
        let expected = expected.into_iter().chain([("unknown", "unknown unknown"), ("invalid", "invalid invalid")]);
        for ((row, expected), (body, ..)) in
            rows.iter().zip(expected.clone()).zip(PERMISSIONS.iter().chain([&PERMISSIONS[0]; 2]))
        {
            assert_eq!((&*row.0, &*row.1), expected, "{options:?} {body}");
        }
        assert_eq!(rows.len(), expected.count());
    }
    summarize(&[]).says(
        0,
        &["  train-ai allowed 2, disallowed 3, partial 7, unknown 3, not-applicable 2, unproved 0, invalid 1\n"],
    );
    let first = summarize(&["--header"]).says(0, &[]).text();
    assert!(
        first.starts_with("host\tagent\taccess\t")
            && first.lines().next().unwrap().ends_with("\tdisallowed_path\ttrain-ai\tsearch")
    );
    let jsonl = summarize(&["--format", "jsonl"]).says(0, &[]).text();
    assert!(jsonl.lines().nth(2).unwrap().contains("\"train-ai\":\"disallowed\",\"search\":\"allowed\""), "{jsonl}");
    for (options, says) in [
        (
            &["--usage", "search", "--by-site"][..],
            "--usage: a row of --by-site covers up to four origins; ask without --by-site",
        ),
        (&["--usage", "search,search"], "--usage search: is given twice"),
        (&["--usage", "access", "--vocabulary", "any"], "--usage access: is given twice, or is the name of a column"),
        (&["--usage", "train"], "has no use \"train\""),
        (&["--usage-from", "content-signal"], "--usage-from: requires --usage"),
    ] {
        folder.run(&[&["summarize", "set", "--agent", "Bot"], options].concat()).says(2, &[says]);
    }
}

/// A set without these lines says nothing about uses, and a failed fetch decides for every use.
#[test]
fn summaries_without_statements_follow_the_access() {
    let folder = Folder::new();
    let capture = |host: &str, status: u32| {
        format!("{{\"url\":\"https://{host}/robots.txt\",\"status\":{status},\"time\":1700000000,\"body\":\"\"}}\n")
    };
    folder.write("captures.jsonl", capture("gone.example", 404) + &capture("down.example", 503));
    let text = folder
        .run(&["summarize", "captures.jsonl", "--agent", "x", "--key", "host", "--usage", "search"])
        .says(0, &[])
        .text();
    let mut rows: Vec<String> = text.lines().map(|line| line.split('\t').next_back().unwrap().to_owned()).collect();
    rows.sort();
    assert_eq!(rows, ["not-applicable", "unknown"]);
}

/// Labels of older drafts count only in the vocabulary that has them, and `DisallowAITraining` in none.
#[test]
fn old_labels_are_read_on_request() {
    let folder = Folder::new();
    let body = "user-agent: *\ndisallow: /x\ncontent-usage: train-genai=n, ai-output=y\nDisallowAITraining: /y\n";
    folder.write("robots.txt", body);
    for (vocabulary, expected) in [("aipref-08", "unknown\tunknown"), ("legacy", "disallowed\tallowed")] {
        // Google reads the last line as a Disallow.
        for (dialect, rules) in [("rfc9309", "\t0\t1\t"), ("google", "\t0\t2\t")] {
            let asked =
                ["summarize", "robots.txt", "--host", "a.example", "--agent", "x", "--usage", "train-ai,ai-use"];
            let asked = [&asked[..], &["--vocabulary", vocabulary, "--dialect", dialect]].concat();
            let text = folder.run(&asked).says(0, &[]).text();
            let is_expected = |line: &str| line.ends_with(expected) && line.contains(rules);
            assert!(text.lines().all(is_expected) && !text.is_empty(), "{vocabulary}: {text}");
        }
    }
    for (dialect, message) in [
        ("rfc9309", "warning[disallow-ai-training]: states nothing about training, because its draft has expired; "),
        ("google", "error[disallow-ai-training]: states nothing about training, because its draft has expired; "),
    ] {
        let linted = folder.run(&["lint", "robots.txt", "--dialect", dialect]);
        let text = linted.text();
        assert!(text.contains(&format!("robots.txt:4: {message}")), "{text}");
        assert!(text.contains("fix: Content-Usage: /y train-ai=n\n"), "{text}");
        assert_eq!(text.contains(", as a Disallow for all uses\n"), dialect == "google", "{text}");
    }
}

/// A report names the limit that a file's lines about uses exceed.
#[test]
fn lines_over_a_limit_are_reported() {
    let folder = Folder::new();
    for (len, is_over) in [(73_727, false), (73_728, false), (73_729, true)] {
        let value = format!("train-ai=n;x={}", "a".repeat(len - 13));
        folder.write("robots/a.example", format!("user-agent: *\ndisallow: /x\ncontent-usage: {value}\n"));
        let run = folder.run(&["compile", "--force", "--dialect", "rfc9309", "-o", "set", "robots"]).says(0, &[]);
        let message = "diagnostic: lines about uses over a limit, so every use is unknown";
        assert_eq!(run.stderr.contains(message), is_over, "{run:?}");
        let linted = folder.run(&["lint", "robots/a.example", "--dialect", "rfc9309"]);
        let linted = linted.says(i32::from(is_over), &[]).text();
        let message = ":3: error[usage-over-limit]: every use is unknown, because the lines about uses exceed a limit: bytes in \
                       a line: 73729 is over the limit of 73728\n";
        assert_eq!(linted.contains(message), is_over, "{linted}");
    }
}
