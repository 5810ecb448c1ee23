//! `reptile inspect`: the contents of a set, as a whole, by origin ([`origins`]), or for one host ([`host`]). For sets
//! with times, also the active period of each policy ([`spans`]).
//!
//! For a robots.txt of n bytes, a listing takes n log n steps, O(n) memory, and O(n) bytes of output, written
//! immediately. Automata over [`host::MAX_AUTOMATON_BYTES`] are refused, because a listing takes some forty times their
//! size.

mod host;
mod origins;
mod spans;

use std::cmp::Reverse;
use std::io::{BufWriter, Write};

use reptile::contents::{Agent, FormatError, OriginRecord, Ruleset, Set};
use reptile::urls::{origin_of, split};
use reptile::{FORMAT_VERSION, Origin, Scheme};
use serde_json::{Value, json};

use crate::commands::compile::{describe_rulesets, describe_times};
use crate::error::{Exit, Failure, Result, Stop, note};
use crate::options::SetOptions;
use crate::outputs::build_record;
use crate::outputs::file::Output;
use crate::outputs::json::json_line;
use crate::outputs::summary::Summary;
use crate::sets::agents::agents_of;
use crate::sets::{Loaded, refuse_swapped};
use crate::url_list::refuse_file_as_host;
use reptile_records::place::Place;
use reptile_records::text::printable;
use reptile_records::time::show_time;

/// Maximum number of rulesets listed, the largest first.
const LARGEST: usize = 5;

/// Show the contents of a set, or of one host in it
///
/// For a whole set: how it was made, if its .made.json exists; its dialect, fetch profile
/// and time; and its figures. A ruleset is the rules that decide together for one group. A
/// policy is an origin's rules for all crawlers, or the outcome of fetching if it decides
/// instead. Equal rulesets and policies are stored once.
///
/// With --origins, a line for each origin, with columns separated by tabs:
///   origin        scheme://host:port
///   source        rules, or the outcome of fetching that decides instead
///   fetched       when the deciding capture was fetched; - if that is unknown
///   fresh until   when it should be fetched again
///   holds until   when the answer changes if it is not fetched again
///
/// For a host: its origins, and the rules of each group in line order. For a set made with
/// --by-time, the periods of the policies come first. With --agent, only the groups that
/// this crawler obeys; with --scheme, only origins with that scheme. With --automaton, the
/// states of the automaton compiled from the rules.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile inspect web.reptile
  reptile inspect web.reptile --origins
  reptile inspect web.reptile example.com --agent GPTBot
  reptile inspect web.reptile https://example.com/
  reptile inspect web.reptile example.com --automaton --agent GPTBot
  reptile inspect web.reptile example.com --automaton=dot | dot -Tpng -o example.png

The objects of --json: one for the set; with --origins one for each origin, with
null for unknown times; for a host one for each group: origins, policy, source, agents,
ruleset, rules; and before them, for a set made with --by-time, one for each period:
origin, from, until, source, policy.

Exit code: 0 done; 1 the set has no robots.txt for the host; 2 the set cannot be
read."
)]
pub struct Args {
    /// A set file, or any INPUT of `reptile compile`
    set: Place,
    /// A host, host:port, or URL
    #[arg(value_name = "HOST")]
    origin: Option<String>,
    /// List the origins, in no particular order
    #[arg(long, conflicts_with = "origin")]
    origins: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "automaton")]
    json: bool,
    /// Print the states of the automaton that decides for --agent, or for a crawler that no group names; =dot for
    /// Graphviz
    #[arg(long, value_name = "FORM", requires = "origin", num_args = 0..=1, require_equals = true,
        default_missing_value = "text")]
    automaton: Option<Form>,
    /// Show only the groups that this crawler obeys
    #[arg(short, long, value_name = "TOKEN", requires = "origin")]
    agent: Option<String>,
    #[command(flatten)]
    options: SetOptions,
}

/// How an automaton is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// Its states, as text
    Text,
    /// A graph for Graphviz
    Dot,
}

/// Runs the command.
///
/// # Errors
/// Returns an error if the set cannot be read or is damaged, an argument is invalid, or the output cannot be written.
pub fn run(args: &Args) -> Result<Exit> {
    refuse_swapped("inspect", &args.set, args.origin.as_deref())?;
    refuse_file_as_host(&args.set, args.origin.as_deref())?;
    let loaded = Loaded::open(&args.set, &args.options.with_defaults())?;
    let set = loaded.verified()?;
    let mut out = BufWriter::new(Output::stdout());
    let shown = show(args, &loaded, &set, &mut out);
    let is_known = shown
        .and_then(|shown| out.flush().map(|()| shown).map_err(Stop::Write))
        .map_err(|stop| out.get_ref().stop_failure(stop, &args.set))?;
    if let Some(host) = args.origin.as_ref().filter(|_| !is_known) {
        note(format_args!("{}: no robots.txt is known for {}", args.set.display(), printable(host.as_bytes())));
    }
    Ok(Exit::from_bad(!is_known))
}

/// Writes the requested contents. Returns whether the set has them.
fn show(args: &Args, loaded: &Loaded, set: &Set<&[u8]>, out: &mut impl Write) -> std::result::Result<bool, Stop> {
    if let Some(host) = &args.origin {
        return show_host(args, set, &RequestedOrigins::read(host)?, out);
    }
    if args.origins {
        origins::write(set, args.json, out)?;
    } else if args.json {
        let mut object = overview_json(set, loaded.bytes().len())?;
        object["made"] = build_record::json(&args.set, loaded.bytes())?;
        out.write_all(json_line(&object)?.as_bytes())?;
    } else {
        let mut summary = Summary::default();
        build_record::describe(&args.set, loaded.bytes(), &mut summary)?;
        overview(set, loaded.bytes().len(), &mut summary)?;
        out.write_all(summary.render().as_bytes())?;
    }
    Ok(true)
}

