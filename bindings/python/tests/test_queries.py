"""Compares verdicts in DuckDB, Polars and DataFusion queries with the set's."""

import io
import pickle

import pytest

import reptile

from conftest import URLS

pyarrow = pytest.importorskip("pyarrow")

pytestmark = pytest.mark.filterwarnings("ignore")

AGENTS = ["MyBot", "GPTBot"]
COLUMNS = ["url", "verdict", "line", "rule", "group", "reason", "ruleset", "capture_time", "capture", "mask", "refused"]
TIMES = 700
"""Enough rows for engines to split the column."""


@pytest.fixture(scope="module")
def urls():
    return pyarrow.table({"n": range(len(URLS) * TIMES), "url": URLS * TIMES})


def expected(web, columns=COLUMNS):
    return web.decide_many(AGENTS, URLS * TIMES, columns).to_pydict()


def of_rows(table):
    return {name: values for name, values in table.sort_by("n").to_pydict().items() if name != "n"}


def test_duckdb(web, path, urls):
    duckdb = pytest.importorskip("duckdb")
    from reptile.duckdb import register

    connection = duckdb.connect()
    connection.register("urls", urls)
    register(connection, path, AGENTS, COLUMNS[1:])
    assert of_rows(connection.sql("select n, url, unnest(robots(url)) from urls").to_arrow_table()) == expected(web)
    register(connection, web, "GPTBot", name="closed_to")
    counted = connection.sql(
        """select closed_to(url)."GPTBot:verdict" as verdict, count(*) from urls group by 1 order by 1"""
    ).fetchall()
    texts = [None if value is None else str(value) for value in expected(web)["GPTBot:verdict"]]
    assert counted == sorted(((text, texts.count(text)) for text in set(texts)), key=lambda row: (row[0] is None, row[0] or ""))
    assert connection.sql("select closed_to(null).refused, closed_to('https://shop.example/').refused").fetchall() == [
        (None, ["GPTBot"])
    ]
    # An Arrow reader is a table in a query, which is the fastest way to decide whole tables.
    decided = web.decide_stream(AGENTS, connection.cursor().sql("select * from urls order by n").to_arrow_reader(1000), COLUMNS)
    connection.register("decided", decided)
    assert connection.sql("select * from decided").to_arrow_table().to_pydict() == expected(web)


def test_a_function_in_duckdb_is_replaced(path):
    duckdb = pytest.importorskip("duckdb")
    from reptile.duckdb import register

    connection, cell = duckdb.connect(), lambda: connection.sql("select robots('https://shop.example/help')").fetchall()[0][0]
    for agents, columns, expected in [
        ("GPTBot", "verdict", {"GPTBot:verdict": "disallow"}),
        ("MyBot", "verdict", {"MyBot:verdict": "allow"}),
        # The type of the result may change.
        (["MyBot", "GPTBot"], "refused", {"refused": ["GPTBot"]}),
    ]:
        register(connection, path, agents, columns)
        assert cell() == expected
    # A failed call keeps the function.
    with pytest.raises(reptile.CrawlerError):
        register(connection, path, "Googelbot")
    assert cell() == {"refused": ["GPTBot"]}
    connection.remove_function("robots")
    register(connection, path, "GPTBot", "verdict")
    assert cell() == {"GPTBot:verdict": "disallow"}
    # Other functions are not replaced.
    connection.create_function("mine", lambda url: url, ["VARCHAR"], "VARCHAR")
    for name in ("mine", "lower"):
        with pytest.raises(duckdb.Error, match=name):
            register(connection, path, "GPTBot", name=name)
    # Each connection has its own functions.
    other = duckdb.connect()
    register(other, path, "MyBot", "verdict")
    assert cell() == {"GPTBot:verdict": "disallow"}
    register(duckdb.default_connection(), path, "MyBot")
    register(duckdb.default_connection(), path, "MyBot")
    duckdb.default_connection().remove_function("robots")


