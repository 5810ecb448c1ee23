//! Options for reading and compiling robots.txt files, shared by the commands that take an input.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use reptile::capture::Time;
use reptile::reason::Assumption;
use reptile::rights::{Profile as RightsProfile, RightsQuery};
use reptile::settings::{NormalForm, Strategy};
use reptile::usage::{Sources, UnknownUsage, Uses, Vocabulary};
use reptile::{Dialect, Profile, Scheme, Verdict, capture, dialects};

use crate::error::{Failure, Result, note};
use crate::outputs::summary::grouped;

use reptile_columns::{AnswerFormat, Column, Scope};
use reptile_records::ReadOptions;
use reptile_records::pages::{CrawlerNames, JoinedPages};
use reptile_records::place::Place;
use reptile_records::text::printable;
use reptile_records::time::{WrittenTime, Zone};
use reptile_records::{sitemap, tables};

/// The options of every command that compiles robots.txt files: how they are read.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SetOptions {
    /// The dialect: how the files are interpreted [default: google]
    #[arg(long, value_name = "NAME", value_parser = dialects())]
    pub dialect: Option<&'static Dialect>,
    /// The fetch profile: how statuses, redirects and errors are interpreted [default: the dialect's profile]
    #[arg(long, value_name = "NAME", value_parser = profiles())]
    pub profile: Option<&'static Profile>,
    /// The host, if the input is a single robots.txt; or its URL, which also gives the scheme
    ///
    /// The input may also be a folder or archive of this host's captures, named after their times.
    #[arg(long, value_name = "HOST[:PORT]")]
    pub host: Option<String>,
}

/// The options of `compile`. Other commands compile with the defaults, except for [`SetOptions`].
#[derive(Clone, Debug, Default, clap::Args)]
pub struct CompileOptions {
    #[command(flatten)]
    pub set: SetOptions,
    /// The set's time; captures fetched later do not count [default: the newest capture's time]
    ///
    /// For example 2026-03-14T15:09:26Z, 2026-03-14, 20260314150926, or seconds since 1970.
    #[arg(long, value_name = "TIME", value_parser = WrittenTime::parse, allow_negative_numbers = true)]
    pub at: Option<WrittenTime>,
    #[command(flatten)]
    pub zone: ZoneOption,
    /// How a group's rules are compiled to an automaton; verdicts do not depend on it [default: factored]
    #[arg(long, value_name = "NAME", value_parser = strategies())]
    pub strategy: Option<Strategy>,
    /// The schemes that apply to a file named after a host; can be repeated [default: http and https]
    ///
    /// In JSON Lines, the url of each capture gives its scheme.
    #[arg(long = "scheme", value_name = "SCHEME", value_parser = schemes())]
    pub schemes: Vec<Scheme>,
    /// The folder of the WARC files, if INPUT is an index of WARC records, such as Common Crawl's columnar index
    ///
    /// The index is a Parquet file or a table in text with the columns url, warc_filename, warc_record_offset and
    /// warc_record_length, and preferably fetch_time; or CDXJ or CDX, with filename, offset and length. Only the listed
    /// records are read, each from its file below the folder, which symbolic links may not leave. A record with another
    /// URL or time than its row is bad.
    #[arg(long, value_name = "DIR", conflicts_with = "host")]
    pub warc_root: Option<Place>,
    /// Leave out what does not affect verdicts: other (Sitemap, Crawl-delay and the like) and lines (rules' line numbers)
    ///
    /// Several are separated by commas.
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub omit: Vec<Omitted>,
    /// Keep every capture, so that a URL can be decided by the rules that were active at its time
    ///
    /// An origin may have up to 8,192 captures. Without a time, the set answers like any other, for --at or for its
    /// newest capture. Sitemaps and the like are kept only from the capture that decides then.
    #[arg(long)]
    pub by_time: bool,
    #[command(flatten)]
    pub archives: ArchiveOptions,
}

