//! `reptile lint` and `diff`, end to end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use support::Folder;

const TRAP: &str = "User-agent: *\nCrawl-delay: 5\nUser-agent: GPTBot\nDisallow: /\n";

#[test]
fn findings_are_printed_as_text_and_json() {
    let folder = Folder::new();
    folder.write("robots.txt", TRAP);
    let run =
        folder.run(&["lint", "robots.txt"]).says(1, &["files 1", "error[groups-collapse] 1", "note[unused-key] 1"]);
    assert!(run.text().contains("robots.txt:3: error[groups-collapse]: "), "{run:?}");
    assert!(run.text().contains("\n    fix: put \"Disallow:\" after line 1\n"), "{run:?}");
    let run = folder.run(&["lint", "robots.txt", "--json", "--severity", "warning"]).says(1, &[]);
    let start = "{\"file\":\"robots.txt\",\"line\":3,\"severity\":\"error\",\"code\":\"groups-collapse\",";
    // Closing the site and Bing's reading of the groups are findings too.
    assert!(run.text().starts_with(start) && run.text().lines().count() == 3, "{run:?}");
    assert!(run.text().contains("\"line\":4,\"severity\":\"warning\",\"code\":\"closed-site\""), "{run:?}");
    assert!(run.text().contains("\"code\":\"dialects-differ\""), "{run:?}");
    // The crawlers share a group, so no finding mentions separate groups.
    assert!(!run.text().contains("groups of their own"), "{run:?}");
}

#[test]
fn lint_exit_codes_depend_on_findings() {
    let folder = Folder::new();
    folder.robots();
    folder.run(&["lint", "robots"]).says(1, &["files 3", "error[sitemap-url] 1"]);
    folder.write("good", "User-agent: *\nDisallow: /x\n");
    folder.run(&["lint", "good"]).says(0, &["files 1"]);
    folder.run(&["lint", "missing"]).says(2, &["missing"]);
    folder.run(&["lint", "robots", "--severity", "loud"]).says(2, &["invalid value"]);
    folder.run_with(&["lint", "-"], b"Disallow: /\n").says(1, &["error[no-group]"]);
}

#[test]
fn changed_rules_and_verdicts_are_listed() {
    let folder = Folder::new();
    folder.write("old", "User-agent: *\nDisallow: /a\nDisallow: /b\n\nUser-agent: x\nDisallow: /\n");
    folder.write("new", "User-agent: *\nDisallow: /b\nDisallow: /c\n");
    folder.write("urls", "/a\nhttp://example.com/c\n/b\n");
    let rules = "! *\n  opens /a\n    was disallow (line 2: Disallow: /a); is allow (no rule matches)\n  closes /c\n    \
        was allow (no rule matches); is disallow (line 3: Disallow: /c)\n\
        ! x\n  opens /\n    was disallow (line 6: Disallow: /); is allow (no rule matches)\n  closes nothing\n\
        @ *\n- 2: Disallow: /a\n+ 3: Disallow: /c\n@ x\n- the group; the rules for * now apply\n- 6: Disallow: /\n";
    assert_eq!(folder.run(&["diff", "old", "new"]).says(1, &[]).text(), rules);
    let run = folder.run(&["diff", "old", "new", "--urls", "urls"]).says(1, &[]);
    let flips =
        "/a\t*\tdisallow\t2\tallow\t0\n/a\tx\tdisallow\t6\tallow\t0\nhttp://example.com/c\t*\tallow\t0\tdisallow\t3\n";
    assert_eq!(run.text(), format!("{rules}{flips}"));
    let run = folder.run(&["diff", "old", "new", "--urls", "urls", "--agent", "x"]).says(1, &[]);
    let rules = rules.split_at(rules.find("! x").unwrap()).1;
    assert_eq!(run.text(), format!("{rules}/a\tx\tdisallow\t6\tallow\t0\n"));
    assert_eq!(folder.run(&["diff", "old", "old", "--urls", "urls"]).says(0, &[]).text(), "");
    folder.run(&["diff", "old", "missing"]).says(2, &["missing"]);
}

