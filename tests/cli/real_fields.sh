# Real scientific fields beside the source tree, each within its bound in every mode.
source "$(dirname "$0")/common.sh" "$1"
data=$(realpath -m "$here/../../../shared/data/fields")
[ -d "$data" ] || skip "no real fields at ../shared/data/fields beside the source tree"

python3 - "$data/manifest.json" >list.txt <<'PYTHON'
import json, os, sys
folder = os.path.dirname(sys.argv[1])

def entries(node, name=""):
    """Any object with a shape whose file lies in the folder, wherever the manifest keeps it."""
    if isinstance(node, dict):
        file = node.get("file") or name
        if "shape" in node and os.path.isfile(os.path.join(folder, file)):
            yield file, node["shape"]
        for key, child in node.items():
            yield from entries(child, key)
    elif isinstance(node, list):
        for child in node:
            yield from entries(child)

for file, shape in entries(json.load(open(sys.argv[1]))):
    if file.endswith((".f32", ".f64")):
        print(file, "x".join(str(n) for n in shape))
PYTHON
[ -s list.txt ] || fail "the manifest lists no field"
while read -r file shape; do
  for options in "--rel 1e-3" "--rel 1e-4 --mode ratio" "--lossless --mode fast"; do
    # shellcheck disable=SC2086
    ok "$tamis" compress "$data/$file" --shape "$shape" -o a.tms $options
    ok "$tamis" verify a.tms "$data/$file" --shape "$shape"
  done
done <list.txt
echo "$(wc -l <list.txt) real fields within their bounds"