/// Writes a host's contents. Returns whether the set has the host.
fn show_host(
    args: &Args,
    set: &Set<&[u8]>,
    wanted: &RequestedOrigins,
    out: &mut impl Write,
) -> std::result::Result<bool, Stop> {
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
    // No group can be named `*`, so this agent is a crawler that no group names.
    let agents: Vec<Agent> = match &args.agent {
        Some(agent) => {
            let agents = agents_of(set, std::slice::from_ref(agent))?;
            agents.iter().map(|agent| agent.look_up(set)).collect::<std::result::Result<_, _>>()?
        }
        None => vec![set.agent(b"*")?],
    };
    let Some(form) = args.automaton else {
        let agents = args.agent.is_some().then_some(&agents[..]);
        host::write_host(set, &found, agents, args.json, out)?;
        return Ok(true);
    };
    if !host::write_automata(set, &found, &agents, form == Form::Dot, out)? {
        let agent = printable(args.agent.as_deref().unwrap_or("*").as_bytes());
        note(format_args!("no rules apply to agent {agent}: everything is allowed"));
    }
    Ok(true)
}

/// The requested origins: a host, an optional port, and schemes.
pub struct RequestedOrigins {
    host: Box<[u8]>,
    schemes: Vec<Scheme>,
    port: Option<u16>,
}

impl RequestedOrigins {
    /// Reads a host, host:port or URL.
    ///
    /// # Errors
    /// Returns an error if the host or the port is invalid.
    pub fn read(text: &str) -> Result<RequestedOrigins> {
        if let Ok(url) = split(text.as_bytes()) {
            let origin = Origin::new(&url.origin).map_err(|error| Failure::new(format!("{text}: {error}")))?;
            return Ok(RequestedOrigins { host: origin.host, schemes: vec![origin.scheme], port: Some(origin.port) });
        }
        // If no port is given, two schemes have different ports.
        let read = |scheme| {
            let origin = origin_of(scheme, text.as_bytes()).and_then(|origin| Origin::new(&origin));
            origin.map_err(|error| Failure::new(format!("{text}: {error}")))
        };
        let (http, https) = (read(Scheme::Http)?, read(Scheme::Https)?);
        let port = (http.port == https.port).then_some(http.port);
        Ok(RequestedOrigins { host: http.host, schemes: Scheme::ALL.to_vec(), port })
    }

    /// Returns whether an origin is one of them.
    pub fn fits(&self, entry: &OriginRecord<'_>) -> bool {
        *entry.host == *self.host
            && self.schemes.contains(&entry.scheme)
            && self.port.is_none_or(|port| port == entry.port)
    }
}

/// Adds the figures of a whole set.
fn overview(set: &Set<&[u8]>, bytes: usize, summary: &mut Summary) -> std::result::Result<(), FormatError> {
    let reading = set.reading();
    summary.row("dialect", printable(reading.dialect.as_bytes()));
    summary.row("fetch profile", printable(reading.profile.as_bytes()));
    summary.row("as of", reading.at.map_or("no time, because no capture has one".into(), show_time));
    summary.row("format", format!("version {FORMAT_VERSION}"));
    summary.count("origins", set.origin_count());
    describe_times(set, summary)?;
    summary.count("product tokens named", set.tokens().count()?.into());
    summary.count("policies", set.policy_count()?.into());
    describe_rulesets(set, summary)?;
    summary.count("bytes", bytes as u64);
    for (section, len) in set.section_sizes() {
        summary.count(format!("  section {section}"), len as u64);
    }
    summary.row("largest rulesets", "");
    for number in largest(set)? {
        summary.row(format!("  ruleset {number}"), host::describe(&Ruleset::stored(set.rulesets().get(number)?)?));
    }
    Ok(())
}

/// Returns the figures of a whole set as JSON.
fn overview_json(set: &Set<&[u8]>, bytes: usize) -> std::result::Result<Value, FormatError> {
    let reading = set.reading();
    let mut rulesets = Vec::new();
    for number in largest(set)? {
        let ruleset = Ruleset::stored(set.rulesets().get(number)?)?;
        rulesets.push(json!({"ruleset": number, "rules": ruleset.rule_count(), "bytes": ruleset.byte_len()}));
    }
    let sections: serde_json::Map<String, Value> =
        set.section_sizes().map(|(section, len)| (section.to_owned(), len.into())).collect();
    Ok(json!({
        "dialect": reading.dialect,
        "profile": reading.profile,
        "as_of": reading.at.map(show_time),
        "format": FORMAT_VERSION,
        "by_time": set.has_times(),
        "origins": set.origin_count(),
        "product_tokens": set.tokens().count()?,
        "policies": set.policy_count()?,
        "rulesets": set.rulesets().len(),
        "bytes": bytes,
        "sections": sections,
        "largest_rulesets": rulesets,
    }))
}

/// Returns the numbers of the largest rulesets, the largest first.
fn largest(set: &Set<&[u8]>) -> std::result::Result<Vec<u32>, FormatError> {
    let mut largest = Vec::new();
    for number in 0..set.rulesets().len() {
        largest.push((Reverse(set.rulesets().get(number)?.byte_len()), number));
        if largest.len() > 2 * LARGEST {
            largest.sort_unstable();
            largest.truncate(LARGEST);
        }
    }
    largest.sort_unstable();
    Ok(largest.into_iter().take(LARGEST).map(|(_, number)| number).collect())
}
