//! `reptile inspect`: what is in a set, as a whole or for one host.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;

use reptile_compiler::set::origin::OwnedOrigin;
use reptile_engine::automaton::{Ruleset, Shape};
use reptile_engine::format::tables::OriginRecord;
use reptile_engine::format::{FORMAT_VERSION, FormatError};
use reptile_engine::set::{Agent, Policy, Set};
use reptile_engine::url::{Scheme, origin_of, split};
use reptile_engine::verdict::PolicySource;

use crate::commands::compile::describe_rulesets;
use crate::error::{Failure, Outcome, Result, note, printable};
use crate::inputs::load::{Loaded, agents_of, damaged, has_label};
use crate::inputs::{CompileOptions, Kind};
use crate::outputs::file::print;
use crate::outputs::summary::{Summary, grouped};

/// How many of the largest rulesets are listed.
const LARGEST: usize = 5;

/// Show what a set holds, or what it holds for one host
///
/// For a host: its origins, and the rules of each group, by their lines. With --scheme, the origins of that scheme only.
/// With --automaton, the states of the automaton that the rules of one crawler are compiled to.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  reptile inspect web.reptile
  reptile inspect web.reptile example.com
  reptile inspect web.reptile https://example.com/
  reptile inspect web.reptile example.com --automaton --agent GPTBot
  reptile inspect web.reptile example.com --automaton --dot | dot -Tpng -o example.png

Exit code: 0 done, 1 the set knows no such origin, 2 the set cannot be read.")]
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
pub fn run(args: &Args) -> Result<Outcome> {
    // A set file is not read any differently for it; --scheme only chooses what is shown.
    let mut options = args.options.clone();
    if Kind::of(&args.set)? != Kind::Directory && has_label(&args.set) && args.origin.is_some() {
        options.schemes.clear();
    }
    let loaded = Loaded::open(&args.set, &options)?;
    let set = loaded.verified()?;
    let Some(host) = &args.origin else {
        print(overview(&set, loaded.byte_len()).map_err(|error| damaged(&args.set, &error))?)?;
        return Ok(Outcome::Done);
    };
    let wanted = Wanted::read(host, &args.options.schemes)?;
    let mut text = host_listing(&set, &wanted).map_err(|error| damaged(&args.set, &error))?;
    if text.is_empty() {
        note(format_args!("{}: no robots.txt is known for {}", args.set.display(), printable(host.as_bytes())));
        return Ok(Outcome::SomeBad);
    }
    if args.automaton {
        // A name that no group can have stands for a crawler that no group names.
        let agent = args.agent.clone().unwrap_or_else(|| "*".to_owned());
        let agents = match args.agent {
            Some(_) => agents_of(&set, std::slice::from_ref(&agent))?.iter().map(|agent| agent.look_up(&set)).collect(),
            None => set.agent(agent.as_bytes()).map(|agent| vec![agent]),
        };
        let shown = agents.and_then(|agents: Vec<Agent>| automata(&set, &wanted, &agents, args.dot));
        text = shown.map_err(|error| damaged(&args.set, &error))?;
        if text.is_empty() {
            note(format_args!("no rules are for agent {}: everything is allowed", printable(agent.as_bytes())));
        }
    }
    print(text)?;
    Ok(Outcome::Done)
}

/// The origins that are asked for.
pub struct Wanted {
    host: Box<[u8]>,
    schemes: Vec<Scheme>,
    port: Option<u16>,
}

