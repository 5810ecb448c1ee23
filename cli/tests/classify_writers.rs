//! `reptile classify` on files as other programs write them: access logs with a `#Fields:` line, indexes of web
//! archives, lists with other text after each URL, and tables for Excel. Each file has one reading, or the command
//! asks.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use support::{Folder, gz};

/// A file: name, options, text, and the rows' verdicts by their first letters, or a message after `!`. In the text, `P`
/// is a disallowed URL, and `E` one that is allowed, or unknown.
type Case = (&'static str, &'static [&'static str], &'static str, &'static str);

const HOST: &[&str] = &["--host", "http://a.example"];

const NAMED_HOST: &[&str] = &["--url", "http://{cs-host}{cs-uri-stem}?{cs-uri-query}"];

/// Logs of IIS, with their own lines and a part of IIS's default fields.
const IIS: [Case; 19] = [
    (
        "u_ex.log",
        HOST,
        "#Software: Microsoft Internet Information Services 10.0\r\n#Version: 1.0\r\n#Date: 2026-03-14 15:00:00\r\n#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status\r\n2026-03-14 15:09:26 10.0.0.1 GET /private x=1 80 - 192.0.2.7 GPTBot/1.2+(+https://a) - 200\r\n2026-03-14 15:09:27 10.0.0.1 GET /public - 80 - 192.0.2.7 - - 200\r\n",
        "da",
    ),
    ("a.csv", HOST, "#Fields: cs-uri-stem cs-uri-query\n/private -\n", "d"),
    (
        "a",
        &["--input-format", "w3c", "--host", "a.example", "--scheme", "http"],
        "#Fields: cs-uri-stem cs-uri-query\n/private -\n",
        "d",
    ),
    // Nothing, a cut line, and other damage.
    ("a", HOST, "#Fields: cs-uri-stem cs-uri-query\n", ""),
    ("a", HOST, "#Fields: cs-uri-stem cs-uri-query\n/private -\n/priv", "di"),
    ("a", HOST, "#Fields: cs-uri-stem cs-uri-query\n\0\0\n\u{feff}/private -\n/private -\n\n", "iidi"),
    // A path that IIS has decoded, and a query that it has extended.
    (
        "a",
        HOST,
        "#Fields: cs-uri-stem cs-uri-query\n/pri+vate -\n/p%72ivate -\n/private X-ARR-LOG-ID=1-2\n/private -\n",
        "iiid",
    ),
    // Clients choose the query, the referrer and the user agent.
    (
        "a",
        HOST,
        "#Fields: cs-uri-stem cs-uri-query cs(Referer)\n/private http://b.example/ http://b.example/public\n/private /public -\n",
        "dd",
    ),
    (
        "a",
        HOST,
        "#Fields: cs-uri-stem cs-uri-query\nhttp://a.example/private -\nhttp://b.example/ -\n* -\n- -\nx -\n",
        "diiii",
    ),
    (
        "a",
        HOST,
        "#Fields: cs-uri-stem cs-uri-query sc-status\n/private - 200\n#Date: x\n#Fields: sc-status cs-uri-query cs-uri-stem\n/public - /private\n/public\n",
        "diidi",
    ),
    ("a", HOST, "#Fields: cs-host cs-uri-stem cs-uri-query\nb.example /private -\n", "d"),
    (
        "a",
        NAMED_HOST,
        "#Fields: cs-host cs-uri-stem cs-uri-query\na.example /private -\nb.example /public -\n- /private -\n",
        "ddi",
    ),
    (
        "a",
        &[],
        "#Fields: cs-host cs-uri-stem cs-uri-query\na.example /private -\n",
        "!give its host with --host; cs-host is the client's own text",
    ),
    (
        "a",
        &[],
        "#Fields: s-sitename s-computername s-ip cs-uri-stem cs-uri-query\na.example a.example 10.0.0.1 /private -\n",
        "!no hosts in this access log: give its host with --host\n",
    ),
    (
        "a",
        HOST,
        "#Fields: cs-uri-stem sc-status\n/private 200\n",
        "!its #Fields: line has no cs-uri-query; it has cs-uri-stem sc-status",
    ),
    (
        "a",
        HOST,
        "#Fields: date-time,cs-uri-stem\n",
        "!its #Fields: line has no cs-uri-stem; it has date-time,cs-uri-stem",
    ),
    (
        "a",
        &["--host", "a.example", "--input-format", "w3c"],
        "#Version: 1.0\n/private -\n#Fields: cs-uri-stem cs-uri-query\n",
        "!--input-format w3c: expected a #Fields: line before the first request",
    ),
    (
        "a",
        &["--url", "cs-uri-stem"],
        "#Fields: cs-uri-stem cs-uri-query\n",
        "!--url: an access log's URLs are those requested; a template such as",
    ),
    ("a", &[], "#Version: 1.0\n/private - 200\n#Fields: cs-uri-stem cs-uri-query sc-status\n", "iii"),
];

/// Standard logs of CloudFront, with a part of its fields.
const CLOUDFRONT: [Case; 6] = [
    (
        "a.gz.log",
        &[],
        "#Version: 1.0\n#Fields: date time x-edge-location cs(Host) cs-uri-stem sc-status cs(User-Agent) cs-uri-query x-host-header cs-protocol\n2026-03-14\t15:09:26\tFRA2\td1.cloudfront.net\t/private\t200\tbot/1%20(+https://a)\t-\ta.example\thttp\n2026-03-14\t15:09:26\tFRA2\td1.cloudfront.net\t/public\t200\tbot\tx=%2520\ta.example\thttp\n",
        "da",
    ),
    // A distribution's own name is not the site's.
    (
        "a",
        HOST,
        "#Fields: x-edge-location cs(Host) cs-uri-stem cs-uri-query\nFRA2\td1.cloudfront.net\t/private\t-\n",
        "d",
    ),
    (
        "a",
        &["--scheme", "http"],
        "#Fields: x-edge-location cs(Host) cs-uri-stem cs-uri-query\nFRA2\ta.example\t/private\t-\n",
        "d",
    ),
    (
        "a",
        &[],
        "#Fields: x-edge-location x-host-header cs-uri-stem cs-uri-query cs-protocol\nFRA2\t-\t/private\t-\thttp\nFRA2\ta.example/x\t/private\t-\thttp\nFRA2 a.example /private - http\nFRA2\ta.example\t/private\t-\thttp",
        "iiid",
    ),
    (
        "a",
        &["--url", "http://{cs(Host)}{cs-uri-stem}?{cs-uri-query}"],
        "#Fields: x-host-header cs(Host) cs-uri-stem cs-uri-query\nb.example\ta.example\t/private\t-\n",
        "d",
    ),
    (
        "a",
        &[],
        "#Fields: x-edge-location cs-uri-stem cs-uri-query\n",
        "!no hosts in this access log: give its host with --host\n",
    ),
];

/// Indexes of web archives: of the Wayback Machine's server, of files without a legend, and of wget.
const CDX: [Case; 23] = [
    (
        "a",
        &[],
        "example,a)/private 20260314150926 P text/html 200 X 512\nexample,a)/ 20260314150926 E text/html 200 X 512\n",
        "da",
    ),
    ("a.txt", &[], "k 20260314150926 P - - X - 9 f.warc.gz\nk 20260314150926 E warc/revisit - X - 9 f.warc.gz\n", "da"),
    ("a.cdx", &[], "k 20260314150926 P text/html 200 X - - 512 9 f.warc.gz\n", "d"),
    (
        "a",
        &["--input-format", "cdx"],
        "dns:a.example 20260314150926 dns:a.example text/dns - X 5\nk 20260314150926 P - - X 5\n",
        "id",
    ),
    (
        "a",
        &["--url", "urlkey"],
        "P/k 20260314150926 E text/html 200 X 512\n",
        "!--url urlkey: there is no such column; the first row is",
    ),
    ("a", &["--url", "urlkey", "--scheme", "http"], "a.example/private 20260314150926 E text/html 200 X 512\n", "d"),
    (
        "a",
        &[],
        "k 20260314150926 P text/html 200 X 512\nk 20260314150926 P x text/html 200 X 512\n",
        "!expected a CDX legend",
    ),
    ("a", &[], "k 20260314150926 P text/html 200\n", "!and --delimiter space --url 3 reads other lines"),
    ("a", &["--delimiter", "space", "--url", "3"], "k 20260314150926 P text/html 200\n", "d"),
    ("a.cdx", &[], "k 2026 P text/html 200 X 512\n", "!expected a CDX legend"),
    (
        "a",
        &["--input-format", "cdx"],
        "k 20260314150926 P text/html 200 X 512\nk 20260314150926 P x text/html 200 X 512\nk 20260314150926 P",
        "dii",
    ),
    // wget --warc-cdx.
    (
        "w.cdx",
        &[],
        " CDX a b a m s k r M V g u\nP 20260314150926 P text/html 200 X - - 828 w.warc.gz <urn:uuid:1>\nE 20260314150926 P text/html 200 X - - 828 w.warc.gz <urn:uuid:2>\n",
        "di",
    ),
    ("a", &[], "CDX N b a\nk 2026 P\nk 2026 E\n", "da"),
    ("a", &[], "CDX\tN\tb\ta\nk\t2026\tP\n", "d"),
    ("a", &["--input-format", "cdx"], "CDXJ N b a\n", "!expected a CDX legend"),
    // In JSON, with and without names, also as jq writes it.
    (
        "a.json",
        &[],
        "[[\"urlkey\",\"timestamp\",\"original\"],\n[\"k\",\"20260314150926\",\"P\"],\n[\"k\",\"20260314150926\",\"E\"]]\n",
        "da",
    ),
    ("a", &[], "[[\"original\"],\n[\"P\"],\n[],\n[\"E\",\"P\"],\n[\"P\"],[\"E\"],\n[\"P\"]\n]\n", "diiidi"),
    (
        "a",
        &["--input-format", "cdx"],
        "[[\"k\",\"20260314150926\",\"P\",\"text/html\",\"200\",\"X\",\"5\"],\r\n[\"k\",\"20260314150926\",\"E\",\"-\",\"-\",\"X\",\"5\"]]",
        "da",
    ),
    ("a", &[], "[\"original\",\"x\"]\n[\"P\",\"y\"]\n", "d"),
    ("a", &["--url", "x"], "[\"original\",\"x\"]\n[\"E\",\"P\"]\n", "d"),
    (
        "a",
        &["--url", "y"],
        "[\"original\",\"x\"]\n[\"E\",\"P\"]\n",
        "!--url: there is no such column; the first line has original, x",
    ),
    ("a", &[], "[[\"original\"],[\"P\"]]\n", "!which `jq -c '.[]'` writes"),
    ("a", &[], "[\n[\"original\"],\n[\"P\"]]\n", "!which `jq -c '.[]'` writes"),
];

const LISTS: [Case; 9] = [
    ("a", &[], "P 200\nE 404\n", "ii"),
    ("a", &["--delimiter", "space", "--url", "1"], "P 200\nE 404\n", "da"),
    ("a", &["--input-format", "list"], "P 200\nP/x y\n", "dd"),
    ("a", &[], "P\nP 200\n P \r\nE x\tP\n", "didi"),
    ("a", &["--scheme", "http"], "a.example/private\na.example/private 200\n", "di"),
    ("a", &["--delimiter", "tab", "--url", "1"], "P\t200\nE\t404\n", "da"),
    ("a", &[], "P\t200\nE\t404\n", "da"),
    ("a", &[], "200 P\n404 E\n", "ii"),
    ("a.xml", &[], "<?xml version='1.0'?><urlset><url><loc>P/x y</loc></url></urlset>", "d"),
];

const EXCEL: [Case; 20] = [
    ("a.csv", &[], "sep=;\nid;url\n1;P\n2;E\n", "da"),
    ("a", &[], "\u{feff}sep=,\r\nid,url\r\n1,P\r\n", "d"),
    ("a", &[], "SEP=|\nid|url\n1|P\n", "d"),
    ("a.tsv", &[], "sep=\t\n\"id\"\turl\n\"1\t\"\tP\n", "d"),
    ("a.csv", &["--url", "2"], "sep=;\nx,E;P\nx,E;P\n", "dd"),
    ("a.csv", &[], "sep=;\nx;P\ny;P\n", "dd"),
    ("a.csv", &["--delimiter", ";"], "sep=;\nid;url\n1;P\n", "d"),
    ("a.csv", &[], "sep=;\n", ""),
    (
        "a.csv",
        &["--delimiter", ","],
        "sep=;\nid,url\n1,P\n",
        "!--delimiter comma: the first line declares semicolon; leave the option out, or",
    ),
    ("a.csv", &[], "id;url\nsep=,\n1;P\n", "id"),
    (
        "a.csv",
        &[],
        "sep=;\nid;link\n1;P\n",
        "!which column has the URLs? Say it with --url; the first row is \"id\", \"link\"",
    ),
    ("a.csv", &[], "sep=:\nid:url\n1:P\n", "!which column has the URLs?"),
    ("a.csv", &[], "sep=;;\nid;url\n1;P\n", "!which column has the URLs?"),
    ("a.tsv", &["--input-format", "tsv"], "sep=\t\nid\turl\n1\tP\n", "!which column has the URLs?"),
    ("a", &["--input-format", "list"], "sep=;\nP\n", "id"),
    // The first row has no names.
    ("a.csv", &[], "1,x,P\n2,y,E\n", "da"),
    ("a.csv", &[], "E,x,P\nE,y,P\n", "!say it with --delimiter and --url"),
    ("a.csv", &["--delimiter", "comma", "--url", "3"], "E,x,P\nE,y,P\n", "dd"),
    ("a.csv", &["--delimiter", "comma", "--url", "2"], "1,\n2,P\n", "id"),
    ("a.csv", &["--delimiter", "comma", "--url", "2"], ",\nid,link\n2,P\n", "iid"),
];

#[test]
fn files_of_other_programs_have_one_reading() {
    let folder = Folder::with_set();
    let (mut count, mut wrong) = (0, Vec::new());
    for (name, options, text, expected) in IIS.into_iter().chain(CLOUDFRONT).chain(CDX).chain(LISTS).chain(EXCEL) {
        let text = text.replace('P', "http://a.example/private").replace('E', "http://a.example/public");
        let text = text.replace("Shttp://a.example/publichttp://a.example/private", "SEP");
        folder.write(name, &text);
        folder.write("packed", gz(text.as_bytes()));
        let is_named = !matches!(name.rsplit_once('.'), None | Some((_, "log" | "txt" | "json" | "xml")));
        for (name, threads) in
            [(name, "1"), (name, "2"), ("packed", "2")].into_iter().take(if is_named { 2 } else { 3 })
        {
            let start = ["classify", "set", name, "--agent", "bot-a", "--columns", "verdict", "--threads", threads];
            let run = folder.run(&[&start[..], options].concat());
            let found: String = run.text().lines().map(|verdict| &verdict[..1]).collect();
            let is_right = match expected.strip_prefix('!') {
                Some(message) => run.code == Some(2) && run.stderr.contains(message),
                None => found == expected && run.code != Some(2),
            };
            if !is_right {
                wrong.push(format!("{name} {options:?} {text:?}: {found} and not {expected}\n{}", run.stderr));
            }
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(count, 77);
}

/// Line numbers count the lines before a header, and messages name the option that helps.
#[test]
fn messages_name_lines_and_commands() {
    let folder = Folder::with_set();
    let mut count = 0;
    for (options, text, says) in [
        (
            &[][..],
            "http://a.example/ 200\n",
            "a:1: a space within a URL, or text after it: --delimiter space --url 1 reads",
        ),
        (
            &[],
            "http://a.example/ 200\n",
            "; they look like URLs with other text after a space: give --delimiter space --url 1",
        ),
        (&[], "sep=;\nid;url\n1\n", "a:3: fewer cells than the 2 names in the header"),
        (HOST, "#Version: 1.0\n#Fields: cs-uri-stem cs-uri-query\n/x\n", "a:3: fewer cells than expected"),
        (HOST, "#Fields: cs-uri-stem cs-uri-query\n#Date: x\n", "a:2: a line about the log, and not a request"),
        (HOST, "#Fields: cs-uri-stem cs-uri-query\n/+ -\n", "a:2: a line that can be read in two ways"),
        (
            &[],
            "#Software: x\nGET /x\n",
            "they look like an access log, but no #Fields: line precedes its first request",
        ),
        (&[], "k 20260314150926 http://a.example/ - - x 5\n", "input CDX, URLs in column 3 (a, original)"),
        (&[], "[[\"original\"],\n[\"http://a.example/\"]]\n", "input CDX, URLs in column 1 (\"original\")"),
        (
            HOST,
            "#Fields: cs-uri-stem cs-uri-query\n/ -\n",
            "an access log with a #Fields: line, URLs in the requests, as IIS",
        ),
    ] {
        folder.write("a", text);
        let run = folder.run(&[&["classify", "set", "a", "--agent", "bot-a"], options].concat());
        let squeezed = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(squeezed.contains(says), "{says}: {}", run.stderr);
        count += 1;
    }
    assert_eq!(count, 10);
}

/// `--host` would make a set of such a file that allows everything.
#[test]
fn logs_and_indexes_are_not_read_as_robots_txt() {
    let folder = Folder::new();
    let mut count = 0;
    for (text, what) in [
        ("#Version: 1.0\n#Fields: cs-uri-stem cs-uri-query\n/ -\n", "an access log with a #Fields: line"),
        ("1.2.3.4 - - [14/Mar/2026:15:09:26 +0000] \"GET / HTTP/1.1\" 200 5\n", "an access log"),
        ("k 20260314150926 http://a.example/ - - X 5\n", "an index of a web archive (CDX)"),
        ("http://a.example/ 200\n", "a list of URLs"),
    ] {
        folder.write("file", text);
        let says = format!("file: is {what}; `reptile classify SET file` decides its URLs");
        folder.run(&["compile", "-o", "set", "file"]).says(2, &[&says]);
        let says = format!("file: --host requires a single robots.txt, but this is {what}\n");
        folder.run(&["compile", "-o", "set", "--host", "a.example", "file"]).says(2, &[&says]);
        count += 1;
    }
    assert_eq!(count, 4);
    folder.write("file", "#Fields: of this robots.txt\nUser-agent: *\nDisallow: /\n");
    folder.run(&["compile", "-o", "set", "--host", "a.example", "file"]).says(0, &[]);
}

/// Crawlers, times and other fields of a log are columns, and its rows are copied as they are, without their marks.
#[test]
fn fields_of_a_log_are_columns() {
    let folder = Folder::new();
    let capture = "{\"url\":\"http://a.example/robots.txt\",\"time\":\"2026-03-14T15:09:26Z\",\"body\":\"user-agent: *\\ndisallow: /private\"}\n";
    folder.write("c.jsonl", capture);
    folder.run(&["compile", "--by-time", "-o", "set", "c.jsonl"]).says(0, &[]);
    let log = "#Version: 1.0\n#Fields: date time cs-uri-stem cs-uri-query cs(User-Agent)\n\
               2026-03-14 15:09:26 /private - bot-a/1+(+x)\n\
               2026-03-14 15:09:25 /private - bot-a/1+(+x)\n\
               #Fields: cs(User-Agent) cs-uri-query cs-uri-stem time date\n\
               bot-a/1+(+x) - /private 15:09:26 2026-03-14\n";
    folder.write("a", log);
    let columns = ["--agent", "{user_agent}", "--at", "{time}", "--columns", "agent,verdict,url"];
    let run = folder.run(&[&["classify", "set", "a"], &columns[..], HOST].concat());
    let row = |verdict| format!("bot-a\t{verdict}\thttp://a.example/private\n");
    let expected = [row("disallow"), row("unknown"), "\tinvalid\t\n".into(), row("disallow")].concat();
    assert_eq!(run.text(), expected, "{}", run.stderr);
    let start = ["classify", "set", "a", "--agent", "bot-a", "--at", "2026-03-14T16:00:00Z", "--only", "disallow"];
    let run = folder.run(&[&start, HOST].concat());
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(run.text(), [lines[1], lines[2], lines[3], lines[5], ""].join("\n"));
    let run = folder.run(&[&["classify", "set", "a", "--agent", "{cs-username}"], HOST].concat());
    run.says(2, &["its #Fields: line has no cs-username"]);
    // CloudFront encodes what the client sent, and both encodings of an old user agent.
    let fields = "#Fields: x-host-header cs-uri-stem cs-uri-query cs(User-Agent) date time";
    folder.write("a", format!("{fields}\na.example\t/%2561%7E\tq=%2525\tx/1%2520bot-a/1\t2026-03-14\t15:09:27\n"));
    let run = folder.run(&[&["classify", "set", "a"], &columns[..]].concat());
    assert!(run.text().ends_with("\thttps://a.example/%61~?q=%25\n"), "{run:#?}");
}
