"""Fetches the pages that one page links to, and obeys robots.txt: ``scrapy_spider.py https://example.com/``"""

import sys

import scrapy
from scrapy.crawler import CrawlerProcess


class Spider(scrapy.Spider):
    """Prints the URLs that were fetched."""

    name = "example"
    start_urls = sys.argv[1:]

    def parse(self, response):
        """Follows the page's links."""
        print(response.url, flush=True)
        if response.meta["depth"] == 0:
            yield from response.follow_all(css="a")


process = CrawlerProcess(
    {
        "USER_AGENT": "ExampleBot/1.0",
        "ROBOTSTXT_OBEY": True,
        "ROBOTSTXT_PARSER": "reptile.scrapy.ReptileRobotParser",
        "LOG_LEVEL": "WARNING",
        "TELNETCONSOLE_ENABLED": False,
    }
)
process.crawl(Spider)
process.start()
