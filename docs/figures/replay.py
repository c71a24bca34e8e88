#!/usr/bin/env python3
"""replay.py TRIBO FOLDER: pages of `tribo view` at a moment, as a browser shows them, into FOLDER/replay-*.png."""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests"))
import browser  # noqa: E402

# name, scene, further arguments, window, dark, moment
WIDE, NARROW = (1060, 620), (390, 700)
PICTURES = [("pile", "pile", [], WIDE, False, "#t=0.3"), ("slide", "slide", [], WIDE, False, "#t=0.6"),
            ("stack", "stack", [], NARROW, True, "#t=0.1"), ("quadruped", "quadruped", [], WIDE, True, "#t=0.3"),
            ("humanoid", "humanoid", [], NARROW, False, "#t=0.3"), ("hand", "hand", [], NARROW, True, "#t=0.5")]
if os.environ.get("TRIBO_DATA"):
    toss = ["--data", os.environ["TRIBO_DATA"] + "/tosses/toss_005.csv"]
    PICTURES.append(("toss", "cube-toss", toss, WIDE, False, "#t=0.2"))



def smaller(png):
    """The same picture in 64 steps a colour, which are enough, and well packed."""
    width, height, rows = browser.pixels(png)
    lines = [bytes(min(255, (c + 2) & ~3) for p in row for c in p) for row in rows]
    before = [bytes(3 * width)] + lines
    ways = [(0, lines), (1, [bytes((c - (line[i - 3] if i >= 3 else 0)) & 255 for i, c in enumerate(line)) for line in lines]),
            (2, [bytes((c - b) & 255 for c, b in zip(line, up)) for line, up in zip(lines, before)])]
    data = min((zlib.compress(b"".join(bytes([way]) + line for line in out), 9) for way, out in ways), key=len)

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", data) + chunk(b"IEND", b""))


tribo, folder = sys.argv[1], pathlib.Path(sys.argv[2])
tab = browser.Browser(browser.find())
try:
    with tempfile.TemporaryDirectory() as made:
        for name, scene, more, (width, height), dark, moment in PICTURES:
            page = pathlib.Path(made) / (name + ".html")
            subprocess.run([tribo, "view", f"data/scenes/{scene}.xml", "--out", page, *more], check=True, stderr=subprocess.DEVNULL)
            tab.open(page, width, height, dark, moment)
            (folder / f"replay-{name}.png").write_bytes(smaller(tab.picture()))
finally:
    tab.close()
if tab.errors:
    sys.exit("\n".join(tab.errors))