#[test]
fn changed_order_and_groups_are_listed() {
    let folder = Folder::new();
    let (a, b) = ("Disallow: /x/1\n", "Allow: /x\n");
    folder.write("old", format!("User-agent: *\n{a}{b}Disallow: /z\nUser-agent: Googlebot\nDisallow: /g\n"));
    folder.write("new", format!("User-agent: *\n{b}{a}Disallow: /z\nUser-agent: Googlebot-Image\nDisallow: /g\n"));
    // Rule order matters only where the first matching rule decides.
    let text = folder.run(&["diff", "old", "new", "--dialect", "koster-1996"]).says(1, &[]).text();
    // This dialect looks for the crawler's token within the name in the file, so Googlebot keeps its group.
    let moved = "@ *\n~ 2 > 3: Disallow: /x/1\n@ googlebot-image\n\
                 + the group; the rules for * applied before\n+ 6: Disallow: /g\n";
    assert!(text.ends_with(moved), "{text}");
    let text = folder.run(&["diff", "old", "new", "--dialect", "google"]).says(1, &[]).text();
    let groups = "@ googlebot\n- the group; the rules for * now apply\n- 6: Disallow: /g\n\
                  @ googlebot-image\n+ the group; the rules for * applied before\n+ 6: Disallow: /g\n";
    assert!(text.contains(groups), "{text}");
    for crawler in [
        "~ Googlebot-Image: obeyed the rules for Googlebot, obeys those for Googlebot-Image\n",
        "~ Googlebot-Video: obeyed the rules for Googlebot, obeys those for *\n",
        "~ Applebot: obeyed the rules for Googlebot, obeys those for *\n",
    ] {
        assert!(text.contains(crawler), "{crawler} {text}");
    }
    let args = ["diff", "old", "new", "--agent", "Googlebot>nobody", "--agent", "other"];
    let text = folder.run(&args).says(1, &[]).text();
    let (_, lines) = text.split_at(text.find("@ ").unwrap());
    assert_eq!(lines, format!("{groups}~ Googlebot>nobody: obeyed the rules for Googlebot, obeys those for nobody\n"));
}

#[test]
fn any_file_can_be_linted() {
    let folder = Folder::new();
    folder.write("files/no host.txt", TRAP);
    folder.write("files/deep/robots.txt", TRAP);
    let run = folder.run(&["lint", "files"]).says(1, &["files 2", "error[groups-collapse] 2 in 2 files"]);
    assert!(run.text().contains("files/no host.txt:3: error[groups-collapse]: "), "{run:?}");
    folder.write("many", format!("User-agent: *\nDisallow: /\n{}", "Foo: x\n".repeat(150)));
    let run = folder.run(&["lint", "many"]).says(0, &["warning[unknown-key] 150 in 1 file"]);
    assert_eq!(run.text().lines().count(), 102);
    assert!(
        run.text().ends_with("many:103: warning[more-findings]: 50 more of unknown-key, the first here\n"),
        "{run:?}"
    );
    let run = folder.run(&["lint", "many", "--max-findings", "150"]).says(0, &[]);
    assert_eq!(run.text().lines().count(), 151);
}

/// A failed fetch has no robots.txt to lint.
#[test]
fn lint_checks_only_fetched_files() {
    let folder = Folder::new();
    let lines = [
        r#"{"url": "http://a.example/robots.txt", "status": 404, "body": "<html>"}"#,
        r#"{"url": "http://b.example/robots.txt", "error": "no such host"}"#,
        r#"{"url": "http://c.example/robots.txt", "body": "User-agent: *\nDisallow: /\n"}"#,
    ];
    folder.write("c.jsonl", lines.join("\n"));
    folder.run(&["lint", "c.jsonl"]).says(0, &["files 1"]);
}

#[test]
fn github_and_sarif_formats_are_valid() {
    let folder = Folder::new();
    folder.write("a, b.txt", "User-agent: *\nDisallow: x\n");
    folder.write("c.txt", "User-agent: *\nDisallow: y\n");
    let text = folder.run(&["lint", "a, b.txt", "--format", "github"]).says(1, &[]).text();
    assert!(text.starts_with("::error file=a%2C b.txt,line=2,title=no-leading-slash::\"x\" does not"), "{text}");
    assert!(text.contains("%0Afix: Disallow: /x\n"), "{text}");
    let text = folder.run(&["lint", "a, b.txt", "c.txt", "--format", "sarif"]).says(1, &[]).text();
    let sarif: serde_json::Value = serde_json::from_str(&text).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    let first = &results[0];
    let rule = &sarif["runs"][0]["tool"]["driver"]["rules"][first["ruleIndex"].as_u64().unwrap() as usize];
    assert_eq!((&first["ruleId"], &first["level"]), (&rule["id"], &"error".into()));
    let place = &first["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "a%2C%20b.txt");
    assert_eq!(place["region"]["startLine"], 2);
    folder.write("good", "User-agent: *\nDisallow: /x\n");
    let text = folder.run(&["lint", "good", "--format", "sarif"]).says(0, &[]).text();
    let sarif: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 0);
    folder.run(&["lint", "good", "--format", "sarif", "--json"]).says(2, &["cannot be used with"]);
}

