//! Thousands of damaged WARC files. Whatever the damage, no website decides for another one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::io::{Read, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::{self, Folder, gz};
use crate::warc::{answer, record};

/// Paths in the genuine bodies and in the forged bodies.
const TRUE: &str = "/true";
const FORGED: &str = "/forged";

/// The hosts for which an attacker forges records.
const VICTIMS: [&str; 3] = ["alpha.victim.example", "bravo.victim.example", "charlie.victim.example"];

/// Limits of a run with a file of a few kilobytes: well above normal use, well below a runaway.
const MAX_MEMORY_BYTES: u64 = 256 << 20;
const MAX_TIME: Duration = Duration::from_secs(20);

/// A reproducible pseudo-random number generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, limit: usize) -> usize {
        self.next() as usize % limit.max(1)
    }
}

fn robots(host: &str, path: &str) -> Vec<u8> {
    let body = format!("User-agent: *\nAllow: {path}\nDisallow: /\n");
    answer(&format!("http://{host}/robots.txt"), "HTTP/1.1 200 OK", "Content-Type: text/plain\r\n", body.as_bytes())
}

/// Returns the attacker's record for a victim, newer than the genuine one.
fn forged(host: &str) -> Vec<u8> {
    String::from_utf8(robots(host, FORGED)).unwrap().replace("2026-01-02", "2030-01-02").into_bytes()
}

/// Returns the records of a crawl. An attacker controls the contents of some.
fn records() -> Vec<Vec<u8>> {
    let all: Vec<u8> = VICTIMS.iter().flat_map(|host| forged(host)).collect();
    let unix = String::from_utf8(all.clone()).unwrap().replace('\r', "").into_bytes();
    let target = "WARC-Target-URI: http://stranger.example/robots.txt\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n";
    // WARC fields among the HTTP fields, in case the line between the two headers is lost.
    let fields = format!(
        "WARC-Target-URI: http://{}/robots.txt\r\nContent-Length: 60\r\nWARC-Type: resource\r\nX: <",
        VICTIMS[0]
    );
    let member: Vec<u8> = VICTIMS.iter().flat_map(|host| stored(&forged(host))).collect();
    let page = |body: &[u8]| [b"HTTP/1.1 200 OK\r\n\r\n", body, b"\r\n\r\n"].concat();
    vec![
        record("warcinfo", "Content-Type: application/warc-fields\r\n", b"software: test\r\n"),
        robots(VICTIMS[0], TRUE),
        record("response", target, &page(&[b"\r\n\r\n", &all[..]].concat())),
        record("request", target, &[b"GET / HTTP/1.1\r\nReferer: \r\n\r\n", &unix[..]].concat()),
        robots(VICTIMS[1], TRUE),
        answer("http://stranger.example/page", "HTTP/1.1 200 OK", &fields, &[&b"\n\n"[..], &unix, &unix].concat()),
        record("metadata", target, &all),
        record("response", &target.replace("robots.txt", "stored"), &page(&member)),
        robots(VICTIMS[2], TRUE),
        answer("http://last.example/robots.txt", "HTTP/1.1 404 Not Found", "", b""),
    ]
}

/// Returns an uncompressed gzip member, which can be found inside another one.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Damages some bytes.
fn damage(random: &mut Random, bytes: &mut Vec<u8>) -> &'static str {
    if bytes.is_empty() {
        return "nothing";
    }
    let at = random.below(bytes.len());
    match random.below(8) {
        0..=2 => {
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
            "bits"
        }
        3 => {
            let len = 1 + random.below(40);
            let more: Vec<u8> = (0..len).map(|_| random.next() as u8).collect();
            bytes.splice(at..at, more);
            "inserted"
        }
        4 => {
            let lines = ["\r\n", "\n", "\r\n\r\n", "\n\n", "WARC/1.0\r\n", " ", "\0"];
            bytes.splice(at..at, lines[random.below(lines.len())].bytes());
            "line ends"
        }
        5 => {
            let end = (at + 1 + random.below(40)).min(bytes.len());
            bytes.drain(at..end);
            "deleted"
        }
        6 => {
            bytes.truncate(at);
            "cut"
        }
        _ => {
            let end = (at + 1 + random.below(60)).min(bytes.len());
            bytes[at..end].fill(0);
            "zeros"
        }
    }
}

