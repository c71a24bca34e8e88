"""Identification: parameters from recorded motion."""
import math
import os
from typing import NamedTuple

import numpy as np

from . import _core
from ._arguments import UnknownName, whole
from ._model import _named
from ._recording import Recording, check_recording, load_recording

_LOSS = ("one-step", "window", "rollout", "shooting")
_START = ("measured", "flight", "along", "auto")
_ROBUST = ("none", "huber", "cauchy")
_OPTIMIZER = ("lm", "lbfgs", "adam")
_BLOCKS = ("position", "rotation", "velocity", "angular")
_STAGE = ("search", "descent", "done")


class Estimate(NamedTuple):
    """What is known of one parameter, in its unit; the interval covers 95 %."""

    name: str
    start: float
    value: float
    std_error: float
    low95: float
    high95: float
    identifiable: bool
    """False: the recordings leave it undetermined"""
    at_bound: bool


class Errors(NamedTuple):
    """How well a recording is predicted."""

    rows: int
    position_mean: float
    rotation_mean_deg: float
    position_relative: float
    step_position_rms: float
    step_rotation_rms_deg: float
    step_velocity_rms: float
    step_angular_rms: float
    force_mean: float
    """N; NaN where no force was measured"""


class Progress(NamedTuple):
    """Where a fit stands, after each of its iterations."""

    stage: str
    iteration: int
    evaluations: int
    loss: float
    loss_start: float
    gradient_norm: float
    converged: bool
    settled: bool
    starts: int
    agreed: int
    others: int
    """Other answers that explain recordings of joints as well; the intervals hold them"""


def _one_of(what, name, names):
    if name not in names:
        raise _core.ArgumentError(f"{what}: `{name}` is none of {', '.join(names)}")
    return names.index(name)


def _blocks(what, given, default):
    unknown = set(given or {}) - set(_BLOCKS)
    if unknown:
        raise _core.ArgumentError(f"{what}: `{sorted(unknown)[0]}` is none of {', '.join(_BLOCKS)}")
    return tuple(float((given or {}).get(b, default)) for b in _BLOCKS)


def _free_list(model, free):
    """(index, start, lower, upper) of {name: None | start | (start, lower, upper)} or of names; groups are spread."""
    found = []
    for name, how in (free.items() if hasattr(free, "items") else ((n, None) for n in free)):
        start, lower, upper = how if isinstance(how, (tuple, list)) else (how, None, None)
        index = model._names.find(name)
        for i in [k for k in index if model._names.entries[k].used] if isinstance(index, list) else [index]:
            found.append((i,) + tuple(math.nan if v is None else float(v) for v in (start, lower, upper)))
    return found


def _prepare(model, recordings, check):
    """Recordings as tuples of their five arrays, looked at; and what was found of each."""
    ready, findings = [], []
    single = isinstance(recordings, (str, os.PathLike, Recording))
    for i, r in enumerate([recordings] if single else recordings):
        r = load_recording(r, model) if isinstance(r, (str, os.PathLike)) else Recording(*r)
        if check:
            r, found, refused = check_recording(model, r)
            findings.append(found)
            if refused:
                raise _core.ArgumentError(f"recording {i}: {refused} (check=False fits it all the same)")
        ready.append(tuple(r))
    return ready, findings


