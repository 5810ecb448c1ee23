"""Compares batch decisions, for every installed Arrow library, with single decisions."""

import pytest

import reptile

from conftest import URLS

AGENTS = ["MyBot", "GPTBot", "Googlebot-Image"]
COLUMNS = ["url", "verdict", "line", "rule", "group", "reason", "refused"]


def expected(web):
    """Builds the columns from single explanations."""
    columns = {"url": URLS}
    for agent in AGENTS:
        why = [None if url is None else web.explain(agent, url) for url in URLS]
        for name in COLUMNS[1:-1]:
            columns[f"{agent}:{name}"] = [None if each is None else getattr(each, name) for each in why]
    rows = list(zip(*(columns[f"{agent}:verdict"] for agent in AGENTS)))
    columns["refused"] = [
        [agent for agent, verdict in zip(AGENTS, row) if verdict == "disallow"] if row[0] in ("allow", "disallow") else None
        for row in rows
    ]
    return columns


def test_iterables_of_str_and_bytes(web):
    verdicts = web.decide_many(AGENTS, URLS, COLUMNS)
    assert verdicts.to_pydict() == expected(web)
    assert verdicts.column_names == list(expected(web))
    assert len(verdicts) == len(URLS)
    assert web.decide_many("MyBot", iter(URLS))["MyBot:verdict"] == expected(web)["MyBot:verdict"]
    as_bytes = [None if url is None else url.encode() for url in URLS]
    assert web.decide_many("MyBot", as_bytes, parallel=False)["MyBot:verdict"] == expected(web)["MyBot:verdict"]
    assert web.agents(AGENTS).decide_many(URLS, "refused")["refused"] == expected(web)["refused"]
    assert len(web.decide_many("MyBot", [])) == 0


def test_invalid_arguments_raise(web):
    for urls, error, text in [
        ("https://shop.example/", TypeError, "found one"),
        ([7], TypeError, r"urls\[0\]"),
        (["x", b"y"], TypeError, r"urls\[1\] must be str"),
        ([b"y", "x"], TypeError, r"urls\[1\] must be bytes"),
        (["\udc80"], UnicodeEncodeError, "surrogates"),
        (7, TypeError, "iter"),
    ]:
        with pytest.raises(error, match=text):
            web.decide_many("MyBot", urls)
    with pytest.raises(ValueError, match="unknown column 'lines'|unknown column \"lines\""):
        web.decide_many("MyBot", [], ["lines"])
    with pytest.raises(reptile.CrawlerError, match="twice"):
        web.decide_many(["MyBot", "MyBot"], [])
    with pytest.raises(KeyError, match="no column"):
        web.decide_many("MyBot", [])["verdict"]


def plain(values):
    """Converts another library's values to Python's."""
    return [value.tolist() if hasattr(value, "tolist") else value for value in values]


def test_pyarrow_accepts_every_string_type(web):
    pyarrow = pytest.importorskip("pyarrow")
    texts = pyarrow.array(URLS)
    kinds = [pyarrow.string(), pyarrow.large_string(), pyarrow.binary(), pyarrow.large_binary(), pyarrow.string_view()]
    inputs = [texts.cast(kind) for kind in kinds]
    inputs += [texts.dictionary_encode(), pyarrow.chunked_array([texts[:4], texts[4:4], texts[4:]])]
    inputs += [pyarrow.table({"n": range(len(URLS)), "link": texts}), pyarrow.record_batch([texts], names=["url"])]
    inputs.append(pyarrow.array(["https://shop.example/cart", *URLS])[1:])
    for urls in inputs:
        table = pyarrow.table(web.decide_many(AGENTS, urls, COLUMNS[1:]))
        found = table.to_pydict()
        assert {"url": URLS, **found} == expected(web), urls
    types = {field.name: str(field.type) for field in table.schema}
    assert types["MyBot:verdict"].startswith("dictionary<values=string, indices=int8")
    assert (types["MyBot:line"], types["refused"]) == ("uint32", "large_list<item: large_string>")
    table.validate(full=True)
    with pytest.raises(TypeError, match="found Int64"):
        web.decide_many("MyBot", pyarrow.array([1, 2]))
    tables = pyarrow.table({"a": texts, "b": texts})
    with pytest.raises(TypeError, match='no column "url"'):
        web.decide_many("MyBot", tables)
    assert len(web.decide_many("MyBot", tables, url_column="b")) == len(URLS)


