"""Runs Spark, Ray Data and Dask with two workers on the same rows, and compares every row with `reptile classify`.

    python beside/scale.py ROBOTS.tar.gz URLS.txt.gz WORK-FOLDER --command target/release/reptile [--rows 5000000]

ROBOTS.tar.gz has files named after their hosts. URLS has a URL on each line; the URLs are repeated with different
queries until there are enough rows. The table shows each job's time from Parquet to Parquet for two crawlers, without
starting the cluster, and the peak memory of all processes, with shared pages counted once. Then each job runs

- after a worker process has died in the middle of its work: the same rows are expected,
- with a set that is missing on the workers: an error is expected, and no rows,
- on fewer rows (--pairs), alternating with Protego in the same host. Each worker parses an origin's robots.txt with
  Protego once and keeps the last 8,192.

The exit code is 1 if a row differs, or a failure is not as expected.
"""

import argparse
import contextlib
import functools
import gzip
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
import urllib.parse

import pyarrow
from pyarrow import compute, dataset, parquet

import reptile

AGENTS = ["GPTBot", "CCBot"]
COLUMNS = "verdict,line,refused"
FILES = 16
"""Number of files that the rows are split into: eight for each worker."""
CACHED = 8192
"""Number of parsed robots.txt files that a Protego worker keeps."""
HOSTS = ("spark", "ray", "dask")


# On the workers. --------------------------------------------------------------------------------------------------


class Reptile:
    """Adds columns of verdicts to a table."""

    def __init__(self, path: str) -> None:
        # The set is pickled as its path, and mapped by each worker.
        self.crawlers = reptile.open(path, map=True).agents(AGENTS)

    def __call__(self, table: pyarrow.Table) -> pyarrow.Table:
        return self.crawlers.with_verdicts(table, COLUMNS, url_column="url", parallel=False)


class Protego:
    """Adds a column of booleans for each crawler: null if no robots.txt is known."""

    def __init__(self, bodies: str) -> None:
        self.bodies = bodies

    def __call__(self, table: pyarrow.Table) -> pyarrow.Table:
        parsed = _parsed(self.bodies)

        def decided(url: str) -> list[bool | None]:
            try:
                parts = urllib.parse.urlsplit(url)
                robots = parsed(f"{parts.scheme}://{parts.netloc}/robots.txt")
                return [robots and robots.can_fetch(url, agent) for agent in AGENTS]
            except ValueError:
                return [None] * len(AGENTS)

        columns = list(zip(*map(decided, table["url"].to_pylist()))) or [[]] * len(AGENTS)
        for agent, column in zip(AGENTS, columns):
            table = table.append_column(agent, pyarrow.array(column, pyarrow.bool_()))
        return table


@functools.lru_cache(1)
def _parsed(path: str):
    import protego

    rows = parquet.read_table(path)
    bodies = dict(zip(rows["url"].to_pylist(), rows["body"].to_pylist()))

    @functools.lru_cache(CACHED)
    def parsed(url: str):
        body = bodies.get(url)
        return None if body is None else protego.Protego.parse(body.decode("utf-8", "replace"))

    return parsed


class Dying:
    """Kills its worker process once, if the flag exists. In Spark, this is the Python process's executor."""

    def __init__(self, work, flag: str) -> None:
        self.work, self.flag = work, flag

    def __call__(self, table: pyarrow.Table) -> pyarrow.Table:
        # Dask passes a table with a few rows on the driver, to find the types.
        if table.num_rows > 10:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.flag)
                os.kill(_worker(), signal.SIGKILL)
                time.sleep(60)
        return self.work(table)


