"""python3 -m tamis_format FILE.tms OUT.raw: decodes a file to raw little-endian values."""
import sys

from .bits import CorruptFile
from .decode import decode
from .mask import CorruptMask


def main(arguments):
    if len(arguments) != 2:
        print("usage: python3 -m tamis_format FILE.tms OUT.raw", file=sys.stderr)
        return 2
    with open(arguments[0], "rb") as file:
        data = file.read()
    try:
        shape, dtype, values = decode(data)
    except (CorruptFile, CorruptMask) as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return 1
    with open(arguments[1], "wb") as file:
        file.write(values)
    print("x".join(map(str, shape)), dtype)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
