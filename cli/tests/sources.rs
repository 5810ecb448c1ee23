//! Where inputs come from: lists of file names, patterns, and URL tables of many shapes.
#![allow(clippy::unwrap_used, reason = "a test may")]

use crate::classify_parquet::{file, plain, texts};
use crate::support::{Folder, gz};

/// Each command with many inputs, with the placeholder `INPUTS`, and its inputs as a recursive pattern.
const MANY: [(&str, &str); 6] = [
    ("compile -o OUT INPUTS", "in/**/*.jsonl"),
    ("update set -o OUT INPUTS", "in/**/*.jsonl"),
    ("merge -o OUT INPUTS", "in/**/*.set"),
    ("classify set --agent bot-a -o OUT/ INPUTS", "in/**/*.txt"),
    ("filter --set set --agent bot-a -o OUT INPUTS", "in/**/*.warc"),
    ("lint INPUTS", "in/**/*.robots"),
];

/// Writes two inputs for each command, one of them with a blank in its name and in a subfolder.
fn write_inputs(folder: &Folder) {
    for (host, path) in [("one.example", "in/a b/c/1"), ("two.example", "in/2")] {
        let capture = format!("{{\"url\":\"https://{host}/robots.txt\",\"status\":200,\"body\":\"disallow: /\"}}\n");
        folder.write(&format!("{path}.jsonl"), capture);
        folder.run(&["compile", "-o", &format!("{path}.set"), &format!("{path}.jsonl")]).says(0, &[]);
        folder.write(&format!("{path}.txt"), format!("https://{host}/\nhttps://a.example/private\n"));
        let warc = format!("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example/{}", host.len());
        folder.write(&format!("{path}.warc"), warc + "\r\nContent-Length: 0\r\n\r\n\r\n\r\n");
        folder.write(&format!("{path}.robots"), "user-agent: *\ndissallow: /\n");
    }
}

#[test]
fn listed_files_and_patterns_equal_arguments_in_every_command() {
    let folder = Folder::with_set();
    write_inputs(&folder);
    for (number, (command, pattern)) in MANY.into_iter().enumerate() {
        let end = pattern.rsplit('.').next().unwrap();
        let paths = [format!("in/2.{end}"), format!("in/a b/c/1.{end}")];
        let run = |way: usize, inputs: &[&str], stdin: &str| {
            let out = format!("out-{number}-{way}");
            let line = command.replace("OUT", &out);
            let mut args: Vec<&str> = line.split(' ').filter(|word| *word != "INPUTS").collect();
            args.extend(inputs);
            let run = folder.run_with(&args, stdin.as_bytes());
            let mut files = vec![run.stdout.clone()];
            let out = folder.path(&out);
            match out.is_dir() {
                // A pattern's outputs keep their paths.
                true => files.extend(["1.txt.tsv", "2.txt.tsv"].map(|name| {
                    let paths = [out.join(name), out.join("a b/c").join(name)];
                    paths.iter().find_map(|path| std::fs::read(path).ok()).unwrap()
                })),
                false if command.contains("OUT") => files.push(std::fs::read(&out).unwrap()),
                false => {}
            }
            assert!(files.iter().any(|bytes| !bytes.is_empty()), "{command}: {run:?}");
            (run.code, files)
        };
        let lines = paths.join("\n") + "\n";
        folder.write("list", &lines);
        let expected = run(0, &[&paths[0], &paths[1]], "");
        assert_eq!(run(1, &["--files-from", "list"], ""), expected, "{command}");
        assert_eq!(run(2, &["--files-from", "-"], &lines), expected, "{command}");
        assert_eq!(run(3, &["--files-from", "-"], &paths.join("\0")), expected, "{command}");
        assert_eq!(run(4, &[pattern], ""), expected, "{command}");
        folder.write("list", format!("{}\r\n", paths[1]));
        assert_eq!(run(5, &[&paths[0], "--files-from", "list"], ""), expected, "{command}");

        // The list, the argument and the message.
        for (list, argument, message) in [
            ("", None, "list: names no file; expected a file name on each line"),
            ("in\nno such file\n", None, "list: line 2: no such file: "),
            ("in/*\n", None, "list: line 1: in/*: "),
            ("in", Some("no/**/file"), "no/**/file: no such file, and no file matches this pattern"),
        ] {
            folder.write("list", list);
            let mut args: Vec<&str> = command.split(' ').filter(|word| *word != "INPUTS").collect();
            args.extend(argument);
            folder.run(&[&args[..], &["--files-from", "list"]].concat()).says(2, &[message]);
        }
    }
    let message = "--files-from -: standard input is an input too";
    folder.run(&["classify", "set", "-", "--agent", "bot-a", "--files-from", "-"]).says(2, &[message]);
}

