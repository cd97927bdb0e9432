// Containers in device memory: the small sections are fetched and checked on the host, the data
// stay where they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/container.hpp"
#include "gpu/memory.hpp"
#include "reduce/header.hpp"
#include "reduce/pinned_area.hpp"

namespace tamis::reduce {

class DeviceContainer {
 public:
  /// Throws what ContainerReader and Header::from_json() throw, and Error(kDevice).
  DeviceContainer(const void* container, std::int64_t size_bytes, const Stream& stream);

  const ContainerReader& reader() const { return *reader_; }
  const Header& header() const { return header_; }
  Info info() const;
  /// First byte of a section in device memory, and its size.
  const std::byte* device_section(std::string_view name) const;
  /// Fetches the sections that stayed on the device, so that the reader has everything.
  void fetch_all(const Stream& stream) const;

 private:
  void fetch(std::int64_t begin, std::int64_t end, const Stream& stream) const;

  const std::byte* device_;
  std::int64_t size_;
  // As large as the container; only what was fetched is touched. (An Array would have its large
  // pages cleared whole.)
  std::unique_ptr<std::byte[]> mirror_;
  std::unique_ptr<ContainerReader> reader_;
  Header header_;
};

/// Decodes the whole field into device memory.
void decode_field_on_device(const DeviceContainer& container, gpu::Workspace& workspace,
                            PinnedArea& area, void* out);

}  // namespace tamis::reduce
