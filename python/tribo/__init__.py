"""Tribo: rigid bodies with hard contact, and exact gradients of what they do.

    import numpy as np, tribo

    model = tribo.load("data/scenes/slide.xml")     # MJCF or URDF
    p = model.params.copy()                         # every physical number, by name
    p["floor/friction"] = 0.3
    run = tribo.rollout(model, p=p, steps=500)      # run.X (501, nx)
    lx = np.zeros((501, model.ndx)); lx[-1, 0] = 1  # dL/dx of every state: L = where the cube is in the end
    grad = run.backward(lx)                         # grad.x0 (ndx), grad.U (500, nu), grad.p (np)
    grad.p["floor/friction"]

A step is a pure function x_next = f(p, x, u):

    load, from_string     a scene as a Model; Model.with_options(dt=, law=, ...) is the same model stepped differently
    Model.step            one step; Model.jacobians its A, B, C; Model.examine its contacts and how it went
    steps, jacobians      one step of many worlds, and its A, B, C
    rollout               many steps, of one world or of a batch of them, and their reverse
    identify              parameters from recorded motion, with standard errors and what the recordings leave open
    optimize              trajectories and feedback through contact; Policies a library of feedbacks
    Randomiser            parameters of many worlds drawn at random, with the reverse of the drawing
    compare               the contact laws of the field on one scene
    ContactProblem        one contact problem by itself; solve_qcqp the QPs and QCQPs of staggered projections
    Dynamics              kinematics and dynamics at one state, and their reverse
    tribo.torch           rollouts inside of torch.autograd (imports torch)
    tribo.envs            a vector environment in Gymnasium's manners

Conventions. Arrays are float64 and C-contiguous; anything else is an ArrayError that says what was expected and what
was found: nothing is converted silently. SI units, z up, quaternions (w, x, y, z). A state is x = [q; v] (nx), laid
out as MuJoCo's qpos and qvel: of a free body its position in the world (3) and quaternion (4), then its velocity in
the world (3) and its angular velocity in its own axes (3); of a hinge or slide one number each. Tangents
dx = [dq; dv] (ndx) have three numbers where a state has a quaternion: a rotation vector in the body's own axes.
A control u (nu) is a generalized force for every velocity, N and N m, then one number for every actuator.
Parameters p (np) are an argument of every step, with path names as `cube/mass`, `floor/friction`, `gravity/z`.

Errors are exceptions, all of them subclasses of tribo.Error, with the library's message: ArgumentError, ArrayError,
ArgumentTypeError, UnknownName, NonFiniteError, SingularError, SpeedError, CapacityError, OutOfMemory, ParseError (with its `line`), FileError, FreedError, BusyError.
What is valid but not quite what was asked for is a warning, a subclass of tribo.Warning: NotConverged, Substituted,
Degenerate.

Models are immutable and may be shared by threads, which run at the same time during rollouts, fits and searches.
"""
from ._arguments import ArgumentTypeError, UnknownName
from ._compare import Comparison, compare
from ._contact import ContactProblem, ContactSolution, laws, softness_of_spring, solve_qcqp
from ._core import (ArgumentError, ArrayError, BusyError, CapacityError, DefinitionError, Degenerate, Error, FileError,
                    FreedError, Interrupted, NonFiniteError, NotConverged, OutOfMemory, ParseError, SingularError,
                    SpeedError, Substituted, Warning, contact_dtype, version as __version__)
from ._dynamics import Dynamics, DynamicsGradients
from ._identify import Estimate, Identification, identify
from ._model import BREAK, SLIDE, STICK, Examined, Model, Parameter, Params, from_string, load
from ._optimize import Plan, Policies, optimize
from ._random import Random, Randomiser
from ._recording import Finding, Recording, check_recording, load_controls, load_recording, save_recording
from ._rollout import Gradients, Jacobians, Rollout, jacobians, rollout, steps
from ._task import Term

# What help(tribo) goes through; Params, which is an array with names, and exceptions are above.
__all__ = [
    "load", "from_string", "Model", "Parameter", "Examined", "steps", "jacobians", "Jacobians", "rollout", "Rollout", "Gradients", "identify", "Identification",
    "Estimate", "optimize", "Plan", "Policies", "Term", "Random", "Randomiser", "compare", "Comparison", "ContactProblem", "ContactSolution", "laws",
    "softness_of_spring", "solve_qcqp", "Dynamics", "DynamicsGradients", "Recording", "Finding", "check_recording", "load_recording",
    "save_recording", "load_controls",
]


def __getattr__(name):
    """tribo.torch and tribo.envs are imported when they are first asked for."""
    if name in ("torch", "envs"):
        import importlib
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module 'tribo' has no attribute {name!r}")
