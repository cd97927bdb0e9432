#!/usr/bin/env python3
"""Makes the small fields behind the golden files: make_inputs.py FOLDER [TAMIS].

Only exactly rounded operations are used, so that the fields are the same on every machine. With the
path of the command TAMIS it also compresses them, and writes FOLDER/*.tms and FOLDER/manifest.json.
Golden files stay when the encoder changes: add new ones for new features, replace none. When it no
longer writes a form of the format, some files in that form stay under another name: entries of the
manifest that no case makes are kept. whole_sum_*.tms have a checksum over the section data.
"""
import hashlib
import itertools
import json
import math
import os
import struct
import subprocess
import sys

NAN, INF = math.nan, math.inf


class Random:
    """SplitMix64."""

    def __init__(self, seed):
        self.state = seed

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & (1 << 64) - 1
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & (1 << 64) - 1
        z = (z ^ z >> 27) * 0x94D049BB133111EB & (1 << 64) - 1
        return z ^ z >> 31

    def uniform(self):
        """From -1 to 1."""
        return (self.bits() >> 11) / (1 << 52) - 1


def wave(x):
    """A sine made of parabolas, period 1."""
    x -= math.floor(x)
    return 16 * x * (0.5 - x) if x < 0.5 else 16 * (x - 0.5) * (x - 1)


def field(shape, value):
    """value(coordinates) at all points in C order."""
    return [value(place) for place in itertools.product(*map(range, shape))]


def waves(shape, noise=0.0, seed=1):
    random = Random(seed)

    def value(place):
        total = sum(wave(0.013 * (k + 1) * c + 0.11 * k) for k, c in enumerate(place))
        return total + wave(0.01 * sum(place)) * 0.5 + noise * random.uniform()
    return field(shape, value)


def thirds(shape):
    """On no lattice."""
    return [v / 3 for v in waves(shape)]


def jumps(shape, seed=2):
    """A sum of steps along each axis: smooth along none."""
    random = Random(seed)
    steps = [[random.uniform() for _ in range(extent)] for extent in shape]
    return field(shape, lambda place: sum(steps[k][c] for k, c in enumerate(place))
                 + 0.01 * random.uniform())


def with_disc(values, shape, fill):
    def inside(place):
        return sum(((c + 0.5) / n - 0.45) ** 2 for c, n in zip(place, shape)) < 0.1
    return [fill if inside(place) else v
            for place, v in zip(itertools.product(*map(range, shape)), values)]


def with_special(values, *special):
    values = list(values)
    for i, value in enumerate(special):
        values[(i + 1) * 977 % len(values)] = value
    return values


def magnitudes(shape, seed=3):
    """Many orders of magnitude, both signs, patches of zeros of both signs."""
    random = Random(seed)

    def value(place):
        w = waves_at(place)
        if w > 1.2:
            return 0.0 if w > 1.3 else -0.0
        return math.ldexp(1 + 0.1 * random.uniform(), int(8 * w)) * (-1 if w < -0.4 else 1)
    return field(shape, value)


def waves_at(place):
    return sum(wave(0.021 * c + 0.2 * k) for k, c in enumerate(place))


def choices(shape, palette, seed=4):
    """Runs of a few values."""
    random = Random(seed)
    current = [palette[0]]

    def value(_):
        if random.uniform() > 0.6:
            current[0] = palette[random.bits() % len(palette)]
        return current[0]
    return field(shape, value)


def random_bits(count, seed=5):
    random = Random(seed)
    return [struct.unpack("<f", struct.pack("<I", random.bits() >> 32 & 0xBFFFFFFF))[0]
            for _ in range(count)]


def batches(shape, active, noise=0.0, seed=6):
    """Waves along the last `active` axes, unrelated along the others."""
    random = Random(seed)
    phases = {}

    def value(place):
        phase = phases.setdefault(place[:-active], 3 * random.uniform())
        return sum(wave(phase + 0.02 * (k + 1) * c) for k, c in enumerate(place[-active:])) \
            + noise * random.uniform()
    return field(shape, value)


