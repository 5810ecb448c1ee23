//! URLs in the synthetic web, shuffled or sorted by host.

use std::fmt::Write as _;

use rand::RngExt as _;
use rand_distr::{Distribution as _, Zipf};

use crate::site::Site;
use crate::written::word;
use crate::{Purpose, Random, Web};

/// Distribution and order of the URLs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Number of URLs. Approximate if sorted.
    pub urls: u64,
    /// The n-th most popular site has a share of `n^-exponent`; 0 makes all sites equal.
    pub exponent: f64,
    /// Whether each site's URLs are consecutive.
    pub is_sorted: bool,
}

impl Web {
    /// Makes URLs and passes each to `work`, without a line end. Stops at the first error.
    ///
    /// # Errors
    /// Returns an error if `work` fails.
    pub fn urls<E>(&self, spread: &Spread, mut work: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut url = String::new();
        if spread.is_sorted {
            let places = Places::new(self);
            let total = harmonic(self.origins, spread.exponent);
            for number in 0..self.origins {
                let random = &mut self.random(Purpose::Urls, number);
                let share = ((places.place(number) + 1) as f64).powf(-spread.exponent) / total;
                // Rounds up with the fraction as probability, so that rare sites are not underrepresented.
                let count = (share * spread.urls as f64 + random.random::<f64>()) as u64;
                if count > 0 {
                    let site = self.site(number);
                    for _ in 0..count {
                        write_url(&site, random, &mut url);
                        work(url.as_bytes())?;
                    }
                }
            }
            return Ok(());
        }
        let places = Places::new(self);
        let random = &mut self.random(Purpose::Urls, self.origins);
        let popularity = Zipf::new(self.origins.max(1) as f64, spread.exponent).ok();
        for _ in 0..spread.urls {
            let place = popularity.map_or(0, |popularity| popularity.sample(random) as u64 - 1);
            let site = self.site(places.site(place.min(self.origins.saturating_sub(1))));
            write_url(&site, random, &mut url);
            work(url.as_bytes())?;
        }
        Ok(())
    }
}

/// Sums `n^-exponent` for n up to `count`: exactly up to a million, by an integral above.
fn harmonic(count: u64, exponent: f64) -> f64 {
    let exact = count.min(1 << 20);
    let sum: f64 = (1..=exact).map(|n| (n as f64).powf(-exponent)).sum();
    let (from, to) = (exact as f64 + 0.5, count as f64 + 0.5);
    let rest = if (exponent - 1.0).abs() < 1e-9 {
        (to / from).ln()
    } else {
        (to.powf(1.0 - exponent) - from.powf(1.0 - exponent)) / (1.0 - exponent)
    };
    sum + rest
}

/// The sites' popularity ranks: a permutation without a table, so that popularity does not depend on anything else
/// about a site.
struct Places {
    origins: u64,
    factor: u64,
    inverse: u64,
}

impl Places {
    fn new(web: &Web) -> Places {
        let origins = web.origins.max(1);
        let random = &mut web.random(Purpose::Places, 0);
        loop {
            let factor = random.random_range(1..=origins);
            if let Some(inverse) = inverse(factor, origins) {
                return Places { origins, factor, inverse };
            }
        }
    }

    /// Returns a site's popularity rank.
    fn place(&self, site: u64) -> u64 {
        times(site, self.factor, self.origins)
    }

    /// Returns the site with a popularity rank.
    fn site(&self, place: u64) -> u64 {
        times(place, self.inverse, self.origins)
    }
}

/// Multiplies modulo a number.
fn times(a: u64, b: u64, modulus: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(modulus)) as u64
}

/// Returns the inverse of `factor` modulo `modulus`, or `None` if there is none.
fn inverse(factor: u64, modulus: u64) -> Option<u64> {
    let (mut old, mut new) = ((i128::from(modulus), 0_i128), (i128::from(factor % modulus), 1_i128));
    while new.0 != 0 {
        let quotient = old.0 / new.0;
        (old, new) = (new, (old.0 - quotient * new.0, old.1 - quotient * new.1));
    }
    (old.0 == 1).then(|| old.1.rem_euclid(i128::from(modulus)) as u64)
}

fn write_url(site: &Site, random: &mut Random, url: &mut String) {
    url.clear();
    url.push_str(if site.is_https { "https://" } else { "http://" });
    url.push_str(&site.host);
    let pages: &[&str] = match site.template {
        Some(template) => template.pages,
        None => &[
            "/",
            "/{word}/",
            "/{word}/{word}",
            "/{word}/{word}/{number}",
            "/{word}.php?{word}={number}",
            "/{word}/{word}-{word}.html",
        ],
    };
    let mut rest = pages[random.random_range(0..pages.len())];
    while let Some((before, after)) = rest.split_once('{') {
        url.push_str(before);
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        rest = after;
        let _ = match name {
            "number" => write!(url, "{}", random.random_range(1..1_000_000)),
            "year" => write!(url, "{}", random.random_range(2005..2026)),
            "month" => write!(url, "{:02}", random.random_range(1..13)),
            "digit" => write!(url, "{}", random.random_range(1..10)),
            _ => write!(url, "{}", word(random)),
        };
        if name == "word" && random.random_ratio(25, 100) {
            let _ = write!(url, "{}", random.random_range(0..1000));
        }
    }
    url.push_str(rest);
    // Parameters added by advertisements and shared links, and non-ASCII letters.
    match random.random_range(0..1000) {
        0..50 => url.push_str("?utm_source=newsletter&utm_medium=email"),
        50..70 => url.push_str("%C3%A9t%C3%A9"),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_a_permutation() {
        for origins in [1, 2, 7, 1000, 4096] {
            let places = Places::new(&Web { origins, seed: 3 });
            let mut all: Vec<u64> = (0..origins).map(|site| places.place(site)).collect();
            assert!((0..origins).all(|site| places.site(all[site as usize]) == site));
            all.sort_unstable();
            assert!(all.into_iter().eq(0..origins));
        }
    }

    #[test]
    fn harmonic_numbers_match_the_sum() {
        for exponent in [0.0, 0.5, 1.0, 1.2] {
            let count = (1 << 20) + 50_000;
            let sum: f64 = (1..=count).map(|n| (n as f64).powf(-exponent)).sum();
            let found = harmonic(count, exponent);
            assert!((found / sum - 1.0).abs() < 1e-6, "{exponent}: {found} for {sum}");
        }
    }

    #[test]
    fn sorted_urls_have_the_requested_count_and_are_grouped_by_site() {
        let web = Web { origins: 2000, seed: 5 };
        for exponent in [0.0, 0.9] {
            let mut hosts: Vec<String> = Vec::new();
            let mut count = 0_u64;
            let spread = Spread { urls: 20_000, exponent, is_sorted: true };
            let made = web.urls(&spread, |url| {
                count += 1;
                let host = String::from_utf8_lossy(url).split('/').nth(2).unwrap_or_default().to_owned();
                if hosts.last() != Some(&host) {
                    hosts.push(host);
                }
                Ok::<(), std::convert::Infallible>(())
            });
            assert!(made.is_ok());
            assert!((18_000..22_000).contains(&count), "{count}");
            let runs = hosts.len();
            hosts.sort_unstable();
            hosts.dedup();
            assert_eq!(hosts.len(), runs, "the URLs of each site must be consecutive");
        }
    }
}
