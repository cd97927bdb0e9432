# Standard input and output, closed pipes, full disks.
source "$(dirname "$0")/common.sh" "$1"
set -o pipefail

fields make in.f64 --shape 40x50 --dtype f64
fields make in.npy --shape 40x50 --dtype f64 --kind npy1
"$tamis" compress - --shape 40x50 --dtype f64 -o - --lossless <in.f64 2>notes.txt |
  "$tamis" decompress - -o - --quiet | cmp - in.f64 || fail "raw through pipes changed"
grep -q "40x50" notes.txt || fail "the summary is not on standard error"
"$tamis" compress - -o - --lossless -q <in.npy | "$tamis" decompress - -o - --format npy -q |
  cmp - in.npy || fail ".npy through pipes changed"
"$tamis" compress in.npy -o - --abs 0.1 -q | "$tamis" info - >info.txt || fail "info from a pipe"
grep -q 40x50 info.txt || fail "info from a pipe says: $(cat info.txt)"
"$tamis" compress in.npy -o - --abs 0.1 -q | ok "$tamis" verify - in.npy

# A reader that goes away is an error, not a crash; so is a full device.
fields make big.f64 --shape 300x400 --dtype f64
{
  "$tamis" compress big.f64 --shape 300x400 -o - --lossless 2>err.txt
  echo $? >code.txt
} | head -c 1 >/dev/null
[ "$(cat code.txt)" -eq 1 ] || fail "closed pipe: exit code $(cat code.txt), expected 1"
grep -q "Broken pipe" err.txt || fail "closed pipe: $(cat err.txt)"
if [ -c /dev/full ]; then
  rejects 1 "No space left" "$tamis" compress big.f64 --shape 300x400 -o /dev/full --lossless
  "$tamis" info --help >/dev/full 2>&1
  "$tamis" compress in.npy -o a.tms --abs 0.1 -q || fail "compress"
  "$tamis" info a.tms >/dev/full 2>err.txt
  [ $? -eq 1 ] || fail "info into a full device must exit 1"
fi
ok "$tamis" compress in.npy -o /dev/null --abs 0.1
[ -c /dev/null ] || fail "/dev/null was replaced"

rejects 2 "both want standard output" "$tamis" compress in.npy -o - --abs 0.1 --json
rejects 2 "cannot be written to standard output" "$tamis" decompress a.tms -o - --format nc
printf 'CDF\001and more' | rejects 2 "only be read from a regular file" \
  "$tamis" compress - -o z.tms --abs 1
rejects 2 "already compressed" "$tamis" compress a.tms -o z.tms --abs 1
head -c 1000000 /dev/zero >zeros
"$tamis" compress - --shape 250000 --dtype f32 -o z.tms --abs 1 --memory 1000 <zeros 2>err.txt
[ $? -eq 1 ] || fail "standard input beyond the budget must exit 1"
grep -q "memory budget" err.txt || fail "message: $(cat err.txt)"
absent z.tms
