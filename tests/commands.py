#!/usr/bin/env python3
"""commands.py TRIBO ROOT [--brief]: the command lines of the documents, run as they stand there, each document's in a folder that has
what they name. What would take minutes is cut short (CUT); of what needs more than is here only the options are read (LONG). Of other
programs it is asked that there are such. --brief, for a sanitizer: fits and searches end after two iterations, of commands with the
same options one is run, and other programs are not asked for. Ends with Check's line."""
import csv
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the tree stays as it is
sys.path.insert(0, os.path.dirname(__file__))
import tally  # noqa: E402
from tally import check  # noqa: E402

TRIBO, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
BUILD = TRIBO.parent.parent
BRIEF = sys.argv[3:] == ["--brief"]

# What is written otherwise, and how; each has to be found in some command.
CUT = [("--worlds 16384", "--worlds 64"), ("--steps 1000", "--steps 50"), ("--receding 500", "--receding 2"), ("--receding 100", "--receding 2"),
       ("--receding 60", "--receding 2"), ("--iterations 400", "--iterations 3"), ("--iterations 20", "--iterations 1"), ("--steps 200", "--steps 5"),
       ("--steps 50", "--steps 5"), ("--data data/recordings/*.csv", "--data data/recordings/collision-[12].csv"), ("data/tasks/push.json --", "data/tasks/push.json --time 2 --"),
       ("tribo compare data/scenes/stack.xml", "tribo compare data/scenes/stack.xml --duration 0.05"), ("mpirun -n 4 ", ""), ("SCENE", "data/scenes/slide.xml"), ("/tmp/", "./")]
LONG = ["$TRIBO_DATA", "..."]  # recordings that are elsewhere; half a command


# ---- what stands in the documents ----

def blocks(text):
    """Lines of code that are no program: indented, without a language."""
    text = re.sub(r"```\w+\n.*?```", "", text, flags=re.S)
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [line.strip() for line in lines if line.startswith("    ")]


def commands(path):
    """The command lines of a document without their remarks, and the line after each."""
    lines = blocks(path.read_text(encoding="utf-8")) + [""]
    for line, after in zip(lines, lines[1:]):
        line = re.split(r"\s+#\s|\s{3,}", line.removeprefix("$ "))[0]
        if re.match(r"(OPENBLAS_NUM_THREADS=1 |TRIBO_DATA=\.\.\. |PYTHONPATH=\S+ )*(tribo|build/\S+|\./dev|sh|mpirun|echo|python3?)( |;|$)", line):
            yield from ((part, after) for part in line.split("; "))


def mentions(path):
    """What a sentence says to type."""
    return re.findall(r"`tribo ([a-z]+)( [^`]*)?`", path.read_text(encoding="utf-8"))


# ---- what the commands name ----

def table(path, head, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *rows])


def simulate(scene, out, *more):
    tally.run(TRIBO, "simulate", scene, "--out", out, "--quiet", *more)


def column(path, names):
    """Columns of a table, by row."""
    with open(path, encoding="utf-8") as file:
        return [[float(row[n]) for n in names] for row in csv.DictReader(file)]