def _worker() -> int:
    """Returns this process, or the executor that started it."""
    process = os.getpid()
    while process > 1:
        command = pathlib.Path(f"/proc/{process}/cmdline").read_bytes()
        if b"CoarseGrainedExecutorBackend" in command:
            return process
        process = int(pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return os.getpid()


# The jobs: from Parquet to Parquet. --------------------------------------------------------------------------------


def in_spark(folder: pathlib.Path, urls: str, out: str, decider: str, wrap) -> float:
    """Runs on a cluster with two executors."""
    import pyspark
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_HOME", os.path.dirname(pyspark.__file__))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_WORKER_DIR", str(folder / "workers"))
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.driver.host", "127.0.0.1")
    builder = builder.config("spark.ui.enabled", "false").config("spark.local.dir", str(folder / "local"))
    session = builder.config("spark.log.level", "OFF").getOrCreate()
    frame = session.read.parquet(urls)

    def decide(batches):
        for batch in batches:
            yield from wrap(pyarrow.Table.from_batches([batch])).combine_chunks().to_batches()

    # Start the executors' first workers, so that no job includes it.
    session.range(1000).repartition(4).mapInArrow(lambda batches: batches, "id long").count()
    begin = time.monotonic()
    if decider == "protego":
        decided = frame.mapInArrow(decide, "id long, url string, GPTBot boolean, CCBot boolean")
    else:
        from reptile import spark

        if isinstance(wrap, Dying):
            # The same rows, from a worker that may die first.
            frame = frame.mapInArrow(functools.partial(_each, Dying(_same, wrap.flag)), frame.schema)
        decided = spark.verdicts(frame, str(folder / "job.reptile"), AGENTS, columns=COLUMNS)
        if decider == "missing":
            (folder / "job.reptile").unlink()
    decided.write.parquet(f"file://{out}")
    seconds = time.monotonic() - begin
    session.stop()
    return seconds


def _same(table: pyarrow.Table) -> pyarrow.Table:
    return table


def _each(work, batches):
    for batch in batches:
        yield from work(pyarrow.Table.from_batches([batch])).to_batches()


def in_ray(folder: pathlib.Path, urls: str, out: str, decider: str, wrap) -> float:
    """Runs in tasks on two processors."""
    import ray

    # Workers get the same priority as in the other hosts, which matters on a busy machine.
    os.environ.setdefault("RAY_worker_niceness", "0")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    ray.data.range(4).map_batches(lambda batch: batch).materialize()
    begin = time.monotonic()
    decided = ray.data.read_parquet(urls).map_batches(_call, fn_args=[wrap], batch_format="pyarrow")
    if decider == "missing":
        (folder / "job.reptile").unlink()
    decided.write_parquet(out)
    seconds = time.monotonic() - begin
    ray.shutdown()
    return seconds


def _call(table: pyarrow.Table, wrap) -> pyarrow.Table:
    return wrap(table)


def in_dask(folder: pathlib.Path, urls: str, out: str, decider: str, wrap) -> float:
    """Runs in two worker processes."""
    from dask import dataframe
    from dask.distributed import Client

    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        client.run(lambda: None)
        begin = time.monotonic()
        decided = dataframe.read_parquet(urls).map_partitions(_of_pandas, wrap)
        if decider == "missing":
            (folder / "job.reptile").unlink()
        decided.to_parquet(out, write_index=False)
        return time.monotonic() - begin


def _of_pandas(frame, wrap):
    if isinstance(wrap, Reptile):
        return wrap(frame)
    import pandas

    return wrap(pyarrow.Table.from_pandas(frame, preserve_index=False)).to_pandas(types_mapper=pandas.ArrowDtype)


def job(options: argparse.Namespace) -> None:
    """Runs one job in this process, and prints its seconds as JSON."""
    # For workers.
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    folder = options.work.absolute()
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    shutil.copy(folder / "web.reptile", folder / "job.reptile")
    wrap = Protego(str(folder / "bodies.parquet")) if options.decider == "protego" else Reptile(str(folder / "job.reptile"))
    (folder / "flag").unlink(missing_ok=True)
    if options.decider == "killed":
        (folder / "flag").touch()
        wrap = Dying(wrap, str(folder / "flag"))
    run = {"spark": in_spark, "ray": in_ray, "dask": in_dask}[options.job]
    seconds = run(folder, str(folder / options.rows_of), str(out), options.decider, wrap)
    assert not (folder / "flag").exists(), "no worker died"
    print(json.dumps(seconds))


