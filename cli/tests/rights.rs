//! `classify --rights` and `filter --rights`: every channel, in WARC, WAT and WET files.

use serde::Deserialize;

use crate::support::{Folder, gz};

/// A page of `corpora/rights/cases.toml`.
#[derive(Deserialize)]
struct Case {
    name: String,
    #[serde(default)]
    robots: String,
    #[serde(default)]
    headers: Vec<String>,
    #[serde(default)]
    html: String,
    answers: String,
    #[serde(default)]
    conflict: Vec<String>,
    /// Whether the text has no elements, so that a WAT file lists none.
    #[serde(default)]
    raw: bool,
}

#[derive(Deserialize)]
struct Cases {
    case: Vec<Case>,
}

/// Number of cases.
const CASES: usize = 31;

fn cases() -> Vec<Case> {
    let text = include_str!("../../corpora/rights/cases.toml");
    let cases = toml::from_str::<Cases>(text).unwrap().case;
    assert_eq!(cases.len(), CASES);
    cases
}

impl Case {
    fn word(answer: char) -> &'static str {
        match answer {
            'y' => "allowed",
            'n' => "disallowed",
            '-' => "unknown",
            'x' => "not-applicable",
            _ => "unavailable",
        }
    }

    fn is_html(&self) -> bool {
        !self.headers.iter().any(|header| header.starts_with("Content-Type"))
    }

    fn response(&self) -> String {
        let mut response = "HTTP/1.1 200 OK\r\n".to_owned();
        self.headers.iter().for_each(|header| response += &format!("{header}\r\n"));
        if self.is_html() {
            response += "Content-Type: text/html; charset=utf-8\r\n";
        }
        format!("{response}\r\n<!doctype html><title>A page</title>{}", self.html)
    }

    /// Returns the JSON that describes the response in a WAT file.
    fn wat(&self, url: &str, id: &str) -> String {
        let mut headers: serde_json::Map<String, serde_json::Value> = serde_json::Map::new();
        for header in &self.headers {
            let (name, value) = header.split_once(": ").unwrap();
            match headers.get_mut(name) {
                None => drop(headers.insert(name.into(), value.into())),
                Some(_) => unreachable!("{name}: differs in letter case in the cases"),
            }
        }
        let mut metas = Vec::new();
        let mut rest = if self.raw { "" } else { &*self.html };
        while let Some((_, after)) = rest.split_once("<meta name=\"") {
            let (name, after) = after.split_once("\" content=\"").unwrap();
            let (content, after) = after.split_once('"').unwrap();
            metas.push(serde_json::json!({"name": name, "content": content}));
            rest = after;
        }
        let fields = serde_json::json!({"WARC-Type": "response", "WARC-Record-ID": id, "WARC-Date": DATE,
            "WARC-Target-URI": url});
        let html = serde_json::json!({"Head": {"Title": "A page", "Metas": metas}});
        serde_json::json!({"Envelope": {"WARC-Header-Metadata": fields, "Payload-Metadata": {
            "HTTP-Response-Metadata": {"Headers": headers, "HTML-Metadata": html}}}})
        .to_string()
    }
}

const DATE: &str = "2026-03-01T00:00:00Z";

/// Returns a record. The type of its block is in `fields`.
fn record(kind: &str, url: &str, id: &str, fields: &str, block: &str) -> Vec<u8> {
    let len = block.len();
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: {DATE}\r\nWARC-Record-ID: {id}\r\n{fields}\
         Content-Length: {len}\r\n\r\n{block}\r\n\r\n"
    )
    .into_bytes()
}