def cases():
    """(name, dtype, shape, values, arguments)."""
    plane, cube = (70, 150), (20, 40, 36)
    small = (33, 18, 17)
    yield "plane_rel", "f32", plane, waves(plane), "--rel 1e-3"
    yield "plane_abs_ratio", "f32", plane, waves(plane, 0.01), "--abs 0.002 --mode ratio"
    yield "plane_psnr_fast", "f64", plane, waves(plane, 0.001), "--psnr 60 --mode fast"
    yield "cube_rel", "f32", cube, waves(cube, 0.003), "--rel 1e-3"
    yield "cube_psnr_ratio", "f64", cube, waves(cube, 0.003), "--psnr 55 --mode ratio"
    yield "cube_rel_ratio", "f32", cube, waves(cube), "--rel 1e-5 --mode ratio"
    yield "cube_abs_fast", "f32", small, waves(small, 0.01), "--abs 0.01 --mode fast"
    yield "cube_wide", "f64", (9, 18, 5), thirds((9, 18, 5)), "--abs 1e-11"
    yield "line_abs", "f64", (5000,), waves((5000,), 1e-4), "--abs 1e-4"
    yield "line_ratio", "f32", (9000,), waves((9000,), 0.01), "--rel 1e-3 --mode ratio"
    yield "batch_4d", "f32", (3, 5, 20, 30), batches((3, 5, 20, 30), 2), "--rel 1e-3"
    yield "batch_chunks", "f32", (200, 40), batches((200, 40), 1), "--rel 1e-3"
    yield "batch_planes", "f64", (90, 2, 12, 9), batches((90, 2, 12, 9), 2), "--rel 1e-2"
    yield "rank_7", "f32", (2, 3, 2, 3, 4, 5, 6), waves((2, 3, 2, 3, 4, 5, 6)), "--rel 1e-3"
    yield "extents_of_1", "f64", (1, 12, 1, 80, 1), waves((1, 12, 1, 80, 1)), "--rel 1e-4"
    yield "one_point", "f32", (1, 1, 1), [2.5], "--abs 0.1"
    yield "empty", "f32", (4, 0, 3), [], "--rel 1e-3"
    yield "constant", "f32", (30, 40), [1.25] * 1200, "--rel 1e-3"
    yield "disc_1e20", "f32", plane, with_disc(waves(plane), plane, 1e20), "--rel 1e-3"
    yield "disc_rough", "f32", plane, with_disc(jumps(plane), plane, 1e20), "--rel 1e-2"
    yield ("ball_nan_ratio", "f64", cube, with_disc(waves(cube, 0.002), cube, NAN),
           "--rel 1e-3 --fill nan --mode ratio")
    yield ("infinities", "f32", plane, with_special(waves(plane, 0.001), INF, -INF, INF),
           "--abs 0.01")
    yield ("nan_patches", "f64", small, with_special(waves(small, 0.001), NAN, INF, NAN),
           "--rel 1e-3 --no-detect-fill --mode ratio")
    yield "pwrel", "f32", small, magnitudes(small), "--pwrel 0.05"
    yield "pwrel_ratio", "f64", (70, 80), magnitudes((70, 80)), "--pwrel 1e-2 --mode ratio"
    yield "rough", "f32", plane, jumps(plane), "--rel 1e-2"
    yield "rough_ratio", "f32", small, jumps(small), "--rel 1e-2 --mode ratio"
    yield ("palette", "f32", (50, 60), choices((50, 60), (0.1, 0.75, 7e5, 1e-9)),
           "--lossless")
    yield ("palette_f64", "f64", (60, 30), choices((60, 30), (0.1, 0.7, 0.3, -2.1)),
           "--lossless")
    yield ("eighths", "f32", plane, [round(80 * v) / 8 for v in waves(plane)],
           "--lossless")
    yield ("integers", "f64", small, [float(round(1000 * v)) for v in waves(small)],
           "--lossless --mode ratio")
    yield "lossless_f32", "f32", (40, 60), thirds((40, 60)), "--lossless"
    yield ("lossless_special", "f32", (30, 40),
           with_special(waves((30, 40), 0.1), INF, NAN, -0.0), "--lossless")
    yield "lossless_f64", "f64", (30, 33), waves((30, 33)), "--lossless --mode ratio"
    yield "raw", "f32", (12, 20), random_bits(240), "--abs 1e-30"


def main(arguments):
    if len(arguments) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    folder = arguments[0]
    manifest = {}
    listed = os.path.join(folder, "manifest.json")
    if os.path.exists(listed):
        with open(listed, encoding="utf-8") as file:
            manifest = json.load(file)
    for name, dtype, shape, values, options in cases():
        source = os.path.join(folder, f"{name}.{dtype}")
        with open(source, "wb") as file:
            file.write(struct.pack(f"<{len(values)}{'f' if dtype == 'f32' else 'd'}", *values))
        if len(arguments) == 1:
            continue
        packed = os.path.join(folder, f"{name}.tms")
        subprocess.run([arguments[1], "compress", source, "--dtype", dtype, "--shape",
                        "x".join(map(str, shape)), "-o", packed, "-q", *options.split()],
                       check=True)
        output = subprocess.run([arguments[1], "decompress", "-q", packed, "-o", "-"], check=True,
                                stdout=subprocess.PIPE).stdout
        manifest[f"{name}.tms"] = {"dtype": dtype, "shape": shape, "options": options,
                                   "sha256": hashlib.sha256(output).hexdigest()}
        os.remove(source)
    if len(arguments) == 2:
        with open(listed, "w", encoding="utf-8") as file:
            lines = [f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in
                     manifest.items()]
            file.write("{\n" + ",\n".join(lines) + "\n}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
