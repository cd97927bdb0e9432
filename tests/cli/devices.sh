# tamis devices and tamis warmup on a machine without a GPU: what is missing is said plainly, kernels
# are compiled for named architectures where NVRTC is found, and the cache folder may be anything.
source "$(dirname "$0")/common.sh" "$1"

export TAMIS_CUDA_DRIVER=/absent/libcuda.so TAMIS_HIP=/absent/libamdhip64.so
export TAMIS_CACHE_DIR=$work/cache
# Compilers of others leak; that is no finding about the command.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

ok "$tamis" devices
says "devices +none"
says "tried /absent/libcuda.so; TAMIS_CUDA_DRIVER names another"
says "cache +$work/cache/kernels"
says "0 kernels, 0 B"
ok "$tamis" devices --json
json_is True ok
json_is "[]" devices
json_is False drivers cuda usable
json_is True cache usable
json_is "$work/cache/kernels" cache folder

rejects 1 "tamis: warmup: no GPU: cuda: no NVIDIA driver.*hip: no HIP library" "$tamis" warmup
rejects 2 "no architecture: 'volta'; expected a name like sm_90a" "$tamis" warmup --arch volta
rejects 1 "cannot be compiled: no hipRTC" \
  env TAMIS_HIPRTC=/absent/libhiprtc.so "$tamis" warmup --arch gfx90a

# A folder that cannot be made is no failure.
ok env TAMIS_CACHE_DIR=/dev/null/x "$tamis" devices
says "not used: cannot make the folder /dev/null/x/kernels"

# Without a compiler, what was not prebuilt cannot be had.
rejects 1 "([0-9]+) of [0-9]+ kernels failed; the first: no machine code .* no NVRTC .tried /absent/nvrtc.so" \
  env TAMIS_NVRTC=/absent/nvrtc.so "$tamis" warmup --arch sm_75
rejects 1 "no machine code" env TAMIS_NVRTC=/absent/nvrtc.so "$tamis" warmup --arch sm_75 --json
json_is unavailable error code

ok "$tamis" devices --json
[ "$(json compilers cuda usable)" = True ] || skip "no NVRTC: $(json compilers cuda problem)"
ok "$tamis" warmup --arch sm_75
says "\[1/.* sm_75 +gpu/self_test .* compiled, "
ok "$tamis" warmup --arch sm_75 --json
json_is 0 compiled
json_is disk steps 0 origin
ok "$tamis" devices --json
[ "$(json cache files)" -ge 1 ] || fail "nothing is in the cache"

# Damage is noticed and repaired; a folder that cannot be used is said.
file=$(find "$work/cache/kernels" -name "*.kernel" | sort | head -1)
truncate -s -1 "$file"
ok "$tamis" warmup --arch sm_75
says "compiled, .*damaged, ignored and replaced"
ok "$tamis" warmup --arch sm_75
says "disk, "
ok env TAMIS_CACHE_DIR=/dev/null/x "$tamis" warmup --arch sm_75
says "not kept on disk: cannot make the folder"
leftover=$(find "$work/cache" -name '*.tmp')
[ -z "$leftover" ] || fail "left behind: $leftover"
