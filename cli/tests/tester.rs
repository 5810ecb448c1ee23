//! `reptile test`: its explanations of the file, the rules and the dialects, and its limits.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use reptile::limits::MAX_URL_BYTES;
use serde_json::Value;
use support::Folder;

const BODY: &str = "User-agent: *\nDisallow: /\n\nUser-agent: a\nUser-agent: b\nDisallow: /x/%7euser # why\nAllow: /x/%7Eu\nDisallow: /y\nAllow: /y\n";

#[test]
fn each_verdict_is_explained() {
    let folder = Folder::new();
    folder.write("robots.txt", BODY);
    let text = folder.run(&["test", "robots.txt", "--agent", "B", "/x/%7Euser/1", "/y", "/é"]).says(0, &[]).text();
    let expected = "\
robots.txt: 9 lines, read as google

  1  User-agent: *
  2  Disallow: /
  3
  4  User-agent: a
@ 5  User-agent: b
> 6  Disallow: /x/%7euser # why  <- decides 1
- 7  Allow: /x/%7Eu              <- outdone in 1
- 8  Disallow: /y                <- outdone in 2
> 9  Allow: /y                   <- decides 2

1  disallow  /x/%7Euser/1  for B
   group     line 5: names B
   decides   line 6: Disallow: /x/%7euser # why  (read as Disallow: /x/%7Euser, 10 octets)
   outdone   line 7: Allow: /x/%7Eu  (7 octets)
   because   the Disallow is longer: 10 octets against 7

2  allow  /y  for B
   group     line 5: names B
   decides   line 9: Allow: /y  (2 octets)
   outdone   line 8: Disallow: /y  (2 octets)
   because   both have 2 octets, and then the Allow wins

3  allow  /é  for B
   URL       sent as /%C3%A9, as a browser escapes it
   group     line 5: names B
   because   no rule matches
";
    assert_eq!(text, expected);
}

#[test]
fn chains_and_normal_forms_are_explained() {
    let folder = Folder::new();
    folder.write("robots.txt", "User-agent: Googlebot\nDisallow: /é\nUser-agent: x\nDisallow: /\n");
    let agents = ["--agent", "Googlebot-Image", "--agent", "AdsBot-Google", "--agent", "Google-Safety"];
    let run = folder.run(&[&["test", "robots.txt", "--dialect", "google", "/é/1"][..], &agents].concat());
    let text = run.says(0, &[]).text();
    for line in [
        "1  disallow  /é/1  for Googlebot-Image\n",
        "   group     line 1: names Googlebot, which Googlebot-Image obeys where Googlebot-Image is not named\n",
        "   URL       sent as /%C3%A9/1, as a browser escapes it\n",
        "   decides   line 2: Disallow: /é  (read as Disallow: /%C3%A9, 7 octets)\n",
        "   because   no group names AdsBot-Google, which does not obey the rules for *\n",
        "   because   Google-Safety obeys no robots.txt\n",
    ] {
        assert!(text.contains(line), "no {line:?} in {text}");
    }
}

/// A remark says if a path has another verdict in the letter case of a rule, and only then.
#[test]
fn another_letter_case_is_remarked() {
    let folder = Folder::new();
    folder.write(
        "robots.txt",
        "User-agent: *\nDisallow: /Private\nDisallow: /*.PDF$\nDisallow: /Both\nDisallow: /both\n",
    );
    for (path, remark) in [
        ("/private/x", Some("letter case counts: /Private/x, as in line 2, has the verdict disallow")),
        ("/a.pdf", Some("letter case counts: /a.PDF, as in line 3, has the verdict disallow")),
        ("/BOTH", Some("letter case counts: /")),
        ("/Private/x", None),
        ("/both", None),
        ("/priva", None),
        ("/other", None),
    ] {
        let text = folder.run(&["test", "--brief", "robots.txt", "--agent", "b", path]).says(0, &[]).text();
        match remark {
            Some(remark) => assert!(text.contains(remark), "{path}: {text}"),
            None => assert!(!text.contains("letter case"), "{path}: {text}"),
        }
    }
}

