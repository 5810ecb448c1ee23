//! The interface between the protocol and an implementation: [`Implementation`].

use std::borrow::Cow;
use std::path::Path;

use url::{Position, Url};

/// What an engine says of its implementation.
pub struct Hello {
    /// The name of the implementation.
    pub name: String,
    /// The version that is compiled in.
    pub version: String,
    /// The reading that it claims, by the names of the protocol.
    pub dialect: String,
    /// What a reader of the figures should know, a sentence each.
    pub notes: Vec<String>,
}

/// A question: a crawler and a URL, as bytes and as text.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    /// The name of the crawler.
    pub agent: &'a [u8],
    /// The name of the crawler, if it is UTF-8.
    pub agent_text: Option<&'a str>,
    /// The URL, or a path.
    pub url: &'a [u8],
    /// The URL, if it is UTF-8.
    pub url_text: Option<&'a str>,
}

impl<'a> Row<'a> {
    /// A row from the bytes of a request.
    #[must_use]
    pub fn new(agent: &'a [u8], url: &'a [u8]) -> Row<'a> {
        Row { agent, agent_text: str::from_utf8(agent).ok(), url, url_text: str::from_utf8(url).ok() }
    }
}

/// The loaded robots.txt files: the origin and the body of each.
pub type Files<'a> = [(&'a str, &'a [u8])];

/// A pass over the rows of a benchmark, which returns how many of them are disallowed.
pub type Pass<'a> = Box<dyn FnMut() -> u64 + 'a>;

/// An implementation of robots.txt.
///
/// A file goes through two steps: [`Implementation::File`] is what is known of it without a crawler,
/// [`Implementation::Ready`] decides URLs. An answer of `None` means that the interface cannot be asked this.
pub trait Implementation {
    /// A file that is read, and may borrow its bytes.
    type File<'a>;
    /// What decides URLs by a file, for one crawler or for any.
    type Ready<'f>;

    /// Whether a [`Implementation::Ready`] is for one crawler.
    const PER_AGENT: bool;
    /// Whether anything is kept of a file between two questions. If not, each question reads the file again.
    const PARSES: bool = true;
    /// Whether [`Implementation::line`] knows lines.
    const LINES: bool = false;
    /// Whether [`Implementation::allows`] takes a path in place of a URL, and does not look for its end or its start then.
    const TAKES_PATHS: bool = false;
    /// Whether the model `crawl` is measured. Not where getting many files ready takes long and shows nothing else.
    const CRAWLS: bool = true;
    /// Whether [`Implementation::open`] has a form that is a file.
    const OPENS: bool = false;

    /// What the engine says of its implementation.
    fn hello(&self) -> Hello;

