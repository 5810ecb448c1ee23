"""A datatrove pipeline that keeps documents that two crawlers may fetch, and lists the IDs of the others.

    python examples/datatrove_filter.py web.reptile documents kept refused

The documents are JSON Lines with ``id``, ``text`` and ``url``.
"""

import sys

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter

from reptile.datatrove import RobotsFilter, refused_by_id


def main() -> None:
    """Runs the pipeline."""
    web, documents, kept, refused = sys.argv[1:]
    writer = JsonlWriter(refused, adapter=refused_by_id)
    keep = RobotsFilter(web, ["GPTBot", "CCBot"], unknown="keep", exclusion_writer=writer)
    LocalPipelineExecutor(pipeline=[JsonlReader(documents), keep, JsonlWriter(kept)], tasks=2, workers=2).run()


if __name__ == "__main__":
    main()
