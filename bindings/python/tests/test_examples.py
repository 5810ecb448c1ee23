"""Runs the examples, and compares their output with the command in REPTILE, or else with the set."""

import collections
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import pytest

from conftest import URLS

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"
AGENTS = ["GPTBot", "CCBot"]
ROWS = [url for url in URLS if url is not None] * 100


def run(folder, name, *arguments):
    """Runs an example in a folder and returns its output."""
    command = [sys.executable, EXAMPLES / name, *map(str, arguments)]
    made = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert made.returncode == 0, made.stderr
    return made.stdout


def verdicts(web, path, folder):
    """Returns the verdicts for each URL and crawler."""
    command = os.environ.get("REPTILE")
    if not command:
        print("REPTILE is not set: compared with the set, NOT with the command")
        found = web.decide_many(AGENTS, ROWS)
        return [tuple(map(str, row)) for row in zip(*(found[f"{agent}:verdict"] for agent in AGENTS))]
    (folder / "urls.txt").write_text("\n".join(ROWS) + "\n")
    asked = [
        command,
        "classify",
        "-q",
        path,
        folder / "urls.txt",
        *(f"--agent={agent}" for agent in AGENTS),
        "--columns",
        "verdict",
    ]
    printed = subprocess.run(asked, capture_output=True, check=True, text=True).stdout
    return [tuple(line.split("\t")) for line in printed.splitlines()]


def test_opens(tmp_path):
    (tmp_path / "robots.txt").write_text("user-agent: *\ndisallow: /cart\n\nuser-agent: GPTBot\ndisallow: /images\n")
    for name, printed, error in [
        ("CCBot", "proved: CCBot may fetch nothing that others may not\n", ""),
        ("GPTBot", "", "GPTBot may fetch '/cart', and others may not\n"),
    ]:
        command = [sys.executable, EXAMPLES / "opens.py", "robots.txt", name]
        made = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert (made.returncode, made.stdout, made.stderr) == (int(not printed), printed, error)


def test_readme(tmp_path):
    for name in ("polars", "duckdb", "pandas"):
        pytest.importorskip(name)
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"url": ROWS}), tmp_path / "urls.parquet")
    page = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    assert len(blocks) == 8
    (tmp_path / "readme.py").write_text("\n".join(blocks), encoding="utf-8")
    made = subprocess.run([sys.executable, "readme.py"], capture_output=True, text=True, cwd=tmp_path)
    assert made.returncode == 0, made.stderr


def test_the_printed_install_has_every_extra(tmp_path):
    page = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    [line] = re.findall(r"^pip install .*target/wheels.*$", page, re.M)
    folder = tmp_path / "target" / "wheels"
    folder.mkdir(parents=True)
    # An older wheel, and another package's.
    wheels = ["reptile_robots-0.0.9-x.whl", "reptile_robots-0.1.0-x.whl", "reptile_polars-0.1.0-x.whl"]
    for age, name in zip((20, 10, 0), wheels):
        (folder / name).touch()
        os.utime(folder / name, (time.time() - age,) * 2)
    script = f"pip() {{ printf '%s\\n' \"$@\"; }}\n{line}\n"
    printed = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    install, target = printed.stdout.splitlines()
    wheel, extras = re.fullmatch(r"target/wheels/(.*)\[(.*)\]", target).groups()
    assert (install, wheel) == ("install", wheels[1])
    blocks = "\n".join(re.findall(r"^```python\n(.*?)^```", page, re.M | re.S))
    engines = ("duckdb", "pandas", "polars", "datafusion", "pyspark", "datatrove")
    used = {name for name in engines if re.search(rf"^(import|from) ([^#]*\W)?{name}\b", blocks, re.M)}
    assert used == set(extras.split(","))


