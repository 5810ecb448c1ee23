//! The results of a row, a letter each: the verdicts of the protocol, and what there is instead of a verdict.

/// The URL may be fetched.
pub const ALLOW: u8 = b'A';
/// The URL may not be fetched.
pub const DISALLOW: u8 = b'D';
/// The interface of the implementation cannot be asked this.
pub const UNSUPPORTED: u8 = b'U';
/// The implementation raised, panicked, or gave no answer.
pub const ERROR: u8 = b'E';
/// The implementation does not take the robots.txt.
pub const REFUSED: u8 = b'R';
/// The engine does not take part in this.
pub const SKIP: u8 = b'S';
/// No reply in time.
pub const TIME: u8 = b'T';
/// Too much memory.
pub const MEMORY: u8 = b'M';
/// The process ended.
pub const ENDED: u8 = b'X';
/// The reply was not a message, or not an answer to the request.
pub const GARBAGE: u8 = b'G';
/// Not asked, because the engine had failed too often or its time was up.
pub const NOT_ASKED: u8 = b'N';

/// All letters with what they mean, verdicts first.
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

/// What a letter means.
#[must_use]
pub fn meaning(letter: u8) -> &'static str {
    ALL.iter().find(|(known, _)| *known == letter).map_or("?", |(_, meaning)| meaning)
}

/// Whether a letter is a verdict.
#[must_use]
pub fn is_verdict(letter: u8) -> bool {
    letter == ALLOW || letter == DISALLOW
}
