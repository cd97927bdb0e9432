# Parts and previews: shapes, values, slab-wise decoding, syntax errors.
source "$(dirname "$0")/common.sh" "$1"

fields make in.f32 --shape 20x30x40
ok "$tamis" compress in.f32 --shape 20x30x40 -o a.tms --lossless

box_is() {
  local box=$1 shape=$2
  shift 2
  ok "$tamis" decompress a.tms -o part.npy --box "$box" "$@"
  ok fields describe part.npy
  says "C $shape$"
}
box_is 0:10,5:20,: 10x15x40
box_is :,:,: 20x30x40
box_is -3:,:-5,7 3x25x1
box_is 19:20,29:30,39:40 1x1x1
box_is 2:18,:,3:40 16x30x37 --memory 5000

# The values are those of the field, whole or in slabs.
for memory in 1G 5000; do
  ok "$tamis" decompress a.tms -o part.raw --box 3:17,5:20,10:12 --memory $memory
  python3 - <<'PYTHON' || fail "box values with --memory $memory"
import array
field = array.array("f", open("in.f32", "rb").read())
part = array.array("f", open("part.raw", "rb").read())
expected = [field[(z * 30 + y) * 40 + x]
            for z in range(3, 17) for y in range(5, 20) for x in range(10, 12)]
assert list(part) == expected
PYTHON
  ok "$tamis" decompress a.tms -o whole.raw --memory $memory
  cmp whole.raw in.f32 || fail "the whole field with --memory $memory"
done

ok "$tamis" decompress a.tms -o preview.npy --level 1
ok fields describe preview.npy
says "C 10x15x20$"
ok "$tamis" decompress a.tms -o preview.npy --level 2 --json
json_is "[5, 8, 10]" shape
json_is "[20, 30, 40]" field_shape
ok "$tamis" decompress a.tms -o preview.npy --level 1 --box 4:12,:,:
ok fields describe preview.npy
says "C 4x15x20$"

# Between two points of a level there is nothing to give.
rejects 2 "selects nothing.*multiples of 4, and dimension 0 \(1:3\) holds none" \
  "$tamis" decompress a.tms -o bad.raw --box 1:3,5:20,: --level 2
ok "$tamis" decompress a.tms -o preview.npy --box 1:5,5:20,: --level 2
ok fields describe preview.npy
says "C 1x3x10$"
rejects 2 "index outside 0..19 \(negative ones count from the end" \
  "$tamis" decompress a.tms -o bad.raw --box 20,:,:
rejects 2 "negative ones are counted from the end" \
  "$tamis" decompress a.tms -o bad.raw --box -21:,:,:

for bad in "0:10" "0:10,5:20" "0:10,5:20,:,:" "5:5,:,:" "0:21,:,:" "a:b,:,:" "0:10:2,:,:" ",,:" \
  "20,:,:" "7:3,:,:" "-21:,:,:"; do
  rejects 2 "--box" "$tamis" decompress a.tms -o bad.raw "--box=$bad"
done
absent bad.raw
