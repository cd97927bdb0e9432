"""The container (format.md sections 1 to 3): directory in CBOR, sections, their checksums."""
import struct

from .bits import CorruptFile, require
from .xxh3 import xxh3_64

FRONT_MAGIC = b"\x89TMS\r\n\x1a\n"
END_MAGIC = b"\x89TMSe\r\n\n"
MAX_DIRECTORY = 1 << 20
MAX_DEPTH = 16


class CborReader:
    """The subset of RFC 8949 that a directory uses: definite lengths, no tags."""

    def __init__(self, data):
        self.data = data
        self.position = 0

    def take(self, size):
        require(size <= len(self.data) - self.position, "directory: CBOR cut short")
        start = self.position
        self.position += size
        return self.data[start:self.position]

    def argument(self, info):
        if info < 24:
            return info
        require(info < 28, "directory: CBOR length of an unknown kind")
        return int.from_bytes(self.take(1 << (info - 24)), "big")

    def value(self, depth=0):
        """`depth` lists and maps are open around it."""
        first = self.take(1)[0]
        major, info = first >> 5, first & 31
        require(major not in (4, 5) or depth < MAX_DEPTH, "directory: nested too deep")
        if major == 7:
            return self.simple(info)
        argument = self.argument(info)
        if major == 0:
            return argument
        if major == 1:
            return -1 - argument
        if major == 2:
            return self.take(argument)
        if major == 3:
            try:
                return self.take(argument).decode("utf-8")
            except UnicodeDecodeError as error:
                raise CorruptFile("directory: text that is not UTF-8") from error
        if major == 4:
            require(argument <= len(self.data), "directory: CBOR cut short")
            return [self.value(depth + 1) for _ in range(argument)]
        require(major == 5, "directory: a CBOR tag")
        result = {}
        for _ in range(argument):
            key = self.value(depth + 1)
            require(isinstance(key, str), "directory: a key that is no text")
            require(key not in result, f"directory: key '{key}' occurs twice")
            result[key] = self.value(depth + 1)
        return result

    def simple(self, info):
        constants = {20: False, 21: True, 22: None}
        if info in constants:
            return constants[info]
        formats = {25: "e", 26: "f", 27: "d"}
        require(info in formats, "directory: an unknown CBOR value")
        return struct.unpack(">" + formats[info], self.take(1 << (info - 24)))[0]


def read_cbor(data):
    reader = CborReader(data)
    value = reader.value()
    require(reader.position == len(data), "directory: bytes behind the CBOR value")
    return value


def is_unsigned(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def read_container(file):
    """(meta, {name: bytes}) of a container; every checksum of the directory is verified.

    `data` alone may have none there.
    """
    require(len(file) >= 36, "not a Tamis file: too short")
    require(file[:8] == FRONT_MAGIC, "not a Tamis file: magic")
    version, reserved = struct.unpack_from("<II", file, 8)
    require(version <= 1, f"version {version} is not supported")
    require(version == 1, "version 0")
    require(reserved == 0, "reserved bytes are not zero")
    require(file[-8:] == END_MAGIC, "end magic")
    size, checksum = struct.unpack_from("<IQ", file, len(file) - 20)
    require(size <= MAX_DIRECTORY and size + 36 <= len(file), "directory size")
    start = len(file) - 20 - size
    directory = file[start:start + size]
    require(xxh3_64(file[:16] + file[start:start + size + 4]) == checksum, "directory checksum")
    root = read_cbor(directory)
    require(isinstance(root, dict) and "meta" in root, "directory: no meta data")
    require(isinstance(root.get("sections"), list), "directory: no list of sections")
    sections = {}
    position = 16
    for entry in root["sections"]:
        require(isinstance(entry, dict), "directory: a section is no map")
        name, length = entry.get("name"), entry.get("size")
        require(isinstance(name, str) and 1 <= len(name) <= 64
                and all("!" <= c <= "~" for c in name), "directory: section name")
        require(name not in sections, f"directory: section '{name}' occurs twice")
        require(is_unsigned(length), f"directory: section '{name}'")
        require(length <= start - position, f"section '{name}' is too long")
        sections[name] = file[position:position + length]
        if "xxh3" in entry:
            require(xxh3_64(sections[name]) == entry["xxh3"], f"section '{name}': checksum")
        else:
            require(name == "data", f"section '{name}': no checksum")
        position += length
    require(position == start, "sections do not fill the file")
    return root["meta"], sections
