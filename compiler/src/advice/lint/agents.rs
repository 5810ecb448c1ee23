//! Findings about a user-agent line: a header or a list instead of a product token, and names that almost match known
//! crawlers.

use memchr::memmem;

use super::characters::{Plain, odd_characters, quote, without_quotes};
use super::codes::Code;
use super::data::words::{Meaning, PLACEHOLDERS, is_connective};
use super::findings::{Findings, Fix, Severity};
use super::repairs::is_version;
use super::tokens::is_of_use;
use super::values::unrendered;
use crate::dialect::Dialect;
use crate::dialect::crawlers::{self, Crawler, Obeys, Standing, nearly_counted};
use crate::dialect::mistakes::brand;
use crate::rules::groups::{Named, named};

/// Adds the findings about a user-agent line.
pub(super) fn agent(number: u32, value: &[u8], dialect: &Dialect, found: &mut Findings) {
    if let Some(plain) = Plain::of(value) {
        odd_value(number, value, &plain, dialect, found);
        return;
    }
    match named(value, dialect) {
        Named::Everyone if value.len() > 1 => found.add(number, Code::AgentCut, Severity::Warning, || {
            (format!("\"{}\" is read as \"*\": the group is for every crawler", quote(value)).into(), None)
        }),
        Named::Everyone => {}
        Named::Token(token) if is_of_use(number, token, found) => {}
        _ if is_brand(number, value, found) || is_template(number, value, found) => {}
        Named::Token(token) if is_header(value) => header(number, value, token, found),
        Named::Token(token) => match tokens_of_list(value, found) {
            Some(tokens) => list(number, value, token, &tokens, found),
            None if is_respelled(number, value, token, found) => {}
            None if token.is_empty() => unnamed(number, value, found),
            None if token.len() < value.len() => cut(number, value, token, dialect, found),
            None => match crawlers::known(token) {
                Some(known) => report_unobeying(number, known, found),
                None => report_misspelled(number, token, found),
            },
        },
    }
}

/// Finds odd characters in a name. They do not matter if crawlers read the same token without them.
fn odd_value(number: u32, value: &[u8], plain: &Plain, dialect: &Dialect, found: &mut Findings) {
    let meant = plain.without_quotes();
    let token_of = |value| match named(value, dialect) {
        Named::Everyone => b"*".to_vec(),
        Named::Token(token) => token.to_ascii_lowercase(),
    };
    let is_dead = token_of(value) != token_of(meant);
    let effect = || match token_of(value) {
        token if !is_dead => format!("the line is read as \"{}\" all the same", quote(&token)),
        token if token.is_empty() => "the line names no crawler".into(),
        token => format!("the line names \"{}\", and no crawler with the name that is meant", quote(&token)),
    };
    let remedy = || format!("write \"User-agent: {}\" in ASCII", quote(meant));
    odd_characters(number, plain, is_dead, effect, remedy, found);
}

fn unnamed(number: u32, value: &[u8], found: &mut Findings) {
    found.add(number, Code::AgentEmpty, Severity::Error, || {
        let is_outside = |byte: &u8| b"\"'`[](){}<> ".contains(byte);
        let inside: Vec<&[u8]> = value.split(is_outside).filter(|part| !part.is_empty()).collect();
        let fix = match inside[..] {
            [] => "User-agent: *".into(),
            [name] if name.len() < value.len() && is_token(name) => format!("write \"User-agent: {}\"", quote(name)),
            _ => "write only the product token, which begins with a letter, - or _".into(),
        };
        (format!("\"{}\" names no crawler", quote(value)).into(), Some(fix.into()))
    });
}

/// Finds an operator's or a product's name where a product token belongs.
fn is_brand(number: u32, value: &[u8], found: &mut Findings) -> bool {
    // The version does not matter.
    let name = without_quotes(memchr::memchr(b'/', value).map_or(value, |slash| &value[..slash]));
    let Some(tokens) = brand(name) else { return false };
    let is_everyone = tokens == ["*"];
    let severity = if is_everyone { Severity::Error } else { Severity::Warning };
    found.add(number, Code::BrandName, severity, || {
        let shown = quote(value);
        let message = if is_everyone {
            format!("\"{shown}\" is read as a crawler's name, and no crawler has it; \"*\" is for every crawler")
        } else {
            format!("\"{shown}\" is not the name of a crawler: no crawler of that operator obeys the group")
        };
        let lines: Vec<String> = tokens.iter().map(|token| format!("User-agent: {token}")).collect();
        let which = if tokens.len() > 1 { "those that you mean of " } else { "" };
        (message.into(), Some(format!("write {which}{}", lines.join(" | ")).into()))
    });
    true
}

