"""Trajectory optimisation through contact."""
import os
from typing import NamedTuple

import numpy as np

from . import _core, _task
from ._arguments import ArgumentTypeError, integer, number, numbers, whole, within
from ._model import Model, _named


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


class Plan:
    """A task and the best motion so far: what optimize() returns.

    X (knots+1, nx) states, U (knots, ncontrol) controls, controls: which numbers of u these are; cost, progress."""

    def __init__(self, model, core, terms):
        self.model, self._core = model, core
        self._names = [t[1] or t[0] for t in terms]
        self._targets = [None if t[13] is None else t[13].shape for t in terms]
        self._turns = [_task.turns(model, t) for t in terms]
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
        before. A search that is done has it. Of methods "ddp", "ilqr" and "newton"; returns itself."""
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
        shape = self._targets[integer("term", term, -len(self._names), len(self._names) - 1)]
        if shape is None:
            raise _core.ArgumentError(f"the term {self._names[term]} was made without a target")
        rows = _task.target_rows("target", target, shape[1], self._turns[term])
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
        if not isinstance(plan, Plan):
            raise ArgumentTypeError(f"expected a tribo.Plan, found {plan!r:.60}")
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


_DEFAULTS = {"substeps": 1, "method": "ddp", "stages": (), "tol": 0.0, "tol_constraint": 0.0, "iterations": 1000}
_SPELT = {"tol": "tolerance", "tol_constraint": "constraint-tolerance"}
_RANGES = {"knots": (1, 1000000), "substeps": (1, 100000), "iterations": (0, 100000000)}


def optimize(model, task=None, *, knots=None, terms=None, substeps=None, controls=None, bounds=None, hold=None, start=None,
             U=None, X=None, p=None, method=None, stages=None, tol=None, tol_constraint=None, workers=1, iterations=None,
             callback=None):
    """Find a motion, and feedback along it, of least cost: returns a Plan.

    knots: controls, each held for `substeps` steps (1). terms: a list of Term, or of dicts of the same.
    controls: which numbers of u are looked for: names of actuators, joints, free bodies, columns, or numbers; None = all
      actuators, without any all forces. bounds: {name: (lower, upper)} or {name: to either side}; hold (nu) or
      {name: number}: the rest.
    start: a state (nx), a keyframe's name, or {"q": {joint: ...}, "v": ...}. U (knots, ncontrol): first guess.
    X (knots+1, nx): states to begin with, which the dynamics need not agree with (method "ddp", "ilqr", "newton").
    method: "ddp" (default), "ilqr", "newton", "first", "lbfgs". stages: dicts of law options on the way to the model's own, as
      [{"law": "stochastic", "noise": 0.1}]. iterations: 1000; 0 makes the Plan and leaves the passes to you.
    task: a path to a JSON file, or its dict, as docs/control.md has it; what is given here is over it."""
    given = dict(knots=knots, terms=terms, substeps=substeps, controls=controls, bounds=bounds, start=start, method=method,
                 stages=stages, hold=hold, U=U, p=p, iterations=iterations, tol=tol, tol_constraint=tol_constraint)
    if not isinstance(model, Model):
        raise ArgumentTypeError(f"expected a tribo.Model, found {type(model)}")
    said, file = ({}, "") if task is None else _task.read(task)
    model = _task.stepped(model, said, file)
    g, at = _told(given, said, file)
    if g["knots"] is None or g["terms"] is None or len(g["terms"]) == 0:
        raise _core.ArgumentError("optimize: give knots=... and terms=[tribo.Term(...)]")
    ready, chosen, arrays = _ready(model, said, g, at)
    core = _core.plan(model, g["knots"], g["substeps"], ready, chosen, *arrays, X, _task.METHODS.index(g["method"]),
                      list(g["stages"]), g["tol"], g["tol_constraint"], integer("workers", workers, 1, 256))
    iterations = g["iterations"]
    plan = Plan(model, core, ready)
    return plan.solve(iterations, callback) if iterations else plan


def _told(given, said, file):
    """({argument: value}, of what is given, said in the task or neither; how messages call the place of one)."""
    g = {k: said.get(_SPELT.get(k, k), _DEFAULTS.get(k)) if v is None else v for k, v in given.items()}

    def at(key, index=""):
        spelt = _SPELT.get(key, key)
        return within((f"{file}: {spelt}" if given.get(key) is None and spelt in said else key) + index)

    for key, range_of in _RANGES.items():
        if g[key] is not None:
            with at(key):
                g[key] = integer("", g[key], *range_of)
    for key in ("tol", "tol_constraint"):
        with at(key):
            g[key] = number("", g[key])
    if g["method"] not in _task.METHODS:
        with at("method"):
            raise _core.ArgumentError(f"`{g['method']}` is none of {', '.join(_task.METHODS)}")
    return g, at


def _ready(model, said, g, at):
    """Terms, chosen controls, and arrays as the core takes them: lower, upper, hold, p, x0, U."""
    with at("controls"):
        chosen = _task.control_numbers(model, g["controls"])
    with at("bounds"):
        lower, upper = _task.bounds(model, chosen, g["bounds"])
    with at("start"):
        x0 = _task.state(model, g["start"])
    with at("hold"):
        u = _task.held(model, g["start"], g["hold"], chosen) if said or g["hold"] is not None else None
    with at("parameters"):
        p = _task.parameters(model, said["parameters"]) if g["p"] is None and "parameters" in said else g["p"]
    with at("guess"):
        U = _task.guessed(model, said.get("guess", "zero"), u, chosen, g["knots"]) if g["U"] is None else g["U"]
    for key in ("stages", "terms"):
        with at(key):
            _task.listed(g[key])
    for i, stage in enumerate(g["stages"]):
        with at("stages", f"[{i}]"):
            _task.of_law(model, stage)
    ready = []
    for i, term in enumerate(g["terms"]):
        with at("terms", f"[{i}]"):
            ready.append(_task.term_tuple(model, term, g["knots"], g["substeps"] * model.options["dt"], chosen))
    return ready, chosen, (lower, upper, u, p, x0, U)