/// Creates a folder with a set, and the cases' pages as WARC (also compressed), WAT and WET.
fn folder(cases: &[Case]) -> Folder {
    let folder = Folder::new();
    let (mut warc, mut packed, mut wat, mut wet) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    std::fs::create_dir(folder.path("robots")).unwrap();
    for (number, case) in cases.iter().enumerate() {
        let (host, id) = (format!("case{number}.example"), format!("<urn:uuid:{number}>"));
        let url = format!("https://{host}/page");
        folder.write(&format!("robots/{host}"), &case.robots);
        for record in [
            record("request", &url, &format!("<urn:uuid:{number}-r>"), "", "GET /page HTTP/1.1\r\n\r\n"),
            record("response", &url, &id, "Content-Type: application/http; msgtype=response\r\n", &case.response()),
            record("metadata", &url, &format!("<urn:uuid:{number}-m>"), "", "fetchTimeMs: 1\r\n"),
        ] {
            packed.extend(gz(&record));
            warc.extend(record);
        }
        let refers = format!("Content-Type: application/json\r\nWARC-Refers-To: {id}\r\n");
        wat.extend(record("metadata", &url, &format!("<urn:uuid:{number}-w>"), &refers, &case.wat(&url, &id)));
        let refers = format!("Content-Type: text/plain\r\nWARC-Refers-To: {id}\r\n");
        wet.extend(record("conversion", &url, &format!("<urn:uuid:{number}-t>"), &refers, "A page"));
    }
    folder.write("pages.warc", warc);
    folder.write("pages.warc.gz", packed);
    folder.write("pages.wat", wat);
    folder.write("pages.wet", wet);
    folder.run(&["compile", "-o", "set", "robots"]).says(0, &[]);
    folder
}

/// Returns the rows' cells of `classify --rights all`.
fn classify(folder: &Folder, archive: &str, more: &[&str]) -> Vec<Vec<String>> {
    let args = ["classify", "set", archive, "--agent", "CCBot", "--rights", "all"];
    let text = folder.run(&[&args, more].concat()).says(0, &[]).text();
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn every_case_is_answered_from_every_kind_of_archive() {
    let cases = cases();
    let folder = folder(&cases);
    let mut answered = 0;
    for (archive, more) in [
        ("pages.warc", &[][..]),
        ("pages.warc.gz", &[]),
        ("pages.wat", &[]),
        ("pages.wet", &["--rights-from", "pages.warc.gz"]),
        ("pages.wet", &["--rights-from", "pages.wat"]),
    ] {
        // Names in another letter case are other keys in JSON.
        let rows = classify(&folder, archive, more);
        assert_eq!(rows.len(), cases.len(), "{archive}");
        for (number, (case, row)) in cases.iter().zip(&rows).enumerate() {
            let place = format!("{archive} {more:?}: {}", case.name);
            assert_eq!(row[0], format!("https://case{number}.example/page"), "{place}");
            assert_eq!(row[1..3], [DATE, &*format!("<urn:uuid:{number}>")], "{place}");
            let expected: Vec<&str> = case.answers.chars().map(Case::word).collect();
            assert_eq!(row[4..7], expected, "{place}: {row:?}");
            let conflicts: Vec<&str> = row[10]
                .split("; ")
                .filter(|text| !text.is_empty())
                .map(|text| text.split(':').next().unwrap())
                .collect();
            assert_eq!(conflicts, case.conflict, "{place}: {row:?}");
            answered += 1;
        }
    }
    assert_eq!(answered, CASES * 5);
}

#[test]
fn pages_without_headers_are_never_allowed() {
    let cases = cases();
    let folder = folder(&cases);
    let purpose = ["--purpose", "train-ai", "--treat", "unknown-usage=allow"];
    for (case, row) in cases.iter().zip(classify(&folder, "pages.wet", &purpose)) {
        let known = row[4].as_str();
        let by_robots = ["robots.txt forbids training", "a signal forbids training", "the header and robots.txt agree"];
        let expected = match &*case.name {
            "a page that must not be fetched" => ["not-applicable", "disallow"],
            name if by_robots.contains(&name)
                || name.contains("for the token")
                || name == "the header allows what robots.txt forbids" =>
            {
                ["disallowed", "disallow"]
            }
            _ => ["unavailable", "unknown"],
        };
        assert_eq!([known, &row[7]], expected, "{}: {row:?}", case.name);
        // The website has no tdmrep.json.
        let (none, missing) = ("", "unavailable");
        assert_eq!(row[12..], [missing, missing, missing, missing, missing, none, missing], "{}: {row:?}", case.name);
    }
    // Only robots.txt counts in this profile, so nothing is missing.
    let args = ["classify", "set", "pages.wet", "--agent", "CCBot", "--rights", "robots", "--usage", "train-ai"];
    let text = folder.run(&args).says(0, &[]).text();
    let row: Vec<&str> = text.lines().nth(1).unwrap().split('\t').collect();
    assert_eq!(row[3..5], ["allow", "allowed"]);
}

#[test]
fn filter_keeps_what_may_be_used_with_its_requests() {
    let cases = cases();
    let folder = folder(&cases);
    let args = ["--set", "set", "--agent", "CCBot", "--rights", "all", "--purpose", "train-ai", "--treat"];
    for (archive, more, records) in [
        ("pages.warc", &[][..], 3),
        ("pages.warc.gz", &[], 3),
        ("pages.wat", &[], 1),
        ("pages.wet", &["--rights-from", "pages.warc"], 1),
    ] {
        for (unknown, allowed) in [("allow", "y-"), ("disallow", "y")] {
            let output = format!("kept-{unknown}-{archive}");
            let unknown = format!("unknown-usage={unknown}");
            let args = [&["filter", archive][..], &args, &[&unknown], more, &["-o", &output, "--force"]].concat();
            folder.run(&args).says(0, &[]);
            let packed = folder.read(&output);
            let mut text = Vec::new();
            std::io::copy(&mut flate2::bufread::MultiGzDecoder::new(&*packed), &mut text)
                .map_or_else(|_| text = packed.clone(), |_| ());
            let text = String::from_utf8(text).unwrap();
            for (number, case) in cases.iter().enumerate() {
                let is_kept = case.answers.starts_with(|answer| allowed.contains(answer));
                let found = text.matches(&format!("WARC-Target-URI: https://case{number}.example/page\r\n")).count();
                assert_eq!(found, if is_kept { records } else { 0 }, "{archive} {unknown}: {}", case.name);
            }
        }
    }
}

#[test]
fn formats_have_the_same_rows() {
    let folder = folder(&cases());
    let tsv = classify(&folder, "pages.warc", &["--header"]);
    let run = |format: &str| {
        let args = ["classify", "set", "pages.warc", "--agent", "CCBot", "--rights", "all", "--format", format];
        folder.run(&args).says(0, &[]).text()
    };
    let json: Vec<serde_json::Map<String, serde_json::Value>> =
        run("jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(json.len(), CASES);
    for (row, cells) in json.iter().zip(&tsv[1..]) {
        for (name, cell) in tsv[0].iter().zip(cells) {
            let found = row[name].as_str().unwrap_or_default();
            assert_eq!(found, cell, "{name}");
        }
    }
    let csv = ["classify", "set", "pages.warc", "--agent", "CCBot", "--rights", "all", "-o", "out.parquet"];
    folder.run(&csv).says(0, &[]);
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let reader = SerializedFileReader::new(std::fs::File::open(folder.path("out.parquet")).unwrap()).unwrap();
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), CASES);
    for (row, cells) in rows.iter().zip(&tsv[1..]) {
        for ((name, field), cell) in row.get_column_iter().zip(cells).filter(|((name, _), _)| *name != "time") {
            let found = field.to_string();
            let found = if found == "null" { "" } else { found.trim_matches('"') };
            assert_eq!(found.replace("\\\"", "\""), *cell, "{name}");
        }
    }
}

