"""Benchmarks ``reptile.spark`` against Protego in the same Spark session, and compares their verdicts.

    python beside/spark_protego.py CAPTURES.parquet URLS.parquet WORK-FOLDER [--protego-rows 100000] [--master local-cluster[2,1,1024]]
    python beside/spark_protego.py ... --command target/release/reptile    # also compares every row with `reptile classify`

CAPTURES has the columns url and body (bytes), with one capture per origin. URLS has id and url. Both jobs read the
URLs, decide them for two crawlers and write Parquet. As usual with Protego, each worker parses an origin's robots.txt
and caches the last 8,192.
"""

import argparse
import functools
import os
import pathlib
import shutil
import subprocess
import sys
import time
import urllib.parse

import pyarrow
import pyarrow.parquet
import pyspark
from pyspark import SparkFiles
from pyspark.sql import SparkSession

from reptile import spark

AGENTS = ["GPTBot", "CCBot"]
CACHED = 8192
"""Number of parsed robots.txt files that a Protego worker caches."""


def of_protego(batches):
    """Decides with Protego: True, False, or null if no robots.txt is known."""
    from protego import Protego

    table = pyarrow.parquet.read_table(SparkFiles.get("bodies.parquet"))
    bodies = dict(zip(table["url"].to_pylist(), table["body"].to_pylist()))

    @functools.lru_cache(CACHED)
    def parsed(origin):
        body = bodies.get(origin + "/robots.txt")
        return None if body is None else Protego.parse(body.decode("utf-8", "replace"))

    def decided(url):
        try:
            parts = urllib.parse.urlsplit(url)
            robots = parsed(f"{parts.scheme}://{parts.netloc}")
            return [robots and robots.can_fetch(url, agent) for agent in AGENTS]
        except Exception:
            return [None] * len(AGENTS)

    for batch in batches:
        columns = zip(*map(decided, batch["url"].to_pylist())) if batch.num_rows else [[]] * len(AGENTS)
        arrays = [pyarrow.array(column, pyarrow.bool_()) for column in columns]
        yield pyarrow.RecordBatch.from_arrays([*batch.columns, *arrays], names=[*batch.schema.names, *AGENTS])


def timed(name, rows, work):
    """Runs work, prints how long it took, and returns its result."""
    start = time.monotonic()
    result = work()
    seconds = time.monotonic() - start
    print(f"{name:42} {rows:>11,} rows  {seconds:8.2f} s  {rows / seconds:>11,.0f} rows/s", flush=True)
    return result


def main() -> None:
    """Runs both jobs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captures", type=pathlib.Path)
    parser.add_argument("urls", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--protego-rows", type=int, default=100_000)
    parser.add_argument("--master", default="local-cluster[2,1,1024]")
    parser.add_argument("--command", help="the command to compare with")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    work = options.work.absolute()
    os.environ.setdefault("SPARK_HOME", os.path.dirname(pyspark.__file__))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_WORKER_DIR", str(work / "workers"))
    session = SparkSession.builder.master(options.master).config("spark.driver.host", "127.0.0.1")
    session = session.config("spark.ui.enabled", "false").config("spark.local.dir", str(work / "local")).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")

    captures = session.read.parquet(str(options.captures.absolute()))
    urls = session.read.parquet(str(options.urls.absolute()))
    rows = urls.count()
    # Start the executors' first workers, so that neither job includes it.
    session.range(1000).repartition(4).mapInArrow(lambda batches: batches, "id long").count()
    count = captures.count()
    timed("compile_partitions", count, lambda: spark.compile_partitions(captures, work / "parts.reptile", partitions=4))
    decided = spark.verdicts(urls, work / "parts.reptile", AGENTS)
    timed("reptile.spark.verdicts", rows, lambda: decided.write.mode("overwrite").parquet(str(work / "reptile")))

    bodies = pyarrow.parquet.read_table(options.captures, columns=["url", "body"])
    pyarrow.parquet.write_table(bodies, work / "bodies.parquet")
    session.sparkContext.addFile(str(work / "bodies.parquet"))
    sample = urls.where(f"id < {options.protego_rows}").repartition(4).persist()
    sampled = sample.count()
    by_protego = sample.mapInArrow(of_protego, "id long, url string, GPTBot boolean, CCBot boolean")
    timed("Protego in mapInArrow", sampled, lambda: by_protego.write.mode("overwrite").parquet(str(work / "protego")))
    decided = spark.verdicts(sample, work / "parts.reptile", AGENTS)
    timed("reptile.spark.verdicts, the same rows", sampled, lambda: decided.write.mode("overwrite").parquet(str(work / "sample")))
    session.stop()
    compare(work)
    if options.command:
        compare_with_command(options.command, options.captures, work, rows)


def compare(work: pathlib.Path) -> None:
    """Prints how often the two agree. Their dialects differ."""
    ours, theirs = (pyarrow.parquet.read_table(work / name).sort_by("id") for name in ("sample", "protego"))
    for agent in AGENTS:
        pairs = zip(ours[f"{agent}:verdict"].to_pylist(), theirs[agent].to_pylist())
        words = {True: "allow", False: "disallow"}
        known = [(mine, words[other]) for mine, other in pairs if other is not None and mine in words.values()]
        differ = sum(mine != other for mine, other in known)
        print(f"{agent}: {len(known):,} rows decided by both, {differ:,} differ")


def compare_with_command(command: str, captures: pathlib.Path, work: pathlib.Path, rows: int) -> None:
    """Compares the set, byte for byte, and each row with the command's."""
    whole = work / "whole.reptile"
    inputs = sorted(map(str, captures.glob("*.parquet"))) if captures.is_dir() else [str(captures)]
    subprocess.run([command, "compile", "-q", "--force", "-o", whole, *inputs], check=True)
    same = whole.read_bytes() == (work / "parts.reptile").read_bytes()
    print("the set is", "identical to the command's, byte for byte" if same else "NOT identical to the command's")
    ours = pyarrow.parquet.read_table(work / "reptile").sort_by("id")
    pyarrow.parquet.write_table(ours.select(["url"]), work / "urls.parquet")
    shutil.rmtree(work / "theirs.parquet", ignore_errors=True)
    asked = [
        command,
        "classify",
        "-q",
        "--force",
        whole,
        work / "urls.parquet",
        "--format",
        "parquet",
        "-o",
        work / "theirs.parquet",
    ]
    subprocess.run([*asked, "--columns", "url,verdict", *(f"--agent={agent}" for agent in AGENTS)], check=True)
    theirs = pyarrow.parquet.read_table(work / "theirs.parquet")
    names = ["url", *(f"{agent}:verdict" for agent in AGENTS)]
    differ = sum(
        mine != other for mine, other in zip(*(zip(*(table[name].to_pylist() for name in names)) for table in (ours, theirs)))
    )
    complete = ours.num_rows == theirs.num_rows == rows
    print(f"{ours.num_rows:,} rows, {theirs.num_rows:,} from the command: {differ:,} differ")
    sys.exit(0 if same and complete and not differ else 1)


if __name__ == "__main__":
    main()
