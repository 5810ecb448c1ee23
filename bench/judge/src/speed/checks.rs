//! Decides whether measurements count. An engine's own figures are compared with its verdicts, with the judge's clock,
//! with the protocol's loop, and with memory speed.
//!
//! A warm figure still relies on the engine's claim that it decided each row in each pass, because an engine can repeat
//! a known verdict. Fresh rows are unknown in advance, and their single pass is compared with the clock and with a
//! second pass over the same rows.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::engine::Sample;

/// Maximum difference between the samples' sum and the judge's clock, as a percentage.
const SLACK_PERCENT: u32 = 25;

/// Additional tolerance for a reply with a budget.
const SLACK: Duration = Duration::from_millis(30);

/// Additional tolerance for a single pass over fresh rows.
const FRESH_SLACK: Duration = Duration::from_millis(10);

/// Minimum time for a fresh pass, as a percentage of a warm pass over the same rows. The lowest share measured
/// for any engine was 65.
const FRESH_PERCENT: u32 = 40;

/// The time at which the protocol ends a sample, in nanoseconds.
const SAMPLE_NS: u64 = 1_000_000;

/// Maximum time in nanoseconds by which a sample may exceed [`SAMPLE_NS`] and its last pass, for reading the clock.
const CLOCK_NS: u64 = 1_000;

/// Minimum number of samples with several passes whose lengths are conclusive.
const JUDGED_SAMPLES: usize = 5;

/// Maximum speed of reading a robots.txt, relative to copying it. A parser may skip lines without reading each byte.
const BODY_FACTOR: u32 = 4;

/// A measurement with a budget of 0.
#[derive(Clone, Copy, Debug)]
pub struct IdleMeasurement {
    /// The reply's duration by the judge's clock.
    pub wall: Duration,
    /// The sum of the samples.
    pub samples: Duration,
}

impl IdleMeasurement {
    /// Returns the time for a request and its reply without the samples.
    fn overhead(self) -> Duration {
        self.wall.saturating_sub(self.samples)
    }
}

/// The time for a pass over rows that have been decided before.
#[derive(Clone, Copy, Debug)]
pub struct WarmPass(Duration);

impl WarmPass {
    /// Returns the fastest pass among two lists of samples.
    pub fn of(samples: &[Sample], others: &[Sample]) -> WarmPass {
        let pass = samples.iter().chain(others).map(|sample| sample.ns / sample.passes.max(1)).min();
        WarmPass(Duration::from_nanos(pass.unwrap_or(0)))
    }
}

/// This machine's memory speed, which gives a lower limit for the time to process bytes.
#[derive(Clone, Copy, Debug)]
pub struct MemorySpeed {
    bytes_per_second: f64,
}

impl MemorySpeed {
    /// Size of the copied buffer in bytes. It fits into the fastest cache.
    const BYTES: usize = 1 << 14;

    /// Copies per trial. The fastest of [`MemorySpeed::TRIALS`] trials counts.
    const COPIES: u32 = 200;
    const TRIALS: u32 = 20;

    /// Measures the machine once.
    pub fn of_machine() -> MemorySpeed {
        static FLOOR: OnceLock<MemorySpeed> = OnceLock::new();
        *FLOOR.get_or_init(|| {
            let (from, mut to) = (vec![1_u8; MemorySpeed::BYTES], vec![0_u8; MemorySpeed::BYTES]);
            let mut trial = || {
                let start = Instant::now();
                for _ in 0..MemorySpeed::COPIES {
                    to.copy_from_slice(black_box(&from));
                    black_box(&mut to);
                }
                start.elapsed()
            };
            let fastest = (0..MemorySpeed::TRIALS).map(|_| trial()).min().unwrap_or_default();
            let bytes = MemorySpeed::BYTES as f64 * f64::from(MemorySpeed::COPIES);
            MemorySpeed { bytes_per_second: bytes / fastest.as_secs_f64().max(1e-9) }
        })
    }

    /// Returns the minimum time to process `urls` bytes in URLs and `bodies` bytes in robots.txt files.
    pub fn time(self, urls: usize, bodies: usize) -> Duration {
        let bytes = urls as f64 + bodies as f64 / f64::from(BODY_FACTOR);
        Duration::from_secs_f64(bytes / self.bytes_per_second)
    }
}