#[test]
fn mistakes_are_errors() {
    let folder = folder(&cases()[..2]);
    let classify = |more: &[&str]| {
        folder.run(&[&["classify", "set", "pages.warc", "--agent", "CCBot", "--rights"], more].concat())
    };
    for (more, texts) in [
        (&["none"][..], &["none: expected all, aipref, robots, or a file that can be read"][..]),
        (&["all", "--usage", "training"], &["--usage: the vocabulary all has no use \"training\""]),
        (&["all", "--usage", "search,search"], &["--usage search: is given twice"]),
        (&["all", "--purpose", "train-ai"], &["--purpose: requires --treat unknown-usage=VERDICT"]),
        (
            &["all", "--usage-from", "content-signal", "--usage", "search"],
            &["--usage-from: requires Content-Usage columns"],
        ),
        (&["all", "--columns", "url"], &["--columns: has no effect with --rights"]),
        (&["all", "--rights-from", "set"], &["set: is a compiled set, not a crawl archive"]),
        (&["all", "--rights-from", "pages.wet"], &["pages.wet: has no responses; expected a WARC or WAT file"]),
    ] {
        classify(more).says(2, texts);
    }
    folder.write("profile", "tdm-header 1 = train\n");
    classify(&["profile"]).says(2, &["profile: line 1: expected a use with the value y or n for tdm-header"]);
    let args = ["filter", "pages.warc", "--set", "set", "--agent", "CCBot", "--dry-run"];
    folder.run(&[&args[..], &["--rights", "all"]].concat()).says(2, &["--rights: requires --purpose"]);
    let purpose = ["--purpose", "train-ai", "--treat", "unknown-usage=allow"];
    folder.run(&[&args[..], &purpose].concat()).says(2, &["--purpose: requires --rights"]);
    folder.run(&["classify", "set", "pages.warc", "--agent", "CCBot"]).says(2, &["WARC"]);
    // A damaged file has no output.
    let mut cut = folder.read("pages.warc");
    cut.truncate(cut.len() - 10);
    folder.write("cut.warc", cut);
    let args = ["classify", "set", "cut.warc", "--agent", "CCBot", "--rights", "all", "-o", "out.tsv"];
    folder.run(&args).says(2, &["cut.warc: record 6"]);
    assert!(!folder.path("out.tsv").exists());
}