/// A part of a set that does not affect verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Omitted {
    /// Directives other than rules, such as Sitemap and Crawl-delay
    Other,
    /// The rules' line numbers: deciding rules are shown without their lines
    Lines,
}

/// The zone option of commands that read times.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ZoneOption {
    /// The zone of times without a zone: UTC, an offset, or a name such as Europe/Berlin [default: UTC]
    ///
    /// Offsets are written as +02:00. Names come from the system's time zone database. A local time that a clock change
    /// skips or repeats is an error. WARC-Date and CDXJ times are always UTC.
    #[arg(
        long,
        value_name = "ZONE",
        value_parser = Zone::of_name,
        default_value = "UTC",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    pub timezone: Zone,
}

/// Options for reading damaged crawl archives.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct ArchiveOptions {
    /// In damaged WARC files, search for the next record if its start is unknown
    ///
    /// Without this option, such a file cannot be read to its end, and nothing in it is
    /// used. With it, the records before the damage count too. A search may find a record
    /// that a website has written into its own page, for any other site. Therefore the first
    /// record found and all later records count as untrusted in the summary.
    #[arg(long, verbatim_doc_comment)]
    pub resync: bool,
}

/// The options for questions about usage.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct UsageOptions {
    /// Add the website's preference for each use, such as train-ai [values: the uses in --vocabulary]
    ///
    /// In tables of URLs, the columns are called AGENT:train-ai and so on. The longest matching Content-Usage line and
    /// the group for the use's product token decide: allowed, disallowed, or unknown if they say nothing. For a URL that
    /// must not be fetched the use is not-applicable.
    #[arg(long, value_name = "USES", value_delimiter = ',')]
    pub usage: Vec<String>,
    /// The statements that are read: content-usage, content-signal, token, default-group or all [default:
    /// content-usage,token]
    ///
    /// A token is a product token that names a use, such as __usage_ai-training in a draft of 30 October 2026: the
    /// rules of its group permit and forbid the use. Of several statements, the most restrictive holds.
    #[arg(long, value_name = "STATEMENTS", value_delimiter = ',', value_parser = usage_sources())]
    usage_from: Vec<Sources>,
    /// The uses, and their names in robots.txt files: aipref-08, aipref-07, legacy, any, or a file [default: aipref-08]
    ///
    /// Each line in a file is "use = labels | signals | tokens": its labels in Content-Usage and in
    /// Content-Signal lines, and the product tokens that name it. With any, each label is a use.
    #[arg(long, value_name = "NAME|FILE")]
    vocabulary: Option<String>,
}

impl UsageOptions {
    /// Returns the names of the uses.
    pub fn names(&self) -> Vec<&str> {
        self.usage.iter().map(|name| name.trim()).collect()
    }

    /// Refuses options that have no effect without `asked`.
    ///
    /// # Errors
    /// Returns an error if such an option is given.
    pub fn refuse_without(&self, asked: &str) -> Result<()> {
        let options = [("--usage-from", !self.usage_from.is_empty()), ("--vocabulary", self.vocabulary.is_some())];
        match options.into_iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(Failure::new(format!("{option}: requires {asked}"))),
            None => Ok(()),
        }
    }

    /// Returns the statements to read.
    pub fn sources(&self) -> Sources {
        self.usage_from.iter().copied().reduce(Sources::and).unwrap_or_default()
    }

    /// Returns the uses with these names, which come from an option.
    ///
    /// # Errors
    /// Returns an error if the vocabulary lacks one of them.
    pub fn uses(&self, vocabulary: &Vocabulary, option: &str, names: &[&str]) -> Result<Uses> {
        vocabulary.uses(names, self.sources()).map_err(|error| Failure::new(format!("{option}: {error}")))
    }

    /// Returns the vocabulary of `--vocabulary`.
    ///
    /// # Errors
    /// Returns an error if it is neither a known name nor a valid file.
    pub fn vocabulary(&self) -> Result<Vocabulary> {
        let Some(name) = &self.vocabulary else { return Ok(Vocabulary::default()) };
        Vocabulary::open(name).map_err(|error| Failure::at(&**name, error))
    }
}

