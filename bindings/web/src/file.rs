//! One robots.txt.

use bumpalo::Bump;
use reptile::contents;
use reptile::crawlers::Resolved;
use reptile::dialects::{ALL, DEFAULT};
use reptile::explain::{ChosenBy, DecidingReason, ExplainedFile, Phrases};
use reptile::prove::{Assertions, Options, Outcome, Proof};
use reptile::reason::Witness;
use reptile::urls::path_at_any_origin;
use reptile::{Agent, Dialect, Directive, Profile, Robots, Rule, Verdict};
use serde::Serialize;

use crate::answers::{Decision, RuleJson, kind_of, text};
use crate::ask::{first, refuse_mistakes};
use crate::failure::{Code, Failure};
use crate::state::{Call, File, Kind, json};

/// Maximum size in bytes of a file that stays compiled under every dialect.
const MAX_HELD_BYTES: usize = 1 << 20;

/// Maximum number of user-agent lines in an explanation.
const MAX_NAMING_LINES: usize = 100;

#[derive(Serialize)]
struct ParsedJson {
    handle: u32,
    dialect: &'static str,
}

/// Reads a file. The arguments are its dialect and its bytes.
pub fn parse(call: Call<'_>) -> Result<Vec<u8>, Failure> {
    let Call { items, mut args, .. } = call;
    let dialect = match args.given()? {
        None => DEFAULT,
        Some(name) => Dialect::from_name(name).ok_or_else(|| {
            Failure::unknown(Code::Dialect, "dialect", name, ALL.iter().map(|dialect| dialect.as_str()))
        })?,
    };
    let body = args.bytes()?;
    let robots = Robots::parse(body, dialect)?;
    let file = File { body: body.to_vec(), dialect, robots, others: Vec::new() };
    json(&ParsedJson { handle: items.add(Kind::File(Box::new(file))), dialect: dialect.as_str() })
}

#[derive(Serialize)]
struct PartsJson {
    groups: Vec<GroupJson>,
    sitemaps: Vec<String>,
    directives: Vec<DirectiveJson>,
    diagnostics: Vec<DiagnosticJson>,
}

#[derive(Serialize)]
struct GroupJson {
    agents: Vec<String>,
    lines: Vec<u32>,
    rules: Vec<RuleJson>,
}

#[derive(Serialize)]
struct DirectiveJson {
    line: u32,
    kind: &'static str,
    key: String,
    value: String,
    state: &'static str,
}

#[derive(Serialize)]
struct DiagnosticJson {
    line: u32,
    message: &'static str,
}

