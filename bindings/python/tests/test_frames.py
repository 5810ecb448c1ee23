"""Frames in and out: captures from filtered frames, verdicts appended to frames, and conversions."""

import datetime
import pickle
import warnings

import pytest

import reptile

from conftest import URLS

pyarrow = pytest.importorskip("pyarrow")

AGENTS = ["MyBot", "GPTBot"]
COLUMNS = "verdict,line,refused"
RULES = "user-agent: *\ndisallow: /x"


def frame_of(kind, columns):
    if kind == "pyarrow":
        return pyarrow.table(columns)
    library = pytest.importorskip(kind)
    return library.DataFrame(columns)


def rows_of(frame):
    """Returns a frame's columns as lists of Python values."""
    if isinstance(frame, pyarrow.Table):
        return frame.to_pydict()
    if type(frame).__module__.startswith("polars"):
        return frame.to_dict(as_series=False)
    return {name: pyarrow.array(frame[name], from_pandas=True).to_pylist() for name in frame.columns}


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_verdicts_are_appended(kind, web):
    count = len(URLS)
    frame = frame_of(kind, {"n": list(range(count)), "url": URLS, "text": ["t"] * count})
    expected = web.decide_many(AGENTS, URLS, COLUMNS).to_pydict()
    before = rows_of(frame)
    for appended in (web.with_verdicts(AGENTS, frame, COLUMNS), web.agents(AGENTS).with_verdicts(frame, COLUMNS)):
        assert type(appended) is type(frame)
        assert rows_of(appended) == {**before, **expected}
    assert rows_of(frame) == before
    only = web.with_verdicts("GPTBot", frame)
    assert rows_of(only)["GPTBot:verdict"] == expected["GPTBot:verdict"] and len(rows_of(only)) == 4
    # Options are as in decide_many.
    renamed = frame_of(kind, {"link": URLS, "text": ["t"] * count})
    used = web.with_verdicts("MyBot", renamed, [], url_column="link", uses="train-ai")
    assert rows_of(used)["MyBot:train-ai"][0] == "not-applicable" and list(rows_of(used)) == ["link", "text", "MyBot:train-ai"]
    with pytest.raises(ValueError, match="the frame already has a column 'MyBot:verdict'; drop or rename it"):
        web.with_verdicts(AGENTS, appended)
    with pytest.raises(ValueError, match="the frame already has a column 'url'"):
        web.with_verdicts(AGENTS, frame, "url,verdict")
    with pytest.raises(TypeError, match="no column"):
        web.with_verdicts(AGENTS, frame, url_column="link")
    with pytest.raises(TypeError, match="nonsense"):
        web.with_verdicts(AGENTS, frame, nonsense=True)
    empty = frame_of(kind, {"url": pyarrow.array([], pyarrow.string()) if kind == "pyarrow" else []})
    assert rows_of(web.with_verdicts("MyBot", empty)) == {"url": [], "MyBot:verdict": []}
    nulls = frame_of(kind, {"url": [None, None]})
    assert rows_of(web.with_verdicts("MyBot", nulls))["MyBot:verdict"] == [None, None]


def test_the_index_of_pandas_is_kept(web):
    pandas = pytest.importorskip("pandas")
    # A column with values of different types, which Arrow does not know.
    frame = pandas.DataFrame({"url": URLS, "anything": [1, "x", None, *([object()] * (len(URLS) - 3))]})
    filtered = frame[frame["url"].notna()]
    for index in (filtered.index, pandas.Index(["a"] * len(filtered), name="url_id"), filtered.index[::-1]):
        given = filtered.set_axis(index)
        appended = web.with_verdicts("GPTBot", given, "verdict,line")
        assert appended.index.equals(index) and appended.index.names == index.names
        known = [url for url in URLS if url is not None]
        assert rows_of(appended[["GPTBot:line"]]) == web.decide_many("GPTBot", known, "line").to_pydict()
        assert isinstance(appended["GPTBot:line"].dtype, pandas.ArrowDtype) and appended["anything"] is not None
    doubled = pandas.concat([frame["url"], frame["url"]], axis=1)
    with pytest.raises((TypeError, ValueError)):
        web.with_verdicts("GPTBot", doubled)


