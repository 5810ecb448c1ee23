"""Generates the test data: sets compiled by the command `reptile`, and queries and answers as tables.

    prepare.py REPOSITORY DATA MUTANTS REPTILE... [--full]

The conformance suite is converted to tables, because Java has no TOML reader. A row of `suite/DIALECT.tsv` has the
case's origin, the agent and the URL (both in base64), the verdict, the line (`-` if the case has none) and the case's
name.
"""

import base64
import gzip
import itertools
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tomllib

FILES, CASES, CHECKS = 17, 314, 959
AGENTS = ["GPTBot", "Googlebot-Image", "bingbot"]
DIALECTS = ["google", "google-lib", "rfc9309", "rfc9309-strict", "yandex", "yandex-2017", "bing", "koster-1994", "koster-1996"]
# Parts of generated URLs, chosen where clients disagree.
SCHEMES = ["http://", "https://", "HTTP://", "ftp://", "http:/", "//", "http:///", "gopher://", "http:", ""]
USERS = ["", "u@", "u:p@", "u;p@", "u%40@", "u%@", "a@b@", "u/p@", "ü@", "@"]
HOSTS = ["a.example", "A.Example", "a.example.", "a.example..", "%61.example", "a%2Eexample", "b%FCcher.example", "127.0.0.1", "0x7f.1",
         "0177.0.0.01", "2130706433", "127.1", "256.1.1.1", "1.2.3.4.5", "08.1.1.1", "[::1]", "[0:0::1]", "[::ffff:1.2.3.4]", "[::FFFF:102:304]",
         "[::1", "[::1]x", "[1::2::3]", "a_b.example", "a b.example", "a,b.example", "-a.example", "", ".", "xn--bcher-kva.example",
         "XN--BCHER-KVA.example", "xn--a", "a.7", "a.example;", "a\\b", "a%00b", "a%2Fb", "a~!$&'()*+=b.example", "*.example"]
PORTS = ["", ":", ":80", ":443", ":0080", ":65535", ":65536", ":8080", ":x", ":-1"]
TAILS = ["", "/", "/a", "?a", "#a", "/a#b", "/a?b#c", "/%41%2f%zz", "/é*$", "/a\\b", "//a", "/x/*$", "/a/b?c=/d?e", "/p|q", "/robots.txt", "/robots.txt?x", "/r"]
# Exit code of `reptile classify` if most rows are invalid.
MOST_ARE_INVALID = 1
FILE = """user-agent: *
disallow: /a
allow: /a/b
disallow: /*?c=
disallow: /%41
disallow: /x/%2A
disallow: /p
disallow: /r
allow: /$
"""


def run(*command, may_end_with=0):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode not in (0, may_end_with):
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr.decode(errors='replace')}")


def body_of(case):
    if "body_base64" in case:
        return base64.b64decode(case["body_base64"])
    if "body_parts" in case:
        return b"".join(base64.b64decode(part) * times for part, times in case["body_parts"])
    return case["body"].encode()


def suite(repository, data, reptile):
    """Compiles a set per dialect, with an origin per case."""
    folder = data / "suite"
    folder.mkdir()
    captures, rows = {}, {}
    files = sorted((repository / "corpora" / "suite").glob("*.toml"))
    number = 0
    for file in files:
        parsed = tomllib.loads(file.read_text())
        dialect = parsed["dialect"]
        for case in parsed["case"]:
            number += 1
            origin = f"http://case-{number}.example/"
            body = base64.b64encode(body_of(case)).decode()
            captures.setdefault(dialect, []).append(json.dumps({"url": origin + "robots.txt", "body_base64": body}))
            for check in case.get("checks", [{}]):
                both = {**case, **check}
                url = "".join(text * times for text, times in both["url_parts"]) if "url_parts" in both else both["url"]
                cells = [origin, *(base64.b64encode(text.encode()).decode() for text in (both["agent"], url))]
                cells += [both["verdict"], str(both.get("line", "-")), case["name"].replace("\t", " ")]
                rows.setdefault(dialect, []).append("\t".join(cells))
    found = (len(files), number, sum(map(len, rows.values())))
    if found != (FILES, CASES, CHECKS):
        sys.exit(f"the suite has {found} files, cases and checks, not {(FILES, CASES, CHECKS)}: update prepare.py")
    for dialect, lines in captures.items():
        (folder / f"{dialect}.jsonl").write_text("\n".join(lines) + "\n")
        (folder / f"{dialect}.tsv").write_text("\n".join(rows[dialect]) + "\n")
        run(*reptile, "compile", "--dialect", dialect, "-o", folder / f"{dialect}.reptile", folder / f"{dialect}.jsonl")


