//! Logs whose clients send text that looks like parts of a log: no row may get another URL than its own.

use bumpalo::Bump;

use super::format::LogFormat;
use super::random::Random;
use super::shape::{FirstLines, Site};
use crate::tables::ColumnOption;

/// Number of rows in each log. `FORGED_ROWS` sets another number.
const ROWS: usize = 2_000;

/// Text that clients send in headers, user names and paths.
const FORGERIES: [&str; 34] = [
    "evil.example",
    "evil.example:80",
    "https://evil.example/private",
    "\"",
    "\" ",
    "\" \"",
    "\" 200 5 \"-\" \"x",
    " HTTP/1.1\" 200 5 \"-\" \"x",
    " HTTP/1.1",
    "x HTTP/1.1\" 200 5 \"evil.example\"",
    "] \"GET /evil HTTP/1.1\" 200 5 \"-\" \"x\"",
    "[14/Mar/2026:15:09:26 +0000] \"GET /evil HTTP/1.1\" 200 5",
    " - - [14/Mar/2026:15:09:26 +0000] ",
    "evil.example:80 192.0.2.9 - - [14/Mar/2026:15:09:26 +0000] \"GET /evil HTTP/1.1\" 200 5 \"-\" \"x\"",
    "\",\"host\":\"evil.example",
    "\",\"uri\":\"/evil",
    "GET https://evil.example/evil HTTP/1.1",
    " /evil 200 ",
    " https://evil.example/evil ",
    "\\",
    "\\\"",
    "\\x22",
    "\\u0022",
    "%22",
    "\t",
    " ",
    "[",
    "]",
    "{evil.example}",
    "'",
    ",",
    "é",
    "x",
    "",
];

/// How a server writes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    Nginx,
    Json,
    Raw,
    Apache,
}

impl Writer {
    fn write(self, value: &str) -> String {
        let escaped = |byte: u8| match (self, byte) {
            (Writer::Raw, _) => vec![byte],
            (Writer::Json, b'"' | b'\\') | (Writer::Apache, b'"' | b'\\') => vec![b'\\', byte],
            (Writer::Json, b'\t') | (Writer::Apache, b'\t') => b"\\t".to_vec(),
            (Writer::Json, 0..b' ') => format!("\\u{byte:04x}").into_bytes(),
            (Writer::Json, _) => vec![byte],
            (Writer::Nginx, b'"' | b'\\') | (_, 0..b' ' | 127..) => format!("\\x{byte:02X}").into_bytes(),
            _ => vec![byte],
        };
        String::from_utf8(value.bytes().flat_map(escaped).collect()).unwrap()
    }
}

/// A request as the server knows it.
struct ServedRequest {
    target: String,
    client: [String; 4],
}

impl Random {
    fn forgery(&mut self) -> String {
        if self.below(3) > 0 {
            return ["-", "Mozilla/5.0 (X11; Linux x86_64)", "bot/1", "https://a.example/"][self.below(4)].to_owned();
        }
        (0..1 + self.below(3)).map(|_| FORGERIES[self.below(FORGERIES.len())]).collect()
    }

    fn row(&mut self) -> ServedRequest {
        let target = match self.below(8) {
            0 => format!("/{}", FORGERIES[self.below(FORGERIES.len())]),
            1 => format!("/a?b={}{}", FORGERIES[self.below(FORGERIES.len())], FORGERIES[self.below(FORGERIES.len())]),
            _ => format!("/page/{}?q={}", self.below(100), self.below(10)),
        };
        ServedRequest { target, client: [(); 4].map(|()| self.forgery()) }
    }
}

/// A log: how the server writes it, its format with the row's values, and the user's options.
struct Case {
    writer: Writer,
    /// The line, with TARGET for the target, and A to D for the client's text.
    line: &'static str,
    format: Option<&'static str>,
    host: Option<&'static str>,
    /// Maximum share of invalid rows in percent, without requests that are broken.
    invalid: usize,
}

/// The time, for the lines below.
const T: &str = "14/Mar/2026:15:09:26 +0000";

const GOOD: Option<&str> = Some("good.example");

