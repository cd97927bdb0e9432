#!/usr/bin/env bash
# Installs a build into a fresh prefix, then configures, builds and runs a project that knows only
# find_package(tamis). Arguments: build folder, cmake, C++ compiler, sanitizers of the build.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$1 cmake=$2 compiler=$3 sanitize=${4:-}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$cmake" --install "$build" --prefix "$scratch/prefix" >"$scratch/install.log"
"$cmake" -G Ninja -S "$here/project" -B "$scratch/build" \
  -DCMAKE_PREFIX_PATH="$scratch/prefix" -DCMAKE_CXX_COMPILER="$compiler" \
  ${sanitize:+-DCMAKE_CXX_FLAGS="-fsanitize=$sanitize"}
"$cmake" --build "$scratch/build"
"$scratch/build/consumer"
