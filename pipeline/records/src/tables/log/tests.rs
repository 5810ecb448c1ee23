use super::*;

const TIME: &str = "10/Oct/2000:13:55:36 -0700";

/// Returns the reader of a format for the user's host.
fn log(format: &str, host: Option<&str>, scheme: Option<&'static str>) -> Log {
    let format = match format {
        "detected" => LogFormat::combined(),
        format => LogFormat::parse(format).unwrap(),
    };
    let site = shape::Site { host: host.map(str::to_owned), scheme };
    let has_host = format.host().is_some();
    let origin = Origin { default: site.start(), scheme, is_proxy: !has_host && host.is_none() };
    Log::new(format, origin, has_host, vec![LogCell::Url, LogCell::Time, LogCell::UserAgent])
}

fn read(line: &str, log: &Log) -> (Result<String, Fault>, [Option<String>; 2]) {
    let (arena, mut cells) = (Bump::new(), [None; super::super::MAX_CELLS]);
    let found = log.read(line.as_bytes(), &arena, &mut cells);
    assert_eq!(found.is_ok(), cells[0].is_some(), "{line}");
    let text = |cell: Option<&[u8]>| cell.map(|cell| String::from_utf8_lossy(cell).into_owned());
    (found.map(|()| text(cells[0]).unwrap()), [text(cells[1]), text(cells[2])])
}

/// Returns a line's URL after checking the time and the user agent, which are the same in all these lines.
fn url(line: &str, log: &Log) -> Result<String, Fault> {
    let (found, others) = read(line, log);
    if found != Err(Fault::NotLog) {
        assert_eq!(others, [TIME, "bot/1"].map(|text| Some(text.to_owned())), "{line}");
    }
    found
}

