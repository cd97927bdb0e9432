"""Readers of bytes, varints and bit streams (format.md section 4, format_codes.md section 1)."""


class CorruptFile(Exception):
    """The bytes are not what the format allows."""


def require(condition, message):
    if not condition:
        raise CorruptFile(message)


def wrapper(w):
    """The function that takes an integer modulo 2^w, into the two's complement range."""
    half = 1 << (w - 1)
    mask = (1 << w) - 1
    return lambda value: ((value + half) & mask) - half


class ByteReader:
    def __init__(self, data, what):
        self.data = data
        self.what = what
        self.position = 0

    def left(self):
        return len(self.data) - self.position

    def take(self, size):
        require(size <= self.left(), f"{self.what}: cut short")
        start = self.position
        self.position += size
        return self.data[start:self.position]

    def unsigned(self, size):
        return int.from_bytes(self.take(size), "little")

    def varint(self):
        value = shift = 0
        while True:
            byte = self.unsigned(1)
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                require(byte != 0 or shift == 7, f"{self.what}: over-long varint")
                require(value < 1 << 64, f"{self.what}: varint above 2^64 - 1")
                return value
            require(shift < 70, f"{self.what}: varint too long")

    def finish(self):
        require(self.left() == 0, f"{self.what}: {self.left()} bytes left over")


class BitReader:
    """Holds the bits as a text of 0 and 1, the first bit first."""

    def __init__(self, data, what):
        self.what = what
        number = int.from_bytes(data, "little")
        self.bits = bin(number | 1 << (8 * len(data)))[:2:-1]
        self.position = 0

    def field(self, width):
        if width == 0:
            return 0
        return int(self.take(width)[::-1], 2)

    def take(self, count):
        """The next bits as text."""
        end = self.position + count
        require(end <= len(self.bits), f"{self.what}: bit stream cut short")
        text = self.bits[self.position:end]
        self.position = end
        return text

    def unary(self, count, most):
        """A list of numbers, in groups of 64 and level by level."""
        numbers = [0] * count
        for start in range(0, count, 64):
            left = range(start, min(count, start + 64))
            for level in range(most):
                left = [i for i, bit in zip(left, self.take(len(left))) if bit == "1"]
                if not left:
                    break
                for i in left:
                    numbers[i] = level + 1
        return numbers

    def finish(self):
        rest = self.bits[self.position:]
        require(len(rest) < 8 and "1" not in rest, f"{self.what}: bits left over")
