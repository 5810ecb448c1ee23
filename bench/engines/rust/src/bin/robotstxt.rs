//! An engine: the crate `robotstxt`, a Rust port of Google's library, which parses the file for each URL.

use std::borrow::Cow;

use reptile_judge_engines::{Hello, Implementation, Question, serve, version_of};
use robotstxt::DefaultMatcher;

struct Robotstxt;

impl Implementation for Robotstxt {
    type File<'a> = Cow<'a, str>;
    type Ready<'f> = &'f str;
    const PER_AGENT: bool = false;
    const PARSES: bool = false;

    fn hello(&self) -> Hello {
        let (name, version) = ("robotstxt".to_owned(), version_of("robotstxt"));
        let notes = vec!["It takes text: bytes that are not UTF-8 become U+FFFD.".to_owned()];
        Hello { name, version, dialect: "google-lib".to_owned(), notes }
    }

    fn parse<'a>(&self, body: &'a [u8]) -> Result<Cow<'a, str>, String> {
        Ok(String::from_utf8_lossy(body))
    }

    fn ready<'f>(&self, file: &'f Cow<'_, str>, _row: &Question<'f>) -> Option<&'f str> {
        Some(file)
    }

    fn allows(&self, ready: &&str, row: &Question<'_>) -> Option<bool> {
        Some(DefaultMatcher::default().one_agent_allowed_by_robots(ready, row.agent_text?, row.url_text?))
    }
}

fn main() -> std::io::Result<()> {
    serve(Robotstxt)
}
