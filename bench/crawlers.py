#!/usr/bin/env python3
"""Compares the table of known crawlers with public lists, and prints the names that the table lacks.

    reptile agents --json > table.jsonl
    bench/crawlers.py table.jsonl robots.json data.json more.csv

The lists are files that you fetched; this script needs no network. It reads

    - an object whose keys are names, with "operator" and "function", such as robots.json of ai-robots-txt/ai.robots.txt;
    - an object with a list "crawlers", such as data.json of the package ai-crawler-robots, or such a list alone;
    - CSV with a header, or JSON Lines.

In a list, a crawler's name is in the first of the columns "robots_txt_token", "user_agent_token", "token", "user_agent"
and "name" that it has. Letter case, `-`, `_` and spaces are ignored. A list is not a source, but shows where to look
for one. The exit code is 0, or 1 if a file is not such a list.

    bench/crawlers.py --test
"""

import csv
import json
import pathlib
import sys
import tempfile

NAME_COLUMNS = ["robots_txt_token", "user_agent_token", "token", "user_agent", "name"]
PURPOSE_COLUMNS = ["function", "category", "purpose", "type"]


def key_of(name):
    return "".join(letter for letter in name.lower() if letter not in "-_ ")


def first_of(row, columns):
    values = (row[column] for column in columns if isinstance(row, dict) and row.get(column))
    return next((value if isinstance(value, str) else ", ".join(map(str, value)) for value in values), "")


def rows_of(path, text):
    """Returns the objects in a list, each with a name."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError:
        lines = [line for line in text.splitlines() if line.strip()]
        if lines and lines[0].lstrip().startswith("{"):
            data = [json.loads(line) for line in lines]
        else:
            data = list(csv.DictReader(lines))
    if isinstance(data, dict) and isinstance(data.get("crawlers"), list):
        data = data["crawlers"]
    if isinstance(data, dict):
        data = [{"name": name, **about} for name, about in data.items() if isinstance(about, dict)]
    rows = [(first_of(row, NAME_COLUMNS), first_of(row, ["operator"]), first_of(row, PURPOSE_COLUMNS)) for row in data]
    rows = [row for row in rows if row[0]]
    if not rows:
        sys.exit(f"{path}: expected a list of crawlers with one of the columns {', '.join(NAME_COLUMNS)}; found none")
    return rows


def known_names(text):
    objects = [json.loads(line) for line in text.splitlines()]
    names = [[one["name"], one.get("header") or "", *one["tokens"]] for one in objects]
    return {key_of(name) for one in names for name in one if name}


def new_rows(known, lists):
    """Returns the names that the table lacks, each with an operator, a purpose and the lists that have it."""
    new = {}
    for path, text in lists:
        for name, operator, purpose in rows_of(path, text):
            # A version is not part of the name.
            name = name.split("/")[0].strip()
            if key_of(name) and key_of(name) not in known:
                row = new.setdefault(key_of(name), [name, operator, purpose, []])
                row[3] += [path.name] if path.name not in row[3] else []
    return sorted(new.values(), key=lambda row: row[0].lower())


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    table, *lists = [pathlib.Path(argument) for argument in arguments]
    new = new_rows(known_names(table.read_text()), [(path, path.read_text()) for path in lists])
    for name, operator, purpose, of_lists in new:
        print(name, operator, purpose, ",".join(of_lists), sep="\t")
    print(f"{len(new)} names are new", file=sys.stderr)


def test():
    table = '{"name":"GPTBot","tokens":["GPTBot"],"header":"GPTBot"}\n{"name":"Kimi-User","tokens":["Kimi-User"],"header":null}\n'
    samples = {
        "robots.json": '{"gptbot": {"operator": "O", "function": "F"}, "NewBot 1.0": {"operator": "N", "function": "AI"}}',
        "data.json": '{"version": 1, "crawlers": [{"slug": "x", "name": "X Bot", "token": "XBot", "operator": "X", "category": "seo"}, '
        '{"token": "Kimi_User"}]}',
        "list.csv": "user_agent,operator,purpose\nXBot/2.0,X,seo\nYBot,Y,\"training, search\"\n,Z,\n",
        "list.jsonl": '{"user_agent_token": "YBot", "purpose": ["training"]}\n{"name": "GPTBot"}\n',
    }
    found = new_rows(known_names(table), [(pathlib.Path(name), text) for name, text in samples.items()])
    expected = [
        ["NewBot 1.0", "N", "AI", ["robots.json"]],
        ["XBot", "X", "seo", ["data.json", "list.csv"]],
        ["YBot", "Y", "training, search", ["list.csv", "list.jsonl"]],
    ]
    assert found == expected, found
    for text in ["[]", "{}", "a,b\n1,2\n"]:
        try:
            rows_of("bad", text)
        except SystemExit as error:
            assert "expected a list" in str(error)
        else:
            raise AssertionError(text)
    with tempfile.TemporaryDirectory() as folder:
        files = {"table.jsonl": table, **samples}
        paths = [pathlib.Path(folder, name) for name in files]
        for path in paths:
            path.write_text(files[path.name])
        main([str(path) for path in paths])


if __name__ == "__main__":
    if sys.argv[1:] == ["--test"]:
        test()
    else:
        main(sys.argv[1:])