/// The options for one verdict about a fetch and a use, and for verdicts that the rules leave open.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct PurposeOptions {
    /// Decide for a fetch and this use: allow only if both are allowed; `classify` adds a column with that verdict
    ///
    /// The verdict for a use that is unknown has no default: --treat unknown-usage=allow, =disallow or =unknown.
    #[arg(long, value_name = "USE")]
    purpose: Option<String>,
    /// The verdict for unknown, invalid or unknown-usage, such as unknown=allow,invalid=disallow
    ///
    /// The verdict unknown means that SET has no robots.txt for a URL's origin, or that a row names no crawler; invalid
    /// means a text that is not an http, https or ftp URL; unknown-usage means a use without a statement. Replaced
    /// verdicts are counted separately, and the reason column still gives the reason.
    #[arg(long, value_name = "WHAT=VERDICT", value_delimiter = ',', value_parser = Treatment::parse)]
    treat: Vec<Treatment>,
}

/// What `--treat` replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TreatedAnswer {
    Unknown,
    Invalid,
    UnknownUsage,
}

/// A verdict that replaces what the rules leave open.
#[derive(Clone, Copy, Debug)]
struct Treatment {
    what: TreatedAnswer,
    verdict: Verdict,
}

impl Treatment {
    /// Parses a text such as `unknown=allow`.
    fn parse(text: &str) -> std::result::Result<Treatment, String> {
        let expected = "expected unknown, invalid or unknown-usage, then = and allow or disallow";
        let (what, verdict) = text.split_once('=').ok_or(expected)?;
        let what = match what {
            "unknown" => TreatedAnswer::Unknown,
            "invalid" => TreatedAnswer::Invalid,
            "unknown-usage" => TreatedAnswer::UnknownUsage,
            _ => return Err(expected.into()),
        };
        let verdict = match verdict {
            "allow" => Verdict::Allow,
            "disallow" => Verdict::Disallow,
            "unknown" if what == TreatedAnswer::UnknownUsage => Verdict::Unknown,
            _ => return Err(expected.into()),
        };
        Ok(Treatment { what, verdict })
    }
}

impl PurposeOptions {
    /// Returns the use and the meaning of unknown uses, if they are given.
    ///
    /// # Errors
    /// Returns an error if only one of them is given, or if `--treat` says the same thing twice.
    pub fn given(&self) -> Result<Option<(&str, UnknownUsage)>> {
        let unknown = self.treated(TreatedAnswer::UnknownUsage)?;
        match (self.purpose.as_deref(), unknown) {
            (Some(purpose), Some(Verdict::Allow)) => Ok(Some((purpose.trim(), UnknownUsage::Allow))),
            (Some(purpose), Some(Verdict::Disallow)) => Ok(Some((purpose.trim(), UnknownUsage::Disallow))),
            (Some(purpose), Some(_)) => Ok(Some((purpose.trim(), UnknownUsage::Unknown))),
            (Some(_), None) => Err(Failure::new(
                "--purpose: requires --treat unknown-usage=VERDICT, the verdict for a use without a statement: allow, disallow or \
                 unknown",
            )),
            (None, Some(_)) => Err(Failure::new("--treat unknown-usage: requires --purpose")),
            (None, None) => Ok(None),
        }
    }

    /// Returns the verdict to use for `unknown`, if it is given.
    ///
    /// # Errors
    /// Returns an error if it is given twice.
    pub fn unknown(&self) -> Result<Option<Verdict>> {
        self.treated(TreatedAnswer::Unknown)
    }

