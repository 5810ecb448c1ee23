//! Dialects. Each interpretation of the protocol is a value of the struct [`Dialect`], a list of switches.
//!
//! A switch is named after the behavior that it controls. Outside this module, only the fetch profiles and the linter's
//! comparison name individual dialects. The switches affect [`crate::body`] (bytes to groups),
//! [`crate::rules::groups`] (groups to crawlers), [`crate::rules::order`] (rule order) and [`crawlers`] (product tokens).
//! [`NormalForm`] and [`NameMatching`] are defined in the engine.
//!
//! [`known`] defines the nine named dialects, with a source for each value, and [`token`] checks product tokens under a
//! dialect.

pub mod crawlers;
pub mod known;
pub mod mistakes;
pub mod resolve;
pub mod token;

use std::borrow::Cow;
use std::fmt;

use reptile_engine::format::tokens::NameMatching;
use reptile_engine::norm::NormalForm;
use reptile_engine::token::without_version;

pub use reptile_engine::token::TokenSyntax;

pub(crate) use self::known::LENIENT;
pub use self::known::{
    ALL, BING, CURRENT, DEFAULT, GOOGLE, GOOGLE_LIB, KOSTER_1994, KOSTER_1996, OPERATORS, RFC9309, RFC9309_STRICT,
    YANDEX, YANDEX_2017,
};

/// An interpretation of the Robots Exclusion Protocol.
///
/// The named dialects are constants ([`ALL`]). A custom dialect starts as a copy of one of them:
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
    /// The name by which users choose the dialect. Compiled sets store it.
    pub name: Cow<'static, str>,
    /// The treatment of a long file.
    pub body_limit: BodyLimit,
    /// The bytes skipped at the start of a file.
    pub byte_order_mark: ByteOrderMark,
    /// Maximum number of bytes kept per line; the rest is dropped.
    pub max_line_bytes: usize,
    /// Whether a NUL byte ends the usable part of a line.
    pub nul_ends_line: bool,
    /// The bytes trimmed from lines, keys and values.
    pub white_space: WhiteSpace,
    /// The meaning of a blank line.
    pub blank_line: BlankLine,
    /// Whether a `Crawl-delay` line ends the list of user-agent lines before it, like a rule. If so, a group that
    /// contains only a delay is separate from the next group.
    pub crawl_delay_ends_agents: bool,
    /// The spellings of a key that are recognized.
    pub key_matching: KeyMatching,
    /// Whether an `Allow` line is a rule. Even if not, it ends the list of user-agent lines before it.
    pub allow_is_rule: bool,
    /// Whether white space may replace a missing colon in a line with exactly two words.
    pub colon_optional: bool,
    /// The rule for finding the product token in a user-agent value.
    pub token_syntax: TokenSyntax,
    /// The user-agent values that name the default group.
    pub default_token: DefaultToken,
    /// The comparison between a crawler's product token and a user-agent line's.
    pub name_matching: NameMatching,
    /// The groups that count if several name the same product token.
    pub group_choice: GroupChoice,
    /// The treatment of a version in the name that the caller gives.
    pub caller_version: CallerVersion,
    /// The families whose crawlers have chains of product tokens in this dialect; any other crawler has one token.
    pub crawlers: Cow<'static, [Family]>,
    /// The permitted start of a rule's pattern. Other rules are left out, but still end the list of user-agent lines.
    pub rule_start: RuleStart,
    /// The bytes permitted in a rule's pattern. Other rules are left out, but still end the list of user-agent lines.
    pub rule_bytes: RuleBytes,
    /// Maximum number of rules per file; later ones are left out.
    pub max_rules: usize,
    /// Maximum length of a rule's pattern as written, in bytes; longer rules are left out.
    pub max_pattern_bytes: usize,
    /// The meaning of a `Disallow` without a value.
    pub empty_disallow: EmptyDisallow,
    /// The normal form in which paths and patterns are compared, and whether wildcards exist.
    pub normal_form: NormalForm,
    /// The order of precedence among matching rules.
    pub order: Order,
    /// Whether an allow of `.../index.htm...` also allows the directory itself.
    pub index_htm_opens_directory: bool,
    /// Whether `/robots.txt` is always allowed, regardless of the rules.
    pub robots_txt_always_allowed: bool,
    /// The other directives that count.
    pub other_directives: OtherDirectives,
}

impl Dialect {
    /// Copies another dialect under a new name. The caller then sets its fields.
    ///
    /// A set stores only the name, and [`Dialect::from_name`] does not find custom dialects. Keep the value to resolve
    /// agents later.
    #[must_use]
    pub fn custom(name: impl Into<Cow<'static, str>>, base: &Dialect) -> Dialect {
        Dialect { name: name.into(), ..base.clone() }
    }

    /// Returns the name by which users choose the dialect.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

/// The operator whose documentation determines which groups a crawler obeys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Family {
    /// Google's crawlers.
    Google,
    /// Yandex's crawlers. In addition to the table, every crawler whose name begins with "Yandex" falls back to
    /// `Yandex`.
    Yandex,
    /// Bing's crawlers.
    Bing,
    /// All other crawlers.
    Other,
}

