"""Decides the same URLs in every installed host, and compares types, nulls, column order and values.

HOSTS.md has the table of types. Needs pyarrow; REPTILE is the command to compare with.
"""

import datetime
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

import pytest

import reptile

from conftest import URLS

pyarrow = pytest.importorskip("pyarrow")
from pyarrow import csv, parquet  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

AGENTS = ["MyBot", "GPTBot"]
COLUMNS = ["verdict", "line", "rule", "group", "reason", "ruleset", "capture_time", "capture", "mask", "refused"]
USAGE = {"uses": ["train-ai"], "lines": "all", "purpose": "train-ai", "unknown_usage": "disallow"}
OF_AGENT = [*COLUMNS[: COLUMNS.index("capture_time")], "train-ai", "purpose"]
"""The columns of each crawler, in order."""
OF_ROW = COLUMNS[COLUMNS.index("capture_time") :]
SMALL = [*URLS, "", "https://shop.example/%zz?a=\u00e9", "ftp://shop.example/", None]
PAGE = pathlib.Path(__file__).parent.parent / "HOSTS.md"


class Decided:
    """A host's types by column, as HOSTS.md writes them, and its rows as an Arrow table, without the URLs."""

    def __init__(self, types, table):
        self.types = {name: short(str(kind)) for name, kind in types.items()}
        self.table = table


def short(kind):
    """Shortens a type's name."""
    kind = re.sub("dictionary<values=string, indices=int8.*?>", "dictionary", kind.removesuffix("[pyarrow]"))
    return re.sub(r"list<(item|element): (\w+)( not null)?>", r"list<\2>", kind)


def in_arrow(web, urls, folder):
    table = pyarrow.table(web.decide_many(AGENTS, urls, COLUMNS, **USAGE))
    return Decided({field.name: field.type for field in table.schema}, table)


def in_pandas(web, urls, folder):
    pandas = pytest.importorskip("pandas")
    frame = pyarrow.table(web.decide_many(AGENTS, urls, COLUMNS, **USAGE)).to_pandas(types_mapper=pandas.ArrowDtype)
    return Decided(dict(frame.dtypes.items()), pyarrow.Table.from_pandas(frame))


def in_polars(web, urls, folder):
    polars = pytest.importorskip("polars")
    from reptile.polars import robots

    frame = polars.DataFrame({"url": urls.to_pylist()}, schema={"url": polars.String})
    decided = frame.lazy().select(robots("url", web, AGENTS, COLUMNS, **USAGE)).unnest("robots")
    assert decided.collect_schema() == decided.collect().schema
    types = {name: re.sub("time_(unit|zone)=", "", str(kind)) for name, kind in decided.collect_schema().items()}
    return Decided(types, decided.collect().to_arrow())


def in_duckdb(web, urls, folder):
    duckdb = pytest.importorskip("duckdb")
    from reptile.duckdb import register

    connection = duckdb.connect()
    register(connection, web, AGENTS, COLUMNS, **USAGE)
    connection.register("urls", pyarrow.table({"n": range(len(urls)), "url": urls}))
    query = "select unnest(robots(url)) from urls order by n"
    types = {name: kind for name, kind, *_ in connection.sql(f"describe {query}").fetchall()}
    return Decided(types, connection.sql(query).to_arrow_table())


def in_datafusion(web, urls, folder):
    datafusion = pytest.importorskip("datafusion")
    from reptile.datafusion import register

    context = datafusion.SessionContext()
    register(context, web, AGENTS, COLUMNS, **USAGE)
    table = pyarrow.table({"n": range(len(urls)), "url": urls})
    context.register_record_batches("urls", [table.to_batches() or [pyarrow.RecordBatch.from_pylist([], table.schema)]])
    found = context.sql("select robots(url) as robots from urls order by n").to_arrow_table().flatten()
    found = found.rename_columns([name.removeprefix("robots.") for name in found.column_names])
    return Decided({field.name: field.type for field in found.schema}, found)


def in_spark(web, urls, folder):
    session = spark_session()
    from reptile import spark

    parquet.write_table(pyarrow.table({"n": pyarrow.array(range(len(urls)), pyarrow.int64()), "url": urls}), folder / "urls.parquet")
    frame = spark.verdicts(session.read.parquet(f"file://{folder}/urls.parquet"), web.path, AGENTS, columns=COLUMNS, **USAGE)
    types = dict(frame.dtypes)
    del types["n"], types["url"]
    return Decided(types, frame.orderBy("n").drop("n", "url").toArrow())


