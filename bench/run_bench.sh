#!/usr/bin/env bash
# Runs every benchmark program of a build folder, then every bench/*.py. Each prints one table.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
shift

for program in "$build"/bench/bench_*; do
  [[ -f $program && -x $program ]] || continue
  echo "== $(basename "$program")"
  "$program" "$@"
done
for script in "$here"/bench_*.py; do
  [[ -f $script ]] || continue
  echo "== $(basename "$script")"
  python3 "$script" "$build" "$@"
done
