"""Counts verdicts for the URLs in a Parquet file with DataFusion: ``query_datafusion.py web.reptile urls.parquet``"""

import sys

from datafusion import SessionContext

from reptile.datafusion import register

context = SessionContext()
register(context, sys.argv[1], ["GPTBot", "CCBot"], "verdict")
context.register_parquet("urls", sys.argv[2])
query = """
    select verdicts['GPTBot:verdict'] as gptbot, verdicts['CCBot:verdict'] as ccbot, count(*) as urls
    from (select robots(url) as verdicts from urls)
    group by 1, 2 order by 1, 2
"""
for row in context.sql(query).to_pylist():
    print(*row.values(), sep="\t")
