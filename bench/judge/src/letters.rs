//! Result letters for rows: the protocol's verdicts, and reasons for a missing verdict.

/// The URL may be fetched.
pub const ALLOW: u8 = b'A';
/// The URL may not be fetched.
pub const DISALLOW: u8 = b'D';
/// The implementation's interface does not accept the question.
pub const UNSUPPORTED: u8 = b'U';
/// The implementation raised, panicked, or gave no answer.
pub const ERROR: u8 = b'E';
/// The implementation rejects the robots.txt.
pub const REFUSED: u8 = b'R';
/// The engine does not support the request.
pub const SKIP: u8 = b'S';
/// No reply in time.
pub const TIME: u8 = b'T';
/// Too much memory.
pub const MEMORY: u8 = b'M';
/// The process ended.
pub const ENDED: u8 = b'X';
/// The reply is malformed or does not answer the request.
pub const GARBAGE: u8 = b'G';
/// Not asked, because the engine had failed too often or used up its time.
pub const NOT_ASKED: u8 = b'N';

/// All letters with their meanings, verdicts first.
pub const ALL: [(u8, &str); 11] = [
    (ALLOW, "allow"),
    (DISALLOW, "disallow"),
    (UNSUPPORTED, "unsupported"),
    (ERROR, "error"),
    (REFUSED, "refused"),
    (SKIP, "skipped"),
    (TIME, "too slow"),
    (MEMORY, "too much memory"),
    (ENDED, "ended"),
    (GARBAGE, "not a reply"),
    (NOT_ASKED, "not asked"),
];

/// Returns a letter's meaning.
#[must_use]
pub fn meaning(letter: u8) -> &'static str {
    ALL.iter().find(|(known, _)| *known == letter).map_or("?", |(_, meaning)| meaning)
}

/// Returns whether a letter is a verdict.
#[must_use]
pub fn is_verdict(letter: u8) -> bool {
    letter == ALLOW || letter == DISALLOW
}
