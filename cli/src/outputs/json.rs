//! JSON for standard output and files, with all terminal control characters escaped.

use serde::Serialize;
use serde_json::Value;

use crate::error::{Failure, Result};
use reptile_records::text::is_unsafe;

/// Returns a value as one line of JSON.
pub fn json_line(value: &impl Serialize) -> Result<String> {
    Ok(safe_json(&serde_json::to_string(value).map_err(Failure::new)?))
}

/// Returns a value as indented JSON, for files that people read too.
pub fn json_lines(value: &impl Serialize) -> Result<String> {
    let json = serde_json::to_string_pretty(value).map_err(Failure::new)?;
    Ok(json.lines().map(safe_json).collect())
}

/// Returns one line of JSON with an LF. Characters that control a terminal become `\uXXXX`.
pub fn safe_json(json: &str) -> String {
    let mut line = String::with_capacity(json.len() + 1);
    for character in json.chars() {
        if is_unsafe(character) {
            // Every unsafe character is below U+10000, so one escape is enough.
            line.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            line.push(character);
        }
    }
    line.push('\n');
    line
}

/// Adds a field with text from a file or a URL. If it is not UTF-8, which JSON requires, another field, `NAME_hex`, has its
/// bytes.
pub fn add_bytes(object: &mut Value, name: &str, bytes: &[u8]) {
    object[name] = String::from_utf8_lossy(bytes).into();
    if std::str::from_utf8(bytes).is_err() {
        object[format!("{name}_hex")] = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_characters_are_read_back() {
        let value = serde_json::json!({"a": "\u{1b}[31m\u{202e}\u{9b}\n", "b": [1, "é"]});
        for text in [json_line(&value).unwrap(), json_lines(&value).unwrap()] {
            assert_eq!(text.chars().find(|&c| is_unsafe(c) && c != '\n'), None, "{text:?}");
            assert!(text.contains("\\u202e") && text.ends_with('\n'), "{text:?}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        }
        assert_eq!(json_line(&value).unwrap().lines().count(), 1);
        assert!(json_lines(&value).unwrap().lines().count() > 1);
    }
}