/// Returns the reason why the samples' counts are wrong, if any.
pub fn void_count(samples: &[Sample], disallowed: u64) -> Option<String> {
    let wrong = samples.iter().find(|sample| sample.disallowed != disallowed.saturating_mul(sample.passes))?;
    Some(format!(
        "{} disallowed in {} passes, but {disallowed} per pass by its own verdicts",
        wrong.disallowed, wrong.passes
    ))
}

/// Returns the reason if a pass is faster than its bytes can be read.
pub fn void_floor(samples: &[Sample], floor: Duration) -> Option<String> {
    let pass = |sample: &&Sample| sample.ns as f64 / sample.passes.max(1) as f64;
    let fastest = samples.iter().min_by(|a, b| pass(a).total_cmp(&pass(b)))?;
    let (found, floor) = (pass(&fastest), floor.as_secs_f64() * 1e9);
    (found < floor)
        .then(|| format!("a pass in {found:.1} ns, but copying its bytes takes {floor:.1} ns on this machine"))
}

/// Returns the reason if the samples claim more passes than the protocol's loop can make. A sample ends with the pass
/// that reaches [`SAMPLE_NS`], so half of all samples last at most that time and one more pass.
pub fn void_passes(samples: &[Sample]) -> Option<String> {
    let mut over: Vec<(u64, u64)> = samples
        .iter()
        .filter(|sample| sample.passes > 1)
        .map(|sample| (sample.ns.saturating_sub(SAMPLE_NS), sample.ns / sample.passes))
        .collect();
    if over.len() < JUDGED_SAMPLES {
        return None;
    }
    let middle = over.len() / 2;
    let over_ns = over.select_nth_unstable(middle).1.0;
    over.sort_unstable_by_key(|&(_, pass)| pass);
    let pass_ns = over[middle].1;
    (over_ns > pass_ns.saturating_add(CLOCK_NS)).then(|| {
        format!(
            "samples are {over_ns} ns longer than 1 ms, but end with a pass of {pass_ns} ns: it counts too many passes"
        )
    })
}

/// Returns the reason why the samples' times are wrong, if any. Without its samples, a reply takes as long as one with
/// a budget of 0.
pub fn void_time(sum: Duration, wall: Duration, idle: IdleMeasurement, budget: Duration) -> Option<String> {
    if sum > wall {
        return Some(longer_than_reply(sum, wall));
    }
    if sum < budget {
        return Some(format!("samples of {}, less than the requested {}", ms(sum), ms(budget)));
    }
    // On a busy machine the overhead, such as writing a file, varies by as much again.
    let slack = sum * SLACK_PERCENT / 100 + idle.overhead() + SLACK;
    (wall - sum > idle.overhead() + slack).then(|| without_samples(sum, wall, idle))
}

/// Returns the reason why a fresh pass's time is wrong, if any. `idle` and `warm` are measured on the
/// same rows, decided again.
pub fn void_fresh(sum: Duration, wall: Duration, idle: IdleMeasurement, warm: WarmPass) -> Option<String> {
    if sum > wall {
        return Some(longer_than_reply(sum, wall));
    }
    if sum < warm.0 * FRESH_PERCENT / 100 {
        return Some(format!("fresh rows in {}, but the same rows again take {}", ms(sum), ms(warm.0)));
    }
    let slack = (sum + idle.overhead()) * SLACK_PERCENT / 100 + FRESH_SLACK;
    (wall - sum > idle.overhead() + slack).then(|| without_samples(sum, wall, idle))
}

fn longer_than_reply(sum: Duration, wall: Duration) -> String {
    format!("samples of {} in a reply that took {}", ms(sum), ms(wall))
}

