//! The `--report` page: a section for each crawler, with its figures, a sentence and a timeline.

use std::collections::BTreeMap;
use std::io::Write;

use reptile_columns::Top;
use reptile_columns::audit::{COPY_AGES, CrawlerAudit, DAY_SECONDS, Day};
use reptile_records::text::printable;
use reptile_records::time::show_time;

use super::findings::Findings;
use super::summary::{first_of, share, shown_age, shown_name, split_key};
use crate::error::Result;
use crate::outputs::file::{Complete, Output};
use crate::outputs::page::{Page, escaped};
use crate::outputs::summary::grouped;

/// Maximum number of crawlers with a section: those with the most violations.
const SHOWN_CRAWLERS: usize = 20;

/// Maximum number of bars in a timeline. A bar covers as many days as necessary.
const MAX_BARS: i64 = 120;

/// The size of a timeline in its own units. It is stretched to the width of the page.
const HEIGHT: f64 = 60.0;
const BAR_WIDTH: f64 = 10.0;

/// The styles of timelines.
const STYLE: &str = "\
.crawler{border-top:1px solid var(--line);padding-top:.5rem;margin-top:1.5rem}
.scroll{overflow-x:auto}
svg{width:100%;height:7rem;display:block;background:color-mix(in srgb,currentColor 4%,transparent)}
.span{display:flex;justify-content:space-between;font-size:.85rem}
.ok{fill:var(--unknown);background:var(--unknown)}.bad{fill:var(--disallow);background:var(--disallow)}
.late{fill:var(--invalid);background:var(--invalid)}.file{fill:var(--allow);background:var(--allow)}
";

/// Writes the page. The caller still has to publish the file.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn write(findings: &Findings<'_>, mut output: Output) -> Result<Option<Complete>> {
    let page = page(findings);
    output.write_all(page.as_bytes()).map_err(|error| output.failure(&error))?;
    output.complete()
}

fn page(findings: &Findings<'_>) -> String {
    let Findings { args, set, audited, logs, identities } = findings;
    let mut page = Page::new("Did crawlers obey robots.txt?", STYLE);
    let all = |count: fn(&CrawlerAudit) -> u64| grouped(audited.crawlers.iter().map(count).sum());
    let set_name = escaped(&printable(args.set.shown().as_bytes()));
    let by_time = if set.has_times() { "the rules of each time" } else { "one set of rules for all times" };
    let mut facts = vec![
        ("Logs".to_owned(), format!("{}, {} rows", grouped(logs.logs as u64), grouped(logs.rows))),
        ("Rules".to_owned(), format!("{set_name}: dialect {}, {by_time}", escaped(set.dialect()))),
        ("Requests of crawlers".to_owned(), all(|counts| counts.requests)),
        ("Violations".to_owned(), all(|counts| counts.violations)),
        (
            "Within the grace period".to_owned(),
            format!("{} ({} after a change)", all(|counts| counts.in_grace), shown_age(args.grace.seconds())),
        ),
        ("Without a known robots.txt".to_owned(), all(|counts| counts.unknown)),
        ("Rows that name no crawler".to_owned(), grouped(logs.unnamed)),
        ("Made by".to_owned(), format!("reptile {}", env!("CARGO_PKG_VERSION"))),
    ];
    facts.extend(
        logs.invalid.iter().map(|(problem, count)| (format!("Invalid: {}", escaped(problem)), grouped(*count))),
    );
    if audited.unordered > 0 {
        facts.push(("Logged late, or over a limit".to_owned(), grouped(audited.unordered)));
    }
    for list in identities.iter().flat_map(|identities| identities.lists()) {
        let [name, file] = [&list.name, &list.file.shown()].map(|text| escaped(&printable(text.as_bytes())));
        let date = list.dated.map_or_else(|| "undated".to_owned(), |time| format!("as of {}", show_time(time)));
        let prefixes = grouped(list.prefixes as u64);
        facts.push((format!("Addresses of {name}"), format!("{file}: {prefixes} ranges, {date}")));
    }
    page.push_facts(facts);
    page.push_str(
        "<p>Anyone can send the name of a crawler: a violation under a name does not prove that its operator made the \
         request.</p>\n<p class=\"key\"><span><i class=\"ok\"></i>other requests</span><span><i class=\"bad\"></i>\
         violations</span><span><i class=\"late\"></i>within the grace period</span><span><i class=\"file\"></i>\
         robots.txt fetched</span></p>\n",
    );
    for (counts, days) in audited.crawlers.iter().zip(&audited.days).take(SHOWN_CRAWLERS) {
        push_crawler(counts, days, identities.is_some(), &mut page);
    }
    if let Some(others) = audited.crawlers.len().checked_sub(SHOWN_CRAWLERS).filter(|&others| others > 0) {
        page.push(format_args!("<p>And {} other crawlers, which --json lists.</p>\n", grouped(others as u64)));
    }
    push_top("Rules with the most violations", "Rule", &audited.rules, &mut page);
    push_top("URLs with the most violations", "URL", &audited.urls, &mut page);
    page.finish()
}

