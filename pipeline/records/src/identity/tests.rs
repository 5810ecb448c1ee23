use std::path::Path;
use std::time::Instant;

use reptile::crawlers::RANGE_LISTS;

use super::*;
use crate::time::{Zone, read_time};

fn time(text: &str) -> Time {
    read_time(text, &Zone::default()).unwrap()
}

/// Writes each text to its file, and returns the file for its name.
fn write(folder: &Path, name: &str, file: &str, text: impl AsRef<[u8]>) -> NamedFile {
    let path = folder.join(file);
    std::fs::write(&path, text).unwrap();
    NamedFile { name: name.into(), file: Place::from(path) }
}

/// Returns a published list of IPv4 prefixes, created on a day.
fn published(created: &str, prefixes: &[&str]) -> String {
    let prefixes: Vec<String> = prefixes.iter().map(|prefix| format!(r#"{{"ipv4Prefix": "{prefix}"}}"#)).collect();
    format!(r#"{{"creationTime": "{created}T00:00:00.000000", "prefixes": [{}]}}"#, prefixes.join(", "))
}

/// Returns the result as a word: the reason if there is no check.
fn word(identity: Identity) -> &'static str {
    match identity {
        Identity::NoCheck(reason) => reason.as_str(),
        other => other.as_str(),
    }
}

#[test]
fn clients_are_verified_failed_or_not_checked() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name, file, text: &str| write(folder.path(), name, file, text);
    let common = published("2026-11-10", &["192.0.2.0/24", "198.51.100.7/32"]);
    let mixed = r#"{"formatVersion": "1.0", "creationTime": "2026-11-10T00:00:00Z", "more": {"a": [1]}, "prefixes": [
        {"ipv6Prefix": "2001:db8::/32", "service": "search"}, {"ipv6Prefix": "2001:db8:1::/48", "service": "ads"},
        {"ipv6Prefix": "::ffff:203.0.113.0/120"}, {"ipv4Prefix": "233.252.0.1", "service": "search"}]}"#;
    let ranges = [
        file("google", "2026-11-10-common-crawlers.json.txt", &common),
        file("Google", "user-triggered-fetchers.json", &common),
        file("Anthropic", "saved", mixed),
        file("GPTBot", "gptbot.txt", "\u{feff}# ours\r\n192.0.2.1\r\n\r\n192.0.2.8/29 # eight\r\n  2001:db8::1\t\n"),
        file("GPTBot", "more.txt", "192.0.2.2"),
        file("Meta", "meta.txt", "203.0.113.0/24"),
        file("Amazonbot", "amazonbot.txt", "203.0.113.0/24"),
    ];
    let names = file(
        "",
        "names.tsv",
        "# address\tname\n192.0.2.200\tcrawl-1.GoogleBot.com.\n192.0.2.201\tgooglebot.com.evil.example\n\
         192.0.2.202\tnotgooglebot.com\n203.0.113.9\tx.example\n203.0.113.9\tgoogle.com\n\
         198.51.100.9\tx.search.msn.com\n203.0.113.200\thost.example\n198.51.100.10\ta.crawl.amazonbot.amazon\n\
         ::ffff:198.51.100.11\tcrawl.commoncrawl.org\n",
    );
    let identities = Identities::read(&ranges, Some(&names.file), None).unwrap();
    let (before, after) = ("2026-11-09", "2026-11-11");
    let cases = [
        // By a dated list.
        ("Googlebot", "192.0.2.0", before, "verified"),
        ("Googlebot", "192.0.2.255", after, "verified"),
        ("Googlebot", "192.0.3.0", before, "failed"),
        ("Googlebot", "192.0.3.0", "2026-11-10", "failed"),
        ("Googlebot", "192.0.3.0", after, "old-list"),
        ("Googlebot", "192.0.3.0", "", "no-time"),
        ("Googlebot", "192.0.2.1", "", "verified"),
        ("googlebot-image", "198.51.100.7", before, "verified"),
        ("Googlebot-Image>Googlebot>*", "198.51.100.7", before, "verified"),
        ("Googlebot-Image>Googlebot>*", "198.51.100.8", before, "failed"),
        // The form of the client's text.
        ("Googlebot", "192.0.2.1:443", before, "verified"),
        ("Googlebot", "::ffff:192.0.2.1", before, "verified"),
        ("Googlebot", "[::ffff:192.0.2.1]:443", before, "verified"),
        ("Googlebot", "", before, "no-address"),
        ("Googlebot", "-", before, "no-address"),
        ("Googlebot", "192.0.2.1, 192.0.2.2", before, "no-address"),
        ("Googlebot", "192.0.2.1:", before, "no-address"),
        ("Googlebot", "192.0.2.1:66000", before, "no-address"),
        ("Googlebot", " 192.0.2.1", before, "no-address"),
        ("Googlebot", "192.0.2.01", before, "no-address"),
        ("Googlebot", "192.0.2", before, "no-address"),
        ("Googlebot", "crawl.googlebot.com", before, "no-address"),
        ("Googlebot", "192.0.2.\u{661}", before, "no-address"),
        // IPv6, nested and mapped prefixes.
        ("ClaudeBot", "2001:db8:1::1", before, "verified"),
        ("Claude-User", "2001:db8:ffff::", after, "verified"),
        ("Claude-User", "2001:DB8:FFFF::", after, "verified"),
        ("Claude-SearchBot", "[2001:db8::1]:80", before, "verified"),
        ("Claude-SearchBot", "2001:db9::", before, "failed"),
        ("ClaudeBot", "203.0.113.77", before, "verified"),
        ("ClaudeBot", "233.252.0.1", before, "verified"),
        ("ClaudeBot", "233.252.0.2", before, "failed"),
        ("anthropic-ai", "2001:db8::1", before, "no-list"),
        // Plain lists without a date count as current, and add up.
        ("GPTBot", "192.0.2.1", after, "verified"),
        ("GPTBot", "192.0.2.2", after, "verified"),
        ("GPTBot", "192.0.2.3", after, "failed"),
        ("GPTBot", "192.0.2.8", after, "verified"),
        ("GPTBot", "192.0.2.15", "", "verified"),
        ("GPTBot", "192.0.2.16", "", "failed"),
        ("GPTBot", "2001:db8::1", after, "verified"),
        ("GPTBot", "2001:db8::2", after, "failed"),
        ("OAI-SearchBot", "192.0.2.1", after, "no-list"),
        ("meta-externalagent", "203.0.113.1", after, "verified"),
        ("facebookexternalhit", "203.0.114.1", after, "failed"),
        // One of the operator's two lists for the crawler is missing.
        ("FeedFetcher-Google", "192.0.2.1", before, "verified"),
        ("FeedFetcher-Google", "203.0.113.1", before, "other-list"),
        // By name. One of the two is enough.
        ("AdsBot-Google", "192.0.2.200", after, "verified"),
        ("AdsBot-Google", "192.0.2.201", after, "failed"),
        ("AdsBot-Google", "192.0.2.202", after, "failed"),
        ("AdsBot-Google", "203.0.113.9", after, "verified"),
        ("AdsBot-Google", "198.51.100.9", after, "failed"),
        ("AdsBot-Google", "198.51.100.200", after, "no-name"),
        ("bingbot", "198.51.100.9", after, "verified"),
        ("bingbot", "192.0.2.200", after, "failed"),
        ("CCBot", "198.51.100.11", after, "verified"),
        ("Google-Agent", "192.0.2.200", after, "no-list"),
        ("Amazonbot", "198.51.100.10", after, "verified"),
        ("Amazonbot", "203.0.113.200", after, "verified"),
        ("Amazonbot", "198.51.100.9", after, "failed"),
        ("Amazonbot", "198.51.100.200", after, "failed"),
        ("Googlebot", "203.0.113.200", after, "failed"),
        ("Googlebot", "203.0.113.201", after, "old-list"),
        // Crawlers without a list, and unknown ones.
        ("Bytespider", "192.0.2.1", after, "no-list"),
        ("ChatGPT-User", "192.0.2.1", after, "no-list"),
        ("ChatGPT-User", "not an address", after, "no-list"),
        ("MyBot", "192.0.2.1", after, "unknown-crawler"),
        ("*", "192.0.2.1", after, "unknown-crawler"),
        ("", "192.0.2.1", after, "unknown-crawler"),
    ];
    for (crawler, client, at, expected) in cases {
        let at = (!at.is_empty()).then(|| time(at));
        let found = identities.check(crawler, client.as_bytes(), at);
        assert_eq!(word(found), expected, "{crawler} {client} {at:?}");
    }
    assert_eq!(cases.len(), 67);
    assert!(matches!(
        identities.check("Googlebot", b"192.0.3.0", Some(time(after))),
        Identity::NoCheck(NoCheck::OldList(date)) if date == time("2026-11-10")
    ));
    assert_eq!(identities.check("GPTBot", b"\xff", None), Identity::NoCheck(NoCheck::NoAddress));

    let lists = identities.lists();
    assert_eq!((lists.len(), lists[2].prefixes, lists[3].prefixes), (7, 4, 3));
    assert_eq!(lists[2].services, ["ads", "search"]);
    assert_eq!(lists[2].crawlers, ["ClaudeBot", "Claude-User", "Claude-SearchBot"]);
    assert_eq!((lists[0].crawlers.len(), lists[1].crawlers.len(), lists[5].crawlers.len()), (10, 10, 6));
    let digest = format!("xxh3-64:{:016x}", xxh3_64(common.as_bytes()));
    assert_eq!((lists[0].created, lists[0].digest.as_str()), (Some(time("2026-11-10")), digest.as_str()));
    assert_eq!((lists[3].created, lists[3].dated), (None, None));
    let names = identities.names().unwrap();
    assert_eq!((names.addresses, names.digest.len()), (8, "xxh3-64:".len() + 16));
}

