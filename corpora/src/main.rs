//! `synthetic-web`: writes a synthetic web's captures or URLs to standard output, or prints its statistics.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use reptile_corpora::Web;
use reptile_corpora::site::{HostAnswer, Site};
use reptile_corpora::statistics::Statistics;
use reptile_corpora::times::Fetch;
use reptile_corpora::urls::Spread;

/// Generate a web with any number of sites from a seed, as a stream
#[derive(Parser)]
#[command(after_help = "Examples:
  synthetic-web captures --origins 1000000 > web.jsonl
  synthetic-web urls --origins 1000000 --urls 3000000 --exponent 0 > shuffled.txt
  synthetic-web captures --origins 100000 --captures-per-origin 3 > years.jsonl
  synthetic-web urls --origins 100000 --urls 1000000 --times 40 > visits.tsv
  synthetic-web statistics --origins 100000")]
struct Args {
    #[command(subcommand)]
    what: CorpusPart,
    /// Number of sites
    #[arg(long, global = true, default_value_t = 1_000_000)]
    origins: u64,
    /// Seed; webs with different seeds share only their statistics
    #[arg(long, global = true, default_value_t = 1)]
    seed: u64,
}

#[derive(Subcommand)]
enum CorpusPart {
    /// Write captures of all robots.txt files as JSON Lines
    Captures {
        /// Write this many captures of each robots.txt, with times
        #[arg(long, value_name = "COUNT")]
        captures_per_origin: Option<u32>,
    },
    /// Write URLs, one per line
    Urls {
        /// Number of URLs
        #[arg(long, default_value_t = 3_000_000)]
        urls: u64,
        /// Give the n-th most popular site the share n^-EXPONENT; 0 makes all sites equal
        #[arg(long, default_value_t = 0.8)]
        exponent: f64,
        /// Write the URLs site by site instead of shuffled
        #[arg(long)]
        sorted: bool,
        /// Write a table with a header and a time for each URL, one of COUNT times spread over the capture period
        #[arg(long, value_name = "COUNT")]
        times: Option<u32>,
    },
    /// Print statistics about the sites and files, next to those for the real web
    Statistics,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let web = Web { origins: args.origins, seed: args.seed };
    let out = &mut BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let done = match args.what {
        CorpusPart::Captures { captures_per_origin } => (0..web.origins).try_for_each(|number| {
            let site = web.site(number);
            match captures_per_origin {
                None => write_capture(&site, &site.answer, None, out),
                Some(count) => {
                    let mut fetches = web.fetches(&site, count).into_iter();
                    fetches.try_for_each(|Fetch { time, answer }| write_capture(&site, &answer, time, out))
                }
            }
        }),
        CorpusPart::Urls { urls, exponent, sorted, times } => {
            write_urls(&web, &Spread { urls, exponent, is_sorted: sorted }, times, out)
        }
        CorpusPart::Statistics => {
            let mut statistics = Statistics::default();
            (0..web.origins).for_each(|number| statistics.add(&web.site(number)));
            write!(out, "{statistics}")
        }
    };
    match done.and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader closed the pipe early, like `head`.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("synthetic-web: cannot write to standard output: {error}");
            ExitCode::from(2)
        }
    }
}

/// Writes URLs, one per line, or a table with URLs and times.
fn write_urls(web: &Web, spread: &Spread, times: Option<u32>, out: &mut impl Write) -> io::Result<()> {
    let Some(count) = times else {
        return web.urls(spread, |url| out.write_all(url).and_then(|()| out.write_all(b"\n")));
    };
    let random = &mut web.visits();
    out.write_all(b"url\ttime\n")?;
    web.urls(spread, |url| {
        out.write_all(url)?;
        writeln!(out, "\t{}", Web::visit_time(count, random))
    })
}

/// Writes a capture as a JSON line.
fn write_capture(site: &Site, answer: &HostAnswer, time: Option<i64>, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &site.capture(answer, time))?;
    out.write_all(b"\n")
}