#[test]
fn pages_are_decided_at_the_time_of_their_fetch() {
    let folder = Folder::new();
    let capture = |time: &str, usage: &str| {
        let body = format!("user-agent: *\\ncontent-usage: train-ai={usage}\\n");
        format!("{{\"url\":\"https://case0.example/robots.txt\",\"time\":\"{time}\",\"body\":\"{body}\"}}\n")
    };
    folder.write("captures.jsonl", capture("2026-01-01", "y") + &capture("2026-04-01", "n"));
    folder.run(&["compile", "--by-time", "-o", "set", "captures.jsonl"]).says(0, &[]);
    let page = |date: &str| {
        let text = record("response", "https://case0.example/", "<1>", "", "HTTP/1.1 200 OK\r\n\r\n");
        String::from_utf8(text).unwrap().replace(DATE, date)
    };
    folder.write("pages.warc", page("2026-03-01T00:00:00Z") + &page("2026-05-01T00:00:00Z") + &page("yesterday"));
    let rows = classify(&folder, "pages.warc", &["--usage", "train-ai"]);
    let found: Vec<[&str; 2]> = rows.iter().map(|row| [&*row[3], &*row[4]]).collect();
    assert_eq!(found, [["allow", "allowed"], ["allow", "disallowed"], ["invalid", "unknown"]]);
}

/// Creates a folder with a set of one website, which permits training.
fn site() -> Folder {
    let folder = Folder::new();
    folder.write("robots/a.example", "user-agent: *\ncontent-usage: train-ai=y\n");
    folder.run(&["compile", "-o", "set", "robots"]).says(0, &[]);
    folder
}

/// A page whose website permits training in its robots.txt and forbids it on the page.
struct Doubtful {
    name: &'static str,
    /// More fields of the record.
    fields: &'static str,
    block: Vec<u8>,
    /// The permission to train.
    expected: &'static str,
}

