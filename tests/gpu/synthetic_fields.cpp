// Every shape is taken for three axes: long ones are split into digits, along which a plane wave is
// a product just the same; surplus ones are joined, and the wave then runs on from one to the next.
#include "synthetic_fields.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <span>

#include "gpu/kernel.hpp"

namespace tamis::gpu_test {

std::span<const gpu::SourceFile> synthetic_field_files() noexcept;  // embedded

namespace {

struct Digits {
  std::array<std::int64_t, 3> extents = {1, 1, 1};
  // Phase of a step along each, for a wave of angles (per axis and node).
  std::array<int, 3> axis = {0, 0, 0};
  std::array<std::int64_t, 3> nodes = {0, 0, 0};
};

Digits split(const Extents& shape) {
  Digits d;
  if (shape.rank() == 1) {
    std::int64_t x = 1;
    while (x * x * x < shape[0]) x *= 2;
    d.extents = {(shape[0] + x * x - 1) / (x * x), x, x};
    d.nodes = {x * x, x, 1};
    return d;
  }
  const int rank = shape.rank();
  d.extents[2] = shape[rank - 1];
  d.extents[1] = shape[rank - 2];
  for (int k = 0; k + 2 < rank; ++k) d.extents[0] *= shape[k];
  d.axis = {0, 1, 2};
  d.nodes = {1, 1, 1};
  return d;
}

}  // namespace

Buffer make_synthetic_field(const SyntheticKind& kind, DType dtype, const Extents& shape,
                            const Stream& stream) {
  const Digits digits = split(shape);
  std::mt19937_64 random(20261201);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::array<std::vector<float>, 3> factors;
  for (int d = 0; d < 3; ++d) {
    factors[static_cast<std::size_t>(d)].resize(
        static_cast<std::size_t>(2 * kind.waves * digits.extents[static_cast<std::size_t>(d)]));
  }
  for (int w = 0; w < kind.waves; ++w) {
    const double k = kind.lowest_wave_number *
                     std::pow(kind.highest_wave_number / kind.lowest_wave_number, uniform(random));
    const double z = 2 * uniform(random) - 1;
    const double turn = 2 * std::numbers::pi * uniform(random);
    const double phase = 2 * std::numbers::pi * uniform(random);
    const double r = std::sqrt(1 - z * z);
    const std::array<double, 3> direction = {z, r * std::sin(turn), r * std::cos(turn)};
    for (std::size_t d = 0; d < 3; ++d) {
      const std::int64_t n = digits.extents[d];
      double step = 0;
      if (shape.rank() == 1) {
        step = 2 * std::numbers::pi * k / 512 * static_cast<double>(digits.nodes[d]);
      } else {
        // The same wave length in nodes along each axis.
        step = 2 * std::numbers::pi * k * direction[d] /
               static_cast<double>(std::min<std::int64_t>(512, digits.extents[2]));
      }
      const double amplitude = d == 0 ? std::pow(k, kind.amplitude_exponent) : 1.0;
      for (std::int64_t i = 0; i < n; ++i) {
        const double angle = step * static_cast<double>(i) + (d == 0 ? phase : 0.0);
        const auto at = static_cast<std::size_t>(2 * (w * n + i));
        factors[d][at] = static_cast<float>(amplitude * std::cos(angle));
        factors[d][at + 1] = static_cast<float>(amplitude * std::sin(angle));
      }
    }
  }
  std::array<Buffer, 3> on_device;
  for (std::size_t d = 0; d < 3; ++d) {
    const auto size = static_cast<std::int64_t>(factors[d].size() * sizeof(float));
    on_device[d] = Buffer(size, stream);
    copy_bytes(on_device[d].data(), factors[d].data(), size, stream);
  }
  static const gpu::KernelSource source(synthetic_field_files().front());
  const gpu::KernelConfig config{{"TAMIS_VALUE", dtype_bytes(dtype)}};
  const std::int64_t count = digits.extents[0] * digits.extents[1] * digits.extents[2];
  Buffer field(std::max(count, shape.element_count()) * dtype_bytes(dtype), stream);
  gpu::get_kernel(stream.device(), source, config, "synthesise")
      .launch(stream, {{digits.extents[0] * digits.extents[1]}, {256}}, field.data(),
              static_cast<std::uint64_t>(digits.extents[0]),
              static_cast<std::uint64_t>(digits.extents[1]),
              static_cast<std::uint64_t>(digits.extents[2]), on_device[2].data(),
              on_device[1].data(), on_device[0].data(), kind.waves,
              static_cast<float>(kind.noise_level), static_cast<float>(kind.floor));
  stream.synchronize();
  return field;
}

}  // namespace tamis::gpu_test
