"""A parser for Scrapy: ``ROBOTSTXT_PARSER = "reptile.scrapy.ReptileRobotParser"`` in the settings. Needs Scrapy."""

from scrapy.robotstxt import RobotParser

from .protego import Protego

__all__ = ["ReptileRobotParser"]


class ReptileRobotParser(RobotParser):
    """Implements Scrapy's robots.txt parser interface."""

    def __init__(self, robotstxt_body, spider=None):
        self.spider = spider
        # As in Scrapy, bytes that are not UTF-8 are left out.
        is_bytes = isinstance(robotstxt_body, bytes)
        text = robotstxt_body.decode("utf-8", "ignore") if is_bytes else robotstxt_body
        self._protego = Protego.parse(text.removeprefix("\ufeff"))

    @classmethod
    def from_crawler(cls, crawler, robotstxt_body):
        """Creates a parser from a robots.txt body."""
        return cls(robotstxt_body, crawler.spider if crawler else None)

    def allowed(self, url, user_agent):
        """Returns whether a crawler may fetch a URL; both may be str or bytes."""
        return self._protego.can_fetch(_text(url), _text(user_agent))

    def crawl_delay(self, user_agent):
        """Returns how many seconds a crawler should wait between fetches, or None. Used by Scrapy 2.18 and later."""
        return self._protego.crawl_delay(_text(user_agent))


def _text(value):
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
