//! `reptile verify --row`: decides exported rows again, and refuses each row that differs.

use std::fmt::Write;

use bumpalo::Bump;
use reptile::{Agent, Crawler, Explanation, Headers, Provenance, Set, Verdict};
use reptile_records::lines::ChunkKind;
use reptile_records::place::Place;
use reptile_records::tables::open::Opening;
use reptile_records::tables::source::{Block, Part, Source};
use reptile_records::tables::{ColumnOption, NamedCells, Table};
use reptile_records::text::{printable, url_column};
use reptile_records::time::{Zone, read_time, show_time};

use crate::error::{Exit, Failure, Result};
use crate::outputs::file::print;
use crate::outputs::summary::grouped;
use crate::sets::agents::{agents, name_in};

/// The option that names the file.
const OPTION: &str = "--row";

/// The columns that name a row's crawler.
const AGENT_COLUMNS: [&str; 2] = ["agent", "crawler"];

/// The columns that are read. Each may occur once, or once for each crawler.
const USED_COLUMNS: [&str; 9] =
    ["url", "time", "agent", "crawler", "verdict", "line", "rule", "capture_time", "capture"];

/// The suffix in the name of a column with a crawler's verdict, after the crawler's name.
const OF_AGENT: &str = ":verdict";

/// Decides each row of a file again, and prints what decides it.
///
/// # Errors
/// Returns an error if the file cannot be read, lacks a column or has no rows, or if the set is damaged.
pub fn verify(set: &Set, path: &Place, file: &Place, agent: Option<&str>) -> Result<Exit> {
    let fallback = agent.map(|name| only_agent(set, path, name)).transpose()?;
    let anyone = set.agent(Crawler::anyone()).map_err(|error| Failure::at(path, error))?;
    let headers = Headers::new(set).map_err(|error| Failure::at(path, error))?;
    let wanted = vec![ColumnOption { option: OPTION, name: Some("url".into()) }];
    let place = file.as_input();
    let (table, mut rows) = Source::open(file)?.open_rows(&Opening { wanted, ..Opening::of(&place) })?;
    let Some(columns) = NamedCells::of(&table) else {
        let message = format!("{OPTION}: expected TSV or CSV with a header, or JSON Lines, found {}", table.format);
        return Err(Failure::at(place, message));
    };
    let mut report =
        RowReport { set, path, fallback, anyone, headers, file: &place, rows: 0, refused: 0, text: String::new() };
    if let Some(header) = columns.header() {
        report.check_names(header.iter().map(String::as_str), "the header")?;
    }
    while let Some(part) = rows.next(Vec::new(), &|| true).map_err(|error| Failure::at(&place, error))? {
        report.add_part(&part, &table, &columns)?;
        print(std::mem::take(&mut report.text))?;
    }
    report.finish()
}

/// Returns the crawler of `--agent`.
fn only_agent(set: &Set, path: &Place, name: &str) -> Result<Agent> {
    let found = agents(set, path, &[name.to_owned()])?;
    let mut found = found.iter();
    match (found.next(), found.next()) {
        (Some(agent), None) => Ok(agent.clone()),
        _ => Err(Failure::new(format!("--agent: expected one crawler, found the group \"{}\"", name_in(name)))),
    }
}

/// The rows so far, and the text about them.
struct RowReport<'s> {
    set: &'s Set,
    path: &'s Place,
    /// The crawler of rows that name none.
    fallback: Option<Agent>,
    /// A crawler that only the default group applies to, for rows that name none.
    anyone: Agent,
    headers: Headers,
    file: &'s Place,
    rows: u64,
    refused: u64,
    text: String,
}

/// The answer for a row and one of its crawlers.
struct Answer {
    verdict: Verdict,
    agent: Option<String>,
    /// The explanation and its source, or the reason why there is none.
    decided: std::result::Result<(Explanation, Provenance), &'static str>,
}

/// A row's cells with their columns' names.
type NamedRow<'r> = [(std::borrow::Cow<'r, str>, String)];

