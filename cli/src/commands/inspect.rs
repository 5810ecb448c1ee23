//! `reptile inspect`: the contents of a set, as a whole or for one host.
//!
//! For one robots.txt of n bytes, a listing takes n log n steps, O(n) memory, and O(n) bytes of output, which is written as
//! it is made. Automata of more than [`MAX_AUTOMATON_BYTES`] are refused, since their listing takes some forty times their
//! bytes.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use reptile_compiler::set::origin::OwnedOrigin;
use reptile_engine::automaton::{Ruleset, Shape};
use reptile_engine::format::origins::OriginRecord;
use reptile_engine::format::{FORMAT_VERSION, FormatError};
use reptile_engine::set::{Agent, Policy, PolicyGroup, Set};
use reptile_engine::url::{Scheme, origin_of, split};
use reptile_engine::verdict::PolicySource;

use crate::commands::compile::describe_rulesets;
use crate::error::{Exit, Failure, Result, note};
use crate::inputs::options::CompileOptions;
use crate::inputs::sets::agents::agents_of;
use crate::inputs::sets::{Loaded, damaged};
use crate::outputs::file::{Output, print};
use crate::outputs::made;
use crate::outputs::summary::{Summary, grouped};
use crate::outputs::text::printable;

/// Bytes of the automaton of a ruleset that can be listed. The largest of 4,231 real files has less than a tenth of that.
pub const MAX_AUTOMATON_BYTES: usize = 4 << 20;

/// The number of rulesets, the largest first, that are listed.
const LARGEST: usize = 5;

/// Show what a set holds, or what it holds for one host
///
/// For a set as a whole: how it was made, if its .made.json is there, and its figures.
/// A ruleset is the rules that decide together for one group; a policy is what the
/// robots.txt of an origin, or its absence, says for all crawlers. Equal ones are
/// stored once.
///
/// For a host: its origins, and the rules of each group, by their lines. With --scheme,
/// the origins of that scheme only. With --automaton, the states of the automaton that
/// the rules of one crawler are compiled to.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile inspect web.reptile
  reptile inspect web.reptile example.com
  reptile inspect web.reptile https://example.com/
  reptile inspect web.reptile example.com --automaton --agent GPTBot
  reptile inspect web.reptile example.com --automaton --dot | dot -Tpng -o example.png

Exit code: 0 done; 1 the set has no robots.txt for the host; 2 the set cannot be
read."
)]
pub struct Args {
    /// A set file, or what `reptile compile` takes as INPUT
    set: PathBuf,
    /// A host, host:port, or URL
    #[arg(value_name = "HOST")]
    origin: Option<String>,
    /// Print the states of the automaton that decides for --agent
    #[arg(long, requires = "origin")]
    automaton: bool,
    /// The product token of a crawler [default: a crawler that no group names]
    #[arg(long, value_name = "TOKEN", requires = "automaton")]
    agent: Option<String>,
    /// Print the automaton as a graph for Graphviz
    #[arg(long, requires = "automaton")]
    dot: bool,
    #[command(flatten)]
    options: CompileOptions,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Exit> {
    // With a set file, --scheme only chooses what is shown.
    let mut options = args.options.clone();
    if args.origin.is_some() && Loaded::is_set(&args.set)? {
        options.schemes.clear();
    }
    let loaded = Loaded::open(&args.set, &options)?;
    let set = loaded.verified()?;
    let Some(host) = &args.origin else {
        let mut summary = Summary::default();
        made::describe(&args.set, loaded.bytes(), &mut summary)?;
        overview(&set, loaded.bytes().len(), &mut summary).map_err(|error| damaged(&args.set, &error))?;
        print(summary.render())?;
        return Ok(Exit::Done);
    };
    let wanted = Wanted::read(host, &args.options.schemes)?;
    let mut out = BufWriter::new(Output::stdout());
    let shown =
        show_host(args, &set, &wanted, &mut out).and_then(|shown| out.flush().map(|()| shown).map_err(Stop::Write));
    let is_known = shown.map_err(|stop| match stop {
        Stop::Write(error) => out.get_ref().failure(&error),
        Stop::Set(error) => damaged(&args.set, &error),
        Stop::Other(failure) => failure,
    })?;
    if !is_known {
        note(format_args!("{}: no robots.txt is known for {}", args.set.display(), printable(host.as_bytes())));
    }
    Ok(Exit::from_bad(!is_known))
}

/// The reason why listing stopped early.
enum Stop {
    Write(io::Error),
    Set(FormatError),
    Other(Failure),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Write(error)
    }
}

impl From<FormatError> for Stop {
    fn from(error: FormatError) -> Stop {
        Stop::Set(error)
    }
}

