//! Questions that files and sets answer alike.

use reptile::usage::{Sources, Vocabulary};
use reptile::{Agent, Agents, Crawler, CrawlerError, Reason};
use serde::Serialize;

use crate::answers::{Decision, RuleJson};
use crate::args::Args;
use crate::failure::{Code, Failure, with_code};
use crate::state::{Call, Kind, json};

/// Maximum number of crawlers in one call.
pub const MAX_AGENTS: usize = 1000;

/// Maximum number of verdicts in one call: URLs times crawlers. Each takes five bytes, and is briefly in memory twice.
pub const MAX_VERDICTS: usize = 10_000_000;

/// Maximum number of reasons that [`decide`] can number.
const MAX_REASONS: usize = 1 << 14;

#[derive(Serialize)]
struct ResolvedJson {
    id: usize,
    names: Vec<String>,
}

/// Resolves crawlers. The arguments are the way to read names (`named`, `exact` or `verbatim`), and the names.
pub fn resolve(call: Call<'_>) -> Result<Vec<u8>, Failure> {
    let Call { items, handle, mut args, .. } = call;
    let item = items.item(handle)?;
    let how = args.text()?;
    let (mut crawlers, mut names) = (Vec::new(), Vec::new());
    for name in args {
        let name = std::str::from_utf8(name).unwrap_or_default();
        let found = match &item.kind {
            Kind::File(file) => crawlers_of(name, how, |name| file.robots.crawlers_named(name))?,
            Kind::Set(opened) => crawlers_of(name, how, |name| opened.set.crawlers_named(name))?,
        };
        names.extend(found.iter().map(|crawler| if found.len() == 1 { name.to_owned() } else { crawler.to_string() }));
        crawlers.extend(found);
        if crawlers.len() > MAX_AGENTS {
            return Err(Failure::new(Code::Limit, format!("more than {MAX_AGENTS} crawlers in one call")));
        }
    }
    let agents = match &item.kind {
        Kind::File(file) => file.robots.agents(crawlers)?,
        Kind::Set(opened) => opened.set.agents(crawlers)?,
    };
    if how == "named" {
        refuse_mistakes(agents.iter(), &names)?;
    }
    item.agents.push(agents);
    json(&ResolvedJson { id: item.agents.len() - 1, names })
}

/// Returns the crawlers that a name selects. `named` reads names like `Set::crawlers_named`.
fn crawlers_of(
    name: &str,
    how: &str,
    named: impl Fn(&str) -> Result<Vec<Crawler>, CrawlerError>,
) -> Result<Vec<Crawler>, Failure> {
    match how {
        "verbatim" => Ok(vec![Crawler::verbatim(name)]),
        "exact" if name != "*" && !name.starts_with('@') && !name.contains('>') => Ok(vec![Crawler::token(name)]),
        _ => Ok(named(name)?),
    }
}

/// Returns the crawler that a name selects.
pub fn crawler_of(
    name: &str,
    how: &str,
    named: impl Fn(&str) -> Result<Vec<Crawler>, CrawlerError>,
) -> Result<Crawler, Failure> {
    let mut found = crawlers_of(name, how, named)?.into_iter();
    match (found.next(), found.next()) {
        (Some(crawler), None) => Ok(crawler),
        _ => Err(Failure::new(Code::Crawler, format!("{name:?} is a group of crawlers; name one of them"))),
    }
}

/// Refuses names that are most likely mistakes.
pub fn refuse_mistakes<'a>(agents: impl Iterator<Item = &'a Agent>, names: &[String]) -> Result<(), Failure> {
    match agents.zip(names).find_map(|(agent, name)| Some((name, agent.probably_meant()?))) {
        Some((name, mistake)) => Err(Failure::mistaken(name, mistake)),
        None => Ok(()),
    }
}

/// Returns the first of some crawlers.
pub fn first(agents: &Agents) -> Result<&Agent, Failure> {
    agents.iter().next().ok_or_else(|| Failure::new(Code::Crawler, "no crawler is named"))
}

/// Returns a reason's number. JavaScript asks for the words of each number once.
fn number_of(reason: Reason, reasons: &mut Vec<Reason>) -> usize {
    if let Some(number) = reasons.iter().position(|known| *known == reason) {
        return number;
    }
    reasons.push(reason);
    reasons.len() - 1
}

/// Decides one URL for the first of some crawlers. Returns the verdict, the reason and the line in one number.
pub fn decide(agents: &Agents, url: &[u8], reasons: &mut Vec<Reason>) -> Result<u64, Failure> {
    let explained = first(agents)?.explain(url)?;
    let line = explained.rule().map_or(0, |rule| rule.line);
    let reason = number_of(explained.reason, reasons);
    if reason >= MAX_REASONS {
        return Err(Failure::new(Code::Limit, "too many different reasons"));
    }
    Ok(u64::from(line) << 16 | (reason as u64) << 2 | explained.verdict as u64)
}

