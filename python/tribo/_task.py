"""What a search for a motion is told: terms, states, controls, their bounds; and tasks of files (docs/control.md)."""
import json
import math
import os
from typing import Any, NamedTuple, Optional

import numpy as np

from . import _core
from ._arguments import ArgumentTypeError, UnknownName, integer, lead, no_such, number, numbers, within

METHODS = ("ddp", "ilqr", "newton", "first", "lbfgs")
_OF_JOINTS = ("joint", "joint-velocity")
_OF_PLACES = ("position", "rotation", "velocity", "angular-velocity")
_NORMS = ("quadratic", "linear", "smooth-abs", "huber", "log-cosh", "above", "below", "limit", "least", "equal")
_FORCES = ("fx", "fy", "fz", "tx", "ty", "tz")
_AXES, _MOMENTS = ("x", "y", "z"), ("px", "py", "pz", "lx", "ly", "lz")


class Term(NamedTuple):
    """One term of a cost: weight * norm(residual - target), at some knots. docs/control.md has the tables.

    what: state, joint, joint-velocity, control, position, rotation, velocity, angular-velocity, com, com-velocity,
      momentum, contact-force, custom.
    on: the joint, body or site (a body comes first; "site:tip" is the site). less: of a body or site that is taken
      off; of contact-force the body that pushes, None = all, which dicts and files call "with".
    target: a number, a row (n), a row for each knot (knots, n), of a state also what `start` may be, or {"time": (s),
      "values": rows}, linear between these times and held beyond them, with "period" (s) repeated; None = 0, of a state the start.
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


# ---- names ----


def _body(model, name):
    return model._id("body", model.bodies, name[5:] if str(name).startswith("body:") else name)


def _place(model, text):
    """(body, site) of "tip", "body:tip", "site:tip"."""
    kind, _, name = str(text).rpartition(":")
    if kind != "site" and name in model.bodies:
        return model.bodies.index(name), -1
    if kind != "body" and name in model.sites:
        return -1, model.sites.index(name)
    raise no_such("body or site", text, model.bodies + model.sites)


def _object(given, keys, first=None):
    """The dict, of these keys, `first` among them."""
    if not isinstance(given, dict):
        raise ArgumentTypeError(f"expected a dict of {', '.join(keys)}, found {given!r:.60}")
    for key in given:
        if key not in keys:
            raise UnknownName(f"{no_such('key', key, keys)}; keys are {', '.join(keys)}")
    if first and first not in given:
        raise _core.ArgumentError(f"`{first}` is missing; keys are {', '.join(keys)}")
    return given


def listed(given, of="dicts"):
    """The list that it is."""
    if not isinstance(given, (list, tuple)):
        raise ArgumentTypeError(f"expected a list of {of}, found {given!r:.60}")
    return given


def control_numbers(model, controls):
    """Numbers of u of names: actuators, joints (their forces), free bodies (all six), one column of these ("rail.tau",
    "cube.fx"), or numbers as they are."""
    if controls is None:
        return None
    found = []
    for c in listed(controls.tolist() if isinstance(controls, np.ndarray) else controls, "names"):
        if not isinstance(c, str):
            found.append(integer("", c, 0, model.nu - 1))
        elif c in model.actuators:
            found.append(model.control(c))
        else:
            found.extend(_forces_of(model, c))
    return found


def chosen_controls(model, chosen):
    """The numbers of u that are looked for: without a choice all actuators, without any all forces."""
    if chosen is None:
        return list(range(model.nv, model.nu) if model.nactuator else range(model.nv))
    return chosen


def _forces_of(model, name):
    """Numbers of u of a joint or a free body, or of one of their columns."""
    owner, _, column = name.rpartition(".")
    known = model.joints + model.bodies
    if name in known or owner not in known:
        if owner in model.actuators and column == "ctrl":
            return [model.control(owner)]
        if name not in known:
            raise no_such("actuator, joint or free body", name, model.actuators + known)
        place = model.v(name)
        return range(place.start, place.stop)
    place = model.v(owner)
    columns = {1: ("tau",), 3: _FORCES[3:], 6: _FORCES}[place.stop - place.start]
    if column not in columns:
        raise UnknownName(f"there is no control `{name}`; `{owner}` has {', '.join(columns)}")
    return [place.start + columns.index(column)]


# ---- states and targets ----


def _row(what, value, count):
    """So many numbers; one of them also as it is."""
    row = numbers(what, value)
    row = row[None] if row.ndim == 0 and count == 1 else row
    if row.shape != (count,):
        raise _core.ArgumentError(f"{lead(what)}has {row.size} numbers, not {count}")
    return row


def _settled(what, rows, turns):
    """The rows, with quaternions of length 1, which they nearly have."""
    for q in turns:
        size = np.linalg.norm(rows[..., q:q + 4], axis=-1, keepdims=True)
        if not np.all(np.abs(size - 1) <= 0.01):
            wrong = size[~(np.abs(size - 1) <= 0.01)][0]
            raise _core.ArgumentError(f"{lead(what)}a quaternion (w, x, y, z) has length 1, not {wrong:.6g}")
        rows[..., q:q + 4] /= size
    return rows


def _turns(model, what, on=None):
    """Where quaternions are in a row of a target."""
    if what == "joint":
        place = model.q(on)
        return [0] if place.stop - place.start == 4 else []
    return [q for q, _ in model.quaternions] if what == "state" else [0] if what == "rotation" else []


def state(model, start):
    """A state of a keyframe's name, an array, or {"key":, "q": {...}, "v": {...}}."""
    if start is None or isinstance(start, np.ndarray):
        return start
    if isinstance(start, str):
        return np.array(model.key(start)[0])
    _object(start, ("key", "q", "v"))
    x = np.array(model.key(start["key"])[0] if "key" in start else _placed(model)[0])
    for part, place, shift, count in (("q", model.q, 0, model.nq), ("v", model.v, model.nq, model.nv)):
        given = start.get(part, {})
        for name, value in given.items() if isinstance(given, dict) else ():
            where = place(name)
            x[where.start + shift:where.stop + shift] = _row(f"{part}: {name}", value, where.stop - where.start)
        if not isinstance(given, dict):
            x[shift:shift + count] = _row(part, given, count)
    return _settled("q", x, _turns(model, "state") if "q" in start else ())


