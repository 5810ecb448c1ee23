//! Pages in records: the statements that are found, and the unavailable ones.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use reptile::rights::Channel;

use super::*;

/// Cases whose answers differ from the expected ones.
#[derive(Default)]
struct WrongCases(Vec<String>);

impl WrongCases {
    fn check<T: PartialEq + std::fmt::Debug>(&mut self, found: T, expected: T, case: impl std::fmt::Display) {
        if found != expected {
            self.0.push(format!("{case}: expected {expected:?}, found {found:?}"));
        }
    }
}

impl Drop for WrongCases {
    fn drop(&mut self) {
        assert!(self.0.is_empty(), "{:#?}", self.0);
    }
}

const META: &str = "<meta name=robots content=noai>";

/// Returns a page from an archive with one record, which has these fields besides its length.
fn page_of(fields: &str, block: &[u8]) -> Page {
    let head =
        format!("WARC/1.0\r\nWARC-Target-URI: https://a.example/\r\n{fields}Content-Length: {}\r\n\r\n", block.len());
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), [head.as_bytes(), block, b"\r\n\r\n"].concat()).unwrap();
    let NextPage::Record(record) = Pages::open(file.path(), false).unwrap().next_record().unwrap() else {
        panic!("no record: {fields}")
    };
    super::page_of(&CrawlerNames::new(["GPTBot"]), &record).unwrap()
}

/// Returns a page from a record of this kind.
fn page(kind: &str, media_type: &str, block: &[u8]) -> Page {
    page_of(&format!("WARC-Type: {kind}\r\nContent-Type: {media_type}\r\n"), block)
}

/// Returns a page from a response with these header lines.
fn response(header: &str, body: &[u8]) -> Page {
    let lines: String = header.split('|').filter(|line| !line.is_empty()).map(|line| format!("{line}\r\n")).collect();
    let block = [format!("HTTP/1.1 200 OK\r\n{lines}\r\n").as_bytes(), body].concat();
    page("response", "application/http", &block)
}

/// Returns whether a page has the statement `noai` in this channel, and whether the channel is missing.
fn has_noai(page: &Page, channel: Channel) -> (bool, bool) {
    let has_noai = page.statements.of(channel).any(|(_, text)| text == b"noai");
    (has_noai, page.statements.lacks(channel))
}

/// Describes the elements of a page: `n` for noai, and `?` if the text is unavailable.
fn found(page: &Page) -> &'static str {
    match has_noai(page, Channel::RobotsMeta) {
        (false, false) => "",
        (true, false) => "n",
        (false, true) => "?",
        (true, true) => "n?",
    }
}

