//! Detects an input's content by its first bytes, and explains why a command cannot use it.
//!
//! This module neither reads files nor looks at names: people have text robots.txt files called `dis.gz`, and compiled
//! sets called `robots.txt`.
//!
//! ```
//! use reptile_records::detect::{Content, detect};
//!
//! assert_eq!(detect(b"User-agent: *\nDisallow: /private\n"), Content::Text);
//! assert_eq!(detect(b"WARC/1.0\r\n"), Content::Warc);
//!
//! // Many servers without a robots.txt send a web page instead.
//! let page = detect(b"<!DOCTYPE html>\n<title>Not found</title>");
//! assert!(!page.is_text());
//! assert_eq!(page.describe(), "a web page (HTML)");
//! ```

use super::archives::is_tar;
use super::heritrix::{is_arc, is_crawl_log};
use super::magic::{ENCRYPTED_PARQUET, PARQUET, is_arrow_file, is_arrow_stream};
use reptile::body::{BodyFormat, Encoding};
use reptile::contents::has_label;

/// An input's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A folder.
    Folder,
    /// No bytes.
    Empty,
    /// Text in ASCII, UTF-8 or another ASCII-compatible encoding: a robots.txt, a list or a table.
    Text,
    /// A tar archive.
    Tar,
    /// A zip archive.
    Zip,
    /// A compiled set.
    Set,
    /// JSON. JSON Lines may contain captures.
    Json,
    /// A crawler's WARC file.
    Warc,
    /// An ARC file, the predecessor of WARC.
    Arc,
    /// Heritrix's log of a crawl.
    CrawlLog,
    /// A Parquet file.
    Parquet,
    /// Arrow IPC, a file or a stream.
    Arrow,
    /// A web page.
    Html,
    /// XML, such as a sitemap.
    Xml,
    /// Text in UTF-16 or UTF-32.
    Encoded(Encoding),
    /// Any other non-text format, with its name.
    Binary(&'static str),
}

/// The input that a command needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedInput {
    /// A single robots.txt.
    Robots,
    /// A URL list.
    List,
    /// A sitemap or a URL list.
    Sitemap,
    /// A URL list or table.
    Urls,
    /// A test case table.
    Table,
    /// Captures to compile.
    Captures,
    /// A compiled set.
    Set,
    /// A WARC file.
    Warc,
}

/// Detects an input's content by its first bytes, or by a whole body. Takes time linear in their number.
///
/// Recognizes archives, captures and sets. [`BodyFormat::of`] recognizes the other formats.
pub fn detect(start: &[u8]) -> Content {
    detect_with(start, || BodyFormat::of(start))
}

/// Detects an input's content like [`detect`]. `format` is [`BodyFormat::of`], or its known result.
pub(crate) fn detect_with(start: &[u8], format: impl FnOnce() -> Option<BodyFormat>) -> Content {
    match start {
        [] => Content::Empty,
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Content::Zip,
        _ if has_label(start) => Content::Set,
        _ if start.starts_with(b"WARC/") => Content::Warc,
        _ if start.starts_with(PARQUET) || start.starts_with(ENCRYPTED_PARQUET) => Content::Parquet,
        _ if is_arrow_file(start) || is_arrow_stream(start) => Content::Arrow,
        _ if is_tar(start) => Content::Tar,
        _ if is_arc(start) => Content::Arc,
        _ if is_crawl_log(start) => Content::CrawlLog,
        _ => match format() {
            None => Content::Text,
            Some(BodyFormat::Html) => Content::Html,
            Some(BodyFormat::Xml) => Content::Xml,
            Some(BodyFormat::Json) => Content::Json,
            Some(BodyFormat::Encoded(encoding)) => Content::Encoded(encoding),
            Some(other) => Content::Binary(other.describe()),
        },
    }
}

