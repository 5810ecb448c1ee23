//! Verdicts for URLs in parts.
//!
//! Ordinary URLs are decided without being joined and split again.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::batch::LookupInput;
use super::{Agent, Set};
use crate::format::{FormatError, NONE};
use crate::url::parts::{JoinBuffer, is_ordinary_host, ordinary_path};
use crate::url::{Origin, Scheme, UrlParts, UrlRef};
use crate::verdict::Verdict;

/// A cache for a numbered table of hosts, such as a dictionary.
///
/// A host is looked up when a URL with its number is first decided. If a later URL has a different host with the same
/// number, that URL is looked up as if it had no number. Threads may share the cache.
///
/// Must be used with one set only.
#[derive(Debug)]
pub struct KnownHosts {
    slots: Box<[OnceLock<Box<KnownHost>>]>,
}

/// A host and its cached lookups.
#[derive(Debug)]
struct KnownHost {
    /// The host as written in URLs. Compared on use, so that a wrong number cannot select another host's rules.
    name: Box<[u8]>,
    /// For http and for https: one of the constants below, or a policy address plus [`FIRST_POLICY`].
    known: [AtomicU32; 2],
}

/// Not looked up yet.
const NEW: u32 = 0;
/// The host is not a plain name. Its URLs are joined.
const UNUSUAL: u32 = 1;
/// The set has no policy for the origin.
const UNKNOWN: u32 = 2;
/// Smallest number that represents a policy: the policy at address 0.
const FIRST_POLICY: u32 = 3;

impl KnownHosts {
    /// Creates an empty cache for hosts with numbers below `count`.
    ///
    /// Takes 16 bytes for each, and about 50 more for each host that is used.
    #[must_use]
    pub fn new(count: usize) -> KnownHosts {
        KnownHosts { slots: (0..count).map(|_| OnceLock::new()).collect() }
    }

    /// Returns the slot for a URL's host and scheme, if the URL's host number can be used.
    #[inline]
    fn of(&self, url: &UrlParts<'_>, scheme: Scheme) -> Option<&AtomicU32> {
        let slot = url.host_number.and_then(|number| self.slots.get(number))?;
        let new = || Box::new(KnownHost { name: url.host.into(), known: [const { AtomicU32::new(NEW) }; 2] });
        let host = slot.get_or_init(new);
        (*host.name == *url.host).then(|| &host.known[usize::from(scheme == Scheme::Https)])
    }
}

impl<D: AsRef<[u8]>> Set<D> {
    /// Computes the verdicts for many URLs in parts and several agents.
    ///
    /// The verdicts equal those of [`Set::decide_all`] for the joined URLs.
    ///
    /// Cost: see [`Set::decide_all`], without the origin lookup for hosts in `hosts`. URLs are joined if they have a
    /// query or are unusual: a port, a scheme other than http and https, a host that is not a name of lower-case
    /// letters and digits, or a fragment.
    ///
    /// # Errors
    /// Returns an error if the set is damaged. After an error the verdicts must not be used.
    pub fn decide_split(
        &self,
        agents: &[Agent],
        urls: &[UrlParts<'_>],
        hosts: &KnownHosts,
        verdicts: &mut [Verdict],
    ) -> Result<(), FormatError> {
        let mut text = vec![0; urls.iter().map(UrlParts::joined_len).sum()];
        let mut buffer = JoinBuffer(&mut text);
        let inputs = urls.iter().map(|url| match self.known_of(url, hosts) {
            None => LookupInput::Url(buffer.join(url)),
            Some((scheme, known)) => {
                // A URL with a query is joined as a whole, in case its path turns out to be unusual. The buffer has
                // room to join each URL once.
                let joined = url.query.map(|_| buffer.join(url));
                let path = joined.map_or(url.path, |text| text.get(url.path_start()..).unwrap_or_default());
                match ordinary_path(path) {
                    None => LookupInput::Url(joined.unwrap_or_else(|| buffer.join(url))),
                    Some(path) => match known {
                        NEW => {
                            let origin = Origin { scheme, host: url.host, port: scheme.default_port() };
                            LookupInput::Plain(UrlRef { origin, path })
                        }
                        UNKNOWN => LookupInput::Policy(NONE, path),
                        known => LookupInput::Policy(known - FIRST_POLICY, path),
                    },
                }
            }
        });
        self.decide_inputs::<false>(agents, inputs, verdicts, &mut [])
    }

    /// Returns a URL's scheme and its host's cached lookup, or `None` if either is unusual.
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

    /// Looks up a host for the cache. Returns [`NEW`], so that the host is looked up every time, if the policy's
    /// address is too large for a slot or if the set is damaged. The URL's own lookup then reports the damage.
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
