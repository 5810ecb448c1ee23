//! A compiled set, [`Set`]: opening, verification, and queries about an origin.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use reptile_engine::format::FormatError;
use reptile_engine::format::crawlers::{Crawlers, Purposes};
use reptile_engine::format::directives::{DirectiveKind, DirectiveState};
use reptile_engine::format::histories::CaptureHistory;
use reptile_engine::set as engine;
use reptile_engine::spec::Spec;
use reptile_engine::token::product_token;
use reptile_engine::url::{self, UrlParts, UrlRef};
use reptile_engine::verdict::{Rule, Verdict};

#[cfg(feature = "compile")]
use reptile_compiler::reason::Access;

use crate::crawler::{Crawler, CrawlerForm};
use crate::error::{CrawlerError, CrawlerErrorKind, Error, ErrorKind};
use crate::{Directive, Explanation, Group, Origin, Provenance, Site, Span};

mod usage;

/// A set with an origin's only site, or the error if the site could not be compiled.
type ReplacedSite = Result<Arc<engine::Set<SetBytes>>, (ErrorKind, String)>;

pub(crate) enum SetBytes {
    Owned(Vec<u8>),
    #[cfg(feature = "mmap")]
    Mapped(reptile_engine::platform::MappedFile),
}

impl AsRef<[u8]> for SetBytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        match self {
            SetBytes::Owned(bytes) => bytes,
            #[cfg(feature = "mmap")]
            SetBytes::Mapped(file) => file.as_ref(),
        }
    }
}

/// A compiled set of robots.txt files.
///
/// Immutable and shared: cloning copies two reference counts, and any number of threads may use it at once. A set in
/// memory takes its size; a mapped set takes only the pages that are read, which processes share.
///
/// Opening checks only the label, version, lengths and header checksum, which takes microseconds. Damage elsewhere
/// gives an [`Error`] when a call reads the damaged bytes. To rule out wrong verdicts due to damage, call
/// [`Set::verify`] once, or [`Set::verify_deep`] for a set from an untrusted source.
#[derive(Clone)]
pub struct Set {
    engine: Arc<engine::Set<SetBytes>>,
    /// The sites that were replaced in memory; usually empty.
    replaced: Arc<HashMap<Origin, ReplacedSite>>,
    /// The policy's number in a set of one robots.txt, which decides URLs from any origin.
    only: Option<u32>,
}

impl Set {
    /// Reads a set file into memory.
    ///
    /// ```no_run
    /// let set = reptile::Set::read("web.reptile")?;
    /// set.verify()?;
    /// # Ok::<(), reptile::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Io`] if the file cannot be read, and [`ErrorKind::Format`] if it is not a set in this
    /// format version.
    pub fn read(path: impl AsRef<Path>) -> Result<Set, Error> {
        Set::from_bytes(std::fs::read(path)?)
    }

