//! The dialects: every reading of the protocol, each a value of one struct.
//!
//! Nothing else in the workspace says what a dialect does. The stages that these switches steer are in
//! [`crate::body`] (bytes to groups), [`crate::rules::groups`] (who gets which group), [`crate::rules::order`] (their order) and
//! [`crate::dialect::crawlers`] (which names a crawler goes by); [`NormalForm`] and [`NameMatching`] are the engine's.
//!
//! The letter behind a value names its source; the letters, and the test case of each value, are in `DIALECTS.md`.
//! *I* stands for a value that no source settles: our choice.

pub mod crawlers;

use reptile_engine::format::tokens::NameMatching;
use reptile_engine::norm::NormalForm;

use crate::dialect::crawlers::Family;
use crate::limits::{
    MAX_BODY_BYTES_500_KIB, MAX_BODY_BYTES_2017, MAX_LINE_BYTES_GOOGLE, MAX_PATTERN_BYTES_YANDEX, MAX_RULES_YANDEX,
};

/// One reading of the Robots Exclusion Protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The name by which users choose it.
    pub name: &'static str,
    /// What becomes of a long file.
    pub body_limit: BodyLimit,
    /// How the beginning of a file is treated.
    pub byte_order_mark: ByteOrderMark,
    /// Bytes of a line behind this many are dropped.
    pub max_line_bytes: usize,
    /// Whether a NUL byte ends the usable part of a line.
    pub nul_ends_line: bool,
    /// What is trimmed from lines, keys and values.
    pub white_space: WhiteSpace,
    /// What a line without any text, not even a comment, means.
    pub blank_line: BlankLine,
    /// Which spellings of a key count.
    pub keys: Keys,
    /// Whether an `Allow` is a rule. If not it still ends the list of user-agent lines in front of it.
    pub has_allow: bool,
    /// Whether a line without any colon may have white space in its stead, if it has exactly two words.
    pub colon_optional: bool,
    /// Which part of a user-agent line is the name.
    pub token: Token,
    /// Which values of a user-agent line stand for everybody else.
    pub default_token: DefaultToken,
    /// How a crawler's name is compared with it.
    pub name_matching: NameMatching,
    /// Which of several groups for the same crawler count.
    pub groups: GroupChoice,
    /// What becomes of a version behind the name that the caller gives.
    pub caller_version: CallerVersion,
    /// The crawlers whose several names and special habits the dialect knows.
    pub crawlers: &'static [Family],
    /// How a rule's value must begin. Another rule is left out, but is a rule as far as groups are concerned.
    pub rule_start: RuleStart,
    /// Which bytes a rule's value may hold. Another rule is left out likewise.
    pub rule_bytes: RuleBytes,
    /// Rules of one file that count; those behind them are left out.
    pub max_rules: usize,
    /// Bytes of a rule's value; longer rules are left out.
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
    /// Which of the lines that decide nothing it reads.
    pub other_directives: OtherDirectives,
}

/// Which other directives a dialect reads. All of it is kept, read or not; see [`crate::body::directives`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherDirectives {
    /// `Sitemap`, for everybody, wherever it stands and however many there are.
    pub sitemap: Sitemaps,
    /// `Crawl-delay`, for the group that it stands in; of several in one group the first that is valid.
    pub crawl_delay: CrawlDelays,
    /// `Host`, wherever it stands; the first that is valid.
    pub host: bool,
    /// `Clean-param`, for everybody, wherever it stands and however many there are.
    pub clean_param: bool,
}

/// Which values of a `Sitemap` line count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sitemaps {
    /// The dialect does not know such lines.
    NotRead,
    /// Any but an empty one.
    Any,
    /// A URL with scheme and host.
    Absolute,
}

/// Which values of a `Crawl-delay` line count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CrawlDelays {
    /// The dialect does not know such lines, or ignores them.
    NotRead,
    /// Seconds, with a fraction or without.
    Seconds,
    /// A whole number of seconds, from 1.
    WholeSeconds,
}

