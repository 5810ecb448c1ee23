"""Counts verdicts for the URLs in a Parquet file with DuckDB: ``query_duckdb.py web.reptile urls.parquet``"""

import sys

import duckdb

from reptile.duckdb import register

connection = duckdb.connect()
register(connection, sys.argv[1], ["GPTBot", "CCBot"])
query = """
    select verdicts."GPTBot:verdict", verdicts."CCBot:verdict", count(*)
    from (select robots(url) as verdicts from read_parquet(?))
    group by 1, 2 order by 1, 2
"""
for row in connection.execute(query, [sys.argv[2]]).fetchall():
    print(*row, sep="\t")