/// Pages that are easily taken for pages without a statement.
fn doubtful() -> Vec<Doubtful> {
    const META: &str = "<meta name=robots content=noai>";
    let page = |name, header: &str, body: &[u8], expected| {
        let block = [b"HTTP/1.1 200 OK\r\n", header.as_bytes(), b"\r\n\r\n", body].concat();
        Doubtful { name, fields: "", block, expected }
    };
    let html = |name, body: &str, expected| page(name, "Content-Type: text/html", body.as_bytes(), expected);
    let typed = |name, header: &str| page(name, header, META.as_bytes(), "disallowed");
    let long = format!("<title>A page</title>{}{META}", "<!-- text -->".repeat(999));
    let packed = gz(long.as_bytes());
    let is_wide = "Content-Type: text/html; charset=utf-16";
    let wide: Vec<u8> = META.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let xhtml = |head: &str| format!("<html xmlns='http://www.w3.org/1999/xhtml'><head>{head}</head></html>");
    let xml = |name, head: &str, expected| {
        page(name, "Content-Type: application/xhtml+xml", xhtml(head).as_bytes(), expected)
    };
    let closed = "<meta name='robots' content='noai'/>";
    let mut all = vec![
        page("cut gzip", "Content-Encoding: gzip", &packed[..packed.len() / 2], "unavailable"),
        page("cut body", "Content-Length: 99999", &long.as_bytes()[..999], "unavailable"),
        page("cut chunks", "Transfer-Encoding: chunked", b"ffff\r\n<title>A page</title>", "unavailable"),
        page("an unknown coding", "Content-Encoding: x-new", &[0xff; 99], "unavailable"),
        html("an SVG title", &format!("<svg><title/></svg>{META}"), "disallowed"),
        html("an SVG style", &format!("<svg><style/></svg>{META}"), "disallowed"),
        html("an SVG script", &format!("<svg><script/></svg>{META}"), "disallowed"),
        html("CDATA", &format!("<svg><![CDATA[<title>]]></svg>{META}"), "disallowed"),
        html("MathML", &format!("<math><style></math>{META}"), "disallowed"),
        html("a title in a select", &format!("<select><title></select>{META}"), "unavailable"),
        html("noscript", &format!("<noscript><style></noscript>{META}"), "disallowed"),
        html("after 64 KiB", &format!("<title>A page</title>{}{META}", " ".repeat(64 << 10)), "unavailable"),
        xml("an XML title", &format!("<title/>{closed}"), "disallowed"),
        xml("an XML script", &format!("<script src='a'/>{closed}"), "disallowed"),
        xml("an XML prefix", &format!("<h:meta xmlns:h='http://www.w3.org/1999/xhtml'{}", &closed[5..]), "disallowed"),
        xml("malformed XML", META, "unavailable"),
        page("XML", "Content-Type: application/xml", xhtml(closed).as_bytes(), "disallowed"),
        page("UTF-16", is_wide, &wide, "disallowed"),
        page("UTF-16 without a label", "Content-Type: text/html", &wide, "disallowed"),
        typed("two types", "Content-Type: text/plain\r\nContent-Type: text/html"),
        typed("a list of types", "Content-Type: text/plain, text/html"),
        typed("any type", "Content-Type: */*"),
        typed("an unknown type", "Content-Type: unknown/unknown"),
        typed("a malformed type", "Content-Type: text/html charset=utf-8"),
        typed("no type", "Server: a"),
        page("an unreadable second header", "Content-Usage: train-ai=n\r\nContent-Usage: !", b"", "disallowed"),
        page("a list of reservations", "tdm-reservation: 0, 1", b"", "disallowed"),
        page("a version", "X-Robots-Tag: ccbot/2.0: noai", b"", "disallowed"),
        page("a new rule", "X-Robots-Tag: max-words: 5, noai", b"", "disallowed"),
        page("no end of the header", "X-Robots-Tag: noai", b"", "disallowed"),
        html("nothing", "<svg><title/></svg><select><option>a</select>", "allowed"),
        page("an image", "Content-Type: image/png", META.as_bytes(), "allowed"),
        page("plain text", "Content-Type: text/plain; charset=utf-8", META.as_bytes(), "allowed"),
    ];
    let cut = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Rob".to_vec();
    all.push(Doubtful { name: "a cut header", fields: "", block: cut, expected: "unavailable" });
    let cut = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>A page</title>".to_vec();
    for (name, fields) in [
        ("a cut record", "WARC-Truncated: length\r\n"),
        ("a record cut after a time", "WARC-Truncated: time\r\n"),
        ("a segment", "WARC-Segment-Number: 1\r\n"),
    ] {
        all.push(Doubtful { name, fields, block: cut.clone(), expected: "unavailable" });
    }
    let hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nX-Robots-Tag: noai\r\n\r\n".to_vec();
    all.push(Doubtful { name: "an interim response", fields: "", block: hints, expected: "disallowed" });
    all
}

#[test]
fn doubtful_pages_are_never_allowed() {
    let pages = doubtful();
    assert_eq!(pages.len(), 38);
    let folder = site();
    let mut archive = Vec::new();
    for (number, page) in pages.iter().enumerate() {
        let head = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example/{number}\r\n{}\
             Content-Type: application/http\r\nContent-Length: {}\r\n\r\n",
            page.fields,
            page.block.len()
        );
        archive.extend([head.as_bytes(), &page.block, b"\r\n\r\n"].concat());
    }
    folder.write("pages.warc", archive);
    let rows = classify(&folder, "pages.warc", &["--usage", "train-ai"]);
    let found: Vec<(&str, &str)> = pages.iter().zip(&rows).map(|(page, row)| (page.name, &*row[4])).collect();
    let expected: Vec<(&str, &str)> = pages.iter().map(|page| (page.name, page.expected)).collect();
    assert_eq!(found, expected);
    let purpose = ["--purpose", "train-ai", "--treat", "unknown-usage=allow", "-o", "kept.warc"];
    let args = ["filter", "pages.warc", "--set", "set", "--agent", "CCBot", "--rights", "all"];
    folder.run(&[&args[..], &purpose].concat()).says(0, &[]);
    let kept = String::from_utf8_lossy(&folder.read("kept.warc")).into_owned();
    for (number, page) in pages.iter().enumerate() {
        let is_kept = kept.contains(&format!("WARC-Target-URI: https://a.example/{number}\r\n"));
        assert_eq!(is_kept, page.expected == "allowed", "{}", page.name);
    }
}