impl OtherDirectives {
    /// `Sitemap` lines of any value, and nothing else.
    const SITEMAPS: OtherDirectives =
        OtherDirectives { sitemap: Sitemaps::Any, crawl_delay: CrawlDelays::NotRead, host: false, clean_param: false };
}

/// What becomes of a long file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BodyLimit {
    /// It is read to its end.
    None,
    /// The lines that end within this many bytes are read.
    Cut(usize),
    /// With more bytes than this it counts as empty.
    Open(usize),
}

/// What is skipped at the very start of a file.
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

/// What a line without any text means. One that holds a comment only is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlankLine {
    /// Nothing.
    Ignored,
    /// It ends the group: rules behind it are nobody's until the next user-agent line, which begins a new one.
    EndsGroup,
}

/// Which spellings of a key count. Case never matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Keys {
    /// Anything that begins with the key or one of its frequent misspellings.
    PrefixesAndTypos,
    /// The key.
    Exact,
}

/// Which part of a user-agent line's value is the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Token {
    /// The letters, `-` and `_` that it begins with.
    Letters,
    /// What is in front of the first `/` or white space.
    BeforeVersion,
    /// All of it.
    Whole,
}

/// Which values of a user-agent line stand for everybody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DefaultToken {
    /// `*`, alone or in front of white space.
    AloneOrBeforeSpace,
    /// `*` and nothing else.
    Alone,
}

/// Which of several groups for the same crawler count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupChoice {
    /// All of them, as if they were one.
    Merge,
    /// The first.
    First,
}

/// What becomes of a version behind the name that the caller gives, as in `FooBot/2.1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallerVersion {
    /// It is part of the name, so that no group has it.
    Verbatim,
    /// It is cut off, from the first `/` on.
    Cut,
}

/// How a rule's value must begin, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleStart {
    /// In any way.
    Any,
    /// With `/` or `*`.
    SlashOrWildcard,
}

/// Which bytes a rule's value may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleBytes {
    /// Any.
    Any,
    /// None that is a control character.
    NoControls,
    /// Those of ASCII.
    Ascii,
    /// UTF-8 without control characters and spaces.
    Utf8WithoutSpace,
}

/// What a `Disallow` without a value means. An `Allow` without one never means anything.
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
    /// The one of the most octets in normal form, an allow rather than a disallow, the first in the file.
    Longest,
    /// As [`Order::Longest`], but stars at the end, which change nothing, do not count.
    LongestWithoutTrailingWildcards,
    /// The first in the file.
    FileOrder,
}

/// google/robotstxt, the open-source C++ library, byte for byte (commit 22b355f). Source of every value: L.
pub const GOOGLE_LIB: Dialect = Dialect {
    name: "google-lib",
    body_limit: BodyLimit::None,
    byte_order_mark: ByteOrderMark::CommonPrefix,
    max_line_bytes: MAX_LINE_BYTES_GOOGLE,
    nul_ends_line: true,
    white_space: WhiteSpace::C,
    blank_line: BlankLine::Ignored,
    keys: Keys::PrefixesAndTypos,
    has_allow: true,
    colon_optional: true,
    token: Token::Letters,
    default_token: DefaultToken::AloneOrBeforeSpace,
    name_matching: NameMatching::Equal,
    groups: GroupChoice::Merge,
    caller_version: CallerVersion::Verbatim,
    crawlers: &[],
    rule_start: RuleStart::Any,
    rule_bytes: RuleBytes::Any,
    max_rules: usize::MAX,
    max_pattern_bytes: usize::MAX,
    empty_disallow: EmptyDisallow::NoRule,
    normal_form: NormalForm::AsWritten,
    order: Order::Longest,
    index_htm_opens_directory: true,
    robots_txt_always_allowed: false,
    other_directives: OtherDirectives::SITEMAPS,
};

