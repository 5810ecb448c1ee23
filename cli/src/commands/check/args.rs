//! The arguments of `reptile check`.

use reptile::Dialect;

use crate::options::dialects;
use reptile_records::place::Place;

/// Compare verdicts with expected verdicts, or prove assertions about every URL
///
/// CASES is a table, its columns separated by tabs:
///   host  agent  url  [ALLOW|DISALLOW  [line]]
/// The host, or a URL instead of it, selects the robots.txt. Only the path of the url
/// counts, so a path alone is enough: it begins with a slash, and a URL with its scheme.
/// A row with any other text is malformed. The agent is a product token or a crawler's name
/// that the dialect knows, checked like --agent in other commands: a row with a
/// User-Agent header or a misspelled crawler is malformed. The line is the deciding
/// rule's line, or 0 if no rule decides. A header, empty lines and lines that begin with
/// # are skipped. ALLOW and DISALLOW may be in any letter case; nothing is trimmed.
///
/// A row with a different verdict is a verdict difference, regardless of its line. A row
/// with the right verdict and a different line is a line difference.
///
/// With --prove, each line of the file asserts something about every URL on a site:
///   disallow GPTBot /private/*   GPTBot may fetch no URL that matches
///   allow * /$ /docs/*           every URL that matches either pattern is allowed for *
///   same Googlebot Bingbot       both get the same verdict for every URL
///   GPTBot <= *                  GPTBot may fetch nothing that * may not
/// The last two may have patterns too, and are then about the URLs that match. A crawler
/// is a product token, a known crawler, *, a chain such as "A>B>*", or a group such as
/// @ai-training, which asserts the same for each member. # begins a comment. A pattern is
/// written as in a rule. Each assertion is proved, or refuted by one of the shortest paths.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    override_usage = "reptile check [OPTIONS] CASES --robots INPUT\n       \
                      reptile check [OPTIONS] ROBOTS --prove FILE",
    after_help = "Examples:
  reptile check cases.tsv.gz --robots robots/
  reptile check cases.tsv --robots robots.txt --dialect rfc9309
  reptile check urls.tsv --robots robots.tar.gz --print > verdicts.tsv
  reptile check robots.txt --prove assertions.txt
  reptile check robots.txt --prove assertions.txt --format github

The fields of --format json, an object for each assertion and crawler:
  file, line   the place of the assertion
  assertion    its text; a member replaces a group of crawlers
  result       holds, counterexample, no-group, unproved
  passed       whether the exit code may be 0
  message      the result in words, or null if it holds
  path         the counterexample, or null
  verdicts     for each crawler: crawler, verdict, line and rule (or 0 and null), reason

Exit code: 0 all as expected; 1 differences, malformed rows, or hosts without
robots.txt, or an assertion failed; 2 the command failed, or no row expects a
verdict, or an assertion is malformed."
)]
pub struct Args {
    /// The table, or with --prove the robots.txt; decompressed if necessary; - is standard input
    #[arg(value_name = "CASES|ROBOTS")]
    pub input: Place,
    /// The robots.txt files: any INPUT of `reptile compile`, or one file for all hosts
    #[arg(long, value_name = "INPUT", required_unless_present = "prove")]
    pub robots: Option<Place>,
    /// Prove or refute the assertions in this file, one on each line; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = TABLE_OPTIONS)]
    pub prove: Option<Place>,
    /// With --prove, the output format: `github` for GitHub Actions annotations, `sarif` for code scanning
    #[arg(long, value_name = "FORMAT", default_value = "text", requires = "prove", conflicts_with = "robots")]
    pub format: OutcomeFormat,
    /// With --prove, accept a crawler that no group names: the rules for * apply to it, or no rules
    ///
    /// Otherwise its assertion fails, because a misspelled name or a removed group would not be noticed. A
    /// chain that ends in ">*", such as "GPTBot>*", accepts the rules for * in one assertion.
    #[arg(long, requires = "prove", conflicts_with = "robots")]
    pub allow_default: bool,
    /// With --prove, accept assertions that are neither proved nor refuted within the limit on steps
    #[arg(long, requires = "prove", conflicts_with = "robots")]
    pub allow_unproved: bool,
    /// The dialect: how the files are interpreted [default: google]
    #[arg(long, value_name = "NAME", value_parser = dialects())]
    pub dialect: Option<&'static Dialect>,
    /// Count the rows that each pair of dialects decides differently, as a Markdown table; with --print, also write
    /// each dialect's verdict and line for each row
    ///
    /// Rows are counted above the diagonal, and their hosts below it. Expected verdicts are ignored.
    #[arg(long, conflicts_with = "dialect", conflicts_with = "max_differences")]
    pub all_dialects: bool,
    /// Use the agents in all rows unchanged, even headers and misspelled names: for conformance tests
    #[arg(long)]
    pub exact_agent: bool,
    /// Write each row's host, agent, url, verdict and line to standard output, and differences to standard error
    ///
    /// The verdict for a host without a robots.txt is UNKNOWN. Malformed rows are not written.
    #[arg(long)]
    pub print: bool,
    /// Maximum number of differences shown; all are counted
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub max_differences: usize,
}

/// The options that apply only to a table.
const TABLE_OPTIONS: [&str; 5] = ["robots", "all_dialects", "exact_agent", "print", "max_differences"];

/// An output format for outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum OutcomeFormat {
    Text,
    Json,
    Github,
    Sarif,
}

impl Args {
    /// Returns the path of the table.
    pub fn cases(&self) -> &Place {
        &self.input
    }

    /// Returns the path of the robots.txt files. With a table, the command line has one.
    pub fn robots(&self) -> &Place {
        self.robots.as_ref().unwrap_or(&self.input)
    }
}
