"""Kinematics and dynamics at one state."""
from typing import NamedTuple

import numpy as np

from . import _core


class Place(NamedTuple):
    """Where a body or site is and how it moves, in the world."""

    pos: np.ndarray
    """(3) m"""
    quat: np.ndarray
    """(4) w x y z"""
    twist: np.ndarray
    """(6) velocity of its origin, m/s, and angular velocity, rad/s"""
    jacobian: np.ndarray
    """(6, nv): twist = jacobian @ v"""


class Dynamics:
    """A model at a state, without contact: M(q) a + c(q, v) = tau.

        d = tribo.Dynamics(model).at(x)
        d.body("tip").pos, d.inertia(), d.inverse_dynamics(a)

    p (np): parameters; None = model.params. Of one thread."""

    def __init__(self, model, p=None):
        self.model = model
        self._core = _core.dynamics(model, p)

    def at(self, x):
        """Go to the state x (nx); returns itself."""
        self._core.at(x)
        return self

    def body(self, name):
        """Place of a body: pos, quat, twist, jacobian."""
        return Place(*self._core.place("body", self.model._id("body", self.model.bodies, name)))

    def site(self, name):
        """Place of a site."""
        return Place(*self._core.place("site", self.model._id("site", self.model.sites, name)))

    def com(self):
        """Centre of mass of all bodies (3), m."""
        return self._core.com()

    def com_jacobian(self):
        """(3, nv): its velocity is that times v."""
        return self._core.com_jacobian()

    def inertia(self):
        """M (nv, nv)."""
        return self._core.inertia()

    def bias_forces(self):
        """c (nv): gravity, centrifugal and Coriolis forces."""
        return self._core.bias_forces()

    def inertia_times(self, a):
        """M a (nv)."""
        return self._core.inertia_times(a)

    def inertia_solve(self, f):
        """M^-1 f (nv)."""
        return self._core.inertia_solve(f)

    def inverse_dynamics(self, a):
        """tau = M a + c (nv) of accelerations a (nv)."""
        return self._core.inverse_dynamics(a)

    def forward_dynamics(self, tau):
        """a = M^-1 (tau - c) (nv) of forces tau (nv)."""
        return self._core.forward_dynamics(tau)

    def joint_forces(self, u=None):
        """Forces (nv) of a control u (nu), actuators, dampers and springs of joints."""
        return self._core.joint_forces(u)

    def momentum(self):
        """(6) linear, kg m/s, and angular about the centre of mass, kg m^2/s."""
        return self._core.momentum()

    def momentum_jacobian(self):
        """(6, nv)."""
        return self._core.momentum_jacobian()

    def energy(self):
        """(kinetic, potential), J."""
        return self._core.energy()
