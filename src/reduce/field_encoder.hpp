// From a field and options to a container: scan, choose a number map and a plan, encode, and fall
// back to the raw values when nothing was gained.
#pragma once

#include <functional>

#include "reduce/field_backend.hpp"
#include "tamis/reduce.hpp"

namespace tamis::reduce {

/// Writes the container to `sink`; compressed_bytes and sections of the result are filled in.
/// `rewind` takes back all that was written (null when the sink cannot).
template <typename T>
Info encode_field(FieldBackend<T>& field, const Extents& shape, const CompressOptions& options,
                  const ByteSink& sink, const std::function<void()>& rewind);

}  // namespace tamis::reduce
