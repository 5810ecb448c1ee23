"""Runs a Spark cluster with two executor processes. Needs PySpark and Java."""

import csv
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tarfile

import pytest

import reptile

from conftest import CAPTURES, URLS

pyspark = pytest.importorskip("pyspark")
pyarrow = pytest.importorskip("pyarrow")
if not shutil.which("java"):
    pytest.skip("Java is absent: Spark was NOT tested", allow_module_level=True)

from pyarrow import parquet  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

from reptile import spark  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

AGENTS = ["MyBot", "GPTBot"]
COLUMNS = ["verdict", "line", "rule", "group", "reason", "ruleset", "mask", "refused"]
ROWS = 20_000
"""Number of rows that are compared with the command."""


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spark")
    # The PyPI package does not set SPARK_HOME, which executors need.
    os.environ.setdefault("SPARK_HOME", os.path.dirname(pyspark.__file__))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_WORKER_DIR"] = str(folder / "work")
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.local.dir", str(folder / "local"))
    # A task that fails is not repeated, because it fails again.
    builder = builder.config("spark.task.maxFailures", "1")
    session = builder.config("spark.sql.warehouse.dir", str(folder / "warehouse")).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture
def urls(session):
    return session.createDataFrame(list(enumerate(URLS)), "n int, url string").repartition(3)


def collected(frame):
    rows = sorted(frame.collect(), key=lambda row: row["n"])
    return {name: [row[name] for row in rows] for name in frame.columns}


def test_verdicts(session, urls, web, path):
    expected = {"n": list(range(len(URLS))), "url": URLS, **web.decide_many(AGENTS, URLS, COLUMNS).to_pydict()}
    frame = spark.verdicts(urls, path, AGENTS, columns=COLUMNS)
    assert frame.columns == list(expected) and dict(frame.dtypes)["refused"] == "array<string>"
    assert collected(frame) == expected
    # The set is shipped to the executors and found by name.
    session.sparkContext.addFile(str(path))
    shipped = spark.verdicts(urls.withColumnRenamed("url", "link"), path.name, "MyBot", url_column="link")
    assert collected(shipped)["MyBot:verdict"] == expected["MyBot:verdict"]
    assert spark._place(path.name) == (path.name, True)
    assert spark.verdicts(urls, path, "@ai-training").columns[2:] == [
        f"{name}:verdict" for name in web.agents("@ai-training").names
    ]


def read_columns(frame):
    """Returns the columns that a plan reads from its files."""
    plan = frame._jdf.queryExecution().executedPlan().toString()
    return {name for found in re.findall(r"ReadSchema: struct<(.*?)>", plan) for name in re.findall(r"(\w+):", found)}


def test_a_function_in_sql(session, urls, web, path, tmp_path):
    urls.selectExpr("n", "url", "'x' as body").write.parquet(f"file://{tmp_path}/pages")
    pages = session.read.parquet(f"file://{tmp_path}/pages")
    pages.createOrReplaceTempView("pages")
    function = spark.register(session, path, AGENTS, COLUMNS)
    expected = web.decide_many(AGENTS, URLS, COLUMNS).to_pydict()
    in_sql = session.sql("select n, robots(url) as found from pages").select("n", "found.*")
    # Only the function's arguments pass through Python, and other columns are not read at all.
    assert read_columns(in_sql) == {"n", "url"}
    assert collected(in_sql) == collected(pages.select("n", function("url").alias("found")).select("n", "found.*"))
    assert collected(in_sql) == {"n": list(range(len(URLS))), **expected}
    # The default columns, and another call with the same name.
    spark.register(session, path, "MyBot")
    assert session.sql("select robots('https://shop.example/cart') as found").select("found.*").collect() == [
        ("disallow", ["MyBot"])
    ]
    spark.register(session, path, None, headers=True, name="of_request")
    rows = session.sql("select of_request(url, 'GPTBot/1.2 (+https://x.example)') as found from pages where n = 1")
    assert rows.select("found.*").collect() == [("disallow", "GPTBot")]
    for arguments, error, text in [
        ((path, "Googelbot"), reptile.CrawlerError, "Googlebot"),
        ((tmp_path / "nowhere", "MyBot"), FileNotFoundError, "nowhere"),
        ((path, "MyBot", "lines"), ValueError, "lines"),
    ]:
        with pytest.raises(error, match=text):
            spark.register(session, *arguments)


