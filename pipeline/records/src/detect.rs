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
use super::magic::{ENCRYPTED_PARQUET, PARQUET, is_arrow_file, is_arrow_stream};
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
    /// A Parquet file.
    Parquet,
    /// Arrow IPC, a file or a stream.
    Arrow,
    /// A web page.
    Html,
    /// XML, such as a sitemap.
    Xml,
    /// Text in UTF-16.
    Utf16,
    /// Any other non-text format, with its name.
    Binary(&'static str),
}

/// The input that a command needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
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
}

/// The first bytes and names of non-text formats.
const BINARY: [(&[u8], &str); 19] = [
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF87a", "a GIF picture"),
    (b"GIF89a", "a GIF picture"),
    (b"RIFF", "a RIFF file (a picture, sound or film)"),
    (b"\0\0\x01\0", "an icon"),
    (b"BM\0", "a BMP picture"),
    (b"%PDF-", "a PDF document"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"Obj\x01", "an Avro file"),
    (b"FEA1", "a Feather file in the first version"),
    (b"\xd0\xcf\x11\xe0", "an old office document"),
];

/// The first words on a web page, in lower case.
const HTML: [&[u8]; 14] = [
    b"<!doctype",
    b"<html",
    b"<head",
    b"<body",
    b"<title",
    b"<meta",
    b"<script",
    b"<style",
    b"<!--",
    b"<div",
    b"<p>",
    b"<h1",
    b"<center",
    b"<br",
];

/// The first words in XML, in lower case.
const XML: [&[u8]; 4] = [b"<?xml", b"<rss", b"<urlset", b"<sitemapindex"];

/// Detects an input's content by its first bytes. Time: linear in their number, which is small.
pub fn detect(start: &[u8]) -> Content {
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    match start {
        [] => return Content::Empty,
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => return Content::Zip,
        [0xff, 0xfe, rest @ ..] | [0xfe, 0xff, 0, rest @ ..] => {
            // Every other byte is a letter, if the text is XML.
            let letters: Vec<u8> = rest.iter().step_by(2).take(16).map(u8::to_ascii_lowercase).collect();
            let is_xml = XML.iter().any(|tag| letters.starts_with(tag));
            return if is_xml { Content::Xml } else { Content::Utf16 };
        }
        [0xfe, 0xff, ..] => return Content::Utf16,
        _ if has_label(start) => return Content::Set,
        _ if start.starts_with(b"WARC/") => return Content::Warc,
        _ if start.starts_with(PARQUET) || start.starts_with(ENCRYPTED_PARQUET) => return Content::Parquet,
        _ if is_arrow_file(start) || is_arrow_stream(start) => return Content::Arrow,
        _ if is_tar(start) => return Content::Tar,
        _ => {}
    }
    if let Some((_, name)) = BINARY.iter().find(|(magic, _)| start.starts_with(magic)) {
        return Content::Binary(name);
    }
    let mut word = [0; 16];
    text.iter().zip(&mut word).for_each(|(byte, lower)| *lower = byte.to_ascii_lowercase());
    if HTML.iter().any(|tag| word.starts_with(tag)) {
        return Content::Html;
    }
    match text {
        _ if XML.iter().any(|tag| word.starts_with(tag)) => Content::Xml,
        _ if is_json(text) => Content::Json,
        _ if is_utf16(start) => Content::Utf16,
        _ if is_binary(start) => Content::Binary("binary data"),
        _ => Content::Text,
    }
}

/// Returns whether text begins like a JSON object or list.
fn is_json(text: &[u8]) -> bool {
    let next = || text[1..].trim_ascii_start().first();
    match text.first() {
        Some(b'{') => next().is_none_or(|byte| b"\"}".contains(byte)),
        Some(b'[') => next().is_some_and(|byte| b"{[\"]".contains(byte)),
        _ => false,
    }
}

