//! An engine: Reptile, through the crate `reptile`. The argument is the dialect [default: `google-lib`].

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use reptile::{Agent, Capture, Compiler, Crawler, Dialect, OneShot, Robots, Set, Verdict};
use reptile_judge_engines::{Files, Hello, Implementation, Pass, Question, path_as_written, serve};

struct Reptile {
    dialect: &'static Dialect,
    /// The crawlers in single questions so far. Each is resolved once for all files.
    one_shots: RefCell<HashMap<Vec<u8>, OneShot>>,
}

/// Resolves a crawler by name. An invalid name, as in some conformance tests, is used verbatim.
macro_rules! agent {
    ($rules:expr, $name:expr) => {
        $rules.agent(Crawler::named($name)).or_else(|_| $rules.agent(Crawler::verbatim($name)))
    };
}

fn allowed(verdict: Verdict) -> Option<bool> {
    match verdict {
        Verdict::Allow => Some(true),
        Verdict::Disallow => Some(false),
        _ => None,
    }
}

impl Reptile {
    fn compile(&self, files: &Files<'_>) -> Result<reptile::CompiledSet, reptile::Error> {
        let mut compiler = Compiler::new(self.dialect);
        for (origin, body) in files {
            compiler.add(Capture::new(format!("{origin}/robots.txt"), *body)?)?;
        }
        compiler.finish()
    }

    fn crawl_pass<'a>(&self, files: &Files<'_>, rows: &[Question<'a>]) -> Result<Pass<'a>, Box<dyn std::error::Error>> {
        let set = self.compile(files)?.into_set()?;
        // Adjacent questions with the same crawler form a batch.
        let mut batches: Vec<(Agent, Vec<&[u8]>)> = Vec::new();
        for batch in rows.chunk_by(|one, other| one.agent == other.agent) {
            batches.push((agent!(set, batch[0].agent)?, batch.iter().map(|row| row.url).collect()));
        }
        Ok(Box::new(move || {
            let decided = batches.iter().flat_map(|(agent, urls)| urls.iter().map(|url| agent.decide(url)));
            decided.map(|verdict| u64::from(matches!(verdict, Ok(Verdict::Disallow)))).sum()
        }))
    }

    fn open_pass<'a>(&self, files: &Files<'_>, row: &Question<'a>, folder: &Path) -> Result<Pass<'a>, reptile::Error> {
        let (path, row) = (folder.join("judge.reptile"), *row);
        self.compile(files)?.write_file(&path)?;
        Ok(Box::new(move || {
            let decided = Set::read(&path).ok().and_then(|set| agent!(set, row.agent).ok()?.decide(row.url).ok());
            u64::from(decided == Some(Verdict::Disallow))
        }))
    }
}

impl Implementation for Reptile {
    type File<'a> = Robots;
    type Ready<'f> = Agent;
    const PER_AGENT: bool = true;
    const TAKES_PATHS: bool = true;
    const LINES: bool = true;
    const OPENS: bool = true;

    fn hello(&self) -> Hello {
        let notes = [
            "`one-shot` uses OneShot::decide with crawlers that are resolved once; other models compile the file.",
            "`crawl` uses one set with all files. `open` reads the set's whole file; mapping it is not measured.",
        ];
        Hello {
            name: "reptile".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            dialect: self.dialect.as_str().to_owned(),
            notes: notes.map(str::to_owned).to_vec(),
        }
    }

    fn parse(&self, body: &[u8]) -> Result<Robots, String> {
        Robots::parse(body, self.dialect).map_err(|error| error.to_string())
    }

    fn ready<'f>(&self, file: &'f Robots, row: &Question<'f>) -> Option<Agent> {
        agent!(file, row.agent).ok()
    }

    fn path(&self, url: &[u8]) -> Vec<u8> {
        path_as_written(url)
    }

    fn allows(&self, ready: &Agent, row: &Question<'_>) -> Option<bool> {
        allowed(ready.decide(row.url).ok()?)
    }

    fn line(&self, ready: &Agent, row: &Question<'_>) -> Option<u32> {
        let explained = ready.explain(row.url).ok()?;
        Some(explained.rule().map_or(0, |rule| rule.line))
    }

    fn one_shot(&self, body: &[u8], row: &Question<'_>) -> Option<bool> {
        let mut one_shots = self.one_shots.borrow_mut();
        if !one_shots.contains_key(row.agent) {
            let new = |crawler| OneShot::new(crawler, self.dialect);
            let one_shot = new(Crawler::named(row.agent)).or_else(|_| new(Crawler::verbatim(row.agent))).ok()?;
            one_shots.insert(row.agent.to_vec(), one_shot);
        }
        allowed(one_shots.get(row.agent)?.decide(body, row.url).ok()?.0)
    }

    fn crawl<'a>(&'a self, files: &Files<'_>, rows: &[Question<'a>]) -> Option<Result<Pass<'a>, String>> {
        Some(self.crawl_pass(files, rows).map_err(|error| error.to_string()))
    }

    fn open<'a>(&'a self, files: &Files<'_>, row: &Question<'a>, folder: &Path) -> Option<Result<Pass<'a>, String>> {
        Some(self.open_pass(files, row, folder).map_err(|error| error.to_string()))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "google-lib".to_owned());
    let dialect = Dialect::from_name(&name).ok_or_else(|| format!("expected a dialect name, found {name:?}"))?;
    Ok(serve(Reptile { dialect, one_shots: RefCell::default() })?)
}
