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
import sys
import tempfile
import xml.dom.minidom

sys.dont_write_bytecode = True  # the tree stays as it is
sys.path.insert(0, os.path.dirname(__file__))
import browser  # noqa: E402
import tally  # noqa: E402
from tally import check  # noqa: E402

TRIBO, SCENES = sys.argv[1], pathlib.Path(sys.argv[2])


def tribo(*arguments, status=0):
    return tally.run(TRIBO, *arguments, status=status)


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


def poses(scene, data, track, body, frame):
    """Position of a body in a frame, m."""
    count, box = len(scene["bodies"]), numbers(data, track["box"], "f")
    pose = numbers(data, track["pose"], "h")[7 * (frame * count + body):][:3]
    return [box[6 * body + k] + box[6 * body + 3 + k] * pose[k] for k in range(3)]


def reports_play(folder, fit, laws):
    """Replays of the reports: of the fit measured over simulated, of the comparison a track a law, of a task its motion."""
    scene, data = scene_of(fit / "report.html")
    check("the fit's replay has both", [t["name"] for t in scene["tracks"]] == ["simulated", "measured"])
    ends = [poses(scene, data, t, 0, t["time"][1] - 1) for t in scene["tracks"]]
    check("which agree where the fit does", max(abs(a - b) for a, b in zip(*ends)) < 2e-3, str(ends))
    check("the one of the laws has them all", [t["name"] for t in scene_of(laws / "report.html")[0]["tracks"]] == ["ncp", "ccp", "reference"])
    out = folder / "task"
    tribo("optimize", SCENES / "cart-pole.xml", SCENES.parent / "tasks" / "cart-pole.json", "--out", out)
    scene, data = scene_of(out / "report.html")
    last = list(csv.DictReader(open(out / "trajectory.csv", encoding="utf-8")))[-1]
    track = scene["tracks"][0]
    end, first = (poses(scene, data, track, 0, f) for f in (track["time"][1] - 1, 0))
    way = float(next(v for k, v in last.items() if k.endswith(".q")))
    check("the task's replay ends where its table does", abs(end[0] - first[0] - way) < 1e-4, f"{end} {way}")
    return out / "report.html"


# ---- glTF ----

def gltf(path):
    """The document and the numbers of a binary glTF file, looked at as the format asks for."""
    raw = path.read_bytes()
    magic, version, total, size, kind = struct.unpack_from("<4sIII4s", raw)
    check("glTF: header", (magic, version, total, kind) == (b"glTF", 2, len(raw), b"JSON") and size % 4 == 0)
    document = json.loads(raw[20:20 + size])
    length, kind = struct.unpack_from("<I4s", raw, 20 + size)
    data = raw[28 + size:]
    check("glTF: numbers", kind == b"BIN\0" and length == len(data) == document["buffers"][0]["byteLength"])
    return document, data


