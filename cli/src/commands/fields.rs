//! `reptile fields`: the other directives, which decide no URL, one on each line.
//!
//! An origin whose robots.txt has n bytes takes n log n steps and O(n) memory, and each line has at most
//! [`MAX_NAMES_BYTES`](crate::outputs::names::MAX_NAMES_BYTES) bytes of product tokens. Lines are written
//! immediately, so memory does not grow with the number of origins.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufWriter, Write};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use reptile::body::{Hours, directives};
use reptile::contents::{Agent, Directive, FormatError, Policy, PolicyGroup, Set, Site};
use reptile::urls::OriginRef;
use reptile::usage::{Preference, Statement, TOKENS};
use reptile::{DirectiveKind, DirectiveState, RuleKind};
use serde_json::{Value, json};

use crate::commands::inspect::RequestedOrigins;
use crate::error::{Exit, Failure, Result, Stop, damaged, note};
use crate::options::SetOptions;
use crate::outputs::file::Output;
use crate::outputs::json::safe_json;
use crate::outputs::names::{MAX_NAMES_SHOWN, ShownNames};
use crate::sets::agents::agents_of;
use crate::sets::single::ONE_ORIGIN;
use crate::sets::{Loaded, refuse_swapped};
use crate::url_list::refuse_file_as_host;
use reptile_records::place::Place;
use reptile_records::text::{escaped, printable};

/// Show other directives, which do not affect verdicts: Sitemap, Crawl-delay and the like
///
/// Prints a line for each, with columns separated by tabs:
///   origin   scheme://host:port; - for a single robots.txt
///   line     its number in the robots.txt
///   key      in lower case
///   state    counts, or why it does not under the dialect: not-read, malformed,
///            outside (of every group), superseded (by an earlier line)
///   agents   the product tokens that it applies to; * means the default group, - every
///            crawler, and an empty column no crawler; of many, the first are listed
///            and the others counted
///   value    as written; \t, \\ and \xNN replace characters that would break a column
/// Rules in a group whose token names a use, such as __usage_ai-training, are statements
/// about that use. They follow the other lines, with the key allow or disallow and this
/// token; line 0 is for a group without rules, which permits the use everywhere.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile fields robots.txt
  reptile fields web.reptile example.com --kind sitemap
  reptile fields web.reptile --kind crawl-delay --agent bingbot --json

The fields of --json, an object on each line: those above, and
  agents       a list; null for every crawler
  more_agents  the number of others, if \"agents\" is incomplete
  means        the value, parsed; for statements about uses an object with the preference
               for each label, the path if there is one, and the error if it cannot be read

Exit code: 0 done; 1 the set has no robots.txt for the host; 2 the set cannot be
read."
)]
pub struct Args {
    /// A set file, a robots.txt, or any INPUT of `reptile compile`
    set: Place,
    /// A host, host:port, or URL [default: every origin]
    #[arg(value_name = "HOST")]
    origin: Option<String>,
    /// Show only lines of this kind; can be repeated
    #[arg(long = "kind", value_name = "KIND", value_parser = kinds())]
    kinds: Vec<DirectiveKind>,
    /// Show only lines for this crawler or for every crawler
    ///
    /// Content-Signal and License lines before all groups do not apply to a crawler whose group has such lines (for
    /// License, valid ones).
    #[arg(short, long, value_name = "TOKEN")]
    agent: Option<String>,
    /// Print a JSON object for each line, with parsed values
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    options: SetOptions,
}

/// Returns a parser for directive kind names.
fn kinds() -> impl TypedValueParser<Value = DirectiveKind> {
    let find = |name: String| DirectiveKind::ALL.into_iter().find(|kind| kind.as_str() == name);
    PossibleValuesParser::new(DirectiveKind::ALL.map(DirectiveKind::as_str))
        .try_map(move |name| find(name).ok_or("no such kind"))
}

