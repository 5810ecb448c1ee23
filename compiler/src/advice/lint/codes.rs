//! The kinds of findings and their names.

use std::fmt;
use std::str::FromStr;

use crate::names::UnknownName;

macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident = $name:literal,)*) => {
        /// The kinds of findings. Their names do not change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code { $($(#[$doc])* $code,)* }

        impl Code {
            /// All of them.
            pub const ALL: &[Code] = &[$(Code::$code,)*];

            /// The name by which users know it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$code => $name,)* }
            }
        }
    };
}

codes! {
    /// A rule whose value is a URL with a host.
    AbsoluteUrl = "absolute-url",
    /// A user-agent line whose value is longer than the product token that is read from it.
    AgentCut = "agent-cut",
    /// A user-agent line that names no crawler.
    AgentEmpty = "agent-empty",
    /// A blank line in a group, at which some crawlers end it.
    BlankLineInGroup = "blank-line-in-group",
    /// A byte order mark before the text.
    ByteOrderMark = "byte-order-mark",
    /// A `#` inside a rule, which begins a comment.
    CommentInRule = "comment-in-rule",
    /// A rule whose own path another dialect in use decides differently.
    DialectsDiffer = "dialects-differ",
    /// A `$` before the end, which is an ordinary character.
    DollarInside = "dollar-inside",
    /// Two wildcards or more in a row.
    DoubleStar = "double-star",
    /// A rule that the same group has already.
    DuplicateRule = "duplicate-rule",
    /// A `Disallow` without a value, which some crawlers read as `Allow: /`.
    EmptyDisallow = "empty-disallow",
    /// A file without text.
    EmptyFile = "empty-file",
    /// A file longer than crawlers read.
    FileTooLong = "file-too-long",
    /// User-agent lines that share the rules of a later group, because there is no rule between.
    GroupsCollapse = "groups-collapse",
    /// A web page instead of a robots.txt.
    Html = "html",
    /// An `Allow` of an index page, which also allows its folder at Google.
    IndexHtml = "index-html",
    /// Bytes in a rule that are not UTF-8.
    InvalidUtf8 = "invalid-utf8",
    /// A line longer than crawlers read.
    LineTooLong = "line-too-long",
    /// A key without a colon.
    MissingColon = "missing-colon",
    /// A key that is almost a known one.
    MisspeltKey = "misspelt-key",
    /// A file without any user-agent line.
    NoGroup = "no-group",
    /// A rule that begins with neither `/` nor `*`.
    NoLeadingSlash = "no-leading-slash",
    /// Characters outside ASCII in a rule.
    NonAscii = "non-ascii",
    /// Rules that were not compared between dialects, because there are too many.
    NotCompared = "not-compared",
    /// A NUL byte.
    NulByte = "nul-byte",
    /// A `Disallow` that loses against an `Allow` of the same pattern.
    OverruledRule = "overruled-rule",
    /// A rule with bytes that the dialect does not accept.
    RuleBytes = "rule-bytes",
    /// A rule that belongs to no group.
    RuleOutsideGroup = "rule-outside-group",
    /// A rule longer than the dialect accepts.
    RuleTooLong = "rule-too-long",
    /// A rule that changes nothing, because a shorter one says the same.
    ShadowedRule = "shadowed-rule",
    /// White space inside a rule.
    SpaceInRule = "space-in-rule",
    /// A `%` without two hexadecimal digits after it.
    StrayPercent = "stray-percent",
    /// A rule that is over the number of rules that the dialect accepts.
    TooManyRules = "too-many-rules",
    /// Rules with which one URL takes too long to decide, so that the file is not compiled.
    TooManySteps = "too-many-steps",
    /// A wildcard at the end of a rule.
    TrailingStar = "trailing-star",
    /// A key that decides nothing.
    UnknownKey = "unknown-key",
    /// A known key that decides no URL, such as `Crawl-delay`.
    UnusedKey = "unused-key",
    /// Text in UTF-16.
    Utf16 = "utf-16",
    /// A note that further findings of a code are not listed, with their number.
    MoreFindings = "more-findings",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Code {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Code, UnknownName> {
        let find = Code::ALL.iter().find(|code| code.as_str() == name);
        find.copied().ok_or_else(|| UnknownName::new("finding", name, Code::ALL.iter().map(|code| code.as_str())))
    }
}
