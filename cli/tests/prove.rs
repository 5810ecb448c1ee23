//! `reptile check --prove`, end to end.

use serde_json::Value;

use crate::support::Folder;

/// A group for GPTBot opens by omission what `*` closes. The groups for One and Two differ only in form.
const ROBOTS: &str = "User-agent: *\nDisallow: /cart\nDisallow: /private/\nAllow: /private/press$\n\n\
                      User-agent: GPTBot\nDisallow: /images\n\n\
                      User-agent: One\nDisallow: /x\n\nUser-agent: Two\nDisallow: /x*\nDisallow: /xy\n";

/// Returns a group for one token. A proof about its rules needs more steps than the limit.
fn hostile(token: &str) -> String {
    let rules = (0..40).map(|n| format!("disallow: /*a{n}b*c{n}*d{n}\nallow: /*a{n}b*c{n}*d{n}\n"));
    format!("user-agent: {token}\n{}\n", rules.collect::<String>())
}

/// Returns a folder with [`ROBOTS`] and a list of assertions.
fn folder(list: impl AsRef<[u8]>) -> Folder {
    let folder = Folder::new();
    folder.write("robots.txt", ROBOTS);
    folder.write("list", list);
    folder
}

const RUN: [&str; 4] = ["check", "robots.txt", "--prove", "list"];

#[test]
fn every_assertion_has_a_line() {
    for (assertion, code, expected) in [
        ("allow * /$", 0, "ok: allow * /$\n"),
        (
            "allow * /private/press$ /",
            1,
            "FAILED: allow * /private/press$ /: * may not fetch /cart\n    *: disallow: robots.txt:2: Disallow: /cart\n",
        ),
        ("disallow GPTBot /images/*", 0, "ok: disallow GPTBot /images/*\n"),
        (
            "disallow * /private/*",
            1,
            "FAILED: disallow * /private/*: * may fetch /private/press\n    *: allow: robots.txt:4: Allow: /private/press$\n",
        ),
        ("disallow * /private/*?", 0, "ok: disallow * /private/*?\n"),
        (
            "disallow GPTBot /cart$",
            1,
            "FAILED: disallow GPTBot /cart$: GPTBot may fetch /cart\n    GPTBot: allow: no rule matches\n",
        ),
        ("same One Two", 0, "ok: same One Two\n"),
        (
            "same One GPTBot",
            1,
            "FAILED: same One GPTBot: One may not fetch /x, and GPTBot may\n    One: disallow: robots.txt:10: Disallow: /x\n    GPTBot: allow: no rule matches\n",
        ),
        ("same One GPTBot /y*", 0, "ok: same One GPTBot /y*\n"),
        (
            "GPTBot <= *",
            1,
            "FAILED: GPTBot <= *: GPTBot may fetch /cart, and * may not\n    GPTBot: allow: no rule matches\n    *: disallow: robots.txt:2: Disallow: /cart\n",
        ),
        ("GPTBot <= * /images*", 0, "ok: GPTBot <= * /images*\n"),
        ("* <= GPTBot /private/", 0, "ok: * <= GPTBot /private/\n"),
        (
            "* <= GPTBot",
            1,
            "FAILED: * <= GPTBot: * may fetch /images, and GPTBot may not\n    *: allow: no rule matches\n    GPTBot: disallow: robots.txt:7: Disallow: /images\n",
        ),
        ("CCBot <= GPTBot", 1, "FAILED: CCBot <= GPTBot: no group names CCBot; --allow-default accepts that\n"),
        ("CCBot>* <= *", 0, "ok: CCBot>* <= *\n"),
    ] {
        let run = folder(format!("# one\r\n\r\n{assertion} # why\r\n")).run(&RUN);
        let summary = if code == 0 { "1 assertions: 1 proved, 0 failed" } else { "1 assertions: 0 proved, 1 failed" };
        let run = run.says(code, &[summary]);
        assert_eq!(run.text(), format!("list:3: {expected}"));
    }
}

