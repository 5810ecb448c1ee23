//! Hostile robots.txt files by family, for the tests and the benchmark `hostile`. The expectations are where the files
//! are used.

/// A hostile file.
pub struct Family {
    /// A description of the file.
    pub name: &'static str,
    /// A crawler that the file has rules for.
    pub agent: &'static str,
    /// The robots.txt.
    pub body: String,
}

/// Size in bytes of the files that are filled up: as much as Google reads.
const FILE_BYTES: usize = 500 << 10;

/// Returns a path that keeps the matcher busy in all families with many rules: `a` 2,000 times, as in the published
/// cases.
pub fn long_path() -> String {
    format!("/{}", "a".repeat(2000))
}

/// Returns the five published cases and our own families.
pub fn families() -> Vec<Family> {
    let mut families = patterns();
    families.extend(full_files());
    families.extend(full_groups());
    families
}

fn of_rules(name: &'static str, rules: impl IntoIterator<Item = String>) -> Family {
    let mut body = String::from("user-agent: *\n");
    body.extend(rules);
    Family { name, agent: "any-bot", body }
}

fn rule(pattern: impl std::fmt::Display) -> String {
    format!("disallow: {pattern}\n")
}

/// Returns families that test one group's patterns.
fn patterns() -> Vec<Family> {
    let wildcards = |segment: &str, count: usize| segment.repeat(count);
    vec![
        of_rules("P1 one rule of ten wildcards", [rule(format!("/{}*b$", wildcards("*a", 10)))]),
        of_rules("P2 the same 13,077 times", vec![rule(format!("/{}*b$", wildcards("*a", 10))); 13_077]),
        of_rules("P2 with different ends", (0..13_077).map(|n| rule(format!("/{}*b{n}$", wildcards("*a", 10))))),
        of_rules("P3 31 lines of 16 KB of *a", vec![rule(format!("/{}", wildcards("*a", 8000))); 31]),
        of_rules("P4 31 lines of 16,000 wildcards", vec![rule(format!("/{}", wildcards("*", 16_000))); 31]),
        of_rules("P5 253 rules of 1,000 x *a", vec![rule(format!("/{}", wildcards("*a", 1000))); 253]),
        of_rules("P5 with different ends", (0..253).map(|n| rule(format!("/{}{n}", wildcards("*a", 1000))))),
        of_rules(
            "nested wildcards that part",
            (0..4096).map(|n| {
                let turns = (0..12).map(|bit| if n >> bit & 1 == 0 { "*a" } else { "*aa" }).collect::<String>();
                rule(format!("/{turns}*{n}"))
            }),
        ),
        of_rules("10,000 rules of one wildcard", (0..10_000).map(|n| rule(format!("/*a{n}")))),
        of_rules("40,000 rules of one wildcard", (0..40_000).map(|n| rule(format!("/*a{n}")))),
        of_rules("10,000 rules of two wildcards", (0..10_000).map(|n| rule(format!("/*a{}*a{}", n / 100, n % 100)))),
        of_rules("17,000 segments before one end", (0..17_000).map(|n| rule(format!("/*xyz{n}*a0")))),
        of_rules("shared prefixes with wildcards", (1..900).map(|n| rule(format!("/{}*b", wildcards("a", n))))),
        of_rules("growing segments after a wildcard", (1..900).map(|n| rule(format!("/*{}*b", wildcards("a", n))))),
        of_rules("growing whole paths", (1..1000).map(|n| rule(format!("/{}$", wildcards("a", n))))),
        of_rules(
            "suffixes that take over much",
            (0..96_u8)
                .map(|n| rule(format!("/*a{}", char::from(n % 94 + 33))))
                .chain((0..200).map(|n| rule(format!("/*{}{n}", wildcards("xa", 100))))),
        ),
        of_rules("wildcards after one whose segments many of theirs end with", {
            let letter = |n: usize| char::from(b'A' + (n % 26) as u8);
            let two = move |n: usize| format!("{}{}{}", letter(n), letter(n / 26), letter(n / 676));
            let many = (0..6500).map(move |n| rule(format!("/{}*{}x", two(n), wildcards("xa", 29))));
            (0..20).map(move |n| rule(format!("/*a{}", letter(n)))).chain(many)
        }),
        of_rules("the same, fewer and longer", {
            let letter = |n: usize| char::from(b'0' + (n % 60) as u8);
            let many = (0..267).map(move |n| rule(format!("/A{}{}*{}x", letter(n), n / 60, wildcards("xa", 44))));
            (0..30).map(move |n| rule(format!("/*a{}", letter(n)))).chain(many)
        }),
        of_rules("15,000 substrings before one end", {
            let letter = |n: usize| char::from(b'a' + (n * n * 7 + n * 3 + n / 5) as u8 % 3);
            let text: String = (0..300).map(letter).collect();
            let substrings = (0..250).flat_map(move |from| (1..50).map(move |len| from..from + len));
            substrings.map(move |range| rule(format!("/*{}*a0", &text[range])))
        }),
        of_rules("a pattern of 16,660 bytes", [rule(format!("/*{}", wildcards("a", 16_600)))]),
        of_rules("an allow for every disallow", (0..5000).map(|n| format!("allow: /*a{n}$\ndisallow: /*a{n}\n"))),
        of_rules(
            "rules that differ in wildcards at their ends",
            (1..950).map(|n| rule(format!("/a{}", wildcards("*", n)))),
        ),
        of_rules(
            "a long beginning in common, then wildcards",
            (0..250).map(|n| rule(format!("/{}{n}*b{n}", wildcards("a", 2000)))),
        ),
    ]
}