    /// Opens a set in memory.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Format`] if the bytes are not a set in this format version.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Result<Set, Error> {
        Set::open(SetBytes::Owned(bytes.into()))
    }

    /// Opens a mapped set file, in microseconds regardless of its size.
    ///
    /// ```no_run
    /// use reptile::{MappedFile, Set};
    /// // SAFETY: no program writes into this file; a newer one replaces it by renaming.
    /// let file = unsafe { MappedFile::open("web.reptile") }?;
    /// let set = Set::map(file)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Format`] if the file is not a set in this format version.
    #[cfg(feature = "mmap")]
    pub fn map(file: crate::MappedFile) -> Result<Set, Error> {
        Set::open(SetBytes::Mapped(file))
    }

    fn open(bytes: SetBytes) -> Result<Set, Error> {
        Ok(Set { engine: Arc::new(engine::Set::from_bytes(bytes)?), replaced: Arc::default(), only: None })
    }

    /// Returns the engine's set, without replaced sites.
    #[cfg(feature = "compile")]
    pub(crate) fn engine(&self) -> &engine::Set<SetBytes> {
        &self.engine
    }

    /// Returns the set's bytes, or `None` if it is a set of one robots.txt, or if sites were replaced in memory.
    #[cfg(feature = "compile")]
    pub(crate) fn whole_bytes(&self) -> Option<&[u8]> {
        (self.only.is_none() && self.replaced.is_empty()).then(|| self.engine.bytes())
    }

    /// Returns the mapped file, or `None` if the bytes are in memory.
    #[cfg(feature = "compile")]
    pub(crate) fn mapped(&self) -> Option<&reptile_engine::platform::MappedFile> {
        match self.engine.data() {
            #[cfg(feature = "mmap")]
            SetBytes::Mapped(file) => Some(file),
            SetBytes::Owned(_) => None,
        }
    }

    /// Opens a set with one site, which decides URLs from any origin.
    #[cfg(feature = "compile")]
    pub(crate) fn of_one(bytes: Vec<u8>) -> Result<Set, Error> {
        let set = Set::open(SetBytes::Owned(bytes))?;
        let only = only_site(&set.engine)?.map(|site| site.policy().number());
        Ok(Set { only, ..set })
    }

    /// Reads every byte and proves that the set is exactly the compiler's output for its content: checksums, sizes
    /// and order are right, and no data is duplicated, unreferenced or left over. A verified set gives no error
    /// afterwards. Time: linear in the size, even for a malicious file; on all threads with the feature `rayon`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Format`], with the first mistake in the set.
    pub fn verify(&self) -> Result<(), Error> {
        #[cfg(feature = "rayon")]
        {
            use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
            let parts = self.engine.verify_parts();
            // The first part's error is reported, so that the message does not depend on thread timing.
            let failed = parts.par_iter().map(|part| self.engine.verify_part(part)).find_first(Result::is_err);
            Ok(failed.unwrap_or(Ok(()))?)
        }
        #[cfg(not(feature = "rayon"))]
        Ok(self.engine.verify()?)
    }

    /// Checks only the sections' checksums, as fast as memory or disk. They reveal accidental damage, but not a
    /// deliberate change, because anyone can recompute them.
    ///
    /// # Errors
    /// Returns an error for the first damaged section.
    pub fn verify_checksums(&self) -> Result<(), Error> {
        Ok(self.engine.verify_checksums()?)
    }
}

/// The product tokens that a crawler resolves to, in any set, in lookup order.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub(crate) tokens: Vec<Vec<u8>>,
    pub(crate) honors_default_group: bool,
}

impl Chain {
    /// Returns the product tokens that a crawler resolves to under a table's dialect.
    pub(crate) fn of(crawler: &Crawler, table: Crawlers<'_>) -> Result<Chain, CrawlerError> {
        let product_token = |name| product_token_in(name, crawler, table);
        Ok(match &crawler.kind {
            CrawlerForm::Verbatim => Chain { tokens: vec![crawler.name.clone()], honors_default_group: true },
            CrawlerForm::Token => {
                Chain { tokens: vec![product_token(&crawler.name)?.to_vec()], honors_default_group: true }
            }
            CrawlerForm::Named => {
                let damaged = |error: FormatError| CrawlerError::damaged(crawler, error.into());
                let found = table.find(&crawler.name).map_err(damaged)?;
                let syntax = table.syntax().map_err(damaged)?;
                let is_known = found.known.as_ref().is_some_and(|known| known.name.eq_ignore_ascii_case(&crawler.name));
                match product_token(&crawler.name) {
                    // A known crawler obeys the groups for the token that is read from a line with its name.
                    Err(error) if error.kind() == CrawlerErrorKind::Unnameable && is_known => {}
                    result => drop(result?),
                }
                let tokens = found.tokens.into_iter().map(|token| syntax.token_of(token).to_vec());
                Chain {
                    tokens: tokens.filter(|token| !token.is_empty()).collect(),
                    honors_default_group: found.honors_default_group,
                }
            }
            CrawlerForm::Chain { tokens, honors_default_group } => {
                let tokens = tokens.iter().map(|token| product_token(token).map(<[u8]>::to_vec));
                Chain { tokens: tokens.collect::<Result<_, _>>()?, honors_default_group: *honors_default_group }
            }
        })
    }

    /// Looks up the tokens in an engine's set.
    pub(crate) fn look_up(&self, set: &engine::Set<SetBytes>) -> Result<engine::Agent, Error> {
        let tokens: Vec<&[u8]> = self.tokens.iter().map(Vec::as_slice).collect();
        Ok(set.agent_chain(&tokens, self.honors_default_group)?)
    }
}

