"""Recordings as CSV, and what they say of their own conventions."""
import os
from typing import NamedTuple, Optional

import numpy as np

from . import _core


class Recording(NamedTuple):
    """Recorded motion. NaN = not measured."""

    time: np.ndarray
    """(n) s, rising, any spacing"""
    X: np.ndarray
    """(n, nx) states"""
    U: Optional[np.ndarray] = None
    """(n, nu) controls, held from a row to the next; None = none"""
    markers: Optional[np.ndarray] = None
    """(n, nsite, 3) m, world: where sites were seen, in the order of model.sites; None = none"""
    forces: Optional[np.ndarray] = None
    """(n, ngeom + nbody, 3) N, world: what contacts push each geom with, then each body, the mean since the row before;
    None = none"""


class Finding(NamedTuple):
    """Something that a recording says of its units, orders, frames and clocks."""

    about: str
    outcome: str
    """noted, mended, refused, doubted"""
    body: int
    row: int
    number: float
    text: str


def load_recording(path, model, controls=None):
    """A Recording from a CSV file (docs/command.md, Recordings), with the controls of another one; without, those of the
    model's first key hold."""
    time, X, markers, forces = _core.trajectory_load(model, os.fspath(path))
    U = _held(model, len(time)) if controls is None else _at(load_controls(controls, model), time)
    return Recording(time, X, U, markers, forces)


def load_controls(path, model):
    """(time, U) of a CSV file of controls: (n) s and (n, nu)."""
    return _core.controls_load(model, os.fspath(path))


def _held(model, rows):
    """The controls of the model's first key in every row; None where they are 0."""
    u = model.key(model.keys[0])[1] if model.keys else np.zeros(model.nu)
    return np.tile(u, (rows, 1)) if np.any(u) else None


def _at(controls, time):
    """Controls in force at other times: the last row not after each."""
    rows = np.searchsorted(controls[0], time + 1e-9, side="right") - 1
    U = np.zeros((len(time), controls[1].shape[1]))
    U[rows >= 0] = controls[1][rows[rows >= 0]]
    return U


def save_recording(path, model, time, X):
    """Write states X (n, nx) at times (n) s as CSV; NaN becomes an empty cell."""
    _core.trajectory_save(model, os.fspath(path), time, X)


def check_recording(model, recording, p=None):
    """(Recording, findings, refused): the recording in the conventions of a state, what was found on the way, and None
    or why it must not be fitted. Markers are as they were: identify() looks at their distances."""
    *mended, findings, refused = _core.recording_check(model, tuple(Recording(*recording)), p)
    return Recording(*mended), [Finding(*f) for f in findings], refused
