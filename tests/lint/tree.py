#!/usr/bin/env python3
"""Text lints over the tree; prints file:line for each finding and exits 1 when there is any error.

The rules are the tables below: who may include whom, how long a file may be, how a file opens, and
which names and words must not occur. Warnings do not fail the run.
"""
import os
import re
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

# Layer -> what it may include besides itself and the public headers. A new layer needs a line here.
LAYERS = {
    "core": [],
    "gpu": ["core"],
    "tune": ["core"],
    "codec": ["core", "gpu"],
    "sparse": ["core", "gpu"],
    "conv": ["core", "gpu"],
    "reduce": ["core", "gpu", "codec"],
    "models": ["core", "gpu", "sparse", "conv"],
    # Lists what all layers ship; none includes it.
    "catalog": ["core", "gpu", "codec", "sparse", "conv", "reduce", "models"],
}
# Folders outside of src/ that see the public headers only. Tests, fuzzers and benchmarks may look
# inside.
PUBLIC_ONLY = ["apps", "python", "plugins", "examples"]
# Libraries that only one folder may include.
OWNERS = {
    "netcdf": "apps/", "hdf5": "apps/", "H5": "apps/", "png": "apps/", "CLI/": "apps/",
    "xxhash": "src/core/", "omp.h": "src/core/", "dlfcn.h": "src/gpu/",
}

WARN_LINES, FAIL_LINES, FAIL_TEST_LINES = 350, 600, 800
PUBLIC_HEADER_LINES = 200
SKIPPED_FOLDERS = {".git", "build", "out", "__pycache__", "seeds", "shared", ".cache", "corpus"}
CODE = (".cpp", ".hpp", ".cu", ".cuh")
SCRIPTS = (".sh", ".py")
MAY_REPEAT = {"CMakeLists.txt", "README.md", "__init__.py", "main.cpp"}
FORBIDDEN_NAMES = re.compile(r"(^|_)(utils?|helpers?|managers?|misc|fast|optimi[sz]ed)(_|$)")
# Written in pieces so that this file does not trip over itself.
FORBIDDEN_WORDS = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
MACHINE_PATHS = re.compile(r"(?<![\w.])/(wo" + r"rk|fa" + r"rm|ho" + r"me|ro" + r"ot)/")

errors = 0


def report(path, line, message, fatal=True):
    global errors
    errors += fatal
    print(f"{path}:{line}: {'error' if fatal else 'warning'}: {message}")


def tree_files():
    for folder, subfolders, names in os.walk(ROOT):
        subfolders[:] = sorted(d for d in subfolders if d not in SKIPPED_FOLDERS)
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name), ROOT)


def check_includes(path, lines):
    layer = path.split("/")[1] if path.startswith("src/") else None
    if layer is not None and layer not in LAYERS:
        report(path, 1, f"unknown layer '{layer}'; add it to LAYERS in tests/lint/tree.py")
        return
    for number, line in enumerate(lines, 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if not match:
            continue
        quote, target = match.groups()
        for prefix, owner in OWNERS.items():
            outside = not path.startswith(owner) and not path.startswith(("tests/", "bench/"))
            if quote == "<" and target.startswith(prefix) and outside:
                report(path, number, f"<{target}> belongs to {owner} alone")
        first = target.split("/")[0]
        if quote == "<" and path.endswith((".cu", ".cuh")):
            report(path, number, f"<{target}>: device code includes nothing but Tamis's own files")
        if quote == "<" or first == "tamis":
            continue
        if path.startswith("include/"):
            report(path, number, f"a public header includes internal '{target}'")
        elif layer is not None:
            if first not in LAYERS:
                report(path, number, f"write '{target}' relative to src/, e.g. \"{layer}/...\"")
            elif first != layer and first not in LAYERS[layer]:
                allowed = ", ".join(LAYERS[layer]) or "nothing else"
                report(path, number, f"{layer} may not include {first} (only: {allowed})")
        elif path.startswith(tuple(f + "/" for f in PUBLIC_ONLY)) and first in LAYERS:
            report(path, number, f"'{target}' is internal; only public headers here")
    if path.startswith("include/"):
        for number, line in enumerate(lines, 1):
            if "nlohmann" in line or "hwy/" in line:
                report(path, number, "a public header must not need third-party headers")


def check_size(path, lines):
    count = len(lines)
    limit = FAIL_TEST_LINES if path.startswith("tests/") else FAIL_LINES
    if path.startswith("include/"):
        limit = PUBLIC_HEADER_LINES + 50
    if count > limit:
        report(path, count, f"{count} lines, at most {limit}")
    elif count > WARN_LINES:
        report(path, count, f"{count} lines, better below {WARN_LINES}", fatal=False)


def check_opening(path, lines):
    body = lines[1:] if lines and lines[0].startswith("#!") else lines
    first = body[0].strip() if body else ""
    if path.endswith(CODE):
        good = first.startswith("// ") and len(first) > 12
    elif path.endswith(".py"):
        good = first.startswith(('"""', "# "))
    else:
        good = first.startswith("# ")
    if not good:
        report(path, 1, "open with 1 to 5 comment lines that say what the file holds")


def check_words(path, lines):
    for number, line in enumerate(lines, 1):
        if FORBIDDEN_WORDS.search(line):
            report(path, number, "finish it or write it down in an issue")
        if MACHINE_PATHS.search(line):
            report(path, number, "absolute path of one machine")
        if line != line.rstrip() and path.endswith(CODE + SCRIPTS):
            report(path, number, "trailing white space")


def main():
    seen = {}
    for path in tree_files():
        name = os.path.basename(path)
        stem = os.path.splitext(name)[0]
        is_code = path.endswith(CODE)
        if is_code or path.endswith(SCRIPTS):
            if FORBIDDEN_NAMES.search(stem):
                report(path, 1, f"the name '{name}' says nothing about the content")
            if name in seen and name not in MAY_REPEAT:
                report(path, 1, f"file name occurs twice, also {seen[name]}")
            seen[name] = path
        if not (is_code or path.endswith(SCRIPTS + (".md", ".txt", ".cmake", ".json", ".in"))
                or name in ("run", ".clang-tidy")):
            continue
        try:
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                text = file.read()
        except UnicodeDecodeError:
            report(path, 1, "not UTF-8")
            continue
        except FileNotFoundError:  # a dangling link, or a file removed while the lint runs
            continue
        lines = text.splitlines()
        check_words(path, lines)
        if text and not text.endswith("\n"):
            report(path, len(lines), "no newline at the end of the file")
        if is_code or path.endswith(SCRIPTS) or name == "run":
            check_opening(path, lines)
            check_size(path, lines)
        if is_code:
            check_includes(path, lines)
            # Highway's *-inl.hpp are included once per instruction set and have a guard of their own.
            once = "#pragma once" in text or path.endswith("-inl.hpp")
            if path.endswith(".hpp") and not once:
                report(path, 1, "a header needs #pragma once")
    print(f"tree: {len(seen)} source files, {errors} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