    /// Reads a file.
    ///
    /// # Errors
    /// Errors if the implementation does not take the file.
    fn parse<'a>(&self, body: &'a [u8]) -> Result<Self::File<'a>, String>;

    /// Makes a file ready to decide, for a crawler if [`Implementation::PER_AGENT`] says so. `None` if the interface does not
    /// take this crawler.
    fn ready<'f>(&self, file: &'f Self::File<'_>, row: &Row<'f>) -> Option<Self::Ready<'f>>;

    /// The path and query of a URL, as [`Implementation::allows`] finds them in it: here by the crate `url`, which resolves dots and
    /// escapes some bytes.
    fn path(&self, url: &[u8]) -> Vec<u8> {
        let parsed = str::from_utf8(url).ok().and_then(|text| Url::parse(text).ok());
        parsed.map_or_else(|| url.to_vec(), |url| path_of(&url).as_bytes().to_vec())
    }

    /// Whether the crawler may fetch the URL.
    fn allows(&self, ready: &Self::Ready<'_>, row: &Row<'_>) -> Option<bool>;

    /// The same if the caller has split the URL already, as one who looks for its robots.txt has.
    fn allows_split(&self, ready: &Self::Ready<'_>, row: &Row<'_>, _url: &Url) -> Option<bool> {
        self.allows(ready, row)
    }

    /// The line of the rule that decides, 0 if no rule does.
    fn line(&self, _ready: &Self::Ready<'_>, _row: &Row<'_>) -> Option<u32> {
        None
    }

    /// Reads the bytes of a file and decides one URL, by the shortest way that the interface offers.
    fn one_shot(&self, body: &[u8], row: &Row<'_>) -> Option<bool> {
        let file = self.parse(body).ok()?;
        let ready = self.ready(&file, row)?;
        self.allows(&ready, row)
    }

    /// The pass of the model `crawl`, if the implementation itself finds the robots.txt of a URL.
    ///
    /// # Errors
    /// Errors if the files or the crawlers are not taken.
    fn crawl<'a>(&'a self, _files: &Files<'_>, _rows: &[Row<'a>]) -> Option<Result<Pass<'a>, String>> {
        None
    }

    /// The pass of the model `open`, if the implementation has a form that is a file.
    ///
    /// # Errors
    /// Errors if the file cannot be written.
    fn open<'a>(&'a self, _files: &Files<'_>, _row: &Row<'a>, _folder: &Path) -> Option<Result<Pass<'a>, String>> {
        None
    }
}

/// The path and query of a URL, for interfaces that take a path.
#[must_use]
pub fn path_of(url: &Url) -> &str {
    &url[Position::BeforePath..Position::AfterQuery]
}

/// The path and query of a URL as they are written in it, for interfaces that read URLs in this way. The whole URL if its path
/// begins with two slashes, since they would take what follows for a host.
#[must_use]
pub fn path_as_written(url: &[u8]) -> Vec<u8> {
    let authority = url.windows(3).position(|part| part == b"://").map_or(0, |at| at + 3);
    let rest = &url[authority..];
    let path = rest.iter().position(|byte| b"/?#".contains(byte)).map_or(&[][..], |at| &rest[at..]);
    let path = path.split(|&byte| byte == b'#').next().unwrap_or_default();
    if path.starts_with(b"//") {
        return url.to_vec();
    }
    let slash: &[u8] = if path.starts_with(b"/") { b"" } else { b"/" };
    [slash, path].concat()
}

/// The path and query of a row: of a URL by the crate `url`, a path as it is. `None` if it is neither.
#[must_use]
pub fn path_of_text<'a>(row: &Row<'a>) -> Option<Cow<'a, str>> {
    let text = row.url_text?;
    if text.starts_with('/') {
        return Some(Cow::Borrowed(text));
    }
    Some(Cow::Owned(path_of(&Url::parse(text).ok()?).to_owned()))
}

/// The version of a crate, which this package's manifest requires exactly.
#[must_use]
pub fn version_of(name: &str) -> String {
    include_str!("../Cargo.toml")
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(" = { version = \"=")?.split('"').next())
        .unwrap_or("unknown")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::{path_as_written, version_of};

    #[test]
    fn versions_are_those_of_the_manifest() {
        for name in ["fast-robots", "regex-automata", "robotstxt", "robotxt", "texting_robots"] {
            let version = version_of(name);
            assert!(version.split('.').count() == 3 && version.starts_with('0'), "{name} {version}");
        }
        assert!(version_of("regex").starts_with("1."));
        assert_eq!(version_of("reptile"), "unknown");
    }

    #[test]
    fn paths_are_taken_as_they_are_written() {
        for (url, path) in [
            ("http://h/a/../b?c#d", "/a/../b?c"),
            ("http://h", "/"),
            ("http://h?q", "/?q"),
            ("http://h#f", "/"),
            ("http://h/a?u=http://x/y", "/a?u=http://x/y"),
            ("http://h//a", "http://h//a"),
        ] {
            assert_eq!(path_as_written(url.as_bytes()), path.as_bytes(), "{url}");
        }
    }
}