impl RowReport<'_> {
    fn add_part(&mut self, part: &Part, table: &Table, columns: &NamedCells<'_>) -> Result<()> {
        if let Part::Text(chunk) = part
            && matches!(chunk.kind, ChunkKind::LongLine { last: true })
        {
            self.refuse("the row is too long");
        }
        for block in part.blocks() {
            let Block::Text(block) = block else { continue };
            let arena = Bump::new();
            for row in table.rows(block, &arena) {
                match (row.fault, columns.of_row(row.bytes)) {
                    (None, Some(cells)) => self.add(&cells)?,
                    (Some(fault), _) => self.refuse(&fault.describe(table)),
                    (None, None) => self.refuse("not a row"),
                }
            }
        }
        Ok(())
    }

    /// Refuses a row that cannot be decided.
    fn refuse(&mut self, fault: &str) {
        self.rows += 1;
        self.refused += 1;
        let _ = writeln!(self.text, "row {}: refused: {fault}", self.rows);
    }

    /// Checks that the columns of `place` suffice to decide a row, and that none that is read occurs twice.
    fn check_names<'n>(&self, names: impl Iterator<Item = &'n str>, place: &str) -> Result<()> {
        let names: Vec<&str> = names.collect();
        let has = |name: &str| names.contains(&name);
        let is_prefixed = names.iter().any(|name| name.ends_with(OF_AGENT));
        let fail = |missing: &str| Err(Failure::at(self.file, format!("{OPTION}: {place} lacks the column {missing}")));
        let is_used = |name: &&str| USED_COLUMNS.contains(&name.rsplit(':').next().unwrap_or_default());
        let mut used: Vec<&str> = names.iter().copied().filter(is_used).collect();
        used.sort_unstable();
        if let Some(twice) = used.windows(2).find(|pair| pair[0] == pair[1]) {
            let message = format!("{OPTION}: {place} has the column {} twice", printable(twice[0].as_bytes()));
            return Err(Failure::at(self.file, message));
        }
        match () {
            () if !has("url") => fail("url"),
            () if is_prefixed => Ok(()),
            () if !has("verdict") => fail("verdict"),
            () if self.fallback.is_none() && !AGENT_COLUMNS.iter().any(|name| has(name)) => {
                fail("agent or crawler; --agent names the crawler of all rows")
            }
            () => Ok(()),
        }
    }

    /// Decides a row again for each of its crawlers.
    fn add(&mut self, row: &NamedRow<'_>) -> Result<()> {
        self.rows += 1;
        let number = self.rows;
        self.check_names(row.iter().map(|(name, _)| &**name), &format!("row {number}"))?;
        let mut is_refused = false;
        let prefixes: Vec<&str> = row.iter().filter_map(|(name, _)| name.strip_suffix(OF_AGENT)).collect();
        for prefix in if prefixes.is_empty() { vec![""] } else { prefixes } {
            let answer = match self.answer(row, prefix)? {
                Ok(answer) => answer,
                Err(fault) => {
                    let _ = writeln!(self.text, "row {number}: refused: {fault}");
                    is_refused = true;
                    continue;
                }
            };
            let differences = answer.differences(row, prefix);
            let _ = writeln!(self.text, "row {number}: {}", answer.shown(cell(row, "url").unwrap_or_default()));
            for difference in &differences {
                let _ = writeln!(self.text, "row {number}: refused: {difference}");
            }
            is_refused |= !differences.is_empty();
        }
        self.refused += u64::from(is_refused);
        Ok(())
    }

    /// Decides a row for the crawler in a column's prefix, or for the row's own if the prefix is empty.
    ///
    /// Returns, as the inner error, why the row cannot be decided.
    fn answer(&self, row: &NamedRow<'_>, prefix: &str) -> Result<std::result::Result<Answer, String>> {
        let own = AGENT_COLUMNS.iter().find_map(|name| cell(row, name));
        let agent = match (prefix, own, &self.fallback) {
            ("", None, fallback) => Ok(fallback.clone()),
            ("", Some(cell), _) => self.agent_of_cell(cell)?,
            _ => self.agent(prefix).map(Some),
        };
        let agent = match agent {
            Ok(agent) => agent,
            Err(fault) => return Ok(Err(format!("the crawler: {fault}"))),
        };
        let time = cell(row, "time").filter(|_| self.set.has_times()).map(|text| read_time(text, &Zone::default()));
        let url = cell(row, "url").unwrap_or_default();
        self.decide(agent, url, time).map(Ok).map_err(|error| Failure::at(self.path, error))
    }

    /// Returns the crawler in a cell: a name or a `User-Agent` header, as in `classify`, or a chain of product tokens.
    fn agent_of_cell(&self, cell: &str) -> Result<std::result::Result<Option<Agent>, String>> {
        let found = match cell {
            "" | "-" => Ok(None),
            _ if cell.contains([' ', '/', '(']) => self.headers.agent(cell),
            _ if cell.contains('>') => return Ok(self.agent(cell).map(Some)),
            _ => self.headers.agent_of_token(cell),
        };
        found.map(Ok).map_err(|error| Failure::at(self.path, error))
    }

    /// Returns the crawler with a name, or with a chain of product tokens.
    fn agent(&self, name: &str) -> std::result::Result<Agent, String> {
        let mut crawlers = self.set.crawlers_named(name_in(name)).map_err(|error| error.to_string())?;
        let crawler = crawlers.pop().filter(|_| crawlers.is_empty());
        let crawler =
            crawler.ok_or_else(|| format!("expected one crawler, found \"{}\"", printable(name.as_bytes())))?;
        self.set.agent(crawler).map_err(|error| error.to_string())
    }

    /// Decides a URL. A row without a readable time is invalid, and one that names no crawler is unknown unless its URL
    /// is invalid, as in `classify`.
    fn decide(
        &self,
        agent: Option<Agent>,
        url: &str,
        time: Option<std::result::Result<i64, String>>,
    ) -> std::result::Result<Answer, reptile::Error> {
        let undecided = |verdict, reason| Answer { verdict, agent: None, decided: Err(reason) };
        match (agent, time) {
            (_, Some(Err(_))) => Ok(undecided(Verdict::Invalid, "no time")),
            (None, _) if self.anyone.explain(url)?.verdict == Verdict::Invalid => {
                Ok(undecided(Verdict::Invalid, "no crawler"))
            }
            (None, _) => Ok(undecided(Verdict::Unknown, "no crawler")),
            (Some(agent), None) => Ok(Answer::new(&agent, agent.explain(url)?, agent.provenance(url)?)),
            (Some(agent), Some(Ok(time))) => {
                Ok(Answer::new(&agent, agent.explain_at(url, time)?, agent.provenance_at(url, time)?))
            }
        }
    }

    /// Prints the numbers of confirmed and refused rows.
    fn finish(self) -> Result<Exit> {
        if self.rows == 0 {
            return Err(Failure::at(self.file, format!("{OPTION}: contains no rows")));
        }
        let (rows, refused) = (grouped(self.rows), grouped(self.refused));
        let confirmed = grouped(self.rows - self.refused);
        print(format!("{rows} rows: {confirmed} confirmed, {refused} refused\n"))?;
        Ok(Exit::from_bad(self.refused > 0))
    }
}

