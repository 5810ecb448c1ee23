"""Counts verdicts for the URLs in a Parquet file with pandas: ``query_pandas.py web.reptile urls.parquet``"""

import sys

import pandas

import reptile

web = reptile.open(sys.argv[1], map=True)
agents = web.agents(["GPTBot", "CCBot"])
frame = agents.with_verdicts(pandas.read_parquet(sys.argv[2], columns=["url"]), "verdict")
verdicts = frame[[f"{name}:verdict" for name in agents.names]].astype("string")
for row, count in verdicts.value_counts(dropna=False).items():
    print(*row, count, sep="\t")
