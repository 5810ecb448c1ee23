//! An engine: the crate `robotxt`, which parses a file for one crawler.

use reptile_judge_engines::{Hello, Implementation, Question, path_of, path_of_text, serve, version_of};
use robotxt::Robots;
use url::Url;

struct Robotxt;

impl Implementation for Robotxt {
    type File<'a> = &'a [u8];
    type Ready<'f> = Robots;
    const PER_AGENT: bool = true;
    const TAKES_PATHS: bool = true;

    fn hello(&self) -> Hello {
        let (name, version) = ("robotxt".to_owned(), version_of("robotxt"));
        Hello { name, version, dialect: "rfc9309".to_owned(), notes: Vec::new() }
    }

    fn parse<'a>(&self, body: &'a [u8]) -> Result<&'a [u8], String> {
        Ok(body)
    }

    fn ready<'f>(&self, file: &'f &[u8], row: &Question<'f>) -> Option<Robots> {
        Some(Robots::parse(file, row.agent_text?))
    }

    fn allows(&self, ready: &Robots, row: &Question<'_>) -> Option<bool> {
        Some(ready.is_allowed(&path_of_text(row)?))
    }

    fn allows_split(&self, ready: &Robots, _row: &Question<'_>, url: &Url) -> Option<bool> {
        Some(ready.is_allowed(path_of(url)))
    }
}

fn main() -> std::io::Result<()> {
    serve(Robotxt)
}