/// Runs the command.
///
/// # Errors
/// Returns an error if the set or the input cannot be read, or the output cannot be written.
pub fn run(args: &Args) -> Result<Exit> {
    refuse_swapped("fields", &args.set, args.origin.as_deref())?;
    refuse_file_as_host(&args.set, args.origin.as_deref())?;
    let (loaded, is_one) = Loaded::open_or_robots(&args.set, &args.options.with_defaults())?;
    let set = loaded.verified()?;
    let fail = |error: FormatError| damaged(&args.set, &error);
    let agent = match &args.agent {
        None => None,
        Some(spec) => match &agents_of(&set, std::slice::from_ref(spec))?[..] {
            [one] => Some(one.look_up(&set).map_err(fail)?),
            _ => return Err(Failure::new("--agent takes one crawler here, not a group of crawlers")),
        },
    };
    let wanted = args.origin.as_deref().map(RequestedOrigins::read).transpose()?;
    loaded.note_without_other_directives(&set);
    let mut out = BufWriter::new(Output::stdout());
    let mut any = false;
    // Written origin by origin, because a set may have millions of them.
    for entry in set.origins() {
        let entry = entry.map_err(fail)?;
        if wanted.as_ref().is_some_and(|wanted| !wanted.fits(&entry)) {
            continue;
        }
        any = true;
        let origin = OriginRef { scheme: entry.scheme, host: entry.host, port: entry.port };
        let name = if is_one && origin == ONE_ORIGIN {
            "-".to_owned()
        } else {
            format!("{}://{}:{}", entry.scheme.as_str(), printable(entry.host), entry.port)
        };
        let written = set.site_of(&entry).map_err(Stop::Set).and_then(|site| {
            write_lines(args, &set, &site, agent.as_ref(), &name, &mut out)?;
            let is_wanted = args.kinds.is_empty() || args.kinds.contains(&DirectiveKind::ContentUsage);
            if is_wanted { write_statements_of_tokens(args.json, &set, site.policy(), &name, &mut out) } else { Ok(()) }
        });
        written.map_err(|stop| out.get_ref().stop_failure(stop, &args.set))?;
    }
    if let Err(error) = out.flush() {
        return Err(out.get_ref().failure(&error));
    }
    if let Some(host) = args.origin.as_ref().filter(|_| !any) {
        note(format_args!("{}: no robots.txt is known for {}", args.set.display(), printable(host.as_bytes())));
        return Ok(Exit::SomeBad);
    }
    Ok(Exit::Done)
}

/// Writes the directives of one origin that the user asks for.
fn write_lines(
    args: &Args,
    set: &Set<&[u8]>,
    site: &Site<'_>,
    agent: Option<&Agent>,
    origin: &str,
    out: &mut impl Write,
) -> std::result::Result<(), Stop> {
    let (policy, list) = (site.policy(), site.other());
    if list.is_empty() {
        return Ok(());
    }
    let of_agent = agent.map(|agent| list.parts_of(&policy.group_indices(agent)?)).transpose()?;
    let of_agent: Option<BTreeSet<u32>> = of_agent.map(|parts| parts.into_iter().collect());
    let replaced = of_agent.as_ref().map(|parts| ReplacedLines::by(site, parts)).transpose()?.unwrap_or_default();
    let names = names_of_parts(set, policy, &list.parts()?)?;
    let mut reader = list.reader()?;
    while let Some(field) = reader.next()? {
        let is_for_agent = match (field.part, &of_agent) {
            (Some(part), Some(parts)) => parts.contains(&part),
            (None, _) => !replaced.has(&field),
            (Some(_), None) => true,
        };
        if !is_for_agent || !(args.kinds.is_empty() || args.kinds.contains(&field.kind)) {
            continue;
        }
        let agents = field.part.and_then(|part| names.get(&part));
        if args.json {
            let mut object = json!({
                "origin": origin,
                "line": field.line,
                "key": key_of(&field),
                "state": field.state.as_str(),
                "agents": agents.map(|agents| &agents.few.shown),
                "value": String::from_utf8_lossy(field.value),
                "means": meaning(&field),
            });
            if let Some(more) = agents.map(|agents| agents.few.more).filter(|&more| more > 0) {
                object["more_agents"] = more.into();
            }
            out.write_all(safe_json(&object.to_string()).as_bytes())?;
        } else {
            let agents = agents.map_or("-", |agents| &agents.column);
            let (key, value) = (escaped(key_of(&field).as_bytes()), escaped(field.value));
            writeln!(out, "{origin}\t{}\t{key}\t{}\t{agents}\t{value}", field.line, field.state.as_str())?;
        }
    }
    Ok(())
}

/// A rule in a group whose token names a use: a statement about the use, for the paths that it matches.
struct TokenStatement {
    token: &'static str,
    /// The use's label in `Content-Usage`.
    label: &'static str,
    kind: RuleKind,
    /// The rule's line, or 0 for a group without rules, which permits the use everywhere.
    line: u32,
    pattern: Vec<u8>,
}

