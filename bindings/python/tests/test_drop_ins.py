"""Tests the drop-ins, and compares them with the originals."""

import collections
import datetime
import gzip
import http.server
import inspect
import os
import pathlib
import random
import subprocess
import sys
import tarfile
import threading
import urllib.robotparser

import pytest

import reptile
from reptile import _lines
from reptile.protego import Protego
from reptile.robotparser import RequestRate, RobotFileParser

ROBOTS = """
User-agent: Googlebot
Disallow: /private
Allow: /private/press$
Crawl-delay: 3
Request-rate: 9/30

User-agent: figtree
user-agent: fig
Disallow: /tmp
Disallow: /a%3cd.html
Disallow: /a/b.html
Disallow: /%7ejoe/index.html

User-agent: *
Disallow: /*.pdf$
Crawl-delay: 1.5
Request-rate: 1/10m 1300-1500
Visit-time: 0600-0845
Host: example.com
Sitemap: https://example.com/a.xml
Sitemap: https://example.com/b.xml
"""


def parser(text=ROBOTS):
    made = RobotFileParser("https://example.com/robots.txt")
    made.parse(text.splitlines())
    return made


def test_signatures_match_the_standard_library():
    for name in ("set_url", "read", "parse", "can_fetch", "mtime", "modified", "crawl_delay", "request_rate", "site_maps", "__init__"):
        theirs = inspect.signature(getattr(urllib.robotparser.RobotFileParser, name)).parameters
        ours = inspect.signature(getattr(RobotFileParser, name)).parameters
        assert [(each.name, each.default, each.kind) for each in ours.values()] == [
            (each.name, each.default, each.kind) for each in theirs.values()
        ], name
    assert RequestRate._fields == urllib.robotparser.RequestRate._fields


def test_robotparser():
    robots = parser()
    assert not robots.can_fetch("Googlebot", "https://example.com/private/x")
    assert not robots.can_fetch("Googlebot/2.1", "https://example.com/private/x")
    assert not robots.can_fetch("Mozilla/5.0 (compatible; Googlebot/2.1)", "/private/x")
    assert robots.can_fetch("Googlebot", "https://example.com/private/press")
    assert robots.can_fetch("MyBot", "https://example.com/private") and not robots.can_fetch("MyBot", "/x.pdf")
    assert robots.can_fetch("MyBot", "/x.pdf?y") and robots.can_fetch("MyBot", "")
    assert not robots.can_fetch("FigTree/0.1 libwww", "/tmp/x") and not robots.can_fetch("figtree", "/a%3Cd.html")
    assert (robots.crawl_delay("Googlebot"), robots.crawl_delay("MyBot"), robots.crawl_delay("figtree")) == (3, None, None)
    assert robots.request_rate("Googlebot") == RequestRate(9, 30) and robots.request_rate("MyBot") is None
    assert robots.site_maps() == ["https://example.com/a.xml", "https://example.com/b.xml"]
    assert parser("").site_maps() is None and "Disallow: /private" in str(robots)
    assert robots.mtime() > 0 and RobotFileParser().mtime() == 0


def test_robotparser_disallows_before_reading():
    robots = RobotFileParser()
    assert not robots.can_fetch("MyBot", "/")
    assert robots.crawl_delay("MyBot") is None and robots.site_maps() is None and robots.request_rate("MyBot") is None
    assert parser("").can_fetch("MyBot", "/x")


def test_robotparser_read_interprets_statuses():
    answers = {"/1/robots.txt": (200, ROBOTS), "/2/robots.txt": (404, ""), "/3/robots.txt": (403, ""), "/4/robots.txt": (500, "")}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status, body = answers[self.path]
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            found = []
            for number in range(1, 5):
                robots = RobotFileParser(f"http://127.0.0.1:{server.server_port}/{number}/robots.txt")
                robots.read()
                found.append((robots.can_fetch("Googlebot", "/private"), robots.can_fetch("Googlebot", "/")))
        finally:
            server.shutdown()
            thread.join()
    assert found == [(False, True), (True, True), (False, False), (False, False)]


def can_fetch(text, agent, url):
    """Returns whether a crawler may fetch a URL according to `robotparser` and `protego`."""
    return parser(text).can_fetch(agent, url), Protego.parse(text).can_fetch(url, agent)


@pytest.mark.parametrize("name", ["MJ12bot", "2bot", "Jävla-Bot", "harry potter", "Львів-bot", "x-a", "a:b", "*bot*"])
def test_names_that_are_not_product_tokens(name):
    text = f"user-agent: {name}\ndisallow: /x\n\nuser-agent: MJ\nuser-agent: *\ndisallow: /y"
    called = name.replace("*", "")
    assert can_fetch(text, called, "/x") == ((True, False) if name == "*bot*" else (False, False))
    assert can_fetch(text, f"Mozilla/5.0 (compatible; {called.upper()}/1.0)", "/x")[1] is False
    assert can_fetch(text, "MJ12", "/y") == can_fetch(text, "other", "/y") == (False, False)


