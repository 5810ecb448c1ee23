"""Generates the native classes' test data in DATA/native, from the data of `../test`, which must have run before.

    prepare.py REPOSITORY DATA REPTILE...

`sets.tsv` has a set's name, dialect, whether it is by time, and the path of the command's set. `NAME.captures` has the
same captures as tables, because Java has no JSON reader: URL, body in base64, status, time, redirects, truncated, error
and headers (`name:value|name:value`); `-` is a missing value.
"""

import base64
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tomllib

FIELDS = {"url", "body", "body_base64", "status", "time", "redirects", "truncated", "error", "headers"}


def run(*command):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr.decode(errors='replace')}")


def seconds(time):
    if isinstance(time, int):
        return str(time)
    return str(int(datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()))


def cells(capture):
    """Returns a capture's row."""
    if unknown := capture.keys() - FIELDS:
        sys.exit(f"captures have unknown fields {unknown}: update prepare.py")
    body = capture.get("body_base64")
    if "body" in capture:
        body = base64.b64encode(capture["body"].encode()).decode()
    time = capture.get("time")
    row = [capture["url"], body, capture.get("status"), None if time is None else seconds(time)]
    row += [capture.get("redirects"), capture.get("truncated"), capture.get("error")]
    row.append("|".join(f"{name}:{value}" for name, value in capture.get("headers", {}).items()) or None)
    return "\t".join("-" if cell is None else str(cell) for cell in row)


def varied():
    """Returns captures with each field."""
    site = "http://h{}.example/robots.txt"
    body = "user-agent: *\ndisallow: /a\nsitemap: http://h.example/map.xml\n\nuser-agent: GPTBot\nallow: /b*c$\n"
    facts = [
        {}, {"status": 404}, {"status": 503, "time": 1_700_000_000}, {"status": 301, "redirects": 5}, {"status": 301, "redirects": 6},
        {"redirects": 11}, {"error": "no such host"}, {"error": "timed out", "time": 1_700_000_000}, {"truncated": "length"},
        {"truncated": "disconnect"}, {"headers": {"Content-Type": "text/html; charset=utf-8"}}, {"headers": {"content-type": "text/plain"}},
        {"headers": {"Cache-Control": "max-age=60"}, "time": 1_700_000_000}, {"headers": {"cf-mitigated": "challenge"}, "status": 403},
        {"headers": {"Cache-Control": "no-store", "X-Other": "a:b"}, "time": 1_699_990_000}, {"status": 200, "time": 1_700_000_001},
    ]
    return [{"url": site.format(number), "body": body + f"disallow: /{number}\n", **fact} for number, fact in enumerate(facts)]


def main():
    repository, data, *reptile = sys.argv[1:]
    repository, data = pathlib.Path(repository), pathlib.Path(data)
    folder = data / "native"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "varied.jsonl").write_text("".join(json.dumps(capture) + "\n" for capture in varied()))
    sets = [("varied", "google", "-", folder / "varied.jsonl"), ("varied-rfc9309", "rfc9309", "-", folder / "varied.jsonl")]
    sets += [(f"suite-{file.stem}", file.stem, "-", file) for file in sorted((data / "suite").glob("*.jsonl"))]
    sets += [("years", "google", "by-time", repository / "corpora" / "captures" / "years.jsonl"),
             ("rich", "google", "by-time", data / "damage" / "rich.jsonl"), ("scope", "google", "-", data / "scope" / "scope.jsonl")]
    rows = []
    for name, dialect, by_time, source in sets:
        captures = [json.loads(line) for line in source.read_text().splitlines()]
        (folder / f"{name}.captures").write_text("".join(cells(capture) + "\n" for capture in captures))
        options = ["--by-time"] if by_time == "by-time" else []
        run(*reptile, "compile", "-q", "--force", "--dialect", dialect, *options, "-o", folder / f"{name}.reptile", source)
        rows.append("\t".join((name, dialect, by_time, str(folder / f"{name}.reptile"))))
    (folder / "sets.tsv").write_text("\n".join(rows) + "\n")

    # A row has its kind, a text in base64, and a URL's verdict.
    calls = tomllib.loads((repository / "corpora" / "calls" / "cases.toml").read_text(encoding="utf-8"))
    texts = [("body", calls["body"], "-"), *(("url", case["text"].ljust(case.get("bytes", 0), "a"), case["verdict"]) for case in calls["url"])]
    texts += [(kind, text, "-") for kind in ("refused", "accepted") for text in calls[kind]]
    (folder / "calls.tsv").write_text("".join(f"{kind}\t{base64.b64encode(text.encode()).decode()}\t{word}\n" for kind, text, word in texts))

    # The set of real files, with their bodies.
    (folder / "real.captures").write_text("")
    archive = pathlib.Path(os.environ.get("REPTILE_SHARED", repository.parent / "shared")) / "corpora" / "real" / "robots.tar.gz"
    if archive.exists():
        with tarfile.open(archive) as files, (folder / "real.captures").open("w") as out:
            for member in files:
                if member.isfile():
                    host = pathlib.PurePath(member.name).name.removesuffix(".txt")
                    out.write(f"https://{host}/\t{base64.b64encode(files.extractfile(member).read()).decode()}\n")

    (folder / "access.set").write_text(str(folder / "suite-google-lib.reptile"))
    texts = ["http://case-1.example/a", "case-2.example", "https://case-3.example", "http://case-4.example:81/", "HTTP://CASE-5.example.", "not a host",
             "http://", "a/b", "case-6.example/robots.txt", "http://case-7.example/robots.txt", "bücher.example", "[::1]", "a@b", "ftp://case-8.example/"]
    (folder / "access.urls").write_text("\n".join(texts) + "\n")
    agents = ["--agent", "GPTBot", "--agent", "Googlebot-Image", "--agent", "*"]
    run(*reptile, "summarize", *agents, folder / "suite-google-lib.reptile", "-o", folder / "access.tsv")
    run(*reptile, "summarize", *agents, folder / "suite-google-lib.reptile", folder / "access.urls", "-o", folder / "access-list.tsv")


main()
