# Sourced by the command-line tests: bash NAME.sh PATH_TO_TAMIS. Each test works in a folder of its
# own that is removed afterwards, and says in plain words what was expected when it fails.
set -u
tamis=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

fail() {
  echo "FAIL: $*" >&2
  exit 1
}

fields() { python3 "$here/fields.py" "$@"; }

# ok COMMAND...: must exit 0.
ok() {
  "$@" >stdout.txt 2>stderr.txt
  local code=$?
  [ $code -eq 0 ] || fail "exit code $code, expected 0, of: $*
$(cat stderr.txt)"
}

# rejects CODE WORDS COMMAND...: must exit with CODE and say WORDS (a grep -E pattern) on stderr.
rejects() {
  local expected=$1 words=$2
  shift 2
  "$@" >stdout.txt 2>stderr.txt
  local code=$?
  [ $code -eq "$expected" ] || fail "exit code $code, expected $expected, of: $*
$(cat stderr.txt)"
  tr '\n' ' ' <stderr.txt | grep -Eq -- "$words" || fail "no \"$words\" on stderr of: $*
$(cat stderr.txt)"
}

# says WORDS: the last command's standard output must contain the grep -E pattern.
says() { grep -Eq -- "$1" stdout.txt || fail "no \"$1\" in the output:
$(cat stdout.txt)"; }

# json KEY...: prints a member of the object in stdout.txt.
json() {
  python3 - "$@" <<'PYTHON'
import json, sys
value = json.load(open("stdout.txt"))
for key in sys.argv[1:]:
    value = value[int(key) if isinstance(value, list) else key]
print(json.dumps(value) if isinstance(value, (dict, list)) else value)
PYTHON
}

# json_is EXPECTED KEY...
json_is() {
  local expected=$1 found
  shift
  found=$(json "$@") || fail "standard output is not the JSON expected: $(cat stdout.txt)"
  [ "$found" = "$expected" ] || fail "JSON $* is \"$found\", expected \"$expected\""
}

# absent FILE...: no such file, and no temporary file left anywhere in the folder.
absent() {
  local file
  for file in "$@"; do
    [ ! -e "$file" ] || fail "$file exists"
  done
  no_leftovers
}

no_leftovers() {
  local left
  left=$(find . -name '.*.tmp')
  [ -z "$left" ] || fail "temporary files left: $left"
}

skip() {
  echo "SKIPPED: $*"
  exit 77
}

needs() {
  command -v "$1" >/dev/null || skip "$1 is not installed"
}
