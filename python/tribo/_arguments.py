"""What arguments are asked for here and there: integers that are no booleans, numbers none of which is left out."""
import numpy as np

from . import _core


def whole(**named):
    """Refuse booleans where integers are asked for: whole(steps=steps). Returns the last value."""
    for name, value in named.items():
        if isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{name}: expected an integer, found {value}")
    return value


def unmasked(what, values):
    """Refuse masked arrays, whose mask NumPy drops in silence. Returns the values as they are."""
    parts = values if isinstance(values, (list, tuple)) else [values]
    if any(isinstance(part, np.ma.MaskedArray) for part in parts):
        raise _core.ArrayError(f"{what}: expected numbers, found a masked array (its filled(...) says what stands for what is "
                               "left out)")
    return values


def numbers(what, values):
    """A float64 copy of what is not an array yet, or is one of another type; masked arrays are refused."""
    return np.array(unmasked(what, values), dtype=float)
