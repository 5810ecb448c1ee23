//! URL lists that are decided as they arrive, and URL arguments.
//!
//! A list without URLs is an error here: the commands that read lists this way compare or assert something, and an
//! empty comparison would always pass.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use reptile::body::is_location;
use reptile::limits::MAX_URL_BYTES;
use reptile::urls::split;

use crate::error::{Failure, Result, Stop, note};
use crate::outputs::summary::grouped;
use reptile_records::lines::{ChunkKind, Chunks, lines, trimmed_url, without_line_end};
use reptile_records::lists::open;
use reptile_records::place::Place;

/// Extensions of lists, tables and archives. No host ends in any of them.
const FILE_ENDINGS: [&str; 13] =
    [".txt", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".warc", ".cdxj", ".gz", ".zst", ".bz2", ".xz"];

/// Passes each URL of a list to `work` as the list arrives, and flushes `out` after each part. White space around URLs
/// is removed. Blank lines, and comments that begin with `#`, are skipped. Returns the number of overlong lines, and
/// prints a note about them.
///
/// # Errors
/// Returns an error if the list is unreadable or has no URL, if `out` cannot be flushed, or if `work` fails.
pub fn each_url<W: Write>(
    list: &Place,
    out: &mut W,
    mut work: impl FnMut(&[u8], &mut W) -> std::result::Result<(), Stop>,
) -> std::result::Result<u64, Stop> {
    let name = list.as_input();
    let mut chunks = Chunks::new(open(list).map_err(Failure::from)?);
    let (mut buffer, mut urls, mut too_long) = (Vec::new(), 0_u64, 0_u64);
    while let Some(chunk) = chunks.next(buffer, &|| true).map_err(|error| Failure::at(&name, error))? {
        match chunk.kind {
            ChunkKind::Lines => {
                for url in lines(chunk.bytes()).map(|line| trimmed_url(without_line_end(line))) {
                    match url.len() {
                        0 => {}
                        _ if url.starts_with(b"#") => {}
                        1..=MAX_URL_BYTES => {
                            urls += 1;
                            work(url, out)?;
                        }
                        _ => too_long += 1,
                    }
                }
            }
            ChunkKind::LongLine { last } => too_long += u64::from(last),
        }
        out.flush()?;
        buffer = chunk.buffer;
    }
    if too_long > 0 {
        let (name, count) = (name.display(), grouped(too_long));
        note(format_args!("{name}: {count} lines are too long for a URL; skipped"));
    }
    match urls {
        0 => Err(Failure::at(name, "contains no URL; expected a URL or path on each line").into()),
        _ => Ok(too_long),
    }
}

/// Returns the arguments without surrounding white space.
///
/// # Errors
/// Returns an error for an argument that is probably a file: it has neither `scheme://` nor a leading slash, and names
/// a file or has a file extension. `command` returns the command line that reads the named list.
pub fn typed_urls(urls: &[OsString], command: impl Fn(&str) -> String) -> Result<Vec<&[u8]>> {
    for url in urls {
        if let Some(file) = url.to_str().and_then(file_name) {
            let what = if Path::new(file).is_file() { "is a file" } else { "looks like a file name" };
            return Err(Failure::new(format!(
                "{file}: {what}, not a URL; `{}` reads URLs from it; for the path write /{file}",
                command(file)
            )));
        }
    }
    Ok(urls.iter().map(|url| trimmed_url(url.as_encoded_bytes())).collect())
}

/// Returns the argument if it is probably a file, not a URL or path.
fn file_name(argument: &str) -> Option<&str> {
    let text = argument.trim();
    let is_url = text.starts_with('/') || text.contains("://") || text.is_empty();
    (!is_url && (ends_as_file(text) || Path::new(text).is_file())).then_some(text)
}

/// Returns whether a text has the extension of a list, a table or an archive.
fn ends_as_file(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    FILE_ENDINGS.iter().any(|ending| text.ends_with(ending))
}

/// Rejects a file name where a host is expected. Only the extension counts, because robots.txt files may be named after
/// hosts.
///
/// # Errors
/// Returns an error with the command that accepts lists if the text has a list's extension.
pub fn refuse_file_as_host(set: &Place, host: Option<&str>) -> Result<()> {
    let Some(host) = host.filter(|host| !host.contains('/') && ends_as_file(host)) else { return Ok(()) };
    let set = quoted(&set.display().to_string());
    Err(Failure::new(format!(
        "{host}: looks like a file name, not a host; `reptile summarize {set} {} --agent TOKEN` takes a list of hosts",
        quoted(host)
    )))
}

/// Returns whether a body is a URL list, not a robots.txt: every nonblank line is a URL.
pub fn is_url_list(body: &[u8]) -> bool {
    let mut urls = lines(body).map(trimmed_url).filter(|line| !line.is_empty()).peekable();
    urls.peek().is_some() && urls.all(|line| split(line).is_ok())
}

/// Rejects a URL list, or a single path or file name, where a robots.txt is expected. It would allow everything.
///
/// # Errors
/// Returns an error if every line of the body is a URL, or if the body is a location by [`is_location`]. `hint` returns the suggested command.
pub fn refuse_url_list(path: &Place, body: &[u8], hint: impl FnOnce() -> String) -> Result<()> {
    let found = match () {
        () if is_url_list(body) => "is a list of URLs",
        () if is_location(body) => "contains only a path or a file name",
        () => return Ok(()),
    };
    Err(Failure::at(path, format!("{found}, not a robots.txt; {}", hint())))
}

/// Quotes a word for a POSIX shell.
pub fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Returns words and options as a `reptile` command line.
pub fn command_line<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    words.into_iter().fold("reptile".to_owned(), |mut line, word| {
        let _ = write!(line, " {}", quoted(word));
        line
    })
}

/// Returns whether a path holds a robots.txt, not a URL list.
pub fn is_robots(path: &Place) -> bool {
    let is_file = path.local().is_some_and(Path::is_file);
    is_file && reptile_records::open::read_robots(path).is_ok_and(|body| !is_url_list(&body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_distinguished_from_urls_and_paths() {
        let cases = [
            ("urls.txt", true),
            ("URLS.TXT", true),
            (" urls.csv ", true),
            ("list/urls.jsonl.gz", true),
            ("example.com/robots.txt", true),
            ("/urls.txt", false),
            ("https://example.com/urls.txt", false),
            ("private/x", false),
            ("index.html", false),
            ("txt", false),
            ("urls.txt?x", false),
            ("", false),
            (" ", false),
            ("src", false),
            // A file in the tests' working folder.
            ("Cargo.toml", true),
        ];
        for (argument, is_file) in cases {
            assert_eq!(file_name(argument).is_some(), is_file, "{argument}");
        }
    }

    #[test]
    fn only_url_lists_are_detected_as_lists() {
        let cases: [(&[u8], bool); 7] = [
            (b"https://a.example/x\n", true),
            (b"\n https://a.example/x \r\nhttp://b.example", true),
            (b"", false),
            (b"\n", false),
            (b"user-agent: *\n", false),
            (b"https://a.example/sitemap.xml\nuser-agent: *\n", false),
            (b"/x\n", false),
        ];
        for (body, is_list) in cases {
            assert_eq!(is_url_list(body), is_list, "{}", body.escape_ascii());
        }
    }

    #[test]
    fn words_are_quoted_for_posix_shells() {
        for (word, shown) in
            [("a-b/c.txt", "a-b/c.txt"), ("", "''"), ("A>B>*", "'A>B>*'"), ("it's", "'it'\\''s'"), ("@ai", "@ai")]
        {
            assert_eq!(quoted(word), shown);
        }
    }
}
