//! Speed: engines measure themselves in turns, and [`checks`] decides which measurements count. The measured rows are
//! in [`inputs`], hostile files in [`hostile`].

mod checks;
pub mod hostile;
pub mod inputs;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use reptile_compiler::dialect::Dialect;

use self::checks::{
    IdleMeasurement, MemorySpeed, WarmPass, void_count, void_floor, void_fresh, void_passes, void_time,
};
use self::inputs::{Input, Inputs, fresh_rows};
use crate::corpus::COMMON;
use crate::engine::{Engine, MAX_ROWS, Question, Sample, is_fresh};
use crate::engines::EngineEntry;
use crate::letters;
use crate::process::NoReply;
use crate::records::{Failure, Memory, Record, Speed, Writer};

/// Number of rows in a pass, unless a pass would take too long.
const ROWS: usize = 1_000;

/// Minimum number of rows in a pass, unless a single row takes longer than [`SLOW_ROW`].
const FEW_ROWS: u64 = 8;

/// Minimum time of a row that is measured alone.
const SLOW_ROW: Duration = Duration::from_millis(250);

/// Minimum number of rows whose verdicts are compared with the dialect, unless they would take longer than
/// [`CHECK_TIME`].
const CHECKED_ROWS: usize = 100;
const CHECK_TIME: Duration = Duration::from_secs(2);

/// Total time for an engine's measurements per model and input after which it skips further rounds. The first round
/// always takes place.
const TASK_TIME: Duration = Duration::from_secs(4);

/// The settings for measuring engines.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Time budget per measurement.
    pub budget: Duration,
    /// Number of rounds.
    pub rounds: usize,
    /// The seed of fresh URLs.
    pub seed: u64,
    /// Whether to measure real files, if they are present.
    pub with_real: bool,
    /// The models to measure, possibly including [`HOSTILE`]; if empty, all.
    pub models: Vec<String>,
    /// The inputs to measure; if empty, all.
    pub inputs: Vec<String>,
}

/// The model name for hostile files.
pub const HOSTILE: &str = "hostile";

impl Plan {
    fn has_model(&self, model: &str) -> bool {
        self.models.is_empty() || self.models.iter().any(|wanted| wanted == model)
    }

    fn has_input(&self, input: &str) -> bool {
        self.inputs.is_empty() || self.inputs.iter().any(|wanted| wanted == input)
    }
}

/// Cached dialect verdicts by input and dialect name. Computing them takes longer than many engines do.
type Readings = HashMap<(String, &'static str), Vec<u8>>;

/// A model and an input.
struct Task<'i> {
    model: &'static str,
    input: &'i Input,
}

/// An engine with its prepared tasks.
struct Measured<'e> {
    engine: Engine<'e>,
    dialect: &'static Dialect,
    tasks: HashMap<(usize, &'static str), PreparedTask>,
}

/// Information about a task, gathered before it is measured.
#[derive(Clone, Debug)]
struct PreparedTask {
    /// Rows in a pass.
    rows: usize,
    /// A measurement with a budget of 0.
    idle: IdleMeasurement,
    /// Rows compared with the dialect, and those that agree.
    checked: usize,
    right: usize,
    /// Time spent on the task so far, by the judge's clock.
    spent: Duration,
}

