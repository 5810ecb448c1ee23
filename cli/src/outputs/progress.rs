//! How far long work has come, shown on a terminal only: how much is done, how fast, and the time left where it is known.

use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::terminal::tells_a_person;

/// The time from one drawing to the next.
const INTERVAL: Duration = Duration::from_millis(200);

/// The progress that is shown now, so that other text does not run into it.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// The progress of one piece of work. It is no longer shown when it is dropped.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Shows nothing.
    pub fn hidden() -> Progress {
        Progress { bar: ProgressBar::hidden() }
    }

    /// Counts things, such as files; of how many, if that is known.
    pub fn of(things: &str, total: Option<u64>) -> Progress {
        match total {
            Some(_) => {
                Progress::new(total, &format!("{{human_pos}} of {{human_len}} {things}, {{speed}}, {{eta}} left"))
            }
            None => Progress::new(total, &format!("{{human_pos}} {things}, {{speed}}, {{elapsed}}")),
        }
    }

    /// Counts bytes; of how many, if that is known. The message follows them.
    pub fn of_bytes(total: Option<u64>) -> Progress {
        match total {
            Some(_) => Progress::new(total, "{bytes} of {total_bytes}, {bytes_per_sec}, {eta} left{msg}"),
            None => Progress::new(total, "{bytes}, {bytes_per_sec}, {elapsed}{msg}"),
        }
    }

    /// Shows only what is done, and for how long.
    pub fn of_time(what: &str) -> Progress {
        Progress::new(None, &format!("{what}, {{elapsed}}"))
    }

    fn new(total: Option<u64>, template: &str) -> Progress {
        if !tells_a_person() {
            return Progress::hidden();
        }
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template(&format!("{{spinner}} {template}")) {
            // indicatif's own has decimals that nobody reads.
            let speed = |state: &ProgressState, text: &mut dyn Write| {
                let _ = write!(text, "{}/s", HumanCount(state.per_sec() as u64));
            };
            bar.set_style(style.with_key("speed", speed));
        }
        bar.enable_steady_tick(INTERVAL);
        *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
        Progress { bar }
    }

    /// Counts some more.
    pub fn add(&self, count: u64) {
        self.bar.inc(count);
    }

    /// Changes the message.
    pub fn say(&self, message: impl FnOnce() -> String) {
        if !self.bar.is_hidden() {
            self.bar.set_message(message());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if !self.bar.is_hidden() {
            *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = None;
            self.bar.finish_and_clear();
        }
    }
}

/// Runs `write` while no progress is on the screen.
pub fn apart(write: impl FnOnce()) {
    let shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match shown {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}
