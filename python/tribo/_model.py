"""Models and their parameters."""
import os
from typing import NamedTuple

import numpy as np

from . import _core
from ._arguments import UnknownName, no_such, whole

BREAK, STICK, SLIDE = 0, 1, 2  # what a contact does: `mode` of Examined.contacts

_KINDS = ("gravity", "mass", "com", "inertia", "size", "pos", "quat", "friction", "stiction", "restitution",
          "baumgarte", "slop", "damping", "armature", "stiffness", "springref", "frictionloss", "range", "gear", "gain",
          "bias", "ctrlrange", "forcerange", "torsion", "rolling", "compliance", "edge_radius", "density",
          "viscosity", "wind")


class Parameter(NamedTuple):
    """One entry of p: its index, path name and kind, physical bounds, and whether any step depends on it."""

    index: int
    name: str
    kind: str
    lower: float
    upper: float
    used: bool


class Examined(NamedTuple):
    """What happened in a step: Model.examine."""

    x_next: np.ndarray
    """(nx) state after the step"""
    contacts: np.ndarray
    """(n) of tribo.contact_dtype: geom_a, geom_b, mode (BREAK, STICK, SLIDE), point, normal, gap (m, world, from a to
    b), tangent (2,3), impulse (3: along both tangents and the normal, on b, N s), bounced, time (s from the beginning of the step, of point,
    normal and tangents: that of an impact), torque (3)"""
    info: dict
    """ncon, nactive, nislands, iterations, nheld, ndegenerate, nshared, residual, margin, penetration (m), rung, canonical,
    status, and measures where the model has that option"""


class _Names:
    """Path names of p and their groups, shared by all vectors of one model."""

    def __init__(self, model, count):
        self.entries = []
        for i in range(count):
            name, kind, *_, used, lower, upper = model._param(i)
            self.entries.append(Parameter(i, name, _KINDS[kind], lower, upper, used))
        self.index = {e.name: e.index for e in self.entries}
        self.groups = {}
        for e in self.entries:
            parts = e.name.split("/")
            for k in range(1, len(parts)):
                self.groups.setdefault("/".join(parts[:k]), []).append(e.index)

    def find(self, name):
        """An index, or a list of those of a group."""
        if name in self.index:
            return self.index[name]
        if name in self.groups:
            return self.groups[name]
        raise no_such("parameter", name, list(self.index) + list(self.groups))


class Params(np.ndarray):
    """Parameters of a model, a float64 array (np), or (worlds, np): one row a world.

    p["cube/mass"] is a number (of many worlds a column), p["cube/inertia"] all of a group; both can be assigned to.
    Otherwise it is an array: slices, numbers and masks give plain arrays. model.params itself is read-only: it is
    what the model was built with; copy() is yours to change.
    """

    _names = None

    def __array_finalize__(self, other):
        self._names = None

    def __array_wrap__(self, array, *rest):
        made = super().__array_wrap__(array, *rest)
        return _named(made, self._names) if getattr(made, "shape", None) == self.shape else np.asarray(made)[()]

    def __reduce__(self):
        return _named, (np.asarray(self), self._names)

    def copy(self, order="C"):
        """The same numbers, to be changed."""
        return _named(np.array(self, order=order), self._names)

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self.copy()

    def tile(self, worlds):
        """(worlds, np): a row a world, each the same, to be varied."""
        return _named(np.tile(np.asarray(self), (worlds, 1)), self._names)

    def _place(self, name):
        if self._names is None:
            raise UnknownName(f"{name!r}: this array has no names any more: it is part of a vector of parameters")
        return self._names.find(name)

    def __getitem__(self, key):
        if isinstance(key, str):
            found = np.asarray(self)[..., self._place(key)]
            return float(found) if found.ndim == 0 else found
        found = np.asarray(self)[key]
        rows = self.ndim == 2 and (isinstance(key, (int, np.integer)) or (isinstance(key, slice)))
        return _named(found, self._names) if rows else found

    def __setitem__(self, key, value):
        if not self.flags.writeable:
            raise ValueError("these are the model's own parameters: change a copy, p = model.params.copy(), and hand "
                             "that to step or rollout")
        np.asarray(self)[(..., self._place(key)) if isinstance(key, str) else key] = value

    @property
    def names(self):
        """Path names, in order."""
        return [] if self._names is None else [e.name for e in self._names.entries]

    def as_dict(self):
        """Numbers by path name, of one vector."""
        return {e.name: float(np.asarray(self)[e.index]) for e in self._names.entries} if self._names else {}