def _placed(model):
    """(x, u) where nothing else is said: the first key, else the scene as it is placed."""
    return model.key(model.keys[0]) if model.keys else (model.x0, np.zeros(model.nu))


def _rows(model, what, values):
    """Numbers; of states also what `start` may be."""
    if what == "state" and isinstance(values, (str, dict)):
        return state(model, values)
    if what == "state" and isinstance(values, (list, tuple)):
        values = [state(model, v) if isinstance(v, (str, dict)) else v for v in values]
    return numbers("", values)


def _over_time(model, what, series, knots, knot, turns):
    """Rows of a target at knots first to last; turns: where quaternions are in one, which go the short way."""
    for key in ("time", "values"):
        _object(series, ("time", "values", "period"), key)
    time, rows = np.atleast_1d(numbers("time", series["time"])), np.atleast_1d(_rows(model, what, series["values"]))
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or time.ndim != 1 or len(rows) != len(time) or not len(time) or not np.all(np.diff(time) > 0):
        raise _core.ArgumentError(f"{len(rows)} rows for {time.size} times, which rise")
    at = np.arange(knots[0], knots[1] + 1) * knot
    if "period" in series:
        period = number("period", series["period"])
        if not time[-1] - time[0] < period:
            raise _core.ArgumentError("its times span no less than the period")
        at = np.where(at > time[0], time[0] + np.mod(at - time[0], period), time[0])
        time, rows = np.append(time, time[0] + period), np.concatenate([rows, rows[:1]])
    if any(q + 4 > rows.shape[1] for q in turns):
        raise _core.ArgumentError(f"rows of {rows.shape[1]} numbers hold no quaternion")
    _settled("", rows, turns)
    for q in turns:
        flips = np.sign(np.sum(rows[1:, q:q + 4] * rows[:-1, q:q + 4], axis=1))
        rows = rows.copy()
        rows[1:, q:q + 4] *= np.cumprod(np.where(flips < 0, -1, 1))[:, None]
    return np.stack([np.interp(at, time, column) for column in rows.T], axis=1)


