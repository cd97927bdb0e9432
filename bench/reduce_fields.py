#!/usr/bin/env python3
"""Sizes on real fields beside SZ3, zfp and MGARD at the same absolute bound, against our bars.

Usage: reduce_fields.py BUILD [--no-synthetic] [--threads N]. Writes results/reduce_ratio.csv and .md.
SZ3 is both the recorded 3.3.2 of shared/anchors and, live, what pysz holds; zfp and MGARD are recorded.
"""
import argparse

import bench_support as bench

# The bars, from the project's plan: factor over SZ3 and, at the four bounds, over MGARD-X.
RATIO_OVER_SZ3, RATIO_WORST, DEFAULT_OVER_SZ3 = 1.10, 0.95, 0.95
DEFAULT_OVER_MGARD = dict(zip(bench.RELATIVE_BOUNDS, (5, 3, 2.5, 2)))


def measure_sz3(pysz, array, absolute):
    if pysz is None:
        return ""
    compressed, _ = pysz.sz.compress(array, bench.sz3_config(pysz, array.shape, absolute))
    return int(compressed.size)


def measure(tamis, pysz, fields, threads):
    """One row a field and bound: our sizes in every mode, theirs, and whether the bound held."""
    recorded = bench.rival_sizes()
    rows = []
    for field in fields:
        tamis.load(field)
        array = field.array() if pysz else None
        for rel in bench.RELATIVE_BOUNDS:
            theirs = recorded.get((field.name, rel), {})
            if not theirs and not pysz:
                continue
            absolute = float(theirs.get("abs_bound") or rel * field.value_range())
            row = {"field": field.short, "group": field.group, "rel": rel, "abs_bound": absolute,
                   "fill": int(field.fill is not None), "raw_bytes": field.raw_bytes}
            violations = 0
            for mode in bench.MODES:
                ours = tamis.run(mode, "abs", absolute, threads, verify=True)
                row[f"tamis_{mode}_bytes"] = ours["bytes"]
                violations += ours["violations"]
            row["violations"] = violations
            row["sz3_recorded_bytes"] = theirs.get("sz3_bytes", "")
            row["sz3_live_bytes"] = measure_sz3(pysz, array, absolute)
            row["zfp_bytes"] = theirs.get("zfp_bytes", "")
            row["mgard_bytes"] = theirs.get("mgardx_bytes", "")
            rows.append(row)
        bench.say(f"  {field.short}")
    return rows


def factor(row, mode, rival):
    """How many times smaller than the rival; None when the rival was not measured."""
    theirs = row[f"{rival}_bytes"]
    return int(theirs) / row[f"tamis_{mode}_bytes"] if theirs not in ("", None) else None


def factors(rows, rel, mode, rival):
    return [(f, r["field"]) for r in rows
            if r["rel"] == rel and (f := factor(r, mode, rival)) is not None]


def judge(rows, sz3):
    """The bars as (what, bound, figure, bar, met)."""
    out = []
    for rel in bench.RELATIVE_BOUNDS:
        ratio = factors(rows, rel, "ratio", sz3)
        default = factors(rows, rel, "default", sz3)
        if ratio:
            mean, (worst, name) = bench.geomean(f for f, _ in ratio), min(ratio)
            out.append(("ratio mode over SZ3, geomean", rel, f"{mean:.3f}", RATIO_OVER_SZ3,
                        mean >= RATIO_OVER_SZ3))
            out.append(("ratio mode over SZ3, worst field", rel, f"{worst:.3f} {name}", RATIO_WORST,
                        worst >= RATIO_WORST))
            mean = bench.geomean(f for f, _ in default)
            out.append(("default mode over SZ3, geomean", rel, f"{mean:.3f}", DEFAULT_OVER_SZ3,
                        mean >= DEFAULT_OVER_SZ3))
        mgard = factors(rows, rel, "default", "mgard")
        if mgard:
            mean = bench.geomean(f for f, _ in mgard)
            out.append(("default mode over MGARD, geomean", rel, f"{mean:.2f}",
                        DEFAULT_OVER_MGARD[rel], mean >= DEFAULT_OVER_MGARD[rel]))
    return sorted(out, key=lambda entry: entry[0])