/// A long file has no remarks about letter case.
#[test]
fn long_files_have_no_remarks_on_letter_case() {
    let folder = Folder::new();
    let rules = "User-agent: *\nDisallow: /Private\n#";
    for (len, is_remarked) in [((1 << 20) - 1, true), (1 << 20, true), ((1 << 20) + 1, false)] {
        folder.write("robots.txt", rules.to_owned() + &"x".repeat(len - rules.len()));
        let args = ["test", "--brief", "robots.txt", "--dialect", "google-lib", "--agent", "b", "/private"];
        assert_eq!(folder.run(&args).says(0, &[]).text().contains("letter case"), is_remarked, "{len}");
    }
}

#[test]
fn only_relevant_lines_of_a_long_file_are_shown() {
    let folder = Folder::new();
    for (lines, is_whole) in [(40, true), (41, false)] {
        let rules: String = (3..=lines).map(|number| format!("Disallow: /{number}x\n")).collect();
        folder.write("robots.txt", format!("# long\nUser-agent: *\n{rules}"));
        let text = folder.run(&["test", "robots.txt", "--agent", "a", "/30x"]).says(0, &[]).text();
        assert!(text.contains(&format!("robots.txt: {lines} lines")), "{text}");
        let left_out = "  ...  23 lines left out; --full shows them\n";
        assert_eq!(text.contains("Disallow: /15x"), is_whole, "{text}");
        assert_eq!(text.contains(left_out), !is_whole, "{text}");
        assert!(
            text.contains("  28  Disallow: /28x\n") && text.contains("> 30  Disallow: /30x  <- decides 1\n"),
            "{text}"
        );
        let text = folder.run(&["test", "robots.txt", "--agent", "a", "/30x", "--full"]).says(0, &[]).text();
        assert!(text.contains("  15  Disallow: /15x\n") && !text.contains("left out"), "{text}");
    }
    // A line of 1 MiB is truncated in the output.
    folder.write("robots.txt", format!("User-agent: *\nDisallow: /{}\n", "a".repeat(1 << 20)));
    let text = folder.run(&["test", "robots.txt", "--agent", "a", "/"]).says(0, &[]).text();
    assert!(text.len() < 2000, "{}", text.len());
}

#[test]
fn control_characters_are_escaped() {
    let folder = Folder::new();
    folder.write("robots.txt", "User-agent: *\nDisallow: /\x1b[31m\u{202e}x\u{9b}\nDisallow: /a\tb\n");
    for more in [&[][..], &["--all-dialects"], &["--json"], &["--brief"], &["--json", "--all-dialects"]] {
        let harmful = |text: &str| text.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
        let args = [&["test", "robots.txt", "--agent", "a", "/\u{1b}[31m\u{202e}x\u{9b}"][..], more].concat();
        let text = folder.run(&args).says(0, &[]).text();
        assert_eq!(harmful(&text), None, "{more:?}: {text:?}");
        let args = [&["test", "robots.txt", "--agent", "\u{1b}]\u{202e}a", "/"][..], more].concat();
        let refused = folder.run(&args).says(2, &["--agent"]);
        assert_eq!(harmful(&refused.stderr), None, "{more:?}: {refused:?}");
    }
}

