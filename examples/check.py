#!/usr/bin/env python3
"""check.py PROGRAM [NAME FROM TO]...: run an example and check numbers of the lines `NAME NUMBER` that it prints."""
import subprocess
import sys

program, wanted = sys.argv[1], sys.argv[2:]
done = subprocess.run([program], capture_output=True, text=True)
print(done.stdout + done.stderr, end="")
found = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines() if " " in line)
good = done.returncode == 0 and len(wanted) > 0
for name, low, high in zip(wanted[::3], wanted[1::3], wanted[2::3]):
    number = float(found.get(name, "nan"))
    if not float(low) <= number <= float(high):
        print(f"{name} is {number}, not between {low} and {high}")
        good = False
sys.exit(not good)
