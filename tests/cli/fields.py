#!/usr/bin/env python3
"""Makes and compares small fields for the command-line tests; standard library only.

  fields.py make OUT --shape 4x5x6 [--dtype f32|f64] [--kind raw|npy1|npy2|npy3]
                     [--fortran] [--big-endian] [--fill V]
  fields.py text --shape 4x5 [--scale S] [--integer]      values for CDL and h5import
  fields.py compare A B --dtype f32|f64 --abs E           raw files, exits 1 when they differ by more
  fields.py describe FILE.npy                             "<f4 C 4x5x6"
"""
import argparse
import array
import math
import struct
import sys

CODES = {"f32": ("f", "f4"), "f64": ("d", "f8")}


def parse_shape(text):
    return [int(part) for part in text.split("x")]


def value(index, fill):
    """A smooth function of the index; every seventh point along the diagonal is fill."""
    if fill is not None and sum(index) % 7 == 3:
        return fill
    return sum(math.sin(0.3 * (d + 1) * i) * 10.0 / (d + 1) for d, i in enumerate(index)) + 20.0


def indices(shape, fortran=False):
    """All indices in memory order."""
    order = list(range(len(shape)))
    if not fortran:
        order.reverse()
    total = math.prod(shape)
    index = [0] * len(shape)
    for _ in range(total):
        yield tuple(index)
        for d in order:
            index[d] += 1
            if index[d] < shape[d]:
                break
            index[d] = 0


def npy_header(version, descr, fortran, shape):
    inner = ", ".join(str(n) for n in shape) + ("," if len(shape) == 1 else "")
    text = "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }" % (descr, fortran, inner)
    start = 10 if version == 1 else 12
    text += " " * (-(start + len(text) + 1) % 64) + "\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode("utf-8")


def make(args):
    shape = parse_shape(args.shape)
    code, descr = CODES[args.dtype]
    numbers = array.array(code, (value(i, args.fill) for i in indices(shape, args.fortran)))
    if args.big_endian != (sys.byteorder == "big"):
        numbers.byteswap()
    with open(args.out, "wb") as out:
        if args.kind != "raw":
            order = ">" if args.big_endian else "<"
            out.write(npy_header(int(args.kind[3:]), order + descr, args.fortran, shape))
        out.write(numbers.tobytes())


def text(args):
    values = (value(i, None) * args.scale for i in indices(parse_shape(args.shape)))
    print(", ".join(str(round(v)) if args.integer else "%.9g" % v for v in values))


def compare(args):
    code = CODES[args.dtype][0]
    fields = []
    for path in (args.a, args.b):
        with open(path, "rb") as file:
            fields.append(array.array(code, file.read()))
    a, b = fields
    if len(a) != len(b):
        sys.exit("%s holds %d values, %s holds %d" % (args.a, len(a), args.b, len(b)))
    for i, (x, y) in enumerate(zip(a, b)):
        same = x == y or (math.isnan(x) and math.isnan(y))
        if not same and not abs(x - y) <= args.abs:
            sys.exit("element %d: %r became %r, allowed %r" % (i, x, y, args.abs))


def describe(args):
    with open(args.file, "rb") as file:
        if file.read(6) != b"\x93NUMPY":
            sys.exit("not an .npy file")
        version = file.read(2)[0]
        length = struct.unpack("<H" if version == 1 else "<I", file.read(2 if version == 1 else 4))
        header = eval(file.read(length[0]).decode("utf-8"), {"__builtins__": {}})
        if file.tell() % 64 != 0:
            sys.exit("the data begin at %d, not at a multiple of 64" % file.tell())
        order = "F" if header["fortran_order"] else "C"
        print(header["descr"], order, "x".join(str(n) for n in header["shape"]))


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("make")
    command.add_argument("out")
    command.add_argument("--shape", required=True)
    command.add_argument("--dtype", choices=CODES, default="f32")
    command.add_argument("--kind", choices=["raw", "npy1", "npy2", "npy3"], default="raw")
    command.add_argument("--fortran", action="store_true")
    command.add_argument("--big-endian", action="store_true")
    command.add_argument("--fill", type=float)
    command.set_defaults(run=make)
    command = commands.add_parser("text")
    command.add_argument("--shape", required=True)
    command.add_argument("--scale", type=float, default=1.0)
    command.add_argument("--integer", action="store_true")
    command.set_defaults(run=text)
    command = commands.add_parser("compare")
    command.add_argument("a")
    command.add_argument("b")
    command.add_argument("--dtype", choices=CODES, required=True)
    command.add_argument("--abs", type=float, required=True)
    command.set_defaults(run=compare)
    command = commands.add_parser("describe")
    command.add_argument("file")
    command.set_defaults(run=describe)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