/// Returns the product token in a crawler's name under a table's dialect.
fn product_token_in<'n>(name: &'n [u8], crawler: &Crawler, table: Crawlers<'_>) -> Result<&'n [u8], CrawlerError> {
    let damaged = |error: FormatError| CrawlerError::damaged(crawler, error.into());
    let (syntax, cuts) = (table.syntax().map_err(damaged)?, table.cuts_version().map_err(damaged)?);
    // Only some errors need the known names.
    let mut damage = None;
    let known =
        table.iter().map_while(|known| known.map(|known| known.name).map_err(|error| damage = Some(error)).ok());
    let token = product_token(name, syntax, cuts, known);
    match damage {
        Some(error) => Err(damaged(error)),
        None => token.map_err(|error| CrawlerError::new(crawler, error)),
    }
}

/// Returns the crawlers that a text represents; see [`Set::crawlers_named`].
pub(crate) fn crawlers_named_in(text: &str, table: Crawlers<'_>) -> Result<Vec<Crawler>, CrawlerError> {
    Ok(match Spec::read(text).map_err(|error| CrawlerError::of_spec(text, error))? {
        Spec::Any => vec![Crawler::chain([""; 0], true)],
        Spec::Chain { tokens, honors_default_group } => vec![Crawler::chain(tokens, honors_default_group)],
        Spec::Name(name) => vec![Crawler::named(name)],
        Spec::Group(purposes) => {
            let members = table.with_purpose(purposes).map(|member| member.map(|member| Crawler::named(member.name)));
            let damaged = |error: FormatError| CrawlerError::damaged(&Crawler::named(text), error.into());
            members.collect::<Result<_, _>>().map_err(damaged)?
        }
    })
}

/// The crawler in one query: the engine's agent, and, for a replaced site, its product tokens.
#[derive(Clone, Copy)]
pub(crate) struct AgentQuery<'a> {
    pub(crate) resolved: &'a engine::Agent,
    pub(crate) chain: &'a Chain,
}

/// The crawlers in one query: the engine's agents, and, for replaced sites, their product tokens.
#[derive(Clone, Copy)]
pub(crate) struct AgentColumns<'a> {
    pub(crate) resolved: &'a [engine::Agent],
    pub(crate) chains: &'a [Arc<Chain>],
}

impl AgentColumns<'_> {
    /// Returns the number of verdicts in a row: at least 1, so that a buffer without columns divides into no rows.
    pub(crate) fn width(self) -> usize {
        self.chains.len().max(1)
    }
}

/// The site for a URL's origin, and the path that its rules are matched against.
#[allow(
    clippy::large_enum_variant,
    reason = "it lives on the stack of one call; a box would allocate for each decision"
)]
pub(crate) enum SiteLookup<'s, 'u> {
    Invalid,
    Unknown,
    Site {
        site: engine::Site<'s>,
        path: url::Path<'u>,
        /// The site's set, if the site was replaced: crawlers are resolved again in it.
        replaced: Option<&'s engine::Set<SetBytes>>,
    },
}

impl SiteLookup<'_, '_> {
    /// Returns the verdict on a URL without a known site.
    fn without_site(&self) -> Verdict {
        if matches!(self, SiteLookup::Invalid) { Verdict::Invalid } else { Verdict::Unknown }
    }
}

impl Set {
    pub(crate) fn find<'s, 'u>(&'s self, url: &'u [u8]) -> Result<SiteLookup<'s, 'u>, Error> {
        if self.only.is_some() {
            let Ok(path) = url::path_at_any_origin(url) else { return Ok(SiteLookup::Invalid) };
            return Ok(site_lookup(only_site(&self.engine)?, path, None));
        }
        let Ok(UrlRef { origin, path }) = url::split(url) else { return Ok(SiteLookup::Invalid) };
        if !self.replaced.is_empty() {
            let replaced = Origin::new(&origin).ok().and_then(|origin| self.replaced.get(&origin));
            if let Some(engine) = replaced {
                let engine = engine.as_ref().map_err(|(kind, message)| Error::new(*kind, message.clone()))?;
                return Ok(site_lookup(only_site(engine)?, path, Some(engine)));
            }
        }
        Ok(site_lookup(self.engine.site(&origin)?, path, None))
    }

