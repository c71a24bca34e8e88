#!/usr/bin/env python3
"""circles.py ROOT LIBRARY.a: no circle of files in src/.

NAME.h and NAME.c are one file. One needs another if it includes it, or if its object calls what the other defines. Files
that are in a circle today are listed below; the list may only become shorter."""
import collections
import pathlib
import re
import subprocess
import sys

root, library = pathlib.Path(sys.argv[1]) / "src", sys.argv[2]
STILL = set("""
""".split())

sources = {path.relative_to(root).as_posix().replace("/", "_"): path for path in root.rglob("*.c")}
needs = collections.defaultdict(lambda: collections.defaultdict(set))  # file -> file -> why
defined, used = {}, collections.defaultdict(set)
listing = subprocess.run(["nm", "-A", "-g", library], capture_output=True, text=True, check=True).stdout
for line in listing.splitlines():
    found = re.match(r"(?:.*[:/])?([^:/]+)\.o: *(?:[0-9a-f]+)? ([A-Za-z]) (\S+)", line)
    if not found or found[1] not in sources:
        continue
    unit = sources[found[1]].relative_to(root).with_suffix("").as_posix()
    if found[2] == "U":
        used[unit].add(found[3])
    else:
        defined[found[3]] = unit
if len(set(defined.values())) < len(sources) // 2:
    print(f"{library} has {len(set(defined.values()))} of {len(sources)} files: is it the library?")
    sys.exit(1)
for unit, symbols in used.items():
    for symbol in symbols:
        if symbol in defined:
            needs[unit][defined[symbol]].add(symbol)
for path in root.rglob("*.[ch]"):
    for name in re.findall(r'^\s*#\s*include\s+"([^"]+)\.h"', path.read_text(encoding="utf-8"), re.M):
        needs[path.relative_to(root).with_suffix("").as_posix()][name].add(f"includes {name}.h")


def reached(start):
    """Files that a file needs, directly or not."""
    seen, todo = set(), [start]
    while todo:
        for other in needs[todo.pop()]:
            if other not in seen and other != start:
                seen.add(other)
                todo.append(other)
    return seen


files = {unit: reached(unit) for unit in list(needs)}
circled = {a for a in files for b in files[a] if b in files and a in files[b]}
for a in sorted(circled - STILL):
    for b in sorted(needs[a]):
        if b in circled and a in files[b]:
            print(f"src/{a} is in a circle: it needs src/{b}: {', '.join(sorted(needs[a][b]))}")
for a in sorted(STILL - circled):
    print(f"src/{a} is in no circle any more: take it off the list in tests/checks/circles.py")
print(f"{len(circled)} files in circles")
sys.exit(circled != STILL)
