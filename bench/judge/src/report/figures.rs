//! Medians, shares and sums calculated from a run's records.

use std::collections::{BTreeMap, BTreeSet};

use reptile_bench::median;
use serde::{Deserialize, Serialize};

use crate::records::{
    CorpusRecord, Difference, EndRecord, EngineRecord, Failure, Hostile, Memory, Pair, Record, RunRecord, Score, Speed,
    Traced,
};

/// A run's records, by kind.
#[derive(Default)]
pub struct Records {
    /// The run itself.
    pub run: RunRecord,
    /// The engines, in the order of `engines.toml`.
    pub engines: Vec<EngineRecord>,
    /// The corpora.
    pub corpora: Vec<CorpusRecord>,
    /// Failures.
    pub failures: Vec<Failure>,
    /// Comparisons with dialects.
    pub scores: Vec<Score>,
    /// Comparisons between engines.
    pub pairs: Vec<Pair>,
    /// Minimized differences.
    pub differences: Vec<Difference>,
    /// Differences with known causes.
    pub traced: Vec<Traced>,
    /// Speed measurements.
    pub speeds: Vec<Speed>,
    /// Results for hostile files.
    pub hostile: Vec<Hostile>,
    /// Memory measurements.
    pub memory: Vec<Memory>,
    /// The end, unless the run was killed.
    pub end: Option<EndRecord>,
}

impl Records {
    /// Groups records by kind.
    ///
    /// # Errors
    /// Returns an error if the first record does not describe a run.
    pub fn new(all: Vec<Record>) -> Result<Records, String> {
        if !matches!(all.first(), Some(Record::Run(_))) {
            return Err("the first record does not describe a run".into());
        }
        let mut records = Records::default();
        for record in all {
            match record {
                Record::Run(run) => records.run = run,
                Record::Engine(engine) => records.engines.push(engine),
                Record::Corpus(corpus) => records.corpora.push(corpus),
                Record::Answers(_) => {}
                Record::Failure(failure) => records.failures.push(failure),
                Record::Score(score) => records.scores.push(score),
                Record::Pair(pair) => records.pairs.push(pair),
                Record::Difference(difference) => records.differences.push(difference),
                Record::Traced(traced) => records.traced.push(traced),
                Record::Speed(speed) => records.speeds.push(speed),
                Record::Hostile(hostile) => records.hostile.push(hostile),
                Record::Memory(memory) => records.memory.push(memory),
                Record::End(end) => records.end = Some(end),
            }
        }
        Ok(records)
    }

    /// Returns the engines that were available.
    pub fn present(&self) -> impl Iterator<Item = &EngineRecord> {
        self.engines.iter().filter(|engine| engine.absent.is_none())
    }
}

/// A measured figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The engine.
    pub engine: String,
    /// The model.
    pub model: String,
    /// The input.
    pub input: String,
    /// Nanoseconds per row or unit: the median of the rounds' medians. `None` if all rounds are void.
    pub ns: Option<f64>,
    /// The smallest median of any round.
    pub least_ns: f64,
    /// The largest median of any round.
    pub most_ns: f64,
    /// Number of valid rounds.
    pub rounds: usize,
    /// Number of void rounds.
    pub void_rounds: usize,
    /// Why the first void round is void. Not in `medians.csv`.
    #[serde(default)]
    pub void: Option<String>,
    /// Rows or units per pass.
    pub units: usize,
    /// The share of compared rows with the dialect's verdict, from 0 to 1.
    pub right: f64,
    /// The dialect that verdicts are compared with.
    pub dialect: String,
}

/// Minimum share of right verdicts for a figure to count as the fastest.
pub const SHARE: f64 = 0.99;

impl Figure {
    /// Returns whether the figure is valid and its verdicts are right, so that others may be compared with it.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.ns.is_some() && self.right >= SHARE
    }
}

/// Returns the figures for all measurements, by model and input in measurement order.
#[must_use]
pub fn figures(speeds: &[Speed]) -> Vec<Figure> {
    let mut groups: BTreeMap<(usize, usize), Vec<&Speed>> = BTreeMap::new();
    let mut tasks: Vec<(&str, &str)> = Vec::new();
    let mut engines: Vec<&str> = Vec::new();
    for speed in speeds {
        let task = place(&mut tasks, (&speed.model, &speed.input));
        let engine = place(&mut engines, &speed.engine);
        groups.entry((task, engine)).or_default().push(speed);
    }
    groups.into_values().filter_map(|rounds| figure(&rounds)).collect()
}

/// Returns the index of an item in a list. Appends the item if it is new.
fn place<T: PartialEq>(things: &mut Vec<T>, thing: T) -> usize {
    things.iter().position(|known| *known == thing).unwrap_or_else(|| {
        things.push(thing);
        things.len() - 1
    })
}

fn figure(rounds: &[&Speed]) -> Option<Figure> {
    let first = rounds.first()?;
    let good: Vec<f64> = rounds.iter().filter(|round| round.void.is_none()).map(|round| round_median(round)).collect();
    let (least, most) = good.iter().fold((f64::MAX, 0.0_f64), |(least, most), &ns| (least.min(ns), most.max(ns)));
    Some(Figure {
        engine: first.engine.clone(),
        model: first.model.clone(),
        input: first.input.clone(),
        rounds: good.len(),
        void_rounds: rounds.len() - good.len(),
        void: rounds.iter().find_map(|round| round.void.clone()),
        least_ns: if good.is_empty() { 0.0 } else { least },
        most_ns: most,
        ns: if good.is_empty() { None } else { Some(median(good)) },
        units: first.units,
        right: if first.checked == 0 { 0.0 } else { first.right as f64 / first.checked as f64 },
        dialect: first.dialect.clone(),
    })
}