    /// Returns the verdict for one URL by one ruleset, in a set of one robots.txt.
    #[inline]
    pub(crate) fn decide_by_ruleset(&self, ruleset: &engine::RulesetPlace, url: &[u8]) -> Result<Verdict, Error> {
        Ok(self.engine.decide_by_ruleset(ruleset, url)?)
    }

    /// Decides one URL for several crawlers. `verdicts` has one element for each crawler.
    #[inline]
    pub(crate) fn decide_each(
        &self,
        columns: AgentColumns<'_>,
        url: &[u8],
        verdicts: &mut [Verdict],
    ) -> Result<(), Error> {
        if !self.replaced.is_empty() {
            return self.decide_each_with_replaced(columns, url, verdicts);
        }
        match self.only {
            None => Ok(self.engine.decide_each(columns.resolved, url, verdicts)?),
            Some(policy) => Ok(self.engine.decide_each_by(policy, columns.resolved, url, verdicts)?),
        }
    }

    /// Decides many URLs for several agents, with a row of verdicts for each URL.
    pub(crate) fn decide_all<U: AsRef<[u8]>>(
        &self,
        columns: AgentColumns<'_>,
        urls: &[U],
        verdicts: &mut [Verdict],
    ) -> Result<(), Error> {
        if !self.replaced.is_empty() {
            let mut rows = urls.iter().zip(verdicts.chunks_exact_mut(columns.width()));
            return rows.try_for_each(|(url, row)| self.decide_each_with_replaced(columns, url.as_ref(), row));
        }
        let urls = urls.iter().map(AsRef::as_ref);
        match self.only {
            None => Ok(self.engine.decide_all(columns.resolved, urls, verdicts)?),
            Some(policy) => Ok(self.engine.decide_all_by(policy, columns.resolved, urls, verdicts)?),
        }
    }

    /// Decides many URLs like [`Set::decide_all`] or, with times, like [`Set::decide_all_at`], and stores when each
    /// URL's robots.txt was fetched.
    pub(crate) fn decide_all_dated<U: AsRef<[u8]>>(
        &self,
        columns: AgentColumns<'_>,
        urls: &[U],
        times: Option<&[i64]>,
        verdicts: &mut [Verdict],
        fetched_at: &mut [Option<i64>],
    ) -> Result<(), Error> {
        let texts = urls.iter().map(AsRef::as_ref);
        if let Some(times) = times {
            let timed = texts.zip(times.iter().copied());
            return Ok(self.timed()?.decide_all_at_dated(columns.resolved, timed, verdicts, fetched_at)?);
        }
        if self.only.is_none() && self.replaced.is_empty() {
            return Ok(self.engine.decide_all_dated(columns.resolved, texts, verdicts, fetched_at)?);
        }
        self.decide_all(columns, urls, verdicts)?;
        for (url, fetched_at) in texts.zip(fetched_at) {
            *fetched_at = match self.find(url)? {
                SiteLookup::Invalid | SiteLookup::Unknown => None,
                SiteLookup::Site { site, .. } => site.captures()?.and_then(|captures| captures.deciding().time),
            };
        }
        Ok(())
    }

