//! The formats of access logs, written as in the server's configuration: nginx's `log_format` and Apache's `LogFormat`.
//!
//! A format is a list of fields with literal text around them. [`matching`](super::matching) finds a line's fields.
//! Text that a client controls names no host: the format's host is the field that the operator chose.
//!
//! ```
//! use reptile_records::tables::log::format::LogFormat;
//!
//! LogFormat::parse("combined")?;
//! LogFormat::parse(r#"$host $remote_addr [$time_local] "$request" $status"#)?;
//! LogFormat::parse(r#"LogFormat "%V %h %l %u %t \"%r\" %>s %b" with_host"#)?;
//! LogFormat::parse("log_format main escape=json '{\"host\":\"$host\",'\n '\"uri\":\"$request_uri\"}';")?;
//!
//! assert!(LogFormat::parse("$host $uri").is_err()); // decoded, so it is not the requested path
//! # Ok::<(), String>(())
//! ```

use std::mem;

mod apache;
mod nginx;
mod token;

use token::Token;
pub(super) use token::{Class, Escape, FieldKind, HostRank};

/// Maximum length of a log format in bytes. nginx allows 4,096 in each of the quoted pieces; real formats have up to
/// about 3,000.
pub const MAX_FORMAT_BYTES: usize = 16_384;

/// Maximum number of fields in a log format. nginx has about 150 variables, without those for headers. Bounds the time
/// for a line.
pub const MAX_FORMAT_FIELDS: usize = 256;