/// Damages a record's header as a faulty crawler might.
fn damage_header(random: &mut Random, record: &mut Vec<u8>) -> &'static str {
    let text = String::from_utf8_lossy(record).into_owned();
    // The attacker's record is not text throughout, but its header is.
    let header_end = text.find("\r\n\r\n").unwrap() + 2;
    let (header, rest) = (text[..header_end].to_owned(), record[header_end..].to_vec());
    let start = header.find("Content-Length: ").unwrap() + "Content-Length: ".len();
    let digits: String = header[start..].chars().take_while(char::is_ascii_digit).collect();
    let len: usize = digits.parse().unwrap();
    let with_len =
        |value: String| header.replace(&format!("Content-Length: {digits}"), &format!("Content-Length: {value}"));
    let (header, what) = match random.below(12) {
        0 => {
            let mut other = random.below(2 * len + 10);
            while leads_to_record(&rest, other) {
                other += 3;
            }
            (with_len(other.to_string()), "a length")
        }
        1 => (with_len((len - random.below(8).min(len)).to_string()), "a smaller length"),
        2 => (with_len((len + random.below(8)).to_string()), "a greater length"),
        3 => (with_len(format!("+{len}")), "a sign"),
        4 => (with_len(format!("{len:#x}")), "hex"),
        5 => (with_len(format!("{len}\r\nContent-Length: {}", random.below(2 * len + 2))), "two lengths"),
        6 => (header.replace(&format!("Content-Length: {digits}\r\n"), ""), "no length"),
        7 => (with_len(u64::MAX.to_string()), "the greatest length"),
        8 => {
            let lines: Vec<&str> = header.lines().skip(1).collect();
            let twice = lines[random.below(lines.len())];
            (format!("{header}{twice}\r\n"), "a field twice")
        }
        // Text in the header that the attacker controls, such as the target of a redirect.
        9 => {
            let victim = String::from_utf8(forged(VICTIMS[random.below(3)])).unwrap();
            let long = "x".repeat(60_000 + random.below(12_000));
            (
                format!(
                    "{header}WARC-Refers-To-Target-URI: http://stranger.example/{long}/{}\r\n",
                    victim.replace("\r\n", "%0A")
                ),
                "a long field",
            )
        }
        10 => {
            let victim = String::from_utf8(forged(VICTIMS[random.below(3)])).unwrap();
            let long = "x".repeat(66_000);
            (format!("{header}X: {long}\r\n {}\r\n", victim.replace("\r\n", "\r\n ")), "a long folded field")
        }
        _ => {
            let long = "x".repeat(66_000);
            (
                header.replace(&format!("Content-Length: {digits}\r\n"), &format!("X: {long}\r\n")),
                "a long field, no length",
            )
        }
    };
    *record = [header.as_bytes(), &rest].concat();
    what
}

/// Returns whether a length ends at or near the start of a record inside the block. In that case the crawler itself
/// declares this end, so the damage is undetectable.
fn leads_to_record(block: &[u8], len: usize) -> bool {
    let after = block.get(2 + len..).unwrap_or_default();
    (0..after.len().min(3)).any(|at| {
        let rest = &after[at..];
        let line_ends = rest.iter().take_while(|byte| b"\r\n".contains(byte)).count();
        rest[line_ends..].starts_with(b"WARC/")
    })
}

