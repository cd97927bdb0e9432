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
broken "{'descr': '<i4', 'fortran_order': False, 'shape': (4,), }"
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
