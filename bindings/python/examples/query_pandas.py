"""Counts verdicts for the URLs in a Parquet file with pandas: ``query_pandas.py web.reptile urls.parquet``"""

import sys

import pandas
import pyarrow

import reptile

web = reptile.open(sys.argv[1], map=True)
urls = pandas.read_parquet(sys.argv[2], columns=["url"])
verdicts = pyarrow.table(web.decide_many(["GPTBot", "CCBot"], pyarrow.Table.from_pandas(urls), "verdict", url_column="url"))
# Arrow types keep whole numbers exact, even in columns with missing values.
frame = verdicts.to_pandas(types_mapper=pandas.ArrowDtype).astype("string")
for row, count in frame.value_counts(dropna=False).items():
    print(*row, count, sep="\t")
