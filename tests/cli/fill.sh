# Masked points: declared and detected fill values come back exactly and take no part in ranges.
source "$(dirname "$0")/common.sh" "$1"

fields make plain.f32 --shape 12x20x20
fields make filled.f32 --shape 12x20x20 --fill 1e20
ok "$tamis" compress plain.f32 --shape 12x20x20 -o a.tms --rel 1e-3 --json
json_is None fill
ok "$tamis" compress filled.f32 --shape 12x20x20 -o a.tms --rel 1e-3 --json
json_is True fill detected
json_is detected fill origin
count=$(json fill count)
[ "$count" -gt 500 ] || fail "only $count points detected as fill"
python3 -c "import sys; sys.exit(not $(json max) < 100)" || fail "the fill is part of the range"
ok "$tamis" decompress a.tms -o out.f32
ok fields compare filled.f32 out.f32 --dtype f32 --abs 0.05
ok "$tamis" verify a.tms filled.f32 --shape 12x20x20

ok "$tamis" compress filled.f32 --shape 12x20x20 -o a.tms --rel 1e-3 --fill 1e20 --json
json_is False fill detected
json_is "--fill" fill origin
json_is "$count" fill count
# A fill that no point has is worth a word.
ok "$tamis" compress filled.f32 --shape 12x20x20 -o a.tms --rel 1e-3 --fill 1e21
grep -q "note: --fill 1e21 matches no point" stderr.txt || fail "no note: $(cat stderr.txt)"
ok "$tamis" compress filled.f32 --shape 12x20x20 -o a.tms --rel 1e-3 --fill 1e21 --json
json_is "--fill 1e21 matches no point, nothing is masked" notes 0
ok "$tamis" compress filled.f32 --shape 12x20x20 -o a.tms --rel 1e-3 --fill 1e20
[ ! -s stderr.txt ] || fail "a note without cause: $(cat stderr.txt)"
ok "$tamis" compress filled.f32 --shape 12x20x20 -o a.tms --lossless --no-detect-fill --json
json_is None fill
python3 -c "import sys; sys.exit(not $(json max) > 1e19)" || fail "the range lacks the large values"

fields make gaps.f64 --shape 12x20x20 --dtype f64 --fill nan
ok "$tamis" compress gaps.f64 --shape 12x20x20 -o a.tms --abs 0.01 --fill nan --json
json_is nan fill value
json_is "$count" fill count
ok "$tamis" decompress a.tms -o out.f64
ok fields compare gaps.f64 out.f64 --dtype f64 --abs 0.01