def target_rows(what, target, width, turns):
    """Rows (.., width) of a target that is no series; where a row is one number, a list is a row each."""
    rows = numbers(what, target)
    rows = rows[:, None] if rows.ndim == 1 and width == 1 else np.atleast_2d(rows)
    return _settled(what, rows, turns if rows.ndim == 2 and rows.shape[1] == width else ())


def turns(model, ready):
    """Where quaternions are in a row of the target of a term that is ready."""
    return _turns(model, ready[0], model.joints[ready[2]] if ready[0] == "joint" else None)


def _width(model, t, chosen):
    """How many numbers a row of a term's target has; 0 = it is the caller's."""
    if t.what in _OF_JOINTS:
        place = (model.q if t.what == "joint" else model.v)(t.on)
        return place.stop - place.start
    sizes = {"state": model.nx, "control": len(chosen_controls(model, chosen)), "rotation": 4, "momentum": 6, "custom": 0}
    return sizes.get(t.what, 3)


# ---- terms ----


def _knots_of(at, knots, knot):
    """(first, last) of a term; knot: how long one lasts, s."""
    named = {"running": (0, -2), "final": (-1, -1), "all": (0, -1)}
    if isinstance(at, str):
        if at not in named:
            raise _core.ArgumentError(f"`{at}` is none of {', '.join(named)}")
        return named[at]
    if isinstance(at, dict):
        begin, end = _row("", _object(at, ("time",), "time")["time"], 2)
        first, last = max(math.ceil(begin / knot - 1e-9), 0), min(math.floor(end / knot + 1e-9), knots)
        if first > last:
            raise _core.ArgumentError(f"there is no knot from {begin:g} to {end:g} s: they are {knot:g} s apart")
        return first, last
    if not isinstance(at, (list, tuple)) or len(at) != 2:
        raise ArgumentTypeError(f"{at!r:.60} is none of {', '.join(named)}, [first, last] knot, {{\"time\": [s, s]}}")
    return tuple(integer("", k, -knots - 1, knots) for k in at)


def _component_places(model, what, names, chosen):
    """({name: places of components}, how many there are)."""
    if what == "control":
        chosen = chosen_controls(model, chosen)
        places = {name: [_control_place(model, chosen, n, name) for n in control_numbers(model, [name])] for name in names}
        return places, len(chosen)
    if what == "state":
        places = {}
        for name in names:
            place = model.v(name[:-2] if name.endswith(".v") else name)
            shift = model.nv if name.endswith(".v") else 0
            places[name] = range(place.start + shift, place.stop + shift)
        return places, model.ndx
    known = _MOMENTS if what == "momentum" else _AXES
    for name in names:
        if name not in known:
            raise UnknownName(f"there is no `{name}` of {what}; there are {', '.join(known)}")
    return {name: [known.index(name)] for name in names}, len(known)


def _control_place(model, chosen, index, name):
    if index not in chosen:
        raise _core.ArgumentError(f"{name} is not one of the controls that are looked for")
    return chosen.index(index)


def _weights(model, what, given, chosen):
    """Weights of components, also of {name: weight}."""
    if given is None:
        return None
    if not isinstance(given, dict):
        return np.atleast_1d(numbers("", given))
    places, size = _component_places(model, what, given, chosen)
    weights = np.zeros(size)
    for name, weight in given.items():
        weights[list(places[name])] = number(name, weight)
    return weights


def _as_term(term):
    """A Term of a dict, whose `with` is whom a contact force is of."""
    if isinstance(term, Term):
        return term
    term = dict(_object(term, Term._fields + ("with",), "what"))
    if "with" in term:
        if term["what"] != "contact-force" or "less" in term:
            raise _core.ArgumentError("with: only a contact-force is that with another body, and one of them")
        term["less"] = term.pop("with")
    return Term(**term)