#[test]
fn options_accept_what_is_otherwise_a_failure() {
    let (fallback, unproved) = ("GPTBot2 <= *\n", "allow hostile /\n");
    let steps = "not proved within 2,097,152 steps; --allow-unproved accepts that";
    for (list, options, code, expected) in [
        (
            "CCBot <= *",
            &[][..],
            1,
            "list:1: FAILED: CCBot <= *: no group names CCBot; --allow-default accepts that\n".to_owned(),
        ),
        ("CCBot <= *", &["--allow-default"], 0, "list:1: ok: CCBot <= *\n".into()),
        (
            "CCBot <= *",
            &["--allow-unproved"],
            1,
            "list:1: FAILED: CCBot <= *: no group names CCBot; --allow-default accepts that\n".into(),
        ),
        (
            "disallow CCBot /y",
            &["--allow-default"],
            1,
            "list:1: FAILED: disallow CCBot /y: CCBot may fetch /y\n    CCBot: allow: no rule matches\n".into(),
        ),
        (unproved, &[], 1, format!("list:1: unproved: allow hostile /: {steps}\n")),
        (unproved, &["--allow-unproved"], 0, format!("list:1: unproved: allow hostile /: {steps}\n")),
        (unproved, &["--allow-default"], 1, format!("list:1: unproved: allow hostile /: {steps}\n")),
        // Patterns may need as many steps as rules.
        (
            "disallow hostile /b /c",
            &["--allow-unproved"],
            1,
            "list:1: FAILED: disallow hostile /b /c: hostile may fetch /b\n    hostile: allow: no rule matches\n"
                .into(),
        ),
    ] {
        let folder = folder(list);
        folder.write("robots.txt", format!("{ROBOTS}\n{}", hostile("hostile")));
        let run = folder.run(&[&RUN[..], options].concat()).says(code, &["1 assertions"]);
        assert_eq!(run.text(), expected);
    }
    // There is no group for `*`.
    let folder = folder("* <= One");
    folder.write("robots.txt", "User-agent: One\nDisallow: /x\n");
    let text = folder.run(&RUN).says(1, &[]).text();
    assert_eq!(
        text,
        "list:1: FAILED: * <= One: no group is for *, so everything is allowed; --allow-default accepts that\n"
    );
    assert!(folder.run(&[&RUN[..], &["--allow-default"]].concat()).says(1, &[]).text().contains("* may fetch /x"));
    folder.write("list", fallback);
    folder.run(&RUN).says(2, &["list:1: expected a crawler, found"]);
}

#[test]
fn mistakes_are_reported_together() {
    for (list, says) in [
        (&b""[..], &["list:1: expected `allow CRAWLER PATTERN`", "no assertion in the whole list", "1 mistake;"][..]),
        (b"\n# nothing\n", &["no assertion in the whole list"]),
        (
            b"allow * /\nallow\r\ndeny * /\n",
            &["list:2: expected a crawler, found the end", "list:3: ", "\"deny\"", "2 mistakes;"],
        ),
        (b"allow \xff\xfe /", &["list:1: expected a crawler", "not UTF-8"]),
        (b"allow a\x1b[2J /", &["list:1: expected a crawler, found", "a\\u{1b}[2J"]),
        (b"allow * private", &["list:1: expected a pattern that begins with / or *, found \"private\""]),
        (
            b"allow * /robots.txt$\nallow Googelbot /",
            &["list:1: expected a pattern that matches", "list:2: expected a crawler", "nearly the crawler"],
        ),
        (b"\x89PNG\r\n\x1a\n", &["list: is a PNG picture, not a list of assertions"]),
    ] {
        let run = folder(list).run(&RUN).says(2, says);
        assert_eq!(run.text(), "", "{}", list.escape_ascii());
    }
    let many = folder("x\n".repeat(25)).run(&RUN).says(2, &["25 mistakes, 5 not shown; nothing was proved"]);
    assert_eq!(many.stderr.lines().count(), 21);
    // Text that is not UTF-8 may be in a pattern.
    folder(b"allow * /\xc3\xa9 /\xff").run(&RUN).says(0, &["1 proved"]);
    folder(b"\xef\xbb\xbfallow * /y").run(&RUN).says(0, &["1 proved"]);
}

