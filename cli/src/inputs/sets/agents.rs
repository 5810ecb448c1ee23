//! The crawlers that the user names with `--agent`.
//!
//! [`agents`] resolves them by the crawler table of a set. [`agents_of`] and [`agents_under`] resolve them by the table of
//! the compiler, for commands that compare dialects or read the engine's tables.

use std::collections::BTreeSet;
use std::error::Error as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use bumpalo::Bump;
use reptile::{Agents, Crawler, CrawlerError, CrawlerErrorKind};
use reptile_compiler::body::parse;
use reptile_compiler::dialect::crawlers::{Resolved, nearly, read_as, resolve};
use reptile_compiler::dialect::{self, Dialect};
use reptile_compiler::oracle::{ChosenBy, choose};
use reptile_engine::set::Set;

use crate::error::{Failure, Result, note};
use crate::inputs::options::ExactAgent;

/// The crawlers that the user names, resolved in a set; the path of the set is for messages. Reads the set's crawler table
/// once for each name.
///
/// # Errors
/// If a group of crawlers is unknown, a chain of product tokens is malformed, a name is not a product token under the
/// dialect of the set, or nearly a known crawler's ([`refuse_mistakes`]), or the set is damaged.
pub fn agents(set: &reptile::Set, path: &Path, specs: &[String], exact: ExactAgent) -> Result<Agents> {
    let failed = |error: CrawlerError| match error.source() {
        Some(damage) if error.kind() == CrawlerErrorKind::Damaged => Failure::at(path, damage),
        _ => Failure::new(format!("--agent: {error}")),
    };
    let mut crawlers: Vec<Crawler> = Vec::new();
    for spec in specs {
        // A crawler that is in two groups needs only one column; one that is named twice gets two.
        let is_group = spec.starts_with('@');
        for crawler in set.crawlers_named(spec).map_err(failed)? {
            if !is_group || !crawlers.contains(&crawler) {
                crawlers.push(crawler);
            }
        }
    }
    let agents = set.agents(crawlers).map_err(failed)?;
    refuse_mistakes(specs, exact, |name| set.agent(Crawler::token(name)).is_ok_and(|agent| agent.is_named()))?;
    for agent in agents.iter() {
        let name = agent.crawler().to_string();
        if let Some(read_as) = agent.read_as().filter(|_| specs.contains(&name)) {
            note_read_in_part(&name, &String::from_utf8_lossy(read_as));
        }
    }
    Ok(agents)
}

/// Tells the user, once for each name, that a dialect reads only the beginning of a known crawler's name.
fn note_read_in_part(name: &str, read_as: &str) {
    static NOTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if NOTED.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned()) {
        note(format_args!(
            "--agent {name}: the dialect reads a user-agent line with this name as \"{read_as}\", so the crawler obeys the \
             groups for that"
        ));
    }
}

/// Tells the user of the names of known crawlers that a dialect reads in part.
fn note_all_read_in_part(specs: &[String], dialect: &Dialect) {
    for (name, read_as) in specs.iter().filter_map(|spec| Some((spec, read_as(spec, dialect)?))) {
        note_read_in_part(name, read_as);
    }
}

/// Refuses names that are most likely a mistake: nearly the name of a known crawler, and named by no robots.txt, as
/// `is_named` says. What a chain is made of counts by itself.
///
/// # Errors
/// The first such name, unless the user says that it is meant.
fn refuse_mistakes(specs: &[String], exact: ExactAgent, is_named: impl Fn(&str) -> bool) -> Result<()> {
    if exact.exact_agent {
        return Ok(());
    }
    let names = specs.iter().filter(|spec| !spec.starts_with('@')).flat_map(|spec| spec.split('>'));
    let tokens = names.map(|name| name.split('/').next().unwrap_or(name));
    for name in tokens {
        if let Some(near) = nearly(name.as_bytes()).filter(|_| !is_named(name)) {
            return Err(Failure::new(format!(
                "--agent: no robots.txt names {name:?}, which is nearly the crawler \"{near}\": write that, or add \
                 --exact-agent"
            )));
        }
    }
    Ok(())
}