#[test]
fn dialects_are_shown_side_by_side() {
    let folder = Folder::new();
    folder.write("robots.txt", "User-agent: *\n\nDisallow: /a\nDisallow: /b*c\n");
    let run = folder.run(&["test", "robots.txt", "--agent", "x", "--all-dialects", "/a", "/z"]);
    let text = run.says(0, &[]).text();
    let words = |line: usize| text.lines().nth(line).unwrap().split_whitespace().collect::<Vec<_>>();
    let names = ["google-lib", "google", "rfc9309", "rfc9309-strict", "yandex", "yandex-2017", "bing", "koster-1994"];
    assert_eq!(words(0)[2..10], names);
    let d = ["disallow", "3"];
    let row = [&["!", "/a", "x"][..], &d, &d, &d, &d, &["!allow", "!allow"], &d, &["!allow", "!allow"]].concat();
    assert_eq!(words(1), row);
    assert_eq!(words(2), [&["/z", "x"][..], &["allow"; 9]].concat());
    assert!(text.contains("line 3: rule that is in no group"), "{text}");
    assert!(text.ends_with("\n1 of 2 answers differs between dialects; ! marks a verdict that differs from google\n"));

    let run = folder.run(&["test", "robots.txt", "--agent", "x", "--all-dialects", "--json", "/a", "/z"]);
    let text = run.says(0, &[]).text();
    let objects: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), 18);
    for object in &objects {
        let differs = object["url"] == "/a"
            && ["yandex", "yandex-2017", "koster-1994", "koster-1996"].contains(&object["dialect"].as_str().unwrap());
        assert_eq!(object["agrees"], !differs, "{object}");
        let disallowed = object["url"] == "/a" && !differs;
        assert_eq!(object["verdict"], if disallowed { "disallow" } else { "allow" }, "{object}");
        assert_eq!(object["line"], if disallowed { 3 } else { 0 }, "{object}");
    }
    let expected = serde_json::json!({
        "url": "/a", "agent": "x", "dialect": "google-lib", "verdict": "disallow", "line": 3, "why": "only-kind",
        "because": "no Allow matches", "path": "/a", "group": {"by": "default-group", "token": null, "lines": [1]},
        "allow": null, "disallow": {"line": 3, "text": "Disallow: /a", "pattern": "/a", "octets": 2}, "agrees": true
    });
    assert_eq!(objects[0], expected);
}

/// If thousands of lines name an agent, an answer lists the first lines and counts the others.
#[test]
fn long_lists_of_naming_lines_are_abbreviated() {
    let folder = Folder::new();
    for (count, more) in [(99, None), (100, None), (101, Some(1)), (5000, Some(4900))] {
        folder.write("robots.txt", "user-agent: *\n".repeat(count) + "disallow: /\n");
        let urls = "/x\n".repeat(100);
        let run = folder.run_with(&["test", "robots.txt", "--agent", "a", "--json"], urls.as_bytes()).says(0, &[]);
        let objects: Vec<Value> = run.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(objects.len(), 100);
        assert_eq!(objects[0]["group"]["lines"].as_array().unwrap().len(), count.min(100));
        assert_eq!(objects[99]["group"].get("more_lines").map(|more| more.as_u64().unwrap()), more, "{count}");
        assert!(run.stdout.len() < 100 * 1024, "{} bytes", run.stdout.len());
        let text = folder.run(&["test", "robots.txt", "--agent", "a", "/x"]).says(0, &[]).text();
        assert!(text.len() < 8 * 1024, "{} bytes for {count}", text.len());
        assert!(text.contains(&format!("lines 1, 2, 3, 4, 5, 6, 7, 8 and {} more: for *", count - 8)), "{text}");
    }
}

#[test]
fn the_number_of_full_answers_is_limited() {
    let folder = Folder::new();
    folder.write("robots.txt", BODY);
    let words = ["at most 1,000 answers, one for each URL and crawler"];
    for (count, fits) in [(499, true), (500, true), (501, false)] {
        let urls = "/x\n".repeat(count);
        let run = |more: &[&str]| {
            let args = [&["test", "robots.txt", "--agent", "a", "--agent", "b"][..], more].concat();
            folder.run_with(&args, urls.as_bytes())
        };
        for more in [&[][..], &["--full"], &["--all-dialects"], &["--all-dialects", "--brief"]] {
            let run = run(more).says(if fits { 0 } else { 2 }, if fits { &[] } else { &words });
            assert_eq!(run.stdout.is_empty(), !fits, "{more:?}");
        }
        for (more, dialects) in [(&["--brief"][..], 1), (&["--json"], 1), (&["--json", "--all-dialects"], 9)] {
            assert_eq!(run(more).says(0, &[]).text().lines().count(), 2 * count * dialects, "{more:?}");
        }
    }
}

