#!/usr/bin/env bash
# Runs every fuzz target of a build folder for a number of seconds, starting from fuzz/seeds.
# New inputs collect in BUILD/corpus; a crash leaves its input in BUILD/crashes and fails the run.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd) seconds=$2

mkdir -p "$build/crashes"
for target in "$build"/fuzz/fuzz_*; do
  [[ -f $target && -x $target ]] || continue
  name=$(basename "$target")
  corpus=$build/corpus/$name
  mkdir -p "$corpus" "$here/seeds/$name"
  echo "== $name for $seconds s"
  OMP_NUM_THREADS=1 "$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
    -print_final_stats=1 -verbosity=0 -artifact_prefix="$build/crashes/$name-" \
    "$corpus" "$here/seeds/$name"
done
echo "all targets survived"