@pytest.mark.parametrize("engine", ["arrow", "pandas", "duckdb", "polars", "datafusion", "ray", "dask"])
def test_query_examples(engine, web, path, tmp_path, monkeypatch):
    # Ray gives its workers the lowest priority. On a busy machine, they would take minutes to start.
    monkeypatch.setenv("RAY_worker_niceness", "0")
    pytest.importorskip({"arrow": "pyarrow", "dask": "dask.dataframe"}.get(engine, engine))
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"url": ROWS}), tmp_path / "urls.parquet")
    printed = [line.split("\t") for line in run(tmp_path, f"query_{engine}.py", path, tmp_path / "urls.parquet").splitlines()]
    counted = collections.Counter(verdicts(web, path, tmp_path))
    assert {tuple(row[:2]): int(row[2]) for row in printed} == counted and len(printed) == len(counted) == 5


def test_log_example(web, path, tmp_path):
    pytest.importorskip("duckdb")
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    headers = ["Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)", "Mozilla/5.0 (X11) Firefox/143.0", None]
    rows = [(url, headers[number % 3]) for number, url in enumerate(ROWS)]
    table = pyarrow.table({"url": [url for url, _ in rows], "user_agent": [header for _, header in rows]})
    parquet.write_table(table, tmp_path / "requests.parquet")
    printed = [line.split("\t") for line in run(tmp_path, "query_log.py", path, tmp_path / "requests.parquet").splitlines()]
    counted = collections.Counter()
    for url, header in rows:
        agent = web.agent_of_header(header or "")
        verdict = str(web.decide(agent.name if agent else "*", url))
        counted[str(agent and agent.name), verdict if agent or verdict == "invalid" else "unknown"] += 1
    assert {(name, verdict): int(count) for name, verdict, count in printed} == counted and len(counted) == 6


def test_datatrove_example(web, path, tmp_path):
    pytest.importorskip("datatrove.pipeline.filters", exc_type=ImportError)
    (tmp_path / "documents").mkdir()
    rows = [json.dumps({"id": str(number), "text": "text", "url": url}) for number, url in enumerate(ROWS)]
    (tmp_path / "documents" / "a.jsonl").write_text("\n".join(rows))
    run(tmp_path, "datatrove_filter.py", path, *(tmp_path / name for name in ("documents", "kept", "refused")))
    found = {}
    for name in ("kept", "refused"):
        files = (tmp_path / name).glob("*.jsonl.gz")
        found[name] = {row["id"]: row for file in files for row in map(json.loads, gzip.open(file, "rt"))}
    refused = {}
    for number, row in enumerate(verdicts(web, path, tmp_path)):
        if row[0] == "invalid" or "disallow" in row:
            names = [agent for agent, verdict in zip(AGENTS, row) if verdict == "disallow"]
            refused[str(number)] = {"id": str(number), "robots": "disallow" if names else "invalid", "robots_refused": names}
    assert found["refused"] == refused and set(found["kept"]) == set(map(str, range(len(ROWS)))) - set(refused)


def test_datatrove_rights_example(path, tmp_path):
    pytest.importorskip("datatrove.pipeline.filters", exc_type=ImportError)
    for name in ("warcio", "magic", "cchardet"):
        pytest.importorskip(name, exc_type=ImportError)
    (tmp_path / "warc").mkdir()
    block = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{}\r\n<!doctype html><html><body>{}</body></html>"
    pages = [block.format("Content-Usage: train-ai=y\r\n", "a"), block.format("Content-Usage: train-ai=y\r\nX-Robots-Tag: noai\r\n", "b")]
    pages += [block.format("", "c"), block.format("tdm-reservation: 0\r\n", "<meta name=robots content=noai>")]
    with open(tmp_path / "warc" / "a.warc", "w", newline="") as file:
        for number, page in enumerate(pages):
            fields = f"WARC-Type: response\r\nWARC-Target-URI: https://gone.example/{number}\r\nWARC-Record-ID: <{number}>\r\n"
            fields += "WARC-Date: 2026-03-01T00:00:00Z\r\nContent-Type: application/http; msgtype=response\r\n"
            file.write(f"WARC/1.0\r\n{fields}Content-Length: {len(page)}\r\n\r\n{page}\r\n\r\n")
    run(tmp_path, "datatrove_rights.py", path, tmp_path / "warc", tmp_path / "kept")
    kept = [json.loads(row)["id"] for file in (tmp_path / "kept").glob("*.gz") for row in gzip.open(file, "rt")]
    assert kept == ["<0>"]
