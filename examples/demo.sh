#!/usr/bin/env bash
# Compresses real fields of the ferret-datasets package under a bound, verifies each against its
# original and shows what came out. Results, with an HTML report per field, are left in out/demo.
# Argument: the tamis command.
set -euo pipefail
tamis=$(realpath "$1")
data=${TAMIS_DEMO_DATA:-/usr/share/ferret-vis/data}
out=${TAMIS_DEMO_OUT:-out/demo}

[[ -d $data ]] || { echo "demo: no $data; install the package ferret-datasets" >&2; exit 1; }
mkdir -p "$out"

demo_field() { # title, FILE:VARIABLE, name of the results, options of compress
  local title=$1 field=$2 name=$3
  shift 3
  echo
  echo "=== $title"
  echo "\$ tamis compress $field -o $out/$name.tms $* --report $out/$name.html"
  "$tamis" compress "$data/$field" -o "$out/$name.tms" "$@" --report "$out/$name.html"
  echo "\$ tamis verify $out/$name.tms $field"
  "$tamis" verify "$out/$name.tms" "$data/$field"
}

demo_field "Relief of the Earth at 1/12 degree" etopo5.cdf:ROSE relief --rel 1e-3
demo_field "Ocean temperature, 20 depths, land is fill" levitus_climatology.cdf:TEMP ocean --rel 1e-3
demo_field "Zonal wind, 132 months, within 0.05 m/s" monthly_navy_winds.cdf:UWND wind --abs 0.05
demo_field "Ocean temperature, every bit kept" levitus_climatology.cdf:TEMP exact --lossless

echo
echo "\$ tamis info $out/ocean.tms"
"$tamis" info "$out/ocean.tms"
echo
echo "Reports with pictures: $(cd "$out" && ls -d "$PWD"/*.html | tr '\n' ' ')"
echo "The command: $tamis"
