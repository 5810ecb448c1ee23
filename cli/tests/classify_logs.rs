//! `reptile classify` over access logs and CDXJ: format detection, the URL of each line, and damaged lines.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;

use support::{Folder, Run, gz};

/// Returns a line in the common log format, without virtual host.
fn line(request: &str) -> String {
    format!("192.0.2.7 - - [14/Mar/2026:15:09:26 +0000] \"{request}\" 200 512")
}

fn combined(request: &str, agent: &str) -> String {
    format!("{} \"-\" \"{agent}\"", line(request))
}

fn classify(folder: &Folder, name: &str, options: &[&str]) -> Run {
    folder.run(&[&["classify", "set", name, "--agent", "bot-a"], options].concat())
}

#[test]
fn logs_and_cdxj_are_detected_or_chosen_by_option() {
    let folder = Folder::with_set();
    let private = "GET /private HTTP/1.1";
    let first = "an access log, URLs in the requests, virtual hosts at the start of the lines";
    let with_hosts = |hosts: [&str; 2]| {
        let requests = [private, "GET / HTTP/1.0"].map(|request| combined(request, "x"));
        [0, 1].map(|at| format!("{} {}", hosts[at], requests[at]))
    };
    let both = ["http://a.example/private", "http://b.example/"];
    let cases: [(&[&str], [String; 2], &str); 9] = [
        (&[], with_hosts(["a.example:80", "b.example:80"]), first),
        (&["--scheme", "http"], with_hosts(["a.example:443", "b.example:443"]), first),
        (
            &["--input-format", "vhost_combined", "--host", "http://b.example"],
            with_hosts(["a.example:80", "-:80"]),
            first,
        ),
        (
            &["--input-format", r#"%V %h %l %u %t "%r""#, "--scheme", "http"],
            [("a.example", private), ("b.example", "GET / HTTP/1.1")].map(|(host, request)| {
                let line = line(request);
                format!("{host} {}", line.strip_suffix(" 200 512").unwrap())
            }),
            first,
        ),
        (
            &["--input-format", r#"$scheme "$request" $host"#],
            [("a.example", private), ("b.example", "GET / HTTP/1.1")]
                .map(|(host, request)| format!("http \"{request}\" {host}")),
            "an access log, URLs in the requests, hosts in $host",
        ),
        // A proxy's log.
        (
            &["--input-format", "log"],
            both.map(|url| combined(&format!("GET {url} HTTP/1.1"), "x")),
            "an access log, URLs in the requests, which have whole URLs",
        ),
        (
            &[],
            both.map(|url| line(&format!("GET {url} HTTP/1.1"))),
            "an access log, URLs in the requests, which have whole URLs",
        ),
        (
            &[],
            ["http://a.example/private", "http://b.example/"]
                .map(|url| format!("x)/ 20260314150926 {{\"status\":\"200\",\"url\":\"{url}\"}}")),
            "CDXJ, URLs in the field \"url\"",
        ),
        (
            &["--input-format", "cdxj", "--url", "u.0"],
            ["http://a.example/private", "http://b.example/"].map(|url| format!("x)/ 2026 {{\"u\":[\"{url}\"]}}")),
            "CDXJ, URLs in the field \"u.0\"",
        ),
    ];
    for (options, rows, says) in cases {
        let text = rows.join("\n");
        folder.write("log", &text);
        folder.write("log.gz", gz((text + "\r\n").as_bytes()));
        for name in ["log", "log.gz"] {
            let run = classify(&folder, name, options).says(0, &[&format!("input {says}\n"), "lines 2\n"]);
            assert_eq!(run.text(), "http://a.example/private\tdisallow\nhttp://b.example/\tdisallow\n", "{rows:?}");
        }
        let run = classify(&folder, "log", &[options, &["--add-columns", "--explain"]].concat());
        let expected = ["2\tDisallow: /private", "2\tDisallow: /"].into_iter().zip(&rows);
        let expected: String = expected.map(|(rule, row)| format!("disallow\t{rule}\t{row}\n")).collect();
        assert_eq!(run.text(), expected);
        assert_eq!(classify(&folder, "log", &[options, &["--only", "disallow"]].concat()).text(), rows.join("\n"));
    }
}

#[test]
fn cdxj_metadata_lines_are_kept_like_a_header() {
    let folder = Folder::with_set();
    let row = "x)/ 20260314150926 {\"url\":\"http://a.example/private\"}\n";
    folder.write("a", format!("!OpenWayback-CDXJ 1.0\n{row}"));
    classify(&folder, "a", &[]).says(0, &["lines 1\n"]);
    assert_eq!(classify(&folder, "a", &["--only", "disallow"]).stdout, folder.read("a"));
}

#[test]
fn lines_without_a_url_are_invalid_and_counted_by_cause() {
    let folder = Folder::with_set();
    let ok = combined("GET /private HTTP/1.1", "x");
    let long = "x".repeat(3 << 20);
    let rows = [
        ok.clone(),
        combined("-", "-"),
        combined("", "-"),
        combined("OPTIONS * HTTP/1.1", "x"),
        combined("CONNECT b.example:443 HTTP/1.1", "x"),
        combined(r"\x16\x03\x01\x00", "-"),
        "x\0\u{1b}".to_owned(),
        format!("{ok}{long}"),
        line("GET /\\x70rivate HTTP/1.1"),
        ok[..60].to_owned(),
        ok.clone(),
        ok.clone(),
    ];
    let mut bytes = rows.join("\n").into_bytes();
    bytes.extend_from_slice(b"\n\xff\xfe \"\xff\"");
    folder.write("log", bytes);
    let says = [
        "log:2: an empty request\n",
        "log:4: a request for no URL (CONNECT or *)\n",
        "log:6: a broken request\n",
        "log:7: not a line of an access log\n",
        "log:8: more than 1048576 bytes\n",
        "invalid: more than 1048576 bytes 1\n",
        "invalid: not a line of an access log 3\n",
        "invalid: an empty request 2\n",
        "invalid: a broken request 1\n",
        "invalid: a request for no URL (CONNECT or *) 2\n",
        "allow 0, disallow 4, unknown 0, invalid 9",
    ];
    for threads in ["1", "3"] {
        let options = ["--host", "a.example:80", "--scheme", "http", "--threads", threads, "--columns", "verdict"];
        let run = classify(&folder, "log", &options).says(1, &says);
        let disallowed: Vec<usize> =
            (0..).zip(run.text().lines()).filter(|(_, l)| *l == "disallow").map(|(n, _)| n).collect();
        assert_eq!(disallowed, [0, 8, 10, 11]);
    }
    folder.write("log", format!("a.example:80 {ok}\n_:80 {ok}\na.example:80 {ok}\n"));
    classify(&folder, "log", &[]).says(0, &["log:2: no virtual host", "allow 0, disallow 2, unknown 0, invalid 1"]);
    folder.write("c.cdxj", "x)/ 2026 {\"url\":\"http://b.example/\"}\n\nx)/ 2026 {\nx)/ 2026 {\"uri\":1}\n");
    let says = ["c.cdxj:2: not a line of CDXJ", "c.cdxj:3: not a JSON object", "c.cdxj:4: without the field \"url\""];
    classify(&folder, "c.cdxj", &[]).says(1, &says);
}

#[test]
fn incompatible_options_are_refused() {
    let folder = Folder::with_set();
    let log = combined("GET /private HTTP/1.1", "x") + "\n";
    folder.write("common", line("GET / HTTP/1.1"));
    folder.write("list", "http://b.example/\n");
    folder.write("two.jsonl", "{\"url\":\"http://b.example/\"}\n");
    folder.write("log", log.repeat(3));
    let cases: [(&str, &[&str], &str); 15] = [
        (
            "log",
            &[],
            "log: no virtual hosts in this access log: give its host with --host, or its format with --input-format",
        ),
        ("log", &["--input-format", "combined"], "no virtual hosts in this access log: give its host with --host"),
        ("log", &["--input-format", "$host $uri"], "nor an access log's format: has no request: expected $request"),
        ("log", &["--input-format", "$request", "--input-format", "csv"], "cannot be used multiple times"),
        ("log", &["--input-format", "$request", "--delimiter", "tab"], "log: --delimiter: is for CSV"),
        ("log", &["--input-format", "$request", "--url", "x"], "--url x: an access log has the columns"),
        ("log", &["--input-format", "$request", "--url", "http://{x}"], "log: --url: an access log"),
        ("log", &["--host", "a b"], "log: --host a b: expected a host such as example.com"),
        ("log", &["--host", "a.example", "--scheme", "ftp"], "[possible values: http, https]"),
        ("log", &["--host", "http://a.example", "--scheme", "https"], "--scheme https: --host says http"),
        ("log", &["--host", "a.example", "--url", "request"], "--url request: an access log has the columns"),
        ("log", &["--host", "a.example", "--at", "{when}"], "--at when: an access log has the columns"),
        ("list", &["--host", "a.example"], "list: is read as a list of URLs; --host is for access logs"),
        ("two.jsonl", &["--scheme", "ftp"], "[possible values: http, https]"),
        ("log", &["--host", "a.example", "--dialect", "google"], "is a compiled set; --dialect"),
    ];
    for (name, options, says) in cases {
        let is_by_time = options.contains(&"--at");
        if is_by_time {
            folder.run(&["compile", "--by-time", "--force", "-o", "set", "robots"]).says(0, &[]);
        }
        classify(&folder, name, options).says(2, &[says]);
    }
    let args = ["classify", "set", "common", "--host", "a.example", "--agent", "{user_agent}"];
    folder.run(&args).says(2, &["common: --agent: this access log has no user agents"]);
    classify(&folder, "list", &[]).says(0, &[]);
    // A folder's file names give the hosts. A single robots.txt applies to the log's host.
    for set in ["robots", "robots/a.example"] {
        let args = ["classify", set, "log", "--agent", "bot-a", "--host", "a.example"];
        folder.run(&args).says(0, &["disallow 3"]);
    }
}

/// Each case: the log, the options, and the verdicts of its lines, or a part of the message. `good.example` is closed,
/// and `evil.example` open. T is the time.
const CASES: [(&str, &str, &str); 37] = [
    // Text that a client sends is not a host.
    (r#"1 - - [T] "GET /p HTTP/1.1" 200 12 "-" "UA" "evil.example""#, "--host good.example", "disallow"),
    (r#"1 - - [T] "GET /p HTTP/1.1" 200 12 "-" "UA" "evil.example""#, "", "--input-format"),
    (
        "1 - - [T] \"GET /p HTTP/1.1\" 200 12 \"-\" \"UA\" \"evil.example\"\n1 - - [T] \"GET /p HTTP/1.1\" 200 12 \"-\" \"UA\" \"198.51.100.7\"",
        "--host good.example",
        "disallow disallow",
    ),
    (r#"1 - - [T] "GET /p HTTP/1.1" 200 12 "-" "UA" "evil.example" good.example"#, "", "--input-format"),
    (
        r#"1 - - [T] "GET /p HTTP/1.1" 200 12 "-" "UA" "evil.example" good.example"#,
        r#"--input-format|%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-agent}i" "%{X}i" %v"#,
        "disallow",
    ),
    (r#"evil.example 1 - - [T] "GET /p HTTP/1.1" 200 5 "-" "UA""#, "--host good.example", "disallow"),
    // The server's virtual host, or a client's header.
    (
        r#"evil.example:80 1 - - [T] "GET /p HTTP/1.1" 200 5 "-" "UA""#,
        "--host good.example",
        "--input-format vhost_combined",
    ),
    (
        "evil.example:80 1 - - [T] \"GET /p HTTP/1.1\" 200 5 \"-\" \"UA\"\n3 1 - - [T] \"GET /p HTTP/1.1\" 200 5 \"-\" \"UA\"",
        "--host good.example",
        "disallow disallow",
    ),
    (
        r#"good.example:443 1 - - [T] "GET /p HTTP/1.1" 200 5 "-" "UA""#,
        "--input-format|vhost_combined --host evil.example",
        "disallow",
    ),
    (r#"evil.example, 2 1 - - [T] "GET /p HTTP/1.1" 200 5 "-" "UA""#, "--host good.example", "disallow"),
    (r#"evil.example 1 - - [T] "GET /p HTTP/1.1" 200 5 "-" "UA""#, "", "--input-format"),
    (r#"1 - - [T] "GET /p HTTP/1.1" 200 12 "-" "UA" 0.1 backend.internal"#, "--host good.example", "disallow"),
    (r#"1 - - [T] "GET /p HTTP/1.1" 200 12 "-" "UA" web.docker en.utf8"#, "", "--input-format"),
    (r#"1 - - [T] "GET /p HTTP/1.1" 200 12 "-" "UA" "https://www.google.com/""#, "--host good.example", "disallow"),
    // A target with another host.
    (r#"1 - - [T] "GET https://evil.example/p HTTP/1.1" 200 12"#, "--host good.example", "invalid"),
    (r#"1 - - [T] "GET http://GOOD.example/p HTTP/1.1" 200 12"#, "--host good.example", "disallow"),
    (r#"good.example:443 1 - - [T] "GET http://evil.example/p HTTP/1.1" 200 5 "-" "UA""#, "", "invalid"),
    (r#"1 - - [T] "GET https://evil.example/p HTTP/1.1" 200 12"#, "", "allow"),
    (r#"good.example "GET https://evil.example/p HTTP/1.1""#, r#"--input-format|$host "$request""#, "invalid"),
    // Python's server does not escape quotes.
    (r#"1 - - [T] "GET /x".html HTTP/1.1" 200 -"#, "--host half.example", "disallow"),
    (r#"1 - - [T] "GET /x".html HTTP/1.1" 200 -"#, "--host half.example --input-format common", "disallow"),
    (r#"1 - - [T] "GET /x" 200 5 "x HTTP/1.1" 200 -"#, "--host half.example", "invalid"),
    (r#"1 - - [T] "GET /x" y.html HTTP/1.1" 200 -"#, "--host half.example", "invalid"),
    (r#"1 - - [T] "GET /x\" 200.html HTTP/1.1" 200 -"#, "--host half.example", "invalid"),
    // A line that can be read in two ways.
    ("evil.example good.example - /p", "--input-format|$http_x $host - $request_uri", "disallow"),
    ("a evil.example - /x good.example - /p", "--input-format|$http_x $host - $request_uri", "invalid"),
    ("good.example /p evil.example /x", "--input-format|$server_name $request_uri $http_x", "invalid"),
    // Hosts that the format does not have.
    ("- /p", "--input-format|$host $request_uri", "invalid"),
    ("_ /p", "--input-format|$server_name $request_uri --host good.example", "disallow"),
    ("evil.example good.example /p", "--input-format|$http_host $server_name $request_uri", "disallow"),
    // JSON.
    (r#"{"http_host":"evil.example","server_name":"good.example","request_uri":"/p"}"#, "", "disallow"),
    (r#"{"http_host":"evil.example","request_uri":"/p","http_user_agent":"x"}"#, "", "--url"),
    (r#"{"http_host":"evil.example","request_uri":"/p","http_user_agent":"x"}"#, "--host good.example", "disallow"),
    (
        "{\"level\":\"info\",\"msg\":\"serving\"}\n{\"request\":{\"host\":\"good.example\",\"uri\":\"/p\",\"headers\":{\"url\":[\"x\"]}}}",
        "",
        "invalid disallow",
    ),
    (r#"{"host":"evil.example","request_uri":"/p"}"#, "--host good.example", "disallow"),
    (r#"{"host":"good.example","request_uri":"/p","ua":"x","host":"evil.example"}"#, "", "invalid"),
    (
        r#"{"h":"good.example","u":"/p","ua":"\"h\":\"evil.example"}"#,
        r#"--input-format|log_format j escape=json '{"h":"$host",' '"u":"$request_uri","ua":"$http_user_agent"}';"#,
        "disallow",
    ),
];

#[test]
fn text_of_clients_decides_nothing() {
    let folder = Folder::new();
    for (host, rule) in [("good", "disallow: /"), ("evil", "allow: /"), ("half", "disallow: /*.html$")] {
        folder.write(&format!("robots/{host}.example"), format!("user-agent: *\n{rule}\n"));
    }
    folder.run(&["compile", "-o", "set", "robots"]).says(0, &[]);
    let mut count = 0;
    for (log, options, expected) in CASES {
        folder.write("log", log.replace("[T]", "[14/Mar/2026:15:09:26 +0000]") + "\n");
        // The format is the last option but for the host.
        let (format, host) = match options.split_once('|') {
            Some((_, format)) => match format.split_once(" --host ") {
                Some((format, host)) => (Some(format), Some(host)),
                None => (Some(format), None),
            },
            None => (None, None),
        };
        let mut args: Vec<&str> =
            options.split('|').next().unwrap().split(' ').filter(|word| !word.is_empty()).collect();
        args.extend(format);
        args.extend(host.iter().flat_map(|host| ["--host", host]));
        let run = classify(&folder, "log", &[&args[..], &["--columns", "verdict"]].concat());
        if expected.starts_with("--") {
            run.says(2, &[expected]);
        } else {
            assert_eq!(
                run.text().split_whitespace().collect::<Vec<_>>().join(" "),
                expected,
                "{log} {options} {run:?}"
            );
        }
        count += 1;
    }
    assert_eq!(count, 37);
}

/// A line of each program in the guide's table, from the program's documentation, with a request for `/private` at
/// `a.example`.
const PROGRAMS: [(&str, &str); 7] = [
    (
        "Amazon S3",
        r#"79a59df900b949e55d96a1e698fbaced awsexamplebucket1 [06/Feb/2019:00:00:38 +0000] 192.0.2.3 79a59df900b9 3E57427F3EXAMPLE REST.GET.OBJECT private "GET /private HTTP/1.1" 200 - 113 - 7 - "-" "S3Console/0.4" - s9lzHYrFp76ZVxRcpX9+5cjAnEH2ROuNkd2BHfIa6UkFVdtjf5mKR3/eTPFvsiP/XV/VLi31234= SigV4 ECDHE-RSA-AES128-GCM-SHA256 AuthHeader a.example TLSV1.2 - -"#,
    ),
    (
        "AWS load balancer",
        r#"http 2018-07-02T22:23:00.186641Z app/my-loadbalancer/50dc6c495c0c9188 192.168.131.39:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "GET https://a.example:443/private HTTP/1.1" "curl/7.46.0" - - arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/my-targets/73e2d6bc24d8a067 "Root=1-58337262-36d228ad5d99923122bbe354" "-" "-" 0 2018-07-02T22:22:48.364000Z "forward" "-" "-" "10.0.0.1:80" "200" "-" "-""#,
    ),
    ("Caddy", r#"192.0.2.7 - - [06/Dec/2019:14:33:45 +0000] "GET /private HTTP/2.0" 200 2326"#),
    (
        "Envoy",
        r#"[2016-04-15T20:17:00.310Z] "GET /private HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq2http" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "a.example" "tcp://10.0.2.1:80""#,
    ),
    (
        "HAProxy",
        r#"Feb  6 12:14:14 localhost haproxy[14389]: 10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {a.example} "GET /private HTTP/1.1""#,
    ),
    (
        "Squid",
        "1286536309.586    921 192.168.0.68 TCP_MISS/200 507 GET http://a.example/private - DIRECT/175.41.3.51 text/html",
    ),
    (
        "Varnish",
        r#"192.0.2.7 - - [14/Mar/2026:15:09:26 +0000] "GET http://a.example/private HTTP/1.1" 200 5 "-" "curl/7.46.0""#,
    ),
];

#[test]
fn the_guides_formats_read_the_logs_of_other_programs() {
    let folder = Folder::with_set();
    let guide = include_str!("../guide/logs.md");
    let table = guide.split("## Other servers").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix("` |")?.split_once(" | `"));
    // The first row is the header.
    let rows = rows.skip(1);
    let mut count = 0;
    for ((name, format), (program, log)) in rows.zip(PROGRAMS) {
        assert!(name.starts_with(program), "{name}");
        folder.write("log", log);
        let mut options = vec!["--input-format", format, "--scope", "scheme"];
        if program == "Caddy" {
            options.extend(["--host", "a.example"]);
        }
        let run = classify(&folder, "log", &options).says(0, &["disallow 1"]);
        assert!(run.text().contains("://a.example") && run.text().contains("/private\tdisallow"), "{run:?}");
        count += 1;
    }
    assert_eq!(count, PROGRAMS.len());
}

/// All first lines must agree, regardless of read size.
#[test]
fn a_later_line_changes_nothing() {
    let folder = Folder::with_set();
    let ok = combined("GET /private HTTP/1.1", "x") + "\n";
    let with_host = format!("a.example:80 {ok}");
    for (lines, is_known) in [(0, false), (1, false), (99, false), (100, true), (2000, true)] {
        folder.write("log", with_host.repeat(lines) + &ok);
        let run = classify(&folder, "log", &[]);
        if is_known {
            run.says(0, &[&format!("disallow {}, unknown 0, invalid 1", if lines == 2000 { "2,000" } else { "100" })]);
        } else {
            run.says(2, &["no virtual hosts"]);
        }
    }
    // The last line may be cut.
    folder.write("log", with_host.repeat(3) + &with_host[..90]);
    classify(&folder, "log", &[]).says(0, &["disallow 3, unknown 0, invalid 1"]);
}

#[test]
fn log_and_cdxj_times_select_the_rules() {
    let folder = Folder::new();
    let capture = |time: &str, rule: &str| {
        format!(
            "{{\"url\":\"https://a.example/robots.txt\",\"time\":\"{time}\",\"body\":\"user-agent: *\\ndisallow: {rule}\"}}\n"
        )
    };
    folder.write("c.jsonl", capture("2026-01-01", "/a") + &capture("2026-03-01", "/b"));
    folder.run(&["compile", "--by-time", "-o", "set", "c.jsonl"]).says(0, &[]);
    let times = ["31/Dec/2025:23:59:59 +0000", "31/Dec/2025:23:59:59 -0100", "01/Mar/2026:01:00:00 +0100", "x"];
    let log = times.map(|time| line("GET /a HTTP/1.1").replace("14/Mar/2026:15:09:26 +0000", time) + "\n").concat();
    folder.write("log", log);
    let run = classify(&folder, "log", &["--host", "a.example", "--at", "{time}", "--columns", "verdict"]);
    assert_eq!(
        run.says(0, &["log:4: no time in the time of the request"]).text(),
        "unknown\ndisallow\nallow\ninvalid\n"
    );
    let cdxj = ["20251231235959", "20260101000000", "202603", "2026010100"]
        .map(|time| format!("example,a)/a {time} {{\"url\": \"https://a.example/a\", \"timestamp\": \"x\"}}\n"));
    folder.write("cdxj", cdxj.concat());
    let run = classify(&folder, "cdxj", &["--at", "{timestamp}", "--columns", "verdict", "--timezone", "+12:00"]);
    assert_eq!(run.says(0, &["cdxj:4: no time"]).text(), "unknown\ndisallow\nallow\ninvalid\n");
}