    /// Returns the verdict to use for `invalid`, if it is given.
    ///
    /// # Errors
    /// Returns an error if it is given twice.
    pub fn invalid(&self) -> Result<Option<Verdict>> {
        self.treated(TreatedAnswer::Invalid)
    }

    fn treated(&self, what: TreatedAnswer) -> Result<Option<Verdict>> {
        let mut verdicts = self.treat.iter().filter(|treatment| treatment.what == what).map(|given| given.verdict);
        match (verdicts.next(), verdicts.next()) {
            (verdict, None) => Ok(verdict),
            (_, Some(_)) => Err(Failure::new("--treat: gives two verdicts for the same thing")),
        }
    }
}

/// The options for the statements that arrive with pages.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct RightsOptions {
    /// Combine robots.txt with pages' own statements: all, aipref, robots, or a file
    ///
    /// A profile names the channels that count, and the use that each token means: robots and signal are lines in
    /// robots.txt; content-usage, x-robots-tag and tdm-header are response headers; meta-robots and tdm-meta are
    /// <meta> elements in the first 64 KiB of a page; tdm-file is the website's tdmrep.json in a file given with
    /// --rights-from. The most restrictive statement holds. Each line in a file is "channels token = uses".
    #[arg(long, value_name = "PROFILE")]
    pub rights: Option<String>,
    /// Take websites' tdmrep.json, and the statements about pages in WET files, from this WARC or WAT file; repeatable
    ///
    /// The responses for /.well-known/tdmrep.json in WARC files apply to all pages of their website. They are read
    /// first, so FILE may also be the input. Pages in WET files are joined by the ID of the response's record, or else
    /// by URL and date. A WET page without such a record has unavailable rights, and so has every WET page without this
    /// option.
    #[arg(long, value_name = "FILE", requires = "rights")]
    rights_from: Vec<Place>,
}

impl RightsOptions {
    /// Returns the question of `--rights` about these uses, and the purpose as the last one. Without `usage` and a
    /// purpose, the question is about all uses of the profile.
    ///
    /// # Errors
    /// Returns an error if the profile is neither a known name nor a valid file, or lacks one of the uses.
    pub fn query(&self, usage: &[&str], purpose: Option<&str>) -> Result<RightsQuery> {
        let name = self.rights.as_deref().unwrap_or_default();
        let profile = RightsProfile::open(name).map_err(|error| Failure::at(name, error))?;
        let mut names: Vec<&str> = if usage.is_empty() { profile.categories().collect() } else { usage.to_vec() };
        if let Some((at, name)) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
            return Err(Failure::new(format!("--usage {name}: is given twice, the second time as use {}", at + 1)));
        }
        for (option, asked) in [("--usage", usage), ("--purpose", purpose.as_slice())] {
            profile.query(asked).map_err(|error| Failure::new(format!("{option}: {error}")))?;
        }
        names.extend(purpose);
        profile.query(names).map_err(Failure::new)
    }

    /// Reads the files of `--rights-from`.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, is damaged, or has no responses.
    pub fn joined(&self, names: &CrawlerNames) -> Result<JoinedPages> {
        let mut joined = JoinedPages::default();
        for path in &self.rights_from {
            joined.add_file(path, names)?;
        }
        Ok(joined)
    }
}

/// The options that restrict questions about all URLs to some of them.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct AssumptionOptions {
    /// Ask only about URLs whose path matches this pattern, such as '/shop/*'; can be repeated
    ///
    /// The pattern is written as in a rule: * matches any text, and a final $ the end. A URL
    /// that matches one of several patterns counts.
    #[arg(long, value_name = "PATTERN", verbatim_doc_comment)]
    pub only: Vec<String>,
    /// Ask only about URLs like those in this sitemap or URL list; - is standard input
    ///
    /// The paths become at most 128 patterns, such as /product/*/reviews$, and every listed
    /// URL matches one of them.
    #[arg(long, value_name = "FILE", verbatim_doc_comment, conflicts_with = "only")]
    pub shapes: Option<Place>,
}

