"""Kinematics and dynamics at one state."""
from typing import NamedTuple, Optional

import numpy as np

from . import _core
from ._arguments import numbers
from ._model import _named


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


class DynamicsGradients(NamedTuple):
    """What Dynamics.vjp() gives: gradients of a scalar by what the function is of."""

    q: np.ndarray
    """(nv) by dq, of a quaternion a rotation vector in the body's own axes"""
    v: np.ndarray
    """(nv)"""
    argument: Optional[np.ndarray]
    """by the function's argument: (nv), of joint_forces (nu); None where it has none"""
    p: np.ndarray
    """(np), with names"""


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

    def inverse_jacobians(self, a):
        """(dtau/dq, dtau/dv) (nv, nv) each, of tau = inverse_dynamics(a); by a it is M."""
        return self._core.jacobians("inverse", a)

    def forward_jacobians(self, tau):
        """(da/dq, da/dv, da/dtau) (nv, nv) each, of a = forward_dynamics(tau)."""
        return self._core.jacobians("forward", self.forward_dynamics(tau))

    def vjp(self, function, bar, argument=None):
        """The reverse of a method: from the gradient `bar` of a scalar by its result to DynamicsGradients.

            d.vjp("inverse_dynamics", tau_bar, a)      of tau = d.inverse_dynamics(a)
            d.vjp("com", [0, 0, 1.0])                  the height of the centre of mass
            d.vjp("body", {"pos": pos_bar}, "tip")     of a body's or site's place: any of pos (3), turn (3: a rotation
                                                       vector in its own axes), twist (6), jacobian (6, nv)
            d.vjp("energy", (1, 1))                    of kinetic and potential energy

        function: com, com_jacobian, inertia, inertia_times, inertia_solve, bias_forces, inverse_dynamics,
        forward_dynamics, joint_forces, momentum, energy, body, site. argument: as of the method."""
        if function in ("body", "site"):
            parts = [(f"{function} {part}", b) for part, b in dict(bar).items()]
            names = self.model.bodies if function == "body" else self.model.sites
            where, argument = self.model._id(function, names, argument), None
        else:
            parts, where = [(function, bar)], 0
        if function in ("forward_dynamics", "inertia_solve") and argument is not None:
            argument = getattr(self, function)(argument)  # their reverse is told what they gave
        q, v, p, of_argument = np.zeros(self.model.nv), np.zeros(self.model.nv), np.zeros(self.model.np), None
        for part, b in parts:
            more = self._core.vjp(part, where, argument, numbers(part, b))
            q += more[0]
            v += 0 if more[1] is None else more[1]
            p += more[3]
            of_argument = more[2]
        return DynamicsGradients(q, v, of_argument, _named(p, self.model._names))
