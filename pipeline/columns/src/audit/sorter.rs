//! Sorts requests by time, and numbers their crawlers and origins: [`Sorter`].

use std::collections::HashMap;
use std::sync::Arc;

use reptile::Agent;
use reptile::capture::Time;
use reptile::crawlers::known;

use super::requests::{Request, Requests};
use super::{MAX_AUDITED_CRAWLERS, counts::OTHERS};

/// Maximum delay in seconds between a request's time and its line in a log. Servers write a line when the response
/// ends, and many write the time of the request.
pub const REORDER_SECONDS: Time = 300;

/// Maximum number of requests that wait for earlier ones. Each takes about 60 bytes, and a disallowed one some hundred
/// more.
pub const MAX_WAITING: usize = 1 << 19;

/// Maximum size in bytes of the texts of requests that wait for earlier ones.
pub const MAX_WAITING_BYTES: usize = 64 << 20;

/// Maximum number of separately counted origins. Requests to further origins have no sessions, pauses and copies.
pub const MAX_ORIGINS: usize = 1 << 20;

/// The number of all origins over the limit.
pub(super) const OTHER_ORIGINS: u32 = u32::MAX;

/// Requests that wait for earlier ones. See [the module](super) for an example.
#[derive(Default)]
pub struct Sorter {
    crawlers: HashMap<Arc<str>, u32>,
    origins: HashMap<u64, u32>,
    /// Number of crawlers that no group in the set names.
    unnamed: usize,
    waiting: Vec<Request>,
    new: Sorted,
}

/// Requests in the order of time, and the crawlers and origins that have become known.
#[derive(Default)]
pub struct Sorted {
    /// The crawlers with the next numbers.
    pub(super) crawlers: Vec<(Arc<str>, Agent)>,
    /// A URL of each origin with the next numbers.
    pub(super) origins: Vec<Vec<u8>>,
    pub(super) requests: Vec<Request>,
}

impl Sorter {
    /// Adds the requests of a block.
    pub fn add(&mut self, block: Requests) {
        let crawlers: Vec<u32> = block.crawlers.into_iter().map(|(name, agent)| self.crawler(name, agent)).collect();
        let origins: Vec<u32> = block.origins.into_iter().map(|(hash, url)| self.origin(hash, url)).collect();
        self.waiting.extend(block.requests.into_iter().map(|request| Request {
            crawler: crawlers.get(request.crawler as usize).copied().unwrap_or(OTHERS),
            origin: origins.get(request.origin as usize).copied().unwrap_or(OTHER_ORIGINS),
            ..request
        }));
    }

    /// Returns a crawler's number. Because clients can invent names, crawlers that the set's groups name have their own
    /// limit, and known crawlers always get a number.
    fn crawler(&mut self, name: Arc<str>, agent: Agent) -> u32 {
        if let Some(&number) = self.crawlers.get(&name) {
            return number;
        }
        let is_known = known(name.as_bytes()).is_some();
        let count = if agent.is_named() { self.crawlers.len() - self.unnamed } else { self.unnamed };
        if !is_known && count >= MAX_AUDITED_CRAWLERS {
            return OTHERS;
        }
        self.unnamed += usize::from(!agent.is_named());
        let number = self.crawlers.len() as u32 + OTHERS + 1;
        self.crawlers.insert(Arc::clone(&name), number);
        self.new.crawlers.push((name, agent));
        number
    }

    fn origin(&mut self, hash: u64, url: Vec<u8>) -> u32 {
        if let Some(&number) = self.origins.get(&hash) {
            return number;
        }
        if self.origins.len() >= MAX_ORIGINS {
            return OTHER_ORIGINS;
        }
        let number = self.origins.len() as u32;
        self.origins.insert(hash, number);
        self.new.origins.push(url);
        number
    }

    /// Returns the requests before a time in order. If more than [`MAX_WAITING`] would wait, or more text than
    /// [`MAX_WAITING_BYTES`], the older half is returned too.
    pub fn take(&mut self, before: Time) -> Sorted {
        // The sort is stable, so that requests of the same second keep their order, and fast for runs in order.
        self.waiting.sort_by_key(|request| request.time);
        let ready = match before {
            Time::MAX => self.waiting.len(),
            before => self.waiting.partition_point(|request| request.time < before),
        };
        let texts = self.waiting[ready..].iter().filter_map(|request| request.violation.as_ref());
        let bytes: usize = texts.map(|violation| violation.byte_len()).sum();
        let is_over = self.waiting.len() - ready > MAX_WAITING || bytes > MAX_WAITING_BYTES;
        let ready = if is_over { ready.max(self.waiting.len() / 2) } else { ready };
        let later = self.waiting.split_off(ready);
        self.new.requests = std::mem::replace(&mut self.waiting, later);
        std::mem::take(&mut self.new)
    }
}
