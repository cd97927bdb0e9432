"""The whole decoder (format.md sections 4, 6, 9, 10 and 16)."""
from math import prod

from .bits import ByteReader, require, wrapper
from .cells import Cell, Lorenzo, Predictor
from .codes import Blob, decode_rice
from .container import read_container
from .grid import LORENZO, Grid, fold, read_predictors
from .mask import decode_mask
from .meta import check_meta
from .values import TYPES, apply_last, map_numbers
from .xxh3 import xxh3_64


class GridDecoder:
    def __init__(self, grid, meta, masked):
        """masked: None when no point is."""
        self.grid = grid
        self.w = 64 if meta["wide"] else 32
        self.step = meta["step"]
        self.wrap = wrapper(self.w)
        self.ranks = {axis: i for i, axis in enumerate(meta["order"])}
        self.masked = masked
        self.predictor = Predictor(self.w, self.step)
        self.lorenzo = Lorenzo(self.w, self.step)
        self.kinds = []
        self.sorts = {}

    def cell(self, tile, mask):
        key = (mask, tuple(n for k, n in enumerate(tile.lengths) if mask >> k & 1))
        if key not in self.sorts:
            self.sorts[key] = Cell(self.grid, self.ranks, mask, tile.lengths)
        return self.sorts[key]

    def is_masked(self, index):
        return self.masked is not None and self.masked[index]

    def decode(self, blobs, anchors):
        """blobs: bytes by (chunk, blob); the result holds all nodes of the grid."""
        grid = self.grid
        values = [0] * grid.size
        for tile, anchor in zip(grid.tiles, anchors, strict=True):
            values[tile.origin] = anchor
        for c, chunk in enumerate(grid.chunks):
            self.kinds += read_predictors(blobs[c, 0], len(chunk))
        for rank in range(1, grid.rank + 1):
            for c, chunk in enumerate(grid.chunks):
                bundles = grid.bundles(chunk)
                coarse = Blob(blobs[c, rank], len(bundles))
                fine = Blob(blobs[c, rank + 1], len(bundles)) if rank == grid.rank else None
                for b, bundle in enumerate(bundles):
                    self.bundle(values, b, bundle, rank, coarse, fine)
        return values

    def bundle(self, values, number, bundle, rank, coarse_blob, fine_blob):
        cells = [(t, self.cell(self.grid.tiles[t], mask))
                 for t in bundle for mask in self.grid.masks[rank]]
        counts = [self.count(t, cell) for t, cell in cells]
        coarse_count = sum(count[0] for count in counts)
        fine_count = sum(count[1] for count in counts)
        if fine_blob is None:
            coarse = fine = coarse_blob.open_stream(number, coarse_count + fine_count, self.w)
        else:
            coarse = coarse_blob.open_stream(number, coarse_count, self.w)
            fine = fine_blob.open_stream(number, fine_count, self.w)
        for t, cell in cells:
            origin = self.grid.tiles[t].origin
            if self.kinds[t] == LORENZO:
                self.lorenzo.decode(values, origin, cell, self.is_masked, fine.next)
            else:
                self.interpolate(values, origin, cell, self.kinds[t], coarse, fine)
        coarse.finish()
        fine.finish()

    def count(self, t, cell):
        """The numbers of coarse and of fine codes."""
        origin = self.grid.tiles[t].origin
        if self.kinds[t] == LORENZO:
            return 0, sum(not self.is_masked(origin + offset) for offset, _ in cell.lorenzo)
        counts = [0, 0]
        for point in cell.interpolated:
            if not (point.between and self.is_masked(origin + point.offset)):
                counts[point.level == 0] += 1
        return counts

    def interpolate(self, values, origin, cell, kind, coarse, fine):
        for point in cell.interpolated:
            prediction, context = self.predictor.predict(values, origin, point, kind)
            index = origin + point.offset
            if point.between and self.is_masked(index):
                values[index] = prediction
            else:
                code = (coarse if point.level else fine).next(context)
                values[index] = self.wrap(prediction + code * self.step)


def decode_anchors(data, grids, meta):
    """The anchors of the finest grid (section 10)."""
    reader = ByteReader(data, "anchors")
    w = 64 if meta["wide"] else 32
    wrap = wrapper(w)
    base = reader.take(reader.varint())
    nodes = []
    value = 0
    for code in decode_rice(base, grids[-1].size, w):
        value = wrap(value + code * meta["step"])
        nodes.append(value)
    for grid in reversed(grids[1:]):
        blobs = {key: reader.take(reader.varint()) for key in grid.blob_order()}
        nodes = GridDecoder(grid, meta, None).decode(blobs, nodes)
    reader.finish()
    return nodes


def cut_data(sections, grid):
    index = ByteReader(sections["index"], "index")
    data = ByteReader(sections["data"], "data")
    order = grid.blob_order()
    require(len(order) <= len(sections["index"]), "index: too short")
    blobs = {}
    for key in order:
        blobs[key] = data.take(index.varint())
        if blobs[key]:
            checksum = index.unsigned(4)
            require(xxh3_64(blobs[key]) & 0xFFFFFFFF == checksum, f"blob {key}: checksum")
    index.finish()
    data.finish()
    return blobs


def decode_field(meta, sections):
    """The bits of all values."""
    kind = TYPES[meta["dtype"]]
    extents = fold(meta["shape"])
    maps = {name: decode_mask(sections[name], extents) for name in ("mask", "zeros", "signs")
            if name in sections and (name != "mask" or "fill" in meta)}
    masked = None
    if "mask" in maps or "zeros" in maps:
        none = bytes(prod(extents))
        masked = bytes(a | b for a, b in zip(maps.get("mask", none), maps.get("zeros", none)))
    active = tuple(d for d in range(len(extents)) if meta["axes"] >> d & 1)
    grids = [Grid(extents, active)]
    while grids[-1].tile_grid != grids[-1].extents:
        grids.append(Grid(grids[-1].tile_grid, active))
    for name in ("anchors", "data", "index"):
        require(name in sections, f"no section '{name}'")
    anchors = decode_anchors(sections["anchors"], grids, meta)
    lattice = GridDecoder(grids[0], meta, masked).decode(cut_data(sections, grids[0]), anchors)
    bits = map_numbers(lattice, meta, sections, kind)
    apply_last(bits, meta, maps, sections, kind)
    return kind.pack(bits)


def decode(file):
    """(shape, "f32" or "f64", raw little-endian values) of the bytes of a .tms file."""
    meta, sections = read_container(file)
    check_meta(meta)
    kind = TYPES[meta["dtype"]]
    shape = tuple(meta["shape"])
    n = prod(shape)
    if n == 0:
        values = b""
    elif meta.get("raw", False):
        require("raw" in sections and len(sections["raw"]) == n * kind.size, "section 'raw'")
        values = bytes(sections["raw"])
    else:
        values = decode_field(meta, sections)
    return shape, kind.name, values
