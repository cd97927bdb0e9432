"""Decoder of the mask stream in plain Python, written from docs/format_mask.md alone.

It is slow and simple on purpose: a second opinion on the bytes for the tests. Each name and formula
below is the one of that page.
"""

BLOCK_POINTS = 1 << 20
HALF = 1 << 21


class CorruptMask(Exception):
    """The bytes are not a mask stream of the shape given."""


def _require(condition, message):
    if not condition:
        raise CorruptMask(message)


class _RangeDecoder:
    def __init__(self, data):
        self.data = data
        self.fetched = 0
        self.range = 1 << 40
        self.value = 0
        for _ in range(5):
            self.value = self.value << 8 | self._next_byte()

    def _next_byte(self):
        position = self.fetched
        self.fetched += 1
        return self.data[position] if position < len(self.data) else 0

    def decode(self, q):
        bound = (self.range >> 16) * q
        if self.value < bound:
            bit = 1
            self.range = bound
        else:
            bit = 0
            self.value -= bound
            self.range -= bound
        while self.range < 1 << 32:
            self.value = self.value << 8 | self._next_byte()
            self.range <<= 8
        return bit

    def check_end(self):
        written = self.fetched - 5
        _require(len(self.data) in (written, written + 1), "block does not end where its points do")


class _Probability:
    __slots__ = ("p", "k")

    def __init__(self):
        self.p = HALF
        self.k = 0

    def update(self, bit):
        rate = 131072 // (2 * self.k + 3)
        if bit:
            self.p += ((4194304 - self.p) * rate) >> 16
        else:
            self.p -= (self.p * rate) >> 16
        if self.k < 255:
            self.k += 1


class _OfferKind:
    def __init__(self):
        self.probabilities = [_Probability() for _ in range(48)]
        self.history = 0

    def update(self, probability, outcome):
        probability.update(outcome)
        self.history = (self.history << 1 | outcome) & 3