/// Returns all statements in the elements of a text.
fn statements(text: &[u8]) -> Vec<String> {
    let page = response("Content-Type: text/html", text);
    let mut all = Vec::new();
    for channel in Channel::ALL {
        all.extend(page.statements.of(channel).map(|(name, text)| {
            let text = String::from_utf8_lossy(text);
            format!("{} {}={text}", channel.name(), String::from_utf8_lossy(name))
        }));
    }
    all
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Converts a text to UTF-16.
fn wide(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

#[test]
fn statements_are_elements_with_these_names() {
    let cases = [
        ("<meta name=robots content=noai>", &["meta-robots =noai"][..]),
        ("<META NAME='Robots' CONTENT=\"NoAI, noindex\"/>", &["meta-robots =NoAI, noindex"]),
        ("<meta content='noai' name=' robots '>", &["meta-robots =noai"]),
        ("<meta name=\"r&#111;bots\" content=\"no&#97;i\">", &["meta-robots =noai"]),
        ("<meta name=\"gptbot\" content=noai><meta name=otherbot content=noai>", &["meta-robots gptbot=noai"]),
        ("<meta name=\"GPTBot/1.1\" content=noai><meta name=gptbot2 content=noai>", &["meta-robots gptbot=noai"]),
        ("<meta name=\"robots, gptbot\" content=a>", &["meta-robots =a", "meta-robots gptbot=a"]),
        ("<meta name=robots name=gptbot content=a content=b>", &["meta-robots =a"]),
        ("<meta name=robots>", &["meta-robots ="]),
        ("<meta property=robots content=noai>", &[]),
        ("<meta name=tdm-reservation content=1>", &["tdm-meta =1"]),
        ("<link rel='license' href=/l.xml><link rel=stylesheet href=license>", &["license =/l.xml"]),
        ("<a rel=license href=/l.xml>", &[]),
        ("<body><p><meta name=robots content=noai>", &["meta-robots =noai"]),
        ("<meta name=robots content=noai", &[]),
        ("</meta name=robots content=noai>", &[]),
        ("<metadata name=robots content=noai>", &[]),
        ("<meta name=a content='>'><meta content='a>b <c' name=robots>", &["meta-robots =a>b <c"]),
        ("<link href=/l.xml rel='licens&#101;'>", &["license =/l.xml"]),
        // A quote within a value without quotes is text.
        ("<meta a=b\" content=\">\" name=robots>", &["meta-robots =>"]),
        ("<meta a = '\"' content = \n\t'\">' name=robots>", &["meta-robots =\">"]),
        ("<meta content='<link \">' title=\"'>\" name=robots>", &["meta-robots =<link \">"]),
    ];
    for (text, expected) in cases {
        assert_eq!(statements(text.as_bytes()), expected, "{text}");
    }
    assert_eq!(cases.len(), 22);
    for len in [4095, 4096, 4097, 60_000] {
        let text = format!("<meta title=\"{}\" content=noai name=\"r&#111;bots\">", "a".repeat(len));
        assert_eq!(statements(text.as_bytes()), ["meta-robots =noai"], "{len}");
    }
}

/// `@` is an element with noai.
#[test]
fn elements_are_found_where_browsers_find_them() {
    let mut wrong = WrongCases::default();
    let cases = [
        // Raw text has no elements, and hides those up to its end.
        ("<!-- @ -->", ""),
        ("<!-- > @ -->", ""),
        ("<!--> @ -->", "n"),
        ("<!---> @ -->", "n"),
        ("<!-- --!> @ -->", "n"),
        ("<!-- <!-- --> @ -->", "n"),
        ("<! @", "?n"),
        ("<?php @ ?>", "?n"),
        ("<script>'@'</script>", ""),
        ("<script><!-- <script> </script> @ --></script>", ""),
        ("<script src=a /> @", ""),
        ("<style>@</style>", ""),
        ("<title>@</title>", ""),
        ("<title>a</title>@", "n"),
        ("<title/>@", ""),
        ("<textarea>@</textarea>", ""),
        ("<iframe>@</iframe>", ""),
        ("<noembed>@</noembed>", ""),
        ("<noframes>@</noframes>", ""),
        ("<xmp>@</xmp>", ""),
        ("<plaintext>@", ""),
        ("<p title='@'>", ""),
        ("<![CDATA[ @ ]]>", ""),
        // SVG and MathML have other rules.
        ("<svg><title/></svg>@", "n"),
        ("<svg><title/>@", "n"),
        ("<svg><style></svg>@", "n"),
        ("<svg><style/></svg>@", "n"),
        ("<svg><script/></svg>@", "n"),
        ("<svg><![CDATA[ @ ]]></svg>", ""),
        ("<svg><![CDATA[ <title> ]]></svg>@", "n"),
        ("<svg><!-- <![CDATA[ --></svg>@", "n"),
        ("<svg><desc><style></svg>@", ""),
        ("<svg><foreignObject><title></svg>@", ""),
        ("<svg><title><style></style></title></svg>@", "n"),
        ("<svg><a/><p><style></svg>@", ""),
        ("<svg></p><style></svg>@", "?"),
        ("<math><title/></math>@", "n"),
        ("<math><mi><style></math>@", ""),
        ("<math><annotation-xml><style></math>@", "n"),
        ("<math><annotation-xml encoding=text/html><style></math>@", ""),
        ("<math><annotation-xml><svg><style></svg></math>@", "n"),
        ("<p><svg><title></p>@", "n?"),
        // Breakout tags end foreign content; `meta` is one.
        ("<svg>@", "n"),
        ("<math>@", "n"),
        // The tree decides whether raw text begins.
        ("<template>@</template>", "n"),
        ("<template><col><title></template>@", "n"),
        ("<frameset><title></frameset>@", ""),
        ("<frameset><script></frameset><noframes>@</noframes>", ""),
        ("<table><style>@</style></table>", ""),
        ("<table><tr>@</table>", "n"),
        // Until 2025, browsers ignored these tags in `<select>`.
        ("<select><title></select>@", "?"),
        ("<select><style></select>@", "?"),
        ("<select><svg><style></select>@", "n?"),
        ("<select><option>a</select><title>b</title>@", "n"),
        ("<select>@", "n"),
        // With scripts, the content is text, which ends at the first end tag.
        ("<noscript>@</noscript>", "n"),
        ("<noscript><!-- </noscript> @ --></noscript>", "n?"),
        ("<noscript><style></noscript>@", "n?"),
        ("<noscript><p>text</p></noscript>@", "n"),
        ("<noscript><img src=a></noscript>", ""),
    ];
    for (text, expected) in cases {
        let text = text.replace('@', META);
        let expected = match expected {
            "?n" => "",
            expected => expected,
        };
        wrong.check(found(&response("Content-Type: text/html", text.as_bytes())), expected, text);
    }
    assert_eq!(cases.len(), 60);
}

/// `@` is an element with noai, and `X` the namespace.
#[test]
fn xml_is_read_as_xml() {
    let mut wrong = WrongCases::default();
    let cases = [
        ("<html X><head><title/>@</head></html>", "n"),
        ("<html X><head><script src='a' />@</head></html>", "n"),
        ("<h:html xmlns:h='http://www.w3.org/1999/xhtml'><h:meta name='robots' content='noai'/></h:html>", "n"),
        ("<html X><head><title>a</title></head></html>", ""),
        ("<html><head>@</head></html>", ""),
        ("<html X><![CDATA[ @ ]]></html>", ""),
        ("<html X><!-- @ --></html>", ""),
        ("<html X><meta name='r&#111;bots' content='no&#x61;i'/></html>", "n"),
        ("<html X><META NAME='robots' CONTENT='noai'/></html>", ""),
        ("<html X><svg xmlns='http://www.w3.org/2000/svg'><title/></svg>@</html>", "n"),
        ("<html X><svg xmlns='http://www.w3.org/2000/svg'>@</svg></html>", ""),
        ("<rss><channel><item xmlns='http://www.w3.org/1999/xhtml'>@</item></channel></rss>", "n"),
        // Browsers stop at the first error.
        ("<html X><p></html>", "?"),
        ("<html X><p>@", "n?"),
        ("<html X>@<br></html>", "n?"),
        ("<html X><x:meta name='robots' content='noai'/></html>", "?"),
        ("<html X><meta name=robots content='noai'/></html>", "?"),
        ("<html X><meta name='robots' content='&noai;'/></html>", "?"),
        // Entities may contain elements.
        ("<!DOCTYPE html [<!ENTITY a \"x\">]><html X>&a;</html>", "?"),
        ("<!DOCTYPE html><html X></html>", ""),
        ("", ""),
    ];
    for (text, expected) in cases {
        let meta = "<meta name='robots' content='noai'/>";
        let text = text.replace('@', meta).replace(" X", " xmlns='http://www.w3.org/1999/xhtml'");
        for media_type in ["application/xhtml+xml", "application/xml", "text/xml; charset=utf-8", "image/svg+xml"] {
            let page = response(&format!("Content-Type: {media_type}"), text.as_bytes());
            wrong.check(found(&page), expected, format!("{media_type}: {text}"));
        }
    }
    assert_eq!(cases.len(), 21);
}

/// The body of each page is an HTML page with noai.
#[test]
fn types_decide_whether_a_text_has_elements() {
    let mut wrong = WrongCases::default();
    let cases = [
        ("Content-Type: text/html", "n"),
        ("content-type:TEXT/HTML ;charset=utf-8", "n"),
        ("", "n"),
        ("Content-Type:", "n"),
        ("Content-Type: */*", "n"),
        ("Content-Type: unknown/unknown", "n"),
        ("Content-Type: application/unknown", "n"),
        ("Content-Type: html", "n"),
        ("Content-Type: text/html charset=utf-8", "n"),
        ("Content-Type: text/*", "n"),
        ("Content-Type: ; charset=utf-8", "n"),
        ("Content-Type: multipart/x-mixed-replace", "n"),
        ("Content-Type: text/html, text/html", "n"),
        ("Content-Type: text/html|Content-Type: text/html", "n"),
        // Not all readings find the element.
        ("Content-Type: text/plain, text/html", "n?"),
        ("Content-Type: text/html, text/plain", "n?"),
        ("Content-Type: text/plain|Content-Type: text/html", "n?"),
        ("Content-Type: image/png|Content-Type: */*", "n?"),
        ("Content-Type: application/xhtml+xml, text/html", "n?"),
        ("Content-Type: application/xhtml+xml", "?"),
        ("Content-Type: text/plain", ""),
        ("Content-Type: text/plain; charset=text/html", ""),
        ("Content-Type: text/plain; a=\", text/html\"", ""),
        ("Content-Type: application/json", ""),
        ("Content-Type: image/png", ""),
        ("Content-Type: application/pdf, image/png", ""),
    ];
    for (header, expected) in cases {
        wrong.check(found(&response(header, META.as_bytes())), expected, header);
    }
    assert_eq!(cases.len(), 26);
    // If no reading finds a statement, nothing is in doubt.
    for header in ["Content-Type: text/plain, text/html", "Content-Type: */*", ""] {
        wrong.check(found(&response(header, b"<title>a</title>")), "", header);
    }
    let xml = "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><title/><meta name='robots' content='noai'/></html>";
    for (header, expected) in [("", "n?"), ("Content-Type: */*", "n?"), ("Content-Type: text/html", "")] {
        wrong.check(found(&response(header, xml.as_bytes())), expected, header);
    }
}

#[test]
fn encodings_are_those_of_browsers() {
    let mut wrong = WrongCases::default();
    let html = format!("<title>a</title>{META}");
    let little = wide(&html, u16::to_le_bytes);
    let big = wide(&html, u16::to_be_bytes);
    let japanese = [b"\x1b$B<title>!!\x1b(B", META.as_bytes()].concat();
    let cases: [(&str, Vec<u8>, &str); 22] = [
        ("", [b"\xff\xfe", &*little].concat(), "n"),
        ("", [b"\xfe\xff", &*big].concat(), "n"),
        ("", [b"\xef\xbb\xbf", html.as_bytes()].concat(), "n"),
        // A byte order mark decides.
        ("; charset=utf-8", [b"\xff\xfe", &*little].concat(), "n"),
        ("; charset=utf-16", [b"\xef\xbb\xbf", html.as_bytes()].concat(), "n"),
        ("; charset=utf-16", little.clone(), "n?"),
        ("; charset=utf-16le", little.clone(), "n?"),
        ("; charset=utf-16be", big.clone(), "n?"),
        ("; charset=utf-16", big.clone(), "n?"),
        ("; charset=\"UTF-16\"", little.clone(), "n?"),
        ("", little.clone(), "n?"),
        ("", big, "n?"),
        ("; charset=none", little.clone(), "n?"),
        ("; charset=utf-8; charset=utf-16", little.clone(), "n?"),
        ("; charset=utf-8", little, ""),
        ("; charset=utf-16", html.clone().into_bytes(), "n?"),
        // Double bytes look like a tag.
        ("; charset=iso-2022-jp", japanese.clone(), "n?"),
        ("", japanese.clone(), "n?"),
        ("; charset=utf-8", japanese, ""),
        ("; charset=iso-2022-jp", html.clone().into_bytes(), "n"),
        ("; charset=windows-1252", [b"<p>\xe9", html.as_bytes()].concat(), "n"),
        // Browsers have no UTF-7.
        ("; charset=utf-7", b"+ADw-meta name=robots content=noai+AD4-".to_vec(), ""),
    ];
    for (place, (charset, body, expected)) in cases.iter().enumerate() {
        let page = response(&format!("Content-Type: text/html{charset}"), body);
        wrong.check(found(&page), *expected, format!("{place}: {charset}"));
    }
}

#[test]
fn incomplete_pages_are_unavailable() {
    let mut wrong = WrongCases::default();
    let html = format!("<title>a</title>{}{META}", "text ".repeat(2000));
    let packed = gzip(html.as_bytes());
    let (first, second) = html.split_at(9000);
    let members = [gzip(first.as_bytes()), gzip(second.as_bytes())].concat();
    let chunked = format!("{:x}\r\n{html}\r\n0\r\n\r\n", html.len()).into_bytes();
    let len = html.len();
    let cases: Vec<(String, Vec<u8>, &str)> = vec![
        ("Content-Encoding: gzip".into(), packed.clone(), "n"),
        ("Content-Encoding: gzip".into(), packed[..packed.len() / 2].to_vec(), "?"),
        ("Content-Encoding: gzip".into(), packed[..packed.len() - 4].to_vec(), "n?"),
        ("Content-Encoding: gzip".into(), packed[..4].to_vec(), "?"),
        ("Content-Encoding: gzip".into(), members, "n"),
        ("Content-Encoding: none-such".into(), vec![0xff; 99], "?"),
        ("Transfer-Encoding: chunked".into(), chunked.clone(), "n"),
        ("Transfer-Encoding: chunked".into(), chunked[..9000].to_vec(), "?"),
        (format!("Content-Length: {len}"), html.clone().into_bytes(), "n"),
        (format!("Content-Length: {}", len - 1), html.clone().into_bytes(), "n"),
        (format!("Content-Length: {}", len + 1), html.clone().into_bytes(), "n?"),
        (format!("Content-Length: {len}"), html[..9000].into(), "?"),
        (format!("Content-Length: {}", packed.len()), html.clone().into_bytes(), "n"),
        (format!("Content-Encoding: gzip|Content-Length: {}", packed.len()), html.clone().into_bytes(), "n"),
    ];
    assert_eq!(cases.len(), 14);
    for (header, body, expected) in cases {
        let page = response(&format!("Content-Type: text/html|{header}"), &body);
        wrong.check(found(&page), expected, format!("{header}, {} bytes", body.len()));
        let page = response(&format!("Content-Type: image/png|{header}"), &body);
        wrong.check(found(&page), "", format!("image: {header}, {} bytes", body.len()));
    }
    let block = format!("HTTP/1.1 200 OK\r\nX-Robots-Tag: noai\r\n\r\n{META}");
    let http = "Content-Type: application/http\r\n";
    for (fields, block, header, text) in [
        (format!("WARC-Type: response\r\n{http}"), &*block, (true, false), "n"),
        (format!("WARC-Type: response\r\n{http}WARC-Truncated: length\r\n"), &block, (true, false), "n?"),
        (format!("WARC-Type: response\r\n{http}WARC-Segment-Number: 1\r\n"), &block, (true, false), "n?"),
        (format!("WARC-Type: response\r\n{http}"), &block[..30], (false, true), "?"),
        (format!("WARC-Type: response\r\n{http}"), "", (false, true), "?"),
        (format!("WARC-Type: revisit\r\n{http}"), &block, (true, false), "?"),
        (format!("WARC-Type: resource\r\n{http}"), &block, (true, false), "n"),
        ("WARC-Type: resource\r\nContent-Type: text/html\r\n".into(), META, (false, true), "n"),
        ("WARC-Type: resource\r\nContent-Type: text/plain\r\n".into(), META, (false, true), ""),
        ("WARC-Type: resource\r\n".into(), META, (false, true), "n"),
    ] {
        let page = page_of(&fields, block.as_bytes());
        wrong.check((has_noai(&page, Channel::RobotsHeader), found(&page)), (header, text), fields);
    }
}

#[test]
fn interim_responses_have_no_statements() {
    let interim = "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\nX-Robots-Tag: all\r\n\r\n";
    for count in [1, 2] {
        let block = format!("{}HTTP/1.1 200 OK\r\nX-Robots-Tag: noai\r\n\r\n{META}", interim.repeat(count));
        let page = page("response", "application/http", block.as_bytes());
        assert!(page.statements.of(Channel::RobotsHeader).eq([(&b""[..], &b"noai"[..])]));
        assert_eq!(found(&page), "n");
    }
    let page = page("response", "application/http", interim.as_bytes());
    assert_eq!(page.statements, Statements::unavailable());
}

/// Elements of a WAT record: `H` is the header without a type, `@` is a list with noai.
#[test]
fn wat_records_without_lists_are_unavailable() {
    let mut wrong = WrongCases::default();
    let cases = [
        (r#""Headers": {"Content-Type": "text/html"}, "HTML-Metadata": {"Head": {@}}"#, (false, "n")),
        (r#""Headers": {"Content-Type": "text/html"}, "HTML-Metadata": {"Head": {}}"#, (false, "")),
        (r#""Headers": {"Content-Type": "text/html"}, "HTML-Metadata": {}"#, (false, "?")),
        (r#""Headers": {"Content-Type": "text/html"}"#, (false, "?")),
        (r#""Headers": {"content-type": ["image/png", "text/html"]}"#, (false, "?")),
        (r#""Headers": {"Content-Type": "application/xhtml+xml"}"#, (false, "?")),
        (r#""Headers": {"Content-Type": "*/*"}"#, (false, "?")),
        (r#""Headers": {}"#, (false, "?")),
        (r#""Headers": {"Content-Type": "image/png"}"#, (false, "")),
        (r#""Headers": {"Content-Type": "text/plain"}"#, (false, "")),
        (r#""HTML-Metadata": {"Head": {@}}"#, (true, "n?")),
        (r#""Headers": {"Content-Type": 1}, "HTML-Metadata": {"Head": {@}}"#, (true, "?")),
        (r#""Headers": {"Content-Type": "text/html"}, "HTML-Metadata": {"Head": {@}}"#, (false, "n")),
    ];
    let read = |fields: &str, response: &str| {
        let response = response.replace('@', r#""Metas": [{"name": "robots", "content": "noai"}]"#);
        let text = format!(
            r#"{{"Envelope": {{"WARC-Header-Metadata": {{"WARC-Type": "response"{fields}}},
            "Payload-Metadata": {{"HTTP-Response-Metadata": {{{response}}}}}}}}}"#
        );
        let cut = page("metadata", "application/json", &text.as_bytes()[..text.len() - 3]);
        assert_eq!(cut.statements, Statements::unavailable(), "{text}");
        let page = page("metadata", "application/json", text.as_bytes());
        (page.statements.lacks(Channel::RobotsHeader), found(&page))
    };
    for (response, expected) in cases {
        wrong.check(read("", response), expected, response);
    }
    assert_eq!(cases.len(), 13);
    assert_eq!(read(r#", "WARC-Truncated": "length""#, cases[0].0), (false, "n?"));
}

#[test]
fn headers_over_the_limit_are_unavailable() {
    let start = "HTTP/1.1 200 OK\r\nX-Robots-Tag: noai\r\nX-Long: ";
    for len in [MAX_HEADER_BYTES - 1, MAX_HEADER_BYTES, MAX_HEADER_BYTES + 1] {
        let header = format!("{start}{}\r\n\r\n", "a".repeat(len - start.len() - 4));
        assert_eq!(header.len(), len);
        let found = page("response", "application/http", format!("{header}text").as_bytes());
        let is_read = len <= MAX_HEADER_BYTES;
        assert_eq!(has_noai(&found, Channel::RobotsHeader), (is_read, !is_read), "{len}");
    }
}

/// A page whose head ends after the limit is unavailable. In the body, elements after the limit are not read.
#[test]
fn the_head_must_end_within_the_searched_text() {
    let mut wrong = WrongCases::default();
    for len in [MAX_TEXT_BYTES - 1, MAX_TEXT_BYTES, MAX_TEXT_BYTES + 1] {
        let is_read = len <= MAX_TEXT_BYTES;
        for (start, end, expected) in [
            // The element ends at the limit.
            ("", META, if is_read { "n" } else { "?" }),
            // The body begins there, and the page continues.
            ("", "<p>", if is_read { "" } else { "?" }),
            (META, "<p>", if is_read { "n" } else { "n?" }),
            ("<body>", META, if is_read { "n" } else { "" }),
        ] {
            let end = format!("{end}{}", if end == "<p>" { "text".repeat(99) } else { String::new() });
            let filler = " ".repeat(len - start.len() - if end.starts_with("<p>") { 3 } else { end.len() });
            let text = format!("{start}{filler}{end}");
            wrong.check(
                found(&response("Content-Type: text/html", text.as_bytes())),
                expected,
                format!("{len} {start} {expected}"),
            );
        }
    }
    // In a comment or a script, a body's tag is text.
    for start in ["<!-- <body> -->", "<script>'<body>'</script>", "<title><body></title>", "<head></head>"] {
        let text = format!("{start}{}{META}", " ".repeat(MAX_TEXT_BYTES));
        wrong.check(found(&response("Content-Type: text/html", text.as_bytes())), "?", start);
    }
    let head = "<html xmlns='http://www.w3.org/1999/xhtml'><head>";
    for (start, expected) in [(head, "?"), (&format!("{head}</head><body>"), ""), ("<rss>", "")] {
        let text = format!("{start}{}", " ".repeat(MAX_TEXT_BYTES));
        wrong.check(found(&response("Content-Type: application/xml", text.as_bytes())), expected, start);
    }
}

#[test]
fn pages_over_the_stored_start_are_read_from_it() {
    let header = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Robots-Tag: noai\r\n\r\n";
    for len in [MAX_START_BYTES - 1, MAX_START_BYTES, MAX_START_BYTES + 1] {
        let mut block = [&header[..], b"<meta name=robots content=noai><p>"].concat();
        block.resize(len, b' ');
        let found = page("response", "application/http", &block);
        assert_eq!(has_noai(&found, Channel::RobotsMeta), (true, false), "{len}");
        assert_eq!(has_noai(&found, Channel::RobotsHeader), (true, false), "{len}");
    }
}

#[test]
fn json_over_the_limit_is_unavailable() {
    const JSON: &str = r#"{"Envelope": {"WARC-Header-Metadata": {"WARC-Type": "response"},
        "Payload-Metadata": {"HTTP-Response-Metadata": {"Headers": {"X-Robots-Tag": "noai"}}}}}"#;
    for len in [MAX_WAT_BYTES - 1, MAX_WAT_BYTES, MAX_WAT_BYTES + 1] {
        let text = JSON.to_owned() + &" ".repeat(len - JSON.len());
        let found = page("metadata", "application/json", text.as_bytes());
        let is_read = len <= MAX_WAT_BYTES;
        assert_eq!(has_noai(&found, Channel::RobotsHeader), (is_read, !is_read), "{len}");
    }
}