def answers(reptile, folder, name, agents, urls):
    """Records the command's answers for each agent."""
    # The command ignores white space and controls around a URL; the library does not.
    urls = [url for url in urls if url and min(url[0], url[-1]) > 0x20]
    (folder / f"{name}.urls").write_bytes(b"\n".join(urls) + b"\n")
    for agent in agents:
        run(*reptile, "classify", "-q", "--input-format", "list", folder / f"{name}.reptile", folder / f"{name}.urls", "--agent", f"exact:{agent}",
            "--columns", "verdict,line,rule", "-o", folder / f"{name}@{agent}.tsv", may_end_with=MOST_ARE_INVALID)


def spellings(reptile, folder):
    """Compares many spellings of URLs whose origins the set contains in one spelling."""
    hosts = ["a.example", "127.0.0.1", "[::1]", "[::ffff:1.2.3.4]", "xn--bcher-kva.example", "a_b.example", "a.example:8080", "a,b.example"]
    lines = [json.dumps({"url": f"{scheme}://{host}/robots.txt", "body": FILE}) for scheme in ("http", "https", "ftp") for host in hosts]
    pick = random.Random(9309)
    urls = ["".join(parts) for parts in itertools.product(SCHEMES[:2], [""], HOSTS, PORTS[:3], TAILS)]
    urls += ["".join(map(pick.choice, (SCHEMES, USERS, HOSTS, PORTS, TAILS))) for _ in range(20_000)]
    letters = "ht:/@[].%2a\\;#?é0 -A"
    urls += ["http://" + "".join(pick.choices(letters, k=pick.randrange(1, 12))) for _ in range(20_000)]
    beyond = ["bücher.example", "BÜCHER.example", "B%C3%9Ccher.example", "bu\u0308cher.example", "b\u00fccher\u3002example", "\uff41.example",
              "fa\u00df.example", "xn--bcher-kva.ex\u00e4mple", "\u0661.example", "a\u200db.example", "\uff11\uff12\uff17.1", "a\uff0fb.example",
              "\u05d0a.example", "-\u00fc.example", "\u00fc" * 70 + ".example", "xn--\u00fc.example"]
    unicode = [f"{scheme}{host}{tail}" for scheme in SCHEMES[:2] for host in beyond for tail in ("", "/a", "/a/b")]
    lines += [json.dumps({"url": f"http://{host}/robots.txt", "body": FILE}) for host in ("fass.example", "xn--fa-hia.example")]
    (folder / "spellings.jsonl").write_text("\n".join(lines) + "\n")
    run(*reptile, "compile", "-o", folder / "unicode.reptile", folder / "spellings.jsonl")
    answers(reptile, folder, "unicode", ["GPTBot"], [url.encode() for url in unicode])
    for dialect in ("google", "google-lib", "yandex", "bing", "koster-1996"):
        run(*reptile, "compile", "--dialect", dialect, "-o", folder / f"{dialect}.reptile", folder / "spellings.jsonl")
        answers(reptile, folder, dialect, ["GPTBot"], [url.encode() for url in urls if url])


