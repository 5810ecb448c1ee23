//! Access logs in JSON: an object on each line, as servers and delivery networks write them.
//!
//! The known programs are data: see [`SHAPES`]. The first lines with a request determine the shape of the whole log and
//! must agree. Requests become URLs by the rules of the text formats ([`super`]). Clients control some values, but never
//! the names of the fields that count. A field that appears twice makes its line invalid.

use bumpalo::Bump;
use serde_json::Value;

use super::escapes::Escapes;
use super::shape::MAX_FIRST_LINES;
use super::{LogCell, Origin, Request, joined, plain_target, scheme_named, target_of};
use crate::shown::{listed, shown};
use crate::tables::json::{Fields, steps};
use crate::tables::log::shape::Site;
use crate::tables::{Cells, ColumnOption, Fault};

/// The path to a field.
type FieldPath = &'static [&'static str];

/// How a program describes a request's target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// A path with its query, or a whole URL.
    Uri(FieldPath),
    /// A request line: `GET /path HTTP/1.1`.
    Line(FieldPath),
}

/// Who chooses a request's host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chosen {
    /// The operator: the server's own name, or a name that its configuration has admitted. It counts before `--host`.
    ByServer,
    /// The client, in its request. It counts unless there is `--host`, because a server may answer for any name.
    ByClient,
}

/// The fields that a program writes. If a field has alternatives, the first one in the log is used.
#[derive(Debug)]
pub(super) struct ProgramFields {
    /// The program, for messages.
    name: &'static str,
    scheme: Option<FieldPath>,
    /// The request's host, and who chooses it. Empty if the target is a whole URL.
    hosts: &'static [(FieldPath, Chosen)],
    targets: &'static [Target],
    /// The query, if the target lacks it. `-` means none.
    query: Option<FieldPath>,
    /// The time, or a date and a time of day in UTC.
    times: &'static [&'static [FieldPath]],
    user_agent: FieldPath,
    status: FieldPath,
    /// The address that the request came from, as the server saw it.
    client: FieldPath,
    escapes: Escapes,
}

/// A shape without optional fields.
const PLAIN: ProgramFields = ProgramFields {
    name: "",
    scheme: None,
    hosts: &[],
    targets: &[],
    query: None,
    times: &[],
    user_agent: &[],
    status: &[],
    client: &[],
    escapes: Escapes::None,
};

// docs.aws.amazon.com, CloudFront, "Standard logging reference". x-host-header is the client's Host header, but
// CloudFront routes by it, and accepts only a distribution's names. cs(Host) is the distribution's own name. It is not
// the site's name if the distribution has other names.
pub(super) const CLOUDFRONT: ProgramFields = ProgramFields {
    name: "Amazon CloudFront",
    scheme: Some(&["cs-protocol"]),
    hosts: &[(&["x-host-header"], Chosen::ByServer), (&["cs(Host)"], Chosen::ByClient)],
    targets: &[Target::Uri(&["cs-uri-stem"])],
    query: Some(&["cs-uri-query"]),
    times: &[&[&["date"], &["time"]]],
    user_agent: &["cs(User-Agent)"],
    status: &["sc-status"],
    client: &["c-ip"],
    escapes: Escapes::Percent,
};

// learn.microsoft.com, "W3C Logging": text with a `#Fields:` line. cs-host is the request's Host header as it was sent,
// so it is not used by itself. cs-uri-stem is decoded.
pub(super) const IIS: ProgramFields = ProgramFields {
    name: "IIS",
    hosts: &[(&["cs-host"], Chosen::ByClient)],
    targets: &[Target::Uri(&["cs-uri-stem"])],
    query: Some(&["cs-uri-query"]),
    times: &[&[&["date"], &["time"]]],
    user_agent: &["cs(User-Agent)"],
    status: &["sc-status"],
    client: &["c-ip"],
    escapes: Escapes::Plus,
    ..PLAIN
};

