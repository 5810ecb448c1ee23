//! The arguments of `reptile filter`.

use crate::failures::KeepGoing;
use crate::inputs::FilesFrom;
use crate::options::{ArchiveOptions, PurposeOptions, RightsOptions, SetOptions};
use crate::outputs::kept::FolderOptions;
use crate::run::metrics::MetricsOptions;
use reptile_records::place::Place;

/// Copy crawl archive records that crawlers may fetch
///
/// Reads WARC, WET and WAT files and writes the records whose URL (WARC-Target-URI) is
/// allowed, byte for byte: a record that is a gzip member is copied compressed. Requests
/// and metadata follow their responses. Records without a URL, such as warcinfo, are kept.
/// With a set made with --by-time, each record is decided at its own WARC-Date; a record
/// without a valid date counts as invalid.
/// With --rights and --purpose, a page is kept only if it may also be used for the purpose:
/// robots.txt and the statements that arrive with the page count. Other records about a page
/// follow its response, and are dropped without one.
/// Damaged records are reported, counted and dropped. If the next record's start is
/// unknown, the file cannot be read to its end, which is an error: see --keep-going and
/// --resync. Each file in a folder gets a record of how it was made (.FILE.made.json),
/// which --resume reads. If the output name ends in .gz, uncompressed records are written
/// as one gzip member each.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile filter CC-MAIN-1.warc.gz --set web.reptile --agent CCBot -o allowed.warc.gz
  reptile filter wet/*.wet.gz --set web.reptile --agent @ai-training -o allowed/
  reptile filter CC-MAIN-1.warc.gz --set web.reptile --agent CCBot --dry-run
  reptile filter CC-MAIN-1.warc.gz --set web.reptile --agent CCBot --rights all \\
    --purpose train-ai --treat unknown-usage=allow -o usable.warc.gz

With several agents, a record is kept if all of them may fetch it, or with --any if one
of them may. A gzip file needs a member for each record, which is copied compressed. From
zstd, bzip2 and xz, records are written uncompressed, or as gzip members to OUT.gz.

Exit code: 0 done; 1 records were damaged, an archive failed (--keep-going), or SET was
compiled from an input with bad files; 2 the command failed. No file is left incomplete."
)]
pub struct Args {
    /// The archives; - is standard input
    #[arg(required_unless_present = "files_from", value_name = "WARC")]
    pub inputs: Vec<Place>,
    #[command(flatten)]
    pub files_from: FilesFrom,
    /// A set file; or any INPUT of `reptile compile`, which is compiled in memory
    #[arg(long, value_name = "SET")]
    pub set: Place,
    /// A crawler: a product token, a chain, or a group of crawlers; can be repeated
    #[arg(short, long = "agent", value_name = "TOKEN", required = true)]
    pub agents: Vec<String>,
    /// Keep records that any agent may fetch; by default, all agents must be allowed
    #[arg(long)]
    pub any: bool,
    #[command(flatten)]
    pub purpose: PurposeOptions,
    #[command(flatten)]
    pub rights: RightsOptions,
    /// Write all archives to this file; or to this folder, each under its own name
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<Place>,
    /// Replace existing output files
    #[arg(long, requires = "output")]
    pub force: bool,
    #[command(flatten)]
    pub in_folder: FolderOptions,
    #[command(flatten)]
    pub keep_going: KeepGoing,
    /// Only count records
    #[arg(long, conflicts_with = "output")]
    pub dry_run: bool,
    #[command(flatten)]
    pub metrics: MetricsOptions,
    #[command(flatten)]
    pub options: SetOptions,
    #[command(flatten)]
    pub archives: ArchiveOptions,
    #[command(flatten)]
    pub threads: crate::Threads,
}