#[test]
fn wrong_files_are_refused() {
    let folder = folder("allow * /$");
    folder.write("robots/a.example", ROBOTS);
    folder.write("urls", "https://example.com/\n");
    folder.write("page", "<!doctype html><html>");
    folder.run(&["compile", "-o", "set", "robots"]).says(0, &[]);
    for (args, says) in [
        ("missing --prove list", "missing: No such file"),
        ("robots.txt --prove missing", "missing: No such file"),
        (
            "list --prove robots.txt",
            "robots.txt: is a robots.txt, not a list of assertions; expected `reptile check robots.txt --prove ASSERTIONS`",
        ),
        ("robots.txt --prove robots.txt", "robots.txt: is a robots.txt, not a list of assertions"),
        (
            "list --prove list",
            "list: is a list of assertions, not a robots.txt; expected `reptile check robots.txt --prove list`",
        ),
        ("urls --prove list", "urls: is a list of URLs, not a robots.txt"),
        ("page --prove list", "page: is a web page (HTML), not a robots.txt"),
        ("robots --prove list", "robots: is a folder, not a robots.txt"),
        ("set --prove list", "set: is a compiled set, not a robots.txt"),
        ("robots.txt --prove robots", "robots: is a folder"),
        ("- --prove -", "standard input cannot be both the robots.txt and the assertions"),
        ("robots.txt --prove list --robots robots", "cannot be used with"),
        ("robots.txt --prove list --print", "cannot be used with"),
        ("robots.txt --prove list --all-dialects", "cannot be used with"),
        ("robots.txt --prove list --exact-agent", "cannot be used with"),
        ("robots.txt --prove list --max-differences 1", "cannot be used with"),
        ("robots.txt --robots robots --format json", "cannot be used with"),
        ("robots.txt --robots robots --allow-default", "cannot be used with"),
        ("robots.txt --robots robots --allow-unproved", "cannot be used with"),
        ("robots.txt --allow-default", "--prove <FILE>"),
        ("robots.txt", "--robots <INPUT>"),
    ] {
        let run = folder.run(&["check"].into_iter().chain(args.split(' ')).collect::<Vec<_>>()).says(2, &[says]);
        assert_eq!(run.text(), "", "{args}");
    }
    let run = folder.run_with(&["check", "-", "--prove", "list"], ROBOTS.as_bytes()).says(0, &["1 proved"]);
    assert_eq!(run.text(), "list:1: ok: allow * /$\n");
    let run = folder.run_with(&["check", "robots.txt", "--prove", "-"], b"allow * /$").says(0, &["1 proved"]);
    assert_eq!(run.text(), "-:1: ok: allow * /$\n");
}

#[test]
fn the_dialect_decides() {
    // The drafts know no wildcards.
    let folder = folder("disallow * /a.pdf");
    folder.write("robots.txt", "User-agent: *\nDisallow: /*.pdf\n");
    folder.run(&RUN).says(0, &["1 proved"]);
    folder.run(&[&RUN[..], &["--dialect", "koster-1994"]].concat()).says(1, &["1 failed"]);
}

/// A list with each result. Its names and paths contain characters that the formats escape.
const EACH_RESULT: &str = "allow * /$\nallow a>b>* /%0A*,:\nCCBot <= *\nallow hostile /";

fn each_result() -> Folder {
    let folder = folder(EACH_RESULT);
    folder.write("a, b%.txt", format!("User-agent: *\nDisallow: /%0A*,:\n\n{}", hostile("hostile")));
    folder
}

