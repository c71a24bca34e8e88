"""Contact laws, contact problems by themselves, QPs and QCQPs."""
from typing import NamedTuple, Optional

import numpy as np

from . import _core
from ._arguments import whole


def laws():
    """Contact laws and the solvers of each, the first its default: {"ncp": ["ladder", ...], ...}."""
    return _core.laws()


def softness_of_spring(k, tau, dt):
    """The compliance (1/kg) of a spring of stiffness k (N/m) and dissipation time tau (s) over a step dt (s)."""
    return _core.softness_of_spring(k, tau, dt)


class ContactSolution(NamedTuple):
    """What ContactProblem.solve() found."""

    impulse: np.ndarray
    """(3 nc) lambda, N s: along both tangents and the normal of each contact in turn"""
    v: Optional[np.ndarray]
    """(nv) velocity after; None where the problem was given by G and g"""
    info: dict
    """residual, margin, iterations, ndegenerate, rung, canonical, status"""


class ContactProblem:
    """One frictional contact problem: M (v - vfree) = J' lambda, c = J v, the law between lambda and c.

    Either M (nv,nv), J (3 nc,nv), vfree (nv), or the Delassus matrix G (3 nc,3 nc) with g (3 nc); and mu (nc).
    Options are those of laws: law=, solver=, softness=, ... (docs/contact-laws.md). Arrays are copied."""

    def __init__(self, *, mu, M=None, J=None, vfree=None, G=None, g=None, **options):
        if (M is None) == (G is None):
            raise _core.ArgumentError("a contact problem is given by M, J, vfree or by G, g")
        self._core = _core.problem(M, J, vfree, G, g, mu, options)

    def solve(self, tol=0.0, warm=None):
        """A ContactSolution. tol: on the residual, 0 = the solver's own. warm (3 nc): impulses to start from."""
        return ContactSolution(*self._core.solve(tol, warm))

    def set_noise(self, noise):
        """Noise of law="stochastic" contact by contact, for the solves that follow: (2 nc) m/s, above 0, the standard
        deviation of the velocity along each normal and across it. None: that of the options."""
        self._core.set_noise(noise)

    def measures(self):
        """Residuals of the law and of the NCP (primal, dual, complementarity), dissipation (J), internal impulses
        (N s), lift (m/s) of the last solution."""
        return self._core.measure()

    def vjp(self, impulse_bar=None, v_bar=None):
        """The reverse of the last solve: from dL/dlambda (3 nc) and dL/dv (nv) a dict of dL/d(mu, M, J, vfree, G, g),
        of those that the problem has, each in its shape; M and G symmetric."""
        return self._core.vjp(impulse_bar, v_bar)


class QcqpSolution(NamedTuple):
    """What solve_qcqp() found: x (n), dual (n), residual; and with x_bar the gradients by q, r, P."""

    x: np.ndarray
    dual: np.ndarray
    residual: float
    q_bar: Optional[np.ndarray] = None
    r_bar: Optional[np.ndarray] = None
    P_bar: Optional[np.ndarray] = None


def solve_qcqp(P, q, r=None, *, x_bar=None, tol=0.0, max_iter=0):
    """min x'Px/2 + q'x with x >= 0, or with r (n/2): with |x_i| <= r_i, x_i the pairs of x.

    P (n,n) symmetric positive semidefinite, q (n). With x_bar (n) = dL/dx the gradients too: docs/math.md, (59)."""
    x, dual, residual, q_bar, r_bar, v = _core.qcqp(P, q, r, tol, whole(max_iter=max_iter), x_bar)
    if x_bar is None:
        return QcqpSolution(x, dual, residual)
    P_bar = -0.5 * (np.outer(v, x) + np.outer(x, v))
    return QcqpSolution(x, dual, residual, q_bar, None if r is None else r_bar, P_bar)
