"""Rows without a URL, columns without any value, and empty input."""

import pytest

import reptile

from conftest import URLS

ALL = ["url", "verdict", "line", "rule", "group", "reason", "ruleset", "capture_time", "capture", "mask", "refused"]


def test_every_column_is_null_where_the_url_is_null(web):
    for decide in (web.decide_many, lambda agents, urls, columns: web.agents(agents).decide_many(urls, columns)):
        for urls in ([None], [None, None], [None, URLS[0], None], [b"https://shop.example/", None]):
            found = decide(["MyBot", "GPTBot"], urls, ALL).to_pydict()
            assert len(found) == 1 + 2 * 6 + 4
            for name, column in found.items():
                assert [column[row] for row, url in enumerate(urls) if url is None] == [None] * urls.count(None), name
            assert all(verdict is not None for verdict, url in zip(found["MyBot:verdict"], urls) if url is not None)


def inputs():
    """Yields columns of two rows without any value, from each installed library."""
    yield "list", [None, None]
    pyarrow = pytest.importorskip("pyarrow")
    nulls = pyarrow.nulls(2)
    yield "pyarrow", nulls
    yield "pyarrow chunks", pyarrow.chunked_array([nulls[:1], nulls[1:]])
    yield "pyarrow table", pyarrow.table({"n": [1, 2], "url": nulls})
    yield "pyarrow table with one column", pyarrow.table({"n": [1, 2], "link": nulls})
    yield "pyarrow dictionary", pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 0]), pyarrow.nulls(1))
    yield "pyarrow strings", pyarrow.array([None, None], pyarrow.string_view())
    for name in ("polars", "pandas", "duckdb"):
        try:
            library = __import__(name)
        except ImportError:
            print(f"{name} is not installed: NOT tested")
            continue
        if name == "polars":
            yield "polars series", library.Series("url", [None, None])
            yield "polars frame", library.DataFrame({"url": [None, None]})
        if name == "pandas":
            yield "pandas frame", library.DataFrame({"url": [None, None]}, dtype=object)
            yield "pandas series", library.Series([None, None], dtype=object)
        if name == "duckdb":
            yield "duckdb", library.connect().sql("select null as url from range(2)")


def test_columns_without_any_value(web):
    pyarrow = pytest.importorskip("pyarrow")
    for name, urls in inputs():
        for decide in (web.decide_many, web.decide_stream):
            table = pyarrow.table(decide(["MyBot", "GPTBot"], urls, ALL))
            table.validate(full=True)
            assert table.num_rows == 2, name
            assert all(column.to_pylist() == [None, None] for column in table.columns), name
    # Texts are preferred to a column without any value.
    table = pyarrow.table({"empty": pyarrow.nulls(1), "link": ["https://shop.example/cart"]})
    assert web.decide_many("MyBot", table)["MyBot:verdict"] == ["disallow"]
    both = pyarrow.table({"a": pyarrow.nulls(1), "b": pyarrow.nulls(1)})
    with pytest.raises(TypeError, match='no column "url"'):
        web.decide_many("MyBot", both)


def test_times_without_any_value():
    captures = [{"url": "https://a.example/robots.txt", "body": "user-agent: *\ndisallow: /", "time": 1000}]
    web = reptile.compile(captures, by_time=True)
    urls = ["https://a.example/", None]
    assert web.decide_many("MyBot", urls, times=[None, None])["MyBot:verdict"] == ["invalid", None]
    pyarrow = pytest.importorskip("pyarrow")
    nulls = pyarrow.nulls(2)
    assert web.decide_many("MyBot", urls, times=nulls)["MyBot:verdict"] == ["invalid", None]
    table = pyarrow.table({"url": urls, "seen": nulls})
    assert web.decide_many("MyBot", table, times="seen")["MyBot:verdict"] == ["invalid", None]
    assert web.decide_many("MyBot", pyarrow.table({"url": nulls, "seen": nulls}), times="seen")["MyBot:verdict"] == [
        None,
        None,
    ]


def test_empty_input(web):
    pyarrow = pytest.importorskip("pyarrow")
    empty = [
        [],
        (),
        iter([]),
        {},
        pyarrow.array([], pyarrow.string()),
        pyarrow.nulls(0),
        pyarrow.table({"url": pyarrow.nulls(0)}),
    ]
    empty += [pyarrow.chunked_array([], pyarrow.string()), pyarrow.schema([("url", pyarrow.string())]).empty_table()]
    for urls in empty:
        verdicts = web.decide_many(["MyBot", "GPTBot"], urls, ALL)
        assert len(verdicts) == 0 and all(column == [] for column in verdicts.to_pydict().values())
        assert pyarrow.table(verdicts).num_rows == 0
    assert pyarrow.table(web.decide_stream("MyBot", [])).num_rows == 0
    assert len(reptile.compile([])) == len(reptile.compile({})) == len(reptile.compile(iter(()))) == 0
