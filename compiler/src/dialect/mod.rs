//! The dialects: each reading of the protocol is one value of the struct [`Dialect`], a list of switches.
//!
//! A switch is named after the behaviour that it switches; no other file asks for a dialect by its name. The stages
//! that the switches steer are [`crate::body`] (bytes to groups), [`crate::rules::groups`] (who gets which group),
//! [`crate::rules::order`] (the order of the rules) and [`crawlers`] (the product tokens of a crawler). [`NormalForm`] and
//! [`NameMatching`] are the engine's.
//!
//! [`known`] holds the nine dialects that have a name, each value with its source, and [`token`] says which strings are
//! product tokens under a dialect.

pub mod crawlers;
pub mod known;
pub mod token;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use reptile_engine::format::tokens::NameMatching;
use reptile_engine::norm::NormalForm;
use reptile_engine::token::without_version;

pub use reptile_engine::token::TokenSyntax;

pub(crate) use self::known::LENIENT;
pub use self::known::{
    ALL, BING, DEFAULT, GOOGLE, GOOGLE_LIB, KOSTER_1994, KOSTER_1996, OPERATORS, RFC9309, RFC9309_STRICT, YANDEX,
    YANDEX_2017,
};
use crate::names::UnknownName;

/// One reading of the Robots Exclusion Protocol.
///
/// The dialects that have a name are constants ([`ALL`]). A dialect of your own begins as a copy of one of them:
///
/// ```
/// use reptile_compiler::dialect::{Dialect, GOOGLE, Order};
///
/// let mut mine = Dialect::custom("first-match", &GOOGLE);
/// mine.order = Order::FileOrder;
/// assert_eq!(mine.to_string(), "first-match");
/// assert!(mine.allow_is_rule);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dialect {
    /// The name by which users choose the dialect; compiled sets keep it.
    pub name: Cow<'static, str>,
    /// What happens to a long file.
    pub body_limit: BodyLimit,
    /// Which bytes are skipped at the start of a file.
    pub byte_order_mark: ByteOrderMark,
    /// Bytes of a line that are kept; the rest of the line is dropped.
    pub max_line_bytes: usize,
    /// Whether a NUL byte ends the usable part of a line.
    pub nul_ends_line: bool,
    /// Which bytes are trimmed from lines, keys and values.
    pub white_space: WhiteSpace,
    /// What a blank line means.
    pub blank_line: BlankLine,
    /// Whether a `Crawl-delay` line ends the list of user-agent lines before it, as a rule does: then groups that have
    /// nothing but a delay keep their own.
    pub crawl_delay_ends_agents: bool,
    /// Which spellings of a key are recognised.
    pub key_matching: KeyMatching,
    /// Whether an `Allow` line is a rule. If not, it still ends the list of user-agent lines before it.
    pub allow_is_rule: bool,
    /// Whether white space may stand for a missing colon in a line of exactly two words.
    pub colon_optional: bool,
    /// Which part of a user-agent line's value is the product token.
    pub token_syntax: TokenSyntax,
    /// Which values of a user-agent line name the default group.
    pub default_token: DefaultToken,
    /// How a crawler's product token is compared with that of a user-agent line.
    pub name_matching: NameMatching,
    /// Which of several groups for the same product token count.
    pub group_choice: GroupChoice,
    /// What happens to a version in the name that the caller gives.
    pub caller_version: CallerVersion,
    /// The families of crawlers whose chains of product tokens the dialect knows; to the others a crawler has one token.
    pub crawlers: Cow<'static, [Family]>,
    /// How a rule's pattern must begin. Another rule is left out, but still ends the list of user-agent lines.
    pub rule_start: RuleStart,
    /// Which bytes a rule's pattern may hold. Another rule is left out, but still ends the list of user-agent lines.
    pub rule_bytes: RuleBytes,
    /// Rules of one file that count; later ones are left out.
    pub max_rules: usize,
    /// Bytes of a rule's pattern as written; longer rules are left out.
    pub max_pattern_bytes: usize,
    /// What a `Disallow` without a value means.
    pub empty_disallow: EmptyDisallow,
    /// How paths and patterns are written so that equal things are equal, and whether there are wildcards.
    pub normal_form: NormalForm,
    /// Which of the rules that match decides.
    pub order: Order,
    /// Whether an allow of `.../index.htm...` also allows the directory itself.
    pub index_htm_opens_directory: bool,
    /// Whether `/robots.txt` is allowed whatever the rules say.
    pub robots_txt_always_allowed: bool,
    /// Which other directives count.
    pub other_directives: OtherDirectives,
}

