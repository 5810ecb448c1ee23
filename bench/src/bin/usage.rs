//! Compares the time of a verdict with the time of a verdict and two preferences, on the benchmark files.
//!
//! Each group gets [`RULES`] `Content-Usage` rules in three forms: directories from the file's URLs, patterns from the
//! file's rules, and the directories with a wildcard before every fourth. Both questions take turns, so that both see
//! the same machine. The verdicts must be equal, and a URL's preferences must be the same in a batch and alone.
//!
//! An argument names the only file to measure. Prints nanoseconds per URL, the best of [`PASSES`] passes over 1,000 URLs, and their ratio.
#![deny(unsafe_code)]

use std::collections::BTreeSet;
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use reptile_bench::{AGENT, Case, PreparedCase, builder_of};
use reptile_compiler::automaton::Strategy;
use reptile_engine::set::{Set, UsageCategory, UsageQuery};
use reptile_engine::url::path_of;
use reptile_engine::verdict::{Preference, Verdict};

/// Number of usage rules in each group.
const RULES: usize = 20;

/// Number of passes. The best one counts, because every disturbance makes a pass slower.
const PASSES: usize = 300;

/// The categories in each question.
const CATEGORIES: [&str; 2] = ["train-ai", "search"];

/// Where the paths of the usage rules come from.
const FORMS: [&str; 3] = ["plain paths", "its own rules", "every fourth with /*"];

fn main() -> Result<(), Box<dyn Error>> {
    let categories =
        CATEGORIES.map(|label| UsageCategory { usage: vec![label.as_bytes().into()], ..UsageCategory::default() });
    let query = UsageQuery::new(categories.to_vec());
    println!("file\tusage rules\tverdict ns\twith {} uses ns\tratio", query.len());
    let only = std::env::args().nth(1);
    for case in Case::all()?.into_iter().filter(|case| only.as_ref().is_none_or(|only| *only == case.name)) {
        let own = PreparedCase::checked(&case)?;
        let own: Vec<String> = own.ruleset()?.rules().map_err(|_| "corrupt")?.into_iter().map(pattern).collect();
        let plain = directories(&case.urls);
        for form in FORMS {
            let paths: Vec<String> = match form {
                "plain paths" => plain.iter().take(RULES).cloned().collect(),
                "its own rules" => own.iter().chain(&plain).take(RULES).cloned().collect(),
                _ => (0..)
                    .zip(&plain)
                    .take(RULES)
                    .map(|(n, path)| if n % 4 == 3 { format!("/*{path}") } else { path.clone() })
                    .collect(),
            };
            let [verdict, usage] = compare(&case, &paths, &query)?;
            println!("{}\t{form}\t{verdict:.0}\t{usage:.0}\t{:.2}", case.name, usage / verdict);
        }
    }
    Ok(())
}

fn pattern(rule: reptile_engine::automaton::RulesetRule) -> String {
    String::from_utf8_lossy(&rule.pattern).into_owned()
}

/// Returns the URLs' distinct first directories and, if there are fewer than [`RULES`], longer starts of their paths.
fn directories(urls: &[Vec<u8>]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    for depth in 1..8 {
        for url in urls {
            let path = String::from_utf8_lossy(&path_of(url).to_vec()).into_owned();
            let end = path.match_indices('/').nth(depth).map_or(path.len(), |(at, _)| at + 1);
            // Characters with a meaning in a pattern.
            if end > 1 && !path[..end].contains(['*', '$', ' ', '#']) && seen.insert(path[..end].to_owned()) {
                found.push(path[..end].to_owned());
            }
            if found.len() == RULES {
                return found;
            }
        }
    }
    found
}

/// Returns a robots.txt whose groups also have usage rules for these paths.
fn with_usage(body: &[u8], paths: &[String]) -> Vec<u8> {
    let statements = ["train-ai=n", "train-ai=y, search=n", "search=y"];
    let rules = paths.iter().zip(statements.into_iter().cycle());
    let rules: String = rules.map(|(path, statement)| format!("Content-Usage: {path} {statement}\n")).collect();
    let mut text = Vec::new();
    for line in body.split_inclusive(|&byte| byte == b'\n') {
        let is_rule = [&b"disallow"[..], b"allow"]
            .iter()
            .any(|key| line.get(..key.len()).is_some_and(|start| start.eq_ignore_ascii_case(key)));
        let after_agent = text.ends_with(b"\n") && last_line(&text).to_ascii_lowercase().starts_with(b"user-agent");
        if is_rule && after_agent {
            text.extend_from_slice(rules.as_bytes());
        }
        text.extend_from_slice(line);
    }
    text
}

fn last_line(text: &[u8]) -> &[u8] {
    text.trim_ascii_end().rsplit(|&byte| byte == b'\n').next().unwrap_or_default()
}

/// Measures both questions in turns, and returns nanoseconds per URL.
fn compare(case: &Case, paths: &[String], query: &UsageQuery) -> Result<[f64; 2], Box<dyn Error>> {
    let host = reptile_engine::url::split(&case.urls[0]).map_err(|_| "not a URL")?.origin.host;
    let host = String::from_utf8_lossy(host).into_owned();
    let body = with_usage(&case.body, paths);
    let set = Set::from_bytes(builder_of([(host.as_str(), &body[..])])?.finish(Strategy::default())?.to_bytes())?;
    let agents = [set.agent(AGENT)?];
    let urls = || case.urls.iter().map(Vec::as_slice);
    let mut alone = vec![Verdict::Invalid; case.urls.len()];
    let mut verdicts = alone.clone();
    let mut preferences = vec![Preference::Unknown; case.urls.len() * query.len()];
    let mut best = [f64::INFINITY; 2];
    for _ in 0..PASSES {
        let start = Instant::now();
        set.decide_all(&agents, black_box(urls()), &mut alone)?;
        let middle = Instant::now();
        set.usage_all(&agents, black_box(urls()), query, &mut verdicts, &mut preferences)?;
        let times = [middle - start, middle.elapsed()];
        for (best, time) in best.iter_mut().zip(times) {
            *best = best.min(time.as_secs_f64() * 1e9 / case.urls.len() as f64);
        }
    }
    let disallowed = alone.iter().filter(|&&verdict| verdict == Verdict::Disallow).count();
    reptile_bench::check_count(&case.name, disallowed, case.disallowed)?;
    if alone != verdicts {
        return Err(format!("{}: the verdicts differ", case.name).into());
    }
    let mut stated = 0;
    for (url, found) in urls().zip(preferences.chunks(query.len())) {
        let (mut verdict, mut expected) = ([Verdict::Invalid], vec![Preference::Unknown; query.len()]);
        set.usage_all(&agents, [url], query, &mut verdict, &mut expected)?;
        if found != expected {
            return Err(format!("{}: the preferences differ", case.name).into());
        }
        stated += usize::from(expected.iter().any(|&preference| preference != Preference::NotApplicable));
    }
    if stated + disallowed != case.urls.len() {
        return Err(format!("{}: expected a preference for each allowed URL", case.name).into());
    }
    Ok(best)
}
