"""Trajectory optimisation through contact."""
import difflib
import json
import math
import os
from typing import Any, NamedTuple, Optional

import numpy as np

from . import _core
from ._arguments import numbers, whole
from ._model import _named

_METHODS = ("ddp", "ilqr", "first", "lbfgs")
_OF_PLACES = ("position", "rotation", "velocity", "angular-velocity")


class Term(NamedTuple):
    """One term of a cost: weight * norm(residual - target), at some knots. docs/control.md has the tables.

    what: state, joint, joint-velocity, control, position, rotation, velocity, angular-velocity, com, com-velocity,
      momentum, contact-force, custom.
    on: the joint, body or site (a body comes first; "site:tip" is the site). less: of a body or site that is taken
      off; of contact-force the body that pushes, None = all.
    target: a number, a row (n), or a row for each knot (knots, n); None = 0, of a state the start.
    weight: of the whole; weights (n) of components. norm: quadratic, linear, smooth-abs, huber, log-cosh, above, below,
      and the constraints limit, least, equal; scale: of those that have one.
    at: "running" (all knots but the last state), "final", "all", or (first, last), below 0 from the end.
    function, size: of what="custom": function(knot, x, u, derivatives) returns r (size), and with derivatives
      (r, rx (size, ndx), ru (size, ncontrol)); u and ru are None at the last knot."""

    what: str
    on: Optional[str] = None
    target: Any = None
    weight: float = 1.0
    at: Any = "running"
    norm: str = "quadratic"
    scale: float = 1.0
    weights: Any = None
    less: Optional[str] = None
    name: Optional[str] = None
    function: Any = None
    size: int = 0


class PlanProgress(NamedTuple):
    """Where a search stands: see tribo_trajopt_progress."""

    stage: int
    iteration: int
    cost: float
    cost_hard: float
    expected: float
    step: float
    gradient: float
    gap: float
    violation: float
    rollouts: int
    unconverged: int
    converged: bool
    done: bool


def _place_of(model, text):
    """(body, site) of "tip", "body:tip", "site:tip"."""
    kind, _, name = text.rpartition(":")
    if kind != "site" and name in model.bodies:
        return model.bodies.index(name), -1
    if kind != "body" and name in model.sites:
        return -1, model.sites.index(name)
    near = difflib.get_close_matches(name, model.bodies + model.sites, 1, 0)
    raise _core.ArgumentError(f"there is no body or site `{text}`" + (f"; the nearest is `{near[0]}`" if near else ""))


def _knots_of(at, knots):
    named = {"running": (0, -2), "final": (-1, -1), "all": (0, -1)}
    if isinstance(at, str):
        if at not in named:
            raise _core.ArgumentError(f"at: `{at}` is none of {', '.join(named)}")
        return named[at]
    first, last = at
    whole(first=first, last=last)
    return first, last


def _term_tuple(model, term, knots):
    t = term if isinstance(term, Term) else Term(**term)
    joint, body, site, body2, site2 = 0, -1, -1, -1, -1
    if t.what in ("joint", "joint-velocity"):
        joint = model._id("joint", model.joints, t.on)
    elif t.what in _OF_PLACES:
        body, site = _place_of(model, t.on or "")
        if t.less is not None:
            body2, site2 = _place_of(model, t.less)
    elif t.what == "contact-force":
        body = model._id("body", model.bodies, t.on)
        body2 = -1 if t.less is None else model._id("body", model.bodies, t.less)
    first, last = _knots_of(t.at, knots)
    whole(size=t.size)
    target = None if t.target is None else np.atleast_2d(numbers("target", t.target))
    weights = None if t.weights is None else np.atleast_1d(numbers("weights", t.weights))
    return (t.what, t.name, joint, body, site, body2, site2, float(t.weight), weights, t.norm, float(t.scale), first,
            last, target, t.size, t.function)


def _control_numbers(model, controls):
    """Numbers of u of names: actuators, joints (their forces), free bodies (all six), or numbers as they are."""
    if controls is None:
        return None
    found = []
    for c in controls:
        whole(controls=c)
        if isinstance(c, (int, np.integer)):
            found.append(int(c))
        elif c in model.actuators:
            found.append(model.control(c))
        else:
            place = model.v(c)
            found.extend(range(place.start, place.stop))
    return found


