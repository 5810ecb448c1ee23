//! Findings about a user-agent line: a header or a list instead of a product token, and names that almost match known
//! crawlers.

use super::repairs::is_version;
use super::{Code, Findings, Fix, Severity, quote};
use crate::dialect::Dialect;
use crate::dialect::crawlers::{self, nearly_counted};
use crate::rules::groups::{Named, named};

/// Adds the findings about a user-agent line.
pub(super) fn agent(number: u32, value: &[u8], dialect: &Dialect, found: &mut Findings) {
    match named(value, dialect) {
        Named::Everyone if value.len() > 1 => found.add(number, Code::AgentCut, Severity::Warning, || {
            (format!("\"{}\" is read as \"*\": the group is for every crawler", quote(value)).into(), None)
        }),
        Named::Everyone => {}
        Named::Token(b"") => found.add(number, Code::AgentEmpty, Severity::Error, || {
            let fix = match value {
                b"" => "User-agent: *",
                _ => "write only the product token, which begins with a letter, - or _",
            };
            (format!("\"{}\" names no crawler", quote(value)).into(), Some(fix.into()))
        }),
        Named::Token(token) if is_header(value) => header(number, value, token, found),
        Named::Token(token) => match tokens_of_list(value) {
            Some(tokens) => list(number, value, token, &tokens, found),
            None if token.len() < value.len() => cut(number, value, token, dialect, found),
            None => report_misspelled(number, token, found),
        },
    }
}

/// Returns whether a value is a complete `User-Agent` header, with a version and a comment, or with several products.
fn is_header(value: &[u8]) -> bool {
    let has = |byte| memchr::memchr(byte, value).is_some();
    has(b'/') && (has(b'(') || value.starts_with(b"Mozilla/"))
}

fn header(number: u32, value: &[u8], token: &[u8], found: &mut Findings) {
    found.add(number, Code::AgentHeader, Severity::Error, || {
        let message = format!("\"{}\" is a header; the line is read as \"{}\"", quote(value), quote(token));
        // The known crawler named in the header. Longer names first, because Googlebot-Image contains Googlebot.
        let is_in = |name: &str| {
            let name = name.as_bytes();
            value.windows(name.len()).any(|window| window.eq_ignore_ascii_case(name))
        };
        let names = || crawlers::ALL.iter().flat_map(|known| known.tokens).filter(|token| is_in(token));
        let name = names().max_by_key(|token| token.len());
        let is_part = |name: &str| names().all(|other| name.to_lowercase().contains(&other.to_lowercase()));
        let fix = match name {
            Some(name) if is_part(name) => Fix::replace("User-agent", name.as_bytes(), false),
            _ => Some("write only the crawler's product token".into()),
        };
        (message.into(), fix)
    });
}

/// Returns the product tokens of a list with commas or semicolons, or `None` if any part is not a token.
fn tokens_of_list(value: &[u8]) -> Option<Vec<&[u8]>> {
    memchr::memchr2(b',', b';', value)?;
    let parts: Vec<&[u8]> = value
        .split(|byte| matches!(byte, b',' | b';'))
        .map(<[u8]>::trim_ascii)
        .filter(|part| !part.is_empty())
        .take(MAX_LISTED + 1)
        .collect();
    let is_token = |part: &&[u8]| {
        **part == *b"*" || part.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
    };
    (parts.len() > 1 && parts.len() <= MAX_LISTED && parts.iter().all(is_token)).then_some(parts)
}

/// Maximum number of names in a list for which a fix suggests separate lines.
const MAX_LISTED: usize = 50;

fn list(number: u32, value: &[u8], token: &[u8], tokens: &[&[u8]], found: &mut Findings) {
    found.add(number, Code::AgentList, Severity::Error, || {
        let message = format!("\"{}\" names one crawler, \"{}\"", quote(value), quote(token));
        let lines: Vec<String> = tokens.iter().map(|token| format!("User-agent: {}", quote(token))).collect();
        (message.into(), Some(Fix::Replace { text: lines.join("\n"), keeps_verdicts: false }))
    });
}

fn cut(number: u32, value: &[u8], token: &[u8], dialect: &Dialect, found: &mut Findings) {
    // Text after a slash or a final `*` is a version, so dropping it is correct, unless `*` remains, which names everyone.
    let has_version = match &value[token.len()..] {
        [b'*'] => true,
        [b'/', version @ ..] => is_version(version),
        _ => false,
    };
    let is_version = has_version && named(token, dialect) == Named::Token(token);
    let severity = if is_version { Severity::Note } else { Severity::Warning };
    found.add(number, Code::AgentCut, severity, || {
        let message = format!("\"{}\" is read as \"{}\"", quote(value), quote(token));
        (message.into(), is_version.then(|| Fix::replace("User-agent", token, true)).flatten())
    });
}

fn report_misspelled(number: u32, token: &[u8], found: &mut Findings) {
    let Some(known) = nearly_counted(token, &mut found.steps) else { return };
    found.add(number, Code::MisspelledCrawler, Severity::Warning, || {
        let message = format!("\"{}\" is not a known crawler, but \"{known}\" is", quote(token));
        (message.into(), Some(format!("User-agent: {known}, if you meant that").into()))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_not_split() {
        for (count, fits) in [(MAX_LISTED - 1, true), (MAX_LISTED, true), (MAX_LISTED + 1, false)] {
            let text = vec!["bot"; count].join(", ");
            let listed = tokens_of_list(text.as_bytes()).map(|tokens| tokens.len());
            assert_eq!(listed, fits.then_some(count));
        }
    }
}
