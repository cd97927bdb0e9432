"""Checks of a field's meta data (format.md section 4.1)."""
from math import isfinite, prod

from .bits import require
from .grid import fold

MOST_POINTS = 1 << 60


def is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_real(value):
    return is_int(value) or isinstance(value, float)


def in_range(meta, key, low, high, default=None):
    value = meta.get(key, default)
    require(is_int(value) and low <= value <= high, f"meta data: '{key}'")
    return value


def flag(meta, key, default=None):
    value = meta.get(key, default)
    require(isinstance(value, bool), f"meta data: '{key}'")
    return value


def check_meta(meta):
    """Raises CorruptFile unless `meta` describes a field."""
    require(isinstance(meta, dict) and meta.get("type") == "field", "not a field")
    size = 4 * in_range(meta, "dtype", 1, 2)
    shape = meta.get("shape")
    require(isinstance(shape, list) and 1 <= len(shape) <= 16, "meta data: 'shape'")
    require(all(is_int(d) and 0 <= d <= MOST_POINTS for d in shape), "meta data: 'shape'")
    n = prod(shape)
    require(n <= MOST_POINTS and n * size < 1 << 63, "meta data: 'shape'")
    in_range(meta, "bound", 1, 5)
    in_range(meta, "mode", 1, 3)
    for key in ("value", "abs", "min", "max"):
        require(is_real(meta.get(key)), f"meta data: '{key}'")
    if "fill" in meta:
        in_range(meta, "fill", 0, (1 << 8 * size) - 1)
        flag(meta, "found")
        in_range(meta, "masked", 0, n)
    in_range(meta, "special", 0, n, 0)
    in_range(meta, "exact", 0, n, 0)
    if not flag(meta, "raw", False) and n > 0:
        check_coding(meta, len(fold(shape)))


def check_coding(meta, rank):
    number_map = in_range(meta, "map", 1, 5)
    wide = flag(meta, "wide")
    require(wide or number_map < 4 or meta["dtype"] == 1, "meta data: map without 'wide'")
    require(in_range(meta, "step", 1, 1 << 52 if wide else 255) % 2 == 1, "meta data: 'step'")
    for key in ("offset", "unit"):
        require(is_real(meta.get(key)) and isfinite(meta[key]), f"meta data: '{key}'")
    active = bin(in_range(meta, "axes", 1, (1 << rank) - 1)).count("1")
    require(active <= 3, "meta data: 'axes'")
    order = meta.get("order")
    require(isinstance(order, list) and all(map(is_int, order))
            and sorted(order) == list(range(active)), "meta data: 'order'")
