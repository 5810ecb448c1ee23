//! Text-matching libraries as engines. They do not read robots.txt. Reptile parses the file, selects the group and
//! orders its rules, and the library gets a regular expression for each rule. The first match decides.

#[cfg(feature = "re2")]
pub mod re2;

use std::cell::RefCell;
use std::fmt::Write as _;

use bumpalo::Bump;
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_compiler::dialect::crawlers::of_name;
use reptile_compiler::rules::order::RuleList;
use reptile_compiler::set::{Prepared, prepare};
use reptile_engine::format::automaton::kind_of;
use reptile_engine::url::path_of;
use reptile_engine::verdict::RuleKind;

use crate::implementation::{Hello, Implementation, Question, path_as_written};

/// Memory limit in bytes for a library's program, and again for the automaton that it builds while matching.
pub const MATCHER_BYTES: usize = 1 << 30;

/// An expression for each rule in a group, in order of precedence, so that the first match decides. They apply to
/// bytes, a dot matches any byte, and matches begin at the start of the text.
#[derive(Default)]
pub struct Expressions {
    /// The expressions, without `\A`.
    pub texts: Vec<String>,
    /// Whether each expression belongs to a disallow rule.
    disallow: Vec<bool>,
}

impl Expressions {
    /// Converts a rule list. Rules with an empty pattern decide nothing and are omitted.
    fn of(list: &RuleList) -> Expressions {
        let mut rules: Vec<_> = list.iter().filter(|rule| !rule.is_empty).collect();
        rules.sort_by_key(|rule| rule.rank);
        Expressions {
            texts: rules.iter().map(|rule| expression(rule.matcher, rule.anchored)).collect(),
            disallow: rules.iter().map(|rule| kind_of(rule.rank) == RuleKind::Disallow).collect(),
        }
    }

    /// Returns the expressions with `\A`, for libraries that would otherwise search the whole text.
    pub fn anchored(&self) -> impl Iterator<Item = String> {
        self.texts.iter().map(|text| format!(r"\A{text}"))
    }
}

fn expression(pattern: &[u8], is_anchored: bool) -> String {
    let mut text = String::new();
    for &byte in pattern {
        match byte {
            b'*' => text.push_str(".*"),
            b'/' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => text.push(char::from(byte)),
            _ => {
                let _ = write!(text, r"\x{byte:02x}");
            }
        }
    }
    text + if is_anchored { r"\z" } else { "" }
}

/// A library with a group's compiled expressions.
pub trait Matcher: Sized {
    /// Compiles expressions.
    ///
    /// # Errors
    /// Returns an error if the library rejects an expression, or needs more memory than [`MATCHER_BYTES`].
    fn new(expressions: &Expressions) -> Result<Self, String>;

    /// Returns the index of the first expression that matches a path, or `None` if none does.
    ///
    /// # Errors
    /// Returns an error if the library gives up.
    fn first(&mut self, path: &[u8]) -> Result<Option<usize>, String>;
}

/// A compiled group, or `None` for a group without rules, which allows everything.
pub struct GroupMatcher<M>(Option<RefCell<M>>, Vec<bool>);

/// An engine for a library.
pub struct MatcherEngine<M> {
    name: String,
    version: String,
    matcher: std::marker::PhantomData<M>,
}

impl<M> MatcherEngine<M> {
    /// Creates an engine with a name and version.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> MatcherEngine<M> {
        MatcherEngine { name: name.into(), version: version.into(), matcher: std::marker::PhantomData }
    }
}

impl<M: Matcher> Implementation for MatcherEngine<M> {
    type File<'a> = Prepared;
    type Ready<'f> = GroupMatcher<M>;
    const PER_AGENT: bool = true;
    const TAKES_PATHS: bool = true;
    const CRAWLS: bool = false;

