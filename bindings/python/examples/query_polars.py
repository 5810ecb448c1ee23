"""How many URLs of a Parquet file each crawler may fetch, by a lazy query of Polars: ``query_polars.py web.reptile urls.parquet``"""

import sys

import polars

from reptile.polars import robots

urls = polars.scan_parquet(sys.argv[2])
verdicts = urls.select(robots("url", sys.argv[1], ["GPTBot", "CCBot"], "verdict")).unnest("robots")
counted = verdicts.group_by("GPTBot:verdict", "CCBot:verdict").len().sort("GPTBot:verdict", "CCBot:verdict")
for row in counted.collect(engine="streaming").iter_rows():
    print(*row, sep="\t")
