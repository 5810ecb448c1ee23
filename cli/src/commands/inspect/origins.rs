//! The origins of a set, one per line, with their policy sources and times.

use std::io::Write;

use reptile::PolicySource;
use reptile::contents::{OriginRecord, Set};
use serde::Serialize;

use crate::error::Stop;
use crate::outputs::json::json_line;
use reptile_records::text::printable;
use reptile_records::time::show_time;

/// An origin's columns.
#[derive(Serialize)]
struct OriginColumns {
    origin: String,
    source: String,
    fetched: Option<String>,
    fresh_until: Option<String>,
    holds_until: Option<String>,
}

/// Writes a line for each origin immediately, because a set may have millions.
///
/// # Errors
/// Returns an error if the set is damaged, or `out` cannot be written.
pub fn write(set: &Set<&[u8]>, is_json: bool, out: &mut impl Write) -> Result<(), Stop> {
    for entry in set.origins() {
        let entry = entry?;
        let site = set.site_of(&entry)?;
        let fetched = site.captures()?.and_then(|captures| captures.deciding().time);
        let listed = OriginColumns {
            origin: name_of(&entry),
            source: source_name(site.policy().source()?),
            fetched: fetched.map(show_time),
            fresh_until: site.stale_at()?.map(show_time),
            holds_until: site.expires_at()?.map(show_time),
        };
        if is_json {
            out.write_all(json_line(&listed)?.as_bytes())?;
        } else {
            let OriginColumns { origin, source, fetched, fresh_until, holds_until } = listed;
            let [fetched, fresh, holds] = [fetched, fresh_until, holds_until].map(|time| time.unwrap_or("-".into()));
            writeln!(out, "{origin}\t{source}\t{fetched}\t{fresh}\t{holds}")?;
        }
    }
    Ok(())
}

/// Returns an origin as scheme, host and port.
pub fn name_of(entry: &OriginRecord<'_>) -> String {
    format!("{}://{}:{}", entry.scheme.as_str(), printable(entry.host), entry.port)
}

/// Returns the policy source in a few words.
pub fn source_name(source: PolicySource) -> String {
    match source {
        PolicySource::LastGoodCopy(cause) => format!("last good copy: {cause}"),
        PolicySource::AllowAll(cause) => format!("allow all: {cause}"),
        PolicySource::DisallowAll(cause) => format!("disallow all: {cause}"),
        _ => "rules".into(),
    }
}
