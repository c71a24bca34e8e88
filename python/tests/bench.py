"""bench.py -- what Python adds to C: a call of step(), a batch. Processor time, so that other work does not count; medians."""
import statistics
import sys
import time

import numpy as np
from common import scene

import tribo


def spent(act, times):
    """Median processor time of `act`, s."""
    found = []
    for _ in range(times):
        start = time.process_time()
        act()
        found.append(time.process_time() - start)
    return statistics.median(found)


def step_overhead(name, steps=2000):
    """us of a step in one call of C for all of them, and of a call each from Python, along the same motion."""
    model = tribo.load(scene(name))
    X = tribo.rollout(model, steps=steps, tape=False).X
    rows, u, p = [x.copy() for x in X], np.zeros(model.nu), model.params.copy()
    U, out = np.zeros((steps, model.nu)), np.empty(model.nx)

    def calls():
        for x in rows[:-1]:
            model.step(x, u, p)

    def calls_in_place():
        for x in rows[:-1]:
            model.step(x, u, p, out)

    inside = spent(lambda: tribo.rollout(model, U=U, tape=False), 15)
    return [1e6 * t / steps for t in (inside, spent(calls, 15), spent(calls_in_place, 15))]


def batch(name, worlds=1000, steps=20):
    """us a step of a batch, and of its worlds in one call of C each, one thread."""
    model = tribo.load(scene(name))
    x0, P = np.tile(model.x0, (worlds, 1)), model.params.tile(worlds)
    together = spent(lambda: tribo.rollout(model, x0, p=P, steps=steps, tape=False, threads=1), 9)
    lx = np.ones((worlds, steps + 1, model.ndx))
    run = tribo.rollout(model, x0, p=P, steps=steps, threads=1)
    alone = spent(lambda: [tribo.rollout(model, steps=steps, tape=False) for _ in range(50)], 9) / 50
    back = spent(lambda: run.backward(lx), 3)
    return [1e6 * t / steps for t in (together / worlds, alone, back / worlds)]


print(f"{'scene':12} {'C, us':>8} {'step()':>8} {'out=':>8} {'added':>8}")
for name in sys.argv[1:] or ["slide", "stack", "cart-pole", "quadruped"]:
    c, each, placed = step_overhead(name)
    print(f"{name:12} {c:8.2f} {each:8.2f} {placed:8.2f} {each - c:8.2f}")
print(f"\n{'scene':12} {'batch, us':>10} {'alone':>8} {'gradient':>9}   a step and world, one thread")
for name in sys.argv[1:] or ["slide", "quadruped"]:
    together, alone, back = batch(name)
    print(f"{name:12} {together:10.2f} {alone:8.2f} {back:9.2f}")
