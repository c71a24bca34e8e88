#!/usr/bin/env python3
"""names.py TRIBO: bodies may be called anything. Scenes with names in Chinese, with quotes, blanks, commas and tags go
through the verbs; what they write is read again by readers that know nothing of Tribo. Ends with Check's line."""
import csv
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as etree
from xml.sax.saxutils import quoteattr

sys.dont_write_bytecode = True  # the tree stays as it is
sys.path.insert(0, os.path.dirname(__file__))
import tally  # noqa: E402
from tally import check  # noqa: E402

tribo = sys.argv[1]
NAMES = ["<script>alert(1)</script>", "立方体", 'the "big" one', "it's $(echo 1) `ls` \\ ; & |", "été\u00a0—"]
folder = pathlib.Path(tempfile.mkdtemp())


def run(*words, status=0):
    return tally.run(tribo, *words, status=status)


class Reader(html.parser.HTMLParser):
    """The text of a page, and its scripts."""

    def __init__(self, text):
        super().__init__()
        self.text, self.scripts, self.inside = "", [], False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.inside = tag == "script"
        if self.inside:
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.scripts[-1] += data
        self.text += data


def page(path):
    text = path.read_text(encoding="utf-8")
    read = Reader(text)
    check(f"{path.name}: a name has become a script", not any(re.match(r"\s*alert\(1\)", s) for s in read.scripts))
    return read.text


scene = folder / "scène <b>'1'.xml"
bodies = "".join(
    f"<body name={quoteattr(name)} pos='{k} 0 0.1'><freejoint/>"
    f"<geom name={quoteattr(name)} type='box' size='0.1 0.1 0.1' mass='1'/></body>"
    for k, name in enumerate(NAMES)
)
velocities = " ".join("2 0 0 0 0 0" for _ in NAMES)
poses = " ".join(f"{k} 0 0.1 1 0 0 0" for k in range(len(NAMES)))
scene.write_text(
    f"<mujoco><option timestep='0.005'/><worldbody><geom name='floor' type='plane' size='0 0 1' priority='1' friction='0.2'/>{bodies}"
    f"</worldbody><keyframe><key name='go' qpos='{poses}' qvel='{velocities}'/></keyframe></mujoco>",
    encoding="utf-8",
)

refused = folder / "refused.xml"
refused.write_text("<mujoco><worldbody><body name='a, b'><freejoint/><geom size='1'/></body></worldbody></mujoco>", encoding="utf-8")
said = subprocess.run([tribo, "check", refused], capture_output=True, text=True)
check("a name that CSV cannot hold is refused", said.returncode == 3 and "refused.xml:1: " in said.stderr)

table = folder / "motion, \"1\".csv"
run("simulate", scene, "--duration", 0.3, "--out", table)
head = next(csv.reader(table.open(encoding="utf-8", newline="")))
for name in NAMES:
    check(f"simulate: the column of {name}", f"{name}.px" in head)
run("simulate", scene, "--start", table, "--out", folder / "again.csv")
check("validate", json.loads(run("validate", scene, "--data", table, "--json"))["mean"]["position_error_mean"] < 1e-9)
params = {p["name"] for p in json.loads(run("params", scene, "--json"))}
plain = run("params", scene, "--names").splitlines()
bodies = {b["name"] for b in json.loads(run("check", scene, "--json"))["model"]["bodies"]}
check("params: the two lists agree", set(plain) == params)
for name in NAMES:
    check(f"params: {name}", f"{name}/mass" in params)
    check(f"check: {name}", name in bodies)

fit = folder / "out"
free = ["floor/friction=0.3", f"{NAMES[0]}/mass=1.1"]
told = json.loads(run("identify", scene, "--data", table, "--free", *free, "--out", fit, "--json", "--quiet"))
check("identify: names of parameters", [p["name"] for p in told["parameters"]] == [f.split("=")[0] for f in free])
check("identify: result.json", json.loads((fit / "result.json").read_text(encoding="utf-8"))["scene"] == str(scene))
check("identify: identified.xml", [b.get("name") for b in etree.parse(fit / "identified.xml").iter("body")] == NAMES)
shown = page(fit / "report.html")
check("identify: the page has the name", NAMES[0] in shown)
run("simulate", fit / "identified.xml", "--duration", 0.02)
run("compare", scene, "--laws", "ncp/ladder,ccp/newton", "--duration", 0.05, "--out", fit, "--quiet")
check("compare: the page has the scene", scene.name in page(fit / "report.html"))
check("compare: result.json", json.loads((fit / "result.json").read_text(encoding="utf-8"))["body"] in NAMES)
typo = NAMES[1] + "/mas"
said = subprocess.run([tribo, "identify", scene, "--data", table, "--free", typo, "--out", fit], capture_output=True, text=True)
check("the nearest name in Chinese", f"the nearest is {NAMES[1]}/mass" in said.stderr)

if shutil.which("bash"):
    words = " ".join("'" + w.replace("'", "'\\''") + "'" for w in ["tribo", "identify", str(scene), "--free", ""])
    script = f"{run('--describe', 'bash')}\nPATH={os.path.dirname(os.path.abspath(tribo))}:$PATH\nCOMP_WORDS=({words})\nCOMP_CWORD=4\n_tribo\nprintf '%s\\n' \"${{COMPREPLY[@]}}\""
    said = subprocess.run(["bash", "-c", script], capture_output=True, text=True).stdout.splitlines()
    check("completion has the names as they are", set(said) == params)

shutil.rmtree(folder)
tally.end()
