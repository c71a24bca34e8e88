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
_FORCES = ("fx", "fy", "fz", "tx", "ty", "tz")
_AXES, _MOMENTS = ("x", "y", "z"), ("px", "py", "pz", "lx", "ly", "lz")


class Term(NamedTuple):
    """One term of a cost: weight * norm(residual - target), at some knots. docs/control.md has the tables.

    what: state, joint, joint-velocity, control, position, rotation, velocity, angular-velocity, com, com-velocity,
      momentum, contact-force, custom.
    on: the joint, body or site (a body comes first; "site:tip" is the site). less: of a body or site that is taken
      off; of contact-force the body that pushes, None = all.
    target: a number, a row (n), a row for each knot (knots, n), or {"time": (s), "values": rows}, linear between these
      times and held beyond them, with "period" (s) repeated; None = 0, of a state the start.
    weight: of the whole; weights (n) of components, or {name: weight} with 0 of the others. norm: quadratic, linear,
      smooth-abs, huber, log-cosh, above, below, and the constraints limit, least, equal; scale: of those that have one.
    at: "running" (all knots but the last state), "final", "all", (first, last), below 0 from the end, or
      {"time": (from, to)} in s.
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


def _knots_of(at, knots, knot):
    """(first, last) of a term; knot: how long one lasts, s."""
    named = {"running": (0, -2), "final": (-1, -1), "all": (0, -1)}
    if isinstance(at, str):
        if at not in named:
            raise _core.ArgumentError(f"at: `{at}` is none of {', '.join(named)}")
        return named[at]
    if isinstance(at, dict):
        begin, end = _only(at, "at", "time")["time"]
        first, last = max(math.ceil(begin / knot - 1e-9), 0), min(math.floor(end / knot + 1e-9), knots)
        if first > last:
            raise _core.ArgumentError(f"at: there is no knot from {begin:g} to {end:g} s: they are {knot:g} s apart")
        return first, last
    first, last = at
    whole(first=first, last=last)
    return first, last


def _only(given, what, *keys):
    """The dict, of these keys, the first of which it has."""
    strange = set(given) - set(keys)
    if strange or keys[0] not in given:
        raise _core.ArgumentError(f"{what}: keys are {', '.join(keys)}" +
                                  (f", not `{sorted(strange)[0]}`" if strange else f"; `{keys[0]}` is missing"))
    return given


def _over_time(series, knots, knot, turns):
    """Rows of a target at knots first to last; turns: where quaternions are in one, which go the short way."""
    _only(series, "target", "time", "values", "period")
    time, rows = np.atleast_1d(numbers("time", series["time"])), numbers("values", series.get("values"))
    rows = rows[:, None] if rows.ndim == 1 else rows
    if len(rows) != len(time) or np.any(np.diff(time) <= 0):
        raise _core.ArgumentError(f"target: {len(rows)} rows for {len(time)} times, which rise")
    at = np.arange(knots[0], knots[1] + 1) * knot
    if "period" in series:
        period = float(series["period"])
        if not time[-1] - time[0] < period:
            raise _core.ArgumentError("target: its times span no less than the period")
        at = np.where(at > time[0], time[0] + np.mod(at - time[0], period), time[0])
        time, rows = np.append(time, time[0] + period), np.concatenate([rows, rows[:1]])
    for q in turns:
        flips = np.sign(np.sum(rows[1:, q:q + 4] * rows[:-1, q:q + 4], axis=1))
        rows = rows.copy()
        rows[1:, q:q + 4] *= np.cumprod(np.where(flips < 0, -1, 1))[:, None]
    return np.stack([np.interp(at, time, column) for column in rows.T], axis=1)


def _weights_by_name(model, what, given, chosen):
    """Weights of components from {name: weight}."""
    if what == "control":
        chosen = _chosen(model, chosen)
        places = {name: [chosen.index(n) for n in _control_numbers(model, [name])] for name in given}
        size = len(chosen)
    elif what == "state":
        places, size = {}, model.ndx
        for name in given:
            part = name[:-2] if name.endswith(".v") else name
            place = model.v(part)
            shift = model.nv if name.endswith(".v") else 0
            places[name] = range(place.start + shift, place.stop + shift)
    else:
        names = _MOMENTS if what == "momentum" else _AXES
        for name in given:
            if name not in names:
                raise _core.ArgumentError(f"weights: there is no `{name}` of {what}; there are {', '.join(names)}")
        places, size = {name: [names.index(name)] for name in given}, len(names)
    weights = np.zeros(size)
    for name, weight in given.items():
        weights[list(places[name])] = weight
    return weights


def _term_tuple(model, term, knots, knot, chosen):
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
    first, last = _knots_of(t.at, knots, knot)
    whole(size=t.size)
    target, weights = t.target, t.weights
    if isinstance(target, dict):
        turns = [q for q, _ in model.quaternions] if t.what == "state" else [0] if t.what == "rotation" else []
        target = _over_time(target, (first % (knots + 1), last % (knots + 1)), knot, turns)
    if isinstance(weights, dict):
        weights = _weights_by_name(model, t.what, weights, chosen)
    target = None if target is None else np.atleast_2d(numbers("target", target))
    weights = None if weights is None else np.atleast_1d(numbers("weights", weights))
    return (t.what, t.name, joint, body, site, body2, site2, float(t.weight), weights, t.norm, float(t.scale), first,
            last, target, t.size, t.function)


def _control_numbers(model, controls):
    """Numbers of u of names: actuators, joints (their forces), free bodies (all six), one column of these ("rail.tau",
    "cube.fx"), or numbers as they are."""
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
            found.extend(_forces_of(model, c))
    return found


def _chosen(model, chosen):
    """The numbers of u that are looked for: without a choice all actuators, without any all forces."""
    return chosen or list(range(model.nv, model.nu) if model.nactuator else range(model.nv))


def _forces_of(model, name):
    """Numbers of u of a joint or a free body, or of one of their columns."""
    owner, _, column = name.rpartition(".")
    known = model.joints + model.bodies
    if name in known or owner not in known:
        if owner in model.actuators and column == "ctrl":
            return [model.control(owner)]
        place = model.v(name)
        return range(place.start, place.stop)
    place = model.v(owner)
    columns = {1: ("tau",), 3: _FORCES[3:], 6: _FORCES}[place.stop - place.start]
    if column not in columns:
        raise KeyError(f"there is no control `{name}`; `{owner}` has {', '.join(columns)}")
    return [place.start + columns.index(column)]


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
    chosen = _chosen(model, chosen)
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


def optimize(model, task=None, *, knots=None, terms=None, substeps=None, controls=None, bounds=None, hold=None, start=None,
             U=None, X=None, p=None, method=None, stages=None, tol=None, tol_constraint=None, workers=1, iterations=None,
             callback=None):
    """Find a motion, and feedback along it, of least cost: returns a Plan.

    knots: controls, each held for `substeps` steps (1). terms: a list of Term, or of dicts of the same.
    controls: which numbers of u are looked for: names of actuators, joints, free bodies, columns, or numbers; None = all
      actuators, without any all forces. bounds: {name: (lower, upper)} or {name: to either side}; hold (nu): the rest.
    start: a state (nx), a keyframe's name, or {"q": {joint: ...}, "v": ...}. U (knots, ncontrol): first guess.
    X (knots+1, nx): states to begin with, which the dynamics need not agree with (method "ddp", "ilqr").
    method: "ddp" (default), "ilqr", "first", "lbfgs". stages: dicts of law options on the way to the model's own, as
      [{"law": "stochastic", "noise": 0.1}]. iterations: 1000; 0 makes the Plan and leaves the passes to you.
    task: a path to a JSON file, or its dict, as docs/control.md has it; what is given here is over it."""
    given = dict(knots=knots, terms=terms, substeps=substeps, controls=controls, bounds=bounds, start=start, method=method,
                 stages=stages, hold=hold, U=U, p=p, iterations=iterations, tol=tol, tol_constraint=tol_constraint)
    if task is not None:
        model, given = _from_task(model, task, given)
    given = {k: _DEFAULTS.get(k) if v is None else v for k, v in given.items()}
    if given["knots"] is None or not given["terms"]:
        raise _core.ArgumentError("optimize: give knots=... and terms=[tribo.Term(...)]")
    if given["method"] not in _METHODS:
        raise _core.ArgumentError(f"method: `{given['method']}` is none of {', '.join(_METHODS)}")
    iterations = given["iterations"]
    whole(knots=given["knots"], substeps=given["substeps"], workers=workers, iterations=iterations)
    chosen = _control_numbers(model, given["controls"])
    lower, upper = _bounds_of(model, chosen, given["bounds"])
    knot = given["substeps"] * model.options["dt"]
    ready = [_term_tuple(model, t, given["knots"], knot, chosen) for t in given["terms"]]
    core = _core.plan(model, given["knots"], given["substeps"], ready, chosen, lower, upper, given["hold"], given["p"],
                      _start_of(model, given["start"]), given["U"], X, _METHODS.index(given["method"]),
                      list(given["stages"]), given["tol"], given["tol_constraint"], workers)
    plan = Plan(model, core, ready)
    return plan.solve(iterations, callback) if iterations else plan


_DEFAULTS = {"substeps": 1, "method": "ddp", "stages": (), "tol": 0.0, "tol_constraint": 0.0, "iterations": 1000}
_SPELT = {"tol": "tolerance", "tol_constraint": "constraint-tolerance"}
_KEYS = {"knots", "substeps", "dt", "start", "controls", "bounds", "terms", "method", "law", "stages", "guess",
         "iterations", "tolerance", "constraint-tolerance", "hold", "parameters"}


def _held(model, start, named):
    """u of the controls that are not looked for: those of the start's key, and what the task says by name."""
    key = start if isinstance(start, str) else start.get("key") if isinstance(start, dict) else None
    key = key or (model.keys or [None])[0]
    u = np.zeros(model.nu) if key is None else np.array(model.key(key)[1])
    for name, value in named.items():
        u[_control_numbers(model, [name])] = value
    return u


def _guessed(model, guess, held, controls, knots):
    """A first guess (knots, ncontrol); None = zero."""
    if isinstance(guess, str) and guess == "zero":
        return None
    if isinstance(guess, str) and guess == "key":
        return np.tile(held[_chosen(model, controls)], (knots, 1))
    if isinstance(guess, str):
        raise _core.ArgumentError(f"guess: `{guess}` is neither zero nor key; files of controls are read by the command")
    rows = numbers("guess", guess)
    return np.tile(rows, (knots, 1)) if rows.ndim == 1 else rows


def _from_task(model, task, given):
    """The keys of a task of docs/control.md; what was given beside it is over that."""
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
    own = {k: task.get(_SPELT.get(k, k)) if v is None else v for k, v in given.items()}
    if given["hold"] is None:
        own["hold"] = _held(model, own["start"], task.get("hold", {}))
    if own["U"] is None:
        own["U"] = _guessed(model, task.get("guess", "zero"), own["hold"], _control_numbers(model, own["controls"]),
                            own["knots"])
    if own["p"] is None and "parameters" in task:
        own["p"] = model.params.copy()
        for name, value in task["parameters"].items():
            own["p"][name] = value
    return model, own
