//! Sets of a few files: compiled, asked, changed. A small sample uses the whole format. Also used by the fuzz targets.

use bumpalo::Bump;
use reptile_compiler::automaton::Strategy;
use reptile_compiler::capture::{Capture, Outcome};
use reptile_compiler::dialect::crawlers::{Resolved, of_name};
use reptile_compiler::dialect::{Dialect, GOOGLE_LIB};
use reptile_compiler::oracle::OracleAnswer;
use reptile_compiler::set::{OwnedOrigin, SetBuilder, prepare};
use reptile_engine::format::FormatError;
use reptile_engine::format::container::{self, Container, Header, Section, Sections};
use reptile_engine::set::{Policy, Set};
use reptile_engine::threads::OneThread;
use reptile_engine::url::{Origin, Scheme, path_of};
use reptile_engine::verdict::{Cause, Explanation, Verdict};

/// Returns the origin under which a robots.txt is compiled.
pub fn origin_of(host: &str) -> Origin<'_> {
    Origin { scheme: Scheme::Http, host: host.as_bytes(), port: 80 }
}

/// Compiles a set of robots.txt files, each for the [`origin_of`] its host.
pub fn compile<'b>(
    bodies: impl IntoIterator<Item = (&'b str, &'b [u8])>,
    dialect: &'static Dialect,
    strategy: Strategy,
) -> Vec<u8> {
    let mut arena = Bump::new();
    let mut builder = SetBuilder::new(dialect);
    for (host, body) in bodies {
        let Origin { scheme, host, port } = origin_of(host);
        let replaced =
            builder.add([OwnedOrigin { host: host.into(), scheme, port }], prepare(body, dialect, &arena).unwrap());
        assert_eq!(replaced, 0, "two files for {}", host.escape_ascii());
        arena.reset();
    }
    builder.finish(strategy).unwrap().to_bytes()
}

/// Returns the policy for the file that was compiled under `host`.
pub fn policy_of<'s, D: AsRef<[u8]>>(set: &'s Set<D>, host: &str) -> Policy<'s> {
    set.policy(&origin_of(host)).unwrap().unwrap_or_else(|| panic!("the set lost {host}"))
}

/// Asks a set about a text used as a URL. Returns `decide`'s verdict and `explain`'s line.
///
/// # Errors
/// Returns an error if `decide` and `explain` disagree, or give a verdict that no file can produce.
pub fn ask<D: AsRef<[u8]>>(
    set: &Set<D>,
    policy: &Policy<'_>,
    agent: &[u8],
    url: &[u8],
) -> Result<OracleAnswer, String> {
    let dialect = Dialect::from_name(&set.dialect()).ok_or_else(|| format!("no dialect {}", set.dialect()))?;
    ask_for(set, policy, &of_name(agent, dialect), url)
}

/// Like [`ask`], for an agent whose names are known.
///
/// # Errors
/// The same as for [`ask`].
pub fn ask_for<D: AsRef<[u8]>>(
    set: &Set<D>,
    policy: &Policy<'_>,
    agent: &Resolved,
    url: &[u8],
) -> Result<OracleAnswer, String> {
    let agent = agent.look_up(set).map_err(|error| error.to_string())?;
    path_of(url).with(|path| {
        let decided = policy.decide(&agent, path).map_err(|error| error.to_string())?;
        let explained = policy.explain(&agent, path).map_err(|error| error.to_string())?;
        if decided != explained.verdict {
            return Err(format!("decide says {decided}, explain says {}", explained.verdict));
        }
        let allowed = match decided {
            Verdict::Allow => true,
            Verdict::Disallow => false,
            other => return Err(format!("decide says {other}")),
        };
        Ok(OracleAnswer { allowed, line: explained.rule().map_or(0, |rule| rule.line) })
    })
}

/// URLs that reach every part of [`sample`].
pub const URLS: [&[u8]; 16] = [
    b"http://closed.example/",
    b"http://kept.example/kept",
    b"http://a.example/",
    b"http://a.example/shop/x?sort=1&y",
    b"http://a.example/shop/cart/print/",
    b"http://a.example/a/b/c/d/e.pdf",
    b"http://a.example/index.html",
    b"http://a.example/l/ong/enough/to/pass/through/all/of/the/states",
    b"https://a.example/",
    b"http://b.example/x-a-b-c",
    b"http://b.example/private/z",
    b"http://c.example:8080/",
    b"http://n1.example/1234/x?q=",
    b"http://n2.example/1567/cart",
    b"http://nowhere.example/",
    b"no url",
];

