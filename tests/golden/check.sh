#!/usr/bin/env bash
# Decodes the golden files with the command: check.sh PATH_TO_TAMIS. Files of format version 1 must
# open for ever, so the SHA-256 of what they decode to (manifest.json) never changes.
set -u
tamis=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

manifest() {
  python3 - "$here/manifest.json" <<'PYTHON'
import json, sys
for name, entry in json.load(open(sys.argv[1])).items():
    print(name, entry["sha256"])
PYTHON
}

failures=0
count=0
while read -r name expected; do
  found=$("$tamis" decompress -q "$here/$name" -o - | sha256sum)
  count=$((count + 1))
  if [ "${found%% *}" != "$expected" ]; then
    echo "FAIL: $name decodes to ${found%% *}, expected $expected" >&2
    failures=$((failures + 1))
  fi
done < <(manifest)
[ "$count" -gt 0 ] || { echo "FAIL: no golden files" >&2; exit 1; }
[ "$count" -eq "$(find "$here" -name '*.tms' | wc -l)" ] || {
  echo "FAIL: files and manifest.json differ" >&2
  exit 1
}
echo "$count golden files, $failures failures"
[ "$failures" -eq 0 ]