class Identification:
    """A fit: what identify() returns. params (np): the best estimate; estimates: a list of Estimate; undetermined: what
    the recordings leave open, each direction as {name: share}; progress; findings of each recording."""

    def __init__(self, model, core, free, findings):
        self.model, self._core, self.findings = model, core, findings
        self._free = [model._names.entries[f[0]].name for f in free]
        self.progress = None

    def __repr__(self):
        lines = [f"{e.name} {e.value:.6g} +- {e.std_error:.2g}" + ("" if e.identifiable else " (undetermined)")
                 for e in self.estimates]
        return "<tribo.Identification " + "; ".join(lines) + ">"

    def iterate(self):
        """One iteration; returns Progress."""
        status, stage, *rest = self._core.iterate()
        self.progress = Progress(_STAGE[stage], *rest)
        self.__dict__.pop("_seen", None)
        return self.progress

    @property
    def params(self):
        """(np) all parameters at the best estimate, by name."""
        return _named(self._core.params(), self.model._names)

    def _observe(self):
        if "_seen" not in self.__dict__:
            self._seen = self._core.observe() if self._free else ([], None, [], None, 0)
        return self._seen

    @property
    def estimates(self):
        """What is known of each free parameter: a list of Estimate."""
        return [Estimate(self.model._names.entries[i].name, *rest) for i, *rest in self._observe()[0]]

    def __getitem__(self, name):
        """The Estimate of a free parameter."""
        for e in self.estimates:
            if e.name == name:
                return e
        raise UnknownName(f"`{name}` is none of the free parameters {', '.join(self._free)}")

    @property
    def information(self):
        """Fisher information (nfree, nfree) in the fit's own dimensionless numbers."""
        return self._observe()[1]

    @property
    def undetermined(self):
        """Directions that the recordings leave open: a list of {name: share}."""
        _, _, directions, _, n = self._observe()
        return [dict(zip(self._free, row)) for row in directions[:n]]

    def loss(self):
        """(loss, gradient) at the best estimate."""
        return self._core.eval(None)

    def errors(self, recording, p=None):
        """Errors of a recording, predicted with p (np) or the best estimate."""
        return Errors(*self._core.errors(recording, p))

    def predict(self, recording, p=None):
        """Simulated states (n, nx) at the rows of a recording."""
        return self._core.predict(recording, p)

    def smooth(self, recording):
        """The motion (n, nx) that loss="shooting" has for a recording."""
        return self._core.smooth(recording)

    def held_out(self, recording):
        """Whether a recording was left out of the fit, for validation."""
        return self._core.held_out(recording)

    def flight(self, recording):
        """Rows of a recording before its first contact."""
        return self._core.flight(recording)


def identify(model, recordings, free, *, loss=None, window=None, start="measured", robust="huber", threshold=None,
             weight=None, optimizer="lm", search=0, rate=0.0, validation=0.0, seed=1, workers=1, max_iterations=200,
             check=True, callback=None):
    """Identify parameters from recorded motion; returns an Identification.

    recordings: paths of CSV files, Recordings or (time (n), X (n,nx), U (n,nu) or None), or one of these. Markers and
      forces of a Recording are fitted by loss="shooting".
    free: names or groups to identify, or {name: start} or {name: (start, lower, upper)}; None = the model's, and its
      physical bounds.
    loss: "shooting" (with window=rows from node to node; None: 3, and intervals with what 6 would say), which estimates starts and noise and is what is taken where
      none is named, "rollout", "window" (with window=rows, 10), "one-step"; other optimizers than "lm" have rollouts only.
    start: where rollouts start: "measured", "flight", "along", "auto".
    robust: "huber", "none", "cauchy", with threshold={"position": ...}; weight={"velocity": -1} leaves a kind of
      measurement out: kinds are position, rotation, velocity, angular.
    optimizer: "lm", "lbfgs", "adam" (rate=); search: evaluations of a search without derivatives where it is stuck.
    validation: share of recordings left out, chosen by seed. workers: threads; no number of them changes a bit.
    check: examine recordings first (units, orders, clocks): mend what can be mended, refuse what cannot.
    callback(progress) is called after every iteration; returning True stops. docs/identify.md."""
    if loss is None:
        loss = "shooting" if optimizer == "lm" else "rollout"
    if window is None:
        window = 0 if loss == "shooting" else 10
    whole(window=window, search=search, seed=seed, workers=workers, max_iterations=max_iterations)
    for name, value, most in (("seed", seed, 2**64 - 1), ("max_iterations", max_iterations, 2**31 - 1)):
        if not 0 <= value <= most:
            raise ValueError(f"{name}: {value} is not in [0, {most}]")
    ready, findings = _prepare(model, recordings, check)
    chosen = _free_list(model, free)
    core = _core.fit(model, ready, chosen, _one_of("loss", loss, _LOSS), window, _one_of("start", start, _START),
                     _one_of("robust", robust, _ROBUST), _blocks("threshold", threshold, 0),
                     _blocks("weight", weight, 0), _one_of("optimizer", optimizer, _OPTIMIZER), search, rate, validation,
                     seed, workers)
    fit = Identification(model, core, chosen, findings)
    for _ in range(max_iterations):
        progress = fit.iterate()
        if progress.stage == "done" or (callback and callback(progress)):
            break
    else:
        import warnings
        warnings.warn(f"identify: not at its end after {max_iterations} iterations", _core.NotConverged, stacklevel=2)
    return fit