class Plan:
    """A task and the best motion so far: what optimize() returns.

    X (knots+1, nx) states, U (knots, ncontrol) controls, controls: which numbers of u these are; cost, progress."""

    def __init__(self, model, core, terms):
        self.model, self._core = model, core
        self._names = [t[1] or t[0] for t in terms]
        self._targets = [None if t[13] is None else t[13].shape for t in terms]
        self.controls = core.controls()
        self.progress = None

    def __repr__(self):
        return f"<tribo.Plan of {len(self.U)} knots, cost {self.cost:g}>"

    def iterate(self):
        """One pass; returns PlanProgress."""
        status, *rest = self._core.iterate()
        self.progress = PlanProgress(*rest)
        return self.progress

    def solve(self, iterations=1000, callback=None):
        """Passes until done, or so many; callback(progress) after each, returning True stops. Returns itself."""
        for _ in range(whole(iterations=iterations)):
            progress = self.iterate()
            if progress.done or (callback and callback(progress)):
                break
        return self

    @property
    def X(self):
        """(knots+1, nx) states of the best so far."""
        return self._core.trajectory()[0]

    @property
    def U(self):
        """(knots, ncontrol) its controls."""
        return self._core.trajectory()[1]

    @property
    def U_full(self):
        """(knots, nu): its controls as rows of u, for rollout(); the rest as it was held."""
        X, U = self._core.trajectory()
        full = np.stack([self._core.feedback(k, X[k]) for k in range(len(U))])
        full[:, self.controls] = U
        return full

    @property
    def cost(self):
        """Its cost, without constraints."""
        return float(np.sum(self._core.costs()))

    @property
    def costs(self):
        """Its cost term by term: a list of (name, cost)."""
        return list(zip(self._names, self._core.costs().tolist()))

    def settle(self):
        """Feedback along the best so far with as little regularisation as it takes: that of the last pass is of the motion
        before. A search that is done has it. Of methods "ddp" and "ilqr"; returns itself."""
        self._core.settle()
        return self

    def feedback(self, knot, x):
        """u (nu) at a state x (nx): the knot's control and its linear feedback, within bounds."""
        return self._core.feedback(whole(knot=knot), x)

    def gain(self, knot):
        """The feedback's gain K (ncontrol, ndx) of a knot."""
        return self._core.gain(whole(knot=knot))

    def gradient(self):
        """(dJ/dx0 (ndx), dJ/dp (np)) along the best so far, controls held."""
        x, p = self._core.gradient()
        return x, _named(p, self.model._names)

    def shift(self, knots, x0):
        """Begin again so many knots later and at x0 (nx): for receding horizons."""
        self._core.shift(whole(knots=knots), x0)

    def restart(self, x0, U):
        """Other controls U (knots, ncontrol), and x0 (nx)."""
        self._core.restart(x0, U)

    def set_target(self, term, target):
        """Another target for a term, by its place, as many rows as it had; takes effect with the next shift or restart."""
        shape = self._targets[whole(term=term)]
        if shape is None:
            raise _core.ArgumentError(f"the term {self._names[term]} was made without a target")
        rows = np.atleast_2d(numbers("target", target))
        if rows.shape != shape:
            raise _core.ArgumentError(f"target of {self._names[term]}: expected shape {shape}, found {rows.shape}")
        self._core.set_target(term, rows)


class Policies:
    """A library of plans with their feedback: the control of whichever state is nearest.

        library = tribo.Policies(model)
        library.add(plan)
        u = library.control(x)

    ncontrol: numbers that the plans' controls have; None = those of optimize(): all actuators, without any all forces."""

    def __init__(self, model, ncontrol=None, *, path=None):
        self.model = model
        path = None if path is None else os.fspath(path)
        whole(ncontrol=ncontrol)
        self._core = _core.policies(model, model.nactuator or model.nv if ncontrol is None else ncontrol, path)

    @classmethod
    def load(cls, path, model):
        """From a file that save() wrote."""
        return cls(model, path=path)

    def save(self, path):
        """Into a file of text."""
        self._core.save(os.fspath(path))

    def __len__(self):
        """How many knots are in it."""
        return self._core.size()

    def add(self, plan, first=0, last=-1):
        """Knots first to last (-1: the last one that has a control) of a Plan's best so far."""
        whole(first=first, last=last)
        plan._core.add_to(self._core, first, last if last >= 0 else len(plan.U) + last)

    def control(self, x, u=None, ignore=()):
        """u (nu) at a state x (nx): the linear feedback of the nearest knot, in the norm that the spread of all knots
        scales; self.nearest says which. u: the numbers that are no controls of the plans (0). ignore: joints whose place
        does not count, as an angle that turns on and on, or numbers of the tangent (ndx)."""
        left_out = []
        for i in ignore:
            whole(ignore=i)
            place = self.model.v(i) if isinstance(i, str) else slice(i, i + 1)
            left_out.extend(range(place.start, place.stop))
        out = np.zeros(self.model.nu) if u is None else numbers("u", u)
        self.nearest = self._core.control(x, out, left_out)
        return out


def _start_of(model, start):
    """A state of a keyframe's name, an array, or {"key":, "q": {...}, "v": {...}}."""
    if start is None or isinstance(start, np.ndarray):
        return start
    if isinstance(start, str):
        return model.key(start)[0]
    x = model.key(start["key"])[0] if "key" in start else np.array(model.x0)
    for part, place, shift in (("q", model.q, 0), ("v", model.v, model.nq)):
        given = start.get(part, {})
        for name, value in given.items() if isinstance(given, dict) else ():
            where = place(name)
            x[where.start + shift:where.stop + shift] = value
        if not isinstance(given, dict):
            x[shift:shift + len(given)] = given
    return x


