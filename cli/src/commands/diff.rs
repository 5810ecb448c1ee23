//! `reptile diff`: two robots.txt files, the rules that came, went and moved, the crawlers that obey another group, and
//! the URLs whose verdict flips.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use bumpalo::Bump;
use reptile_compiler::advice::explanation::Reading;
use reptile_compiler::dialect::crawlers::{ALL, Resolved, of_name};
use reptile_compiler::dialect::{self, Dialect, Order};
use reptile_compiler::oracle::{Choice, ChosenBy};
use reptile_compiler::rules::groups::Named;
use reptile_engine::format::FormatError;
use reptile_engine::set::Set;
use reptile_engine::url::path_of;
use reptile_engine::verdict::{RuleKind, Verdict};

use crate::error::{Failure, Outcome, Result, printable};
use crate::inputs::lines::{lines, open, without_line_end};
use crate::inputs::load::{ONE_ORIGIN, agents_under, compile_one, damaged};
use crate::inputs::{dialects, read_single_file};
use crate::outputs::file::print;

/// Compare two robots.txt files: rules that came and went, and URLs whose verdict flips
///
/// Behind "@" stand the names that a group is for; below them "-" marks what it had,
/// "+" what it has, each with its line, and "~" rules that both have but in another
/// order, where the first that matches decides. A "~" with a crawler says that it
/// obeys the group of another name. Last come the URLs, if any are given: URL, agent,
/// verdict and line by the old file, verdict and line by the new one.
///
/// Exit code 0 if nothing changed, 1 if something did.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile diff old.txt new.txt
  reptile diff old.txt new.txt --urls urls.txt --agent MyBot"
)]
pub struct Args {
    /// The robots.txt as it was
    old: PathBuf,
    /// The robots.txt as it is
    new: PathBuf,
    /// URLs to decide by both, one a line, with a host or without; - is standard input
    #[arg(long, value_name = "FILE")]
    urls: Option<PathBuf>,
    /// A crawler, as in `reptile test`; may be given again [default: all that either file names, and *]
    #[arg(short, long = "agent", value_name = "TOKEN")]
    agents: Vec<String>,
    /// Which reading of the protocol the files are given [default: google-lib]
    #[arg(long, value_name = "NAME", value_parser = dialects())]
    dialect: Option<&'static Dialect>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome> {
    let dialect = args.dialect.unwrap_or(dialect::ALL[0]);
    let (old, new) = (read_single_file(&args.old)?, read_single_file(&args.new)?);
    let arena = Bump::new();
    let readings = [Reading::new(&old, dialect, &arena), Reading::new(&new, dialect, &arena)];
    let names = names(&readings);
    let mut text = String::new();
    compare_rules(&names, &readings, &mut text);
    let given = agents_under(dialect, &args.agents)?;
    compare_groups(&names, &given, &readings, &mut text);
    if let Some(path) = &args.urls {
        let mut list = Vec::new();
        open(path)?.read_to_end(&mut list).map_err(|error| Failure::at(path, error))?;
        let agents = if given.is_empty() {
            names.iter().map(|name| of_name(name.as_deref().unwrap_or(b"*"), dialect)).collect()
        } else {
            given
        };
        let sets = [compile_one(&args.old, &old, dialect)?, compile_one(&args.new, &new, dialect)?];
        let flips = compare_urls(&sets, &agents, &list).map_err(|error| damaged(&args.new, &error))?;
        text.push_str(&flips);
    }
    let outcome = Outcome::from_bad(!text.is_empty());
    print(text)?;
    Ok(outcome)
}

/// Whom the groups of either file are for: `None` is everybody who is not named, then the names in lower case.
fn names(readings: &[Reading<'_>; 2]) -> BTreeSet<Option<Vec<u8>>> {
    let of_file = |named: Named<'_>| match named {
        Named::Everyone => None,
        Named::Token(token) => Some(token.to_ascii_lowercase()),
    };
    // Whoever is not named is there even if no group is for him: that both files have none is no change.
    readings.iter().flat_map(Reading::named).map(of_file).chain([None]).collect()
}

/// The groups that are for a name itself, in place of all that its crawler may fall back to.
fn own_groups(name: Option<&[u8]>, reading: &Reading<'_>) -> Choice {
    let tokens = name.map(<[u8]>::to_vec).into_iter().collect();
    reading.choose(&Resolved { name: String::new(), tokens, honours_default_group: name.is_none() })
}

/// Writes what was removed, added and, where their order decides, moved. Names with the same changes stand together.
fn compare_rules(names: &BTreeSet<Option<Vec<u8>>>, readings: &[Reading<'_>; 2], text: &mut String) {
    let mut changes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in names {
        let choices = readings.each_ref().map(|reading| own_groups(name.as_deref(), reading));
        let others = readings.each_ref().map(|reading| own_groups(None, reading));
        let mut lines = String::new();
        let fallback = |choice: &Choice| if choice.groups.is_empty() { "no rules" } else { "the rules for *" };
        match (choices[0].groups.is_empty(), choices[1].groups.is_empty(), name) {
            (false, true, Some(_)) => {
                let _ = writeln!(lines, "- the group; {} are for it now", fallback(&others[1]));
            }
            (true, false, Some(_)) => {
                let _ = writeln!(lines, "+ the group; {} were for it before", fallback(&others[0]));
            }
            (false, true, None) => lines.push_str("- the group\n"),
            (true, false, None) => lines.push_str("+ the group\n"),
            _ => {}
        }
        let [before, after] = [0, 1].map(|side| first_lines(&readings[side], &choices[side]));
        let mut list = |sign, rules: &Rules<'_>, others: &Rules<'_>| {
            let mut gone: Vec<_> = rules.iter().filter(|(rule, _)| !others.contains_key(*rule)).collect();
            gone.sort_by_key(|(_, line)| **line);
            for (rule, line) in gone {
                let _ = writeln!(lines, "{sign} {line}: {}", shown(*rule));
            }
        };
        list('-', &before, &after);
        list('+', &after, &before);
        if readings[0].dialect().order == Order::FileOrder {
            for (rule, old, new) in moved(&before, &after) {
                let _ = writeln!(lines, "~ {old} > {new}: {}", shown(rule));
            }
        }
        if !lines.is_empty() {
            let name = name.as_deref().map_or_else(|| "*".into(), printable);
            changes.entry(lines).or_default().push(name);
        }
    }
    let mut changes: Vec<_> = changes.into_iter().collect();
    changes.sort_by(|a, b| a.1.cmp(&b.1));
    for (lines, names) in changes {
        let _ = write!(text, "@ {}\n{lines}", names.join(", "));
    }
}

/// A rule as written.
type Written<'b> = (RuleKind, &'b [u8]);

