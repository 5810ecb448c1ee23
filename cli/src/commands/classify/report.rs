//! The `--report` page: the verdicts as a self-contained HTML file.
//!
//! It shows the same figures as the summary. It needs no scripts and no network, and is legible on a phone and in dark
//! mode.

use std::io::Write as _;
use std::time::Duration;

use reptile::{Set, Verdict};

use super::totals::{Totals, VerdictCounts};
use crate::error::Result;
use crate::outputs::file::{Complete, Output};
use crate::outputs::page::{Page, escaped};
use crate::outputs::summary::{grouped, rate, seconds};
use reptile_columns::{TableDecider, Top};
use reptile_records::place::Place;
use reptile_records::text::printable;

/// Maximum number of origins or rules in a table.
const SHOWN: usize = 20;

/// The styles of bars.
const STYLE: &str = "\
.bar{display:flex;height:1.1rem;border-radius:.25rem;overflow:hidden;background:var(--line);min-width:4rem}
.bar i{display:block}
.allow{background:var(--allow)}.disallow{background:var(--disallow)}.unknown{background:var(--unknown)}
.invalid{background:var(--invalid)}
.agent{margin:1rem 0}.wide{width:40%}
@media(max-width:40rem){.wide{width:25%}}
";

const VERDICTS: [Verdict; 4] = [Verdict::Allow, Verdict::Disallow, Verdict::Unknown, Verdict::Invalid];

/// The page's file, if requested.
pub struct Report {
    output: Option<Output>,
    /// Whether there is a page, here or after all lists.
    is_wanted: bool,
}

/// The subject of a page.
pub struct Subject<'a> {
    /// The list, or the output folder for several lists.
    pub name: &'a Place,
    /// A description of the input, worded to follow the number of rows.
    pub urls: String,
    /// The path of the set.
    pub set_path: &'a Place,
    /// The set.
    pub set: &'a Set,
}

impl Report {
    /// Opens the file, if requested.
    ///
    /// # Errors
    /// The errors of [`Output::create_beside`].
    pub fn create(path: Option<&Place>, force: bool) -> Result<Report> {
        Ok(Report { output: Output::create_beside("--report", path, force)?, is_wanted: path.is_some() })
    }

    /// Returns a report that writes no page. `is_wanted` says whether the run's page needs the counts.
    pub fn of_run(is_wanted: bool) -> Report {
        Report { output: None, is_wanted }
    }

    /// Returns whether there is a page, for this list or for the run.
    pub fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    /// Writes the page. The caller still has to publish the file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn complete(
        self,
        subject: &Subject<'_>,
        totals: &Totals,
        decider: &TableDecider,
        time: Duration,
    ) -> Result<Option<Complete>> {
        let Some(mut output) = self.output else { return Ok(None) };
        let page = page(subject, totals, decider, time);
        output.write_all(page.as_bytes()).map_err(|error| output.failure(&error))?;
        output.complete()
    }
}