impl Dialect {
    /// A copy of another dialect under a new name, whose fields the caller then sets.
    ///
    /// A set keeps the name only. [`Dialect::from_name`] does not find a custom dialect again, so keep the value to
    /// resolve agents with it.
    #[must_use]
    pub fn custom(name: impl Into<Cow<'static, str>>, base: &Dialect) -> Dialect {
        Dialect { name: name.into(), ..base.clone() }
    }

    /// The named dialect with this name, one of [`ALL`].
    #[must_use]
    pub fn from_name(name: &str) -> Option<&'static Dialect> {
        ALL.into_iter().find(|dialect| dialect.name == name)
    }

    /// The name by which users choose the dialect.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.name
    }
}

impl Default for Dialect {
    /// The dialect of [`DEFAULT`].
    fn default() -> Dialect {
        DEFAULT.clone()
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

impl FromStr for Dialect {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Dialect, UnknownName> {
        let known = || ALL.map(|dialect| dialect.as_str());
        Dialect::from_name(name).cloned().ok_or_else(|| UnknownName::new("dialect", name, known()))
    }
}

/// The operator whose documentation says which groups a crawler obeys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Family {
    /// Google's crawlers.
    Google,
    /// Yandex's: besides those of the table, every one whose name begins with "Yandex" falls back to `Yandex`.
    Yandex,
    /// Bing's.
    Bing,
    /// All others.
    Other,
}

/// Which other directives count under a dialect. All are kept, counting or not; see [`crate::body::directives`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OtherDirectives {
    /// `Sitemap`, for everybody, wherever it stands and however many there are.
    pub sitemap: Sitemaps,
    /// `Crawl-delay`, for its group; of several in one group the first that is valid.
    pub crawl_delay: CrawlDelays,
    /// `Host`, wherever it stands; the first that is valid.
    pub host: bool,
    /// `Clean-param`, for everybody, wherever it stands and however many there are.
    pub clean_param: bool,
}

impl OtherDirectives {
    /// `Sitemap` lines of any value count, and no other directive.
    pub const SITEMAPS: OtherDirectives =
        OtherDirectives { sitemap: Sitemaps::Any, crawl_delay: CrawlDelays::NotRead, host: false, clean_param: false };
}

/// Which values of a `Sitemap` line count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sitemaps {
    /// None: the dialect does not know such lines.
    NotRead,
    /// Any value but an empty one.
    Any,
    /// A URL with scheme and host.
    Absolute,
}

/// Which values of a `Crawl-delay` line count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CrawlDelays {
    /// None: the dialect does not know such lines, or ignores them.
    NotRead,
    /// Seconds, with or without a fraction.
    Seconds,
    /// A whole number of seconds, from 1.
    WholeSeconds,
}

/// What happens to a long file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BodyLimit {
    /// It is read to its end.
    Unlimited,
    /// Only the lines that end within this many bytes are read.
    Truncate(usize),
    /// A file with more bytes than this counts as empty, so that everything is allowed.
    TreatAsEmpty(usize),
}

/// Which bytes are skipped at the very start of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ByteOrderMark {
    /// As many bytes as agree with `EF BB BF`, from none to all three.
    CommonPrefix,
    /// `EF BB BF`, or nothing.
    Whole,
}

/// Which bytes are white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhiteSpace {
    /// Those for which C's `isspace` holds.
    C,
    /// Space and tab.
    SpaceTab,
}

