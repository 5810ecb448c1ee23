//! Verdicts for URLs that come in parts: what is ordinary is neither joined nor split again.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::batch::Asked;
use super::{Agent, Set};
use crate::format::{FormatError, NONE};
use crate::url::parts::{is_ordinary_host, ordinary_path};
use crate::url::{Origin, Path, Scheme, UrlParts, UrlRef};
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

/// How a URL in parts is decided.
enum Plan<'u> {
    /// As the text at this place.
    Joined(Range<usize>),
    /// By the policy at this address, or [`NONE`].
    Policy(u32, PathAt<'u>),
    /// By the policy of the origin with this scheme.
    Plain(Scheme, PathAt<'u>),
}

/// Where the path of a URL is.
enum PathAt<'u> {
    /// In its parts.
    Part(Path<'u>),
    /// In the text, with its query; and whether it is unescapable.
    Text(Range<usize>, bool),
}

impl<'u> PathAt<'u> {
    #[inline]
    fn in_text<'t>(self, text: &'t [u8]) -> Path<'t>
    where
        'u: 't,
    {
        match self {
            PathAt::Part(path) => path,
            PathAt::Text(at, is_unescapable) => Path::ordinary(text.get(at).unwrap_or_default(), is_unescapable),
        }
    }
}

impl<D: AsRef<[u8]>> Set<D> {
    /// The verdicts for many URLs in parts and several agents: those of [`Set::decide_all`] for the joined URLs.
    ///
    /// Cost: that of [`Set::decide_all`], without the look-up of the origin for a host that `hosts` knows. Copies the paths of
    /// URLs with a query, and joins URLs that are unusual: those with a port, another scheme than http and https, a host that is
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
        // What is copied of a batch of usual URLs, about.
        let mut text = Vec::with_capacity(urls.len() * 32);
        let mut plans = Vec::with_capacity(urls.len());
        for url in urls {
            plans.push(match self.plan(url, hosts, &mut text)? {
                Some(plan) => plan,
                None => {
                    let start = text.len();
                    url.join(&mut text);
                    Plan::Joined(start..text.len())
                }
            });
        }
        let text = &text[..];
        let asked = urls.iter().zip(plans).map(|(url, plan)| match plan {
            Plan::Joined(at) => Asked::Url(text.get(at).unwrap_or_default()),
            Plan::Policy(policy, path) => Asked::Policy(policy, path.in_text(text)),
            Plan::Plain(scheme, path) => {
                let origin = Origin { scheme, host: url.host, port: scheme.default_port() };
                Asked::Plain(UrlRef { origin, path: path.in_text(text) })
            }
        });
        self.decide_asked(agents, asked, verdicts)
    }

    /// How a URL is decided, if it is ordinary. Appends its path to `text` if it has a query.
    #[inline]
    fn plan<'u>(
        &self,
        url: &UrlParts<'u>,
        hosts: &KnownHosts,
        text: &mut Vec<u8>,
    ) -> Result<Option<Plan<'u>>, FormatError> {
        let Some(scheme) = url.ordinary_scheme() else { return Ok(None) };
        let known = match hosts.of(url, scheme) {
            Some(slot) => match slot.load(Ordering::Relaxed) {
                NEW => {
                    let known = self.known(scheme, url.host)?;
                    slot.store(known, Ordering::Relaxed);
                    known
                }
                known => known,
            },
            None if is_ordinary_host(url.host) => NEW,
            None => UNUSUAL,
        };
        if known == UNUSUAL {
            return Ok(None);
        }
        let path = if url.query.is_none() {
            ordinary_path(url.path).map(PathAt::Part)
        } else {
            let start = text.len();
            url.join_path(text);
            let path = text.get(start..).and_then(ordinary_path).map(|path| path.is_unescapable());
            path.map(|is_unescapable| PathAt::Text(start..text.len(), is_unescapable))
        };
        Ok(path.map(|path| match known {
            NEW => Plan::Plain(scheme, path),
            UNKNOWN => Plan::Policy(NONE, path),
            known => Plan::Policy(known - FIRST_POLICY, path),
        }))
    }

    /// What is known of a host, looked up. A host whose policy has an address too large for a slot is looked up each time.
    #[cold]
    fn known(&self, scheme: Scheme, host: &[u8]) -> Result<u32, FormatError> {
        if !is_ordinary_host(host) {
            return Ok(UNUSUAL);
        }
        let record = self.record(&Origin { scheme, host, port: scheme.default_port() })?;
        Ok(record.map_or(UNKNOWN, |record| record.policy.checked_add(FIRST_POLICY).unwrap_or(NEW)))
    }
}