impl Content {
    /// Returns a description for messages: "a ...".
    pub fn describe(self) -> &'static str {
        match self {
            Content::Folder => "a folder",
            Content::Empty => "an empty file",
            Content::Text => "text",
            Content::Tar => "a tar archive",
            Content::Zip => "a zip archive",
            Content::Set => "a compiled set",
            Content::Json => BodyFormat::Json.describe(),
            Content::Warc => "a WARC file",
            Content::Arc => "an ARC file",
            Content::CrawlLog => "a Heritrix crawl.log",
            Content::Parquet => "a Parquet file",
            Content::Arrow => "Arrow IPC",
            Content::Html => BodyFormat::Html.describe(),
            Content::Xml => BodyFormat::Xml.describe(),
            Content::Encoded(encoding) => BodyFormat::Encoded(encoding).describe(),
            Content::Binary(name) => name,
        }
    }

    /// Returns whether this holds several robots.txt files, each with a host name or URL.
    pub(crate) fn is_collection(self) -> bool {
        matches!(self, Content::Folder | Content::Tar | Content::Json | Content::Warc | Content::Parquet)
    }

    /// Returns whether this can only be captures, which name their own origins. Text may also contain captures.
    pub(crate) fn is_captures(self) -> bool {
        matches!(self, Content::Json | Content::Warc | Content::Parquet)
    }

    /// Returns whether a server may send such content instead of a robots.txt, and no reader reads it as several files.
    pub(crate) fn may_have_rules(self) -> bool {
        matches!(self, Content::Html | Content::Xml | Content::Encoded(_) | Content::Binary(_))
    }

    /// Returns whether this can be a robots.txt as its author intended it.
    pub fn is_text(self) -> bool {
        matches!(self, Content::Text | Content::Empty)
    }

    /// Suggests a suitable command or input, if a command cannot use this one.
    pub fn hint(self, wanted: ExpectedInput, path: &str) -> Option<String> {
        let is_line_by_line =
            matches!(wanted, ExpectedInput::List | ExpectedInput::Sitemap | ExpectedInput::Urls | ExpectedInput::Table);
        Some(match self {
            Content::Arc => format!("`warcio recompress {path} FILE.warc.gz` converts it to WARC"),
            _ if wanted == ExpectedInput::Warc && self != Content::Zip => return None,
            Content::CrawlLog if is_line_by_line => {
                format!("its fourth column has the URLs: `awk '{{print $4}}' {path} | reptile classify SET -`")
            }
            Content::Set if wanted == ExpectedInput::Table => "`reptile check` takes robots.txt files, not sets".into(),
            Content::Set if wanted == ExpectedInput::Captures => {
                format!(
                    "`reptile update` adds captures to a set, `reptile merge` joins sets, `reptile inspect {path}` shows it"
                )
            }
            Content::Set => {
                format!("`reptile classify {path} URLS` decides URLs by it, `reptile inspect {path}` shows it")
            }
            Content::Parquet if matches!(wanted, ExpectedInput::Urls | ExpectedInput::Captures) => {
                "Parquet is read from its end: save it as an uncompressed file".into()
            }
            Content::Folder | Content::Tar if is_line_by_line => "give a file in it".into(),
            _ if self.is_collection() && !is_line_by_line => {
                format!("`reptile compile -o SET {path}` makes a set of all robots.txt files in it")
            }
            Content::Zip => "extract it with `unzip`, and give the files or the folder".into(),
            Content::Html if !is_line_by_line => {
                "a server that sends a page for /robots.txt has no robots.txt; look where it was fetched".into()
            }
            Content::Encoded(encoding) => format!("make it UTF-8: iconv -f {} -t UTF-8 {path}", encoding.iconv_name()),
            Content::Text | Content::Empty if wanted == ExpectedInput::Set => {
                format!("`reptile compile -o SET --host HOST {path}` makes a set of a single robots.txt")
            }
            _ => return None,
        })
    }
}

impl ExpectedInput {
    /// Returns a description for messages.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            ExpectedInput::Robots => "a robots.txt",
            ExpectedInput::List => "a list with a URL on each line",
            ExpectedInput::Sitemap => "a sitemap or a list with a URL on each line",
            ExpectedInput::Urls => "a list or a table of URLs",
            ExpectedInput::Table => "a table with a case on each line",
            ExpectedInput::Captures => {
                "a folder or archive of robots.txt files, or captures in JSON Lines or a WARC file"
            }
            ExpectedInput::Set => "a compiled set",
            ExpectedInput::Warc => "a WARC file",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_detected_by_their_first_bytes() {
        let utf16: Vec<u8> = "User-agent: *\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let marked = [b"\xff\xfe", &utf16[..]].concat();
        let encoding = |is_big_endian, has_mark| Encoding { unit_bytes: 2, is_big_endian, has_mark };
        let mut state = 7_u32;
        let random: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .take(4096)
        .collect();
        let cases: [(&[u8], Content); 31] = [
            (b"", Content::Empty),
            (b"\n", Content::Text),
            (b"User-agent: *\nDisallow: /\n", Content::Text),
            (b"\xef\xbb\xbfUser-agent: *\n", Content::Text),
            (b"Disallow: /a\0\n", Content::Text),
            (b"id\x01url\n1\x01x\n2\x01y\n", Content::Text),
            // Windows-1251.
            (b"# \xef\xf0\xe8\xe2\xe5\xf2\nUser-agent: *\n", Content::Text),
            (b"https://a.example/\n", Content::Text),
            (b"[::1]\ta\t/\tALLOW\n", Content::Text),
            (b"<not a tag", Content::Text),
            (b"PK\x03\x04", Content::Zip),
            (b"\x89RPTL\r\n", Content::Set),
            (b"WARC/1.0\r\n", Content::Warc),
            (b"filedesc://a.arc 0.0.0.0 20260102030405 text/plain 77\n", Content::Arc),
            (b"2026-01-02T03:04:05.123Z   200    9 https://a.example/ L - text/html\n", Content::CrawlLog),
            (b" \r\n<!DOCTYPE html>", Content::Html),
            (b"\xef\xbb\xbf<HTML>", Content::Html),
            (b"<?xml version='1.0'?>", Content::Xml),
            (b"<sitemapindex>", Content::Xml),
            (b"{\"url\": 1}", Content::Json),
            (b"{\n  \"url\": 1}", Content::Json),
            (b"[{\"url\": 1}]", Content::Json),
            (b"\x89PNG\r\n\x1a\n\0\0", Content::Binary("a PNG picture")),
            (b"ARROW1\0\0", Content::Arrow),
            (b"\xff\xff\xff\xff\x08\x01\0\0", Content::Arrow),
            (b"FEA1\0", Content::Binary("a Feather file in the first version")),
            (b"%PDF-1.7\n", Content::Binary("a PDF document")),
            (&random, Content::Binary("binary data")),
            (&utf16, Content::Encoded(encoding(false, false))),
            (&marked, Content::Encoded(encoding(false, true))),
            (&utf16[1..], Content::Encoded(encoding(true, false))),
        ];
        for (bytes, content) in cases {
            assert_eq!(detect(bytes), content, "{:?}", String::from_utf8_lossy(&bytes[..bytes.len().min(40)]));
        }
        // An archive without members also contains only zeros.
        for len in [2, 511, 512, 513, 1024] {
            assert_eq!(detect(&vec![0; len]), Content::Binary("binary data"), "{len} zeros");
        }
    }
}
