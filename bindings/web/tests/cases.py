"""Writes the conformance suite and the usage cases as JSON: cases.py CORPORA."""

import base64
import json
import pathlib
import sys
import tomllib


def read(path):
    return tomllib.loads(path.read_text())


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
        yield {
            "agent": check.get("agent", case.get("agent")),
            "url": url,
            "verdict": check["verdict"],
            "line": check.get("line"),
        }


corpora = pathlib.Path(sys.argv[1])
files = [read(path) for path in sorted((corpora / "suite").glob("*.toml"))]
suite = [
    {"name": case["name"], "dialect": file["dialect"], "body": body_of(case), "checks": list(checks_of(case))}
    for file in files
    for case in file["case"]
]
json.dump({"suite": suite, "usage": read(corpora / "usage/cases.toml")}, sys.stdout)
