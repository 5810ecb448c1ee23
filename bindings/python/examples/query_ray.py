"""Counts verdicts for the URLs in Parquet files with Ray Data: ``query_ray.py web.reptile urls.parquet``"""

import collections
import os
import sys

import ray

import reptile

AGENTS = ["GPTBot", "CCBot"]


def main() -> None:
    """Decides the URLs in a task per block."""
    # The set has this path on every machine. It is shipped as its path, which each worker maps.
    crawlers = reptile.open(os.path.abspath(sys.argv[1]), map=True).agents(AGENTS)
    urls = ray.data.read_parquet(sys.argv[2], columns=["url"])
    # Ray runs a task per processor, so each task decides on one thread.
    options = {"url_column": "url", "parallel": False}
    decided = urls.map_batches(crawlers.with_verdicts, fn_args=["verdict"], fn_kwargs=options, batch_format="pyarrow")
    counted = collections.Counter()
    for batch in decided.iter_batches(batch_format="pyarrow", batch_size=None):
        counted.update(zip(*(batch[f"{agent}:verdict"].to_pylist() for agent in AGENTS)))
    for verdicts, count in counted.items():
        print(*verdicts, count, sep="\t")


if __name__ == "__main__":
    main()
