//! Files that are hostile to the commands around the matcher: many groups, names, or similar lines, or a single line
//! that fills the file. The families for patterns and groups are in the compiler's tests.

use crate::families::Family;

/// A family whose file is created on demand, so that only one is in memory. A command's memory measurement includes the
/// memory of the program that starts it.
pub struct Recipe {
    /// A description of the file.
    pub name: &'static str,
    agent: &'static str,
    body: Box<dyn Fn() -> String>,
}

impl Recipe {
    /// Creates the file.
    pub fn family(&self) -> Family {
        Family { name: self.name, agent: self.agent, body: (self.body)() }
    }
}

fn recipe(name: &'static str, agent: &'static str, body: impl Fn() -> String + 'static) -> Recipe {
    Recipe { name, agent, body: Box::new(body) }
}

/// Makes a family whose file has as many lines as fit in `bytes`.
fn full(name: &'static str, start: &'static str, bytes: usize, line: impl Fn(usize) -> String + 'static) -> Recipe {
    recipe(name, "any-bot", move || {
        let mut body = String::with_capacity(bytes);
        body.push_str(start);
        for number in 0.. {
            let line = line(number);
            if body.len() + line.len() > bytes {
                break;
            }
            body.push_str(&line);
        }
        body
    })
}

/// Returns `count` letters that encode a number.
fn letters(mut number: usize, count: u32) -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let mut text = vec![b'a'; count as usize];
    for letter in text.iter_mut().rev() {
        *letter = LETTERS[number % LETTERS.len()];
        number /= LETTERS.len();
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns all families. Some fill files of `bytes` bytes; the others have the number of lines in their name.
pub fn tool_families(bytes: usize) -> Vec<Recipe> {
    let mut families = counted();
    families.extend(full_of_lines(bytes));
    families.extend(full_of_rules(bytes));
    families.extend(full_of_bytes(bytes));
    families
}

/// Returns families with line counts that have caused trouble.
fn counted() -> Vec<Recipe> {
    fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
        (0..count).map(line).collect()
    }
    let name = |n| format!("user-agent:{}\n", letters(n, 4));
    vec![
        recipe("40,000 groups of one rule", "aaaa", move || lines(40_000, |n| format!("{}allow: /{n}\n", name(n)))),
        recipe("8,000 names over 8,000 rules", "aaaa", move || {
            lines(8000, name) + &lines(8000, |n| format!("disallow: /{n}\n"))
        }),
        recipe("100,000 equal rules", "any-bot", || format!("user-agent: *\n{}", "disallow: /a\n".repeat(100_000))),
        recipe("100,000 equal index pages", "any-bot", || {
            format!("user-agent: *\n{}", "allow: /index.html\n".repeat(100_000))
        }),
        recipe("300,000 names and 4,096 other lines", "aaaa", move || {
            lines(300_000, name) + &lines(4096, |n| format!("crawl-delay: {n}\n"))
        }),
        recipe("30,000 names that preferences do not reach", "aaaa", move || {
            "user-agent: *\ncontent-signal: ai-train=no\n".to_owned() + &lines(30_000, name) + "disallow: /x\n"
        }),
        recipe("4,096 preferences and 10,000 groups without any", "aaaa", move || {
            let stated = lines(4096, |n| format!("content-usage: /{n} train-ai=n\n"));
            format!("user-agent: *\n{stated}") + &lines(10_000, |n| format!("{}disallow: /{n}\n", name(n)))
        }),
        recipe("6,000 private folders that other rules decide", "GPTBot", move || {
            let closed = lines(6000, |n| format!("disallow: /admin{n:04}\nallow: /admin{n:04}\n"));
            let crawlers =
                ["GPTBot", "ClaudeBot", "CCBot", "PerplexityBot", "Amazonbot", "Bytespider", "OAI-SearchBot"];
            format!("user-agent: *\n{closed}")
                + &crawlers.map(|name| format!("user-agent: {name}\nallow: /\n")).concat()
        }),
        recipe("10,000 parameters to clean", "any-bot", || lines(10_000, |n| format!("clean-param: p{n}\n"))),
    ]
}

/// Returns families full of lines that are not rules.
fn full_of_lines(bytes: usize) -> Vec<Recipe> {
    vec![
        full("full of empty lines", "", bytes, |_| "\n".into()),
        full("full of lines of one byte", "", bytes, |_| "a\n".into()),
        full("full of user-agent lines", "", bytes, |n| format!("user-agent:{}\n", letters(n, 4))),
        full("full of alternating user-agent lines and other lines", "", bytes, |_| "user-agent:\na:\n".into()),
        full("full of other keys", "", bytes, |_| "a:\n".into()),
        full("full of nearly known keys", "", bytes, |n| format!("dis{}llow:\n", letters(n, 3))),
        full("full of permuted keys", "", bytes, |n| {
            let mut key = *b"disallow";
            (0..4).for_each(|turn| key.swap((n >> turn) % 8, (n >> (turn * 2)) % 8));
            format!("{}:\n", String::from_utf8_lossy(&key))
        }),
        full("full of rules outside groups", "", bytes, |_| "allow:/\n".into()),
        full("a web page", "<html>\n", bytes, |_| "<p>user-agent: x disallow: /</p>\n".into()),
    ]
}

/// Returns families full of rules.
fn full_of_rules(bytes: usize) -> Vec<Recipe> {
    vec![
        full("full of equal rules", "user-agent: *\n", bytes, |_| "allow:/\n".into()),
        full("full of different rules", "user-agent: *\n", bytes, |n| format!("allow:/{}\n", letters(n, 4))),
        full("full of rules with a wildcard", "user-agent: *\n", bytes, |n| {
            format!("allow:/{}*{}\n", letters(n, 3), letters(n * 7, 4))
        }),
        full("full of rules with two wildcards", "user-agent: *\n", bytes, |n| {
            format!("allow: /a*{}{}*b\n", letters(n.wrapping_mul(2_654_435_761) >> 3, 10), letters(n, 10))
        }),
        full("full of escapes of escapes", "user-agent: *\n", bytes, |n| {
            format!("allow: /%25{}{n}\n", "25".repeat(n % 50))
        }),
        full("full of groups of one rule", "", bytes, |n| format!("user-agent:{0}\nallow:/{0}\n", letters(n, 4))),
        full("full of groups that two names share", "user-agent: c\nallow: /\nuser-agent: a\nallow: /\n", bytes, |n| {
            format!("user-agent:b\nuser-agent:a\nallow:/{}\n", letters(n, 4))
        }),
        full("each rule one byte longer", "user-agent: *\n", bytes, |n| format!("disallow: /{}\n", "a".repeat(n))),
    ]
}

/// Returns families with one long line.
fn full_of_bytes(bytes: usize) -> Vec<Recipe> {
    let rule = |name, unit: &'static str| {
        let start = "user-agent: *\ndisallow: /";
        recipe(name, "any-bot", move || format!("{start}{}", unit.repeat((bytes - start.len()) / unit.len())))
    };
    vec![
        rule("one rule", "a"),
        rule("one rule of wildcards", "*a"),
        rule("one rule of escapes", "%2"),
        recipe("one line of text", "any-bot", move || "a".repeat(bytes)),
        recipe("one line of NUL", "any-bot", move || "\0".repeat(bytes)),
    ]
}
