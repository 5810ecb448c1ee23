"""Runs ``reptile.spark`` in Spark Connect sessions. Needs PySpark, its Connect packages and Java."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from conftest import CAPTURES, URLS

pyspark = pytest.importorskip("pyspark")
# Without one of its Connect packages, PySpark ends a job early with code 0.
for package in ("grpc_status", "zstandard"):
    pytest.importorskip(package, reason="PySpark's Connect packages are absent: Spark Connect was NOT tested")
pytest.importorskip("pyarrow")

if not shutil.which("java"):
    pytest.skip("Java is absent: Spark Connect was NOT tested", allow_module_level=True)

JOB = """
import json, sys
from pyspark.sql import SparkSession
from reptile import spark

path, folder, given = sys.argv[1], sys.argv[2], json.load(sys.stdin)
session = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false").getOrCreate()
assert type(session).__module__ == "pyspark.sql.connect.session"
urls = session.createDataFrame(list(enumerate(given["urls"])), "n int, url string").repartition(3)
urls.createOrReplaceTempView("urls")
spark.register(session, path, ["MyBot", "GPTBot"], "verdict,line,refused")
captures = session.createDataFrame(given["captures"], "url string, body string, status int, time long")
spark.compile_partitions(captures, f"{folder}/parts.reptile", partitions=3, merge_tasks=2)
frames = {
    "verdicts": spark.verdicts(urls, path, ["MyBot", "GPTBot"], columns="verdict,line,refused").orderBy("n").drop("n", "url"),
    "sql": session.sql("select n, robots(url) as found from urls").orderBy("n").select("found.*"),
    "summaries": spark.summarize(session, path, ["MyBot"], tasks=2),
}
found = {name: frame.toArrow().to_pydict() for name, frame in frames.items()}
try:
    spark.verdicts(urls, f"{folder}/nowhere", "MyBot")
except FileNotFoundError as error:
    found["missing"] = error.filename
# Stopping a local session may end the process.
with open(f"{folder}/found.json", "w") as file:
    json.dump(found, file)
session.stop()
"""


def test_a_connect_session_gives_the_same_rows(web, path, tmp_path):
    rows = [each if isinstance(each, dict) else {"url": each[0], "body": each[1]} for each in CAPTURES]
    captures = [[row["url"], row.get("body"), row.get("status"), row.get("time")] for row in rows]
    # A process has either classic sessions or Connect sessions.
    environment = {**os.environ, "SPARK_HOME": os.path.dirname(pyspark.__file__), "PYSPARK_PYTHON": sys.executable}
    environment.pop("PYTHONDEVMODE", None)
    given = json.dumps({"urls": URLS, "captures": captures})
    command = [sys.executable, "-c", JOB, str(path), str(tmp_path)]
    ran = subprocess.run(command, input=given, text=True, capture_output=True, env=environment, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    # A job may also end early with code 0.
    assert (tmp_path / "found.json").exists(), f"the job ended early\n{ran.stdout}\n{ran.stderr}"
    found = json.loads((tmp_path / "found.json").read_text())
    verdicts = web.decide_many(["MyBot", "GPTBot"], URLS, "verdict,line,refused").to_pydict()
    assert found["verdicts"] == found["sql"] == verdicts
    assert found["summaries"] == web.summarize(["MyBot"]).to_pydict()
    assert found["missing"] == f"{tmp_path}/nowhere"
    assert (tmp_path / "parts.reptile").read_bytes() == path.read_bytes()