/// The crawlers that the user names, as the dialect of a set understands them. In a set of a dialect that this version
/// does not know, a name is one product token.
///
/// # Errors
/// The errors of [`agents`].
pub fn agents_of(set: &Set<&[u8]>, specs: &[String], exact: ExactAgent) -> Result<Vec<Resolved>> {
    let dialect = Dialect::from_name(&set.dialect()).unwrap_or(dialect::DEFAULT);
    let agents = agents_under(dialect, specs)?;
    // A damaged set is told by whatever asks it next.
    refuse_mistakes(specs, exact, |name| set.agent(name.as_bytes()).map_or(true, |agent| agent.is_named()))?;
    note_all_read_in_part(specs, dialect);
    Ok(agents)
}

/// The crawlers that the user names, as a dialect understands them, for questions to some robots.txt files.
///
/// # Errors
/// The errors of [`agents`].
pub fn agents_for(
    dialect: &'static Dialect,
    specs: &[String],
    exact: ExactAgent,
    bodies: &[&[u8]],
) -> Result<Vec<Resolved>> {
    let agents = agents_under(dialect, specs)?;
    // The files are read for a name that looks like a mistake only.
    refuse_mistakes(specs, exact, |name| {
        let token = Resolved { honours_default_group: false, ..Resolved::verbatim(name.as_bytes()) };
        let is_named =
            |body| matches!(choose(&parse(body, dialect, &Bump::new()), dialect, &token).by, ChosenBy::Token(_));
        bodies.iter().any(|&body| is_named(body))
    })?;
    note_all_read_in_part(specs, dialect);
    Ok(agents)
}

