//! The nine named dialects: Google's library and documentation, RFC 9309, Yandex, Bing, and the texts of 1994 and 1996.
//! Finds a dialect by its name, and defines the default.
//!
//! The letter after a value names its source; `DIALECTS.md` lists the letters, and the test case for each value. *I*
//! marks our choice where no source settles a value.

use std::borrow::Cow;
use std::str::FromStr;

use reptile_engine::format::tokens::NameMatching;
use reptile_engine::norm::NormalForm;

use super::{
    BlankLine, BodyLimit, ByteOrderMark, CallerVersion, CrawlDelays, DefaultToken, Dialect, EmptyDisallow, Family,
    GroupChoice, KeyMatching, Order, OtherDirectives, RuleBytes, RuleStart, Sitemaps, TokenSyntax, WhiteSpace,
};
use crate::limits::{
    MAX_BODY_BYTES_500_KIB, MAX_BODY_BYTES_2017, MAX_LINE_BYTES_GOOGLE, MAX_PATTERN_BYTES_YANDEX, MAX_RULES_YANDEX,
};
use crate::names::UnknownName;

/// google/robotstxt, the open-source C++ library, byte for byte (commit 22b355f). Source of every value: L.
pub const GOOGLE_LIB: Dialect = Dialect {
    name: Cow::Borrowed("google-lib"),
    body_limit: BodyLimit::Unlimited,
    byte_order_mark: ByteOrderMark::CommonPrefix,
    max_line_bytes: MAX_LINE_BYTES_GOOGLE,
    nul_ends_line: true,
    white_space: WhiteSpace::C,
    blank_line: BlankLine::Ignored,
    crawl_delay_ends_agents: false,
    key_matching: KeyMatching::PrefixesAndTypos,
    allow_is_rule: true,
    colon_optional: true,
    token_syntax: TokenSyntax::Letters,
    default_token: DefaultToken::AloneOrBeforeSpace,
    name_matching: NameMatching::Equal,
    group_choice: GroupChoice::Merge,
    caller_version: CallerVersion::Verbatim,
    crawlers: Cow::Borrowed(&[]),
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

/// Google's crawlers according to its documentation, and like the library where that is silent.
pub const GOOGLE: Dialect = Dialect {
    name: Cow::Borrowed("google"),
    body_limit: BodyLimit::Truncate(MAX_BODY_BYTES_500_KIB), // D
    crawlers: Cow::Borrowed(&[Family::Google, Family::Other]), // Dspec
    rule_start: RuleStart::SlashOrWildcard,                  // D; the star I
    normal_form: NormalForm::Escaped,                        // D
    order: Order::LongestWithoutTrailingWildcards,           // D
    other_directives: OtherDirectives { sitemap: Sitemaps::Absolute, ..OtherDirectives::SITEMAPS }, // D
    ..GOOGLE_LIB                                             // I
};

/// RFC 9309 as commonly implemented: equivalent percent-encodings are equal, and input outside the grammar is kept if
/// its meaning is plain.
pub const RFC9309: Dialect = Dialect {
    name: Cow::Borrowed("rfc9309"),
    body_limit: BodyLimit::Unlimited,                // R25 requires at least 500 KiB
    byte_order_mark: ByteOrderMark::Whole,           // I
    max_line_bytes: usize::MAX,                      // R22
    nul_ends_line: false,                            // R22
    white_space: WhiteSpace::SpaceTab,               // R22
    blank_line: BlankLine::Ignored,                  // R21
    crawl_delay_ends_agents: false,                  // R224
    key_matching: KeyMatching::Exact,                // R22
    allow_is_rule: true,                             // R22
    colon_optional: false,                           // R22
    token_syntax: TokenSyntax::Letters,              // R221i
    default_token: DefaultToken::AloneOrBeforeSpace, // I
    name_matching: NameMatching::Equal,              // R221
    group_choice: GroupChoice::Merge,                // R221; several groups for `*`: I
    caller_version: CallerVersion::Verbatim,         // I
    crawlers: Cow::Borrowed(&[]),                    // R221 knows one token
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

/// RFC 9309 according to the letter of its grammar and its encoding table.
pub const RFC9309_STRICT: Dialect = Dialect {
    name: Cow::Borrowed("rfc9309-strict"),
    rule_bytes: RuleBytes::Utf8WithoutSpace, // R22
    normal_form: NormalForm::Reserved,       // R222, R223
    ..RFC9309
};

/// Yandex according to its current documentation.
pub const YANDEX: Dialect = Dialect {
    name: Cow::Borrowed("yandex"),
    body_limit: BodyLimit::TreatAsEmpty(MAX_BODY_BYTES_500_KIB), // Ysize
    byte_order_mark: ByteOrderMark::Whole,                       // I
    max_line_bytes: usize::MAX,                                  // I
    nul_ends_line: false,                                        // I
    white_space: WhiteSpace::C,                                  // I
    blank_line: BlankLine::EndsGroup,                            // Yblank, Yerr
    crawl_delay_ends_agents: false,                              // Yblank
    key_matching: KeyMatching::Exact,                            // I
    allow_is_rule: true,                                         // Ysort
    colon_optional: false,                                       // I
    token_syntax: TokenSyntax::BeforeVersion,                    // I
    default_token: DefaultToken::AloneOrBeforeSpace,             // I
    name_matching: NameMatching::Equal,                          // Yua, whose own example rules out a plain substring
    group_choice: GroupChoice::Merge,                            // I
    caller_version: CallerVersion::Cut,                          // I
    crawlers: Cow::Borrowed(&[Family::Yandex, Family::Other]),   // Yua
    rule_start: RuleStart::SlashOrWildcard,                      // Yerr
    rule_bytes: RuleBytes::Ascii,                                // Ycyr
    max_rules: MAX_RULES_YANDEX,                                 // Yerr; handling of further rules: I
    max_pattern_bytes: MAX_PATTERN_BYTES_YANDEX,                 // Yerr; handling of longer patterns: I
    empty_disallow: EmptyDisallow::AllowRoot,                    // Yseed, Yempty
    normal_form: NormalForm::Escaped,                            // I
    order: Order::LongestWithoutTrailingWildcards,               // Ysort; trailing stars I
    index_htm_opens_directory: false,                            // Ysort
    robots_txt_always_allowed: false,                            // I
    other_directives: OtherDirectives { sitemap: Sitemaps::Absolute, clean_param: true, ..OtherDirectives::SITEMAPS }, // Yerr, Yclean, Ydelay
};

/// Yandex according to its documentation until 2017.
pub const YANDEX_2017: Dialect = Dialect {
    name: Cow::Borrowed("yandex-2017"),
    body_limit: BodyLimit::TreatAsEmpty(MAX_BODY_BYTES_2017), // 5.3, at second hand
    rule_start: RuleStart::Any,                               // I
    rule_bytes: RuleBytes::Any,                               // I
    max_rules: usize::MAX,                                    // I
    max_pattern_bytes: usize::MAX,                            // I
    order: Order::FileOrder,                                  // Yseed
    crawl_delay_ends_agents: true,                            // I
    other_directives: OtherDirectives { crawl_delay: CrawlDelays::Seconds, host: true, ..YANDEX.other_directives }, // Yseed
    ..YANDEX // Yseed; unspecified values, as today: I
};

/// Bing: the little that it documents, otherwise RFC 9309.
pub const BING: Dialect = Dialect {
    name: Cow::Borrowed("bing"),
    crawlers: Cow::Borrowed(&[Family::Bing, Family::Other]), // B
    rule_bytes: RuleBytes::Ascii,                            // B
    crawl_delay_ends_agents: true,                           // I
    other_directives: OtherDirectives { crawl_delay: CrawlDelays::WholeSeconds, ..OtherDirectives::SITEMAPS }, // B
    ..RFC9309                                                // I
};

/// The 1994 note, "A Standard for Robot Exclusion".
pub const KOSTER_1994: Dialect = Dialect {
    name: Cow::Borrowed("koster-1994"),
    body_limit: BodyLimit::Unlimited,       // K94
    byte_order_mark: ByteOrderMark::Whole,  // I
    max_line_bytes: usize::MAX,             // K94
    nul_ends_line: false,                   // I
    white_space: WhiteSpace::C,             // I
    blank_line: BlankLine::EndsGroup,       // K94
    crawl_delay_ends_agents: false,         // R224
    key_matching: KeyMatching::Exact,       // K94
    allow_is_rule: false,                   // K94; that the line ends the list of user-agent lines: I
    colon_optional: false,                  // K94
    token_syntax: TokenSyntax::WholeValue,  // K94
    default_token: DefaultToken::Alone,     // K94
    name_matching: NameMatching::Contained, // K94
    group_choice: GroupChoice::First,       // K94
    caller_version: CallerVersion::Cut,     // K94
    crawlers: Cow::Borrowed(&[]),           // K94
    rule_start: RuleStart::Any,             // K94
    rule_bytes: RuleBytes::NoControls,      // I
    max_rules: usize::MAX,                  // K94
    max_pattern_bytes: usize::MAX,          // K94
    empty_disallow: EmptyDisallow::NoRule,  // K94
    normal_form: NormalForm::Verbatim,      // K94
    order: Order::FileOrder,                // K94: any match decides, so the order affects only the line
    index_htm_opens_directory: false,       // K94
    robots_txt_always_allowed: false,       // I
    other_directives: OtherDirectives { sitemap: Sitemaps::NotRead, ..OtherDirectives::SITEMAPS }, // K94
};

/// The 1996 draft, draft-koster-robots-00.
pub const KOSTER_1996: Dialect = Dialect {
    name: Cow::Borrowed("koster-1996"),
    allow_is_rule: true,                   // K96
    normal_form: NormalForm::FullyDecoded, // K96
    order: Order::FileOrder,               // K96
    robots_txt_always_allowed: true,       // K96
    ..KOSTER_1994                          // K96 says the same, or nothing
};

/// The default dialect: the behavior of Google's crawlers according to its documentation.
pub const DEFAULT: &Dialect = &GOOGLE;

/// The dialect that recognizes the most lines as rules, with misspelled keys and without colons.
pub(crate) const LENIENT: &Dialect = &GOOGLE_LIB;

/// Every named dialect, in the order shown to users.
pub const ALL: [&Dialect; 9] =
    [&GOOGLE_LIB, &GOOGLE, &RFC9309, &RFC9309_STRICT, &YANDEX, &YANDEX_2017, &BING, &KOSTER_1994, &KOSTER_1996];

/// The dialects of today's crawlers and of the standard. The others are historical.
pub const CURRENT: [&Dialect; 6] = [&GOOGLE_LIB, &GOOGLE, &RFC9309, &RFC9309_STRICT, &YANDEX, &BING];

/// Search engine operators by their common names, each with the dialect of its crawlers.
pub const OPERATORS: [(&str, &Dialect); 4] =
    [("Google", &GOOGLE), ("Bing", &BING), ("Yandex", &YANDEX), ("Yandex until 2017", &YANDEX_2017)];

impl Dialect {
    /// Returns the dialect in [`ALL`] with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<&'static Dialect> {
        ALL.into_iter().find(|dialect| dialect.name == name)
    }

    /// Returns whether `*` and a final `$` are operators.
    pub(crate) const fn has_wildcards(&self) -> bool {
        !matches!(self.normal_form, NormalForm::FullyDecoded | NormalForm::Verbatim)
    }

    /// Returns a reference to [`GOOGLE_LIB`].
    #[must_use]
    pub fn google_lib() -> &'static Dialect {
        &GOOGLE_LIB
    }

    /// Returns a reference to [`GOOGLE`].
    #[must_use]
    pub fn google() -> &'static Dialect {
        &GOOGLE
    }

    /// Returns a reference to [`RFC9309`].
    #[must_use]
    pub fn rfc9309() -> &'static Dialect {
        &RFC9309
    }

    /// Returns a reference to [`RFC9309_STRICT`].
    #[must_use]
    pub fn rfc9309_strict() -> &'static Dialect {
        &RFC9309_STRICT
    }

    /// Returns a reference to [`YANDEX`].
    #[must_use]
    pub fn yandex() -> &'static Dialect {
        &YANDEX
    }

    /// Returns a reference to [`YANDEX_2017`].
    #[must_use]
    pub fn yandex_2017() -> &'static Dialect {
        &YANDEX_2017
    }

    /// Returns a reference to [`BING`].
    #[must_use]
    pub fn bing() -> &'static Dialect {
        &BING
    }

    /// Returns a reference to [`KOSTER_1994`].
    #[must_use]
    pub fn koster_1994() -> &'static Dialect {
        &KOSTER_1994
    }

    /// Returns a reference to [`KOSTER_1996`].
    #[must_use]
    pub fn koster_1996() -> &'static Dialect {
        &KOSTER_1996
    }
}

