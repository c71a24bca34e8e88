"""test_misuse.py -- what is wrong is an exception that says so, and nothing else happens: a list of misuses."""
import copy
import gc
import json
import os
import pickle
import tempfile
import threading
import time
import unittest
import warnings

import numpy as np
from common import main, scene

import tribo

warnings.simplefilter("ignore", tribo.Warning)
slide = tribo.load(scene("slide"))
cart = tribo.load(scene("cart-pole"))


def spun(speed):
    m = tribo.load(scene("double-pendulum"))
    x = m.x0.copy()
    x[2:] = speed
    return tribo.rollout(m, x0=x, steps=2)


NX, NU, NP, NDX = slide.nx, slide.nu, slide.np, slide.ndx
x0, u0, p0 = slide.x0.copy(), np.zeros(NU), slide.params.copy()
run = tribo.rollout(slide, steps=4)
LX = np.zeros((5, NDX))
eye = np.eye(3)


def changed(a, at, value):
    b = np.array(a)
    b[at] = value
    return b


def params(name, value):
    p = slide.params.copy()
    p[name] = value
    return p


def freed_model():
    m = tribo.load(scene("slide"))
    m.free()
    return m


def freed_run(act):
    r = tribo.rollout(slide, steps=4)
    act(r)
    return r


def model_freed_below(r):
    m = tribo.load(scene("slide"))
    r = tribo.rollout(m, steps=4)
    m.free()
    return r


def freed_by(argument):
    """A call with a number that frees the model when it is asked for."""
    m = tribo.load(scene("slide"))

    class Number:
        def __index__(self):
            m.free()
            return 3

        def __float__(self):
            m.free()
            return 0.001

    if argument == "steps":
        return tribo.rollout(m, steps=Number())
    return m.with_options(dt=Number()) and m.step(x0)


def problem(**how):
    given = dict(M=eye, J=eye, vfree=np.array([0, 0, -1.0]), mu=np.array([0.5]))
    given.update(how)
    return tribo.ContactProblem(**given)


def read_only():
    a = np.zeros(NX)
    a.setflags(write=False)
    return a


def recording(rows=5, dt=0.01):
    return np.arange(rows) * dt, np.tile(slide.x0, (rows, 1)), None


def fit(rec=None, free=("floor/friction",), **how):
    return tribo.identify(slide, [rec or recording()], free, check=False, **how)


def plan(terms=({"what": "control"},), knots=3, **how):
    return tribo.optimize(cart, knots=knots, terms=list(terms), iterations=0, **how)


def library():
    made = tribo.Policies(cart)
    made.add(plan().settle())
    return made


def of_file(text=None, **keys):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "task.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps({"knots": 3, "terms": [{"what": "control"}], **keys}) if text is None else text)
        return tribo.optimize(cart, path)