def puck(folder, draw):
    """The README's scene as it stands there, and a puck of 1.5 m/s on friction 0.3, seen to half a millimetre."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    scene = "\n".join(line for line in readme[readme.index("    <mujoco>"):readme.index("</mujoco>") + 9].splitlines())
    (folder / "puck.xml").write_text(scene)
    end = 1.5 / (0.3 * 9.81)
    times = [0.01 * k for k in range(70)]
    way = [1.5 * min(t, end) - 0.5 * 0.3 * 9.81 * min(t, end) ** 2 for t in times]
    table(folder / "puck.csv", ["time", "puck.px", "puck.py", "puck.pz"],
          [[t, x + draw(), draw(), 0.01 + draw()] for t, x in zip(times, way)])


def pushed(folder, draw):
    """A cube that is pushed by a force that is known."""
    force = [[0, 0], [0.1, 6], [0.4, 0]]
    table(folder / "force.csv", ["time", "cube.fx"], force)
    table(folder / "push.csv", ["time", "cube.fx"], [[0, 3], [0.3, 0]])
    (folder / "scene.xml").write_text((ROOT / "data/scenes/slide.xml").read_text())
    simulate("scene.xml", "all.csv", "--controls", "force.csv", "--dt", "0.01")
    names = ["time", "cube.px", "cube.py", "cube.pz", "cube.qw", "cube.qx", "cube.qy", "cube.qz"]
    table(folder / "pushed.csv", names, [[r[0], *[x + draw() for x in r[1:4]], *r[4:]] for r in column("all.csv", names)])


def marked(folder, draw):
    """Three markers on a cube that slides and does not turn."""
    corners = {"a": (0.1, 0.1, 0.1), "b": (-0.1, 0.1, 0.1), "c": (0.1, -0.1, 0.1)}
    sites = "".join(f'<site name="{n}" pos="{x} {y} {z}"/>' for n, (x, y, z) in corners.items())
    scene = (ROOT / "data/scenes/slide.xml").read_text()
    (folder / "marked.xml").write_text(scene.replace("</body>", sites + "</body>"))
    simulate("marked.xml", "all.csv", "--dt", "0.01")
    rows = column("all.csv", ["time", "cube.px", "cube.py", "cube.pz"])
    table(folder / "seen.csv", ["time"] + [f"{n}.p{k}" for n in corners for k in "xyz"],
          [[t] + [p[k] + c[k] + draw() for c in corners.values() for k in range(3)] for t, *p in rows])


def plate(folder, draw):
    """A cube that slides on a floor that weighs it."""
    scene = (ROOT / "data/scenes/slide.xml").read_text()
    mass = float(re.search(r'mass="([^"]*)"', scene).group(1))
    (folder / "plate.xml").write_text(scene)
    simulate("plate.xml", "all.csv", "--dt", "0.01")
    poses = ["cube.px", "cube.py", "cube.pz", "cube.qw", "cube.qx", "cube.qy", "cube.qz"]
    rows = column("all.csv", ["time", *poses, "cube.vx", "cube.vy", "cube.vz"])
    table(folder / "stood.csv", ["time", *poses, "floor.fx", "floor.fy", "floor.fz"],
          [[now[0], *[x + draw() for x in now[1:4]], *now[4:8],
            *[-mass * ((b - a) / (now[0] - last[0]) + g) + 100 * draw() for a, b, g in zip(last[8:], now[8:], (0, 0, 9.81))]]
           for last, now in zip(rows, rows[1:])])


def ball(folder, draw):
    """A ball seen by a camera that is 3 % short and 6 mm high."""
    (folder / "ball.xml").write_text((ROOT / "data/scenes/bounce.xml").read_text())
    names = ["time", "ball.px", "ball.py", "ball.pz"]
    simulate("ball.xml", "all.csv", "--duration", "1.2", "--dt", "0.01")
    table(folder / "ball-1.csv", names, [[t, 0.97 * x + draw(), 0.97 * y + draw(), 0.97 * z + 0.006 + draw()] for t, x, y, z in column("all.csv", names)])


def arm(folder, draw):
    """Angles of an arm under torques that are known."""
    joints = re.findall(r'<joint name="([^"]*)"', (ROOT / "data/scenes/ur-like.xml").read_text())
    table(folder / "torques.csv", ["time"] + [j + ".tau" for j in joints],
          [[0.1 * k] + [(20 if i < 3 else 2) * (-1) ** (k // (2 + i)) for i in range(len(joints))] for k in range(10)])
    simulate("data/scenes/ur-like.xml", "all.csv", "--controls", "torques.csv", "--dt", "0.002", *(["--duration", "0.3"] if BRIEF else []))
    names = ["time"] + [j + ".q" for j in joints]
    table(folder / "angles.csv", names, [[r[0]] + [q + draw() for q in r[1:]] for r in column("all.csv", names)[::5]])


def furnish(folder, document):
    """What the commands of a document find."""
    generator = random.Random(1)

    def draw():
        return generator.gauss(0, 5e-4)

    (folder / "data").symlink_to(ROOT / "data")
    (folder / "docs").mkdir()
    (folder / "swing.json").touch()  # docs/control.md begins with nothing in it
    for name, text in re.findall(r"<!-- file (\S+) -->\n\n((?:    [^$\n].*\n)+)", (ROOT / document).read_text()):
        (folder / name).write_text(re.sub("^    ", "", text, flags=re.M))
    (folder / "PROBLEMS.jsonl").write_text('{"id": 1, "kind": "NCP", "nc": 1, "mu": [0.5], "G": [1, 0, 1, 0, 0, 1], "g": [1, 0, -1]}\n')
    os.chdir(folder)
    for make, of in ((puck, "README.md"), (pushed, "docs/identify.md"), (marked, "docs/identify.md"), (plate, "docs/identify.md"), (ball, "docs/identify.md"), (arm, "docs/identify.md")):
        if document == of:
            make(folder, draw)


# ---- the commands ----

cuts_found = set()
options_run = set()


def briefly(line):
    """The command line with fewer iterations; nothing where one with its options has been run."""
    verb = re.search(r"tribo (identify|optimize) ", line)
    if verb and "--iterations" not in line:
        line = line.replace(verb[0], verb[0] + ("--iterations 2 --search 2 " if verb[1] == "identify" else "--iterations 2 "), 1)
    options = (line[line.index("tribo "):].split()[1], *sorted(set(re.findall(r" --[a-z-]+", line))))
    if options in options_run:
        return ""
    options_run.add(options)
    return line


def run(where, line, after):
    """A command line by the shell, the installed command's name being the one that is tested; an error where one follows."""
    cut = line
    for long, short in CUT:
        if long in cut:
            cuts_found.add(long)
            cut = cut.replace(long, short)
    if BRIEF and not re.match(r"\S+:\d+: ", after):
        cut = briefly(cut)
        if not cut:
            return
    path = f"{TRIBO.parent}:{os.environ['PATH']}"
    done = subprocess.run(cut, shell=True, capture_output=True, text=True, stdin=subprocess.DEVNULL, env={**os.environ, "PATH": path, "TRIBO_DATA": ""})
    if re.match(r"\S+:\d+: ", after):
        check(f"{where}: {cut}", done.returncode == 3 and after in done.stderr, f"{after!r} is not what it says: {done.stderr[-300:]}")
        return
    allowed = (0, 4) if "--time" in cut or "--receding" in cut or BRIEF else (0,)
    check(f"{where}: {cut}", done.returncode in allowed, f"exit status {done.returncode}: {done.stderr[-300:]}")


