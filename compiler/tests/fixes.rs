//! Fixes: each kind of edit that is proved, requested or refused, and random files whose verdicts stay the same.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code: a panic is the report")]

use crate::support;

use bumpalo::Bump;
use proptest::prelude::*;
use reptile_compiler::advice::lint::{
    Code, FixOptions, Fixed, MAX_FINDINGS_PER_CODE, Refusal, Severity, fix, fix_of_host, fix_with, lint,
};
use reptile_compiler::body::parse;
use reptile_compiler::dialect::crawlers::of_name;
use reptile_compiler::dialect::{ALL, BING, CURRENT, Dialect, GOOGLE, GOOGLE_LIB, KOSTER_1994, YANDEX};
use reptile_compiler::limits::MAX_PROVED_FILE_BYTES;
use reptile_compiler::set::{OwnedOrigin, SetBuilder, prepare};
use reptile_engine::set::Set;
use reptile_engine::url::{Origin, Scheme};
use reptile_engine::verdict::Verdict;

/// Options that also apply the repairs that change verdicts.
fn with_changes() -> FixOptions {
    FixOptions { changes: true, ..FixOptions::default() }
}

fn text(fixed: &Fixed) -> String {
    String::from_utf8_lossy(&fixed.body).replace('\n', "|")
}

/// A file that is left unchanged.
const SAME: &str = "";