def headers(reptile, data):
    """Decides URLs for the crawlers behind User-Agent headers, by a file with each crawler's rule on a different
    line."""
    folder = data / "headers"
    folder.mkdir()
    names = ["Googlebot", "Googlebot-Image", "GPTBot", "bingbot", "Ab", "MJ", "curl", "FooBot", "a", "*"]
    body = "".join(f"user-agent: {name}\ndisallow: /\n\n" for name in names)
    (folder / "headers.jsonl").write_text(json.dumps({"url": "http://a.example/robots.txt", "body": body}) + "\n")
    run(*reptile, "compile", "-o", folder / "headers.reptile", folder / "headers.jsonl")
    products = ["Mozilla/5.0", "(X11; Linux x86_64)", "AppleWebKit/537.36", "(KHTML, like Gecko)", "Chrome/120.0", "Safari/537.36", "Firefox/143.0",
                "(compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot", "Googlebot-Image/1.0", "googlebot/2", "GPTBot/1.2;",
                "Googelbot/1", "Ab12x/1.4.8;", "MJ12bot/v1.4.8", "MJ12bot", "curl/8.1", "curl", "wget/1.2", "FooBot/1.0", "foobot", "MyCrawler/2",
                "Some-Spider/v3", "v1/1", "/1.0", "1/2", "bot/1", "_/1", "12bot/3", ".bot/1", "a/1", "a.b/1", "x/v", "bingbot;", "\u00c4Bot/1", "*"]
    pick = random.Random(9309)
    rows = [*products, *(" ".join(pick.choices(products, k=pick.randrange(2, 6))) for _ in range(3000)), *(f" {text}  " for text in products)]
    # The command treats other texts as product tokens.
    rows = [row for row in rows if "/" in row]
    rows += ["FooBot/1.0 " + "x" * (4096 - 11 + over) for over in (-1, 0, 1)]
    (folder / "headers.tsv").write_text("url\tuser_agent\n" + "".join(f"http://a.example/{number}\t{text}\n" for number, text in enumerate(rows)))
    run(*reptile, "classify", "-q", folder / "headers.reptile", folder / "headers.tsv", "--agent", "{user_agent}",
        "--columns", "verdict,line,reason", "-o", folder / "answers.tsv")


def fields(reptile, data):
    """Lists other directives of every kind and state, and the real files' directives."""
    folder = data / "fields"
    folder.mkdir()
    lines = ["Sitemap: http://a.example/1.xml", "sitemap: http://a.example/2.xml", "Sitemap:", "Host: a.example", "Host: b.example", "Crawl-delay: 3",
             "User-agent: *", "Crawl-delay: 1", "Crawl-delay: x", "Request-rate: 1/5", "Visit-time: 0600-0845", "Clean-param: a&b /x",
             "Content-Signal: search=yes, ai-train=no", "Content-Usage: train-ai=n", "Noindex: /n", "Made-up: value", "MADE-UP: value2", "Disallow: /a",
             "# BEGIN Cloudflare Managed content", "User-agent: GPTBot", "Crawl-delay: 7", "Disallow: /", "# END Cloudflare Managed Content",
             "Sitemap: http://a.example/" + "x" * 3000, "Sitemap: http://a.example/" + "x" * 3000 + "y", "Other: \u00e9", "sitemap: relative"]
    bodies = {"all": lines, "none": ["User-agent: *", "Disallow: /"], "one": lines[:1], "twice": lines + lines[::-1]}
    (folder / "fields.jsonl").write_text(
        "".join(json.dumps({"url": f"http://{name}.example/robots.txt", "body": "\n".join(body)}) + "\n" for name, body in bodies.items()))
    sets = {}
    for dialect in ("google", "yandex", "rfc9309", "bing"):
        sets[dialect] = folder / f"{dialect}.reptile"
        run(*reptile, "compile", "--dialect", dialect, "-o", sets[dialect], folder / "fields.jsonl")
    if (data / "real" / "google-lib.reptile").exists():
        sets["real"] = data / "real" / "google-lib.reptile"
    for name, path in sets.items():
        (folder / f"{name}.path").write_text(str(path))
        with (folder / f"{name}.fields").open("wb") as out:
            subprocess.run([*reptile, "-q", "fields", path], stdout=out, check=True)