def test_verdicts_read_only_selected_columns(session, urls, path, tmp_path):
    urls.selectExpr("n", "url", "'x' as body").write.parquet(f"file://{tmp_path}/pages")
    pages = session.read.parquet(f"file://{tmp_path}/pages")
    assert read_columns(spark.verdicts(pages.select("n", "url"), path, "MyBot")) == {"n", "url"}
    assert read_columns(spark.verdicts(pages, path, "MyBot").select("n", "MyBot:verdict")) == {"n", "url", "body"}


def test_a_stream_gets_verdicts(session, urls, web, path, tmp_path):
    urls.write.parquet(f"file://{tmp_path}/urls")
    stream = session.readStream.schema("n int, url string").option("maxFilesPerTrigger", 1).parquet(f"file://{tmp_path}/urls")
    decided = spark.verdicts(stream, path, AGENTS, columns=COLUMNS)
    written = decided.writeStream.option("checkpointLocation", f"file://{tmp_path}/seen").format("parquet")
    query = written.trigger(availableNow=True).start(f"file://{tmp_path}/out")
    assert query.awaitTermination(120) and query.exception() is None
    # Each file is a batch.
    assert len(query.recentProgress) > 1
    found = collected(session.read.parquet(f"file://{tmp_path}/out"))
    assert found == {"n": list(range(len(URLS))), "url": URLS, **web.decide_many(AGENTS, URLS, COLUMNS).to_pydict()}


def test_summaries_of_all_origins(session, web, path):
    expected = web.summarize(AGENTS).to_pydict()
    for tasks in (1, 2, 7):
        found = spark.summarize(session, path, AGENTS, tasks=tasks)
        rows = found.collect()
        assert {name: [row[name] for row in rows] for name in found.columns} == expected and len(rows) == 6
    with pytest.raises(ValueError, match="tasks: .*found 0"):
        spark.summarize(session, path, AGENTS, tasks=0)
    with pytest.raises(reptile.CrawlerError, match="Googlebot"):
        spark.summarize(session, path, "Googelbot", tasks=1)


def test_mistakes_are_errors_before_the_job(session, urls, path, tmp_path):
    for arguments, error, text in [
        ((urls, tmp_path / "nowhere", "MyBot"), FileNotFoundError, "nowhere"),
        ((urls, path, "Googelbot"), reptile.CrawlerError, "Googlebot"),
        ((urls.drop("url"), path, "MyBot"), ValueError, "'url'"),
        ((urls.withColumn("url", urls.n), path, "MyBot"), ValueError, "url int"),
        ((spark.verdicts(urls, path, "MyBot"), path, "MyBot"), ValueError, "already"),
    ]:
        with pytest.raises(error, match=text):
            spark.verdicts(*arguments)
    for columns, text in [("lines", "lines"), ("line,line", "twice"), ([], "no column")]:
        with pytest.raises(ValueError, match=text):
            spark.verdicts(urls, path, "MyBot", columns=columns)
    captures = session.createDataFrame([("https://a.example/robots.txt", "200")], "url string, status string")
    with pytest.raises(ValueError, match="'status' to be .*found string"):
        spark.compile_partitions(captures, tmp_path / "never")
    with pytest.raises(ValueError, match="'url'"):
        spark.compile_partitions(captures.drop("url"), tmp_path / "never")
    with pytest.raises(ValueError, match="unbase64"):
        spark.compile_partitions(captures.drop("status").selectExpr("url", "'' as body_base64"), tmp_path / "never")
    with pytest.raises(FileNotFoundError):
        spark.compile_partitions(captures.drop("status"), tmp_path / "no" / "folder")
    with pytest.raises(ValueError, match="dialect"):
        spark.compile_partitions(captures.drop("status"), tmp_path / "never", dialect="gogle")


