//! The crawlers that the user names with `--agent`.
//!
//! [`agents`] resolves them with a set's crawler table. [`agents_of`] and [`agents_under`] use the compiler's table,
//! for commands that compare dialects or read the engine's tables.
//!
//! `exact:NAME` uses a name unchanged, even if it resembles a known crawler's name and no robots.txt names it.

use std::collections::BTreeSet;
use std::error::Error as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use bumpalo::Bump;
use reptile::body::parse;
use reptile::contents::Set;
use reptile::crawlers::{self, GROUPS, Mistake, Resolved, known, mistake, of_name, read_as, resolve};
use reptile::explain::{ChosenBy, choose};
use reptile::{Agents, Crawler, CrawlerError, CrawlerErrorKind, Dialect, dialects};

use crate::error::{Failure, Result, note};
use reptile_records::place::Place;

/// What precedes a name that is used unchanged.
pub const EXACT: &str = "exact:";

/// Returns the name in an `--agent` value, without [`EXACT`].
pub fn name_in(spec: &str) -> &str {
    spec.strip_prefix(EXACT).unwrap_or(spec)
}

/// Resolves the crawlers that the user names in a set. The set's path is used in messages. Reads the set's crawler
/// table once per name.
///
/// # Errors
/// Returns an error if a group of crawlers is unknown, a chain of product tokens is malformed, a name is not a product
/// token under the set's dialect or is a probable mistake ([`refuse_mistakes`]), a crawler is named
/// twice, or the set is damaged.
pub fn agents(set: &reptile::Set, path: &Place, specs: &[String]) -> Result<Agents> {
    let failed = |error: CrawlerError| match error.source() {
        Some(damage) if error.kind() == CrawlerErrorKind::Damaged => Failure::at(path, damage.to_string()),
        _ => Failure::new(format!("--agent: {error}")),
    };
    refuse_files(specs)?;
    let mut crawlers: Vec<Crawler> = Vec::new();
    let mut named = Named::default();
    for spec in specs.iter().map(|spec| name_in(spec)) {
        for crawler in set.crawlers_named(spec).map_err(failed)? {
            if named.is_new(spec, &crawler.to_string())? {
                crawlers.push(crawler);
            }
        }
    }
    let agents = set.agents(crawlers).map_err(failed)?;
    refuse_mistakes(specs, |name| set.agent(Crawler::token(name)).is_ok_and(|agent| agent.is_named()))?;
    for agent in agents.iter() {
        let name = agent.crawler().to_string();
        if let Some(read_as) = agent.read_as().filter(|_| specs.iter().any(|spec| name_in(spec) == name)) {
            note_read_in_part(&name, &String::from_utf8_lossy(read_as));
        }
    }
    Ok(agents)
}

/// Prints a note, once per name, that a dialect reads only the beginning of a known crawler's name.
fn note_read_in_part(name: &str, read_as: &str) {
    static NOTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if NOTED.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned()) {
        note(format_args!(
            "--agent {name}: the dialect reads a user-agent line with this name as \"{read_as}\", so the crawler obeys the \
             groups for that"
        ));
    }
}

/// Prints a note for each known crawler's name that a dialect reads only in part.
fn note_all_read_in_part(specs: &[String], dialect: &Dialect) {
    for (name, read_as) in specs.iter().filter_map(|spec| Some((name_in(spec), read_as(name_in(spec), dialect)?))) {
        note_read_in_part(name, read_as);
    }
}

/// Prints a note for each crawler that does not always obey robots.txt, or whose name is no longer used. A group of
/// crawlers gets one note.
pub fn note_unobeying(specs: &[String]) {
    for spec in specs.iter().map(|spec| name_in(spec)) {
        let group = GROUPS.iter().find(|(name, _)| name.eq_ignore_ascii_case(spec));
        let Some((_, purposes)) = group else {
            if let Some(remark) = known(spec.as_bytes()).and_then(crawlers::Crawler::remark) {
                note(format_args!("--agent {spec}: {remark}"));
            }
            continue;
        };
        let members = crawlers::ALL.iter().filter(|known| known.purposes.contains(*purposes));
        let names: Vec<&str> = members.filter(|known| known.remark().is_some()).map(|known| known.name).collect();
        if !names.is_empty() {
            let names = names.join(", ");
            note(format_args!(
                "--agent {spec}: not all rules apply to {names}; `reptile agents {spec}` gives the sources"
            ));
        }
    }
}

