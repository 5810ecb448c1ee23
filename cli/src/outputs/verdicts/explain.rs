//! Rows with columns that explain their verdicts. Each URL is decided individually, which takes several times as long
//! as deciding many together.

use reptile::capture::Time;
use reptile::{Agent, Error, Explanation, Provenance, Verdict};

use super::cells::Known;
use super::{Decider, Line, Written, over_all};
use crate::outputs::columns::Explained;
use crate::outputs::scope::Scope;
use crate::sets::by_row::{Session, Times};

/// The `reason` in a row that names no crawler.
const NO_CRAWLER: &str = "no crawler";

/// An explanation, or the reason why there is none.
type ExplainedOrReason = Result<Explained, &'static str>;

impl Decider {
    /// Returns one agent's explained verdict for a URL, or `None` if the URL has no time although row times are used.
    pub(super) fn explain(&self, agent: &Agent, line: &Line<'_>) -> Result<Option<Explained>, Error> {
        let explain = |url: &[u8]| match self.times.of(line) {
            _ if self.times == Times::None => agent.explain(url).map(Some),
            Some(time) => agent.explain_at(url, time).map(Some),
            None => Ok(None),
        };
        let Some(own) = explain(line.as_ref())? else { return Ok(None) };
        if own.verdict == Verdict::Unknown && self.scope > Scope::Origin {
            for one in self.scope.stand_ins(line.as_ref()) {
                let is_known = |found: &Explanation| !matches!(found.verdict, Verdict::Unknown | Verdict::Invalid);
                if let Some(explanation) = explain(&one.url)?.filter(is_known) {
                    let provenance = self.provenance(agent, &one.url, self.times.of(line))?;
                    return Ok(Some(Explained { explanation, stand_in: Some(one.origin().to_vec()), provenance }));
                }
            }
        }
        let provenance = self.provenance(agent, line.as_ref(), self.times.of(line))?;
        Ok(Some(Explained { explanation: own, stand_in: None, provenance }))
    }

    /// Returns the capture and ruleset behind a URL's verdict, if a column needs them.
    fn provenance(&self, agent: &Agent, url: &[u8], time: Option<Time>) -> Result<Provenance, Error> {
        match time {
            _ if !self.layout.has_provenance() => Ok(Provenance::default()),
            _ if self.times == Times::None => agent.provenance(url),
            Some(time) => agent.provenance_at(url, time),
            None => Ok(Provenance::default()),
        }
    }

    /// Writes rows with columns that explain their verdicts.
    pub(super) fn explain_each<'b>(
        &self,
        rows: impl Iterator<Item = Line<'b>>,
        mut written: Written<'_, '_>,
    ) -> Result<(), Error> {
        let mut buffer = Vec::new();
        let mut verdicts = Vec::with_capacity(self.agents.len());
        let mut explained: Vec<Result<Explained, &str>> = Vec::with_capacity(self.agents.len());
        for row in rows {
            *written.lines += 1;
            buffer.clear();
            verdicts.clear();
            explained.clear();
            let mut crawler = None;
            if let Some(session) = written.session.as_deref_mut() {
                let (verdict, found, place) = self.explain_own(&row, session)?;
                verdicts.push(verdict);
                explained.push(found);
                crawler = Some((&*session, place));
            } else {
                for agent in self.agents.iter() {
                    let found = self.explain(agent, &row)?;
                    verdicts.push(found.as_ref().map_or(Verdict::Invalid, |found| found.explanation.verdict));
                    explained.push(found.ok_or("no time"));
                }
            }
            let found = || explained.iter().flatten();
            *written.stood_in += u64::from(found().any(|found| found.stand_in.is_some()));
            let fetched_at = found().find_map(|found| found.provenance.fetched_at);
            let crawler = crawler.map(|(session, place)| session.agents(place).0);
            let known =
                Known { url: row.as_ref(), verdicts: &verdicts, crawler, fetched_at, explained: Some(&explained) };
            self.push_cells(0..self.order.len(), &known, &mut buffer);
            if let Some(tops) = &mut written.tops {
                self.count(&row, &verdicts, tops)?;
            }
            if let (Some(rejected), [Verdict::Invalid, ..]) = (&mut written.rejected, &verdicts[..]) {
                rejected.add(&row, *written.lines - 1);
            }
            if self.layout.any_of {
                verdicts.push(over_all(&verdicts));
            }
            verdicts.iter().zip(&mut *written.tally).for_each(|(&verdict, counts)| counts[verdict as usize] += 1);
            buffer.extend_from_slice(&self.end);
            written.text.push(&buffer);
            self.push_row(&row, written.text, &mut buffer);
        }
        Ok(())
    }

    /// Returns a row's verdict for the crawler that it names, its explanation or the reason why there is none, and the
    /// crawler's index.
    fn explain_own(
        &self,
        row: &Line<'_>,
        session: &mut Session<'_>,
    ) -> Result<(Verdict, ExplainedOrReason, Option<usize>), Error> {
        let place = session.crawler(row)?;
        let (_, agents) = session.agents(place);
        let found = agents.iter().next().map(|agent| self.explain(agent, row)).transpose()?.flatten();
        let verdict = found.as_ref().map_or(Verdict::Invalid, |found| found.explanation.verdict);
        let is_unknown = place.is_none() && verdict != Verdict::Invalid;
        let verdict = session.add(place, verdict);
        let explained = if is_unknown { Err(NO_CRAWLER) } else { found.ok_or("no time") };
        Ok((verdict, explained, place))
    }
}