/// Returns a reason's words.
pub fn reason(call: Call<'_>) -> Result<Vec<u8>, Failure> {
    json(&call.reasons.get(call.number as usize).map(Reason::to_string))
}

/// Decides one URL for each crawler.
pub fn decide_each(call: Call<'_>) -> Result<Vec<u8>, Failure> {
    let Call { items, handle, number, mut args, .. } = call;
    let url = args.bytes()?;
    let agents = items.agents(handle, number)?.iter();
    let decisions: Result<Vec<Decision>, Failure> =
        agents.map(|agent| Ok(Decision::of(&agent.explain(url)?))).collect();
    json(&decisions?)
}

/// Decides URLs for some crawlers. The arguments are a switch for lines, and the URLs. The answer has a byte for each
/// verdict. With lines, zeros up to a multiple of four follow, and four bytes for each line, in little-endian order.
pub fn decide_all(call: Call<'_>) -> Result<Vec<u8>, Failure> {
    let Call { items, handle, number, mut args, .. } = call;
    let agents = items.agents(handle, number)?;
    let has_lines = args.switch()?;
    let urls: Vec<&[u8]> = args.collect();
    let count = urls.len().saturating_mul(agents.len());
    if count > MAX_VERDICTS {
        let message =
            format!("{} URLs and {} crawlers have more than {MAX_VERDICTS} verdicts", urls.len(), agents.len());
        return Err(Failure::new(Code::Limit, message));
    }
    // Each alone. The library's batches hide the latency of memory with prefetches, which WebAssembly does not have, and
    // would take 1 % of the package.
    let each = urls.iter().flat_map(|url| agents.iter().map(move |agent| (agent, url)));
    if !has_lines {
        return each.map(|(agent, url)| Ok(agent.decide(url)? as u8)).collect();
    }
    let start = count.next_multiple_of(4);
    let mut answer = vec![0; start + 4 * count];
    let (verdicts, lines) = answer.split_at_mut(start);
    for (((agent, url), verdict), line) in each.zip(verdicts).zip(lines.chunks_exact_mut(4)) {
        let explained = agent.explain(url)?;
        *verdict = explained.verdict as u8;
        line.copy_from_slice(&explained.rule().map_or(0, |rule| rule.line).to_le_bytes());
    }
    Ok(answer)
}

/// Returns the rules that match a URL, in order of precedence.
pub fn matching_rules(call: Call<'_>) -> Result<Vec<u8>, Failure> {
    let Call { items, handle, number, mut args, .. } = call;
    let url = args.bytes()?;
    let rules = first(items.agents(handle, number)?)?.matching_rules(url)?;
    json(&rules.iter().map(RuleJson::of).collect::<Vec<_>>())
}

#[derive(Serialize)]
struct PreferenceJson {
    category: String,
    value: &'static str,
    lines: Vec<u32>,
}

/// Returns the preferences about uses of a page. The arguments are the URL, the vocabulary, the sources and the
/// categories.
pub fn usage(call: Call<'_>) -> Result<Vec<u8>, Failure> {
    let Call { items, handle, number, mut args, .. } = call;
    let agent = first(items.agents(handle, number)?)?;
    let url = args.bytes()?;
    let vocabulary = match args.given()? {
        None => Vocabulary::default(),
        Some(name) => Vocabulary::named(name)
            .ok_or_else(|| Failure::unknown(Code::Vocabulary, "vocabulary", name, Vocabulary::NAMES))?,
    };
    let sources: Sources = args.text()?.parse().map_err(with_code(Code::Argument))?;
    let categories = categories_of(&vocabulary, sources, &mut args)?;
    let uses = vocabulary.uses(&categories, sources).map_err(with_code(Code::Category))?;
    let found = agent.usage(url, &uses)?;
    let lines = agent.usage_line_numbers(url, &uses)?;
    let preferences = categories.into_iter().zip(&found.preferences);
    let preferences =
        preferences.map(|(category, value)| PreferenceJson { category, value: value.name(), lines: lines.clone() });
    json(&preferences.collect::<Vec<_>>())
}

/// Returns the given categories, or all that have labels in the sources if none is given.
fn categories_of(vocabulary: &Vocabulary, sources: Sources, args: &mut Args<'_>) -> Result<Vec<String>, Failure> {
    let given = args.list()?;
    if !given.is_empty() {
        return Ok(given.into_iter().map(str::to_owned).collect());
    }
    let has_labels = |name: &&str| vocabulary.uses([name], sources).is_ok();
    let all: Vec<String> = vocabulary.categories().filter(has_labels).map(str::to_owned).collect();
    if all.is_empty() {
        let message = format!("the vocabulary {} has no list of categories; name them", vocabulary.name());
        return Err(Failure::new(Code::Category, message));
    }
    Ok(all)
}