def _subject(model, t):
    """(joint, body, site, body2, site2) of a term."""
    joint, body, site, body2, site2 = 0, -1, -1, -1, -1
    of = "joint" if t.what in _OF_JOINTS else "body or site" if t.what in _OF_PLACES else "body"
    if t.what not in _OF_JOINTS + _OF_PLACES + ("contact-force",):
        if t.on is not None:
            raise _core.ArgumentError(f"on: a term of {t.what} is of the whole")
    elif t.on is None:
        raise _core.ArgumentError(f"on: it is missing: the {of} that {t.what} is of")
    if t.less is not None and t.what not in ("position", "velocity", "angular-velocity", "contact-force"):
        raise _core.ArgumentError("less: only position, velocity and angular-velocity can be less those of another")
    with within("on"):
        if t.what in _OF_JOINTS:
            joint = model._id("joint", model.joints, t.on)
        elif t.what in _OF_PLACES:
            body, site = _place(model, t.on)
        elif t.what == "contact-force":
            body = _body(model, t.on)
    with within("less"):
        if t.less is not None and t.what in _OF_PLACES:
            body2, site2 = _place(model, t.less)
        elif t.less is not None:
            body2 = _body(model, t.less)
    return joint, body, site, body2, site2


def _target(model, t, knots, knot, chosen):
    """Rows of a term's target at knots first to last; None = none."""
    turns, target = _turns(model, t.what, t.on), t.target
    if target is None:
        return None
    if isinstance(target, dict) and (t.what != "state" or "time" in target):
        target = _over_time(model, t.what, target, knots, knot, turns)
    else:
        target = _rows(model, t.what, target)
    return target_rows("", target, _width(model, t, chosen), turns)


def term_tuple(model, term, knots, knot, chosen):
    """What the core takes of a term, and where quaternions are in a row of its target."""
    t = _as_term(term)
    if t.what in _OF_JOINTS and isinstance(t.on, str) and t.on.startswith("joint:"):
        t = t._replace(on=t.on[6:])
    if not isinstance(t.what, str) or not isinstance(t.name, (str, type(None))):
        raise ArgumentTypeError(f"what, name: expected text, found {t.what!r}, {t.name!r}")
    if t.norm not in _NORMS:
        raise no_such("norm", t.norm, _NORMS)
    if t.what == "custom" and not callable(t.function):
        raise ArgumentTypeError(f"function: expected a function, found {t.function!r:.60}")
    subject = _subject(model, t)
    with within("at"):
        first, last = _knots_of(t.at, knots, knot)
    with within("target"):
        target = _target(model, t, (first % (knots + 1), last % (knots + 1)), knot, chosen)
    with within("weights"):
        weights = _weights(model, t.what, t.weights, chosen)
    return (t.what, t.name, *subject, number("weight", t.weight), weights, t.norm, number("scale", t.scale), first, last, target,
            integer("size", t.size, -1, 2**31 - 1), t.function)


# ---- controls ----


def bounds(model, chosen, given):
    """lower and upper of {name: (lower, upper) or to either side}, or of a pair of arrays."""
    if given is None:
        return None, None
    if not isinstance(given, dict):
        pair = listed(given, "lower and upper")
        if len(pair) != 2:
            raise _core.ArgumentError(f"{len(pair)} arrays, not lower and upper")
        return tuple(None if b is None else numbers("", b) for b in pair)
    chosen = chosen_controls(model, chosen)
    lower, upper = np.full(len(chosen), -math.inf), np.full(len(chosen), math.inf)
    for i, n in enumerate(chosen):
        if n >= model.nv:
            entry = model.params[model.actuators[n - model.nv] + "/ctrlrange"]
            if np.size(entry) == 2 and entry[0] < entry[1]:
                lower[i], upper[i] = entry
    for name, how in given.items():
        a, b = _bound(name, how)
        for n in control_numbers(model, [name]):
            i = _control_place(model, chosen, n, name)
            lower[i], upper[i] = a, b
    return lower, upper


