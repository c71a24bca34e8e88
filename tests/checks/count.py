#!/usr/bin/env python3
"""count.py BUILD: sum the last meson test run, counting each check of a Check program; `N skipped`, then the last line, which is
`N passed, N failed`."""
import glob
import json
import os
import re
import sys

passed = failed = skipped = 0
logs = glob.glob(f"{sys.argv[1]}/meson-logs/testlog*.json")  # called after the wrapper, where there is one
for line in open(max(logs, key=os.path.getmtime), encoding="utf-8", errors="replace"):
    test = json.loads(line)
    output = test.get("stdout", "") + test.get("stderr", "")
    sums = re.findall(r"Checks: (\d+), Failures: (\d+), Errors: (\d+)", output)
    checks = sum(int(s[0]) for s in sums)
    bad = sum(int(s[1]) + int(s[2]) for s in sums)
    for said in re.findall(r"^(?:.*\bskipped\b|skip).*$", output, re.I | re.M):
        print(f"skipped: {test['name']}: {said.strip()}")
        skipped += 1
    if test["result"] == "SKIP":
        if not re.search(r"\bskip", output, re.I):
            print(f"skipped: {test['name']}")
            skipped += 1
        continue
    if test["result"] != "OK" and bad == 0:  # died, timed out, leaked, or is not a Check program
        bad, checks = 1, checks + 1
    elif not sums:
        checks = 1
    if bad:
        print(f"failed: {test['name']}: {bad} of {checks} ({test['result'].lower()})")
    passed, failed = passed + checks - bad, failed + bad
print(f"{skipped} skipped")
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0 or passed == 0)