/// Returns the median time per unit over a round's samples.
fn round_median(round: &Speed) -> f64 {
    let unit = |passes: u64| (passes as f64 * round.units as f64).max(1.0);
    median(round.samples.iter().map(|sample| sample.ns as f64 / unit(sample.passes)).collect())
}

/// Returns the fastest figure for a model and input that others may be compared with.
#[must_use]
pub fn fastest(figures: &[Figure], model: &str, input: &str) -> Option<f64> {
    let of_task = figures.iter().filter(|figure| figure.model == model && figure.input == input && figure.counts());
    of_task.filter_map(|figure| figure.ns).min_by(f64::total_cmp)
}

/// An engine's mean speed in a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Mean {
    /// The engine.
    pub engine: String,
    /// Geometric mean over the ratios to the fastest engine for each input.
    pub ratio: f64,
    /// Number of inputs with a ratio.
    pub inputs: usize,
    /// Whether all figures count.
    pub is_right: bool,
}

/// Returns each engine's mean in a model, fastest first.
#[must_use]
pub fn means(figures: &[Figure], model: &str) -> Vec<Mean> {
    let of_model = || figures.iter().filter(|figure| figure.model == model);
    let engines: BTreeSet<&str> = of_model().map(|figure| &*figure.engine).collect();
    let mut means = Vec::new();
    for engine in engines {
        let mine: Vec<&Figure> = of_model().filter(|figure| figure.engine == engine).collect();
        let ratio = |figure: &&Figure| Some((figure.ns? / fastest(figures, model, &figure.input)?).ln());
        let ratios: Vec<f64> = mine.iter().filter_map(ratio).collect();
        if !ratios.is_empty() {
            means.push(Mean {
                engine: engine.to_owned(),
                ratio: (ratios.iter().sum::<f64>() / ratios.len() as f64).exp(),
                inputs: ratios.len(),
                is_right: mine.iter().all(|figure| figure.counts()),
            });
        }
    }
    means.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    means
}

/// Formats a time with three digits and a unit.
#[must_use]
pub fn time(ns: f64) -> String {
    let digits = |number: f64| if number < 10.0 { 2 } else { usize::from(number < 100.0) };
    let (number, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{number:.*} {unit}", digits(number))
}

/// Formats a share in percent. It shows 100 % only for an exact match.
#[must_use]
pub fn percent(part: usize, all: usize) -> String {
    match all {
        0 => "-".into(),
        _ if part == all => "100 %".into(),
        _ => format!("{:.2} %", (part as f64 * 100.0 / all as f64).min(99.99)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Sample;

    fn speed(engine: &str, round: usize, ns: &[u64], void: Option<&str>, right: usize) -> Speed {
        Speed {
            engine: engine.into(),
            model: "decide".into(),
            input: "small".into(),
            round,
            units: 10,
            samples: ns.iter().map(|&ns| Sample { ns, passes: 2, disallowed: 0 }).collect(),
            wall_ns: 0,
            void: void.map(str::to_owned),
            checked: 10,
            right,
            dialect: "google".into(),
        }
    }

    #[test]
    fn figures_are_medians_of_the_valid_rounds() {
        let speeds = [
            speed("a", 0, &[200, 2000, 400], None, 10),
            speed("a", 1, &[600], None, 10),
            speed("a", 2, &[20], Some("counts"), 10),
            speed("a", 3, &[1000], None, 10),
        ];
        let figure = &figures(&speeds)[0];
        // Rounds with 20, 30 and 50 ns per row.
        assert_eq!((figure.ns, figure.rounds, figure.void_rounds), (Some(30.0), 3, 1));
        assert_eq!((figure.least_ns, figure.most_ns, figure.void.as_deref()), (20.0, 50.0, Some("counts")));
    }

    #[test]
    fn a_fast_wrong_answer_does_not_win() {
        let speeds = [speed("wrong", 0, &[20], None, 9), speed("right", 0, &[2000], None, 10)];
        let all = figures(&speeds);
        assert_eq!(fastest(&all, "decide", "small"), Some(100.0));
        let means = means(&all, "decide");
        assert_eq!((&*means[0].engine, means[0].is_right), ("wrong", false));
        assert_eq!((&*means[1].engine, means[1].ratio, means[1].is_right), ("right", 1.0, true));
    }

    #[test]
    fn percentages_do_not_round_up_to_100() {
        assert_eq!(percent(239_099, 239_100), "99.99 %");
        assert_eq!(percent(239_100, 239_100), "100 %");
        assert_eq!(percent(0, 0), "-");
    }

    #[test]
    fn times_have_three_digits() {
        let shown = [1.234, 56.78, 999.0, 1234.0, 56_780_000.0, 2e9].map(time);
        assert_eq!(shown, ["1.23 ns", "56.8 ns", "999 ns", "1.23 µs", "56.8 ms", "2.00 s"]);
    }
}
