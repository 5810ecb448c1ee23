//! Apache's `LogFormat` directive: its quoted string and its fields.

use super::token::{Class, FieldKind, HostRank, Token};

/// Letters before a field's own letter, which choose the request or the statuses that it is for.
const MODIFIERS: &[char] = &['<', '>', '!', ','];

/// Returns whether a text has an Apache field.
pub fn has_field(text: &str) -> bool {
    let starts = |rest: &str| rest.starts_with(|letter: char| letter == '{' || letter.is_ascii_alphabetic());
    text.split('%').skip(1).any(|rest| starts(without_modifiers(rest)))
}

fn without_modifiers(text: &str) -> &str {
    text.trim_start_matches(|letter: char| MODIFIERS.contains(&letter) || letter.is_ascii_digit())
}

/// Returns a format's pieces.
///
/// # Errors
/// Returns a message if the directive or a field is malformed.
pub fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let is_directive = text.get(..9).is_some_and(|start| start.eq_ignore_ascii_case("LogFormat"));
    let text = text.replace("\\\r\n", "").replace("\\\n", "");
    let text = if is_directive { quoted(text[9..].trim_start())? } else { unescaped(&text) };
    let mut tokens = Vec::new();
    let mut rest = &*text;
    while let Some(at) = rest.find('%') {
        tokens.push(Token::Text(rest[..at].into()));
        rest = &rest[at + 1..];
        rest = match rest.strip_prefix('%') {
            Some(after) => {
                tokens.push(Token::Text(b"%".into()));
                after
            }
            None => field(rest, &mut tokens)?,
        };
    }
    tokens.push(Token::Text(rest.into()));
    tokens.retain(|token| !matches!(token, Token::Text(text) if text.is_empty()));
    Ok(tokens)
}

/// Returns the directive's first argument, without its quotes.
fn quoted(text: &str) -> Result<String, String> {
    let quote = text.chars().next().filter(|letter| matches!(letter, '"' | '\''));
    let quote = quote.ok_or("expected a quoted format after LogFormat")?;
    let mut is_escaped = false;
    let end = text[1..].find(|letter| {
        let is_end = letter == quote && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        is_end
    });
    let end = end.ok_or_else(|| format!("expected a closing {quote} after LogFormat"))?;
    Ok(unescaped(&text[1..][..end]))
}

/// Decodes the escapes in a configuration file.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, letters.as_str().chars().next()) {
            ('\\', Some(next @ ('"' | '\'' | '\\' | 't' | 'n'))) => {
                letters.next();
                plain.push(match next {
                    't' => '\t',
                    'n' => '\n',
                    next => next,
                });
            }
            _ => plain.push(letter),
        }
    }
    plain
}

/// Adds the field after a percent sign to `tokens`. Returns the text after it.
fn field<'t>(text: &'t str, tokens: &mut Vec<Token>) -> Result<&'t str, String> {
    let rest = without_modifiers(text);
    let (argument, rest) = match rest.strip_prefix('{') {
        Some(inner) => inner.split_once('}').ok_or_else(|| format!("expected }} after %{{{inner}"))?,
        None => ("", rest),
    };
    let rest = without_modifiers(rest);
    // A caret precedes two letters.
    let len = if rest.starts_with('^') { 3 } else { 1 };
    let letters = rest.get(..len).filter(|letters| letters.ends_with(|letter: char| letter.is_ascii_alphabetic()));
    let letters =
        letters.ok_or_else(|| format!("expected a field's letter after %{}", &text[..text.len() - rest.len()]))?;
    let rest = &rest[len..];
    let name = format!("%{}", &text[..text.len() - rest.len()]);
    let (kind, class) = meaning(letters, &argument.to_ascii_lowercase());
    if letters == "t" && argument.is_empty() {
        tokens.extend([Token::Text(b"[".into()), Token::Field(kind, class, name), Token::Text(b"]".into())]);
    } else {
        tokens.push(Token::Field(kind, class, name));
    }
    Ok(rest)
}

/// Returns the meaning of a field. `argument` is in lower case.
fn meaning(letters: &str, argument: &str) -> (FieldKind, Class) {
    match (letters, argument) {
        ("v", "") => (FieldKind::Host(HostRank::Configured), Class::Word),
        ("V", "") => (FieldKind::Host(HostRank::Checked), Class::Word),
        ("i", "host") => (FieldKind::Host(HostRank::Header), Class::Any),
        ("p", "" | "canonical" | "local") => (FieldKind::Port, Class::Number),
        ("r", "") => (FieldKind::Request, Class::Request),
        ("U", "") => (FieldKind::Path, Class::Any),
        ("q", "") => (FieldKind::Query, Class::Any),
        ("t", "") => (FieldKind::Time, Class::Time),
        ("t", _) => (FieldKind::Time, Class::Any),
        ("i", "user-agent") => (FieldKind::UserAgent, Class::Any),
        ("e" | "x", "request_scheme") => (FieldKind::Scheme, Class::Word),
        ("h" | "a", "") => (FieldKind::Client, Class::Address),
        ("h" | "a" | "A", _) => (FieldKind::Other, Class::Address),
        ("m" | "H" | "L" | "X", "") => (FieldKind::Other, Class::Word),
        ("s", "") => (FieldKind::Status, Class::Number),
        ("s" | "b" | "B" | "O" | "I" | "S" | "D" | "T" | "k" | "P" | "p", _) => (FieldKind::Other, Class::Number),
        _ => (FieldKind::Other, Class::Any),
    }
}
