//! An engine: the crate `fast-robots`.

use fast_robots::{RobotsMatcher, RobotsTxt};
use reptile_judge_engines::{Hello, Implementation, Question, path_of, path_of_text, serve, version_of};
use url::Url;

struct FastRobots;

impl Implementation for FastRobots {
    type File<'a> = RobotsTxt<'a>;
    type Ready<'f> = RobotsMatcher<'f>;
    const PER_AGENT: bool = false;
    const TAKES_PATHS: bool = true;

    fn hello(&self) -> Hello {
        let (name, version) = ("fast-robots".to_owned(), version_of("fast-robots"));
        let notes =
            vec!["`one-shot` uses `RobotsTxt::is_allowed`; other models use its matcher, as documented.".to_owned()];
        Hello { name, version, dialect: "rfc9309".to_owned(), notes }
    }

    fn parse<'a>(&self, body: &'a [u8]) -> Result<RobotsTxt<'a>, String> {
        RobotsTxt::parse_bytes(body).map_err(|error| format!("{error:?}"))
    }

    fn ready<'f>(&self, file: &'f RobotsTxt<'_>, _row: &Question<'f>) -> Option<RobotsMatcher<'f>> {
        Some(file.matcher())
    }

    fn allows(&self, ready: &RobotsMatcher<'_>, row: &Question<'_>) -> Option<bool> {
        Some(ready.is_allowed(row.agent_text?, &path_of_text(row)?))
    }

    fn allows_split(&self, ready: &RobotsMatcher<'_>, row: &Question<'_>, url: &Url) -> Option<bool> {
        Some(ready.is_allowed(row.agent_text?, path_of(url)))
    }

    fn one_shot(&self, body: &[u8], row: &Question<'_>) -> Option<bool> {
        Some(self.parse(body).ok()?.is_allowed(row.agent_text?, &path_of_text(row)?))
    }
}

fn main() -> std::io::Result<()> {
    serve(FastRobots)
}
