//! The options of commands that read lists and tables of URLs: their columns and their formats.

mod url;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use reptile::Scheme;
use reptile_records::place::Place;
use reptile_records::tables::log::format::LogFormat;
use reptile_records::tables::log::shape::Site;
use reptile_records::tables::open::Opening;
use reptile_records::tables::quotes::Escape;
use reptile_records::tables::{ColumnOption, Delimiter, Format};

use crate::options::table_format;

pub use url::{UrlColumns, column_of};

/// How lists and tables of URLs are read.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct TableOptions {
    /// The URL column, or a template of columns: '{scheme}://{host}:{port}{path}?{query}' [default: url]
    ///
    /// A column is given by its name in the first row, its number from 1, or a JSON Lines field. Nested fields are named
    /// with a dot (request.url) or as a JSON pointer (/request/url). By default, the column is found if it is called url
    /// or uri, or if the first row has exactly one URL. In Parquet and Arrow, the columns of Common Crawl's index,
    /// url_protocol, url_host_name, url_port, url_path and url_query, are used if there is no other URL column.
    ///
    /// A template names the columns of a URL's parts. All but the host may be left out, and then are empty; the scheme
    /// may also be written, such as https://, or be left to --scheme. A host may have a port if the port is empty, but no
    /// user information; an IPv6 address needs no brackets. The path begins with a slash, and may contain the query if
    /// the query is empty. Empty cells and nulls mean the scheme's own port, the path / and no query. Rows with a
    /// malformed part are invalid.
    #[arg(long, value_name = "COLUMN", value_parser = UrlColumns::parse)]
    pub url: Option<UrlColumns>,
    /// The scheme of URLs without one, and of an access log's requests: http or https
    #[arg(long, value_name = "SCHEME", value_parser = web_schemes())]
    pub scheme: Option<Scheme>,
    /// The format of URLS, or of an access log's lines [default: detected from the first line and the file extension]
    ///
    /// Formats are list, tsv, csv, jsonl (or ndjson), cdx, cdxj, log (an access log in the common or combined format),
    /// json-log (one in JSON Lines, as Caddy, Cloudflare, CloudFront, nginx and others write it), w3c (one with a
    /// #Fields: line, as IIS and CloudFront write it), parquet and arrow.
    ///
    /// For an access log in another format, give nginx's log_format or Apache's LogFormat, as in the server's
    /// configuration. The variables without the directive's name are enough, such as
    /// '$host $remote_addr [$time_local] "$request"'. The names common, combined, vhost_combined and main (nginx's
    /// packaged format) are known too. The host is the format's $server_name or %v, else $host or %V, else $http_host or
    /// %{Host}i; without any, --host is required. The path is in $request or %r, $request_uri, or %U%q. A line that can
    /// be read in two ways is invalid.
    #[arg(long, value_name = "FORMAT", value_parser = input_format)]
    pub input_format: Option<InputFormat>,
    /// The delimiter of CSV: comma, semicolon, tab, pipe, space, \x01, ^A or one character [default: detected]
    ///
    /// The first four are detected from a header with the selected columns. Without a header, the first 100 rows must
    /// agree on one of them, with a URL in the same column of each.
    #[arg(long, value_name = "CHARACTER", value_parser = Delimiter::of_name)]
    pub delimiter: Option<Delimiter>,
    /// What precedes a quote in a quoted cell of CSV: backslash, as Spark writes, or quote, as in RFC 4180
    ///
    /// Without this option, both are understood, and a row that they would split differently is invalid.
    #[arg(long, value_name = "CHARACTER", value_parser = Escape::of_name)]
    pub escape: Option<Escape>,
}

impl TableOptions {
    /// Returns the settings for opening a list with these columns. `site` is the site of an access log's requests.
    pub fn opening(&self, urls: &Place, site: std::result::Result<Site, String>, wanted: Vec<ColumnOption>) -> Opening {
        let url = self.url.clone().unwrap_or_default();
        Opening {
            path: urls.clone(),
            format: self.input_format.as_ref().map(InputFormat::table),
            delimiter: self.delimiter,
            escape: self.escape,
            wanted,
            parts: url.parts,
            scheme: url.scheme.or(self.scheme.map(Scheme::as_str)),
            log_format: match &self.input_format {
                Some(InputFormat::Log(format)) => Some(format.clone()),
                _ => None,
            },
            site,
            kept: None,
        }
    }

    /// Returns the name of the column of whole URLs, if it is given.
    pub fn url_column(&self) -> Option<String> {
        self.url.as_ref().and_then(|url| url.whole.clone())
    }

    /// Returns the site of a log's requests.
    ///
    /// # Errors
    /// Returns an error if `--host` and `--scheme` contradict each other, or if the host is invalid.
    pub fn site(&self, host: Option<&str>) -> std::result::Result<Site, String> {
        Site::of_options(host, self.scheme.as_slice())
    }
}

/// Returns a parser for the scheme of URLs without one.
fn web_schemes() -> impl TypedValueParser<Value = Scheme> {
    PossibleValuesParser::new(["http", "https"]).map(|name| if name == "http" { Scheme::Http } else { Scheme::Https })
}

/// Parses a table's format, or the format of an access log's lines.
fn input_format(text: &str) -> std::result::Result<InputFormat, String> {
    match table_format(text) {
        Some(format) => Ok(InputFormat::Table(format)),
        None => LogFormat::parse(text).map(InputFormat::Log).map_err(|error| {
            format!(
                "neither a known format (list, tsv, csv, jsonl, cdx, cdxj, log, json-log, w3c, parquet, arrow) nor an \
                     access log's format: {error}"
            )
        }),
    }
}

/// The format of a list.
#[derive(Clone, Debug)]
pub enum InputFormat {
    Table(Format),
    /// An access log with lines of this format.
    Log(LogFormat),
}

impl InputFormat {
    /// Returns the table's format.
    pub fn table(&self) -> Format {
        match self {
            InputFormat::Table(format) => *format,
            InputFormat::Log(_) => Format::Log,
        }
    }
}
