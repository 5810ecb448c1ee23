//! Prepares a request's rows, and times the passes for `bench`.

use std::collections::{BTreeMap, HashMap};
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use url::{Position, Url};

use crate::implementation::{Implementation, Pass, Question};
use crate::message::Fields;
use crate::serve::{Refusal, Reply, RequestedRow, Session, field, guarded, number, rows};

/// Minimum duration of a sample in nanoseconds.
const SAMPLE_NS: u128 = 1_000_000;

/// The requested files by slot, without files that cannot be parsed.
pub(crate) type FilesBySlot<'a, I> = BTreeMap<u32, <I as Implementation>::File<'a>>;

/// Prepared deciders, and each row's index into their list, if its file is loaded.
pub(crate) struct PreparedDeciders<'f, I: Implementation> {
    /// `None` for a crawler that the interface does not accept.
    list: Vec<Option<I::Ready<'f>>>,
    of_row: Vec<Option<usize>>,
}

impl<'f, I: Implementation> PreparedDeciders<'f, I> {
    /// Returns each row's decider, or `None` if its file is not loaded or preparation panicked.
    pub(crate) fn of_rows(&self) -> impl Iterator<Item = Option<&Option<I::Ready<'f>>>> {
        self.of_row.iter().map(|&index| Some(&self.list[index?]))
    }
}

