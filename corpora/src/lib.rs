//! A synthetic web: the robots.txt files of any number of origins, and URLs on them, made from a seed.
//!
//! Every site follows from the seed and its number alone, so that a web of any size is made as a stream, from any place on,
//! and needs no memory. [`site`] makes a site, [`templates`] has the files that content management systems write,
//! [`written`] makes files as people write them, [`times`] makes several captures of a site, [`urls`] makes URLs, and [`statistics`] counts what was made and prints
//! it beside the numbers of the real web, which are where each share below comes from.
//!
//! The sites are invented: all hosts end in `.example` or `.test`, which nobody can register (RFC 2606).
#![deny(unsafe_code)]

pub mod site;
pub mod statistics;
pub mod templates;
pub mod times;
pub mod urls;
pub mod written;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The generator of pseudo-random numbers. The same on every machine and in every version of the crate.
pub type Random = Xoshiro256PlusPlus;

/// A synthetic web.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Web {
    /// The number of origins. Their numbers are those below it.
    pub origins: u64,
    /// Webs of different seeds have nothing in common but their statistics.
    pub seed: u64,
}

/// What the random numbers are for. Each has its own, so that a change of the URLs changes no site.
#[derive(Clone, Copy, Debug)]
enum Purpose {
    Site = 1,
    Urls = 2,
    Places = 3,
    Times = 4,
    Visits = 5,
}

impl Web {
    /// The random numbers for the times of visits.
    #[must_use]
    pub fn visits(&self) -> Random {
        self.random(Purpose::Visits, self.origins)
    }

    /// The random numbers for one purpose and one site.
    fn random(&self, purpose: Purpose, number: u64) -> Random {
        // Odd factors, so that no two purposes and sites share a seed; `seed_from_u64` mixes the bits.
        let seed = self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ number.wrapping_mul(8).wrapping_add(purpose as u64);
        Random::seed_from_u64(seed)
    }
}

/// Draws one of several things, each with its share. The shares need not sum up to anything.
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