def _bounds_of(model, chosen, bounds):
    """lower and upper of {name: (lower, upper) or to either side}, or of a pair of arrays."""
    if bounds is None:
        return None, None
    if not isinstance(bounds, dict):
        return tuple(None if b is None else numbers("bounds", b) for b in bounds)
    chosen = chosen or list(range(model.nv, model.nu) if model.nactuator else range(model.nv))
    lower, upper = np.full(len(chosen), -math.inf), np.full(len(chosen), math.inf)
    for i, n in enumerate(chosen):
        if n >= model.nv:
            entry = model.params[model.actuators[n - model.nv] + "/ctrlrange"]
            if np.size(entry) == 2 and entry[0] < entry[1]:
                lower[i], upper[i] = entry
    for name, how in bounds.items():
        a, b = how if isinstance(how, (tuple, list)) else (-how, how)
        for n in _control_numbers(model, [name]):
            i = chosen.index(n)
            lower[i], upper[i] = -math.inf if a is None else a, math.inf if b is None else b
    return lower, upper


def optimize(model, task=None, *, knots=None, terms=None, substeps=1, controls=None, bounds=None, hold=None, start=None,
             U=None, X=None, p=None, method="ddp", stages=(), tol=0.0, tol_constraint=0.0, workers=1, iterations=1000,
             callback=None):
    """Find a motion, and feedback along it, of least cost: returns a Plan.

    knots: controls, each held for `substeps` steps. terms: a list of Term, or of dicts of the same.
    controls: which numbers of u are looked for: names of actuators, joints, free bodies, or numbers; None = all
      actuators, without any all forces. bounds: {name: (lower, upper)} or {name: to either side}; hold (nu): the rest.
    start: a state (nx), a keyframe's name, or {"q": {joint: ...}, "v": ...}. U (knots, ncontrol): first guess.
    X (knots+1, nx): states to begin with, which the dynamics need not agree with (method "ddp", "ilqr").
    method: "ddp", "ilqr", "first", "lbfgs". stages: dicts of law options on the way to the model's own, as
      [{"law": "stochastic", "noise": 0.1}]. iterations=0 makes the Plan and leaves the passes to you.
    task: a path to a JSON file, or its dict, with the keys knots, substeps, dt, start, controls, bounds, terms, method,
      law, stages (docs/control.md)."""
    given = dict(knots=knots, terms=terms, substeps=substeps, controls=controls, bounds=bounds, start=start, method=method,
                 stages=stages)
    if task is not None:
        model, given = _from_task(model, task, given)
    if given["knots"] is None or not given["terms"]:
        raise _core.ArgumentError("optimize: give knots=... and terms=[tribo.Term(...)]")
    if given["method"] not in _METHODS:
        raise _core.ArgumentError(f"method: `{given['method']}` is none of {', '.join(_METHODS)}")
    whole(knots=given["knots"], substeps=given["substeps"], workers=workers, iterations=iterations)
    chosen = _control_numbers(model, given["controls"])
    lower, upper = _bounds_of(model, chosen, given["bounds"])
    hold, U = given.get("hold", hold), given.get("U") if U is None else U
    ready = [_term_tuple(model, t, given["knots"]) for t in given["terms"]]
    core = _core.plan(model, given["knots"], given["substeps"], ready, chosen, lower, upper, hold, p,
                      _start_of(model, given["start"]), U, X, _METHODS.index(given["method"]), list(given["stages"]), tol,
                      tol_constraint, workers)
    plan = Plan(model, core, ready)
    return plan.solve(iterations, callback) if iterations else plan


_KEYS = {"knots", "substeps", "dt", "start", "controls", "bounds", "terms", "method", "law", "stages", "guess",
         "iterations", "tolerance"}


def _from_task(model, task, given):
    """The keys of a task of docs/control.md."""
    if not isinstance(task, dict):
        with open(os.fspath(task), encoding="utf-8") as file:
            task = json.load(file)
    strange = set(task) - _KEYS
    if strange:
        raise _core.ArgumentError(f"task: `{sorted(strange)[0]}` is not read here; keys are {', '.join(sorted(_KEYS))}")
    words = dict(task.get("law", {}))
    if "dt" in task:
        words["dt"] = task["dt"]
    if words:
        model = model.with_options(**words)
    given = {k: task.get(k, v) for k, v in given.items()}
    key = task.get("start") if isinstance(task.get("start"), str) else (model.keys or [None])[0]
    if key is not None:
        given["hold"] = model.key(key)[1]
    guess = task.get("guess", "zero")
    if guess == "key" and key is not None:
        chosen = _control_numbers(model, given["controls"]) or list(range(model.nv, model.nu))
        given["U"] = np.tile(given["hold"][chosen], (given["knots"], 1))
    elif guess not in ("zero", "key"):
        rows = numbers("guess", guess)
        given["U"] = np.tile(rows, (given["knots"], 1)) if rows.ndim == 1 else rows
    return model, given
