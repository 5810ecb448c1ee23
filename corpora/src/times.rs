//! The captures of a site over time, and the times of visits to it.
//!
//! The shares are invented: how often files change and fetches fail in between is not known of the real web. They are
//! chosen so that everything that a capture may follow on is there often: changes, failures, ends of files, copies that
//! outlive failures.

use std::fmt::Write as _;

use rand::RngExt as _;

use crate::site::{Answer, Site};
use crate::written::word;
use crate::{Purpose, Random, Web, draw};

/// The first second of the captures: the beginning of 2024.
pub const FIRST_TIME: i64 = 1_704_067_200;

/// The captures lie within so many seconds: two years.
pub const SECONDS: i64 = 2 * 365 * 86_400;

/// A fetch of a site's robots.txt.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetch {
    /// When it was fetched, in seconds since 1970; of a few it is not known.
    pub time: Option<i64>,
    /// What the server answered.
    pub answer: Answer,
}

/// What is different at a later fetch.
#[derive(Clone, Copy, Debug)]
enum Change {
    None,
    /// The file has one more rule.
    Rule,
    /// The file is another site's.
    File,
    /// The answer is another, for this fetch only.
    Answer,
}

/// Of 100 later fetches, how many find which change.
const CHANGES: [(u32, Change); 4] = [(55, Change::None), (20, Change::Rule), (5, Change::File), (20, Change::Answer)];

/// Answers in place of a site's usual one.
const OTHER_ANSWERS: [(u32, Answer); 5] = [
    (40, Answer::Failure),
    (30, Answer::Status(503)),
    (20, Answer::Status(404)),
    (5, Answer::Status(403)),
    (5, Answer::TooManyRedirects),
];

/// Of 1,000 sites, how many have a first capture whose time is not known.
const WITHOUT_TIME: u32 = 20;

impl Web {
    /// The captures of a site, in the order of their times, spread over [`SECONDS`] from [`FIRST_TIME`] on.
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
                Change::Answer => answer = draw(random, &OTHER_ANSWERS).cloned(),
            }
            let time = FIRST_TIME + i64::from(number) * slot + random.random_range(0..slot.max(1));
            let is_known = number > 0 || !random.random_ratio(WITHOUT_TIME, 1000);
            fetches.push(Fetch { time: is_known.then_some(time), answer: answer.unwrap_or_else(|| usual.clone()) });
        }
        fetches
    }

    /// The time of a visit: one of `count` times that are spread evenly, the first of them before all captures and the
    /// last after them.
    #[must_use]
    pub fn visit_time(count: u32, random: &mut Random) -> i64 {
        let step = SECONDS / i64::from(count.saturating_sub(2).max(1));
        FIRST_TIME - 1 + step * i64::from(random.random_range(0..count.max(1)))
    }
}

/// Adds a rule at the end of a file.
fn add_rule(answer: &mut Answer, random: &mut Random) {
    if let Answer::File(body) = answer {
        let mut rule = String::new();
        let _ = write!(rule, "\nUser-agent: *\nDisallow: /{}/{}/\n", word(random), word(random));
        body.extend_from_slice(rule.as_bytes());
    }
}
