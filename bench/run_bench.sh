#!/usr/bin/env bash
# Runs the benchmarks of a release build and writes bench/results/: `./run bench [NAME...]`, all but
# floats when none is named. Speed comes first, while the machine is cool; order matters for nothing
# else. TAMIS_BENCH_RESULTS names another folder for the results.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
shift
programs=$build/bench
results=${TAMIS_BENCH_RESULTS:-$here/results}
manifest=${TAMIS_SHARED:-$here/../../shared}/data/fields/manifest.json
TAMIS_REVISION=$(git -C "$here" describe --always --dirty 2>/dev/null || echo "unknown revision")
export TAMIS_BENCH_RESULTS=$results TAMIS_REVISION
mkdir -p "$results"

(($#)) || set -- speed ratio sweep mask
status=0
for name in "$@"; do
  echo "== $name"
  if [[ $name =~ ^(sweep|mask)$ && ! -f $manifest ]]; then
    echo "skipped: no shared fields beside the source tree (shared/data/fields)"
    continue
  fi
  case $name in
    speed) python3 "$here/reduce_speed.py" "$build" || status=1 ;;
    ratio) python3 "$here/reduce_fields.py" "$build" || status=1 ;;
    sweep) "$programs/bench_bound_sweep" "$manifest" "$results" || status=1 ;;
    mask) "$programs/bench_mask_cost" "$manifest" "$results" || status=1 ;;
    floats) nice "$programs/bench_all_floats" "$build/all_floats.state" "$results" || status=1 ;;
    floats-sample)
      nice "$programs/bench_all_floats" --sample "$build/all_floats_sample.state" "$results" ||
        status=1
      ;;
    *)
      echo "run_bench: no benchmark '$name': speed ratio sweep mask floats floats-sample" >&2
      status=2
      ;;
  esac
done
exit "$status"