/// Strategies that together use the whole format. A DFA over whole patterns would only add bytes.
pub const STRATEGIES: [Strategy; 2] = [Strategy::Factored, Strategy::Fallback];

/// Crawlers with and without a group of their own.
pub const AGENTS: [&[u8]; 3] = [b"any", b"FooBot", b"bar-bot"];

/// Compiles a small set that uses the whole format. With [`Strategy::Fallback`] it is a set by time.
pub fn sample(strategy: Strategy) -> Vec<u8> {
    let files: [(&str, Scheme, u16, &str); 6] = [
        (
            "a.example",
            Scheme::Http,
            80,
            "user-agent: *\nuser-agent: FooBot\nallow: /shop/index.html\ndisallow: /*sort=\ndisallow: /shop/*/print/$\n\
             disallow: /*.pdf$\ndisallow: /a/*b*d\nallow: /l/*/states\ndisallow: /l/*ough\ndisallow: /l/*.gif\n\
             disallow: /l/*?\ndisallow: /l/*;\ndisallow: /b\ndisallow: /c\ndisallow: /d\ndisallow: /e\ndisallow: /f\n\
             disallow: /g\ndisallow: /h\ndisallow:\ncontent-usage: train-ai=n\ncontent-usage: /u train-ai=y\n\
             content-usage: /*u search=n, train-ai=n\ncontent-signal: ai-train=no\n",
        ),
        (
            "a.example",
            Scheme::Https,
            443,
            "sitemap: https://a.example/1\nsitemap: https://a.example/2\nuser-agent: bar-bot\ndisallow: /\n\
             crawl-delay: 2\nx-key: y\n",
        ),
        (
            "b.example",
            Scheme::Http,
            80,
            "user-agent: *\ndisallow: /x*-a*-b*-c*-d*-e*-f*-g*-h*-i*-j*-k*-l*-m*-n*-o*-p*-q*-r\n\
             disallow: /private\nallow: /private/z*\n",
        ),
        ("c.example", Scheme::Http, 8080, ""),
        (
            "n1.example",
            Scheme::Http,
            80,
            "user-agent: *\ndisallow: /1234/*?q=\ndisallow: /1234/cart\ndisallow: /users/\n",
        ),
        // A near-copy of the previous file, stored as patches.
        (
            "n2.example",
            Scheme::Http,
            80,
            "user-agent: *\ndisallow: /1567/*?q=\ndisallow: /1567/cart\ndisallow: /users/\n",
        ),
    ];
    let mut builder = SetBuilder::new(&GOOGLE_LIB).by_time(strategy == Strategy::Fallback);
    for (host, scheme, port, body) in files {
        let arena = Bump::new();
        let origin = OwnedOrigin { host: host.as_bytes().into(), scheme, port };
        builder.add([origin], prepare(body.as_bytes(), &GOOGLE_LIB, &arena).unwrap());
    }
    let closed = OwnedOrigin { host: b"closed.example"[..].into(), scheme: Scheme::Http, port: 80 };
    builder.add_capture([closed], &Capture::default(), Outcome::Disallow(Cause::Status(503)), None);
    let kept = OwnedOrigin { host: b"kept.example"[..].into(), scheme: Scheme::Http, port: 80 };
    let body = prepare(b"user-agent: *\ndisallow: /kept\n", &GOOGLE_LIB, &Bump::new()).unwrap();
    let at = |time| Capture { time: Some(time), max_age: Some(60), ..Capture::default() };
    builder.add_capture([kept.clone()], &at(1000), Outcome::Use, Some(body));
    for time in [2000, 3000] {
        builder.add_capture([kept.clone()], &at(time), Outcome::Unreachable(Cause::Network), None);
    }
    builder.finish(strategy).unwrap().to_bytes()
}

