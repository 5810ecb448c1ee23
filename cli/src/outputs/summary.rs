//! The figures printed at the end of a command.

use std::time::Duration;

use indicatif::HumanCount;

use super::terminal::tell;
use crate::outputs::align::{pad, width};

/// Rows with a label and a value, printed with aligned values.
#[derive(Default)]
pub struct Summary {
    rows: Vec<(String, String)>,
}

impl Summary {
    /// Adds a row.
    pub fn row(&mut self, label: impl Into<String>, value: impl Into<String>) {
        self.rows.push((label.into(), value.into()));
    }

    /// Adds a row with a numeric value.
    pub fn count(&mut self, label: impl Into<String>, number: u64) {
        self.row(label, grouped(number));
    }

    /// Returns the rows as text.
    pub fn render(&self) -> String {
        let widest = self.rows.iter().map(|(label, _)| width(label)).max().unwrap_or(0);
        let mut text = String::new();
        for (label, value) in &self.rows {
            text.push_str(format!("{}  {value}", pad(label, widest)).trim_end());
            text.push('\n');
        }
        text
    }

    /// Prints the rows on standard error.
    pub fn print(&self) {
        tell(&self.render());
    }
}

/// Returns a number with a comma between groups of three digits.
pub fn grouped(number: u64) -> String {
    HumanCount(number).to_string()
}

/// Returns seconds with two decimals. (`indicatif::HumanDuration` rounds to whole seconds, and most commands take
/// less.)
pub fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

/// Returns the count per second as a grouped number.
pub fn rate(count: u64, time: Duration) -> String {
    grouped((count as f64 / time.as_secs_f64().max(1e-9)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        let table = [(0, "0"), (999, "999"), (1000, "1,000"), (123_456, "123,456"), (1_234_567, "1,234,567")];
        for (number, text) in table {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(rate(5000, Duration::from_millis(500)), "10,000");
        assert_eq!(seconds(Duration::from_millis(1250)), "1.25 s");
    }

    #[test]
    fn values_are_aligned() {
        let mut summary = Summary::default();
        summary.count("a", 1);
        summary.row("long", "x");
        summary.row("日", "y");
        assert_eq!(summary.render(), "a     1\nlong  x\n日    y\n");
    }
}