def scopes(reptile, data):
    """Compiles a few origins, and decides URLs of related origins in every scope."""
    folder = data / "scope"
    folder.mkdir()
    known = ["https://example.com", "http://www.plain.com", "https://www.shop.co.uk", "http://someone.github.io", "https://1.2.3.4",
             "https://github.io", "http://port.example:8080", "https://b.deep.example", "https://xn--bcher-kva.example", "ftp://files.example"]
    lines = [json.dumps({"url": f"{origin}/robots.txt", "body": f"# {origin}\n" * number + FILE}) for number, origin in enumerate(known)]
    lines.append(json.dumps({"url": "http://example.com/robots.txt", "status": 503, "time": 1_690_000_000}))
    (folder / "scope.jsonl").write_text("\n".join(lines) + "\n")
    run(*reptile, "compile", "-o", folder / "scope.reptile", folder / "scope.jsonl")
    hosts = ["example.com", "plain.com", "shop.co.uk", "someone.github.io", "1.2.3.4", "0x1.2.3.4", "github.io", "port.example", "deep.example",
             "b.deep.example", "xn--bcher-kva.example", "files.example", "co.uk", "com", "example", "other.example", "[::1]", "EXAMPLE.com.",
             "a" * 252, "a" * 240 + ".plain.com", "b%2Edeep.example"]
    names = [prefix + host for host in hosts for prefix in ("", "www.", "a.", "www.a.", "a.b.", "www.www.")]
    urls = ["".join(parts) for parts in itertools.product(["http://", "HTTPS://", "ftp://"], names, ["", ":80", ":443", ":8080"], TAILS)]
    (folder / "scope.urls").write_text("\n".join(urls) + "\n")
    for scope in ("origin", "scheme", "www", "domain"):
        run(*reptile, "classify", "-q", "--input-format", "list", folder / "scope.reptile", folder / "scope.urls", "--agent", "GPTBot",
            "--scope", scope, "--columns", "verdict,line,reason", "-o", folder / f"{scope}.tsv", may_end_with=MOST_ARE_INVALID)


