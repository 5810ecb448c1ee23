//! `classify --report`, which writes an HTML page with figures about the verdicts.

use crate::support;
use support::Folder;

/// Returns the cells of every table row in a page, without markup.
fn rows(page: &str) -> Vec<Vec<String>> {
    let text = |cell: &str| {
        let mut text = String::new();
        let mut is_mark = false;
        for character in cell.chars() {
            match character {
                '<' => is_mark = true,
                '>' => is_mark = false,
                other if !is_mark => text.push(other),
                _ => {}
            }
        }
        html_escape::decode_html_entities(&text).into_owned()
    };
    let cells = |row: &str| {
        let cells = row.replace("</th>", "</td>");
        cells.split("</td>").map(text).filter(|cell| !cell.is_empty()).collect()
    };
    page.split("<tr>").skip(1).map(|row| cells(row.split("</tr>").next().unwrap())).collect()
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write(
        "robots/a.example",
        "user-agent: bot-a\ndisallow: /<b>&\"'\ndisallow: /p\n\nuser-agent: *\ndisallow: /p\n",
    );
    folder.write("robots/b.example", "user-agent: *\ndisallow: /\n");
    folder.run(&["compile", "-o", "set", "robots"]).says(0, &[]);
    let mut urls = String::new();
    for number in 0..40 {
        urls += &format!("http://a.example/p{number}\nhttp://A.example/x{number}\n");
        if number < 30 {
            urls += "http://b.example/\nnonsense\n";
        }
        urls += &format!("http://n{}.example/\n", number % 25);
    }
    folder.write("urls", urls + "http://a.example/<b>&\"'\n");
    folder
}

#[test]
fn the_page_shows_the_verdict_counts() {
    let folder = folder();
    let args = ["classify", "set", "urls", "--agent", "bot-a", "--agent", "bot-c", "--columns", "verdict,rule,any-of"];
    let plain = folder.run(&args).says(0, &[]).text();
    let run = folder.run(&[&args[..], &["--report", "page.html"]].concat()).says(0, &[]);
    assert_eq!(run.text(), plain, "the page does not change the verdicts");
    let page = String::from_utf8(folder.read("page.html")).unwrap();
    let rows = rows(&page);
    let count = |column: usize, verdict: &str| {
        plain.lines().filter(|line| line.split('\t').nth(column) == Some(verdict)).count()
    };
    let has = |wanted: &[&str]| assert!(rows.iter().any(|row| row[..] == *wanted), "no {wanted:?} in {rows:#?}");
    // In the order of the page: bot-a, bot-c, any of them.
    let mut shown = rows.iter().filter(|row| ["allow", "disallow", "unknown", "invalid"].contains(&&*row[0]));
    for column in [0, 2, 4] {
        for verdict in ["allow", "disallow", "unknown", "invalid"] {
            let (count, row) = (count(column, verdict), shown.next().unwrap());
            assert!(count > 0);
            let percent = format!("{:.1} %", count as f64 * 100.0 / 181.0);
            assert_eq!(row[..], [verdict.to_owned(), count.to_string(), percent], "{column}");
        }
    }
    assert!(shown.next().is_none());
    has(&["http://a.example", "41"]);
    has(&["http://b.example", "30"]);
    // For both agents.
    has(&["Disallow: /p", "80"]);
    has(&["Disallow: /", "60"]);
    has(&["Disallow: /<b>&\"'", "1"]);
    has(&["http://n0.example", "2"]);
    assert_eq!(rows.iter().filter(|row| row[0].starts_with("http://n")).count(), 20, "the 20 most frequent");
    // With explaining columns and one thread, the page is the same except for the time.
    let without_time =
        |page: &str| page.lines().filter(|line| !line.contains(">Time</th>")).collect::<Vec<_>>().join("\n");
    let args = [
        "classify",
        "set",
        "urls",
        "--agent",
        "bot-a",
        "--agent",
        "bot-c",
        "--columns",
        "url,verdict,any-of",
        "--report",
        "again.html",
        "--threads",
        "1",
    ];
    folder.run(&args).says(0, &[]);
    assert_eq!(without_time(&page), without_time(&String::from_utf8(folder.read("again.html")).unwrap()));
}

