#!/usr/bin/env python3
"""documents.py ROOT: links between documents lead somewhere, and the README's program is the file it names."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
bad = 0


def anchors(path):
    """What GitHub makes of the headings of a document."""
    lines = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S).splitlines()
    heads = [re.sub(r"^#+\s+", "", line).strip() for line in lines if re.match(r"#+\s", line)]
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


skipped = {".git", "out", "build"}
for path in sorted(root.rglob("*.md")):
    if any(part in skipped or part.startswith("build") for part in path.relative_to(root).parts):
        continue
    text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.S)
    text = re.sub(r"\$\$.*?\$\$|\$[^$\n]*\$", "", text, flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"\w+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = path.parent / name if name else path
        if not file.exists():
            print(f"{path}: {target} leads nowhere")
            bad += 1
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            print(f"{path}: {target}: there is no such heading")
            bad += 1

for name in ("first", "robot"):
    where = rf"\[examples/first/{name}\.c\].*?```c\n(.*?)```"
    program = re.search(where, (root / "README.md").read_text(encoding="utf-8"), re.S)
    if not program or program[1] != (root / f"examples/first/{name}.c").read_text(encoding="utf-8"):
        print(f"README.md: its program is not examples/first/{name}.c")
        bad += 1
program = re.search(r"\[examples/python/first\.py\].*?```python\n(.*?)```", (root / "README.md").read_text(encoding="utf-8"), re.S)
if not program or program[1] != (root / "examples/python/first.py").read_text(encoding="utf-8"):
    print("README.md: its Python program is not examples/python/first.py")
    bad += 1
sys.exit(bad != 0)