/// Returns the file's groups, sitemaps, directives and diagnostics.
pub fn parts(call: Call<'_>) -> Result<Vec<u8>, Failure> {
    let file = call.items.file(call.handle)?;
    let arena = Bump::new();
    let reading = ExplainedFile::new(&file.body, file.dialect, &arena);
    let groups = reading.groups().map(|(group, lines)| GroupJson {
        agents: group.agents.iter().map(|agent| text(agent)).collect(),
        lines: lines.to_vec(),
        rules: group
            .rules
            .iter()
            .map(|rule| RuleJson { line: rule.line, kind: kind_of(rule.kind), pattern: text(rule.value) })
            .collect(),
    });
    let site = file.robots.site()?;
    let directives = site.directives.iter().map(|Directive { kind, state, line, key, value, .. }| DirectiveJson {
        line: *line,
        kind: kind.as_str(),
        key: text(key),
        value: text(value),
        state: state.as_str(),
    });
    let diagnostics = reading.diagnostics().map(|(line, kind)| DiagnosticJson { line, message: kind.describe() });
    json(&PartsJson {
        groups: groups.collect(),
        sitemaps: site.sitemaps().map(text).collect(),
        directives: directives.collect(),
        diagnostics: diagnostics.collect(),
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExplanationJson {
    #[serde(flatten)]
    decision: Decision,
    dialect: &'static str,
    why: &'static str,
    group: NamedJson,
    chosen_by: &'static str,
    token: Option<String>,
    path: String,
    best_allow: Option<MatchedJson>,
    best_disallow: Option<MatchedJson>,
    sentence: String,
}

#[derive(Serialize)]
struct NamedJson {
    agents: Vec<String>,
    lines: Vec<u32>,
    sentence: String,
}

#[derive(Serialize)]
struct MatchedJson {
    line: u32,
    text: String,
    pattern: String,
    octets: usize,
}

/// Explains a verdict. The arguments are the crawler's name and the URL.
pub fn explain(call: Call<'_>) -> Result<Vec<u8>, Failure> {
    let Call { items, handle, number, mut args, .. } = call;
    let (name, url) = (args.text()?, args.bytes()?);
    let file = items.file(handle)?;
    let agent = first(items.agents(handle, number)?)?;
    let explained = agent.explain(url)?;
    let decision = Decision::of(&explained);
    let arena = Bump::new();
    let reading = ExplainedFile::new(&file.body, file.dialect, &arena);
    let resolved = resolved_of(name, agent);
    let choice = reading.choose(&resolved);
    let inner = contents::Explanation {
        verdict: explained.verdict,
        allow: explained.allow,
        disallow: explained.disallow,
        decided_by: explained.decided_by,
        source: explained.source,
    };
    // A text without a path has no rules either.
    let path = path_at_any_origin(url).map(|path| path.to_vec()).unwrap_or_default();
    let path = file.dialect.normal_form.path(&path).into_owned();
    let naming: Vec<u32> = reading.naming_lines(&resolved, &choice).collect();
    let phrases = Phrases { reading: &reading, agent: &resolved, choice: &choice, shown: &text };
    let why = reading.why(&inner, &choice, &path);
    let is_url = inner.verdict != Verdict::Invalid;
    let (chosen_by, token) = match choice.by {
        ChosenBy::Token(index) => ("token", resolved.tokens.get(index).map(|token| text(token))),
        ChosenBy::DefaultGroup => ("default-group", None),
        ChosenBy::Nobody => ("nobody", None),
    };
    let agents = choice.groups.iter().filter_map(|&group| reading.groups().nth(group)).flat_map(|(group, lines)| {
        let named = group.agents.iter().zip(lines).filter(|(_, line)| naming.binary_search(line).is_ok());
        named.map(|(agent, _)| text(agent)).collect::<Vec<_>>()
    });
    let matched = |rule: &Rule| MatchedJson {
        line: rule.line,
        text: text(reading.line(rule.line).unwrap_or_default().trim_ascii()),
        pattern: text(&rule.pattern),
        octets: reading.octets(rule, &path),
    };
    json(&ExplanationJson {
        decision,
        dialect: file.dialect.as_str(),
        why: if is_url { why.as_str() } else { "no-url" },
        group: NamedJson {
            agents: agents.take(MAX_NAMING_LINES).collect(),
            sentence: phrases.group(&naming, naming.len()),
            lines: naming.iter().take(MAX_NAMING_LINES).copied().collect(),
        },
        chosen_by,
        token,
        path: text(&file.dialect.normal_form.shown(&path)),
        best_allow: inner.allow.as_ref().map(matched),
        best_disallow: inner.disallow.as_ref().map(matched),
        sentence: sentence_of(&phrases, &inner, why, &path),
    })
}

fn sentence_of(phrases: &Phrases<'_>, explained: &contents::Explanation, why: DecidingReason, path: &[u8]) -> String {
    let profile = Profile::of_dialect(phrases.reading.dialect());
    match explained.verdict {
        Verdict::Invalid => "the text is not a URL or a path".into(),
        _ => phrases.because(explained, why, path, Some(profile)),
    }
}

fn resolved_of(name: &str, agent: &Agent) -> Resolved {
    Resolved {
        name: name.to_owned(),
        tokens: agent.tokens().map(<[u8]>::to_vec).collect(),
        honors_default_group: agent.honors_default_group(),
    }
}

#[derive(Serialize)]
struct AcrossJson {
    dialect: &'static str,
    #[serde(flatten)]
    decision: Decision,
}

/// Decides a URL under each dialect. The arguments are the way to read the crawler's name, the name, and the URL.
pub fn across(call: Call<'_>) -> Result<Vec<u8>, Failure> {
    let Call { items, handle, mut args, .. } = call;
    let (how, name, url) = (args.text()?, args.text()?, args.bytes()?);
    let Kind::File(file) = &mut items.item(handle)?.kind else {
        return Err(Failure::new(Code::Argument, "a set has one dialect"));
    };
    let is_held = file.body.len() <= MAX_HELD_BYTES;
    if is_held && file.others.is_empty() {
        file.others = ALL.iter().map(|dialect| Robots::parse(&file.body, dialect)).collect::<Result<_, _>>()?;
    }
    let mut answers = Vec::new();
    for (index, dialect) in ALL.into_iter().enumerate() {
        let robots = match file.others.get(index) {
            Some(robots) => robots.clone(),
            None => Robots::parse(&file.body, dialect)?,
        };
        let agent = agent_of(&robots, how, name)?;
        answers.push(AcrossJson { dialect: dialect.as_str(), decision: Decision::of(&agent.explain(url)?) });
    }
    json(&answers)
}

/// Resolves one crawler in a file.
fn agent_of(robots: &Robots, how: &str, name: &str) -> Result<Agent, Failure> {
    let crawler = crate::ask::crawler_of(name, how, |name| robots.crawlers_named(name))?;
    let agent = robots.agent(crawler)?;
    if how == "named" {
        refuse_mistakes(std::iter::once(&agent), &[name.to_owned()])?;
    }
    Ok(agent)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ComparisonJson {
    relation: &'static str,
    is_complete: bool,
    counterexamples: Vec<DifferenceJson>,
}

#[derive(Serialize)]
struct DifferenceJson {
    url: String,
    verdicts: [&'static str; 2],
    lines: [u32; 2],
}

/// Compares two files' permissions for a crawler. The arguments are the way to read its name, and the name.
pub fn compare(call: Call<'_>) -> Result<Vec<u8>, Failure> {
    let Call { items, handle, number, mut args, .. } = call;
    let (how, name) = (args.text()?, args.text()?);
    let (first, second) = (items.file(handle)?, items.file(number)?);
    // A name may occur in only one of the files.
    let agents = [agent_of(&first.robots, how, name), agent_of(&second.robots, how, name)];
    let [first, second] = match agents {
        [Ok(first), Ok(second)] => [first, second],
        [Err(failure), Err(_)] => return Err(failure),
        [Ok(found), Err(_)] => {
            let other = agent_of(&second.robots, "exact", name)?;
            [found, other]
        }
        [Err(_), Ok(found)] => {
            let other = agent_of(&first.robots, "exact", name)?;
            [other, found]
        }
    };
    let found = first.compare(&second, "/")?;
    let relation = match (&found.first_only, &found.second_only) {
        (Witness::None, Witness::None) => "equal",
        (Witness::None, Witness::Path(_)) => "narrower",
        (Witness::Path(_), Witness::None) => "wider",
        (Witness::Path(_), Witness::Path(_)) => "different",
        _ => "unproved",
    };
    let mut counterexamples = Vec::new();
    for witness in [&found.first_only, &found.second_only] {
        if let Witness::Path(path) = witness {
            let [first, second] = [Decision::of(&first.explain(path)?), Decision::of(&second.explain(path)?)];
            let (verdicts, lines) = ([first.verdict, second.verdict], [first.line, second.line]);
            counterexamples.push(DifferenceJson { url: text(path), verdicts, lines });
        }
    }
    json(&ComparisonJson { relation, is_complete: !found.is_unproved(), counterexamples })
}

#[derive(Serialize)]
struct OutcomeJson {
    text: String,
    line: u32,
    crawlers: Vec<String>,
    holds: bool,
    proof: &'static str,
    counterexample: Option<CounterexampleJson>,
    missing: Option<String>,
}

#[derive(Serialize)]
struct CounterexampleJson {
    path: String,
    decisions: Vec<Decision>,
}

/// Proves assertions. The arguments are a switch that accepts crawlers without a group, and the list.
pub fn prove(call: Call<'_>) -> Result<Vec<u8>, Failure> {
    let Call { items, handle, mut args, .. } = call;
    let file = items.file(handle)?;
    let mut options = Options::default();
    options.allow_default = args.switch()?;
    let assertions = Assertions::parse(args.bytes()?)?;
    let outcomes = assertions.prove(&file.robots, &options)?;
    json(&outcomes.iter().map(outcome_of).collect::<Vec<_>>())
}

fn outcome_of(outcome: &Outcome<'_>) -> OutcomeJson {
    let (mut counterexample, mut missing) = (None, None);
    match &outcome.proof {
        Proof::Counterexample(found) => {
            let decisions = found.explanations.iter().map(Decision::of).collect();
            counterexample = Some(CounterexampleJson { path: text(&found.path), decisions });
        }
        Proof::NoGroup(name) => missing = Some(name.clone()),
        _ => {}
    }
    OutcomeJson {
        text: outcome.to_string(),
        line: outcome.assertion.line,
        crawlers: outcome.crawlers.clone(),
        holds: outcome.proof == Proof::Holds,
        proof: outcome.proof.name(),
        counterexample,
        missing,
    }
}

/// Returns the delay between two fetches of a crawler, in seconds and nanoseconds, because a fraction would need more
/// code. Returns `null` if there is no delay.
pub fn crawl_delay(call: Call<'_>) -> Result<Vec<u8>, Failure> {
    let agent = first(call.items.agents(call.handle, call.number)?)?;
    json(&agent.crawl_delay("/")?.map(|delay| (delay.as_secs(), delay.subsec_nanos())))
}
