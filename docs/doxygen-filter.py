#!/usr/bin/env python3
"""doxygen-filter.py HEADER: a public header as Doxygen likes it. Its first comment describes the file, and a comment
behind several members of one declaration describes each of them."""
import re
import sys

for number, line in enumerate(open(sys.argv[1], encoding="utf-8")):
    if number == 0:
        line = re.sub(r"^/\* (\w+\.h) -- ", r"/** @file \1\n\n ", line)
    several = re.match(r"^(\s+(?:const )?\w+ )([^(;]+,[^(;]+); *(/\*\*<.*)$", line)
    if several:
        for name in several[2].split(","):
            print(f"{several[1]}{name.strip()}; {several[3]}")
    else:
        print(line, end="")