    /// Decides many URLs in parts for several agents, with a row of verdicts for each URL.
    pub(crate) fn decide_split(
        &self,
        columns: AgentColumns<'_>,
        urls: &[UrlParts<'_>],
        hosts: &engine::KnownHosts,
        verdicts: &mut [Verdict],
    ) -> Result<(), Error> {
        if self.only.is_some() || !self.replaced.is_empty() {
            let mut text = Vec::new();
            let mut rows = urls.iter().zip(verdicts.chunks_exact_mut(columns.width()));
            return rows.try_for_each(|(url, row)| {
                text.clear();
                url.join(&mut text);
                self.decide_each(columns, &text, row)
            });
        }
        Ok(self.engine.decide_split(columns.resolved, urls, hosts, verdicts)?)
    }

    /// Returns whether two sets are clones.
    pub(crate) fn is(&self, other: &Set) -> bool {
        Arc::ptr_eq(&self.engine, &other.engine)
    }

    /// Does the work of [`Set::decide_each`] for a set with replaced sites.
    fn decide_each_with_replaced(
        &self,
        columns: AgentColumns<'_>,
        url: &[u8],
        verdicts: &mut [Verdict],
    ) -> Result<(), Error> {
        let (site, path, replaced) = match self.find(url)? {
            SiteLookup::Invalid => {
                verdicts.fill(Verdict::Invalid);
                return Ok(());
            }
            SiteLookup::Unknown => {
                verdicts.fill(Verdict::Unknown);
                return Ok(());
            }
            SiteLookup::Site { site, path, replaced } => (site, path, replaced),
        };
        let Some(engine) = replaced else {
            return Ok(site.policy().decide_each(columns.resolved, &path, verdicts)?);
        };
        path.with(|path| {
            for (chain, verdict) in columns.chains.iter().zip(verdicts) {
                *verdict = site.policy().decide(&chain.look_up(engine)?, path)?;
            }
            Ok(())
        })
    }

    /// Calls `question` for one agent and a URL's site. If there is no site, calls `without` with the verdict.
    fn ask<R>(
        &self,
        query: AgentQuery<'_>,
        url: &[u8],
        without: impl FnOnce(Verdict) -> R,
        question: impl FnOnce(&engine::Site<'_>, &engine::Agent, &[u8]) -> Result<R, Error>,
    ) -> Result<R, Error> {
        match self.find(url)? {
            SiteLookup::Invalid => Ok(without(Verdict::Invalid)),
            SiteLookup::Unknown => Ok(without(Verdict::Unknown)),
            SiteLookup::Site { site, path, replaced: None } => path.with(|path| question(&site, query.resolved, path)),
            SiteLookup::Site { site, path, replaced: Some(engine) } => {
                let resolved = query.chain.look_up(engine)?;
                path.with(|path| question(&site, &resolved, path))
            }
        }
    }

    /// Returns an agent's rules or verdict on a URL's origin.
    ///
    /// # Errors
    /// Returns an error if the origin is unknown, or the set is damaged.
    #[cfg(feature = "compile")]
    pub(crate) fn access(&self, query: AgentQuery<'_>, url: &[u8]) -> Result<Access<'_>, Error> {
        match self.find(url)? {
            SiteLookup::Invalid | SiteLookup::Unknown => {
                let message = format!("no robots.txt for the origin of \"{}\"", url.escape_ascii());
                Err(Error::new(ErrorKind::UnknownOrigin, message))
            }
            SiteLookup::Site { site, replaced: None, .. } => Ok(Access::of(site.policy(), query.resolved)?),
            SiteLookup::Site { site, replaced: Some(engine), .. } => {
                Ok(Access::of(site.policy(), &query.chain.look_up(engine)?)?)
            }
        }
    }

    /// Returns the normal form of the set's rules.
    #[cfg(feature = "compile")]
    pub(crate) fn normal_form(&self) -> reptile_engine::norm::NormalForm {
        self.engine.normal_form()
    }

    pub(crate) fn explain(&self, query: AgentQuery<'_>, url: &[u8]) -> Result<Explanation, Error> {
        self.ask(
            query,
            url,
            |verdict| Explanation::without_site(url, verdict),
            |site, agent, path| {
                let inner = site.policy().explain(agent, path)?;
                let group = site.policy().group_of(agent)?;
                Ok(Explanation::new(inner, group))
            },
        )
    }

    /// Returns the engine's set, if it is by time and no site was replaced.
    pub(crate) fn timed(&self) -> Result<&engine::Set<SetBytes>, Error> {
        if !self.engine.has_times() {
            let message = "the set is not by time: it does not keep the rules of each time; compile it again by time";
            return Err(Error::new(ErrorKind::NoTimes, message));
        }
        if !self.replaced.is_empty() {
            let message = "some sites were replaced by copies without a known validity period";
            return Err(Error::new(ErrorKind::NoTimes, message));
        }
        Ok(&self.engine)
    }

    /// Decides many URLs for several agents by the rules at each URL's time, with a row of verdicts for each URL.
    pub(crate) fn decide_all_at<U: AsRef<[u8]>>(
        &self,
        columns: AgentColumns<'_>,
        urls: &[U],
        times: &[i64],
        verdicts: &mut [Verdict],
    ) -> Result<(), Error> {
        let timed = urls.iter().map(AsRef::as_ref).zip(times.iter().copied());
        Ok(self.timed()?.decide_all_at(columns.resolved, timed, verdicts)?)
    }

    pub(crate) fn explain_at(&self, query: AgentQuery<'_>, url: &[u8], time: i64) -> Result<Explanation, Error> {
        let engine = self.timed()?;
        let without = |verdict| Explanation::without_site(url, verdict);
        let Ok(UrlRef { origin, path }) = url::split(url) else { return Ok(without(Verdict::Invalid)) };
        let site = engine.site(&origin)?;
        let policy = site.map(|site| engine.policy_of_at(site.origin(), time)).transpose()?.flatten();
        let Some(policy) = policy else { return Ok(without(Verdict::Unknown)) };
        let inner = path.with(|path| policy.explain(query.resolved, path))?;
        Ok(Explanation::new(inner, policy.group_of(query.resolved)?))
    }

    pub(crate) fn provenance(&self, query: AgentQuery<'_>, url: &[u8]) -> Result<Provenance, Error> {
        self.ask(
            query,
            url,
            |_| Provenance::default(),
            |site, agent, path| {
                let captures = site.captures()?;
                let ruleset = site.policy().deciding_ruleset(agent, path)?;
                Ok(Provenance { ruleset, ..Provenance::of_capture(captures.as_ref().map(CaptureHistory::deciding)) })
            },
        )
    }

    pub(crate) fn provenance_at(&self, query: AgentQuery<'_>, url: &[u8], time: i64) -> Result<Provenance, Error> {
        let engine = self.timed()?;
        let Ok(UrlRef { origin, path }) = url::split(url) else { return Ok(Provenance::default()) };
        let Some(site) = engine.site(&origin)? else { return Ok(Provenance::default()) };
        let Some(policy) = engine.policy_of_at(site.origin(), time)? else { return Ok(Provenance::default()) };
        let captures = site.captures_until(time, &policy)?;
        let ruleset = path.with(|path| policy.deciding_ruleset(query.resolved, path))?;
        Ok(Provenance { ruleset, ..Provenance::of_capture(captures.as_ref().map(CaptureHistory::deciding)) })
    }

    pub(crate) fn matching_rules(&self, query: AgentQuery<'_>, url: &[u8]) -> Result<Vec<Rule>, Error> {
        self.ask(query, url, |_| Vec::new(), |site, agent, path| Ok(site.policy().matching_rules(agent, path)?))
    }

    pub(crate) fn group(&self, query: AgentQuery<'_>, url: &[u8]) -> Result<Group, Error> {
        self.ask(query, url, |_| Group::None, |site, agent, _| Ok(site.policy().group_of(agent)?))
    }

    pub(crate) fn crawl_delay(&self, query: AgentQuery<'_>, url: &[u8]) -> Result<Option<Duration>, Error> {
        let directives = self.directives(query, url)?;
        let mut counting = directives.iter().filter(|directive| {
            directive.kind == DirectiveKind::CrawlDelay && directive.state == DirectiveState::Counts
        });
        Ok(counting.find_map(Directive::seconds))
    }

    pub(crate) fn directives(&self, query: AgentQuery<'_>, url: &[u8]) -> Result<Vec<Directive>, Error> {
        let none = |_| Vec::new();
        self.ask(query, url, none, |site, agent, _| {
            let parts = site.other().parts_of(&site.policy().group_indices(agent)?)?;
            directives_of(site, |part| part.is_none_or(|part| parts.contains(&part)))
        })
    }

    /// Returns the set's data for a URL's origin, except its rules. Returns `None` if the set has no robots.txt for
    /// the origin, or if the URL is malformed.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Format`] if the set is damaged.
    pub fn site(&self, url: impl AsRef<[u8]>) -> Result<Option<Site>, Error> {
        match self.find(url.as_ref())? {
            SiteLookup::Invalid | SiteLookup::Unknown => Ok(None),
            SiteLookup::Site { site, .. } => site_of(&site).map(Some),
        }
    }

    /// Returns the policy history of a URL's origin, in a set by time: the spans in order, each until the next. Empty
    /// if the set has no robots.txt for the origin, or if the URL is malformed.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NoTimes`] if the set is not by time, and [`ErrorKind::Format`] if it is damaged.
    pub fn spans(&self, url: impl AsRef<[u8]>) -> Result<Vec<Span>, Error> {
        let engine = self.timed()?;
        let Ok(UrlRef { origin, .. }) = url::split(url.as_ref()) else { return Ok(Vec::new()) };
        let Some(site) = engine.site(&origin)? else { return Ok(Vec::new()) };
        let span = |period: engine::Period<'_>| {
            Ok(Span { from: period.from, until: period.until, source: period.policy.source()? })
        };
        engine.periods_of(site.origin())?.into_iter().map(span).collect()
    }

    /// Returns the only site's data, except its rules.
    #[cfg(feature = "compile")]
    pub(crate) fn only_site(&self) -> Result<Site, Error> {
        match only_site(&self.engine)? {
            Some(site) => site_of(&site),
            None => Err(Error::new(crate::ErrorKind::Format, "the set has no site")),
        }
    }

    /// Returns every origin that the set was compiled with, in no particular order. A replaced site is listed only if
    /// the set was compiled with its origin.
    ///
    /// # Errors
    /// An item is an error if the set is damaged at that position.
    pub fn origins(&self) -> impl Iterator<Item = Result<Origin, Error>> + '_ {
        self.engine.origins().map(|record| {
            let record = record?;
            Ok(Origin { scheme: record.scheme, host: record.host.into(), port: record.port })
        })
    }

    /// Returns the number of origins that the set was compiled with.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.engine.origin_count()
    }