def test_a_time_for_each_row(tmp_path):
    captures = [
        {"url": "https://a.example/robots.txt", "body": body, "time": time} for time, body in ((1000, RULES), (2000, ""))
    ]
    web = reptile.compile(captures, by_time=True)
    columns = {"url": ["https://a.example/x"] * 3, "fetched": [1500, 2500, None], "text": ["t"] * 3}
    for kind in ("pandas", "polars", "pyarrow"):
        try:
            frame = frame_of(kind, columns)
        except pytest.skip.Exception:
            continue
        found = rows_of(web.with_verdicts("MyBot", frame, times="fetched"))
        assert found["MyBot:verdict"] == ["disallow", "allow", "invalid"], kind


def test_other_frames_are_refused(web):
    for frame, hint in [([{"url": "/"}], "builtins.list"), ({"url": ["/"]}, "builtins.dict"), (pyarrow.array(URLS), "StringArray")]:
        with pytest.raises(TypeError, match=f"expected a DataFrame of pandas or Polars, or a pyarrow.Table, found .*{hint}"):
            web.with_verdicts("MyBot", frame)
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match="for a lazy frame use reptile.polars.robots"):
        web.with_verdicts("MyBot", polars.LazyFrame({"url": URLS}))


def test_derived_frames_stay(web):
    pandas = pytest.importorskip("pandas")

    class Derived(pandas.DataFrame):
        @property
        def _constructor(self):
            return Derived

    assert type(web.with_verdicts("MyBot", Derived({"url": URLS}))) is Derived


def test_conversions(web):
    verdicts = web.decide_many(AGENTS, URLS, "url,verdict,line,mask,refused,capture_time")
    table = verdicts.to_arrow()
    assert table.equals(pyarrow.table(verdicts)) and table.to_pydict() == verdicts.to_pydict()
    pandas = pytest.importorskip("pandas")
    frame = verdicts.to_pandas()
    expected = table.to_pandas(types_mapper=pandas.ArrowDtype)
    pandas.testing.assert_frame_equal(frame, expected)
    assert all(isinstance(kind, pandas.ArrowDtype) for kind in frame.dtypes)
    assert rows_of(frame) == verdicts.to_pydict()
    polars = pytest.importorskip("polars")
    assert verdicts.to_polars().equals(polars.DataFrame(verdicts))
    assert verdicts.to_polars().to_dict(as_series=False) == verdicts.to_pydict()
    summary = web.summarize("GPTBot")
    assert summary.to_arrow().to_pydict() == summary.to_pydict()


CAPTURES = {
    "url": [f"https://{name}.example/robots.txt" for name in "abcd"],
    "body": [RULES] * 4,
    "status": [200, 404, 200, 200],
}


def compiled(captures, tmp_path, **options):
    path = tmp_path / "set"
    reptile.compile(captures, path, force=True, **options)
    return path.read_bytes()


