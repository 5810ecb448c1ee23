"""Benchmarks ``reptile.datatrove.RobotsFilter`` against a reimplementation of Apertus's filter, on the same documents.

    python beside/datatrove_protego.py web.reptile BODIES.parquet URLS.txt WORK-FOLDER [--documents 100000]

BODIES has the columns url and body (bytes), one row for each origin in the set. Apertus keeps robots.txt texts in a
dictionary by host, caches the last 8,192 parsed by Protego, and checks each document for each of 15 crawlers. A missing
robots.txt, or an error, allows the document.
"""

import argparse
import functools
import gzip
import itertools
import json
import pathlib
import time
import urllib.parse

import pyarrow.parquet
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.filters.base_filter import BaseFilter
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter

from reptile.datatrove import RobotsFilter, refused_by_id

AGENTS = [
    *("anthropic-ai", "Applebot-Extended", "Bytespider", "CCBot", "ClaudeBot", "cohere-training-data-crawler", "Diffbot", "FacebookBot"),
    *("Meta-ExternalAgent", "Google-Extended", "GPTBot", "PanguBot", "Amazonbot", "omgili", "ExampleBot"),
]
"""15 crawlers, the number that Apertus checks. The last one obeys the groups for `*`."""

CACHED = 8192
"""Number of parsed robots.txt files that a worker caches."""


class ProtegoFilter(BaseFilter):
    """Drops a document if any crawler may not fetch its URL."""

    name = "Protego"

    def __init__(self, bodies: str, exclusion_writer: JsonlWriter) -> None:
        super().__init__(exclusion_writer)
        self.path = bodies
        self.parsed = None

    def filter(self, doc):
        """Returns whether the document is kept, and tags it with the disallowed crawlers."""
        if self.parsed is None:
            self.parsed = _parsed(self.path)
        url = doc.metadata["url"]
        try:
            parts = urllib.parse.urlsplit(url)
            robots = self.parsed(f"{parts.scheme}://{parts.netloc}/robots.txt")
            refused = [] if robots is None else [agent for agent in AGENTS if not robots.can_fetch(url, agent)]
        except Exception:
            refused = []
        doc.metadata["robots"] = "disallow" if refused else "allow"
        doc.metadata["robots_refused"] = refused
        return not refused


def _parsed(path):
    from protego import Protego

    table = pyarrow.parquet.read_table(path)
    bodies = dict(zip(table["url"].to_pylist(), table["body"].to_pylist()))

    @functools.lru_cache(CACHED)
    def parsed(url):
        return Protego.parse(bodies[url].decode("utf-8", "replace")) if url in bodies else None

    return parsed


def main() -> None:
    """Runs both pipelines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set")
    parser.add_argument("bodies")
    parser.add_argument("urls", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--documents", type=int, default=100_000)
    options = parser.parse_args()
    documents = options.work / "documents"
    documents.mkdir(parents=True)
    with open(options.urls, encoding="utf-8") as urls, gzip.open(documents / "0.jsonl.gz", "wt", compresslevel=1) as out:
        for number, url in enumerate(itertools.islice(urls, options.documents)):
            out.write(json.dumps({"id": str(number), "text": "text " * 100, "url": url.rstrip("\n")}) + "\n")
    lists = {}
    filters = {
        "nothing": lambda writer: None,
        "reptile": lambda writer: RobotsFilter(options.set, AGENTS, unknown="keep", invalid="keep", exclusion_writer=writer),
        "protego": lambda writer: ProtegoFilter(options.bodies, writer),
    }
    for name, made in filters.items():
        folder = options.work / name
        step = made(JsonlWriter(str(folder / "refused"), adapter=refused_by_id))
        start = time.monotonic()
        # Use one task, so that the time is one worker's.
        pipeline = [JsonlReader(str(documents)), *([step] if step else [])]
        LocalPipelineExecutor(pipeline=pipeline, tasks=1, logging_dir=str(folder / "log")).run()
        lists[name] = [time.monotonic() - start, {}]
        for file in (folder / "refused").glob("*.jsonl.gz"):
            with gzip.open(file, "rt") as rows:
                lists[name][1].update((row["id"], row["robots_refused"]) for row in map(json.loads, rows))
    read = lists.pop("nothing")[0]
    print(f"{options.documents:,} documents, {len(AGENTS)} crawlers; reading took {read:.2f} s, which is subtracted")
    for name, (seconds, refused) in lists.items():
        rate = options.documents / (seconds - read)
        kept = options.documents - len(refused)
        print(f"{name:8}  {seconds - read:8.2f} s  {rate:>9,.0f} documents/s  {kept:>9,} kept, {len(refused):,} dropped")
    ours, theirs = lists["reptile"][1], lists["protego"][1]
    differ = sum(ours.get(key, []) != theirs.get(key, []) for key in ours.keys() | theirs.keys())
    print(f"{differ:,} documents have different lists of refused crawlers, because the dialects differ")


if __name__ == "__main__":
    main()
