//! Verdicts for URLs that come in parts: what is ordinary is neither joined nor split again.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::batch::Asked;
use super::{Agent, Set};
use crate::format::{FormatError, NONE};
use crate::url::parts::{Room, is_ordinary_host, ordinary_path};
use crate::url::{Origin, Scheme, UrlParts, UrlRef};
use crate::verdict::Verdict;

/// What a set has for the hosts of a table, such as a dictionary, by their numbers: each is looked up when a URL first asks for
/// it. A URL whose host is another than the first one with its number is looked up as if it had no number. Threads may share it.
///
/// It must be used with one set only.
#[derive(Debug)]
pub struct KnownHosts {
    slots: Box<[OnceLock<Box<KnownHost>>]>,
}

/// A host, and what is known of it.
#[derive(Debug)]
struct KnownHost {
    /// As the URLs have it: a number alone would decide by another host's rules if the caller mistook one.
    name: Box<[u8]>,
    /// With http, and with https.
    known: [AtomicU32; 2],
}

/// Nobody has asked yet.
const NEW: u32 = 0;
/// The host is not a plain name, and URLs with it are joined.
const UNUSUAL: u32 = 1;
/// The set has no policy for the origin.
const UNKNOWN: u32 = 2;
/// The least number that stands for a policy: that at address 0.
const FIRST_POLICY: u32 = 3;

impl KnownHosts {
    /// Nothing is known yet of the hosts with the numbers below `count`. Takes 16 bytes for each, and then some 50 for each
    /// that a URL asks for.
    #[must_use]
    pub fn new(count: usize) -> KnownHosts {
        KnownHosts { slots: (0..count).map(|_| OnceLock::new()).collect() }
    }

    /// What is known of the host of a URL with a scheme, if its number can be used.
    #[inline]
    fn of(&self, url: &UrlParts<'_>, scheme: Scheme) -> Option<&AtomicU32> {
        let slot = url.host_number.and_then(|number| self.slots.get(number))?;
        let new = || Box::new(KnownHost { name: url.host.into(), known: [const { AtomicU32::new(NEW) }; 2] });
        let host = slot.get_or_init(new);
        (*host.name == *url.host).then(|| &host.known[usize::from(scheme == Scheme::Https)])
    }
}

impl<D: AsRef<[u8]>> Set<D> {
    /// The verdicts for many URLs in parts and several agents: those of [`Set::decide_all`] for the joined URLs.
    ///
    /// Cost: that of [`Set::decide_all`], without the look-up of the origin for a host that `hosts` knows. Joins URLs with a query
    /// and those that are unusual: those with a port, another scheme than http and https, a host that is
    /// not a name of lower-case letters and digits, or a fragment.
    ///
    /// # Errors
    /// When the set is damaged. After an error the verdicts must not be used.
    pub fn decide_split(
        &self,
        agents: &[Agent],
        urls: &[UrlParts<'_>],
        hosts: &KnownHosts,
        verdicts: &mut [Verdict],
    ) -> Result<(), FormatError> {
        let mut text = vec![0; urls.iter().map(UrlParts::joined_len).sum()];
        let mut room = Room(&mut text);
        let asked = urls.iter().map(|url| match self.known_of(url, hosts) {
            None => Asked::Url(room.join(url)),
            Some((scheme, known)) => {
                // A URL with a query is joined as a whole, in case that its path turns out to be unusual: one that is joined
                // once needs no more room than it has bytes.
                let joined = url.query.map(|_| room.join(url));
                let path = joined.map_or(url.path, |text| text.get(url.path_start()..).unwrap_or_default());
                match ordinary_path(path) {
                    None => Asked::Url(joined.unwrap_or_else(|| room.join(url))),
                    Some(path) => match known {
                        NEW => {
                            let origin = Origin { scheme, host: url.host, port: scheme.default_port() };
                            Asked::Plain(UrlRef { origin, path })
                        }
                        UNKNOWN => Asked::Policy(NONE, path),
                        known => Asked::Policy(known - FIRST_POLICY, path),
                    },
                }
            }
        });
        self.decide_asked(agents, asked, verdicts)
    }

    /// The scheme of a URL, and what is known of its host. `None` if either is unusual.
    #[inline]
    fn known_of(&self, url: &UrlParts<'_>, hosts: &KnownHosts) -> Option<(Scheme, u32)> {
        let scheme = url.ordinary_scheme()?;
        let known = match hosts.of(url, scheme) {
            Some(slot) => match slot.load(Ordering::Relaxed) {
                NEW => {
                    let known = self.known(scheme, url.host);
                    slot.store(known, Ordering::Relaxed);
                    known
                }
                known => known,
            },
            None if is_ordinary_host(url.host) => NEW,
            None => UNUSUAL,
        };
        (known != UNUSUAL).then_some((scheme, known))
    }

    /// What is known of a host, looked up. A host whose policy has an address too large for a slot is looked up each time, and
    /// so is one whose look-up meets damage, which the URL's own look-up then reports.
    #[cold]
    fn known(&self, scheme: Scheme, host: &[u8]) -> u32 {
        if !is_ordinary_host(host) {
            return UNUSUAL;
        }
        match self.record(&Origin { scheme, host, port: scheme.default_port() }) {
            Ok(Some(record)) => record.policy.checked_add(FIRST_POLICY).unwrap_or(NEW),
            Ok(None) => UNKNOWN,
            Err(_) => NEW,
        }
    }
}
