//! `synthetic-web`: writes the captures or the URLs of a synthetic web to standard output, or prints its statistics.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use reptile_corpora::Web;
use reptile_corpora::site::{Answer, Site};
use reptile_corpora::statistics::Statistics;
use reptile_corpora::urls::Spread;
use serde_json::json;

/// Make a web of any number of sites from a seed, and write it as a stream
#[derive(Parser)]
#[command(after_help = "Examples:
  synthetic-web captures --origins 1000000 > web.jsonl
  synthetic-web urls --origins 1000000 --urls 3000000 --exponent 0 > shuffled.txt
  synthetic-web statistics --origins 100000")]
struct Args {
    #[command(subcommand)]
    what: What,
    /// The number of sites
    #[arg(long, global = true, default_value_t = 1_000_000)]
    origins: u64,
    /// Webs of different seeds have nothing in common but their statistics
    #[arg(long, global = true, default_value_t = 1)]
    seed: u64,
}

#[derive(Subcommand)]
enum What {
    /// Write the capture of each robots.txt as a line of JSON
    Captures,
    /// Write URLs, one on each line
    Urls {
        /// The number of URLs
        #[arg(long, default_value_t = 3_000_000)]
        urls: u64,
        /// The site at the n-th place in popularity has a share of n^-EXPONENT; 0 makes all sites equal
        #[arg(long, default_value_t = 0.8)]
        exponent: f64,
        /// Write the URLs site by site instead of shuffled
        #[arg(long)]
        sorted: bool,
    },
    /// Print counts of the sites and their files, beside those of the real web
    Statistics,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let web = Web { origins: args.origins, seed: args.seed };
    let out = &mut BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let done = match args.what {
        What::Captures => (0..web.origins).try_for_each(|number| write_capture(&web.site(number), out)),
        What::Urls { urls, exponent, sorted } => web.urls(&Spread { urls, exponent, is_sorted: sorted }, |url| {
            out.write_all(url).and_then(|()| out.write_all(b"\n"))
        }),
        What::Statistics => {
            let mut statistics = Statistics::default();
            (0..web.origins).for_each(|number| statistics.add(&web.site(number)));
            write!(out, "{statistics}")
        }
    };
    match done.and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader has seen enough, as `head` has.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("synthetic-web: standard output cannot be written: {error}");
            ExitCode::from(2)
        }
    }
}

/// Writes a capture as `reptile compile` takes it.
fn write_capture(site: &Site, out: &mut impl Write) -> io::Result<()> {
    let scheme = if site.is_https { "https" } else { "http" };
    let url = format!("{scheme}://{}/robots.txt", site.host);
    let capture = match &site.answer {
        Answer::File(body) => json!({"url": url, "status": 200, "body": String::from_utf8_lossy(body)}),
        Answer::Status(status) => json!({"url": url, "status": status}),
        Answer::TooManyRedirects => json!({"url": url, "status": 301, "redirects": 20}),
        Answer::Failure => json!({"url": url, "error": "connection timed out"}),
    };
    serde_json::to_writer(&mut *out, &capture)?;
    out.write_all(b"\n")
}