/// Neither of two records with one ID, or with one URL and date, is known to be the right one.
#[test]
fn joined_records_of_one_page_are_merged() {
    let folder = site();
    let http = |header: &str| format!("HTTP/1.1 200 OK\r\n{header}\r\nContent-Type: text/plain\r\n\r\ntext");
    let response = |id: &str, header: &str| record("response", "https://a.example/", id, "", &http(header));
    let (noai, plain) = ("X-Robots-Tag: noai", "Server: a");
    let (no, yes) = ("Content-Usage: train-ai=n", "Content-Usage: train-ai=y");
    let other = record("response", "https://b.example/", "<1>", "", &http(plain));
    let mut cases = 0;
    for (records, expected) in [
        (vec![response("<1>", plain)], "allowed"),
        (vec![response("<1>", noai), response("<1>", plain)], "disallowed"),
        (vec![response("<1>", plain), response("<1>", noai)], "disallowed"),
        (vec![response("<2>", noai), response("<3>", plain)], "disallowed"),
        (vec![response("<1>", plain), response("<1>", plain)], "allowed"),
        (vec![response("<1>", no), response("<1>", yes)], "disallowed"),
        (vec![response("<1>", yes), response("<1>", no)], "disallowed"),
        (vec![response("<1>", yes), response("<1>", plain)], "unavailable"),
        // An ID of another URL's record.
        (vec![other.clone()], "unavailable"),
        (vec![other.clone(), response("<2>", plain)], "allowed"),
    ] {
        folder.write("pages.warc", records.concat());
        let fields = "Content-Type: text/plain\r\nWARC-Refers-To: <1>\r\n";
        folder.write("pages.wet", record("conversion", "https://a.example/", "<9>", fields, "text"));
        let rows = classify(&folder, "pages.wet", &["--usage", "train-ai", "--rights-from", "pages.warc"]);
        assert_eq!(rows[0][4], expected, "{}", String::from_utf8_lossy(&records.concat()));
        cases += 1;
    }
    assert_eq!(cases, 10);
}

