"""Counts verdicts for the URLs in a Parquet file with lazy Polars: ``query_polars.py web.reptile urls.parquet``"""

import sys

import polars

from reptile.polars import robots

urls = polars.scan_parquet(sys.argv[2])
verdicts = urls.select(robots("url", sys.argv[1], ["GPTBot", "CCBot"], "verdict")).unnest("robots")
counted = verdicts.group_by("GPTBot:verdict", "CCBot:verdict").len().sort("GPTBot:verdict", "CCBot:verdict")
for row in counted.collect(engine="streaming").iter_rows():
    print(*row, sep="\t")
