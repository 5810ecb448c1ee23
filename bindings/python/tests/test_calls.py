"""Calls about one robots.txt: the cases in corpora/calls, and arguments in the wrong order."""

import pathlib

import pytest

import reptile

tomllib = pytest.importorskip("tomllib")

HERE = pathlib.Path(__file__).resolve().parent
CASES_FILE = HERE / "calls.toml"
if not CASES_FILE.exists():
    # The tests run in the repository, not in a copy.
    CASES_FILE = HERE.parents[2] / "corpora" / "calls" / "cases.toml"
CASES = tomllib.loads(CASES_FILE.read_text(encoding="utf-8"))
URLS = [(case["text"].ljust(case.get("bytes", 0), "a"), case["verdict"]) for case in CASES["url"]]


def test_there_are_cases():
    assert [len(CASES[name]) for name in ("url", "refused", "accepted")] == [66, 25, 36]


def test_a_text_is_a_url_a_path_or_invalid():
    robots, once = reptile.Robots(CASES["body"]), reptile.OneShot("GPTBot")
    agent, agents = robots.agent("GPTBot"), robots.agents(["GPTBot", "MyBot"])
    many = agents.decide_many([url for url, _ in URLS], "verdict,line,reason,refused")
    for row, (url, verdict) in enumerate(URLS):
        for text in (url, url.encode()):
            why = robots.explain("GPTBot", text)
            assert robots.decide("GPTBot", text) == agent.decide(text) == why.verdict == verdict, url[:60]
            assert once.decide(CASES["body"], text) == (verdict, why.line), url[:60]
            assert agents.decide(text) == [verdict, verdict]
        assert (many["GPTBot:verdict"][row], many["GPTBot:line"][row]) == (verdict, why.line)
        if verdict == "invalid":
            reason = "URL over 64 KiB" if len(url.encode()) > 64 << 10 else "no URL"
            assert (why.rule, why.line, why.reason, many["refused"][row]) == (None, None, reason, None)
            assert many["GPTBot:reason"][row] == reason


def test_a_url_a_path_or_a_file_name_is_no_robots_txt():
    once = reptile.OneShot("GPTBot")
    for body in CASES["refused"]:
        for text in (body, body.encode()):
            for call in (lambda: reptile.Robots(text), lambda: reptile.Robots.parse(text), lambda: once.decide(text, CASES["body"])):
                with pytest.raises(ValueError, match="expected the text of a robots.txt"):
                    call()
    for body in CASES["accepted"]:
        assert reptile.Robots(body).decide("GPTBot", "/x") in ("allow", "disallow")


def test_a_url_in_place_of_a_crawler_is_an_error():
    robots = reptile.Robots(CASES["body"])
    web = reptile.compile({"https://example.com/robots.txt": CASES["body"]})
    url = "https://example.com/private"
    for found in (robots, web):
        for call in (found.decide, found.explain):
            assert getattr(call("GPTBot", url), "verdict", "disallow") == "disallow"
            for exact in (False, True):
                with pytest.raises(reptile.CrawlerError):
                    call(url, "GPTBot", exact=exact)
                with pytest.raises(reptile.CrawlerError):
                    call("/private", "GPTBot", exact=exact)
    for call in (web.decide_many, web.decide_stream):
        with pytest.raises(reptile.CrawlerError):
            call([url], ["GPTBot"])
        with pytest.raises(reptile.CrawlerError):
            call(url, "GPTBot")
