//! The parts of a log format, which Apache's and nginx' notations have in common.

/// The meaning of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// The field is skipped.
    Other,
    /// A host.
    Host(HostRank),
    /// A host, a colon and a port.
    HostAndPort(HostRank),
    /// The server's port.
    Port,
    Scheme,
    /// A request line: `GET /path HTTP/1.1`.
    Request,
    /// A request's target as the client sent it.
    Target,
    /// A host, followed by a target.
    HostAndTarget(HostRank),
    /// A decoded path without its query.
    Path,
    /// A query with its question mark.
    Query,
    /// A decoded path, followed by a query.
    PathAndQuery,
    Time,
    UserAgent,
    /// The response's status.
    Status,
    /// The address that the request came from, as the server saw it.
    Client,
}

/// Who chooses a host. If a format has several hosts, the first rank counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HostRank {
    /// The operator: the name in the configuration.
    Configured,
    /// The client, in the form that the server has checked.
    Checked,
    /// The client: a header as it was sent.
    Header,
}

/// The text that a field may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Any text before a detected format.
    Lead,
    /// Any text, without quotes if the server escapes them.
    Any,
    /// Text without spaces.
    Word,
    /// Digits, dots and signs.
    Number,
    /// An IP address or a host name.
    Address,
    /// A time without brackets.
    Time,
    /// A request line. It has no unescaped quote, or ends with its protocol: some servers do not escape requests.
    Request,
    /// The rest of a line: nothing, or a space and any text.
    Rest,
}

/// How a server escapes characters in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escape {
    /// With a backslash: `\"`, `\\`, `\xHH` or `\u00HH`.
    Backslash,
    /// Not at all.
    None,
}

/// A piece of a format.
#[derive(Debug)]
pub enum Token {
    Text(Vec<u8>),
    Field(FieldKind, Class, String),
}
