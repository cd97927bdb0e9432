# Exit codes and messages: 2 for what makes no sense, 1 for data and I/O, each saying what was given
# and what was expected.
source "$(dirname "$0")/common.sh" "$1"

fields make in.f32 --shape 10x20
fields make in.npy --shape 10x20 --kind npy1
ok "$tamis" --version
says "^tamis [0-9]+\.[0-9]+"
ok "$tamis" --help
says "Examples:"
for command in compress decompress info verify bench devices warmup; do
  ok "$tamis" $command --help
  says "Examples:"
done

rejects 2 "subcommand is required: compress, decompress, info, verify, bench" "$tamis"
rejects 2 "unknown command \"compres\": expected one of compress, decompress" \
  "$tamis" compres in.npy -o a.tms --abs 1
rejects 2 "tamis: compress: .*--bogus" "$tamis" compress in.npy -o a.tms --abs 1 --bogus
rejects 2 "no error bound given.*--abs.*--rel.*--pwrel.*--psnr.*--lossless" \
  "$tamis" compress in.npy -o a.tms
rejects 2 "more than one error bound" "$tamis" compress in.npy -o a.tms --abs 1 --rel 1
rejects 2 "more than one error bound" "$tamis" compress in.npy -o a.tms --abs 1,2
for bad in -1 nan inf 1e-3x ""; do
  rejects 2 "tamis: compress: " "$tamis" compress in.npy -o a.tms --abs "$bad"
done
rejects 2 "expected default, ratio or fast" "$tamis" compress in.npy -o a.tms --abs 1 --mode best
rejects 2 "output is required" "$tamis" compress in.npy --abs 1
rejects 2 "slowest dimension first" "$tamis" compress in.f32 -o a.tms --abs 1
rejects 2 "holds 800 bytes.*10x21 of f32 needs 210 x 4 = 840 bytes" \
  "$tamis" compress in.f32 --shape 10x21 -o a.tms --abs 1
rejects 2 "would match --dtype f32" \
  "$tamis" compress in.f32 --shape 10x20 --dtype f64 -o a.tms --abs 1
rejects 2 "would match --shape 20x10" "$tamis" compress in.f32 --shape 19x10 -o a.tms --abs 1
rejects 2 "expected sizes like" "$tamis" compress in.f32 --shape 10y20 -o a.tms --abs 1
cp in.f32 in.raw
rejects 2 "give --dtype f32 or f64" "$tamis" compress in.raw --shape 10x20 -o a.tms --abs 1
rejects 1 "cannot open missing.f32: No such file" \
  "$tamis" compress missing.f32 --shape 1 -o a.tms --abs 1
rejects 2 "names nothing" "$tamis" compress in.npy:tos -o a.tms --abs 1
rejects 1 "Is a directory" "$tamis" compress . --shape 1 --dtype f32 -o a.tms --abs 1
rejects 2 "expected a size in bytes" "$tamis" compress in.npy -o a.tms --abs 1 --memory lots
rejects 2 "leave --no-verify out" \
  "$tamis" compress in.npy -o a.tms --abs 1 --no-verify --report a.html
absent a.tms a.html

ok "$tamis" compress in.npy -o a.tms --abs 0.5 --no-verify
says "not measured"
rejects 2 "the field 10x20 needs 2" "$tamis" decompress a.tms -o out.raw --box 0:1
rejects 2 "0 <= FIRST < LAST <= 20" "$tamis" decompress a.tms -o out.raw --box 0:1,5:21
rejects 2 "levels 0 \(full\) to" "$tamis" decompress a.tms -o out.raw --level 99
rejects 2 "expected raw, npy, nc or h5" "$tamis" decompress a.tms -o out.raw --format png
rejects 2 "needs a netCDF or HDF5 output" "$tamis" decompress a.tms -o out.raw --template in.npy
rejects 2 "but a.tms holds f32 10x20" "$tamis" verify a.tms in.f32 --shape 20x10
rejects 1 "tamis: info: " "$tamis" info in.npy
absent out.raw

# An original that differs breaks the bound.
python3 - <<'PYTHON'
data = bytearray(open("in.f32", "rb").read())
data[403] ^= 0x41
open("other.f32", "wb").write(data)
PYTHON
rejects 1 "1 of 200 points break the bound abs 0.5.*first at element 100, index \(5, 0\)" \
  "$tamis" verify a.tms other.f32 --shape 10x20
rejects 1 "break the bound" "$tamis" verify a.tms other.f32 --shape 10x20 --memory 100

# Raw originals take shape and type from the compressed file unless options say otherwise.
ok "$tamis" verify a.tms in.f32
cp in.f32 in.raw
ok "$tamis" verify a.tms in.raw
rejects 2 "10x20 of f64 needs" "$tamis" verify a.tms in.raw --dtype f64
head -c 400 in.f32 >half.f32
rejects 2 "holds 400 bytes, but the compressed field's shape 10x20" "$tamis" verify a.tms half.f32

# Absurd errors are capped, and a constant field that does not come back has a PSNR of -inf.
python3 - <<'PYTHON'
import struct
open("ones.f32", "wb").write(struct.pack("<8f", *[1] * 8))
open("huge.f32", "wb").write(struct.pack("<8f", *[1] * 7 + [1e30]))
PYTHON
ok "$tamis" compress ones.f32 --shape 8 -o ones.tms --abs 0.5
rejects 1 "break the bound" "$tamis" verify ones.tms huge.f32
says "over 1000 times the bound"
ok "$tamis" compress huge.f32 --shape 8 -o huge.tms --lossless
rejects 1 "index \(7\)" "$tamis" verify huge.tms ones.f32
says "PSNR +-inf"

# Damage is found, and nothing is written.
python3 - <<'PYTHON'
data = bytearray(open("a.tms", "rb").read())
open("cut.tms", "wb").write(data[:-3])
data[len(data) * 3 // 4] ^= 0x10
open("bad.tms", "wb").write(data)
PYTHON
for damaged in cut.tms bad.tms in.npy; do
  rejects 1 "tamis: verify: " "$tamis" verify $damaged
  rejects 1 "tamis: decompress: " "$tamis" decompress $damaged -o out.raw
done
: >zero.tms
rejects 1 "tamis: decompress: " "$tamis" decompress zero.tms -o out.raw
absent out.raw

# With --json an error is an object too, and standard output holds nothing else.
rejects 1 "tamis: decompress: " "$tamis" decompress bad.tms -o out.raw --json
json_is False ok
json_is corrupt error code
rejects 2 "tamis: compress: " "$tamis" compress --json
json_is usage error code
rejects 2 "tamis: compress: " "$tamis" compress in.npy -o b.tms --json
json_is "invalid_argument" error code
rejects 1 "" "$tamis" verify a.tms other.f32 --shape 10x20 --json
json_is bound_violated error code
json_is 1 difference violations
ok "$tamis" compress in.npy -o b.tms --abs 0.5 --json
json_is True ok
json_is True verified
[ ! -s stderr.txt ] || fail "--json wrote on standard error: $(cat stderr.txt)"
ok "$tamis" compress in.npy -o b.tms --abs 0.5 --quiet
[ ! -s stdout.txt ] && [ ! -s stderr.txt ] || fail "--quiet is not quiet"
