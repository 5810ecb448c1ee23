//! A robots.txt decides the same compiled, reopened and at once, as the oracle decides it: verdict, line and uses. It
//! also decides paths that its own rules spell.
//!
//! Input: the dialect, the strategy, then the crawler and the path, each on a line, and the body.
#![no_main]

use bumpalo::Bump;
use libfuzzer_sys::fuzz_target;
use reptile::{Capture, Compiler, Dialect, OneShot, Robots, Verdict};
use reptile_compiler::automaton::Strategy;
use reptile_compiler::body::DiagnosticKind;
use reptile_compiler::capture::{self, Outcome, Profile};
use reptile_compiler::dialect::ALL;
use reptile_compiler::dialect::crawlers::{Resolved, of_name};
use reptile_compiler::dialect::resolve::resolve;
use reptile_compiler::once::decide_once;
use reptile_compiler::oracle::{self, OracleAnswer, OracleUses};
use reptile_compiler::set::{OwnedOrigin, SetBuilder, prepare};
use reptile_engine::set::{Set, UsageCategory, UsageQuery};
use reptile_engine::url::{Scheme, split};
use reptile_engine::verdict::Preference;
use reptile_fuzz::sets::{ask_for, policy_of};

/// The host of the compiled file.
const HOST: &str = "h";

/// Number of rules whose texts are combined to paths.
const SPELLED_RULES: usize = 3;

/// Labels of uses, in usage rules and in signals.
const USES: [&str; 3] = ["train-ai", "search", "a"];
const SIGNALS: [&str; 3] = ["ai-train", "search", "a"];

/// A question about a file.
struct Question<'d> {
    dialect: &'static Dialect,
    strategy: Strategy,
    by_time: bool,
    agent: &'d [u8],
    /// The URL on [`HOST`].
    url: Vec<u8>,
    body: &'d [u8],
}

