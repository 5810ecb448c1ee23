//! Other directives in compiled sets: the cases in `corpora/fields`, limits, sharing, and a comparison with a second,
//! simple parser on the shared folder's real files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code: a panic is the report")]

use crate::support;
use std::collections::BTreeMap;
use std::io::Read;
use std::time::Duration;

use bumpalo::Bump;
use flate2::read::GzDecoder;
use reptile_compiler::advice::clean_param::CleanParams;
use reptile_compiler::automaton::Strategy;
use reptile_compiler::body::directives;
use reptile_compiler::body::{BodyFormat, DiagnosticKind};
use reptile_compiler::dialect::{ALL, BING, Dialect, GOOGLE_LIB, RFC9309, YANDEX, YANDEX_2017};
use reptile_compiler::limits::{
    MAX_CLEAN_PARAM_BYTES, MAX_DIRECTIVE_TEXT_BYTES, MAX_DIRECTIVES, MAX_LINE_BYTES_GOOGLE, MAX_OTHER_KEY_BYTES,
};
use reptile_compiler::set::{OwnedOrigin, SetBuilder, prepare, prepare_without_other};
use reptile_engine::format::directives::{DirectiveKind, MAX_DIRECTIVE_BYTES};
use reptile_engine::set::Set;
use reptile_engine::url::Scheme;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use support::{compile, origin_of, read, shared, workspace};

/// Number of rows in each file under `corpora/fields`. Update these when you add one.
const HOST_ROWS: usize = 29;
const CRAWL_DELAY_ROWS: usize = 22;
const CLEAN_PARAM_ROWS: usize = 21;
const VALUE_ROWS: usize = 34;
const LINE_CASES: usize = 17;
/// Number of files in `corpora/real/robots.tar.gz`.
const REAL_FILES: usize = 4_231;

fn load<T: DeserializeOwned>(name: &str) -> T {
    let text = String::from_utf8(read(&workspace().join("corpora/fields").join(name))).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A line with another directive, and the agents that it applies to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    line: u32,
    key: String,
    value: String,
    state: String,
    agents: Option<Vec<String>>,
}