    /// Returns whether the set was compiled without any origin.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of distinct rulesets. Groups with the same rules share one, even between files.
    #[must_use]
    pub fn ruleset_count(&self) -> u32 {
        self.engine.rulesets().len()
    }

    /// Returns whether the set has its rules' lines. If not, [`Rule::line`](crate::Rule::line) is 0.
    #[must_use]
    pub fn has_line_numbers(&self) -> bool {
        self.engine.has_lines()
    }

    /// Returns whether the set is by time: whether it can decide by the rules that applied at any time; see
    /// [`Agent::decide_at`](crate::Agent::decide_at).
    #[must_use]
    pub fn has_times(&self) -> bool {
        self.engine.has_times()
    }

    /// Returns the name of the dialect that the set was compiled under.
    #[must_use]
    pub fn dialect(&self) -> &str {
        self.engine.reading().dialect
    }

    /// Returns the name of the fetch profile that the set was compiled under.
    #[must_use]
    pub fn profile(&self) -> &str {
        self.engine.reading().profile
    }

    /// Returns the set's time in seconds since 1970: the caller's choice, or the newest capture's time.
    #[must_use]
    pub fn time(&self) -> Option<i64> {
        self.engine.reading().at
    }

    /// Returns the crawlers that the set knows by name, in name order.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Format`] if the set is damaged.
    pub fn crawlers(&self) -> Result<Vec<KnownCrawler>, Error> {
        let known = self.engine.crawlers().iter().map(|crawler| {
            let crawler = crawler?;
            Ok(KnownCrawler {
                is_prefix: crawler.is_prefix,
                is_for_search: crawler.purposes.contains(Purposes::SEARCH),
                is_for_ai_training: crawler.purposes.contains(Purposes::AI_TRAINING),
                crawler: Crawler::named(crawler.name),
            })
        });
        known.collect()
    }