impl Question<'_> {
    fn of(data: &[u8]) -> Option<Question<'_>> {
        let (&[dialect, strategy], rest) = reptile_fuzz::options(data)?;
        let mut lines = rest.splitn(3, |&byte| byte == b'\n');
        let (agent, path, body) = (lines.next()?, lines.next()?, lines.next()?);
        let path = path.strip_prefix(b"/").unwrap_or(path);
        Some(Question {
            dialect: ALL[usize::from(dialect) % ALL.len()],
            strategy: Strategy::ALL[usize::from(strategy) % Strategy::ALL.len()].1,
            by_time: strategy >= 128,
            agent,
            url: [b"http://", HOST.as_bytes(), b"/", path].concat(),
            body,
        })
    }

    /// Checks the compiler's and the engine's answers.
    fn check_set(&self) {
        let resolved = of_name(self.agent, self.dialect);
        let expected = oracle::decide_for(self.body, self.dialect, &resolved, &self.url);
        if let Ok(once) = decide_once(self.body, self.dialect, &resolved, &self.url) {
            assert_eq!(once, expected, "decided at once");
        }
        let arena = Bump::new();
        let Ok(prepared) = prepare(self.body, self.dialect, &arena) else { return };
        let has_uses = prepared.diagnostics.count(DiagnosticKind::UsageOverLimit) == 0;
        let mut builder = SetBuilder::new(self.dialect).by_time(self.by_time);
        builder.add([OwnedOrigin { host: HOST.as_bytes().into(), scheme: Scheme::Http, port: 80 }], prepared);
        let Ok(compiled) = builder.finish(self.strategy) else { return };
        let set = Set::from_bytes(compiled.to_bytes()).expect("a compiled set opens");
        set.verify().expect("a compiled set is valid");
        assert_eq!(ask_for(&set, &policy_of(&set, HOST), &resolved, &self.url), Ok(expected), "decided by a set");
        for url in self.spelled_urls() {
            let expected = oracle::decide_for(self.body, self.dialect, &resolved, &url);
            assert_eq!(ask_for(&set, &policy_of(&set, HOST), &resolved, &url), Ok(expected), "a path of two rules");
        }
        if split(&self.url).is_ok() {
            self.check_uses(&set, &resolved, expected.allowed, has_uses);
        }
    }

    /// Returns URLs whose paths the first rules spell: the texts of two rules, one after the other. Two rules that match
    /// the same path are rare otherwise.
    fn spelled_urls(&self) -> Vec<Vec<u8>> {
        let values = self.body.split(|byte| b"\r\n".contains(byte)).filter_map(|line| {
            let colon = line.iter().position(|&byte| byte == b':')?;
            Some(line[colon + 1..].trim_ascii()).filter(|value| value.starts_with(b"/"))
        });
        let text = |value: &[u8]| value.iter().copied().filter(|byte| !b"*$".contains(byte)).collect::<Vec<u8>>();
        let texts: Vec<Vec<u8>> = values.take(SPELLED_RULES).map(text).collect();
        let start = format!("http://{HOST}");
        let pairs = texts.iter().flat_map(|first| texts.iter().map(move |second| (first, second)));
        pairs.map(|(first, second)| [start.as_bytes(), first, second].concat()).collect()
    }

    /// Checks the uses that the file states for the page. `has_uses` says that no limit left out their lines.
    fn check_uses(&self, set: &Set<Vec<u8>>, resolved: &Resolved, is_allowed: bool, has_uses: bool) {
        let boxed = |label: &str| -> Vec<Box<[u8]>> { vec![label.as_bytes().into()] };
        let of_usage = USES.map(|label| UsageCategory { usage: boxed(label), ..UsageCategory::default() });
        let of_signals = SIGNALS.map(|label| UsageCategory { signals: boxed(label), ..UsageCategory::default() });
        let query = UsageQuery::new(of_usage.into_iter().chain(of_signals).collect());
        let agent = resolved.look_up(set).expect("a valid set");
        let (mut verdicts, mut found) = ([Verdict::Invalid], vec![Preference::Unknown; query.len()]);
        set.usage_all(&[agent], [&self.url[..]], &query, &mut verdicts, &mut found).expect("a valid set");
        let OracleUses { usage, signals } = oracle::uses(self.body, self.dialect, resolved, &self.url);
        let expected: Vec<Preference> = match is_allowed {
            true if !has_uses => vec![Preference::Unknown; query.len()],
            true => {
                USES.iter().map(|use_| usage.get(use_)).chain(SIGNALS.iter().map(|use_| signals.get(use_))).collect()
            }
            false => vec![Preference::NotApplicable; query.len()],
        };
        let verdict = if is_allowed { Verdict::Allow } else { Verdict::Disallow };
        assert_eq!((verdicts[0], found), (verdict, expected), "uses");
    }

    /// Checks the library: one file, a set in memory, the same set from its bytes, and the answer at once.
    fn check_library(&self) {
        let Ok(name) = std::str::from_utf8(self.agent) else { return };
        let (Ok(resolved), Ok(one_shot)) = (resolve(name, self.dialect), OneShot::new(name, self.dialect)) else {
            return;
        };
        // A name such as `@search` stands for several crawlers.
        let [resolved] = &resolved[..] else { return };
        let Ok(robots) = Robots::parse(self.body, self.dialect) else { return };
        let agent = robots.agent(name).expect("a resolved name");
        let uncompiled = agent.decide(&self.url).expect("compiles");
        let explained = agent.explain(&self.url).expect("a valid set");
        assert_eq!(uncompiled, explained.verdict, "decided by the file before it is compiled");
        let line = explained.rule().map(|rule| rule.line).filter(|&line| line > 0);
        let answer = (explained.verdict, line);
        assert_eq!(one_shot.decide(self.body, &self.url).expect("compiles"), answer, "decided at once by the library");
        let (facts, profile) = (capture::Capture::default(), Profile::of_dialect(self.dialect));
        if profile.outcome(&facts, self.body) == Outcome::Use && *profile.readable(&facts, self.body) == *self.body {
            let OracleAnswer { allowed, line } = oracle::decide_for(self.body, self.dialect, resolved, &self.url);
            let verdict = if allowed { Verdict::Allow } else { Verdict::Disallow };
            let expected = match split(&self.url) {
                Ok(_) => (verdict, Some(line).filter(|&line| line > 0)),
                Err(_) => (Verdict::Invalid, None),
            };
            assert_eq!(answer, expected, "decided by the library");
        }
        let mut compiler = Compiler::new(self.dialect).by_time(self.by_time);
        let capture = Capture::new(format!("http://{HOST}/robots.txt"), self.body).expect("a valid URL");
        if compiler.add(capture).is_err() {
            return;
        }
        let compiled = compiler.finish().expect("compiles");
        let bytes = compiled.to_bytes();
        let sets = [compiled.into_set().expect("opens"), reptile::Set::from_bytes(bytes).expect("opens")];
        if split(&self.url).is_ok_and(|parts| parts.origin.host == HOST.as_bytes()) {
            for set in sets {
                let agent = set.agents([name]).expect("a resolved name");
                let mut verdicts = [Verdict::Invalid];
                agent.decide(&self.url, &mut verdicts).expect("a valid set");
                assert_eq!(verdicts[0], answer.0, "decided by the library's set");
            }
        }
    }
}

fuzz_target!(|data: &[u8]| {
    if let Some(question) = Question::of(data) {
        question.check_set();
        question.check_library();
    }
});