/// Refuses names that are most likely mistakes, and that no robots.txt contains, according to `is_named`. Each name in a
/// chain is checked separately. Prints a note about a brand's name that a robots.txt contains.
///
/// # Errors
/// Returns an error for the first such name, unless the user requests an exact name.
fn refuse_mistakes(specs: &[String], is_named: impl Fn(&str) -> bool) -> Result<()> {
    let guarded = specs.iter().filter(|spec| !spec.starts_with(EXACT));
    for (spec, (name, mistake)) in guarded.flat_map(|spec| mistakes(spec).map(move |found| (spec, found))) {
        if !is_named(name) {
            return Err(Failure::new(format!("--agent: {}, or {EXACT}{spec}", refusal(name, mistake))));
        }
        if let Mistake::Brand(tokens) = mistake {
            let tokens = tokens.join(", ");
            note(format_args!(
                "--agent {name}: a robots.txt contains this name, but its crawlers are probably {tokens}"
            ));
        }
    }
    Ok(())
}

/// Returns the names in a chain that are probable mistakes, without versions.
fn mistakes(spec: &str) -> impl Iterator<Item = (&str, Mistake)> {
    let names = spec.split('>').filter(|_| !spec.starts_with('@'));
    let names = names.map(|name| name.split('/').next().unwrap_or(name));
    names.filter_map(|name| Some((name, mistake(name.as_bytes())?)))
}

/// Returns the message about a name that no robots.txt contains.
fn refusal(name: &str, mistake: Mistake) -> String {
    format!("no robots.txt names {name:?}, {mistake}")
}

/// Returns the crawler in a table's cell, checked like `--agent`, or the exact name if requested.
///
/// # Errors
/// Returns a short problem description if the name is invalid.
pub fn agent_of_cell(
    set: &Set<&[u8]>,
    dialect: &Dialect,
    cell: &[u8],
    is_exact: bool,
) -> std::result::Result<Resolved, String> {
    if is_exact {
        return Ok(of_name(cell, dialect));
    }
    let name = std::str::from_utf8(cell).map_err(|_| "the agent is not UTF-8".to_owned())?;
    let mut agents = resolve(name, dialect).map_err(|error| error.to_string())?;
    let is_named = |name: &str| set.agent(name.as_bytes()).map_or(true, |agent| agent.is_named());
    match (agents.pop(), mistakes(name).find(|(name, _)| !is_named(name))) {
        _ if name.starts_with('@') => Err(format!("expected one crawler, found the group \"{name}\"")),
        (_, Some((name, mistake))) => Err(format!("{}, or add --exact-agent", refusal(name, mistake))),
        (Some(agent), _) => Ok(agent),
        (None, _) => Err("it names no crawler".into()),
    }
}

/// Rejects file names.
///
/// # Errors
/// Returns an error for the first name with an extension or a slash that is an existing file.
fn refuse_files(specs: &[String]) -> Result<()> {
    let is_file = |spec: &&str| {
        let path = Path::new(spec);
        (path.extension().is_some() || spec.contains('/')) && path.is_file()
    };
    match specs.iter().map(|spec| name_in(spec)).find(is_file) {
        Some(spec) => {
            let message = "is a file; --agent takes a crawler's name, and can be repeated";
            Err(Failure::new(format!("--agent: {spec:?} {message}")))
        }
        None => Ok(()),
    }
}

/// The crawlers named so far, in lower case and without versions, with the name or group that named each.
#[derive(Default)]
struct Named<'s>(Vec<(String, &'s str)>);

impl<'s> Named<'s> {
    /// Returns whether a crawler is new. A crawler in two groups is used only once.
    ///
    /// # Errors
    /// Returns an error if the crawler was named before, unless both times by a group.
    fn is_new(&mut self, spec: &'s str, crawler: &str) -> Result<bool> {
        let name = match crawler.contains('>') {
            true => crawler,
            false => crawler.split('/').next().unwrap_or(crawler),
        };
        let name = name.to_ascii_lowercase();
        let Some((_, before)) = self.0.iter().find(|(known, _)| *known == name) else {
            self.0.push((name, spec));
            return Ok(true);
        };
        let is_same = before.eq_ignore_ascii_case(spec);
        let message = match (before.starts_with('@'), spec.starts_with('@')) {
            (true, true) if !is_same => return Ok(false),
            (true, false) => format!("{spec:?} is in the group {before:?} too: leave out one of them"),
            (false, true) => format!("{before:?} is in the group {spec:?} too: leave out one of them"),
            _ if *before == spec => format!("{spec:?} is given twice"),
            _ => format!("{before:?} and {spec:?} are the same crawler: leave out one of them"),
        };
        Err(Failure::new(format!("--agent: {message}")))
    }
}