const CASES: [Case; 17] = [
    // Detected.
    Case {
        writer: Writer::Nginx,
        line: r#"192.0.2.7 - {A} [{T}] "GET {TARGET} HTTP/1.1" 200 5 "{B}" "{C}" "{D}""#,
        format: None,
        host: GOOD,
        invalid: 0,
    },
    Case {
        writer: Writer::Raw,
        line: r#"192.0.2.7 - {A} [{T}] "GET {TARGET} HTTP/1.1" 200 5 "{B}" "{C}" "{D}""#,
        format: None,
        host: GOOD,
        invalid: 30,
    },
    Case {
        writer: Writer::Nginx,
        line: r#"192.0.2.7 - {A} [{T}] "GET {TARGET} HTTP/1.1" 200 5 "{B}" "{C}" 512 0.1 {D}"#,
        format: None,
        host: GOOD,
        invalid: 3,
    },
    Case {
        writer: Writer::Apache,
        line: r#"{D} 192.0.2.7 - {A} [{T}] "GET {TARGET} HTTP/1.1" 200 5 "{B}" "{C}""#,
        format: None,
        host: GOOD,
        invalid: 0,
    },
    Case {
        writer: Writer::Apache,
        line: r#"good.example:443 192.0.2.7 - {A} [{T}] "GET {TARGET} HTTP/1.1" 200 5 "{B}" "{C}""#,
        format: None,
        host: None,
        invalid: 0,
    },
    Case {
        writer: Writer::Raw,
        line: r#"192.0.2.7 - - [{T}] "GET {TARGET} HTTP/1.1" 200 -"#,
        format: None,
        host: GOOD,
        invalid: 0,
    },
    // Named.
    Case {
        writer: Writer::Nginx,
        line: r#"192.0.2.7 - {A} [{T}] "GET {TARGET} HTTP/1.1" 200 5 "{B}" "{C}" "{D}""#,
        format: Some("main"),
        host: GOOD,
        invalid: 0,
    },
    Case {
        writer: Writer::Apache,
        line: r#"192.0.2.7 - {A} [{T}] "GET {TARGET} HTTP/1.1" 200 5 "{B}" "{C}""#,
        format: Some("combined"),
        host: GOOD,
        invalid: 0,
    },
    Case {
        writer: Writer::Apache,
        line: r#"good.example:443 192.0.2.7 - {A} [{T}] "GET {TARGET} HTTP/1.1" 200 5 "{B}" "{C}""#,
        format: Some("vhost_combined"),
        host: Some("other.example"),
        invalid: 0,
    },
    // Written with variables.
    Case {
        writer: Writer::Json,
        line: r#"{"a":"{A}","host":"good.example","ua":"{B}","uri":"{TARGET}","xff":"{C}","status":200}"#,
        format: Some(
            r#"log_format j escape=json '{"a":"$remote_user","host":"$host","ua":"$http_user_agent","uri":"$request_uri","xff":"$http_x","status":$status}';"#,
        ),
        host: None,
        invalid: 0,
    },
    Case {
        writer: Writer::Raw,
        line: r#"192.0.2.7 - {A} [{T}] "GET {TARGET} HTTP/1.1" 200 5 "{B}" "{C}" "good.example""#,
        format: Some(
            r#"log_format r escape=none '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" "$host"';"#,
        ),
        host: None,
        invalid: 16,
    },
    Case {
        writer: Writer::Raw,
        line: r#"{"a":"{A}","host":"good.example","ua":"{B}","uri":"{TARGET}","xff":"{C}","status":200}"#,
        format: Some(
            r#"log_format j escape=none '{"a":"$remote_user","host":"$host","ua":"$http_user_agent","uri":"$request_uri","xff":"$http_x","status":$status}';"#,
        ),
        host: None,
        invalid: 6,
    },
    Case {
        writer: Writer::Nginx,
        line: r#"{A} good.example - {B} [{T}] "GET https://good.example{TARGET} HTTP/1.1" 200 {C}"#,
        format: Some(
            r#"$http_x_forwarded_for $host - $remote_user [$time_local] "$request_method $scheme://$host$request_uri $server_protocol" $status $http_cookie"#,
        ),
        host: None,
        invalid: 12,
    },
    Case {
        writer: Writer::Nginx,
        line: r#"{A} {B} good.example {TARGET} 200 {C}"#,
        format: Some("$http_x_forwarded_for $remote_user $host $request_uri $status $http_user_agent"),
        host: None,
        invalid: 65,
    },
    Case {
        writer: Writer::Apache,
        line: r#"good.example 192.0.2.7 {A} {B} [{T}] "GET {TARGET} HTTP/1.1" 200 5 {C}"#,
        format: Some(r#"LogFormat "%V %h %l %u %t \"%r\" %>s %b %{Cookie}i" x"#),
        host: GOOD,
        invalid: 0,
    },
    Case {
        writer: Writer::Apache,
        line: r#"{A} [{T}] "GET {TARGET} HTTP/1.1" 200 "{B}" good.example:443 {C}"#,
        format: Some(r#"%{X-Forwarded-For}i %t "%r" %>s "%{User-agent}i" %v:%p %{Cookie}i"#),
        host: None,
        invalid: 0,
    },
    Case {
        writer: Writer::Nginx,
        line: r#"{T}|good.example|GET|{TARGET}|200|{A}|{B}"#,
        format: Some("$time_local|$server_name|$request_method|$request_uri|$status|$http_referer|$http_user_agent"),
        host: None,
        invalid: 0,
    },
];

#[test]
fn no_row_gets_another_url() {
    let rows = std::env::var("FORGED_ROWS").ok().map_or(ROWS, |rows| rows.parse().unwrap());
    let random = &mut Random(0x2545_F491_4F6C_DD1D);
    let (mut read, mut shares) = (0, Vec::new());
    for (number, case) in CASES.iter().enumerate() {
        // In a detected log, a backslash begins an escape.
        let is_undeclared = case.format.is_none() && case.writer == Writer::Raw;
        let is_clear = |row: &ServedRequest| !is_undeclared || !row.target.contains('\\');
        let rows: Vec<ServedRequest> = std::iter::repeat_with(|| random.row()).filter(is_clear).take(rows).collect();
        let lines: Vec<String> = rows.iter().map(|row| written(case, row)).collect();
        let format = case.format.map(|format| LogFormat::parse(format).unwrap());
        let site = Site::of_options(case.host, &[]).unwrap();
        let wanted = [ColumnOption { option: "--url", name: None }];
        let first = FirstLines::of(lines.iter().map(|line| line.as_bytes()), format.as_ref());
        let (log, _) = first.log(&site, format.as_ref(), &wanted).unwrap();
        let mut invalid = 0;
        for (row, line) in rows.iter().zip(&lines) {
            let (arena, mut cells) = (Bump::new(), [None]);
            let is_sound = !row.target.contains(' ');
            match log.read(line.as_bytes(), &arena, &mut cells) {
                Ok(()) => {
                    let url = String::from_utf8_lossy(cells[0].unwrap());
                    assert_eq!(url, format!("https://good.example{}", row.target), "case {number}: {line}");
                    assert!(is_sound, "case {number}: {line}");
                    read += 1;
                }
                Err(_) => invalid += usize::from(is_sound),
            }
        }
        shares.push((number, invalid * 100 / rows.len()));
    }
    let is_few = shares.iter().zip(&CASES).all(|((_, share), case)| *share <= case.invalid);
    assert!(is_few, "the percentage of invalid rows in each case: {shares:?}");
    assert!(read > CASES.len() * rows * 2 / 3, "{read}");
}

fn written(case: &Case, row: &ServedRequest) -> String {
    let mut line = case.line.replace("{T}", T);
    // A value's text must not be taken for the place of another value.
    let values = [("{TARGET}", &row.target), ("{A}", &row.client[0]), ("{B}", &row.client[1])];
    let values = values.into_iter().chain([("{C}", &row.client[2]), ("{D}", &row.client[3])]);
    for (place, value) in values {
        line = line.replace(place, &case.writer.write(value));
    }
    line
}
