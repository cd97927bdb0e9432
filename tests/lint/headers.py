#!/usr/bin/env python3
"""Compiles every header by itself: a header must bring all that it needs. Public headers see only
include/, internal ones src/ as well, those of apps the third-party libraries too."""
import concurrent.futures
import glob
import os
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
COMPILER = os.environ.get("CXX", "g++")
FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-fopenmp"]


def pkg_config(*names):
    result = subprocess.run(["pkg-config", "--cflags", *names], capture_output=True, text=True)
    return shlex.split(result.stdout)


def header_sets():
    def find(pattern):
        return sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True))

    public = ["-I" + os.path.join(ROOT, "include")]
    internal = public + ["-I" + os.path.join(ROOT, "src"), *pkg_config("libhwy")]
    apps = public + ["-I" + os.path.join(ROOT, "apps/cli"), *pkg_config("netcdf", "hdf5", "libpng")]
    tests = internal + ["-I" + os.path.join(ROOT, "tests")]
    yield public, find("include/**/*.hpp")
    # Highway's foreach_target files (*-inl.hpp) are included several times on purpose.
    yield internal, [h for h in find("src/**/*.hpp") if not h.endswith("-inl.hpp")]
    yield apps, find("apps/**/*.hpp")
    yield tests, find("tests/**/*.hpp")


def compile_alone(job):
    include_flags, header = job
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as source:
        # Twice: the include guard has to hold.
        source.write(f'#include "{header}"\n#include "{header}"\n')
        source.flush()
        result = subprocess.run([COMPILER, *FLAGS, *include_flags, source.name],
                                capture_output=True, text=True)
    return os.path.relpath(header, ROOT), result.returncode, result.stderr


def main():
    jobs = [(flags, header) for flags, headers in header_sets() for header in headers]
    workers = int(os.environ.get("TAMIS_JOBS", os.cpu_count() or 1))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for path, code, stderr in pool.map(compile_alone, jobs):
            if code != 0:
                failed += 1
                print(f"{path}:1: error: does not compile by itself\n{stderr}")
    print(f"headers: {len(jobs)} compiled alone, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