def test_polars(web, path, urls):
    polars = pytest.importorskip("polars")
    from reptile.polars import robots

    frame = polars.DataFrame(urls)
    column = robots("url", path, AGENTS, COLUMNS[1:])
    decided = frame.with_columns(column).unnest("robots")
    assert decided.drop("n").to_dict(as_series=False) == expected(web)
    for engine in ("in-memory", "streaming"):
        lazy = frame.lazy().with_columns(column)
        assert lazy.collect_schema()["robots"] == decided.select(polars.struct(decided.columns[2:])).schema.dtypes()[0]
        assert lazy.unnest("robots").collect(engine=engine).sort("n").drop("n").to_dict(as_series=False) == expected(web)
    closed = (
        frame.lazy()
        .filter(robots(polars.col("url"), web, "GPTBot").struct.field("GPTBot:verdict") == "disallow")
        .select("n")
        .collect()
    )
    assert closed["n"].to_list() == [n for n, verdict in enumerate(expected(web)["GPTBot:verdict"]) if verdict == "disallow"]
    assert frame.head(0).with_columns(column)["robots"].to_list() == []
    large = polars.concat([frame["url"]] * (50_000 // len(frame) + 1))
    assert large.to_frame().select(robots("url", web, "GPTBot", "refused"))["robots"].struct.unnest()[
        "refused"
    ].null_count() == 3 * len(large) // len(URLS)


def test_lazy_polars_queries_pickle(path, urls):
    polars = pytest.importorskip("polars")
    from reptile.polars import robots

    query = polars.DataFrame(urls).lazy().select(robots("url", path, AGENTS, COLUMNS[1:])).unnest("robots")
    for copy in (pickle.loads(pickle.dumps(query)), polars.LazyFrame.deserialize(io.BytesIO(query.serialize()))):
        assert copy.collect().equals(query.collect())


def test_polars_columns_of_structs_are_refused(web):
    polars = pytest.importorskip("polars")
    from reptile.polars import robots

    page = polars.struct(polars.lit(URLS[0]).alias("url"))
    for crawlers in ({"agents": "GPTBot"}, {"agent_column": polars.lit("GPTBot")}):
        for frame in (polars.select(page=page), polars.select(page=page).head(0)):
            with pytest.raises(Exception, match=r"urls: expected texts, found Struct\(.*select a field"):
                frame.select(robots("page", web, **crawlers))
        field = polars.col("page").struct.field("url")
        assert polars.select(page=page).select(robots(field, web, columns="verdict", **crawlers))["robots"].len() == 1


def test_vocabularies_of_lazy_polars_queries_are_found_from_other_folders(path, urls, tmp_path, monkeypatch):
    polars = pytest.importorskip("polars")
    from reptile.polars import robots

    (tmp_path / "words.txt").write_text("training = train-ai\n")
    monkeypatch.chdir(tmp_path)
    query = polars.DataFrame(urls).lazy().select(robots("url", path, "MyBot", [], uses="training", vocabulary="words.txt"))
    here = query.collect()
    monkeypatch.chdir(tmp_path.parent)
    assert pickle.loads(pickle.dumps(query)).collect().equals(here)


def test_datafusion(web, path, urls, tmp_path):
    datafusion = pytest.importorskip("datafusion")
    from pyarrow import parquet

    from reptile.datafusion import register

    context = datafusion.SessionContext()
    parquet.write_table(urls, tmp_path / "urls.parquet")
    context.register_parquet("files", str(tmp_path / "urls.parquet"))
    context.register_record_batches("batches", [urls.to_batches()])
    register(context, path, AGENTS, COLUMNS[1:])
    for table in ("files", "batches"):
        found = context.sql(f"select n, url, robots(url) as robots from {table} order by n").to_arrow_table()
        flat = pyarrow.table({"n": found["n"], "url": found["url"], "robots": found["robots"]}).flatten()
        flat = flat.rename_columns([name.removeprefix("robots.") for name in flat.column_names])
        assert flat.drop_columns("n").to_pydict() == expected(web)
    counted = context.sql("""select count(*) as rows from files where robots(url)['GPTBot:verdict'] = 'disallow'""").to_pydict()
    assert counted == {"rows": [expected(web)["GPTBot:verdict"].count("disallow")]}


def test_invalid_arguments_raise(path):
    duckdb = pytest.importorskip("duckdb")
    from reptile.duckdb import register

    for arguments, error in [
        ((path, "Googelbot"), reptile.CrawlerError),
        ((path, "GPTBot", "lines"), ValueError),
        (("nowhere", "GPTBot"), FileNotFoundError),
    ]:
        with pytest.raises(error):
            register(duckdb.connect(), *arguments)