/// Each file with `|` as line end: the original, after the proved fixes, and after the changes too.
const CASES: &[(&str, &str, &str)] = &[
    // Text before a key may make the line a comment.
    ("User-agent: *|//Disallow: /|Disallow: /tmp|", SAME, SAME),
    ("User-agent: *|;Disallow: /|", SAME, SAME),
    ("User-agent: *|--Disallow: /|", SAME, SAME),
    ("User-agent: *|%Disallow: /|", SAME, SAME),
    ("User-agent: *|!Disallow: /|", SAME, SAME),
    ("User-agent: *|'Disallow: /|", SAME, SAME),
    ("User-agent: *|_Disallow: /|", SAME, SAME),
    ("User-agent: *|xDisallow: /|", SAME, SAME),
    ("User-agent: *|dDisallow: /|", SAME, SAME),
    ("User-agent: *|No Disallow: /|", SAME, SAME),
    ("User-agent: *|/*Disallow: /|", SAME, SAME),
    ("User-agent: *|x Disallow: /|", SAME, SAME),
    ("User-agent: *|-Allow: /|Disallow: /|", SAME, SAME),
    ("User-agent: *|;Disalow: /|", SAME, SAME),
    ("//User-agent: *|Disallow: /|", SAME, SAME),
    ("User-agent: *|//Sitemap: https://a.example/x|", SAME, SAME),
    // Words before the colon, as Google reads them.
    ("User-agent: *|Disallow all: /|", SAME, "User-agent: *|Disallow: /|"),
    ("User-agent: *|Disallow path: /a|", SAME, "User-agent: *|Disallow: /a|"),
    ("User-agent: *|Disallow:/|Allow only: /a|", SAME, "User-agent: *|Disallow:/|Allow: /a|"),
    ("User-agent name: GPTBot|Disallow: /|", SAME, "User-agent: GPTBot|Disallow: /|"),
    (
        "User-agent: *|Disallow: /|Sitemap index: https://a.example/x|",
        "User-agent: *|Disallow: /|Sitemap: https://a.example/x|",
        "User-agent: *|Disallow: /|Sitemap: https://a.example/x|",
    ),
    ("User-agent: *|Disallow all:|", SAME, SAME),
    ("User-agent: *|Disallow GPTBot: /|", SAME, SAME),
    ("User-agent: *|Disallow all: all|", SAME, SAME),
    ("User-agent: *|Disallow /a:b|", SAME, "User-agent: *|Disallow: /a:b|"),
    // Other separators.
    ("User-agent: *|Disallow=/|", SAME, "User-agent: *|Disallow: /|"),
    ("User-agent: *|Disallow = /a|", SAME, "User-agent: *|Disallow: /a|"),
    ("User-agent: *|Disallow=/a:b|", SAME, "User-agent: *|Disallow: /a:b|"),
    ("User-agent: *|Disallow=|", SAME, SAME),
    ("User-agent: *|Disallow|", "User-agent: *|Disallow:|", "User-agent: *|Disallow:|"),
    ("User-agent: *|Disallow |Allow|", "User-agent: *|Disallow:|Allow|", "User-agent: *|Disallow:|Allow|"),
    ("User-agent: *|Disallow=all|", SAME, SAME),
    ("User-agent: *|Disallow - /a|", SAME, SAME),
    ("User-agent: *|Disallow /a /b|", SAME, SAME),
    ("User-agent - GPTBot|Disallow: /|", SAME, SAME),
    ("User-agent=GPTBot|Disallow: /|", SAME, "User-agent: GPTBot|Disallow: /|"),
    ("\"User-agent: *\"|\"Disallow: /\"|", SAME, SAME),
    ("'User-agent: *'|'Disallow: /'|", SAME, SAME),
    // Lines that may begin a group.
    ("User-agent: *|Disallow: /x||Bot: GPTBot|Disalllow: /|", SAME, SAME),
    ("User-agent: *|Disallow: /x|User–agent: GPTBot|Disalllow: /|", SAME, SAME),
    ("User-agent: *|Disallow: /x|1. User-agent: GPTBot|Disalllow: /|", SAME, SAME),
    ("User-agent: *|Disallow: /x|GPTBot:|Disalllow: /|", SAME, SAME),
    ("User-agent: *|Disallow: /x|[GPTBot]|Disallow: y|", SAME, SAME),
    ("User-agent: *|Disallow: /x|User-agent： GPTBot|Disallow=/|", SAME, SAME),
    ("User-agent: *|Disallow: /x|Crawler: GPTBot|Disallow: /x|Disallow: /x/y|", SAME, SAME),
    ("User-agent: *|Disallow: /x|\u{feff}User-agent: a|Disallow: /x|Disallow: /x/y|", SAME, SAME),
    ("User-agent: *|Disallow: /x|Disallow: /x/y|\"User-agent: a\"|Disallow: /z|", SAME, SAME),
    ("User-agent: *|Disallow: /x/y|User-agent - a|Disallow: /x|", SAME, SAME),
    // Some dialects read this start, others do not.
    (
        "User-agent: *|Allow: /x|Useragent: a|Disallow: /|Disallow: /y|",
        SAME,
        "User-agent: *|Allow: /x|User-agent: a|Disallow: /|",
    ),
    // A repaired start ends the doubt.
    (
        "User-agent: *|Disallow: /x|User-agnt: a|Disalllow: /|",
        SAME,
        "User-agent: *|Disallow: /x|User-agent: a|Disallow: /|",
    ),
    (
        "User-agent: *|Disallow: /x|Bot: b|Disallow: /y|User-agent: a|Disallow: /|Disallow: /z|",
        "User-agent: *|Disallow: /x|Bot: b|Disallow: /y|User-agent: a|Disallow: /|",
        "User-agent: *|Disallow: /x|Bot: b|Disallow: /y|User-agent: a|Disallow: /|",
    ),
    // Removals that change a verdict in another dialect.
    ("User-agent: *|Disallow: /shop/cart|Disallow: /*shop|Allow: /shop*|", SAME, SAME),
    ("User-agent: *|Disallow: /a||Disallow: /|", SAME, SAME),
    ("User-agent: *|Disallow: /a|Disallow: /|", "User-agent: *|Disallow: /|", "User-agent: *|Disallow: /|"),
    (
        "User-agent: *|Disallow: /a|Disallow: /a/b # why|",
        "User-agent: *|Disallow: /a|# why|",
        "User-agent: *|Disallow: /a|# why|",
    ),
    ("User-agent: *|Disallow: /a|Disallow: /a/b # lint-ignore: html|Disallow: /c|", SAME, SAME),
    // Text that is not understood.
    ("User-agent: *|Disallow: /aé|", SAME, "User-agent: *|Disallow: /a%C3%A9|"),
    ("User-agent: *|Disallow: “/x”|", SAME, SAME),
    ("User-agent: *|Disallow: /“x”|", SAME, SAME),
    ("User-agent: *|Disallow: \u{a0}/x|", SAME, SAME),
    ("User-agent: *|Disallow: /x\u{a0}|", SAME, SAME),
    ("User-agent: *|Disallow: \u{200b}/x|", SAME, SAME),
    ("User-agent: *|Disallow: /x\u{200b}|", SAME, SAME),
    ("User-agent: *|Disallow: ／x|", SAME, SAME),
    ("User-agent: *|Disallow: /ｘ|", SAME, SAME),
    ("User-agent: *|Disallow: /а-аdmin|", SAME, SAME),
    ("User-agent: *|Disallow: /x–y|", SAME, SAME),
    ("User-agent: *|Disallow: é|", SAME, SAME),
    // Placeholders, and patterns without a path.
    ("User-agent: *|Disallow: All|", SAME, SAME),
    ("User-agent: *|Disallow: None|", SAME, SAME),
    ("User-agent: *|Disallow: undefined|", SAME, SAME),
    ("User-agent: *|Disallow: null/|", SAME, SAME),
    ("User-agent: *|Disallow: n/a|", SAME, SAME),
    ("User-agent: *|Disallow: $|", SAME, SAME),
    ("User-agent: *|Disallow: .pdf$|", SAME, SAME),
    ("User-agent: *|Disallow: pdf$|", SAME, SAME),
    ("User-agent: *|Disallow: %BASE%/z|", SAME, SAME),
    ("User-agent: *|Disallow: BASE_URL/z|", SAME, SAME),
    ("User-agent: *|Disallow: $BASE/z|", SAME, SAME),
    ("User-agent: *|Disallow: ?q=|", SAME, SAME),
    ("User-agent: *|Disallow: ./x|", SAME, SAME),
    ("User-agent: *|Disallow: \\|", SAME, SAME),
    ("User-agent: *|Disalow: All|", SAME, SAME),
    ("User-agent: *|Disallow: admin/|", SAME, "User-agent: *|Disallow: /admin/|"),
    ("User-agent: *|Disallow: .git/|", SAME, SAME),
    ("User-agent: *|Disallow: \\private\\|", SAME, "User-agent: *|Disallow: /private/|"),
    ("User-agent: *|Disallow: /(a¦b)/.*|", SAME, SAME),
    ("User-agent: *|Disallow: example.com/x|", SAME, SAME),
    // Names.
    ("User-agent: GPTBot/CCBot|Disallow: /|", SAME, "User-agent: GPTBot|User-agent: CCBot|Disallow: /|"),
    ("User-agent: GPTBot/1.1/CCBot|Disallow: /|", SAME, SAME),
    ("User-agent: GPTBot/1.1-CCBot|Disallow: /|", SAME, SAME),
    ("User-agent: GPTBot/1.1|Disallow: /|", "User-agent: GPTBot|Disallow: /|", "User-agent: GPTBot|Disallow: /|"),
    ("User-agent: a, b|Disallow: /x|", SAME, "User-agent: a|User-agent: b|Disallow: /x|"),
    ("User-agent: Mozilla/5.0 (compatible; GPTBot/1.0; CCBot/2.0)|Disallow: /|", SAME, SAME),
    (
        "User-agent: Mozilla/5.0 (compatible; Googlebot-Image/1.0)|Disallow: /x|",
        SAME,
        "User-agent: Googlebot-Image|Disallow: /x|",
    ),
    // Statements about uses are not verdicts.
    ("User-agent: *|Allow: /|Content-usge: train-ai=n|", SAME, "User-agent: *|Allow: /|Content-usage: train-ai=n|"),
    // The repaired allow becomes a rule, so that the longer disallow is no longer superfluous.
    (
        "User-agent: *|Disallow: /a|Allow: a/b|Disallow: /a/b/c|Disallow: /a/d #!|",
        "User-agent: *|Disallow: /a|Allow: a/b|#!|",
        "User-agent: *|Disallow: /a|Allow: /a/b|Disallow: /a/b/c|#!|",
    ),
    // Without the last line, the first rule would win in Google's reading, and not in Yandex's.
    (
        "User-agent: *|Disallow: /a/b|Allow: /a|Allow: /a/b|",
        "User-agent: *|Disallow: /a/b|Allow: /a/b|",
        "User-agent: *|Disallow: /a/b|Allow: /a/b|",
    ),
];

