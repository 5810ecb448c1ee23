"""The drop-ins, beside what they take the place of."""

import datetime
import http.server
import inspect
import random
import threading
import urllib.robotparser

import pytest

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


def test_the_signatures_are_those_of_the_standard_library():
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


def test_robotparser_that_has_read_nothing_refuses():
    robots = RobotFileParser()
    assert not robots.can_fetch("MyBot", "/")
    assert robots.crawl_delay("MyBot") is None and robots.site_maps() is None and robots.request_rate("MyBot") is None
    assert parser("").can_fetch("MyBot", "/x")


def test_robotparser_fetches():
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
    with pytest.raises(ValueError):
        Protego.parse(b"")


def test_protego_beside_the_original():
    protego = pytest.importorskip("protego")
    assert {name for name in dir(protego.Protego) if not name.startswith("_")} <= set(dir(Protego))
    ours, theirs = Protego.parse(ROBOTS), protego.Protego.parse(ROBOTS)
    for agent in ("Googlebot", "MyBot", "figtree", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://x.example)"):
        assert ours.crawl_delay(agent) == theirs.crawl_delay(agent)
        for name in ("request_rate", "visit_time"):
            mine, other = getattr(ours, name)(agent), getattr(theirs, name)(agent)
            assert mine is None and other is None or tuple(mine) == tuple(other), (agent, name)
    assert (list(ours.sitemaps), ours.preferred_host) == (list(theirs.sitemaps), theirs.preferred_host)
    pieces = ["a", "b", "/a/b", "/", "*", "?x=", ".pdf", "%7Ejoe", "~joe", "é"]
    chance = random.Random(9309)
    compared = 0
    for _ in range(300):
        text = lambda: "/" + "".join(chance.choice(pieces) for _ in range(chance.randint(0, 3)))
        rules = [f"{chance.choice(['allow', 'disallow'])}: {text()}{chance.choice(['', '$'])}" for _ in range(chance.randint(1, 5))]
        body = "user-agent: *\n" + "\n".join(rules)
        ours, theirs = Protego.parse(body), protego.Protego.parse(body)
        for _ in range(10):
            path = text().replace("*", "")
            compared += 1
            url = f"https://example.com{path}"
            assert ours.can_fetch(url, "MyBot") == theirs.can_fetch(url, "MyBot"), (body, path)
    assert compared == 3000


def test_scrapy():
    pytest.importorskip("scrapy")
    from reptile.scrapy import ReptileRobotParser

    robots = ReptileRobotParser.from_crawler(None, b"\xef\xbb\xbf" + ROBOTS.encode())
    assert not robots.allowed("https://example.com/private/x", "Googlebot") and robots.allowed(b"https://example.com/", b"MyBot")
    assert not robots.allowed("https://example.com/x.pdf", "Scrapy/2.13 (+https://scrapy.org)")
