#!/usr/bin/env python3
"""coverage.py TABLE.csv: lines and branches covered by file, least first, from a table by gcovr; the last line sums."""
import csv
import sys

rows = []
with open(sys.argv[1], encoding="utf-8") as table:
    for r in csv.DictReader(table):
        rows.append((r["filename"], *(int(r[k] or 0) for k in ("line_covered", "line_total", "branch_covered", "branch_total"))))


def percent(part, whole):
    return f"{100 * part / whole:5.1f}" if whole else "    -"


print("lines %  branches %")
for name, line, lines, branch, branches in sorted(rows, key=lambda r: r[3] / r[4] if r[4] else 2):
    print(f"  {percent(line, lines)}       {percent(branch, branches)}  {name}")
line, lines, branch, branches = (sum(r[k] for r in rows) for k in range(1, 5))
print(f"{percent(line, lines).strip()} % of {lines} lines, {percent(branch, branches).strip()} % of {branches} branches")
