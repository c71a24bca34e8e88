"""Many worlds of one model as a vector environment in Gymnasium's manners; Gymnasium itself is not needed.

    env = tribo.envs.CartPole(worlds=64)
    obs, info = env.reset(seed=1)                                   # (64, 4)
    obs, reward, terminated, truncated, info = env.step(actions)    # actions (64, 1)

Worlds that end begin again in the same step: `obs` is then the first of the new episode, info["final_obs"] the last of the
old one, where info["_final_obs"] says so. Where Gymnasium is installed the spaces are its Box."""
import numpy as np

from . import _core
from ._arguments import unmasked, whole
from ._model import Model, from_string
from ._rollout import rollout

__all__ = ["VectorEnv", "CartPole", "Hopper", "Box"]


class Box:
    """All arrays between low and high, as gymnasium.spaces.Box."""

    def __init__(self, low, high, shape=None, dtype=np.float64):
        self.dtype = np.dtype(dtype)
        self.shape = tuple(np.shape(low) if shape is None else shape)
        self.low, self.high = (np.array(np.broadcast_to(b, self.shape), dtype) for b in (low, high))
        self._random = np.random.default_rng()

    def seed(self, seed=None):
        """Begin the numbers of sample() anew."""
        self._random = np.random.default_rng(seed)

    def sample(self):
        """An array of it: uniform, normal where it has no bounds."""
        bounded = np.isfinite(self.low) & np.isfinite(self.high)
        low, high = np.where(bounded, self.low, 0), np.where(bounded, self.high, 1)
        return np.where(bounded, self._random.uniform(low, high), self._random.standard_normal(self.shape)).astype(self.dtype)

    def contains(self, x):
        """Whether an array is in it."""
        x = np.asarray(x)
        return x.shape == self.shape and bool(np.all(x >= self.low) and np.all(x <= self.high))

    __contains__ = contains

    def __repr__(self):
        return f"Box({self.low.min() if self.low.size else 0}, {self.high.max() if self.high.size else 0}, {self.shape})"


def _box(low, high, shape):
    try:
        from gymnasium.spaces import Box as theirs
    except ImportError:
        return Box(low, high, shape)
    return theirs(low, high, shape, np.float64)


