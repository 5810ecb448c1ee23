"""Counts a log's requests for each crawler and verdict with DuckDB: ``query_log.py web.reptile requests.parquet``

The columns are ``url`` and ``user_agent``. Browsers' requests have no crawler.
"""

import sys

import duckdb

from reptile.duckdb import register

connection = duckdb.connect()
register(connection, sys.argv[1], None, "agent,verdict", headers=True)
query = """
    select robots.agent, robots.verdict, count(*)
    from (select robots(url, user_agent) as robots from read_parquet(?))
    group by 1, 2 order by 1, 2
"""
for row in connection.execute(query, [sys.argv[2]]).fetchall():
    print(*row, sep="\t")