    /// Parses a user's text that represents crawlers. `*` is any crawler that obeys only the default group. `A>B` is
    /// a chain of product tokens, which falls back to the default group if it ends in `>*`. A text such as `@search` or
    /// `@ai-training` is a group of known crawlers, in the same order as in [`Set::crawlers`]. Any other text is
    /// [`Crawler::named`].
    ///
    /// ```
    /// use reptile::{Dialect, Robots};
    /// let robots = Robots::parse("user-agent: *\ndisallow: /", Dialect::google())?;
    /// assert_eq!(robots.crawlers_named("Googlebot-News>Googlebot>*")?.len(), 1);
    /// assert!(robots.crawlers_named("@search")?.len() > 10);
    /// assert!(robots.crawlers_named("@nobody").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`CrawlerErrorKind::Group`](crate::CrawlerErrorKind::Group),
    /// [`CrawlerErrorKind::Chain`](crate::CrawlerErrorKind::Chain), or
    /// [`CrawlerErrorKind::Damaged`](crate::CrawlerErrorKind::Damaged) for a group in a damaged set. A name is
    /// checked only when it is resolved.
    pub fn crawlers_named(&self, text: &str) -> Result<Vec<Crawler>, CrawlerError> {
        crawlers_named_in(text, self.crawler_table())
    }