def _bound(name, how):
    """(lower, upper) of a pair, in which None is none, or of a number to either side."""
    if isinstance(how, (tuple, list)) and len(how) == 2:
        a, b = (side if x is None else number(name, x) for x, side in zip(how, (-math.inf, math.inf)))
    elif isinstance(how, (tuple, list)):
        raise _core.ArgumentError(f"{name}: {len(how)} numbers, not lower and upper")
    else:
        b = number(name, how)
        a = -b
    if not a <= b:
        raise _core.ArgumentError(f"{name}: from {a:g} to {b:g} there is nothing")
    return a, b


def held(model, start, given, chosen):
    """u of the controls that are not looked for: those of the start's key, and what is said by name."""
    if given is not None and not isinstance(given, dict):
        return given
    key = start if isinstance(start, str) else start.get("key") if isinstance(start, dict) else None
    u = np.array((_placed(model) if key is None else model.key(key))[1])
    for name, value in (given or {}).items():
        for n in control_numbers(model, [name]):
            if n in chosen_controls(model, chosen):
                raise _core.ArgumentError(f"{name} is one of the controls that are looked for, and not held")
            u[n] = number(name, value)
    return u


def of_law(model, words):
    """The model under another contact law."""
    if not isinstance(words, dict):
        raise ArgumentTypeError(f"expected a dict as {{\"law\": \"stochastic\", \"noise\": 0.1}}, found {words!r:.60}")
    for word in words:
        if word in model.options and word not in ("law", "solver"):
            raise UnknownName(f"`{word}` is no word of a contact law")
    return model.with_options(**words)


# ---- tasks ----

_KEYS = ("knots", "substeps", "dt", "start", "controls", "bounds", "terms", "method", "law", "stages", "guess", "iterations",
         "tolerance", "constraint-tolerance", "hold", "parameters")


def _no_twice(pairs):
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"`{next(n for n in names if names.count(n) > 1)}` is there twice")
    return made


def _no_constant(text):
    raise ValueError(f"{text} is no number")


def _known(task, name):
    with within(name):
        return _object(task, _KEYS)


def read(task):
    """(the task's dict, how messages call it)."""
    if isinstance(task, dict):
        return _known(task, "task"), "task"
    if not isinstance(task, (str, bytes, os.PathLike)):
        raise ArgumentTypeError(f"task: expected a path or a dict, found {task!r:.60}")
    path = os.fsdecode(task)
    try:
        with open(path, encoding="utf-8") as file:
            task = json.load(file, object_pairs_hook=_no_twice, parse_constant=_no_constant)
    except OSError as error:
        raise _core.FileError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 0)
        refused = _core.ParseError(f"{path}:{line}: {error.msg}" if line else f"{path}: {error}")
        refused.line = line
        raise refused from None
    return _known(task, path), path


def stepped(model, task, name):
    """The model with the law and the step of a task."""
    with within(f"{name}: law"):
        model = of_law(model, task["law"]) if "law" in task else model
    with within(f"{name}: dt"):
        return model.with_options(dt=number("", task["dt"])) if "dt" in task else model


def parameters(model, given):
    """p of the numbers that are another's than the scene's."""
    p = model.params.copy()
    for name, value in _object(given, given).items():
        place = model._names.find(name)
        if isinstance(place, list):
            few = ", ".join(model._names.entries[i].name for i in place[:6])
            raise UnknownName(f"`{name}` is a group: {few}{', ...' if len(place) > 6 else ''}")
        p[name] = number(name, value)
    return p


def guessed(model, guess, u, chosen, knots):
    """A first guess (knots, ncontrol); None = zero."""
    if isinstance(guess, str) and guess == "zero":
        return None
    chosen = chosen_controls(model, chosen)
    if isinstance(guess, str) and guess == "key":
        return np.tile(u[chosen], (knots, 1))
    if isinstance(guess, str):
        raise _core.ArgumentError(f"`{guess}` is neither zero nor key; files of controls are read by the command")
    rows = numbers("", guess)
    if rows.ndim == 1:
        rows = rows[:, None] if len(chosen) == 1 and len(rows) > 1 else np.tile(rows, (knots, 1))
    if rows.shape != (knots, len(chosen)):
        raise _core.ArgumentError(f"has shape {rows.shape}, not {(knots, len(chosen))}")
    return rows
