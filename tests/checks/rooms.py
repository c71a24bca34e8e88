#!/usr/bin/env python3
"""rooms.py ROOT: every file of src/ has a name of its own, and no room has more than 15 % of the lines.

What is not so today is listed below; the lists may only become shorter."""
import collections
import pathlib
import sys

root = pathlib.Path(sys.argv[1]) / "src"
TWICE = set()
LARGE = set()
MOST = 15  # per cent

names, lines = collections.defaultdict(list), collections.Counter()
for path in sorted(root.rglob("*.[ch]")):
    names[path.name].append(path)
    lines[path.parent.relative_to(root).as_posix()] += len(path.read_text(encoding="utf-8").splitlines())
total, bad = sum(lines.values()), 0
twice = {name for name, paths in names.items() if len(paths) > 1}
large = {room for room, count in lines.items() if 100 * count > MOST * total}
for name in sorted(twice - TWICE):
    print(f"{name} is there {len(names[name])} times: {', '.join(str(p.relative_to(root)) for p in names[name])}")
for room in sorted(large - LARGE):
    print(f"{room} has {lines[room]} of {total} lines, more than {MOST} %")
for what in sorted((TWICE - twice) | (LARGE - large)):
    print(f"{what} is right now: take it off the list in tests/checks/rooms.py")
print(", ".join(f"{room} {100 * count / total:.1f} %" for room, count in lines.most_common()))
sys.exit(twice != TWICE or large != LARGE)