def test_an_error_in_a_partition_fails_the_job(session, urls, path, tmp_path):
    gone = tmp_path / "gone.reptile"
    shutil.copy(path, gone)
    frame = spark.verdicts(urls, gone, "MyBot")
    gone.unlink()
    with pytest.raises(Exception, match="FileNotFoundError"):
        frame.collect()
    captures = session.createDataFrame([("https://a.example/", "")], "url string, body string")
    with pytest.raises(Exception, match="a.example"):
        spark.compile_partitions(captures, tmp_path / "never")
    assert os.listdir(tmp_path) == []


def test_compile_partitions(session, path, tmp_path):
    rows = [each if isinstance(each, dict) else dict(url=each[0], body=each[1]) for each in CAPTURES]
    rows = [(row["url"], row.get("body"), row.get("status"), row.get("time")) for row in rows]
    captures = session.createDataFrame(rows, "url string, body string, status int, time long").selectExpr("*", "'x' as other")
    found = spark.compile_partitions(captures, tmp_path / "set", partitions=4)
    assert found.path.read_bytes() == path.read_bytes()
    bad = session.createDataFrame([("https://a.example/", "", 200, 0)], captures.drop("other").schema)
    left_out = []
    mixed = (
        captures.drop("other")
        .union(bad)
        .selectExpr("url", "cast(body as binary) as body", "status", "timestamp_seconds(time) as time")
    )
    spark.compile_partitions(mixed, tmp_path / "other", on_error=lambda *each: left_out.append(each))
    assert (tmp_path / "other").read_bytes() == path.read_bytes()
    assert [origin for origin, _ in left_out] == ["https://a.example/"]
    for tasks in (1, 2, 5):
        left_out.clear()
        keep = lambda *each: left_out.append(each)
        found = spark.compile_partitions(mixed, tmp_path / "other", partitions=4, merge_tasks=tasks, on_error=keep, force=True)
        assert found.path.read_bytes() == path.read_bytes() and len(left_out) == 1
    with pytest.raises(ValueError, match="merge_tasks: .*found 0"):
        spark.compile_partitions(captures, tmp_path / "never", merge_tasks=0)
    none = spark.compile_partitions(captures.where("url = ''"), tmp_path / "none", dialect="bing")
    assert (len(none), none.dialect) == (0, "bing")
    assert sorted(os.listdir(tmp_path)) == ["none", "other", "set"]


def warc(rows):
    """Returns a WARC file with a response for each URL, status, header line and body."""
    records = []
    for number, (url, status, header, body) in enumerate(rows):
        block = f"HTTP/1.1 {status} X\r\n{header}\r\n\r\n{body}"
        fields = f"WARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Record-ID: <{url}#{number}>\r\n"
        fields += "WARC-Date: 2026-03-01T00:00:00Z\r\nContent-Type: application/http; msgtype=response\r\n"
        records.append(f"WARC/1.0\r\n{fields}Content-Length: {len(block)}\r\n\r\n{block}\r\n\r\n")
    return "".join(records)