    /// Returns the set's table of known crawlers.
    pub(crate) fn crawler_table(&self) -> Crawlers<'_> {
        self.engine.crawlers()
    }

    /// Looks up a crawler's product tokens. Also returns the ruleset, if a single one decides every path for
    /// the crawler in a set of one robots.txt.
    pub(crate) fn resolve_chain(&self, chain: &Chain) -> Result<(engine::Agent, Option<engine::RulesetPlace>), Error> {
        let resolved = chain.look_up(&self.engine)?;
        let only_ruleset = self.only.map(|policy| self.engine.only_ruleset(policy, &resolved)).transpose()?.flatten();
        Ok((resolved, only_ruleset))
    }

    /// Returns the same set with some origins' sites replaced by the only sites in other sets.
    #[cfg(feature = "compile")]
    pub(crate) fn with_sites<'s>(
        &self,
        sites: impl Iterator<Item = (Origin, Result<&'s Set, (ErrorKind, String)>)>,
    ) -> Set {
        let mut replaced = HashMap::clone(&self.replaced);
        replaced.extend(sites.map(|(origin, site)| (origin, site.map(|site| Arc::clone(&site.engine)))));
        Set { replaced: Arc::new(replaced), ..self.clone() }
    }
}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Set");
        debug.field("dialect", &self.dialect()).field("profile", &self.profile()).field("origins", &self.len());
        debug.field("replaced", &self.replaced.len()).finish_non_exhaustive()
    }
}

/// Returns the origin under which a set with one site stores it.
#[cfg(feature = "compile")]
pub(crate) fn any_origin() -> Origin {
    Origin { scheme: crate::Scheme::Http, host: b"any"[..].into(), port: 80 }
}

/// A crawler that a set knows by name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownCrawler {
    /// The crawler, to be resolved with [`Set::agent`].
    pub crawler: Crawler,
    /// Whether the entry is for every crawler whose name starts with this one.
    pub is_prefix: bool,
    /// Whether the crawler fetches pages for a search engine or an answering machine.
    pub is_for_search: bool,
    /// Whether the crawler fetches training data for models, or is a product token that permits the use of pages for
    /// training.
    pub is_for_ai_training: bool,
}

fn site_lookup<'s, 'u>(
    site: Option<engine::Site<'s>>,
    path: url::Path<'u>,
    replaced: Option<&'s engine::Set<SetBytes>>,
) -> SiteLookup<'s, 'u> {
    site.map_or(SiteLookup::Unknown, |site| SiteLookup::Site { site, path, replaced })
}

/// Returns a set's first site.
fn only_site(engine: &engine::Set<SetBytes>) -> Result<Option<engine::Site<'_>>, Error> {
    Ok(engine.origins().next().transpose()?.map(|record| engine.site_of(&record)).transpose()?)
}

/// Returns the other directives in the requested parts of a site's robots.txt.
fn directives_of(site: &engine::Site<'_>, wants: impl Fn(Option<u32>) -> bool) -> Result<Vec<Directive>, Error> {
    let mut directives = Vec::new();
    let mut lines = site.other().reader()?;
    while let Some(line) = lines.next()? {
        if wants(line.part) {
            let (key, value) = (line.key.to_vec(), line.value.to_vec());
            directives.push(Directive { kind: line.kind, state: line.state, line: line.line, key, value });
        }
    }
    Ok(directives)
}

fn site_of(site: &engine::Site<'_>) -> Result<Site, Error> {
    let captures = site.captures()?;
    let deciding = captures.as_ref().map(CaptureHistory::deciding);
    Ok(Site {
        source: site.policy().source()?,
        fetched_at: deciding.and_then(|capture| capture.time),
        status: deciding.and_then(|capture| capture.status),
        stale_at: site.stale_at()?,
        expires_at: site.expires_at()?,
        directives: directives_of(site, |_| true)?,
    })
}
