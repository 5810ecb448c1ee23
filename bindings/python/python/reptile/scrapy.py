"""A parser for Scrapy: ``ROBOTSTXT_PARSER = "reptile.scrapy.ReptileRobotParser"`` in the settings. Needs Scrapy."""

from scrapy.robotstxt import RobotParser

from .protego import Protego

__all__ = ["ReptileRobotParser"]


class ReptileRobotParser(RobotParser):
    """Scrapy's interface of a robots.txt parser."""

    def __init__(self, robotstxt_body, spider=None):
        self.spider = spider
        self._protego = Protego.parse(robotstxt_body.decode("utf-8", "surrogateescape").removeprefix("\ufeff"))

    @classmethod
    def from_crawler(cls, crawler, robotstxt_body):
        """Makes a parser of the body of a robots.txt."""
        return cls(robotstxt_body, crawler.spider if crawler else None)

    def allowed(self, url, user_agent):
        """Whether a crawler may fetch a URL; both may be str or bytes."""
        text = [value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value for value in (url, user_agent)]
        return self._protego.can_fetch(*text)
