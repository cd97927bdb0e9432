#!/usr/bin/env python3
"""Speed and memory beside SZ3 on the same data in the same run.

Usage: reduce_speed.py BUILD [--repeat N] [--rel E,..] [--only NAME]. Tamis runs in a co-process that
sleeps between jobs, SZ3 (pysz) in this process; they take turns, repetition by repetition, so that
noise of the machine hits both. Medians. Writes results/reduce_speed.csv and .md.
"""
import argparse
import os
import subprocess
import sys
import time

import bench_support as bench

FACTOR_MEMORY = 2.5  # the bar: peak resident bytes / input while compressing in memory
SMALLEST_BYTES = 3_000_000  # fields below are too short to time fairly through Python


SAMPLED = ("bytes", "compress_s", "decompress_s", "compress_cpu_s", "decompress_cpu_s")


def time_sz3(pysz, array, absolute):
    """One repetition: size, seconds to compress and to decompress, the same in processor time."""
    config = bench.sz3_config(pysz, array.shape, absolute)
    start = time.perf_counter(), time.process_time()
    compressed, _ = pysz.sz.compress(array, config)
    middle = time.perf_counter(), time.process_time()
    decoded, _ = pysz.sz.decompress(compressed, array.dtype, array.shape)
    end = time.perf_counter(), time.process_time()
    del decoded
    return (int(compressed.size), middle[0] - start[0], end[0] - middle[0], middle[1] - start[1],
            end[1] - middle[1])


def call_overhead_us(pysz):
    """Microseconds of a pysz call on 64 values: what Python and the set-up cost at most."""
    import numpy as np
    tiny = np.linspace(0, 1, 64, dtype=np.float32)
    times = [time_sz3(pysz, tiny, 1e-3)[1:] for _ in range(200)]
    return tuple(1e6 * bench.median(t[i] for t in times) for i in (0, 1))


def take_turns(tamis, pysz, array, absolute, args):
    """Every configuration once per round; medians of the rounds. The first round warms up."""
    samples = {}
    for turn in range(args.repeat + 1):
        one_round = {}
        for mode in bench.MODES:
            for threads in (1, 2):
                run = tamis.run(mode, "abs", absolute, threads, verify=turn == 0)
                if run["violations"]:
                    sys.exit(f"bench: {run['violations']} violations in mode {mode}")
                one_round[mode, threads] = tuple(run[key] for key in SAMPLED)
            if pysz:
                one_round.setdefault(("sz3", 1), []).append(time_sz3(pysz, array, absolute))
        if turn == 0:
            continue
        for key, value in one_round.items():
            samples.setdefault(key, []).extend(value if isinstance(value, list) else [value])
    return {key: tuple(bench.median(column) for column in zip(*values))
            for key, values in samples.items()}


# --- memory: one child a configuration ------------------------------------------------------------

def tamis_peak(build, field, mode, absolute, threads):
    child = bench.Tamis(build)
    child.load(field)
    peak = child.run(mode, "abs", absolute, threads)["peak_bytes"]
    child.close()
    return peak


