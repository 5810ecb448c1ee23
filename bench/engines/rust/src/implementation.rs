//! The interface between the protocol and an implementation: [`Implementation`].

use std::borrow::Cow;
use std::path::Path;

use url::{Position, Url};

/// An engine's description of its implementation.
pub struct Hello {
    /// The name of the implementation.
    pub name: String,
    /// The compiled-in version.
    pub version: String,
    /// The claimed dialect, as named in the protocol.
    pub dialect: String,
    /// Notes that readers need to interpret the figures, one sentence each.
    pub notes: Vec<String>,
}

/// A question about a crawler and a URL, as bytes and as text.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The crawler's name.
    pub agent: &'a [u8],
    /// The crawler's name, if it is UTF-8.
    pub agent_text: Option<&'a str>,
    /// The URL, or a path.
    pub url: &'a [u8],
    /// The URL, if it is UTF-8.
    pub url_text: Option<&'a str>,
}

impl<'a> Question<'a> {
    /// Creates a row from the bytes of a request.
    #[must_use]
    pub fn new(agent: &'a [u8], url: &'a [u8]) -> Question<'a> {
        Question { agent, agent_text: str::from_utf8(agent).ok(), url, url_text: str::from_utf8(url).ok() }
    }
}

/// The loaded robots.txt files: origins and bodies.
pub type Files<'a> = [(&'a str, &'a [u8])];

/// A pass over a benchmark's rows. Returns the number of disallowed rows.
pub type Pass<'a> = Box<dyn FnMut() -> u64 + 'a>;

/// A robots.txt implementation.
///
/// A file is prepared in two steps: [`Implementation::File`] does not depend on a crawler, and
/// [`Implementation::Ready`] decides URLs. An answer of `None` means that the interface does not accept the question.
pub trait Implementation {
    /// A parsed file, which may borrow from the bytes.
    type File<'a>;
    /// A decider for a file, and for one crawler or all crawlers.
    type Ready<'f>;

    /// Whether an [`Implementation::Ready`] is limited to one crawler.
    const PER_AGENT: bool;
    /// Whether the parsed form can be reused. If not, each question parses the file again.
    const PARSES: bool = true;
    /// Whether [`Implementation::line`] returns lines.
    const LINES: bool = false;
    /// Whether [`Implementation::allows`] also accepts a path, and then skips splitting the URL.
    const TAKES_PATHS: bool = false;
    /// Whether to measure the model `crawl`. `false` if it would only measure the slow preparation of many files.
    const CRAWLS: bool = true;
    /// Whether [`Implementation::open`] is supported.
    const OPENS: bool = false;

    /// Returns the description of the implementation.
    fn hello(&self) -> Hello;

    /// Parses a file.
    ///
    /// # Errors
    /// Returns an error if the implementation rejects the file.
    fn parse<'a>(&self, body: &'a [u8]) -> Result<Self::File<'a>, String>;

    /// Does the work that parsing defers, for models that do not time parsing.
    fn finish_parsing(&self, _file: &Self::File<'_>) {}

    /// Prepares a file for decisions, for one crawler if [`Implementation::PER_AGENT`] is set. Returns `None` if the
    /// interface does not accept the crawler.
    fn ready<'f>(&self, file: &'f Self::File<'_>, row: &Question<'f>) -> Option<Self::Ready<'f>>;

    /// Returns a URL's path and query as [`Implementation::allows`] would extract them. The default uses the crate
    /// `url`, which resolves dot segments and escapes some bytes.
    fn path(&self, url: &[u8]) -> Vec<u8> {
        let parsed = str::from_utf8(url).ok().and_then(|text| Url::parse(text).ok());
        parsed.map_or_else(|| url.to_vec(), |url| path_of(&url).as_bytes().to_vec())
    }

    /// Returns whether the crawler may fetch the URL.
    fn allows(&self, ready: &Self::Ready<'_>, row: &Question<'_>) -> Option<bool>;

    /// Same as [`Implementation::allows`], for callers that have already split the URL to find its robots.txt.
    fn allows_split(&self, ready: &Self::Ready<'_>, row: &Question<'_>, _url: &Url) -> Option<bool> {
        self.allows(ready, row)
    }

    /// Returns the line of the deciding rule, or 0 if no rule decides.
    fn line(&self, _ready: &Self::Ready<'_>, _row: &Question<'_>) -> Option<u32> {
        None
    }

    /// Parses a file and decides one URL, by the shortest path that the interface offers.
    fn one_shot(&self, body: &[u8], row: &Question<'_>) -> Option<bool> {
        let file = self.parse(body).ok()?;
        let ready = self.ready(&file, row)?;
        self.allows(&ready, row)
    }

    /// Returns the pass for the model `crawl`, if the implementation finds the robots.txt by URL itself.
    ///
    /// # Errors
    /// Returns an error if the implementation rejects the files or crawlers.
    fn crawl<'a>(&'a self, _files: &Files<'_>, _rows: &[Question<'a>]) -> Option<Result<Pass<'a>, String>> {
        None
    }

    /// Returns the pass for the model `open`, if the implementation has a file format.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    fn open<'a>(&'a self, _files: &Files<'_>, _row: &Question<'a>, _folder: &Path) -> Option<Result<Pass<'a>, String>> {
        None
    }
}

/// Returns a URL's path and query, for interfaces that take a path.
#[must_use]
pub fn path_of(url: &Url) -> &str {
    &url[Position::BeforePath..Position::AfterQuery]
}

/// Returns a URL's path and query verbatim, for interfaces that read URLs in this way. Returns the whole URL if its
/// path begins with two slashes, because they would mistake the following text for a host.
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

/// Returns a row's path and query, parsed with the crate `url` unless it is already a path. Returns `None` if it is
/// neither.
#[must_use]
pub fn path_of_text<'a>(row: &Question<'a>) -> Option<Cow<'a, str>> {
    let text = row.url_text?;
    if text.starts_with('/') {
        return Some(Cow::Borrowed(text));
    }
    Some(Cow::Owned(path_of(&Url::parse(text).ok()?).to_owned()))
}

/// Returns the version of a crate, which this package's manifest requires exactly.
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
    fn versions_match_the_manifest() {
        for name in ["fast-robots", "regex-automata", "robotparser-rs", "robotstxt", "robotxt", "texting_robots"] {
            let version = version_of(name);
            assert!(version.split('.').count() == 3 && version.starts_with('0'), "{name} {version}");
        }
        assert!(version_of("regex").starts_with("1."));
        assert_eq!(version_of("reptile"), "unknown");
    }

    #[test]
    fn paths_are_verbatim() {
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
