//! Decides one list, and publishes its output. [`pages`] does so for an archive's pages.

use std::time::Instant;

use reptile::Agents;

use super::files::{Decided, Files, Input, NextOutput};
use super::kept::{self, KeptTable};
use super::pipeline::Pipeline;
use super::plan::{CrawlerNames, List, Plan};
use super::report::Subject;
use super::settings::Settings;
use super::totals::Totals;
use super::{lineage, pages};
use crate::error::{Failure, Result};
use crate::outputs::file::{Complete, Output, publish};
use crate::outputs::parts::RowSink;
use crate::outputs::sink::Sink;
use crate::outputs::style::Style;
use crate::run::Run;
use crate::run::lineage::{InputState, Lineage};
use reptile_columns::{ByRow, Crawlers, Decider, VERDICTS, columns_of};
use reptile_records::tables::{COMMA, Format};

/// Decides a list and publishes the output, with additional files from `beside`. `beside` gets the complete outputs,
/// their lineage, and whether most rows are invalid or a quote is unclosed. `input` is the state of the list before it
/// was read. If the output has several parts, `next` opens them.
///
/// # Errors
/// Returns an error if the list cannot be read or decided, or an output cannot be written.
pub fn decide(
    plan: &Plan,
    list: &List,
    files: Files,
    settings: &Settings,
    (input, next): (&InputState, Option<NextOutput>),
    run: &Run,
    beside: impl FnOnce(&[Complete], &Lineage, bool) -> Result<Vec<Complete>>,
) -> Result<Decided> {
    let Files { source, mut output, rejects, report } = files;
    let source = match (source, &settings.pages) {
        (Input::Pages(archive), Some(pages)) => {
            return pages::decide(
                (plan, list),
                (*archive, output),
                (&settings.state, pages),
                (input, next),
                run,
                beside,
            );
        }
        (Input::Table(source), _) => source,
        (Input::Pages(_), None) => {
            return Err(Failure::new("internal error: pages without a question; please report it"));
        }
    };
    let is_colored = output.is_colored();
    let shows_rows = plan.written.has_rows() && !output.pass_bytes_on();
    let start = Instant::now();
    let mut opening = plan.opening(&list.urls, settings.site.clone());
    let last_cell = opening.wanted.len() - 1;
    let is_terminal = output.is_terminal();
    let kept = kept::kept_columns(plan, list, &source)?;
    opening.kept = kept.as_ref().map(|kept| kept.rows.clone());
    let sink = sink(plan, output, next, settings.named.as_ref(), kept.as_ref())?;
    let pipeline = Pipeline::start(opening, source, sink, is_terminal)?;
    let table = pipeline.table()?;
    settings.check_host(table.format, &list.urls)?;
    if kept.is_none() {
        kept::refuse_unkept(plan, list, table.format)?;
    }
    plan.written.check_escape(plan.tables.escape)?;
    let (layout, format) = plan.written.layout((table.format, table.delimiter), crawlers(settings.named.as_ref()))?;
    let decider = match (&settings.named, &plan.crawlers) {
        (Some(named), _) => Decider::new(named.clone(), layout),
        (None, crawlers) => {
            let by_row = ByRow::new(&settings.set, last_cell, table.format.is_log());
            let by_row = by_row.map_err(|error| Failure::at(&plan.set, error))?;
            let is_exact = matches!(crawlers, CrawlerNames::OfRows { is_exact: true, .. });
            Decider::by_row(by_row.take_names_exactly(is_exact), layout)
        }
    };
    let decider = decider.map_err(Failure::new)?.at(settings.times).in_scope(plan.scope);
    if let Some(output) = list.output.as_ref().filter(|_| list.is_named) {
        plan.written.check_name(output, table.format)?;
    }
    let mut decider = plan.written.decider(decider, format)?.show_rows(shows_rows);
    if is_colored {
        decider = decider.verdict_words(VERDICTS.map(|verdict| Style::of_verdict(verdict).of(verdict.name())));
    }
    let decider = decider.keep_rejected(rejects.are_kept()).count_tops(report.is_wanted());
    let decider = decider.in_zone(table.zone_of_times(&plan.zone));
    let mut header = plan.written.header(&decider, &table, shows_rows);
    if let Some(columns) = kept.as_ref().and_then(KeptTable::text) {
        header = kept::header(&columns, &list.urls, decider.decider(), header)?;
    }
    let lineage = |totals: &Totals| lineage::of_list(run, plan, &settings.state, input, totals, &decider);
    let stamp = |totals: &Totals| lineage(totals).stamp();
    let (totals, complete) = pipeline.decide(table, header, &decider, rejects, (plan, list), stamp)?;
    let lineage = lineage(&totals);
    let time = start.elapsed();
    let urls = format!(", read as {}", totals.table);
    let subject = Subject { name: &list.urls, urls, set_path: &plan.set, set: &settings.set };
    let report = report.complete(&subject, &totals, &decider, time)?;
    let beside = beside(&complete, &lineage, totals.is_bad())?;
    // Name the record first: it is harmless without the file, but a file without it looks like any other.
    publish(beside.into_iter().chain(complete).chain(report))?;
    let is_bad = totals.report(&list.urls, &decider, time);
    Ok(Decided { is_bad, totals, decider, time, lineage })
}

/// Returns the sink that writes answers to the output, and to the further outputs that `next` opens.
fn sink(
    plan: &Plan,
    output: Output,
    next: Option<NextOutput>,
    named: Option<&Agents>,
    kept: Option<&KeptTable>,
) -> Result<RowSink> {
    let crawlers = crawlers(named);
    // Without kept columns, the columns do not depend on the input format.
    let (table, format, kept) = match kept {
        Some(KeptTable { rows, table, format }) => (*table, *format, Some(rows.clone())),
        None => (Format::List, plan.written.format(), None),
    };
    // The rows of one verdict have only the table's own columns.
    let is_selection = kept.is_some() && plan.written.only().is_some();
    let columns = match format.is_columnar() && !is_selection {
        true => columns_of(&plan.written.layout((table, COMMA), crawlers.clone())?.0, &crawlers),
        false => Vec::new(),
    };
    let first = Sink::new(output, format, columns.clone(), kept.clone())?;
    Ok(match (plan.written.rows_per_file(), next) {
        (Some(rows), Some(mut next)) => {
            let sink = move |number| Sink::new(next(number)?, format, columns.clone(), kept.clone());
            RowSink::parts(first, rows, Box::new(sink))
        }
        _ => RowSink::One(first),
    })
}

/// Returns the crawlers whose columns are written: those given, or those that rows name.
fn crawlers(named: Option<&Agents>) -> Crawlers {
    match named {
        Some(agents) => Crawlers::Named(agents.iter().map(|agent| agent.crawler().to_string()).collect()),
        None => Crawlers::OfRows,
    }
}
