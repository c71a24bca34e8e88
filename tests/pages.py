#!/usr/bin/env python3
"""pages.py TRIBO SCENES: pages of the command as a browser shows them: nothing amiss, something to see, in two widths, light
and dark; and names that would break out of a page, a table or a file. Ends with Check's line."""
import base64
import csv
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import xml.dom.minidom

sys.path.insert(0, os.path.dirname(__file__))
import browser  # noqa: E402

TRIBO, SCENES = sys.argv[1], pathlib.Path(sys.argv[2])
checks = failures = 0


def check(name, good, why=""):
    global checks, failures
    checks += 1
    if not good:
        failures += 1
        print(f"failed: {name}{': ' if why else ''}{why}")


def tribo(*arguments, status=0):
    done = subprocess.run([TRIBO, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    check(" ".join(map(str, arguments)), done.returncode == status, f"exit status {done.returncode}: {done.stderr[-300:]}")
    return done.stdout


# ---- what stands in a page, without a browser ----

def scene_of(page):
    """The scene and the bytes of a page's replay."""
    text = page.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json">(.*?)</script>\n<script type="text/plain">(.*?)</script>', text, re.S)
    return (json.loads(found[1]), base64.b64decode(found[2])) if found else (None, b"")


def numbers(data, where, kind):
    return struct.unpack_from(f"<{where[1]}{kind}", data, where[0])


def motion_is_the_simulation(folder):
    page, table = folder / "slide.html", folder / "slide.csv"
    tribo("view", SCENES / "slide.xml", "--out", page)
    tribo("simulate", SCENES / "slide.xml", "--duration", "2", "--out", table)
    scene, data = scene_of(page)
    track = scene["tracks"][0]
    time, pose = numbers(data, track["time"], "f"), numbers(data, track["pose"], "h")
    box = numbers(data, track["box"], "f")
    rows = {round(float(r["time"]), 6): r for r in csv.DictReader(open(table, encoding="utf-8"))}
    worst = max(abs(box[k] + box[3 + k] * pose[7 * f + k] - float(rows[round(t, 6)][f"cube.p{'xyz'[k]}"]))
                for f, t in enumerate(time) for k in range(3))
    check("positions are those of simulate", worst < 2e-5, f"{worst}")
    forces = numbers(data, track["normal"], "f")
    check("the floor carries the cube", abs(forces[len(forces) // 2] - 9.81) < 1e-3, f"{forces[len(forces) // 2]}")


NAMES = ["<script>alert(1)</script>", "箱子 甲", "it's a </script><!-- box & more"]


def names_survive(folder):
    esc = [n.replace("&", "&amp;").replace("<", "&lt;") for n in NAMES]
    scene = folder / "a 'q' \"b\" <i>盒.xml"
    bodies = "".join(f'<body name="{n}" pos="{i} 0 0.1"><freejoint/><geom name="{n}" type="box" size="0.1 0.1 0.1" mass="1"/></body>'
                     for i, n in enumerate(esc))
    scene.write_text('<mujoco><option timestep="0.005"/><worldbody><geom name="floor &lt;b&gt;" type="plane" size="0 0 1"/>'
                     f'{bodies}</worldbody><keyframe><key qvel="1 0 0 0 0 0 1 0 0 0 0 0 1 0 0 0 0 0" '
                     'qpos="0 0 0.1 1 0 0 0 1 0 0.1 1 0 0 0 2 0 0.1 1 0 0 0"/></keyframe></mujoco>', encoding="utf-8")
    table, fit, laws = folder / "names.csv", folder / "fit", folder / "laws"
    tribo("simulate", scene, "--duration", "0.2", "--out", table)
    head = next(csv.reader(open(table, encoding="utf-8")))
    check("CSV has the names", [h[:-3] for h in head[1::13]] == NAMES, str(head[1::13]))
    tribo("view", scene, "--data", table, "--out", folder / "names.html")
    shown, _ = scene_of(folder / "names.html")
    check("the page has the names", shown and shown["bodies"] == NAMES)
    tribo("identify", scene, "--data", table, "--free", "floor <b>/friction=0.8", NAMES[0] + "/mass", "--out", fit, status=0)
    found = json.loads((fit / "result.json").read_text(encoding="utf-8"))["parameters"]
    check("JSON has the names", [p["name"] for p in found] == ["floor <b>/friction", NAMES[0] + "/mass"])
    out = xml.dom.minidom.parse(str(fit / "identified.xml"))
    check("XML has the names", [b.getAttribute("name") for b in out.getElementsByTagName("body")] == NAMES)
    tribo("compare", scene, "--laws", "ncp,ccp/pgs", "--duration", "0.05", "--out", laws)
    listed = json.loads(tribo("params", scene, "--json"))
    check("params has the names", all(n in json.dumps(listed, ensure_ascii=False) for n in NAMES))
    return [folder / "names.html", fit / "report.html", laws / "report.html"]


def needs_nothing_else(page):
    text = page.read_text(encoding="utf-8")
    bare = re.sub(r"<script>\n.*?</script>", "", text, flags=re.S)
    check(f"{page.name} is whole", text.rstrip().endswith("</html>"))
    check(f"{page.name} asks for nothing", not re.search(r'\ssrc=|<link|url\((?!#)|@import', bare))
    check(f"{page.name} has no element of a name", "alert(1)</script>" not in text and "<!-- box" not in text)


# ---- in a browser ----

def looks_right(tab, page, width, dark):
    name = f"{page.parent.name}/{page.name} at {width}, {'dark' if dark else 'light'}"
    tab.errors.clear()
    tab.open(page, width, 844 if width < 600 else 800, dark)
    check(f"{name}: nothing amiss", not tab.errors, "; ".join(tab.errors)[:400])
    check(f"{name}: no wider than the window", tab.run("document.documentElement.scrollWidth") <= width)
    back = tab.run("getComputedStyle(document.body).backgroundColor")
    check(f"{name}: in its colours", (sum(map(int, re.findall(r"\d+", back)[:3])) < 200) == dark, back)
    if not tab.run("!!document.querySelector('canvas')"):
        return
    _, _, rows = browser.pixels(tab.picture("canvas", 0.25))
    colours = {tuple(c // 8 for c in p) for row in rows for p in row}
    check(f"{name}: something is drawn", len(colours) > 20, f"{len(colours)} colours")


def plays(tab, page):
    tab.errors.clear()
    tab.open(page)
    clock = "parseFloat(document.querySelector('.clock').textContent)"
    began = tab.run(clock)
    tab.run("document.querySelector('.play').click(); new Promise(r => setTimeout(r, 1500))")
    check("time goes on", tab.run(clock) > began + 0.05)
    tab.run("document.querySelector('.play').click()")
    for key in ("ArrowRight", "Home", "End", "s", "c", "t", "f", "1", "2", "3", "r", "+", "-"):
        for kind in ("keyDown", "keyUp"):
            tab.ask("Input.dispatchKeyEvent", type=kind, key=key, text=key if len(key) == 1 else "")
    box = tab.run("(() => { const r = document.querySelector('canvas').getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()")
    for kind, x in (("mousePressed", 0), ("mouseMoved", 60), ("mouseReleased", 60)):
        tab.ask("Input.dispatchMouseEvent", type=kind, x=box[0] + x, y=box[1], button="left", buttons=1, clickCount=1)
    tab.ask("Input.dispatchMouseEvent", type="mouseWheel", x=box[0], y=box[1], deltaX=0, deltaY=100)
    tab.run("document.querySelector('#theme-dark').click(); new Promise(r => setTimeout(r, 100))")
    check("the switch is heard", "21, 24, 29" in tab.run("getComputedStyle(document.body).backgroundColor"))
    check("nothing amiss after keys and mouse", not tab.errors, "; ".join(tab.errors)[:400])


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        motion_is_the_simulation(folder)
        pages = names_survive(folder)
        for page in pages:
            needs_nothing_else(page)
        for scene in ("bumpy", "meshes", "quadruped"):
            pages.append(folder / (scene + ".html"))
            tribo("view", SCENES / (scene + ".xml"), "--duration", "0.3", "--out", pages[-1])
        path = browser.find()
        if not path:
            print("skipped: Chromium is not there, pages were not looked at")
        else:
            tab = browser.Browser(path)
            try:
                for page in pages:
                    for width, dark in ((1280, False), (390, True), (1280, True), (390, False))[:4 if page == pages[0] else 2]:
                        looks_right(tab, page, width, dark)
                plays(tab, pages[0])
            finally:
                tab.close()
    print(f"Checks: {checks}, Failures: {failures}, Errors: 0")
    sys.exit(failures != 0)


main()
