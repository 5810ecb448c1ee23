"""A datatrove pipeline that keeps the pages of WARC files that may be used to train AI, also by their headers and HTML.

    python examples/datatrove_rights.py web.reptile warc-files kept

datatrove's own reader keeps no headers, so this one adds them. The filter runs before the HTML is extracted.
"""

import sys

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.readers import WarcReader
from datatrove.pipeline.readers.warc import process_record
from datatrove.pipeline.writers import JsonlWriter

from reptile.datatrove import RobotsFilter


class PageReader(WarcReader):
    """Reads pages with their headers."""

    def read_file(self, filepath):
        """Yields a document for each response."""
        from warcio.archiveiterator import ArchiveIterator

        with self.data_folder.open(filepath, "rb", compression=self.compression) as file:
            for number, record in enumerate(ArchiveIterator(file)):
                page = process_record(record)
                document = page and self.get_document_from_dict(page, filepath, number)
                if document:
                    document.metadata["headers"] = record.http_headers.headers if record.http_headers else None
                    yield document


def main() -> None:
    """Runs the pipeline."""
    web, archives, kept = sys.argv[1:]
    keep = RobotsFilter(
        web, "CCBot", rights="all", purpose="train-ai", unknown_usage="disallow", html_key="text", headers_key="headers"
    )
    # An extractor, such as Trafilatura, follows here.
    LocalPipelineExecutor(pipeline=[PageReader(archives), keep, JsonlWriter(kept)], tasks=1).run()


if __name__ == "__main__":
    main()