#[test]
fn list_describes_every_kind_of_finding() {
    let text = Folder::new().run(&["lint", "--list"]).says(0, &[]).text();
    assert!(
        text.lines().any(|line| line.starts_with("html ") && line.ends_with("  A web page instead of a robots.txt."))
    );
    assert!(text.lines().all(|line| line.ends_with('.')), "{text}");
}

#[test]
fn fixes_are_written_and_reported() {
    let folder = Folder::new();
    folder.write("robots.txt", "User-agent: *\nDisallow: x\nDisallow: /a\nDisallow: /a/b\n");
    folder
        .run(&["lint", "--fix", "robots.txt"])
        .says(1, &["robots.txt:4: fixed[shadowed-rule]: \"Disallow: /a/b\" removed\n"])
        .says(1, &["error[no-leading-slash] 1"]);
    assert_eq!(folder.read("robots.txt"), b"User-agent: *\nDisallow: x\nDisallow: /a\n");
    const DIALECTS: &str = "google, google-lib, rfc9309, rfc9309-strict, yandex, bing";
    let reason = format!("closes \"/x\" for \"*\" in {DIALECTS}");
    let hint = "--fix=changes applies it";
    let again = folder.run(&["lint", "--fix", "robots.txt"]).says(1, &[]);
    assert!(!again.stderr.contains(": fixed["), "{again:?}");
    assert!(again.text().contains(&format!("    fix: Disallow: /x\n    not fixed: {reason}; {hint}\n")), "{again:?}");
    let json = folder.run(&["lint", "--fix", "robots.txt", "--json"]).says(1, &[]).text();
    assert!(json.contains(&format!("\"not_fixed\":\"{}; {hint}\"", reason.replace('"', "\\\""))), "{json}");
    // The other dialects do not matter.
    let json = folder.run(&["lint", "--fix", "robots.txt", "--json", "--dialects", "bing,google"]).says(1, &[]).text();
    assert!(json.contains("for \\\"*\\\" in google, bing; --fix"), "{json}");
    let change =
        format!("2: fixed[no-leading-slash]: \"Disallow: x\" now \"Disallow: /x\"; verdicts change: {reason}\n");
    folder.run(&["lint", "--fix=changes", "robots.txt"]).says(0, &[&change]);
    assert_eq!(folder.read("robots.txt"), b"User-agent: *\nDisallow: /x\nDisallow: /a\n");
    let again = folder.run(&["lint", "--fix=changes", "robots.txt"]).says(0, &[]);
    assert!(!again.stderr.contains(": fixed["), "{again:?}");
    folder.run(&["lint", "--fix=all", "robots.txt"]).says(2, &["invalid value 'all' for '--fix"]);
    folder.run(&["lint", "--dialects", "bing", "robots.txt"]).says(2, &["--fix"]);
    folder.run(&["lint", "--fix", "."]).says(2, &["--fix requires a file name"]);
    folder.run_with(&["lint", "--fix", "-"], b"Disallow: x\n").says(2, &["--fix requires a file name"]);
}

/// Number of files in the test of reasons.
const UNFIXED: usize = 6;

