//! A synthetic web: robots.txt files and URLs for any number of origins, generated from a seed.
//!
//! Every site depends only on the seed and its number. So a web of any size can be generated as a stream, starting
//! anywhere, without storing it. [`site`] makes a site, [`templates`] has the files that content management systems
//! write, [`written`] imitates hand-written files, [`times`] makes several captures of a site, and [`urls`] makes URLs.
//! [`statistics`] compares the result with published counts for the real web, on which the shares below are based.
//!
//! The sites are invented: all hosts end in `.example` or `.test`, which cannot be registered (RFC 2606).
#![deny(unsafe_code)]

pub mod site;
pub mod statistics;
pub mod templates;
pub mod times;
pub mod urls;
pub mod written;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The pseudorandom number generator. It gives the same numbers on every machine and in every version of the crate.
pub type Random = Xoshiro256PlusPlus;

/// A synthetic web.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Web {
    /// Number of origins. They are numbered from 0.
    pub origins: u64,
    /// The seed. Webs with different seeds share only their statistics.
    pub seed: u64,
}

/// Purpose for random numbers. Each has a separate stream, so that changes to the URLs do not change the sites.
#[derive(Clone, Copy, Debug)]
enum Purpose {
    Site = 1,
    Urls = 2,
    Places = 3,
    Times = 4,
    Visits = 5,
}

impl Web {
    /// Returns the random number stream for visit times.
    #[must_use]
    pub fn visits(&self) -> Random {
        self.random(Purpose::Visits, self.origins)
    }

    /// Returns the random number stream for one purpose and site.
    fn random(&self, purpose: Purpose, number: u64) -> Random {
        // Odd factors keep the seeds of purposes and sites apart; `seed_from_u64` mixes the bits.
        let seed = self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ number.wrapping_mul(8).wrapping_add(purpose as u64);
        Random::seed_from_u64(seed)
    }
}

/// Draws an item by its share. Shares are relative to their sum.
fn draw<'t, T>(random: &mut Random, things: &'t [(u32, T)]) -> Option<&'t T> {
    use rand::RngExt as _;
    let total = things.iter().map(|(share, _)| share).sum::<u32>();
    let mut rest = random.random_range(0..total.max(1));
    for (share, thing) in things {
        match rest.checked_sub(*share) {
            Some(less) => rest = less,
            None => return Some(thing),
        }
    }
    None
}
