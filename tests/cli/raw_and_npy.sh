# Raw and .npy files: round trips within the bound, self-description of the output.
source "$(dirname "$0")/common.sh" "$1"

for dtype in f32 f64; do
  fields make "in.$dtype" --shape 21x34x13 --dtype $dtype
  for bound in "--abs 0.01" "--rel 1e-3" "--pwrel 1e-3" "--psnr 60" "--lossless"; do
    for mode in default ratio fast; do
      # shellcheck disable=SC2086
      ok "$tamis" compress "in.$dtype" --shape 21x34x13 -o a.tms $bound --mode $mode
    done
  done
  ok "$tamis" compress "in.$dtype" --shape 21,34,13 --dtype $dtype -o a.tms --abs 0.01
  says "21x34x13 +slowest first"
  says "verified"
  ok "$tamis" decompress a.tms -o "out.$dtype"
  ok fields compare "in.$dtype" "out.$dtype" --dtype $dtype --abs 0.01
  ok "$tamis" decompress a.tms -o out.npy
  ok fields describe out.npy
  says "^<f$((${dtype#f} / 8)) C 21x34x13$"
  ok "$tamis" compress out.npy -o b.tms --lossless
  ok "$tamis" decompress b.tms -o again.npy
  cmp out.npy again.npy || fail "lossless .npy round trip changed the file"
  ok "$tamis" verify a.tms "in.$dtype" --shape 21x34x13
  says "within the bound"
  ok "$tamis" verify a.tms
  says "NOT compared"
done

# Verified in slabs, a PSNR is still that of the whole field.
ok "$tamis" compress in.f32 --shape 21x34x13 -o a.tms --psnr 60 --json
whole=$(json difference psnr_db)
ok "$tamis" compress in.f32 --shape 21x34x13 -o b.tms --psnr 60 --memory 9k --json
slabs=$(json difference psnr_db)
python3 -c "import sys; sys.exit(not abs($whole - $slabs) < 1e-9)" ||
  fail "PSNR $whole as a whole, $slabs in slabs"
cmp a.tms b.tms || fail "the bytes depend on --memory"

# One-dimensional and empty fields, and a file named by an explicit format.
fields make line.f32 --shape 1000
ok "$tamis" compress line.f32 --shape 1000 -o line.tms --abs 1e-3
ok "$tamis" decompress line.tms -o line.npy
ok fields describe line.npy
says "C 1000"
: >empty.f32
ok "$tamis" compress empty.f32 --shape 3x0x2 -o empty.tms --abs 1
ok "$tamis" decompress empty.tms -o empty.out --format npy
ok fields describe empty.out
says "C 3x0x2"

# The bytes do not depend on the number of threads.
fields make big.f32 --shape 70x80x90
ok "$tamis" compress big.f32 --shape 70x80x90 -o one.tms --rel 1e-3 --threads 1
ok "$tamis" compress big.f32 --shape 70x80x90 -o two.tms --rel 1e-3 --threads 2
cmp one.tms two.tms || fail "the bytes depend on --threads"

ok "$tamis" info one.tms
says "70x80x90"
ok "$tamis" info one.tms --json
json_is "[70, 80, 90]" shape
json_is f32 dtype
ok "$tamis" bench in.f32 --shape 21x34x13 --rel 1e-2,1e-3 --abs 0.1 --modes default,fast --repeat 1
[ "$(grep -cE '^  (rel|abs) ' stdout.txt)" -eq 6 ] || fail "bench: expected 6 rows: $(cat stdout.txt)"
ok "$tamis" bench in.f32 --shape 21x34x13 --lossless --modes fast --repeat 1 --json
json_is True rows 0 kept

ok "$tamis" compress in.f32 --shape 21x34x13 -o a.tms --rel 1e-3 --report report.html
grep -qi "<html" report.html || fail "--report wrote no page"
no_leftovers
