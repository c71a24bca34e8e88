#!/usr/bin/env python3
"""includes.py ROOT: dependencies between the rooms point down only; an upward include fails, with its place."""
import pathlib
import re
import sys

LEVELS = [["base"], ["math"], ["model"], ["collide", "dynamics"], ["qcqp"],
          ["contact/problem"], ["contact/system"], ["contact/law"], ["contact/work"], ["contact/ladder"],
          ["contact/reverse"], ["contact/solver"], ["contact/answer"],
          ["forward"], ["backward"], ["sysid/track"], ["sysid/kicked"],
          ["sysid", "recording", "trajopt", "batch"]]
# formats turns files into models and problems and back, so it stands beside the models it makes.
MAY = {room: {r for level in LEVELS[:i] for r in level} | {room} for i, level in enumerate(LEVELS) for room in level}
MAY["formats"] = {"base", "math", "model", "formats"}
MAY["trajopt"].add("formats")  # libraries of policies are files

root = pathlib.Path(sys.argv[1])
bad = 0
for path in sorted((root / "src").rglob("*.[ch]")):
    room = path.parent.relative_to(root / "src").as_posix()
    if room not in MAY:
        print(f"{path}: {room} is not a room that dependencies are known of")
        bad += 1
        continue
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        include = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not include:
            continue
        target = include[1].rpartition("/")[0] or room
        if target not in MAY[room]:
            print(f"{path}:{number}: {room} may not include {include[1]}")
            bad += 1
for path in sorted((root / "include" / "tribo").glob("*.h")):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if re.match(r'\s*#\s*include\s+"', line):
            print(f"{path}:{number}: a public header includes <tribo/...> and the C library only")
            bad += 1
sys.exit(bad != 0)
