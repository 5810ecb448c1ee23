//! The subjects of rows: the origins of a set or of a list, and their periods.

use reptile::contents::{CaptureRecord, OriginRecord, Period, Policy, Set, Site};
use reptile::limits::MAX_URL_BYTES;
use reptile::urls::OriginRef;
use reptile::{Origin, Scheme};

use crate::error::{Failure, Stop};
use reptile_records::hosts::{Naming, origins_of_name};
use reptile_records::lines::{ChunkKind, Chunks, lines, without_line_end};
use reptile_records::lists::open;
use reptile_records::place::Place;

/// The origin of a row.
#[derive(Clone)]
pub enum Name<'s> {
    /// An origin of the set.
    Stored(OriginRecord<'s>),
    /// An origin of a list.
    Listed(Origin),
    /// A list line without an origin, as shown: cut after [`MAX_URL_BYTES`], and empty if it is not UTF-8 or too long.
    Invalid(Vec<u8>),
}

/// An origin, its data if the set has it, and one of its periods.
pub struct Subject<'s> {
    pub name: Name<'s>,
    pub site: Option<Site<'s>>,
    /// The period, if the rows are about periods and the set has the origin.
    pub period: Option<Period<'s>>,
    /// Whether this is the first row about the origin.
    pub is_first: bool,
    /// Whether the site's other directives come from the period's file.
    pub has_directives: bool,
}

impl<'s> Subject<'s> {
    fn new(name: Name<'s>, site: Option<Site<'s>>) -> Subject<'s> {
        Subject { name, site, period: None, is_first: true, has_directives: false }
    }

    /// Returns the policy: the period's, or else the one at the set's time.
    pub fn policy(&self) -> Option<Policy<'s>> {
        let of_period = self.period.as_ref().map(|period| period.policy);
        of_period.or_else(|| self.site.as_ref().map(|site| *site.policy()))
    }
}

impl Name<'_> {
    /// Returns the origin; `None` for a line that names none.
    pub fn origin(&self) -> Option<OriginRef<'_>> {
        match self {
            Name::Stored(record) => Some(OriginRef { scheme: record.scheme, host: record.host, port: record.port }),
            Name::Listed(origin) => Some(origin.borrowed()),
            Name::Invalid(_) => None,
        }
    }

    /// Returns the origin behind the keys, or the line used instead.
    pub fn key(&self) -> Result<OriginRef<'_>, &[u8]> {
        let line: &[u8] = if let Name::Invalid(line) = self { line } else { b"" };
        self.origin().ok_or(line)
    }
}

/// Passes every origin to `work`, in set order.
///
/// # Errors
/// Returns an error if the set is damaged or `work` fails.
pub fn each_stored<'s>(
    set: &'s Set<&'s [u8]>,
    mut work: impl FnMut(Subject<'s>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    for record in set.origins() {
        let record = record?;
        let site = Some(set.site_of(&record)?);
        work(Subject::new(Name::Stored(record), site))?;
    }
    Ok(())
}

/// Passes each list line's origin to `work`.
///
/// # Errors
/// Returns an error if the list is unreadable, the set is damaged, or `work` fails.
pub fn each_listed<'s>(
    set: &'s Set<&'s [u8]>,
    list: &Place,
    mut work: impl FnMut(Subject<'s>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    each_name(list, |name| {
        let site = match &name {
            Name::Listed(origin) => set.site(&origin.borrowed())?,
            _ => None,
        };
        work(Subject::new(name, site))
    })
}

/// Returns the hash of the body that a capture's rules come from, if it is known.
pub fn body_hash(capture: &CaptureRecord) -> Option<u64> {
    (capture.body_hash != 0).then_some(capture.body_hash)
}

/// Passes each of an origin's periods to `work`, or the origin alone if the set does not have it.
///
/// # Errors
/// Returns an error if the set is damaged or `work` fails.
pub fn each_period<'s>(
    set: &'s Set<&'s [u8]>,
    subject: Subject<'s>,
    mut work: impl FnMut(Subject<'s>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let Some(site) = subject.site else { return work(subject) };
    // A set stores other directives only for the file at its own time.
    let stored = site.captures()?.and_then(|captures| body_hash(captures.deciding()));
    let time = set.reading().at;
    for (at, period) in set.periods_of(site.origin())?.into_iter().enumerate() {
        let is_now = time.map_or(period.until.is_none(), |time| period.contains(time));
        let body = period.capture.and_then(|capture| body_hash(&capture));
        let has_directives = is_now || (body.is_some() && body == stored);
        let name = subject.name.clone();
        work(Subject { name, site: Some(site), period: Some(period), is_first: at == 0, has_directives })?;
    }
    Ok(())
}

/// Passes the name in each list line to `work`.
///
/// # Errors
/// Returns an error if the list is unreadable or `work` fails.
pub fn each_name(list: &Place, mut work: impl FnMut(Name<'static>) -> Result<(), Stop>) -> Result<(), Stop> {
    let mut chunks = Chunks::new(open(list).map_err(Failure::from)?);
    let mut buffer = Vec::new();
    let unreadable = |error| Stop::Other(Failure::at(list, error));
    while let Some(chunk) = chunks.next(buffer, &|| true).map_err(unreadable)? {
        match chunk.kind {
            ChunkKind::Lines => {
                for line in lines(chunk.bytes()).map(without_line_end) {
                    work(named(line))?;
                }
            }
            ChunkKind::LongLine { last: true } => work(named(b""))?,
            ChunkKind::LongLine { last: false } => {}
        }
        buffer = chunk.buffer;
    }
    Ok(())
}

/// Returns the origin in a line: a URL's origin, or a host's https origin.
fn named(line: &[u8]) -> Name<'static> {
    let text = std::str::from_utf8(line.get(..MAX_URL_BYTES).unwrap_or(line)).unwrap_or_default();
    let origins = origins_of_name(text.trim(), &Naming::Hosts(vec![Scheme::Https]));
    match origins.ok().and_then(|origins| origins.into_iter().next()) {
        None => Name::Invalid(text.as_bytes().into()),
        Some(origin) => Name::Listed(origin),
    }
}