/// Every format states why a finding is not fixed, and `--format github` and `sarif` escape the reason.
#[test]
fn every_format_states_why_a_finding_is_not_fixed() {
    let folder = Folder::new();
    let hint = "; --fix=changes applies it";
    let closes = |path| {
        format!("closes \"{path}\" for \"*\" in google, google-lib, rfc9309, rfc9309-strict, yandex, bing{hint}")
    };
    let advice = "the remedy depends on what you mean".to_owned();
    let doubtful = "line 4 may begin a group, but not every crawler reads it so";
    // The file, its finding, and the reason.
    let cases: [(&str, &str, Option<String>); UNFIXED] = [
        ("User-agent: *\nDisallow: x\n", "no-leading-slash", Some(closes("/x"))),
        ("User-agent: *\nDisallow: x%25y\n", "no-leading-slash", Some(closes("/x%25y"))),
        (
            "User-agent: *\nContent-Usge: train-ai=n\n",
            "misspelt-key",
            Some(format!("changes what the file states about uses{hint}")),
        ),
        (
            "User-agent: *\nDisallow: /a\n\nUser\u{2013}agent: x\nDisallow: /a/b\n",
            "shadowed-rule",
            Some(doubtful.into()),
        ),
        (
            "User-agent: *\nDisallow: /a\nDisallow: /a/b # lint-ignore: html\nDisallow: /c\n",
            "shadowed-rule",
            Some("its comment would ignore findings about the next line".into()),
        ),
        ("User-agent: *\nDisallow: https://example.com/x\n", "absolute-url", Some(advice)),
    ];
    for (body, code, reason) in cases {
        folder.write("robots.txt", body);
        let [text, json, github, sarif] = ["text", "json", "github", "sarif"].map(|format| {
            let text = folder.run(&["lint", "--fix", "robots.txt", "--format", format]).text();
            assert_eq!(folder.read("robots.txt"), body.as_bytes(), "{format}");
            text
        });
        let reason = reason.as_deref();
        let finding = text.split("robots.txt:").find(|finding| finding.contains(&format!("[{code}]"))).unwrap();
        let of_text = finding.lines().find_map(|line| line.strip_prefix("    not fixed: "));
        assert_eq!(of_text, reason, "{body}");
        let mut rows = json.lines().map(|row| serde_json::from_str::<serde_json::Value>(row).unwrap());
        let row = rows.find(|row| row["code"] == code).unwrap();
        assert_eq!(row["not_fixed"].as_str(), reason, "{body}");
        let command = github.lines().find(|line| line.contains(&format!(",title={code}::"))).unwrap();
        let message = command.replace("%0A", "\n").replace("%25", "%");
        assert_eq!(message.split_once("\nnot fixed: ").map(|(_, reason)| reason), reason, "{body}");
        let sarif: serde_json::Value = serde_json::from_str(&sarif).unwrap();
        let result =
            sarif["runs"][0]["results"].as_array().unwrap().iter().find(|result| result["ruleId"] == code).unwrap();
        let message = result["message"]["text"].as_str().unwrap();
        assert_eq!(message.split_once(" Not fixed: ").map(|(_, reason)| reason), reason, "{body}");
    }
}

#[test]
fn ignore_comments_suppress_findings() {
    let folder = Folder::new();
    folder.write("robots.txt", "User-agent: *\nDisallow: x # lint-ignore: no-leading-slash\n");
    let run = folder.run(&["lint", "robots.txt"]).says(0, &[]);
    assert_eq!(run.text(), "");
}

#[test]
fn groups_that_open_what_everyone_is_denied_are_found() {
    let folder = Folder::new();
    let star = "User-agent: *\nDisallow: /admin\n\nUser-agent: GPTBot\n";
    // A crawler that trains models, whose group opens a folder for members.
    folder.write("robots.txt", format!("{star}Allow: /\n"));
    folder.run(&["lint", "robots.txt"]).says(0, &["warning[group-opens] 1 in 1 file"]);
    let star = star.replace("/admin", "/old");
    // The rules of the group, the options, and the start of the only finding.
    for (rules, options, finding) in [
        ("Disallow: /x\n", &[][..], "robots.txt:4: warning[group-opens]: \"GPTBot\" may fetch \"/old\""),
        ("Allow: /\n", &[], ""),
        (
            "Allow: /\n",
            &["--enable", "group-opens-on-purpose"],
            "robots.txt:4: note[group-opens-on-purpose]: \"GPTBot\" may fetch \"/old\", which line 2 closes to \"*\"",
        ),
        ("Disallow: /old\n", &["--enable", "group-opens-on-purpose"], ""),
    ] {
        folder.write("robots.txt", format!("{star}{rules}"));
        let text = folder.run(&[&["lint", "robots.txt"], options].concat()).says(0, &[]).text();
        assert!(text.starts_with(finding) && text.is_empty() == finding.is_empty(), "{rules} {text}");
    }
    folder.write("robots.txt", star.replace("GPTBot", "GPTBot # lint-ignore: group-opens") + "Disallow: /x\n");
    assert_eq!(folder.run(&["lint", "robots.txt"]).says(0, &[]).text(), "");
    folder.run(&["lint", "robots.txt", "--enable", "html"]).says(2, &["invalid value"]);
}