/// Writes what the set has for a host. Returns whether it has anything.
fn show_host(args: &Args, set: &Set<&[u8]>, wanted: &Wanted, out: &mut impl Write) -> std::result::Result<bool, Stop> {
    // The table is indexed by whole origins, so a host without scheme and port is compared with every entry.
    let mut found = Vec::new();
    for entry in set.origins() {
        let entry = entry?;
        if wanted.fits(&entry) {
            found.push(entry);
        }
    }
    found.sort_unstable_by_key(|entry| (entry.scheme, entry.port));
    if found.is_empty() {
        return Ok(false);
    }
    if !args.automaton {
        write_host(set, &found, out)?;
        return Ok(true);
    }
    // A name that no group can have stands for a crawler that no group names.
    let agent = args.agent.clone().unwrap_or_else(|| "*".to_owned());
    let agents: Vec<Agent> = match args.agent {
        Some(_) => {
            let agents = agents_of(set, std::slice::from_ref(&agent)).map_err(Stop::Other)?;
            agents.iter().map(|agent| agent.look_up(set)).collect::<std::result::Result<_, _>>()?
        }
        None => vec![set.agent(agent.as_bytes())?],
    };
    if !write_automata(set, &found, &agents, args.dot, out)? {
        note(format_args!("no rules are for agent {}: everything is allowed", printable(agent.as_bytes())));
    }
    Ok(true)
}

/// The origins that the user asks for: a host, perhaps a port, and some schemes.
pub struct Wanted {
    host: Box<[u8]>,
    schemes: Vec<Scheme>,
    port: Option<u16>,
}

impl Wanted {
    /// Reads a host, host:port or URL.
    ///
    /// # Errors
    /// If the host or the port is invalid.
    pub fn read(text: &str, schemes: &[Scheme]) -> Result<Wanted> {
        if let Ok(url) = split(text.as_bytes()) {
            let origin = OwnedOrigin::new(&url.origin).map_err(|error| Failure::new(format!("{text}: {error}")))?;
            return Ok(Wanted { host: origin.host, schemes: vec![origin.scheme], port: Some(origin.port) });
        }
        // Read under two schemes, the port differs if it is not given.
        let read = |scheme| {
            let origin = origin_of(scheme, text.as_bytes()).and_then(|origin| OwnedOrigin::new(&origin));
            origin.map_err(|error| Failure::new(format!("{text}: {error}")))
        };
        let (http, https) = (read(Scheme::Http)?, read(Scheme::Https)?);
        let port = (http.port == https.port).then_some(http.port);
        let schemes = if schemes.is_empty() { Scheme::ALL.to_vec() } else { schemes.to_vec() };
        Ok(Wanted { host: http.host, schemes, port })
    }

    /// Whether an origin is among them.
    pub fn fits(&self, entry: &OriginRecord<'_>) -> bool {
        *entry.host == *self.host
            && self.schemes.contains(&entry.scheme)
            && self.port.is_none_or(|port| port == entry.port)
    }
}

/// Adds the figures of a whole set.
fn overview(set: &Set<&[u8]>, bytes: usize, summary: &mut Summary) -> std::result::Result<(), FormatError> {
    summary.row("dialect", printable(set.dialect().as_bytes()));
    summary.row("format", format!("version {FORMAT_VERSION}"));
    summary.count("origins", set.origin_count());
    summary.count("product tokens named", set.tokens().count()?.into());
    summary.count("policies", set.policy_count()?.into());
    describe_rulesets(set, summary)?;
    summary.count("bytes", bytes as u64);
    for (section, len) in set.section_sizes() {
        summary.count(format!("  section {section}"), len as u64);
    }
    let mut largest = Vec::new();
    for number in 0..set.rulesets().len() {
        largest.push((set.rulesets().get(number)?.len(), number));
    }
    largest.sort_unstable_by_key(|&(len, number)| (Reverse(len), number));
    summary.row("largest rulesets", "");
    for &(_, number) in largest.iter().take(LARGEST) {
        summary.row(format!("  ruleset {number}"), describe(&Ruleset::new(set.rulesets().get(number)?)?));
    }
    Ok(())
}

/// The size and the shape of a ruleset.
fn describe(ruleset: &Ruleset<'_>) -> String {
    let Shape { trie, wildcards, fallbacks } = ruleset.shape();
    let mut parts = vec![
        format!("{} rules", grouped(ruleset.rule_count().into())),
        format!("{} bytes", grouped(ruleset.byte_len() as u64)),
    ];
    parts.extend(trie.then(|| "prefix trie".to_owned()));
    parts.extend((wildcards > 0).then(|| format!("{wildcards} wildcard automata")));
    parts.extend(fallbacks.then(|| "fallback patterns".to_owned()));
    parts.join(", ")
}