def in_parquet(web, urls, folder):
    parquet.write_table(pyarrow.table({"url": urls}), folder / "given.parquet")
    classify(web, folder, "given.parquet", "decided.parquet")
    table = parquet.read_table(folder / "decided.parquet")
    return Decided({field.name: field.type for field in table.schema}, table)


HOSTS = {
    "Arrow": in_arrow,
    "pandas": in_pandas,
    "Polars": in_polars,
    "DuckDB": in_duckdb,
    "DataFusion": in_datafusion,
    "Spark": in_spark,
    "Parquet": in_parquet,
}
"""The hosts by their columns in HOSTS.md."""


def classify(web, folder, given, out):
    """Runs the command. Skips the test without it."""
    command = os.environ.get("REPTILE")
    if not command:
        pytest.skip("REPTILE is not set: the command was NOT compared")
    made = [command, "classify", "-q", web.path, given, "-o", out, "--columns", ",".join(COLUMNS)]
    made += ["--usage", ",".join(USAGE["uses"]), "--usage-from", "all", "--purpose", USAGE["purpose"], "--treat", f"unknown-usage={USAGE['unknown_usage']}"]
    made += [f"--agent={agent}" for agent in AGENTS] + (["--header"] if out.endswith(".csv") else [])
    ran = subprocess.run(made, cwd=folder, capture_output=True, text=True)
    # 1: most rows are invalid.
    assert ran.returncode in (0, 1) and (folder / out).exists(), ran.stderr


def spark_session():
    """Returns a session. Skips the test without PySpark or Java."""
    pyspark = pytest.importorskip("pyspark")
    if not shutil.which("java"):
        pytest.skip("Java is absent: Spark was NOT compared")
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_HOME", os.path.dirname(pyspark.__file__))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.driver.host", "127.0.0.1").config("spark.sql.session.timeZone", "UTC").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@pytest.fixture(scope="module", autouse=True)
def stopped_at_the_end():
    yield
    if "pyspark.sql" in sys.modules:
        active = sys.modules["pyspark.sql"].SparkSession.getActiveSession()
        if active:
            active.stop()


def canonical(table):
    """Converts a table to one type per column, so that tables from different hosts can be equal."""

    def kind(name):
        if name == "refused":
            return pyarrow.list_(pyarrow.string())
        if name == "capture_time":
            return pyarrow.timestamp("ms", tz="UTC")
        is_number = name == "mask" or name.endswith((":line", ":ruleset"))
        return pyarrow.uint64() if is_number else pyarrow.string()

    columns = {name: table[name].cast(kind(name)).combine_chunks() for name in table.column_names}
    return pyarrow.table(columns)