#[test]
fn fixes_are_proved_requested_or_refused() {
    let mut wrong = Vec::new();
    for &(file, proved, changed) in CASES {
        let body = file.replace('|', "\n").replace('¦', "|").into_bytes();
        for (options, expected) in [(FixOptions::default(), proved), (with_changes(), changed)] {
            let fixed = is_settled(&body, &GOOGLE, &options);
            let expected = if expected == SAME { file } else { expected };
            let found = text(&fixed).replace("(a|b)", "(a¦b)");
            if found != expected {
                wrong.push(format!("{file}\n   {found}\n   {expected}\n   {:?}", fixed.unfixed));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(CASES.len(), 98);
}

/// Fixes a file, and checks that fixing it again changes nothing and refuses the same fixes.
fn is_settled(body: &[u8], dialect: &Dialect, options: &FixOptions) -> Fixed {
    let fixed = fix_with(body, dialect, options);
    let again = fix_with(&fixed.body, dialect, options);
    let shown = String::from_utf8_lossy(body);
    assert_eq!((&again.body, &again.changes[..]), (&fixed.body, &[][..]), "{}: {shown}", dialect.name);
    assert_eq!(again.unfixed, fixed.unfixed, "{}: {shown}", dialect.name);
    assert!(options.changes || fixed.changes.iter().all(|change| change.keeps_verdicts), "{shown}");
    fixed
}

#[test]
fn refused_fixes_have_reasons() {
    for (body, dialect, reason) in [
        (
            "User-agent: *\nDisallow: x\n",
            &GOOGLE,
            "closes \"/x\" for \"*\" in google, google-lib, rfc9309, rfc9309-strict, yandex, bing",
        ),
        ("User-agent: *\nDisallow: /aé\n", &GOOGLE, "closes \"/a%C3%A9\" for \"*\" in yandex, bing"),
        ("User-agent: *\nDisallow: /aé\n", &YANDEX, "closes \"/a%C3%A9\" for \"*\" in yandex, bing"),
        ("User-agent: *\nDisallow: /a\n\nDisallow: /\n", &BING, "opens \"/a\" for \"*\" in yandex"),
        (
            "User-agent: *\nDisallow: /\nBot: a\nDisallow: x\n",
            &GOOGLE,
            "line 3 may begin a group, but not every crawler reads it so",
        ),
        (
            "User-agent: *\nUser-agnt: a\nDisallow: /\n",
            &GOOGLE,
            "names other crawlers in google, google-lib, rfc9309, rfc9309-strict, yandex, bing",
        ),
        (
            "User-agent: *\nDisallow: /a # lint-ignore: html\nDisallow: /\n",
            &GOOGLE,
            "its comment would ignore findings about the next line",
        ),
        ("User-agent: *\nContent-usge: train-ai=n\nDisallow: /a\n", &GOOGLE, "changes what the file states about uses"),
        ("<html>\nUser-agent: *\nDisallow: /a\nDisallow: /a\n", &YANDEX, "the file is read only in part"),
    ] {
        let fixed = fix_with(body.as_bytes(), dialect, &FixOptions::default());
        let reasons =
            fixed.unfixed.iter().map(|unfixed| &unfixed.reason).filter(|reason| **reason != Refusal::OnlyAdvice);
        let reasons: Vec<String> = reasons.map(ToString::to_string).collect();
        assert_eq!((text(&fixed), &reasons[..]), (body.replace('\n', "|"), &[reason.into()][..]), "{body}");
    }
}

#[test]
fn changes_list_what_they_open_and_close() {
    let fixed =
        fix_with(b"User-agent: a, b\nDisallow: /x\nDisallow: /x/y\nDisallow: z\n", &GOOGLE_LIB, &with_changes());
    let changes: Vec<_> =
        fixed.changes.iter().map(|change| (change.line, change.code, change.keeps_verdicts)).collect();
    // Changes refer to line numbers in the original file.
    assert_eq!(changes, [(1, Code::AgentList, false), (4, Code::NoLeadingSlash, false), (3, Code::ShadowedRule, true)]);
    let effects: Vec<String> = fixed.changes[0].effects.iter().map(ToString::to_string).collect();
    assert_eq!(
        effects,
        [
            "closes \"/x\" for \"b\" in google-lib, google, rfc9309, rfc9309-strict, bing",
            "opens \"/x\" for \"a,\" and closes \"/x\" for \"a\" in yandex"
        ]
    );
    assert_eq!(fixed.changes[2].effects, []);
}

#[test]
fn verdicts_are_kept_in_the_given_dialects() {
    let body = b"User-agent: *\nDisallow: /ab\nDisallow: /*ab\nDisallow: /b*ab\n";
    // Only the first note has no wildcards.
    let current = fix(body, &GOOGLE, Severity::Note);
    assert_eq!(text(&current), "User-agent: *|Disallow: /*ab|");
    let all = FixOptions { dialects: ALL.to_vec(), ..FixOptions::default() };
    assert_eq!(fix_with(body, &GOOGLE, &all).body, body);
    // The file's own dialect always counts.
    let none = FixOptions { dialects: Vec::new(), ..FixOptions::default() };
    assert_eq!(fix_with(body, &GOOGLE, &none).body, current.body);
    assert_eq!(fix_with(b"User-agent: *\nDisallow: /a\xC3\xA9\n", &KOSTER_1994, &none).changes, []);
}

#[test]
fn chosen_findings_are_fixed() {
    let body = b"User-agent: *\nDisallow: /a\nDisallow: /a/b\nDisallow: /c\nDisallow: /c\n";
    for (codes, lines, expected) in [
        (vec![Code::ShadowedRule], vec![], "User-agent: *|Disallow: /a|Disallow: /c|Disallow: /c|"),
        (vec![], vec![5], "User-agent: *|Disallow: /a|Disallow: /a/b|Disallow: /c|"),
        (vec![Code::ShadowedRule], vec![5], "User-agent: *|Disallow: /a|Disallow: /a/b|Disallow: /c|Disallow: /c|"),
        (vec![], vec![], "User-agent: *|Disallow: /a|Disallow: /c|"),
    ] {
        let options = FixOptions { codes, lines, ..FixOptions::default() };
        assert_eq!(text(&fix_with(body, &GOOGLE, &options)), expected);
    }
}

#[test]
fn larger_files_are_not_fixed() {
    let rules = "user-agent: *\ndisallow: /a\ndisallow: /a\n";
    for len in [MAX_PROVED_FILE_BYTES - 1, MAX_PROVED_FILE_BYTES, MAX_PROVED_FILE_BYTES + 1] {
        let body = format!("{rules}#{}", "#".repeat(len - rules.len() - 1));
        // Yandex ignores such a file, and Google reads its beginning.
        let options = FixOptions { dialects: Vec::new(), ..FixOptions::default() };
        let fixed = fix_with(body.as_bytes(), &GOOGLE_LIB, &options);
        assert_eq!(fixed.changes.len(), usize::from(len <= MAX_PROVED_FILE_BYTES), "{len}");
        assert_eq!(fixed.unfixed.iter().any(|left| left.reason == Refusal::TooLarge), len > MAX_PROVED_FILE_BYTES);
    }
}

#[test]
fn only_urls_of_the_same_host_become_paths() {
    let cases = [
        // The file's host, a rule's value, and the value after the fix, if any.
        (Some("example.com"), "https://example.com/x", Some("/x")),
        (Some("example.com"), "/https://example.com/x", Some("/x")),
        (Some("example.com"), "/https://www.example.com/x", None),
        (None, "/https://example.com/x", None),
        (Some("example.com"), "HTTP://EXAMPLE.COM/x?y", Some("/x?y")),
        (Some("example.com"), "http://example.com:80/x", Some("/x")),
        (Some("example.com"), "https://example.com/", None),
        (Some("example.com"), "https://other.example/x", None),
        (Some("example.com"), "https://www.example.com/x", None),
        (Some("example.com"), "https://example.com.evil.example/x", None),
        (Some("example.com"), "https://example.com@evil.example/x", None),
        (Some("example.com"), "https://example.com:8443/x", None),
        (Some("example.com"), "https://*.example.com/x", None),
        (None, "https://example.com/x", None),
        (None, "http://localhost/x", None),
    ];
    for (host, value, fixed) in cases {
        let host = host.map(str::as_bytes);
        let body = format!("User-agent: *\nDisallow: {value}\n");
        for dialect in ALL {
            let options = FixOptions { host: host.map(<[u8]>::to_vec), ..with_changes() };
            let found = fix_with(body.as_bytes(), dialect, &options);
            let expected = format!("User-agent: *\nDisallow: {}\n", fixed.unwrap_or(value));
            assert_eq!(String::from_utf8_lossy(&found.body), expected, "{} {host:?}", dialect.name);
            assert_eq!(fix_of_host(body.as_bytes(), dialect, Severity::Note, host).body, body.as_bytes());
        }
    }
}

proptest! {
    #![proptest_config(support::cases(500))]

    #[test]
    fn fixes_keep_verdicts_in_current_dialects(
        lines in prop::collection::vec(
            (
                "(Allow|Disallow|Disallow|User-agent|Disalow|Useragent|Sitemap|Allow |disallow|Bot|//Disallow)(:|:|: | |=)",
                "[/*]?[ab/*]{0,4}[$]?|/a/index[.]html|a|b|a/1[.]0|a, b|(/|)\u{fc}a|/a # b|",
                "(\n|\n|\r\n|\n\n)",
            ),
            1..14,
        ),
        dialect in prop::sample::select(ALL.to_vec()),
    ) {
        let body: String = lines.into_iter().map(|(key, value, end)| format!("{key}{value}{end}")).collect();
        let body = format!("User-agent: a\n{body}").into_bytes();
        is_settled(&body, dialect, &with_changes());
        let fixed = is_settled(&body, dialect, &FixOptions::default());
        for reader in CURRENT.into_iter().chain([dialect]) {
            let (paths, names) = paths_and_names(&body, reader);
            let verdicts = |body: &[u8]| verdicts(body, reader, &paths, &names);
            let shown = String::from_utf8_lossy(&body);
            prop_assert!(verdicts(&body) == verdicts(&fixed.body), "{}: {}\n{:#?}", reader.name, shown, fixed.changes);
        }
        // Each refused fix belongs to a finding.
        let left = lint(&fixed.body, dialect, MAX_FINDINGS_PER_CODE).findings;
        let is_left = |line, code| left.iter().any(|finding| (finding.line, finding.code) == (line, code));
        prop_assert!(fixed.unfixed.iter().all(|unfixed| is_left(unfixed.line, unfixed.code)));
    }
}

/// Returns the verdicts for all paths and names.
fn verdicts(body: &[u8], dialect: &'static Dialect, paths: &[Vec<u8>], names: &[Vec<u8>]) -> Vec<bool> {
    let origin = OwnedOrigin { host: b"h"[..].into(), scheme: Scheme::Http, port: 80 };
    let mut builder = SetBuilder::new(dialect);
    let Ok(prepared) = prepare(body, dialect, &Bump::new()) else { return Vec::new() };
    builder.add([origin], prepared);
    let set = Set::from_bytes(builder.finish(Default::default()).unwrap().to_bytes()).unwrap();
    let policy = set.policy(&Origin { scheme: Scheme::Http, host: b"h", port: 80 }).unwrap().unwrap();
    let agents: Vec<_> = names.iter().map(|name| of_name(name, dialect).look_up(&set).unwrap()).collect();
    let pairs = agents.iter().flat_map(|agent| paths.iter().map(move |path| (agent, path)));
    pairs.map(|(agent, path)| policy.decide(agent, path).unwrap() == Verdict::Allow).collect()
}

/// Returns paths that a file's rules apply to, and the product tokens that it names plus one that it does not.
fn paths_and_names(body: &[u8], dialect: &Dialect) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    const MOST: usize = 60;
    let arena = Bump::new();
    let robots = parse(body, dialect, &arena);
    let mut paths: Vec<Vec<u8>> = vec![b"/".to_vec(), b"/index.html".to_vec()];
    for rule in robots.groups.iter().flat_map(|group| group.rules) {
        let path: Vec<u8> = rule.value.iter().copied().filter(|byte| !b"*$".contains(byte)).collect();
        let path = if path.starts_with(b"/") { path } else { [b"/", &path[..]].concat() };
        paths.push([&path[..], b"/x"].concat());
        paths.push(path);
    }
    let step = paths.len() / MOST + 1;
    let paths = paths.into_iter().step_by(step).map(|path| dialect.normal_form.path(&path).into_owned()).collect();
    let values = robots.groups.iter().flat_map(|group| group.agents);
    let mut names: Vec<Vec<u8>> = values.map(|value| dialect.token_syntax.token_of(value).to_vec()).collect();
    names.retain(|name| !name.is_empty());
    let step = names.len() / 8 + 1;
    (paths, names.into_iter().step_by(step).chain([b"nobody".to_vec()]).collect())
}