/// Returns whether every other byte is NUL, as in UTF-16 for Latin letters without a byte order mark.
fn is_utf16(start: &[u8]) -> bool {
    if memchr::memchr(0, start).is_none() {
        return false;
    }
    let nuls = |offset: usize| start.iter().skip(offset).step_by(2).filter(|&&byte| byte == 0).count();
    let (even, odd, half) = (nuls(0), nuls(1), start.len() / 2);
    half >= 4 && (even.max(odd) * 10 >= half * 9 && even.min(odd) * 10 <= half)
}

/// Returns whether more than one byte in twenty is a control character. Text encodings do not use them, but Hive's tables
/// have the byte 1 between cells.
fn is_binary(start: &[u8]) -> bool {
    // Comparisons without branches, which the compiler vectorizes. Every robots.txt in a crawl is checked here.
    let is_control = |byte: u8| ((byte < b' ') & (byte != 1) & !(b'\t'..=b'\r').contains(&byte)) | (byte == 0x7f);
    let count = |bytes: &[u8]| bytes.iter().map(|&byte| u8::from(is_control(byte))).sum::<u8>();
    let controls: usize = start.chunks(usize::from(u8::MAX)).map(|bytes| usize::from(count(bytes))).sum();
    controls > 1 && controls * 20 > start.len()
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
            Content::Json => "JSON",
            Content::Warc => "a WARC file",
            Content::Parquet => "a Parquet file",
            Content::Arrow => "Arrow IPC",
            Content::Html => "a web page (HTML)",
            Content::Xml => "XML",
            Content::Utf16 => "text in UTF-16",
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

    /// Returns whether this can be a robots.txt as its author intended it.
    pub fn is_text(self) -> bool {
        matches!(self, Content::Text | Content::Empty)
    }

    /// Suggests a suitable command or input, if a command cannot use this one.
    pub(crate) fn hint(self, wanted: Wanted, path: &str) -> Option<String> {
        let is_line_by_line = matches!(wanted, Wanted::List | Wanted::Sitemap | Wanted::Urls | Wanted::Table);
        Some(match self {
            Content::Set if wanted == Wanted::Table => "`reptile check` takes robots.txt files, not sets".into(),
            Content::Set if wanted == Wanted::Captures => {
                format!(
                    "`reptile update` adds captures to a set, `reptile merge` joins sets, `reptile inspect {path}` shows it"
                )
            }
            Content::Set => {
                format!("`reptile classify {path} URLS` decides URLs by it, `reptile inspect {path}` shows it")
            }
            Content::Parquet if matches!(wanted, Wanted::Urls | Wanted::Captures) => {
                "Parquet is read from its end: save it as an uncompressed file".into()
            }
            Content::Folder | Content::Tar if is_line_by_line => "give a file in it".into(),
            _ if self.is_collection() && !is_line_by_line => {
                format!("`reptile compile -o SET {path}` makes a set of all robots.txt files in it")
            }
            Content::Zip => "extract it, and give the files or the folder".into(),
            Content::Html if !is_line_by_line => {
                "a server that sends a page for /robots.txt has no robots.txt; look where it was fetched".into()
            }
            Content::Utf16 => format!("make it UTF-8: iconv -f UTF-16 -t UTF-8 {path}"),
            Content::Text | Content::Empty if wanted == Wanted::Set => {
                format!("`reptile compile -o SET --host HOST {path}` makes a set of a single robots.txt")
            }
            _ => return None,
        })
    }
}

impl Wanted {
    /// Returns a description for messages.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Wanted::Robots => "a robots.txt",
            Wanted::List => "a list with a URL on each line",
            Wanted::Sitemap => "a sitemap or a list with a URL on each line",
            Wanted::Urls => "a list or a table of URLs",
            Wanted::Table => "a table with a case on each line",
            Wanted::Captures => "a folder or archive of robots.txt files, or captures in JSON Lines or a WARC file",
            Wanted::Set => "a compiled set",
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
        let mut state = 7_u32;
        let random: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .take(4096)
        .collect();
        let cases: [(&[u8], Content); 29] = [
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
            (&utf16, Content::Utf16),
            (&marked, Content::Utf16),
            (&utf16[1..], Content::Utf16),
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