/// Writes the policies of some origins. Origins with the same policy are listed together.
fn write_host(set: &Set<&[u8]>, found: &[OriginRecord<'_>], out: &mut impl Write) -> std::result::Result<(), Stop> {
    let mut by_policy: BTreeMap<u32, (Vec<String>, Policy<'_>)> = BTreeMap::new();
    for entry in found {
        let name = format!("{}://{}:{}", entry.scheme.as_str(), printable(entry.host), entry.port);
        let policy = set.policy_of(entry)?;
        by_policy.entry(entry.policy).or_insert_with(|| (Vec::new(), policy)).0.push(name);
    }
    for (number, (origins, policy)) in by_policy {
        writeln!(out, "{}\n  policy {number}", origins.join(" "))?;
        write_groups(set, &policy, out)?;
    }
    Ok(())
}

/// Writes the automata that decide for some agents at some origins, each once. Returns whether there are any.
fn write_automata(
    set: &Set<&[u8]>,
    found: &[OriginRecord<'_>],
    agents: &[Agent],
    dot: bool,
    out: &mut impl Write,
) -> std::result::Result<bool, Stop> {
    let mut shown = BTreeMap::new();
    for entry in found {
        let policy = set.policy_of(entry)?;
        let groups = policy.groups()?;
        for agent in agents {
            let indices = policy.group_indices(agent)?;
            let chosen = indices.iter().filter_map(|&index| groups.get(index as usize));
            shown.extend(chosen.map(|group| (group.rules.number, group.rules.ruleset)));
        }
    }
    for (number, ruleset) in &shown {
        check_len(*number, ruleset.byte_len()).map_err(Stop::Other)?;
        if dot {
            out.write_all(ruleset.to_dot().map_err(FormatError::from)?.as_bytes())?;
        } else {
            write!(out, "ruleset {number}: {}", ruleset.to_text().map_err(FormatError::from)?)?;
        }
    }
    Ok(!shown.is_empty())
}

/// Checks that an automaton is small enough to be printed.
fn check_len(number: u32, len: usize) -> Result<()> {
    if len <= MAX_AUTOMATON_BYTES {
        return Ok(());
    }
    let (len, limit) = (grouped(len as u64), grouped(MAX_AUTOMATON_BYTES as u64));
    let message = format!("ruleset {number}: the automaton has {len} bytes; at most {limit} can be printed");
    Err(Failure::new(message))
}

/// Writes the policy source where it is not a robots.txt, and the groups with their rules.
fn write_groups(set: &Set<&[u8]>, policy: &Policy<'_>, out: &mut impl Write) -> std::result::Result<(), Stop> {
    match policy.source()? {
        PolicySource::AllowAll(cause) => {
            writeln!(out, "  everything is allowed: {cause}")?;
            return Ok(());
        }
        PolicySource::DisallowAll(cause) => {
            writeln!(out, "  everything is disallowed: {cause}")?;
            return Ok(());
        }
        PolicySource::LastGoodCopy(cause) => writeln!(out, "  the last good copy: {cause}")?,
        _ => {}
    }
    let groups = policy.groups()?;
    if groups.is_empty() {
        writeln!(out, "  no groups: everything is allowed")?;
    }
    for PolicyGroup { tokens, is_default, rules } in groups {
        write!(out, "  group: ")?;
        for (index, &token) in tokens.iter().enumerate() {
            let name = set.tokens().name(token)?;
            let separator = if index == 0 { "" } else { ", " };
            write!(out, "{separator}{}", if name.is_empty() { "\"\"".to_owned() } else { printable(name) })?;
        }
        let default_group = match (is_default, tokens.is_empty()) {
            (false, _) => "",
            (true, true) => "*",
            (true, false) => ", *",
        };
        writeln!(out, "{default_group}")?;
        writeln!(out, "    ruleset {}: {}", rules.number, describe(&rules.ruleset))?;
        let mut all = rules.all()?;
        all.sort_by_key(|rule| rule.line);
        let width = all.last().map_or(0, |rule| rule.line.to_string().len());
        for rule in all {
            let shown = printable(&[rule.kind.name().as_bytes(), b": ", &rule.pattern].concat());
            let place = if rules.has_lines() { format!("line {:width$}", rule.line) } else { "no line".into() };
            writeln!(out, "    {place}  {}", shown.trim_end())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_an_automaton_holds_at_its_edges() {
        for (len, fits) in
            [(MAX_AUTOMATON_BYTES - 1, true), (MAX_AUTOMATON_BYTES, true), (MAX_AUTOMATON_BYTES + 1, false)]
        {
            assert_eq!(check_len(0, len).is_ok(), fits, "{len}");
        }
    }
}
