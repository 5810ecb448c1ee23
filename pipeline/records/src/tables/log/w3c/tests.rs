use std::io::{Cursor, Read};

use bumpalo::Bump;

use super::names::Head;
use super::*;
use crate::lines::without_line_end;
use crate::tables::ColumnOption;
use crate::tables::address::PartNames;
use crate::tables::log::shape::Site;
use crate::tables::open::Opening;
use crate::tables::source::{Block, Source};

/// A source that returns a few bytes at a time.
struct Slow(Cursor<Vec<u8>>, usize);

impl Read for Slow {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let len = to.len().min(self.1);
        self.0.read(&mut to[..len])
    }
}

/// Returns each row of a log as its URL or its fault, and its text.
fn rows(text: &[u8], bytes_per_read: usize) -> Vec<(Result<String, Fault>, String)> {
    let source = Slow(Cursor::new(text.to_vec()), bytes_per_read);
    let site = Site::of_options(Some("h.example"), &[]);
    let (table, mut rows) = Source::Text(Box::new(source)).open_rows(&Opening { site, ..Opening::of("x") }).unwrap();
    assert_eq!(table.format, crate::tables::Format::W3cLog);
    let (arena, mut all) = (Bump::new(), Vec::new());
    while let Some(part) = rows.next(Vec::new(), &|| bytes_per_read.is_multiple_of(2)).unwrap() {
        for block in part.blocks() {
            let Block::Text(block) = block else { panic!("the source is text") };
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            all.extend(table.rows(block, &arena).map(|row| {
                let url = row.fault.map_or_else(|| Ok(text(row.cells[0].unwrap())), Err);
                (url, text(without_line_end(row.bytes)))
            }));
        }
    }
    all
}