/// The known programs, the most specific ones first.
const SHAPES: [ProgramFields; 8] = [
    // caddyserver.com/docs/caddyfile/directives/log: the encoder `json`, with the default `ts` in seconds. The host is
    // the request's Host header. A site without a name, such as `:80`, answers for any host.
    ProgramFields {
        name: "Caddy",
        hosts: &[(&["request", "host"], Chosen::ByClient)],
        targets: &[Target::Uri(&["request", "uri"])],
        times: &[&[&["ts"]]],
        user_agent: &["request", "headers", "User-Agent", "0"],
        status: &["status"],
        client: &["request", "remote_ip"],
        ..PLAIN
    },
    // developers.cloudflare.com/logs/reference/log-fields/zone/http_requests. A zone's log has only requests for the
    // zone's own names, because Cloudflare routes by the host.
    ProgramFields {
        name: "Cloudflare Logpush",
        scheme: Some(&["ClientRequestScheme"]),
        hosts: &[(&["ClientRequestHost"], Chosen::ByServer)],
        targets: &[Target::Uri(&["ClientRequestURI"])],
        times: &[&[&["EdgeStartTimestamp"]]],
        user_agent: &["ClientRequestUserAgent"],
        status: &["EdgeResponseStatus"],
        client: &["ClientIP"],
        ..PLAIN
    },
    CLOUDFRONT,
    // cloud.google.com/logging/docs/reference/v2/rest/v2/LogEntry#HttpRequest. The URL has the request's host.
    ProgramFields {
        name: "Google Cloud Logging",
        targets: &[Target::Uri(&["httpRequest", "requestUrl"])],
        times: &[&[&["timestamp"]]],
        user_agent: &["httpRequest", "userAgent"],
        status: &["httpRequest", "status"],
        client: &["httpRequest", "remoteIp"],
        ..PLAIN
    },
    // learn.microsoft.com, "Azure Front Door access log". The URL has the request's host.
    ProgramFields {
        name: "Azure Front Door",
        targets: &[Target::Uri(&["properties", "requestUri"])],
        times: &[&[&["time"]]],
        user_agent: &["properties", "userAgent"],
        status: &["properties", "httpStatusCode"],
        client: &["properties", "socketIp"],
        ..PLAIN
    },
    // docs.aws.amazon.com, Athena, "Query Application Load Balancer logs": the columns of its table. The URL has the
    // request's host.
    ProgramFields {
        name: "an AWS load balancer",
        targets: &[Target::Uri(&["request_url"])],
        times: &[&[&["time"]]],
        user_agent: &["user_agent"],
        status: &["elb_status_code"],
        client: &["client_ip"],
        ..PLAIN
    },
    // doc.traefik.io/traefik/observe/logs-and-access-logs: the format `json`. RequestHost is the request's Host header.
    // A router without a rule for hosts answers for any host, and requests without a router are logged too.
    ProgramFields {
        name: "Traefik",
        scheme: Some(&["RequestScheme"]),
        hosts: &[(&["RequestHost"], Chosen::ByClient)],
        targets: &[Target::Uri(&["RequestPath"])],
        times: &[&[&["StartUTC"]], &[&["time"]]],
        user_agent: &["request_User-Agent"],
        status: &["DownstreamStatus"],
        client: &["ClientHost"],
        ..PLAIN
    },
    // nginx.org/en/docs/http/ngx_http_log_module.html: `escape=json`, with fields named after their variables.
    // $uri is decoded and rewritten, so it is not the requested path. $server_name is in the configuration. $host is the
    // request's host, which nginx has checked for its letters only. $http_host is the header as it was sent, so it is not
    // used.
    ProgramFields {
        name: "nginx",
        scheme: Some(&["scheme"]),
        hosts: &[(&["server_name"], Chosen::ByServer), (&["host"], Chosen::ByClient)],
        targets: &[Target::Uri(&["request_uri"]), Target::Line(&["request"])],
        times: &[&[&["time_iso8601"]], &[&["time_local"]], &[&["msec"]]],
        user_agent: &["http_user_agent"],
        status: &["status"],
        client: &["remote_addr"],
        ..PLAIN
    },
];

/// A known program, and which of its alternative fields a log has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JsonShape {
    known: &'static ProgramFields,
    host: Option<(FieldPath, Chosen)>,
    target: Target,
    time: Option<&'static [FieldPath]>,
}

/// Cells, and the path to the field of each.
pub(super) type FieldCells = Vec<(usize, Vec<String>)>;

/// The cells of the request: scheme, host, target and query.
pub(super) const REQUEST_CELLS: usize = 4;

/// The cell for the time of day, if it has its own field. It follows the other wanted cells.
const CLOCK: usize = REQUEST_CELLS + super::super::MAX_CELLS - 1;

