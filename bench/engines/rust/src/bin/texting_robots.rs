//! An engine: the crate `texting_robots`, which parses a file for one crawler.

use reptile_judge_engines::{Hello, Implementation, Question, serve, version_of};
use texting_robots::Robot;

struct TextingRobots;

impl Implementation for TextingRobots {
    type File<'a> = &'a [u8];
    type Ready<'f> = Robot;
    const PER_AGENT: bool = true;
    const TAKES_PATHS: bool = true;

    fn hello(&self) -> Hello {
        let (name, version) = ("texting_robots".to_owned(), version_of("texting_robots"));
        Hello { name, version, dialect: "own".to_owned(), notes: Vec::new() }
    }

    fn parse<'a>(&self, body: &'a [u8]) -> Result<&'a [u8], String> {
        // Whether it accepts the file does not depend on the crawler.
        Robot::new("any", body).map_err(|error| error.to_string())?;
        Ok(body)
    }

    fn ready<'f>(&self, file: &'f &[u8], row: &Question<'f>) -> Option<Robot> {
        Robot::new(row.agent_text?, file).ok()
    }

    fn allows(&self, ready: &Robot, row: &Question<'_>) -> Option<bool> {
        Some(ready.allowed(row.url_text?))
    }

    fn one_shot(&self, body: &[u8], row: &Question<'_>) -> Option<bool> {
        Some(Robot::new(row.agent_text?, body).ok()?.allowed(row.url_text?))
    }
}

fn main() -> std::io::Result<()> {
    serve(TextingRobots)
}
