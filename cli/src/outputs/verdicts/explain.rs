//! Rows with columns that explain their verdicts: each URL by itself, which takes several times as long as many together.

use reptile::{Agent, Error, Explanation, Provenance, Verdict};
use reptile_compiler::capture::Time;

use super::{Decider, Line, Written};
use crate::inputs::sets::by_row::{NamedRow, Session};
use crate::outputs::columns::Explained;
use crate::outputs::scope::Scope;

/// What the `reason` of a row says that names no crawler.
const NO_CRAWLER: &str = "no crawler";

impl Decider {
    /// The verdict of one agent for a URL, with its reasons. `None` for a URL without a time where times are asked for.
    pub(super) fn explain(&self, agent: &Agent, line: &Line<'_>) -> Result<Option<Explained>, Error> {
        let explain = |url: &[u8]| match line.time() {
            _ if !self.by_time => agent.explain(url).map(Some),
            Some(time) => agent.explain_at(url, time).map(Some),
            None => Ok(None),
        };
        let Some(own) = explain(line.as_ref())? else { return Ok(None) };
        if own.verdict == Verdict::Unknown && self.scope > Scope::Origin {
            for one in self.scope.stand_ins(line.as_ref()) {
                let is_known = |found: &Explanation| !matches!(found.verdict, Verdict::Unknown | Verdict::Invalid);
                if let Some(explanation) = explain(&one.url)?.filter(is_known) {
                    let provenance = self.provenance(agent, &one.url, line.time())?;
                    return Ok(Some(Explained { explanation, stand_in: Some(one.origin().to_vec()), provenance }));
                }
            }
        }
        let provenance = self.provenance(agent, line.as_ref(), line.time())?;
        Ok(Some(Explained { explanation: own, stand_in: None, provenance }))
    }

    /// What of the set decides a URL, if a column says it.
    fn provenance(&self, agent: &Agent, url: &[u8], time: Option<Time>) -> Result<Provenance, Error> {
        match time {
            _ if !self.layout.has_provenance() => Ok(Provenance::default()),
            _ if !self.by_time => agent.provenance(url),
            Some(time) => agent.provenance_at(url, time),
            None => Ok(Provenance::default()),
        }
    }

    /// The verdicts of rows, with columns that explain them.
    pub(super) fn explain_each<'b>(
        &self,
        rows: impl Iterator<Item = Line<'b>>,
        mut written: Written<'_, '_>,
    ) -> Result<(), Error> {
        let (mut buffer, mut before) = (Vec::new(), Vec::new());
        let mut verdicts = Vec::with_capacity(self.agents.len());
        for row in rows {
            *written.lines += 1;
            let (mut stands_in, mut fetched_at) = (false, None);
            self.push_url(&row, written.text, &mut buffer);
            buffer.clear();
            verdicts.clear();
            let mut leads = self.leads.iter().skip(self.layout.first_of_agents());
            if let Some(session) = written.session.as_deref_mut() {
                let (verdict, found) = self.explain_own(&row, session, leads, &mut buffer)?;
                verdicts.push(verdict);
                stands_in = found.as_ref().is_some_and(|found| found.stand_in.is_some());
                fetched_at = found.and_then(|found| found.provenance.fetched_at);
            } else {
                for (agent, name) in self.agents.iter().zip(&self.names) {
                    let found = self.explain(agent, &row)?;
                    let verdict = found.as_ref().map_or(Verdict::Invalid, |found| found.explanation.verdict);
                    stands_in |= found.as_ref().is_some_and(|found| found.stand_in.is_some());
                    fetched_at = fetched_at.or(found.as_ref().and_then(|found| found.provenance.fetched_at));
                    verdicts.push(verdict);
                    self.push_cells(found.as_ref().ok_or("no time"), name, verdict, leads.by_ref(), &mut buffer);
                }
            }
            *written.stood_in += u64::from(stands_in);
            if let Some(tops) = &mut written.tops {
                self.count(&row, &verdicts, tops)?;
            }
            if let (Some(rejected), [Verdict::Invalid, ..]) = (&mut written.rejected, &verdicts[..]) {
                rejected.add(&row, *written.lines - 1);
            }
            before.clear();
            self.push_once(&verdicts, fetched_at, &mut before);
            written.text.push(&before);
            self.push_over_all(&mut verdicts, &mut buffer);
            verdicts.iter().zip(&mut *written.tally).for_each(|(&verdict, counts)| counts[verdict as usize] += 1);
            buffer.extend_from_slice(&self.end);
            written.text.push(&buffer);
            self.push_row(&row, written.text, &mut buffer);
        }
        Ok(())
    }

    /// Appends the cells of a row for the crawler that it names. Returns the verdict, and its explanation if there is one.
    fn explain_own<'l>(
        &self,
        row: &Line<'_>,
        session: &mut Session<'_>,
        leads: impl Iterator<Item = &'l Vec<u8>>,
        cells: &mut Vec<u8>,
    ) -> Result<(Verdict, Option<Explained>), Error> {
        let place = session.crawler(row)?;
        let (_, agents) = session.agents(place);
        let found = agents.iter().next().map(|agent| self.explain(agent, row)).transpose()?.flatten();
        let verdict = found.as_ref().map_or(Verdict::Invalid, |found| found.explanation.verdict);
        let is_unknown = place.is_none() && verdict != Verdict::Invalid;
        let verdict = session.add(place, verdict);
        let explanation = match &found {
            None => Err("no time"),
            Some(_) if is_unknown => Err(NO_CRAWLER),
            Some(found) => Ok(found),
        };
        self.push_cells(explanation, session.agents(place).0, verdict, leads, cells);
        Ok((verdict, found.filter(|_| !is_unknown)))
    }
}
