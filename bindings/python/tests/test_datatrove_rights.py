"""The rights to pages in datatrove's filter."""

import pickle

import pytest

import reptile

pytestmark = pytest.mark.filterwarnings("ignore")

pytest.importorskip("datatrove")
try:
    from datatrove.data import Document

    from reptile.datatrove import RobotsFilter
except ImportError as error:
    pytest.skip(f"datatrove is unusable: the filter was NOT tested: {error}", allow_module_level=True)


def document(text="text", **metadata):
    return Document(text, "id", metadata={"url": "https://shop.example/", **metadata})


NOAI = "<meta name=robots content=noai>"


def test_rights_to_pages(path):
    options = {"rights": "all", "purpose": "train-ai", "unknown_usage": "allow", "mode": "tag"}
    for changed, metadata, text, expected in [
        ({}, {}, "", "unknown"),
        ({"html_key": "html", "headers_key": "headers"}, {"html": "", "headers": {}}, "", "allow"),
        ({"html_key": "html", "headers_key": "headers"}, {"html": NOAI, "headers": []}, "", "disallow"),
        ({"html_key": "html", "headers_key": "headers"}, {"html": "", "headers": [["X-Robots-Tag", "noai"]]}, "", "disallow"),
        ({"html_key": "html", "headers_key": "headers"}, {"html": "", "headers": None}, "", "unknown"),
        ({"html_key": "html", "headers_key": "headers"}, {"headers": {}}, NOAI, "unknown"),
        # A reader of WARC files keeps the HTML as the text, without headers.
        ({"html_key": "text"}, {}, NOAI, "disallow"),
        ({"html_key": "text"}, {}, "<p>", "unknown"),
        ({"html_key": "text", "unknown_usage": "disallow"}, {}, "<p>", "disallow"),
        ({"html_key": "text", "rights": "robots"}, {}, NOAI, "allow"),
        ({"html_key": "text"}, {"url": None}, NOAI, "invalid"),
        ({"html_key": "text"}, {"url": "https://no.example/"}, NOAI, "unknown"),
    ]:
        given = document(text, **{"url": "https://gone.example/", **metadata})
        made = pickle.loads(pickle.dumps(RobotsFilter(path, ["MyBot", "GPTBot"], **{**options, **changed})))
        assert made.filter(given) is True
        refused = ["MyBot", "GPTBot"] if expected == "disallow" else []
        assert (given.metadata["robots"], given.metadata["robots_refused"]) == (expected, refused), (changed, metadata, text)
    # The robots.txt counts too.
    shop = document(NOAI, url="https://shop.example/help")
    RobotsFilter(path, ["MyBot", "GPTBot"], html_key="text", **{**options, "rights": "robots"}).filter(shop)
    assert (shop.metadata["robots"], shop.metadata["robots_refused"]) == ("disallow", ["MyBot", "GPTBot"])


def test_files_are_found_from_other_folders(path, tmp_path, monkeypatch):
    (tmp_path / "start").mkdir()
    (tmp_path / "other").mkdir()
    for folder, meaning in [("start", "train-ai"), ("other", "search")]:
        (tmp_path / folder / "words.txt").write_text(f"{meaning} = train-ai\n")
        (tmp_path / folder / "profile.txt").write_text(f"meta-robots noai = {meaning}=n\n")
    monkeypatch.chdir(tmp_path / "start")
    options = {"purpose": "train-ai", "unknown_usage": "allow", "mode": "tag"}
    usage = RobotsFilter(path, ["MyBot"], vocabulary="words.txt", **options)
    rights = RobotsFilter(path, ["MyBot"], rights="profile.txt", html_key="text", headers_key="headers", **options)
    named = [RobotsFilter(path, ["MyBot"], **options), RobotsFilter(path, ["MyBot"], rights="all", **options)]
    monkeypatch.chdir(tmp_path / "other")
    # Names of built-in texts are not paths.
    assert [each.options["vocabulary"] for each in named] == ["aipref-08", "aipref-08"] and named[1].rights == "all"
    for made in (usage, rights):
        given = document(NOAI, url="https://shop.example/help", headers={})
        assert pickle.loads(pickle.dumps(made)).filter(given) is True
        assert given.metadata["robots"] == "disallow"


def test_rights_at_the_time_of_the_fetch(tmp_path):
    captures = [
        {"url": "https://a.example/robots.txt", "body": f"user-agent: *\ncontent-usage: train-ai={value}", "time": time}
        for value, time in (("y", 1000), ("n", 2000))
    ]
    reptile.compile(captures, tmp_path / "web.reptile", by_time=True)
    options = {"rights": "robots", "purpose": "train-ai", "unknown_usage": "unknown", "time_key": "date"}
    made = RobotsFilter(tmp_path / "web.reptile", "CCBot", **options)
    for date, expected in [(1500, "allow"), ("1970-01-01T00:41:40Z", "disallow"), (None, "invalid"), ("now", "invalid")]:
        given = document(url="https://a.example/", date=date)
        made.filter(given)
        assert given.metadata["robots"] == expected, date


def test_invalid_options_of_rights(path):
    for options, text in [
        ({"rights": "all"}, "rights: requires purpose"),
        ({"rights": "all", "purpose": "train-ai"}, "unknown_usage"),
        ({"rights": "everything", "purpose": "train-ai", "unknown_usage": "allow"}, "profile: "),
        ({"rights": "all", "purpose": "train-ai", "unknown_usage": "allow", "scope": "www"}, "rights: cannot be combined"),
        ({"html_key": "html"}, "html_key and headers_key: require rights"),
        ({"headers_key": "headers"}, "html_key and headers_key: require rights"),
    ]:
        with pytest.raises(ValueError, match=text):
            RobotsFilter(path, "CCBot", **options)