/// Returns a damaged file: its compression, a description of the damage, and its bytes.
fn mutant(random: &mut Random) -> (&'static str, String, Vec<u8>) {
    let mut records = records();
    let is_packed = random.below(2) == 0;
    let mut what = Vec::new();
    // Most files have one damage, and some have two or three.
    for _ in 0..=random.below(4).saturating_sub(1) {
        let place = random.below(records.len());
        if random.below(3) == 0 && records[place].starts_with(b"WARC/1.0\r\n") && records[place].len() < 8000 {
            let is_whole = String::from_utf8_lossy(&records[place]).contains("Content-Length: ");
            let has_header = has_sound_header(&records[place]);
            if is_whole && has_header {
                what.push(format!("{} in {place}", damage_header(random, &mut records[place])));
                continue;
            }
        }
        if !is_packed || random.below(2) == 0 {
            what.push(format!("{} in {place}", damage(random, &mut records[place])));
        }
    }
    if !is_packed {
        return ("f.warc", what.join(", "), records.concat());
    }
    let mut members: Vec<Vec<u8>> =
        records.iter().map(|record| if random.below(4) == 0 { stored(record) } else { gz(record) }).collect();
    if what.is_empty() || random.below(3) == 0 {
        let place = random.below(members.len());
        what.push(format!("{} in member {place}", damage(random, &mut members[place])));
    }
    ("f.warc.gz", what.join(", "), members.concat())
}

/// Returns whether a record still has a terminated header with a numeric length.
fn has_sound_header(record: &[u8]) -> bool {
    let text = String::from_utf8_lossy(record);
    let Some(end) = text.find("\r\n\r\n") else { return false };
    // Earlier damage has changed the number of bytes.
    let length = text[..end].split_once("Content-Length: ").map(|(_, rest)| rest.lines().next().unwrap_or_default());
    text.is_char_boundary(end)
        && record[..end].is_ascii()
        && length.is_some_and(|length| {
            !length.is_empty() && length.len() < 9 && length.bytes().all(|byte| byte.is_ascii_digit())
        })
}

/// Runs the command within the limits of memory and time. Returns its exit code and its output.
fn run(folder: &Folder, args: &[&str], stdin: &str, what: &str) -> (Option<i32>, Vec<u8>, String) {
    let start = Instant::now();
    let mut child = folder.command(args).stdin(Stdio::piped()).spawn().unwrap();
    // The process may end before it has read all input.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let peak = support::watch_memory(child.id());
    let mut stderr = child.stderr.take().unwrap();
    let errors = std::thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).unwrap();
        text
    });
    let mut stdout = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut stdout).unwrap();
    let status = child.wait().unwrap();
    let peak = peak.join().unwrap();
    let errors = errors.join().unwrap();
    assert!(peak < MAX_MEMORY_BYTES, "{what}: {peak} bytes of memory");
    assert!(start.elapsed() < MAX_TIME, "{what}: {:?}", start.elapsed());
    let code = status.code();
    assert!(matches!(code, Some(0..=2)) && !errors.contains("panicked"), "{what}: {code:?} {errors}");
    (code, stdout, errors)
}

/// Parses the output of `filter` with a minimal reader. Returns each record's target and block.
fn written(bytes: &[u8], is_packed: bool) -> Vec<(String, String)> {
    let mut unpacked = Vec::new();
    if is_packed && !bytes.is_empty() {
        flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut unpacked).unwrap();
    }
    let mut records = Vec::new();
    let mut rest = if is_packed { &unpacked[..] } else { bytes };
    while !rest.is_empty() {
        assert!(rest.starts_with(b"WARC/"), "no record: {:?}", String::from_utf8_lossy(&rest[..rest.len().min(60)]));
        let mut header_len = 0;
        let mut length = None;
        let mut target = String::new();
        loop {
            let line_len = rest[header_len..].iter().position(|&byte| byte == b'\n').unwrap() + 1;
            let line = String::from_utf8_lossy(&rest[header_len..header_len + line_len]).trim().to_owned();
            header_len += line_len;
            match line.split_once(':') {
                _ if line.is_empty() => break,
                Some((name, value)) if name.trim().eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse::<usize>().ok().or(length)
                }
                Some((name, value)) if name.trim().eq_ignore_ascii_case("warc-target-uri") => {
                    target = value.trim().into()
                }
                _ => {}
            }
        }
        let end = header_len + length.expect("a record without a length");
        records.push((target, String::from_utf8_lossy(&rest[header_len..end]).into_owned()));
        rest = &rest[end..];
        // The separator, and two bytes that one crawl did not count.
        let mut uncounted = 0;
        while !(rest.is_empty() || rest.starts_with(b"WARC/")) {
            uncounted += usize::from(!b"\r\n".contains(&rest[0]));
            assert!(uncounted <= 2, "kept bytes that belong to no record");
            rest = &rest[1..];
        }
    }
    records
}

