#!/usr/bin/env python3
"""free_body.py ROOT: nobody but the free joint's own files knows how many numbers a free body has.

Looks in src/, tools/ and examples/ for products and quotients with 6, 7, 12, 13, 18 and 36 and arrays of 13, 18 and 36,
which is how such numbers enter. Files that still know are listed below; the list may only become shorter."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
# What is a free joint's, a free body's kernels, or two shapes' eighteen directions.
OWN = {"src/model/state.c", "src/model/state.h", "src/dynamics/body.h", "src/dynamics/link.c", "src/dynamics/link.h",
       "src/dynamics/link_jac.c", "src/dynamics/spin.c", "src/dynamics/spin.h", "src/contact/system/six.c", "src/contact/system/six.h",
       "src/backward/jacobian_free.c", "src/backward/free_rows.c", "src/backward/free_rows.h"}
OWN_ROOMS = ("src/collide/", "src/math/")
# Where such a number is another one.
OTHER = {"src/dynamics/drag.c": "moments of a box", "src/contact/law/erm.c": "impulse and residual together", "src/contact/law/noise.c": "coefficients",
         "src/contact/ladder/ladder.c": "a cost", "src/contact/reverse/linearise.c": "a matrix of three by nine", "src/qcqp/vjp.c": "a rate",
         "src/recording/gaps.c": "times the noise", "src/recording/units.c": "times the error",
         "tools/identify_report.c": "six curves", "examples/sysid/pyramid.c": "a matrix of two by three"}
STILL = set("""
""".split())

number = r"(?:6|7|12|13|18|36)"
pattern = re.compile(rf"(?<![\w.])(?<!\de-){number}\s*\*\s*[(\w]|[\w)\]]\s*[*/]\s*(?:\(size_t\)\s*)?{number}(?![\w.])"
                     r"|\[(?:13|18|36)\]")
found = {}
for folder in ("src", "tools", "examples"):
    for path in sorted((root / folder).rglob("*.[ch]")):
        name = path.relative_to(root).as_posix()
        if name in OWN or name in OTHER or name.startswith(OWN_ROOMS):
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            code = re.sub(r'"(?:\\.|[^"\\])*"|/\*.*?\*/|/\*.*|^ \*.*', "", line)
            if pattern.search(code):
                found.setdefault(name, []).append(line.strip())
bad = 0
for name in sorted(set(found) - STILL):
    bad += 1
    print(f"{name} knows a free body's numbers:")
    for line in found[name]:
        print(f"    {line}")
for name in sorted(STILL - set(found)):
    bad += 1
    print(f"{name} knows no more: take it off the list in tests/checks/free_body.py")
print(f"{sum(map(len, found.values()))} lines in {len(found)} files still know")
sys.exit(bad != 0)