    fn hello(&self) -> Hello {
        let notes = [
            "It matches text. Reptile parses the file, selects the group, orders its rules and extracts paths.",
            "Rules that the library rejects, or that exceed its memory limit, are `unsupported`.",
        ];
        Hello {
            name: self.name.clone(),
            version: self.version.clone(),
            dialect: "google-lib".to_owned(),
            notes: notes.map(str::to_owned).to_vec(),
        }
    }

    fn parse(&self, body: &[u8]) -> Result<Prepared, String> {
        prepare(body, &GOOGLE_LIB, &Bump::new()).map_err(|error| error.to_string())
    }

    fn ready(&self, file: &Prepared, row: &Question<'_>) -> Option<GroupMatcher<M>> {
        let crawler = of_name(row.agent, &GOOGLE_LIB);
        let groups = |token: &Vec<u8>| {
            let named = file.tokens.iter().filter(|(name, _)| name.eq_ignore_ascii_case(token));
            named.map(|&(_, group)| group).collect::<Vec<_>>()
        };
        let mut groups = crawler.tokens.iter().map(groups).find(|groups| !groups.is_empty()).unwrap_or_default();
        if groups.is_empty() && crawler.honors_default_group {
            groups.extend(file.default_group);
        }
        let expressions = match &groups[..] {
            [] => Expressions::default(),
            [group] => Expressions::of(&file.groups.get(*group as usize)?.0),
            // Rules from several groups have no common order here.
            _ => return None,
        };
        let is_empty = expressions.texts.is_empty();
        let matcher = if is_empty { None } else { Some(RefCell::new(M::new(&expressions).ok()?)) };
        Some(GroupMatcher(matcher, expressions.disallow))
    }

    fn path(&self, url: &[u8]) -> Vec<u8> {
        path_as_written(url)
    }

    fn allows(&self, GroupMatcher(matcher, disallow): &GroupMatcher<M>, row: &Question<'_>) -> Option<bool> {
        let Some(matcher) = matcher else { return Some(true) };
        let first = path_of(row.url).with(|path| matcher.borrow_mut().first(path)).ok()?;
        Some(!first.and_then(|first| disallow.get(first)).is_some_and(|&disallow| disallow))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finds the first expression that the path begins with. Supports no wildcards.
    struct Plain(Vec<String>);

    impl Matcher for Plain {
        fn new(expressions: &Expressions) -> Result<Plain, String> {
            if expressions.texts.iter().any(|text| text.contains(".*")) {
                return Err("no wildcards".to_owned());
            }
            Ok(Plain(expressions.texts.clone()))
        }

        fn first(&mut self, path: &[u8]) -> Result<Option<usize>, String> {
            Ok(self.0.iter().position(|text| path.starts_with(text.as_bytes())))
        }
    }

    #[test]
    fn longest_rule_decides_and_allow_wins_ties() {
        let engine = MatcherEngine::<Plain>::new("plain", "1");
        let body = b"User-agent: a\nDisallow: /x\nAllow: /xy\nDisallow: /xy\n\nUser-agent: b\n\nUser-agent: w\nDisallow: /*z\n\n\
                     User-agent: *\nDisallow: /\n";
        let file = engine.parse(body).unwrap();
        let decide = |agent: &'static [u8], url: &'static [u8]| {
            let row = Question::new(agent, url);
            engine.allows(&engine.ready(&file, &row)?, &row)
        };
        assert_eq!(decide(b"a", b"https://a.example/x"), Some(false));
        assert_eq!(decide(b"a", b"/xyz"), Some(true));
        assert_eq!(decide(b"A", b"https://a.example/z"), Some(true));
        assert_eq!(decide(b"other", b"https://a.example/z"), Some(false));
        assert_eq!(decide(b"w", b"https://a.example/z"), None);
    }

    #[test]
    fn patterns_become_expressions() {
        assert_eq!(expression(b"/a*.\xff", true), r"/a.*\x2e\xff\z");
        assert_eq!(expression(b"*", false), ".*");
    }
}