#[test]
fn json_has_an_object_for_each_assertion() {
    let run = each_result().run(&["check", "a, b%.txt", "--prove", "list", "--format", "json", "--allow-unproved"]);
    let text = run.says(1, &["4 assertions: 1 proved, 2 failed, 1 unproved"]).text();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected = [("holds", true), ("counterexample", false), ("no-group", false), ("unproved", true)];
    assert_eq!(rows.len(), expected.len());
    for (index, (row, (result, passed))) in rows.iter().zip(expected).enumerate() {
        assert_eq!((&row["result"], &row["passed"]), (&Value::from(result), &Value::from(passed)));
        assert_eq!((&row["file"], &row["line"]), (&Value::from("list"), &Value::from(index + 1)));
        assert_eq!(row["path"].is_null(), result != "counterexample");
        assert_eq!(row["message"].is_null(), result == "holds");
    }
    let found = &rows[1];
    assert_eq!((&found["assertion"], &found["path"]), (&"allow a>b>* /%0A*,:".into(), &"/%0A,:".into()));
    let verdict = &found["verdicts"][0];
    assert_eq!((&verdict["crawler"], &verdict["verdict"]), (&"a>b>*".into(), &"disallow".into()));
    assert_eq!((&verdict["line"], &verdict["rule"]), (&2.into(), &"Disallow: /%0A*,:".into()));
}

#[test]
fn annotations_are_escaped_and_name_the_deciding_rule() {
    let args = ["check", "a, b%.txt", "--prove", "list", "--format", "github", "--allow-unproved"];
    let text = each_result().run(&args).says(1, &["4 assertions"]).text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..2],
        [
            "::error file=a%2C b%25.txt,line=2,title=allow a>b>* /%250A*%2C%3A::a>b>* may not fetch \
             /%250A,:%0Aa>b>*: disallow: a, b%25.txt:2: Disallow: /%250A*,:",
            "::error file=list,line=3,title=CCBot <= *::no group names CCBot; --allow-default accepts that",
        ]
    );
    assert!(lines[2].starts_with("::notice file=list,line=4,title=allow hostile /::not proved within"), "{text}");
    assert_eq!(lines.len(), 3, "{text}");
    let text = each_result().run(&args[..6]).says(1, &[]).text();
    assert!(text.contains("::error file=list,line=4,title=allow hostile /::not proved"), "{text}");
    // Standard input has no lines to show.
    let folder = folder("GPTBot <= *");
    let args = ["check", "-", "--prove", "list", "--format", "github"];
    let text = folder.run_with(&args, ROBOTS.as_bytes()).says(1, &[]).text();
    assert!(text.starts_with("::error file=list,line=1,title=GPTBot <= *::GPTBot may fetch /cart"), "{text}");
}

#[test]
fn sarif_is_valid() {
    let args = ["check", "a, b%.txt", "--prove", "list", "--format", "sarif", "--allow-unproved"];
    let text = each_result().run(&args).says(1, &[]).text();
    let sarif: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&sarif["version"], sarif["runs"].as_array().unwrap().len()), (&"2.1.0".into(), 1));
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let expected = [
        ("allow", "error", "a%2C%20b%25.txt", 2, "allow a>b>* /%0A*,:: a>b>* may not fetch /%0A,:\n"),
        ("permits-no-more", "error", "list", 3, "CCBot <= *: no group names CCBot;"),
        ("allow", "note", "list", 4, "allow hostile /: not proved within"),
    ];
    assert_eq!(results.len(), expected.len());
    for (result, (rule, level, uri, line, message)) in results.iter().zip(expected) {
        assert_eq!(rules[result["ruleIndex"].as_u64().unwrap() as usize]["id"], rule);
        assert_eq!((&result["ruleId"], &result["level"]), (&rule.into(), &level.into()));
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!((&place["artifactLocation"]["uri"], &place["region"]["startLine"]), (&uri.into(), &line.into()));
        assert!(result["message"]["text"].as_str().unwrap().starts_with(message), "{result}");
    }
    let text = folder("allow * /$").run(&[&RUN[..], &["--format", "sarif"]].concat()).says(0, &[]).text();
    let sarif: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 0);
}
