"""The origins in a set: iteration and membership."""

import collections.abc
import gc
import threading

import pytest

import reptile

BODY = "user-agent: *\ndisallow: /x"
ORIGINS = [
    "https://a.example",
    "http://a.example",
    "http://a.example:8080",
    "https://xn--mller-kva.example",
    "http://[::1]:81",
]


@pytest.fixture(scope="module")
def web():
    return reptile.compile({f"{origin}/robots.txt": BODY for origin in ORIGINS})


def test_iteration(web):
    assert isinstance(web, collections.abc.Collection)
    assert sorted(web) == sorted(web.origins()) == sorted(ORIGINS) and len(web) == len(ORIGINS)
    # The order does not depend on the captures' order.
    other = reptile.compile({f"{origin}/robots.txt": BODY for origin in reversed(ORIGINS)})
    assert list(other) == list(web)
    origins = iter(web)
    assert iter(origins) is origins and isinstance(origins, reptile.Origins)
    assert [next(origins), *origins] == list(web) and next(origins, None) is None
    assert list(reptile.compile({})) == []
    assert web.decide_many("MyBot", web)["MyBot:verdict"] == ["allow"] * len(ORIGINS)


def test_iterators_keep_their_set():
    origins = iter(reptile.compile({f"https://{number}.example/robots.txt": BODY for number in range(1000)}))
    next(origins)
    gc.collect()
    assert len(set(origins)) == 999


def test_membership(web):
    for origin in ORIGINS:
        assert origin in web and origin + "/robots.txt" in web and (origin + "/x?y#z").encode() in web
    assert "HTTPS://Müller.Example:443/x" in web
    for other in ("https://b.example/", "http://a.example:81/", "ftp://a.example/", "nonsense", "", b"\xff"):
        assert other not in web
    for wrong in (None, 7, ["https://a.example"]):
        with pytest.raises(TypeError, match="str or bytes"):
            wrong in web


def test_membership_of_failed_captures():
    web = reptile.compile([{"url": "https://down.example/robots.txt", "error": "no connection"}], by_time=True)
    assert "https://down.example/" in web and list(web) == ["https://down.example"]


def test_threads_share_an_iterator():
    web = reptile.compile({f"https://{number}.example/robots.txt": BODY for number in range(5000)})
    origins, found = iter(web), []
    threads = [threading.Thread(target=lambda: found.extend(origins)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(web)