def _named(array, names):
    made = np.asarray(array).view(Params)
    made._names = names
    return made


class Model(_core.Model):
    """A scene, and the options it is stepped by. Immutable; threads may share it. Made by tribo.load().

    Sizes: nbody, ngeom, npair, njoint, nequality, nsite, ntendon, nactuator; nq, nv, nx = nq + nv, ndx = 2 nv,
    nu = nv + nactuator, np. Names: bodies, geoms, joints, actuators, tendons, sites, keys. x0 (nx) is where it starts, params
    (np) what it was built with, dt its step, s.

    Options, of load() and with_options():
      dt            s; default: the scene's
      law, solver   names of tribo.laws(): "ncp" (hard, exact: the default), "ccp", "lcp", "raisim", "stochastic"
      impact        "poisson" (default) or "newton"
      tol           on the residual of the law
      recovery      m/s, the fastest that a penetration is pushed out
      rounds        exactly so many rounds of staggered projections
      reverse       "implicit" (default) or "unrolled", which needs rounds
      warm_start    steps of a rollout begin with the last one's modes: faster, equal to rounding but not to the bit; of
                    several solutions, as friction above 1 may leave, the one that these lead to
      ncon_max      contacts in a step at most
      measures      fill info["measures"] in examine()
      raw, max_iter, relaxation, penalty, facets, facet_angle, circumscribed, softness, compliance, impedance, impratio,
      kappa, smoothing, noise, dry_compliance: of laws and solvers, docs/contact-laws.md
    """

    def __new__(cls, path=None, *, xml=None, name="model", lenient=None, free_base=False, packages=None, _share=None,
                **options):
        """A model from a file, or from text `xml` that messages call `name`. lenient: words of what may be left out;
        free_base, packages: of URDF (docs/urdf.md)."""
        path = None if path is None else os.fspath(path)
        self = super().__new__(cls, path, xml, name, lenient, free_base, packages, _share, options)
        sizes = self._sizes()
        self.__dict__.update(sizes)
        self._names = _share._names if _share is not None else _Names(self, sizes["np"])
        self.params = _named(self._params, self._names)
        self.dt = self._facts()["dt"]
        self.path = _share.path if _share is not None else path
        return self

    def __init__(self, *args, **kwargs):
        pass

    def __setattr__(self, name, value):
        if name in self.__dict__:
            raise AttributeError(f"a model does not change: {name} (with_options(...) gives another one)")
        super().__setattr__(name, value)

    def __delattr__(self, name):
        raise AttributeError(f"a model does not change: {name}")

    def __repr__(self):
        if self.freed:
            return "<tribo.Model, freed>"
        return (f"<tribo.Model {self.path or 'from text'}: {self.nbody} bodies, nq {self.nq}, nv {self.nv}, nu {self.nu}, "
                f"np {self.np}, dt {self.dt:g} s>")

    def __reduce__(self):
        raise TypeError("models are not pickled: load the scene again")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.free()

    def with_options(self, **options):
        """The same model stepped differently; nothing is loaded again. Options add to those it has."""
        return type(self)(_share=self, **options)

    @property
    def options(self):
        """The options in force: dt, tol, recovery, rounds, ncon_max, warm_start, measures, law, solver."""
        facts = self._facts()
        facts.pop("extent")
        return facts

    @property
    def extent(self):
        """Largest size of any geom that moves, m."""
        return self._facts()["extent"]

    # ---- names ----

    def _all(self, kind, count):
        return [self._name(kind, i) for i in range(count)]

    @property
    def bodies(self):
        """Names of bodies; their ids are the places in this list."""
        return self._all("b", self.nbody)

    @property
    def geoms(self):
        """Names of geoms."""
        return self._all("g", self.ngeom)

    @property
    def joints(self):
        """Names of joints."""
        return self._all("j", self.njoint)

    @property
    def actuators(self):
        """Names of actuators."""
        return self._all("a", self.nactuator)

    @property
    def tendons(self):
        """Names of tendons that have limits."""
        return self._all("t", self.ntendon)

    @property
    def sites(self):
        """Names of sites."""
        return self._all("s", self.nsite)

    @property
    def keys(self):
        """Names of keyframes: states by name."""
        names, i = [], 0
        while (name := self._name("k", i)) is not None:
            names.append(name)
            i += 1
        return names

    def key(self, name):
        """(x, u) of a keyframe: its state (nx), and its controls in u (nu)."""
        return self._key(self._id("key", self.keys, name))

    @staticmethod
    def _id(what, names, name):
        if name in names:
            return names.index(name)
        raise no_such(what, name, names)

    def _slices(self, name):
        """Where the numbers of a body or joint are: slices of q and of v."""
        if name in self.joints:
            q, v, _ = self._place("j", self.joints.index(name))
            ball = (q, v) in self.quaternions
            return slice(q, q + (4 if ball else 1)), slice(v, v + (3 if ball else 1))
        body = self._id("joint or body", self.joints + self.bodies, name) - self.njoint
        q, v, free = self._place("b", body)
        if q < 0:
            raise UnknownName(f"the body `{name}` has no numbers of its own: it is welded")
        if not free:
            raise UnknownName(f"the body `{name}` is moved by joints: ask for one of them")
        return slice(q, q + 7), slice(v, v + 6)

    def q(self, name):
        """Where the numbers of a joint or free body are in q, and so in x: X[:, model.q("cube")]."""
        return self._slices(name)[0]

    def v(self, name):
        """Where they are in v; in x that is nq further on, in dx nv."""
        return self._slices(name)[1]

    def control(self, name):
        """Where an actuator's control is in u."""
        return self.nv + self._id("actuator", self.actuators, name)

    @property
    def quaternions(self):
        """Where quaternions are: pairs (place in q, place of their three numbers in v)."""
        if "_quaternions" not in self.__dict__:
            bodies = [self._place("b", b) for b in range(self.nbody)]
            joints = [self._place("j", j)[:2] for j in range(self.njoint)]
            ends = sorted({q for q, _ in joints} | {q for q, _, free in bodies if free} | {self.nq})
            free = [(q + 3, v + 3) for q, v, is_free in bodies if is_free]
            balls = [(q, v) for q, v in joints if min(e for e in ends if e > q) - q == 4]
            self.__dict__["_quaternions"] = sorted(free + balls)
        return self._quaternions

    def parameter(self, name):
        """What a parameter is: a Parameter, by path name or index."""
        found = self._names.find(name) if isinstance(name, str) else whole(name=name)
        if isinstance(found, list):
            raise UnknownName(f"`{name}` is a group of {len(found)} parameters")
        return self._names.entries[found]

    @property
    def parameters(self):
        """All of p: a list of Parameter."""
        return list(self._names.entries)

    # ---- what happens ----

    def examine(self, x, u=None, p=None):
        """One step looked at: Examined(x_next, contacts, info). Arguments as of step()."""
        return Examined(*self._examine(x, u, p))

    def contacts(self, x, u=None, p=None):
        """Contacts of the step from x: a structured array, tribo.contact_dtype; see Examined."""
        return self._examine(x, u, p)[1]

    def distance(self, geom_a, geom_b, x=None, p=None):
        """(distance, points, normal) of two geoms, by name or id, at a state x (nx): m; closest points (2,3) in the
        world; unit normal (3) from the first to the second. Below 0 where they overlap."""
        whole(geom_a=geom_a, geom_b=geom_b)
        ids = [g if isinstance(g, int) else self._id("geom", self.geoms, g) for g in (geom_a, geom_b)]
        d, points, normal = self._distance(*ids, self.x0 if x is None else x, p)
        return d, np.array(points), np.array(normal)

    def save(self, out, p=None, path=None):
        """Write the scene file it was loaded from again as `out`, with the numbers of p in it."""
        path = path or self.path
        if path is None:
            raise _core.ArgumentError("save: the model was not loaded from a file: path=... names one")
        self._save(os.fspath(path), os.fspath(out), p)

    # ---- tangents ----

    def to_tangent(self, X, G):
        """Gradients G (..., nx) by the numbers of states X (..., nx) as gradients (..., ndx) by their tangents: what
        Rollout.backward() takes. Quaternions of X are unit."""
        X, G = np.asarray(X), np.asarray(G)
        out = np.zeros(G.shape[:-1] + (self.ndx,))
        plain_q, plain_v = self._plain
        out[..., plain_v] = G[..., plain_q]
        out[..., self.nv:] = G[..., self.nq:]
        for q, v in self.quaternions:
            out[..., v:v + 3] = 0.5 * _turned(X[..., q:q + 4], G[..., q:q + 4])
        return out

    def from_tangent(self, x, g):
        """Gradients g (..., ndx) by the tangent of x (..., nx) as gradients (..., nx) by its numbers, where a
        quaternion counts by its direction: along itself nothing changes."""
        x, g = np.asarray(x), np.asarray(g)
        out = np.zeros(g.shape[:-1] + (self.nx,))
        plain_q, plain_v = self._plain
        out[..., plain_q] = g[..., plain_v]
        out[..., self.nq:] = g[..., self.nv:]
        for q, v in self.quaternions:
            a, b = np.broadcast_arrays(x[..., q:q + 4], out[..., q:q + 4])[0], g[..., v:v + 3]
            size = np.linalg.norm(a, axis=-1, keepdims=True)
            out[..., q:q + 4] = 2 * _turning(a / size, b) / size
        return out

    @property
    def _plain(self):
        """Places in q that are no quaternions, and those in v that go with them."""
        in_q, in_v = np.ones(self.nq, bool), np.ones(self.nv, bool)
        for q, v in self.quaternions:
            in_q[q:q + 4] = False
            in_v[v:v + 3] = False
        return np.flatnonzero(in_q), np.flatnonzero(in_v)


def _turned(q, g):
    """The three components of g along q * (0, e_i)."""
    w, x, y, z = (q[..., i] for i in range(4))
    a, b, c, d = (g[..., i] for i in range(4))
    return np.stack([-x * a + w * b + z * c - y * d, -y * a - z * b + w * c + x * d, -z * a + y * b - x * c + w * d], -1)


def _turning(q, t):
    """The sum of t_i q * (0, e_i)."""
    w, x, y, z = (q[..., i] for i in range(4))
    a, b, c = (t[..., i] for i in range(3))
    return np.stack([-x * a - y * b - z * c, w * a - z * b + y * c, z * a + w * b - x * c, -y * a + x * b + w * c], -1)


def load(path, **options):
    """A Model from a scene file, MJCF or URDF. Options: Model. A file that is not understood is a ParseError with its
    line; lenient="word ..." leaves out what is named there."""
    return Model(path, **options)


def from_string(xml, name="model", **options):
    """A Model from the text of a scene, without files beside it; messages call it `name`."""
    return Model(xml=xml, name=name, **options)
