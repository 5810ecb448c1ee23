//! The kinds of findings and their names.

use std::fmt;
use std::str::FromStr;

use crate::names::UnknownName;

macro_rules! codes {
    ($($(#[doc = $doc:literal])* $code:ident = $name:literal,)*) => {
        /// The kinds of findings. Their names are stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code { $($(#[doc = $doc])* $code,)* }

        impl Code {
            /// All codes.
            pub const ALL: &[Code] = &[$(Code::$code,)*];

            /// Returns the name by which users know it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$code => $name,)* }
            }

            /// Returns whether findings of this kind are reported only on request.
            #[must_use]
            pub const fn is_off_by_default(self) -> bool {
                matches!(self, Code::GroupOpensOnPurpose | Code::PrefixMatch)
            }

            /// Returns a sentence that describes this kind of finding.
            #[must_use]
            pub fn describe(self) -> &'static str {
                match self { $(Code::$code => concat!($($doc),*).trim_start(),)* }
            }
        }
    };
}

codes! {
    /// A rule whose value is a URL with a host.
    AbsoluteUrl = "absolute-url",
    /// A user-agent line whose value is longer than the product token read from it.
    AgentCut = "agent-cut",
    /// A `User-Agent` header where a product token belongs.
    AgentHeader = "agent-header",
    /// Several names in one user-agent line, such as `A, B`. Crawlers read only the first.
    AgentList = "agent-list",
    /// A user-agent line that names no crawler.
    AgentEmpty = "agent-empty",
    /// A blank line inside a group, where some crawlers end it.
    BlankLineInGroup = "blank-line-in-group",
    /// A rule that closes style sheets or scripts to crawlers that render pages.
    BlocksRendering = "blocks-rendering",
    /// The name of an operator or a product where a product token belongs, such as `ChatGPT`.
    BrandName = "brand-name",
    /// A byte order mark before the text.
    ByteOrderMark = "byte-order-mark",
    /// A `Disallow` of the whole site for `*`, with the crawlers that it does not stop.
    ClosedSite = "closed-site",
    /// A `#` inside a rule, which begins a comment.
    CommentInRule = "comment-in-rule",
    /// A comment in the style of another language, such as `//`. Only `#` begins a comment.
    CommentMark = "comment-mark",
    /// A `Crawl-delay` that is not a number of seconds.
    CrawlDelayValue = "crawl-delay-value",
    /// A rule whose own path is decided differently by another dialect in use.
    DialectsDiffer = "dialects-differ",
    /// A `DisallowAITraining`, which states nothing about training, and which some crawlers read as a `Disallow`.
    DisallowAiTraining = "disallow-ai-training",
    /// A `$` before the end, which is an ordinary character.
    DollarInside = "dollar-inside",
    /// Two or more consecutive wildcards.
    DoubleStar = "double-star",
    /// A repeated `Sitemap`, `Host` or `Crawl-delay`.
    DuplicateDirective = "duplicate-directive",
    /// A rule that the group already contains.
    DuplicateRule = "duplicate-rule",
    /// A `Disallow` without a value, which some crawlers read as `Allow: /`.
    EmptyDisallow = "empty-disallow",
    /// A file without text.
    EmptyFile = "empty-file",
    /// A `Sitemap`, `Host` or `Crawl-delay` without a value.
    EmptyValue = "empty-value",
    /// A file that is longer than crawlers read.
    FileTooLong = "file-too-long",
    /// A group for a crawler that opens what the group for `*` closes, because it leaves out a rule, or only says that
    /// everything is open, also login pages and the like.
    GroupOpens = "group-opens",
    /// A group for a crawler that opens what the group for `*` closes, and says so. Off by default.
    GroupOpensOnPurpose = "group-opens-on-purpose",
    /// User-agent lines that share the rules of a later group, because no rule separates them.
    GroupsCollapse = "groups-collapse",
    /// A rule that can never decide, because others with precedence match all of its paths.
    HiddenRule = "hidden-rule",
    /// A rule such as `/?sort=`, which matches only the home page with this query.
    HomeQuery = "home-query",
    /// A `Host` that is not a host name.
    HostValue = "host-value",
    /// A web page instead of a robots.txt.
    Html = "html",
    /// A group for a crawler that does not always obey robots.txt, according to its operator.
    IgnoringCrawler = "ignoring-crawler",
    /// An `Allow` of an index page, which for Google also allows its directory.
    IndexHtml = "index-html",
    /// Bytes in a rule that are not UTF-8.
    InvalidUtf8 = "invalid-utf8",
    /// A `License` that belongs to a group, and so does not apply to the whole site.
    LicenseInGroup = "license-in-group",
    /// A line that is longer than crawlers read.
    LineTooLong = "line-too-long",
    /// A second group for all crawlers, next to a vendor's managed block. Crawlers merge the two.
    ManagedGroup = "managed-group",
    /// A key without a colon.
    MissingColon = "missing-colon",
    /// A user-agent line with a name that almost matches a known crawler, or that has spaces, such as `Googlebot Image`.
    MisspelledCrawler = "misspelt-crawler",
    /// A key that almost matches a known one.
    MisspelledKey = "misspelt-key",
    /// A file without any user-agent line.
    NoGroup = "no-group",
    /// A rule that begins with neither `/` nor `*`.
    NoLeadingSlash = "no-leading-slash",
    /// Characters outside ASCII in a rule.
    NonAscii = "non-ascii",
    /// Rules that were not compared between dialects, because there are too many of them.
    NotCompared = "not-compared",
    /// Rules and groups about which nothing was proved, because that takes too many steps.
    NotProved = "not-proved",
    /// A NUL byte.
    NulByte = "nul-byte",
    /// An invisible, look-alike or typographic character where crawlers read ASCII.
    OddCharacter = "odd-character",
    /// A document in another format, such as JSON, instead of a robots.txt.
    OtherDocument = "other-document",
    /// A `Disallow` that loses to an `Allow` with the same pattern.
    OverruledRule = "overruled-rule",
    /// Several paths in one rule, such as `/a, /b`. Crawlers read one path.
    PathList = "path-list",
    /// A placeholder, such as `undefined` or `{id}`, or a template that was not rendered.
    Placeholder = "placeholder",
    /// A rule such as `/jobs`, which also matches `/jobs-in-berlin`, in a group that has `/jobs/` too. Off by default.
    PrefixMatch = "prefix-match",
    /// A rule that looks like a regular expression. Crawlers know only `*` and a final `$`.
    RegularExpression = "regular-expression",
    /// A name in a second user-agent line. Some crawlers read only its first group.
    RepeatedAgent = "repeated-agent",
    /// A group for a crawler's name that its operator no longer uses.
    RetiredCrawler = "retired-crawler",
    /// A rule with bytes that the dialect does not accept.
    RuleBytes = "rule-bytes",
    /// A rule that belongs to no group.
    RuleOutsideGroup = "rule-outside-group",
    /// A rule that is longer than the dialect accepts.
    RuleTooLong = "rule-too-long",
    /// A line with several directives, or with a line break that is written as text, such as `\n` or `<br>`.
    SeveralDirectives = "several-directives",
    /// A rule that changes nothing, because a shorter one has the same effect.
    ShadowedRule = "shadowed-rule",
    /// A `Content-Signal` with parts that are not signals.
    SignalValue = "signal-value",
    /// A `Sitemap` on a host that search engines cannot reach, such as `localhost`.
    SitemapHost = "sitemap-host",
    /// A `Sitemap` that is not an absolute URL.
    SitemapUrl = "sitemap-url",
    /// White space inside a rule.
    SpaceInRule = "space-in-rule",
    /// A `%` that is not followed by two hexadecimal digits.
    StrayPercent = "stray-percent",
    /// A rule whose removal is proved to change no verdict.
    SuperfluousRule = "superfluous-rule",
    /// A rule beyond the number of rules that the dialect accepts.
    TooManyRules = "too-many-rules",
    /// Rules that take too long to decide for one URL, so the file is not compiled.
    TooManySteps = "too-many-steps",
    /// A wildcard at the end of a rule.
    TrailingStar = "trailing-star",
    /// A comment that ignores an unknown kind of finding.
    UnknownIgnore = "unknown-ignore",
    /// An unknown key. Its line decides nothing.
    UnknownKey = "unknown-key",
    /// A known key that decides no URL, such as `Crawl-delay`.
    UnusedKey = "unused-key",
    /// A line that states the opposite of another one for the same crawlers and paths.
    UsageContradiction = "usage-contradiction",
    /// A label that the newest AIPREF draft does not have, or one without the value `y` or `n`.
    UsageLabel = "usage-label",
    /// A `Content-Usage` for pages that must not be fetched.
    UsageNotApplicable = "usage-not-applicable",
    /// A `Content-Signal` or `Content-Usage` for `*` that does not reach crawlers with their own groups.
    UsageNotInherited = "usage-not-inherited",
    /// Lines about the uses of pages that exceed a limit of this compiler, so every use is unknown.
    UsageOverLimit = "usage-over-limit",
    /// A path in a `Content-Usage` that does not begin with `/`.
    UsagePath = "usage-path",
    /// A `Content-Usage` whose statement cannot be read, or is empty.
    UsageStatement = "usage-statement",
    /// A product token that looks like one for a use of pages, but is unknown.
    UsageToken = "usage-token",
    /// Text in UTF-16.
    Utf16 = "utf-16",
    /// A count of further findings with the same code that are not listed.
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