SZ3_CHILD = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import pysz, bench_support as bench
path, code, absolute = sys.argv[2], sys.argv[3], float(sys.argv[4])
shape = tuple(map(int, sys.argv[5:]))
def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
before = peak()
array = np.fromfile(path, code).reshape(shape)
pysz.sz.compress(array, bench.sz3_config(pysz, shape, absolute))
print((peak() - before) * 1024)
"""


def sz3_peak(field, absolute):
    """Growth over the interpreter and its libraries, the input included."""
    done = subprocess.run([sys.executable, "-c", SZ3_CHILD, bench.HERE, field.path, field.type_code,
                           repr(absolute), *map(str, field.shape)],
                          check=True, capture_output=True, text=True)
    return int(done.stdout)


# --- rows and report ------------------------------------------------------------------------------

def rows_of(field, rel, absolute, medians, peaks):
    rows = []
    for (mode, threads), values in medians.items():
        size, compress_s, decompress_s, compress_cpu_s, decompress_cpu_s = values
        sz3 = medians.get(("sz3", 1))
        row = {"field": field.short, "raw_bytes": field.raw_bytes, "rel": rel, "abs_bound": absolute,
               "codec": mode, "threads": threads, "bytes": int(size),
               "compress_mb_s": round(field.raw_bytes / compress_s / 1e6, 1),
               "decompress_mb_s": round(field.raw_bytes / decompress_s / 1e6, 1),
               "compress_over_sz3": round(sz3[1] / compress_s, 3) if sz3 else "",
               "decompress_over_sz3": round(sz3[2] / decompress_s, 3) if sz3 else "",
               "compress_cpu_over_sz3": round(sz3[3] / compress_cpu_s, 3) if sz3 else "",
               "decompress_cpu_over_sz3": round(sz3[4] / decompress_cpu_s, 3) if sz3 else "",
               "peak_over_input": round(peaks[mode, threads] / field.raw_bytes, 3)
               if (mode, threads) in peaks else ""}
        rows.append(row)
    return rows


def measure(args, tamis, pysz, fields):
    rows = []
    for field in fields:
        tamis.load(field)
        array = field.array() if pysz else None
        for rel in args.rel:
            absolute = args.bounds.get((field.name, rel)) or rel * field.value_range()
            medians = take_turns(tamis, pysz, array, absolute, args)
            peaks = {}
            if field.raw_bytes >= 20_000_000:  # below, the process itself would be counted
                for mode in bench.MODES:
                    for threads in (1, 2):
                        peaks[mode, threads] = tamis_peak(args.build, field, mode, absolute, threads)
                if pysz:
                    peaks["sz3", 1] = sz3_peak(field, absolute)
            rows += rows_of(field, rel, absolute, medians, peaks)
            bench.say(f"  {field.short} {rel:g}")
    return rows


def factor_rows(rows):
    """Geometric means over fields: each mode over SZ3 with one thread, two threads over one."""
    body = []
    by = {(r["field"], r["rel"], r["codec"], r["threads"]): r for r in rows}
    for mode in bench.MODES:
        for rel in sorted({r["rel"] for r in rows}, reverse=True):
            one = [r for r in rows if (r["codec"], r["threads"], r["rel"]) == (mode, 1, rel)]
            two = [by[r["field"], rel, mode, 2] for r in one]
            cells = []
            for way in ("compress", "decompress"):
                own, key = f"{way}_mb_s", f"{way}_over_sz3"
                cells.append(f"{bench.geomean(r[own] for r in one):.0f}")
                known = [(r[key], r["field"]) for r in one if r[key] != ""]
                cells.append(f"{bench.geomean(f for f, _ in known):.2f} (worst {min(known)[0]:.2f} "
                             f"{min(known)[1]})" if known else "–")
                cpu = [r[f"{way}_cpu_over_sz3"] for r in one]
                cells.append(f"{bench.geomean(cpu):.2f}" if known else "–")
                cells.append(f"{bench.geomean(b[own] / a[own] for a, b in zip(one, two)):.2f}")
            body.append([mode, f"{rel:g}", *cells])
    return bench.table(["mode", "rel", "c MB/s", "× SZ3", "× SZ3, CPU", "2 threads / 1", "d MB/s",
                        "× SZ3", "× SZ3, CPU", "2 threads / 1"], body)


def memory_lines(rows):
    known = [r for r in rows if r["peak_over_input"] != ""]
    ours = [r for r in known if r["codec"] != "sz3"]
    if not ours:
        return ["No field was large enough to measure memory."]
    body = [[r["field"], r["codec"], r["threads"], f"{r['rel']:g}", f"{r['peak_over_input']:.2f}"]
            for r in known]
    worst = max(r["peak_over_input"] for r in ours)
    met = "met" if worst <= FACTOR_MEMORY else "**not met**"
    return [f"Peak resident memory (VmHWM) of a child process / input, the input included. Worst of Tamis "
            f"{worst:.2f}, asked ≤ {FACTOR_MEMORY}: {met}. SZ3: growth over the Python process.", "",
            *bench.table(["field", "codec", "threads", "rel", "peak / input"], body)]


def report(rows, args, machine, overhead):
    lines = ["# Speed and memory", "", f"Made by `bench/reduce_speed.py` on {machine}.", "",
             f"Medians of {args.repeat} rounds after one to warm up; in memory, output allocated by "
             "each call; Tamis and SZ3 (one thread, default settings) in turns at the same absolute "
             "bound. × SZ3: SZ3's time / our time with one thread, by the clock and by processor time; "
             "the latter is the steadier where the machine has other work. Load average when this "
             f"run began: {args.load:.2f}.", ""]
    if overhead:
        lines += ["A pysz call on 64 values takes {:.0f} µs to compress and {:.0f} µs to decompress; "
                  "that much of SZ3's times is not its coder.".format(*overhead), ""]
    body = [[r["field"], f"{r['rel']:g}", r["codec"], r["threads"],
             f"{r['raw_bytes'] / r['bytes']:.2f}", r["compress_mb_s"], r["decompress_mb_s"],
             r["compress_over_sz3"], r["decompress_over_sz3"]] for r in rows]
    return lines + ["## Geometric means over the fields", "", *factor_rows(rows), "", "## Memory", "",
                    *memory_lines(rows), "", "## Every field", "",
                    *bench.table(["field", "rel", "codec", "threads", "ratio", "c MB/s", "d MB/s",
                                  "c × SZ3", "d × SZ3"], body)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--rel", default="1e-2,1e-3,1e-4,1e-5",
                        type=lambda s: [float(v) for v in s.split(",")])
    parser.add_argument("--only", default="", help="fields whose name contains this")
    args = parser.parse_args()
    bench.enter_venv()
    pysz = bench.load_sz3()
    args.load = os.getloadavg()[0]
    args.bounds = {key: float(row["abs_bound"]) for key, row in bench.rival_sizes().items()}
    shared = [f for f in bench.shared_fields() if f.raw_bytes >= SMALLEST_BYTES]
    fields = [f for f in bench.synthetic_fields() + shared if args.only in f.name]
    if not pysz:  # ranges of fields outside of the recorded table need NumPy
        fields = [f for f in fields if (f.name, args.rel[0]) in args.bounds]
    if not fields:
        return
    overhead = call_overhead_us(pysz) if pysz else None
    tamis = bench.Tamis(args.build)
    rows = measure(args, tamis, pysz, fields)
    lines = report(rows, args, bench.machine(tamis, pysz), overhead)
    tamis.close()
    bench.write_csv("reduce_speed.csv", rows)
    bench.write_text("reduce_speed.md", lines)
    bench.say("\n".join(lines[:lines.index("## Every field")]))
    bench.say("written: reduce_speed.csv and reduce_speed.md")


if __name__ == "__main__":
    main()