/// The file may come after the website's pages, so it is read before them. It says nothing about other websites.
#[test]
fn tdmrep_files_apply_to_all_pages_of_their_website() {
    const FILE: &str = r#"[{"location": "/open/", "tdm-reservation": 0}, {"location": "/*.pdf$", "tdm-reservation": 1,
        "tdm-policy": "https://a.example/policy"}]"#;
    let folder = Folder::new();
    folder.write("robots/a.example", "");
    folder.write("robots/b.example", "");
    folder.run(&["compile", "-o", "set", "robots"]).says(0, &[]);
    let urls = ["a.example/open/1", "a.example/1.pdf", "a.example/1", "b.example/1.pdf", "A.EXAMPLE:443/2.pdf"];
    let urls = urls.map(|url| format!("https://{url}"));
    let response = |url: &str, body: &str| {
        let fields = "Content-Type: application/http; msgtype=response\r\n";
        let header = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}", body.len());
        record("response", url, &format!("<{url}>"), fields, &format!("{header}\r\n\r\n{body}"))
    };
    let file = |body: &str| response("https://a.example/.well-known/tdmrep.json", body);
    let pages = urls.each_ref().map(|url| response(url, "")).concat();
    let texts = urls.each_ref().map(|url| {
        let fields = format!("Content-Type: text/plain\r\nWARC-Refers-To: <{url}>\r\n");
        record("conversion", url, &format!("<text of {url}>"), &fields, "text")
    });
    folder.write("pages.wet", texts.concat());
    folder.write("pages.warc", [&pages, &file(FILE)[..]].concat());
    folder.write("unreadable.warc", [&pages, &file("<html>")[..]].concat());
    let none = ["unknown"; 5];
    let stated = ["allowed", "disallowed", "unknown", "unknown", "disallowed"];
    let unreadable = ["unavailable", "unavailable", "unavailable", "unknown", "unavailable"];
    let mut cases = 0;
    for (archive, more, expected) in [
        ("pages.warc", &[][..], none),
        ("pages.warc", &["--rights-from", "pages.warc"], stated),
        ("unreadable.warc", &["--rights-from", "pages.warc"], stated),
        ("pages.warc", &["--rights-from", "unreadable.warc"], unreadable),
        ("pages.wet", &["--rights-from", "pages.warc"], stated),
        ("pages.wet", &["--rights-from", "unreadable.warc"], unreadable),
    ] {
        let rows = classify(&folder, archive, &[&["--usage", "train-ai"][..], more].concat());
        let found: Vec<&str> = rows.iter().take(urls.len()).map(|row| &*row[4]).collect();
        assert_eq!(found, expected, "{archive} {more:?}");
        cases += 1;
    }
    assert_eq!(cases, 6);
    let kept = |more: &[&str]| {
        let args =
            ["filter", "pages.warc", "--set", "set", "--agent", "CCBot", "--rights", "all", "--purpose", "train-ai"];
        let args = [&args[..], &["--treat", "unknown-usage=allow", "-o", "kept.warc", "--force"], more].concat();
        folder.run(&args).says(0, &[]);
        let kept = folder.read("kept.warc");
        urls.each_ref().map(|url| String::from_utf8_lossy(&kept).contains(&format!("WARC-Target-URI: {url}\r\n")))
    };
    assert_eq!(kept(&[]), [true; 5]);
    assert_eq!(kept(&["--rights-from", "pages.warc"]), [true, false, true, true, false]);
    assert_eq!(kept(&["--rights-from", "unreadable.warc"]), [false, false, false, true, false]);
}

/// The same table from a file that warcio has written. Requires Python:
///
/// `pip install warcio; PYTHON=python3 cargo test -p reptile-cli --test all rights:: -- --ignored`.
#[test]
#[ignore = "requires Python and warcio"]
fn archives_by_warcio_give_the_same_table() {
    const WRITE: &str = "
import io, sys, tomllib
from warcio.warcwriter import WARCWriter
from warcio.statusandheaders import StatusAndHeaders
cases = tomllib.load(open(sys.argv[1], 'rb'))['case']
for path, gzip in [(sys.argv[2], False), (sys.argv[2] + '.gz', True)]:
    with open(path, 'wb') as output:
        writer = WARCWriter(output, gzip=gzip)
        for number, case in enumerate(cases):
            fields = [tuple(header.split(': ', 1)) for header in case.get('headers', [])]
            if not any(name == 'Content-Type' for name, _ in fields):
                fields.append(('Content-Type', 'text/html'))
            http = StatusAndHeaders('200 OK', fields, protocol='HTTP/1.1')
            body = ('<!doctype html><title>A page</title>' + case.get('html', '')).encode()
            writer.write_record(writer.create_warc_record(f'https://case{number}.example/page', 'response',
                                                          payload=io.BytesIO(body), http_headers=http))
";
    let cases = cases();
    let folder = folder(&cases);
    let toml = concat!(env!("CARGO_MANIFEST_DIR"), "/../corpora/rights/cases.toml");
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let path = folder.path("warcio.warc");
    let status = std::process::Command::new(python).args(["-c", WRITE, toml]).arg(&path).status().unwrap();
    assert!(status.success());
    let expected = classify(&folder, "pages.warc", &[]);
    for file in ["warcio.warc", "warcio.warc.gz"] {
        let found = classify(&folder, file, &[]);
        assert_eq!(found.len(), CASES);
        for (row, expected) in found.iter().zip(&expected) {
            assert_eq!((&row[0], &row[3..]), (&expected[0], &expected[3..]));
        }
    }
}

