//! Counts requests in the order of time: [`Audit`].

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use foldhash::fast::RandomState;
use reptile::capture::Time;
use reptile::summary::{Access, AccessProofs};
use reptile::urls::split;
use reptile::{Agent, DirectiveKind, Error, Set, Verdict};

use super::counts::{Audited, COPY_AGES, CrawlerAudit, Day, MAX_AUDITED_DAYS, OTHERS, add_identity, extend};
use super::requests::{DAY_SECONDS, Request, Violation};
use super::sorter::{OTHER_ORIGINS, Sorted};
use crate::text::{MAX_COUNTED_KEYS, MAX_KEY_BYTES, Top};

/// Seconds without a request after which a crawler's session at an origin ends.
pub const SESSION_SECONDS: Time = 300;

/// Maximum number of pairs of a crawler and an origin. Requests of further pairs have no sessions, pauses and copies.
/// Each pair takes about 80 bytes.
pub const MAX_VISITS: usize = 1 << 20;

/// Maximum `Crawl-delay` in seconds: a day. A longer one is not a delay between requests.
pub(super) const MAX_DELAY_SECONDS: Time = DAY_SECONDS;

/// Maximum number of rules whose texts are kept: twice as many as are counted at a time. Each takes some 100 bytes.
pub(super) const MAX_RULE_TEXTS: usize = 2 * MAX_COUNTED_KEYS;

/// Maximum number of rules, and of URLs, in the result: those with the most violations.
pub(super) const MAX_TOPS: usize = 100;

/// The size of a rule's key in bytes: the numbers of its crawler and its origin, and its line.
const RULE_KEY_BYTES: usize = 12;

/// Counts requests. See [the module](super) for an example.
pub struct Audit {
    set: Set,
    agents: Vec<Option<Agent>>,
    /// A URL of each origin.
    origins: Vec<Vec<u8>>,
    crawlers: Vec<CrawlerAudit>,
    proofs: AccessProofs,
    visits: HashMap<(u32, u32), Visit, RandomState>,
    days: HashMap<(u32, i64), Day, RandomState>,
    /// Each crawler's last day, which is not in `days` yet.
    today: Vec<(i64, Day)>,
    undated: u64,
    /// The rules that were violated, by crawler, origin and line.
    rules: Top,
    rule_texts: HashMap<[u8; RULE_KEY_BYTES], String, RandomState>,
    /// The URLs that were violated, each after its crawler's number.
    urls: Top,
    unordered: u64,
}

/// A crawler's visits to an origin.
struct Visit {
    /// The time of the last request.
    last: Time,
    /// When the crawler last fetched its copy of robots.txt.
    copied: Option<Time>,
    /// The crawler's `Crawl-delay` in whole seconds, rounded down because logs have whole seconds.
    delay: Option<Time>,
    /// The period with the same rules in which a violation was last examined, and whether everything is disallowed.
    blocked: Option<(Time, Time, bool)>,
}

impl Audit {
    /// Starts an audit by a set's rules.
    #[must_use]
    pub fn new(set: &Set) -> Audit {
        Audit {
            set: set.clone(),
            agents: vec![None],
            origins: Vec::new(),
            crawlers: vec![CrawlerAudit::default()],
            proofs: AccessProofs::new(set),
            visits: HashMap::default(),
            days: HashMap::default(),
            today: vec![(0, Day::default())],
            undated: 0,
            rules: Top::default(),
            rule_texts: HashMap::default(),
            urls: Top::default(),
            unordered: 0,
        }
    }

    /// Counts requests, and passes each violation with its crawler to `write`.
    ///
    /// # Errors
    /// Returns an error if the set is damaged, and the errors of `write`.
    pub fn add<E: From<Error>>(
        &mut self,
        sorted: Sorted,
        mut write: impl FnMut(&str, &Request) -> Result<(), E>,
    ) -> Result<(), E> {
        for (name, agent) in sorted.crawlers {
            self.agents.push(Some(agent));
            self.today.push((0, Day::default()));
            self.crawlers.push(CrawlerAudit { name, ..CrawlerAudit::default() });
        }
        self.origins.extend(sorted.origins);
        for request in &sorted.requests {
            self.count(request)?;
            if request.violation.is_some() {
                write(&self.name_of(request.crawler), request)?;
            }
        }
        Ok(())
    }

    fn name_of(&self, crawler: u32) -> Arc<str> {
        self.crawlers.get(crawler as usize).map(|found| Arc::clone(&found.name)).unwrap_or_default()
    }