def summary(rows, rivals):
    """Geometric means of size factors, every mode over every rival."""
    body = []
    for mode in bench.MODES:
        for rival, label in rivals:
            cells = []
            for rel in bench.RELATIVE_BOUNDS:
                found = factors(rows, rel, mode, rival)
                if not found:
                    cells.append("–")
                    continue
                worst, name = min(found)
                mean = bench.geomean(f for f, _ in found)
                cells.append(f"{mean:.3f} (worst {worst:.3f} {name})")
            if any(c != "–" for c in cells):
                body.append([f"{mode} / {label}", *cells])
    return bench.table(["mode / rival", *(f"rel {r:g}" for r in bench.RELATIVE_BOUNDS)], body)


def per_field(rows, sz3):
    body = []
    for r in rows:
        def cell(mode):
            ratio = r["raw_bytes"] / r[f"tamis_{mode}_bytes"]
            against = factor(r, mode, sz3)
            return f"{ratio:.2f}" + (f" ({against:.2f})" if against else "")

        def theirs(rival):
            size = r[f"{rival}_bytes"]
            return f"{r['raw_bytes'] / int(size):.2f}" if size else "–"
        body.append([r["field"] + (" (fill)" if r["fill"] else ""), f"{r['rel']:g}",
                     *(cell(m) for m in bench.MODES),
                     *(theirs(k) for k in ("sz3_recorded", "sz3_live", "zfp", "mgard"))])
    return bench.table(["field", "rel", *bench.MODES, "SZ3 3.3.2", "SZ3 live", "zfp", "MGARD"], body)


RIVALS = [("sz3_recorded", "SZ3 3.3.2"), ("sz3_live", "SZ3 live"), ("zfp", "zfp 1.0"),
          ("mgard", "MGARD-X 1.6.0")]


def bars(shared, sz3, label):
    """The table of bars against one SZ3, once over all fields and once without the masked ones."""
    without_fill = judge([r for r in shared if not r["fill"]], sz3)
    body = [[w, f"{r:g}", f, f"≥ {b:g}", "yes" if met else "**no**", g]
            for (w, r, f, b, met), (_, _, g, _, _) in zip(judge(shared, sz3), without_fill)]
    return [f"### SZ3 here is {label}", "",
            *bench.table(["bar", "rel", "figure", "asked", "met", "without fill fields"], body), ""]


def report(rows, machine):
    shared = [r for r in rows if r["group"] == "shared"]
    synthetic = [r for r in rows if r["group"] == "synthetic"]
    lines = ["# Sizes on real fields", "", f"Made by `bench/reduce_fields.py` on {machine}.", "",
             "All at the same absolute bound, rel × (max − min of the values that are not fill). "
             "Factors are rival's size / our size: above 1 we are smaller. zfp and MGARD-X, and SZ3 "
             "3.3.2, are recorded sizes; *SZ3 live* is pysz run here, default settings. The rivals "
             "do not mask fill values; we do.", "",
             f"Violations of the bound, every mode, every field: "
             f"**{sum(r['violations'] for r in rows)}**.", ""]
    measured = [(key, label) for key, label in RIVALS[:2]
                if shared and all(r[f"{key}_bytes"] for r in shared)]
    if measured:
        lines += ["## Bars", ""]
        for key, label in measured:
            lines += bars(shared, key, label)
        lines += [f"## Geometric means over {len({r['field'] for r in shared})} shared fields",
                  "", *summary(shared, RIVALS)]
    if synthetic:
        lines += ["", "## Geometric means over the synthetic fields", "", *summary(synthetic, RIVALS)]
    lines += ["", "## Ratios of every field", "", "In brackets: the factor over SZ3 live.", "",
              *per_field(shared, "sz3_live")]
    if synthetic:
        lines += ["", *per_field(synthetic, "sz3_live")]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--no-synthetic", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", help="fields whose name contains this")
    args = parser.parse_args()
    bench.enter_venv()
    pysz = bench.load_sz3()
    fields = bench.shared_fields() + ([] if args.no_synthetic or not pysz
                                      else bench.synthetic_fields())
    fields = [f for f in fields if args.only in f.name]
    if not fields:
        return
    tamis = bench.Tamis(args.build)
    rows = measure(tamis, pysz, fields, args.threads)
    lines = report(rows, bench.machine(tamis, pysz))
    tamis.close()
    bench.write_csv("reduce_ratio.csv", rows)
    bench.write_text("reduce_ratio.md", lines)
    end = next((i for i, line in enumerate(lines) if line.startswith("## Ratios")), len(lines))
    bench.say("\n".join(lines[:end]))
    bench.say("written: reduce_ratio.csv and reduce_ratio.md")


if __name__ == "__main__":
    main()