#[test]
fn the_text_of_a_long_rule_is_truncated() {
    let folder = Folder::new();
    const LIMIT: usize = 32 << 10;
    for (len, is_cut) in [(LIMIT - 1, false), (LIMIT, false), (LIMIT + 1, true)] {
        let path = format!("/{}", "x".repeat(len - 1));
        folder.write("robots.txt", format!("user-agent: *\ndisallow: {path}\n"));
        let args = ["test", "robots.txt", "--agent", "a", "--json", "--dialect", "rfc9309"];
        let text = folder.run_with(&args, path.as_bytes()).says(0, &[]).text();
        let object: Value = serde_json::from_str(&text).unwrap();
        let pattern = object["disallow"]["pattern"].as_str().unwrap();
        assert_eq!(pattern, if is_cut { format!("{}...", &path[..LIMIT]) } else { path }, "{len}");
        assert_eq!(object["disallow"]["octets"], len);
        assert!(object["disallow"]["text"].as_str().unwrap().ends_with("..."));
    }
}

/// A URL is answered before the next one arrives.
#[test]
fn urls_are_answered_as_they_arrive() {
    use std::io::{BufRead, BufReader, Write};
    let folder = Folder::new();
    folder.write("robots.txt", BODY);
    for more in ["--json", "--brief"] {
        let mut command = folder.command(&["test", "robots.txt", "--agent", "a", more]);
        let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
        let (mut urls, answers) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, answered) = std::sync::mpsc::channel();
        let reader = std::thread::spawn(move || {
            BufReader::new(answers).lines().for_each(|line| sender.send(line.unwrap()).unwrap());
        });
        for path in ["/x/%7Euser", "/z"] {
            writeln!(urls, "{path}").unwrap();
            let answer = answered.recv_timeout(std::time::Duration::from_secs(300)).unwrap();
            assert!(answer.contains(path), "{answer}");
        }
        drop(urls);
        reader.join().unwrap();
        assert!(child.wait().unwrap().success());
    }
    let long = format!("/x\n/{}\n/y\n", "y".repeat(6 << 20));
    let run = folder.run_with(&["test", "robots.txt", "--agent", "a", "--brief"], long.as_bytes());
    assert_eq!(run.says(0, &["1 lines are too long for a URL"]).text().lines().count(), 2);
}

#[test]
fn urls_are_taken_as_they_are() {
    let folder = Folder::new();
    folder.write("robots.txt", "user-agent: *\ndisallow: /a%20b\ndisallow: /private\n");
    let test = |more: &[&str]| {
        let args = [&["test", "robots.txt", "--agent", "x"][..], more].concat();
        folder.run(&args).says(0, &[]).text()
    };
    let fault = "a URL begins with a scheme such as https://, and a path with a slash";
    let text = test(&["--dialect", "google", "/a b", "private/x", "/c", "/é"]);
    for line in [
        "1  allow  /a b  for x\n   URL       taken as it is; a browser requests /a%20b\n",
        &format!("2  invalid  private/x  for x\n   URL       {fault}\n   because   the text is not a URL or a path\n"),
        "3  allow  /c  for x\n   group ",
        "4  allow  /é  for x\n   URL       sent as /%C3%A9, as a browser escapes it\n",
    ] {
        assert!(text.contains(line), "no {line:?} in {text}");
    }
    // google-lib reads URLs byte for byte.
    let text = test(&["--dialect", "google-lib", "--brief", "/a b", "private/x"]);
    let expected = format!("allow     /a b        no rule matches\ninvalid   private/x   no URL  ({fault})\n");
    assert_eq!(text, expected);
    let text = test(&["--dialect", "google", "--json", "/a b", "private/x"]);
    let objects: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects[0]["remarks"], serde_json::json!(["taken as it is; a browser requests /a%20b"]));
    assert_eq!((&objects[0]["path"], &objects[1]["why"]), (&"/a b".into(), &"no-url".into()));
    // One remark for a URL, with the dialects if they differ.
    let text = test(&["--all-dialects", "private/x", "/é'", "/c"]);
    let sent = "sent as /%C3%A9', as a browser escapes it";
    let kept = "taken as it is; a browser requests /%C3%A9'";
    let differing = format!(
        "/é': google, rfc9309, rfc9309-strict, yandex, yandex-2017, bing, koster-1996: {sent}; koster-1994: {kept}"
    );
    let remarks: Vec<&str> = text.lines().filter(|line| line.contains(": ")).collect();
    assert_eq!(remarks, [&format!("private/x: {fault}")[..], &differing]);
    // An invalid text has no expected verdict.
    let args = ["test", "robots.txt", "--agent", "x", "--brief", "--expect", "allow", "private/x"];
    folder.run(&args).says(1, &["1 of 1 verdicts is not allow"]);
}