/// The locations of wanted cells in an object of a log.
#[derive(Debug)]
pub(crate) struct JsonLog {
    origin: Origin,
    is_line: bool,
    /// The wanted cell that is a date, with the time of day in [`CLOCK`].
    dated: Option<usize>,
    /// The wanted cell with the user agent.
    agent: Option<usize>,
    escapes: Escapes,
}

impl JsonShape {
    /// Returns a log's shape according to its first lines with a request. `None` if there is none.
    ///
    /// # Errors
    /// Returns a message if the lines have different shapes.
    pub fn of_lines<'l>(lines: impl Iterator<Item = &'l [u8]>) -> Result<Option<JsonShape>, String> {
        let mut shapes = lines.take(MAX_FIRST_LINES).filter_map(JsonShape::of);
        let Some(first) = shapes.next() else { return Ok(None) };
        match shapes.find(|shape| shape.known.name != first.known.name || shape.host != first.host) {
            Some(other) => Err(format!(
                "its first requests have different fields: some have {}, and others {}; name the fields with \
                 --input-format jsonl and --url 'https://{{HOST}}{{PATH}}'",
                first.described(),
                other.described()
            )),
            None => Ok(Some(first)),
        }
    }

    /// Returns the program and the host's field, for messages.
    fn described(&self) -> String {
        let host = self.host.map_or("no host".to_owned(), |(path, _)| format!("the host in {}", path.join(".")));
        format!("the fields of {} with {host}", self.known.name)
    }

    /// Returns a log's shape according to one line. `None` if it has a field `url`, or no known program could have
    /// written it.
    fn of(line: &[u8]) -> Option<JsonShape> {
        let object: Value = serde_json::from_slice(line).ok()?;
        let text = |path: FieldPath| field(&object, path);
        let host = |known: &'static ProgramFields| known.hosts.iter().copied().find(|(path, _)| text(path).is_some());
        object.get("url").is_none().then_some(())?;
        SHAPES.iter().find_map(|known| {
            let target = known.targets.iter().copied().find(|target| match target {
                Target::Uri(path) => text(path).is_some(),
                Target::Line(path) => text(path)
                    .is_some_and(|request| request.contains(" HTTP/") && target_of(request.as_bytes()).is_ok()),
            })?;
            let host = host(known);
            // A name such as "request" alone does not identify a program.
            let is_clear = known.hosts.is_empty() || host.is_some() || text(known.user_agent).is_some();
            let time = known.times.iter().copied().find(|time| time.iter().all(|path| field_exists(&object, path)));
            is_clear.then_some(JsonShape { known, host, target, time })
        })
    }

    /// Returns the fields to read, the rules for joining them, and the names of the wanted columns.
    ///
    /// # Errors
    /// Returns a message if the log lacks a wanted column, or if neither the log nor the user gives a host.
    pub fn columns(&self, site: &Site, wanted: &[ColumnOption]) -> Result<(Fields, JsonLog, Vec<String>), String> {
        let (cells, log, names) = self.cells(site, wanted)?;
        Ok((Fields::of_cells(cells), log, names))
    }

    /// Returns the shape of a known program's log. `has` returns whether the log has a field with a name, and
    /// `has_named_host` says that the user names the host's field.
    pub(super) fn of_names(
        known: &'static ProgramFields,
        has_named_host: bool,
        has: impl Fn(&str) -> bool,
    ) -> JsonShape {
        let has_all = |path: FieldPath| path.iter().all(|name| has(name));
        let host = known.hosts.iter().copied().find(|(path, _)| has_named_host || has_all(path));
        let time = known.times.iter().copied().find(|time| time.iter().all(|path| has_all(path)));
        JsonShape { known, host, target: known.targets[0], time }
    }

    /// Returns whether the log has a host.
    pub(super) fn has_host(&self) -> bool {
        self.host.is_some()
    }

    /// Returns the cells and their fields, the rules for joining them, and the names of the wanted columns.
    ///
    /// # Errors
    /// Returns the errors of [`JsonShape::columns`].
    pub(super) fn cells(
        &self,
        site: &Site,
        wanted: &[ColumnOption],
    ) -> Result<(FieldCells, JsonLog, Vec<String>), String> {
        let known = self.known;
        let is_proxy = known.hosts.is_empty();
        let host = self.host.filter(|(_, chosen)| *chosen == Chosen::ByServer || site.host.is_none());
        let host = host.map(|(path, _)| path);
        if !is_proxy && host.is_none() && site.host.is_none() {
            return Err(format!(
                "no hosts in this access log of {}: give its host with --host; a header such as http_host is the client's \
                 own text, which counts only if it is named, with --input-format jsonl and --url 'https://{{HOST}}{{PATH}}', \
                 or in --input-format",
                known.name
            ));
        }
        let (target, is_line) = match self.target {
            Target::Uri(path) => (path, false),
            Target::Line(path) => (path, true),
        };
        let owned = |path: FieldPath| path.iter().map(|&step| step.to_owned()).collect::<Vec<_>>();
        let mut cells: FieldCells = [known.scheme, host, Some(target), known.query]
            .into_iter()
            .enumerate()
            .filter_map(|(cell, path)| Some((cell, owned(path?))))
            .collect();
        let origin = Origin { default: site.start(), scheme: site.scheme, is_proxy };
        let mut log = JsonLog { origin, is_line, dated: None, agent: None, escapes: known.escapes };
        let mut names = vec![format!("the requests, as {} writes them", known.name)];
        for (place, ColumnOption { option, name }) in wanted.iter().enumerate().skip(1) {
            let cell = REQUEST_CELLS + place - 1;
            let name = name.as_deref().unwrap_or_default();
            match LogCell::named(name) {
                Some(LogCell::Time) => {
                    let none =
                        || format!("{option} time: this access log has no time that is known for {}", known.name);
                    let time = self.time.ok_or_else(none)?;
                    cells.extend(time.iter().zip([cell, CLOCK]).map(|(path, cell)| (cell, owned(path))));
                    log.dated = (time.len() > 1).then_some(place);
                    names.push(LogCell::Time.describe().into());
                }
                Some(known_cell) => {
                    let path = match known_cell {
                        LogCell::Status => known.status,
                        LogCell::Client => known.client,
                        _ => known.user_agent,
                    };
                    cells.push((cell, owned(path)));
                    if known_cell == LogCell::UserAgent {
                        log.agent = Some(place);
                    }
                    names.push(known_cell.describe().into());
                }
                None => {
                    let shown = shown(name.as_bytes());
                    cells.push((cell, steps(name).map_err(|text| format!("{option} {shown}: {text}"))?));
                    names.push(format!("the field \"{shown}\""));
                }
            }
        }
        Ok((cells, log, names))
    }
}