/// URLs in parts: scheme, host, port, path, query; and each URL's time.
const PARTS: [[&str; 6]; 6] = [
    ["https", "a.example", "", "/private/1", "", "20240301000000"],
    ["https", "a.example", "", "/private/1", "", "20240101000000"],
    ["http", "a.example", "8080", "/private", "q=\u{e9}&r=%20", "20240301000000"],
    ["https", "[::1]", "", "/", "", "20240301000000"],
    ["https", "unknown.example", "", "/x,y;z", "?", "20240301000000"],
    ["http", "a.example", "", "/open", "a=b", "20231231235959"],
];

/// Returns a URL as one text.
fn url([scheme, host, port, path, query, _]: [&str; 6]) -> String {
    let with = |lead: &str, part: &str| if part.is_empty() { String::new() } else { format!("{lead}{part}") };
    format!("{scheme}://{host}{}{path}{}", with(":", port), with("?", query))
}

/// Writes a set by time from a folder with captures under every form of host and file name.
fn write_history(folder: &Folder) {
    for (path, rule) in [
        ("history/a.example/20240101000000.txt", "/open"),
        ("history/a.example/20240201000000/robots.txt", "/private"),
        ("history/a.example:8080/20240201000000/robots.txt", "/*?"),
        ("history/[::1]/20240201000000.txt", "/"),
    ] {
        folder.write(path, format!("user-agent: *\ndisallow: {rule}\n"));
    }
    folder.run(&["compile", "--by-time", "-o", "set", "history"]).says(0, &["files read 4"]);
}