/// The rule, the texts, and their verdicts by every command and by the library.
#[test]
fn a_url_is_the_same_path_in_every_command() {
    let folder = Folder::new();
    folder.write("empty", "");
    let mut checked = 0;
    for (rule, text, verdict) in [
        ("//x", "//x", "disallow"),
        ("//x", "//x/y?z", "disallow"),
        ("/x", "//x", "allow"),
        ("/y", "//x/y", "allow"),
        ("///y", "///y", "disallow"),
        ("/a%20b", "/a b", "allow"),
        ("/a b", "/a b", "disallow"),
        ("/c%20d", "https://e.example/c d", "allow"),
        ("/c%20d", "https://e.example/c%20d", "disallow"),
        ("/é", "/%C3%A9", "disallow"),
        ("/%C3%A9", "https://e.example/é", "disallow"),
        ("/x", "private/x", "invalid"),
        ("/x", "e.example/x", "invalid"),
        ("/x", "?x", "invalid"),
        ("/x", "ftp:/x", "invalid"),
    ] {
        let body = format!("user-agent: *\ndisallow: {rule}\n");
        folder.write("robots.txt", &body);
        folder.write("list", format!("{text}\n"));
        let given = folder.run(&["test", "robots.txt", "--agent", "bot", "--brief", text]).says(0, &[]).text();
        let listed =
            folder.run(&["test", "robots.txt", "--agent", "bot", "--brief", "--urls", "list"]).says(0, &[]).text();
        let set = ["classify", "robots.txt", "list", "--input-format", "list", "--host", "e.example", "--agent", "bot"];
        let robots = reptile::Robots::parse(&body, reptile::Dialect::google()).unwrap();
        let by_library = robots.agent("bot").unwrap().decide(text).unwrap().name();
        for found in [given.split(' ').next(), listed.split(' ').next(), Some(by_library)] {
            assert_eq!(found, Some(verdict), "{rule} {text}");
        }
        if text.contains("://") {
            let found = folder.run(&set).says(0, &[]).text();
            assert!(found.trim_end().ends_with(verdict), "{rule} {text}: {found}");
        }
        let diff = ["diff", "empty", "robots.txt", "--verdicts", "--urls", "list", "--agent", "bot"];
        let changed = folder.run(&diff).text().lines().any(|line| line.starts_with(text));
        assert_eq!(changed, verdict == "disallow", "{rule} {text}");
        if text.starts_with('/') {
            folder.write("rows", format!("e.example\tbot\t{text}\t{verdict}\n"));
            folder.run(&["check", "rows", "--robots", "robots.txt"]).says(0, &["1 checked, 0 verdict differences"]);
        }
        checked += 1;
    }
    assert_eq!(checked, 15);
}