A, T, K, V = tribo.ArrayError, TypeError, KeyError, tribo.ArgumentError
MISUSES = [
    # shapes
    ("x too short", A, r"x: expected .*\(13,\), found float64 of shape \(3,\)", lambda: slide.step(np.zeros(3))),
    ("x of two axes", A, r"shape \(1, 13\)", lambda: slide.step(x0.reshape(1, NX))),
    ("x of no axes", A, r"shape \(\)", lambda: slide.step(np.array(1.0))),
    ("u too long", A, "u: expected", lambda: slide.step(x0, np.zeros(NU + 1))),
    ("p too short", A, "p: expected", lambda: slide.step(x0, None, np.zeros(NP - 1))),
    ("p of another model", A, "p: expected", lambda: slide.step(x0, None, cart.params)),
    ("out too short", A, "out: expected", lambda: slide.step(x0, out=np.zeros(NX - 1))),
    ("out read-only", A, "read-only", lambda: slide.step(x0, out=read_only())),
    ("the model's x0 as out", A, "read-only", lambda: slide.step(x0, out=slide.x0)),
    ("x masked", A, "x: expected .*masked", lambda: slide.step(np.ma.masked_array(x0, mask=[True] + [False] * (NX - 1)))),
    ("p masked", A, "p: expected .*masked", lambda: slide.step(x0, None, np.ma.masked_array(p0))),
    ("a masked target", A, "target: .*masked", lambda: plan([{"what": "state", "target": np.ma.zeros(4)}])),
    ("steps a boolean", T, "steps: expected an integer, found True", lambda: tribo.rollout(slide, steps=True)),
    ("steps a boolean of numpy", T, "steps: expected an integer", lambda: tribo.rollout(slide, steps=np.bool_(True))),
    ("rounds a boolean", T, "rounds: expected a number, found True", lambda: slide.with_options(rounds=True)),
    ("dt a boolean", T, "dt: expected a number, found True", lambda: slide.with_options(dt=True)),
    ("a knot that is a boolean", T, "knot: expected an integer", lambda: plan().gain(True)),
    ("knots a boolean", T, "knots: expected an integer", lambda: plan(knots=True)),
    ("a window that is a boolean", T, "window: expected an integer", lambda: fit(window=True)),
    ("iterations a boolean", T, "max_iterations: expected an integer", lambda: fit(max_iterations=True)),
    ("U transposed", A, "U: expected", lambda: tribo.rollout(slide, U=np.zeros((NU, 10)).copy())),
    ("U of one axis", A, "U: expected", lambda: tribo.rollout(slide, U=u0)),
    ("U and steps disagree", V, "10 steps and steps=9", lambda: tribo.rollout(slide, U=np.zeros((10, NU)), steps=9)),
    ("batches disagree", A, "x0 has 3 worlds and p has 2",
     lambda: tribo.rollout(slide, np.tile(x0, (3, 1)), p=slide.params.tile(2), steps=1)),
    ("a batch of none", A, "at least one world", lambda: tribo.rollout(slide, np.zeros((0, NX)), steps=1)),
    ("lx without the start", A, "lx: expected", lambda: run.backward(LX[1:].copy())),
    ("lx by the state's numbers", A, "lx: expected", lambda: run.backward(np.zeros((5, NX)))),
    ("lx of a batch that is none", A, "lx: expected", lambda: run.backward(LX[None].copy())),
    ("rows that disagree", A, "as many rows", lambda: slide.difference(np.tile(x0, (2, 1)), np.tile(x0, (3, 1)))),
    ("J of another size", A, "J: expected", lambda: problem(J=np.zeros((3, 4)))),
    ("mu of two axes", A, "mu: expected", lambda: problem(mu=np.ones((1, 1)))),
    # dtypes and layouts
    ("x in single precision", A, "found float32", lambda: slide.step(x0.astype(np.float32))),
    ("x of integers", A, "found int64", lambda: slide.step(np.zeros(NX, np.int64))),
    ("x complex", A, "complex128", lambda: slide.step(np.zeros(NX, complex))),
    ("x of objects", A, "x: expected", lambda: slide.step(np.zeros(NX, object))),
    ("x in the other byte order", A, "x: expected", lambda: slide.step(x0.astype(">f8"))),
    ("x a list", A, "found list", lambda: slide.step(list(x0))),
    ("x a number", A, "found float", lambda: slide.step(1.0)),
    ("x text", A, "found str", lambda: slide.step("x")),
    ("x bytes", A, "found bytes", lambda: slide.step(bytes(8 * NX))),
    ("x None", T, "needs `x`", lambda: slide.step(None)),
    ("x strided", A, "strided", lambda: slide.step(np.zeros(2 * NX)[::2])),
    ("x reversed", A, "strided", lambda: slide.step(x0[::-1])),
    ("U in Fortran's order", A, "strided", lambda: tribo.rollout(slide, U=np.zeros((10, NU), order="F"))),
    ("lx in single precision", A, "found float32", lambda: run.backward(LX.astype(np.float32))),
    ("p a dict", A, "found dict", lambda: slide.step(x0, None, {"floor/friction": 1})),
    ("x not aligned", A, "not aligned", lambda: slide.step(np.zeros(8 * NX + 4, np.uint8)[4:4 + 8 * NX].view(np.float64))),
    ("a number that repeats", A, "strided", lambda: slide.step(np.broadcast_to(1.0, (NX,)))),
    ("a view of a part of x", A, "strided", lambda: slide.step(np.zeros((NX, 2))[:, 0])),
    # numbers
    ("x NaN", tribo.NonFiniteError, r"x\[2\] is nan", lambda: slide.step(changed(x0, 2, np.nan))),
    ("x infinite", tribo.NonFiniteError, r"x\[8\] is infinite", lambda: slide.step(changed(x0, 8, np.inf))),
    ("u NaN", tribo.NonFiniteError, r"u\[1\] is nan", lambda: slide.step(x0, changed(u0, 1, np.nan))),
    ("U NaN", tribo.NonFiniteError, r"U\[3, 2\] is nan",
     lambda: tribo.rollout(slide, U=changed(np.zeros((5, NU)), (3, 2), np.nan))),
    ("p NaN", tribo.NonFiniteError, "floor/friction.* is nan", lambda: slide.step(x0, p=params("floor/friction", np.nan))),
    ("lx NaN", tribo.NonFiniteError, "lx", lambda: run.backward(changed(LX, (2, 2), np.nan))),
    ("a negative mass", V, "cube: mass must", lambda: slide.step(x0, p=params("cube/mass", -1))),
    ("negative friction", V, "floor: friction must", lambda: slide.step(x0, p=params("floor/friction", -1))),
    ("restitution of 5", V, "restitution", lambda: slide.check(params("floor/restitution", 5))),
    ("no direction", V, "quaternion", lambda: slide.step(changed(x0, slice(3, 7), 0))),
    ("no steps", V, "at least one step", lambda: tribo.rollout(slide, steps=0)),
    ("too many steps", V, "4294967296 steps are too many", lambda: tribo.rollout(slide, steps=2**32)),
    ("steps beyond counting", V, "too many", lambda: tribo.rollout(slide, steps=2**80)),
    ("neither U nor steps", V, "give U or steps", lambda: tribo.rollout(slide)),
    ("no threads", V, "threads", lambda: tribo.rollout(slide, steps=3, threads=0)),
    ("lx of other worlds", A, "lx has 3 worlds and the rollout 2",
     lambda: tribo.rollout(slide, np.tile(x0, (2, 1)), steps=4).backward(np.zeros((3, 5, NDX)))),
    ("no checkpoints", V, "checkpoints", lambda: tribo.rollout(slide, steps=3, checkpoints=0)),
    ("dt below 0", V, "dt", lambda: slide.with_options(dt=-1.0)),
    ("dt text", T, "dt: expected a number", lambda: slide.with_options(dt="fast")),
    # words
    ("no such law", V, "none of ncp, ccp", lambda: slide.with_options(law="penalty")),
    ("a solver that the law has not", V, "", lambda: slide.with_options(law="ccp", solver="lemke")),
    ("no such option", V, "no option `friction`", lambda: slide.with_options(friction=1)),
    ("no such argument", T, "no argument `xx`", lambda: slide.step(x0, xx=1)),
    ("x twice", T, "`x` twice", lambda: slide.step(x0, x=x0)),
    ("too many arguments", T, "at most 4", lambda: slide.step(x0, u0, p0, None, 1)),
    ("no such parameter", K, "nearest is `cube/mass`", lambda: p0["cube/mas"]),
    ("a name of a part", K, "no names any more", lambda: (p0[:5].view(tribo.Params))["gravity/z"]),
    ("no such body", K, "nearest is `cube`", lambda: slide.q("cubo")),
    ("no such key", K, "nearest is `start`", lambda: slide.key("star")),
    ("the model's parameters", ValueError, "copy", lambda: slide.params.__setitem__("cube/mass", 2)),
    ("a model that is changed", AttributeError, "does not change", lambda: setattr(slide, "dt", 1)),
    ("a part of a model that is deleted", AttributeError, "does not change", lambda: delattr(slide, "nq")),
    ("a model that is pickled", T, "load the scene again", lambda: pickle.dumps(slide)),
    ("a model that is copied", T, "", lambda: copy.copy(slide)),
    ("no model", T, "expected a tribo.Model", lambda: tribo.rollout("slide.xml", steps=1)),
    ("a joint that turns too fast", tribo.SpeedError, "too fast for steps", lambda: spun(1e9)),
    # files
    ("no such file", tribo.FileError, "nowhere.xml", lambda: tribo.load("nowhere.xml")),
    ("a folder", tribo.Error, "", lambda: tribo.load("/")),
    ("no XML", tribo.ParseError, "", lambda: tribo.from_string("no", name="mine")),
    ("no body that moves", V, "mine:1: there is no body", lambda: tribo.from_string("<mujoco/>", name="mine")),
    ("a name that is not allowed", V, "mine:2: body `gravity`",
     lambda: tribo.from_string("<mujoco><worldbody>\n<body name='gravity'><freejoint/><geom size='1'/></body>"
                               "</worldbody></mujoco>", name="mine")),
    ("an element that is not supported", tribo.ParseError, "mine:2: <foo>",
     lambda: tribo.from_string("<mujoco>\n<foo/></mujoco>", name="mine")),
    ("a recording of another model", tribo.ParseError, "", lambda: tribo.load_recording(__file__, slide)),
    # what was freed, other threads, other processes
    ("a freed model's step", tribo.FreedError, "freed", lambda: freed_model().step(x0)),
    ("a freed model's rollout", tribo.FreedError, "freed", lambda: tribo.rollout(freed_model(), steps=1)),
    ("a freed model's names", tribo.FreedError, "freed", lambda: freed_model().bodies),
    ("a freed model with options", tribo.FreedError, "freed", lambda: freed_model().with_options(dt=0.1)),
    ("a freed tape", tribo.FreedError, "no tape", lambda: freed_run(lambda r: r.free()).backward(LX)),
    ("a rollout without tape", tribo.FreedError, "no tape", lambda: tribo.rollout(slide, steps=4, tape=False).backward(LX)),
    ("a model freed by its argument", tribo.FreedError, "freed", lambda: freed_by("steps")),
    ("a model freed by its option", tribo.FreedError, "freed", lambda: freed_by("dt")),
    ("a freed model's dynamics", tribo.FreedError, "freed", lambda: tribo.Dynamics(freed_model())),
    ("a freed model's fit", tribo.FreedError, "freed", lambda: tribo.identify(freed_model(), [recording()], ["floor/friction"])),
    ("a freed model's plan", tribo.FreedError, "freed", lambda: tribo.optimize(freed_model(), knots=3, terms=[{"what": "control"}])),
    ("a freed model's comparison", tribo.FreedError, "freed", lambda: tribo.compare(freed_model())),
    ("a rollout of a freed model", tribo.FreedError, "freed", lambda: model_freed_below(0).backward(LX)),
    ("no such step", IndexError, "no such step", lambda: run.jacobians(4)),
    ("steps without worlds", A, "leading axis", lambda: tribo.steps(slide, x0)),
    ("steps of no world", A, "at least one world", lambda: tribo.steps(slide, np.zeros((0, slide.nx)))),
    ("steps of two numbers of worlds", A, "x has 2 worlds and u has 3", lambda: tribo.steps(slide, np.tile(x0, (2, 1)), np.zeros((3, slide.nu)))),
    ("steps of a world that is none", tribo.NonFiniteError, "world 1: x", lambda: tribo.steps(slide, np.stack([x0, x0 * np.nan]))),
    ("jacobians on no threads", V, "", lambda: tribo.jacobians(slide, np.tile(x0, (2, 1)), threads=0)),
    ("a step without room", tribo.CapacityError, r"ncon_max=3\): at least 4", lambda: slide.with_options(ncon_max=3).step(x0)),
    ("a rollout without room", tribo.CapacityError, r"ncon_max=3\): at least 4", lambda: tribo.rollout(slide.with_options(ncon_max=3), steps=2)),
    ("steps of a freed model", tribo.FreedError, "freed", lambda: tribo.steps(freed_model(), np.tile(x0, (2, 1)))),
    ("no such world", IndexError, "no such step or world", lambda: run.contacts(0, 1)),
    # contact problems
    ("neither M nor G", V, "M, J, vfree", lambda: tribo.ContactProblem(mu=np.ones(1))),
    ("M that is not positive", tribo.SingularError, "", lambda: problem(M=-eye).solve()),
    ("mu below 0", V, "", lambda: problem(mu=np.array([-1.0])).solve()),
    ("vfree NaN", tribo.NonFiniteError, "", lambda: problem(vfree=np.full(3, np.nan)).solve()),
    ("noise of too many contacts", A, "noise: expected", lambda: problem(law="stochastic").set_noise(np.ones(4))),
    ("noise of another law", V, "of the stochastic law", lambda: problem().set_noise(np.ones(2))),
    ("noise that is none", V, "above 0", lambda: problem(law="stochastic").set_noise(np.array([1, np.nan]))),
    ("noise of 0", V, "above 0", lambda: problem(law="stochastic").set_noise(np.zeros(2))),
    ("vjp before a solve", V, "solve first", lambda: problem().vjp(np.zeros(3))),
    ("dt of a contact problem", V, "its law only", lambda: problem(dt=0.1)),
    ("a QP whose P is not square", A, "P: expected", lambda: tribo.solve_qcqp(np.ones((2, 3)), np.ones(2))),
    ("a QCQP with a negative radius", V, "", lambda: tribo.solve_qcqp(np.eye(2), np.ones(2), np.array([-1.0]))),
    # identification
    ("no such free parameter", K, "nearest", lambda: fit(free=["floor/mu"])),
    ("friction that does not count", V, "of two geoms that touch", lambda: fit(free=["cube/friction"])),
    ("no such loss", V, "none of one-step", lambda: fit(loss="least")),
    ("no recordings", V, "no recording", lambda: tribo.identify(slide, [], ["floor/friction"])),
    ("times that fall", V, "", lambda: fit((np.array([0.0, 0.2, 0.1]), np.tile(x0, (3, 1)), None))),
    ("X shorter than time", A, "X: expected", lambda: fit((np.arange(4.0), np.tile(x0, (3, 1)), None))),
    ("markers of no site", A, "markers: expected", lambda: fit(recording() + (np.zeros((5, 1, 3)),))),
    ("forces of no geom", A, "forces: expected", lambda: fit(recording() + (None, np.zeros((5, 3))))),
    ("a recording of six arrays", T, "", lambda: fit(recording() + (None, None, None))),
    ("bounds that exclude all", V, "", lambda: fit(free={"floor/friction": (0.5, 2.0, 1.0)})),
    ("a weight that is none", V, "weight 0 is not finite", lambda: fit(weight={"position": np.nan})),
    ("a weight of nothing", V, "none of position", lambda: fit(weight={"speed": 1})),
    ("no such recording", IndexError, "no such recording", lambda: fit(max_iterations=1).predict(7)),
    # trajectory optimisation
    ("a task without terms", V, "terms", lambda: tribo.optimize(cart, knots=3)),
    ("a term of no kind", V, "no kind `colour`", lambda: plan([{"what": "colour"}])),
    ("a term with a word too much", V, r"terms\[0\]: there is no key `wieght`; the nearest is `weight`",
     lambda: plan([{"what": "control", "wieght": 1}])),
    ("a term of nothing", V, "`what` is missing", lambda: plan([{"on": "rail"}])),
    ("terms that are no list", V, "terms: expected a list", lambda: tribo.optimize(cart, knots=3, terms={"what": "control"})),
    ("a term that is none", V, r"terms\[0\]: expected a dict", lambda: plan([3])),
    ("a norm that is not", V, "no norm `hubber`; the nearest is `huber`", lambda: plan([{"what": "control", "norm": "hubber"}])),
    ("a weight of text", V, "weight: expected a number, found '3'", lambda: plan([{"what": "control", "weight": "3"}])),
    ("weights of other controls", V, "weights: pivot is not one", lambda: plan([{"what": "control", "weights": {"pivot": 1}}], controls=["rail"])),
    ("one knot", V, "at: 5 is none of running", lambda: plan([{"what": "control", "at": 5}])),
    ("knots and a half", V, "at: expected an integer", lambda: plan([{"what": "control", "at": [0.5, 1]}])),
    ("times of text", V, "at: expected numbers", lambda: plan([{"what": "control", "at": {"time": "ab"}}])),
    ("a target of text", V, "target: expected numbers", lambda: plan([{"what": "joint", "on": "rail", "target": "x"}])),
    ("a series without values", V, "target: `values` is missing", lambda: plan([{"what": "joint", "on": "rail", "target": {"time": [0]}}])),
    ("a turn twice as long", V, "target: a quaternion .* has length 1, not 2", lambda: plan(
        [{"what": "rotation", "on": "pole", "target": [2, 0, 0, 0]}])),
    ("another turn twice as long", V, "has length 1, not 2", lambda: plan(
        [{"what": "rotation", "on": "pole", "target": [1, 0, 0, 0]}]).set_target(0, [2, 0, 0, 0])),
    ("a term that is not", V, "term: 9 is not", lambda: plan().set_target(9, 0)),
    ("a centre of mass of something", V, "on: a term of com is of the whole", lambda: plan([{"what": "com", "on": "pole"}])),
    ("a joint less a body", V, "less: only position", lambda: plan([{"what": "joint", "on": "pivot", "less": "pole"}])),
    ("a position with a body", V, "with: only a contact-force", lambda: plan([{"what": "position", "on": "pole", "with": "cart"}])),
    ("a term of ones own without one", V, "function: expected a function", lambda: plan([{"what": "custom", "size": 1}])),
    ("controls of letters", V, "controls: expected a list of names, found 'rail'", lambda: plan(controls="rail")),
    ("a control that is not", K, "controls: .*the nearest is `rail`", lambda: plan(controls=["rial"])),
    ("bounds of another control", V, "bounds: pivot is not one", lambda: plan(controls=["rail"], bounds={"pivot": 3})),
    ("bounds of text", V, "bounds: rail: expected a number", lambda: plan(bounds={"rail": "a"})),
    ("three bounds", V, "bounds: rail: 3 numbers", lambda: plan(bounds={"rail": [1, 2, 3]})),
    ("a hold of what is looked for", V, "hold: rail is one", lambda: plan(controls=["rail"], hold={"rail": 1})),
    ("stages that are no list", V, "stages: expected a list", lambda: plan(stages={"law": "ccp"})),
    ("a stage with a step of its own", V, r"stages\[1\]: `dt` is no word", lambda: plan(stages=[{"law": "ccp"}, {"dt": 1}])),
    ("a start of too many", V, "start: q: has 3 numbers, not 2", lambda: plan(start={"q": [1, 2, 3]})),
    ("a start of other words", V, "start: there is no key `Q`", lambda: plan(start={"Q": {"pivot": 1}})),
    ("a start twice as long", V, "start: q: a quaternion", lambda: tribo.optimize(
        slide, knots=3, terms=[{"what": "control"}], start={"q": {"cube": [0, 0, 1, 2, 0, 0, 0]}})),
    ("a plan on nothing", V, "expected a tribo.Model", lambda: tribo.optimize(None, knots=3, terms=[{"what": "control"}])),
    ("a library of nothing", V, "expected a tribo.Plan", lambda: tribo.Policies(cart).add(None)),
    ("what is ignored beyond the tangent", V, "no number 9", lambda: library().control(cart.x0, ignore=[9])),
    # tasks of files
    ("a task that is none", V, "expected a path or a dict", lambda: tribo.optimize(cart, 3)),
    ("no such task", tribo.FileError, "nowhere.json: No such file", lambda: tribo.optimize(cart, "nowhere.json")),
    ("a task that is no JSON", tribo.ParseError, r"task.json:2: ", lambda: of_file('{"knots": 3,\n"terms": [}')),
    ("an empty task", tribo.ParseError, "task.json:1: ", lambda: of_file("")),
    ("a task of a key twice", tribo.ParseError, "`knots` is there twice", lambda: of_file('{"knots": 3, "knots": 4}')),
    ("a task with NaN", tribo.ParseError, "NaN is no number", lambda: of_file('{"dt": NaN}')),
    ("a task that is a list", V, "task.json: expected a dict", lambda: of_file("[]")),
    ("a task of passes below 0", V, "task.json: iterations: -1 is not in", lambda: of_file(iterations=-1)),
    ("a task of knots as text", V, "task.json: knots: expected an integer", lambda: of_file(knots="3")),
    ("a task of a law as text", V, "task.json: law: expected a dict", lambda: of_file(law="ccp")),
    ("a task of a parameter that is not", K, "task.json: parameters: .*nearest is `cart/mass`", lambda: of_file(parameters={"cart/masss": 1})),
    ("a task of a group of parameters", V, "parameters: `pole/inertia` is a group: pole/inertia/xx, ", lambda: of_file(parameters={"pole/inertia": 1})),
    ("a task of a guess of two rows", V, r"task.json: guess: has shape \(2, 1\)", lambda: of_file(guess=[[1], [2]], controls=["rail"])),
    ("a task with a term that is wrong", V, r"task.json: terms\[0\]: on: a term of com", lambda: of_file(terms=[{"what": "com", "on": "pole"}])),
    ("a joint that is not", K, "nearest", lambda: plan([{"what": "joint", "on": "pivo"}])),
    ("no such method", V, "none of ddp", lambda: plan(method="simplex")),
    ("a target of another size", V, "target has 2 numbers", lambda: plan([{"what": "control", "target": [1, 2, 3]}])),
    ("a target of another width", V, "target has 8 numbers", lambda: plan(
        [{"what": "state", "target": np.zeros((2, 6)), "at": (0, 1)}])),
    ("an empty target", A, "0 numbers", lambda: plan([{"what": "control", "target": []}])),
    ("too few weights", V, "4 components", lambda: plan([{"what": "state", "weights": [1, 2, 3]}])),
    ("no weights", A, "0 numbers", lambda: plan([{"what": "state", "weights": []}])),
    ("another target of another size", V, "expected shape", lambda: plan(
        [{"what": "state", "target": np.zeros(4)}]).set_target(0, np.zeros(3))),
    ("U of other knots", A, "U: expected", lambda: plan(U=np.zeros((4, 1)))),
    ("no knots", V, "", lambda: plan(knots=-1)),
    ("a term that raises", ZeroDivisionError, "", lambda: plan(
        [{"what": "custom", "size": 1, "function": lambda *a: 1 / 0}]).iterate()),
    ("a term of another size", A, "r of a term", lambda: plan(
        [{"what": "custom", "size": 1, "function": lambda *a: np.zeros(2)}]).iterate()),
    ("a knot that is not", V, "", lambda: plan().feedback(9, cart.x0)),
    # dynamics
    ("no state yet", V, "", lambda: tribo.Dynamics(cart).inertia()),
    ("no such site", K, "", lambda: tribo.Dynamics(cart).at(cart.x0).site("tip")),
    ("distance of a geom that is not", V, "", lambda: slide.distance(0, 7)),
]


