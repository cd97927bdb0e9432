// What the simulated compiler hands to the simulated driver: this line, and in the next the path of
// a shared object.
#pragma once

namespace tamis::simt {

inline constexpr const char* kImageMagic = "tamis simulated kernel\n";

}  // namespace tamis::simt
