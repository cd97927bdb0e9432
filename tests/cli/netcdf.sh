# netCDF classic and netCDF-4: variables, fill attributes, packed integers, groups, templates.
source "$(dirname "$0")/common.sh" "$1"
needs ncgen
needs ncdump

shape=6x7x8
fields make reference.f32 --shape $shape --dtype f32
fields make filled.f32 --shape $shape --dtype f32 --fill 1e20
values=$(fields text --shape $shape)
packed=$(fields text --shape $shape --scale 100 --integer)
cat >in.cdl <<CDL
netcdf in {
dimensions:
  time = UNLIMITED ;
  y = 7 ;
  x = 8 ;
variables:
  float tos(time, y, x) ;
    tos:units = "degC" ;
    tos:_FillValue = 1.e20f ;
  double wide(time, y, x) ;
    wide:missing_value = -999. ;
  float both(time, y, x) ;
    both:_FillValue = 1.e20f ;
    both:missing_value = -7.f ;
  short packed(time, y, x) ;
    packed:scale_factor = 0.01 ;
    packed:add_offset = 5. ;
    packed:_FillValue = -32768s ;
  short narrow(time, y, x) ;
    narrow:scale_factor = 0.01f ;
    narrow:add_offset = 5.f ;
  int counts(time, y, x) ;
  byte flags(time) ;
  char label(x) ;
  float alone ;
data:
  tos = $values ;
  wide = $values ;
  both = $values ;
  packed = $packed ;
  narrow = $packed ;
  counts = $packed ;
  flags = 1, 2, -3, 4, 5, 6 ;
  label = "abcdefgh" ;
  alone = 1 ;
}
CDL

for kind in classic "64-bit offset" "64-bit data" "netCDF-4"; do
  ncgen -k "$kind" -o in.nc in.cdl || fail "ncgen -k $kind"
  ok "$tamis" compress in.nc:tos -o tos.tms --abs 0.001
  says "^tos +\(netCDF in.nc:tos\)"
  says "6x7x8"
  says "_FillValue"
  ok "$tamis" decompress tos.tms -o out.raw
  ok fields compare reference.f32 out.raw --dtype f32 --abs 0.001001
  ok "$tamis" verify tos.tms in.nc:tos
  ok "$tamis" compress in.nc:/tos -o streamed.tms --abs 0.001 --memory 300
  ok "$tamis" verify streamed.tms in.nc:tos --memory 300
  cmp tos.tms streamed.tms || fail "$kind: streaming gave other bytes"

  ok "$tamis" compress in.nc:wide -o wide.tms --rel 1e-6 --json
  json_is f64 dtype
  json_is -999.0 fill value
  json_is missing_value fill origin
  ok "$tamis" compress in.nc:tos -o a.tms --abs 1 --fill -5 --json
  json_is "--fill" fill origin
  json_is degC units
  ok "$tamis" compress in.nc:both -o both.tms --abs 0.01
  says "missing_value differ.*--fill -7"

  rejects 2 "has no variable \"nothing\".*tos  f32  6x7x8.*packed  int16  6x7x8" \
    "$tamis" compress in.nc:nothing -o b.tms --abs 1
  rejects 2 "which variable of in.nc.*tos  f32  6x7x8" "$tamis" compress in.nc -o b.tms --abs 1
  rejects 1 "text or a user-defined type" "$tamis" compress in.nc:label -o b.tms --abs 1
  rejects 2 "single number" "$tamis" compress in.nc:alone -o b.tms --abs 1
  absent b.tms

  # A copy with the variable replaced: everything else stays.
  ok "$tamis" decompress tos.tms -o copy.nc:tos --template in.nc
  ok "$tamis" verify tos.tms copy.nc:tos
  ncdump -h in.nc | sed 1d >in.header
  ncdump -h copy.nc | sed 1d >copy.header
  cmp in.header copy.header || fail "$kind: the copy's header differs"
  ncdump -v wide in.nc | sed 1d >in.wide
  ncdump -v wide copy.nc | sed 1d >copy.wide
  cmp in.wide copy.wide || fail "$kind: another variable changed"
  rejects 2 "is not stored as f32" "$tamis" decompress tos.tms -o b.nc:wide --template in.nc
  rejects 2 "has shape 6, the decoded field has 6x7x8|is not stored as f32" \
    "$tamis" decompress tos.tms -o b.nc:flags --template in.nc
  rejects 2 "has no variable" "$tamis" decompress tos.tms -o b.nc:nothing --template in.nc
  rejects 2 "which variable" "$tamis" decompress tos.tms -o b.nc --template in.nc
  rejects 2 "is the input file itself" "$tamis" decompress tos.tms -o in.nc:tos --template in.nc
  absent b.nc

  # Packed integers. 0.01 as double attribute gives f64, as float f32; plain integers are exact.
  ok "$tamis" compress in.nc:packed -o packed.tms --abs 1e-9 --json
  json_is f64 dtype
  json_is nan fill value
  ok "$tamis" compress in.nc:packed -o packed.tms --abs 1e-9
  says "stored as int16.*scale_factor 0.01 and add_offset 5"
  ok "$tamis" compress in.nc:narrow -o narrow.tms --abs 1e-3 --json
  json_is f32 dtype
  ok "$tamis" compress in.nc:counts -o counts.tms --lossless --json
  json_is f64 dtype
  rm -f counts.nc
  ok "$tamis" decompress counts.tms -o counts.nc:counts
  ncdump -v counts counts.nc | tr -d ' \n' >counts.txt
  grep -qF "$(echo "$packed" | cut -c1-60 | tr -d ' ')" counts.txt || fail "integers changed"
  ok "$tamis" compress in.nc:flags -o flags.tms --lossless
  ok "$tamis" verify flags.tms in.nc:flags
