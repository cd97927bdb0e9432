#!/usr/bin/env bash
# Runs the lints: without arguments the quick ones, else those named. `tidy` (clang-tidy, minutes)
# runs only when named. Every finding is printed as file:line.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
jobs=${TAMIS_JOBS:-$(nproc)}

sources() {
  find include src apps tests fuzz bench examples -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' \
    -o -name '*.cuh' | sort
}

lint_tree() { python3 tests/lint/tree.py; }

lint_headers() { python3 tests/lint/headers.py; }

# Other versions of clang-format lay code out differently, so they cannot judge.
lint_format() {
  local version
  version=$(clang-format --version | sed -E 's/.*version ([0-9]+).*/\1/')
  if [[ $version != 14 ]]; then
    echo "format: skipped, clang-format is $version and the layout is defined by 14"
    return 0
  fi
  local findings
  findings=$(sources | xargs clang-format --dry-run -Werror 2>&1 | grep -E ': (error|warning):')
  if [[ -n $findings ]]; then
    echo "$findings"
    echo "format: fix with  clang-format -i FILES"
    return 1
  fi
  echo "format: clean"
}

lint_shell() {
  local script failed=0
  for script in run .ci/run $(find . -name '*.sh' -not -path './build/*' | sort); do
    bash -n "$script" || failed=1
    # Scripts without an interpreter line are sourced or given to bash.
    [[ $(head -c 2 "$script") != '#!' || -x $script ]] || { echo "$script:1: error: not executable"; failed=1; }
  done
  ((failed)) || echo "shell: clean"
  return "$failed"
}

# Reads compile_commands.json of the dev preset. TAMIS_TIDY_FILES narrows it to a regular expression.
lint_tidy() {
  cmake --preset dev >/dev/null || return 1
  # Flags of gcc that clang does not know must not count as findings.
  sources | grep '\.cpp$' | grep -E '^(src|apps)/' | grep -E "${TAMIS_TIDY_FILES:-.}" |
    xargs -P "$jobs" -n 1 clang-tidy -p build/dev --quiet \
      --extra-arg=-Wno-unknown-warning-option 2> >(grep -vE 'warnings? generated|Suppressed|Use -header' >&2) &&
    echo "tidy: clean"
}

(($#)) || set -- tree shell format headers
status=0
for name in "$@"; do
  declare -F "lint_$name" >/dev/null || { echo "no such lint: $name" >&2; exit 2; }
  "lint_$name" || { echo "lint $name: FAILED" >&2; status=1; }
done
exit "$status"