/// Returns a host's other directives as stored in a set.
fn lines_of<D: AsRef<[u8]>>(set: &Set<D>, host: &str) -> Vec<Line> {
    let site = set.site(&origin_of(host)).unwrap().unwrap();
    let list = site.other();
    let groups = site.policy().groups().unwrap();
    let mut agents: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (group, part) in list.parts().unwrap() {
        let group = &groups[group as usize];
        let names = agents.entry(part).or_default();
        names.extend(group.tokens.iter().map(|&token| text(set.tokens().name(token).unwrap())));
        names.extend(group.is_default.then(|| "*".to_owned()));
        names.sort();
    }
    let mut reader = list.reader().unwrap();
    let mut lines = Vec::new();
    while let Some(field) = reader.next().unwrap() {
        let key = match field.kind {
            DirectiveKind::Other => text(field.key).to_ascii_lowercase(),
            kind => kind.as_str().to_owned(),
        };
        lines.push(Line {
            line: field.line,
            key,
            value: text(field.value),
            state: field.state.as_str().to_owned(),
            agents: field.part.map(|part| agents.get(&part).cloned().unwrap_or_default()),
        });
    }
    lines
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Compiles one file to a set and returns its other directives.
fn lines(body: &str, dialect: &'static Dialect) -> Vec<Line> {
    let set = Set::from_bytes(compile([("h", body.as_bytes())], dialect, Strategy::default())).unwrap();
    set.verify().unwrap();
    lines_of(&set, "h")
}

#[test]
fn lines_have_the_expected_values_and_states() {
    #[derive(Deserialize)]
    struct File {
        case: Vec<Case>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Case {
        name: String,
        source: String,
        dialect: String,
        body: String,
        fields: Vec<Line>,
    }
    let cases = load::<File>("lines.toml").case;
    assert_eq!(cases.len(), LINE_CASES);
    for case in &cases {
        assert!(!case.source.is_empty(), "{}: no source", case.name);
        let dialect = Dialect::from_name(&case.dialect).unwrap_or_else(|| panic!("{}", case.dialect));
        assert_eq!(lines(&case.body, dialect), case.fields, "{}", case.name);
    }
    for dialect in ALL {
        assert!(cases.iter().any(|case| case.dialect == dialect.name), "no case for {}", dialect.name);
    }
}

#[test]
fn host_values_match_the_table() {
    #[derive(Deserialize)]
    struct File {
        value: Vec<Row>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Row {
        text: String,
        host: Option<String>,
        port: Option<u16>,
        #[serde(rename = "source")]
        _source: Option<String>,
    }
    let rows = load::<File>("host.toml").value;
    assert_eq!(rows.len(), HOST_ROWS);
    for Row { text, host, port, .. } in &rows {
        let found = lines(&format!("User-agent: *\nDisallow: /forum\nHost: {text}\n"), &YANDEX_2017);
        assert_eq!(&found[0].value, text);
        assert_eq!(found[0].state, if host.is_some() { "counts" } else { "malformed" }, "{text}");
        let expected = host.as_ref().map(|host| (host.as_bytes(), port.unwrap()));
        assert_eq!(directives::host(text.as_bytes()), expected, "{text}");
    }
}

#[test]
fn crawl_delays_match_the_table() {
    #[derive(Deserialize)]
    struct File {
        value: Vec<Row>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Row {
        text: String,
        seconds: Option<f64>,
        whole: bool,
        source: String,
    }
    let rows = load::<File>("crawl-delay.toml").value;
    assert_eq!(rows.len(), CRAWL_DELAY_ROWS);
    for Row { text, seconds, whole, source } in &rows {
        assert!(!source.is_empty());
        for dialect in ALL {
            let counts = match dialect {
                dialect if dialect == &YANDEX_2017 => Some(seconds.is_some()),
                dialect if dialect == &BING => Some(*whole),
                _ => None,
            };
            let expected = counts.map_or("not-read", |counts| if counts { "counts" } else { "malformed" });
            let found = lines(&format!("User-agent: *\nDisallow: /search\nCrawl-delay: {text}\n"), dialect);
            assert_eq!(found[0].state, expected, "{}: {text}", dialect.name);
            assert_eq!(&found[0].value, text);
        }
        assert_eq!(directives::crawl_delay(text.as_bytes()), seconds.map(Duration::from_secs_f64), "{text}");
    }
}

#[test]
fn structured_values_are_parsed() {
    #[derive(Deserialize)]
    struct File {
        value: Vec<Row>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Row {
        kind: String,
        text: String,
        means: Option<String>,
        source: String,
    }
    let rows = load::<File>("values.toml").value;
    assert_eq!(rows.len(), VALUE_ROWS);
    for row in &rows {
        assert!(!row.source.is_empty());
        let value = row.text.as_bytes();
        let hours = |hours: directives::Hours| format!("{}-{}", hours.start, hours.end);
        let found = match &*row.kind {
            "request-rate" => directives::request_rate(value).map(|rate| {
                let at = rate.hours.map_or(String::new(), |at| format!(" {}", hours(at)));
                format!("{}/{}{at}", rate.documents, rate.seconds)
            }),
            "visit-time" => directives::visit_time(value).map(hours),
            "content-signal" => directives::content_signal(value).map(|signals| {
                let shown: Vec<String> = signals.iter().map(|(name, yes)| format!("{}:{yes}", text(name))).collect();
                shown.join(" ")
            }),
            "content-usage" => Some(directives::content_usage(value))
                .filter(|(_, statement)| !statement.is_empty())
                .map(|(path, statement)| format!("{} {}", path.map_or("*".into(), text), text(statement))),
            other => panic!("no kind {other}"),
        };
        assert_eq!(found, row.means, "{}: {}", row.kind, row.text);
    }
}

#[test]
fn clean_params_match_the_table() {
    #[derive(Deserialize)]
    struct File {
        case: Vec<Case>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Case {
        values: Vec<String>,
        url: String,
        clean: Option<String>,
        source: String,
    }
    let cases = load::<File>("clean-param.toml").case;
    assert_eq!(cases.len(), CLEAN_PARAM_ROWS);
    for case in &cases {
        assert!(!case.source.is_empty());
        let body: String = case.values.iter().map(|value| format!("Clean-param: {value}\n")).collect();
        // Tests the values that count in the set, and then all values: `CleanParams` must ignore the same ones.
        let counting: Vec<String> =
            lines(&body, &YANDEX).into_iter().filter(|line| line.state == "counts").map(|line| line.value).collect();
        for values in [&counting, &case.values] {
            let params = CleanParams::new(values.iter().map(String::as_bytes));
            let expected = case.clean.as_ref().unwrap_or(&case.url);
            assert_eq!(&text(&params.clean(case.url.as_bytes())), expected, "{:?}", case.values);
            assert_eq!(slowly_clean(values, &case.url), *expected);
        }
    }
}

/// Applies `Clean-param` by definition to a URL that has a path before its query.
fn slowly_clean(values: &[String], url: &str) -> String {
    fn fits(path: &[u8], prefix: &[u8]) -> bool {
        match prefix {
            [] => true,
            [b'*', rest @ ..] => (0..=path.len()).any(|skipped| fits(&path[skipped..], rest)),
            [byte, rest @ ..] => path.first() == Some(byte) && fits(&path[1..], rest),
        }
    }
    let (front, fragment) = match url.split_once('#') {
        Some((front, fragment)) => (front, format!("#{fragment}")),
        None => (url, String::new()),
    };
    let Some((address, query)) = front.split_once('?') else { return url.to_owned() };
    let behind_scheme = address.split_once("://").map_or(address, |(_, rest)| rest);
    let path = behind_scheme.find('/').map_or("/", |at| &behind_scheme[at..]);
    let mut unwanted = Vec::new();
    for value in values {
        let words: Vec<&str> = value.split_ascii_whitespace().collect();
        let (names, prefix) = match words[..] {
            [names] => (names, ""),
            [names, prefix] => (names, prefix),
            _ => continue,
        };
        if !prefix.chars().any(|c| !(c.is_ascii_alphanumeric() || ".-/*_".contains(c)))
            && fits(path.as_bytes(), prefix.as_bytes())
        {
            unwanted.extend(names.split('&').filter(|name| !name.is_empty()));
        }
    }
    let all: Vec<&str> = query.split('&').collect();
    let kept: Vec<&str> =
        all.iter().copied().filter(|pair| !unwanted.contains(&pair.split('=').next().unwrap())).collect();
    if kept.len() == all.len() {
        return url.to_owned();
    }
    let question = if kept.is_empty() { "" } else { "?" };
    format!("{address}{question}{}{fragment}", kept.join("&"))
}

#[test]
fn clean_params_follow_the_definition() {
    let mut seed = 17_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let mut word = |pieces: &[&str], most: usize| -> String {
        let len = random(most + 1);
        (0..len).map(|_| pieces[random(pieces.len())]).collect()
    };
    let mut changed = 0;
    for _ in 0..20_000 {
        let values: Vec<String> = (0..3)
            .map(|_| format!("a{} {}", word(&["&b", "&aa", "c", "&", "="], 3), word(&["/", "*", "x", "y", "/x"], 2)))
            .collect();
        let query = word(&["a", "b", "&a", "&b=", "=", "?", "&aa", "#", "&"], 9);
        let url = format!("http://e.example/{}?a{query}", word(&["x", "y", "/", "xy"], 5));
        let found = text(&CleanParams::new(values.iter().map(String::as_bytes)).clean(url.as_bytes()));
        assert_eq!(found, slowly_clean(&values, &url), "{values:?} {url}");
        changed += usize::from(found != url);
    }
    assert!(changed > 2_000, "{changed}");
}

#[test]
fn hostile_clean_params_take_linear_time() {
    // The maximum number of values, with pieces that almost match everywhere. Each is searched for only once.
    let value = format!("p /{}", "*aab".repeat(MAX_CLEAN_PARAM_BYTES / 4 - 1));
    assert!(value.len() <= MAX_CLEAN_PARAM_BYTES);
    let params = CleanParams::new(std::iter::repeat_n(value.as_bytes(), MAX_DIRECTIVES));
    let url = format!("http://e.example/{}?p=1&{}", "a".repeat(30_000), "p=2&".repeat(5_000));
    let start = std::time::Instant::now();
    assert_eq!(params.clean(url.as_bytes()), url.as_bytes());
    assert!(start.elapsed() < Duration::from_secs(10));
}

/// Returns a file's stored lines, and the diagnostics about limits for other directives.
fn kept(body: &str) -> (Vec<Line>, Vec<DiagnosticKind>) {
    kept_under(body, &RFC9309)
}

fn kept_under(body: &str, dialect: &'static Dialect) -> (Vec<Line>, Vec<DiagnosticKind>) {
    let made = prepare(body.as_bytes(), dialect, &Bump::new()).unwrap();
    let noted = made.diagnostics.first().iter().map(|diagnostic| diagnostic.kind);
    let noted = noted
        .filter(|kind| matches!(kind, DiagnosticKind::DirectiveTooLong | DiagnosticKind::TooManyDirectives))
        .collect();
    (lines(body, dialect), noted)
}

#[test]
fn directive_limits_are_exact() {
    for extra in [-1_isize, 0, 1] {
        let at = |limit: usize| limit.checked_add_signed(extra).unwrap();
        let over = extra == 1;
        let noted = |kind: DiagnosticKind| if over { vec![kind] } else { Vec::new() };

        let (found, diagnostics) = kept(&format!("sitemap: {}\nhost: x", "a".repeat(at(MAX_DIRECTIVE_BYTES))));
        assert_eq!((found.len(), diagnostics), (2 - usize::from(over), noted(DiagnosticKind::DirectiveTooLong)));

        // A line whose end the dialect drops is left out. A comment may be dropped.
        for (comment, is_left_out) in [("", over), ("#", false)] {
            let value = "a".repeat(at(MAX_LINE_BYTES_GOOGLE) - "sitemap: ".len() - comment.len());
            let body = format!("sitemap: {value}{comment}\nhost: x");
            let (found, diagnostics) = kept_under(&body, &GOOGLE_LIB);
            let noted = if is_left_out { vec![DiagnosticKind::DirectiveTooLong] } else { Vec::new() };
            assert_eq!((found.len(), diagnostics), (2 - usize::from(is_left_out), noted), "{extra} {comment}");
        }

        let (found, diagnostics) = kept(&"host: a\n".repeat(at(MAX_DIRECTIVES)));
        assert_eq!(
            (found.len(), diagnostics),
            (at(MAX_DIRECTIVES).min(MAX_DIRECTIVES), noted(DiagnosticKind::TooManyDirectives))
        );

        let many = MAX_DIRECTIVE_TEXT_BYTES / MAX_DIRECTIVE_BYTES;
        let values = format!("host: {}\n", "a".repeat(MAX_DIRECTIVE_BYTES)).repeat(many);
        let rest = "b".repeat(MAX_DIRECTIVE_TEXT_BYTES % MAX_DIRECTIVE_BYTES - 6);
        let (found, diagnostics) = kept(&format!("{values}host: {rest}\nab: {}\n", "c".repeat(at(4))));
        assert_eq!(
            (found.len(), diagnostics),
            (many + 2 - usize::from(over), noted(DiagnosticKind::TooManyDirectives))
        );

        let (found, diagnostics) = kept(&format!("{}: x\n", "k".repeat(at(MAX_OTHER_KEY_BYTES))));
        assert_eq!((found.len(), diagnostics), (1 - usize::from(over), Vec::new()));

        // A clean-param value over its limit is malformed.
        let params =
            "a&".repeat(at(MAX_CLEAN_PARAM_BYTES) / 2) + if at(MAX_CLEAN_PARAM_BYTES) % 2 == 1 { "b" } else { "" };
        assert_eq!(lines(&format!("clean-param: {params}"), &YANDEX)[0].state == "malformed", over);
    }
}

#[test]
fn many_tokens_do_not_multiply_lines() {
    // A thousand tokens share a group with a thousand lines. Each token also has its own group.
    let names = |count: usize| (0..count).map(|token| format!("user-agent: {}\n", "t".repeat(token + 1)));
    let mut body: String = names(1000).collect();
    body.push_str(&"noindex: /a\n".repeat(1000));
    body.push_str("disallow: /\n");
    body.extend(names(1000).map(|name| name + "disallow: /own\n"));
    let made = prepare(body.as_bytes(), &GOOGLE_LIB, &Bump::new()).unwrap();
    assert!(made.other.len() < 20_000, "{}", made.other.len());
    assert_eq!(lines(&body, &GOOGLE_LIB)[999].agents.as_ref().map(Vec::len), Some(1000));
}

#[test]
fn equal_directives_are_stored_once_and_absent_ones_take_no_space() {
    let set = |bodies: &[&str], with: bool| {
        let mut builder = SetBuilder::new(&GOOGLE_LIB);
        for (port, body) in (1..).zip(bodies) {
            let origin = OwnedOrigin { host: b"e.example"[..].into(), scheme: Scheme::Http, port };
            let read = if with { prepare } else { prepare_without_other };
            builder.add([origin], read(body.as_bytes(), &GOOGLE_LIB, &Bump::new()).unwrap());
        }
        builder.finish(Strategy::default()).unwrap().to_bytes()
    };
    let (one, two) =
        ("sitemap: http://e.example/sitemap\n", "sitemap: http://e.example/sitemap\nuser-agent: a\ndisallow: /");
    let size = |bodies: &[&str]| {
        let set = Set::from_bytes(set(bodies, true)).unwrap();
        set.section_sizes().find(|(name, _)| *name == "other").unwrap().1
    };
    assert_eq!(size(&[one, two]), size(&[one]));
    let plain = "user-agent: a\ndisallow: /";
    assert_eq!(set(&[plain], true), set(&[plain], false));
    assert_eq!(set(&[plain], true), set(&[&format!("{plain}\nsitemap: x")], false));
    let without = Set::from_bytes(set(&[two], false)).unwrap();
    assert!(!without.has_other_directives());
    without.verify().unwrap();
    let origin = reptile_engine::url::Origin { port: 1, ..origin_of("e.example") };
    assert!(without.site(&origin).unwrap().unwrap().other().is_empty());
}

/// Parses a file's other directives in a simple way that follows the reference. Panics if a value is over a limit.
fn second_reading(body: &[u8]) -> Vec<Line> {
    let is_space = |byte: &u8| b" \t\n\x0b\x0c\r".contains(byte);
    let trim = |mut text: Vec<u8>| {
        while text.last().is_some_and(is_space) {
            text.pop();
        }
        while text.first().is_some_and(is_space) {
            text.remove(0);
        }
        text
    };
    let has_tags = matches!(BodyFormat::of(body), Some(BodyFormat::Html | BodyFormat::Xml));
    let mut rest = body.to_vec();
    for mark in b"\xEF\xBB\xBF" {
        if rest.first() == Some(mark) {
            rest.remove(0);
        } else {
            break;
        }
    }
    // CRLF is one line end, so a CR before an LF is dropped.
    let mut split: Vec<Vec<u8>> = vec![Vec::new()];
    for (at, &byte) in rest.iter().enumerate() {
        match byte {
            b'\r' if rest.get(at + 1) == Some(&b'\n') => {}
            b'\r' | b'\n' => split.push(Vec::new()),
            _ => split.last_mut().unwrap().push(byte),
        }
    }
    let mut groups: Vec<(Vec<String>, bool)> = Vec::new();
    let mut found: Vec<(u32, String, String, Option<usize>)> = Vec::new();
    for (number, mut line) in (1..).zip(split) {
        line.truncate(16_663);
        for end in [0, b'#'] {
            line.truncate(line.iter().position(|&byte| byte == end).unwrap_or(line.len()));
        }
        let line = trim(line);
        let separator = line.iter().position(|&byte| byte == b':').or_else(|| {
            let words = line.split(|byte| *byte == b' ' || *byte == b'\t').filter(|word| !word.is_empty()).count();
            line.iter().position(|byte| *byte == b' ' || *byte == b'\t').filter(|_| words == 2)
        });
        let Some(separator) = separator else { continue };
        let (key, value) = (trim(line[..separator].to_vec()), trim(line[separator + 1..].to_vec()));
        let key = text(&key).to_ascii_lowercase();
        let begins = |names: &[&str]| names.iter().any(|name| key.starts_with(name));
        if key.is_empty() {
        } else if begins(&["user-agent", "useragent", "user agent"]) {
            if groups.last().is_none_or(|(_, has_rules)| *has_rules) {
                groups.push((Vec::new(), false));
            }
            let name = text(&value);
            let token: String = name.chars().take_while(|&c| c.is_ascii_alphabetic() || c == '-' || c == '_').collect();
            let is_star = name == "*" || name.starts_with('*') && value.get(1).is_some_and(is_space);
            groups.last_mut().unwrap().0.push(if is_star { "*".into() } else { token.to_ascii_lowercase() });
        } else if begins(&["allow", "disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"]) {
            if let Some(group) = groups.last_mut() {
                group.1 = true;
            }
        } else {
            let key = if begins(&["sitemap", "site-map"]) { "sitemap".to_owned() } else { key };
            let known = DirectiveKind::ALL.iter().any(|kind| *kind != DirectiveKind::Other && kind.as_str() == key);
            let like_key = key.len() <= 64 && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
            if known || (like_key && !has_tags) {
                assert!(
                    value.len() <= MAX_DIRECTIVE_BYTES && found.len() < MAX_DIRECTIVES,
                    "a real file exceeds a limit"
                );
                let for_all = ["sitemap", "host", "clean-param"].contains(&&*key);
                let group = (!for_all && !groups.is_empty()).then(|| groups.len() - 1);
                found.push((number, key, text(&value), group));
            }
        }
    }
    let line = |(line, key, value, group): (u32, String, String, Option<usize>)| {
        let agents = group.map(|group| {
            let mut agents = groups[group].0.clone();
            agents.sort();
            agents.dedup();
            agents
        });
        let state = match (&*key, value.is_empty()) {
            ("sitemap", false) => "counts",
            ("sitemap", true) => "malformed",
            _ => "not-read",
        };
        Line { line, key, value, state: state.into(), agents }
    };
    found.into_iter().map(line).collect()
}

#[test]
fn real_files_agree_with_a_second_parser() {
    let Some(shared) = shared() else { return };
    let file = read(&shared.join("corpora/real/robots.tar.gz"));
    let mut archive = tar::Archive::new(GzDecoder::new(&file[..]));
    let mut bodies: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        if entry.header().entry_type().is_file() {
            let host = entry.path().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
            let mut body = Vec::new();
            entry.read_to_end(&mut body).unwrap();
            bodies.insert(host, body);
        }
    }
    assert_eq!(bodies.len(), REAL_FILES);
    let set_of = |dialect| {
        let files = bodies.iter().map(|(host, body)| (&**host, &**body));
        let set = Set::from_bytes(compile(files, dialect, Strategy::default())).unwrap();
        set.verify().unwrap();
        set
    };
    let set = set_of(&GOOGLE_LIB);
    let (mut compared, mut kinds) = (0, BTreeMap::<String, usize>::new());
    for (host, body) in &bodies {
        let (found, expected) = (lines_of(&set, host), second_reading(body));
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "{host}");
        }
        assert_eq!(found.len(), expected.len(), "{host}");
        compared += found.len();
        for line in found {
            *kinds.entry(line.key).or_default() += 1;
        }
    }
    assert!(compared > 14_000, "{compared}");
    println!("{compared} lines of other directives agree with a second parser:");
    kinds.iter().filter(|(_, count)| **count > 20).for_each(|(key, count)| println!("  {key}: {count}"));

    // Checks with a second parser which crawl delays count.
    let set = set_of(&YANDEX_2017);
    let mut states = BTreeMap::<String, usize>::new();
    for host in bodies.keys() {
        let mut seen = Vec::new();
        for line in lines_of(&set, host).into_iter().filter(|line| line.key == "crawl-delay") {
            let is_number = !line.value.is_empty() && line.value.chars().all(|c| c.is_ascii_digit() || c == '.');
            let expected = match (is_number && line.value.parse::<f64>().is_ok(), &line.agents) {
                (false, _) => "malformed",
                (true, None) => "outside",
                (true, Some(_)) => "counts or superseded",
            };
            assert!(expected.contains(&line.state), "{host}: {line:?}");
            // The first line of a group counts. The agents are enough to identify the group here.
            if line.state == "counts" {
                seen.push(line.agents.clone());
            }
            assert!(line.state != "superseded" || seen.contains(&line.agents), "{host}: {line:?}");
            *states.entry(line.state).or_default() += 1;
        }
    }
    println!("crawl-delay under yandex-2017: {states:?}");
    // No real file has two valid delays in one group.
    let found = ["counts", "malformed", "outside"].map(|state| states.contains_key(state));
    assert!(states.values().sum::<usize>() > 1_200 && found == [true; 3], "{states:?}");
}