/// Each source has the rows of [`PARTS`] in its own shape, and gives the same URLs and verdicts as TSV.
#[test]
fn sources_equal_text_row_for_row() {
    let folder = Folder::new();
    write_history(&folder);
    let lines = |line: &dyn Fn([&str; 6]) -> String| PARTS.map(|row| line(row) + "\n").concat();
    let target = |row: [&str; 6]| url(row).splitn(4, '/').nth(3).map(|path| format!("/{path}")).unwrap();
    let authority = |[_, host, port, ..]: [&str; 6]| host.to_owned() + if port.is_empty() { "" } else { ":" } + port;
    let number = |port: &str| if port.is_empty() { "null".into() } else { port.to_owned() };
    let stamp = |row: [&str; 6]| {
        let time = row[5];
        format!("{}-{}-{}T{}:{}:{}Z", &time[..4], &time[4..6], &time[6..8], &time[8..10], &time[10..12], &time[12..])
    };
    let clf = |row: [&str; 6]| {
        let (time, months) = (row[5], ["Jan", "Feb", "Mar"]);
        let month = months.get(time[4..6].parse::<usize>().unwrap() - 1).unwrap_or(&"Dec");
        format!("{}/{month}/{}:{}:{}:{} +0000", &time[6..8], &time[..4], &time[8..10], &time[10..12], &time[12..])
    };
    let parts = ["--url", "{scheme}://{host}:{port}{path}?{query}", "--at", "{time}"];
    let numbers = ["--url", "{1}://{2}:{3}{4}?{5}", "--at", "{6}"];
    let header = "scheme,host,port,path,query,time";
    let (at_time, at_timestamp, at_b) = (["--at", "{time}"], ["--at", "{timestamp}"], ["--at", "{b}"]);
    let of_cdxj = [parts[0], parts[1], "--at", "{timestamp}"];
    let legend = " CDX N b a m s k r M S V g";
    let parquet = {
        let column = |at: usize| {
            let cells = PARTS.map(|row| (!row[at].is_empty()).then(|| row[at].to_owned()));
            texts(&cells)
        };
        let schema = header.split(',').map(|name| format!("optional binary {name} (UTF8);")).collect::<String>();
        file(&schema, &[(0..6).map(column).collect()], plain())
    };
    let cases: Vec<(&str, Vec<u8>, &[&str])> = vec![
        (
            "parts.csv",
            format!("{header}\n{}", lines(&|row| row.map(|cell| format!("\"{cell}\"")).join(","))).into(),
            &parts,
        ),
        ("parts.tsv", format!("{}\n{}", header.replace(',', "\t"), lines(&|row| row.join("\t"))).into(), &parts),
        ("numbers.tsv", lines(&|row| row.join("\t")).into(), &numbers),
        (
            "parts.jsonl",
            lines(&|row| {
                let [scheme, host, port, path, query, time] = row;
                let port = number(port);
                format!(r#"{{"scheme":"{scheme}","host":"{host}","port":{port},"path":"{path}","query":"{query}","time":{time}}}"#)
            })
            .into(),
            &parts,
        ),
        (
            "parts.cdxj",
            lines(&|row| {
                let [scheme, host, port, path, query, time] = row;
                format!(r#"key {time} {{"scheme":"{scheme}:","host":"{host}","port":"{port}","path":"{path}","query":"{query}"}}"#)
            })
            .into(),
            &of_cdxj,
        ),
        ("parts.parquet", parquet, &parts),
        ("eleven.cdx", format!("{legend}\n{}", lines(&|row| format!("k {} {} - 200 D - - 5 7 f", row[5], url(row)))).into(), &at_timestamp),
        (
            "nine.cdx.gz",
            gz(format!("\tCDX\ta\tb\n{}", lines(&|row| format!("{}\t{}999", url(row), row[5]))).as_bytes()),
            &at_b,
        ),
        (
            "traefik.log",
            lines(&|row| {
                let (scheme, host, time) = (row[0], authority(row), stamp(row));
                // A whole URL on the same host keeps the known scheme.
                let path = if scheme == "https" { target(row) } else { url(row) };
                format!(r#"{{"StartUTC":"{time}","RequestScheme":"{scheme}","RequestHost":"{host}","RequestPath":"{path}"}}"#)
            })
            .into(),
            &at_time,
        ),
        (
            "logpush.json.gz",
            gz(lines(&|row| {
                let (scheme, host, target, time) = (row[0], authority(row), target(row), stamp(row));
                format!(r#"{{"ClientRequestScheme":"{scheme}","ClientRequestHost":"{host}","ClientRequestURI":"{target}","EdgeStartTimestamp":"{time}"}}"#)
            })
            .as_bytes()),
            &at_time,
        ),
        (
            "nginx.jsonl",
            lines(&|row| {
                let (scheme, host, target, time) = (row[0], authority(row), target(row), clf(row));
                format!(r#"{{"time_local":"{time}","scheme":"{scheme}","host":"{host}","request":"GET {target} HTTP/1.1","http_user_agent":"b"}}"#)
            })
            .into(),
            &["--at", "{time}", "--input-format", "json-log"],
        ),
    ];
    let columns = ["--columns", "url,verdict,line,capture_time"];
    let run = |name: &str, options: &[&str]| {
        folder.run(&[&["classify", "set", name, "--agent", "bot-a"], options, &columns].concat()).says(0, &[]).text()
    };
    folder.write("text.tsv", format!("url\ttime\n{}", lines(&|row| format!("{}\t{}", url(row), row[5]))));
    let expected = run("text.tsv", &at_time);
    let verdicts: Vec<&str> = expected.lines().map(|line| line.split('\t').nth(1).unwrap()).collect();
    assert_eq!(verdicts, ["disallow", "allow", "disallow", "disallow", "unknown", "unknown"]);
    for (name, bytes, options) in cases {
        folder.write(name, bytes);
        assert_eq!(run(name, options), expected, "{name}");
    }

    // Without times: a sitemap, a list without schemes, and columns without a scheme.
    let of_https = PARTS.map(|row| url(["https", row[1], row[2], row[3], row[4], ""]));
    folder.write("list", of_https.join("\n"));
    let expected = run("list", &["--at", "2024-03-01"]);
    let escaped = |url: &String| format!("<url><loc>\n{}</loc></url>\n", url.replace('&', "&amp;"));
    let sitemap = format!("<urlset>{}</urlset>", of_https.iter().map(escaped).collect::<String>());
    folder.write("sitemap.xml.gz", gz(sitemap.as_bytes()));
    folder.write("bare", of_https.join("\n").replace("https://", ""));
    folder.write("slashes", of_https.join("\n").replace("https://", "//"));
    folder.write(
        "bare.csv",
        format!("id,url\n{}", of_https.join("\n").replace("https://", "1,\"").replace('\n', "\"\n") + "\""),
    );
    let cells = of_https.each_ref().map(|url| Some(url.replace("https://", "")));
    folder.write("bare.parquet", file("optional binary url (UTF8);", &[vec![texts(&cells)]], plain()));
    let https = ["--scheme", "https"];
    let hosts = ["--scheme", "https", "--url", "{host}:{port}{path}?{query}"];
    let of_https_alone = ["--url", "https://{host}:{port}{path}?{query}"];
    for (name, options) in [
        ("sitemap.xml.gz", &[][..]),
        ("bare", &https),
        ("slashes", &https),
        ("bare.csv", &https),
        ("bare.parquet", &https),
        ("parts.csv", &hosts),
        ("parts.parquet", &hosts),
        ("parts.csv", &of_https_alone),
        ("parts.parquet", &of_https_alone),
    ] {
        assert_eq!(run(name, &[options, &["--at", "2024-03-01"]].concat()), expected, "{name}");
    }
    let sitemap = folder.run_with(&["classify", "set", "-", "--agent", "b", "--at", "2024-03-01"], sitemap.as_bytes());
    assert_eq!(sitemap.text().lines().count(), of_https.len());
}

#[test]
fn rows_without_a_url_are_invalid_with_their_reason() {
    let folder = Folder::new();
    write_history(&folder);
    let csv = "scheme,host,port,path,query\nhttps,a.example,0,/x,\nhttps,u@a.example,,/x,\nhttps,,,/x,\n\
               gopher,a.example,,/x,\nhttps,a.example,,x,\nhttps,a.example,,/x?y,z\nhttps,a.example,,/x,\n";
    folder.write("parts.csv", csv);
    folder.write("bare", "a.example/x\nmailto:u@a.example\nintranet\n/x\na.example,5\nhttp://a.example/\n");
    folder.write(
        "old.cdx",
        " CDX N b a\nk 20240301000000 https://a.example/\nk 20240301000000 https://a.example/ b\nk\n",
    );
    folder.write("map.xml", "<urlset><url><loc>https://a.example/a\nb</loc></url><url><loc></loc></url></urlset>");
    let parts = "--url {scheme}://{host}:{port}{path}?{query}";
    let cases: [(&str, &str, &str, &[&str]); 4] = [
        (
            "parts.csv",
            parts,
            "invalid invalid invalid invalid invalid invalid allow",
            &[
                "parts.csv:2: no port from 1 to 65535, or two ports",
                "parts.csv:3: a malformed host",
                "parts.csv:4: without column 1 (\"scheme\"), column 2 (\"host\"), column 3",
                "parts.csv:5: no scheme, or one other than http, https and ftp",
                "parts.csv:6: a path without a slash at its start",
                "parts.csv:7: a query in both the path and its own column",
            ],
        ),
        ("bare", "--scheme https", "allow invalid invalid invalid invalid allow", &[]),
        ("old.cdx", "--add-columns", "b:verdict allow invalid invalid", &["old.cdx:3: not a line of CDX with a cell"]),
        ("map.xml", "", "invalid invalid", &["2 of 2 rows are invalid"]),
    ];
    for (name, options, expected, says) in cases {
        let mut args = vec!["classify", "set", name, "--agent", "b", "--at", "2024-03-01", "--columns", "verdict"];
        args.extend(options.split(' ').filter(|word| !word.is_empty()));
        let run = folder.run(&args);
        let verdicts: Vec<String> =
            run.text().lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect();
        assert_eq!(verdicts.join(" "), expected, "{name}");
        let most_are_invalid = expected.matches("invalid").count() > expected.matches("allow").count();
        run.says(i32::from(most_are_invalid), says);
    }
}

#[test]
fn unsuitable_sources_are_refused() {
    let folder = Folder::new();
    write_history(&folder);
    folder.write("list", "https://a.example/\n");
    folder.write("t.csv", "host,url\na.example,https://a.example/\n");
    folder.write("x.json", "{\"vhost\":\"a.example\",\"http\":{\"target\":\"/x\"}}\n");
    folder.write("nginx.json", "{\"request_uri\":\"/x\",\"http_user_agent\":\"b\"}\n");
    folder.write("log", "192.0.2.7 - - [14/Mar/2026:15:09:26 +0000] \"GET / HTTP/1.1\" 200 5\n");
    folder.write("old.cdx", " CDX N b\nk 2024\n");
    folder.write("bare.cdx", "k 20240301000000 https://a.example/\n");
    folder.write("index.xml", "<sitemapindex><sitemap><loc>https://a.example/1.xml</loc></sitemap></sitemapindex>");
    folder.write("feed.xml", "<rss></rss>");
    for (name, options, says) in [
        ("list", "--url https://{host}", "list: --url host: there is no such column"),
        ("list", "--url https://{host} --input-format list", "list: --url: a list of URLs has no columns"),
        (
            "t.csv",
            "--url {host}{url}",
            "t.csv: --url: the URLs have no scheme: begin with its column, {scheme}://, or with https://, or give --scheme",
        ),
        ("t.csv", "--url https://{vhost}", "t.csv: --url vhost: there is no such column"),
        ("t.csv", "--url https://a.example{url}", "expected a column, or columns in braces"),
        ("t.csv", "--url https://{host} --url url", "cannot be used multiple times"),
        ("log", "--url https://{host}", "log: --url: an access log's URLs are those requested"),
        ("nginx.json", "", "nginx.json: no hosts in this access log of nginx: give its host with --host"),
        ("nginx.json", "--host a.example --at {time}", "--at time: this access log has no time"),
        ("x.json", "--input-format json-log", "the first object has the fields http.target, vhost; name them with"),
        ("nginx.json", "--input-format json-log --url request_uri", "--url: an access log's URLs are those"),
        (
            "old.cdx",
            "",
            "old.cdx: its CDX legend has no column a, the original URL, but N, b; --url names another column",
        ),
        ("old.cdx", "--url b --at {g}", "--at g: there is no such column; the CDX legend has N, b"),
        (
            "bare.cdx",
            "",
            "bare.cdx: expected a CDX legend such as \" CDX N b a m s k r M S V g\" in the first line, or in all first lines 7, 9",
        ),
        (
            "index.xml",
            "",
            "index.xml: cannot be read: line 1: is an index of sitemaps, not a sitemap; give the sitemaps that it lists",
        ),
        ("feed.xml", "", "feed.xml: cannot be read: line 1: begins with <rss>, not <urlset>"),
    ] {
        let mut args = vec!["classify", "set", name, "--agent", "b"];
        args.extend(options.split(' ').filter(|word| !word.is_empty()));
        folder.run(&args).says(2, &[says]);
    }
    // A folder with one host's captures.
    folder.run(&["compile", "-o", "one", "--host", "a.example", "history/a.example"]).says(0, &["files read 2"]);
    let says = "history: --host requires a single robots.txt, or one host's captures as TIMESTAMP/robots.txt";
    folder.run(&["compile", "-o", "two", "--host", "a.example", "history"]).says(2, &[says]);
    folder
        .run(&["compile", "-o", "two", "history/a.example"])
        .says(2, &["20240101000000 is a time: give the host with --host"]);
    folder.write("history/b.example/20241301000000.txt", "");
    folder.run(&["compile", "-o", "three", "history"]).says(1, &["20241301000000.txt: no valid time"]);
}
