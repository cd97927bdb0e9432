"""The entropy codes (format_codes.md): streams of bytes to streams of signed codes.

read_blob() splits a blob; its open_stream() gives an object with next(context) and finish().
"""
import struct

from .bits import BitReader, ByteReader, require

RICE, FIXED_WIDTH, RANS = 1, 2, 3
CONTEXTS = 64


def unzigzag(u):
    return u >> 1 if u & 1 == 0 else -(u >> 1) - 1


def decode_rice(data, count, w):
    if not data:
        return [0] * count
    bits = BitReader(data, "Rice stream")
    codes = []
    for start in range(0, count, 512):
        n = min(512, count - start)
        head = bits.field(4)
        require(head <= 9, "Rice stream: segment head")
        if head == 0:
            codes += [0] * n
        elif head == 9:
            codes += _dense_segment(bits, n, w)
        else:
            codes += _sparse_segment(bits, n, w, head - 1)
    bits.finish()
    return codes


def _sparse_segment(bits, n, w, low_bits):
    k = bits.field(9) + 1
    gaps = [bits.field(low_bits) for _ in range(k)]
    gaps = [low + (high << low_bits) for low, high in zip(gaps, bits.unary(k, 512))]
    signs = [bits.field(1) for _ in range(k)]
    sizes = bits.unary(k, 24)
    codes = [0] * n
    position = -1
    for gap, sign, size in zip(gaps, signs, sizes):
        position += gap + 1
        require(position < n, "Rice stream: position beyond the segment")
        codes[position] = unzigzag(bits.field(w) if size == 24 else 2 * (size + 1) - sign)
    return codes


def _dense_segment(bits, n, w):
    parameters = []
    for _ in range(0, n, 64):
        head = bits.field(4)
        parameter = head - 1 if head < 15 else bits.field(6)
        require(parameter < w, "Rice stream: parameter")
        parameters.append(parameter)
    codes = []
    for group, p in enumerate(parameters):
        size = min(64, n - 64 * group)
        if p < 0:
            codes += [0] * size
            continue
        planes = [bits.take(size) for _ in range(p)]
        quotients = bits.unary(size, 24)
        for i, quotient in enumerate(quotients):
            if quotient == 24:
                u = bits.field(w)
            else:
                u = sum((planes[j][i] == "1") << j for j in range(p)) + (quotient << p)
            codes.append(unzigzag(u & (1 << w) - 1))
    return codes


def decode_fixed_width(data, count, w):
    if not data:
        return [0] * count
    reader = ByteReader(data, "fixed-width stream")
    groups = -(-count // 64)
    flags = int.from_bytes(reader.take(-(-groups // 8)), "little")
    require(flags >> groups == 0, "fixed-width stream: spare flags")
    widths = [reader.unsigned(1) if flags >> g & 1 else 0 for g in range(groups)]
    codes = []
    for g, width in enumerate(widths):
        m = min(64, count - 64 * g)
        if width == 0:
            require(not flags >> g & 1, "fixed-width stream: width 0")
            codes += [0] * m
            continue
        require(width <= w, "fixed-width stream: width")
        planes = [reader.unsigned(-(-m // 8)) for _ in range(width)]
        for i in range(m):
            codes.append(unzigzag(sum((plane >> i & 1) << j for j, plane in enumerate(planes))))
    reader.finish()
    return codes


class RansTables:
    """slots[context][s] = (token, frequency, s - start of the token)."""

    def __init__(self, data):
        bits = BitReader(data, "rANS tables")
        clusters = bits.field(6) + 1
        index_bits = (clusters - 1).bit_length()
        of_context = []
        for context in range(CONTEXTS):
            if bits.field(1):
                cluster = of_context[-1] if context else 0
            else:
                cluster = bits.field(index_bits)
                require(cluster < clusters, "rANS tables: no such cluster")
            of_context.append(cluster)
        tables = [self._table(bits) for _ in range(clusters)]
        bits.finish()
        self.slots = [tables[cluster] for cluster in of_context]

    @staticmethod
    def _table(bits):
        tokens = bits.field(8)
        require(1 <= tokens <= 136, "rANS tables: number of tokens")
        slots = []
        for token in range(tokens):
            width = bits.field(4)
            frequency = 0 if width == 0 else (1 << (width - 1)) + bits.field(width - 1)
            slots += [(token, frequency, i) for i in range(frequency)]
        require(len(slots) == 4096, "rANS tables: sum of frequencies")
        return slots


class RansStream:
    def __init__(self, data, tables, w):
        reader = ByteReader(data, "rANS stream")
        lanes = reader.unsigned(1)
        require(lanes <= 5, "rANS stream: lanes")
        self.states = [reader.unsigned(4) for _ in range(1 << lanes)]
        require(min(self.states) >= 1 << 16, "rANS stream: state")
        require(reader.left() % 2 == 0, "rANS stream: half a word")
        self.words = struct.unpack(f"<{reader.left() // 2}H", reader.take(reader.left()))
        self.used = 0
        self.count = 0
        self.slots = tables.slots
        self.w = w

    def _refill(self, x):
        if x >= 1 << 16:
            return x
        require(self.used < len(self.words), "rANS stream: cut short")
        self.used += 1
        return x << 16 | self.words[self.used - 1]

    def next(self, context):
        lane = self.count & (len(self.states) - 1)
        self.count += 1
        x = self.states[lane]
        token, frequency, offset = self.slots[context][x & 4095]
        x = self._refill(frequency * (x >> 12) + offset)
        u = token
        if token >= 16:
            v = 5 + (token - 16) // 2
            require(v <= self.w, "rANS stream: code too long")
            u = (2 + (token & 1)) << (v - 2)
            done = 0
            while done < v - 2:
                piece = min(12, v - 2 - done)
                u += (x & ((1 << piece) - 1)) << done
                x = self._refill(x >> piece)
                done += piece
        self.states[lane] = x
        return unzigzag(u)

    def finish(self):
        require(self.used == len(self.words), "rANS stream: words left over")
        require(all(x == 1 << 16 for x in self.states), "rANS stream: final state")


class ListStream:
    """Codes that were decoded as a whole."""

    def __init__(self, codes):
        self.codes = codes
        self.count = 0

    def next(self, context):
        del context
        self.count += 1
        return self.codes[self.count - 1]

    def finish(self):
        assert self.count == len(self.codes), "codes were not counted right"


class Blob:
    def __init__(self, data, streams):
        self.coder = RICE
        self.tables = None
        self.streams = [b""] * streams
        if not data:
            return
        reader = ByteReader(data, "blob")
        self.coder = reader.unsigned(1)
        require(RICE <= self.coder <= RANS, "blob: coder")
        if self.coder == RANS:
            self.tables = RansTables(reader.take(reader.varint()))
        sizes = [reader.varint() for _ in range(streams)]
        self.streams = [reader.take(size) for size in sizes]
        reader.finish()

    def open_stream(self, number, count, w):
        data = self.streams[number]
        if not data:
            return ListStream([0] * count)
        if self.coder == RANS:
            return RansStream(data, self.tables, w)
        decode = decode_rice if self.coder == RICE else decode_fixed_width
        return ListStream(decode(data, count, w))
