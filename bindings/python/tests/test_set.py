"""Sets: opening, single decisions, errors, pickling, threads and forks."""

import concurrent.futures
import copy
import datetime
import doctest
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading

import pytest

import reptile
from reptile import Verdict

from conftest import CAPTURES, URLS


def test_the_package_docstring():
    assert doctest.testmod(reptile, raise_on_error=True).attempted >= 5


def test_verdicts(web):
    found = [web.decide("MyBot", url) for url in URLS if url is not None]
    assert found == ["disallow", "allow", "disallow", "disallow", "allow", "unknown", "invalid", "allow"]
    assert all(type(verdict) is Verdict for verdict in found)
    assert web.decide("MyBot", b"https://shop.example/cart") is Verdict.DISALLOW
    assert web.decide("MyBot", "https://shop.example/\udc80") == "allow"
    assert web.decide("MyBot", "https://\udc80.example/") == "invalid"
    assert web.agents(["MyBot", "GPTBot"]).decide("https://shop.example/") == ["allow", "disallow"]


def test_verdicts_have_no_truth_value(web):
    with pytest.raises(TypeError, match="compare it"):
        bool(web.decide("MyBot", "https://shop.example/"))
    assert f"{Verdict.ALLOW} {Verdict.ALLOW!s}" == "allow allow"
    assert pickle.loads(pickle.dumps(Verdict.ALLOW)) is Verdict.ALLOW


def test_explanations(web):
    why = web.explain("MyBot", "https://shop.example/cart/1")
    assert (why.verdict, why.rule, why.line, why.group, why.reason) == ("disallow", "Disallow: /cart", 2, "default", "rule")
    assert (why.disallow, why.allow) == ("Disallow: /cart", None)
    why = web.explain("MyBot", "https://down.example/")
    assert (why.verdict, why.rule, why.line, why.reason) == ("disallow", None, None, "503")
    assert "503" in repr(why)


def test_properties_of_a_set(web, path):
    assert (len(web), web.dialect, web.path) == (3, "google", path)
    assert "Googlebot" in web.crawlers
    assert web.sitemaps("https://shop.example/") == ["https://shop.example/sitemap.xml"]
    assert web.sitemaps("https://no.example/") is None
    assert [line["key"] for line in web.directives("https://shop.example/")] == ["content-usage", "crawl-delay", "sitemap"]
    web.verify()
    web.verify(deep=True)
    assert reptile.open(path, map=True).decide("MyBot", "https://shop.example/cart") == "disallow"
    assert reptile.open(os.fspath(path)).path == path


def test_agents(web):
    agent = web.agent("Googlebot-Image")
    assert (agent.name, agent.tokens, agent.is_named) == ("Googlebot-Image", ["Googlebot-Image", "Googlebot"], False)
    assert agent.decide("https://shop.example/cart") == "disallow"
    assert agent.explain("https://shop.example/cart").line == 2
    assert len(web.agents("@ai-training")) > 5
    with pytest.raises(reptile.CrawlerError, match='nearly the crawler "Googlebot"'):
        web.decide("Googelbot", "https://shop.example/")
    assert web.decide("Googelbot", "https://shop.example/", exact=True) == "allow"
    with pytest.raises(reptile.CrawlerError, match="GPTBot"):
        web.agent("Mozilla/5.0 (compatible; GPTBot/1.2)")
    with pytest.raises(ValueError, match="group"):
        web.decide("@search", "https://shop.example/")
    for number in range(1000):
        assert web.decide(f"Bot-{'x' * (number % 300)}", "https://shop.example/cart", exact=True) == "disallow"


def test_errors_are_exceptions_with_the_library_message(tmp_path):
    with pytest.raises(FileNotFoundError) as found:
        reptile.open(tmp_path / "nowhere")
    assert found.value.filename == str(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError):
        reptile.open(tmp_path / "nowhere", map=True)
    (tmp_path / "text").write_text("not a set")
    with pytest.raises(reptile.FormatError, match="not a valid set"):
        reptile.open(tmp_path / "text")
    with pytest.raises(ValueError, match="unknown dialect"):
        reptile.Robots("", "gogle")
    with pytest.raises(TypeError, match="str or bytes, not int"):
        reptile.Robots(7)
    with pytest.raises(reptile.Error, match="16777217|16 MiB|16,777,216|16777216"):
        reptile.Robots(b"#" * ((16 << 20) + 1))
    with pytest.raises(OSError):
        reptile.compile({}, tmp_path / "no" / "folder")