def test_streams_are_decided_as_they_are_read(web):
    pyarrow = pytest.importorskip("pyarrow")
    read = []

    def batches():
        for number in range(4):
            read.append(number)
            yield pyarrow.record_batch([pyarrow.array(URLS)], names=["url"])

    schema = pyarrow.schema([("url", pyarrow.string())])
    verdicts = web.decide_stream("MyBot", pyarrow.RecordBatchReader.from_batches(schema, batches()))
    reader = pyarrow.RecordBatchReader.from_stream(verdicts)
    assert reader.schema.names == ["MyBot:verdict"] and read == []
    reader.read_next_batch()
    assert read == [0]
    assert reader.read_all().num_rows == 3 * len(URLS)
    with pytest.raises(ValueError, match="already read"):
        pyarrow.table(verdicts)

    def broken():
        yield pyarrow.record_batch([pyarrow.array(URLS)], names=["url"])
        raise RuntimeError("the wire broke")

    stream = pyarrow.RecordBatchReader.from_batches(schema, broken())
    with pytest.raises(reptile.Error, match="the wire broke"):
        web.decide_many("MyBot", stream)


def test_strings_are_not_copied(web):
    pyarrow = pytest.importorskip("pyarrow")
    urls = pyarrow.array(URLS)
    column = pyarrow.table(web.decide_many("MyBot", urls, "url"))["url"].chunk(0)
    assert [buffer and buffer.address for buffer in column.buffers()] == [buffer and buffer.address for buffer in urls.buffers()]


def test_polars(web):
    polars = pytest.importorskip("polars")
    for urls in (polars.Series("url", URLS), polars.DataFrame({"n": range(len(URLS)), "url": URLS})):
        frame = polars.DataFrame(web.decide_many(AGENTS, urls, COLUMNS[1:]))
        assert {"url": URLS, **frame.to_dict(as_series=False)} == expected(web)
    categories = polars.Series("url", URLS, dtype=polars.Categorical)
    assert polars.DataFrame(web.decide_many("MyBot", categories))["MyBot:verdict"].to_list() == expected(web)["MyBot:verdict"]


def test_pandas(web):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"url": pandas.Series(URLS, dtype="string")})
    inputs = [frame] + ([frame["url"]] if hasattr(frame["url"], "__arrow_c_stream__") else [])
    for urls in inputs:
        verdicts = web.decide_many(AGENTS, urls, COLUMNS[1:])
        pyarrow = pytest.importorskip("pyarrow")
        made = pyarrow.table(verdicts).to_pandas()
        assert made["MyBot:verdict"].astype(object).where(made["MyBot:verdict"].notna(), None).tolist() == expected(web)["MyBot:verdict"]
        assert str(made["MyBot:verdict"].dtype) == "category"


def test_duckdb(web):
    duckdb = pytest.importorskip("duckdb")
    pyarrow = pytest.importorskip("pyarrow")
    connection = duckdb.connect()
    connection.register("urls", pyarrow.table({"url": URLS}))
    verdicts = web.decide_many(AGENTS, connection.sql("select url from urls"), COLUMNS)
    assert verdicts["url"] == URLS
    found = connection.sql('select "MyBot:verdict"::varchar as verdict, count(*) from verdicts group by 1 order by 1').fetchall()
    texts = [None if value is None else str(value) for value in expected(web)["MyBot:verdict"]]
    assert found == sorted(((text, texts.count(text)) for text in set(texts)), key=lambda row: (row[0] is None, row[0] or ""))