impl JsonLog {
    /// Returns the wanted cells of a line, given its fields. A URL is allocated in `arena`.
    ///
    /// # Errors
    /// Returns the reason why the line has no URL. Its other cells are stored anyway.
    pub fn read<'b>(&self, fields: &[Option<&'b [u8]>], arena: &'b Bump, cells: &mut Cells<'b>) -> Result<(), Fault> {
        let field = |at: usize| fields.get(at).copied().flatten();
        for (place, cell) in cells.iter_mut().enumerate().skip(1) {
            *cell = field(REQUEST_CELLS + place - 1);
            if self.agent == Some(place) {
                *cell = cell.map(|text| self.escapes.agent(text, arena));
            }
            if self.dated == Some(place) {
                *cell = cell.zip(field(CLOCK)).map(|(date, clock)| joined(&[date, b"T", clock, b"Z"], arena));
            }
        }
        cells[0] = Some(self.url([field(0), field(1), field(2), field(3)], arena)?);
        Ok(())
    }

    fn url<'b>(&self, fields: [Option<&'b [u8]>; REQUEST_CELLS], arena: &'b Bump) -> Result<&'b [u8], Fault> {
        let [scheme, host, target, query] = fields;
        let target = target.ok_or(Fault::NoRequest)?;
        let target = if self.is_line { target_of(target)? } else { plain_target(target)? };
        let query = query.filter(|query| !matches!(*query, b"" | b"-"));
        let (target, query) = self.escapes.target(target, query, arena)?;
        let target = match query {
            Some(_) if memchr::memchr(b'?', target).is_some() => return Err(Fault::TwoQueries),
            Some(query) => joined(&[target, b"?", query], arena),
            None => target,
        };
        let own = scheme_named(scheme)?;
        Request { target, host, port: None, own, origin: &self.origin }.url(arena)
    }
}

