// The scan of a field on the device against the host's: special values, zeros of both signs, fill
// of every kind, declared and detected, any size and alignment; and how fast it reads.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "check_list.hpp"
#include "gpu/event.hpp"
#include "reduce/device_scan.hpp"
#include "reduce/value_bits.hpp"

namespace tamis::gpu_test {
namespace {

using reduce::CompressOptions;
using reduce::FieldScan;
using u64 = std::uint64_t;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

template <typename T>
struct Case {
  std::string name;
  std::function<T(std::size_t, u64)> value;  // of a point, given random bits
  std::optional<double> declared = std::nullopt;
};

template <typename T>
T payload_nan(u64 payload) {
  constexpr u64 kQuiet = sizeof(T) == 4 ? 0x7fc00000 : 0x7ff8000000000000;
  return reduce::value_of<T>(kQuiet | payload);
}

template <typename T>
std::vector<Case<T>> cases() {
  const auto wave = [](std::size_t i) {
    return static_cast<T>(3 + 2 * std::sin(0.01 * static_cast<double>(i)));
  };
  const auto centred = [](std::size_t i, u64 bits) {
    return static_cast<T>(static_cast<double>(static_cast<std::int64_t>(bits)) * 1e-18 +
                          static_cast<double>(i) * 1e-9);
  };
  // `other` at one point of `share`.
  const auto mixed = [wave](T other, u64 share) {
    return [=](std::size_t i, u64 bits) { return bits % share == 0 ? other : wave(i); };
  };
  const T tiny = std::numeric_limits<T>::denorm_min();
  const T huge = std::numeric_limits<T>::max();
  std::vector<Case<T>> all = {
      {"positive", [=](std::size_t i, u64) { return wave(i); }},
      {"negative", [=](std::size_t i, u64) { return static_cast<T>(-wave(i)); }},
      {"both signs", centred},
      {"any bits", [](std::size_t, u64 bits) { return reduce::value_of<T>(bits); }},
      {"denormals", [=](std::size_t, u64 bits) { return bits % 2 == 0 ? tiny : -tiny; }},
      {"extremes", [=](std::size_t, u64 bits) { return bits % 2 == 0 ? huge : -huge; }},
      {"a +0", mixed(T{0}, 997)},
      {"a -0", mixed(-T{0}, 997)},
      {"zeros", [](std::size_t, u64 bits) { return bits % 2 == 0 ? T{0} : -T{0}; }},
      {"infinities", mixed(static_cast<T>(kInf), 97)},
      {"-infinity", mixed(static_cast<T>(-kInf), 971)},
      {"-NaN", mixed(-payload_nan<T>(0), 997)},
      {"NaN, detected", mixed(payload_nan<T>(5), 13)},
      {"NaN alone", [](std::size_t, u64 bits) { return payload_nan<T>(bits % 1000); }},
      {"1e20, detected", mixed(static_cast<T>(1e20), 7)},
      {"-9999, detected", mixed(T{-9999}, 7)},
      {"-9999 alone", mixed(T{-9999}, 1)},
      {"-9999, declared", mixed(T{-9999}, 3), -9999.0},
      {"declared, absent", mixed(T{-9999}, 3), 7777.0},
      {"declared 0", [](std::size_t i, u64 bits) { return bits % 3 == 0 ? -T{0} : T(i % 5); }, 0.0},
      {"declared -0", [](std::size_t i, u64 bits) { return bits % 3 == 0 ? -T{0} : T(i % 5); },
       -0.0},
      {"declared infinity", mixed(static_cast<T>(kInf), 5), kInf},
      {"declared NaN",
       [=](std::size_t i, u64 bits) { return bits % 5 == 0 ? payload_nan<T>(bits % 77) : wave(i); },
       kNan},
      {"declared NaN, absent", [=](std::size_t i, u64) { return wave(i); }, kNan},
      {"declared, within", [](std::size_t i, u64) { return T(i % 11); }, 5.0},
      {"declared, any bits",
       [](std::size_t, u64 bits) { return reduce::value_of<T>(bits & ~u64{0xff}); }, 1.0}};
  return all;
}

bool same(double a, double b) { return reduce::bits_of(a) == reduce::bits_of(b); }

template <typename T>
void require_same(const FieldScan<T>& found, const FieldScan<T>& expected,
                  const std::string& what) {
  require(found.masked_count == expected.masked_count, what + ": masked points");
  require(found.valid_count == expected.valid_count, what + ": valid points");
  require(found.finite_count == expected.finite_count, what + ": finite points");
  require(found.nonfinite_count == expected.nonfinite_count, what + ": special values");
  require(found.has_negative == expected.has_negative, what + ": signs");
  require(found.fill_detected == expected.fill_detected, what + ": detection");
  require(found.fill.has_value() == expected.fill.has_value(), what + ": fill");
  require(!found.fill || reduce::bits_of(*found.fill) == reduce::bits_of(*expected.fill),
          what + ": bits of the fill");
  require(
      (std::isnan(found.min_value) && std::isnan(expected.min_value)) ||
          (same(found.min_value, expected.min_value) && same(found.max_value, expected.max_value)),
      what + ": range " + std::to_string(found.min_value) + " to " +
          std::to_string(found.max_value) + ", expected " + std::to_string(expected.min_value) +
          " to " + std::to_string(expected.max_value));
  require(same(found.max_magnitude, expected.max_magnitude), what + ": magnitude");
}

template <typename T>
std::string check_fields(const Device&, const Stream& stream) {
  reduce::DeviceSession session(stream);
  int count = 0;
  for (const std::size_t n : {0, 1, 2, 3, 7, 64, 1000, 4097, 16384, 100003}) {
    const std::vector<u64> random = random_words(n, 21);
    for (const Case<T>& c : cases<T>()) {
      const std::size_t offset = static_cast<std::size_t>(count++) % 5;
      std::vector<T> field(offset + n);
      for (std::size_t i = 0; i < n; ++i) field[offset + i] = c.value(i, random[i]);
      const T* values = field.data() + offset;
      CompressOptions options;
      options.threads = 1;
      options.fill_value = c.declared;
      const auto size = static_cast<std::int64_t>(n);
      const FieldScan<T> expected = reduce::scan_field<T>(
          [&](const std::function<bool(std::int64_t, std::int64_t, const T*)>& fn) {
            fn(0, size, values);
          },
          size, options);
      const DeviceArray<T> on_device(field, stream);
      const FieldScan<T> found =
          reduce::scan_field_on_device<T>(on_device.data() + offset, size, options, session).scan;
      const std::string what = c.name + ", " + std::to_string(n) + " values";
      require_same(found, expected, what);
      const bool zero = std::any_of(values, values + n, [&](T v) {
        return v == 0 && !(found.fill && reduce::is_fill(v, *found.fill));
      });
      require(found.may_have_zeros == zero, what + ": zeros");
      require(expected.may_have_zeros || !zero, what + ": zeros that the host denies");
    }
  }
  return std::to_string(count) + " fields";
}

template <typename T>
double microseconds(const Device& device, const Stream& stream, std::int64_t count, int byte) {
  const Buffer field(count * static_cast<std::int64_t>(sizeof(T)), stream);
  fill_bytes(field.data(), static_cast<std::uint8_t>(byte), field.size_bytes(), stream);
  reduce::DeviceSession session(stream);
  CompressOptions options;
  options.fill_value = 1.0;
  double us = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    gpu::Event start(device);
    gpu::Event stop(device);
    start.record(stream);
    reduce::scan_field_on_device<T>(field.as<T>(), count, options, session);
    stop.record(stream);
    stream.synchronize();
    us = stop.elapsed_us(start);
  }
  return us;
}

// With the host's part: one launch and the way back.
std::string check_speed(const Device& device, const Stream& stream) {
  const std::int64_t count = device.info().multiprocessors > 60 ? 1 << 27 : 1 << 18;
  const double plain = microseconds<float>(device, stream, count, 0x3f);
  const double special = microseconds<float>(device, stream, count, 0xff);
  const double wide = microseconds<double>(device, stream, count / 2, 0x3f);
  return std::to_string(4 * count >> 20) + " MiB: f32 " + std::to_string(static_cast<int>(plain)) +
         " us, all NaN " + std::to_string(static_cast<int>(special)) + " us, f64 " +
         std::to_string(static_cast<int>(wide)) + " us";
}

}  // namespace

std::vector<Check> field_scan_checks() {
  return {{"field scan, f32", check_fields<float>},
          {"field scan, f64", check_fields<double>},
          {"field scan, speed", check_speed}};
}

}  // namespace tamis::gpu_test
