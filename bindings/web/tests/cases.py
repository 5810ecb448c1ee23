"""Writes the conformance suite, the usage cases and the calls as JSON: cases.py CORPORA.

The suite has texts that only the reference implementation reads as URLs. A call answers `invalid` for them. Two slashes
begin a path for a call and a host for the reference, so such a check has no verdict here.
"""

import base64
import json
import pathlib
import re
import sys
import tomllib


def read(path):
    return tomllib.loads(path.read_text())


MAX_URL_BYTES = 65536
PATH = re.compile(r"/[^\0\t\n\r]*")
URL = re.compile(r"(https?|ftp)://([^/?#@\\]*@)?(\[[0-9a-f:.]+\]|[^/?#\\;@:\0-\x20]+)(:\d*)?([/?#][^\0\t\n\r]*)?", re.I)


def answer(url, verdict, line):
    """Returns the verdict and the line of a call."""
    if url.startswith("//"):
        return None, None
    is_url = PATH.fullmatch(url) or URL.fullmatch(url)
    return (verdict, line) if is_url and len(url.encode()) <= MAX_URL_BYTES else ("invalid", 0)


def joined(parts):
    return "".join(piece * times for piece, times in parts)


def body_of(case):
    """Returns the case's body in Base64."""
    if "body_parts" in case:
        body = b"".join(base64.b64decode(piece) * times for piece, times in case["body_parts"])
    elif "body_base64" in case:
        body = base64.b64decode(case["body_base64"])
    else:
        body = case["body"].encode()
    return base64.b64encode(body).decode()


def checks_of(case):
    for check in case.get("checks", [case]):
        url = joined(check["url_parts"]) if "url_parts" in check else check.get("url", case.get("url"))
        verdict, line = answer(url, check["verdict"], check.get("line"))
        yield {"agent": check.get("agent", case.get("agent")), "url": url, "verdict": verdict, "line": line}


corpora = pathlib.Path(sys.argv[1])
files = [read(path) for path in sorted((corpora / "suite").glob("*.toml"))]
suite = [
    {"name": case["name"], "dialect": file["dialect"], "body": body_of(case), "checks": list(checks_of(case))}
    for file in files
    for case in file["case"]
]
json.dump({"suite": suite, "usage": read(corpora / "usage/cases.toml"), "calls": read(corpora / "calls/cases.toml")}, sys.stdout)