#[test]
fn requests_become_urls() {
    let cases = [
        ("GET / HTTP/1.1", Ok("https://a.example/")),
        ("GET /a?b=c HTTP/1.0", Ok("https://a.example/a?b=c")),
        ("POST //b.example/ HTTP/2.0", Ok("https://a.example//b.example/")),
        ("M-SEARCH /x HTTP/1.1", Ok("https://a.example/x")),
        ("GET /", Ok("https://a.example/")),
        ("GET http://a.example/c HTTP/1.1", Ok("https://a.example/c")),
        ("GET HTTPS://A.example.:443 HTTP/1.1", Ok("https://a.example/")),
        ("GET ws://a.example?c HTTP/1.1", Ok("https://a.example/?c")),
        ("GET http://b.example/c HTTP/1.1", Err(Fault::OtherHost)),
        ("GET HTTPS://b.example HTTP/1.1", Err(Fault::OtherHost)),
        ("GET http://a.example:8080/ HTTP/1.1", Err(Fault::OtherHost)),
        ("GET http://a.example@b.example/ HTTP/1.1", Err(Fault::OtherHost)),
        ("GET http://a.example;b.example/ HTTP/1.1", Err(Fault::OtherHost)),
        (r"GET http://a.example\\@b.example/ HTTP/1.1", Err(Fault::OtherHost)),
        ("GET ftp://a.example/ HTTP/1.1", Err(Fault::OtherHost)),
        ("GET x://b.example HTTP/1.1", Err(Fault::OtherHost)),
        (r"GET /\xC3\xa9\x22\\x41 HTTP/1.1", Ok("https://a.example/é\"\\x41")),
        (r#"GET /\"\\\t\n\r\b\v\f\/ HTTP/1.1"#, Ok("https://a.example/\"\\\t\n\r\u{8}\u{b}\u{c}/")),
        (r"GET /\u00e9\u001b\u20AC HTTP/1.1", Ok("https://a.example/é\u{1b}€")),
        (r"GET /\x4\xGG\u12\ud800\q HTTP/1.1", Ok(r"https://a.example/\x4\xGG\u12\ud800\q")),
        ("-", Err(Fault::NoRequest)),
        ("", Err(Fault::NoRequest)),
        ("OPTIONS * HTTP/1.1", Err(Fault::NoTarget)),
        ("CONNECT b.example:443 HTTP/1.1", Err(Fault::NoTarget)),
        ("CONNECT /x HTTP/1.1", Err(Fault::NoTarget)),
        (r"\x16\x03\x01\x02", Err(Fault::BrokenRequest)),
        ("GET", Err(Fault::BrokenRequest)),
        ("GET ", Err(Fault::BrokenRequest)),
        ("GET  HTTP/1.1", Err(Fault::BrokenRequest)),
        (" / HTTP/1.1", Err(Fault::BrokenRequest)),
        ("G3T / HTTP/1.1", Err(Fault::BrokenRequest)),
        ("GET /a b HTTP/1.1", Err(Fault::BrokenRequest)),
        ("GET / FTP/1.1", Err(Fault::BrokenRequest)),
        ("GET a HTTP/1.1", Err(Fault::BrokenRequest)),
        ("GET ?a HTTP/1.1", Err(Fault::BrokenRequest)),
        ("GET b.example:443 HTTP/1.1", Err(Fault::BrokenRequest)),
    ];
    for (request, expected) in cases {
        for (format, after) in [
            ("detected", " 200 5 \"-\" \"bot/1\""),
            ("detected", " 200 - \"\\\"\" \"bot/1\" \"x"),
            ("combined", " 200 5 \"-\" \"bot/1\""),
            ("main", " 200 5 \"-\" \"bot/1\" \"b.example\""),
        ] {
            let line = format!("1.2.3.4 - a b [{TIME}] \"{request}\"{after}");
            let log = log(format, Some("a.example"), None);
            assert_eq!(url(&line, &log), expected.map(str::to_owned), "{format} {line}");
        }
    }
}

#[test]
fn user_names_do_not_shift_fields() {
    for user in ["-", "a b", "[x]", "[", "] ", "[10/Oct/2000:13:55:36 -0700] GET /evil", r"\x22", "é"] {
        for format in ["detected", "combined"] {
            let line = format!("1.2.3.4 - {user} [{TIME}] \"GET /a HTTP/1.1\" 200 5 \"-\" \"bot/1\"");
            let log = log(format, Some("a.example"), None);
            assert_eq!(url(&line, &log), Ok("https://a.example/a".into()), "{format} {line}");
        }
    }
}

#[test]
fn other_lines_have_no_cells() {
    let log = log("detected", Some("a.example"), None);
    for line in [
        "",
        "x",
        "\"",
        "[x] \"",
        "[x] \"GET / HTTP/1.1",
        "x] \"GET / HTTP/1.1\" 200 5 \"-\" \"bot/1\"",
        "[x]\"GET / HTTP/1.1\" 200 5 \"-\" \"bot/1\"",
        "[x] \"GET / HTTP/1.1\"",
        "[x] \"GET / HTTP/1.1\" 200",
        r#"[x] "GET / HTTP/1.1\" 200 5 "-" "bot/1""#,
        r#"[x] "GET / \"#,
    ] {
        assert_eq!(url(line, &log), Err(Fault::NotLog), "{line}");
    }
}

#[test]
fn virtual_hosts_determine_host_port_and_scheme() {
    let cases = [
        ("b.example:80", None, None, Ok("http://b.example/x")),
        ("b.example:80", None, Some("https"), Ok("https://b.example/x")),
        ("b.example:443", None, None, Ok("https://b.example/x")),
        ("b.example:443", None, Some("http"), Ok("http://b.example/x")),
        ("b.example:8080", None, None, Ok("https://b.example:8080/x")),
        ("[::1]:81", None, Some("http"), Ok("http://[::1]:81/x")),
        ("-:80", None, None, Err(Fault::NoHost)),
        ("_:443", None, None, Err(Fault::NoHost)),
        ("-", None, None, Err(Fault::NoHost)),
        ("_:443", Some("a.example"), Some("http"), Ok("http://a.example/x")),
        ("-", Some("a.example"), None, Ok("https://a.example/x")),
        // The user's host fills gaps and replaces nothing.
        ("b.example:80", Some("a.example"), None, Ok("http://b.example/x")),
        ("b.example", Some("a.example"), None, Err(Fault::NoHost)),
        ("2001:db8::80", Some("a.example"), None, Err(Fault::NoHost)),
        ("b.example:", Some("a.example"), None, Err(Fault::NoHost)),
        ("*.b.example:80", Some("a.example"), None, Err(Fault::NoHost)),
        ("a@b.example:80", Some("a.example"), None, Err(Fault::NoHost)),
        ("a/b.example:80", Some("a.example"), None, Err(Fault::NoHost)),
        ("a#b.example:80", None, None, Err(Fault::NoHost)),
        (r"a\x5cb.example:80", None, None, Err(Fault::NoHost)),
        ("[b.example:80", None, None, Err(Fault::NoHost)),
    ];
    for (host, default, scheme, expected) in cases {
        let line = format!("{host} 1.2.3.4 - - [{TIME}] \"GET /x HTTP/1.1\" 200 5 \"-\" \"bot/1\"");
        let log = log("vhost_combined", default, scheme);
        assert_eq!(url(&line, &log), expected.map(str::to_owned), "{line} {default:?}");
    }
}

#[test]
fn without_a_known_host_targets_name_theirs() {
    let log = log("common", None, None);
    for (target, expected) in
        [("http://b.example/x", Ok("http://b.example/x")), ("/x", Err(Fault::NoHost)), ("x", Err(Fault::BrokenRequest))]
    {
        let line = format!("1.2.3.4 - - [{TIME}] \"GET {target} HTTP/1.1\" 200 5");
        assert_eq!(read(&line, &log).0, expected.map(str::to_owned), "{line}");
    }
}
