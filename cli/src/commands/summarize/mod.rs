//! `reptile summarize`: crawler access per origin.
//!
//! `timeline` shares [`args`] and [`write`](mod@write), and writes a row for each period of an origin. The proofs come
//! from the compiler (`reptile::reason`), and [`Statements`](reptile::summary::Statements) makes each proof once.
//! [`subjects`] finds the origins and their periods, [`sites`] groups them into sites, [`keys`] names them, [`rows`]
//! writes the output, and [`managed`] finds rules in vendor-managed blocks.

pub mod args;
mod keys;
mod managed;
pub mod rows;
mod sites;
mod subjects;
pub mod write;

use crate::error::{Exit, Failure, Result};
use crate::run::Run;
use args::RowArgs;
use keys::OriginKey;
use rows::RowWriter;
use write::{RowKind, write};

/// Summarize access per origin
///
/// Writes a row for each origin of SET, or of ORIGINS, and each agent, in their order:
///   allowed     every URL of the origin is allowed
///   disallowed  every URL is disallowed, except /robots.txt itself
///   partial     some URLs are allowed and some are not; a path of each is shown
///   unproved    one of the above, but the proof would have taken too long
///   unknown     SET has no robots.txt for an origin of ORIGINS
///   invalid     a line of ORIGINS is neither a URL nor a host
///
/// This is proved from all rules together, for all possible URLs. Testing / is not enough:
/// Disallow: / with Allow: /$ allows / and nothing else.
///
/// The columns are the key, agent, access (one of the words above), group (named,
/// default or none), allow_rules and disallow_rules (numbers of rules in the agent's
/// groups), reason (as in `classify`), allowed_path and disallowed_path (for
/// partial: a shortest path with each verdict, as in a URL), and one for each use in --usage:
///   allowed, disallowed     the same for every URL that may be fetched
///   partial                 it differs between URLs that may be fetched
///   unknown                 nothing is said about any URL that may be fetched, or SET has no
///                           robots.txt
///   not-applicable          no URL may be fetched
///   unproved, invalid       as above
/// With --by-site, the columns are the key, agent, https, http, https_www and http_www (the words
/// for access, for the host without and with www.), and agree: yes if the origins in SET have
/// the same access, for partial by the same rules; no if they do not; and empty if SET has
/// fewer than two of them.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile summarize web.reptile --agent GPTBot --agent CCBot -o access.tsv
  reptile summarize web.reptile --agent @ai-training --key domain,url --header
  reptile summarize web.reptile --agent CCBot --key surt --format jsonl -o access.jsonl.gz
  reptile summarize web.reptile hosts.txt --agent MyBot
  reptile summarize web.reptile --agent MyBot --by-site --format parquet -o sites.parquet
  reptile summarize web.reptile --agent MyBot --usage train-ai,search --usage-from both -o uses.tsv

Keys match other tables: host is the column url_host_name of Common Crawl's index,
domain is url_host_registered_domain, and surt is the start of urlkey. http and https, and
example.com and www.example.com, have separate rows unless --by-site combines them.

Exit code: 0 done, regardless of the access; 1 SET was compiled from an input with bad
files; 2 the command failed, and -o left no file."
)]
pub struct Args {
    #[command(flatten)]
    pub rows: RowArgs,
    /// Write a row for each site: a host with and without www., over http and https, side by side
    ///
    /// The columns show the access to each of the four origins, and whether they agree. Without --key, the key is the
    /// host. Origins with a non-default port and ftp origins belong to no site: in SET they are counted and skipped,
    /// and a line of ORIGINS is invalid.
    #[arg(long)]
    by_site: bool,
}

/// Runs the command.
///
/// # Errors
/// Returns an error if the set cannot be read or is damaged, an argument is invalid, or the output cannot be written.
pub fn run(args: &Args, run: &Run) -> Result<Exit> {
    let rows = &args.rows;
    let (format, keys, uses) = (rows.format()?, rows.keys()?, rows.uses()?);
    if !args.by_site {
        return write(rows, RowWriter::of_origins(format, keys, &uses)?, uses, RowKind::Origins, run);
    }
    if keys.contains(&OriginKey::Url) && !rows.keys.is_empty() {
        let message = "--key url: a row of --by-site covers up to four URLs; expected host, domain or surt";
        return Err(Failure::new(message));
    }
    if !uses.is_empty() {
        return Err(Failure::new("--usage: a row of --by-site covers up to four origins; ask without --by-site"));
    }
    let keys = if rows.keys.is_empty() { vec![OriginKey::Host] } else { keys };
    write(rows, RowWriter::of_sites(format, keys), uses, RowKind::Sites, run)
}