/// The rules of a name, each with the first line that it stands in.
type Rules<'b> = BTreeMap<Written<'b>, u32>;

fn first_lines<'b>(reading: &Reading<'b>, choice: &Choice) -> Rules<'b> {
    let mut rules = Rules::new();
    for rule in reading.rules(choice) {
        rules.entry((rule.kind, rule.value)).or_insert(rule.line);
    }
    rules
}

fn shown((kind, value): Written<'_>) -> String {
    format!("{}: {}", kind.name(), printable(value)).trim_end().to_owned()
}

/// Rules that both files have, but that stand in another order: the fewest without which the others are in the same.
/// Each with its line before and after. Time: their number times its logarithm.
fn moved<'b>(before: &Rules<'b>, after: &Rules<'b>) -> Vec<(Written<'b>, u32, u32)> {
    let common = before.iter().filter_map(|(rule, &old)| after.get(rule).map(|&new| (old, new, *rule)));
    let mut common: Vec<(u32, u32, Written<'b>)> = common.collect();
    common.sort_unstable();
    // The longest run of rising lines: for each length the least last line, and for each rule the one in front of it.
    let (mut ends, mut previous): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), Vec::with_capacity(common.len()));
    for (index, &(_, new, _)) in common.iter().enumerate() {
        let length = ends.partition_point(|&end| common[end].1 < new);
        previous.push(length.checked_sub(1).map(|length| ends[length]));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut stays = vec![false; common.len()];
    let mut at = ends.last().copied();
    while let Some(index) = at {
        stays[index] = true;
        at = previous[index];
    }
    let moved = common.into_iter().zip(stays).filter(|(_, stays)| !stays);
    moved.map(|((old, new, rule), _)| (rule, old, new)).collect()
}

/// Writes which crawlers obey the groups of another name than before: those that were given, or those that the dialect
/// knows by several names.
fn compare_groups(
    names: &BTreeSet<Option<Vec<u8>>>,
    given: &[Resolved],
    readings: &[Reading<'_>; 2],
    text: &mut String,
) {
    let dialect = readings[0].dialect();
    let known: Vec<Resolved> = if given.is_empty() {
        let names = ALL.iter().map(|crawler| of_name(crawler.name.as_bytes(), dialect));
        names.filter(|crawler| crawler.tokens.len() > 1).collect()
    } else {
        given.to_vec()
    };
    for agent in known {
        // Of a crawler that goes by one name it has been said already.
        if let [token] = &agent.tokens[..]
            && names.contains(&Some(token.to_ascii_lowercase()))
        {
            continue;
        }
        let obeys = readings.each_ref().map(|reading| match reading.choose(&agent).by {
            ChosenBy::Token(index) => agent.tokens.get(index).map_or_else(String::new, |token| printable(token)),
            ChosenBy::DefaultGroup => "*".into(),
            ChosenBy::Nobody => "nobody".into(),
        });
        if obeys[0] != obeys[1] {
            let name = printable(agent.name.as_bytes());
            let _ = writeln!(text, "~ {name}: obeyed the rules for {}, obeys those for {}", obeys[0], obeys[1]);
        }
    }
}

/// A row for each URL and crawler whose verdict is another one.
fn compare_urls(sets: &[Vec<u8>; 2], named: &[Resolved], list: &[u8]) -> std::result::Result<String, FormatError> {
    let sets = [Set::from_bytes(&sets[0][..])?, Set::from_bytes(&sets[1][..])?];
    let mut agents = Vec::new();
    for resolved in named {
        agents.push((printable(resolved.name.as_bytes()), [resolved.look_up(&sets[0])?, resolved.look_up(&sets[1])?]));
    }
    let policies = [sets[0].policy(&ONE_ORIGIN)?, sets[1].policy(&ONE_ORIGIN)?];
    let mut text = String::new();
    for url in lines(list).map(without_line_end).filter(|url| !url.is_empty()) {
        for (name, agents) in &agents {
            let mut found = [(Verdict::Allow, 0); 2];
            for ((policy, agent), found) in policies.iter().zip(agents).zip(&mut found) {
                if let Some(policy) = policy {
                    let explanation = path_of(url).with(|path| policy.explain(agent, path))?;
                    *found = (explanation.verdict, explanation.rule().map_or(0, |rule| rule.line));
                }
            }
            let [(old, old_line), (new, new_line)] = found;
            if old != new {
                let url = printable(url).replace('\t', "%09");
                let _ = writeln!(text, "{url}\t{name}\t{old}\t{old_line}\t{new}\t{new_line}");
            }
        }
    }
    Ok(text)
}
