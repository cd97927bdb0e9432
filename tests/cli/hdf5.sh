# HDF5: data sets by path, types, attributes, templates, fresh files. Inputs come from h5import,
# which knows nothing of netCDF, and from the command itself.
source "$(dirname "$0")/common.sh" "$1"
needs h5import
needs h5dump

shape=6x7x8
fields make reference.f32 --shape $shape --dtype f32
fields make reference.f64 --shape $shape --dtype f64
fields text --shape $shape | tr -d , >values.txt
fields text --shape $shape --scale 100 --integer | tr -d , >integers.txt

# import_one PATH CLASS SIZE FILE [BYTE-ORDER]
import_one() {
  cat >config.txt <<CONFIG
PATH $1
INPUT-CLASS $([ "$2" = IN ] && echo TEXTIN || echo TEXTFP)
RANK 3
DIMENSION-SIZES 6 7 8
OUTPUT-CLASS $2
OUTPUT-SIZE $3
OUTPUT-ARCHITECTURE $([ "$2" = IN ] && echo STD || echo IEEE)
OUTPUT-BYTE-ORDER ${5:-LE}
CONFIG
  h5import "$4" -c config.txt -o in.h5 >import.txt 2>&1 || fail "h5import: $(cat import.txt)"
}
import_one ocean/tos FP 32 values.txt
import_one ocean/big FP 64 values.txt BE
import_one counts IN 16 integers.txt
import_one wide IN 64 integers.txt

ok "$tamis" compress in.h5:/ocean/tos -o tos.tms --abs 0.001
says "ocean/tos +\(HDF5 in.h5:/ocean/tos\)"
ok "$tamis" decompress tos.tms -o out.raw
ok fields compare reference.f32 out.raw --dtype f32 --abs 0.001001
ok "$tamis" compress in.h5:ocean/big -o big.tms --abs 0.001 --json
json_is f64 dtype
ok "$tamis" decompress big.tms -o out.raw
ok fields compare reference.f64 out.raw --dtype f64 --abs 0.001001
ok "$tamis" compress in.h5:ocean/tos -o streamed.tms --abs 0.001 --memory 300
ok "$tamis" verify streamed.tms in.h5:/ocean/tos --memory 300
cmp tos.tms streamed.tms || fail "streaming gave other bytes"
ok "$tamis" compress in.h5:counts -o counts.tms --lossless
says "stored as int16"
says "f32"
ok "$tamis" compress in.h5:wide -o wide.tms --lossless --json
json_is f64 dtype

rejects 2 "no variable \"/nothing\".*/ocean/tos  f32  6x7x8.*/counts  int16" \
  "$tamis" compress in.h5:/nothing -o b.tms --abs 1
rejects 2 "which variable of in.h5" "$tamis" compress in.h5 -o b.tms --abs 1
rejects 2 "no variable" "$tamis" compress in.h5:/ocean -o b.tms --abs 1
absent b.tms

ok "$tamis" decompress tos.tms -o copy.h5:/ocean/tos --template in.h5
ok "$tamis" verify tos.tms copy.h5:/ocean/tos
h5dump -d /ocean/big in.h5 | sed 1d >in.txt
h5dump -d /ocean/big copy.h5 | sed 1d >copy.txt
cmp in.txt copy.txt || fail "another data set changed"
rejects 2 "is stored as f64, the decoded field is f32" \
  "$tamis" decompress tos.tms -o b.h5:/ocean/big --template in.h5
rejects 2 "is stored as int16" "$tamis" decompress counts.tms -o b.h5:counts --template in.h5
rejects 2 "has shape 6x7x8, the decoded field has 2x7x8" \
  "$tamis" decompress tos.tms -o b.h5:/ocean/tos --template in.h5 --box 0:2,:,:
rejects 2 "neither a netCDF nor an HDF5" \
  "$tamis" decompress tos.tms -o b.h5:/ocean/tos --template reference.f32
rejects 1 "no such file" "$tamis" decompress tos.tms -o b.h5:x --template missing.h5
absent b.h5

ok "$tamis" compress reference.f32 --shape $shape -o filled.tms --abs 0.01 --fill 20
ok "$tamis" decompress filled.tms -o fresh.h5:/new/group/tos
h5dump -H fresh.h5 >fresh.txt
grep -q 'DATASET "tos"' fresh.txt || fail "fresh file: $(cat fresh.txt)"
grep -q '_FillValue' fresh.txt || fail "fresh file has no fill: $(cat fresh.txt)"
ok "$tamis" verify filled.tms fresh.h5:new/group/tos
rejects 2 "fresh.h5 exists and would be replaced.*--template" \
  "$tamis" decompress filled.tms -o fresh.h5:/other
ok "$tamis" verify filled.tms fresh.h5:new/group/tos
ok "$tamis" compress fresh.h5:new/group/tos -o again.tms --lossless --json
json_is _FillValue fill origin
ok "$tamis" decompress filled.tms -o other.name:x --format h5 --memory 400
ok "$tamis" verify filled.tms other.name:x

head -c 200 in.h5 >cut.h5
rejects 1 "cannot open cut.h5 as HDF5" "$tamis" compress cut.h5:tos -o b.tms --abs 1
absent b.tms