def test_compile(tmp_path):
    with pytest.raises(reptile.Error, match="robots"):
        reptile.compile({"https://shop.example/": ""})
    with pytest.raises(ValueError, match='unknown capture field "stauts"'):
        reptile.compile([{"url": "https://a.example/robots.txt", "stauts": 404}])
    with pytest.raises(TypeError, match="pair"):
        reptile.compile([7])
    large = b"#" * ((16 << 20) + 1)
    captures = [("https://large.example/robots.txt", large), *CAPTURES]
    with pytest.raises(reptile.Error, match="large.example"):
        reptile.compile(captures)
    left_out = []
    web = reptile.compile(captures, on_error=lambda origin, text: left_out.append((origin, text)))
    assert len(web) == 3 and "large.example" in left_out[0][0]
    # Neither the order nor the way of passing captures matters.
    paths = [tmp_path / "a", tmp_path / "b"]
    reptile.compile(CAPTURES, paths[0])
    reptile.compile(iter(reversed(CAPTURES)), os.fspath(paths[1]))
    assert paths[0].read_bytes() == paths[1].read_bytes()
    old = {"url": "https://a.example/robots.txt", "time": 1000, "body": "user-agent: *\ndisallow: /old"}
    new = {"url": "https://a.example/robots.txt", "time": 2000, "body": b"user-agent: *\ndisallow: /new"}
    web = reptile.compile([new, old], dialect="rfc9309", line_numbers=False)
    assert (web.dialect, web.time, web.explain("x", "https://a.example/new").line) == ("rfc9309", 2000, None)
    assert [web.decide("x", f"https://a.example/{path}") for path in ("old", "new")] == ["allow", "disallow"]
    assert all(reptile.Robots("", dialect).dialect == dialect for dialect in reptile.dialects())
    assert len(reptile.dialects()) == 9


def test_sets_pickle_as_their_paths(web, path):
    for copied in (pickle.loads(pickle.dumps(web)), copy.deepcopy(web)):
        assert copied.path == path and copied.decide("MyBot", "https://shop.example/cart") == "disallow"
    with pytest.raises(reptile.Error, match="only in memory"):
        pickle.dumps(reptile.compile({}))
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).decide('MyBot', 'https://shop.example/cart'))"
    printed = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(web), capture_output=True, check=True, cwd="/")
    assert printed.stdout.strip() == b"disallow"


def _decide(web):
    return web.decide_many("MyBot", ["https://shop.example/cart"] * 5000)["MyBot:verdict"][4999]