# The comparison. ---------------------------------------------------------------------------------------------------


def prepare(options: argparse.Namespace) -> None:
    """Writes the rows, the set and the command's verdicts, unless they exist."""
    folder = options.work
    for name in ("urls", "pairs"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    with gzip.open(options.urls, "rt", encoding="utf-8", errors="replace") as file:
        base = [line.rstrip("\n") for line in file]
    size = -(-options.rows // FILES)
    for number in range(FILES):
        ids = range(number * size, min((number + 1) * size, options.rows))
        urls = [base[each % len(base)] + (f"?n={each // len(base)}" if each >= len(base) else "") for each in ids]
        table = pyarrow.table({"id": pyarrow.array(ids, pyarrow.int64()), "url": urls})
        parquet.write_table(table, folder / "urls" / f"{number:02}.parquet")
    shutil.copy(folder / "urls" / "00.parquet", folder / "pairs")
    with tarfile.open(options.robots) as archive:
        members = [each for each in archive if each.isfile()]
        rows = [(f"https://{os.path.basename(each.name)}/robots.txt", archive.extractfile(each).read()) for each in members]
    table = pyarrow.table({"url": [url for url, _ in rows], "body": pyarrow.array([body for _, body in rows], pyarrow.binary())})
    parquet.write_table(table, folder / "bodies.parquet")
    call = [options.command, "compile", "--quiet", "--force", "-o", folder / "web.reptile", folder / "bodies.parquet"]
    subprocess.run(call, check=True)
    urls = sorted((folder / "urls").glob("*.parquet"))
    call = [options.command, "classify", "--quiet", "--force", folder / "web.reptile", *urls, "-o", f"{folder}/truth/", "--format", "parquet"]
    call += ["--columns", COLUMNS, *(f"--agent={agent}" for agent in AGENTS)]
    begin = time.monotonic()
    # 1: some rows are not URLs.
    assert subprocess.run(call).returncode in (0, 1)
    print(f"reptile classify, to Parquet: {options.rows:,} rows in {time.monotonic() - begin:.1f} s")


def differences(folder: pathlib.Path, rows: int) -> int:
    """Returns the number of rows that differ from the command's, or are missing."""
    found = dataset.dataset(folder / "out", format="parquet").to_table().sort_by("id")
    if not found["id"].equals(pyarrow.chunked_array([pyarrow.array(range(rows), pyarrow.int64())])):
        return rows
    truth = truth_of(folder, rows)
    differ = pyarrow.array([False]).take(pyarrow.array([0] * rows))
    for name in truth.column_names:
        ours, theirs = _plain(found[name]), _plain(truth[name])
        one_is_null = compute.xor(ours.is_null(), theirs.is_null())
        unequal = compute.or_(one_is_null, compute.fill_null(compute.not_equal(ours, theirs), False))
        differ = compute.or_(differ, unequal.combine_chunks())
    return compute.sum(differ).as_py()


def truth_of(folder: pathlib.Path, rows: int) -> pyarrow.Table:
    """Returns the command's columns for the first rows."""
    files = sorted((folder / "truth").glob("*.parquet"))
    return pyarrow.concat_tables(map(parquet.read_table, files), promote_options="default").slice(0, rows)


def _plain(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    """Returns a column with one type in all hosts. A list of names becomes a text."""
    if pyarrow.types.is_list(column.type) or pyarrow.types.is_large_list(column.type):
        return compute.binary_join(column.cast(pyarrow.list_(pyarrow.string())), ";")
    return column.cast(pyarrow.int64() if pyarrow.types.is_integer(column.type) else pyarrow.string())


def disagreements(folder: pathlib.Path) -> tuple[int, int]:
    """Returns how many verdicts of Protego differ from the command's, and how many both decided."""
    found = dataset.dataset(folder / "out", format="parquet").to_table().sort_by("id")
    truth = truth_of(folder, found.num_rows)
    words = {True: "allow", False: "disallow"}
    pairs = [
        (words[theirs], ours)
        for agent in AGENTS
        for theirs, ours in zip(found[agent].to_pylist(), truth[f"{agent}:verdict"].to_pylist())
        if theirs is not None and ours in words.values()
    ]
    return sum(theirs != ours for theirs, ours in pairs), len(pairs)


class Memory(threading.Thread):
    """Samples the memory of a process and its descendants: each page is divided by the processes that map it."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self.root, self.largest, self.ended = root, 0, threading.Event()

    def run(self) -> None:
        while not self.ended.wait(1):
            self.largest = max(self.largest, sum(map(self._of, self._descendants())))

    def _descendants(self) -> set[int]:
        parents = {}
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        found, added = {self.root}, {self.root}
        while added:
            added = {process for process, parent in parents.items() if parent in added}
            found |= added
        return found

    def _of(self, process: int) -> int:
        with contextlib.suppress(OSError):
            for line in pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    return int(line.split()[1]) << 10
        return 0


def measured(options: argparse.Namespace, host: str, decider: str, rows_of: str) -> tuple[float | None, int, str]:
    """Runs a job in a new process. Returns its seconds, or None if it failed, its memory, and its messages."""
    call = [sys.executable, __file__, options.robots, options.urls, options.work, "--job", host, "--decider", decider]
    with open(options.work / "messages", "w+b") as messages:
        process = subprocess.Popen([*map(str, call), "--rows-of", rows_of], stdout=subprocess.PIPE, stderr=messages)
        memory = Memory(process.pid)
        memory.start()
        printed = process.communicate()[0].decode()
        memory.ended.set()
        memory.join()
        messages.seek(0)
        text = messages.read().decode(errors="replace")
    return (float(printed.split()[-1]) if process.returncode == 0 else None), memory.largest, text


def main() -> None:
    """Runs all jobs, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", type=pathlib.Path)
    parser.add_argument("urls", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--command", default="reptile", help="the command to compare with")
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--hosts", nargs="+", choices=HOSTS, default=HOSTS)
    parser.add_argument("--pairs", type=int, default=0, help="number of runs alternating with Protego, on a sixteenth of the rows")
    parser.add_argument("--job", choices=HOSTS, help=argparse.SUPPRESS)
    parser.add_argument("--decider", help=argparse.SUPPRESS)
    parser.add_argument("--rows-of", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        return job(options)
    prepare(options)
    size, wrong = -(-options.rows // FILES), 0
    print(f"\n{'host':6} {'run':10} {'rows':>10} {'seconds':>8} {'rows/s':>9} {'memory':>8}  result", flush=True)
    plan = [(decider, "urls", options.rows) for decider in ("reptile", "killed", "missing")]
    plan += [(decider, "pairs", min(size, options.rows)) for decider in ("reptile", "protego")] * options.pairs
    for host in options.hosts:
        for decider, rows_of, rows in plan:
            seconds, memory, text = measured(options, host, decider, rows_of)
            if seconds is None:
                is_right = decider == "missing" and "No such file" in text and "job.reptile" in text
                is_right = is_right and not list((options.work / "out").glob("**/*.parquet"))
                result = "error: no such file, no rows" if is_right else f"FAILED: {text[-2000:]}"
            elif decider == "protego":
                is_right, result = True, "{:,} of {:,} verdicts differ: another dialect".format(*disagreements(options.work))
            else:
                differ = differences(options.work, rows)
                is_right, result = decider != "missing" and not differ, f"{differ:,} rows differ"
            wrong += not is_right
            speed = "" if seconds is None else f"{seconds:8.1f} {rows / seconds:9,.0f}"
            print(f"{host:6} {decider:10} {rows:10,} {speed:18} {memory >> 20:5,} MiB  {result}", flush=True)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    # Workers import this file as a module, so that each keeps its parsed files from task to task.
    import scale

    scale.main()