    fn count(&mut self, request: &Request) -> Result<(), Error> {
        let visited = self.visit(request)?;
        let is_blocked = match &request.violation {
            Some(violation) if !violation.is_in_grace => self.is_blocked(request, violation)?,
            _ => false,
        };
        self.add_to_day(request);
        let Some(counts) = self.crawlers.get_mut(request.crawler as usize) else { return Ok(()) };
        extend(&mut counts.period, request.time);
        match visited {
            None => self.unordered += 1,
            Some(Visited { pause, delay, copied }) => {
                match pause.filter(|&pause| pause < SESSION_SECONDS) {
                    None => counts.sessions += 1,
                    Some(pause) => {
                        counts.pauses += 1;
                        counts.paused += pause.unsigned_abs();
                    }
                }
                if let (Some(pause), Some(delay)) = (pause, delay) {
                    counts.delayed += 1;
                    counts.too_short += u64::from(pause < delay);
                }
                if !request.is_for_robots {
                    counts.ages[class_of(copied)] += 1;
                    counts.oldest_copy = counts.oldest_copy.max(copied);
                }
            }
        }
        if request.is_for_robots {
            counts.fetches += 1;
            counts.copies += u64::from(gives_copy(request.status));
            return Ok(());
        }
        let is_refused = matches!(request.status, Some(403 | 429));
        counts.requests += 1;
        add_identity(&mut counts.identities, request.identity);
        counts.all_refused += u64::from(is_refused);
        match (request.verdict, &request.violation) {
            (_, Some(violation)) => {
                if violation.is_in_grace {
                    counts.in_grace += 1;
                } else {
                    counts.violations += 1;
                    counts.refused += u64::from(is_refused);
                    counts.served += u64::from(!is_refused && request.status.is_some());
                    counts.blocked += u64::from(is_blocked);
                    add_identity(&mut counts.violators, request.identity);
                    extend(&mut counts.violated, request.time);
                    self.add_to_tops(request, violation);
                }
            }
            (Verdict::Unknown, _) => counts.unknown += 1,
            (Verdict::Invalid, _) => counts.invalid += 1,
            _ => counts.allowed += 1,
        }
        Ok(())
    }

    fn add_to_tops(&mut self, request: &Request, violation: &Violation) {
        let line = violation.explained.rule().map_or(0, |rule| rule.line);
        let mut key = [0; RULE_KEY_BYTES];
        let parts = [request.crawler, request.origin, line];
        key.chunks_exact_mut(4).zip(parts).for_each(|(to, part)| to.copy_from_slice(&part.to_le_bytes()));
        self.rules.add(&key, 1);
        if self.rule_texts.len() < MAX_RULE_TEXTS {
            self.rule_texts.entry(key).or_insert_with(|| text_of_rule(violation));
        }
        let url = &violation.url[..violation.url.len().min(MAX_KEY_BYTES - 4)];
        self.urls.add(&[&request.crawler.to_le_bytes(), url].concat(), 1);
    }

    fn add_to_day(&mut self, request: &Request) {
        let day = request.time.div_euclid(DAY_SECONDS);
        let Some(today) = self.today.get_mut(request.crawler as usize) else { return };
        let ended = (today.0 != day).then(|| std::mem::replace(today, (day, Day::default())));
        today.1.add(&Day::of(request));
        if let Some((last, counts)) = ended {
            self.keep_day(request.crawler, last, &counts);
        }
    }

    /// Adds the counts of a crawler's day.
    fn keep_day(&mut self, crawler: u32, day: i64, counts: &Day) {
        let is_full = self.days.len() >= MAX_AUDITED_DAYS;
        match self.days.entry((crawler, day)) {
            _ if *counts == Day::default() => {}
            Entry::Vacant(_) if is_full => self.undated += counts.requests + counts.fetches,
            entry => entry.or_default().add(counts),
        }
    }

    /// Adds a request to its crawler's visits to the origin. Returns `None` if it is over a limit or out of order.
    fn visit(&mut self, request: &Request) -> Result<Option<Visited>, Error> {
        let key = (request.crawler, request.origin);
        if request.crawler == OTHERS || request.origin == OTHER_ORIGINS {
            return Ok(None);
        }
        let copied = if request.is_for_robots && gives_copy(request.status) { Some(request.time) } else { None };
        let Some(visit) = self.visits.get_mut(&key) else {
            if self.visits.len() >= MAX_VISITS {
                return Ok(None);
            }
            let delay = self.delay(request)?;
            self.visits.insert(key, Visit { last: request.time, copied, delay, blocked: None });
            return Ok(Some(Visited { pause: None, delay, copied: None }));
        };
        let pause = request.time.saturating_sub(visit.last);
        if pause < 0 {
            return Ok(None);
        }
        visit.last = request.time;
        let age = visit.copied.map(|copied| request.time.saturating_sub(copied));
        visit.copied = copied.or(visit.copied);
        Ok(Some(Visited { pause: Some(pause), delay: visit.delay, copied: age }))
    }

