#!/usr/bin/env python3
"""mistakes.py TRIBO SCENES [SEED [TRIES]]: recordings with a mistake, or two at once, that nobody chose: each is
recovered, or named. Motions of scenes with one body, two, and joints, noise on every number; mistakes drawn at random.
Ends with Check's line. In silence wrong is: exit status 0, not a word, and errors far above those without the mistake."""
import csv
import io
import math
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

tribo, scenes = sys.argv[1], pathlib.Path(sys.argv[2])
seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
tries = int(sys.argv[4]) if len(sys.argv) > 4 else 4
folder = pathlib.Path(tempfile.mkdtemp())
# of the scene's own motion: seconds, and whether velocities are recorded
MOTIONS = [("slide", 0.5, True), ("slide", 0.5, False), ("collision", 0.8, True), ("collision", 0.8, False),
           ("bounce", 0.8, True), ("throw", 0.6, True), ("cube-toss", 0.35, True), ("cube-toss", 0.35, False),
           ("double-pendulum", 1.0, True), ("double-pendulum", 1.0, False)]
FREE = {"double-pendulum": "lower/mass", "throw": "gravity/z"}  # else floor/friction


def run(*words):
    return subprocess.run([tribo, *map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL)


class Table:
    """Columns by name; those of a body or joint by what they are."""

    def __init__(self, text, step):
        rows = list(csv.reader(io.StringIO(text)))
        self.head, self.rows = rows[0], [[float(x) for x in r] for r in rows[1:]][::step]

    def copy(self):
        other = Table.__new__(Table)
        other.head, other.rows = list(self.head), [list(r) for r in self.rows]
        return other

    def owners(self):
        return list(dict.fromkeys(h.rsplit(".", 1)[0] for h in self.head[1:]))

    def at(self, owner, *columns):
        return [self.head.index(f"{owner}.{c}") for c in columns if f"{owner}.{c}" in self.head]

    def every(self, *columns):
        return [i for o in self.owners() for i in self.at(o, *columns)]

    def scale(self, places, by):
        for r in self.rows:
            for i in places:
                r[i] *= by
        return bool(places)

    def write(self, path):
        with open(path, "w") as f:
            f.write(",".join(self.head) + "\n")
            for r in self.rows:
                f.write(",".join(f"{x:.9g}" for x in r) + "\n")


def turned(q, v):
    """v turned by the unit quaternion q."""
    w, x, y, z = q
    t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])]
    return [v[0] + w * t[0] + y * t[2] - z * t[1], v[1] + w * t[1] + z * t[0] - x * t[2],
            v[2] + w * t[2] + x * t[1] - y * t[0]]


def shake(t, dice):
    size = {"p": 1e-3, "q": 2e-3, "v": 5e-3, "w": 2e-2}
    for r in t.rows:
        for i, h in enumerate(t.head[1:], 1):
            kind = h.rsplit(".", 1)[1]
            r[i] += dice.gauss(0, 1e-3 if kind == "q" else size.get(kind[0], 0))
        for o in t.owners():
            q = t.at(o, "qw", "qx", "qy", "qz")
            n = math.sqrt(sum(r[i] ** 2 for i in q)) if q else 1
            for i in q:
                r[i] /= n


# ---- mistakes: each changes a table; false where there is nothing to do it to ----

def milliseconds(t, dice):
    return t.scale([0], 1000)


def slow_clock(t, dice):
    """A second of it lasts 1.1 s."""
    return bool(t.every("vx", "v")) and t.scale([0], 1.1)


def millimetres(t, dice):
    return t.scale(t.every("px", "py", "pz"), 1000)


def centimetres(t, dice):
    return t.scale(t.every("px", "py", "pz"), 100)


def millimetres_a_second(t, dice):
    return t.scale(t.every("vx", "vy", "vz"), 1000)


def degrees_a_second(t, dice):
    return t.scale(t.every("wx", "wy", "wz"), 180 / math.pi)


def degrees(t, dice):
    return t.scale(t.every("q"), 180 / math.pi)


def order(t, dice):
    for o in t.owners():
        q = t.at(o, "qw", "qx", "qy", "qz")
        for r in t.rows:
            if q:
                r[q[0]], r[q[1]], r[q[2]], r[q[3]] = r[q[1]], r[q[2]], r[q[3]], r[q[0]]
    return bool(t.every("qw"))


def inverse(t, dice):
    return t.scale(t.every("qx", "qy", "qz"), -1)


def world_spin(t, dice):
    for o in t.owners():
        q, w = t.at(o, "qw", "qx", "qy", "qz"), t.at(o, "wx", "wy", "wz")
        for r in t.rows:
            if q and w:
                for i, x in zip(w, turned([r[k] for k in q], [r[k] for k in w])):
                    r[i] = x
    return bool(t.every("wx"))


def flipped(t, dice):
    q = t.every("qw", "qx", "qy", "qz")
    row = dice.choice(t.rows)
    for i in q:
        row[i] = -row[i]
    return bool(q)


def late(t, dice):
    if len(t.owners()) < 2:
        return False
    places = [i for i, h in enumerate(t.head) if h.rsplit(".", 1)[0] == t.owners()[-1] and i]
    was = [list(r) for r in t.rows]
    for k, r in enumerate(t.rows):
        for i in places:
            r[i] = was[max(0, k - 3)][i]
    return True


