//! The counts of an audit: [`Audited`] and [`CrawlerAudit`].

use std::collections::BTreeMap;
use std::sync::Arc;

use reptile::capture::Time;
use reptile_records::identity::Identity;

use super::requests::Request;

use crate::text::Top;

/// Maximum number of separately counted names that the set has, and of other names, which clients choose. Known
/// crawlers are not limited; the requests under further names are counted together.
pub const MAX_AUDITED_CRAWLERS: usize = 1 << 14;

/// The number of all crawlers over the limit.
pub(super) const OTHERS: u32 = 0;

/// Maximum number of days in all crawlers' timelines together. Further days are left out.
pub const MAX_AUDITED_DAYS: usize = 1 << 20;

/// The upper bounds of the ages of a crawler's copy of robots.txt in seconds, without the last class: an hour, a day, a
/// week. Requests without an earlier fetch are another class.
pub const COPY_AGES: [Time; 3] = [3_600, 86_400, 604_800];

/// The counts of one crawler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrawlerAudit {
    /// The crawler; empty for the crawlers over [`MAX_AUDITED_CRAWLERS`].
    pub name: Arc<str>,
    /// Requests, without those for robots.txt.
    pub requests: u64,
    /// Requests that the rules allow.
    pub allowed: u64,
    /// Requests that the rules disallow, and so does every robots.txt of the grace period.
    pub violations: u64,
    /// Requests that the rules disallow, and a robots.txt of the grace period does not.
    pub in_grace: u64,
    /// Requests without a known robots.txt for their origin and time.
    pub unknown: u64,
    /// Requests for texts that are not URLs.
    pub invalid: u64,
    /// Violations on origins that provably disallow everything for the crawler.
    pub blocked: u64,
    /// Violations that were answered with a status other than 403 and 429.
    pub served: u64,
    /// Violations that were refused with the status 403 or 429.
    pub refused: u64,
    /// All requests, including allowed ones, that were refused with the status 403 or 429.
    pub all_refused: u64,
    /// Requests by identity: verified, failed, and no check possible. All are zero if clients are not checked.
    pub identities: [u64; 3],
    /// Violations by identity.
    pub violators: [u64; 3],
    /// Requests for robots.txt.
    pub fetches: u64,
    /// Requests for robots.txt that gave the crawler a copy: any answer except 403, 429 and 5xx.
    pub copies: u64,
    /// Requests by the age of the crawler's copy of the origin's robots.txt: up to each of [`COPY_AGES`], older, and
    /// without a fetch in the logs.
    pub ages: [u64; COPY_AGES.len() + 2],
    /// The age of the oldest copy at a request, in seconds.
    pub oldest_copy: Option<Time>,
    /// Visits to an origin, which end after five idle minutes.
    pub sessions: u64,
    /// Pauses between two requests in a session.
    pub pauses: u64,
    /// The sum of these pauses in seconds.
    pub paused: u64,
    /// Pauses for which the origin has a `Crawl-delay` for the crawler, including pauses between sessions.
    pub delayed: u64,
    /// Pauses shorter than the `Crawl-delay`.
    pub too_short: u64,
    /// The times of the first and last request.
    pub period: Option<(Time, Time)>,
    /// The times of the first and last violation.
    pub violated: Option<(Time, Time)>,
}

/// The counts of one crawler on one day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Day {
    /// Requests, without those for robots.txt.
    pub requests: u64,
    /// Requests that the rules disallow, outside the grace period.
    pub violations: u64,
    /// Requests that the rules disallow, in the grace period.
    pub in_grace: u64,
    /// Requests for robots.txt.
    pub fetches: u64,
}

impl Day {
    /// Returns the counts of one request.
    pub(super) fn of(request: &Request) -> Day {
        let violates = |in_grace| u64::from(request.violation.as_ref().is_some_and(|it| it.is_in_grace == in_grace));
        Day {
            requests: u64::from(!request.is_for_robots),
            violations: violates(false),
            in_grace: violates(true),
            fetches: u64::from(request.is_for_robots),
        }
    }

    /// Adds other counts.
    ///
    /// ```
    /// use reptile_columns::audit::Day;
    /// let mut days = Day { requests: 2, violations: 1, ..Day::default() };
    /// days.add(&Day { requests: 3, ..Day::default() });
    /// assert_eq!((days.requests, days.violations), (5, 1));
    /// ```
    pub fn add(&mut self, other: &Day) {
        self.requests += other.requests;
        self.violations += other.violations;
        self.in_grace += other.in_grace;
        self.fetches += other.fetches;
    }
}

/// The result of an audit.
#[derive(Debug, Default)]
pub struct Audited {
    /// The crawlers, those with the most violations first.
    pub crawlers: Vec<CrawlerAudit>,
    /// Each crawler's days with requests, in the order of `crawlers`, by day since 1970 in UTC.
    pub days: Vec<BTreeMap<i64, Day>>,
    /// Requests on days that are missing from `days`.
    pub undated: u64,
    /// The rules with the most violations: the crawler, a tab, and the rule with its origin and line.
    pub rules: Top,
    /// The URLs with the most violations: the crawler, a tab, and the URL.
    pub urls: Top,
    /// Requests that were logged more than [`REORDER_SECONDS`](super::REORDER_SECONDS) too late, or over a limit, and
    /// have no session, pause and copy.
    pub unordered: u64,
}

/// Counts an identity.
pub(super) fn add_identity(counts: &mut [u64; 3], identity: Option<Identity>) {
    match identity {
        None => {}
        Some(Identity::Verified) => counts[0] += 1,
        Some(Identity::Failed) => counts[1] += 1,
        Some(Identity::NoCheck(_)) => counts[2] += 1,
    }
}

/// Extends a period to a time.
pub(super) fn extend(period: &mut Option<(Time, Time)>, time: Time) {
    let (first, last) = period.unwrap_or((time, time));
    *period = Some((first.min(time), last.max(time)));
}