/// A list is current until it was created or, if that is later, fetched.
#[test]
fn the_date_of_a_list_is_the_later_one() {
    let folder = tempfile::tempdir().unwrap();
    let dated = write(folder.path(), "GPTBot", "dated", published("2026-11-10", &["192.0.2.1/32"]));
    let plain = write(folder.path(), "GPTBot", "plain", "192.0.2.2");
    let cases = [
        (vec![&dated], None, "2026-11-11", "old-list"),
        (vec![&dated], Some("2026-11-12"), "2026-11-11", "failed"),
        (vec![&dated], Some("2026-11-12"), "2026-11-13", "old-list"),
        (vec![&dated], Some("2026-11-01"), "2026-11-05", "failed"),
        (vec![&plain], None, "2026-11-11", "failed"),
        (vec![&plain], Some("2026-11-10"), "2026-11-11", "old-list"),
        (vec![&plain], Some("2026-11-11"), "2026-11-11", "failed"),
        // The oldest list decides.
        (vec![&dated, &plain], None, "2026-11-11", "old-list"),
        (vec![&dated, &plain], None, "2026-11-10", "failed"),
        (vec![&dated, &plain], Some("2026-11-09"), "2026-11-10", "old-list"),
    ];
    for (files, as_of, at, expected) in &cases {
        let files: Vec<NamedFile> = files.iter().map(|file| (*file).clone()).collect();
        let identities = Identities::read(&files, None, as_of.map(time)).unwrap();
        assert_eq!(word(identities.check("GPTBot", b"192.0.2.3", Some(time(at)))), *expected, "{as_of:?} {at}");
    }
    assert_eq!(cases.len(), 10);
}

