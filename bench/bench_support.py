"""What the Python benchmarks share: their virtual environment, the data, the rival SZ3, and the
program bench_reduce_speed as a co-process. Standard library only, so that it loads anywhere; without
the environment the scripts still run and say which columns are missing.
"""
import csv
import json
import math
import os
import platform
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
RESULTS = os.environ.get("TAMIS_BENCH_RESULTS", os.path.join(HERE, "results"))
SHARED = os.environ.get("TAMIS_SHARED", os.path.join(os.path.dirname(ROOT), "shared"))
VENV = os.path.join(ROOT, "build", "bench-venv")
SYNTHETIC = os.path.join(ROOT, "build", "bench-data")
RELATIVE_BOUNDS = (1e-2, 1e-3, 1e-4, 1e-5)
MODES = ("default", "ratio", "fast")


def say(text):
    print(text, flush=True)


def enter_venv():
    """Starts the calling script again inside build/bench-venv, which is made when it is missing."""
    if os.environ.get("TAMIS_BENCH_VENV"):
        return
    os.environ["TAMIS_BENCH_VENV"] = "1"
    python = os.path.join(VENV, "bin", "python")
    ready = os.path.join(VENV, "ready")
    if not os.path.exists(ready):
        say("bench: installing numpy and pysz (SZ3) into build/bench-venv")
        try:
            subprocess.run([sys.executable, "-m", "venv", "--clear", VENV], check=True,
                           capture_output=True, text=True)
            subprocess.run([python, "-m", "pip", "install", "-q", "--only-binary", ":all:", "-r",
                            os.path.join(HERE, "requirements.txt")],
                           check=True, capture_output=True, text=True)
            open(ready, "w").close()
        except (OSError, subprocess.CalledProcessError) as error:
            reason = (getattr(error, "stderr", "") or getattr(error, "stdout", "") or str(error))
            say("bench: no virtual environment, so SZ3 is not run here and the synthetic fields are "
                "not made: " + reason.strip().splitlines()[-1])
            say("bench: needs python3-venv, pip and a package index; see bench/README.md")
            return
    os.execv(python, [python, *sys.argv])


# --- data -----------------------------------------------------------------------------------------

class Field:
    """A raw field: where it lies, its shape, its fill value."""

    def __init__(self, name, path, shape, fill=None, group="shared"):
        self.name, self.path, self.shape, self.fill, self.group = name, path, shape, fill, group
        self.raw_bytes = os.path.getsize(path)

    @property
    def type_code(self):
        return "<f4" if self.name.endswith(".f32") else "<f8"

    @property
    def short(self):
        return self.name.rsplit(".", 1)[0]

    def array(self):
        import numpy as np
        return np.fromfile(self.path, self.type_code).reshape(self.shape)

    def value_range(self):
        """max - min over the finite values that are not fill."""
        import numpy as np
        a = self.array().astype(np.float64).ravel()
        keep = np.isfinite(a)
        if self.fill is not None:
            keep &= a != self.fill
        a = a[keep]
        return float(a.max() - a.min())


def shared_fields():
    """The gridded fields of the shared manifest; an empty list, with a word, when they are absent."""
    folder = os.path.join(SHARED, "data", "fields")
    manifest = os.path.join(folder, "manifest.json")
    if not os.path.exists(manifest):
        say("bench: no shared fields beside the source tree (shared/data/fields); skipping them")
        return []
    with open(manifest) as f:
        entries = json.load(f)["fields"]
    return [Field(e["file"], os.path.join(folder, e["file"]), tuple(e["shape"]), e.get("fill_value"))
            for e in entries if "file" in e and "shape" in e]


