//! The settings that apply to every list: the open set, and the crawlers, times and sites of the rows.

use reptile::{Agents, Set};

use super::pages::PageSettings;
use super::plan::{CrawlerNames, Plan};
use crate::error::{Failure, Result, note};
use crate::outputs::identity::Identity;
use crate::run::Run;
use crate::run::lineage::SetState;
use crate::sets::agents::agents;
use crate::sets::report::Report;
use crate::sets::{Loaded, note_without_times, takes_host};
use reptile_columns::{Column, Times};
use reptile_records::place::Place;
use reptile_records::tables::Format;
use reptile_records::tables::log::shape::Site;

/// The settings that apply to every list.
pub struct Settings {
    pub set: Set,
    /// The set's entry in records.
    pub state: SetState,
    /// Whether the set was compiled from an input with bad files.
    pub any_bad: bool,
    /// The crawlers, unless rows name them.
    pub named: Option<Agents>,
    pub times: Times,
    pub site: std::result::Result<Site, String>,
    /// Whether `--host` was given, and does not apply to the set.
    pub is_host_for_a_log: bool,
    /// The question about pages, with `--rights`.
    pub pages: Option<PageSettings>,
}

impl Settings {
    /// Opens the set. `has_records` says whether each output gets a record of the set.
    ///
    /// # Errors
    /// Returns an error if the set cannot be read, is damaged or does not fit the options.
    pub fn open(plan: &Plan, has_records: bool, run: &Run) -> Result<Settings> {
        let is_set = Loaded::is_set(&plan.set)?;
        let mut options = plan.set_options.with_defaults();
        options.zone.timezone = plan.zone.clone();
        options.at = plan.at;
        let at = options.at()?;
        // A set with times keeps the rules of every time, while an input is compiled for the given time, or with the
        // rules of every time if rows have their own.
        let times = match (&plan.at_column, at) {
            (Some(_), _) => Times::OfRows,
            (None, Some(time)) if is_set => Times::At(time),
            (None, _) => Times::None,
        };
        options.by_time = times == Times::OfRows;
        let host = if takes_host(&plan.set, is_set) { None } else { options.set.host.take() };
        let loaded = Loaded::open(&plan.set, &options)?;
        let any_bad = loaded.report.as_ref().is_some_and(Report::any_bad);
        let is_stamped = plan.written.format().is_columnar() || run.has_metrics() || has_records;
        let identity = is_stamped.then(|| Identity::of(loaded.bytes()));
        let state = SetState::of(&plan.set, &loaded.set()?, loaded.bytes().len() as u64, identity);
        let set = loaded.into_set()?;
        set.verify().map_err(|error| Failure::at(&plan.set, error))?;
        if times != Times::None && !set.has_times() {
            let message = "is a compiled set without times, which --at requires; compile it again with --by-time";
            return Err(Failure::at(&plan.set, message));
        }
        if is_set && times == Times::None && set.has_times() && plan.rights.rights.is_none() {
            note_without_times(&plan.set, set.time(), "--at");
        }
        if plan.written.has(Column::Line) && !set.has_line_numbers() {
            note(format_args!("{}: has no line numbers; every line is 0", plan.set.display()));
        }
        let named = match &plan.crawlers {
            CrawlerNames::Given(names) => Some(agents(&set, &plan.set, names)?),
            CrawlerNames::OfRows { .. } => None,
        };
        let pages = PageSettings::open(plan, named.as_ref(), set.has_times())?;
        let (site, is_host_for_a_log) = (plan.site(), host.is_some());
        Ok(Settings { named, set, state, any_bad, times, site, is_host_for_a_log, pages })
    }

    /// Checks that the table is a log if the host requires one.
    ///
    /// # Errors
    /// Returns an error if the host is only for a log, and the table at `path` is not a log.
    pub fn check_host(&self, table: Format, path: &Place) -> Result<()> {
        if self.is_host_for_a_log && !table.is_log() {
            let message =
                format!("is read as {table}; --host is for access logs, and for a SET that is a single robots.txt");
            return Err(Failure::at(path, message));
        }
        Ok(())
    }
}
