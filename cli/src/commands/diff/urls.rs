//! The URLs whose verdict changes.
//!
//! Reads the list as it arrives, and writes each row at once. Product tokens that obey the same groups in both files
//! share a row, so the work per URL does not grow with the number of product tokens.

use std::collections::BTreeMap;
use std::io::Write;

use reptile::contents::{Agent, FormatError, Policy, Set};
use reptile::crawlers::{Resolved, of_name};
use reptile::urls::path_at_any_origin;
use reptile::{Dialect, Verdict};
use serde_json::json;

use super::groups::{File, Names};
use crate::error::{Failure, Stop, note};
use crate::outputs::json::{add_bytes, json_line};
use crate::outputs::names::ShownNames;
use crate::outputs::summary::grouped;
use crate::sets::single::ONE_ORIGIN;
use crate::url_list::each_url;
use reptile_records::place::Place;
use reptile_records::text::{pasteable, printable};

/// Maximum number of rows per URL. If there are more, the user must choose crawlers.
pub const MAX_ROWS: usize = 1024;

/// Crawlers that obey the same groups: their names, and one of them, which is decided.
pub struct EqualCrawlers {
    names: ShownNames,
    agent: Resolved,
}

/// Returns a row for each crawler.
pub fn rows_of(agents: Vec<Resolved>) -> Vec<EqualCrawlers> {
    agents.into_iter().map(|agent| EqualCrawlers { names: ShownNames::of([agent.name.clone()], 1), agent }).collect()
}

/// Returns a row for each pair of groups that the files' product tokens obey.
///
/// # Errors
/// Returns an error if there are more than [`MAX_ROWS`].
pub fn rows_of_names(
    names: &Names<'_>,
    files: &[File<'_>; 2],
    dialect: &Dialect,
) -> Result<Vec<EqualCrawlers>, Failure> {
    let mut rows: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (at, name) in names.names.iter().enumerate() {
        let agent = of_name(name.token.unwrap_or(b"*"), dialect);
        let groups = [0, 1].map(|side| match &agent.tokens[..] {
            [_] if agent.honors_default_group => files[side].or_default(name.groups[side]),
            _ => files[side].choose(&agent).1,
        });
        rows.entry(groups).or_default().push(at);
    }
    if rows.len() > MAX_ROWS {
        let count = grouped(rows.len() as u64);
        let message = format!("the files name {count} crawlers with different groups; choose some with --agent");
        return Err(Failure::new(message));
    }
    let mut rows: Vec<Vec<usize>> = rows.into_values().collect();
    rows.sort();
    let name_of = |&at: &usize| names.names[at].token.unwrap_or(b"*");
    let row = |places: Vec<usize>| EqualCrawlers {
        names: ShownNames::of(places.iter().map(|at| String::from_utf8_lossy(name_of(at)).into_owned()), places.len()),
        agent: of_name(places.first().map_or(b"*", name_of), dialect),
    };
    Ok(rows.into_iter().map(row).collect())
}

/// Writes a line for each URL and row whose verdict changes. Returns whether there are any.
///
/// # Errors
/// Returns an error if the list is unreadable or has no URL, if a set is damaged, or if `out` cannot be written.
pub fn compare(
    sets: &[Set<&[u8]>; 2],
    rows: &[EqualCrawlers],
    list: &Place,
    is_json: bool,
    out: &mut impl Write,
) -> Result<bool, Stop> {
    let mut agents = Vec::with_capacity(rows.len());
    for row in rows {
        agents.push([row.agent.look_up(&sets[0])?, row.agent.look_up(&sets[1])?]);
    }
    let policies = [sets[0].policy(&ONE_ORIGIN)?, sets[1].policy(&ONE_ORIGIN)?];
    let (mut any, mut invalid) = (false, 0_u64);
    each_url(list, out, |url, out| {
        let Ok(path) = path_at_any_origin(url).map(|path| path.to_vec()) else {
            invalid += 1;
            return Ok(());
        };
        for (row, agents) in rows.iter().zip(&agents) {
            let old = decide(policies[0].as_ref(), &agents[0], &path)?;
            let new = decide(policies[1].as_ref(), &agents[1], &path)?;
            if old.0 != new.0 {
                out.write_all(row.change(url, old, new, is_json)?.as_bytes())?;
                any = true;
            }
        }
        Ok(())
    })?;
    if invalid > 0 {
        let (name, count) = (list.display(), grouped(invalid));
        note(format_args!("{name}: {count} lines are not a URL or a path that begins with a slash; not compared"));
    }
    Ok(any)
}

impl EqualCrawlers {
    /// Returns a changed verdict as a line.
    fn change(&self, url: &[u8], old: (Verdict, u32), new: (Verdict, u32), is_json: bool) -> Result<String, Failure> {
        if !is_json {
            let (url, names) = (pasteable(url), printable(self.names.list().as_bytes()));
            return Ok(format!("{url}\t{names}\t{}\t{}\t{}\t{}\n", old.0, old.1, new.0, new.1));
        }
        let side = |(verdict, line): (Verdict, u32)| json!({"verdict": verdict.name(), "line": line});
        let mut object = json!({"change": "verdict", "agents": &self.names.shown, "old": side(old), "new": side(new)});
        add_bytes(&mut object, "url", url);
        if self.names.more > 0 {
            object["more_agents"] = self.names.more.into();
        }
        json_line(&object)
    }
}

/// Returns one file's verdict, and the deciding rule's line or 0.
fn decide(policy: Option<&Policy<'_>>, agent: &Agent, path: &[u8]) -> Result<(Verdict, u32), FormatError> {
    let Some(policy) = policy else { return Ok((Verdict::Allow, 0)) };
    let explanation = policy.explain(agent, path)?;
    Ok((explanation.verdict, explanation.rule().map_or(0, |rule| rule.line)))
}