def test_filtered_pandas_frames_are_captures(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(CAPTURES)
    expected = compiled(pyarrow.table(CAPTURES).filter(pyarrow.array([True, False, True, True])), tmp_path)
    filtered = frame[frame["status"] == 200]
    numbered = filtered.set_axis(pandas.Index([7, 8, 9], name="crawl_id"))
    levels = pandas.MultiIndex.from_arrays([["x"] * 3, [1, 2, 3]], names=["crawl_id", None])
    cases = [
        filtered,
        numbered,
        filtered.set_axis(pandas.Index([0.5, 1.5, 2.5])),
        filtered.set_axis(levels),
        # The URLs are the index.
        filtered.set_index("url"),
        pyarrow.Table.from_pandas(filtered),
    ]
    # Any warning is an error.
    for number, captures in enumerate(cases):
        assert compiled(captures, tmp_path) == expected, number
    assert len(cases) == 6
    with pytest.warns(reptile.IgnoredColumnWarning, match="ignored the columns title; captures have"):
        assert compiled(numbered.assign(title="x"), tmp_path) == expected


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_extra_columns_are_ignored_and_named_once(kind, tmp_path):
    expected = compiled(pyarrow.table(CAPTURES), tmp_path)
    columns = {"lang": ["en"] * 4, **CAPTURES, "stauts": [404] * 4}
    # A stream in many parts.
    frame = frame_of(kind, columns)
    frame = frame.to_reader(max_chunksize=1) if kind == "pyarrow" else frame
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert compiled(frame, tmp_path) == expected
    assert [str(warning.message) for warning in caught] == [
        "ignored the columns lang, stauts; captures have the columns url, body, status, time, redirects, error, truncated, "
        "cache_control, content_type"
    ]
    assert caught[0].category is reptile.IgnoredColumnWarning and issubclass(caught[0].category, UserWarning)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(reptile.IgnoredColumnWarning):
            reptile.compile(frame_of(kind, columns))


def test_encoded_bodies_are_not_ignored():
    table = pyarrow.table({"url": CAPTURES["url"], "body_base64": ["YQ=="] * 4})
    with pytest.raises(ValueError, match='the bodies are in "body_base64": decode them to a column "body"'):
        reptile.compile(table)
    with pytest.warns(reptile.IgnoredColumnWarning, match="body_base64"):
        assert len(reptile.compile(table.append_column("body", pyarrow.array(CAPTURES["body"])))) == 4


def test_null_urls_are_named_by_row():
    url, text = "https://a.example/robots.txt", "a capture without url, in row 5000$"
    # Rows are counted over all parts of a table.
    urls = [f"https://{number}.example/robots.txt" for number in range(5000)] + [None, url]
    table = pyarrow.table({"url": urls, "body": [""] * len(urls)})
    tables = [table, table.to_reader(max_chunksize=999), pyarrow.concat_tables([table.slice(0, 4999), table.slice(4999)])]
    for captures in tables:
        with pytest.raises(reptile.Error, match="^" + text):
            reptile.compile(captures)
    left_out = []
    assert len(reptile.compile(table, on_error=lambda *each: left_out.append(each))) == 5001
    assert left_out == [("", "a capture without url, in row 5000")]
    pairs = list(zip(urls, [""] * len(urls)))
    dictionaries = [{"url": url, "body": ""} for url in urls]
    without = [*dictionaries[:5000], {"body": ""}]
    for captures in (pairs, dictionaries, iter(dictionaries), without):
        with pytest.raises(ValueError, match=text):
            reptile.compile(captures)


def test_processes_map_a_set(path):
    web = reptile.open(path)
    assert web.__reduce__()[1] == (path, True)
    assert pickle.loads(pickle.dumps(web)).decide("MyBot", "https://shop.example/cart") == "disallow"


def test_merge_says_which_set_has_times(tmp_path):
    captures = [{"url": "https://a.example/robots.txt", "body": RULES, "time": 1000}]
    timed, plain = tmp_path / "timed.reptile", tmp_path / "plain.reptile"
    reptile.compile(captures, timed, by_time=True)
    reptile.compile(captures, plain)
    in_memory = reptile.compile(captures)
    for sets, by_time, other in [
        ([timed, plain], timed, plain),
        ([plain, plain, timed], timed, plain),
        ([reptile.open(timed), in_memory], timed, r"sets\[1\]"),
    ]:
        with pytest.raises(reptile.Error, match=f"^{by_time} is by time, and {other} is not: compile both with by_time=True, or none"):
            reptile.merge(sets)
    reptile.compile(captures, plain, dialect="rfc9309", force=True)
    with pytest.raises(reptile.Error, match=f"^{plain}: has the dialect rfc9309, and the sets before it have google"):
        reptile.merge([in_memory, plain])


def test_mistaken_names_mention_the_option(web):
    robots = reptile.Robots(RULES)
    option = "; exact=True takes the name as it is$"
    for call, text in [
        (lambda: web.decide("Googelbot", "/"), '^no robots.txt names the crawler "Googelbot", which is nearly'),
        (lambda: web.agents(["MyBot", "ChatGPT"]), '^no robots.txt names the crawler "ChatGPT", which is not a crawler'),
        (lambda: web.decide_many("Googelbot", []), '^no robots.txt names the crawler "Googelbot"'),
        (lambda: robots.agent("Googelbot"), '^the robots.txt does not name the crawler "Googelbot"'),
        # It has read no file.
        (lambda: reptile.OneShot("Googelbot"), '^expected a crawler, found "Googelbot", which is nearly the crawler "Googlebot"'),
    ]:
        with pytest.raises(reptile.CrawlerError, match=text) as raised:
            call()
        assert raised.match(option)
    assert reptile.OneShot("Googelbot", exact=True).name == "Googelbot"


def test_times_are_datetimes(web):
    # A frame of captures may have times of any kind.
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({**CAPTURES, "time": [datetime.datetime(2026, 1, day, tzinfo=datetime.timezone.utc) for day in range(1, 5)]})
    assert len(reptile.compile(frame[frame["status"] == 200], by_time=True)) == 3
