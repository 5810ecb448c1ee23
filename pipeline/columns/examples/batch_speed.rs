//! Measures the library's batch calls, and the same URLs as an Arrow array: `batch_speed SET URLS COUNT AGENT`.
//!
//! For `bindings/python/speed`, which compares it with the Python calls. Each output line has a name, the processor
//! time in seconds for one thread (on Linux, otherwise 0), and the elapsed seconds. `URLS` is a file with a URL on
//! each line. The list is repeated up to `COUNT` URLs.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, LargeStringArray};
use reptile::{Set, Verdict};
use reptile_columns::arrow::ArrayDecider;
use reptile_columns::{Column, SetOrRobots};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [set, urls, count, agent] = &arguments[..] else {
        return Err("usage: batch_speed SET URLS COUNT AGENT".into());
    };
    let text = std::fs::read_to_string(urls)?;
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let urls: Vec<&str> = lines.iter().copied().cycle().take(count.parse()?).collect();
    let agents = SetOrRobots::Set(Set::read(set)?).agents(&[agent], false)?;
    let array: ArrayRef = Arc::new(LargeStringArray::from_iter_values(&urls));
    let decider = ArrayDecider::new(agents.clone(), &[Column::Verdict])?;
    let mut verdicts = vec![Verdict::Invalid; urls.len()];

    measured("one thread", || Ok(agents.decide_all(&urls, &mut verdicts)?))?;
    measured("arrow, one thread", || decider.clone().parallel(false).decide(&array).map(drop).map_err(Into::into))?;
    measured("all threads", || Ok(agents.par_decide_all(&urls, &mut verdicts)?))?;
    measured("arrow, all threads", || decider.decide(&array).map(drop).map_err(Into::into))
}

fn measured(name: &str, work: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<(), Box<dyn Error>> {
    let (before, start) = (of_thread(), Instant::now());
    work()?;
    println!("{name}\t{}\t{}", of_thread() - before, start.elapsed().as_secs_f64());
    Ok(())
}

/// Returns this thread's processor time in seconds.
fn of_thread() -> f64 {
    let read = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = read.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.unwrap_or(0.0) / 1e9
}