def synthetic_fields():
    """The three large fields, generated into build/bench-data once (about a minute)."""
    source = os.path.join(SHARED, "data", "synthetic")
    wanted = {"turb256.f32": (256, 256, 256), "climate1800x3600.f32": (1800, 3600),
              "gs128.f32": (128, 128, 128)}
    missing = [n for n in wanted if not os.path.exists(os.path.join(SYNTHETIC, n))]
    if missing and not os.path.isdir(source):
        say("bench: no generators beside the source tree (shared/data/synthetic); skipping them")
        return []
    os.makedirs(SYNTHETIC, exist_ok=True)
    try:
        if "gs128.f32" in missing:
            say("bench: computing the Gray-Scott field")
            program = os.path.join(SYNTHETIC, "gs")
            subprocess.run(["g++", "-O3", "-march=native", os.path.join(source, "gs.cpp"), "-o",
                            program], check=True)
            subprocess.run([program, "4000", os.path.join(SYNTHETIC, "gs128.f32")], check=True)
        if set(missing) - {"gs128.f32"}:
            say("bench: generating the turbulence and climate fields")
            subprocess.run([sys.executable, "-W", "ignore", os.path.join(source, "gen.py"),
                            SYNTHETIC], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        say(f"bench: a synthetic field could not be made ({error}); skipping it")
    return [Field(n, os.path.join(SYNTHETIC, n), shape, group="synthetic")
            for n, shape in wanted.items() if os.path.exists(os.path.join(SYNTHETIC, n))]


def rival_sizes():
    """(file, rel) -> the row of shared/anchors/fields_rivals.csv; empty when it is absent."""
    path = os.path.join(SHARED, "anchors", "fields_rivals.csv")
    if not os.path.exists(path):
        say("bench: no shared/anchors/fields_rivals.csv; zfp and MGARD columns stay empty")
        return {}
    with open(path, newline="") as f:
        rows = csv.DictReader(line for line in f if not line.startswith("#"))
        return {(row["file"], float(row["rel"])): row for row in rows}


# --- the two sides --------------------------------------------------------------------------------

class Tamis:
    """bench_reduce_speed --serve: one field loaded, runs on request, idle in between."""

    KEYS = ("bytes", "compress_s", "decompress_s", "compress_cpu_s", "decompress_cpu_s", "peak_bytes", "exact", "mask_bytes", "violations",
            "worst")

    def __init__(self, build):
        program = os.path.join(build, "bench", "bench_reduce_speed")
        if not os.path.exists(program):
            sys.exit(f"bench: {program} is missing; build it first (./run build)")
        self.process = subprocess.Popen([program, "--serve"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        reply = self.process.stdout.readline().strip()
        if not reply.startswith("ok"):
            raise RuntimeError(f"tamis: '{line}': {reply or 'the program ended'}")
        return reply[3:]

    def load(self, field):
        shape = "x".join(map(str, field.shape))
        fill = "none" if field.fill is None else repr(field.fill)
        return int(self.ask(f"load {field.path} {shape} {fill}"))

    def run(self, mode, kind, value, threads=1, verify=False):
        words = self.ask(f"run {mode} {kind} {value!r} {threads} {int(verify)}").split()
        answer = {k: float(w) if "_s" in k or k == "worst" else int(w)
                  for k, w in zip(self.KEYS, words)}
        answer["map"] = words[-1]
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def load_sz3():
    """The pysz module, or None with a word."""
    try:
        import pysz
        return pysz
    except ImportError:
        say("bench: pysz is not installed; SZ3 is not measured in this run")
        return None


def sz3_config(pysz, shape, absolute):
    config = pysz.szConfig(shape)
    config.errorBoundMode = pysz.szErrorBoundMode.ABS
    config.absErrorBound = absolute
    config.cmprAlgo = pysz.szAlgorithm.INTERP_LORENZO
    config.openmp = False
    return config


def sz3_version(pysz):
    """The format version in the head of a stream, e.g. "SZ3 3.4.0": pysz does not tell otherwise."""
    import numpy as np
    data = np.arange(256, dtype=np.float32)
    head = pysz.sz.compress(data, sz3_config(pysz, data.shape, 1e-3))[0]
    return "SZ3 " + ".".join(str(int(b)) for b in head[7:4:-1])


# --- figures and reports --------------------------------------------------------------------------

def geomean(values):
    values = [v for v in values if v and v > 0]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


median = statistics.median


def machine(tamis, pysz=None):
    """One line: CPU, compiler, revision (from TAMIS_REVISION), versions. No host name, no path."""
    from importlib import metadata
    parts = [tamis.ask("version"), "Python " + platform.python_version()]
    for package in ("numpy", "pysz"):
        try:
            parts.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            parts.append(f"no {package}")
    if pysz:
        parts[-1] += f" ({sz3_version(pysz)})"
    return "; ".join(parts)


def write_csv(name, rows):
    os.makedirs(RESULTS, exist_ok=True)
    path = os.path.join(RESULTS, name)
    with open(path, "w", newline="") as f:
        writer = csv.DictWriter(f, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_text(name, lines):
    os.makedirs(RESULTS, exist_ok=True)
    with open(os.path.join(RESULTS, name), "w") as f:
        f.write("\n".join(lines) + "\n")


def table(headers, rows):
    """A Markdown table, first column left, others right."""
    lines = ["| " + " | ".join(headers) + " |", "|---" + "|--:" * (len(headers) - 1) + "|"]
    return lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]
