# Output files appear whole or not at all, and never over the input.
source "$(dirname "$0")/common.sh" "$1"

fields make in.npy --shape 200x300 --kind npy1
cp in.npy kept.npy
rejects 2 "is the input file itself" "$tamis" compress in.npy -o in.npy --abs 1
ln -s in.npy link.npy
rejects 2 "is the input file itself" "$tamis" compress in.npy -o link.npy --abs 1
ln in.npy hard.npy
rejects 2 "is the input file itself" "$tamis" compress in.npy -o ./hard.npy --abs 1
rejects 2 "is the input file itself" "$tamis" compress in.npy -o a.tms --abs 1 --report in.npy
rejects 2 "name the same file" "$tamis" compress in.npy -o ./a.html --abs 1 --report a.html
cmp in.npy kept.npy || fail "the input was changed"
absent a.tms
absent a.html

ok "$tamis" compress in.npy -o a.tms --lossless
rejects 2 "is the input file itself" "$tamis" decompress a.tms -o a.tms
rejects 1 "cannot create a file in" "$tamis" compress in.npy -o nowhere/a.tms --abs 1
mkdir folder
rejects 1 "Is a directory" "$tamis" compress in.npy -o folder --abs 1

# A write that fails half-way: the limit on file sizes stands in for a full disk.
for command in "compress in.npy -o out --lossless" "decompress a.tms -o out" \
  "decompress a.tms -o out --format npy --memory 1000"; do
  # shellcheck disable=SC2086
  (
    ulimit -f 8
    exec "$tamis" $command
  ) >stdout.txt 2>stderr.txt
  [ $? -eq 1 ] || fail "exit code of a failed write: $command"
  grep -q "File too large" stderr.txt || fail "message of a failed write: $(cat stderr.txt)"
  absent out
done
# An older output survives a failure.
echo old >out
(
  ulimit -f 8
  exec "$tamis" decompress a.tms -o out
) >stdout.txt 2>stderr.txt
[ "$(cat out)" = old ] || fail "a failed write destroyed the older output"
no_leftovers
for format in nc h5; do
  (
    ulimit -f 8
    exec "$tamis" decompress a.tms -o out.$format
  ) >stdout.txt 2>stderr.txt
  [ $? -eq 1 ] || fail "exit code of a failed $format write: $(cat stderr.txt)"
  absent out.$format
done

# Success replaces the older output, through a symbolic link too; permissions follow the umask.
ln -sf target.tms through.tms
echo old >target.tms
(umask 027 && "$tamis" compress in.npy -o through.tms --lossless -q) || fail "compress"
[ -L through.tms ] || fail "the symbolic link was replaced"
cmp a.tms target.tms || fail "the link's target was not written"
[ "$(stat -c %a target.tms)" = 640 ] || fail "mode $(stat -c %a target.tms), expected 640"

echo old >private.tms
chmod 600 private.tms
ok "$tamis" compress in.npy -o private.tms --lossless
[ "$(stat -c %a private.tms)" = 600 ] || fail "an overwritten file lost its permissions"

# Interrupted: nothing is left. The temporary file is waited for, then the process is stopped.
head -c 60000000 /dev/urandom >noise.f32
for signal in INT TERM HUP; do
  "$tamis" compress noise.f32 --shape 15000x1000 -o noise.tms --lossless -q 2>/dev/null &
  process=$!
  for _ in $(seq 500); do
    [ -n "$(find . -name '.*.tmp')" ] && break
    sleep 0.01
  done
  kill -$signal $process 2>/dev/null
  wait $process 2>/dev/null
  code=$?
  # A background shell ignores SIGINT on purpose, and the command honours that.
  if [ $code -ne 0 ]; then absent noise.tms; fi
  rm -f noise.tms
  no_leftovers
  [ $signal = INT ] || [ $code -gt 128 ] || fail "SIG$signal: exit code $code"
done
