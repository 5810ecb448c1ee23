//! The arguments of `reptile diff`.

use reptile::Dialect;

use crate::options::{AssumptionOptions, dialects};
use reptile_records::place::Place;

/// Compare two robots.txt files, or two sets: changed verdicts for every URL, and changed lines
///
/// The answer comes first, proved for all URLs: "!" marks crawlers for which some URL opens
/// or closes, with the shortest path of each kind and the deciding rules. "=" marks crawlers
/// for which every URL keeps its verdict, even if the lines differ. "?" means unproved: the
/// proof would take too long, and no changed verdict was seen. The crawlers are *, every
/// product token in either file, and the known crawlers that obey one of these too.
/// /robots.txt itself does not count.
///
/// Then come the lines. A line with "@" lists the product tokens of a group, or "all
/// crawlers" for lines such as Sitemap. After it, "-" marks a rule or other directive that
/// only the old file has, and "+" one that only the new file has. "~" marks a moved rule, in
/// dialects where the first matching rule decides. A "~" with a crawler means that it obeys
/// a different group than before. A line with "? not compared" lists product tokens that
/// share too many rules with others. With --urls, listed URLs with changed verdicts come
/// last: URL, agent, old verdict and line, new verdict and line. Product tokens that obey
/// the same groups are listed together, separated by commas; of many, only the first are
/// listed.
///
/// With --dialects the question is whether two dialects read one file alike.
///
/// For two sets, the first line counts all origins, and the second one those proved equal
/// for every URL. "+" marks an origin that only the new set has, "-" one that only the old
/// set has, "~" one with another fetch outcome, and "!", "?" and "=" other changed origins,
/// as above. Each has its changes: an example, the policy source, the product tokens with
/// different rules, other directives. Line numbers and times are not compared. The first
/// 1,000 origins of each kind are listed. With --urls, listed URLs with changed verdicts
/// come last: URL, agents, old verdict and deciding rule, new verdict and deciding rule.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile diff old.txt new.txt
  reptile diff old.txt new.txt --verdicts --only '/shop/*'
  reptile diff old.txt new.txt --urls urls.txt --agent MyBot
  reptile diff old.txt new.txt --verdicts --shapes sitemap.xml
  reptile diff --dialects google,yandex robots.txt
  reptile diff march.reptile april.reptile --urls log.txt.gz

The objects of --json, one on each line, by their field \"change\":
  paths         agents (null for all crawlers); equal: true, false, or null if unproved;
                opens, closes: null, or path, old, new with verdict, reason, rule, line;
                unproved: which of them are; only: the patterns of --only or --shapes
  lines         agents (null for all crawlers), group: kept, removed or added;
                removed, added: lists of line, key, value; moved: with old_line too
  not-compared  agents
  crawler       agent, old, new: the product token that it obeys, or null
  verdict       url, agents and the number of more_agents; old, new: verdict, line
with --dialects:
  reading       the same as paths, with dialects, and with first_only, second_only,
                first, second in place of closes, opens, old, new
and for two sets:
  counts        added, gone, changed, same; of the changed: outcome, verdicts, unproved,
                equal
  origin        origin, kind: added, gone or changed; source: old, new; agents and the
                number of more_agents; other_directives; paths: agents, equal, opens, closes
  verdict       the same, with rule and reason

Exit code: 0 nothing changed; 1 something changed; 2 the command failed, or --urls
has no URL. With --verdicts or --dialects: 0 every verdict is proved equal; 1 some
verdict differs or is unproved."
)]
pub struct Args {
    /// The old robots.txt, or set; with --dialects the only robots.txt
    pub old: Place,
    /// The new robots.txt, or set
    #[arg(required_unless_present = "dialects", conflicts_with = "dialects")]
    pub new: Option<Place>,
    /// URLs to decide by both, one on each line, with or without a host; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "dialects")]
    pub urls: Option<Place>,
    /// A crawler, as in `reptile test`; can be repeated [default: every product token in either file, and *]
    #[arg(short, long = "agent", value_name = "TOKEN")]
    pub agents: Vec<String>,
    #[command(flatten)]
    pub assumption: AssumptionOptions,
    /// Compare only verdicts: leave out lines, and origins where no verdict changes
    #[arg(long)]
    pub verdicts: bool,
    /// The dialect: how the files are interpreted [default: google]
    #[arg(long, value_name = "NAME", value_parser = dialects(), conflicts_with = "dialects")]
    pub dialect: Option<&'static Dialect>,
    /// Two dialects, with a comma between them: compare their readings of one file
    #[arg(long, value_name = "A,B", value_parser = dialects(), value_delimiter = ',')]
    pub dialects: Vec<&'static Dialect>,
    /// Print a JSON object for each change
    #[arg(long)]
    pub json: bool,
}
