//! `reptile diff`: two robots.txt files, the rules that came and went, and the URLs whose verdict flips.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use bumpalo::Bump;
use reptile_compiler::agents::{Named, named};
use reptile_compiler::crawlers::{Resolved, of_name};
use reptile_compiler::dialect::{self, Dialect};
use reptile_compiler::limits::MAX_BODY_BYTES;
use reptile_compiler::robots::parse;
use reptile_engine::format::FormatError;
use reptile_engine::set::Set;
use reptile_engine::url::path_of;
use reptile_engine::verdict::{RuleKind, Verdict};

use crate::error::{Failure, Outcome, Result, printable};
use crate::input::dialects;
use crate::lines::{lines, open, without_line_end};
use crate::load::{ONE_ORIGIN, agents_under, compile_one, damaged};
use crate::output::print;

/// Compare two robots.txt files: rules that came and went, and URLs whose verdict flips
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
    let (old, new) = (read(&args.old)?, read(&args.new)?);
    let (old_groups, new_groups) = (groups(&old, dialect), groups(&new, dialect));
    let mut text = String::new();
    compare_rules(&old_groups, &new_groups, &mut text);
    if let Some(path) = &args.urls {
        let mut list = Vec::new();
        open(path)?.read_to_end(&mut list).map_err(|error| Failure::at(path, error))?;
        let named = if args.agents.is_empty() {
            let names: BTreeSet<&str> = old_groups.keys().chain(new_groups.keys()).map(String::as_str).collect();
            names
                .into_iter()
                .chain(["*"])
                .collect::<BTreeSet<_>>()
                .into_iter()
                .map(|name| of_all(name, dialect))
                .collect()
        } else {
            agents_under(dialect, &args.agents)?
        };
        let sets = [compile_one(&args.old, &old, dialect)?, compile_one(&args.new, &new, dialect)?];
        let flips = compare_urls(&sets, &named, &list).map_err(|error| damaged(&args.new, &error))?;
        text.push_str(&flips);
    }
    let outcome = Outcome::from_bad(!text.is_empty());
    print(text)?;
    Ok(outcome)
}

/// The crawler of a name in a file. `*` is one that no group names.
fn of_all(name: &str, dialect: &Dialect) -> Resolved {
    of_name(name.as_bytes(), dialect)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    let file = File::open(path).map_err(|error| Failure::at(path, error))?;
    file.take(MAX_BODY_BYTES as u64 + 1).read_to_end(&mut body).map_err(|error| Failure::at(path, error))?;
    if body.len() > MAX_BODY_BYTES {
        return Err(Failure::at(path, format!("too large; the limit is {MAX_BODY_BYTES} bytes")));
    }
    Ok(body)
}

/// The rules of a name, each with the lines that it stands in.
type Rules = BTreeMap<(RuleKind, Vec<u8>), Vec<u32>>;

/// The rules that each name of a file has, in all of its groups.
fn groups(body: &[u8], dialect: &Dialect) -> BTreeMap<String, Rules> {
    let arena = Bump::new();
    let mut names: BTreeMap<String, Rules> = BTreeMap::new();
    for group in &parse(body, dialect, &arena).groups {
        let tokens: BTreeSet<String> = group
            .agents
            .iter()
            .map(|value| match named(value, dialect) {
                Named::Others => "*".into(),
                Named::Token(token) => printable(token).to_ascii_lowercase(),
            })
            .collect();
        for token in tokens {
            let rules = names.entry(token).or_default();
            for rule in &group.rules {
                rules.entry((rule.kind, rule.value.to_vec())).or_default().push(rule.line);
            }
        }
    }
    names
}

/// Writes what was removed and what was added. Names with the same changes stand together.
fn compare_rules(old: &BTreeMap<String, Rules>, new: &BTreeMap<String, Rules>, text: &mut String) {
    let mut changes: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for name in old.keys().chain(new.keys()).map(String::as_str).collect::<BTreeSet<_>>() {
        let (before, after) = (old.get(name), new.get(name));
        let mut lines = String::new();
        match (before, after) {
            (Some(_), None) => lines.push_str("- the group\n"),
            (None, Some(_)) => lines.push_str("+ the group\n"),
            _ => {}
        }
        let nothing = Rules::new();
        let (before, after) = (before.unwrap_or(&nothing), after.unwrap_or(&nothing));
        let mut list = |sign, rules: &Rules, others: &Rules| {
            let mut gone: Vec<_> = rules.iter().filter(|(rule, _)| !others.contains_key(*rule)).collect();
            gone.sort_by_key(|(_, lines)| lines.first().copied());
            for ((kind, value), at) in gone {
                let at = at.first().copied().unwrap_or(0);
                let key = if *kind == RuleKind::Allow { "Allow" } else { "Disallow" };
                let _ = writeln!(lines, "{sign} {at}: {}", format!("{key}: {}", printable(value)).trim_end());
            }
        };
        list('-', before, after);
        list('+', after, before);
        if !lines.is_empty() {
            changes.entry(lines).or_default().push(name);
        }
    }
    let mut changes: Vec<_> = changes.into_iter().collect();
    changes.sort_by(|a, b| a.1.cmp(&b.1));
    for (lines, names) in changes {
        let _ = write!(text, "@ {}\n{lines}", names.join(", "));
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