#[test]
fn the_fetch_profile_decides_by_status() {
    let folder = Folder::new();
    folder.write("robots.txt", "user-agent: *\ndisallow: /x\n");
    let verdicts = |more: &[&str]| {
        let args = [&["test", "robots.txt", "--agent", "a", "--brief"][..], more, &["/x", "/y"]].concat();
        let text = folder.run(&args).says(0, &[]).text();
        text.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    for (status, profile, expected) in [
        ("200", "rfc9309", "disallow allow"),
        ("503", "rfc9309", "disallow disallow"),
        ("503", "yandex", "allow allow"),
        ("404", "rfc9309", "allow allow"),
        ("403", "rfc9309", "allow allow"),
        ("403", "koster-1996", "disallow disallow"),
    ] {
        assert_eq!(verdicts(&["--status", status, "--profile", profile]), expected, "{status} {profile}");
    }
    assert_eq!(verdicts(&["--status", "503", "--dialect", "yandex"]), "allow allow");
    let args = ["test", "robots.txt", "--agent", "a", "--status", "503", "--profile", "rfc9309", "/y"];
    let text = folder.run(&args).says(0, &[]).text();
    assert!(text.contains("  answered with 503, under the fetch profile rfc9309\n"), "{text}");
    let because =
        "   because   fetching the robots.txt gave: 503; then the fetch profile rfc9309 disallows everything\n";
    assert!(text.contains(&format!("1  disallow  /y  for a\n{because}")), "{text}");
    let json = folder.run(&[&args[..], &["--json"]].concat()).says(0, &[]).text();
    let object: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&object["why"], &object["line"]), (&"fetch".into(), &0.into()));
    for status in ["99", "1000", "abc"] {
        folder.run(&["test", "robots.txt", "--agent", "a", "--status", status, "/y"]).says(2, &["--status"]);
    }
}

#[test]
fn the_fetch_profile_decides_by_page_content() {
    let folder = Folder::new();
    let mut compared = 0;
    for (status, body, profile, expected) in [
        ("503", "<title>404 Not Found</title><p>x", "google", "allow     /x   503, whose page says \"not found\""),
        ("503", "Sayfa bulunamad\u{131}", "google", "allow     /x   503, whose page says \"not found\""),
        ("503", "<title>404 Not Found</title><p>x", "rfc9309", "disallow  /x   503"),
        ("502", "Host not found", "google", "disallow  /x   502"),
        ("500", "SQLSTATE: table not found", "google", "disallow  /x   500"),
        (
            "200",
            "<html><script id=\"anubis_challenge\">{}</script>",
            "google",
            "disallow  /x   challenge page of Anubis",
        ),
        (
            "403",
            "<html><script id=\"anubis_challenge\">{}</script>",
            "rfc9309",
            "disallow  /x   challenge page of Anubis",
        ),
        (
            "200",
            "<html><script id=\"anubis_challenge\">{}</script>",
            "yandex",
            "allow     /x   challenge page of Anubis",
        ),
    ] {
        folder.write("body", body);
        let args = ["test", "body", "--agent", "a", "--brief", "--status", status, "--profile", profile, "/x"];
        let text = folder.run(&args).says(0, &[]).text();
        assert_eq!(text.trim_end(), expected, "{body} {profile}");
        compared += 1;
    }
    assert_eq!(compared, 8);
    // Without a status the file must be a robots.txt.
    folder.run(&["test", "body", "--agent", "a", "/x"]).says(2, &["is a web page"]);
}