/// Finds text that a program should have replaced with a name.
fn is_template(number: u32, value: &[u8], found: &mut Findings) -> bool {
    let is_unset = PLACEHOLDERS
        .iter()
        .any(|(word, meaning)| *meaning == Meaning::Unset && value.eq_ignore_ascii_case(word.as_bytes()));
    if !is_unset && unrendered(value).is_none() {
        return false;
    }
    found.add(number, Code::Placeholder, Severity::Error, || {
        let message = format!("\"{}\" is a placeholder: no crawler has that name", quote(value));
        (message.into(), Some("write the crawler's product token, or *".into()))
    });
    true
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
        let is_part = |name: &str| names().all(|other| name.to_ascii_lowercase().contains(&other.to_ascii_lowercase()));
        let fix = match name {
            Some(name) if is_part(name) => Fix::replace("User-agent", name.as_bytes(), false),
            _ => Some("write only the crawler's product token".into()),
        };
        (message.into(), fix)
    });
}

/// Returns the product tokens of a list, or `None` if any part is not a token.
///
/// Spaces and slashes also separate the words of one name, so if only they separate the parts, all parts must be known.
/// If words such as "and" connect the parts, one of them must be known.
fn tokens_of_list(value: &[u8], found: &mut Findings) -> Option<Vec<Vec<u8>>> {
    let (commas, words) = (b",;|", b"&+");
    if memmem::find(value, b"&amp;").is_some() {
        return None;
    }
    let has_comma = value.iter().any(|byte| commas.contains(byte));
    let has_word =
        || value.iter().any(|byte| words.contains(byte)) || value.split(|&byte| byte == b' ').any(is_connective);
    let separate = |text: &[u8], split: &dyn Fn(&u8) -> bool| -> Vec<Vec<u8>> {
        text.split(split).map(|part| part.trim_ascii().to_vec()).filter(|part| !part.is_empty()).collect()
    };
    let parts = if has_comma || has_word() {
        let all = separate(value, &|byte| commas.contains(byte) || words.contains(byte));
        all.iter().flat_map(|part| without_connectives(part)).take(MAX_LISTED + 1).collect()
    } else if value.iter().any(|byte| b" \t/".contains(byte)) {
        separate(value, &|byte| b" \t/".contains(byte))
    } else {
        return None;
    };
    if !(2..=MAX_LISTED).contains(&parts.len()) {
        return None;
    }
    let known: Vec<_> = parts.iter().map(|part| known_token(part, found)).collect();
    let is_listed = match (has_comma, has_word()) {
        (true, _) => true,
        (false, true) => known.iter().any(Option::is_some),
        (false, false) => {
            known.iter().zip(&parts).all(|(known, part)| known.is_some_and(|known| known.len() == part.len()))
        }
    };
    let tokens = known.into_iter().zip(parts).map(|(known, part)| match known {
        Some(known) => Some(known.as_bytes().to_vec()),
        None => is_token(&part).then_some(part),
    });
    tokens.collect::<Option<Vec<_>>>().filter(|_| is_listed)
}

/// Returns the parts of a list between words such as "and".
fn without_connectives(part: &[u8]) -> Vec<Vec<u8>> {
    let words: Vec<&[u8]> = part.split(|&byte| byte == b' ').collect();
    words.split(|word| is_connective(word)).map(|words| words.join(&b' ')).filter(|part| !part.is_empty()).collect()
}

fn is_token(part: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    // Versions such as 1.5 are not names.
    *part == *b"*" || part.iter().all(is_letter) && part.iter().any(u8::is_ascii_alphabetic)
}