/// Google's crawlers as its documentation describes them, and as the library does where that is silent.
pub const GOOGLE: Dialect = Dialect {
    name: "google",
    body_limit: BodyLimit::Cut(MAX_BODY_BYTES_500_KIB), // D
    crawlers: &[Family::Google, Family::Other],         // Dspec
    rule_start: RuleStart::SlashOrWildcard,             // D; the star I
    normal_form: NormalForm::Escaped,                   // D
    order: Order::LongestWithoutTrailingWildcards,      // D
    other_directives: OtherDirectives { sitemap: Sitemaps::Absolute, ..OtherDirectives::SITEMAPS }, // D
    ..GOOGLE_LIB                                        // I
};

/// RFC 9309 in the reading that implementations share: what is percent-encoded differently but means the same is
/// the same, and what is outside the grammar but has a plain meaning is kept.
pub const RFC9309: Dialect = Dialect {
    name: "rfc9309",
    body_limit: BodyLimit::None,                     // R25 asks for 500 KiB at least
    byte_order_mark: ByteOrderMark::Whole,           // I
    max_line_bytes: usize::MAX,                      // R22
    nul_ends_line: false,                            // R22
    white_space: WhiteSpace::SpaceTab,               // R22
    blank_line: BlankLine::Ignored,                  // R21
    keys: Keys::Exact,                               // R22
    has_allow: true,                                 // R22
    colon_optional: false,                           // R22
    token: Token::Letters,                           // R221i
    default_token: DefaultToken::AloneOrBeforeSpace, // I
    name_matching: NameMatching::Equal,              // R221
    groups: GroupChoice::Merge,                      // R221; several groups for `*`: I
    caller_version: CallerVersion::Verbatim,         // I
    crawlers: &[],                                   // R221 knows one token
    rule_start: RuleStart::SlashOrWildcard,          // R22; the star R51
    rule_bytes: RuleBytes::NoControls,               // R22
    max_rules: usize::MAX,                           // R25
    max_pattern_bytes: usize::MAX,                   // R25
    empty_disallow: EmptyDisallow::NoRule,           // R22
    normal_form: NormalForm::Decoded,                // R222, R223 in the practical reading
    order: Order::Longest,                           // R222; trailing stars I
    index_htm_opens_directory: false,                // R222
    robots_txt_always_allowed: true,                 // R222
    other_directives: OtherDirectives::SITEMAPS,     // R224; what a value is: I
};

/// RFC 9309 to the letter of its grammar and of its table of encodings.
pub const RFC9309_STRICT: Dialect = Dialect {
    name: "rfc9309-strict",
    rule_bytes: RuleBytes::Utf8WithoutSpace, // R22
    normal_form: NormalForm::Reserved,       // R222, R223
    ..RFC9309
};

/// Yandex, as its documentation describes it now.
pub const YANDEX: Dialect = Dialect {
    name: "yandex",
    body_limit: BodyLimit::Open(MAX_BODY_BYTES_500_KIB), // Ysize
    byte_order_mark: ByteOrderMark::Whole,               // I
    max_line_bytes: usize::MAX,                          // I
    nul_ends_line: false,                                // I
    white_space: WhiteSpace::C,                          // I
    blank_line: BlankLine::EndsGroup,                    // Yblank, Yerr
    keys: Keys::Exact,                                   // I
    has_allow: true,                                     // Ysort
    colon_optional: false,                               // I
    token: Token::BeforeVersion,                         // I
    default_token: DefaultToken::AloneOrBeforeSpace,     // I
    name_matching: NameMatching::Equal,                  // Yua, whose own example rules out a plain substring
    groups: GroupChoice::Merge,                          // I
    caller_version: CallerVersion::Cut,                  // I
    crawlers: &[Family::Yandex, Family::Other],          // Yua
    rule_start: RuleStart::SlashOrWildcard,              // Yerr
    rule_bytes: RuleBytes::Ascii,                        // Ycyr
    max_rules: MAX_RULES_YANDEX,                         // Yerr; what becomes of more: I
    max_pattern_bytes: MAX_PATTERN_BYTES_YANDEX,         // Yerr; what becomes of longer ones: I
    empty_disallow: EmptyDisallow::AllowRoot,            // Yseed, Yempty
    normal_form: NormalForm::Escaped,                    // I
    order: Order::LongestWithoutTrailingWildcards,       // Ysort; trailing stars I
    index_htm_opens_directory: false,                    // Ysort
    robots_txt_always_allowed: false,                    // I
    other_directives: OtherDirectives { sitemap: Sitemaps::Absolute, clean_param: true, ..OtherDirectives::SITEMAPS }, // Yerr, Yclean, Ydelay
};

