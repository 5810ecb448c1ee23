//! Result columns under construction: [`Made`].

use std::sync::Arc;

use arrow_array::builder::{
    LargeListBuilder, LargeStringBuilder, TimestampMillisecondBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, DictionaryArray, Int8Array, StringArray};
use arrow_buffer::NullBuffer;
use reptile::{Agents, Explanation, Group, Provenance, Verdict};

use crate::columns::{self, Column};
use crate::error::Error;

/// The results so far.
pub(crate) struct Made<'a> {
    names: Vec<String>,
    wanted: &'a [Column],
    pub(crate) agents: Vec<MadeOfAgent>,
    capture_times: Option<TimestampMillisecondBuilder>,
}

/// One crawler's results so far. Only the fields for requested columns are filled.
pub(crate) struct MadeOfAgent {
    /// Verdicts as numbers, which are also their dictionary keys.
    pub(crate) verdicts: Vec<i8>,
    /// Indexes into [`GROUPS`].
    groups: Option<Vec<i8>>,
    lines: Option<UInt32Builder>,
    rules: Option<LargeStringBuilder>,
    reasons: Option<LargeStringBuilder>,
    rulesets: Option<UInt32Builder>,
}

/// The verdict dictionary, in numerical order.
const VERDICTS: [Verdict; 4] = [Verdict::Allow, Verdict::Disallow, Verdict::Unknown, Verdict::Invalid];
/// The group dictionary.
const GROUPS: [Group; 3] = [Group::Named, Group::Default, Group::None];

impl<'a> Made<'a> {
    /// Creates an empty result with capacity for `rows` rows.
    pub(crate) fn new(agents: &Agents, wanted: &'a [Column], rows: usize) -> Made<'a> {
        let has = |column| wanted.contains(&column);
        let decides = wanted.iter().any(|&column| column != Column::Url);
        let of_agent = |_| MadeOfAgent {
            verdicts: Vec::with_capacity(if decides { rows } else { 0 }),
            groups: has(Column::Group).then(|| Vec::with_capacity(rows)),
            lines: has(Column::Line).then(|| UInt32Builder::with_capacity(rows)),
            rules: has(Column::Rule).then(LargeStringBuilder::new),
            reasons: has(Column::Reason).then(LargeStringBuilder::new),
            rulesets: has(Column::Ruleset).then(|| UInt32Builder::with_capacity(rows)),
        };
        let utc = || TimestampMillisecondBuilder::with_capacity(rows).with_data_type(columns::time());
        Made {
            names: agents.iter().map(|agent| agent.crawler().to_string()).collect(),
            wanted,
            agents: agents.iter().map(of_agent).collect(),
            capture_times: has(Column::CaptureTime).then(utc),
        }
    }

    /// Adds the deciding captures' fetch times.
    pub(crate) fn take_capture_times(&mut self, found: &[Option<Provenance>]) {
        if let Some(times) = &mut self.capture_times {
            let fetched_at = |found: &Option<Provenance>| found.as_ref().and_then(|found| found.fetched_at);
            times.extend(found.iter().map(|found| fetched_at(found).map(|time| time.saturating_mul(1000))));
        }
    }

    /// Returns the columns in schema order.
    pub(crate) fn finish(mut self, urls: &ArrayRef, nulls: Option<&NullBuffer>) -> Result<Vec<ArrayRef>, Error> {
        let mut once: Vec<ArrayRef> = Vec::new();
        for &column in self.wanted.iter().filter(|column| !column.is_of_agent()) {
            match column {
                Column::Refused => once.push(self.refused(nulls)),
                Column::Mask => once.push(self.masks(nulls)),
                Column::CaptureTime => {
                    once.extend(self.capture_times.as_mut().map(|times| Arc::new(times.finish()) as ArrayRef));
                }
                _ => {}
            }
        }
        let mut arrays: Vec<ArrayRef> = Vec::new();
        if self.wanted.contains(&Column::Url) {
            arrays.push(urls.clone());
        }
        for of_agent in &mut self.agents {
            for &column in self.wanted.iter().filter(|column| column.is_of_agent()) {
                arrays.extend(of_agent.column(column, nulls)?);
            }
        }
        arrays.extend(once);
        Ok(arrays)
    }

    /// Returns indexes for the crawlers that may not fetch each URL, or `None` if the URL is null, unknown or
    /// invalid. A URL is unknown or invalid for all crawlers or for none.
    fn refusals<'s>(
        &'s self,
        nulls: Option<&'s NullBuffer>,
    ) -> impl Iterator<Item = Option<impl Iterator<Item = usize> + 's>> + 's {
        let rows = self.agents.first().map_or(0, |first| first.verdicts.len());
        (0..rows).map(move |row| {
            let of_row = move || self.agents.iter().map(move |agent| agent.verdicts.get(row).copied());
            let decided =
                |verdict: Option<i8>| verdict == Some(Verdict::Allow as i8) || verdict == Some(Verdict::Disallow as i8);
            let is_decided = nulls.is_none_or(|nulls| nulls.is_valid(row)) && of_row().all(decided);
            is_decided.then(|| {
                let refuses = |(_, verdict): &(usize, Option<i8>)| *verdict == Some(Verdict::Disallow as i8);
                of_row().enumerate().filter(refuses).map(|(place, _)| place)
            })
        })
    }