/// Returns the known product token that equals a name, ignoring letter case, spaces, hyphens and underscores.
fn known_token(name: &[u8], found: &mut Findings) -> Option<&'static str> {
    let letters = |text: &[u8]| -> Vec<u8> {
        text.iter().filter(|byte| !b" \t-_".contains(byte)).map(u8::to_ascii_lowercase).collect()
    };
    if name.len() > MAX_NAME_BYTES {
        return None;
    }
    let name = letters(name);
    let mut tokens = crawlers::ALL.iter().flat_map(|known| known.tokens);
    tokens
        .find(|token| {
            let begins_alike = token.bytes().next().map(|byte| byte.to_ascii_lowercase()) == name.first().copied();
            begins_alike && token.len() >= name.len() && {
                found.step();
                letters(token.as_bytes()) == name
            }
        })
        .copied()
}

/// Maximum length in bytes of a name that is compared with known tokens. Longer than any token, to allow for spaces.
const MAX_NAME_BYTES: usize = 48;

/// Finds a known crawler's name with spaces, which ends the product token, or with other hyphens.
fn is_respelled(number: u32, value: &[u8], token: &[u8], found: &mut Findings) -> bool {
    let name = memchr::memchr2(b'/', b'(', value).map_or(value, |end| &value[..end]);
    let name = without_quotes(name.strip_suffix(b"*").unwrap_or(name));
    if !name.iter().any(|byte| b" \t-_".contains(byte)) {
        return false;
    }
    // The whole name, or a word after the operator's name.
    let is_known = known_token(token, found).is_some();
    let word = |found: &mut Findings| {
        let mut words = name.split(|&byte| byte == b' ').skip(1).filter(|_| !is_known);
        words.find_map(|word| {
            known_token(word, found).filter(|known| known.eq_ignore_ascii_case(&String::from_utf8_lossy(word)))
        })
    };
    let known = known_token(name, found).or_else(|| word(found));
    let Some(known) = known.filter(|known| !token.eq_ignore_ascii_case(known.as_bytes())) else { return false };
    let severity = if token.len() < value.len() { Severity::Error } else { Severity::Warning };
    found.add(number, Code::MisspelledCrawler, severity, || {
        let message = if token.len() < name.len() {
            format!("\"{}\" is read as \"{}\"; the crawler's token is \"{known}\"", quote(value), quote(token))
        } else {
            format!("\"{}\" is not a known crawler, but \"{known}\" is", quote(token))
        };
        (message.into(), Some(format!("write \"User-agent: {known}\"").into()))
    });
    true
}

/// Maximum number of names in a list for which a fix suggests separate lines.
const MAX_LISTED: usize = 50;

fn list(number: u32, value: &[u8], token: &[u8], tokens: &[Vec<u8>], found: &mut Findings) {
    found.add(number, Code::AgentList, Severity::Error, || {
        let message = match token {
            b"" => format!("\"{}\" names no crawler", quote(value)),
            _ => format!("\"{}\" names one crawler, \"{}\"", quote(value), quote(token)),
        };
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

/// Reports a crawler that does not always obey robots.txt, or a name that is no longer used.
fn report_unobeying(number: u32, known: &Crawler, found: &mut Findings) {
    let code = match (known.obeys, known.standing) {
        (Obeys::UserTriggered(_) | Obeys::No(_), _) => Code::IgnoringCrawler,
        (_, Standing::Retired | Standing::ReplacedBy(_)) => Code::RetiredCrawler,
        _ => return,
    };
    found.add(number, code, Severity::Note, || {
        (format!("\"{}\": {}", known.name, known.remark().unwrap_or_default()).into(), None)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_not_split() {
        for (count, fits) in [(MAX_LISTED - 1, true), (MAX_LISTED, true), (MAX_LISTED + 1, false)] {
            let text = vec!["bot"; count].join(", ");
            let listed = tokens_of_list(text.as_bytes(), &mut Findings::new(0, None)).map(|tokens| tokens.len());
            assert_eq!(listed, fits.then_some(count));
        }
    }

    #[test]
    fn names_are_compared_up_to_a_length() {
        for (len, fits) in [(MAX_NAME_BYTES - 1, true), (MAX_NAME_BYTES, true), (MAX_NAME_BYTES + 1, false)] {
            let name = format!("Google{}bot", " ".repeat(len - "Googlebot".len()));
            assert_eq!(known_token(name.as_bytes(), &mut Findings::new(0, None)).is_some(), fits, "{len}");
        }
        let longest = crawlers::ALL.iter().flat_map(|known| known.tokens).map(|token| token.len()).max();
        assert!(longest.is_some_and(|longest| longest < MAX_NAME_BYTES));
    }
}
