//! Decides an array in tasks that each slice, decide and write their own rows: [`decide`].
//!
//! Explanations are not built here, because their text columns can only grow at the end.

use arrow_array::{Array, ArrayRef};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use reptile::{Agents, Verdict};

use crate::error::Error;
use crate::threads::in_pool;
use crate::urls::Texts;

/// Maximum rows in a task: enough to make thread handover cheap, and few enough for a processor's cache.
const MAX_ROWS_OF_TASK: usize = 4096;
/// Minimum rows in a task, so that the task list is small compared with the result, even with many crawlers.
const MIN_ROWS_OF_TASK: usize = 256;
/// Maximum verdicts that a task holds in addition to the result, unless the minimum rows have more.
const VERDICTS_OF_TASK: usize = 1 << 17;

/// A row range, and the destination for their verdicts.
struct Task<'c> {
    start: usize,
    rows: usize,
    /// The same rows in each crawler's column.
    columns: Vec<&'c mut [i8]>,
}

/// Decides a URL array, each at its own time if there are times, and writes the verdicts' numbers into a column
/// with the same length for each crawler. A row without a time is invalid.
///
/// # Errors
/// Returns the error for the first rows that cannot be sliced or decided.
pub(crate) fn decide<'c>(
    agents: &Agents,
    array: &ArrayRef,
    times: Option<&[Option<i64>]>,
    columns: impl Iterator<Item = &'c mut [i8]>,
    is_parallel: bool,
) -> Result<(), Error> {
    let texts = Texts::of(array.as_ref())?;
    let tasks = tasks(array.len(), rows_of_task(agents.len()), columns);
    let work = |task: Task<'_>| {
        let times = times.and_then(|times| times.get(task.start..task.start + task.rows));
        decide_task(agents, &texts, times, task).err()
    };
    let failed = if is_parallel {
        in_pool(|| tasks.into_par_iter().find_map_first(work))
    } else {
        tasks.into_iter().find_map(work)
    };
    failed.map_or(Ok(()), Err)
}

fn rows_of_task(agents: usize) -> usize {
    (VERDICTS_OF_TASK / agents.max(1)).clamp(MIN_ROWS_OF_TASK, MAX_ROWS_OF_TASK)
}

/// Splits the columns into tasks.
fn tasks<'c>(rows: usize, of_task: usize, columns: impl Iterator<Item = &'c mut [i8]>) -> Vec<Task<'c>> {
    let mut columns: Vec<_> = columns.map(|column| column.chunks_mut(of_task)).collect();
    let starts = (0..rows).step_by(of_task);
    let task = |start: usize| Task {
        start,
        rows: of_task.min(rows - start),
        columns: columns.iter_mut().filter_map(Iterator::next).collect(),
    };
    starts.map(task).collect()
}

fn decide_task(agents: &Agents, texts: &Texts<'_>, times: Option<&[Option<i64>]>, task: Task<'_>) -> Result<(), Error> {
    let part = texts.slice(task.start, task.rows);
    let mut urls = texts.cut(part.as_ref())?;
    let mut verdicts = vec![Verdict::Invalid; urls.len() * agents.len()];
    match times {
        None => agents.decide_all(&urls, &mut verdicts)?,
        Some(times) => {
            let times = known_times(times, &mut urls);
            agents.decide_all_at(&urls, &times, &mut verdicts)?;
        }
    }
    for (place, column) in task.columns.into_iter().enumerate() {
        let of_agent = verdicts.get(place..).unwrap_or_default().iter().step_by(agents.len());
        for (number, &verdict) in column.iter_mut().zip(of_agent) {
            *number = verdict as i8;
        }
    }
    Ok(())
}

/// Returns some rows' times. A URL without a time is replaced by an empty text, so that it is invalid.
pub(crate) fn known_times(times: &[Option<i64>], urls: &mut [&[u8]]) -> Vec<i64> {
    for (url, _) in urls.iter_mut().zip(times).filter(|(_, time)| time.is_none()) {
        *url = b"";
    }
    times.iter().map(|time| time.unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_stay_within_the_verdict_limit() {
        let most = VERDICTS_OF_TASK / MAX_ROWS_OF_TASK;
        assert_eq!([most - 1, most].map(rows_of_task), [MAX_ROWS_OF_TASK; 2]);
        assert!(rows_of_task(most + 1) < MAX_ROWS_OF_TASK && rows_of_task(most + 1) * (most + 1) <= VERDICTS_OF_TASK);
        let many = VERDICTS_OF_TASK / MIN_ROWS_OF_TASK;
        assert!(rows_of_task(many - 1) >= MIN_ROWS_OF_TASK && rows_of_task(many - 1) * (many - 1) <= VERDICTS_OF_TASK);
        assert_eq!([many, many + 1].map(rows_of_task), [MIN_ROWS_OF_TASK; 2]);
    }

    #[test]
    fn tasks_cover_every_row_once() {
        for rows in [0, 1, 255, 256, 257, 512, 513] {
            let mut columns = [vec![0; rows], vec![0; rows]];
            let shared = tasks(rows, 256, columns.iter_mut().map(Vec::as_mut_slice));
            assert_eq!(shared.len(), rows.div_ceil(256));
            for task in shared {
                assert_eq!(task.columns.len(), 2);
                for (place, column) in task.columns.into_iter().enumerate() {
                    assert_eq!(column.len(), task.rows);
                    for (row, number) in column.iter_mut().enumerate() {
                        *number += ((task.start + row) % 100) as i8 + place as i8;
                    }
                }
            }
            for (place, column) in columns.iter().enumerate() {
                assert!(column.iter().enumerate().all(|(row, &number)| number == (row % 100) as i8 + place as i8));
            }
        }
    }
}