/// Calls all of a set's queries.
pub fn ask_all<D: AsRef<[u8]>>(set: &Set<D>) -> Result<(), FormatError> {
    for agent in AGENTS {
        let agent = set.agent(agent)?;
        for url in URLS {
            set.decide(&agent, url)?;
            set.explain(&agent, url)?;
            if set.has_times() {
                set.explain_at(&agent, url, 2000)?;
            }
        }
    }
    let (chain, known) = (set.agent_chain(&[b"none", b"bar-bot"], false)?, set.crawler(b"FooBot/1.0")?);
    for url in URLS {
        set.decide(&chain, url)?;
        set.matching_rules(&chain, url)?;
        set.matching_rules(&known, url)?;
    }
    set.crawlers().iter().try_for_each(|crawler| crawler.map(drop))?;
    for origin in set.origins() {
        let origin = origin?;
        let found = Origin { scheme: origin.scheme, host: origin.host, port: origin.port };
        let _ = set.site(&found)?;
        let site = set.site_of(&origin)?;
        for group in site.policy().groups()? {
            group.rules.all()?;
            group.tokens.iter().try_for_each(|&token| set.tokens().name(token).map(drop))?;
        }
        let _ = (site.stale_at()?, site.expires_at()?, site.other().parts_of(&[0, 1])?, site.timeline()?);
        for span in site.spans()? {
            let _ = (set.policy_of_at(&origin, span.begin)?, set.policy_of_at(&origin, span.begin.wrapping_sub(1))?);
        }
        let mut reader = site.other().reader()?;
        while reader.next()?.is_some() {}
    }
    set.policy_count()?;
    Ok(())
}

/// Reads a set's content and writes it again.
pub fn rewritten<D: AsRef<[u8]>>(set: &Set<D>) -> Vec<u8> {
    let draft = set.to_draft().unwrap();
    let mut out = Vec::new();
    container::write(&mut out, &draft.header.clone(), &draft.write(&OneThread).unwrap()).unwrap();
    out
}

/// Runs all queries. If `verify` accepts the set, checks its guarantees. Returns whether it does.
pub fn check(bytes: Vec<u8>) -> bool {
    let Ok(set) = Set::from_bytes(&bytes) else { return false };
    let answers = ask_all(&set);
    if set.verify().is_err() {
        // Any result will do, as long as the call returns.
        let _ = set.to_draft().map(|draft| draft.write(&OneThread));
        return false;
    }
    answers.unwrap();
    assert!(rewritten(&set) == bytes, "verify accepts a set that differs from its rewritten content");
    true
}

/// Returns a set's header and the bytes of its sections.
pub fn sections_of(bytes: &[u8]) -> (Header, Sections) {
    let container = Container::read(bytes).unwrap();
    (container.header(), Section::ALL.map(|section| container.section(bytes, section).to_vec()))
}

/// Writes a set with these sections and valid checksums.
pub fn written(header: &Header, sections: &Sections) -> Vec<u8> {
    let mut out = Vec::new();
    container::write(&mut out, header, sections).unwrap();
    out
}

/// Returns a set's explanations for all agents and URLs.
pub fn answers<D: AsRef<[u8]>>(set: &Set<D>) -> Vec<Explanation> {
    let agents = AGENTS.map(|agent| set.agent(agent).unwrap());
    let questions = agents.iter().flat_map(|agent| URLS.map(|url| (agent, url)));
    questions.map(|(agent, url)| set.explain(agent, url).unwrap()).collect()
}

/// A source of choices: random numbers, or a fuzzer's bytes.
pub trait Choose {
    /// Returns a number below `end`, or 0 if `end` is 0.
    fn below(&mut self, end: usize) -> usize;
}

/// Changes one part of a section: a bit, a byte, a 32-bit number, or a run of bytes.
pub fn mutate(section: &mut Vec<u8>, random: &mut impl Choose) {
    let at = random.below(section.len());
    match random.below(6) {
        0 => section[at] ^= 1 << random.below(8),
        1 => section[at] = random.below(256) as u8,
        2 => {
            let at = at / 4 * 4;
            let number = [0, 1, 2, u32::MAX, u32::MAX - 1, random.below(64) as u32][random.below(6)];
            section.iter_mut().skip(at).zip(number.to_le_bytes()).for_each(|(byte, new)| *byte = new);
        }
        3 => {
            let (from, len) = (random.below(section.len()), random.below(section.len() - at).min(64));
            let copied: Vec<u8> = section.iter().copied().cycle().skip(from).take(len).collect();
            section.splice(at..at + len, copied);
        }
        4 => drop(section.drain(at..(at + 4 * (1 + random.below(8))).min(section.len()))),
        _ => {
            let copied = section[at..(at + 4 * (1 + random.below(8))).min(section.len())].to_vec();
            section.splice(at..at, copied);
        }
    }
}