def test_names_within_words():
    text = "user-agent: bot\ndisallow: /"
    assert can_fetch(text, "mybot", "/x") == (False, True) and can_fetch(text, "bot-news", "/x") == (False, False)


def test_keys_that_end_a_group():
    for key in ("Crawl-delay: 5", "Request-rate: 1/5"):
        text = f"user-agent: slow\n{key}\nuser-agent: *\ndisallow: /x"
        assert can_fetch(text, "slow", "/x") == (True, True) and can_fetch(text, "other", "/x") == (False, False)
    text = "user-agent: a\nsitemap: https://a.example/\nuser-agent: b\ndisallow: /x"
    assert can_fetch(text, "a", "/x") == can_fetch(text, "b", "/x") == (False, False)
    text = "user-agent: a\nunknown: 1\nuser-agent: b\ndisallow: /x"
    assert can_fetch(text, "a", "/x") == (False, True)


def test_the_last_valid_value_counts():
    text = "user-agent: a\ncrawl-delay: 1\ncrawl-delay: 3\ncrawl-delay: soon\n\nuser-agent: A\nrequest-rate: 1/0\nrequest-rate: 2/7"
    assert (parser(text).crawl_delay("a"), Protego.parse(text).crawl_delay("a")) == (3, 3.0)
    assert parser(text).request_rate("a") == RequestRate(2, 7) and tuple(Protego.parse(text).request_rate("a"))[:2] == (2, 7)
    far = "9" * 5000
    text = f"user-agent: a\ncrawl-delay: {far}\nrequest-rate: {far}/{far}"
    assert parser(text).crawl_delay("a") is parser(text).request_rate("a") is Protego.parse(text).request_rate("a") is None
    assert Protego.parse(text).crawl_delay("a") is None and far not in str(parser(text))


def test_everyone_may_fetch_robots_txt():
    text = "user-agent: *\ndisallow: /"
    assert can_fetch(text, "a", "https://example.com/robots.txt") == (True, True)
    assert can_fetch(text, "a", "https://example.com/robots.txt?x=1") == (False, True)
    assert can_fetch(text, "a", "https://example.com/a/robots.txt?x") == can_fetch(text, "a", "/a?/robots.txt?") == (False, False)


def test_malformed_urls():
    assert parser("user-agent: *\ndisallow: /").can_fetch("a", "http://[") is True
    with pytest.raises(ValueError):
        Protego.parse("user-agent: *\ndisallow: /").can_fetch("http://[", "a")


def test_robotparser_as_str():
    text = "User-agent: A # one\nuser-agent: b\n\ndisallow: /x\nCrawl-Delay: 2\nunknown: 1\nuser-agent: *\nuser-agent: c"
    assert str(parser(text)) == "User-agent: A\nUser-agent: b\nCrawl-delay: 2\nDisallow: /x\n\nUser-agent: *\nUser-agent: c\nAllow:"
    assert str(RobotFileParser()) == ""


def test_the_size_limit_matches_reptile():
    assert reptile.Robots(b"#" * _lines.MAX_BYTES, "rfc9309").decide("a", "/") == "allow"
    with pytest.raises(reptile.Error):
        reptile.Robots(b"#" * (_lines.MAX_BYTES + 1), "rfc9309")


@pytest.mark.parametrize("beyond", [-1, 0, 1])
@pytest.mark.parametrize("place", [0, 1])
def test_robots_txt_is_truncated_at_the_limit(place, beyond, monkeypatch):
    monkeypatch.setattr(_lines, "MAX_BYTES", 2000)
    head, tail = "user-agent: *\n", "disallow: /z\n"
    line = "disallow: /x\n"
    # The text passed to Reptile has the same names and keys. For Protego, each rule has one more slash.
    added = place
    room = _lines.MAX_BYTES + beyond - len(head) - len(tail) - added
    count, rest = divmod(room, len(line) + added)
    text = head + line * (count - 1) + "disallow: /x" + "x" * rest + "\n" + tail
    assert len(text) + added * (count + 1) == _lines.MAX_BYTES + beyond
    assert can_fetch(text, "a", "/z")[place] == (beyond > 0) and can_fetch(text, "a", "/x")[place] is False


