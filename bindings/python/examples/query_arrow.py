"""Counts verdicts for the URLs in a Parquet file with pyarrow: ``query_arrow.py web.reptile urls.parquet``"""

import sys

import pyarrow
from pyarrow import parquet

import reptile

AGENTS = ["GPTBot", "CCBot"]
web = reptile.open(sys.argv[1], map=True)
urls = parquet.read_table(sys.argv[2], columns=["url"])
verdicts = pyarrow.table(web.decide_many(AGENTS, urls, "verdict", url_column="url")).unify_dictionaries()
counted = verdicts.group_by(verdicts.column_names).aggregate([([], "count_all")])
for row in counted.to_pylist():
    print(row["GPTBot:verdict"], row["CCBot:verdict"], row["count_all"], sep="\t")
