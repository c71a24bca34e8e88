"""Rollouts of one world or of many, and their reverse."""
import os
from typing import NamedTuple, Optional

import numpy as np

from . import _core
from ._arguments import numbers, whole
from ._model import Examined, _named


class Gradients(NamedTuple):
    """dL/dx0, dL/dU, dL/dp; None for what was not asked for. Of what all worlds of a batch share, the sum."""

    x0: Optional[np.ndarray]
    """(ndx), tangent, or (worlds, ndx)"""
    U: Optional[np.ndarray]
    """(steps, nu), or (worlds, steps, nu)"""
    p: Optional[np.ndarray]
    """(np) with names as model.params, or (worlds, np)"""


class Rollout:
    """What rollout() returns: states, and what their reverse needs. It keeps copies: changing an array that was handed
    in afterwards changes no gradient.

    X (steps+1, nx), or (worlds, steps+1, nx): states, the start first; read-only. worlds, steps, model.
    """

    def __init__(self, core):
        self._core = core
        self.X = core.X
        facts = core.facts
        self.worlds, self.steps, self.batched = facts["worlds"], facts["steps"], facts["batch"]

    def __repr__(self):
        return f"<tribo.Rollout of {self.worlds} x {self.steps} steps>"

    @property
    def model(self):
        """The model it was made with."""
        return self._core.model

    def backward(self, lx, x0=True, U=True, p=True, impulses=None):
        """The reverse: Gradients of L = sum_k l_k(x_k) from lx = dl_k/dx_k.

        lx (steps+1, ndx), or (worlds, steps+1, ndx) of a batch, where the former is one for all worlds: tangents, see
          Model.to_tangent().
        x0, U, p: whether each is wanted.
        impulses: of a loss in which contact impulses are, too: an array (contacts, 3) for each step, dL by the impulse
          on geom b in world axes, N s, in the order of contacts(step), or None for 0; of one world.

        May be called again with another lx, and by several threads at once. A gradient that is one element of a set is
        a Degenerate warning (docs/gradients.md)."""
        a, b, c, _ = self._core.backward(lx, x0, U, p, None if impulses is None else self._flat(impulses))
        return Gradients(a, b, None if c is None else _named(c, self.model._names))

    def _flat(self, impulses):
        """Cotangents of impulses, step by step, in one array."""
        counts = self._core.contact_counts()
        rows = list(impulses)
        if counts and len(rows) != len(counts):
            raise _core.ArgumentError(f"impulses: {len(rows)} arrays for {len(counts)} steps")
        for k, n in enumerate(counts):
            rows[k] = np.zeros((n, 3)) if rows[k] is None else numbers(f"impulses of step {k}", rows[k])
            if rows[k].shape != (n, 3):
                raise _core.ArgumentError(f"impulses of step {k}: expected shape ({n}, 3), found {rows[k].shape}")
        return np.concatenate(rows) if counts else np.zeros((0, 3))

    def jacobians(self, step, world=0, wrt_p=True):
        """(A, B, C) of one step of it: dx_next = A dx + B du + C dp; (ndx,ndx), (ndx,nu), (ndx,np)."""
        whole(step=step, world=world)
        if not self.batched:
            return self._core.jacobians(step, wrt_p)
        u, p = self._core.inputs(step, world)
        return self.model.jacobians(self.X[world, step], u, p, wrt_p)[1:]

    @property
    def reached(self):
        """Steps that each world made (worlds): all, unless a batch with strict=False had worlds that failed."""
        reached = self._core.reached()
        return np.full(self.worlds, self.steps) if reached is None else np.array(reached)

    def examine(self, step, world=0):
        """What happened in one step of it: contacts and how it went, Examined."""
        whole(step=step, world=world)
        u, p = self._core.inputs(step, world)
        X = self.X[world] if self.batched else self.X
        return Examined(*self.model._examine(X[step], u, p))

    def contacts(self, step, world=0):
        """Contacts in one step of it: a structured array, tribo.contact_dtype."""
        return self.examine(step, world).contacts

    def free(self):
        """Give the tape's memory back now; backward() is then a FreedError. X stays. A BusyError while another thread is in
        backward()."""
        self._core.free()


def rollout(model, x0=None, U=None, p=None, *, steps=None, tape=True, checkpoints=None, threads=None, strict=True):
    """Simulate: X[0] = x0, X[k+1] = f(p, X[k], U[k]).

    x0 (nx): the start; None = model.x0. U (steps, nu): controls; None = zero, and `steps` says how many.
    p (np): parameters; None = model.params. Each may have a leading axis (worlds, ...): a batch, in which what has no
    such axis is shared by all worlds. Worlds are simulated as if each were alone, to the bit, by `threads` threads (None =
    as many as there are processors), which changes no bit either. backward() of a batch simulates again instead of
    keeping a tape a world: its memory is a thread's.
    tape=False keeps nothing: faster where no gradient is wanted. checkpoints=N (of one world) keeps N states instead of
    all steps and computes steps again on the way back: bounded memory, the same bits.
    A world that fails is an exception; with strict=False a batch goes on: the states of that world are NaN from there
    on, Rollout.reached says where it stopped, and it has no gradient. Ctrl-C interrupts it, a batch and its backward() after some fifty thousand steps, or a world a
    thread."""
    whole(steps=steps, checkpoints=checkpoints, threads=threads)
    threads = _all_processors(threads)
    return Rollout(_core.rollout(model, x0, U, p, steps, tape, checkpoints, threads, strict))


class Jacobians(NamedTuple):
    """One step of many worlds: dx_next = A dx + B du + C dp of each."""

    x_next: np.ndarray
    """(worlds, nx)"""
    A: np.ndarray
    """(worlds, ndx, ndx)"""
    B: np.ndarray
    """(worlds, ndx, nu)"""
    C: Optional[np.ndarray]
    """(worlds, ndx, np); None where wrt_p=False"""


def steps(model, x, u=None, p=None, *, threads=None):
    """One step of many worlds, (worlds, nx), each to the bit what Model.step() gives for it alone, without a warm start.

    x (worlds, nx), u (worlds, nu), p (worlds, np): as of Model.step(); what has no leading axis all worlds share, and one
    of them has to have it. threads: None = as many as there are processors; no number of them changes a bit.
    A world that fails is an exception that names it."""
    whole(threads=threads)
    return _core.steps(model, x, u, p, False, False, _all_processors(threads))[0]


def jacobians(model, x, u=None, p=None, *, wrt_p=True, threads=None):
    """One step of many worlds with its Jacobians, each to the bit those of Model.jacobians(); arguments as of steps()."""
    whole(threads=threads)
    return Jacobians(*_core.steps(model, x, u, p, True, bool(wrt_p), _all_processors(threads)))


def _all_processors(threads):
    return len(os.sched_getaffinity(0)) if threads is None else threads
