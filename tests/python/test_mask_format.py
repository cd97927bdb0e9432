"""The mask decoder written from docs/format_mask.md against streams of the C++ encoder.

The streams are the fuzzer's seeds, which begin with a shape in the fuzzer's own coding; here each
seed's shape and the SHA-256 of its mask (packed, lowest bit first) stand in a table.
"""
import hashlib
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from tamis_format.mask import CorruptMask, decode_mask  # noqa: E402

SEEDS = os.path.join(HERE, "..", "..", "fuzz", "seeds", "fuzz_mask")
CASES = {
    "speckle": ((50, 60), "2445db2834a3afb43f836d4b44104af47c001893334e6e35eb9642a3cf877e6e"),
    "planes": ((4, 30, 516), "f73bbd31c93c28e18a85c861e371704e831cdd1535576c7cb32626a7e3af8032"),
    "levels": ((3, 2, 30, 63), "e1ca58d4ece6dd299db8483363b7047e34a62bafbd3950b7b4429bc9e1dc847a"),
    "interleaved": ((60, 20, 3),
                    "f64625cfb99400bd95e9c37ca16fc89851ec61487136c04f0534c3ddf77888e7"),
    "line": ((4098,), "5f26f842f541195fb050b1d51db0833c9933133c6635b3f505c9bdc40c259a8d"),
    "raw": ((40, 9), "864dfe0a36bc709db21423e4a9d2b09930f3ad7920def32d9fae8e5d87cb654d"),
    # Two blocks and a bit; the later ones look at the first slab.
    "blocks": ((4, 524293), "da0c1213e1ddc7633412b9dbd929994faa5cd6979de88e2262840deb08904f9b"),
}


def read_seed(name, shape):
    with open(os.path.join(SEEDS, name), "rb") as file:
        return file.read()[1 + len(shape):]


def pack(points):
    padded = bytes(points) + bytes(-len(points) % 8)
    return bytes(sum(padded[i + k] << k for k in range(8)) for i in range(0, len(padded), 8))


class MaskFormat(unittest.TestCase):
    def test_streams_of_the_encoder(self):
        for name, (shape, sha256) in CASES.items():
            with self.subTest(name):
                points = decode_mask(read_seed(name, shape), shape)
                self.assertEqual(hashlib.sha256(pack(points)).hexdigest(), sha256)

    def test_uniform_and_empty(self):
        self.assertEqual(decode_mask(b"", (3, 0)), bytearray())
        self.assertEqual(decode_mask(b"\0", (2, 3)), bytearray(6))
        self.assertEqual(decode_mask(b"\1", (5,)), bytearray(b"\1" * 5))

    def test_corrupt(self):
        stream = read_seed("speckle", (50, 60))
        for bad in (stream[:-1], stream + b"\0", b"\3", b"", b"\2\x04\7"):
            with self.assertRaises(CorruptMask):
                decode_mask(bad, (50, 60))


if __name__ == "__main__":
    unittest.main()