class VectorEnv:
    """`worlds` worlds of a model; a subclass says what they are about by the methods below.

    An action (nact) is what `controls` (names of actuators or joints; None = all actuators, or all forces) are set to,
    within `bounds` (a pair), held for `skip` steps. After `max_steps` actions an episode is truncated. randomise: whether
    each episode has parameters of its own, from parameters()."""

    metadata = {"autoreset_mode": "SameStep", "render_modes": []}
    render_mode = None

    def __init__(self, model, worlds, *, controls=None, bounds=(-1.0, 1.0), skip=1, max_steps=1000, randomise=False):
        if not isinstance(model, Model):
            raise TypeError(f"expected a tribo.Model, found {type(model).__name__}")
        whole(worlds=worlds, skip=skip, max_steps=max_steps)
        if worlds < 1 or skip < 1 or max_steps < 1:
            raise _core.ArgumentError(f"worlds, skip and max_steps are at least 1: found {worlds}, {skip}, {max_steps}")
        from ._task import control_numbers
        self.model, self.num_envs, self.skip, self.max_steps = model, worlds, skip, max_steps
        numbers = control_numbers(model, controls)
        self._numbers = numbers if numbers is not None else list(
            range(model.nv, model.nu) if model.nactuator else range(model.nv))
        self._randomise = randomise
        self._random = np.random.default_rng()
        self.x = np.tile(model.x0, (worlds, 1))
        self.P = model.params.tile(worlds)
        self._age = np.zeros(worlds, int)
        size = self.observe(self.x).shape[1]
        self.single_observation_space = _box(-np.inf, np.inf, (size,))
        self.single_action_space = _box(*bounds, (len(self._numbers),))
        self.observation_space = _box(-np.inf, np.inf, (worlds, size))
        self.action_space = _box(*bounds, (worlds, len(self._numbers)))

    # ---- what a subclass says ----

    def start(self, random, n):
        """States (n, nx) that episodes begin in: the model's x0."""
        return np.tile(self.model.x0, (n, 1))

    def parameters(self, random, n):
        """Parameters (n, np) of episodes, where randomise is asked for: the model's."""
        return self.model.params.tile(n)

    def observe(self, x):
        """Observations (n, size) of states (n, nx): the states."""
        return x.copy()

    def reward(self, x, action, x_next):
        """Rewards (n) of a step from x (n, nx) by action (n, nact) to x_next (n, nx): 0."""
        return np.zeros(len(x))

    def ended(self, x):
        """Which states (n, nx) end an episode (n): none."""
        return np.zeros(len(x), bool)

    # ---- Gymnasium's ----

    def reset(self, *, seed=None, options=None):
        """(observations, info) of new episodes. seed: begins all random numbers anew."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self._begin(np.ones(self.num_envs, bool))
        return self.observe(self.x), {}

    def step(self, actions):
        """(observations, rewards, terminated, truncated, info) of an action (worlds, nact), float64, for every world.
        Actions outside of the bounds count as the nearest inside."""
        actions = self._checked(actions)
        U = np.zeros((self.num_envs, self.skip, self.model.nu))
        U[:, :, self._numbers] = actions[:, None, :]
        before, self.x = self.x, self._advance(U)
        self._age += 1
        reward, terminated = self.reward(before, actions, self.x), self.ended(self.x)
        truncated = (self._age >= self.max_steps) & ~terminated
        obs, done, info = self.observe(self.x), terminated | truncated, {}
        if done.any():
            info = {"final_obs": obs, "_final_obs": done}
            self._begin(done)
            obs = self.observe(self.x)
        return obs, reward, terminated, truncated, info

    def close(self):
        """Nothing is open."""

    def _checked(self, actions):
        a = np.asarray(unmasked("actions", actions))
        if a.shape != self.action_space.shape or a.dtype != np.float64:
            raise _core.ArrayError(f"actions: expected a float64 array of shape {self.action_space.shape}, "
                                   f"found {a.dtype} of shape {a.shape}")
        if not np.isfinite(a).all():
            raise _core.NonFiniteError("actions: NaN or infinity")
        return np.clip(a, self.action_space.low, self.action_space.high)

    def _advance(self, U):
        return rollout(self.model, self.x, U, np.asarray(self.P), tape=False).X[:, -1].copy()

    def _begin(self, which):
        n = int(which.sum())
        self.x[which] = self.start(self._random, n)
        self._age[which] = 0
        if self._randomise:
            self.P[which] = self.parameters(self._random, n)


_CART_POLE = """
<mujoco model="cart-pole">
  <compiler angle="radian"/>
  <option timestep="0.005"/>
  <worldbody>
    <body name="cart" pos="0 0 1">
      <joint name="rail" type="slide" axis="1 0 0" damping="0.1"/>
      <geom name="cart" type="box" size="0.15 0.1 0.05" mass="1"/>
      <body name="pole">
        <joint name="pivot" axis="0 1 0" damping="0.002"/>
        <geom name="pole" type="capsule" fromto="0 0 0 0 0 0.5" size="0.015" mass="0.2"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


class CartPole(VectorEnv):
    """A pole on a cart is to stay upright. Observation: place, angle, their rates, m and rad; action: force over 10 N. An
    episode ends beyond 2.4 m or 0.5 rad; a reward of 1 a step less 0.01 of the square of the action."""

    def __init__(self, worlds, *, max_steps=500, randomise=False):
        super().__init__(from_string(_CART_POLE, "cart-pole"), worlds, controls=["rail"], skip=4, max_steps=max_steps,
                         randomise=randomise)

    def start(self, random, n):
        return random.uniform(-0.1, 0.1, (n, self.model.nx))

    def parameters(self, random, n):
        P = self.model.params.tile(n)
        P["pole/mass"] *= random.uniform(0.7, 1.3, n)
        P["rail/damping"] *= random.uniform(0.5, 2, n)
        return P

    def _advance(self, U):
        return super()._advance(10 * U)

    def reward(self, x, action, x_next):
        return 1 - 0.01 * action[:, 0] ** 2

    def ended(self, x):
        return (abs(x[:, 0]) > 2.4) | (abs(x[:, 1]) > 0.5)


class Hopper(VectorEnv):
    """A scene of a hopper (data/scenes/hopper.xml, or one of one's own) is to go along without falling. Observation: the
    state but its place along; actions: the actuators. The place along and the height are the joints named."""

    def __init__(self, scene, worlds, *, along="along", height="height", lowest=-0.4, max_steps=500):
        model = scene if isinstance(scene, Model) else Model(scene)
        self._along, self._height, self._lowest = model.q(along).start, model.q(height).start, lowest
        super().__init__(model, worlds, skip=5, max_steps=max_steps, bounds=(-1.5, 1.5))

    def observe(self, x):
        return np.delete(x, self._along, axis=1)

    def reward(self, x, action, x_next):
        speed = (x_next[:, self._along] - x[:, self._along]) / (self.skip * self.model.dt)
        return 1 + speed - 1e-3 * (action ** 2).sum(1)

    def ended(self, x):
        return x[:, self._height] < self._lowest