class Misuse(unittest.TestCase):
    def test_every_misuse_is_an_exception(self):
        wanted = slide.step(x0)
        self.assertGreaterEqual(len(MISUSES), 60)
        for name, kind, text, act in MISUSES:
            with self.subTest(name):
                with self.assertRaisesRegex(kind, text) as caught:
                    act()
                self.assertTrue(kind is not K or isinstance(caught.exception, tribo.Error))
        self.assertTrue((slide.step(x0) == wanted).all())
        self.assertEqual(run.backward(LX).p.shape, (NP,))

    def test_errors_are_errors_of_tribo(self):
        for name in dir(tribo):
            kind = getattr(tribo, name)
            if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, Warning):
                self.assertTrue(issubclass(kind, tribo.Error), name)
        self.assertTrue(issubclass(tribo.ArrayError, ValueError) and issubclass(tribo.ArrayError, TypeError))
        with self.assertRaises(tribo.ParseError) as caught:
            tribo.from_string("<mujoco>\n\n<foo/></mujoco>")
        self.assertEqual(caught.exception.line, 3)

    def test_a_fit_belongs_to_one_thread_at_a_time(self):
        seen, task = [], None

        def inside(knot, x, u, derivatives):
            if task and not seen:
                try:
                    task.iterate()
                except tribo.BusyError as error:
                    seen.append(error)
            r = np.array([x[1]])
            rx = np.zeros((1, cart.ndx))
            rx[0, 1] = 1
            return (r, rx, np.zeros((1, 1))) if derivatives else r

        task = tribo.optimize(cart, knots=3, iterations=0, controls=["rail"], terms=[
            {"what": "control"}, {"what": "custom", "size": 1, "function": inside, "at": "all"}])
        task.iterate()
        self.assertEqual(len(seen), 1)

    def test_a_model_freed_during_a_rollout_elsewhere(self):
        m = tribo.load(scene("stack"))
        wanted, got = tribo.rollout(m, steps=3000).X, []
        thread = threading.Thread(target=lambda: got.append(tribo.rollout(m, steps=3000, tape=False)))
        thread.start()
        m.free()
        thread.join()
        gc.collect()
        self.assertTrue(not got or (got[0].X == wanted).all())

    def test_a_rollout_freed_during_its_backward_elsewhere(self):
        m = tribo.load(scene("stack"))
        r, lx = tribo.rollout(m, steps=3000), np.ones((3001, m.ndx))
        wanted, got, refused = r.backward(lx).p, [], 0
        thread = threading.Thread(target=lambda: got.append(r.backward(lx).p))
        thread.start()
        while thread.is_alive() and not refused:
            time.sleep(1e-3)
            try:
                r.free()
                break  # before it began, or after it ended
            except tribo.BusyError:
                refused += 1
        thread.join()
        self.assertTrue(not got or (got[0] == wanted).all())

    def test_one_rollout_in_four_threads(self):
        r, lx = tribo.rollout(slide, np.tile(x0, (16, 1)), steps=100), np.ones((16, 101, NDX))
        wanted, got = r.backward(lx).p, []
        threads = [threading.Thread(target=lambda: got.append(r.backward(lx).p)) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertTrue(len(got) == 4 and all((np.asarray(p) == np.asarray(wanted)).all() for p in got))

    def test_a_rollout_goes_on_in_a_child_of_fork(self):
        r, lx = tribo.rollout(slide, np.tile(x0, (8, 1)), steps=20, threads=2), np.ones((8, 21, NDX))
        wanted = r.backward(lx).p
        child = os.fork()
        if child == 0:
            again = tribo.rollout(slide, np.tile(x0, (8, 1)), steps=20, threads=2)
            os._exit(7 if (again.X == r.X).all() and (np.asarray(r.backward(lx).p) == np.asarray(wanted)).all() else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)

    def test_warnings_may_be_errors(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error", tribo.NotConverged)
            with self.assertRaises(tribo.NotConverged):
                slide.with_options(law="ncp", solver="pgs", max_iter=1, raw=True).step(x0)

    def test_misuse_in_a_child_of_fork(self):
        child = os.fork()
        if child == 0:
            try:
                slide.step(np.zeros(3))
            except tribo.ArrayError:
                os._exit(7)
            os._exit(1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)


if __name__ == "__main__":
    main()