impl AssumptionOptions {
    /// Reads the patterns. Prints a note with the number of lines in a sitemap or list that are not URLs.
    ///
    /// # Errors
    /// Returns an error if no path can match a pattern, or if the sitemap or list is unreadable or has no URL.
    pub fn read(&self) -> Result<AssumedPaths> {
        let Some(path) = &self.shapes else {
            let patterns: Vec<Vec<u8>> = self.only.iter().map(|pattern| pattern.clone().into_bytes()).collect();
            let assumed = AssumedPaths { patterns, list: None };
            // Checks the patterns, in any form.
            assumed.assumption(NormalForm::AsWritten)?;
            return Ok(assumed);
        };
        let (shapes, skipped) = sitemap::shapes(path)?;
        if skipped > 0 {
            note(format_args!("{}: {} lines or texts are not URLs", path.display(), grouped(skipped)));
        }
        Ok(AssumedPaths { patterns: shapes.patterns(), list: Some(path.display().to_string()) })
    }
}

/// The paths that questions about all URLs are restricted to, if there are patterns.
#[derive(Default)]
pub struct AssumedPaths {
    /// The patterns, as in rules.
    pub patterns: Vec<Vec<u8>>,
    /// The sitemap or URL list that the patterns come from.
    list: Option<String>,
}

impl AssumedPaths {
    /// Returns the assumption in a normal form, if there is one.
    ///
    /// # Errors
    /// Returns an error if no path can match a pattern.
    pub fn assumption(&self, form: NormalForm) -> Result<Option<Assumption>> {
        if self.patterns.is_empty() {
            return Ok(None);
        }
        Assumption::new(&self.patterns, form).map(Some).map_err(|error| Failure::new(format!("--only: {error}")))
    }

    /// Returns the end of "equal for every URL".
    pub fn scope(&self) -> String {
        let count = self.patterns.len();
        match &self.list {
            Some(list) => format!(" like those in {} ({count} patterns)", printable(list.as_bytes())),
            None if count == 0 => String::new(),
            None => format!(" that matches {}", printable(&self.patterns.join(&b" or "[..]))),
        }
    }
}

impl SetOptions {
    /// Returns the dialect, given or default.
    pub fn dialect(&self) -> &'static Dialect {
        self.dialect.unwrap_or(dialects::DEFAULT)
    }

    /// Returns the fetch profile: the given one, or the dialect's.
    pub fn profile(&self) -> &'static Profile {
        self.profile.unwrap_or_else(|| Profile::of_dialect(self.dialect()))
    }

    /// Returns whether any option was given.
    pub fn are_given(&self) -> bool {
        self.dialect.is_some() || self.profile.is_some() || self.host.is_some()
    }

    /// Returns these options with the defaults of all others.
    pub fn with_defaults(&self) -> CompileOptions {
        CompileOptions { set: self.clone(), ..CompileOptions::default() }
    }
}

impl CompileOptions {
    /// Returns the read options. `skip_unreadable` is for a run that goes on after failed inputs.
    pub fn reading(&self, skip_unreadable: bool) -> ReadOptions {
        ReadOptions {
            schemes: self.schemes.clone(),
            host: self.set.host.clone(),
            timezone: self.zone.timezone.clone(),
            resync: self.archives.resync,
            skip_unreadable,
            warc_root: self.warc_root.clone(),
        }
    }

    /// Returns the set's time, if it was given.
    ///
    /// # Errors
    /// Returns an error if the time is not an instant in the given zone.
    pub fn at(&self) -> Result<Option<Time>> {
        let time = self.at.map(|at| at.in_zone(&self.zone.timezone)).transpose();
        time.map_err(|error| Failure::new(format!("--at: {error}")))
    }