/// The crawlers that the user names, as a dialect understands them. A group of crawlers such as `@search` becomes its
/// members.
///
/// # Errors
/// If a group of crawlers is unknown, or a chain of product tokens is malformed.
pub fn agents_under(dialect: &Dialect, specs: &[String]) -> Result<Vec<Resolved>> {
    let mut agents: Vec<Resolved> = Vec::new();
    for spec in specs {
        let named = resolve(spec, dialect).map_err(|error| Failure::new(format!("--agent: {error}")))?;
        let is_group = named.len() > 1;
        // A crawler that is named twice gets two columns; one that is in two groups needs only one.
        for agent in named {
            if !is_group || !agents.contains(&agent) {
                agents.push(agent);
            }
        }
    }
    Ok(agents)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test may")]
mod tests {
    use super::*;
    use reptile::{Agent, Capture, Compiler};
    use reptile_compiler::dialect::crawlers;

    fn set(dialect: &Dialect) -> reptile::Set {
        let mut compiler = Compiler::new(dialect);
        compiler.add(Capture::new("https://example.com/robots.txt", "user-agent: *\ndisallow: /").unwrap()).unwrap();
        compiler.finish().unwrap().into_set().unwrap()
    }

    fn resolved(agent: &Agent) -> Resolved {
        Resolved {
            name: agent.crawler().to_string(),
            tokens: agent.tokens().map(<[u8]>::to_vec).collect(),
            honours_default_group: agent.honours_default_group(),
        }
    }

    fn message(set: &reptile::Set, spec: &str) -> String {
        match agents(set, Path::new("set"), &[spec.to_owned()], ExactAgent::default()) {
            Err(Failure::Fatal(message)) => message,
            other => panic!("{spec}: {other:?}"),
        }
    }

    /// The table of a set was written by the compiler, so both answer alike for every name, under every dialect.
    #[test]
    fn a_set_resolves_names_as_its_compiler_does() {
        let mut specs = vec!["*", "A>B>*", "A>B", "A>*", "FooBot", "FooBot/2.1", "yandexWhatever/3.0", "GPTBot,CCBot"];
        specs.extend(["mj12bot", "MJ12bot/1.4", "MJ12bot x", "MJ12bot>*", "MJ13bot"]);
        specs.extend([
            "",
            ">",
            "A>",
            ">A",
            "A>>B",
            "*>A",
            "A>*>*",
            "A/1>B/2",
            "@ai-training",
            "@SEARCH",
            "@",
            "@nobody",
        ]);
        specs.extend(crawlers::ALL.iter().map(|known| known.name));
        for dialect in dialect::ALL {
            let set = set(dialect);
            for spec in &specs {
                let found = agents(&set, Path::new("set"), &[(*spec).to_owned()], ExactAgent::default());
                let found = found.map(|agents| agents.iter().map(resolved).collect::<Vec<_>>());
                match (found, resolve(spec, dialect)) {
                    (Err(_), Err(_)) => {}
                    (Ok(mut found), Ok(mut expected)) => {
                        found.sort_by(|a, b| a.name.cmp(&b.name));
                        expected.sort_by(|a, b| a.name.cmp(&b.name));
                        assert_eq!(found, expected, "{spec} under {}", dialect.name);
                    }
                    (found, expected) => panic!("{spec} under {}: {found:?}, not {expected:?}", dialect.name),
                }
            }
        }
    }

    #[test]
    fn a_name_that_is_given_twice_has_two_columns_and_a_member_of_a_group_one() {
        let set = set(&dialect::GOOGLE);
        let count = |specs: &[&str]| {
            let specs: Vec<String> = specs.iter().map(|&spec| spec.to_owned()).collect();
            agents(&set, Path::new("set"), &specs, ExactAgent::default()).unwrap().len()
        };
        let members = count(&["@ai-training"]);
        assert!(members > 5, "{members}");
        assert_eq!(count(&["GPTBot", "GPTBot"]), 2);
        assert_eq!(count(&["@ai-training", "@ai-training"]), members);
        assert_eq!(count(&["GPTBot", "@ai-training"]), members);
        assert_eq!(count(&["@ai-training", "GPTBot"]), members + 1);
    }

    #[test]
    fn a_name_with_a_mistake_is_refused_unless_a_file_has_it_or_the_user_says_so() {
        let refused = |body: &str, spec: &str, exact_agent: bool| {
            let specs = [spec.to_owned()];
            let exact = ExactAgent { exact_agent };
            let mut compiler = Compiler::new(dialect::DEFAULT);
            compiler.add(Capture::new("https://example.com/robots.txt", body).unwrap()).unwrap();
            let set = compiler.finish().unwrap().into_set().unwrap();
            let by_set = agents(&set, Path::new("set"), &specs, exact).is_err();
            let by_files = agents_for(dialect::DEFAULT, &specs, exact, &[b"", body.as_bytes()]).is_err();
            assert_eq!(by_set, by_files, "{body:?} {spec}");
            by_set
        };
        let body = "user-agent: Googelbot\ndisallow: /\nuser-agent: *\ndisallow: /x\n";
        assert!(
            refused("", "Googelbot", false) && refused("", "Googelbot>*", false) && refused("", "x>Googelbot", false)
        );
        assert!(!refused(body, "googelbot", false) && refused(body, "Googlebott", false));
        assert!(!refused("", "Googelbot", true));
        for other in ["Googlebot", "GPTBot", "MyBot", "*", "@search", "x>y>*"] {
            assert!(!refused("", other, false), "{other}");
        }
    }

    #[test]
    fn messages_say_what_to_write() {
        let set = set(&dialect::GOOGLE);
        assert_eq!(
            message(&set, "Googelbot"),
            "--agent: no robots.txt names \"Googelbot\", which is nearly the crawler \"Googlebot\": write that, or add \
             --exact-agent"
        );
        assert_eq!(
            message(&set, "@nobody"),
            "--agent: unknown group of crawlers \"@nobody\"; the known ones are @ai-training and @search"
        );
        assert_eq!(
            message(&set, "A>>B"),
            "--agent: \"A>>B\" is not a chain of product tokens, such as Googlebot-News>Googlebot>*"
        );
        assert_eq!(
            message(&set, "bot/2.1"),
            "--agent: crawler \"bot/2.1\": a name with a version is not a product token in this dialect: write \"bot\""
        );
    }
}
