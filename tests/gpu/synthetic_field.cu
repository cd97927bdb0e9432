// A field as a sum of plane waves: each is a product of one complex factor an axis, so that a value
// costs a few operations a wave. TAMIS_VALUE (bytes of a value) is the parameter.
#include "gpu/device/basics.cuh"

using namespace tamis::device;

#if TAMIS_VALUE == 8
using Value = double;
#else
using Value = float;
#endif

namespace {

// Noise in [-0.5, 0.5), from the index alone.
TAMIS_DEVICE float noise(u64 index) {
  u64 h = index * 0x9e3779b97f4a7c15ull;
  h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93ull;
  h ^= h >> 32;
  return static_cast<float>(static_cast<u32>(h)) * 2.3283064e-10f - 0.5f;
}

}  // namespace

// values[z][y][x]; factors: of x [wave][nx], of y, of z, as (cosine, sine) pairs. A block takes a
// row. Values below `floor` are set to it.
TAMIS_KERNEL void synthesise(Value* values, u64 nz, u64 ny, u64 nx, const float2* of_x,
                             const float2* of_y, const float2* of_z, int waves, float noise_level,
                             float floor) {
  const u64 row = blockIdx.x;
  const u64 y = row % ny;
  const u64 z = row / ny;
  for (u64 x = threadIdx.x; x < nx; x += blockDim.x) {
    float sum = 0;
    for (int w = 0; w < waves; ++w) {
      const float2 a = of_z[w * nz + z];
      const float2 b = of_y[w * ny + y];
      const float2 c = of_x[w * nx + x];
      const float re = a.x * b.x - a.y * b.y;
      const float im = a.x * b.y + a.y * b.x;
      sum += re * c.x - im * c.y;
    }
    const u64 index = row * nx + x;
    sum += noise_level * noise(index);
    values[index] = static_cast<Value>(sum < floor ? floor : sum);
  }
}