    /// Returns whether the set lacks this part.
    pub fn omits(&self, part: Omitted) -> bool {
        self.omit.contains(&part)
    }
}

/// Returns a parser for dialect names.
pub fn dialects() -> impl TypedValueParser<Value = &'static Dialect> {
    PossibleValuesParser::new(dialects::ALL.map(Dialect::as_str))
        .try_map(|name| Dialect::from_name(&name).ok_or("no such dialect"))
}

/// Returns a parser for fetch profile names.
pub fn profiles() -> impl TypedValueParser<Value = &'static Profile> {
    PossibleValuesParser::new(capture::PROFILES.map(Profile::as_str))
        .try_map(|name| Profile::from_name(&name).ok_or("no such profile"))
}

/// A value of an option: its name, the value, and a help text.
type Choice<T> = (&'static str, T, &'static str);

/// The formats of URL tables.
const TABLE_FORMATS: [(&str, tables::Format); 12] = [
    ("list", tables::Format::List),
    ("tsv", tables::Format::Tsv),
    ("csv", tables::Format::Csv),
    ("jsonl", tables::Format::Jsonl),
    (NDJSON, tables::Format::Jsonl),
    ("cdx", tables::Format::Cdx),
    ("cdxj", tables::Format::Cdxj),
    ("log", tables::Format::Log),
    ("json-log", tables::Format::JsonLog),
    ("w3c", tables::Format::W3cLog),
    ("parquet", tables::Format::Parquet),
    ("arrow", tables::Format::Arrow),
];

/// The formats of answers.
const ANSWER_FORMATS: [Choice<AnswerFormat>; 6] = [
    ("tsv", AnswerFormat::Tsv, "Cells separated by tabs"),
    ("csv", AnswerFormat::Csv, "Cells separated by commas, with quotes where needed (RFC 4180)"),
    ("jsonl", AnswerFormat::Jsonl, "A JSON object on each line"),
    (
        "parquet",
        AnswerFormat::Parquet,
        "A Parquet file with texts, numbers, times and lists, and nulls for missing values",
    ),
    ("arrow", AnswerFormat::Arrow, "An Arrow IPC file (Feather version 2), with columns as in Parquet"),
    ("arrow-stream", AnswerFormat::ArrowStream, "An Arrow IPC stream, with columns as in Parquet"),
];

/// The columns of answers.
const COLUMNS: [Choice<ColumnChoice>; 13] = [
    ("url", ColumnChoice::One(Column::Url), "The URL as given, with %XX for characters that a terminal interprets"),
    ("verdict", ColumnChoice::One(Column::Verdict), "allow, disallow, unknown or invalid"),
    (
        "line",
        ColumnChoice::One(Column::Line),
        "The deciding rule's line; 0 if no rule decides, or the set has no line numbers",
    ),
    ("rule", ColumnChoice::One(Column::Rule), "The deciding rule; empty if no rule decides"),
    ("group", ColumnChoice::One(Column::Group), "Whether a group names the crawler: named, default or none"),
    (
        "reason",
        ColumnChoice::One(Column::Reason),
        "The reason: \"rule\", \"no rule matches\", or the fetch outcome; with --scope also the deciding origin",
    ),
    (
        "agent",
        ColumnChoice::One(Column::Agent),
        "The crawler; with a column as --agent the row's own, empty if the row names none",
    ),
    (
        "ruleset",
        ColumnChoice::One(Column::Ruleset),
        "The deciding ruleset's number, as `inspect` shows it; empty if there is none",
    ),
    (
        "capture_time",
        ColumnChoice::One(Column::CaptureTime),
        "The deciding capture's fetch time in UTC; empty if unknown",
    ),
    (
        "capture",
        ColumnChoice::One(Column::Capture),
        "The digest of the deciding capture's body, or else its status: xxh3-64:HEX or status:404; empty if unknown",
    ),
    (
        "mask",
        ColumnChoice::One(Column::Mask),
        "The agents refused the fetch or --purpose, as bits: 1 for the first, 2, 4 ..., at most 64",
    ),
    (
        "refused",
        ColumnChoice::One(Column::Refused),
        "The names of these agents joined by ; or as a list in JSON Lines, Parquet and Arrow",
    ),
    (
        "any-of",
        ColumnChoice::AnyOf,
        "The last column: one verdict for all agents, disallow if any of them is disallowed",
    ),
];