/// Measures all engines and writes the records.
///
/// # Errors
/// Returns an error if the inputs cannot be read or a record cannot be written. Failures of engines are recorded
/// instead.
pub fn run(entries: &[&EngineEntry], plan: &Plan, writer: &mut Writer) -> Result<(), String> {
    if plan.with_real && reptile_bench::shared().is_none() {
        eprintln!("  the folder with real inputs is absent (REPTILE_SHARED): measuring only generated files");
    }
    let wanted =
        |models: &[&'static str]| -> Vec<_> { models.iter().copied().filter(|model| plan.has_model(model)).collect() };
    let mut stages: Vec<(Inputs, Vec<&'static str>)> = Vec::new();
    let models = wanted(&["one-shot", "parse", "decide", "path", "fresh", "fresh-path"]);
    if !models.is_empty() {
        stages.push((Inputs::single(plan.with_real)?, models));
    }
    let models = wanted(&["one-shot", "parse"]);
    if plan.with_real && !models.is_empty() {
        stages.push((Inputs::real_files()?, models));
    }
    let models = wanted(&["crawl", "open"]);
    if !models.is_empty() {
        stages.push((Inputs::sites(plan.seed), models));
    }
    let names = stages.iter().flat_map(|(inputs, _)| &inputs.inputs).map(|input| &*input.name);
    check_inputs(&plan.inputs, &names.collect::<Vec<_>>())?;
    for (inputs, models) in &stages {
        stage(entries, inputs, models, plan, writer)?;
    }
    if plan.has_model(HOSTILE) { hostile::run(entries, writer) } else { Ok(()) }
}

/// Checks that each wanted input will be measured. Some names contain a count that depends on the seed.
fn check_inputs(wanted: &[String], names: &[&str]) -> Result<(), String> {
    match wanted.iter().find(|wanted| !names.contains(&wanted.as_str())) {
        Some(unknown) => Err(format!("--inputs: expected some of: {}; found {unknown:?}", names.join(", "))),
        None => Ok(()),
    }
}

/// Loads all files into each engine and measures the tasks, with the engines taking turns.
fn stage(
    entries: &[&EngineEntry],
    inputs: &Inputs,
    models: &[&'static str],
    plan: &Plan,
    writer: &mut Writer,
) -> Result<(), String> {
    // The real files are absent, which `run` has already reported.
    if inputs.inputs.is_empty() {
        return Ok(());
    }
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let tasks: Vec<Task<'_>> = inputs
        .inputs
        .iter()
        .flat_map(|input| models.iter().map(move |&model| Task { model, input }))
        .filter(|task| !is_fresh(task.model) || task.input.fresh.is_some())
        .filter(|task| plan.has_input(&task.input.name))
        .collect();
    let mut measured = Vec::new();
    let mut readings = Readings::default();
    for entry in entries.iter().filter(|entry| !Engine::new(entry).is_command()) {
        eprintln!("  {}: {} tasks", entry.name, tasks.len());
        let mut engine = Engine::new(entry);
        let dialect = entry.dialect.unwrap_or(COMMON);
        // Memory is measured with many sites, because with a few files it is mostly the process's own.
        let label = models.contains(&"crawl").then(|| inputs.inputs[0].name.clone());
        if let Err(broken) = load_all(&mut engine, inputs, label, writer)? {
            writer.write(&failure(entry, "load", broken))?;
            continue;
        }
        let mut one = Measured { engine, dialect, tasks: HashMap::new() };
        for (index, task) in tasks.iter().enumerate() {
            match prepare(&mut one, inputs, &mut readings, task, plan, folder.path()) {
                Ok(prepared) => drop(one.tasks.insert((index, task.model), prepared)),
                Err(broken) => writer.write(&failure(entry, &at(task), broken))?,
            }
        }
        measured.push(one);
    }
    for round in 0..plan.rounds {
        eprintln!("  round {} of {}", round + 1, plan.rounds);
        for (index, task) in tasks.iter().enumerate() {
            for one in &mut measured {
                let key = (index, task.model);
                let Some(prepared) = one.tasks.get(&key).cloned() else { continue };
                if !is_due(round, prepared.spent) {
                    continue;
                }
                let start = Instant::now();
                let measured = measure(one, inputs, task, &prepared, plan, round, folder.path());
                if let Some(prepared) = one.tasks.get_mut(&key) {
                    prepared.spent += start.elapsed();
                }
                match measured {
                    Ok(speed) => writer.write(&Record::Speed(speed))?,
                    Err(broken) => {
                        // Give up after one failure, because repeating it would take time from other tasks.
                        one.tasks.remove(&key);
                        writer.write(&failure(one.engine.entry, &at(task), broken))?;
                    }
                }
            }
        }
    }
    for one in &mut measured {
        let _ = one.engine.stop();
    }
    Ok(())
}

/// Returns a task's name for failure records.
fn at(task: &Task<'_>) -> String {
    format!("{} {}", task.model, task.input.name)
}

fn failure(entry: &EngineEntry, at: &str, broken: NoReply) -> Record {
    let letter = char::from(broken.letter);
    Record::Failure(Failure { engine: entry.name.clone(), at: at.to_owned(), letter, why: broken.why })
}

/// Loads all files, and records the memory use under `label` if it is given. A refusal is not an error.
fn load_all(
    engine: &mut Engine<'_>,
    inputs: &Inputs,
    label: Option<String>,
    writer: &mut Writer,
) -> Result<Result<(), NoReply>, String> {
    let before = match engine.hello() {
        Ok(_) => engine.memory().0,
        Err(broken) => return Ok(Err(broken)),
    };
    let mut refused = 0;
    for (slot, file) in inputs.files.iter().enumerate() {
        match engine.load(slot, &file.origin, &file.body) {
            Ok(()) => {}
            Err(broken) if broken.letter == letters::REFUSED => refused += 1,
            Err(broken) => return Ok(Err(broken)),
        }
    }
    let Some(input) = label else { return Ok(Ok(())) };
    let urls: Vec<Vec<u8>> = inputs.files.iter().map(|file| format!("{}/", file.origin).into_bytes()).collect();
    let questions: Vec<Question<'_>> =
        urls.iter().enumerate().map(|(slot, url)| Question { slot, agent: inputs::AGENT, url }).collect();
    if let Err(broken) = engine.decide(&questions) {
        return Ok(Err(broken));
    }
    let (after, peak) = engine.memory();
    let bytes = inputs.files.iter().map(|file| file.body.len()).sum();
    let (engine, files) = (engine.entry.name.clone(), inputs.files.len());
    writer.write(&Record::Memory(Memory { engine, input, files, bytes, refused, before, after, peak }))?;
    Ok(Ok(()))
}

/// Loads all files again if the process has been restarted.
fn reload(engine: &mut Engine<'_>, inputs: &Inputs, failures: usize) -> Result<(), NoReply> {
    if engine.failures == failures {
        return Ok(());
    }
    for (slot, file) in inputs.files.iter().enumerate() {
        match engine.load(slot, &file.origin, &file.body) {
            Err(broken) if broken.letter != letters::REFUSED => return Err(broken),
            _ => {}
        }
    }
    Ok(())
}

/// Chooses how many rows a pass has, compares the engine's verdicts with the dialect, and measures the overhead per
/// request.
fn prepare(
    one: &mut Measured<'_>,
    inputs: &Inputs,
    readings: &mut Readings,
    task: &Task<'_>,
    plan: &Plan,
    folder: &std::path::Path,
) -> Result<PreparedTask, NoReply> {
    let Measured { engine, dialect, .. } = one;
    let before = engine.failures;
    let start = Instant::now();
    let prepared = (|| {
        let first = engine.bench(model_of(task.model), Duration::ZERO, Some(folder), &task.input.questions(1))?;
        let rows = rows_of(task, row_time(&first.0), plan.budget);
        let questions = task.input.questions(rows);
        // In models where a pass is one unit, more rows are needed to judge whether the verdicts are right.
        let is_slow = row_time(&first.0) * CHECKED_ROWS as u32 > CHECK_TIME;
        let checked_rows = if is_slow { rows } else { rows.max(CHECKED_ROWS) };
        let letters = engine.decide(&task.input.questions(checked_rows))?.letters;
        if !letters.iter().any(|&letter| letters::is_verdict(letter)) {
            // A refused file, for example. Such rows would be decided in no time.
            let why = "it gives no verdict on any row".to_owned();
            return Err(NoReply { letter: letters::SKIP, why });
        }
        let key = (task.input.name.clone(), dialect.as_str());
        let expected = readings.entry(key).or_insert_with(|| inputs.readings(task.input, MAX_ROWS, dialect));
        let verdicts = || expected.iter().zip(&letters).filter(|(expected, _)| letters::is_verdict(**expected));
        let checked = verdicts().count();
        let right = verdicts().filter(|(expected, found)| expected == found).count();
        let (samples, wall) = engine.bench(model_of(task.model), Duration::ZERO, Some(folder), &questions)?;
        Ok(PreparedTask {
            rows,
            idle: IdleMeasurement { wall, samples: sum(&samples) },
            checked,
            right,
            spent: start.elapsed(),
        })
    })();
    if prepared.is_err() {
        reload(engine, inputs, before)?;
    }
    prepared
}

/// Returns the model that determines how long a row takes. For fresh URLs, that is the model with the same work in a
/// loop.
fn model_of(model: &'static str) -> &'static str {
    match model {
        "fresh" => "decide",
        "fresh-path" => "path",
        _ => model,
    }
}

/// Returns the time per row in a measurement of one row.
fn row_time(samples: &[Sample]) -> Duration {
    let passes: u64 = samples.iter().map(|sample| sample.passes).sum();
    sum(samples) / u32::try_from(passes.max(1)).unwrap_or(u32::MAX)
}

fn sum(samples: &[Sample]) -> Duration {
    Duration::from_nanos(samples.iter().map(|sample| sample.ns).fold(0, u64::saturating_add))
}

/// Returns how many rows make a pass that takes about a fifth of the budget.
fn rows_of(task: &Task<'_>, row: Duration, budget: Duration) -> usize {
    if task.input.is_whole {
        return task.input.rows.len();
    }
    // In these models a pass is one unit, regardless of the rows.
    if matches!(task.model, "parse" | "open") {
        return 1;
    }
    let most = match task.model {
        "fresh" | "fresh-path" | "crawl" => MAX_ROWS,
        _ => ROWS.min(task.input.rows.len()),
    };
    if row >= SLOW_ROW {
        return 1;
    }
    let fit = budget.as_nanos() / 5 / row.as_nanos().max(1);
    let rows = usize::try_from(fit.max(u128::from(FEW_ROWS))).unwrap_or(most).min(most);
    if is_fresh(task.model) { rows } else { rows.min(task.input.rows.len()) }
}

/// Runs one measurement.
fn measure(
    one: &mut Measured<'_>,
    inputs: &Inputs,
    task: &Task<'_>,
    prepared: &PreparedTask,
    plan: &Plan,
    round: usize,
    folder: &std::path::Path,
) -> Result<Speed, NoReply> {
    let before = one.engine.failures;
    let run = Measurement { inputs, task, prepared, plan, seed: plan.seed.wrapping_add(round as u64), folder };
    let measured = if is_fresh(task.model) { run.fresh(&mut one.engine) } else { run.warm(&mut one.engine) };
    if measured.is_err() {
        reload(&mut one.engine, inputs, before)?;
    }
    let Figures { samples, wall, void, units } = measured?;
    Ok(Speed {
        engine: one.engine.entry.name.clone(),
        model: task.model.to_owned(),
        input: task.input.name.clone(),
        round,
        units,
        samples,
        wall_ns: u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX),
        void,
        // Each round has different rows. The share comes from `prepare`'s rows, under the same rules.
        checked: prepared.checked,
        right: prepared.right,
        dialect: one.dialect.as_str().to_owned(),
    })
}

/// The figures of one measurement.
struct Figures {
    samples: Vec<Sample>,
    /// The reply's duration by the judge's clock.
    wall: Duration,
    /// The reason why the samples do not count, if any.
    void: Option<String>,
    /// Rows or units in a pass.
    units: usize,
}

/// A measurement to run.
struct Measurement<'r> {
    inputs: &'r Inputs,
    task: &'r Task<'r>,
    prepared: &'r PreparedTask,
    plan: &'r Plan,
    /// The seed of this round's rows: the same for all engines.
    seed: u64,
    folder: &'r std::path::Path,
}

impl Measurement<'_> {
    /// Measures rows that are decided repeatedly. Each round has different rows in a different order, so an engine that
    /// remembers an earlier request's counts is wrong.
    fn warm(&self, engine: &mut Engine<'_>) -> Result<Figures, NoReply> {
        let Measurement { task, prepared, plan, .. } = *self;
        let questions = task.input.drawn(task.model, prepared.rows, self.seed);
        let (samples, wall) = engine.bench(task.model, plan.budget, Some(self.folder), &questions)?;
        let counted = if is_one_unit(task) { &questions[..1] } else { &questions[..] };
        let disallowed = disallowed(engine, counted)?;
        let void = void_count(&samples, disallowed)
            .or_else(|| void_floor(&samples, self.floor(&questions)))
            .or_else(|| void_passes(&samples))
            .or_else(|| void_time(sum(&samples), wall, prepared.idle, plan.budget));
        Ok(Figures { samples, wall, void, units: if is_one_unit(task) { 1 } else { questions.len() } })
    }

    /// Measures URLs that the engine has not seen. The engine then decides the same rows again, for their verdicts and
    /// for a time that the judge's clock confirms.
    fn fresh(&self, engine: &mut Engine<'_>) -> Result<Figures, NoReply> {
        let Measurement { task, prepared, plan, .. } = *self;
        let (Some(source), Some((slot, ..))) = (&task.input.fresh, task.input.rows.first()) else {
            return Err(NoReply { letter: letters::SKIP, why: "no fresh URLs for this input".into() });
        };
        let rows = fresh_rows(source, *slot, self.seed, prepared.rows);
        let fresh = Input { name: String::new(), rows, fresh: None, is_whole: false };
        let questions = fresh.questions(prepared.rows);
        let (samples, wall) = engine.bench(task.model, Duration::ZERO, None, &questions)?;
        let disallowed = disallowed(engine, &questions)?;
        let model = model_of(task.model);
        let (again, idle_wall) = engine.bench(model, Duration::ZERO, None, &questions)?;
        let idle = IdleMeasurement { wall: idle_wall, samples: sum(&again) };
        let (warm, warm_wall) = engine.bench(model, plan.budget, None, &questions)?;
        let void = (!matches!(&*samples, [Sample { passes: 1, .. }]))
            .then(|| "not exactly one pass".to_owned())
            .or_else(|| void_count(&samples, disallowed))
            .or_else(|| void_floor(&samples, self.floor(&questions)))
            .or_else(|| {
                let lie = void_time(sum(&warm), warm_wall, idle, plan.budget).or_else(|| void_passes(&warm))?;
                Some(format!("the same rows again: {lie}"))
            })
            .or_else(|| void_fresh(sum(&samples), wall, idle, WarmPass::of(&warm, &again)));
        Ok(Figures { samples, wall, void, units: questions.len() })
    }

    /// Returns the minimum time of a pass: its bytes at memory speed.
    fn floor(&self, questions: &[Question<'_>]) -> Duration {
        let body = |question: &Question<'_>| self.inputs.files.get(question.slot).map_or(0, |file| file.body.len());
        let bodies: usize = match self.task.model {
            "one-shot" => questions.iter().map(body).sum(),
            "parse" => questions.first().map_or(0, body),
            _ => 0,
        };
        let of_path =
            |url: &[u8]| url.iter().enumerate().filter(|(_, byte)| **byte == b'/').nth(2).map_or(0, |(at, _)| at);
        let urls: usize = match self.task.model {
            "parse" | "open" => 0,
            "path" | "fresh-path" => questions.iter().map(|row| row.url.len() - of_path(row.url)).sum(),
            _ => questions.iter().map(|row| row.url.len()).sum(),
        };
        MemorySpeed::of_machine().time(urls, bodies)
    }
}

/// Returns whether a pass is a single unit, so that only the first row counts.
fn is_one_unit(task: &Task<'_>) -> bool {
    matches!(task.model, "parse" | "open") && !task.input.is_whole
}

/// Counts the rows that the engine's own verdicts disallow.
fn disallowed(engine: &mut Engine<'_>, questions: &[Question<'_>]) -> Result<u64, NoReply> {
    let letters = engine.decide(questions)?.letters;
    Ok(letters.iter().filter(|&&letter| letter == letters::DISALLOW).count() as u64)
}

/// Returns whether a task is measured in a round after earlier rounds have taken `spent`.
fn is_due(round: usize, spent: Duration) -> bool {
    round == 0 || spent < TASK_TIME
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn unknown_inputs_are_an_error() {
        let names = ["small", "real p50", "725 sites"];
        let check =
            |wanted: &[&str]| check_inputs(&wanted.iter().map(|&name| name.to_owned()).collect::<Vec<_>>(), &names);
        assert_eq!(check(&[]), Ok(()));
        assert_eq!(check(&["725 sites", "small"]), Ok(()));
        let expected = "--inputs: expected some of: small, real p50, 725 sites; found \"723 sites\"";
        assert_eq!(check(&["small", "723 sites"]), Err(expected.to_owned()));
    }

    #[test]
    fn tasks_end_at_their_time_limit() {
        for (spent, is_due_again) in [(TASK_TIME - ms(1), true), (TASK_TIME, false), (TASK_TIME + ms(1), false)] {
            assert!(is_due(0, spent), "every task is measured at least once");
            assert_eq!(is_due(1, spent), is_due_again, "{spent:?}");
        }
    }

    #[test]
    fn passes_with_slow_rows_are_short() {
        let rows = vec![(0, Vec::new(), Vec::new()); 5_000];
        let mut input = Input { name: String::new(), rows, fresh: None, is_whole: false };
        let rows = |model, row: Duration| rows_of(&Task { model, input: &input }, row, ms(100));
        assert_eq!(rows("decide", Duration::from_nanos(100)), 1000);
        assert_eq!(rows("decide", Duration::from_micros(200)), 100);
        assert_eq!(rows("decide", ms(10)), 8);
        assert_eq!(rows("decide", ms(300)), 1);
        assert_eq!(rows("fresh", Duration::from_nanos(1)), MAX_ROWS);
        assert_eq!(rows("fresh-path", Duration::from_nanos(1)), MAX_ROWS);
        assert_eq!(rows("crawl", Duration::from_nanos(1)), 5_000);
        assert_eq!(rows("parse", Duration::from_nanos(1)), 1);
        input.is_whole = true;
        for model in ["one-shot", "parse"] {
            assert_eq!(rows_of(&Task { model, input: &input }, ms(300), ms(100)), 5_000);
        }
    }
}