fn without_samples(sum: Duration, wall: Duration, idle: IdleMeasurement) -> String {
    format!("{}; without samples it takes {}", longer_than_reply(sum, wall), ms(idle.overhead()))
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn millis(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    const IDLE: IdleMeasurement = IdleMeasurement { wall: millis(21), samples: millis(1) };

    #[test]
    fn samples_with_other_counts_are_void() {
        let sample = |passes, disallowed| Sample { ns: 1, passes, disallowed };
        assert_eq!(void_count(&[sample(2, 10), sample(1, 5)], 5), None);
        assert!(void_count(&[sample(2, 10), sample(1, 4)], 5).unwrap().starts_with("4 disallowed in 1 passes"));
        assert!(void_count(&[sample(u64::MAX, 5)], 5).is_some());
    }

    #[test]
    fn implausible_sample_times_are_void() {
        for (sum, wall, fault) in [
            (100, 121, ""),
            // The slack is 25 + 20 + 30 ms, in addition to the 20 ms of every reply.
            (100, 195, ""),
            (100, 196, "without samples it takes 20.0 ms"),
            // Ten times the true speed.
            (100, 1020, "without samples it takes"),
            (100, 99, "samples of 100.0 ms in a reply that took 99.0 ms"),
            (99, 121, "less than"),
        ] {
            let found = void_time(millis(sum), millis(wall), IDLE, millis(100)).unwrap_or_default();
            assert!(found.contains(fault) && found.is_empty() == fault.is_empty(), "{sum} {wall}: {found}");
        }
    }

    #[test]
    fn fresh_times_must_match_the_clock_and_a_second_pass() {
        for (sum, wall, warm, fault) in [
            (100, 121, 100, ""),
            // The slack is a quarter of 100 + 20 ms, plus 10 ms.
            (100, 160, 100, ""),
            (100, 161, 100, "without samples it takes 20.0 ms"),
            // At the minimum share of a warm pass, and below it.
            (40, 61, 100, ""),
            (39, 61, 100, "but the same rows again take 100.0 ms"),
            (10, 121, 100, "but the same rows again take"),
            // A tenth of the time, claimed by an engine that takes ten times as long for fresh rows.
            (10, 121, 10, "without samples it takes"),
            (122, 121, 100, "in a reply that took"),
        ] {
            let found = void_fresh(millis(sum), millis(wall), IDLE, WarmPass(millis(warm))).unwrap_or_default();
            assert!(found.contains(fault) && found.is_empty() == fault.is_empty(), "{sum} {wall} {warm}: {found}");
        }
    }

    #[test]
    fn impossible_pass_counts_are_void() {
        // Samples as the loop produces them, 1 ms plus part of a 70-microsecond pass, and the same with 100 times the
        // passes.
        let loops = |factor: u64| -> Vec<Sample> {
            let sample = |part: u64| Sample { ns: SAMPLE_NS + 7_000 * part, passes: 15 * factor, disallowed: 0 };
            (0..10).map(sample).collect()
        };
        assert_eq!(void_passes(&loops(1)), None);
        assert!(void_passes(&loops(100)).unwrap().contains("counts too many passes"));
        // Too few samples for a decision.
        assert_eq!(void_passes(&loops(100)[..JUDGED_SAMPLES - 1]), None);
        assert!(void_passes(&loops(100)[10 - JUDGED_SAMPLES..]).is_some());
        // At the limit: a pass of 10 microseconds, and the time to read the clock.
        for (over, is_void) in [(10_000 + CLOCK_NS - 1, false), (10_000 + CLOCK_NS, false), (11_200 + CLOCK_NS, true)] {
            let ns = SAMPLE_NS + over;
            let samples = [Sample { ns, passes: ns / 10_000, disallowed: 0 }; JUDGED_SAMPLES];
            assert_eq!(void_passes(&samples).is_some(), is_void, "{over}");
        }
        // A machine that was busy during a few samples.
        let mut busy = loops(1);
        busy.iter_mut().take(4).for_each(|sample| sample.ns += 4_000_000);
        assert_eq!(void_passes(&busy), None);
    }

    #[test]
    fn no_pass_is_faster_than_memory() {
        let floor = MemorySpeed { bytes_per_second: 100e9 }.time(60_000, 0);
        assert_eq!(floor, Duration::from_nanos(600));
        let samples = |ns: u64| [Sample { ns: ns * 1000, passes: 1000, disallowed: 0 }];
        for (ns, is_void) in [(599, true), (600, false), (601, false)] {
            assert_eq!(void_floor(&samples(ns), floor).is_some(), is_void, "{ns}");
        }
        // A thousand rows at 0.21 ns each.
        assert!(void_floor(&[Sample { ns: 1_050_000, passes: 5_000, disallowed: 0 }], floor).is_some());
        let machine = MemorySpeed::of_machine().bytes_per_second;
        assert!((1e8..1e13).contains(&machine), "{machine}");
        assert_eq!(MemorySpeed { bytes_per_second: 100e9 }.time(0, 400), Duration::from_nanos(1));
    }
}