def has_options(where, verb, words):
    """Whether a verb takes the options that are named."""
    known = subprocess.run([TRIBO, verb, "--help"], capture_output=True, text=True)
    check(f"{where}: tribo {verb}", known.returncode == 0, "there is no such verb")
    for word in words:
        if word.startswith("--"):
            check(f"{where}: tribo {verb} {word}", word.split("=")[0] in known.stdout, "there is no such option")


def there_is(where, line):
    """Whether a program, a word of ./dev or a script of the tree is there."""
    words = [w for w in shlex.split(line) if not re.match(r"[A-Z_]+=", w)]
    if words[0] == "./dev":
        check(f"{where}: {line}", re.search(rf"^  {words[1]}\b", (ROOT / "dev").read_text(), re.M), "./dev has no such word")
    elif words[0].startswith("build/"):
        there = BRIEF or (BUILD / words[0].removeprefix("build/")).exists()  # briefly, what the tests do not need is not built
        check(f"{where}: {line}", there, "there is no such program")
    else:
        check(f"{where}: {line}", (ROOT / words[1]).exists(), "there is no such script")


def document(path):
    where = path.relative_to(ROOT).as_posix()
    with tempfile.TemporaryDirectory() as name:
        furnish(pathlib.Path(name), where)
        for line, after in commands(path):
            own = "tribo " in line and not line.startswith(("./dev", "sh ", "python"))
            if own and any(word in line for word in LONG):
                words = shlex.split(line[line.index("tribo "):])
                has_options(where, words[1], words)
            elif own:
                run(where, line, after)
            else:
                there_is(where, line)
        os.chdir(ROOT)
    for verb, more in mentions(path):
        has_options(where, verb, more.split())


def main():
    for path in sorted(ROOT.rglob("*.md")):
        if path.relative_to(ROOT).parts[0] not in (".git", "out", "build"):
            document(path)
    check("what is cut short is there", len(cuts_found) == len(CUT), str([long for long, _ in CUT if long not in cuts_found]))
    tally.end()


main()
