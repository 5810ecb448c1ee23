//! Compares documents with constants in the code, so that numbers in the text stay up to date.

/// Asserts that a document contains a phrase, ignoring line breaks.
pub fn assert_says(document: &str, phrase: &str) {
    let text = document.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(phrase), "the document does not say: {phrase}");
}

/// Formats a number with commas between groups of three digits.
#[allow(dead_code, reason = "some binaries only use small numbers")]
pub fn with_commas(number: usize) -> String {
    let digits = number.to_string();
    let comma = |at: usize| if at > 0 && (digits.len() - at).is_multiple_of(3) { "," } else { "" };
    digits.char_indices().map(|(at, digit)| format!("{}{digit}", comma(at))).collect()
}