impl Answer {
    fn new(agent: &Agent, explanation: Explanation, provenance: Provenance) -> Answer {
        let agent = Some(agent.crawler().to_string());
        Answer { verdict: explanation.verdict, agent, decided: Ok((explanation, provenance)) }
    }

    fn rule(&self) -> Option<&reptile::Rule> {
        self.decided.as_ref().ok()?.0.rule()
    }

    fn provenance(&self) -> Provenance {
        self.decided.as_ref().map(|(_, provenance)| *provenance).unwrap_or_default()
    }

    /// Returns the deciding rule as in a robots.txt, or an empty text.
    fn rule_text(&self) -> String {
        let text = self.rule().map(|rule| [rule.kind.name().as_bytes(), b": ", &rule.pattern].concat());
        String::from_utf8_lossy(&url_column(&text.unwrap_or_default())).into_owned()
    }

    /// Returns a message about each cell that differs.
    fn differences(&self, row: &NamedRow<'_>, prefix: &str) -> Vec<String> {
        let line = self.rule().map_or(0, |rule| rule.line).to_string();
        let time = self.provenance().fetched_at.map(show_time).unwrap_or_default();
        let expected = [
            ("verdict", true, self.verdict.name().to_owned()),
            ("line", true, line),
            ("rule", true, self.rule_text()),
            ("capture_time", false, time),
            ("capture", false, self.provenance().capture().unwrap_or_default()),
        ];
        let mut differences = Vec::new();
        for (name, is_of_agent, expected) in expected {
            let column = if is_of_agent && !prefix.is_empty() { format!("{prefix}:{name}") } else { name.to_owned() };
            let Some(found) = cell(row, &column) else { continue };
            let is_equal = match name {
                // Columnar formats have null for 0.
                "line" => found == expected || (found.is_empty() && expected == "0"),
                "capture_time" => found == expected || is_same_time(found, &expected),
                _ => found == expected,
            };
            if !is_equal {
                let found = printable(found.as_bytes());
                differences.push(format!("{column}: expected \"{expected}\", found \"{found}\""));
            }
        }
        differences
    }

    /// Returns what decides the row.
    fn shown(&self, url: &str) -> String {
        let reason = match (self.rule(), &self.decided) {
            (Some(rule), _) => format!("line {}: {}", rule.line, self.rule_text()),
            (None, Ok((explanation, _))) => explanation.reason.to_string(),
            (None, Err(reason)) => (*reason).to_owned(),
        };
        let capture = [self.provenance().capture(), self.provenance().fetched_at.map(show_time)];
        let capture: Vec<String> = capture.into_iter().flatten().collect();
        let capture = if capture.is_empty() { String::new() } else { format!(" ({})", capture.join(", ")) };
        let agent = self.agent.as_ref().map(|agent| format!(" for {}", printable(agent.as_bytes())));
        let (verdict, url) = (self.verdict.name(), printable(url.as_bytes()));
        format!("{verdict} {url}{}: {reason}{capture}", agent.unwrap_or_default())
    }
}

/// Returns the cell in a column.
fn cell<'r>(row: &'r NamedRow<'_>, column: &str) -> Option<&'r str> {
    row.iter().find(|(name, _)| name == column).map(|(_, text)| text.as_str())
}

/// Returns whether two texts are the same time.
fn is_same_time(found: &str, expected: &str) -> bool {
    let time = |text| read_time(text, &Zone::default()).ok();
    time(found).is_some() && time(found) == time(expected)
}
