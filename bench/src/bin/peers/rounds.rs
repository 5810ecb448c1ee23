//! How the peers take turns: the one loop that all are timed in, and the rounds of deciding and building.

use std::error::Error;
use std::fmt::Write as _;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use reptile_bench::median;

use crate::figures::Figures;

pub type Any<T> = Result<T, Box<dyn Error>>;

/// How often each is measured; they take turns.
pub const ROUNDS: usize = 11;

/// What one measurement of repeated decisions should take at least, and at most if URLs can be left out, in seconds.
const ENOUGH: f64 = 0.01;
const TOO_MUCH: f64 = 0.1;

/// What all rounds of one measurement of building may take, in seconds: the more a build takes, the fewer rounds.
const PATIENCE: f64 = 2.0;

/// What to decide.
#[derive(Clone, Copy)]
pub struct Task {
    /// Which list of inputs: 0 is gone through again and again, each of the others once.
    pub list: usize,
    /// How many inputs of it, from the first.
    pub count: usize,
    /// How often.
    pub repeat: usize,
    /// How many inputs of list 0 come first, untimed, because the others have had the caches since.
    pub warm_up: usize,
}

/// How long a task took, and how many inputs are disallowed.
pub struct Done {
    pub seconds: f64,
    pub disallowed: usize,
}

/// Carries out tasks.
pub type Decide<'c> = Box<dyn FnMut(Task) -> Any<Done> + 'c>;

/// Builds, and returns something that depends on what was built.
pub type Build<'c> = Box<dyn FnMut() -> usize + 'c>;

/// A name, and what carries out tasks or builds; `None` if it refuses the file.
pub type Contender<T> = (String, Option<T>);

/// The same loop for all: over the first inputs of a list, counting those that are disallowed.
fn timed(lists: &[Vec<String>], task: Task, mut disallows: impl FnMut(&str) -> bool) -> Done {
    let mut go = |list: usize, count: usize| {
        let inputs = lists.get(list).map_or(&[][..], Vec::as_slice);
        black_box(inputs.iter().take(count).filter(|input| disallows(black_box(input))).count())
    };
    go(0, task.warm_up);
    let start = Instant::now();
    let mut disallowed = 0;
    for _ in 0..task.repeat {
        disallowed = go(task.list, task.count);
    }
    Done { seconds: start.elapsed().as_secs_f64(), disallowed }
}

/// Decides by a question to each input.
pub fn over<'c>(lists: &'c [Vec<String>], mut disallows: impl FnMut(&str) -> bool + 'c) -> Decide<'c> {
    Box::new(move |task| Ok(timed(lists, task, &mut disallows)))
}

/// As [`over`], for an engine that builds its automaton as it goes: made anew for each list of fresh inputs, because
/// it would not be a first pass otherwise.
pub fn over_lazy<'c, E: 'c>(
    lists: &'c [Vec<String>],
    anew: impl Fn() -> Any<E> + 'c,
    mut disallows: impl FnMut(&mut E, &str) -> bool + 'c,
) -> Any<Decide<'c>> {
    let mut engine = anew()?;
    Ok(Box::new(move |task| {
        if task.list > 0 {
            engine = anew()?;
        }
        Ok(timed(lists, task, |input| disallows(&mut engine, input)))
    }))
}

/// Measures decisions of list 0, which has so many inputs, again and again. What answers in another way than right is
/// noted.
pub fn measure_decisions(
    case: &str,
    (inputs, right): (usize, usize),
    contenders: &mut [Contender<Decide<'_>>],
    figures: &mut Figures,
    notes: &mut String,
) {
    let mut running = Vec::new();
    for (name, decide) in contenders {
        // A row for each, in this order.
        figures.add(name, None);
        let Some(decide) = decide else { continue };
        // All inputs once: the answers, and how long it takes about. A panic shows as no answer.
        let once = Task { list: 0, count: inputs, repeat: 1, warm_up: 0 };
        let mut all = match catch_unwind(AssertUnwindSafe(|| decide(once))) {
            Ok(Ok(done)) => {
                note_wrong(name, case, done.disallowed, right, notes);
                done.seconds
            }
            Ok(Err(reason)) => {
                let _ = writeln!(notes, "- {name}, {case}: {reason}");
                continue;
            }
            Err(_) => {
                let _ = writeln!(notes, "- {name}, {case}: panics");
                continue;
            }
        };
        // A lazy engine has spent most of that on its automaton.
        if let (true, Ok(again)) = (all < 1.0, decide(once)) {
            all = again.seconds;
        }
        let share = (TOO_MUCH / all).clamp(0.01, 1.0);
        let count = (inputs as f64 * share) as usize;
        let repeat = (ENOUGH / (all * share)).max(1.0) as usize;
        running.push((name, decide, Task { count, repeat, warm_up: count, ..once }, Vec::new()));
    }
    for _ in 0..ROUNDS {
        for (_, decide, task, times) in &mut running {
            times.extend(decide(*task).map(|done| done.seconds * 1e9 / (task.count * task.repeat) as f64).ok());
        }
    }
    for (name, _, _, times) in running {
        figures.set(name, median(times));
    }
}

/// Measures a first pass over each of the lists of fresh inputs, behind list 0 of so many inputs. `right` has the
/// numbers of disallowed ones.
pub fn measure_fresh(
    case: &str,
    (inputs, fresh): (usize, usize),
    right: &[usize],
    contenders: &mut [Contender<Decide<'_>>],
    figures: &mut Figures,
    notes: &mut String,
) -> Any<()> {
    let mut all_times = vec![Vec::new(); contenders.len()];
    for (list, &right) in right.iter().enumerate() {
        for ((name, decide), times) in contenders.iter_mut().zip(&mut all_times) {
            let Some(decide) = decide else { continue };
            let done = decide(Task { list: list + 1, count: fresh, repeat: 1, warm_up: inputs })?;
            note_wrong(name, &format!("{case}, fresh list {list}"), done.disallowed, right, notes);
            times.push(done.seconds * 1e9 / fresh as f64);
        }
    }
    for ((name, decide), times) in contenders.iter().zip(all_times) {
        figures.add(name, decide.as_ref().map(|_| median(times)));
    }
    Ok(())
}

fn note_wrong(name: &str, case: &str, found: usize, right: usize, notes: &mut String) {
    if found != right {
        let _ = writeln!(notes, "- {name}, {case}: {found} instead of {right}");
    }
}

/// Measures building, in microseconds.
pub fn measure_builds(contenders: Vec<Contender<Build<'_>>>, builds: &mut Figures) {
    let mut running = Vec::new();
    for (name, build) in contenders {
        builds.add(&name, None);
        let Some(mut build) = build else { continue };
        let start = Instant::now();
        black_box(build());
        let first = start.elapsed().as_secs_f64();
        let repeat = (ENOUGH / first).clamp(1.0, 1000.0) as usize;
        let rounds = (PATIENCE / first) as usize;
        // Where there is no patience for a round, the first build is the figure.
        let times = if rounds == 0 { vec![first * 1e6] } else { Vec::new() };
        running.push((name, build, repeat, rounds, times));
    }
    for round in 0..ROUNDS {
        for (_, build, repeat, _, times) in running.iter_mut().filter(|(_, _, _, rounds, _)| round < *rounds) {
            let start = Instant::now();
            for _ in 0..*repeat {
                black_box(build());
            }
            times.push(start.elapsed().as_secs_f64() * 1e6 / *repeat as f64);
        }
    }
    for (name, _, _, _, times) in running {
        builds.set(&name, median(times));
    }
}