#[test]
fn a_fields_line_names_the_fields() {
    for (line, expected) in [
        ("#Fields: date time", Some((vec!["date", "time"], b' '))),
        ("#Fields: a  b ", Some((vec!["a", "b"], b' '))),
        ("#Fields:\ta\tb", Some((vec!["a", "b"], b'\t'))),
        ("#Fields: x-edge-location a", Some((vec!["x-edge-location", "a"], b'\t'))),
        ("#Fields: a x-host-header", Some((vec!["a", "x-host-header"], b'\t'))),
        ("#Fields: ", Some((vec![], b' '))),
        ("#Fields:", None),
        ("#Fields:+a", None),
        ("#Fields a", None),
        ("#fields: a", None),
        (" #Fields: a", None),
        ("Fields: a", None),
    ] {
        let names = Names::of(line.as_bytes());
        let found = names
            .map(|names| (names.names.iter().map(|name| str::from_utf8(name).unwrap()).collect(), names.delimiter));
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn a_log_begins_with_lines_about_it() {
    let fields = |number, at, line: &'static str| Head::Fields(number, at, line.as_bytes());
    for (start, is_all, expected) in [
        ("#Fields: a\nx", false, fields(0, 0, "#Fields: a\n")),
        ("#Version: 1.0\r\n#Fields: a\r\n", false, fields(1, 15, "#Fields: a\r\n")),
        ("#\n#Fields: a", true, fields(1, 2, "#Fields: a")),
        ("#\n#Fields: a", false, Head::NeedsMore),
        ("#Version: 1.0\n", false, Head::NeedsMore),
        ("#Version: 1.0\n", true, Head::Other),
        ("#Version: 1.0\nx", false, Head::NeedsMore),
        ("#Version: 1.0\nx\n#Fields: a\n", false, Head::Other),
        ("\n#Fields: a\n", false, Head::Other),
        ("x", false, Head::Other),
        ("", false, Head::Other),
        ("", true, Head::Other),
    ] {
        assert_eq!(Head::of(start.as_bytes(), is_all), expected, "{start:?} {is_all}");
    }
}

#[test]
fn lines_are_read_by_the_fields_before_them() {
    const URL: Result<&str, Fault> = Ok("https://h.example/a?b=c");
    let log = [
        ("#Version: 1.0", None),
        ("#Fields: date cs-uri-stem cs-uri-query sc-status", None),
        ("2026-03-14 /a b=c 200", Some(URL)),
        ("2026-03-14 /a - 200", Some(Ok("https://h.example/a"))),
        // The same line again, after a restart.
        ("#Date: 2026-03-14", Some(Err(Fault::Directive))),
        ("#Fields: date cs-uri-stem cs-uri-query sc-status", Some(Err(Fault::SecondHeader))),
        ("2026-03-14 /a b=c 200", Some(URL)),
        ("2026-03-14 /a b=c", Some(Err(Fault::FewCells))),
        ("2026-03-14 /a b=c 200 5", Some(Err(Fault::ManyCells))),
        ("", Some(Err(Fault::FewCells))),
        // Other fields, but as many.
        ("#Fields: sc-status cs-uri-query cs-uri-stem date", Some(Err(Fault::Directive))),
        ("200 b=c /a 2026-03-14", Some(URL)),
        ("#Remark: x", Some(Err(Fault::Directive))),
        ("200 b=c /a 2026-03-14", Some(URL)),
        ("#Fields:\tcs-uri-query\tcs-uri-stem", Some(Err(Fault::Directive))),
        ("b=c\t/a", Some(URL)),
        // Without its query, a request's URL would be a different one.
        ("#Fields: cs-uri-stem", Some(Err(Fault::Directive))),
        ("/a", Some(Err(Fault::NotLog))),
        ("#Fields: cs-uri-stem cs-uri-query cs-uri-stem", Some(Err(Fault::Directive))),
        ("/a b=c /d", Some(Err(Fault::NotLog))),
        // Text that looks like a mark.
        ("#\0\u{81}200 b=c /a 2026-03-14", Some(Err(Fault::Directive))),
        ("#\0", Some(Err(Fault::Directive))),
        ("#Fields:+cs-uri-query+cs-uri-stem", Some(Err(Fault::Directive))),
        ("#Fields: date cs-uri-stem cs-uri-query sc-status", Some(Err(Fault::SecondHeader))),
        ("#\0\u{80}2026-03-14 /a b=c 200", Some(Err(Fault::Directive))),
        ("2026-03-14 /a b=c 200", Some(URL)),
    ];
    let expected: Vec<(Result<String, Fault>, String)> =
        log.iter().filter_map(|(line, url)| Some((url.as_ref()?.map(str::to_owned), (*line).to_owned()))).collect();
    assert_eq!(expected.len(), 24);
    for end in ["\n", "\r\n"] {
        let text = log.map(|(line, _)| format!("{line}{end}")).concat();
        for bytes_per_read in [1, 2, 7, 64, 1 << 20] {
            assert_eq!(rows(text.as_bytes(), bytes_per_read), expected, "{bytes_per_read}");
        }
        let last = rows(text.trim_end().as_bytes(), 3).pop();
        assert_eq!(last.as_ref(), expected.last());
    }
}

#[test]
fn layouts_are_limited() {
    for (count, is_read) in [(MAX_LAYOUTS - 1, true), (MAX_LAYOUTS, true), (MAX_LAYOUTS + 1, false)] {
        let part = |number: usize| format!("#Fields: x{number} cs-uri-stem cs-uri-query\n- /a -\n");
        let text = (0..count).map(part).collect::<String>() + &part(1);
        let found = rows(text.as_bytes(), 1 << 16);
        let url = Ok("https://h.example/a".to_owned());
        assert_eq!(found[found.len() - 3].0, if is_read { url.clone() } else { Err(Fault::NotLog) }, "{count}");
        // The lines after a known one are still read.
        assert_eq!(found[found.len() - 1].0, url, "{count}");
    }
}

/// If a `#Fields:` line is too long, the fields of the lines after it are unknown.
#[test]
fn a_fields_line_may_be_too_long() {
    /// The longest line.
    const LIMIT: usize = 1 << 20;
    const START: &str = "#Fields: cs-uri-query cs-uri-stem ";
    for (len, is_read) in [(LIMIT - 1, true), (LIMIT, true), (LIMIT + 1, false)] {
        // With the line end, the line has `len` bytes.
        let name = "x".repeat(len - 1 - START.len());
        let text = format!("#Fields: cs-uri-stem cs-uri-query\n/a -\n{START}{name}\n- /a -\n");
        let last = rows(text.as_bytes(), 1 << 16).pop().unwrap().0;
        assert_eq!(last, if is_read { Ok("https://h.example/a".to_owned()) } else { Err(Fault::NotLog) }, "{len}");
    }
}

#[test]
fn hosts_and_fields_are_known_or_named() {
    const IIS: &str = "#Fields: date time cs-method cs-uri-stem cs-uri-query cs-host cs(User-Agent)";
    const CF: &str = "#Fields: date time x-edge-location cs(Host) cs-uri-stem cs-uri-query x-host-header";
    let named = |host: &str, query: &str| {
        let name = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        [None, name(host), None, name("cs-uri-stem"), name(query)]
    };
    let none = PartNames::default;
    let found = |line: &str, host: Option<&str>, parts: PartNames, agent: bool| {
        let agent = agent.then(|| ColumnOption { option: "--agent", name: Some("user_agent".into()) });
        let wanted: Vec<ColumnOption> =
            [ColumnOption { option: "--url", name: None }].into_iter().chain(agent).collect();
        let names = Names::of(line.as_bytes()).unwrap();
        names.columns(&Site::of_options(host, &[]).unwrap(), &wanted, &parts).map(|(_, _, names)| names.join(", "))
    };
    let cases = [
        (IIS, Some("h.example"), none(), true, "the requests, as IIS writes them, the user agent"),
        (IIS, None, named("cs-host", "cs-uri-query"), false, "the requests, as IIS writes them"),
        (CF, None, none(), false, "the requests, as Amazon CloudFront writes them"),
        (IIS, None, none(), false, "!no hosts in this access log: give its host with --host; cs-host is the client's"),
        ("#Fields: cs-uri-stem cs-uri-query s-ip", None, none(), false, "!no hosts in this access log"),
        (
            "#Fields: cs-uri-stem",
            Some("h.example"),
            none(),
            false,
            "!its #Fields: line has no cs-uri-query; it has cs-uri-stem",
        ),
        (
            "#Fields: a,cs-uri-stem",
            Some("h.example"),
            none(),
            false,
            "!its #Fields: line has no cs-uri-stem; it has a,cs",
        ),
        ("#Fields: ", Some("h.example"), none(), false, "!its #Fields: line has no cs-uri-stem"),
        (CF, None, none(), true, "!its #Fields: line has no cs(User-Agent)"),
        (CF, None, named("cs-host", "cs-uri-query"), false, "!its #Fields: line has no cs-host"),
        (
            "#Fields: cs-uri-stem cs-uri-query cs-uri-stem",
            Some("h"),
            none(),
            false,
            "!its #Fields: line has cs-uri-stem twice; it has",
        ),
    ];
    for (line, host, parts, agent, expected) in cases {
        match (found(line, host, parts, agent), expected.strip_prefix('!')) {
            (Ok(names), None) => assert_eq!(names, expected, "{line}"),
            (Err(message), Some(start)) => assert!(message.starts_with(start), "{line}: {message}"),
            (found, _) => panic!("{line}: {found:?} and not {expected}"),
        }
    }
    let port = [None, Some("cs-host".into()), Some("s-port".into()), Some("cs-uri-stem".into()), None];
    assert!(found(IIS, None, port, false).is_err_and(|message| message.contains("leave out the port")));
}