/// Returns the statements in groups whose token names a use.
fn statements_of_tokens(
    set: &Set<&[u8]>,
    policy: &Policy<'_>,
) -> std::result::Result<Vec<TokenStatement>, FormatError> {
    let mut statements = Vec::new();
    for (token, label) in TOKENS {
        let Some(number) = set.tokens().find(token.as_bytes())? else { continue };
        let of_rule = |kind, line, pattern: &[u8]| TokenStatement { token, label, kind, line, pattern: pattern.into() };
        for group in policy.groups()?.iter().filter(|group| group.tokens.contains(&number)) {
            let mut rules = group.rules.all()?;
            rules.sort_by_key(|rule| rule.line);
            statements.extend(rules.iter().map(|rule| of_rule(rule.kind, rule.line, &rule.pattern)));
            statements.extend(rules.is_empty().then(|| of_rule(RuleKind::Allow, 0, b"")));
        }
    }
    Ok(statements)
}

/// Writes the statements in groups whose token names a use.
fn write_statements_of_tokens(
    is_json: bool,
    set: &Set<&[u8]>,
    policy: &Policy<'_>,
    origin: &str,
    out: &mut impl Write,
) -> std::result::Result<(), Stop> {
    let state = DirectiveState::Counts.as_str();
    for TokenStatement { token, label, kind, line, pattern } in statements_of_tokens(set, policy)? {
        let key = kind.name().to_ascii_lowercase();
        if !is_json {
            writeln!(out, "{origin}\t{line}\t{key}\t{state}\t{token}\t{}", escaped(&pattern))?;
            continue;
        }
        // An empty rule matches nothing, and where no rule matches, the use is permitted.
        let preference = match kind {
            RuleKind::Disallow if !pattern.is_empty() => Preference::Disallowed,
            _ => Preference::Allowed,
        };
        let path = String::from_utf8_lossy(&pattern);
        let object = json!({
            "origin": origin,
            "line": line,
            "key": key,
            "state": state,
            "agents": [token],
            "value": path,
            "means": {"path": path, "statement": {label: preference.name()}, "error": null},
        });
        out.write_all(safe_json(&object.to_string()).as_bytes())?;
    }
    Ok(())
}

/// The product tokens that a part of a file is for.
struct PartNames {
    few: ShownNames,
    column: String,
}

/// Returns the product tokens that each part of a file is for.
fn names_of_parts(
    set: &Set<&[u8]>,
    policy: &Policy<'_>,
    parts: &[(u32, u32)],
) -> std::result::Result<BTreeMap<u32, PartNames>, FormatError> {
    if parts.is_empty() {
        return Ok(BTreeMap::new());
    }
    let groups = policy.groups()?;
    let mut groups_of: BTreeMap<u32, Vec<&PolicyGroup<'_>>> = BTreeMap::new();
    for &(group, part) in parts {
        groups_of.entry(part).or_default().extend(groups.get(group as usize));
    }
    let names = groups_of.into_iter().map(|(part, groups)| Ok((part, part_names(set, &groups)?)));
    names.collect()
}

/// Returns the product tokens of some groups.
fn part_names(set: &Set<&[u8]>, groups: &[&PolicyGroup<'_>]) -> std::result::Result<PartNames, FormatError> {
    // Product token numbers follow name order, so only the displayed tokens are read.
    let mut tokens: Vec<u32> = groups.iter().flat_map(|group| &group.tokens).copied().collect();
    tokens.sort_unstable();
    let is_default = groups.iter().any(|group| group.is_default);
    let mut names: Vec<String> = is_default.then(|| "*".to_owned()).into_iter().collect();
    for &token in tokens.iter().take(MAX_NAMES_SHOWN) {
        names.push(String::from_utf8_lossy(set.tokens().name(token)?).into_owned());
    }
    let count = tokens.len() + usize::from(is_default);
    let few = ShownNames::of(names, count);
    Ok(PartNames { column: escaped(few.list().as_bytes()), few })
}

/// Returns the key of a directive in lower case.
fn key_of(field: &Directive<'_>) -> String {
    match field.kind {
        DirectiveKind::Other => String::from_utf8_lossy(field.key).to_ascii_lowercase(),
        kind => kind.as_str().to_owned(),
    }
}

/// Returns a statement as an object, with labels whose values cannot be read as unknown.
fn statement_of(statement: &Statement, unread: &[Box<str>]) -> Value {
    let unread = unread.iter().map(|label| (&**label, Preference::Unknown));
    let entries = unread.chain(statement.entries());
    Value::Object(entries.map(|(label, preference)| (label.to_owned(), preference.name().into())).collect())
}

fn is_license(field: &Directive<'_>) -> bool {
    field.kind == DirectiveKind::Other && field.key.eq_ignore_ascii_case(b"license")
}

/// Returns whether a text is an absolute URI: a scheme, a colon, and at least one character, without white space.
///
/// Source: RSL 1.0, section 4.4; RFC 3986, section 4.3.
fn is_absolute_uri(text: &[u8]) -> bool {
    let Some(colon) = text.iter().position(|&byte| byte == b':') else { return false };
    let (scheme, rest) = (&text[..colon], &text[colon + 1..]);
    let in_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let in_rest = |byte: &u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}#".contains(byte);
    scheme.first().is_some_and(u8::is_ascii_alphabetic)
        && scheme.iter().all(in_scheme)
        && !rest.is_empty()
        && rest != b"//"
        && rest.iter().all(in_rest)
}