/// Formats with a name, from Apache's packages, nginx itself and its packages.
const NAMED: [(&str, &str); 4] = [
    ("common", r#"%h %l %u %t "%r" %>s %b"#),
    ("combined", r#"%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i""#),
    (VHOST_COMBINED, r#"%v:%p %h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i""#),
    (
        "main",
        r#"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" "$http_x_forwarded_for""#,
    ),
];

/// The name of Apache's format with virtual hosts.
pub(super) const VHOST_COMBINED: &str = "vhost_combined";

/// The format of a log's lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFormat {
    /// The text before the first field.
    pub(super) start: Vec<u8>,
    /// The fields, at least one.
    pub(super) fields: Vec<Field>,
    pub(super) escape: Escape,
}

/// A field of a log format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub kind: FieldKind,
    pub class: Class,
    /// The variable as the format has it, for messages.
    pub name: String,
    /// The literal text after the field. Only after the last field may it be empty.
    pub literal: Vec<u8>,
}

impl LogFormat {
    /// Parses a format: nginx's or Apache's string, the directive that has it, or `common`, `combined`,
    /// `vhost_combined` or `main`.
    ///
    /// # Errors
    /// Returns a message if the text is not a format, has no request, or exceeds [`MAX_FORMAT_BYTES`] or
    /// [`MAX_FORMAT_FIELDS`].
    pub fn parse(text: &str) -> Result<LogFormat, String> {
        let text = text.trim();
        if text.len() > MAX_FORMAT_BYTES {
            return Err(format!("expected at most {MAX_FORMAT_BYTES} bytes, found {}", text.len()));
        }
        let text = NAMED.iter().find(|(name, _)| *name == text).map_or(text, |(_, format)| format);
        let (tokens, escape) = match (directive(text), nginx::has_variable(text), apache::has_field(text)) {
            (Some(Server::Nginx), ..) | (None, true, false) => nginx::tokens(text)?,
            (Some(Server::Apache), ..) | (None, false, true) => (apache::tokens(text)?, Escape::Backslash),
            (None, true, true) => {
                return Err(
                    "has variables of both nginx and Apache; write the directive's name, log_format or LogFormat, \
                            before it"
                        .into(),
                );
            }
            (None, false, false) => {
                let names = NAMED.map(|(name, _)| name).join(", ");
                return Err(format!(
                    "expected nginx's or Apache's variables, such as $request or %r, or one of {names}"
                ));
            }
        };
        let format = LogFormat::of_tokens(tokens, escape);
        if format.fields.len() > MAX_FORMAT_FIELDS {
            return Err(format!("expected at most {MAX_FORMAT_FIELDS} fields, found {}", format.fields.len()));
        }
        match format.target() {
            Some(_) => Ok(format),
            None => Err("has no request: expected $request or $request_uri, or Apache's %r or %U%q, with other text \
                         around it ($uri is decoded and rewritten, so it is not the requested path)"
                .into()),
        }
    }

    /// Returns the format that all access logs with the common fields share: `CLIENT [TIME] "REQUEST" STATUS`, and any
    /// text after it.
    pub(super) fn common() -> LogFormat {
        LogFormat { start: Vec::new(), fields: Vec::from(COMMON.map(Field::of)), escape: Escape::Backslash }
    }

    /// Returns the format of logs with a referrer and a user agent after the size, and any text after it.
    pub(super) fn combined() -> LogFormat {
        let mut format = LogFormat::common();
        format.fields.truncate(COMMON.len() - 2);
        format.fields.extend(AGENT.map(Field::of));
        format
    }

    /// Returns the place of the field that names the host.
    pub(super) fn host(&self) -> Option<usize> {
        let ranked = self.fields.iter().enumerate().filter_map(|(place, field)| match field.kind {
            FieldKind::Host(rank) | FieldKind::HostAndPort(rank) | FieldKind::HostAndTarget(rank) => {
                Some((rank, place))
            }
            _ => None,
        });
        ranked.min().map(|(_, place)| place)
    }

    /// Returns the place of the field with the request's target.
    pub(super) fn target(&self) -> Option<usize> {
        let is_target =
            |kind: FieldKind| matches!(kind, FieldKind::Target | FieldKind::HostAndTarget(_) | FieldKind::PathAndQuery);
        self.place(FieldKind::Request).or_else(|| self.fields.iter().position(|field| is_target(field.kind)))
    }

    /// Returns the place of the first field of a kind.
    pub(super) fn place(&self, kind: FieldKind) -> Option<usize> {
        self.fields.iter().position(|field| field.kind == kind)
    }

    /// Joins pieces that belong together, and assigns the text after each field.
    fn of_tokens(tokens: Vec<Token>, escape: Escape) -> LogFormat {
        let mut format = LogFormat { start: Vec::new(), fields: Vec::new(), escape };
        for token in tokens {
            match (format.fields.last_mut(), token) {
                (None, Token::Text(text)) => format.start.extend(text),
                (Some(last), Token::Text(text)) => last.literal.extend(text),
                (Some(last), Token::Field(kind, class, name)) if last.is_joined(kind) => {
                    last.join(kind, class, &name);
                }
                (_, Token::Field(kind, class, name)) => {
                    format.fields.push(Field { kind, class, name, literal: Vec::new() });
                }
            }
        }
        format
    }
}

/// The fields that access logs in the common and the combined format share, and the text after each.
const COMMON: [(FieldKind, Class, &str); 5] = [
    (FieldKind::Other, Class::Lead, "["),
    (FieldKind::Time, Class::Time, "] \""),
    (FieldKind::Request, Class::Request, "\" "),
    (FieldKind::Status, Class::Number, ""),
    (FieldKind::Other, Class::Rest, ""),
];

/// The fields from the status on, in the combined format.
const AGENT: [(FieldKind, Class, &str); 5] = [
    (FieldKind::Status, Class::Number, " "),
    (FieldKind::Other, Class::Number, " \""),
    (FieldKind::Other, Class::Any, "\" \""),
    (FieldKind::UserAgent, Class::Any, "\""),
    (FieldKind::Other, Class::Rest, ""),
];

impl Field {
    fn of((kind, class, literal): (FieldKind, Class, &str)) -> Field {
        Field { kind, class, name: String::new(), literal: literal.into() }
    }

    /// Returns whether the next field belongs to this one: nothing separates them, or they are a host and its port.
    fn is_joined(&self, next: FieldKind) -> bool {
        self.literal.is_empty()
            || self.literal == b":" && next == FieldKind::Port && matches!(self.kind, FieldKind::Host(_))
    }

    /// Adds the next field to this one. Without text between them, most fields have no meaning.
    fn join(&mut self, next: FieldKind, class: Class, name: &str) {
        let between = mem::take(&mut self.literal);
        (self.kind, self.class) = match (self.kind, next) {
            (FieldKind::Host(rank), FieldKind::Port) if !between.is_empty() => {
                (FieldKind::HostAndPort(rank), self.class)
            }
            // A host without slashes ends where the target begins.
            (FieldKind::Host(rank) | FieldKind::HostAndPort(rank), FieldKind::Target) if rank != HostRank::Header => {
                (FieldKind::HostAndTarget(rank), class)
            }
            (FieldKind::Path, FieldKind::Query) => (FieldKind::PathAndQuery, class),
            _ => (FieldKind::Other, Class::Any),
        };
        self.name.push_str(&String::from_utf8_lossy(&between));
        self.name.push_str(name);
    }
}

/// A server, whose directive a text begins with.
enum Server {
    Nginx,
    Apache,
}

/// Returns the server if a text begins with the directive of a format, or with the quoted pieces of nginx's.
fn directive(text: &str) -> Option<Server> {
    let word = text.split(|letter: char| letter.is_ascii_whitespace()).next().unwrap_or_default();
    if word == "log_format" || text.starts_with("escape=") || text.starts_with('\'') {
        return Some(Server::Nginx);
    }
    word.eq_ignore_ascii_case("LogFormat").then_some(Server::Apache)
}

#[cfg(test)]
mod tests;
