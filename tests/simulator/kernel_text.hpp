// From CUDA's dialect to plain C++, after the preprocessor: what a macro cannot do.
#pragma once

#include <string>
#include <string_view>

namespace tamis::simt {

/// `text` is the preprocessor's output, with its line markers. Rewrites
///   __shared__ T name;             into a static variable,
///   extern __shared__ T name[];    into a pointer to the dynamic shared memory,
///   __global__ void name(...) {}   into a function and, after it, the entry that tells of it.
/// Text that is not valid is left to the compiler, which says so better.
std::string rewrite_kernel_text(std::string_view text);

}  // namespace tamis::simt
