"""What arguments are asked for here and there: integers that are no booleans, numbers none of which is left out, names
that there are; and the place of what is refused."""
import contextlib
import difflib
import math
import numbers as kinds

import numpy as np

from . import _core


class UnknownName(_core.ArgumentError, KeyError):
    """A name that nothing has; the text has the nearest."""

    __str__ = Exception.__str__


class ArgumentTypeError(_core.ArgumentError, TypeError):
    """An argument of another type than is asked for."""


UnknownName.__module__ = ArgumentTypeError.__module__ = "tribo"


def lead(what):
    """A place before a message; none of what has none."""
    return f"{what}: " if what else ""


def whole(**named):
    """Refuse booleans where integers are asked for: whole(steps=steps). Returns the last value."""
    for name, value in named.items():
        if isinstance(value, (bool, np.bool_)):
            raise ArgumentTypeError(f"{lead(name)}expected an integer, found {value}")
    return value


def integer(what, value, least, most=math.inf):
    """An integer within its range."""
    whole(**{what: value})
    if not isinstance(value, kinds.Real) or value != value or int(min(max(value, -2**62), 2**62)) != value:
        raise ArgumentTypeError(f"{lead(what)}expected an integer, found {value!r}")
    if not least <= value <= most:
        raise _core.ArgumentError(f"{lead(what)}{value} is not " + (f"in [{least}, {most}]" if most < math.inf else f"at least {least}"))
    return int(value)


def number(what, value):
    """A number, which neither text nor a boolean is."""
    value = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, kinds.Real):
        raise ArgumentTypeError(f"{lead(what)}expected a number, found {value!r}")
    return float(value)


def unmasked(what, values):
    """Refuse masked arrays, whose mask NumPy drops in silence. Returns the values as they are."""
    parts = values if isinstance(values, (list, tuple)) else [values]
    if any(isinstance(part, np.ma.MaskedArray) for part in parts):
        raise _core.ArrayError(f"{lead(what)}expected numbers, found a masked array (its filled(...) says what stands for what is "
                               "left out)")
    return values


def numbers(what, values):
    """A float64 copy of what is not an array yet, or is one of another type; masked arrays and text are refused."""
    unmasked(what, values)
    try:
        made = np.asarray(values)
    except ValueError:
        raise _core.ArrayError(f"{lead(what)}expected numbers, found rows of several lengths") from None
    if made.dtype.kind not in "iuf":
        raise _core.ArrayError(f"{lead(what)}expected numbers, found {values!r:.60}")
    return np.array(made, dtype=float)


def no_such(what, name, names):
    """The error of a name that is none of these."""
    near = difflib.get_close_matches(str(name), list(names), 1, 0)
    return UnknownName(f"there is no {what} `{name}`" + (f"; the nearest is `{near[0]}`" if near else ""))


@contextlib.contextmanager
def within(place):
    """What is refused inside is refused by its place, too, as `task.json: terms[2]: `."""
    try:
        yield
    except _core.Error as error:
        error.args = (f"{place}: {error}",)
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentTypeError(f"{place}: {error}") from error