    /// Returns the crawler's `Crawl-delay` at an origin in whole seconds, by the newest robots.txt, even if the set's
    /// dialect ignores it.
    fn delay(&self, request: &Request) -> Result<Option<Time>, Error> {
        let agent = self.agents.get(request.crawler as usize).and_then(Option::as_ref);
        let url = self.origins.get(request.origin as usize);
        let (Some(agent), Some(url)) = (agent, url) else { return Ok(None) };
        let directives = agent.directives(url)?;
        let delays = directives.iter().filter(|line| line.kind == DirectiveKind::CrawlDelay);
        let mut seconds = delays.filter_map(|line| Time::try_from(line.seconds()?.as_secs()).ok());
        Ok(seconds.find(|&seconds| seconds <= MAX_DELAY_SECONDS).filter(|&seconds| seconds > 0))
    }

    /// Returns whether the origin of a violation disallows everything for the crawler at its time.
    fn is_blocked(&mut self, request: &Request, violation: &Violation) -> Result<bool, Error> {
        let key = (request.crawler, request.origin);
        let known = self.visits.get(&key).and_then(|visit| visit.blocked);
        if let Some((_, _, is_blocked)) = known.filter(|(from, until, _)| (*from..=*until).contains(&request.time)) {
            return Ok(is_blocked);
        }
        let Some(agent) = self.agents.get(request.crawler as usize).and_then(Option::as_ref) else { return Ok(false) };
        let time = self.set.has_times().then_some(request.time);
        let is_blocked = self.proofs.access(agent, &violation.url, time)? == Access::Disallowed;
        if let Some(visit) = self.visits.get_mut(&key) {
            visit.blocked = Some((violation.period.0, violation.period.1, is_blocked));
        }
        Ok(is_blocked)
    }

    /// Ends the audit. Crawlers without requests are left out.
    #[must_use]
    pub fn finish(mut self) -> Audited {
        for (crawler, (day, counts)) in (0..).zip(std::mem::take(&mut self.today)) {
            self.keep_day(crawler, day, &counts);
        }
        let name = |key: &[u8]| self.name_of(key.first_chunk().map_or(OTHERS, |number| u32::from_le_bytes(*number)));
        let mut rules = Top::default();
        for (key, count) in self.rules.first(MAX_TOPS) {
            let text = <[u8; RULE_KEY_BYTES]>::try_from(key).ok().and_then(|key| self.rule_texts.get(&key));
            let text = text.map_or("another rule", String::as_str);
            rules.add(format!("{}\t{text}", name(key)).as_bytes(), count);
        }
        rules.add_missed(self.rules.missed());
        let mut urls = Top::default();
        for (key, count) in self.urls.first(MAX_TOPS) {
            urls.add(&[name(key).as_bytes(), b"\t", key.get(4..).unwrap_or_default()].concat(), count);
        }
        urls.add_missed(self.urls.missed());
        let mut days: Vec<BTreeMap<i64, Day>> = vec![BTreeMap::new(); self.crawlers.len()];
        for ((crawler, day), counts) in self.days {
            if let Some(days) = days.get_mut(crawler as usize) {
                days.insert(day, counts);
            }
        }
        let mut crawlers: Vec<(CrawlerAudit, BTreeMap<i64, Day>)> = self.crawlers.into_iter().zip(days).collect();
        crawlers.retain(|(counts, _)| counts.period.is_some());
        crawlers.sort_by(|(a, _), (b, _)| {
            (b.violations, b.in_grace, b.requests, &a.name).cmp(&(a.violations, a.in_grace, a.requests, &b.name))
        });
        let (crawlers, days) = crawlers.into_iter().unzip();
        let (undated, unordered) = (self.undated, self.unordered);
        Audited { crawlers, days, undated, rules, urls, unordered }
    }
}

/// Returns the rule that decides a violation, with its origin and line.
fn text_of_rule(violation: &Violation) -> String {
    let origin = split(&violation.url).map(|url| url.origin.to_string().to_ascii_lowercase()).unwrap_or_default();
    match violation.explained.rule() {
        Some(rule) => format!("{origin} line {}: {rule}", rule.line),
        None => format!("{origin}: {}", violation.explained.reason),
    }
}

/// A request's place in a crawler's visits to an origin.
struct Visited {
    /// Seconds since the crawler's last request to the origin.
    pause: Option<Time>,
    delay: Option<Time>,
    /// The age of the crawler's copy of robots.txt.
    copied: Option<Time>,
}

/// Returns the class of a copy's age.
fn class_of(age: Option<Time>) -> usize {
    match age {
        None => COPY_AGES.len() + 1,
        Some(age) => COPY_AGES.iter().position(|&limit| age <= limit).unwrap_or(COPY_AGES.len()),
    }
}

/// Returns whether an answer to a request for robots.txt is one that a crawler can follow: a file, a redirect, or a
/// missing file, which allows everything. Logs without statuses are trusted.
fn gives_copy(status: Option<u16>) -> bool {
    status.is_none_or(|status| status < 500 && !matches!(status, 403 | 429))
}