fn push_crawler(counts: &CrawlerAudit, days: &BTreeMap<i64, Day>, is_checked: bool, page: &mut Page) {
    let name = escaped(&shown_name(&counts.name));
    page.push(format_args!("<section class=\"crawler\">\n<h2>{name}</h2>\n<p>{}</p>\n", sentence(counts)));
    push_timeline(&name, days, page);
    let times = counts.violated.map(|(first, last)| format!("{} to {}", show_time(first), show_time(last)));
    let delays = match counts.delayed {
        0 => "no pauses on sites with a Crawl-delay".to_owned(),
        delayed => format!("{} of {} pauses are shorter", grouped(counts.too_short), grouped(delayed)),
    };
    let ages = counts.ages.map(grouped);
    let never = &ages[COPY_AGES.len() + 1];
    let of = |counts: &[u64; 3]| {
        let [verified, failed, no_check] = counts.map(grouped);
        format!("verified {verified}, failed {failed}, no check possible {no_check}")
    };
    let clients = [("Clients of requests", of(&counts.identities)), ("Clients of violations", of(&counts.violators))];
    let clients = clients.into_iter().filter(|_| is_checked).map(|(name, fact)| (name.to_owned(), fact));
    page.push_facts(
        [
            ("First and last violation", times.unwrap_or_else(|| "none".into())),
            ("Served and refused violations", format!("{} and {}", grouped(counts.served), grouped(counts.refused))),
            ("On sites that disallow everything for it", grouped(counts.blocked)),
            ("Fetches of robots.txt", format!("{}, {} with a copy", grouped(counts.fetches), grouped(counts.copies))),
            (
                "Age of the copy at a request",
                format!(
                    "up to an hour {}, a day {}, a week {}, older {}, never fetched {never}",
                    ages[0], ages[1], ages[2], ages[3]
                ),
            ),
            ("Sessions", grouped(counts.sessions)),
            ("Crawl-delay", delays),
        ]
        .map(|(name, fact)| (name.to_owned(), fact))
        .into_iter()
        .chain(clients),
    );
    page.push_str("</section>\n");
}

/// Describes a crawler's requests in a sentence.
fn sentence(counts: &CrawlerAudit) -> String {
    let requests =
        if counts.requests == 1 { "1 request".into() } else { format!("{} requests", grouped(counts.requests)) };
    let fetched = match counts.copies {
        0 => "did not fetch robots.txt".to_owned(),
        1 => "fetched robots.txt once".to_owned(),
        copies => format!("fetched robots.txt {} times", grouped(copies)),
    };
    let undecided = counts.unknown + counts.invalid;
    if undecided > 0 {
        let decided = counts.requests - undecided;
        return format!(
            "Made {requests}; <b>{} could not be decided</b>: no robots.txt is known, or the request is not for a URL. \
             Of the other {}, {} violated the rules ({} %). It {fetched}.",
            grouped(undecided),
            grouped(decided),
            grouped(counts.violations),
            share(counts)
        );
    }
    match (counts.violations, counts.in_grace) {
        (0, 0) => format!("Made {requests}, violated no rule, and {fetched}."),
        (0, grace) => {
            format!(
                "Made {requests}, {} of them after a change that it may not have seen yet, and {fetched}.",
                grouped(grace)
            )
        }
        (violations, _) => format!(
            "Made {requests}, <b>violated the rules with {} of them ({} %)</b>, and {fetched}.",
            grouped(violations),
            share(counts)
        ),
    }
}

