//! A site in the synthetic web: its origin, its server's answer, and its robots.txt.

use std::fmt::Write as _;

use rand::{Rng as _, RngExt as _};
use serde_json::{Value, json};

use crate::templates::{TEMPLATES, Template};
use crate::written::{WORDS, written};
use crate::{Purpose, Random, Web, draw};

/// A site.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// The site's number in the web.
    pub number: u64,
    /// Whether the site uses HTTPS instead of HTTP.
    pub is_https: bool,
    /// The site's host, unique in the web.
    pub host: String,
    /// The server's answer to a request for robots.txt.
    pub answer: HostAnswer,
    /// The system that wrote the robots.txt, or `None` if it is hand-written.
    pub template: Option<&'static Template>,
}

impl Site {
    /// Returns a capture with this answer, as JSON input for `reptile compile`.
    #[must_use]
    pub fn capture(&self, answer: &HostAnswer, time: Option<i64>) -> Value {
        let url = format!("{}://{}/robots.txt", if self.is_https { "https" } else { "http" }, self.host);
        let mut capture = match answer {
            HostAnswer::File(body) => json!({"url": url, "status": 200, "body": String::from_utf8_lossy(body)}),
            HostAnswer::Status(status) => json!({"url": url, "status": status}),
            HostAnswer::TooManyRedirects => json!({"url": url, "status": 301, "redirects": 20}),
            HostAnswer::Failure => json!({"url": url, "error": "connection timed out"}),
        };
        if let Some(time) = time {
            capture["time"] = time.into();
        }
        capture
    }
}

/// A server's answer to a request for robots.txt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostAnswer {
    /// The file.
    File(Vec<u8>),
    /// A status without a file.
    Status(u16),
    /// More redirects than any crawler follows.
    TooManyRedirects,
    /// No answer: the connection failed.
    Failure,
}

/// Answers per 10,000 sites. Among 875,177 sites with a capture, 72.0 % have a file, 15.5 % answer that it does not
/// exist, 4.8 % that it is forbidden, 2.7 % fail, and 5.1 % redirect endlessly (Common Crawl, CC-MAIN-2025-38).
const ANSWERS: [(u32, HostAnswer); 7] = [
    (7190, HostAnswer::File(Vec::new())),
    (1450, HostAnswer::Status(404)),
    (100, HostAnswer::Status(410)),
    (480, HostAnswer::Status(403)),
    (170, HostAnswer::Status(503)),
    (510, HostAnswer::TooManyRedirects),
    (100, HostAnswer::Failure),
];

/// Files per 1,000 with CRLF line ends, with CR line ends, with a byte order mark, and with an HTML page instead, as
/// counted in 4,231 files.
const CRLF: u32 = 320;
const CR_ALONE: u32 = 2;
const BYTE_ORDER_MARK: u32 = 16;
const HTML: u32 = 31;

/// Host endings and their shares: as long as real ones, but impossible to register.
const ENDS: [(u32, &str); 5] =
    [(60, ".example"), (20, ".test"), (10, ".co.example"), (5, ".test.example"), (5, ".xn--p1ai.test")];

impl Web {
    /// Makes the site with this number. Takes some microseconds, mostly for the file.
    #[must_use]
    pub fn site(&self, number: u64) -> Site {
        let random = &mut self.random(Purpose::Site, number);
        let host = host(random, number);
        let is_https = random.random_ratio(85, 100);
        let template = template(random);
        let answer = match draw(random, &ANSWERS) {
            Some(HostAnswer::File(_)) | None => HostAnswer::File(file(random, template, &host)),
            Some(other) => other.clone(),
        };
        Site { number, is_https, host, answer, template }
    }
}

/// Chooses the system that runs a site.
fn template(random: &mut Random) -> Option<&'static Template> {
    const TEMPLATED: [(u32, Template); TEMPLATES.len()] = TEMPLATES;
    static ALL: [(u32, Template); TEMPLATES.len()] = TEMPLATED;
    let total = ALL.iter().map(|(share, _)| share).sum::<u32>();
    if random.random_ratio(total, 1000) { draw(random, &ALL) } else { None }
}

/// Makes a host with about 18 bytes. The site's number makes it unique.
fn host(random: &mut Random, number: u64) -> String {
    let mut host = String::new();
    if random.random_ratio(45, 100) {
        host.push_str("www.");
    }
    host.push_str(WORDS[random.random_range(0..WORDS.len())]);
    // Base 32 keeps the number short. The hyphen separates it from the word, so that hosts stay unique.
    let mut rest = number;
    host.push('-');
    loop {
        host.push(char::from(b"abcdefghijkmnpqrstuvwxyz23456789"[(rest % 32) as usize]));
        rest /= 32;
        if rest == 0 {
            break;
        }
    }
    host.push_str(draw(random, &ENDS).copied().unwrap_or(".example"));
    host
}

/// Makes a robots.txt as bytes.
fn file(random: &mut Random, template: Option<&Template>, host: &str) -> Vec<u8> {
    if random.random_ratio(HTML, 1000) {
        return format!("<!DOCTYPE html>\n<html><head><title>{host}</title></head>\n<body>Not found</body></html>\n")
            .into();
    }
    let mut text = match template {
        Some(template) => template.body(host, random.random_range(1_000_000_000..10_000_000_000)),
        None => written(random, host),
    };
    if template.is_none() && random.random_ratio(2, 1000) {
        let _ = writeln!(text, "# {:016x}", random.next_u64());
    }
    if random.random_ratio(BYTE_ORDER_MARK, 1000) {
        text.insert(0, '\u{FEFF}');
    }
    if random.random_ratio(CRLF, 1000) {
        text = text.replace('\n', "\r\n");
    } else if random.random_ratio(CR_ALONE, 1000) {
        text = text.replace('\n', "\r");
    }
    text.into_bytes()
}
