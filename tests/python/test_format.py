"""The decoder written from docs/format*.md against the golden files, and on damaged ones."""
import hashlib
import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from tamis_format.bits import CorruptFile  # noqa: E402
from tamis_format.container import read_cbor  # noqa: E402
from tamis_format.decode import decode  # noqa: E402
from tamis_format.xxh3 import xxh3_64  # noqa: E402

GOLDEN = os.path.join(HERE, "..", "golden")


def directory_of(file):
    size = int.from_bytes(file[-20:-16], "little")
    root = read_cbor(file[-20 - size:-20])
    return root["meta"], root["sections"]


def read_golden(name):
    with open(os.path.join(GOLDEN, name), "rb") as file:
        return file.read()


class Format(unittest.TestCase):
    def test_golden_files(self):
        with open(os.path.join(GOLDEN, "manifest.json"), encoding="utf-8") as file:
            manifest = json.load(file)
        self.assertGreater(len(manifest), 20)
        for name, entry in manifest.items():
            with self.subTest(name):
                shape, dtype, values = decode(read_golden(name))
                self.assertEqual(shape, tuple(entry["shape"]))
                self.assertEqual(dtype, entry["dtype"])
                self.assertEqual(hashlib.sha256(values).hexdigest(), entry["sha256"])

    def test_flipped_bits_are_noticed(self):
        file = read_golden("constant.tms")
        for position in range(len(file)):
            damaged = bytearray(file)
            damaged[position] ^= 1 << position % 8
            with self.assertRaises(CorruptFile, msg=f"byte {position}"):
                decode(bytes(damaged))

    def test_sums_of_sections(self):
        """Files have none for `data`; older ones do, and it is verified."""
        def sums(name):
            _, sections = directory_of(read_golden(name))
            return {entry["name"]: "xxh3" in entry for entry in sections}
        self.assertEqual(sums("cube_rel.tms"), {"anchors": True, "data": False, "index": True})
        self.assertEqual(sums("whole_sum_cube_rel.tms"),
                         {"anchors": True, "data": True, "index": True})

    def test_cut_files_are_noticed(self):
        file = read_golden("constant.tms")
        for size in range(len(file)):
            with self.assertRaises(CorruptFile, msg=f"{size} bytes"):
                decode(file[:size])

    def test_hash(self):
        """Values of the reference implementation, one for each branch."""
        data = bytes(range(256)) * 8
        for size, expected in HASHES.items():
            self.assertEqual(xxh3_64(data[:size]), expected, size)


HASHES = {
    0: 0x2D06800538D394C2, 1: 0xC44BDFF4074EECDB,
    3: 0x5F4299FC161C9CBB, 4: 0x60DAB036A58211F2,
    8: 0x3A1C2D7C85AF88F8, 9: 0xE9612598145BB9DC,
    16: 0x8355E3A6F61770DB, 17: 0x9EF341A99DE37328,
    64: 0x6187EB9089B0ED55, 100: 0x004E4F921A64BD1C,
    128: 0x85C6174C7FF4C46B, 129: 0xEC7642B431BA3E5A,
    240: 0x375A384D957FE865, 241: 0x02E8CD95421C6D02,
    1024: 0xA870F92984398D22, 1025: 0x78C86E91EE939852,
    2048: 0xDD420471FF96BD00,
}

if __name__ == "__main__":
    unittest.main()