/// A column that a user can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnChoice {
    /// A column of each row or agent.
    One(Column),
    /// One verdict for all agents.
    AnyOf,
}

/// The statements about uses.
const USAGE_SOURCES: [Choice<Sources>; 5] = [
    ("content-usage", Sources::USAGE, "Content-Usage lines"),
    ("content-signal", Sources::SIGNALS, "Content-Signal lines"),
    ("token", Sources::TOKENS, "Groups whose product token names a use"),
    ("default-group", Sources::DEFAULT_GROUP, "Those, and the groups for * where no group names the token"),
    ("all", Sources::ALL, "Lines of both kinds, and groups for tokens"),
];

/// The origins that may decide a URL.
const SCOPES: [Choice<Scope>; 4] = [
    ("origin", Scope::Origin, "The URL's own origin (RFC 9309)"),
    ("scheme", Scope::Scheme, "Otherwise the same host with the other one of http and https"),
    ("www", Scope::Www, "Otherwise also the host with or without www."),
    ("domain", Scope::Domain, "Otherwise also the registered domain, by the Public Suffix List, with or without www."),
];

/// Another name for `jsonl`.
const NDJSON: &str = "ndjson";

/// Returns a parser for an option with these values.
fn choices<T: Copy + Send + Sync + 'static>(values: &'static [Choice<T>]) -> impl TypedValueParser<Value = T> {
    let named = |&(name, _, help): &Choice<T>| {
        let value = PossibleValue::new(name).help(help);
        if name == "jsonl" { value.alias(NDJSON) } else { value }
    };
    let find = |name: String| {
        let name = if name == NDJSON { "jsonl" } else { &name };
        values.iter().find(|(known, ..)| *known == name).map(|&(_, value, _)| value)
    };
    PossibleValuesParser::new(values.iter().map(named)).try_map(move |name| find(name).ok_or("no such value"))
}

/// Returns the format of a URL table with this name.
pub fn table_format(name: &str) -> Option<tables::Format> {
    TABLE_FORMATS.iter().find(|(known, _)| *known == name).map(|&(_, format)| format)
}

/// Returns a parser for the format of answers.
pub fn answer_formats() -> impl TypedValueParser<Value = AnswerFormat> {
    choices(&ANSWER_FORMATS)
}

/// Returns a parser for columns.
pub fn columns() -> impl TypedValueParser<Value = ColumnChoice> {
    choices(&COLUMNS)
}

/// Returns a parser for the lines that state preferences.
fn usage_sources() -> impl TypedValueParser<Value = Sources> {
    choices(&USAGE_SOURCES)
}

/// Returns a parser for scopes.
pub fn scopes() -> impl TypedValueParser<Value = Scope> {
    choices(&SCOPES)
}

/// Returns a parser for strategy names.
pub fn strategies() -> impl TypedValueParser<Value = Strategy> {
    let find = |name: String| Strategy::ALL.into_iter().find(|&(known, _)| known == name);
    PossibleValuesParser::new(Strategy::ALL.map(|(name, _)| name))
        .try_map(move |name| find(name).map(|(_, strategy)| strategy).ok_or("no such strategy"))
}

/// Returns a parser for scheme names.
pub fn schemes() -> impl TypedValueParser<Value = Scheme> {
    PossibleValuesParser::new(Scheme::ALL.map(Scheme::as_str))
        .try_map(|name| Scheme::from_name(name.as_bytes()).ok_or("no such scheme"))
}