/// Returns whether a line shows that JSON Lines are an access log: `true` for a request of a known program, `false` for a
/// URL, `None` for other objects.
pub(crate) fn is_log(line: &[u8]) -> Option<bool> {
    let has_url = || serde_json::from_slice::<Value>(line).is_ok_and(|object| object.get("url").is_some());
    if JsonShape::of(line).is_some() { Some(true) } else { has_url().then_some(false) }
}

/// Returns a field with text.
fn field(object: &Value, path: FieldPath) -> Option<&str> {
    at(object, path)?.as_str()
}

/// Returns whether a field has text or a number.
fn field_exists(object: &Value, path: FieldPath) -> bool {
    at(object, path).is_some_and(|value| value.is_string() || value.is_number())
}

fn at(object: &Value, path: FieldPath) -> Option<&Value> {
    path.iter().try_fold(object, |value, step| match value {
        Value::Array(values) => values.get(step.parse::<usize>().ok()?),
        value => value.get(step),
    })
}

/// Returns the message for a log that no known program could have written. `line` is its first object.
pub(crate) fn unknown(line: &[u8]) -> String {
    let names = SHAPES.map(|shape| shape.name).join(", ");
    let fields = match serde_json::from_slice::<Value>(line) {
        Ok(Value::Object(object)) => object.iter().flat_map(|(name, value)| paths_of(name, value)).collect(),
        _ => Vec::new(),
    };
    let fields = if fields.is_empty() { "none".to_owned() } else { listed(fields.iter()) };
    format!(
        "--input-format json-log: expected fields as written by {names}; the first object has the fields {fields}; \
         name them with --input-format jsonl and --url 'https://{{HOST}}{{PATH}}'"
    )
}