def late_rates(t, dice):
    places = t.every("vx", "vy", "vz", "wx", "wy", "wz", "v")
    was = [list(r) for r in t.rows]
    for k, r in enumerate(t.rows):
        for i in places:
            r[i] = was[max(0, k - 3)][i]
    return bool(places)


def dropped(t, dice):
    at = dice.randrange(4, len(t.rows) - 12)
    del t.rows[at:at + 6]
    return True


def dropped_unseen(t, dice):
    times = [r[0] for r in t.rows]
    dropped(t, dice)
    for r, time in zip(t.rows, times):
        r[0] = time
    return True


def exchanged(t, dice):
    names = t.owners()
    if len(names) < 2:
        return False
    swap = {names[0]: names[1], names[1]: names[0]}
    t.head = [t.head[0]] + [f"{swap.get(o, o)}.{c}" for o, c in (h.rsplit('.', 1) for h in t.head[1:])]
    return True


def upward_y(t, dice):
    """The camera's y axis is up: x, z, -y of what it should be."""
    half = math.sqrt(0.5)
    for o in t.owners():
        q, p, v = t.at(o, "qw", "qx", "qy", "qz"), t.at(o, "px", "py", "pz"), t.at(o, "vx", "vy", "vz")
        for r in t.rows:
            for three in (p, v):
                if three:
                    x, y, z = (r[i] for i in three)
                    r[three[0]], r[three[1]], r[three[2]] = x, z, -y
            if q:
                w, x, y, z = (r[i] for i in q)
                r[q[0]], r[q[1]], r[q[2]], r[q[3]] = (half * (w + x), half * (x - w), half * (y + z), half * (z - y))
    return bool(t.every("px"))


MISTAKES = [milliseconds, slow_clock, millimetres, centimetres, millimetres_a_second, degrees_a_second, degrees, order, inverse,
            world_spin, flipped, late, late_rates, dropped, dropped_unseen, exchanged, upward_y]


def number(word):
    return math.nan if word == "-" else float(word)


def errors(path, scene):
    """Exit status, words, position in m and rotation in degrees."""
    said = run("validate", scene, "--data", path, "--estimate-start")
    words = [w for w in said.stderr.splitlines() if "recording 1 of" not in w and "predicting" not in w]
    place = angle = math.nan
    for line in said.stdout.splitlines():
        f = line.split()
        if line.startswith("mean") and len(f) > 4:
            place, angle = number(f[2]), number(f[4])
    return said.returncode, " ".join(words), place, angle


def named_by_fit(path, scene):
    """Does `identify` say anything of what `validate` does not?"""
    fit = run("identify", scene, "--data", path, "--free", FREE.get(scene.stem, "floor/friction"), "--out", folder / "fit")
    return fit.returncode not in (0, 3) or "; moved" in fit.stderr or "warning:" in fit.stdout


def apart(now, before, least):
    return not math.isnan(before) and not now < 3 * before + least


def main():
    dice = random.Random(seed)
    checks, silent = 0, []
    counts = {"refused": 0, "named and mended": 0, "named": 0, "named by the fit": 0, "harmless": 0}
    for name, seconds, rates in MOTIONS:
        scene = scenes / f"{name}.xml"
        made = run("simulate", scene, "--duration", seconds)
        step = max(1, round(0.01 / (seconds / (len(made.stdout.splitlines()) - 2))))
        clean = Table(made.stdout, step)
        if not rates:
            keep = [i for i, h in enumerate(clean.head) if i == 0 or h.rsplit(".", 1)[1][0] in "pq"]
            clean.head, clean.rows = [clean.head[i] for i in keep], [[r[i] for i in keep] for r in clean.rows]
        shake(clean, dice)
        path = folder / f"{name}.csv"
        clean.write(path)
        status, words, place, angle = errors(path, scene)
        for _ in range(tries):
            t, done = clean.copy(), []
            for mistake in dice.sample(MISTAKES, len(MISTAKES)):
                if len(done) < 1 + dice.randrange(2) and mistake(t, dice):
                    done.append(mistake.__name__)
            t.write(path)
            now, said, there, turn = errors(path, scene)
            what = f"{name}{'' if rates else ', poses'}: {' and '.join(done)}"
            wrong = apart(there, place, 2e-3) or apart(turn, angle, 1)
            checks += 1
            if now:
                counts["refused"] += 1
            elif said:
                counts["named" if wrong else "named and mended"] += 1
            else:
                counts["harmless"] += not wrong
            if os.environ.get("SHOW"):
                print(f"{what}: {now} {there} ({place}) {turn} ({angle}) {said[:300]}")
            if not now and not said and wrong and named_by_fit(path, scene):
                counts["named by the fit"] += 1
            elif (not now and not said and wrong) or (now and not said):
                silent.append(f"{what}: position {there} m, was {place}; rotation {turn} deg, was {angle}")
    for line in silent:
        print("in silence:", line)
    print(", ".join(f"{n} {k}" for k, n in counts.items()))
    print(f"{100 * (checks - len(silent)) // checks}%: Checks: {checks}, Failures: {len(silent)}, Errors: 0")
    shutil.rmtree(folder)
    return bool(silent)


sys.exit(main())