/// Makes `count` mutants, and checks the safety properties of each. Returns how many had detected damage.
fn try_mutants(seed: u64, count: usize) -> usize {
    let folder = Folder::new();
    // All hosts are allowed, so `filter` keeps every record that it reads.
    for host in VICTIMS.iter().chain(&["last.example"]) {
        folder.write(&format!("robots/{host}"), "");
    }
    folder.run(&["compile", "-o", "open", "robots"]).says(0, &[]);
    let urls: Vec<String> =
        VICTIMS.iter().flat_map(|host| [FORGED, TRUE, "/"].map(|path| format!("http://{host}{path}"))).collect();
    let mut noticed = 0;
    for number in 0..count as u64 {
        let mut random = Random(seed.wrapping_add(number).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        random.next();
        let (file, damage, bytes) = mutant(&mut random);
        folder.write(file, &bytes);
        let what = format!("mutant {number} of seed {seed} ({file}: {damage})");
        let (code, stdout, errors) = run(&folder, &["classify", file, "--agent", "bot-a"], &urls.join("\n"), &what);
        let text = String::from_utf8(stdout).unwrap();
        let verdicts: Vec<&str> = text.lines().map(|line| line.split('\t').nth(1).unwrap()).collect();
        for (host, verdicts) in VICTIMS.iter().zip(verdicts.chunks(3)) {
            // Damage may lose the victim's own record, or change its own rules, but must never introduce the attacker's
            // rules.
            let is_forged = verdicts[0] == "allow" && verdicts[1] == "disallow";
            assert!(!is_forged, "{what}: {host} is decided by the attacker: {verdicts:?}\n{errors}");
        }
        noticed += usize::from(code != Some(0));
        let args = ["filter", file, "--set", "open", "--agent", "bot-a"];
        let (code, stdout, errors) = run(&folder, &args, "", &what);
        if code == Some(2) {
            let is_explained = ["compressed together", "not read to its end"].iter().any(|text| errors.contains(text));
            assert!(stdout.is_empty() || is_explained, "{what}: {errors}");
            continue;
        }
        for (target, block) in written(&stdout, file.ends_with("gz")) {
            let is_forged = VICTIMS.iter().any(|host| target.contains(host)) && block.contains(FORGED);
            assert!(!is_forged, "{what}: filter wrote a forged record for {target}\n{errors}");
        }
    }
    println!("{count} mutants of seed {seed}: {noticed} refused or reported as damaged");
    noticed
}

/// Checks the undamaged file, and that a search finds the forged records that the mutants' assertions look for.
#[test]
fn an_undamaged_file_has_the_genuine_rules() {
    let folder = Folder::new();
    let urls: Vec<String> =
        VICTIMS.iter().flat_map(|host| [FORGED, TRUE].map(|path| format!("http://{host}{path}"))).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let records = records();
    folder.write("f.warc", records.concat());
    folder.write("f.warc.gz", records.iter().flat_map(|record| gz(record)).collect::<Vec<u8>>());
    for file in ["f.warc", "f.warc.gz"] {
        folder.run(&["compile", "--force", "-o", "set", file]).says(0, &[]);
        assert_eq!(folder.verdicts("set", &urls), ["disallow", "allow"].repeat(3), "{file}");
    }
    let header = String::from_utf8_lossy(&records[2]).lines().next().unwrap().len() + 2;
    let damaged = [&records[1][..], &records[2][..header], b"\r\n", &records[2][header..], &records[4]].concat();
    folder.write("damaged.warc", damaged);
    folder.run(&["compile", "-o", "found", "damaged.warc", "--resync"]).says(1, &["untrusted"]);
    assert_eq!(folder.verdicts("found", &urls), ["allow", "disallow"].repeat(3));
}

#[test]
fn no_damage_lets_a_website_decide_for_another() {
    assert!(try_mutants(1, 150) > 60);
}

#[test]
#[ignore = "takes minutes; .ci/full runs it"]
fn no_damage_among_thousands_lets_a_website_decide_for_another() {
    assert!(try_mutants(2, 3000) > 1500);
}
