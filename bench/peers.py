#!/usr/bin/env python3
"""The same job in Python: decides a list of URLs with Protego and with jwm.robotstxt, compared with the command.

    python3 -m venv VENV && VENV/bin/pip install protego jwm.robotstxt
    VENV/bin/python bench/peers.py ROBOTS.tar.gz URLS.txt.gz --reptile target/release/reptile --limit 200000

ROBOTS is a folder or tar archive of robots.txt files named after their hosts, as for `reptile compile`. Each peer gets the
same bytes and reuses what it can between URLs. Protego parses a host's file at its first URL and keeps it. jwm.robotstxt,
which is Google's library, offers no such form and parses the file again for each URL. The command is timed as a whole
process with one thread and a set compiled beforehand; compiling is timed separately. Each peer's verdicts are compared with
the command's verdicts in the closest dialect; --show prints some differences. On a busy machine, compare processor times.

The exit code is 0 regardless of differences, because some of them are intended.
"""

import argparse
import gzip
import os
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443}


def files_of(path):
    """Yields hosts and robots.txt files."""
    if os.path.isdir(path):
        for name in os.listdir(path):
            if os.path.isfile(os.path.join(path, name)):
                with open(os.path.join(path, name), "rb") as file:
                    yield name.lower(), file.read()
        return
    with tarfile.open(path) as archive:
        for member in archive:
            if member.isfile():
                yield os.path.basename(member.name).lower(), archive.extractfile(member).read()


def lines_of(path, limit):
    """Returns the first lines of a list, repeating it if it is shorter than the limit."""
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        lines = file.read().splitlines()
    while 0 < len(lines) < limit:
        lines += lines[: limit - len(lines)]
    return lines[:limit] if limit else lines


def host_of(url):
    """Returns a URL's host if the port is the default, else None."""
    try:
        parts = urlsplit(url)
        default = PORTS.get(parts.scheme)
        if default is None or not parts.hostname or (parts.port or default) != default:
            return None
        return parts.hostname
    except ValueError:
        return None


def protego_decider(files, agent):
    from protego import Protego

    parsed = {}

    def decide(url):
        host = host_of(url)
        robots = parsed.get(host)
        if robots is None:
            body = files.get(host)
            if body is None:
                return "unknown"
            # Scrapy decodes response bytes in this way.
            robots = parsed[host] = Protego.parse(body.decode("utf-8", "ignore"))
        return "allow" if robots.can_fetch(url, agent) else "disallow"

    return decide


def google_decider(files, agent):
    from jwm.robotstxt.googlebot import RobotsMatcher

    matcher = RobotsMatcher()

    def decide(url):
        body = files.get(host_of(url))
        if body is None:
            return "unknown"
        return "allow" if matcher.AllowedByRobots(body, [agent.encode()], url.encode("utf-8", "surrogateescape")) else "disallow"

    return decide


# The peers: their deciders, and the closest dialect.
PEERS = {"protego": (protego_decider, "rfc9309"), "jwm.robotstxt": (google_decider, "google-lib")}


def timed(command, **more):
    """Runs a command. Returns its wall time and processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL, **more)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def row(name, wall, processor, urls):
    print(f"{name:<44}{wall:>9.2f} s{processor:>9.2f} s{urls / wall:>14,.0f}", flush=True)


def ours(args, folder, dialect, urls):
    """Compiles and classifies with the command. Returns the verdicts and the processor times of both steps."""
    web, listed, out = (os.path.join(folder, name) for name in (f"{dialect}.reptile", "urls", f"{dialect}.tsv"))
    with open(listed, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        file.writelines(url + "\n" for url in urls)
    compiled = timed([args.reptile, "compile", "--dialect", dialect, "--threads", "1", "-o", web, args.robots])
    row(f"reptile compile --dialect {dialect}", *compiled, len(urls))
    command = [args.reptile, "classify", web, listed, "--agent", f"exact:{args.agent}", "--columns", "verdict"]
    decided = timed([*command, "--threads", "1", "-o", out])
    row(f"reptile classify, {dialect}, 1 thread", *decided, len(urls))
    with open(out, encoding="ascii") as file:
        return file.read().splitlines(), compiled[1], decided[1]


def main():
    parser = argparse.ArgumentParser(description="The same job in Python, compared with the command.")
    parser.add_argument("robots")
    parser.add_argument("urls")
    parser.add_argument("--reptile", default="reptile", help="the built command")
    parser.add_argument("--agent", default="GPTBot")
    parser.add_argument("--limit", type=int, default=0, help="number of URLs to decide; 0: all")
    parser.add_argument("--show", type=int, default=0, help="number of differently decided URLs to print")
    args = parser.parse_args()
    files, urls = dict(files_of(args.robots)), lines_of(args.urls, args.limit)
    print(f"{len(urls):,} URLs, {len(files):,} robots.txt files, agent {args.agent}, single process")
    print(f"{'':<44}{'wall':>11}{'processor':>11}{'URLs/s':>14}")
    with tempfile.TemporaryDirectory() as folder:
        for name, (decider_of, dialect) in PEERS.items():
            try:
                decide = decider_of(files, args.agent)
            except ImportError as error:
                print(f"{name}: {error}", file=sys.stderr)
                continue
            expected, compiling, deciding = ours(args, folder, dialect, urls)
            wall, processor = time.perf_counter(), time.process_time()
            verdicts = [decide(url) for url in urls]
            wall, processor = time.perf_counter() - wall, time.process_time() - processor
            row(name, wall, processor, len(urls))
            pairs = list(zip(urls, expected, verdicts))
            different = [pair for pair in pairs if pair[1] != pair[2]]
            kinds = {}
            for _, our, their in different:
                kinds[f"{our} here, {their} there"] = kinds.get(f"{our} here, {their} there", 0) + 1
            print(f"  verdicts that differ: {len(different):,} of {len(pairs):,} {kinds or ''}")
            both = compiling + deciding
            print(f"  processor time: {processor / deciding:.0f} times as long as classifying, {processor / both:.0f} with compiling")
            for url, our, their in different[: args.show]:
                print(f"    {our} here, {their} there: {url}")


if __name__ == "__main__":
    main()
