// Compiled kernels on disk, one file a key, shared by any number of processes. A file is written
// under a name of its own and then renamed, so readers see all of it or none; whatever is wrong
// with a file or with the folder, kernels are compiled again and nothing fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/checksum.hpp"

namespace tamis::gpu {

class DiskCache {
 public:
  struct Answer {
    std::optional<std::vector<std::byte>> code;
    std::string damage;  // why a file that is there was not used
  };
  struct Usage {
    std::int64_t files = 0;
    std::int64_t size_bytes = 0;
    std::string problem;  // why nothing can be kept; empty when all is well
  };

  /// `folder` is made at the first store; empty: nothing is kept.
  explicit DiskCache(std::string folder) : folder_(std::move(folder)) {}
  /// `kernels` in $TAMIS_CACHE_DIR, $XDG_CACHE_HOME/tamis or ~/.cache/tamis; empty when none is
  /// set. A relative path in XDG_CACHE_HOME is ignored, as its specification demands.
  static std::string default_folder();

  const std::string& folder() const noexcept { return folder_; }
  Answer find(const Hash128& key) const;
  /// Returns why it could not be kept; empty on success.
  std::string store(const Hash128& key, std::span<const std::byte> code) const noexcept;
  /// Counts, and makes the folder when it is not there, to learn whether that works.
  Usage usage() const;
  std::string file_of(const Hash128& key) const;

 private:
  std::string prepare_folder() const;

  std::string folder_;
};

}  // namespace tamis::gpu