done

# The unpacked values are stored * scale + offset.
ok "$tamis" decompress packed.tms -o packed.nc:values
ncdump -v values packed.nc | sed -n '/^ values =/,$p' | tr -d ' \n' >unpacked.txt
first=$(echo "$packed" | cut -d, -f1)
expected=$(python3 -c "print('%g' % ($first * 0.01 + 5))")
grep -q "values=$expected," unpacked.txt || fail "unpacked $first: $(head -c 80 unpacked.txt)"

# Points equal to the packed fill become NaN.
cat >gaps.cdl <<'CDL'
netcdf gaps {
dimensions: x = 5 ;
variables:
  short v(x) ;
    v:scale_factor = 0.5f ;
    v:_FillValue = -1s ;
  byte u(x) ;
    u:_Unsigned = "true" ;
data:
  v = 2, _, 6, -1, 10 ;
  u = 1, -1, -128, 127, 0 ;
}
CDL
ncgen -o gaps.nc gaps.cdl || fail "ncgen"
ok "$tamis" compress gaps.nc:v -o gaps.tms --lossless --json
json_is 2 fill count
ok "$tamis" decompress gaps.tms -o gaps.raw
python3 -c "
import struct, math
v = struct.unpack('<5f', open('gaps.raw', 'rb').read())
assert v[0::2] == (1.0, 3.0, 5.0) and math.isnan(v[1]) and math.isnan(v[3]), v
" || fail "packed fill"
ok "$tamis" compress gaps.nc:u -o gaps.tms --lossless
ok "$tamis" decompress gaps.tms -o gaps.raw
python3 -c "
import struct
v = struct.unpack('<5f', open('gaps.raw', 'rb').read())
assert v == (1.0, 255.0, 128.0, 127.0, 0.0), v
" || fail "_Unsigned"

# Fresh files carry the shape, the fill and the values.
ok "$tamis" compress filled.f32 --shape $shape -o filled.tms --abs 0.01 --fill 1e20
ok "$tamis" decompress filled.tms -o fresh.nc:tos
ncdump -h fresh.nc >fresh.txt
grep -q "float tos(d0, d1, d2)" fresh.txt || fail "fresh file: $(cat fresh.txt)"
grep -q "_FillValue = 1.e+20f" fresh.txt || fail "fresh file has no fill: $(cat fresh.txt)"
ok "$tamis" verify filled.tms fresh.nc:tos
# A named variable in an existing file: nobody means to lose the others.
cp in.nc kept.nc
rejects 2 "kept.nc exists and would be replaced.*--template kept.nc" \
  "$tamis" decompress filled.tms -o kept.nc:tos
cmp in.nc kept.nc || fail "a refused output was changed"
ok "$tamis" decompress tos.tms -o copy.nc:tos --template kept.nc
ok "$tamis" decompress filled.tms -o fresh.nc
ok "$tamis" verify filled.tms fresh.nc:data
ok "$tamis" decompress filled.tms -o streamed.nc --memory 400
ok "$tamis" verify filled.tms streamed.nc:data
rejects 2 "no groups" "$tamis" decompress filled.tms -o b.nc:group/tos
absent b.nc

# Groups.
cat >groups.cdl <<CDL
netcdf groups {
dimensions: y = 42 ; x = 8 ;
group: ocean {
  group: surface { variables: float tos(y, x) ; data: tos = $values ; }
}
}
CDL
ncgen -k netCDF-4 -o groups.nc groups.cdl || fail "ncgen"
ok "$tamis" compress groups.nc:ocean/surface/tos -o groups.tms --lossless
ok "$tamis" decompress groups.tms -o copy.nc:/ocean/surface/tos --template groups.nc
ok "$tamis" verify groups.tms copy.nc:ocean/surface/tos

# Damaged files are an error, not a crash.
head -c 60 in.nc >cut.nc
rejects 1 "tamis: compress: " "$tamis" compress cut.nc:tos -o b.tms --abs 1
ncgen -k classic -o in.nc in.cdl
head -c 100 in.nc >cut.nc
rejects 1 "tamis: compress: " "$tamis" compress cut.nc:tos -o b.tms --abs 1
absent b.tms