/// The other directives that count under a dialect. All are kept anyway; see [`crate::body::directives`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OtherDirectives {
    /// `Sitemap`, for all crawlers, anywhere in the file and any number of times.
    pub sitemap: Sitemaps,
    /// `Crawl-delay`, for its group; the first valid one per group.
    pub crawl_delay: CrawlDelays,
    /// `Host`, anywhere in the file; the first valid one.
    pub host: bool,
    /// `Clean-param`, for all crawlers, anywhere in the file and any number of times.
    pub clean_param: bool,
}

impl OtherDirectives {
    /// Only `Sitemap` lines count, with any value.
    pub const SITEMAPS: OtherDirectives =
        OtherDirectives { sitemap: Sitemaps::Any, crawl_delay: CrawlDelays::NotRead, host: false, clean_param: false };
}

/// The `Sitemap` values that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sitemaps {
    /// None: the dialect does not know these lines.
    NotRead,
    /// Any non-empty value.
    Any,
    /// A URL with a scheme and a host.
    Absolute,
}

/// The `Crawl-delay` values that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CrawlDelays {
    /// None: the dialect does not know these lines, or ignores them.
    NotRead,
    /// Seconds, with or without a fraction.
    Seconds,
    /// A whole number of seconds, at least 1.
    WholeSeconds,
}

/// The treatment of a long file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BodyLimit {
    /// The whole file is read.
    Unlimited,
    /// Only lines that end within this number of bytes are read.
    Truncate(usize),
    /// A file with more than this number of bytes is treated as empty, so that everything is allowed.
    TreatAsEmpty(usize),
}

/// The bytes skipped at the very start of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ByteOrderMark {
    /// The longest common prefix with `EF BB BF`, which may be empty.
    CommonPrefix,
    /// `EF BB BF`, or nothing.
    Whole,
}

/// The bytes that are white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhiteSpace {
    /// The bytes for which C's `isspace` is true.
    C,
    /// Space and tab.
    SpaceTab,
}

impl WhiteSpace {
    /// Returns `text` without surrounding white space.
    #[inline]
    #[must_use]
    pub fn trim(self, text: &[u8]) -> &[u8] {
        // The first comparison is enough for nearly all bytes.
        let is_white = |byte: u8| match self {
            _ if byte > b' ' => false,
            WhiteSpace::C => is_space(byte),
            WhiteSpace::SpaceTab => byte == b' ' || byte == b'\t',
        };
        let mut text = text;
        if text.first() == Some(&b' ') {
            // Web pages are often deeply indented.
            while let Some(rest) = text.strip_prefix(b"        ") {
                text = rest;
            }
        }
        while let [first, rest @ ..] = text {
            if !is_white(*first) {
                break;
            }
            text = rest;
        }
        while let [rest @ .., last] = text {
            if !is_white(*last) {
                break;
            }
            text = rest;
        }
        text
    }
}

/// Returns whether C's `isspace` is true for a byte, as in the reference. A no-break space is not white space.
#[inline]
const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0B | 0x0C | b'\r')
}

/// The meaning of a blank line. A line with only a comment is not blank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlankLine {
    /// Nothing.
    Ignored,
    /// It ends the group: later rules are in no group until the next user-agent line begins a new one.
    EndsGroup,
}

/// The recognized spellings of a key. Letter case never matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyMatching {
    /// Any text that begins with the key or one of its frequent misspellings.
    PrefixesAndTypos,
    /// Only the key itself.
    Exact,
}

/// The user-agent values that name the default group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DefaultToken {
    /// `*`, alone or followed by white space.
    AloneOrBeforeSpace,
    /// Exactly `*`.
    Alone,
}

impl DefaultToken {
    /// Returns whether a user-agent value names the default group.
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

/// The groups that count if several name the same product token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupChoice {
    /// All of them, merged.
    Merge,
    /// The first.
    First,
}

/// The treatment of a version in the caller's name, such as `FooBot/2.1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallerVersion {
    /// It is part of the name, so no group names it.
    Verbatim,
    /// It is cut off, starting at the first `/`.
    Cut,
}

impl CallerVersion {
    /// Returns the name to compare with groups' names.
    #[must_use]
    pub fn cut(self, name: &[u8]) -> &[u8] {
        match self {
            CallerVersion::Verbatim => name,
            CallerVersion::Cut => without_version(name),
        }
    }
}

/// The permitted start of a rule's pattern. A rule without a value always passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleStart {
    /// Any.
    Any,
    /// `/` or `*`.
    SlashOrWildcard,
}

/// The bytes permitted in a rule's pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleBytes {
    /// Any.
    Any,
    /// All except bytes below 0x20.
    NoControls,
    /// ASCII.
    Ascii,
    /// UTF-8 without bytes below 0x20 and without spaces.
    Utf8WithoutSpace,
}

/// The meaning of a `Disallow` without a value. An `Allow` without a value never restricts or opens anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmptyDisallow {
    /// Nothing.
    NoRule,
    /// The same as `Allow: /`.
    AllowRoot,
}

/// The order of precedence among matching rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// The rule with the most octets in normal form; on a tie an allow, then the first in the file.
    Longest,
    /// Like [`Order::Longest`], but without counting trailing wildcards, which change nothing.
    LongestWithoutTrailingWildcards,
    /// The first in the file.
    FileOrder,
}
