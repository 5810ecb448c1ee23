//! nginx's `log_format` directive: its quoted pieces, its escaping and its variables.

use super::token::{Class, Escape, FieldKind, HostRank, Token};

/// Variables with a meaning, or with text of a known form. The text of others is not known.
const VARIABLES: [(&str, FieldKind, Class); 30] = [
    ("server_name", FieldKind::Host(HostRank::Configured), Class::Word),
    ("host", FieldKind::Host(HostRank::Checked), Class::Word),
    ("http_host", FieldKind::Host(HostRank::Header), Class::Any),
    ("server_port", FieldKind::Port, Class::Number),
    ("scheme", FieldKind::Scheme, Class::Word),
    ("request", FieldKind::Request, Class::Request),
    ("request_uri", FieldKind::Target, Class::Any),
    ("time_local", FieldKind::Time, Class::Time),
    ("time_iso8601", FieldKind::Time, Class::Time),
    ("msec", FieldKind::Time, Class::Number),
    ("http_user_agent", FieldKind::UserAgent, Class::Any),
    ("remote_addr", FieldKind::Client, Class::Address),
    ("realip_remote_addr", FieldKind::Other, Class::Address),
    ("server_addr", FieldKind::Other, Class::Address),
    ("remote_port", FieldKind::Other, Class::Number),
    ("realip_remote_port", FieldKind::Other, Class::Number),
    ("request_method", FieldKind::Other, Class::Word),
    ("server_protocol", FieldKind::Other, Class::Word),
    ("https", FieldKind::Other, Class::Word),
    ("pipe", FieldKind::Other, Class::Word),
    ("request_id", FieldKind::Other, Class::Word),
    ("ssl_protocol", FieldKind::Other, Class::Word),
    ("ssl_cipher", FieldKind::Other, Class::Word),
    ("status", FieldKind::Status, Class::Number),
    ("body_bytes_sent", FieldKind::Other, Class::Number),
    ("bytes_sent", FieldKind::Other, Class::Number),
    ("request_length", FieldKind::Other, Class::Number),
    ("request_time", FieldKind::Other, Class::Number),
    ("connection", FieldKind::Other, Class::Number),
    ("connection_requests", FieldKind::Other, Class::Number),
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
        let (kind, class) = known.map_or((FieldKind::Other, Class::Any), |&(_, kind, class)| (kind, class));
        tokens.push(Token::Field(kind, class, format!("${name}")));
        if !after.is_empty() {
            tokens.push(Token::Text(after.into()));
        }
    }
    Ok(tokens)
}