def test_compile_files(session, tmp_path):
    command = os.environ.get("REPTILE")
    if not command:
        pytest.skip("REPTILE is not set: files were NOT compiled in tasks")
    text, moved = "Content-Type: text/plain", "Location: https://site7.example/robots.txt"
    files = []
    for number in range(4):
        rows = [(f"https://site{n}.example/robots.txt", 200, text, f"user-agent: *\ndisallow: /{n}") for n in range(number, 12, 4)]
        rows += [("https://moved.example/robots.txt", 301, moved, "")] if number == 3 else []
        files.append(tmp_path / f"{number}.warc")
        files[-1].write_bytes(warc(rows).encode())
    subprocess.run([command, "compile", "-q", "-o", tmp_path / "whole", *files], check=True)
    whole = (tmp_path / "whole").read_bytes()
    for tasks, merge_tasks in [(1, None), (4, 2), (9, 1)]:
        found = spark.compile_files(
            session, files, tmp_path / "set", tasks=tasks, merge_tasks=merge_tasks, command=command, force=True
        )
        assert found.path.read_bytes() == whole and len(found) == 13
    # A command that Spark ships.
    (tmp_path / "shipped-command").write_text(f"#!/bin/sh\nexec '{os.path.abspath(command)}' \"$@\"\n")
    session.sparkContext.addFile(str(tmp_path / "shipped-command"))
    shipped = spark.compile_files(session, files, tmp_path / "set", tasks=2, command="shipped-command", force=True)
    assert shipped.path.read_bytes() == whole
    # A redirect whose target is in another task's file is named, not followed.
    with_moved, others = files[3], files[:3]
    with_moved.write_bytes(warc([("https://moved.example/robots.txt", 301, moved.replace("7", "2"), "")]).encode())
    with pytest.warns(UserWarning, match="1 captures were left out.*moved.example.*not in the input"):
        spark.compile_files(session, [*others, with_moved], tmp_path / "set", tasks=4, command=command, force=True)
    left_out = []
    keep = lambda name, text: left_out.append((name, text))
    spark.compile_files(session, [*others, with_moved], tmp_path / "set", tasks=4, command=command, force=True, on_error=keep)
    assert len(left_out) == 1 and "moved.example" in left_out[0][0]
    (tmp_path / "text").write_text("no captures")
    for given, options, error, text in [
        ([tmp_path / "text"], {}, Exception, "(?s)exit code 2.*text"),
        (files, {"command": tmp_path / "no-command"}, Exception, "no-command"),
        (files, {"arguments": ["--dialect=gogle"]}, Exception, "gogle"),
        (files, {"tasks": 0}, ValueError, "tasks: .*found 0"),
        ([], {}, ValueError, "found none"),
        (files, {"path": tmp_path / "set"}, FileExistsError, "set"),
    ]:
        with pytest.raises(error, match=text):
            spark.compile_files(session, given, **{"path": tmp_path / "never", "tasks": 2, "command": command, **options})
    assert not (tmp_path / "never").exists()