    /// Lists the crawlers that may not fetch each URL.
    fn refused(&self, nulls: Option<&NullBuffer>) -> ArrayRef {
        let mut lists = LargeListBuilder::new(LargeStringBuilder::new()).with_field(columns::refused_item());
        for refused in self.refusals(nulls) {
            let is_decided = refused.is_some();
            for name in refused.into_iter().flatten().filter_map(|place| self.names.get(place)) {
                lists.values().append_value(name);
            }
            lists.append(is_decided);
        }
        Arc::new(lists.finish())
    }

    /// Returns the crawlers that may not fetch each URL, as bits.
    fn masks(&self, nulls: Option<&NullBuffer>) -> ArrayRef {
        let bit = |place: usize| u32::try_from(place).ok().and_then(|place| 1_u64.checked_shl(place)).unwrap_or(0);
        let mut masks = UInt64Builder::new();
        masks.extend(self.refusals(nulls).map(|refused| Some(refused?.fold(0, |mask, place| mask | bit(place)))));
        Arc::new(masks.finish())
    }
}

impl MadeOfAgent {
    /// Adds the requested parts of explanations. A reason in `said` takes precedence.
    pub(crate) fn take_explanations(
        &mut self,
        explanations: &[Explanation],
        is_null: &dyn Fn(usize) -> bool,
        said: &dyn Fn(usize) -> Option<&'static str>,
    ) {
        self.verdicts.extend(explanations.iter().map(|explanation| explanation.verdict as i8));
        for (row, explanation) in explanations.iter().enumerate() {
            let rule = explanation.rule().filter(|_| !is_null(row));
            if let Some(groups) = &mut self.groups {
                let place = GROUPS.iter().position(|&group| group == explanation.group);
                groups.push(place.and_then(|place| i8::try_from(place).ok()).unwrap_or(GROUPS.len() as i8 - 1));
            }
            if let Some(lines) = &mut self.lines {
                lines.append_option(rule.map(|rule| rule.line).filter(|&line| line > 0));
            }
            if let Some(rules) = &mut self.rules {
                rules.append_option(rule.map(ToString::to_string));
            }
            if let Some(reasons) = &mut self.reasons {
                let reason = || said(row).map_or_else(|| explanation.reason.to_string(), str::to_owned);
                reasons.append_option((!is_null(row)).then(reason));
            }
        }
    }

    /// Adds each URL's deciding ruleset number.
    pub(crate) fn take_rulesets(&mut self, found: &[Option<Provenance>]) {
        if let Some(rulesets) = &mut self.rulesets {
            rulesets.extend(found.iter().map(|found| found.as_ref().and_then(|found| found.ruleset)));
        }
    }

    /// Removes and returns a column.
    fn column(&mut self, column: Column, nulls: Option<&NullBuffer>) -> Result<Option<ArrayRef>, Error> {
        Ok(match column {
            Column::Url | Column::Refused | Column::Mask | Column::CaptureTime => None,
            Column::Ruleset => self.rulesets.as_mut().map(|rulesets| Arc::new(rulesets.finish()) as ArrayRef),
            Column::Verdict => {
                let words = StringArray::from_iter_values(VERDICTS.map(Verdict::name));
                Some(dictionary(std::mem::take(&mut self.verdicts), words, nulls)?)
            }
            Column::Group => {
                let words = StringArray::from_iter_values(GROUPS.map(Group::as_str));
                self.groups.take().map(|groups| dictionary(groups, words, nulls)).transpose()?
            }
            Column::Line => self.lines.as_mut().map(|lines| Arc::new(lines.finish()) as ArrayRef),
            Column::Rule => self.rules.as_mut().map(|rules| Arc::new(rules.finish()) as ArrayRef),
            Column::Reason => self.reasons.as_mut().map(|reasons| Arc::new(reasons.finish()) as ArrayRef),
        })
    }
}

fn dictionary(keys: Vec<i8>, words: StringArray, nulls: Option<&NullBuffer>) -> Result<ArrayRef, Error> {
    let keys = Int8Array::try_new(keys.into(), nulls.cloned())?;
    Ok(Arc::new(DictionaryArray::<Int8Type>::try_new(keys, Arc::new(words))?))
}
