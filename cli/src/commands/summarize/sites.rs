//! Sites: a host with and without `www.`, over http and https. People think of one site, but each of its four origins
//! has its own robots.txt.

use reptile::Scheme;
use reptile::contents::{FormatError, Policy, Set};
use reptile::urls::OriginRef;

use super::subjects::{Name, each_name};
use crate::error::Stop;
use reptile::summary::{Access, DecidingRules};
use reptile_records::place::Place;

const WWW: &[u8] = b"www.";

/// An origin of a site.
#[derive(Clone, Copy)]
pub struct SiteOrigin {
    /// The name of its column.
    pub name: &'static str,
    scheme: Scheme,
    has_www: bool,
}

const fn origin(name: &'static str, scheme: Scheme, has_www: bool) -> SiteOrigin {
    SiteOrigin { name, scheme, has_www }
}

/// A site's origins, in column order.
pub const ORIGINS: [SiteOrigin; 4] = [
    origin("https", Scheme::Https, false),
    origin("http", Scheme::Http, false),
    origin("https_www", Scheme::Https, true),
    origin("http_www", Scheme::Http, true),
];

/// A site, and the policies of its origins in the set.
pub struct Site<'s> {
    /// The host without `www.`, or the line if it names no site.
    pub host: Result<Vec<u8>, Vec<u8>>,
    /// The policies in the order of [`ORIGINS`].
    pub policies: [Option<Policy<'s>>; ORIGINS.len()],
}

impl<'s> Site<'s> {
    fn find(set: &'s Set<&'s [u8]>, host: &[u8]) -> Result<Site<'s>, FormatError> {
        let with_www = [WWW, host].concat();
        let mut policies = [None; ORIGINS.len()];
        for (policy, SiteOrigin { scheme, has_www, .. }) in policies.iter_mut().zip(ORIGINS) {
            let host = if has_www { &with_www } else { host };
            *policy = set.policy(&OriginRef { scheme, host, port: scheme.default_port() })?;
        }
        Ok(Site { host: Ok(host.to_vec()), policies })
    }

    /// Returns the site's representative origin, or the line without one.
    pub fn origin(&self) -> Result<OriginRef<'_>, &[u8]> {
        let of_host = |host| OriginRef { scheme: Scheme::Https, host, port: Scheme::Https.default_port() };
        self.host.as_deref().map(of_host).map_err(Vec::as_slice)
    }
}

/// Returns the host of an origin's site, or `None` if the origin has an unusual port or scheme.
fn host_of_site<'o>(origin: &OriginRef<'o>) -> Option<&'o [u8]> {
    let is_usual = origin.port == origin.scheme.default_port();
    if !is_usual || !matches!(origin.scheme, Scheme::Http | Scheme::Https) {
        return None;
    }
    // In www.com, com alone is not a host.
    let without = origin.host.strip_prefix(WWW).filter(|rest| rest.contains(&b'.'));
    Some(without.unwrap_or(origin.host))
}

/// Passes every site of a set to `work`. A site comes at the position of its first origin in column order. Returns the
/// number of origins without a site.
///
/// # Errors
/// Returns an error if the set is damaged or `work` fails.
pub fn each_stored_site<'s>(
    set: &'s Set<&'s [u8]>,
    mut work: impl FnMut(Site<'s>) -> Result<(), Stop>,
) -> Result<u64, Stop> {
    let mut others = 0;
    for record in set.origins() {
        let record = record?;
        let origin = OriginRef { scheme: record.scheme, host: record.host, port: record.port };
        let Some(host) = host_of_site(&origin) else {
            others += 1;
            continue;
        };
        let site = Site::find(set, host)?;
        // Each site appears once, at its first origin in column order.
        let has_www = host.len() != origin.host.len();
        let first = ORIGINS.into_iter().zip(&site.policies).find(|(_, policy)| policy.is_some());
        if first.is_some_and(|(first, _)| (first.scheme, first.has_www) == (origin.scheme, has_www)) {
            work(site)?;
        }
    }
    Ok(others)
}

/// Passes each list line's site to `work`.
///
/// # Errors
/// Returns an error if the list is unreadable, the set is damaged, or `work` fails.
pub fn each_listed_site<'s>(
    set: &'s Set<&'s [u8]>,
    list: &Place,
    mut work: impl FnMut(Site<'s>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    each_name(list, |name| {
        let site = match name.origin().as_ref().and_then(host_of_site) {
            Some(host) => Site::find(set, host)?,
            None => Site { host: Err(line_of(&name)), policies: [None; ORIGINS.len()] },
        };
        work(site)
    })
}

/// Returns the text of a line without a site.
fn line_of(name: &Name<'_>) -> Vec<u8> {
    match name {
        Name::Listed(origin) => origin.to_string().into_bytes(),
        Name::Invalid(line) => line.clone(),
        Name::Stored(_) => Vec::new(),
    }
}

/// Whether a site's origins allow the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    Same,
    Different,
    /// The set has only one of its origins.
    One,
    Unknown,
    Invalid,
}

impl Agreement {
    /// All values in the order of their numbers.
    pub const ALL: [Agreement; 5] =
        [Agreement::Same, Agreement::Different, Agreement::One, Agreement::Unknown, Agreement::Invalid];

    /// Returns whether the origins in the set agree: all URLs are allowed, all are disallowed, or the same rules
    /// decide.
    pub fn of(accesses: &[Access; ORIGINS.len()], deciding: &[Option<DecidingRules>; ORIGINS.len()]) -> Agreement {
        let known: Vec<(&Access, &DecidingRules)> =
            accesses.iter().zip(deciding).filter_map(|(access, deciding)| Some((access, deciding.as_ref()?))).collect();
        let Some(((access, deciding), others)) = known.split_first() else { return Agreement::Unknown };
        let needs_rules = matches!(access, Access::Partial | Access::Unproved);
        let is_same = |(other, by): &(&Access, &DecidingRules)| {
            other == access && (!needs_rules || by.rulesets() == deciding.rulesets())
        };
        match others {
            [] => Agreement::One,
            others if others.iter().all(is_same) => Agreement::Same,
            _ => Agreement::Different,
        }
    }

    /// Returns the word in the column.
    pub fn cell(self) -> &'static str {
        match self {
            Agreement::Same => "yes",
            Agreement::Different => "no",
            Agreement::One | Agreement::Unknown | Agreement::Invalid => "",
        }
    }

    /// Returns the words in the summary.
    pub fn name(self) -> &'static str {
        match self {
            Agreement::Same => "same",
            Agreement::Different => "different",
            Agreement::One => "one origin only",
            Agreement::Unknown => "unknown",
            Agreement::Invalid => "invalid",
        }
    }
}
