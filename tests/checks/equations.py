#!/usr/bin/env python3
"""equations.py ROOT: every equation that code or documentation cites as `math.md eq. (n)` is numbered in docs/math.md, and
no number is given twice."""
import collections
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
math = root / "docs" / "math.md"
if not math.exists():
    print("docs/math.md is not there: skipped")
    sys.exit(77)
# An equation is numbered by \tag{n} in a formula, or by (n) at the end of its line.
text = math.read_text(encoding="utf-8")
numbers = {int(n) for n in re.findall(r"\\tag\{(\d+)\}", text)} | {int(n) for n in re.findall(r"\((\d+)\)\s*$", text, re.M)}
twice = [n for n, k in collections.Counter(re.findall(r"\\tag\{(\w+)\}", text)).items() if k > 1]
for n in twice:
    print(f"{math}: two equations are numbered ({n})")
bad = len(twice)
for folder in ("include", "src", "tools", "tests", "bench", "examples", "docs"):
    for path in sorted((root / folder).rglob("*")):
        if path.suffix not in (".c", ".h", ".md") or not path.is_file():
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for cited in re.findall(r"math\.md,? eqs?\. ((?:\(\d+\)(?:, |-| and )?)+)", line):
                for n in re.findall(r"\d+", cited):
                    if int(n) not in numbers:
                        print(f"{path}:{number}: docs/math.md has no equation ({n})")
                        bad += 1
print(f"{len(numbers)} equations are numbered")
sys.exit(bad != 0)
