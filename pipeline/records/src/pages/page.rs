//! A page, with the statements that arrive with it.

use reptile::rights::{Channel, Statements};

use super::elements::is_license_link;

/// A page, with the statements that arrive with it.
#[derive(Clone, Debug)]
pub struct Page {
    /// The URL, as in the record.
    pub url: Vec<u8>,
    /// The time of the fetch, as in the record.
    pub date: Option<Vec<u8>>,
    /// The ID of the record with the response.
    pub id: Option<Vec<u8>>,
    /// The statements that arrived with the page.
    pub statements: Statements,
}

/// Adds a response header's statements, if it has any.
pub fn add_field(statements: &mut Statements, name: &[u8], value: &[u8]) {
    let channel = match name {
        name if name.eq_ignore_ascii_case(b"content-usage") => Channel::UsageHeader,
        name if name.eq_ignore_ascii_case(b"x-robots-tag") => Channel::RobotsHeader,
        name if name.eq_ignore_ascii_case(b"tdm-reservation") => Channel::TdmHeader,
        name if name.eq_ignore_ascii_case(b"link") && is_license_link(value) => Channel::License,
        _ => return,
    };
    statements.add(channel, b"", value);
}