#[test]
fn rules_that_change_nothing_are_removed() {
    let folder = Folder::new();
    folder.write("robots.txt", "User-agent: *\nDisallow: /ab # old\nDisallow: /*ab\nDisallow: /b*ab\n");
    folder
        .run(&["lint", "robots.txt"])
        .says(0, &["note[hidden-rule] 1 in 1 file", "note[superfluous-rule] 1 in 1 file"]);
    folder.run(&["lint", "robots.txt", "--fix"]).says(0, &["robots.txt:2: fixed[hidden-rule]"]);
    assert_eq!(folder.read("robots.txt"), b"User-agent: *\n# old\nDisallow: /*ab\n");
}

#[test]
fn findings_that_are_off_by_default_are_counted_at_the_end() {
    let folder = Folder::new();
    let group = |name: &str| format!("User-agent: {name}\nAllow: /\n\n");
    folder.write("robots.txt", format!("User-agent: *\nDisallow: /old\n\n{}{}", group("GPTBot"), group("CCBot")));
    let run = folder.run(&["lint", "robots.txt"]).says(0, &["2 more with --all: group-opens-on-purpose\n"]);
    assert_eq!(run.text(), "");
    assert!(run.stderr.ends_with("2 more with --all: group-opens-on-purpose\n"), "{run:?}");
    let run = folder.run(&["lint", "robots.txt", "--all"]).says(0, &["note[group-opens-on-purpose] 2 in 1 file"]);
    assert!(!run.stderr.contains("--all"), "{run:?}");
    let run = folder.run(&["lint", "robots.txt", "--severity", "warning"]).says(0, &[]);
    assert!(!run.stderr.contains("--all"), "{run:?}");
}

/// Every format names the characters.
#[test]
fn characters_are_named_in_all_formats() {
    let folder = Folder::new();
    let characters = [
        ("\u{200B}", "U+200B ZERO WIDTH SPACE"),
        ("\u{A0}", "U+00A0 NO-BREAK SPACE"),
        ("\u{202E}", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("\u{FEFF}", "U+FEFF ZERO WIDTH NO-BREAK SPACE (byte order mark)"),
        ("\u{AD}", "U+00AD SOFT HYPHEN"),
        ("\u{201C}", "U+201C LEFT DOUBLE QUOTATION MARK"),
        ("\u{2014}", "U+2014 EM DASH"),
        ("\u{FF0F}", "U+FF0F FULLWIDTH SOLIDUS"),
    ];
    let mut count = 0;
    for (character, name) in characters {
        let body = format!("User-agent: *\nDisallow: {character}/x\nUser-agent: b\nFoo{character}: x\n");
        folder.write("robots.txt", body);
        for format in ["text", "json", "github", "sarif"] {
            let run = folder.run(&["lint", "robots.txt", "--format", format]).says(1, &["error[odd-character] 1"]);
            let text = run.text();
            // The rule, and the unknown key.
            assert!(text.matches(name).count() >= 2 && !text.contains(character), "{format} {name} {text}");
            count += 1;
        }
    }
    assert_eq!(count, 32);
}

#[test]
fn an_error_message_in_json_is_not_read_as_captures() {
    let folder = Folder::new();
    folder.write("robots.txt", "{\"error\": \"not found\"}\n");
    let run = folder.run(&["lint", "robots.txt"]).says(1, &["error[other-document] 1 in 1 file"]);
    assert!(run.text().contains("the file is JSON, "), "{run:?}");
    folder.write(
        "c.jsonl",
        "{\"url\": \"http://c.example/robots.txt\", \"body\": \"User-agent: *\\nDisallow: /x\\n\"}\n",
    );
    folder.run(&["lint", "c.jsonl"]).says(0, &["files 1"]);
}
