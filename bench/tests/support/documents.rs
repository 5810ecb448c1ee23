//! Compares what a document says with the constants that it is about, so that no number in prose outlives the code.

/// Asserts that a document contains a phrase, wherever its lines break.
pub fn assert_says(document: &str, phrase: &str) {
    let text = document.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(phrase), "the document does not say: {phrase}");
}

/// Writes a number as the documents do, with a comma before each group of three digits.
#[allow(dead_code, reason = "some binaries have only small numbers")]
pub fn with_commas(number: usize) -> String {
    let digits = number.to_string();
    let comma = |at: usize| if at > 0 && (digits.len() - at).is_multiple_of(3) { "," } else { "" };
    digits.char_indices().map(|(at, digit)| format!("{}{digit}", comma(at))).collect()
}
