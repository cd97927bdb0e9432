// Colour maps and small indexed pictures of the report. A picture is at most 255 colours plus one
// transparent index, so that masked points show the page's own hatch in light and dark alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tamis::cli::report {

struct Rgb {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
};

enum class ColourMap {
  kSequential,  // dark to light, for values
  kDiverging,   // blue through near-white to orange-red, for signed errors
};

inline constexpr int kColourCount = 255;
inline constexpr std::uint8_t kTransparentIndex = 255;

/// Colour at `t` in 0 .. 1; t is clamped.
Rgb colour_at(ColourMap map, double t);

/// Index of the colour nearest to `t` (clamped; NaN becomes transparent).
std::uint8_t colour_index(double t);

/// CSS linear-gradient(...) through the map, left to right.
std::string css_gradient(ColourMap map);

struct IndexedImage {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels;  // (height, width)
};

/// PNG bytes with a palette of `map`. Throws Error(kInvalidArgument) for an empty image.
std::string encode_png(const IndexedImage& image, ColourMap map);

std::string base64(const std::string& bytes);

/// "data:image/png;base64,...".
std::string png_data_uri(const IndexedImage& image, ColourMap map);

}  // namespace tamis::cli::report