/// Parts of random pages.
const PARTS: [&str; 58] = [
    "<meta name=robots content=noai>",
    "<meta name=robots content=noai>",
    "<META NAME='robots' CONTENT='noai'/>",
    "<meta name='r&#111;bots' content=\"no&#97;i\">",
    "<svg>",
    "</svg>",
    "<svg/>",
    "<math>",
    "</math>",
    "<mi>",
    "</mi>",
    "<annotation-xml encoding=text/html>",
    "<annotation-xml>",
    "</annotation-xml>",
    "<foreignObject>",
    "</foreignObject>",
    "<desc>",
    "</desc>",
    "<title>",
    "<title/>",
    "</title>",
    "<style>",
    "<style/>",
    "</style>",
    "<script>",
    "<script/>",
    "</script>",
    "<textarea>",
    "</textarea>",
    "<iframe>",
    "</iframe>",
    "<noframes>",
    "</noframes>",
    "<noscript>",
    "</noscript>",
    "<xmp>",
    "</xmp>",
    "<select>",
    "</select>",
    "<option>",
    "<frameset>",
    "<plaintext>",
    "<table>",
    "<tr>",
    "<td>",
    "</table>",
    "<p>",
    "</p>",
    "<b>",
    "</b>",
    "<body>",
    "</head>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "text ",
    "<font color=red>",
];

/// No random page is allowed in which another library finds an element with noai. Requires Python:
///
/// `pip install html5lib; PYTHON=python3 cargo test -p reptile-cli --test all rights:: -- --ignored`.
#[test]
#[ignore = "requires Python and html5lib"]
fn random_pages_are_never_allowed_where_html5lib_finds_noai() {
    const PAGES: usize = 20_000;
    const FIND: &str = "
import html5lib, sys
for line in open(sys.argv[1], encoding='utf-8'):
    tree = html5lib.parse(line.rstrip('\\n'), treebuilder='etree')
    elements = tree.iter('{http://www.w3.org/1999/xhtml}meta')
    print(int(any(e.get('name') == 'robots' and e.get('content') == 'noai' for e in elements)))
";
    let mut seed = 11_u64;
    let mut random = |count: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % count
    };
    let types = ["text/html", "text/html", "text/html; charset=utf-8", "*/*", "text/plain, text/html", "html", ""];
    let (mut texts, mut archive) = (String::new(), Vec::new());
    let mut is_cut = Vec::new();
    for number in 0..PAGES {
        let text: String = (0..3 + random(12)).map(|_| PARTS[random(PARTS.len())]).collect();
        texts += &format!("{text}\n");
        let (body, coding) = match random(4) {
            0 => (gz(text.as_bytes()), "Content-Encoding: gzip\r\n"),
            _ => (text.clone().into_bytes(), ""),
        };
        let stored = if random(8) == 0 { random(body.len()) } else { body.len() };
        is_cut.push(stored < body.len());
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {}\r\n{coding}Content-Length: {}\r\n\r\n",
            types[random(types.len())],
            body.len()
        );
        let block = [head.as_bytes(), &body[..stored]].concat();
        let head = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example/{number}\r\n\
             Content-Type: application/http\r\nContent-Length: {}\r\n\r\n",
            block.len()
        );
        archive.extend([head.as_bytes(), &block, b"\r\n\r\n"].concat());
    }
    let folder = site();
    folder.write("pages.warc", archive);
    folder.write("texts", texts);
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let made = std::process::Command::new(python).args(["-c", FIND]).arg(folder.path("texts")).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let found = String::from_utf8(made.stdout).unwrap();
    let rows = classify(&folder, "pages.warc", &["--usage", "train-ai"]);
    assert_eq!((found.lines().count(), rows.len()), (PAGES, PAGES));
    let texts = String::from_utf8(folder.read("texts")).unwrap();
    let mut counts = std::collections::BTreeMap::new();
    for (((row, text), found), is_cut) in rows.iter().zip(texts.lines()).zip(found.lines()).zip(is_cut) {
        assert!(found == "0" || row[4] != "allowed", "{row:?}: {text}");
        assert!(!is_cut || row[4] != "allowed", "{row:?}: {text}");
        *counts.entry((found == "1", is_cut, row[4].clone())).or_insert(0) += 1;
    }
    for ((has_noai, is_cut, answer), count) in &counts {
        eprintln!("{count} pages: html5lib finds noai: {has_noai}, cut: {is_cut}, answer: {answer}");
    }
    let count = |has_noai, answer: &str| counts.get(&(has_noai, false, answer.to_owned())).copied().unwrap_or(0);
    assert!(count(true, "disallowed") > 2000 && count(false, "allowed") > 2000, "{counts:?}");
}