impl WhiteSpace {
    /// A text without the white space around it.
    #[inline]
    #[must_use]
    pub fn trim(self, text: &[u8]) -> &[u8] {
        let is_text = |&byte: &u8| match self {
            WhiteSpace::C => !is_space(byte),
            WhiteSpace::SpaceTab => byte != b' ' && byte != b'\t',
        };
        let start = text.iter().position(is_text).unwrap_or(text.len());
        let end = text.iter().rposition(is_text).map_or(start, |last| last + 1);
        &text[start..end]
    }
}

/// Whether C's `isspace` holds for a byte, which is what the reference trims. It does not for a no-break space.
#[inline]
const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0B | 0x0C | b'\r')
}

/// What a blank line means. A line with only a comment is not blank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlankLine {
    /// Nothing.
    Ignored,
    /// It ends the group: rules after it are in no group until the next user-agent line, which begins a new one.
    EndsGroup,
}

/// Which spellings of a key are recognised. Letter case never matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyMatching {
    /// Any text that begins with the key or with one of its frequent misspellings.
    PrefixesAndTypos,
    /// The key alone.
    Exact,
}

/// Which values of a user-agent line name the default group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DefaultToken {
    /// `*`, alone or followed by white space.
    AloneOrBeforeSpace,
    /// `*` and nothing else.
    Alone,
}

impl DefaultToken {
    /// Whether the value of a user-agent line names the default group.
    ///
    /// Source for white space after the `*`: google/robotstxt, `HandleUserAgent`.
    #[must_use]
    pub fn is_named_by(self, value: &[u8]) -> bool {
        match value {
            [b'*'] => true,
            [b'*', next, ..] => self == DefaultToken::AloneOrBeforeSpace && is_space(*next),
            _ => false,
        }
    }
}

/// Which of several groups for the same product token count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupChoice {
    /// All of them, as if they were one.
    Merge,
    /// The first.
    First,
}

/// What happens to a version in the name that the caller gives, as in `FooBot/2.1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallerVersion {
    /// It is part of the name, so that no group names it.
    Verbatim,
    /// It is cut off, from the first `/` on.
    Cut,
}

impl CallerVersion {
    /// The name that is compared with those of groups.
    #[must_use]
    pub fn cut(self, name: &[u8]) -> &[u8] {
        match self {
            CallerVersion::Verbatim => name,
            CallerVersion::Cut => without_version(name),
        }
    }
}

/// How a rule's pattern must begin. A rule without a value is never left out for this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleStart {
    /// In any way.
    Any,
    /// With `/` or `*`.
    SlashOrWildcard,
}

/// Which bytes a rule's pattern may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleBytes {
    /// Any.
    Any,
    /// All but bytes below 0x20.
    NoControls,
    /// ASCII.
    Ascii,
    /// UTF-8 without bytes below 0x20 and without spaces.
    Utf8WithoutSpace,
}

/// What a `Disallow` without a value means. An `Allow` without one never restricts or opens anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmptyDisallow {
    /// Nothing.
    NoRule,
    /// The same as `Allow: /`.
    AllowRoot,
}

/// Which of the rules that match decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// The rule with the most octets in normal form; on a tie an allow, then the first in the file.
    Longest,
    /// As [`Order::Longest`], but wildcards at the end, which change nothing, do not count.
    LongestWithoutTrailingWildcards,
    /// The first in the file.
    FileOrder,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_dialects_are_read_and_written() {
        for dialect in ALL {
            assert_eq!(Dialect::from_name(dialect.as_str()), Some(dialect));
            assert_eq!(dialect.to_string().parse::<Dialect>().as_ref(), Ok(dialect));
        }
        let error = "rfc".parse::<Dialect>().unwrap_err().to_string();
        assert!(error.starts_with("unknown dialect \"rfc\"; the known ones are google-lib, google, "), "{error}");
    }

    #[test]
    fn a_custom_dialect_needs_no_static_data() {
        let name = String::from("own");
        let custom = Dialect { crawlers: vec![Family::Bing].into(), ..Dialect::custom(name, &KOSTER_1996) };
        assert_eq!((custom.as_str(), &custom.clone()), ("own", &custom));
        assert_eq!(Dialect { name: KOSTER_1996.name, crawlers: Cow::Borrowed(&[]), ..custom }, KOSTER_1996);
        assert_eq!(Dialect::from_name("own"), None);
    }
}
