"""Counts verdicts for the URLs in Parquet files with Dask: ``query_dask.py web.reptile urls.parquet``"""

import os
import sys

from dask import dataframe
from dask.distributed import Client

import reptile

AGENTS = ["GPTBot", "CCBot"]


def main() -> None:
    """Decides the URLs in two worker processes."""
    # The set has this path on every machine. It is shipped as its path, which each worker maps.
    crawlers = reptile.open(os.path.abspath(sys.argv[1]), map=True).agents(AGENTS)
    with Client(n_workers=2, threads_per_worker=1):
        urls = dataframe.read_parquet(sys.argv[2], columns=["url"])
        # Dask calls this function for every partition, and for an empty one to find the types.
        decided = urls.map_partitions(crawlers.with_verdicts, "verdict", url_column="url", parallel=False)
        counted = decided.groupby(["GPTBot:verdict", "CCBot:verdict"]).size().compute()
    for (first, second), count in counted.items():
        print(first, second, count, sep="\t")


if __name__ == "__main__":
    main()
