//! An engine: the crate `robotparser-rs`, a port of `urllib.robotparser` as it was before RFC 9309.

use reptile_judge_engines::{Hello, Implementation, Question, serve, version_of};
use robotparser_rs::RobotFileParser;

struct RobotparserRs;

impl Implementation for RobotparserRs {
    type File<'a> = RobotFileParser;
    type Ready<'f> = &'f RobotFileParser;
    const PER_AGENT: bool = false;

    fn hello(&self) -> Hello {
        let (name, version) = ("robotparser-rs".to_owned(), version_of("robotparser-rs"));
        Hello { name, version, dialect: "own".to_owned(), notes: Vec::new() }
    }

    fn parse(&self, body: &[u8]) -> Result<RobotFileParser, String> {
        let text = str::from_utf8(body).map_err(|error| error.to_string())?;
        let mut parser = RobotFileParser::new("");
        parser.parse(&text.lines().collect::<Vec<_>>());
        Ok(parser)
    }

    fn ready<'f>(&self, file: &'f RobotFileParser, _row: &Question<'f>) -> Option<&'f RobotFileParser> {
        Some(file)
    }

    fn allows(&self, ready: &&RobotFileParser, row: &Question<'_>) -> Option<bool> {
        ready.can_fetch(row.agent_text?, row.url_text?).ok()
    }
}

fn main() -> std::io::Result<()> {
    serve(RobotparserRs)
}
