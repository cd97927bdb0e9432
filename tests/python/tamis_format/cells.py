"""Prediction of cells (format.md sections 11 and 12): from codes to lattice integers.

The points of a cell depend on its lengths alone; they are listed once for each sort of cell.
"""
import itertools
import struct

from .bits import wrapper

# Bits of a block or a cell by the names of its axes: x = 1, y = 2, z = 4.
BLOCKS = (1, 2, 4, 3, 5, 6, 7)
VOID_SPACING = 4


def round_f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def int_to_f32(value):
    """Rounded once, to nearest even: doubles hold only 53 bits, the rest goes into a sticky bit."""
    excess = value.bit_length() - 40
    if excess <= 0:
        return round_f32(float(value))
    sticky = value & ((1 << excess) - 1) != 0
    return round_f32(float((value >> excess) << 1 | sticky)) * 2.0 ** (excess - 1)


class Classes:
    """Activity to class (section 11.5)."""

    def __init__(self, step):
        self.quotient = round_f32(1.0 / int_to_f32(step))
        self.known = {}

    def of(self, activity):
        if activity not in self.known:
            scaled = round_f32(int_to_f32(max(activity, 0)) * self.quotient)
            bits = struct.unpack("<I", struct.pack("<f", round_f32(scaled + 1.0)))[0]
            self.known[activity] = min((bits >> 22) - 254, 15)
        return self.known[activity]


class Point:
    """offset: from the anchor; between: some coordinate is no multiple of 4; axes: the offsets of
    the neighbours a, b, c, d (None where there is none) along odd axes, most preferred first."""
    __slots__ = ("offset", "level", "between", "axes")

    def __init__(self, offset, level, between, axes):
        self.offset = offset
        self.level = level
        self.between = between
        self.axes = axes


def interpolated_points(side, lengths, strides, ranks):
    """The points of a cell in the order of section 11.1; arguments by free axis, slowest first."""
    free = len(lengths)
    points = []
    for level in reversed(range(side.bit_length() - 1)):
        h = 1 << level
        counts = [(n - 1) // h + 1 for n in lengths]
        for block in BLOCKS:
            if block >> free:  # names an axis that this cell does not have
                continue
            odd = [k for k in range(free) if block >> (free - 1 - k) & 1]
            odd.sort(key=lambda k: ranks[k], reverse=True)
            spans = [[i for i in range(1 if k in odd else 2, counts[k], 2)
                      if i * h < min(lengths[k], side)] for k in range(free)]
            for index in itertools.product(*spans):
                offset = sum(i * h * stride for i, stride in zip(index, strides))
                axes = tuple(tuple(offset + d * h * strides[k] if 0 <= index[k] + d < counts[k]
                                   else None for d in (-3, -1, 1, 3)) for k in odd)
                between = any(i * h % VOID_SPACING for i in index)
                points.append(Point(offset, level, between, axes))
    return points


class Predictor:
    """Predictors 0 to 3 for one lattice."""

    def __init__(self, w, step):
        self.wrap = wrapper(w)
        self.lowest = -(1 << (w - 1))
        self.classes = Classes(step)

    def magnitude(self, value):
        return 0 if value == self.lowest else abs(value)

    def along(self, values, origin, neighbours, cubic):
        """(prediction, activity) along one axis."""
        wrap = self.wrap
        at_a, at_b, at_c, at_d = neighbours
        b = values[origin + at_b]
        a = b if at_a is None else values[origin + at_a]
        c = b if at_c is None else values[origin + at_c]
        d = b if at_d is None else values[origin + at_d]
        if at_c is None:
            if at_a is not None:
                c = wrap(2 * b - a)
                d = wrap(3 * b - 2 * a)
        elif at_a is None and at_d is None:
            a, d = wrap(2 * b - c), wrap(2 * c - b)
        elif at_a is None:
            a = wrap(d + 3 * (b - c))
        elif at_d is None:
            d = wrap(a + 3 * (c - b))
        near = self.magnitude(wrap(b - c))
        if not cubic:
            return wrap(b + c + 1) >> 1, near
        q = wrap((b - a) + (c - d) + 4) >> 3
        far = self.magnitude(wrap((b - a) - (d - c)))
        return wrap(b + c + q + 1) >> 1, wrap(far + (near >> 2))

    def predict(self, values, origin, point, kind):
        """(prediction, context) at a point."""
        cubic = kind >= 2
        averaged = kind & 1
        axes = point.axes if averaged else point.axes[:1]
        parts = [self.along(values, origin, neighbours, cubic) for neighbours in axes]
        prediction, activity = (self.average(column) for column in zip(*parts))
        return prediction, 16 * min(point.level, 3) + self.classes.of(activity)

    def average(self, parts):
        if len(parts) == 1:
            return parts[0]
        if len(parts) == 2:
            return self.wrap(parts[0] + parts[1] + 1) >> 1
        return self.wrap(2 * parts[0] + parts[1] + parts[2] + 2) >> 2


def lorenzo_points(side, lengths, strides):
    """(offset, local coordinates) of the open points in raster order."""
    spans = [range(1, min(n, side)) for n in lengths]
    return [(sum(c * s for c, s in zip(place, strides)), place)
            for place in itertools.product(*spans)]


def lorenzo_stencil(free):
    """(steps back along each axis, sign) of the known corners."""
    return [(back, 1 if sum(back) % 2 else -1)
            for back in itertools.product((0, 1), repeat=free) if any(back)]


class Lorenzo:
    """Predictor 4 for one lattice."""

    def __init__(self, w, step):
        self.w = w
        self.step = step
        self.wrap = wrapper(w)
        self.classes = Classes(step)

    def decode(self, values, origin, cell, void, next_code):
        """void: the linear indices without codes, as a function."""
        free = len(cell.strides)
        rounded = {}
        spans = [range(min(n, cell.side)) for n in cell.lengths]
        for place in itertools.product(*spans):
            if 0 in place:
                value = values[origin + sum(c * s for c, s in zip(place, cell.strides))]
                rounded[place] = (2 * value + self.step) // (2 * self.step)
        stencil = lorenzo_stencil(free)
        magnitudes = {}
        lowest = -(1 << (self.w - 1))
        for offset, place in cell.lorenzo:
            q = sum(sign * rounded[tuple(c - b for c, b in zip(place, back))]
                    for back, sign in stencil)
            code = 0
            if not void(origin + offset):
                code = next_code(self.classes.of(self.activity(place, magnitudes)))
            magnitudes[place] = 0 if code == lowest else abs(code)
            rounded[place] = self.wrap(q + code)
            values[origin + offset] = self.wrap(rounded[place] * self.step)

    def activity(self, place, magnitudes):
        if len(place) == 1:
            return 0
        if len(place) == 2:
            return self.wrap(magnitudes.get((place[0] - 1, place[1]), 0) * self.step)
        z, y, x = place
        total = magnitudes.get((z, y - 1, x), 0) + magnitudes.get((z - 1, y, x), 0)
        if (y == 1) != (z == 1):
            total *= 2
        return self.wrap(total * self.step)


class Cell:
    """One sort of cell: its free axes and its lengths along them."""

    def __init__(self, grid, ranks, mask, lengths):
        free = [k for k in range(grid.rank) if mask >> k & 1]
        self.side = grid.side
        self.lengths = [lengths[k] for k in free]
        self.strides = [grid.active_strides[k] for k in free]
        self.interpolated = interpolated_points(self.side, self.lengths, self.strides,
                                                [ranks[k] for k in free])
        self.lorenzo = lorenzo_points(self.side, self.lengths, self.strides)