def page_types():
    """Returns the types in HOSTS.md, by host and column."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    at = next(place for place, row in enumerate(rows) if row[:2] == ["column", "Arrow"])
    rows = rows[at:][: 1 + len(OF_AGENT + OF_ROW)]
    columns = [row[0].strip("`") for row in rows[1:]]
    assert columns == OF_AGENT + OF_ROW
    return {host: dict(zip(columns, (row[place].strip("`") for row in rows[1:]))) for place, host in enumerate(rows[0]) if place}


def order():
    """Returns the columns' names in the command's order: each crawler's columns, then the row's columns."""
    return [f"{agent}:{column}" for agent in AGENTS for column in OF_AGENT] + OF_ROW


def arrays():
    """Yields columns of URLs, by name."""
    text = pyarrow.string()
    yield "mixed", pyarrow.array(SMALL, text)
    yield "empty", pyarrow.array([], text)
    yield "all null", pyarrow.array([None] * 3, text)
    yield "all invalid", pyarrow.array(["nonsense"] * 3, text)


@pytest.mark.parametrize("name,urls", list(arrays()), ids=lambda value: value if isinstance(value, str) else "")
@pytest.mark.parametrize("host", HOSTS)
def test_every_host_agrees(host, name, urls, path, tmp_path):
    web = reptile.open(path)
    decided = HOSTS[host](web, urls, tmp_path)
    assert list(decided.types) == decided.table.column_names == order()
    documented = page_types()[host]
    assert {name: documented[name.rpartition(":")[2]] for name in decided.types} == decided.types
    expected = web.decide_many(AGENTS, urls, COLUMNS, **USAGE).to_pydict()
    found = canonical(decided.table)
    assert {name: found[name].to_pylist() for name in found.column_names} == {
        name: [str(value) if isinstance(value, reptile.Verdict) else value for value in values]
        for name, values in expected.items()
    }
    for place, url in enumerate(urls.to_pylist()):
        if url is None:
            assert set(found.slice(place, 1).to_pylist()[0].values()) == {None}
    if name == "mixed":
        preferences = {found[f"{agent}:{name}"][1].as_py() for agent in AGENTS for name in ("train-ai",)}
        assert preferences == {"disallowed", "not-applicable"}
        times = {time for time in found["capture_time"].to_pylist() if time}
        assert times == {datetime.datetime.fromtimestamp(1_700_000_000, datetime.timezone.utc)}


def test_urls_as_bytes(path, tmp_path):
    web = reptile.open(path)
    urls = pyarrow.array([b"https://shop.example/cart", None, b"https://shop.example/\xff", b"\xff", b""])
    expected = canonical(in_arrow(web, urls, tmp_path).table)
    assert expected["MyBot:verdict"].to_pylist() == ["disallow", None, "allow", "invalid", "invalid"]
    polars = pytest.importorskip("polars")
    from reptile.polars import robots

    frame = polars.DataFrame({"url": urls.to_pylist()}).select(robots("url", web, AGENTS, COLUMNS, **USAGE)).unnest("robots")
    assert canonical(frame.to_arrow()).equals(expected)


def text_of(value):
    """Returns a value as the command writes it in CSV."""
    if value is None:
        return ""
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")
    return ";".join(value) if isinstance(value, list) else str(value)


def test_csv_has_the_same_values_as_text(path, tmp_path):
    web = reptile.open(path)
    urls = [url for url in SMALL if url]
    (tmp_path / "urls.txt").write_text("\n".join(urls) + "\n")
    classify(web, tmp_path, "urls.txt", "decided.csv")
    read = csv.ConvertOptions(column_types={name: pyarrow.string() for name in order()}, strings_can_be_null=False)
    found = csv.read_csv(tmp_path / "decided.csv", convert_options=read)
    assert found.column_names == order()
    expected = web.decide_many(AGENTS, urls, COLUMNS, **USAGE).to_pydict()
    for name, values in expected.items():
        texts = [text_of(value) for value in values]
        if name.endswith(":line"):
            texts = [text or "0" for text in texts]
        if name == "refused":
            texts = [str(verdict) if value is None else text for value, text, verdict in zip(values, texts, expected["MyBot:verdict"])]
        assert found[name].to_pylist() == texts, name


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """Returns a set of the real files, and the real URLs."""
    shared = pathlib.Path(os.environ.get("REPTILE_SHARED", "absent")) / "corpora/real"
    if not shared.exists():
        pytest.skip("REPTILE_SHARED names no folder with real files: hosts were NOT compared on them")
    captures = []
    with tarfile.open(shared / "robots.tar.gz") as archive:
        for place, member in enumerate(each for each in archive if each.isfile()):
            host = pathlib.PurePath(member.name).name
            body = archive.extractfile(member).read()
            captures.append({"url": f"https://{host}/robots.txt", "body": body, "time": 1_700_000_000 + place})
    set_path = tmp_path_factory.mktemp("real") / "real.reptile"
    reptile.compile(captures, set_path, on_error=lambda origin, text: None)
    with gzip.open(shared / "urls.txt.gz", "rt", encoding="utf-8", errors="replace") as file:
        urls = [line.rstrip("\n") for line in file]
    urls[::97] = [None] * len(urls[::97])
    return reptile.open(set_path), pyarrow.array(urls, pyarrow.string())


@pytest.mark.parametrize("host", [host for host in HOSTS if host != "Arrow"])
def test_every_host_agrees_on_real_files(host, real, tmp_path):
    web, urls = real
    expected = canonical(in_arrow(web, urls, tmp_path).table)
    assert len(urls) > 80_000 and set(expected["GPTBot:verdict"].to_pylist()) >= {"allow", "disallow", "unknown", None}
    assert canonical(HOSTS[host](web, urls, tmp_path).table).equals(expected)
    print(f"{host}: {len(urls):,} real rows are equal in {expected.num_columns} columns")
