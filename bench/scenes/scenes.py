#!/usr/bin/env python3
"""scenes.py FOLDER: write the scenes of bench_step: cubes of 1 kg and 0.2 m, friction 0.4, steps of 1 ms."""
import math
import pathlib
import random
import sys

HEAD = """<!-- {what} Written by bench/scenes/scenes.py. -->
<mujoco model="{name}">
  <option timestep="0.001" gravity="0 0 -9.81" solver="Newton" cone="elliptic"/>
  <default>
    <geom condim="3" friction="0.4 0.005 0.0001"/>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
"""
BODY = """    <body name="cube{i}" pos="{pos}" quat="{quat}">
      <freejoint/>
      <geom name="cube{i}" type="box" size="0.1 0.1 0.1" mass="{mass}"/>
    </body>
"""
TAIL = """  </worldbody>
  <keyframe>
    <key name="start" qpos="{qpos}" qvel="{qvel}"/>
  </keyframe>
</mujoco>
"""
LEVEL = (1, 0, 0, 0)


def numbers(values):
    return " ".join(f"{v:.9g}" for v in values)


def write(name, what, cubes, velocity=(0, 0, 0)):
    """cubes: (position, quaternion, mass) each; the first one has a velocity."""
    text = HEAD.format(what=what, name=name)
    for i, (pos, quat, mass) in enumerate(cubes):
        text += BODY.format(i=i, pos=numbers(pos), quat=numbers(quat), mass=f"{mass:g}")
    qpos = [v for pos, quat, _ in cubes for v in (*pos, *quat)]
    qvel = [*velocity, 0, 0, 0] + 6 * (len(cubes) - 1) * [0]
    text += TAIL.format(qpos=numbers(qpos), qvel=numbers(qvel))
    pathlib.Path(sys.argv[1], name + ".xml").write_text(text, encoding="utf-8")


def pile(n):
    """Layers of cubes, each a little out of place and turned."""
    draw = random.Random(n)
    side = 2 if n < 50 else 4
    cubes = []
    for i in range(n):
        layer, at = divmod(i, side * side)
        x, y = (0.3 * (k - (side - 1) / 2) for k in divmod(at, side))
        turn = [draw.uniform(-0.02, 0.02) for _ in range(3)]
        quat = [math.sqrt(1 - sum(t * t for t in turn)), *turn]
        place = (x + draw.uniform(-0.03, 0.03), y + draw.uniform(-0.03, 0.03), 0.3 + 0.35 * layer)
        cubes.append(([float(f"{v:.9g}") for v in place], [float(f"{v:.9g}") for v in quat], 1))
    return cubes


one = [((0, 0, 0.1), LEVEL, 1)]
write("s1-slide", "A cube slides at 3 m/s.", one, (3, 0, 0))
write("s1d-slide-diagonal", "A cube slides at 3 m/s along the diagonal.", one, (3 / math.sqrt(2), 3 / math.sqrt(2), 0))
write("s2-pull", "A cube at rest; the bench pulls it with 0 to 20 N.", one)
write("s3-heavy-on-light", "1000 kg on 1 g.", [((0, 0, 0.1), LEVEL, 1e-3), ((0, 0, 0.3), LEVEL, 1e3)])
write("s4-pile-10", "Ten cubes dropped in a pile.", pile(10))
write("s4-pile-100", "A hundred cubes dropped in a pile.", pile(100))
