//! A list's lineage, from the counts in its summary.

use std::collections::BTreeMap;

use reptile_columns::TableDecider;

use super::plan::Plan;
use super::totals::Totals;
use crate::run::Run;
use crate::run::lineage::{AgentVerdicts, InputState, Lineage, NamedCounts, RowCounts, SetState, counts_of};

/// The reason for rows with an invalid URL. Other reasons are the names of a [`Fault`](reptile_records::tables::Fault).
const NO_URL: &str = "no-url";

/// Returns a decided list's lineage, without its output.
pub fn of_list(
    run: &Run,
    plan: &Plan,
    set: &SetState,
    input: &InputState,
    totals: &Totals,
    decider: &TableDecider,
) -> Lineage {
    let is_by_row = decider.decider().is_by_row();
    let agents = decider.decider().agents();
    let tally = |at: usize| totals.tally().get(at).copied().unwrap_or_default();
    let verdicts = if is_by_row {
        // Sorted by name. If there are too many, the counted crawlers depend on the threads.
        let crawlers = totals.crawlers().into_iter().flatten();
        let crawlers: BTreeMap<&str, &[u64; 4]> = crawlers.map(|(name, counts)| (&**name, counts)).collect();
        crawlers.into_iter().map(|(agent, counts)| verdicts_of(agent, *counts)).collect()
    } else {
        let agents = agents.iter().enumerate();
        agents.map(|(at, agent)| verdicts_of(&agent.crawler().to_string(), tally(at))).collect()
    };
    let together = if is_by_row { Some(tally(0)) } else { totals.tally().get(agents.len()).copied() };
    Lineage {
        set: Some(set.clone()),
        inputs: vec![InputState { rows: Some(totals.lines), invalid: Some(totals.invalid()), ..input.clone() }],
        rows: RowCounts {
            read: Some(totals.lines),
            // One agent, or the combined verdict of several.
            written: Some(match plan.written.only() {
                Some(only) => together.unwrap_or_else(|| tally(0))[only as usize],
                None => totals.lines,
            }),
            without_agent: is_by_row.then(|| totals.unnamed()),
            without_url: None,
            by_other_origin: Some(totals.stand_ins()),
        },
        verdicts,
        together: together.map(counts_of),
        invalid_rows: invalid_rows(totals),
        ..run.lineage()
    }
}

/// Returns an agent's verdicts.
fn verdicts_of(agent: &str, counts: [u64; 4]) -> AgentVerdicts {
    AgentVerdicts { agent: agent.to_owned(), counts: counts_of(counts) }
}

/// Returns the invalid rows by reason. Rows without a [`Fault`](reptile_records::tables::Fault) have an invalid URL.
fn invalid_rows(totals: &Totals) -> NamedCounts {
    let mut rows: NamedCounts = totals.fault_counts().map(|(fault, count)| (fault.name().to_owned(), count)).collect();
    let rest = totals.invalid().saturating_sub(rows.values().sum());
    if rest > 0 {
        rows.insert(NO_URL.to_owned(), rest);
    }
    rows
}
