//! `reptile classify` on tables whose text has several readings: only options and the operator's own text select one.
//! Otherwise a row is invalid, or the command asks for an option.
//!
//! The test against other writers needs Python:
//! `pip install pandas polars duckdb; PYTHON=python3 cargo test -p reptile-cli --test all classify_guesses:: -- --ignored`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use support::{Folder, Run};

fn classify(folder: &Folder, name: &str, options: &[&str]) -> Run {
    let columns: &[&str] = if options.contains(&"--add-columns") { &[] } else { &["--columns", "verdict"] };
    folder.run(&[&["classify", "set", name, "--agent", "bot-a"], columns, options].concat())
}

/// A table: name, options, text, and the rows' verdicts by their first letters, or a message after `!`. In the text, `P`
/// and `C` are disallowed URLs. `E` is an allowed URL, which a stranger would like to have decided instead.
type Case = (&'static str, &'static [&'static str], &'static str, &'static str);

const BACKSLASH: &[&str] = &["--escape", "backslash"];

const QUOTE: &[&str] = &["--escape", "quote"];

const WIDTHS: [Case; 16] = [
    ("a.csv", &[], "id,title,referrer,url\n1,Hello, world,E,P\n2,x,y,P\n", "id"),
    ("a.csv", &[], "id,title,url\n1,E\n2,x,P\n", "id"),
    ("a.csv", &[], "id,url,note\n1,P\n2,P,\n", "id"),
    ("a.csv", &[], "id,url\n1,P,\n2,P,,\n3,P,,x\n", "ddi"),
    ("a.csv", &[], "id,url,\n1,P\n2,P,\n3,P,x\n4,P,,\n5\n", "ddddi"),
    ("a.csv", &[], "id,url\n\"1\",P,\"\"\n\"2\",P,\"x\"\n\"3\"\n", "dii"),
    ("a.csv", &[], "1,P\n2,E,P\n3\n4,P\n", "!do not agree"),
    ("a.csv", &["--delimiter", "comma", "--url", "2"], "1,P\n2,E,P\n3\n4,P\n", "diid"),
    ("a.csv", &[], "url\nP\nE,x\n", "di"),
    ("a.tsv", &[], "id\turl\n1\tP\n2\tE\tP\n3\n4\tP\t\r\n", "diid"),
    ("a.tsv", &["--input-format", "tsv"], "id\turl\n1\tE\tP\n", "i"),
    ("a", &[], "url\nP/a,b\nP/c;d\n", "dd"),
    ("a", &[], "P\nP,E\nP\tE\n", "ddi"),
    ("a.csv", &["--delimiter", "space"], "x url\n1 P\n1 x E\n", "di"),
    ("a", &["--delimiter", "\\x01"], "x\u{1}url\n1\u{1}P\n1\u{1}E\u{1}x\n", "di"),
    ("a", &["--delimiter", "^A"], "x\u{1}url\n1\u{1}P\n", "d"),
];

const ESCAPES: [Case; 29] = [
    ("a.csv", &[], "id,t,url\n1,\"he said \\\"hi\\\", ok\",P\n2,x,P\n", "id"),
    ("a.csv", BACKSLASH, "id,t,url\n1,\"he said \\\"hi\\\", ok\",P\n2,x,P\n", "dd"),
    ("a.csv", &["--escape", "\\"], "id,t,url\n1,\"a\\\\\",P\n2,\"\\\\\\\"\",P\n", "dd"),
    // The quoted cell continues on the next line, which is not a row.
    ("a.csv", &[], "id,t,url\n1,\"x\\\"\n9,y,E\n z\",P\n2,x,P\n", "id"),
    // It begins with a quote, so its end may be anywhere.
    ("a.csv", &[], "id,t,url\n1,\"x\\\"\n9,y,E\n\",P\n2,x,P\n", "i"),
    ("a.csv", BACKSLASH, "id,t,url\n1,\"x\\\"\n9,y,E\n\",P\n2,x,P\n", "dd"),
    ("a.csv", &[], "id,t,url\n1,\"x\\\",E\",P\n2,x,P\n", "id"),
    // Two cells whose quotes pair up across rows.
    ("a.csv", &[], "id,t,r,url\n1,\"x\\\",\",y,P\n2,\",E\",y,P\n3,x,y,P\n", "id"),
    ("a.csv", QUOTE, "id,t,url\n1,\"5\\\",P\n2,\"5\"\" \\\"\"x\",P\n", "dd"),
    ("a.csv", &[], "id,t,url\n1,\"5\\\",P\n", "i"),
    ("a.csv", &[], "id,t,url\n1,\"5\\\"\" pipe\",P\n2,\"C:\\\",\"P\"\n", "dd"),
    ("a.csv", &[], "id,url\n1,\"P/\\\\x\"\n2,\"P/\\x\"\n", "id"),
    ("a.csv", QUOTE, "id,url\n1,\"P/\\\\x\"\n", "d"),
    ("a.csv", BACKSLASH, "id,t,url\n1,C:\\x,P\n2,C:\\,P\n3,C:\\\\,P\n4,x,P\\x\n", "didi"),
    ("a.csv", BACKSLASH, "id,t,url\n1,\"a\\nb\",P\n2,x,\"P/\\n\"\n", "di"),
    ("a.csv", BACKSLASH, "id,t,url\n1,\"a\"\"b\",P\n2,\"\",P\n", "id"),
    ("a.csv", &[], "id,t,url\n1,\"a\" b,P\n2,\"a\" ,P\n3,a\"b,P\n4,a\"\",P\n5,x,P\n", "iiddd"),
    ("a.csv", &[], "id,t,url\n1,\"a\"b,\"E\",P\n2,x,P\n", "id"),
    ("a.csv", &[], "id,t,url\n1,\"x\ny\",P\r\n2,\"x\",P\r\n", "dd"),
    ("a.tsv", &["--escape", "backslash", "--delimiter", "tab"], "t\turl\n\"x\\\"\t\"\tP\n", "d"),
    ("a.tsv", &["--escape", "backslash", "--input-format", "tsv"], "t\turl\n", "!--escape: TSV has no quotes"),
    ("a.jsonl", &["--escape", "backslash", "--input-format", "jsonl"], "{}\n", "!--escape: is JSON Lines, not CSV"),
    ("a.csv", &["--escape", "\\", "--add-columns"], "url\nP\n", "!--add-columns: new cells have doubled quotes"),
    ("a.csv", &["--escape", "x"], "", "!expected backslash, or quote for doubled quotes"),
    // TSV with quotes, or with quotes as text.
    ("a.tsv", &[], "t\turl\n\"a\tE\"\tP\n\"b\"\tP\n\"c\" d\tP\ne \"f\"\tP\nx\tP\n", "idddd"),
    ("a.tsv", &[], "t\turl\n\"a\n9\tE\n\"\tP\nx\tP\n", "iiid"),
    ("a.tsv", &[], "t\turl\nx\t\"P\"\n\"foo\tP\nx\tP\ny \"z\"\tP\nx\tP\n", "iiiid"),
    ("a.tsv", &["--input-format", "tsv"], "t\turl\n\"foo\tP\n\"a\"\tP\nx\t\"P\"\n", "ddi"),
    (
        "a.tsv",
        &["--input-format", "csv", "--delimiter", "tab"],
        "t\turl\n\"a\tE\"\tP\n\"a\n9\tE\n\"\tP\nx\t\"P\"\n",
        "ddd",
    ),
];

const COLUMNS: [Case; 34] = [
    ("a", &["--url", "2"], "UA,E,b;P;c\n", "!which delimiter is between cells"),
    ("a", &["--url", "2"], "UA,E,b;P;c\nUB;P;d\n", "dd"),
    ("a", &["--url", "2"], "x;P\ny;P\n", "dd"),
    ("a", &["--url", "2"], "x\tP,1\ny\tP\n", "dd"),
    ("a", &["--url", "2"], "x\ty,P\nz,P\n", "dd"),
    ("a", &["--url", "2"], "x\tE,P\ny\tE,P\n", "!which delimiter is between cells"),
    (
        "a.csv",
        &["--url", "2"],
        "UA,E,b;P;c\n",
        "!which delimiter is between cells, comma or semicolon? Say it with --delimiter",
    ),
    ("a.csv", &["--url", "2", "--delimiter", ";"], "UA,E,b;P;c\n", "d"),
    ("a.csv", &["--url", "http://{2}"], "UA,a.example;b.example\n", "!which delimiter"),
    // A search for "url" is not a header.
    ("a.csv", &[], "url,E,P\nx,E,P\n", "!with --delimiter and --url"),
    ("a.csv", &[], "url,P\nx,P\n", "dd"),
    ("a.csv", &["--url", "link"], "link,E\nP,E\n", "!is the first row a header or data? It has the name for"),
    ("a.csv", &["--url", "link"], "link;E,x\n", "!is the first row a header or data?"),
    ("a", &[], "url\tP\nx\tP\n", "dd"),
    ("a", &["--scheme", "http"], "url\ta.example/private\n", "i"),
    ("a.csv", &["--url", "link"], "link,a;b|link\n", "!which delimiter is between cells, comma or pipe?"),
    // One row with one URL is not enough.
    ("a.csv", &[], "E,x\ny,P\nz,P\n", "!with --delimiter and --url"),
    ("a", &[], "E\tx\ny\tP\n", "ii"),
    ("a", &[], "x\tE\nP\ty\nP\n", "iid"),
    ("a", &[], "\"E\",x\nP\nP\n", "idd"),
    ("a", &[], "\"P\"\n\"C\"\n", "dd"),
    ("a", &[], "E,url\nP\nP\n", "add"),
    ("a", &[], "E/ 2024 {\"url\":\"E\"}\nP 2024 {\"url\":\"E\"}\nP\n", "iid"),
    ("a.csv", &[], "{\"url\":\"E\"};P\nx;P\n", "dd"),
    ("a.tsv", &[], "{\"url\":\"E\"}\tP\nx\tP\n", "dd"),
    ("a.csv", &[], "id, url\n1, P\n2,P\n", "dd"),
    ("a.csv", &["--url", "my link"], "id,\" My Link \"\n1, P\n", "d"),
    ("a.tsv", &[], "id\t url \n1\tP\n", "d"),
    ("a.csv", &[], "x,id; url\n1,2;P\n", "d"),
    ("a.tsv", &[], "\"id\"\t\"url\"\n1\tP\n", "!--input-format csv --delimiter tab reads quoted cells"),
    ("a", &[], "\"id\"\t\"url\"\n1\tP\n", "d"),
    ("a.csv", &[], "id;link\n1;P\n", "!which column has the URLs? Say it with --url"),
    ("a.csv", &[], "P\nP,x\n", "!do not agree"),
    ("a.csv", &[], "P\nP/a;b\n", "!do not agree"),
];

const PARTS: [Case; 16] = [
    ("a.csv", &[], "url,x\nP,1\n\u{feff}url,x\nP,2\n", "did"),
    ("a.csv", &[], "url,x\nP,1\nurl,x\r\nP,2\n", "did"),
    ("a.csv", &[], "\u{feff}\u{feff}url,x\nP,1\n\u{feff}P,2\n", "di"),
    ("a.csv", &[], "\u{feff}\"url\",x\n\"P\",1\n\u{feff}\"P\",2\n", "di"),
    ("a.tsv", &[], "url\tx\nP\t1\n\u{feff}url\tx\nurl\tx\nP\t1\n", "diid"),
    ("a.jsonl", &[], "\u{feff}\u{feff}{\"url\":\"P\"}\n\u{feff}{\"url\":\"P\"}\n{\"url\":\"P\"}\n", "did"),
    ("a", &[], "\u{feff}\u{feff}P\nP\n", "dd"),
    ("a", &[], " CDX N b a\nk 2024 P\n CDX N b a\nk 2024 P\n", "did"),
    ("a.csv", &[], "\u{0}u\u{0}r\u{0}l\u{0}\n\u{0}h\u{0}t\u{0}t\u{0}p\u{0}\n", "!UTF-16"),
    ("a.jsonl", &[], "{\"url\":\"P\",\"url\":\"E\"}\n{\"url\":\"P\"}\n", "id"),
    ("a.jsonl", &[], "{\"url\":\"P\",\"URL\":\"E\"}\n{\"URL\":\"P\",\"url\":\"E\"}\n", "ii"),
    ("a.jsonl", &["--url", "r.u"], "{\"r\":{\"u\":\"P\"},\"r\":{\"u\":\"E\"}}\n{\"r\":{\"u\":\"P\"}}\n", "id"),
    ("a.jsonl", &[], "{\"url\":\"E\",\"u\\u0072l\":\"P\"}\n{\"url\":5}\n{\"url\":[\"E\"]}\n{\"Url\":\"E\"}\n", "iiii"),
    ("a.cdxj", &[], "k 2024 {\"url\":\"P\",\"url\":\"E\"}\nk 2024 {\"url\":\"P\"}\n", "id"),
    ("a", &["--input-format", "cdx"], " CDX N b a\nk 2024 P E\nk E\n", "ii"),
    ("a.jsonl", &[], "{\"url\":\"P\"} {\"url\":\"E\"}\n", "i"),
];

#[test]
fn text_from_strangers_selects_no_reading() {
    let folder = Folder::with_set();
    let (mut count, mut wrong) = (0, Vec::new());
    for (name, options, text, expected) in WIDTHS.into_iter().chain(ESCAPES).chain(COLUMNS).chain(PARTS) {
        let fill = |text: &str| {
            let text = text.replace('P', "http://a.example/private").replace('C', "http://b.example/");
            text.replace('E', "http://a.example/public")
        };
        // Windows paths and CDX have the letter C too.
        let text = text.replace(":\\", "\u{1}\\").replace("C\u{1}", "\u{2}\u{1}").replace("CDX", "\u{3}");
        let text = fill(&text).replace('\u{3}', "CDX").replace("\u{2}\u{1}", "C:");
        folder.write(name, &text);
        for threads in ["1", "2"] {
            let run = classify(&folder, name, &[options, &["--threads", threads]].concat());
            if let Some(message) = expected.strip_prefix('!') {
                if run.code != Some(2) || !run.stderr.contains(message) {
                    wrong.push(format!("{name} {options:?} {text:?}: no \"{message}\"\n{}", run.stderr));
                }
                continue;
            }
            let found: String = run.text().lines().map(|verdict| &verdict[..1]).collect();
            if found != expected || run.code == Some(2) {
                wrong.push(format!("{name} {options:?} {text:?}: {found} and not {expected}\n{}", run.stderr));
            }
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(count, 95);
}

/// Invalid rows are named with the reason and the option that helps.
#[test]
fn reasons_name_the_remedy() {
    let folder = Folder::with_set();
    let mut count = 0;
    for (name, options, text, says) in [
        ("a.csv", &[][..], "id,url\n1,2,3\n", "a.csv:2: more cells than the 2 names in the header"),
        ("a.csv", &[], "id,url\n1\n", "a.csv:2: fewer cells than the 2 names in the header"),
        ("a.csv", &[], "url\n1,2\n", "a.csv:2: more cells than the one name in the header"),
        ("a.csv", &["--delimiter", ",", "--url", "1"], "http://a.example/,2\n1\n", "fewer cells than the 2 of the"),
        ("a.csv", &[], "id,url\n\"1\"x,2\n", "a.csv:2: text after a closing quote: --escape backslash reads"),
        ("a.csv", QUOTE, "id,url\n\"1\"x,2\n", "a.csv:2: text after a closing quote: --escape backslash reads"),
        ("a.csv", BACKSLASH, "id,url\n\"1\"x,2\n", "a.csv:2: text after a closing quote: --escape quote reads"),
        ("a.csv", &[], "id,url\n\"1\\\",2\"\n", "a.csv:2: a backslash that may escape a quote: --escape backslash"),
        ("a.tsv", &[], "id\turl\n\"1\t2\"\tx\n", "a.tsv:2: a quote at the start of a cell: --input-format tsv reads"),
        ("a.csv", &[], "id,url\n\u{feff}1,2\n", "a.csv:2: a byte order mark, as in files"),
        ("a.csv", &[], "id,url\nid,url\n", "a.csv:2: the header again, as in files that were put together"),
        ("a.jsonl", &[], "{\"url\":1,\"url\":2}\n", "a.jsonl:1: a field twice in one object"),
    ] {
        folder.write(name, text);
        let run = classify(&folder, name, options);
        assert!(run.stderr.contains(says), "{says} {}", run.stderr);
        count += 1;
    }
    assert_eq!(count, 12);
}

/// The first hundred rows must agree on the URL column, and the next may differ.
#[test]
fn a_hundred_rows_agree() {
    let folder = Folder::with_set();
    for (agreeing, is_found) in [(98, false), (99, false), (100, true), (101, true)] {
        folder.write("a.csv", "x;http://a.example/private\n".repeat(agreeing) + "x;y\n");
        let run = classify(&folder, "a.csv", &[]);
        assert_eq!(run.code, Some(if is_found { 0 } else { 2 }), "{agreeing} {}", run.stderr);
    }
}

/// A quote in TSV that is not closed ends the table with an error code, because it may be in a quoted cell.
#[test]
fn an_open_quote_in_tsv_is_reported() {
    let folder = Folder::with_set();
    folder
        .write("a.tsv", "t\turl\nx\thttp://a.example/private\n\"foo\thttp://a.example/private\nx\thttp://b.example/\n");
    let run = classify(&folder, "a.tsv", &[]).says(1, &["a.tsv:3: unclosed quote"]);
    assert_eq!(run.text(), "disallow\ninvalid\ninvalid\n");
}

/// Captures whose cells depend on the program that wrote them: name, text, origins that must stay closed or unknown.
#[test]
fn captures_are_not_cut_at_a_quote() {
    let folder = Folder::new();
    let mut count = 0;
    let good = "https://c.example/robots.txt";
    for (name, text, says) in [
        (
            "a.csv",
            "url,body\nR,\"User-agent: *\n# 5\" pipe\nDisallow: /private\"\nG,\"User-agent: *\nDisallow: /\"\n",
            "a.csv:2",
        ),
        (
            "a.csv",
            "url,body\nR,\"User-agent: *\n# 5\\\" pipe\nDisallow: /private\"\nG,\"User-agent: *\nDisallow: /\"\n",
            "a.csv:2",
        ),
        (
            "a.csv",
            "url,body\nR,\"User-agent: *\n# 5\\\"\nDisallow: /private\"\nG,\"User-agent: *\nDisallow: /\"\n",
            "a.csv:2",
        ),
        (
            "a.csv",
            "url;id;body\nR;\"x\\\";\"User-agent: *\nDisallow: /private\"y\nG;1;\"User-agent: *\nDisallow: /\"\n",
            "a.csv:2",
        ),
        ("a.csv", "url,status,body\n\"R\"x,200,\"\"\nG,200,\"User-agent: *\nDisallow: /\"\n", "a.csv:2"),
        ("a.tsv", "url\tbody\nR\t\"User-agent: *\nDisallow: /private\"\nG\tUser-agent: *\\nDisallow: /\n", "a.tsv:2"),
        ("a.tsv", "url\tbody\nX\t\"\nR\tUser-agent: *\\nAllow: /\n\"\nG\tUser-agent: *\\nDisallow: /\n", "a.tsv:3"),
        ("a.tsv", "url\tbody\nR\t\"User-agent: *\"\nG\tUser-agent: *\\nDisallow: /\n", "a.tsv:2"),
    ] {
        let text = text.replace('R', "https://a.example/robots.txt").replace('G', good);
        folder.write(name, text.replace('X', "https://d.example/robots.txt"));
        folder.run(&["compile", "--force", "--keep-going", "-o", "set", name]).says(1, &[says, "not a valid capture"]);
        let found = folder.verdicts("set", &["https://a.example/private", "https://a.example/", "https://c.example/"]);
        assert_eq!(found, ["unknown", "unknown", "disallow"], "{name} {text:?}");
        count += 1;
    }
    assert_eq!(count, 8);
}

/// Compares tables of hostile cells by other writers with the truth: each row is right or invalid, and with the right
/// options no row is invalid for its quotes.
#[test]
#[ignore = "needs Python with pandas, Polars and DuckDB"]
fn tables_of_other_writers_are_right_or_invalid() {
    const ROWS: usize = 20_000;
    let folder = Folder::with_set();
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let done = std::process::Command::new(python).args(["-c", WRITERS]).arg(folder.path("")).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let listed = String::from_utf8(done.stdout).unwrap();
    let mut count = 0;
    for line in listed.lines() {
        let (name, options) = line.split_once(' ').unwrap_or((line, ""));
        let declared: Vec<&str> = options.split_whitespace().collect();
        for (options, is_declared) in [(&declared[..], true), (&[][..], false)] {
            let run = folder
                .run(&[&["classify", "set", name, "--agent", "bot-a", "--columns", "verdict,url"], options].concat());
            if run.code == Some(2) {
                assert!(!is_declared, "{name} {}", run.stderr);
                continue;
            }
            // Each right URL has the row's number, so a row can only be right at its own number.
            let (mut last, mut right) = (0, 0);
            for row in run.text().lines().filter(|row| !row.starts_with("invalid")) {
                let url = row.split_once('\t').unwrap().1;
                let number =
                    url.strip_prefix("http://a.example/private/").and_then(|number| number.parse::<usize>().ok());
                let number = number.unwrap_or_else(|| panic!("{name} {options:?}: {row}"));
                assert!(number > last && number <= ROWS, "{name} {options:?}: {row}");
                (last, right) = (number, right + 1);
            }
            println!("{name} {options:?}: {right} of {ROWS} rows are right");
            // Spark does not quote a cell for a backslash at its end, and others escape the delimiter this way.
            let least = if name.starts_with("spark") { ROWS * 3 / 4 } else { ROWS };
            assert!(!is_declared || right >= least, "{name} {options:?}: {right}\n{}", run.stderr);
            count += 1;
        }
    }
    assert!(count >= 20, "{count}");
}

/// Writes tables with hostile cells in each writer's forms, and lists them with the options that read them.
const WRITERS: &str = r#"
import csv, duckdb, pandas, polars, random, sys
folder = sys.argv[1]
random.seed(7)
PARTS = ["a", " ", ",", ";", "\t", "|", '"', '""', "\\", "\\\\", "\\\"", "\n", "\r\n", "\ufeff", "'",
         "http://a.example/public", ",http://a.example/public,", "\n7,x,http://a.example/public,y\n",
         "\n7\tx\thttp://a.example/public\ty\n", '\\",\\"', "url"]
def cell():
    return "".join(random.choice(PARTS) for _ in range(random.randrange(1, 6)))
HEADER = ["id", "title", "url", "note"]
rows = [[str(n), "t" + cell(), f"http://a.example/private/{n}", "n" + cell()] for n in range(1, 20001)]
wild = [[str(n), cell(), f"http://a.example/private/{n}", cell()] for n in range(1, 20001)]
files = []
def path(name, options=""):
    files.append(f"{name} {options}".strip())
    return f"{folder}/{name}"
def python(name, options, rows, **form):
    with open(path(name, options), "w", newline="", encoding="utf-8") as file:
        csv.writer(file, **form).writerows([HEADER] + rows)
def spark(name, options, delimiter):
    # Univocity quotes cells with a delimiter, a quote or a line end, and escapes quotes and backslashes only there.
    def shown(text):
        if text == "":
            return '""'
        if any(letter in text for letter in (delimiter, '"', "\n", "\r")):
            return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
        return text
    with open(path(name, options), "w", newline="", encoding="utf-8") as file:
        for row in [HEADER] + [[text.strip() for text in row] for row in wild]:
            file.write(delimiter.join(map(shown, row)) + "\n")
QUOTE, BACK = "--escape quote", "--escape backslash"
python("minimal.csv", QUOTE, wild)
python("all.csv", QUOTE, wild, quoting=csv.QUOTE_ALL, lineterminator="\n")
python("some.csv", QUOTE, wild, quoting=csv.QUOTE_NONNUMERIC, delimiter=";")
python("excel.csv", QUOTE + " --delimiter tab", wild, dialect="excel-tab")
python("excel.tsv", QUOTE + " --input-format csv --delimiter tab", wild, dialect="excel-tab")
python("back.csv", BACK, wild, quoting=csv.QUOTE_ALL, escapechar="\\", doublequote=False)
frame = pandas.DataFrame(wild, columns=HEADER)
frame.to_csv(path("pandas.csv", QUOTE), index=False)
frame.to_csv(path("pandas-index.csv", QUOTE))
frame.to_csv(path("pandas.tsv", QUOTE + " --input-format csv --delimiter tab"), index=False, sep="\t")
frame.to_csv(path("pandas-back.csv", BACK), index=False, escapechar="\\", doublequote=False, quoting=csv.QUOTE_ALL)
polars.DataFrame(wild, schema=HEADER, orient="row").write_csv(path("polars.csv", QUOTE))
duckdb.sql(f"copy frame to '{path('duckdb.csv', QUOTE)}' (header)")
duckdb.sql(f"copy frame to '{path('duckdb.tsv', QUOTE + ' --input-format csv --delimiter tab')}' (header, delimiter '\t')")
spark("spark.csv", BACK, ",")
spark("spark.tsv", BACK + " --delimiter tab", "\t")
print("\n".join(files))
"#;