@pytest.mark.skipif(sys.platform != "linux", reason="fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fork_after_threads_were_started(web):
    assert _decide(web) == "disallow"
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(_decide, [web] * 4).get(timeout=60) == ["disallow"] * 4


def test_threads_can_share_a_set(web):
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        assert set(threads.map(lambda _: _decide(web), range(16))) == {Verdict.DISALLOW}


def test_other_threads_run_during_decide_many(web):
    urls = ["https://shop.example/cart"] * 300_000
    steps, done = 0, threading.Event()

    def decide():
        web.decide_many(["MyBot", "GPTBot"], urls, "verdict,rule")
        done.set()

    thread = threading.Thread(target=decide)
    thread.start()
    while not done.is_set():
        steps += 1
        done.wait(0.001)
    thread.join()
    assert steps > 0


def test_one_robots_txt():
    body = CAPTURES[0][1]
    robots = reptile.Robots.parse(body)
    assert robots.decide("MyBot", "/cart") == "disallow"
    assert robots.explain("MyBot", "/cart").rule == "Disallow: /cart"
    assert robots.agent("MyBot").crawl_delay("/") in (2.0, None)
    assert robots.agents(["MyBot", "GPTBot"]).decide("/") == ["allow", "disallow"]
    assert robots.sitemaps == ["https://shop.example/sitemap.xml"]
    assert reptile.Robots("disalow: /").diagnostics[0][0] == 1
    copied = pickle.loads(pickle.dumps(reptile.Robots(b"# \xff\n" + body.encode(), "rfc9309")))
    assert (copied.dialect, copied.decide("MyBot", "/cart")) == ("rfc9309", "disallow")
    assert robots.agent("any thing, at all/1", verbatim=True).decide("/cart") == "disallow"


def test_a_set_by_time():
    captures = [
        {"url": "https://a.example/robots.txt", "body": "user-agent: *\ndisallow: /x", "time": 1000},
        {"url": "https://a.example/robots.txt", "body": "user-agent: *\nallow: /x", "time": 2000},
    ]
    web = reptile.compile(captures, by_time=True)
    url = "https://a.example/x"
    at = datetime.datetime.fromtimestamp
    utc = datetime.timezone.utc
    for time, word in ((999, "unknown"), (1000, "disallow"), (1999, "disallow"), (2000, "allow"), (at(1999.9, utc), "disallow")):
        assert web.decide("MyBot", url, at=time) == web.agent("MyBot").decide(url, at=time) == word
        assert web.explain("MyBot", url, at=time).verdict == web.agent("MyBot").explain(url, at=time).verdict == word
    for time in (at(1000), "1000", 1.5, datetime.date(2020, 1, 1), 1 << 70):
        with pytest.raises((TypeError, OverflowError)):
            web.decide("MyBot", url, at=time)
    with pytest.raises(reptile.Error, match="not by time") as raised:
        reptile.compile(captures).decide("MyBot", url, at=1000)
    assert not isinstance(raised.value, reptile.FormatError)

    times = [999, 1000, None, at(2000, utc)]
    expected = ["unknown", "disallow", "invalid", "allow"]
    assert web.decide_many("MyBot", [url] * 4, times=times)["MyBot:verdict"] == expected
    assert web.agents(["MyBot"]).decide_many([url] * 4, "verdict", times=iter(times))["MyBot:verdict"] == expected
    assert web.decide_many("MyBot", [url] * 4, "mask,capture_time", times=times)["mask"] == [None, 1, None, 0]
    found = web.decide_many("MyBot", [url] * 3, "capture_time,ruleset", times=[1000, None, 5000])
    assert found["capture_time"] == [at(1000, utc), None, at(2000, utc)] and found["MyBot:ruleset"][1] is None
    assert web.decide_many("MyBot", [], times=[])["MyBot:verdict"] == []
    for few, word in ((times[:3], "more URLs than times"), ([*times, 1], "more times than URLs")):
        with pytest.raises(TypeError, match=word):
            web.decide_many("MyBot", [url] * 4, times=few)
    with pytest.raises(reptile.Error, match="not by time"):
        reptile.compile(captures).decide_many("MyBot", [url], times=[1])


def test_arrow_times():
    pyarrow = pytest.importorskip("pyarrow")
    captures = [{"url": "https://a.example/robots.txt", "body": "user-agent: *\ndisallow: /", "time": 1000}]
    web = reptile.compile(captures, by_time=True)
    urls = pyarrow.chunked_array([["https://a.example/"] * rows for rows in (1, 0, 3)])
    seconds = pyarrow.chunked_array([[999], [1000, None, 1001], []], pyarrow.timestamp("s", "UTC"))
    expected = ["unknown", "disallow", "invalid", "disallow"]
    table = pyarrow.table({"seen": seconds, "link": urls})
    for decide in (web.decide_many, web.decide_stream):
        for given in (
            decide("MyBot", urls, times=seconds),
            decide("MyBot", table, url_column="link", times="seen"),
            decide("MyBot", table.combine_chunks().to_batches()[0], times="seen"),
            decide("MyBot", urls.to_pylist(), times=pyarrow.array([999, 1000, None, 1_001_000_000_000])),
        ):
            assert pyarrow.table(given)["MyBot:verdict"].to_pylist() == expected
    with pytest.raises(TypeError, match="name"):
        web.decide_many("MyBot", table, url_column="link", times=seconds)
    with pytest.raises(TypeError, match="when"):
        web.decide_many("MyBot", table, times="when")
    columns = "ruleset,capture_time,mask,refused"
    found = pyarrow.table(web.decide_many(["A", "B"], table, columns, url_column="link", times="seen"))
    assert found.column_names == ["A:ruleset", "B:ruleset", "capture_time", "mask", "refused"]
    assert found["mask"].to_pylist() == [None, 3, None, 3] and found.schema.metadata[b"mask"] == b'["A","B"]'
    assert found["capture_time"].type == pyarrow.timestamp("ms", "UTC")
    assert [time and time.timestamp() for time in found["capture_time"].to_pylist()] == [None, 1000, None, 1000]
    assert found["A:ruleset"].to_pylist() == [None, 0, None, 0]
