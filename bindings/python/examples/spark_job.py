"""A Spark job that compiles a table of captures to a set, or adds verdicts to a table of URLs.

spark-submit --master ... examples/spark_job.py compile captures.parquet web.reptile
spark-submit --master ... --files web.reptile examples/spark_job.py verdicts web.reptile urls.parquet out.parquet --agent GPTBot
"""

import argparse

from pyspark.sql import SparkSession

from reptile import spark


def main() -> None:
    """Runs the command in the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    compiling = commands.add_parser("compile", help="compiles a Parquet table of captures to a set")
    compiling.add_argument("captures")
    compiling.add_argument("set")
    compiling.add_argument("--partitions", type=int, help="number of partitions to spread the captures over first")
    deciding = commands.add_parser("verdicts", help="adds verdicts to a Parquet table of URLs")
    deciding.add_argument("set", help="a path on every machine, or the name of a file in --files")
    deciding.add_argument("urls")
    deciding.add_argument("out")
    deciding.add_argument("--agent", action="append")
    deciding.add_argument("--agent-column", help="a column with each row's crawler, instead of --agent")
    deciding.add_argument("--times", help="a column with each row's time, for a set by time")
    deciding.add_argument("--columns", default="verdict")
    deciding.add_argument("--url-column", default="url")
    options = parser.parse_args()

    session = SparkSession.builder.appName("robots.txt").getOrCreate()
    if options.command == "compile":
        left_out = []
        captures = session.read.parquet(options.captures)
        web = spark.compile_partitions(
            captures, options.set, partitions=options.partitions, on_error=lambda origin, text: left_out.append(f"{origin}: {text}")
        )
        print(f"{len(web):,} origins; {len(left_out):,} captures left out", *left_out[:10], sep="\n  ")
    else:
        urls = session.read.parquet(options.urls)
        decided = spark.verdicts(
            urls,
            options.set,
            options.agent,
            url_column=options.url_column,
            agent_column=options.agent_column,
            times=options.times,
            columns=options.columns,
        )
        decided.write.parquet(options.out)
    session.stop()


if __name__ == "__main__":
    main()
