//! Times the peers in turns: the loop that is the same for all of them, and the rounds of deciding and building.

use std::error::Error;
use std::fmt::Write as _;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use reptile_bench::median;

use crate::figures::Figures;

/// The result of anything that can fail here; the program only prints the reason.
pub type Any<T> = Result<T, Box<dyn Error>>;

/// The number of rounds, in each of which every contender has a turn.
pub const ROUNDS: usize = 11;

/// The least time of one turn, in seconds: faster work is repeated.
pub const MIN_TURN_SECONDS: f64 = 0.01;

/// The most time of one pass over the inputs, in seconds: a slower contender decides only the first inputs.
const MAX_PASS_SECONDS: f64 = 0.1;

/// The time for all rounds of one build, in seconds: a slower build has fewer rounds.
pub const MAX_BUILD_SECONDS: f64 = 2.0;

/// The inputs to decide in one turn.
#[derive(Clone, Copy)]
pub struct Task {
    /// The index of the list of inputs: list 0 is decided again and again, every other list once.
    pub list: usize,
    /// The number of inputs, from the first of the list.
    pub count: usize,
    /// The number of passes over them.
    pub repeat: usize,
    /// The number of inputs of list 0 to decide first, untimed, because other contenders have filled the caches in the
    /// meantime.
    pub warm_up: usize,
}

/// The time that a task took, and the number of disallowed inputs in one pass.
pub struct Done {
    pub seconds: f64,
    pub disallowed: usize,
}

/// A contender that decides: carries out tasks.
pub type Decide<'c> = Box<dyn FnMut(Task) -> Any<Done> + 'c>;

/// A contender that builds: returns a number that depends on what it built, so that no compiler leaves the work out.
pub type Build<'c> = Box<dyn FnMut() -> usize + 'c>;

/// The name of a row, and what to time for it; `None` if the peer refuses the file.
pub type Contender<T> = (String, Option<T>);

/// Times a task with the loop that is the same for all contenders: it counts the disallowed among the first inputs of
/// a list.
fn timed(lists: &[Vec<String>], task: Task, mut disallows: impl FnMut(&str) -> bool) -> Done {
    let mut pass = |list: usize, count: usize| {
        let inputs = lists.get(list).map_or(&[][..], Vec::as_slice);
        black_box(inputs.iter().take(count).filter(|input| disallows(black_box(input))).count())
    };
    pass(0, task.warm_up);
    let start = Instant::now();
    let mut disallowed = 0;
    for _ in 0..task.repeat {
        disallowed = pass(task.list, task.count);
    }
    Done { seconds: start.elapsed().as_secs_f64(), disallowed }
}

/// Makes a contender of a function that says whether an input is disallowed.
pub fn over<'c>(lists: &'c [Vec<String>], mut disallows: impl FnMut(&str) -> bool + 'c) -> Decide<'c> {
    Box::new(move |task| Ok(timed(lists, task, &mut disallows)))
}

/// Makes a contender of an engine that builds its automaton while it matches. The engine is built anew before each list
/// of fresh inputs; otherwise the pass over the list would not be a first pass.
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

/// Measures repeated decisions of list 0, which has `inputs` inputs, of which `right` are disallowed. Adds a note for
/// each contender that counts differently or fails.
pub fn measure_decisions(
    case: &str,
    (inputs, right): (usize, usize),
    contenders: &mut [Contender<Decide<'_>>],
    figures: &mut Figures,
    notes: &mut String,
) {
    let mut running = Vec::new();
    for (name, decide) in contenders {
        // Adds the row now, so that the rows keep the order of the contenders.
        figures.add(name, None);
        let Some(decide) = decide else { continue };
        // One pass over all inputs checks the answers and estimates the time.
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
        // A lazy engine has spent most of that time on its automaton, so a second pass gives the estimate.
        if let (true, Ok(again)) = (all < 1.0, decide(once)) {
            all = again.seconds;
        }
        let share = (MAX_PASS_SECONDS / all).clamp(0.01, 1.0);
        let count = (inputs as f64 * share) as usize;
        let repeat = (MIN_TURN_SECONDS / (all * share)).max(1.0) as usize;
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

/// Measures a first pass over each list of fresh inputs. The lists come after list 0, which has `inputs` inputs; each has
/// `fresh` inputs, and `right` has the number of disallowed ones in each.
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

/// Adds a note if a number of disallowed inputs is not the right one.
fn note_wrong(name: &str, case: &str, found: usize, right: usize, notes: &mut String) {
    if found != right {
        let _ = writeln!(notes, "- {name}, {case}: expected {right} disallowed URLs, found {found}");
    }
}

/// Measures builds, in microseconds.
pub fn measure_builds(contenders: Vec<Contender<Build<'_>>>, builds: &mut Figures) {
    let mut running = Vec::new();
    for (name, build) in contenders {
        builds.add(&name, None);
        let Some(mut build) = build else { continue };
        let start = Instant::now();
        black_box(build());
        let first = start.elapsed().as_secs_f64();
        let repeat = (MIN_TURN_SECONDS / first).clamp(1.0, 1000.0) as usize;
        let rounds = (MAX_BUILD_SECONDS / first) as usize;
        // If one build takes longer than all rounds may, its time is the figure.
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
