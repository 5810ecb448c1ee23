//! The repairs that findings may suggest as replacements. A repair keeps all text that it does not understand, and is
//! not a guess: text that may be a comment, a placeholder or a typographic character is left to the author.

/// Words that mean nothing, everything, or a value to be filled in later.
const PLACEHOLDERS: [&str; 24] = [
    "all",
    "any",
    "base",
    "empty",
    "everything",
    "example",
    "false",
    "n",
    "na",
    "nan",
    "nil",
    "no",
    "none",
    "nothing",
    "null",
    "path",
    "tbd",
    "todo",
    "true",
    "undefined",
    "url",
    "value",
    "xxx",
    "yes",
];

/// Words between a key and its colon that only describe the value.
const LABELS: [&str; 14] = [
    "all",
    "directory",
    "file",
    "folder",
    "index",
    "line",
    "name",
    "only",
    "page",
    "path",
    "paths",
    "rule",
    "token",
    "url",
];

/// Returns whether text is one of `words`, in any letter case.
fn is_one_of(words: &[&str], text: &[u8]) -> bool {
    words.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()))
}

/// Returns whether all words are labels.
pub(super) fn are_labels(text: &[u8]) -> bool {
    let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).peekable();
    words.peek().is_some() && words.all(|word| is_one_of(&LABELS, word))
}

/// Returns whether a misspelled key can be corrected: it has the letters of a key, and no text before the known key,
/// which may make the line a comment.
pub(super) fn is_misspelling(key: &[u8], known: &str) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_' | b' ');
    let has_prefix = key.len() > known.len() && key[key.len() - known.len()..].eq_ignore_ascii_case(known.as_bytes());
    let begins_alike = key.first().zip(known.as_bytes().first()).is_some_and(|(a, b)| a.eq_ignore_ascii_case(b));
    begins_alike && !has_prefix && key.iter().all(is_letter)
}

/// Returns whether a value suits a key, so that a repaired key gets no unintended value.
pub(super) fn is_value_of(known: &str, value: &[u8]) -> bool {
    let is_one_word = !value.iter().any(u8::is_ascii_whitespace);
    let begins = |start: &[u8]| value.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
    match known {
        "allow" | "disallow" => {
            is_one_word && (value.is_empty() || matches!(value[0], b'/' | b'*') || lacks_only_slash(value))
        }
        "user-agent" => value == b"*" || is_one_word && !value.is_empty() && value.iter().all(is_of_token),
        "sitemap" => is_one_word && (begins(b"http://") || begins(b"https://") || begins(b"/")),
        _ => !value.is_empty(),
    }
}

fn is_of_token(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

/// Returns whether the text after a product token's slash is a version, rather than a second name.
pub(super) fn is_version(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"v").unwrap_or(text);
    digits.first().is_some_and(u8::is_ascii_digit) && digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
}

/// Returns whether a rule's value is a path without its first slash. `All`, `.pdf$` or `%BASE%/z` are not.
pub(super) fn lacks_only_slash(value: &[u8]) -> bool {
    let first = value.split(|&byte| byte == b'/').next().unwrap_or_default();
    let name = first.strip_suffix(b"$").unwrap_or(first);
    let name = name.strip_suffix(b"*").unwrap_or(name);
    let is_folder = first.len() < value.len();
    let begins_plainly = match first {
        [] => value.len() > 1,
        [b'.', next, ..] => is_folder && next.is_ascii_alphanumeric(),
        [b'_' | b'~', next, ..] => next.is_ascii_alphanumeric(),
        [start, ..] => start.is_ascii_alphanumeric(),
    };
    let is_variable =
        first.len() > 2 && first.contains(&b'_') && first.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_');
    let dollars = value.iter().filter(|&&byte| byte == b'$').count();
    let is_escape = |rest: &[u8]| rest.get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    begins_plainly
        && !is_variable
        && !is_one_of(&PLACEHOLDERS, name)
        && (dollars == 0 || dollars == 1 && is_folder && value.ends_with(b"$"))
        && memchr::memchr_iter(b'%', value).all(|at| is_escape(&value[at + 1..]))
}

/// Returns whether a path can be percent-encoded without hiding a mistake: its characters outside ASCII are letters or
/// digits, in a script that is not mistaken for adjacent Latin letters.
pub(super) fn can_be_escaped(value: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(value) else { return false };
    let is_plain = |character: char| character.is_alphanumeric() && !is_look_alike_form(character);
    let is_mixed = |word: &str| {
        word.chars().any(|character| character.is_ascii_alphabetic())
            && word.chars().any(|character| matches!(character, '\u{370}'..='\u{58F}'))
    };
    let mut words = text.split(|character: char| !character.is_alphanumeric());
    matches!(value.first(), Some(b'/' | b'*'))
        && text.chars().all(|character| character.is_ascii() || is_plain(character))
        && !words.any(is_mixed)
}

/// Returns whether a letter is another form of an ASCII character, such as a full-width one.
const fn is_look_alike_form(character: char) -> bool {
    matches!(character, '\u{FE00}'..='\u{FFFF}' | '\u{1D400}'..='\u{1D7FF}' | '\u{2070}'..='\u{218F}' | '\u{2460}'..='\u{24FF}')
}