/// Makes a group with as many lines as fit in [`FILE_BYTES`].
fn full(name: &'static str, line: impl Fn(usize) -> String) -> Family {
    let mut family = of_rules(name, []);
    fill(&mut family.body, line);
    family
}

fn fill(body: &mut String, line: impl Fn(usize) -> String) {
    for number in 0.. {
        let line = line(number);
        if body.len() + line.len() > FILE_BYTES {
            return;
        }
        body.push_str(&line);
    }
}

/// Returns three characters without special meaning in patterns, different for each number below 66^3.
fn three(number: usize) -> String {
    const DIGITS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_~!";
    [number / DIGITS.len() / DIGITS.len(), number / DIGITS.len(), number]
        .map(|digit| char::from(DIGITS[digit % DIGITS.len()]))
        .iter()
        .collect()
}

/// Returns families with as many lines as fit in a file.
fn full_files() -> Vec<Family> {
    vec![
        full("full of empty patterns", |_| "allow:\n".into()),
        full("full of wildcards alone", |_| "allow:*\n".into()),
        full("full of one character", |n| {
            format!("allow:{}\n", char::from(b'!' + (n % 90) as u8).to_string().replace('#', "x"))
        }),
        full("full of short rules", |n| format!("allow:/{}\n", three(n))),
        full("full of short whole paths", |n| format!("allow:/{}$\n", three(n))),
        full("full of short rules after a wildcard", |n| format!("allow:*{}\n", three(n))),
        full("full of wildcards after short texts", |n| format!("allow:{}*a\n", three(n))),
        full("full of wildcards between short texts", |n| format!("allow:/{}*{}\n", three(n), three(n * 7))),
        full("full of two wildcards", |n| format!("allow:*{}*{}\n", three(n % 200), three(n / 200))),
        full("full of two different wildcards", |n| format!("allow:*{}*{}\n", three(n), three(n * 7))),
        full("full of three wildcards", |n| format!("allow:*{}*a*{}\n", three(n), three(n * 7))),
        full("full of octets that are escaped", |n| format!("allow:/{}\u{ff}\n", three(n))),
        full("full of long octets that are escaped", |n| format!("allow:/{}{}\n", "\u{ff}".repeat(1000), three(n))),
        full("full of crawl delays", |n| format!("crawl-delay:{}\n", n % 10)),
        full("full of sitemaps", |n| format!("sitemap:{n}\n")),
        full("full of parameters to clean", |n| format!("clean-param:{n}\n")),
        full("full of keys without a meaning", |_| "a:\n".into()),
        full("full of lines without a separator", |_| "a\n".into()),
        full("full of empty lines", |_| "\n".into()),
    ]
}

/// Returns families that test how groups are assigned to tokens.
fn full_groups() -> Vec<Family> {
    let full = |name, agent, line: &dyn Fn(usize) -> String| {
        let mut body = String::new();
        fill(&mut body, line);
        Family { name, agent, body }
    };
    let letters = |n: usize| -> String {
        [n / 676 / 26, n / 676, n / 26, n].map(|digit| char::from(b'a' + (digit % 26) as u8)).iter().collect()
    };
    vec![
        Family {
            name: "4,000 tokens that share 8,000 rules",
            agent: "botaaaa",
            body: {
                let agents = (0..4000).map(|n| format!("user-agent: bot{}\n", letters(n)));
                let common = (0..4000).map(|n| format!("disallow: /x{n}/*y\nallow: /x{n}\n"));
                let own = |n| format!("disallow: /{n}\nallow: /{n}*b\ndisallow: /x{n}/*z$\ndisallow:\n");
                let groups = (0..4000).map(|n| format!("user-agent: bot{}\n{}", letters(n), own(n)));
                agents.chain(common).chain(groups).collect()
            },
        },
        full("a token and a rule for each group", "aaaa", &|n| format!("user-agent:{}\nallow:/{n}\n", letters(n))),
        full("a token and the same rule for each group", "aaaa", &|n| format!("user-agent:{}\nallow:/\n", letters(n))),
        full("one token in every group", "a", &|n| format!("user-agent:a\nallow:/{n}\n")),
        full("everybody in every group", "a", &|n| format!("user-agent:*\nallow:/{n}\n")),
        full("tokens that differ in case", "aaaaaaaaaaaaaaaa", &|n| {
            let cased = |bit: u32| if n >> bit & 1 == 0 { 'a' } else { 'A' };
            format!("user-agent:{}\nallow:/{n}\n", (0..16).map(cased).collect::<String>())
        }),
        full("tokens without rules", "aaaa", &|n| format!("user-agent:{}\n", letters(n))),
        full("one token without rules", "a", &|_| "user-agent:a\n".into()),
        full("empty tokens", "a", &|n| format!("user-agent:\nallow:/{n}\n")),
        full("each token in two groups", "aaaa", &|n| {
            // Group `n` has the tokens in row `n` and column `n` of a square, so each two groups share a token.
            let tokens = (0..100).map(|m| letters((n % 100).min(m) * 100 + (n % 100).max(m)));
            let tokens: String = tokens.map(|token| format!("user-agent:{token}\n")).collect();
            let rules: String = (0..200).map(|rule| format!("allow:/{}\n", rule * 100 + n)).collect();
            tokens + &rules
        }),
    ]
}