/// Resolves the crawlers that the user names under a set's dialect. If this version does not know the dialect, each
/// name is one product token.
///
/// # Errors
/// The errors of [`agents`].
pub fn agents_of(set: &Set<&[u8]>, specs: &[String]) -> Result<Vec<Resolved>> {
    let dialect = Dialect::from_name(&set.dialect()).unwrap_or(dialects::DEFAULT);
    let agents = agents_under(dialect, specs)?;
    // A damaged set is reported by the next query.
    refuse_mistakes(specs, |name| set.agent(name.as_bytes()).map_or(true, |agent| agent.is_named()))?;
    note_all_read_in_part(specs, dialect);
    Ok(agents)
}

/// Resolves the crawlers that the user names under a dialect, for queries on some robots.txt files.
///
/// # Errors
/// The errors of [`agents`].
pub fn agents_for(dialect: &'static Dialect, specs: &[String], bodies: &[&[u8]]) -> Result<Vec<Resolved>> {
    let agents = agents_under(dialect, specs)?;
    // The files are read only for a name that looks like a mistake.
    refuse_mistakes(specs, |name| {
        let token = Resolved { honors_default_group: false, ..Resolved::verbatim(name.as_bytes()) };
        let is_named =
            |body| matches!(choose(&parse(body, dialect, &Bump::new()), dialect, &token).by, ChosenBy::Token(_));
        bodies.iter().any(|&body| is_named(body))
    })?;
    note_all_read_in_part(specs, dialect);
    Ok(agents)
}

