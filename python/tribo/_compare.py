"""The contact laws of the field on one scene."""
import time
from typing import NamedTuple

import numpy as np

from . import _core
from ._arguments import numbers, whole
from ._contact import laws


class Row(NamedTuple):
    """What one law, solved by one solver, did."""

    law: str
    solver: str
    us: float
    """microseconds a step, warm, measured ones as quick as they come: median"""
    residual: float
    """of the law, worst step"""
    ncp: float
    """of Signorini, Coulomb and maximum dissipation, worst step"""
    apart: float
    """largest difference of a state's numbers from the first row's motion, in the tangent"""
    rise: float
    """energy gained over the start, J, largest"""
    unsolved: int
    """steps that did not reach the tolerance"""


class Comparison(list):
    """A list of Row that prints as a table; X[i] are the states of row i (steps+1, nx)."""

    def __repr__(self):
        head = f"{'law':12} {'solver':20} {'us':>8} {'residual':>10} {'ncp':>10} {'apart':>10} {'rise, J':>10} unsolved"
        return "\n".join([head] + [f"{r.law:12} {r.solver:20} {r.us:8.1f} {r.residual:10.1e} {r.ncp:10.1e} {r.apart:10.1e} "
                                   f"{r.rise:10.1e} {r.unsolved:8d}" for r in self])


def _worst(triple):
    return float(np.max(triple))


def _run(model, x0, U, p, steps):
    """States, seconds of each step, residuals, unsolved steps."""
    X, seconds, own, ncp, unsolved = [x0], [], 0.0, 0.0, 0
    for k in range(steps):
        u = None if U is None else U[k]
        start = time.perf_counter()
        x_next, _, info = model._examine(X[-1], u, p)
        seconds.append(time.perf_counter() - start)
        own, ncp = max(own, info["residual"]), max(ncp, _worst(info["measures"]["ncp"]))
        unsolved += info["status"] == "NOT_CONVERGED"
        X.append(x_next)
    return np.array(X), float(np.median(seconds)), own, ncp, unsolved


def compare(model, *, contenders=None, x0=None, U=None, p=None, steps=200):
    """Simulate the same motion under several contact laws and solvers; returns a Comparison.

    contenders: options of each, as [{"law": "ncp"}, {"law": "ccp", "solver": "pgs"}]; None = every law by its default
    solver. x0 (nx), U (steps, nu), p (np) as in rollout(). Of hard laws without a solution a row is left out with a
    warning. The command `tribo compare` draws curves too."""
    import warnings
    if contenders is None:
        contenders = [{"law": name} for name in laws()]
    whole(steps=steps)
    start = numbers("x0", model.x0 if x0 is None else x0)
    table, first = Comparison(), None
    table.X = []
    for words in contenders:
        one = model.with_options(measures=True, **words)
        try:
            X, seconds, own, ncp, unsolved = _run(one, start, U, p, steps)
        except _core.Error as error:
            warnings.warn(f"compare: {words}: {error}", _core.Warning, stacklevel=2)
            continue
        first = X if first is None else first
        apart = np.abs(model.difference(first, X)).max()
        energy = np.array([model.energy(x, p) for x in X])
        options = one.options
        table.append(Row(options["law"], options["solver"], 1e6 * seconds, own, ncp, float(apart),
                         float((energy - energy[0]).max()), unsolved))
        table.X.append(X)
    return table