class _BlockDecoder:
    """Decodes one coded block in place: `points` holds all earlier blocks' bits."""

    def __init__(self, points, start, count, row_stride, stride, payload):
        self.points = points
        self.start = start
        self.count = count
        self.stride = stride
        slab_blocks = -(-stride // BLOCK_POINTS)
        self.has_reference = stride > 0 and start // BLOCK_POINTS >= slab_blocks
        self.row_distance = self._distance(row_stride)
        self.second_distance = self._distance(2 * row_stride)
        self.far_distance = self._distance(stride)
        self.decoder = _RangeDecoder(payload)
        self.kinds = {"far": _OfferKind(), "row": _OfferKind(), "repeat": _OfferKind()}
        self.small = {}
        self.large = {}

    def _distance(self, distance):
        """0 for an absent source."""
        return distance if self.has_reference or distance < self.count else 0

    def _v(self, j):
        if j >= self.start:
            return self.points[j]
        return self.points[j % self.stride] if self.has_reference else 0

    def _source(self, distance, i):
        return self._v(i - distance) if distance else 0

    def run(self):
        end = self.start + self.count
        for i in range(self.start, end, 64):
            self._word(i, min(64, end - i))
        self.decoder.check_end()

    def _word(self, i, w):
        c = self._v(i - 1)
        offers = self._offers(i, w, c)
        passed_over = []
        refused = None
        word = None
        for name, offered, context in offers:
            kind = self.kinds[name]
            probability = kind.probabilities[4 * context + kind.history]
            if probability.p < HALF:
                passed_over.append((kind, probability, offered))
                continue
            taken = self.decoder.decode(max(probability.p >> 6, 1))
            kind.update(probability, taken)
            if taken:
                word = offered
                self.points[i:i + w] = bytes(word)
                break
            refused = offered
        if word is None:
            self._points(i, w, refused)
            word = list(self.points[i:i + w])
        for kind, probability, offered in passed_over:
            kind.update(probability, int(word == offered))

    def _offers(self, i, w, c):
        """The words to offer, in order: (kind, bits, context)."""
        far_word = row_word = None
        row_class = 3
        far_class = 0
        if self.row_distance >= 128:
            around = [self._source(self.row_distance, i + x) for x in range(-3, 67)]
            row_word = around[3:3 + w]
            if 0 < sum(row_word) < w:
                row_class = 2
            else:
                row_class = 0 if around == [c] * 70 else 1
        if self.far_distance >= 128:
            far_word = [self._source(self.far_distance, i + x) for x in range(w)]
            if far_word != [c] * w:
                far_class = 2 if 0 < sum(far_word) < w else 1
        repeat_word = [c] * w
        offers = []
        for name, bits, context in (("far", far_word, 4 * far_class + row_class),
                                    ("row", row_word, 4 * far_class + row_class),
                                    ("repeat", repeat_word, row_class)):
            if bits is not None and all(bits != earlier[1] for earlier in offers):
                offers.append((name, bits, context))
        return offers

    def _points(self, first, w, refused):
        searching = int(refused is not None)
        for x in range(w):
            if searching and x == w - 1:
                bit = 1 - refused[x]
            else:
                bit = self._point(first + x, searching)
            self.points[first + x] = bit
            if searching and bit != refused[x]:
                searching = 0

    def _point(self, i, searching):
        left = self._v(i - 1) + 2 * self._v(i - 2) + 4 * self._v(i - 3)
        row = sum(self._source(self.row_distance, i + k) << (k + 3)
                  for k in range(-3, 4) if k < self.row_distance)
        second = sum(self._source(self.second_distance, i + k) << (k + 1) for k in range(-1, 2))
        far = sum(self._source(self.far_distance, i + k) << (k + 1) for k in range(-1, 2))
        small_context = (left & 1, row >> 2 & 15, second >> 1 & 1, far >> 1 & 1, searching)
        small = self.small.setdefault(small_context, _Probability())
        large = self.large.setdefault((left, row, second, far, searching), _Probability())
        if large.k == 0:
            large.p = small.p
        bit = self.decoder.decode(max((small.p + large.p) >> 7, 1))
        small.update(bit)
        large.update(bit)
        return bit


def _read_varint(data, position):
    value = shift = 0
    while True:
        _require(position < len(data) and shift < 64, "block table is cut short")
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            _require(byte != 0 or shift == 7, "over-long table entry")
            return value, position


def _axis_strides(shape):
    """[0, T(1), T(2), ...]: index 0 is the axis that means none."""
    strides = [0]
    product = 1
    for extent in reversed([d for d in shape if d != 1]):
        if product > 1:
            strides.append(product)
        product *= extent
    return strides


def decode_mask(data, shape):
    """The mask of a field of `shape` as a bytearray of zeros and ones, one a point."""
    n = 1
    for extent in shape:
        n *= extent
    if n == 0:
        _require(not data, "bytes for a mask of no points")
        return bytearray()
    _require(len(data) > 0 and data[0] <= 2, "no such form")
    if data[0] < 2:
        _require(len(data) == 1, "bytes behind the mask")
        return bytearray([data[0]]) * n

    position = 1
    entries = []
    for _ in range(-(-n // BLOCK_POINTS)):
        entry, position = _read_varint(data, position)
        entries.append(entry)
    strides = _axis_strides(shape)
    points = bytearray(n)
    for b, entry in enumerate(entries):
        start = b * BLOCK_POINTS
        m = min(BLOCK_POINTS, n - start)
        raw_size = (m + 7) // 8
        _require(entry < 3 + raw_size, "block is too long")
        size = 0 if entry < 2 else raw_size if entry == 2 else entry - 3
        payload = data[position:position + size]
        _require(len(payload) == size, "block is cut short")
        position += size
        if entry == 1:
            points[start:start + m] = b"\1" * m
        elif entry == 2:
            bits = [byte >> k & 1 for byte in payload for k in range(8)]
            _require(not any(bits[m:]), "bits behind the last point")
            points[start:start + m] = bytes(bits[:m])
        elif entry >= 3:
            _require(size > 0 and payload[0] < len(strides), "no such axis")
            row_stride = strides[1] if len(strides) > 1 else 0
            _BlockDecoder(points, start, m, row_stride, strides[payload[0]], payload[1:]).run()
    _require(position == len(data), "bytes behind the mask")
    return points
