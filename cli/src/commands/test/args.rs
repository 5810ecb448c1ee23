//! The arguments of `reptile test`, and the fetch that they describe.

use std::ffi::OsString;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use reptile::{Dialect, Profile, Verdict};

use crate::options::{self, UsageOptions};
use reptile_records::place::Place;

/// Test URLs against one robots.txt, and explain each verdict
///
/// Shows the file with its relevant lines, and for each URL and crawler the group that the
/// crawler obeys, the best matching Allow and Disallow, which of the two wins, and why. Only
/// a URL's path counts, so a path such as /a/b is enough. A text that begins with a slash is
/// a path, also //a/b; any other text must be a URL, or its verdict is "invalid". White
/// space around a URL is ignored. URLs are decided as written, as in `classify`; a remark
/// says if a browser escapes spaces and other characters before it requests the page. A file
/// name is not accepted as a path; --urls reads URLs from a file. The command reads a web page
/// only if it has rules, or if --status makes it the body of a response; the dialect's fetch
/// profile decides whether the rules count.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile test robots.txt --agent MyBot /private/x /public
  reptile test robots.txt --agent MyBot --agent OtherBot --all-dialects /x
  curl -s https://example.com/robots.txt | reptile test - --agent MyBot --brief /x
  reptile test robots.txt --agent MyBot --json < urls.txt
  reptile test robots.txt --agent MyBot --expect allow / /products
  reptile test robots.txt --agent MyBot --expect allow --urls urls.txt
  reptile test robots.txt --agent MyBot --status 503 --profile rfc9309 /x

The fields of --json, an object on each line:
  url, agent   as given, without white space around the URL
  dialect      the dialect of this answer
  verdict      allow, disallow, or invalid for a text that is not a URL or a path
  line         the line of the deciding rule, 0 if no rule decides
  why          no-group, no-match, always-allowed, empty-rule, only-kind,
               longer, allow-on-tie, first, fetch, no-url
  because      the reason in words
  path         the compared path: the URL's path in the dialect's normal form
  group        by: token, default-group or nobody; token: the matched product
               token; lines: the first 100 user-agent lines of the groups;
               more_lines: the number of other lines, if there are any
  allow        the best matching Allow, or null: line, text as in the file,
               pattern in normal form, octets that count; after 32 KiB, the text
               and the pattern are cut, and end in \"...\"
  disallow     the best matching Disallow, likewise
  remarks      what to know of the URL, if there is anything
  agrees       with --all-dialects: whether the verdict equals that of --dialect
  usage        with --usage: each use with the website's preference: allowed,
               disallowed, unknown, not-applicable
  stated       with --usage: the lines that state the preferences

Exit code: 0 done, regardless of the verdicts; 1 with --expect, if any verdict differs;
2 the command failed, or there was no URL to test."
)]
pub struct Args {
    /// A robots.txt; - is standard input
    pub robots: Place,
    /// The URLs to test; if none are given, the lines of --urls
    #[arg(value_name = "URL", conflicts_with = "list")]
    pub urls: Vec<OsString>,
    /// A list with a URL or path on each line; blank lines are skipped; decompressed if necessary; - is standard input
    #[arg(long = "urls", value_name = "FILE", default_value = "-")]
    pub list: Place,
    /// A crawler: a product token, a chain such as "A>B>*", or a group of crawlers such as @ai-training; can be
    /// repeated
    #[arg(short, long = "agent", value_name = "TOKEN", required = true)]
    pub agents: Vec<String>,
    #[command(flatten)]
    pub uses: UsageOptions,
    /// The dialect: how the file is interpreted [default: google]
    #[arg(long, value_name = "NAME", value_parser = options::dialects())]
    pub dialect: Option<&'static Dialect>,
    /// Answer under every dialect, mark differences from --dialect, and explain them
    #[arg(long)]
    pub all_dialects: bool,
    /// The HTTP status of the response; the file is its body, and may be a web page
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(100..=999))]
    pub status: Option<u16>,
    /// The fetch profile: how the status is interpreted [default: the dialect's profile]
    #[arg(long, value_name = "NAME", value_parser = options::profiles())]
    pub profile: Option<&'static Profile>,
    /// Exit with 1 unless every verdict is this one
    #[arg(long, value_name = "VERDICT", value_parser = expectations())]
    pub expect: Option<Verdict>,
    /// Print only one line for each URL and crawler
    #[arg(long, conflicts_with_all = ["json", "full"])]
    pub brief: bool,
    /// Print a JSON object for each URL, crawler and dialect
    #[arg(long)]
    pub json: bool,
    /// Show all lines of a long file, and long lines in full
    #[arg(long)]
    pub full: bool,
}

/// Returns a parser for a verdict that can be expected.
fn expectations() -> impl TypedValueParser<Value = Verdict> {
    PossibleValuesParser::new([Verdict::Allow.name(), Verdict::Disallow.name()])
        .map(|name| if name == Verdict::Allow.name() { Verdict::Allow } else { Verdict::Disallow })
}

/// The status and fetch profile of the robots.txt.
#[derive(Clone, Copy)]
pub struct Fetch {
    pub status: Option<u16>,
    pub profile: &'static Profile,
    /// Whether `--status` or `--profile` is given.
    pub is_given: bool,
}

impl Fetch {
    /// Returns the fetch that the options describe, under a dialect.
    pub fn of(args: &Args, dialect: &'static Dialect) -> Fetch {
        let profile = args.profile.unwrap_or_else(|| Profile::of_dialect(dialect));
        Fetch { status: args.status, profile, is_given: args.status.is_some() || args.profile.is_some() }
    }
}