/// Resolves the crawlers that the user names, under a dialect. A group of crawlers such as `@search` is replaced by its
/// members.
///
/// # Errors
/// Returns an error if a group of crawlers is unknown, a chain of product tokens is malformed, or a crawler is named
/// twice.
pub fn agents_under(dialect: &Dialect, specs: &[String]) -> Result<Vec<Resolved>> {
    refuse_files(specs)?;
    let mut agents: Vec<Resolved> = Vec::new();
    let mut named = Named::default();
    for spec in specs.iter().map(|spec| name_in(spec)) {
        for agent in resolve(spec, dialect).map_err(|error| Failure::new(format!("--agent: {error}")))? {
            if named.is_new(spec, &agent.name)? {
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

    fn set(dialect: &Dialect) -> reptile::Set {
        let mut compiler = Compiler::new(dialect);
        compiler.add(Capture::new("https://example.com/robots.txt", "user-agent: *\ndisallow: /").unwrap()).unwrap();
        compiler.finish().unwrap().into_set().unwrap()
    }

    fn resolved(agent: &Agent) -> Resolved {
        Resolved {
            name: agent.crawler().to_string(),
            tokens: agent.tokens().map(<[u8]>::to_vec).collect(),
            honors_default_group: agent.honors_default_group(),
        }
    }

    fn message(set: &reptile::Set, spec: &str) -> String {
        match agents(set, &Place::from("set"), &[spec.to_owned()]) {
            Err(failure @ Failure::Fatal(_)) => failure.to_string(),
            other => panic!("{spec}: {other:?}"),
        }
    }

    /// The compiler wrote the set's table, so both give the same result for every name, under every dialect.
    #[test]
    fn a_set_resolves_names_like_its_compiler() {
        let mut specs = vec!["*", "A>B>*", "A>B", "A>*", "FooBot", "FooBot/2.1", "yandexWhatever/3.0", "GPTBot,CCBot"];
        specs.extend(["mj12bot", "MJ12bot/1.4", "MJ12bot x", "MJ12bot>*", "QX77spider"]);
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
        for dialect in dialects::ALL {
            let set = set(dialect);
            for spec in &specs {
                let found = agents(&set, &Place::from("set"), &[(*spec).to_owned()]);
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
    fn crawlers_named_twice_are_refused_unless_two_groups_name_them() {
        let set = set(&dialects::GOOGLE);
        let cases: [(&[&str], Option<&str>); 11] = [
            (&["GPTBot", "CCBot"], None),
            (&["@ai-training", "@search"], None),
            (&["@ai-training", "Googlebot-News"], None),
            (&["Googlebot-Image", "Googlebot-Image>Googlebot>*"], None),
            (&["GPTBot", "GPTBot"], Some("\"GPTBot\" is given twice")),
            (&["GPTBot", "CCBot", "gptbot"], Some("\"GPTBot\" and \"gptbot\" are the same crawler")),
            (&["*", "*"], Some("\"*\" is given twice")),
            (&["A>B", "A>B"], Some("\"A>B\" is given twice")),
            (&["@search", "@search"], Some("\"@search\" is given twice")),
            (&["GPTBot", "@ai-training"], Some("\"GPTBot\" is in the group \"@ai-training\" too")),
            (&["@ai-training", "gptbot"], Some("\"gptbot\" is in the group \"@ai-training\" too")),
        ];
        for (specs, message) in cases {
            let specs: Vec<String> = specs.iter().map(|&spec| spec.to_owned()).collect();
            let by_set = agents(&set, &Place::from("set"), &specs).map(|agents| agents.len());
            let by_table = agents_under(&dialects::GOOGLE, &specs).map(|agents| agents.len());
            match message {
                None => assert_eq!(by_set.unwrap(), by_table.unwrap(), "{specs:?}"),
                Some(message) => {
                    for found in [by_set, by_table] {
                        let Err(found) = found else { panic!("{specs:?} is taken") };
                        let found = found.to_string();
                        assert!(found.contains(message), "{specs:?}: {found}");
                    }
                }
            }
        }
    }

    #[test]
    fn misspelled_names_are_refused_unless_a_file_or_the_user_confirms_them() {
        let refused = |body: &str, spec: &str| {
            let specs = [spec.to_owned()];
            let mut compiler = Compiler::new(dialects::DEFAULT);
            compiler.add(Capture::new("https://example.com/robots.txt", body).unwrap()).unwrap();
            let set = compiler.finish().unwrap().into_set().unwrap();
            let by_set = agents(&set, &Place::from("set"), &specs).is_err();
            let by_files = agents_for(dialects::DEFAULT, &specs, &[b"", body.as_bytes()]).is_err();
            assert_eq!(by_set, by_files, "{body:?} {spec}");
            by_set
        };
        let body = "user-agent: Googelbot\ndisallow: /\nuser-agent: *\ndisallow: /x\n";
        for mistake in ["Googelbot", "Googelbot>*", "x>Googelbot"] {
            assert!(refused("", mistake) && !refused("", &format!("exact:{mistake}")), "{mistake}");
        }
        assert!(!refused(body, "googelbot") && refused(body, "Googlebott"));
        for brand in ["ChatGPT", "openai", "Anthropic", "perplexity", "x>Claude>*", "Google", "all"] {
            let body = format!("user-agent: {}\ndisallow: /\n", if brand.contains('>') { "claude" } else { brand });
            let exact = format!("exact:{brand}");
            assert!(refused("", brand) && !refused("", &exact) && !refused(&body, brand), "{brand}");
        }
        for other in ["Googlebot", "GPTBot", "MyBot", "*", "@search", "x>y>*"] {
            assert!(!refused("", other), "{other}");
        }
    }

    #[test]
    fn messages_suggest_a_correction() {
        let set = set(&dialects::GOOGLE);
        assert_eq!(
            message(&set, "Googelbot"),
            "--agent: no robots.txt names \"Googelbot\", which is nearly the crawler \"Googlebot\": write that, or \
             exact:Googelbot"
        );
        assert_eq!(
            message(&set, "ChatGPT"),
            "--agent: no robots.txt names \"ChatGPT\", which is not a crawler's name: write \"GPTBot\", \"OAI-SearchBot\" or \
             \"ChatGPT-User\", or exact:ChatGPT"
        );
        assert_eq!(
            message(&set, "@nobody"),
            "--agent: unknown group of crawlers \"@nobody\"; the known ones are @ai-training, @search, \
             @ai-search, @user-triggered, @archive, @seo"
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