/// The kinds of lines before all groups that a group's own lines of the same kind replace.
#[derive(Default)]
struct ReplacedLines {
    licenses: bool,
    signals: bool,
}

impl ReplacedLines {
    /// Returns the kinds that the groups of a crawler state themselves.
    ///
    /// Source: RSL 1.0, section 4.4, for licenses: only valid ones count. For signals it is our choice.
    fn by(site: &Site<'_>, parts: &BTreeSet<u32>) -> std::result::Result<ReplacedLines, FormatError> {
        let (mut replaced, mut reader) = (ReplacedLines::default(), site.other().reader()?);
        while let Some(field) = reader.next()? {
            if field.part.is_some_and(|part| parts.contains(&part)) {
                replaced.licenses |= is_license(&field) && is_absolute_uri(field.value);
                replaced.signals |= field.kind == DirectiveKind::ContentSignal;
            }
        }
        Ok(replaced)
    }

    /// Returns whether a line before all groups does not apply to the crawler.
    fn has(&self, field: &Directive<'_>) -> bool {
        self.licenses && is_license(field) || self.signals && field.kind == DirectiveKind::ContentSignal
    }
}

/// Returns the meaning of a value, or null if it cannot be parsed or its kind has no syntax.
fn meaning(field: &Directive<'_>) -> Value {
    let text = |bytes: &[u8]| Value::from(String::from_utf8_lossy(bytes));
    let hours = |hours: Hours| json!({"start_minute": hours.start, "end_minute": hours.end});
    let value = field.value;
    let meaning = match field.kind {
        DirectiveKind::CrawlDelay => directives::crawl_delay(value).map(|delay| json!({"seconds": delay.as_secs_f64()})),
        DirectiveKind::RequestRate => directives::request_rate(value).map(|rate| {
            json!({"documents": rate.documents, "seconds": rate.seconds, "hours": rate.hours.map(hours)})
        }),
        DirectiveKind::VisitTime => directives::visit_time(value).map(hours),
        DirectiveKind::Host => directives::host(value).map(|(name, port)| json!({"host": text(name), "port": port})),
        DirectiveKind::CleanParam => directives::CleanParam::parse(value).map(|param| {
            json!({"names": param.names.into_iter().map(text).collect::<Vec<_>>(), "prefix": text(param.prefix)})
        }),
        DirectiveKind::ContentSignal => {
            let (signals, is_whole) = Statement::signals(value);
            let error = (!is_whole).then_some("not everything is a signal such as search=yes; the rest is read");
            Some(json!({"statement": statement_of(&signals, &[]), "error": error}))
        }
        DirectiveKind::ContentUsage => {
            let (path, statement) = directives::content_usage(value);
            let (statement, error) = match Statement::parse_all(statement) {
                Ok((stated, unread)) => (statement_of(&stated, &unread), None),
                Err(error) => (Value::Null, Some(error.to_string())),
            };
            Some(json!({"path": path.map(text), "statement": statement, "error": error}))
        }
        DirectiveKind::Other if is_license(field) => {
            let is_url = is_absolute_uri(value);
            let error = (!is_url).then_some("not an absolute URI such as https://example.com/license.xml");
            Some(json!({"url": is_url.then(|| text(value)), "error": error}))
        }
        DirectiveKind::Other if field.key.eq_ignore_ascii_case(b"disallowaitraining") => {
            Some(json!({"path": text(value), "error": "from an expired draft: no vocabulary reads it"}))
        }
        _ => None,
    };
    meaning.unwrap_or(Value::Null)
}
