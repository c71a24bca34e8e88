#!/usr/bin/env python3
"""symbols.py LIBRARY.so ROOT: the shared library exports the functions that the headers declare, and nothing else, each
with the version of src/tribo.map; its soname is libtribo.so.0."""
import pathlib
import re
import subprocess
import sys

library, root = sys.argv[1], pathlib.Path(sys.argv[2])
said = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", library], capture_output=True, text=True, check=True)
exported = dict(re.findall(r" [TDRBW] (\w+)@+(\S+)$", said.stdout, flags=re.M))
plain = re.findall(r" [TDRBW] (\w+)$", said.stdout, flags=re.M)
declared = set()
for header in (root / "include/tribo").glob("*.h"):
    text = re.sub(r"/\*.*?\*/|^\s*#.*?$", "", header.read_text(encoding="utf-8"), flags=re.S | re.M)
    for declaration in re.findall(r"TRIBO_API([^;]*);", text):
        declared.add(re.search(r"(tribo_\w+)\s*\(", declaration)[1])
dynamic = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
nodes = re.findall(r"^(TRIBO_\S+) \{", (root / "src/tribo.map").read_text(encoding="utf-8"), flags=re.M)

bad = [f"declared and not exported: {name}" for name in sorted(declared - set(exported))]
bad += [f"exported and not declared: {name}" for name in sorted(set(exported) - declared)]
bad += [f"exported without a version: {name}" for name in plain]
bad += [f"{name}: no such version in src/tribo.map: {node}" for name, node in exported.items() if node not in nodes]
if "[libtribo.so.0]" not in dynamic:
    bad.append("the soname is not libtribo.so.0")
print("\n".join(bad))
sys.exit(bool(bad))