/// Returns the whole page.
fn page(subject: &Subject<'_>, totals: &Totals, decider: &TableDecider, time: Duration) -> String {
    let name = |path: &Place| printable(path.shown().as_bytes());
    let (urls, set_name, set) = (name(subject.name), escaped(&name(subject.set_path)), subject.set);
    let mut page = Page::new(&format!("Verdicts for {urls}"), STYLE);
    let facts = [
        ("URLs", format!("{} rows{}", grouped(totals.lines), escaped(&subject.urls))),
        ("Set", format!("{set_name}: {} origins, dialect {}", grouped(set.len()), escaped(set.dialect()))),
        ("Time", format!("{}, {} URLs a second", seconds(time), rate(totals.lines, time))),
        ("Made by", format!("reptile {}", env!("CARGO_PKG_VERSION"))),
    ];
    let mut facts: Vec<(String, String)> = facts.map(|(name, fact)| (name.to_owned(), fact)).into();
    if totals.stand_ins() > 0 {
        facts.push(("Decided by another origin".into(), format!("{} URLs (--scope)", grouped(totals.stand_ins()))));
    }
    facts.extend(totals.written(decider).map(|(verdict, written, count)| {
        (format!("{verdict}, written as {written}"), format!("{} rows (--treat)", grouped(count)))
    }));
    facts.extend(totals.faults().map(|(fault, count)| (format!("Invalid: {}", escaped(&fault)), grouped(count))));
    page.push_facts(facts);
    page.push_str("<h2>Verdicts</h2>\n<p class=\"key\">");
    for verdict in VERDICTS {
        page.push(format_args!("<span><i class=\"{verdict}\"></i>{verdict}</span>"));
    }
    page.push_str("</p>\n");
    totals.verdicts(decider).iter().for_each(|counts| push_counts(counts, &mut page));
    let tops = [
        ("Origins with the most disallowed URLs", "Origin", &totals.tops.disallowing, "disallow"),
        ("Rules that disallow the most", "Rule, or the outcome of fetching", &totals.tops.rules, "disallow"),
        ("Origins without a known robots.txt", "Origin", &totals.tops.unknown, "unknown"),
    ];
    for (title, what, top, class) in tops {
        push_top(title, what, top, class, &mut page);
    }
    if decider.decider().is_by_row() {
        page.push_str("<p>Rows name their crawlers: rules and unknown origins are not counted.</p>\n");
    }
    page.finish()
}

/// Appends one crawler's verdicts: a bar, and a table of its parts.
fn push_counts(VerdictCounts { label, name, counts }: &VerdictCounts, page: &mut Page) {
    let name = escaped(&printable(format!("{label}{name}").trim().as_bytes()));
    page.push(format_args!("<div class=\"agent\"><p><b>{name}</b></p>\n<div class=\"bar\">"));
    let all = counts.iter().sum::<u64>().max(1) as f64;
    let part = |verdict: Verdict| counts[verdict as usize] as f64 * 100.0 / all;
    for verdict in VERDICTS {
        page.push(format_args!("<i class=\"{verdict}\" style=\"width:{:.3}%\"></i>", part(verdict)));
    }
    page.push_str("</div>\n<table>\n");
    for verdict in VERDICTS.into_iter().filter(|&verdict| counts[verdict as usize] > 0) {
        let (count, part) = (grouped(counts[verdict as usize]), part(verdict));
        page.push(format_args!(
            "<tr><td>{verdict}</td><td class=\"n\">{count}</td><td class=\"n\">{part:.1} %</td></tr>\n"
        ));
    }
    page.push_str("</table></div>\n");
}

/// Appends a table of the most frequent origins or rules.
fn push_top(title: &str, what: &str, top: &Top, class: &str, page: &mut Page) {
    let first = top.first(SHOWN);
    let Some(&(_, most)) = first.first() else { return };
    // A URL may be disallowed for several crawlers, by different rules.
    let unit = if what == "Origin" { "URLs" } else { "Verdicts" };
    page.push(format_args!(
        "<h2>{title}</h2>\n<table>\n<tr><th>{what}</th><th class=\"n\">{unit}</th><th></th></tr>\n"
    ));
    for (key, count) in first {
        let (key, width) = (escaped(&printable(key)), count as f64 * 100.0 / most as f64);
        let bar = format!("<div class=\"bar\"><i class=\"{class}\" style=\"width:{width:.1}%\"></i></div>");
        let count = grouped(count);
        page.push(format_args!("<tr><td>{key}</td><td class=\"n\">{count}</td><td class=\"wide\">{bar}</td></tr>\n"));
    }
    page.push_str("</table>\n");
    if top.missed() > 0 {
        let missed = grouped(top.missed());
        page.push(format_args!("<p>There are many: each count may be up to {missed} too low.</p>\n"));
    }
}
