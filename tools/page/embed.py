#!/usr/bin/env python3
"""embed.py OUT.c NAME=FILE[,FILE...]...: texts of the pages as arrays, so that the command needs no file to write one.

Several files of one name follow each other, those of a script in a scope of their own; comments and blank lines at the left edge of a line are left out."""
import pathlib
import re
import sys

out = ["/* Made by tools/page/embed.py: do not edit. */", '#include "page_text.h"']
for item in sys.argv[2:]:
    name, _, files = item.partition("=")
    text = "\n".join(pathlib.Path(f).read_text(encoding="utf-8") for f in files.split(","))
    text = re.sub(r"^[ \t]*/\*.*?\*/[ \t]*\n", "", text, flags=re.S | re.M)
    text = re.sub(r"\n\s*", "\n", text).strip() + "\n"
    if "</" in text:
        sys.exit(f"{files}: '</' would end the element that the text stands in")
    if files.endswith(".js"):
        text = '(() => {\n"use strict";\n' + text + "})();\n"
    data = text.encode("utf-8") + b"\0"
    out.append(f"const char {name}[] = {{")
    for at in range(0, len(data), 24):
        out.append("    " + ", ".join(str(b if b < 128 else b - 256) for b in data[at:at + 24]) + ",")
    out.append("};")
pathlib.Path(sys.argv[1]).write_text("\n".join(out) + "\n", encoding="utf-8")
