//! The synthetic web is the same for the same seed, has unique hosts, and matches the real web's statistics.

use std::collections::HashSet;

use reptile_corpora::Web;
use reptile_corpora::site::{HostAnswer, Site};
use reptile_corpora::statistics::Statistics;
use reptile_corpora::times::{FIRST_TIME, SECONDS};
use reptile_corpora::urls::Spread;

const WEB: Web = Web { origins: 20_000, seed: 1 };

fn bytes(site: &Site) -> &[u8] {
    match &site.answer {
        HostAnswer::File(body) => body,
        _ => &[],
    }
}

#[test]
fn sites_depend_only_on_seed_and_number() {
    let other_size = Web { origins: 7, ..WEB };
    let other_seed = Web { seed: 2, ..WEB };
    let mut same = 0;
    for number in 0..1000 {
        assert_eq!(WEB.site(number), other_size.site(number));
        same += usize::from(WEB.site(number).host == other_seed.site(number).host);
    }
    assert!(same < 100, "{same} of 1,000 hosts are the same with another seed");
}

#[test]
fn hosts_are_unique_and_urls_use_them() {
    let hosts: HashSet<String> = (0..WEB.origins).map(|number| WEB.site(number).host).collect();
    assert_eq!(hosts.len() as u64, WEB.origins);
    for (exponent, is_sorted) in [(0.0, false), (0.8, false), (1.0, true), (0.0, true)] {
        let mut count = 0;
        let made = WEB.urls(&Spread { urls: 5000, exponent, is_sorted }, |url| {
            count += 1;
            let url = std::str::from_utf8(url).map_err(|error| error.to_string())?;
            let host = url.split('/').nth(2).unwrap_or_default();
            if hosts.contains(host) { Ok(()) } else { Err(format!("{url} belongs to no site")) }
        });
        assert_eq!(made, Ok(()));
        assert!((4500..5500).contains(&count), "{count}");
    }
}

#[test]
fn popular_sites_have_more_urls() {
    let mut of_site = std::collections::HashMap::<Vec<u8>, u32>::new();
    let _ = WEB.urls(&Spread { urls: 20_000, exponent: 1.0, is_sorted: false }, |url| {
        let host = url.split(|&byte| byte == b'/').nth(2).unwrap_or_default();
        *of_site.entry(host.to_vec()).or_default() += 1;
        Ok::<(), ()>(())
    });
    // The most popular of 20,000 sites has one URL in 10.5.
    let most = of_site.values().max().copied().unwrap_or(0);
    assert!((1700..2100).contains(&most), "{most}");
}

#[test]
fn statistics_are_close_to_the_real_web() {
    let mut statistics = Statistics::default();
    let (mut files, mut all_bytes) = (0_u32, 0);
    for number in 0..WEB.origins {
        let site = WEB.site(number);
        statistics.add(&site);
        files += u32::from(matches!(site.answer, HostAnswer::File(_)));
        all_bytes += bytes(&site).len();
    }
    let share = f64::from(files) / WEB.origins as f64;
    assert!((0.70..0.74).contains(&share), "{share} of the sites have a file");
    let mean = all_bytes as f64 / f64::from(files);
    assert!((350.0..580.0).contains(&mean), "files have {mean} bytes on average; 464 on the real web");
    let table = statistics.to_string();
    assert_eq!(table.lines().count(), 21, "{table}");
}

#[test]
fn captures_are_ordered_by_time_and_change() {
    let (mut changed, mut failed, mut timeless) = (0, 0, 0);
    for number in 0..2000 {
        let site = WEB.site(number);
        let fetches = WEB.fetches(&site, 3);
        // They depend only on the web and the site.
        assert_eq!(fetches, WEB.fetches(&site, 3));
        assert_ne!(fetches, Web { seed: 2, ..WEB }.fetches(&site, 3));
        assert_eq!((fetches.len(), &fetches[0].answer), (3, &site.answer));
        assert!(fetches.is_sorted_by(|a, b| a.time < b.time), "{fetches:?}");
        let mut times = fetches.iter().filter_map(|fetch| fetch.time);
        assert!(times.all(|time| (FIRST_TIME..FIRST_TIME + SECONDS).contains(&time)));
        changed += u32::from(fetches[0].answer != fetches[1].answer);
        failed += u32::from(fetches[2].answer == HostAnswer::Failure);
        timeless += u32::from(fetches[0].time.is_none());
    }
    assert!((600..1000).contains(&changed), "{changed} of 2,000 have changed");
    assert!((100..300).contains(&failed), "{failed} of 2,000 fail");
    assert!((20..70).contains(&timeless), "{timeless} of 2,000 have no time");
    let random = &mut WEB.visits();
    let mut times: Vec<i64> = (0..1000).map(|_| Web::visit_time(40, random)).collect();
    times.sort_unstable();
    times.dedup();
    assert_eq!((times.len(), times[0]), (40, FIRST_TIME - 1));
    assert!(times[39] > FIRST_TIME + SECONDS, "{times:?}");
}