def uses(repository, data, reptile):
    """Compiles the cases about uses, each as an origin, and random rules, about which the command is asked."""
    folder = data / "usage"
    folder.mkdir(parents=True)
    cases = tomllib.loads((repository / "corpora/usage/cases.toml").read_text(encoding="utf-8"))
    rows, lines = [], []
    for kind in ("usage", "signals"):
        for number, case in enumerate(cases[kind]):
            host = f"http://{kind}{number}.example"
            lines.append({"url": f"{host}/robots.txt", "time": "1970-01-01T00:10:00Z", "body": case["body"]})
            rows.append("\t".join([kind, case["name"], case["agent"], host + case["path"], case["train"], case["search"]]))
    tokens = tomllib.loads((repository / "corpora/usage/tokens.toml").read_text(encoding="utf-8"))
    for number, case in enumerate(tokens["tokens"]):
        host = f"http://tokens{number}.example"
        lines.append({"url": f"{host}/robots.txt", "time": "1970-01-01T00:10:00Z", "body": case["body"]})
        rows.append("\t".join(["tokens", case["name"], case["agent"], host + case["path"], case["train"], case["with_default"]]))
    (folder / "cases.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    dice = random.Random(29)
    letters = lambda alphabet, most: "".join(dice.choices(alphabet, k=dice.randint(0, most)))
    urls = []
    for number in range(200):
        host = f"http://random{number}.example"
        body = "content-signal: search=no\n" * dice.randint(0, 1)
        for agent in dice.choice((["*"], ["Bot", "*"], ["Bot", "Bot"], ["x"])):
            body += f"user-agent: {agent}\n"
            for _ in range(dice.randint(1, 12)):
                statement = ", ".join(f"{label}={dice.choice('ynx')}" for label in dice.sample(["train-ai", "search", "ai-use"], 2))
                path = dice.choice(("", "/" + letters("ab*$", 4) + " "))
                body += dice.choice((f"content-usage: {path}{statement}\n", f"disallow: /b{letters('ab', 2)}\n"))
            body += dice.choice(("", "content-signal: ai-train=yes, ai-input=no\n"))
        lines.append({"url": f"{host}/robots.txt", "time": "1970-01-01T00:10:00Z", "body": body})
        urls += [f"{host}/{letters('ab$', 5)}" for _ in range(20)]
    (folder / "uses.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "urls").write_text("\n".join(urls) + "\n")
    run(*reptile, "compile", "-o", folder / "cases.reptile", folder / "uses.jsonl")
    run(*reptile, "compile", "--by-time", "-o", folder / "timed.reptile", folder / "uses.jsonl")
    run(*reptile, "classify", "-q", "--input-format", "list", folder / "cases.reptile", folder / "urls", "--agent", "Bot",
        "--usage", "train-ai,search,ai-use", "--usage-from", "all", "--columns", "url", "-o", folder / "random.tsv")


def several(shared, reptile, data, full):
    """Asks the command about several crawlers, groups, purposes and rows' crawlers, in sets that other tests use.

    A row of `questions.tsv` has a name, the set, the input, the agents, `times` if the input has them, the scope, the
    purpose, the lines that are read, and the meaning of an unknown preference. `NAME.tsv` has the command's answers.
    """
    folder = data / "agents"
    folder.mkdir()
    uses, timed = data / "usage" / "cases.reptile", data / "usage" / "timed.reptile"
    years, scope, headers = (data / "time" / "years.reptile", data / "scope" / "scope.reptile", data / "headers" / "headers.reptile")
    urls = (data / "usage" / "urls").read_text().split()
    (folder / "timed.tsv").write_text("url\ttime\n" + "".join(f"{url}\t1970-01-01T00:{('09:59', '10:00', '10:01')[at % 3]}Z\n" for at, url in enumerate(urls)))
    (folder / "rows.tsv").write_text("url\tuser_agent\n" + "".join(
        f"{url}\t{('Bot', 'Bot/1.0 (x)', 'GPTBot', '-', 'Firefox/143.0', 'Ab12x', '*', 'A>B')[at % 8]}\n" for at, url in enumerate(urls)))
    many = ["Googlebot", "Bot", "@ai-training"]
    training = [("train-ai", lines, unknown) for lines in ("usage", "signals", "all") for unknown in ("allow", "disallow", "unknown")]
    questions = [(uses, data / "usage" / "urls", many, "", "origin", *purpose) for purpose in [("", "", ""), *training]]
    questions += [(uses, folder / "rows.tsv", ["{user_agent}"], "", "origin", *purpose) for purpose in [("", "", ""), *training[-3:]]]
    questions += [(timed, folder / "timed.tsv", ["Bot", "*"], "times", "www", *training[-2])]
    questions += [(years, data / "time" / "questions.tsv", ["GPTBot", "@search"], "times", "origin", "", "", "")]
    questions += [(headers, data / "headers" / "headers.tsv", ["{user_agent}"], "", "domain", "", "", "")]
    questions += [(scope, data / "scope" / "scope.urls", ["GPTBot", "A>B>*"], "", name, *training[1]) for name in ("scheme", "www", "domain")]
    if full and (corpus := shared / "corpora" / "real").is_dir():
        run(*reptile, "compile", "-q", "-o", folder / "real.reptile", corpus / "robots.tar.gz")
        (folder / "real.urls").write_bytes(gzip.open(corpus / "urls.txt.gz").read())
        lines = (folder / "real.urls").read_bytes().splitlines()
        texts = (data / "headers" / "headers.tsv").read_bytes().splitlines()[1:]
        cells = [texts[at % len(texts)].split(b"\t")[1] for at in range(len(lines))]
        (folder / "real-rows.tsv").write_bytes(b"url\tuser_agent\n" + b"".join(b"%s\t%s\n" % row for row in zip(lines, cells)))
        real = folder / "real.reptile"
        questions += [(real, folder / "real.urls", ["Googlebot", "@ai-training"], "", name, *purpose)
                      for name, purpose in (("origin", ("", "", "")), ("www", ("train-ai", "all", "disallow")), ("scheme", ("search", "all", "unknown")))]
        questions += [(real, folder / "real-rows.tsv", ["{user_agent}"], "", name, "", "", "") for name in ("origin", "www")]
    rows = []
    for number, (path, source, agents, times, name, purpose, lines, unknown) in enumerate(questions):
        is_by_row = agents == ["{user_agent}"]
        columns = "agent,verdict,reason" if is_by_row else "verdict,mask,refused" if times else "verdict,reason,mask,refused"
        options = [option for agent in agents for option in ("--agent", agent)] + ["--scope", name, "--columns", columns, "--header"]
        options += ["--at", "{time}"] if times else []
        options += [] if is_by_row or times else ["--input-format", "list"]
        if purpose:
            source_of = {"usage": "content-usage", "signals": "content-signal"}.get(lines, lines)
            options += ["--purpose", purpose, "--usage-from", source_of, "--treat", f"unknown-usage={unknown}"]
        run(*reptile, "classify", "-q", path, source, *options, "-o", folder / f"{number}.tsv", may_end_with=MOST_ARE_INVALID)
        rows.append("\t".join(map(str, (number, path, source, ",".join(agents), times, name, purpose, lines, unknown))))
    (folder / "questions.tsv").write_text("\n".join(rows) + "\n")


def real(shared, reptile, data, full):
    """Compiles the real files with `google-lib`, for comparison with Google's library; if `full`, with all dialects."""
    folder = data / "real"
    folder.mkdir()
    corpus = shared / "corpora" / "real"
    if not corpus.is_dir():
        return
    run(*reptile, "compile", "--dialect", "google-lib", "-o", folder / "google-lib.reptile", corpus / "robots.tar.gz")
    (folder / "golden.tsv").write_bytes(gzip.open(corpus / "golden.tsv.gz").read())
    if full:
        urls = gzip.open(corpus / "urls.txt.gz").read().splitlines()
        for dialect in DIALECTS:
            name = f"real-{dialect}"
            run(*reptile, "compile", "--dialect", dialect, "-o", data / "compare" / f"{name}.reptile", corpus / "robots.tar.gz")
            answers(reptile, data / "compare", name, AGENTS, urls)


def by_time(repository, data, reptile):
    """Compiles a set by time, with queries around every capture."""
    folder = data / "time"
    folder.mkdir()
    source = repository / "corpora" / "captures" / "years.jsonl"
    run(*reptile, "compile", "--by-time", "-o", folder / "years.reptile", source)
    begin = 1_672_531_200
    times = [begin + day * 86_400 + second for day in range(0, 900, 3) for second in (0, 28_799, 28_800)]
    rows = [f"{url}\t{time}" for time in times for url in ("https://paper.example.com/news/1", "https://paper.example.com/archive/2")]
    rows.append("https://unknown.example/\t1700000000")
    (folder / "questions.tsv").write_text("url\ttime\n" + "\n".join(rows) + "\n")
    run(*reptile, "classify", "-q", folder / "years.reptile", folder / "questions.tsv", "--at", "{time}", "--agent", "GPTBot",
        "--columns", "verdict,line", "-o", folder / "answers.tsv")


def damage(repository, data, reptile, mutants, full):
    """Damages sets and records the engine's answers; see `engine/examples/mutants.rs`."""
    folder = data / "damage"
    folder.mkdir()
    # A small set by time with every feature: patches, several groups for a token, consecutive wildcards, fallback
    # patterns, also after a settled state.
    shops = [f"user-agent: *\ndisallow: /{number}/cart\ndisallow: /{number}/checkouts\nallow: /{number}/open\ndisallow: /*/a*b*c$\n"
             for number in (1234567, 7654321)]
    deep = "user-agent: *\ndisallow: /" + "*".join("abcdefghijklmnopqrst") + "\nallow: /x*" + "*y" * 3 + "\ndisallow: /*?s=\n"
    together = "user-agent: GPTBot\ndisallow: /a*b\nallow: /a\n\nuser-agent: FooBot\nuser-agent: GPTBot\ndisallow: /ab\n"
    settled = "user-agent: *\ndisallow: /\ndisallow: /*" + "x" * 80 + "\nallow: /*" + "*".join("abcdefghijklmnopqrstuvw") + "\n"
    bodies = {"one.example": shops[0], "two.example": shops[1], "deep.example": deep, "both.example": together,
              "settled.example": settled}
    lines = [json.dumps({"url": f"https://{host}/robots.txt", "time": 1_690_000_000, "body": body}) for host, body in bodies.items()]
    lines += [json.dumps({"url": "https://deep.example/robots.txt", "time": 1_700_000_000, "status": 503}),
              json.dumps({"url": "https://gone.example/robots.txt", "time": 1_700_000_000, "status": 404})]
    tails = ["", "1234567/cart/1", "7654321/open", "x/a1b2c", "abcdefghijklmnopqrst", "xyyy?s=1", "ab", "a1b",
             "abcdefghijklmnopqrstuvw", "x" * 80 + "abcdefghijklmnopqrstuvw"]
    urls = [f"https://{host}/{tail}" for host in [*bodies, "gone.example"] for tail in tails]
    sets = [("rich", ["--by-time"], lines, urls)]
    # Segments that are suffixes and prefixes of others, lists of wildcard automata, and transition tables. Compiled for
    # dialects with and without operators, and for each way of comparing names.
    words = "user-agent: *\n" + "".join(f"disallow: /*{word}\n" for word in ("abc", "bcd", "cd", "bc", "abcde?", "cab", "xbc", "d$"))
    places = "user-agent: *\ndisallow: /*sort=\ndisallow: /de/*sort=\nallow: /de/*sort=1\nallow: /de/shop/*.html$\n" + "".join(
        f"disallow: /{letter}*{letter}{letter}\n" for letter in "fghijklmno")
    named = "user-agent: Googlebot\ndisallow: /g\n\nuser-agent: GPTBot\ndisallow: /*abc\nallow: /\n\nuser-agent: *\ndisallow: /*bc\n"
    # A named crawler, and outcomes without rules.
    bodies = {"words.example": words, "places.example": places, "named.example": named}
    lines = [json.dumps({"url": f"https://{host}/robots.txt", "body": body}) for host, body in bodies.items()]
    lines += [json.dumps({"url": "https://gone.example/robots.txt", "status": 404}),
              json.dumps({"url": "http://closed.example/robots.txt", "status": 503})]
    tails = ["", "xabcd", "xxabcde?", "bcabd", "cabcd", "abxbcde", "de/xsort=1", "de/shop/a.html", "de/shop/asort=.html", "f/ff", "off/ff",
             "mm/m?", "g", "abc", "%61bc", "*sort="]
    urls = [f"https://{host}/{tail}" for host in bodies for tail in tails] + ["https://gone.example/", "http://closed.example/a"]
    for dialect in ("google", "bing", "koster-1996"):
        sets.append((dialect, ["--dialect", dialect], lines, urls))
    # The folder of the current format version.
    versions = filter(pathlib.Path.is_dir, (repository / "engine" / "tests" / "golden").glob("v*"))
    golden = max(versions, key=lambda folder: int(folder.name[1:]))
    urls = dict.fromkeys(row.split(b"\t")[2] for row in (golden / "google.tsv").read_bytes().splitlines())
    (folder / "golden.urls").write_bytes(b"\n".join(urls) + b"\n")
    files = [golden / "google.set", folder / "golden.urls"]
    for name, options, lines, urls in sets:
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
        (folder / f"{name}.urls").write_text("\n".join(urls) + "\n")
        run(*reptile, "compile", *options, "-o", folder / f"{name}.reptile", folder / f"{name}.jsonl")
        files += [folder / f"{name}.reptile", folder / f"{name}.urls"]
    every, count = (9, 60_000) if full else (0, 4_000)
    run(mutants, folder / "mutants", every, count, 9309, *files)


def main():
    repository, data, mutants, *reptile = sys.argv[1:]
    full = "--full" in reptile
    reptile = [part for part in reptile if part != "--full"]
    repository, data = pathlib.Path(repository), pathlib.Path(data)
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(parents=True)
    suite(repository, data, reptile)
    (data / "compare").mkdir()
    spellings(reptile, data / "compare")
    headers(reptile, data)
    scopes(reptile, data)
    uses(repository, data, reptile)
    by_time(repository, data, reptile)
    damage(repository, data, reptile, mutants, full)
    shared = pathlib.Path(os.environ.get("REPTILE_SHARED", repository.parent / "shared"))
    several(shared, reptile, data, full)
    real(shared, reptile, data, full)
    fields(reptile, data)


main()