#[test]
fn expect_sets_the_exit_code() {
    let folder = Folder::new();
    folder.write("robots.txt", "user-agent: *\ndisallow: /x\n");
    for (expected, urls, code, words) in [
        ("allow", &["/a", "/b"][..], 0, &[][..]),
        ("allow", &["/a", "/x"], 1, &["1 of 2 verdicts is not allow"]),
        ("disallow", &["/x", "/x/y"], 0, &[]),
        ("disallow", &["/a", "/b", "/x"], 1, &["2 of 3 verdicts are not disallow"]),
    ] {
        for more in [&[][..], &["--brief"], &["--json"]] {
            let args = [&["test", "robots.txt", "--agent", "a", "--expect", expected][..], more, urls].concat();
            let run = folder.run(&args).says(code, words);
            assert!(!run.stdout.is_empty());
            assert_eq!(run.stderr.contains("verdict"), code == 1, "{run:?}");
        }
    }
    let args = ["test", "robots.txt", "--agent", "a", "--expect", "allow", "--all-dialects", "/x"];
    folder.run(&args).says(1, &["9 of 9 verdicts are not allow"]);
    folder.run_with(&["test", "robots.txt", "--agent", "a", "--expect", "allow"], b"").says(2, &["contains no URL"]);
    let long = format!("/a\n/{}\n", "a".repeat(1 << 20));
    let args = ["test", "robots.txt", "--agent", "a", "--expect", "allow"];
    folder.run_with(&args, long.as_bytes()).says(1, &["1 lines are too long for a URL"]);
    folder.run(&["test", "robots.txt", "--agent", "a", "--expect", "unknown", "/"]).says(2, &["--expect"]);
}

#[test]
fn urls_longer_than_the_limit_are_rejected() {
    let folder = Folder::new();
    folder.write("robots.txt", BODY);
    for len in [MAX_URL_BYTES - 1, MAX_URL_BYTES, MAX_URL_BYTES + 1] {
        let (url, is_too_long) = (format!("/{}", "y".repeat(len - 1)), len > MAX_URL_BYTES);
        let args = ["test", "robots.txt", "--agent", "a", "--brief"];
        let list = format!("/x\n{url}\n/z\n");
        let run = folder.run_with(&args, list.as_bytes());
        assert_eq!(run.code, Some(0));
        assert_eq!(run.stderr.contains("1 lines are too long for a URL"), is_too_long, "{len}");
        assert_eq!(run.text().lines().count(), if is_too_long { 2 } else { 3 }, "{len}");
        let run = folder.run(&[&args[..], &[&url]].concat());
        if is_too_long {
            run.says(2, &["a URL of 65537 bytes, over the limit of 65536"]);
        } else {
            assert!(run.says(0, &[]).text().contains(&url), "{len}");
        }
    }
}

/// A larger file is not kept compiled in every dialect, so the number of answers is limited.
#[test]
fn all_dialects_limits_the_answers_for_large_files() {
    const MAX_HELD_BYTES: usize = 1 << 20;
    let folder = Folder::new();
    let urls: String = (0..1001).map(|number| format!("/{number}\n")).collect();
    let args = ["test", "robots.txt", "--agent", "a", "--all-dialects", "--json"];
    for len in [MAX_HELD_BYTES - 1, MAX_HELD_BYTES, MAX_HELD_BYTES + 1] {
        folder.write("robots.txt", format!("{BODY}#{}", "x".repeat(len - BODY.len() - 1)));
        let (few, many) = (folder.run_with(&args, b"/x\n/y\n"), folder.run_with(&args, urls.as_bytes()));
        let few = few.says(0, &[]).text();
        let objects: Vec<Value> = few.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(objects.len(), 18);
        // The answers for a URL are consecutive, in dialect order, and state whether they agree with the google
        // dialect.
        for (index, object) in objects.iter().enumerate() {
            assert_eq!(object["url"], ["/x", "/y"][index / 9], "{len}");
            assert_eq!(object["dialect"], objects[index % 9]["dialect"]);
            let of_google = &objects[index / 9 * 9..][..9].iter().find(|object| object["dialect"] == "google").unwrap();
            assert_eq!(object["agrees"], object["verdict"] == of_google["verdict"]);
        }
        if len > MAX_HELD_BYTES {
            many.says(2, &["at most 1,000 answers", "a file of at most 1,048,576 bytes takes any number"]);
        } else {
            assert_eq!(many.says(0, &[]).text().lines().count(), 9 * 1001);
        }
    }
}
