"""Parameters of many worlds, drawn at random."""
import math
from typing import NamedTuple, Optional, Sequence, Union

import numpy as np

from . import _core
from ._arguments import numbers, unmasked, whole
from ._model import _named

_DRAWS = ("uniform", "loguniform", "normal")
_SHARES = ("all", "body", "none")


class Random(NamedTuple):
    """One randomiser: parameters, and the number s that they are scaled by, or that is added."""

    names: Union[str, Sequence[str]]
    """parameters, groups of them, or patterns: "*/mass" is every mass"""
    a: float = 1.0
    b: float = 1.0
    draw: str = "uniform"
    """uniform from a to b; loguniform; normal, of mean a and standard deviation b"""
    add: bool = False
    """s is added; otherwise it scales"""
    share: str = "all"
    """one number for all of them; for those of a body, its joints, geoms and sites; for none: each its own"""
    lower: float = -math.inf
    upper: float = math.inf
    """the result stays between them, and within what is physical"""
    power: Optional[Sequence[float]] = None
    """k of each name: p is scaled by s**k, or k s is added. A cube of another size: 1 of size, 3 of mass, 5 of inertia"""


def _one_of(what, word, words):
    if word not in words:
        raise _core.ArgumentError(f"{what}: `{word}` is none of {', '.join(words)}")
    return words.index(word)


class Randomiser:
    """Draws the parameters of worlds: rollout(model, p=randomiser.rows(1000)).

        r = tribo.Randomiser(model, [tribo.Random("*/mass", 0.8, 1.2, share="body")], seed=1)

    World w of a seed has its numbers whatever the other worlds are."""

    def __init__(self, model, randoms, seed=0):
        self.model = model
        ready = []
        for given in randoms:
            r = given if isinstance(given, Random) else Random(**given)
            names = [r.names] if isinstance(r.names, str) else list(r.names)
            power = None if r.power is None else numbers("power", r.power)
            ready.append((names, power, _one_of("draw", r.draw, _DRAWS), float(r.a), float(r.b), bool(r.add),
                          _one_of("share", r.share, _SHARES), float(r.lower), float(r.upper)))
        self._core = _core.random(model, ready, whole(seed=seed))

    @property
    def draws(self):
        """What a world draws: a list of (which randomiser, name of the first parameter that it acts on)."""
        return self._core.draws()

    @property
    def phi(self):
        """(randomisers, 2): a and b of each. It can be assigned to."""
        return self._core.get()

    @phi.setter
    def phi(self, phi):
        self._core.set(phi)

    def rows(self, worlds, first=0, p=None):
        """Params (worlds, np) of the worlds from `first` on. p (np): what is scaled or added to; None = model.params."""
        whole(worlds=worlds, first=first)
        return _named(self._core.rows(p, first, worlds)[0], self.model._names)

    def numbers(self, worlds, first=0):
        """(worlds, len(draws)): the numbers drawn."""
        whole(worlds=worlds, first=first)
        return self._core.rows(None, first, worlds)[1]

    def rows_vjp(self, P_bar, first=0, p=None):
        """From gradients P_bar (worlds, np) by the rows, the draws held: (phi_bar (randomisers, 2), p_bar (np)), summed
        over worlds."""
        phi, of_p = self._core.rows_vjp(p, whole(first=first), np.asarray(unmasked("P_bar", P_bar)))
        return phi, _named(of_p, self.model._names)
