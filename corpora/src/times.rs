//! A site's captures over time, and visit times.
//!
//! The shares are invented, because there is no data on how often real files change and fetches fail in between. They
//! are chosen so that all sequences of captures are frequent: changes, failures, files that disappear, copies that
//! outlive failures.

use std::fmt::Write as _;

use rand::RngExt as _;

use crate::site::{HostAnswer, Site};
use crate::written::word;
use crate::{Purpose, Random, Web, draw};

/// The start of the capture period: January 1, 2024.
pub const FIRST_TIME: i64 = 1_704_067_200;

/// Length of the capture period in seconds: two years.
pub const SECONDS: i64 = 2 * 365 * 86_400;

/// A fetch for a site's robots.txt.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetch {
    /// Fetch time in seconds since 1970. Unknown for a few.
    pub time: Option<i64>,
    /// The server's answer.
    pub answer: HostAnswer,
}

/// The difference between a later fetch and the one before.
#[derive(Clone, Copy, Debug)]
enum Change {
    None,
    /// The file has one more rule.
    Rule,
    /// The file is replaced by another site's.
    File,
    /// The file begins with a vendor-managed block from now on.
    Managed,
    /// The answer differs for this fetch only.
    HostAnswer,
}

/// Changes found by later fetches, in percent.
const CHANGES: [(u32, Change); 5] =
    [(54, Change::None), (20, Change::Rule), (5, Change::File), (1, Change::Managed), (20, Change::HostAnswer)];

/// A vendor-managed block, in the form of Cloudflare's.
const MANAGED: &[u8] = include_bytes!("../templates/managed.txt");

/// Answers that temporarily replace a site's usual one.
const OTHER_ANSWERS: [(u32, HostAnswer); 5] = [
    (40, HostAnswer::Failure),
    (30, HostAnswer::Status(503)),
    (20, HostAnswer::Status(404)),
    (5, HostAnswer::Status(403)),
    (5, HostAnswer::TooManyRedirects),
];

/// Number of sites in 1,000 whose first capture has no time.
const WITHOUT_TIME: u32 = 20;

impl Web {
    /// Returns a site's captures in chronological order, spread over [`SECONDS`] from [`FIRST_TIME`] on.
    #[must_use]
    pub fn fetches(&self, site: &Site, count: u32) -> Vec<Fetch> {
        let random = &mut self.random(Purpose::Times, site.number);
        let slot = SECONDS / i64::from(count.max(1));
        let mut usual = site.answer.clone();
        let mut fetches = Vec::new();
        for number in 0..count {
            let change =
                if number == 0 { Change::None } else { draw(random, &CHANGES).copied().unwrap_or(Change::None) };
            let mut answer = None;
            match change {
                Change::None => {}
                Change::Rule => add_rule(&mut usual, random),
                Change::File => usual = self.site(random.random_range(0..self.origins.max(1))).answer,
                Change::Managed => add_block(&mut usual),
                Change::HostAnswer => answer = draw(random, &OTHER_ANSWERS).cloned(),
            }
            let time = FIRST_TIME + i64::from(number) * slot + random.random_range(0..slot.max(1));
            let is_known = number > 0 || !random.random_ratio(WITHOUT_TIME, 1000);
            fetches.push(Fetch { time: is_known.then_some(time), answer: answer.unwrap_or_else(|| usual.clone()) });
        }
        fetches
    }

    /// Returns one of `count` evenly spaced visit times at random. The first is before all captures, the last after
    /// them.
    #[must_use]
    pub fn visit_time(count: u32, random: &mut Random) -> i64 {
        let step = SECONDS / i64::from(count.saturating_sub(2).max(1));
        FIRST_TIME - 1 + step * i64::from(random.random_range(0..count.max(1)))
    }
}

/// Puts a vendor-managed block before a file, once.
fn add_block(answer: &mut HostAnswer) {
    match answer {
        HostAnswer::File(body) if !body.starts_with(MANAGED) => drop(body.splice(0..0, MANAGED.iter().copied())),
        _ => {}
    }
}

/// Appends a rule to a file.
fn add_rule(answer: &mut HostAnswer, random: &mut Random) {
    if let HostAnswer::File(body) = answer {
        let mut rule = String::new();
        let _ = write!(rule, "\nUser-agent: *\nDisallow: /{}/{}/\n", word(random), word(random));
        body.extend_from_slice(rule.as_bytes());
    }
}
