//! An engine: Reptile, through the crate `reptile`. The argument is the dialect [default: `google-lib`].

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use reptile::crawlers::of_name;
use reptile::{Agent, Capture, Compiler, Crawler, Dialect, OneShot, Robots, Set, Verdict};
use reptile_judge_engines::{Files, Hello, Implementation, Pass, Question, path_as_written, serve};

struct Reptile {
    dialect: &'static Dialect,
    /// The crawlers in single questions so far. Each is resolved once for all files.
    one_shots: RefCell<HashMap<Vec<u8>, OneShot>>,
}

fn allowed(verdict: Verdict) -> Option<bool> {
    match verdict {
        Verdict::Allow => Some(true),
        Verdict::Disallow => Some(false),
        _ => None,
    }
}

impl Reptile {
    /// Returns the crawler with exactly this name, like the oracle: conformance tests use names that no crawler should
    /// have. Only a dialect that knows the crawler adds the other product tokens that it obeys.
    fn crawler(&self, name: &[u8]) -> Crawler {
        let resolved = of_name(name, self.dialect);
        match &resolved.tokens[..] {
            [token] if resolved.honors_default_group => Crawler::verbatim(token),
            tokens => Crawler::chain(tokens, resolved.honors_default_group),
        }
    }

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
            batches.push((set.agent(self.crawler(batch[0].agent))?, batch.iter().map(|row| row.url).collect()));
        }
        Ok(Box::new(move || {
            let decided = batches.iter().flat_map(|(agent, urls)| urls.iter().map(|url| agent.decide(url)));
            decided.map(|verdict| u64::from(matches!(verdict, Ok(Verdict::Disallow)))).sum()
        }))
    }

    fn open_pass<'a>(&self, files: &Files<'_>, row: &Question<'a>, folder: &Path) -> Result<Pass<'a>, reptile::Error> {
        let (path, crawler, row) = (folder.join("judge.reptile"), self.crawler(row.agent), *row);
        self.compile(files)?.write_file(&path)?;
        Ok(Box::new(move || {
            let agent = Set::read(&path).ok().and_then(|set| set.agent(crawler.clone()).ok());
            let decided = agent.and_then(|agent| agent.decide(row.url).ok());
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
            "`one-shot` uses OneShot::decide with crawlers that are resolved once. In `parse` the file decides one URL \
             without being compiled; other models compile it before.",
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

    fn finish_parsing(&self, file: &Robots) {
        // Any query other than a decision compiles the file.
        drop(file.site());
    }

    fn ready<'f>(&self, file: &'f Robots, row: &Question<'f>) -> Option<Agent> {
        file.agent(self.crawler(row.agent)).ok()
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
            one_shots.insert(row.agent.to_vec(), OneShot::new(self.crawler(row.agent), self.dialect).ok()?);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn reptile(dialect: &str) -> Reptile {
        Reptile { dialect: Dialect::from_name(dialect).unwrap(), one_shots: RefCell::default() }
    }

    /// Asks both ways.
    fn answer(dialect: &str, group: &str, agent: &str, url: &str) -> Option<bool> {
        let (reptile, row) = (reptile(dialect), Question::new(agent.as_bytes(), url.as_bytes()));
        let body = format!("User-agent: {group}\nDisallow: /a\n");
        let file = reptile.parse(body.as_bytes()).unwrap();
        let answer = reptile.allows(&reptile.ready(&file, &row).unwrap(), &row);
        assert_eq!(reptile.one_shot(body.as_bytes(), &row), answer, "{agent} {url}");
        answer
    }

    #[test]
    fn names_are_exact_and_known_crawlers_have_their_dialects_tokens() {
        let cases = [
            // A user-agent line names MJ, and no group can name MJ12bot.
            ("google-lib", "MJ12bot", "MJ12bot", true),
            ("google-lib", "MJ", "MJ", false),
            ("rfc9309", "AI2Bot", "AI2Bot", true),
            ("google", "archive.org_bot", "archive.org_bot", true),
            ("yandex", "MJ12bot", "MJ12bot", false),
            ("google-lib", "Foo Bot", "Foo Bot", true),
            ("google-lib", "Foo Bot", "Foo", false),
            ("google-lib", "*", "", false),
            ("google-lib", "Googlebot", "Googlebot-Image", true),
            ("google", "Googlebot", "Googlebot-Image", false),
            ("google", "*", "AdsBot-Google", true),
            ("yandex", "Yandex", "YandexImages", false),
            ("koster-1994", "FooBot", "FooBot/2.1", false),
            ("google", "FooBot", "FooBot/2.1", true),
        ];
        for (dialect, group, agent, is_allowed) in cases {
            assert_eq!(
                answer(dialect, group, agent, "https://a.example/a"),
                Some(is_allowed),
                "{dialect} {group} {agent}"
            );
        }
    }

    #[test]
    fn only_urls_and_paths_are_answered() {
        let cases = [
            ("/a", Some(false)),
            ("https://a.example/a", Some(false)),
            ("//a.example/a", Some(true)),
            ("///a", Some(true)),
            ("a.example/a", None),
            ("", None),
            ("?a", None),
            ("http:/a", None),
            ("https://a.example%2f/a", None),
            ("https://a.example;/a", None),
            ("https://a.example/a\tb", None),
        ];
        for (url, expected) in cases {
            assert_eq!(answer("google-lib", "*", "FooBot", url), expected, "{url:?}");
        }
    }
}
