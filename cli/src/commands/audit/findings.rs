//! The result of an audit, for the outputs.

use reptile::Set;
use reptile_columns::audit::Audited;

use super::args::Args;
use super::logs::LogCounts;
use reptile_records::identity::Identities;

/// A finished audit, with its set and its logs.
pub struct Findings<'a> {
    pub args: &'a Args,
    pub set: &'a Set,
    pub audited: &'a Audited,
    pub logs: &'a LogCounts,
    /// The known addresses, if clients were checked.
    pub identities: Option<&'a Identities>,
}