def test_the_example_job(session, path, web, tmp_path):
    rows = [each if isinstance(each, dict) else {"url": each[0], "body": each[1]} for each in CAPTURES]
    kinds = [("url", pyarrow.string()), ("body", pyarrow.string()), ("status", pyarrow.int32()), ("time", pyarrow.int64())]
    parquet.write_table(pyarrow.Table.from_pylist(rows, pyarrow.schema(kinds)), tmp_path / "captures.parquet")
    parquet.write_table(pyarrow.table({"link": URLS}), tmp_path / "urls.parquet")

    def submit(*arguments):
        job = pathlib.Path(__file__).parent.parent / "examples" / "spark_job.py"
        options = ["--master", "local[2]", "--conf", "spark.ui.enabled=false", "--conf", f"spark.local.dir={tmp_path}/local"]
        command = [f"{os.environ['SPARK_HOME']}/bin/spark-submit", *options, *arguments[:-1], job, *arguments[-1]]
        made = subprocess.run(list(map(str, command)), cwd=tmp_path, capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        return made.stdout

    printed = submit(["compile", "captures.parquet", "web.reptile", "--partitions", "2"])
    # Spark may print warnings first.
    assert "3 origins; 0 captures left out" in printed.splitlines()
    assert (tmp_path / "web.reptile").read_bytes() == path.read_bytes()
    (tmp_path / "web.reptile").rename(tmp_path / "shipped.reptile")
    submit(
        "--files",
        "shipped.reptile",
        ["verdicts", "shipped.reptile", "urls.parquet", "out", "--agent", "MyBot", "--url-column", "link"],
    )
    found = parquet.read_table(tmp_path / "out").to_pydict()
    expected = dict(zip(URLS, web.decide_many("MyBot", URLS)["MyBot:verdict"]))
    assert dict(zip(found["link"], found["MyBot:verdict"])) == expected


def real(folder):
    """Returns hosts and bodies of the real files, or of the sample if they are missing."""
    shared = pathlib.Path(os.environ.get("REPTILE_SHARED", "")) / "corpora/real/robots.tar.gz"
    if not (os.environ.get("REPTILE_SHARED") and shared.exists()):
        print("REPTILE_SHARED is not set: compared on sample files, NOT on real ones")
        return [
            (
                f"host{n}.example",
                f"user-agent: *\ndisallow: /{n}\ndisallow: /*{n}$\nuser-agent: GPTBot\ndisallow: /{n % 7}".encode(),
            )
            for n in range(300)
        ]
    with tarfile.open(shared) as tar:
        return [(os.path.basename(file.name), tar.extractfile(file).read()) for file in tar if file.isfile()]


def test_spark_matches_the_command(session, tmp_path):
    command = os.environ.get("REPTILE")
    if not command:
        pytest.skip("REPTILE is not set: Spark was NOT compared with the command")
    files, chance = real(tmp_path), random.Random(9309)
    hosts = [host for host, _ in files]
    rows = [(f"https://{host}/robots.txt", body, 200) for host, body in files]
    captures = session.createDataFrame(rows, "url string, body binary, status int").repartition(3)
    captures.write.parquet(f"file://{tmp_path}/captures")
    words = ["search", "cart", "private", "index.html", "a", "7", "print?", "x=1", "é", "*", "wp-admin", "%7Ejoe"]
    urls = [f"https://{chance.choice(hosts)}/{'/'.join(chance.choices(words, k=chance.randint(0, 3)))}" for _ in range(ROWS)]
    parts = sorted(str(each) for each in (tmp_path / "captures").glob("*.parquet"))
    whole = tmp_path / "whole.reptile"
    subprocess.run([command, "compile", "-q", "-o", whole, *parts], check=True)
    web = spark.compile_partitions(session.read.parquet(f"file://{tmp_path}/captures"), tmp_path / "parts.reptile", partitions=5)
    assert web.path.read_bytes() == whole.read_bytes()
    merged = spark.compile_files(session, parts, tmp_path / "files.reptile", tasks=3, merge_tasks=2, command=command)
    assert merged.path.read_bytes() == whole.read_bytes()
    asked = [command, "summarize", "-q", whole, "--agent=GPTBot", "--agent=CCBot", "-o", tmp_path / "summary.parquet"]
    subprocess.run(asked, check=True)
    summary = spark.summarize(session, whole, ["GPTBot", "CCBot"], tasks=3).toArrow()
    expected = parquet.read_table(tmp_path / "summary.parquet")
    assert summary.column_names == expected.column_names and summary.num_rows == 2 * len(web)
    assert summary.to_pydict() == expected.to_pydict()
    (tmp_path / "urls.txt").write_text("\n".join(urls) + "\n")
    asked = [command, "classify", "-q", whole, tmp_path / "urls.txt", "--agent", "GPTBot", "--agent", "CCBot", "--format", "csv"]
    asked += ["--header", "--columns", "verdict,line,rule,refused"]
    printed = subprocess.run(asked, capture_output=True, check=True, text=True)
    frame = session.createDataFrame(list(enumerate(urls)), "n int, url string").repartition(7)
    found = collected(spark.verdicts(frame, whole, ["GPTBot", "CCBot"], columns="verdict,line,rule,refused"))
    rows = list(csv.DictReader(printed.stdout.splitlines()))
    assert len(rows) == ROWS == len(found["n"])
    for number, row in enumerate(rows):
        ours = {name: found[name][number] for name in row}
        # In CSV, a missing line is 0, a missing rule is empty, and `refused` is empty or the verdict that makes it
        # unknown.
        verdict, refused = ours["GPTBot:verdict"], ours["refused"]
        ours["refused"] = verdict if refused is None else ";".join(refused)
        ours = {name: str(value or (0 if name.endswith("line") else "")) for name, value in ours.items()}
        assert ours == row, urls[number]