/// Returns a field's name, or the names of the fields in it.
fn paths_of(name: &str, value: &Value) -> Vec<String> {
    let show = |text: &str| shown(text.as_bytes());
    match value {
        Value::Object(inner) if !inner.is_empty() => {
            inner.keys().map(|key| format!("{}.{}", show(name), show(key))).collect()
        }
        _ => vec![show(name)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::MAX_RAW_CELLS;

    /// Returns the program, and the URL, time and user agent of a line.
    fn read(line: &str, site: &Site) -> (&'static str, Result<(), Fault>, [Option<String>; 3]) {
        let shape = JsonShape::of_lines([line.as_bytes()].into_iter()).unwrap().unwrap();
        let named = |name: &str| ColumnOption { option: "--x", name: Some(name.into()) };
        let wanted = [ColumnOption { option: "--url", name: None }, named("time"), named("user-agent")];
        let (fields, log, _) = shape.columns(site, &wanted).unwrap();
        let (arena, mut raw, mut cells) = (Bump::new(), [None; MAX_RAW_CELLS], Cells::default());
        assert!(fields.read(line.as_bytes(), &arena, &mut raw).is_ok());
        let found = log.read(&raw, &arena, &mut cells);
        let text = |at: usize| cells[at].map(|cell: &[u8]| String::from_utf8_lossy(cell).into_owned());
        (shape.known.name, found, [text(0), text(1), text(2)])
    }

    #[test]
    fn each_program_has_requests_times_and_agents() {
        let cases = [
            (
                "Caddy",
                r#"{"level":"info","ts":1773500966.75,"logger":"http.log.access","request":{"remote_ip":"192.0.2.7",
                "proto":"HTTP/2.0","method":"GET","host":"a.example","uri":"/x?y","headers":{"User-Agent":["bot/1"],
                "Accept":["*/*"]},"tls":{"version":772}},"status":200}"#,
                ["https://a.example/x?y", "1773500966.75", "bot/1"],
            ),
            (
                "Cloudflare Logpush",
                r#"{"ClientRequestHost":"a.example:8080","ClientRequestURI":"/x?y","ClientRequestScheme":"http",
                "ClientRequestUserAgent":"bot/1","EdgeStartTimestamp":1773500966000000000}"#,
                ["http://a.example:8080/x?y", "1773500966000000000", "bot/1"],
            ),
            (
                "Amazon CloudFront",
                r#"{"date":"2026-03-14","time":"15:09:26","cs(Host)":"d1.cloudfront.net","cs-uri-stem":"/x",
                "cs(User-Agent)":"bot/1%20(+https://a)","cs-uri-query":"y","x-host-header":"a.example","cs-protocol":"http"}"#,
                ["http://a.example/x?y", "2026-03-14T15:09:26Z", "bot/1 (+https://a)"],
            ),
            (
                "Amazon CloudFront",
                r#"{"date":"2026-03-14","time":"15:09:26","cs(Host)":"a.example","cs-uri-stem":"/x%2520y",
                "cs(User-Agent)":"100%","cs-uri-query":"-","cs-protocol":"wss"}"#,
                ["https://a.example/x%20y", "2026-03-14T15:09:26Z", "100%"],
            ),
            (
                "Google Cloud Logging",
                r#"{"httpRequest":{"requestMethod":"GET","requestUrl":"http://a.example/x?y","userAgent":"bot/1"},
                "timestamp":"2026-03-14T15:09:26.5Z"}"#,
                ["http://a.example/x?y", "2026-03-14T15:09:26.5Z", "bot/1"],
            ),
            (
                "Azure Front Door",
                r#"{"time":"2026-03-14T15:09:26Z","properties":{"requestUri":"https://a.example:443/x","userAgent":"b"}}"#,
                ["https://a.example:443/x", "2026-03-14T15:09:26Z", "b"],
            ),
            (
                "an AWS load balancer",
                r#"{"type":"h2","time":"2026-03-14T15:09:26Z","elb":"app/x","request_url":"https://a.example:443/x",
                "user_agent":"bot/1"}"#,
                ["https://a.example:443/x", "2026-03-14T15:09:26Z", "bot/1"],
            ),
            (
                "Traefik",
                r#"{"RequestHost":"a.example","RequestPath":"/x","RequestScheme":"http","StartUTC":"2026-03-14T15:09:26Z",
                "request_User-Agent":"bot/1","time":"2026-03-14T16:09:26+01:00"}"#,
                ["http://a.example/x", "2026-03-14T15:09:26Z", "bot/1"],
            ),
            (
                "nginx",
                r#"{"time_local":"14/Mar/2026:15:09:26 +0000","host":"a.example","request_uri":"/x?y","uri":"/z",
                "scheme":"http","http_user_agent":"bot/1"}"#,
                ["http://a.example/x?y", "14/Mar/2026:15:09:26 +0000", "bot/1"],
            ),
            (
                "nginx",
                r#"{"msec":"1773500966.750","server_name":"a.example","request":"GET /x HTTP/1.1","http_user_agent":""}"#,
                ["https://a.example/x", "1773500966.750", ""],
            ),
        ];
        for (name, line, expected) in cases {
            let (found_name, found, cells) = read(line, &Site::default());
            assert_eq!((found_name, found), (name, Ok(())), "{line}");
            assert_eq!(cells.each_ref().map(|cell| cell.as_deref().unwrap()), expected, "{line}");
        }
    }

    /// The address is never a header's.
    #[test]
    fn each_program_has_statuses_and_addresses() {
        let cases = [
            r#"{"ts":1,"request":{"remote_ip":"192.0.2.7","host":"a.example","uri":"/","headers":{"X-Forwarded-For":["1"]}},
            "status":403}"#,
            r#"{"ClientRequestHost":"a.example","ClientRequestURI":"/","EdgeResponseStatus":403,"OriginResponseStatus":200,
            "ClientIP":"192.0.2.7"}"#,
            r#"{"cs-uri-stem":"/","x-host-header":"a.example","sc-status":"403","c-ip":"192.0.2.7","x-forwarded-for":"1"}"#,
            r#"{"httpRequest":{"requestUrl":"http://a.example/","status":403,"remoteIp":"192.0.2.7","userAgent":"x"}}"#,
            r#"{"properties":{"requestUri":"https://a.example/","httpStatusCode":"403","socketIp":"192.0.2.7",
            "clientIp":"1","userAgent":"x"}}"#,
            r#"{"request_url":"https://a.example/","elb_status_code":403,"client_ip":"192.0.2.7","user_agent":"x"}"#,
            r#"{"RequestHost":"a.example","RequestPath":"/","DownstreamStatus":403,"OriginStatus":200,
            "ClientHost":"192.0.2.7"}"#,
            r#"{"server_name":"a.example","request_uri":"/","status":"403","remote_addr":"192.0.2.7",
            "http_x_forwarded_for":"1"}"#,
        ];
        assert_eq!(cases.len(), SHAPES.len());
        for (line, program) in cases.into_iter().zip(&SHAPES) {
            let shape = JsonShape::of_lines([line.as_bytes()].into_iter()).unwrap().unwrap();
            assert_eq!(shape.known.name, program.name, "{line}");
            let named = |name: &str| ColumnOption { option: "--x", name: Some(name.into()) };
            let wanted = [ColumnOption { option: "--url", name: None }, named("status"), named("client")];
            let (fields, log, _) = shape.columns(&Site::default(), &wanted).unwrap();
            let (arena, mut raw, mut cells) = (Bump::new(), [None; MAX_RAW_CELLS], Cells::default());
            assert!(fields.read(line.as_bytes(), &arena, &mut raw).is_ok());
            assert_eq!(log.read(&raw, &arena, &mut cells), Ok(()), "{line}");
            assert_eq!(cells[1..3], [Some(&b"403"[..]), Some(&b"192.0.2.7"[..])], "{line}");
        }
    }

    #[test]
    fn requests_follow_the_rules_of_text_logs() {
        let site = Site { host: Some("b.example".into()), scheme: None };
        let of_http = Site { scheme: Some("http"), ..site.clone() };
        let line = |host: &str, target: &str| {
            format!(r#"{{"server_name":"{host}","request_uri":"{target}","http_user_agent":"x","time_local":"t"}}"#)
        };
        for (host, target, site, expected) in [
            ("a.example:80", "/x", &site, Ok("http://a.example/x")),
            ("a.example:443", "/x", &of_http, Ok("http://a.example/x")),
            ("", "/x", &site, Ok("https://b.example/x")),
            ("_", "/x", &of_http, Ok("http://b.example/x")),
            ("a.example:443\",\"scheme\":\"http", "/x", &site, Ok("http://a.example:443/x")),
            ("-\",\"scheme\":\"http", "/x", &site, Ok("http://b.example/x")),
            ("a.example\",\"scheme\":\"https", "/x", &of_http, Ok("http://a.example/x")),
            ("a.example\",\"scheme\":\"spdy", "/x", &site, Err(Fault::NoScheme)),
            ("a b", "/x", &site, Err(Fault::NoHost)),
            ("a.example", "http://c.example/", &site, Err(Fault::OtherHost)),
            ("a.example", "http://A.example/y", &site, Ok("https://a.example/y")),
            ("_", "http://c.example/", &site, Err(Fault::OtherHost)),
            ("_", "/x", &Site::default(), Err(Fault::NoHost)),
            ("_", "http://c.example/", &Site::default(), Err(Fault::NoHost)),
            ("a.example", "*", &site, Err(Fault::NoTarget)),
            ("a.example", "", &site, Err(Fault::NoRequest)),
            ("a.example", "x", &site, Err(Fault::BrokenRequest)),
        ] {
            let (_, found, cells) = read(&line(host, target), site);
            let found = found.map(|()| cells[0].clone().unwrap());
            assert_eq!(found, expected.map(str::to_owned), "{host} {target}");
            assert_eq!(cells[1].as_deref(), Some("t"));
        }
    }

    #[test]
    fn the_users_host_precedes_the_clients() {
        let of_user = Site { host: Some("good.example".into()), scheme: None };
        let cases = [
            (r#"{"server_name":"a.example","host":"b.example","http_host":"c.example","request_uri":"/x""#, "a", "a"),
            (r#"{"http_host":"c.example","host":"b.example","request_uri":"/x""#, "b", "good"),
            (r#"{"http_host":"c.example","request_uri":"/x","http_user_agent":"x""#, "an error", "good"),
            (r#"{"request":{"host":"b.example","uri":"/x"}"#, "b", "good"),
            (r#"{"RequestHost":"b.example","RequestPath":"/x""#, "b", "good"),
            (r#"{"ClientRequestHost":"a.example","ClientRequestURI":"/x""#, "a", "a"),
            (r#"{"x-host-header":"a.example","cs(Host)":"b.example","cs-uri-stem":"/x""#, "a", "a"),
            (r#"{"cs(Host)":"a.example","cs-uri-stem":"/x""#, "a", "good"),
            (r#"{"httpRequest":{"requestUrl":"https://b.example/x"}"#, "b", "invalid"),
            (r#"{"properties":{"requestUri":"https://b.example/x"}"#, "b", "invalid"),
            (r#"{"request_url":"https://b.example/x","user_agent":"x""#, "b", "invalid"),
            (r#"{"request_url":"https://good.example/x","user_agent":"x""#, "good", "good"),
        ];
        for (start, alone, with_host) in cases {
            let time = r#","ts":1,"date":"d","time":"t","timestamp":"t","time_local":"t","StartUTC":"t""#;
            let line = format!("{start}{time},\"EdgeStartTimestamp\":1}}");
            for (site, expected) in [(&Site::default(), alone), (&of_user, with_host)] {
                let shape = JsonShape::of_lines([line.as_bytes()].into_iter()).unwrap().unwrap();
                let wanted = [ColumnOption { option: "--url", name: None }];
                let found = match shape.columns(site, &wanted) {
                    Err(message) => {
                        assert!(message.contains("--host") && message.contains("--input-format"), "{message}");
                        "an error".to_owned()
                    }
                    Ok(_) => match read(&line, site) {
                        (_, Err(fault), _) => {
                            assert_eq!(fault, Fault::OtherHost, "{line}");
                            "invalid".to_owned()
                        }
                        (_, Ok(()), cells) => cells[0].clone().unwrap(),
                    },
                };
                let url = format!("https://{expected}.example/x");
                assert!(found == url || found == expected, "{line}: {found}, expected {expected}");
            }
        }
    }

    #[test]
    fn first_requests_must_agree_and_fields_must_be_unique() {
        let of = |lines: &[&str]| JsonShape::of_lines(lines.iter().map(|line| line.as_bytes()));
        let host = r#"{"host":"a.example","request_uri":"/x"}"#;
        let forged = r#"{"host":"a.example","request_uri":"/x","server_name":"b.example"}"#;
        assert_eq!(of(&["{}", "x", host, host]).unwrap().unwrap().known.name, "nginx");
        assert!(of(&["{}", "x"]).unwrap().is_none());
        let message = of(&[host, forged]).unwrap_err();
        assert!(message.contains("some have the fields of nginx with the host in host, and others"), "{message}");
        let start = [host; MAX_FIRST_LINES];
        assert!(of(&[&start[1..], &[forged]].concat()).is_err());
        assert!(of(&[&start[..], &[forged]].concat()).is_ok());

        let shape = of(&[host]).unwrap().unwrap();
        let wanted = [ColumnOption { option: "--url", name: None }];
        let (fields, ..) = shape.columns(&Site::default(), &wanted).unwrap();
        for (line, expected) in [
            (host, None),
            (r#"{"host":"a.example","request_uri":"/x","host":"b.example"}"#, Some(Fault::TwoFields)),
            (r#"{"host":null,"request_uri":"/x","host":"b.example"}"#, Some(Fault::TwoFields)),
            (r#"{"host":"a.example","request_uri":"/x","ua":"1","ua":"2"}"#, None),
            (r#"{"host":"a.example","request_uri":"/x""#, Some(Fault::NotJson)),
        ] {
            let (arena, mut raw) = (Bump::new(), [None; MAX_RAW_CELLS]);
            assert_eq!(fields.read(line.as_bytes(), &arena, &mut raw).err(), expected, "{line}");
        }
    }

    #[test]
    fn other_objects_have_no_shape() {
        for line in [
            "",
            "{",
            "[]",
            "{}",
            r#"{"url":"https://a.example/","host":"a.example","request_uri":"/x"}"#,
            r#"{"host":"a.example","uri":"/x"}"#,
            r#"{"request":"make tea","host":"a.example"}"#,
            r#"{"request":{"host":"a.example"}}"#,
            r#"{"ClientRequestHost":"a.example"}"#,
            r#"{"request_uri":"/x"}"#,
        ] {
            assert!(JsonShape::of(line.as_bytes()).is_none(), "{line}");
        }
        let message = unknown(br#"{"vhost":"a.example","http":{"target":"/x","empty":{}},"none":{}}"#);
        assert!(message.contains("has the fields http.empty, http.target, none, vhost;"), "{message}");
    }
}