#[test]
fn a_page_has_no_scripts_and_loads_nothing() {
    let folder = Folder::new();
    folder.write(
        "robots/a.example",
        "user-agent: *\ndisallow: /<script>alert(1)</script>\ndisallow: /\u{202e}\u{1b}[31m\n",
    );
    let name = "<img src=x onerror=alert(1)>.txt";
    folder.write(
        name,
        "http://a.example/<script>alert(1)</script>\nhttp://a.example/%E2%80%AE%1B[31m\nhttp://<svg onload=1>/\n",
    );
    let args = ["classify", "robots", name, "--agent", "bot-a", "--report", "page.html", "-o", "out"];
    folder.run(&args).says(0, &[]);
    let page = String::from_utf8(folder.read("page.html")).unwrap();
    for forbidden in ["<script", "<img", "<svg", "src=", "href=", "http-equiv", "@import", "url(", "\u{1b}", "\u{202e}"]
    {
        let is_text = page.matches(forbidden).count()
            == page.matches(&format!("&lt;{}", forbidden.trim_start_matches('<'))).count();
        assert!(
            !page.contains(forbidden)
                || (forbidden == "src=" && is_text)
                || page.contains(&format!("&lt;img {forbidden}")),
            "{forbidden}"
        );
    }
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    let again = ["classify", "robots", name, "--agent", "bot-a", "--report", "page.html"];
    folder.run(&again).says(2, &["page.html: exists already"]);
    folder.run(&["classify", "robots", name, "--agent", "x", "--report", "-"]).says(2, &["--report: expected a file"]);
    folder
        .run(&["classify", "robots", name, "--agent", "x", "--report", "p", "-o", "p"])
        .says(2, &["p: is the output too"]);
    // Rows that name crawlers.
    folder.write("visits.tsv", "url\tagent\nhttp://a.example/x\tGPTBot\nhttp://a.example/<script>alert(1)</script>\tGPTBot\nhttp://a.example/x\t-\n");
    folder.run(&["classify", "robots", "visits.tsv", "--agent", "{agent}", "--report", "visits.html"]).says(0, &[]);
    let page = String::from_utf8(folder.read("visits.html")).unwrap();
    assert!(
        page.contains("<b>all crawlers</b>") && page.contains("<b>GPTBot</b>") && !page.contains("without a known")
    );
}

#[test]
fn several_lists_share_one_page_with_their_sums() {
    let folder = folder();
    folder.write("more", "http://a.example/p1\nhttp://b.example/\nnonsense\n");
    let sum = String::from_utf8([folder.read("urls"), folder.read("more")].concat()).unwrap();
    folder.write("sum", sum);
    let agents = ["--agent", "bot-a", "--agent", "bot-c", "--columns", "url,verdict,any-of"];
    let one = ["classify", "set", "sum", "--report", "one.html", "-o", "one"];
    folder.run(&[&one[..], &agents].concat()).says(0, &[]);
    let many = ["classify", "set", "urls", "more", "-o", "out/", "--report", "many.html"];
    let many = [&many[..], &agents].concat();
    folder.run(&many).says(0, &["files written 2\n"]);
    let page = |name: &str| {
        let page = String::from_utf8(folder.read(name)).unwrap();
        let (facts, rest) = page.split_once("<h2>").unwrap();
        (facts.to_owned(), rest.to_owned())
    };
    let ((_, one), (facts, all)) = (page("one.html"), page("many.html"));
    assert_eq!(one, all);
    assert!(facts.contains("<title>Verdicts for out</title>") && facts.contains("184 rows of 2 lists<"), "{facts}");
    let again = [&many[..], &["--resume"]].concat();
    folder.run(&again).says(2, &["many.html: exists already"]);
    std::fs::remove_file(folder.path("many.html")).unwrap();
    std::fs::remove_file(folder.path("out/more.tsv")).unwrap();
    folder.run(&again).says(0, &["done before 1\n"]);
    let facts = page("many.html").0;
    assert!(facts.contains("3 rows of 1 lists; 1 more were done before, and are not counted here"), "{facts}");
    std::fs::remove_file(folder.path("many.html")).unwrap();
    folder.run(&again).says(0, &["--report: every list was done before"]);
    assert!(!folder.names().contains(&"many.html".to_owned()));
    let same = |report: &str, says: &str| {
        let args = ["classify", "set", "urls", "more", "-o", "out/", "--force", "--report", report];
        folder.run(&[&args[..], &agents].concat()).says(2, &[says]);
    };
    same("out/urls.tsv", "out/urls.tsv: would be both the --report page and a file for urls");
    same("set", "set");
}
