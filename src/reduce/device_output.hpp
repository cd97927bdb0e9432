// A container that is put together in device memory: bytes of the host are collected and copied in
// few pieces through pinned memory, what kernels write is left out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "reduce/device_session.hpp"
#include "tamis/error.hpp"

namespace tamis::reduce {

class DeviceOutput {
 public:
  DeviceOutput(void* out, std::int64_t capacity, DeviceSession& session)
      : out_(static_cast<std::byte*>(out)),
        capacity_(capacity),
        session_(session),
        stage_(session.output.get<std::byte>(kStage, session.stream().device())) {}

  /// The next bytes in file order.
  void append(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      if (end_ == kStage) empty_stage();
      const auto part =
          std::min<std::size_t>(bytes.size(), static_cast<std::size_t>(kStage - end_));
      std::memcpy(stage_ + end_, bytes.data(), part);
      end_ += static_cast<std::int64_t>(part);
      bytes = bytes.subspan(part);
    }
  }
  /// Kernels write, or have written, the next `size` bytes.
  void skip(std::int64_t size) {
    flush();
    require(at_ + size);
    at_ += size;
  }
  /// Copies what was collected, in the order of the stream.
  void flush() {
    if (begin_ == end_) return;
    const std::int64_t size = end_ - begin_;
    require(at_ + size);
    copy_bytes(out_ + at_, stage_ + begin_, size, session_.stream());
    at_ += size;
    begin_ = end_;
  }
  void restart() {
    session_.wait();
    at_ = begin_ = end_ = 0;
  }

  /// Where the next byte goes.
  std::int64_t position() const { return at_ + (end_ - begin_); }
  std::byte* next() const { return out_ + position(); }
  std::int64_t room() const { return capacity_ - position(); }

 private:
  void require(std::int64_t size) const {
    if (size <= capacity_) return;
    throw Error(ErrorCode::kInvalidArgument,
                "compress: the container needs " + std::to_string(size) +
                    " bytes or more; the output has room for " + std::to_string(capacity_));
  }

  void empty_stage() {
    flush();
    session_.wait();  // the bytes are about to be overwritten
    begin_ = end_ = 0;
  }

  static constexpr std::int64_t kStage = std::int64_t{1} << 20;

  std::byte* out_;
  std::int64_t capacity_;
  DeviceSession& session_;
  std::byte* stage_;
  std::int64_t begin_ = 0;  // of what was not copied yet
  std::int64_t end_ = 0;
  std::int64_t at_ = 0;  // where it goes
};

}  // namespace tamis::reduce
