"""Lattice integers to bits of values, and what is applied last (format.md sections 7, 13)."""
import math
import struct

from .bits import ByteReader, require

AFFINE, LATTICE, PALETTE, ORDERED, LOGARITHM = 1, 2, 3, 4, 5


class FloatType:
    def __init__(self, name, size):
        self.name = name
        self.size = size
        self.bits = 8 * size
        self.mask = (1 << self.bits) - 1
        self.sign = 1 << (self.bits - 1)

    def bits_of_double(self, value):
        """Rounded to this type; what is too large becomes infinite."""
        if self.size == 8:
            return struct.unpack("<Q", struct.pack("<d", value))[0]
        try:
            return struct.unpack("<I", struct.pack("<f", value))[0]
        except OverflowError:
            return struct.unpack("<I", struct.pack("<f", math.copysign(math.inf, value)))[0]

    def bits_of_ordered(self, ordered):
        """`ordered` counts modulo 2^bits."""
        ordered &= self.mask
        return ordered if ordered < self.sign else ~ordered & self.mask | self.sign

    def quiet(self, bits):
        """A signalling NaN of 32 bits becomes quiet; all else stays."""
        signalling = self.size == 4 and bits & 0x7F800000 == 0x7F800000 and bits & 0x7FFFFF != 0
        return bits | 1 << 22 if signalling else bits

    def pack(self, bits):
        return struct.pack(f"<{len(bits)}{'I' if self.size == 4 else 'Q'}", *bits)


TYPES = {1: FloatType("f32", 4), 2: FloatType("f64", 8)}


def read_palette(data, kind):
    reader = ByteReader(data, "palette")
    count = reader.varint()
    require(1 <= count <= len(data), "palette: number of entries")
    ordered = reader.unsigned(8)
    entries = [kind.quiet(kind.bits_of_ordered(ordered))]
    for _ in range(count - 1):
        ordered += reader.varint()
        entries.append(kind.quiet(kind.bits_of_ordered(ordered)))
    reader.finish()
    return entries


def map_numbers(lattice, meta, sections, kind):
    """The bits of each value."""
    if meta["map"] in (AFFINE, LATTICE):
        offset, unit = float(meta["offset"]), float(meta["unit"])
        return [kind.bits_of_double(offset + unit * float(x)) for x in lattice]
    if meta["map"] == PALETTE:
        require("palette" in sections, "no palette")
        entries = read_palette(sections["palette"], kind)
        last = len(entries) - 1
        return [entries[min(max(x, 0), last)] for x in lattice]
    if meta["map"] == ORDERED:
        return [kind.bits_of_ordered(x) for x in lattice]
    return [min(max(x, 0), kind.sign - 1) for x in lattice]


def apply_patches(bits, data, kind):
    reader = ByteReader(data, "patches")
    count = reader.varint()
    require(count <= len(data), "patches: their number")
    index = -1
    for _ in range(count):
        index += 1 + reader.varint()
        require(index < len(bits), "patches: index")
        bits[index] = reader.unsigned(kind.size)
    reader.finish()


def apply_last(bits, meta, maps, sections, kind):
    """maps: the bit maps that are present, by name."""
    zeros, signs, mask = maps.get("zeros"), maps.get("signs"), maps.get("mask")
    for i in range(len(bits)):
        if mask and mask[i]:
            bits[i] = meta["fill"]
            continue
        if zeros and zeros[i]:
            bits[i] = 0
        if signs and signs[i]:
            bits[i] ^= kind.sign
    if "patches" in sections:
        apply_patches(bits, sections["patches"], kind)
