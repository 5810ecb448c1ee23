"""Prints a path that a crawler may fetch and other crawlers may not: ``opens.py robots.txt GPTBot``"""

import pathlib
import sys

import reptile

file, name = sys.argv[1:]
robots = reptile.Robots(pathlib.Path(file).read_bytes())
found = robots.agent(name).permits_no_more_than(robots.agent("*"))
match found.state:
    case "none":
        print(f"proved: {name} may fetch nothing that others may not")
    case "path":
        sys.exit(f"{name} may fetch {found.path!r}, and others may not")
    case "unproved":
        sys.exit("unproved: the rules are too complex")
