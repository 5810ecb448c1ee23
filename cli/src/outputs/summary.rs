//! The tidy block of figures that a command ends with.

use std::io::{self, Write};
use std::time::Duration;

/// Lines of a label and a value, printed with the values one below the other.
#[derive(Default)]
pub struct Summary {
    rows: Vec<(String, String)>,
}

impl Summary {
    /// Adds a line.
    pub fn row(&mut self, label: impl Into<String>, value: impl Into<String>) {
        self.rows.push((label.into(), value.into()));
    }

    /// Adds a line that holds a number.
    pub fn count(&mut self, label: impl Into<String>, number: u64) {
        self.row(label, grouped(number));
    }

    /// The block as text.
    pub fn render(&self) -> String {
        let width = self.rows.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        for (label, value) in &self.rows {
            text.push_str(format!("{label:width$}  {value}").trim_end());
            text.push('\n');
        }
        text
    }

    /// Prints the block on standard error.
    pub fn print(&self) {
        let _ = io::stderr().write_all(self.render().as_bytes());
    }
}

/// A number with a comma between groups of three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A time in seconds.
pub fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

/// How many of something a second.
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
    }

    #[test]
    fn values_stand_below_each_other() {
        let mut summary = Summary::default();
        summary.count("a", 1);
        summary.row("long", "x");
        assert_eq!(summary.render(), "a     1\nlong  x\n");
    }
}