impl Wanted {
    /// Reads a host, host:port or URL.
    pub fn read(text: &str, schemes: &[Scheme]) -> Result<Wanted> {
        if let Ok(url) = split(text.as_bytes()) {
            let origin = OwnedOrigin::new(&url.origin).map_err(|error| Failure::new(format!("{text}: {error}")))?;
            return Ok(Wanted { host: origin.host, schemes: vec![origin.scheme], port: Some(origin.port) });
        }
        // Read under two schemes, a port that is not given shows by being different.
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

fn overview(set: &Set<&[u8]>, bytes: usize) -> std::result::Result<String, FormatError> {
    let mut summary = Summary::default();
    summary.row("dialect", printable(set.dialect().as_bytes()));
    summary.row("format", format!("version {FORMAT_VERSION}"));
    summary.count("origins", set.origins().len() as u64);
    summary.count("agents named", set.agents().count()?.into());
    summary.count("policies", set.policy_count()?.into());
    describe_rulesets(set, &mut summary)?;
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
    Ok(summary.render())
}

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

/// Everything that the set knows of a host. Origins with the same policy are listed together.
fn host_listing(set: &Set<&[u8]>, wanted: &Wanted) -> std::result::Result<String, FormatError> {
    let mut by_policy: BTreeMap<u32, (Vec<String>, Policy<'_>)> = BTreeMap::new();
    let mut found = Vec::new();
    // The table has no index for a host of unknown scheme and port, so this looks at every entry.
    for place in 0..set.origins().len() {
        let entry = set.origins().at(place)?;
        if wanted.fits(&entry) {
            found.push(entry);
        }
    }
    found.sort_unstable_by_key(|entry| (entry.scheme, entry.port));
    for entry in found {
        let name = format!("{}://{}:{}", entry.scheme.name(), printable(entry.host), entry.port);
        let policy = set.policy_of(&entry)?;
        by_policy.entry(entry.policy).or_insert_with(|| (Vec::new(), policy)).0.push(name);
    }
    let mut text = String::new();
    for (number, (origins, policy)) in by_policy {
        text.push_str(&format!("{}\n  policy {number}\n", origins.join(" ")));
        push_groups(set, &policy, &mut text)?;
    }
    Ok(text)
}

/// The automata that decide for some agents at the origins that are asked for, each once.
fn automata(
    set: &Set<&[u8]>,
    wanted: &Wanted,
    agents: &[Agent],
    dot: bool,
) -> std::result::Result<String, FormatError> {
    let mut shown = BTreeMap::new();
    for place in 0..set.origins().len() {
        let entry = set.origins().at(place)?;
        if !wanted.fits(&entry) {
            continue;
        }
        let policy = set.policy_of(&entry)?;
        let groups = policy.groups()?;
        for agent in agents {
            let indices = policy.group_indices(agent)?;
            let rules = indices.iter().filter_map(|&index| groups.get(index as usize));
            shown.extend(rules.map(|(_, _, rules)| (rules.number, rules.ruleset)));
        }
    }
    let mut text = String::new();
    for (number, ruleset) in &shown {
        if dot {
            text.push_str(&ruleset.to_dot()?);
        } else {
            text.push_str(&format!("ruleset {number}: {}", ruleset.to_text()?));
        }
    }
    Ok(text)
}

fn push_groups(set: &Set<&[u8]>, policy: &Policy<'_>, text: &mut String) -> std::result::Result<(), FormatError> {
    match policy.source()? {
        PolicySource::AllowAll(cause) => {
            text.push_str(&format!("  everything is allowed: {cause}\n"));
            return Ok(());
        }
        PolicySource::DisallowAll(cause) => {
            text.push_str(&format!("  everything is disallowed: {cause}\n"));
            return Ok(());
        }
        PolicySource::LastGoodCopy(cause) => text.push_str(&format!("  the last good copy: {cause}\n")),
        _ => {}
    }
    let groups = policy.groups()?;
    if groups.is_empty() {
        text.push_str("  no groups: everything is allowed\n");
    }
    for (agents, for_default_group, rules) in groups {
        let mut names = Vec::new();
        for agent in agents {
            let name = set.agents().name(agent)?;
            names.push(if name.is_empty() { "\"\"".to_owned() } else { printable(name) });
        }
        names.extend(for_default_group.then(|| "*".to_owned()));
        text.push_str(&format!("  agents: {}\n", names.join(", ")));
        text.push_str(&format!("    ruleset {}: {}\n", rules.number, describe(&rules.ruleset)));
        let mut all = rules.all()?;
        all.sort_by_key(|rule| rule.line);
        let width = all.last().map_or(0, |rule| rule.line.to_string().len());
        for rule in all {
            let shown = printable(&[rule.kind.name().as_bytes(), b": ", &rule.pattern].concat());
            let place = if rules.has_lines() { format!("line {:width$}", rule.line) } else { "no line".into() };
            text.push_str(&format!("    {place}  {}\n", shown.trim_end()));
        }
    }
    Ok(())
}
