//! Progress displays for long tasks, on a terminal only: completed work, speed, and the remaining time if known.

use std::fmt::Write;
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::terminal::{is_interactive, show_progress};

/// The time between two updates.
const INTERVAL: Duration = Duration::from_millis(200);

/// A task's progress display. Dropping it hides it.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Returns a hidden progress display.
    pub fn hidden() -> Progress {
        Progress { bar: ProgressBar::hidden() }
    }

    /// Counts items, such as files, up to an optional total.
    pub fn of(things: &str, total: Option<u64>) -> Progress {
        match total {
            Some(_) => {
                Progress::new(total, &format!("{{human_pos}} of {{human_len}} {things}, {{speed}}, {{eta}} left"))
            }
            None => Progress::new(total, &format!("{{human_pos}} {things}, {{speed}}, {{elapsed}}")),
        }
    }

    /// Counts bytes, up to an optional total. The message follows the count.
    pub fn of_bytes(total: Option<u64>) -> Progress {
        match total {
            Some(_) => Progress::new(total, "{bytes} of {total_bytes}, {bytes_per_sec}, {eta} left{msg}"),
            None => Progress::new(total, "{bytes}, {bytes_per_sec}, {elapsed}{msg}"),
        }
    }

    /// Shows only the message and the elapsed time.
    pub fn of_time(what: &str) -> Progress {
        Progress::new(None, &format!("{what}, {{elapsed}}"))
    }

    fn new(total: Option<u64>, template: &str) -> Progress {
        if !is_interactive() {
            return Progress::hidden();
        }
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template(&format!("{{spinner}} {template}")) {
            // indicatif's own format has unnecessary decimals.
            let speed = |state: &ProgressState, text: &mut dyn Write| {
                let _ = write!(text, "{}/s", HumanCount(state.per_sec() as u64));
            };
            bar.set_style(style.with_key("speed", speed));
        }
        bar.enable_steady_tick(INTERVAL);
        show_progress(Some(bar.clone()));
        Progress { bar }
    }

    /// Adds to the count.
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
            show_progress(None);
            self.bar.finish_and_clear();
        }
    }
}
