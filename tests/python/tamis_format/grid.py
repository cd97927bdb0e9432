"""Folding, grids, tiles, chunks and blobs (format.md sections 5, 8 and 9)."""
import itertools
from math import prod

from .bits import BitReader, require

TILE_SIDES = {1: 4096, 2: 64, 3: 16}
LAYER_TILES, CHUNK_TILES, BUNDLE_TILES = 64, 128, 8
LORENZO = 4


def fold(shape):
    extents = [extent for extent in shape if extent != 1] or [1]
    while len(extents) > 5:
        extents[:2] = [extents[0] * extents[1]]
    return tuple(extents)


def ceil_div(a, b):
    return -(-a // b)


class Tile:
    """origin: linear index of the anchor; lengths: N along each active axis."""
    __slots__ = ("origin", "lengths")

    def __init__(self, origin, lengths):
        self.origin = origin
        self.lengths = lengths


class Grid:
    def __init__(self, extents, active):
        self.extents = extents
        self.active = active
        self.rank = len(active)
        self.side = TILE_SIDES[self.rank]
        self.size = prod(extents)
        strides = [prod(extents[axis + 1:]) for axis in range(len(extents))]
        self.active_strides = tuple(strides[axis] for axis in active)
        self.tile_grid = tuple(ceil_div(extent, self.side) if axis in active else extent
                               for axis, extent in enumerate(extents))
        self.tiles = []
        for place in itertools.product(*map(range, self.tile_grid)):
            first = [t * self.side if axis in active else t for axis, t in enumerate(place)]
            lengths = tuple(min(self.side + 1, extents[axis] - first[axis]) for axis in active)
            self.tiles.append(Tile(sum(map(int.__mul__, first, strides)), lengths))
        self.chunks = self._chunks()
        self.masks = {rank: [m for m in range(1, 1 << self.rank) if bin(m).count("1") == rank]
                      for rank in range(1, self.rank + 1)}

    def _chunks(self):
        """Each chunk as the range of its tiles."""
        count = len(self.tiles)
        row = count // self.tile_grid[0]
        layer = max(1, ceil_div(LAYER_TILES, row)) * row
        chunks = []
        for start in range(0, count, layer):
            tiles = min(layer, count - start)
            parts = ceil_div(tiles, CHUNK_TILES)
            chunks += [range(start + tiles * i // parts, start + tiles * (i + 1) // parts)
                       for i in range(parts)]
        return chunks

    @staticmethod
    def bundles(chunk):
        return [chunk[i:i + BUNDLE_TILES] for i in range(0, len(chunk), BUNDLE_TILES)]

    def blob_order(self):
        """(chunk, blob) in file order."""
        order = [(c, b) for b in range(self.rank) for c in range(len(self.chunks))]
        for c in range(len(self.chunks)):
            order += [(c, self.rank), (c, self.rank + 1)]
        return order


def read_predictors(data, tiles):
    """Blob 0: the predictor of each of the tiles of a chunk."""
    require(len(data) > 0, "predictors: empty")
    if data[0] != 8:
        require(data[0] <= LORENZO and len(data) == 1, "predictors: no such predictor")
        return [data[0]] * tiles
    bits = BitReader(data[1:], "predictors")
    result = [bits.field(3) for _ in range(tiles)]
    require(max(result) <= LORENZO, "predictors: no such predictor")
    bits.finish()
    return result
