//! Findings about a file's lines, for tools that show them next to the lines: commands for GitHub Actions, and results
//! in [`super::sarif`].

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Error,
    Warning,
    Note,
}

/// A finding about a line.
pub struct Annotation<'a> {
    pub level: Level,
    /// The file's path. It is printable.
    pub file: &'a str,
    pub line: u32,
    /// The kind of finding.
    pub code: &'a str,
    /// The heading that GitHub shows.
    pub title: &'a str,
    pub message: &'a str,
}

impl Annotation<'_> {
    /// Returns the finding as a command for GitHub Actions, with a line end.
    pub fn github(&self) -> String {
        let level = match self.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "notice",
        };
        let (file, title) = (escaped(self.file, true), escaped(self.title, true));
        format!("::{level} file={file},line={},title={title}::{}\n", self.line, escaped(self.message, false))
    }
}

/// Escapes text for a command. Properties also escape commas and colons, which end them.
fn escaped(text: &str, is_property: bool) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    if is_property { text.replace(':', "%3A").replace(',', "%2C") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_a_property_or_the_command() {
        for (text, property, message) in [
            ("a b", "a b", "a b"),
            ("a,b:c", "a%2Cb%3Ac", "a,b:c"),
            ("%0A::error::x", "%250A%3A%3Aerror%3A%3Ax", "%250A::error::x"),
            ("a\r\nb", "a%0D%0Ab", "a%0D%0Ab"),
        ] {
            let annotation =
                Annotation { level: Level::Note, file: text, line: 7, code: "c", title: text, message: text };
            let expected = format!("::notice file={property},line=7,title={property}::{message}\n");
            assert_eq!(annotation.github(), expected);
        }
    }
}