impl<I: Implementation> Session<I> {
    /// Parses the files that rows refer to.
    pub(crate) fn files(&self, asked: &[RequestedRow<'_>]) -> FilesBySlot<'_, I> {
        let mut files = FilesBySlot::<I>::new();
        for RequestedRow { slot, .. } in asked {
            if let Some(loaded) = self.slots.get(slot).filter(|_| !files.contains_key(slot))
                && let Some(Ok(file)) = guarded(|| self.implementation.parse(&loaded.body))
            {
                self.implementation.finish_parsing(&file);
                files.insert(*slot, file);
            }
        }
        files
    }

    /// Prepares the files and crawlers that rows refer to.
    pub(crate) fn readies<'f>(
        &self,
        files: &'f FilesBySlot<'_, I>,
        asked: &[RequestedRow<'f>],
    ) -> PreparedDeciders<'f, I> {
        let mut readies = PreparedDeciders { list: Vec::new(), of_row: Vec::with_capacity(asked.len()) };
        let mut indices: HashMap<(u32, &[u8]), Option<usize>> = HashMap::new();
        for RequestedRow { slot, row, .. } in asked {
            let key = (*slot, if I::PER_AGENT { row.agent } else { b"" });
            let index = *indices.entry(key).or_insert_with(|| {
                let file = files.get(slot)?;
                readies.list.push(guarded(|| self.implementation.ready(file, row))?);
                Some(readies.list.len() - 1)
            });
            readies.of_row.push(index);
        }
        readies
    }

    pub(crate) fn bench(&self, request: &Fields) -> Reply {
        let model = String::from_utf8_lossy(field(request, "model")?).into_owned();
        let budget = number(field(request, "budget")?)?;
        let mut asked = rows(request)?;
        asked.retain(|RequestedRow { slot, .. }| self.slots.contains_key(slot));
        if !I::PARSES && !matches!(&model[..], "one-shot" | "open") {
            return Err(Refusal::Skip("the implementation parses the file again for each URL".to_owned()));
        }
        match &model[..] {
            "one-shot" => Ok(samples(self.one_shot_pass(&asked), false, budget)),
            "parse" => {
                asked.dedup_by_key(|RequestedRow { field, .. }| *field);
                Ok(samples(self.parse_pass(&asked), false, budget))
            }
            "decide" | "fresh" => {
                let files = self.files(&asked);
                let readies = self.readies(&files, &asked);
                Ok(samples(self.decide_pass(&readies, &asked), model == "fresh", budget))
            }
            "path" | "fresh-path" if I::TAKES_PATHS => {
                let paths: Vec<Vec<u8>> = asked.iter().map(|asked| self.implementation.path(asked.row.url)).collect();
                let rows = asked.iter().zip(&paths);
                let asked: Vec<RequestedRow<'_>> = rows
                    .map(|(asked, path)| RequestedRow { row: Question::new(asked.row.agent, path), ..*asked })
                    .collect();
                let files = self.files(&asked);
                let readies = self.readies(&files, &asked);
                Ok(samples(self.decide_pass(&readies, &asked), model == "fresh-path", budget))
            }
            "path" | "fresh-path" => Err(Refusal::Skip("the interface takes whole URLs".to_owned())),
            "crawl" if I::CRAWLS => self.crawl(&asked, budget),
            "crawl" => {
                Err(Refusal::Skip("it has no lookup by site, and `parse` already measures preparing them".to_owned()))
            }
            "open" => self.open(&asked, field(request, "folder")?, budget),
            _ => Err(Refusal::Skip(format!("the model {model} is not supported"))),
        }
    }

    fn one_shot_pass<'a>(&'a self, asked: &'a [RequestedRow<'_>]) -> Pass<'a> {
        let questions: Vec<(&[u8], &Question<'_>)> =
            asked.iter().filter_map(|asked| Some((&self.slots.get(&asked.slot)?.body[..], &asked.row))).collect();
        Box::new(move || {
            count(questions.iter().map(|(body, row)| guarded(|| self.implementation.one_shot(black_box(body), row))))
        })
    }

    fn parse_pass<'a>(&'a self, asked: &'a [RequestedRow<'_>]) -> Pass<'a> {
        let implementation = &self.implementation;
        Box::new(move || {
            count(asked.iter().map(|RequestedRow { slot, row, .. }| {
                guarded(|| {
                    let file = implementation.parse(black_box(&self.slots.get(slot)?.body)).ok()?;
                    let ready = implementation.ready(&file, row)?;
                    implementation.allows(&ready, row)
                })
            }))
        })
    }

    fn decide_pass<'a>(&'a self, readies: &'a PreparedDeciders<'_, I>, asked: &'a [RequestedRow<'_>]) -> Pass<'a> {
        let questions: Vec<_> =
            readies.of_rows().zip(asked).filter_map(|(ready, asked)| Some((ready?.as_ref()?, &asked.row))).collect();
        Box::new(move || count(questions.iter().map(|(ready, row)| guarded(|| self.implementation.allows(ready, row)))))
    }

    /// Answers the model `crawl`, using the implementation's own origin lookup if it has one, or else a map.
    fn crawl(&self, asked: &[RequestedRow<'_>], budget: u128) -> Reply {
        let sites: Vec<(&str, &[u8])> = self.slots.values().map(|slot| (&slot.origin[..], &slot.body[..])).collect();
        let rows: Vec<Question<'_>> = asked.iter().map(|asked| asked.row).collect();
        if let Some(pass) = self.implementation.crawl(&sites, &rows) {
            return Ok(samples(pass.map_err(Refusal::Error)?, false, budget));
        }
        // Combine each file with each crawler.
        let mut agents: Vec<&Question<'_>> = rows.iter().collect();
        agents.sort_by_key(|row| row.agent);
        agents.dedup_by_key(|row| row.agent);
        let pairs: Vec<RequestedRow<'_>> = self
            .slots
            .keys()
            .flat_map(|&slot| agents.iter().map(move |&&row| RequestedRow { field: 0, slot, row }))
            .collect();
        let files = self.files(&pairs);
        let readies = self.readies(&files, &pairs);
        let mut by_origin: HashMap<&str, HashMap<&[u8], &I::Ready<'_>>> = HashMap::new();
        for (ready, RequestedRow { slot, row, .. }) in readies.of_rows().zip(&pairs) {
            if let (Some(Some(ready)), Some(loaded)) = (ready, self.slots.get(slot)) {
                by_origin.entry(&loaded.origin).or_default().insert(row.agent, ready);
            }
        }
        let pass = || {
            count(rows.iter().map(|row| {
                let url = Url::parse(row.url_text?).ok()?;
                let ready = by_origin.get(&url[..Position::BeforePath])?.get(row.agent)?;
                guarded(|| self.implementation.allows_split(ready, row, &url))
            }))
        };
        Ok(samples(Box::new(pass), false, budget))
    }

    fn open(&self, asked: &[RequestedRow<'_>], folder: &[u8], budget: u128) -> Reply {
        let sites: Vec<(&str, &[u8])> = self.slots.values().map(|slot| (&slot.origin[..], &slot.body[..])).collect();
        let first = asked.first().ok_or_else(|| Refusal::Error("expected a row".to_owned()))?;
        let folder = String::from_utf8_lossy(folder);
        let pass = self.implementation.open(&sites, &first.row, Path::new(&folder[..]));
        let pass = pass.ok_or_else(|| Refusal::Skip("the implementation has no file format".to_owned()))?;
        Ok(samples(pass.map_err(Refusal::Error)?, false, budget))
    }
}

/// Counts the disallowed rows. An outer `None` is a panic or a missing file; an inner `None` is an unsupported
/// question.
fn count(verdicts: impl Iterator<Item = Option<Option<bool>>>) -> u64 {
    verdicts.map(|verdict| u64::from(verdict == Some(Some(false)))).sum()
}

/// Times passes as the protocol specifies. A sample contains nanoseconds, passes and disallowed rows.
fn samples(mut pass: Pass<'_>, is_fresh: bool, budget: u128) -> Vec<(&'static str, String)> {
    let line = |elapsed: u128, passes: u64, disallowed: u64| ("sample", format!("{elapsed} {passes} {disallowed}"));
    if is_fresh {
        let start = Instant::now();
        let disallowed = pass();
        return vec![line(start.elapsed().as_nanos(), 1, disallowed)];
    }
    pass();
    let (mut taken, mut total) = (Vec::new(), 0);
    while taken.is_empty() || total < budget {
        let (mut passes, mut disallowed, start) = (0, 0, Instant::now());
        let elapsed = loop {
            disallowed += pass();
            passes += 1;
            let elapsed = start.elapsed().as_nanos();
            if elapsed >= SAMPLE_NS {
                break elapsed;
            }
        };
        taken.push(line(elapsed, passes, disallowed));
        total += elapsed;
    }
    taken
}