def test_protego():
    robots = Protego.parse(ROBOTS)
    assert not robots.can_fetch("https://example.com/private/x", "Googlebot") and robots.can_fetch("/private/press", "Googlebot")
    assert (robots.crawl_delay("Googlebot"), robots.crawl_delay("MyBot"), robots.crawl_delay("figtree")) == (3.0, 1.5, None)
    rate = robots.request_rate("Googlebot")
    assert tuple(rate) == (9, 30, None, None)
    rate = robots.request_rate("MyBot")
    assert tuple(rate) == (1, 600, datetime.time(13), datetime.time(15))
    assert tuple(robots.visit_time("MyBot")) == (datetime.time(6), datetime.time(8, 45)) and robots.visit_time("Googlebot") is None
    assert list(robots.sitemaps) == ["https://example.com/a.xml", "https://example.com/b.xml"]
    assert robots.preferred_host == "example.com" and Protego.parse("").preferred_host is None
    with pytest.raises(TypeError, match="bytes"):
        Protego.parse(b"")


def test_protego_matches_the_original():
    protego = pytest.importorskip("protego")
    assert {name for name in dir(protego.Protego) if not name.startswith("_")} <= set(dir(Protego))
    ours, theirs = Protego.parse(ROBOTS), protego.Protego.parse(ROBOTS)
    for agent in ("Googlebot", "MyBot", "figtree", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://x.example)"):
        assert ours.crawl_delay(agent) == theirs.crawl_delay(agent)
        for name in ("request_rate", "visit_time"):
            mine, other = getattr(ours, name)(agent), getattr(theirs, name)(agent)
            assert mine is None and other is None or tuple(mine) == tuple(other), (agent, name)
    assert (list(ours.sitemaps), ours.preferred_host) == (list(theirs.sitemaps), theirs.preferred_host)
    pieces = ["a", "b", "/a/b", "/", "*", "**", "?", "?x=", "=", ".pdf", "%7Ejoe", "~joe", "é", "%C3%A9", "%2F", "%2f", "%25"]
    pieces += ["%", "%%34", "1", "3", "F", "2F", "$", "%24", "/index.html", "!", "%21", "+", " ", "%FF", "%2A", "&", ";", ".."]
    pieces += ["//", "%3F", "#", "http://x", "\\", "|", "[", "^", "\t", "robots.txt", "/robots%2Etxt"]
    chance = random.Random(9309)
    compared = 0
    for _ in range(1000):
        text = lambda: "".join(chance.choice(pieces) for _ in range(chance.randint(0, 4)))
        rule = lambda: f"{chance.choice(['allow', 'disallow'])}: {chance.choice('///*') + text()}{chance.choice(['', '', '$'])}"
        body = "user-agent: *\n" + "\n".join(rule() for _ in range(chance.randint(1, 6)))
        ours, theirs = Protego.parse(body), protego.Protego.parse(body)
        for _ in range(10):
            compared += 1
            url = chance.choice(["https://example.com", "", "example.com"]) + chance.choice("//") + text()
            assert may(ours, url) == may(theirs, url), (body, url)
    assert compared == 10_000


def may(robots, url):
    """Returns whether Protego's crawler may fetch a URL, or None if the URL is malformed."""
    try:
        return robots.can_fetch(url, "MyBot")
    except ValueError:
        return None


@pytest.mark.parametrize(
    "names", ["bot\nfoo", "foo\nbot", "*\nb", "b\n*", "foo-bot", "a*b*", "**"]
)
def test_protego_chooses_the_same_group(names):
    protego = pytest.importorskip("protego")
    groups = [f"user-agent: {name}\ndisallow: /{place}" for place, name in enumerate(names.split("\n"))]
    body = "\n\n".join([*groups, "user-agent: ab\ndisallow: /9"])
    ours, theirs = Protego.parse(body), protego.Protego.parse(body)
    for agent in ("foo bot", "bot foo", "foo-bot", "b", "b/2", "ab", "a-b", "", " ", "Foo"):
        for url in ("/0", "/1", "/9"):
            assert ours.can_fetch(url, agent) == theirs.can_fetch(url, agent), (names, agent, url)


def test_protego_matches_the_original_on_real_files():
    protego = pytest.importorskip("protego")
    shared = pathlib.Path(os.environ.get("REPTILE_SHARED", "absent")) / "corpora" / "real"
    if not shared.exists():
        pytest.skip("REPTILE_SHARED names no folder with real files")
    rows = collections.defaultdict(list)
    with gzip.open(shared / "golden.tsv.gz", "rt", encoding="utf-8", errors="replace") as file:
        for host, agent, url, *_ in (line.split("\t") for line in file):
            if len(rows[host]) < 12:
                rows[host].append((agent, url))
    compared = 0
    with tarfile.open(shared / "robots.tar.gz") as archive:
        for place, member in enumerate(archive):
            if place % 10 or not member.isfile():
                continue
            body = archive.extractfile(member).read().decode("utf-8", "ignore").removeprefix("\ufeff")
            ours, theirs = Protego.parse(body), protego.Protego.parse(body)
            assert (list(ours.sitemaps), ours.preferred_host) == (list(theirs.sitemaps), theirs.preferred_host), member.name
            for agent, url in rows[pathlib.PurePath(member.name).name]:
                compared += 1
                assert ours.can_fetch(url, agent) == theirs.can_fetch(url, agent), (member.name, agent, url)
                assert ours.crawl_delay(agent) == theirs.crawl_delay(agent), (member.name, agent)
    assert compared > 4_000


@pytest.mark.parametrize(
    "rules,url,allowed",
    [
        ("user-agent: *\ndisallow: /", "https://example.com?q=1", False),
        ("user-agent: *\ndisallow: /", "example.com/a", False),
        ("user-agent: *\nallow: /pictures/\ndisallow: /*.gif", "/pictures/cat.gif", True),
        ("user-agent: *\ndisallow: /a.js$", "/a.js#top", False),
        ("user-agent:\ndisallow: /", "/", True),
        ("user-agent: bot\ndisallow: /a\n\nuser-agent: botany\ndisallow: /b", "/a", True),
        ("user-agent: bot\ndisallow: /a\n\nuser-agent: botany\ndisallow: /b", "/b", False),
        # As in CPython, no escape is decoded twice, and `=` and `%3D` differ only in a query.
        ("user-agent: *\ndisallow: /images", "/imag%%365s", True),
        ("user-agent: *\ndisallow: /a=", "/a%3Db", False),
        ("user-agent: *\ndisallow: /?a=", "/?a%3Db", True),
    ],
)
def test_examples_of_robotparser(rules, url, allowed):
    assert parser(rules).can_fetch("botany-news", url) is allowed


@pytest.mark.parametrize(
    "rate,ours",
    [("+1/10", None), ("1_0/10", None), ("\u0661/10", None), ("1/10 0800 - 0900", None), (f"{'9' * 19}/1", None)],
)
def test_examples_of_protego(rate, ours):
    protego = pytest.importorskip("protego")
    text = f"user-agent: *\nrequest-rate: {rate}\nvisit-time: 0600  0845\nallow: /abc\ndisallow: /*?\ndisallow: /\ud800"
    robots, original = Protego.parse(text), protego.Protego.parse(text.replace("\ud800", "x"))
    assert robots.request_rate("bot") is ours and original.request_rate("bot") is not None
    assert robots.visit_time("bot") is not None and original.visit_time("bot") is None
    for url in ("/abc", "/abc?", "/abd", "/a?b"):
        assert robots.can_fetch(url, "bot") == original.can_fetch(url, "bot") == ("?" not in url)
    assert robots.can_fetch("/\ud800", "bot") is False


def test_scrapy():
    pytest.importorskip("scrapy")
    from reptile.scrapy import ReptileRobotParser

    robots = ReptileRobotParser.from_crawler(None, b"\xef\xbb\xbf" + ROBOTS.encode())
    assert not robots.allowed("https://example.com/private/x", "Googlebot") and robots.allowed(b"https://example.com/", b"MyBot")
    assert not robots.allowed("https://example.com/x.pdf", "Scrapy/2.13 (+https://scrapy.org)")
    assert (robots.crawl_delay(b"Googlebot"), robots.crawl_delay("figtree")) == (3.0, None)


SPIDER = """
import scrapy, scrapy.crawler, sys

class Spider(scrapy.Spider):
    name = "spider"
    start_urls = [sys.argv[1] + path for path in ("/a.html", "/private/a.html", "/private/press", "/a.pdf")]

    def parse(self, response):
        print("fetched", response.url.removeprefix(sys.argv[1]), flush=True)
        yield from response.follow_all(css="a")

process = scrapy.crawler.CrawlerProcess({
    "ROBOTSTXT_OBEY": True, "USER_AGENT": "MJ12bot/1.4", "ROBOTSTXT_PARSER": "reptile.scrapy.ReptileRobotParser",
    "LOG_LEVEL": "WARNING", "TELNETCONSOLE_ENABLED": False,
})
process.crawl(Spider)
process.start()
"""


def test_a_scrapy_spider_obeys():
    pytest.importorskip("scrapy")
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            is_robots = self.path == "/robots.txt"
            self.send_header("Content-Type", "text/plain" if is_robots else "text/html")
            self.end_headers()
            page = "<a href='/b.html'>b</a> <a href='/private/b.html'>c</a>"
            self.wfile.write((ROBOTS.replace("Googlebot", "MJ12bot") if is_robots else page).encode())

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            command = [sys.executable, "-c", SPIDER, f"http://127.0.0.1:{server.server_port}"]
            ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
        finally:
            server.shutdown()
            thread.join()
    fetched = {"/a.html", "/b.html", "/private/press", "/a.pdf"}
    assert ran.returncode == 0, ran.stderr
    assert {line.removeprefix("fetched ") for line in ran.stdout.splitlines()} == fetched
    assert set(asked) == fetched | {"/robots.txt"}