/// Draws the requests of each day.
fn push_timeline(name: &str, days: &BTreeMap<i64, Day>, page: &mut Page) {
    let (Some((&first, _)), Some((&last, _))) = (days.first_key_value(), days.last_key_value()) else { return };
    let per_bar = (last - first) / MAX_BARS + 1;
    let mut bars: BTreeMap<i64, Day> = BTreeMap::new();
    for (day, counts) in days {
        bars.entry((day - first) / per_bar).or_default().add(counts);
    }
    let count = (last - first) / per_bar + 1;
    let most = bars.values().map(|bar| bar.requests).max().unwrap_or(0).max(1);
    let (from, until) = (date(first), date(last));
    let unit = if per_bar == 1 { "day".to_owned() } else { format!("{per_bar} days") };
    let width = count as f64 * BAR_WIDTH;
    page.push(format_args!(
        "<svg viewBox=\"0 0 {width} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Requests of {name} \
         from {from} to {until}: up to {most} in a bar of {unit}\">\n",
        most = grouped(most)
    ));
    for (at, bar) in &bars {
        let x = *at as f64 * BAR_WIDTH;
        let mut bottom = HEIGHT - 4.0;
        let others = bar.requests.saturating_sub(bar.violations + bar.in_grace);
        for (class, part) in [("bad", bar.violations), ("late", bar.in_grace), ("ok", others)] {
            // A part with requests has a visible height.
            let height = if part == 0 { 0.0 } else { (part as f64 / most as f64 * (HEIGHT - 6.0)).max(1.0) };
            if height > 0.0 {
                bottom -= height;
                push_bar(page, class, (x, bottom, height));
            }
        }
        if bar.fetches > 0 {
            push_bar(page, "file", (x, HEIGHT - 3.0, 3.0));
        }
    }
    page.push(format_args!("</svg>\n<div class=\"span\"><span>{from}</span><span>{until}</span></div>\n"));
}

fn push_bar(page: &mut Page, class: &str, (x, y, height): (f64, f64, f64)) {
    let width = BAR_WIDTH - 1.0;
    page.push(format_args!(
        "<rect class=\"{class}\" x=\"{x}\" y=\"{y:.1}\" width=\"{width}\" height=\"{height:.1}\"/>\n"
    ));
}

/// Returns the date of a day since 1970.
fn date(day: i64) -> String {
    show_time(day.saturating_mul(DAY_SECONDS)).chars().take_while(|letter| *letter != 'T').collect()
}

fn push_top(title: &str, what: &str, top: &Top, page: &mut Page) {
    let first = first_of(top);
    if first.is_empty() {
        return;
    }
    page.push(format_args!(
        "<h2>{title}</h2>\n<table>\n<tr><th>{what}</th><th>Crawler</th><th class=\"n\">Violations</th></tr>\n"
    ));
    for (key, count) in first {
        let (crawler, rest) = split_key(key);
        let (crawler, rest) = (escaped(&shown_name(&crawler)), escaped(&printable(rest.as_bytes())));
        page.push(format_args!("<tr><td>{rest}</td><td>{crawler}</td><td class=\"n\">{}</td></tr>\n", grouped(count)));
    }
    page.push_str("</table>\n");
    if top.missed() > 0 {
        page.push(format_args!("<p>Estimates: each count may be up to {} too low.</p>\n", grouped(top.missed())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeline_has_a_limited_number_of_bars() {
        for (count, bars) in [(MAX_BARS - 1, MAX_BARS - 1), (MAX_BARS, MAX_BARS), (MAX_BARS + 1, MAX_BARS / 2 + 1)] {
            let day = Day { requests: 1, ..Day::default() };
            let days = (0..count).map(|number| (number - 10, day)).collect();
            let mut page = Page::new("x", "");
            push_timeline("Bot", &days, &mut page);
            assert_eq!(page.finish().matches("<rect").count() as i64, bars, "{count}");
        }
        // Times that logs may have, but calendars may not.
        let days = [(i64::MIN / DAY_SECONDS, Day::default()), (i64::MAX / DAY_SECONDS, Day::default())];
        push_timeline("Bot", &days.into(), &mut Page::new("x", ""));
    }
}
