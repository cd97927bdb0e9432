// From container bytes to field values, whole or in part.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/container.hpp"
#include "reduce/header.hpp"
#include "tamis/reduce.hpp"

namespace tamis::reduce {

/// Which nodes are wanted: multiples of 2^level inside of a box, in the axes of the user's shape.
struct Selection {
  Extents origin;  // first selected node
  Extents extent;  // selected nodes along each axis
  std::int64_t step = 1;
  bool everything = false;
};

/// Throws Error(kInvalidArgument) for a box or level outside of the field.
Selection select(const Extents& shape, const DecompressOptions& options);

/// A small container of a huge field must not make us allocate for it: each chunk has entries in
/// the index, so sizes are compared before anything else. Throws Error(kCorrupt).
void check_promise(const ContainerReader& container, const Header& header);

/// `out` is contiguous and has the selection's extent; check_promise() was called.
void decode_field(const ContainerReader& container, const Header& header,
                  const Selection& selection, const DecompressOptions& options, void* out);

}  // namespace tamis::reduce