/// Yandex, as its documentation described it until 2017.
pub const YANDEX_2017: Dialect = Dialect {
    name: "yandex-2017",
    body_limit: BodyLimit::Open(MAX_BODY_BYTES_2017), // 5.3, at second hand
    rule_start: RuleStart::Any,                       // I
    rule_bytes: RuleBytes::Any,                       // I
    max_rules: usize::MAX,                            // I
    max_pattern_bytes: usize::MAX,                    // I
    order: Order::FileOrder,                          // Yseed
    other_directives: OtherDirectives { crawl_delay: CrawlDelays::Seconds, host: true, ..YANDEX.other_directives }, // Yseed
    ..YANDEX // Yseed; what it does not say, as now: I
};

/// Bing: the little that it documents, and RFC 9309 for all else.
pub const BING: Dialect = Dialect {
    name: "bing",
    crawlers: &[Family::Bing, Family::Other], // B
    rule_bytes: RuleBytes::Ascii,             // B
    other_directives: OtherDirectives { crawl_delay: CrawlDelays::WholeSeconds, ..OtherDirectives::SITEMAPS }, // B
    ..RFC9309                                 // I
};

/// The note of 1994, "A Standard for Robot Exclusion".
pub const KOSTER_1994: Dialect = Dialect {
    name: "koster-1994",
    body_limit: BodyLimit::None,            // K94
    byte_order_mark: ByteOrderMark::Whole,  // I
    max_line_bytes: usize::MAX,             // K94
    nul_ends_line: false,                   // I
    white_space: WhiteSpace::C,             // I
    blank_line: BlankLine::EndsGroup,       // K94
    keys: Keys::Exact,                      // K94
    has_allow: false,                       // K94; that the line ends the list of user-agent lines: I
    colon_optional: false,                  // K94
    token: Token::Whole,                    // K94
    default_token: DefaultToken::Alone,     // K94
    name_matching: NameMatching::Contained, // K94
    groups: GroupChoice::First,             // K94
    caller_version: CallerVersion::Cut,     // K94
    crawlers: &[],                          // K94
    rule_start: RuleStart::Any,             // K94
    rule_bytes: RuleBytes::NoControls,      // I
    max_rules: usize::MAX,                  // K94
    max_pattern_bytes: usize::MAX,          // K94
    empty_disallow: EmptyDisallow::NoRule,  // K94
    normal_form: NormalForm::Verbatim,      // K94
    order: Order::FileOrder,                // K94: any match decides, so only the line depends on the order
    index_htm_opens_directory: false,       // K94
    robots_txt_always_allowed: false,       // I
    other_directives: OtherDirectives { sitemap: Sitemaps::NotRead, ..OtherDirectives::SITEMAPS }, // K94
};

/// The draft of 1996, draft-koster-robots-00.
pub const KOSTER_1996: Dialect = Dialect {
    name: "koster-1996",
    has_allow: true,                       // K96
    normal_form: NormalForm::FullyDecoded, // K96
    order: Order::FileOrder,               // K96
    robots_txt_always_allowed: true,       // K96
    ..KOSTER_1994                          // K96 says the same, or nothing
};

/// Every dialect, in the order in which they are listed to users. The first is the default.
pub const ALL: [&Dialect; 9] =
    [&GOOGLE_LIB, &GOOGLE, &RFC9309, &RFC9309_STRICT, &YANDEX, &YANDEX_2017, &BING, &KOSTER_1994, &KOSTER_1996];

impl Dialect {
    /// The dialect with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<&'static Dialect> {
        ALL.into_iter().find(|dialect| dialect.name == name)
    }
}