#[test]
fn mistaken_lists_are_errors_that_name_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let deep = format!(r#"{{"prefixes": {}"#, "[".repeat(1_000_000));
    let deep_ignored = format!(r#"{{"a": {}"#, "[".repeat(1_000_000));
    let cases: &[(&str, &str, &str, &[&str])] = &[
        ("GPTBot", "a", "192.0.2.0/24\n192.0.2.1/24\n", &["line 2: ", "such as 192.0.2.0/24, found 192.0.2.1/24"]),
        ("GPTBot", "a", "2001:db8::1/32", &["line 1: ", "such as 2001:db8::/32"]),
        ("GPTBot", "a", "192.0.2.0/33", &["line 1: expected an address or a prefix", "found 192.0.2.0/33"]),
        ("GPTBot", "a", "192.0.2.0/", &["line 1: "]),
        ("GPTBot", "a", "192.0.2.0-192.0.2.9", &["line 1: "]),
        ("GPTBot", "a", "192.0.2.0 192.0.2.1", &["line 1: "]),
        ("GPTBot", "a", "crawl.example", &["line 1: ", "found crawl.example"]),
        ("GPTBot", "a", "", &["has no address"]),
        ("GPTBot", "a", "# nothing\n\n", &["has no address"]),
        ("GPTBot", "a", r#"{"prefixes": []}"#, &["has no address"]),
        ("GPTBot", "a", "{}", &["missing field `prefixes`"]),
        ("GPTBot", "a", r#"[{"ipv4Prefix": "192.0.2.0/24"}]"#, &[r#"expected {"creationTime""#]),
        ("GPTBot", "a", "{\"prefixes\":\n[{\"ipv4Prefix\": \"192.0.2.1/24\"}]}", &["at line 2", "192.0.2.0/24"]),
        (
            "GPTBot",
            "a",
            r#"{"prefixes": [{"ip_prefix": "192.0.2.0/24"}]}"#,
            &[r#"expected "ipv4Prefix" or "ipv6Prefix""#],
        ),
        ("GPTBot", "a", r#"{"prefixes": [{"ipv4Prefix": "2001:db8::/32"}]}"#, &["expected an IPv4 prefix"]),
        ("GPTBot", "a", r#"{"prefixes": [{"ipv4Prefix": "::ffff:192.0.2.0/120"}]}"#, &["expected an IPv4 prefix"]),
        ("GPTBot", "a", r#"{"prefixes": [{"ipv6Prefix": "192.0.2.0/24"}]}"#, &["expected an IPv6 prefix"]),
        ("GPTBot", "a", r#"{"creationTime": "yesterday", "prefixes": []}"#, &["creationTime: expected a time"]),
        ("GPTBot", "a", r#"{"prefixes": ["192.0.2.0/24"]}"#, &["invalid type"]),
        ("GPTBot", "a", r#"{"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}]} x"#, &["trailing characters"]),
        ("GPTBot", "a", r#"{"prefixes": [{"ipv4Prefix": "192.0."#, &["EOF"]),
        ("GPTBot", "a", &deep, &["expected"]),
        ("GPTBot", "a", &deep_ignored, &["expected"]),
        ("Amazonbot", "a", "<!DOCTYPE html><p>192.0.2.1", &["is a web page (HTML)", "one on each line"]),
        ("GPTBot", "a", "PK\u{3}\u{4}", &["is a zip archive, not a list of address ranges"]),
        ("Gogle", "a", "192.0.2.1", &["expected NAME=FILE", "such as Amazon", "found \"Gogle\""]),
        ("GPT-Bot", "a", "192.0.2.1", &["such as GPTBot", "found \"GPT-Bot\""]),
        ("*", "a", "192.0.2.1", &["expected NAME=FILE"]),
        ("Google", "a", "192.0.2.1", &["Google publishes 5 lists", "common-crawlers.json", "Googlebot=FILE"]),
        ("Amazon", "a", "192.0.2.1", &["Amazon publishes 3 lists: name a crawler, such as Amazonbot=FILE"]),
    ];
    for &(name, file, text, expected) in cases {
        let ranges = write(folder.path(), name, file, text);
        let error = Identities::read(std::slice::from_ref(&ranges), None, None).unwrap_err().to_string();
        let is_placed = error.starts_with(&ranges.file.shown());
        assert!(is_placed && expected.iter().all(|part| error.contains(part)), "{name}={text:.80}: {error}");
        assert!(error.len() < 600, "{error}");
    }
    assert_eq!(cases.len(), 30);
    let missing = NamedFile { name: "GPTBot".into(), file: Place::from(folder.path()).join("missing".as_ref()) };
    assert_eq!(Identities::read(&[missing], None, None).unwrap_err().kind(), crate::ErrorKind::Io);
}

#[test]
fn mistaken_names_are_errors_that_name_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("192.0.2.1 crawl.example\n", "line 1: expected an address, a tab and a name"),
        ("192.0.2.1\ta.example\n192.0.2.1\n", "line 2: "),
        ("192.0.2.1\t\n", "line 1: "),
        ("192.0.2.1\t.\n", "line 1: "),
        ("192.0.2.1\t.a.example\n", "line 1: "),
        ("192.0.2.1\ta.example\tb.example\n", "line 1: "),
        ("192.0.2.1\ta.example b.example\n", "line 1: "),
        ("192.0.2.0/24\ta.example\n", "line 1: "),
        ("192.0.2.1:80\ta.example\n", "line 1: "),
        ("address\tname\n", "line 1: "),
        ("a.example\t192.0.2.1\n", "line 1: "),
        ("192.0.2.1\t\u{a0}\n", "line 1: "),
        ("<!DOCTYPE html>", "is a web page (HTML), not a table of addresses and names"),
    ];
    for (text, expected) in cases {
        let file = write(folder.path(), "", "names", text).file;
        let error = Identities::read(&[], Some(&file), None).unwrap_err().to_string();
        assert!(error.starts_with(&file.shown()) && error.contains(expected), "{text:?}: {error}");
    }
    assert_eq!(cases.len(), 13);
    // A table without rows is one: no client has a name.
    let file = write(folder.path(), "", "names", "").file;
    let identities = Identities::read(&[], Some(&file), None).unwrap();
    assert_eq!(word(identities.check("Googlebot", b"192.0.2.1", None)), "no-name");
}

#[test]
fn names_of_files_have_a_form() {
    for (text, expected) in [
        ("GPTBot=gptbot.json", Some(("GPTBot", "gptbot.json"))),
        ("Common Crawl=a=b", Some(("Common Crawl", "a=b"))),
        ("GPTBot=-", Some(("GPTBot", "-"))),
        ("GPTBot=https://openai.com/gptbot.json", Some(("GPTBot", "https://openai.com/gptbot.json"))),
        ("gptbot.json", None),
        ("=gptbot.json", None),
        ("GPTBot=", None),
        ("", None),
    ] {
        let found = NamedFile::parse(text);
        assert_eq!(
            found.as_ref().ok().map(|found| (found.name.as_str(), found.file.shown())),
            expected.map(|(name, file)| (name, file.to_owned())),
            "{text}"
        );
        assert!(found.is_ok() || found.is_err_and(|error| error.starts_with("expected NAME=FILE, such as GPTBot=")));
    }
}

/// No file name of an operator's list contains another's, so a file name names one list.
#[test]
fn file_names_of_lists_differ() {
    for list in RANGE_LISTS {
        let Some(name) = published_name(list) else { continue };
        let others = RANGE_LISTS.iter().filter(|other| other.operator == list.operator && *other != list);
        assert!(others.filter_map(published_name).all(|other| !other.contains(name)), "{name}");
        assert_eq!(name, name.to_lowercase());
    }
}

#[test]
fn lists_and_names_have_limits() {
    let folder = tempfile::tempdir().unwrap();
    let prefixes = |count: usize| (0..count).map(|at| format!("192.0.2.{at}\n")).collect::<String>();
    for (count, is_read) in [(2, true), (3, true), (4, false)] {
        let list = List::parse(prefixes(count).as_bytes(), 3);
        assert_eq!(list.is_ok(), is_read, "{count}");
        let text: Vec<String> = prefixes(count).lines().map(|at| format!("{at}/32")).collect();
        let json = published("2026-11-10", &text.iter().map(String::as_str).collect::<Vec<_>>());
        let found = List::parse(json.as_bytes(), 3);
        assert_eq!(found.is_ok(), is_read, "{count}");
        assert!(is_read || found.unwrap_err().contains(&MAX_PREFIXES.to_string()));
        let rows: String = prefixes(count).lines().map(|address| format!("{address}\ta.example\n")).collect();
        let found = Names::parse(rows.as_bytes(), 3);
        assert_eq!(found.is_ok(), is_read, "{count}");
        assert!(is_read || found.unwrap_err().contains(&MAX_NAMES.to_string()));
    }
    for (bytes, is_whole) in [(7, true), (8, true), (9, false)] {
        assert_eq!(bytes_of(&vec![b'a'; bytes][..], 8).unwrap().len() <= 8, is_whole, "{bytes}");
    }
    for count in [MAX_LISTS - 1, MAX_LISTS, MAX_LISTS + 1] {
        let file = write(folder.path(), "GPTBot", "list", "192.0.2.1");
        assert_eq!(Identities::read(&vec![file; count], None, None).is_ok(), count <= MAX_LISTS, "{count}");
    }
    let long = write(folder.path(), "GPTBot", "long", "#".repeat(MAX_LIST_BYTES + 1));
    let error = Identities::read(&[long], None, None).unwrap_err().to_string();
    assert!(error.contains("has more than 67108864 bytes, the limit for a list of address ranges"), "{error}");
}

/// The number of prefixes in all files is limited, and a million prefixes, nested and in any order, are fast.
#[test]
fn a_million_prefixes_are_fast() {
    let folder = tempfile::tempdir().unwrap();
    let text: String = (0..MAX_PREFIXES as u32)
        .map(|at| {
            let bits = at.wrapping_mul(2_654_435_769);
            let len = 8 + at % 25;
            format!("{}/{len}\n", std::net::Ipv4Addr::from(bits & u32::MAX << (32 - len)))
        })
        .collect();
    let whole = write(folder.path(), "GPTBot", "whole", text);
    let one = write(folder.path(), "CCBot", "one", "192.0.2.1");
    let error = Identities::read(&[whole.clone(), one.clone()], None, None).unwrap_err().to_string();
    assert!(error.contains("expected at most 1048576 prefixes in all lists together"), "{error}");

    let start = Instant::now();
    let identities = Identities::read(&[whole], None, None).unwrap();
    let check = identities.crawler("GPTBot").unwrap();
    let verified = (0..200_000_u32).filter(|at| {
        let client = std::net::Ipv4Addr::from(at.wrapping_mul(2_654_435_769)).to_string();
        check.client(client.as_bytes(), None) == Identity::Verified
    });
    assert_eq!(verified.count(), 200_000);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