impl Default for Dialect {
    /// Returns a copy of [`DEFAULT`].
    fn default() -> Dialect {
        DEFAULT.clone()
    }
}

impl FromStr for Dialect {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Dialect, UnknownName> {
        let known = || ALL.map(|dialect| dialect.as_str());
        Dialect::from_name(name).cloned().ok_or_else(|| UnknownName::new("dialect", name, known()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialect_names_round_trip() {
        for dialect in ALL {
            assert_eq!(Dialect::from_name(dialect.as_str()), Some(dialect));
            assert_eq!(dialect.to_string().parse::<Dialect>().as_ref(), Ok(dialect));
        }
        let error = "rfc".parse::<Dialect>().unwrap_err().to_string();
        assert!(error.starts_with("unknown dialect \"rfc\"; the known ones are google-lib, google, "), "{error}");
    }

    #[test]
    fn custom_dialects_can_own_their_data() {
        let name = String::from("own");
        let custom = Dialect { crawlers: vec![Family::Bing].into(), ..Dialect::custom(name, &KOSTER_1996) };
        assert_eq!((custom.as_str(), &custom.clone()), ("own", &custom));
        assert_eq!(Dialect { name: KOSTER_1996.name, crawlers: Cow::Borrowed(&[]), ..custom }, KOSTER_1996);
        assert_eq!(Dialect::from_name("own"), None);
    }
}
