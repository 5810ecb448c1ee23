//! A page, with the statements that arrive with it.

use reptile::rights::Statements;

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