def accessor(document, data, index):
    a = document["accessors"][index]
    view, width = document["bufferViews"][a["bufferView"]], {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[a["type"]]
    kind = {5126: "f", 5125: "I"}[a["componentType"]]
    check("glTF: a view is within the buffer", view["byteOffset"] % 4 == 0 and view["byteLength"] == 4 * width * a["count"]
          and view["byteOffset"] + view["byteLength"] <= len(data))
    x = struct.unpack_from(f"<{a['count'] * width}{kind}", data, view["byteOffset"])
    rows = [x[i:i + width] for i in range(0, len(x), width)]
    if "min" in a:
        check("glTF: extremes", all(abs(min(r[k] for r in rows) - a["min"][k]) < 1e-6 and abs(max(r[k] for r in rows) - a["max"][k]) < 1e-6
                                    for k in range(width)))
    return rows


def gltf_is_sound(folder):
    path, table = folder / "slide.glb", folder / "slide.csv"
    tribo("view", SCENES / "slide.xml", "--out", path)
    d, data = gltf(path)
    seen = set()
    for node in d["nodes"]:
        for child in node.get("children", []):
            check("glTF: a node has one parent", child not in seen and child < len(d["nodes"]))
            seen.add(child)
        if "rotation" in node:
            check("glTF: rotations are of length 1", abs(sum(q * q for q in node["rotation"]) - 1) < 1e-6)
    check("glTF: all nodes are of the tree", len(seen) == len(d["nodes"]) - 1 and d["scenes"][0]["nodes"] == [0])
    for mesh in d["meshes"]:
        part = mesh["primitives"][0]
        points, normals = (accessor(d, data, part["attributes"][k]) for k in ("POSITION", "NORMAL"))
        index = [i[0] for i in accessor(d, data, part["indices"])]
        check("glTF: triangles of points", len(points) == len(normals) and len(index) % 3 == 0 and max(index) < len(points))
        check("glTF: normals are of length 1", all(abs(sum(x * x for x in n) - 1) < 1e-5 for n in normals))
        check("glTF: a material", part["material"] < len(d["materials"]))
    motion = d["animations"][0]
    rows = {round(float(r["time"]), 5): r for r in csv.DictReader(open(table, encoding="utf-8"))}
    for channel in motion["channels"]:
        sampler = motion["samplers"][channel["sampler"]]
        time, value = accessor(d, data, sampler["input"]), accessor(d, data, sampler["output"])
        check("glTF: times rise", len(time) == len(value) and all(a < b for a, b in zip(time, time[1:])))
        check("glTF: of a body", d["nodes"][channel["target"]["node"]]["name"] == "cube")
        if channel["target"]["path"] == "translation":
            worst = max(abs(v[0] - float(rows[round(t[0], 5)]["cube.px"])) for t, v in zip(time, value))
            check("glTF: motion is that of simulate", worst < 1e-6, f"{worst}")


# ---- pictures of a moment ----

def coloured(rows, name):
    """Where a picture has the colour of a tree of bodies: the mean place, and how many pixels."""
    hue = {"blue": lambda r, g, b: b > r + 60 and 20 < r, "orange": lambda r, g, b: r > b + 80}[name]
    at = [(x, y) for y, row in enumerate(rows) for x, pixel in enumerate(row) if hue(*pixel)]
    return (sum(x for x, _ in at) / len(at), sum(y for _, y in at) / len(at), len(at)) if at else (0, 0, 0)


def stills_are_pictures(folder):
    path, drawn = folder / "still.png", folder / "still.svg"
    tribo("view", SCENES / "slide.xml", "--at", "0", "--duration", "0.5", "--look", "-90,10", "--out", path)
    width, height, rows = browser.pixels(path.read_bytes())
    x, y, count = coloured(rows, "blue")
    check("PNG: of its size", (width, height) == (1280, 800))
    check("PNG: the cube is in the middle", abs(x - 640) < 15 and abs(y - 400) < 40 and 2e4 < count < 4e5, f"{x} {y} {count}")
    check("PNG: under it is ground, above it nothing", rows[790][640] != (255, 255, 255) and rows[5][640] == (255, 255, 255))
    tribo("view", SCENES / "stack.xml", "--duration", "0.1", "--out", path)
    _, _, rows = browser.pixels(path.read_bytes())
    check("PNG: one colour a tree", coloured(rows, "blue")[2] > 5000 and coloured(rows, "orange")[2] > 5000)
    check("PNG: the upper one is above", coloured(rows, "orange")[1] < coloured(rows, "blue")[1])
    tribo("view", SCENES / "stack.xml", "--duration", "0.1", "--out", drawn)
    picture = xml.dom.minidom.parse(str(drawn)).documentElement
    fills = {p.getAttribute("fill") for p in picture.getElementsByTagName("path")}
    check("SVG: triangles of several colours", picture.tagName == "svg" and len(fills) > 6 and all(re.fullmatch("#[0-9a-f]{6}", f) for f in fills))
    for words in (("--look", "1"), ("--look", "0,90"), ("--look", "a,b"), ("--at", "-1"), ("--at", "x")):
        tribo("view", SCENES / "slide.xml", *words, "--out", path, status=2)
    tribo("view", SCENES / "slide.xml", "--at", "1", "--out", folder / "no.html", status=2)


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
    task = reports_play(folder, fit, laws)
    return [folder / "names.html", fit / "report.html", laws / "report.html", task]


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
    check(f"{name}: there is a picture", tab.run("!!document.querySelector('canvas')"))
    _, _, rows = browser.pixels(tab.picture("canvas", 0.25))
    colours = {tuple(c // 8 for c in p) for row in rows for p in row}
    check(f"{name}: something is drawn", len(colours) > 20, f"{len(colours)} colours")


def touched(tab, box):
    """One finger turns what is seen, two zoom it."""
    tab.ask("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    for name, moves in (("one finger", [[(0, 0)], [(60, 20)]]), ("two fingers", [[(-40, 0), (40, 0)], [(-90, 0), (90, 0)]])):
        before = tab.picture("canvas", 0.25)
        for kind, points in zip(("touchStart", "touchMove"), moves):
            tab.ask("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": box[0] + x, "y": box[1] + y, "id": i} for i, (x, y) in enumerate(points)])
        tab.ask("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        tab.run("new Promise(r => setTimeout(r, 300))")
        check(f"{name}: the picture moves", tab.picture("canvas", 0.25) != before)
    tab.ask("Emulation.setTouchEmulationEnabled", enabled=False)


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
    touched(tab, box)
    tab.run("document.querySelector('#theme-dark').click(); new Promise(r => setTimeout(r, 100))")
    check("the switch is heard", "21, 24, 29" in tab.run("getComputedStyle(document.body).backgroundColor"))
    check("nothing amiss after keys and mouse", not tab.errors, "; ".join(tab.errors)[:400])


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        motion_is_the_simulation(folder)
        gltf_is_sound(folder)
        stills_are_pictures(folder)
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
    tally.end()


main()
