# .npy files as others write them: versions 1 to 3, both byte orders, Fortran order, broken headers.
source "$(dirname "$0")/common.sh" "$1"

fields make reference.f32 --shape 7x5x9 --dtype f32
fields make reference.f64 --shape 7x5x9 --dtype f64
for dtype in f32 f64; do
  for kind in npy1 npy2 npy3; do
    for layout in "" "--fortran" "--big-endian" "--fortran --big-endian"; do
      # shellcheck disable=SC2086
      fields make in.npy --shape 7x5x9 --dtype $dtype --kind $kind $layout
      ok "$tamis" compress in.npy -o in.tms --lossless
      ok "$tamis" decompress in.tms -o out.raw
      cmp out.raw reference.$dtype || fail "$dtype $kind $layout: wrong values"
      # Piece by piece, as for files larger than memory.
      ok "$tamis" compress in.npy -o streamed.tms --lossless --memory 300
      ok "$tamis" decompress streamed.tms -o out.raw
      cmp out.raw reference.$dtype || fail "$dtype $kind $layout: wrong values when streamed"
    done
  done
done

# Integers and half precision are converted exactly, whatever their byte order and layout.
cat >convert.py <<'PYTHON'
"""make DESCR ORDER: writes in.npy and its values, in C order, as out.f32 or out.f64."""
import itertools, struct, sys
sys.path.insert(0, sys.argv[1])
import fields
descr, order = sys.argv[2:4]
shape = (3, 4, 5)
code = {"i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q",
        "f2": "e"}[descr[1:]]
count = 60
if code == "e":
    values = [0.0, -0.0, 2.0 ** -24, -1023 * 2.0 ** -24, 2.0 ** -14, 65504.0, -65504.0, 1 / 3]
    values += [float("inf"), float("-inf"), float("nan")] + [0.25 * i - 3 for i in range(49)]
    values = [struct.unpack("<e", struct.pack("<e", v))[0] for v in values]
else:
    bits = 8 * int(descr[2])
    low = -(2 ** min(bits - 1, 52)) if descr[1] == "i" else 0
    high = 2 ** min(bits - (descr[1] == "i"), 53) - 1
    values = [low, high, 0, 1, high // 3] + [low + 2 * i for i in range(55)]
indices = list(itertools.product(*map(range, shape)))
if order == "F":
    stored = [values[(i * 4 + j) * 5 + k] for k in range(5) for j in range(4) for i in range(3)]
else:
    stored = values
endian = ">" if descr[0] == ">" else "<"
with open("in.npy", "wb") as file:
    file.write(fields.npy_header(1, descr, order == "F", shape))
    file.write(struct.pack(endian + str(count) + code, *stored))
wide = "d" if descr[2] in "48" else "f"
with open("out." + {"d": "f64", "f": "f32"}[wide], "wb") as file:
    file.write(struct.pack("<" + str(count) + wide, *values))
PYTHON
for descr in '|i1' '|u1' '<i2' '>u2' '<i4' '>u4' '<i8' '>i8' '<u8' '<f2' '>f2'; do
  for order in C F; do
    rm -f out.f32 out.f64
    python3 convert.py "$here" "$descr" $order || fail "cannot make $descr"
    for memory in 1G 200; do
      ok "$tamis" compress in.npy -o in.tms --lossless --memory $memory
      says "stored as .*converted exactly"
      ok "$tamis" verify in.tms in.npy --memory $memory
      ok "$tamis" decompress in.tms -o out.raw
      cmp out.raw out.f?? || fail "$descr $order: wrong values with --memory $memory"
    done
  done
done
python3 convert.py "$here" "<i2" C
ok "$tamis" compress in.npy -o in.tms --lossless --fill -32768 --json
json_is 2 fill count
for descr in '<i8' '<u8'; do
  python3 convert.py "$here" "$descr" C
  python3 -c "
data = bytearray(open('in.npy', 'rb').read())
data[-8:] = (2 ** 53 + 1).to_bytes(8, 'little')
open('in.npy', 'wb').write(data)"
  rejects 1 "int64 variable holds values beyond 2\^53, which f64 cannot hold exactly" \
    "$tamis" compress in.npy -o b.tms --lossless
done
absent b.tms

# The kind is told by content, not by name.
fields make really.raw --shape 7x5x9 --kind npy1
ok "$tamis" compress really.raw -o a.tms --abs 0.1
rejects 2 "contradicts" "$tamis" compress really.raw --shape 9x5x7 -o b.tms --abs 0.1
rejects 2 "contradicts" "$tamis" compress really.raw --dtype f64 -o b.tms --abs 0.1

broken() {
  python3 - "$1" >broken.npy <<'PYTHON'
import struct, sys
text = sys.argv[1].encode()
sys.stdout.buffer.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + b"\0" * 64)
PYTHON
  rejects 1 "npy" "$tamis" compress broken.npy -o b.tms --abs 0.1
  absent b.tms
}
broken "{'descr': '<c8', 'fortran_order': False, 'shape': (4,), }"
broken "{'descr': '|b1', 'fortran_order': False, 'shape': (4,), }"
broken "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 99999999999), }"
broken "{'descr': '<f4', 'fortran_order': False, 'shape': (-4,), }"
broken "{'descr': '<f4', 'fortran_order': False, 'shape': (4,)"
broken "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (4,), }"
broken "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,), }"
broken "{'descr': '<f4', 'descr': '<f4', 'shape': (4,), }"
broken "__import__('os').abort()"
broken ""
printf '\223NUMPY\001' >short.npy
rejects 1 "ends within" "$tamis" compress short.npy -o b.tms --abs 0.1
printf '\223NUMPY\002\000\377\377\377\377{' >huge.npy
rejects 1 "header claims" "$tamis" compress huge.npy -o b.tms --abs 0.1
absent b.tms
