//! nginx's `log_format` directive: its quoted pieces, its escaping and its variables.

use super::token::{Class, Escape, HostRank, Kind, Token};

/// Variables with a meaning, or with text of a known form. The text of others is not known.
const VARIABLES: [(&str, Kind, Class); 30] = [
    ("server_name", Kind::Host(HostRank::Configured), Class::Word),
    ("host", Kind::Host(HostRank::Checked), Class::Word),
    ("http_host", Kind::Host(HostRank::Header), Class::Any),
    ("server_port", Kind::Port, Class::Number),
    ("scheme", Kind::Scheme, Class::Word),
    ("request", Kind::Request, Class::Request),
    ("request_uri", Kind::Target, Class::Any),
    ("time_local", Kind::Time, Class::Time),
    ("time_iso8601", Kind::Time, Class::Time),
    ("msec", Kind::Time, Class::Number),
    ("http_user_agent", Kind::UserAgent, Class::Any),
    ("remote_addr", Kind::Other, Class::Address),
    ("realip_remote_addr", Kind::Other, Class::Address),
    ("server_addr", Kind::Other, Class::Address),
    ("remote_port", Kind::Other, Class::Number),
    ("realip_remote_port", Kind::Other, Class::Number),
    ("request_method", Kind::Other, Class::Word),
    ("server_protocol", Kind::Other, Class::Word),
    ("https", Kind::Other, Class::Word),
    ("pipe", Kind::Other, Class::Word),
    ("request_id", Kind::Other, Class::Word),
    ("ssl_protocol", Kind::Other, Class::Word),
    ("ssl_cipher", Kind::Other, Class::Word),
    ("status", Kind::Other, Class::Number),
    ("body_bytes_sent", Kind::Other, Class::Number),
    ("bytes_sent", Kind::Other, Class::Number),
    ("request_length", Kind::Other, Class::Number),
    ("request_time", Kind::Other, Class::Number),
    ("connection", Kind::Other, Class::Number),
    ("connection_requests", Kind::Other, Class::Number),
];

/// Returns whether a text has an nginx variable.
pub fn has_variable(text: &str) -> bool {
    let mut after = text.split('$').skip(1);
    after.any(|rest| rest.starts_with(|letter: char| letter == '{' || letter.is_ascii_alphabetic()))
}

/// Returns a format's pieces, and how its fields are escaped.
///
/// # Errors
/// Returns a message if the directive or a variable is malformed.
pub fn tokens(text: &str) -> Result<(Vec<Token>, Escape), String> {
    let is_directive = text.starts_with("log_format");
    if !is_directive && !text.starts_with("escape=") && !text.starts_with('\'') {
        return Ok((variables(&text.replace("\\\"", "\""))?, Escape::Backslash));
    }
    let words = words(text)?;
    // The directive's name and the format's name.
    let mut words = &words[if is_directive { 2.min(words.len()) } else { 0 }..];
    let mut escape = Escape::Backslash;
    if let Some((first, rest)) = words.split_first()
        && let Some(name) = first.strip_prefix("escape=")
    {
        words = rest;
        escape = match name {
            "default" | "json" => Escape::Backslash,
            "none" => Escape::None,
            _ => return Err(format!("escape={name}: expected default, json or none")),
        };
    }
    Ok((variables(&words.concat())?, escape))
}

/// Splits a directive into its words, without their quotes, as nginx does. A semicolon ends it.
fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(&first) = rest.peek() {
        match first {
            _ if first.is_ascii_whitespace() => drop(rest.next()),
            ';' => break,
            '#' => drop(rest.by_ref().find(|&letter| letter == '\n')),
            _ => {
                let quote = rest.next_if(|letter| matches!(letter, '\'' | '"'));
                words.push(word(&mut rest, quote)?);
            }
        }
    }
    Ok(words)
}

/// Reads a word up to its quote, or up to white space or a semicolon.
fn word(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, quote: Option<char>) -> Result<String, String> {
    let mut word = String::new();
    while let Some(letter) = rest.next_if(|&letter| {
        quote.is_some_and(|quote| letter != quote) || quote.is_none() && letter != ';' && !letter.is_ascii_whitespace()
    }) {
        if letter != '\\' {
            word.push(letter);
            continue;
        }
        match rest.next() {
            Some('t') => word.push('\t'),
            Some('r') => word.push('\r'),
            Some('n') => word.push('\n'),
            Some(letter @ ('\'' | '"' | '\\')) => word.push(letter),
            Some(letter) => word.extend(['\\', letter]),
            None => word.push('\\'),
        }
    }
    match (quote, rest.next_if(|&letter| quote == Some(letter))) {
        (Some(quote), None) => Err(format!("expected a closing {quote} after {word:?}")),
        _ => Ok(word),
    }
}

/// Splits text at its variables: `$name` or `${name}`.
fn variables(text: &str) -> Result<Vec<Token>, String> {
    let mut parts = text.split('$');
    let mut tokens = vec![Token::Text(parts.next().unwrap_or_default().into())];
    for part in parts {
        let (name, after) = match part.strip_prefix('{') {
            Some(inner) => inner.split_once('}').ok_or_else(|| format!("expected }} after ${{{inner}"))?,
            None => {
                let end = part.find(|letter: char| letter != '_' && !letter.is_ascii_alphanumeric());
                part.split_at(end.unwrap_or(part.len()))
            }
        };
        if name.is_empty() {
            return Err("expected a variable's name after $".into());
        }
        let known = VARIABLES.iter().find(|(known, ..)| *known == name);
        let (kind, class) = known.map_or((Kind::Other, Class::Any), |&(_, kind, class)| (kind, class));
        tokens.push(Token::Field(kind, class, format!("${name}")));
        if !after.is_empty() {
            tokens.push(Token::Text(after.into()));
        }
    }
    Ok(tokens)
}
