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

# Joints, sites, motors: the verbs that plan, draw, compare motions and show them.
jointed = folder / "座 \"&\" <1>.xml"
arms = "".join(
    f"<body name={quoteattr(n)} pos='{k} 0 1'><joint name={quoteattr('j ' + n)} type='hinge' axis='0 1 0'/>"
    f"<geom name={quoteattr(n)} type='sphere' size='0.05' mass='1'/><site name={quoteattr('s ' + n)} pos='0.2 0 0'/></body>"
    for k, n in enumerate(NAMES)
)
motors = "".join(f"<motor name={quoteattr('m ' + n)} joint={quoteattr('j ' + n)} ctrlrange='-1 1' ctrllimited='true'/>" for n in NAMES)
jointed.write_text(
    f"<mujoco><option timestep='0.005'/><worldbody><geom name='floor' type='plane' size='0 0 1'/>{arms}</worldbody>"
    f"<actuator>{motors}</actuator></mujoco>",
    encoding="utf-8",
)
terms = [{"what": "joint", "on": "j " + n, "target": 0.1, "name": n} for n in NAMES] + [{"what": "position", "on": "s " + n} for n in NAMES]
task, plan = folder / "tâche '1'.json", folder / "plan <i>"
task.write_text(json.dumps({"knots": 5, "terms": terms, "bounds": {"m " + NAMES[2]: [-0.5, 0.5]}}), encoding="utf-8")
run("optimize", jointed, task, "--out", plan, "--iterations", 50, "--quiet")
head = next(csv.reader((plan / "controls.csv").open(encoding="utf-8", newline="")))
check("optimize: controls.csv", [h for h in head if h.endswith(".ctrl")] == [f"m {n}.ctrl" for n in NAMES])
told = json.loads((plan / "result.json").read_text(encoding="utf-8"))
check("optimize: result.json", [t["name"] for t in told["terms"]][: len(NAMES)] == NAMES)
check("optimize: the page has the names", all(n in page(plan / "report.html") for n in NAMES))
run("simulate", jointed, "--controls", plan / "controls.csv", "--duration", 0.02, "--out", folder / "acted.csv")
etree.parse(plan / "states.svg"), etree.parse(plan / "controls.svg")

drawn, worlds = folder / "draws.json", folder / "worlds.csv"
drawn.write_text(json.dumps({"randomise": [{"name": f"{n}/mass", "range": [0.8, 1.2]} for n in NAMES]}), encoding="utf-8")
run("batch", scene, "--randomise", drawn, "--worlds", 3, "--steps", 2, "--worst", 1, "--keep", folder / "kept", "--out", worlds)
head = next(csv.reader(worlds.open(encoding="utf-8", newline="")))
check("batch: columns", head[-len(NAMES):] == [f"{n}/mass" for n in NAMES])
check("batch: a world as a scene", [b.get("name") for b in etree.parse(next((folder / "kept").glob("*.xml"))).iter("body")] == NAMES)

wanted = [f.split("=")[0] for f in free]
told = json.loads(run("design", scene, "--free", *wanted, "--candidates", scene, "--duration", 0.1, "--json"))
check("design: what is free", list(told[0]["std_error"]) == wanted)
check("design: the candidate", told[0]["candidate"] == str(scene))
check("gradcheck", json.loads(run("gradcheck", scene, "--json"))["scene"] == str(scene))
for ending in ("html", "svg", "png", "glb"):
    run("view", jointed, "--duration", 0.02, "--out", folder / f"shown '1'.{ending}", "--quiet")
page(folder / "shown '1'.html")
text = re.search(r'<script type="application/json">(.*?)</script>', (folder / "shown '1'.html").read_text(encoding="utf-8"), re.S)[1]
check("view: the page has the names", json.loads(text)["bodies"] == NAMES)
check("view: the title of a picture", etree.parse(folder / "shown '1'.svg").find("{*}title").text == jointed.name)
raw = (folder / "shown '1'.glb").read_bytes()
nodes = [n.get("name") for n in json.loads(raw[20 : 20 + int.from_bytes(raw[12:16], "little")])["nodes"]]
check("view: the nodes of glTF", all(n in nodes for n in NAMES))

if shutil.which("bash"):
    words = " ".join("'" + w.replace("'", "'\\''") + "'" for w in ["tribo", "identify", str(scene), "--free", ""])
    script = f"{run('--describe', 'bash')}\nPATH={os.path.dirname(os.path.abspath(tribo))}:$PATH\nCOMP_WORDS=({words})\nCOMP_CWORD=4\n_tribo\nprintf '%s\\n' \"${{COMPREPLY[@]}}\""
    said = subprocess.run(["bash", "-c", script], capture_output=True, text=True).stdout.splitlines()
    check("completion has the names as they are", set(said) == params)

shutil.rmtree(folder)
tally.end()
