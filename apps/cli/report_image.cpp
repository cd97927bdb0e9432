// Colour maps, PNG through libpng, base64.
#include "report_image.hpp"

#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csetjmp>
#include <memory>

#include "report_text.hpp"
#include "tamis/error.hpp"

namespace tamis::cli::report {
namespace {

// Eleven equally spaced points of viridis by S. van der Walt and N. Smith (2015), published for
// matplotlib under CC0; linear in sRGB between them, which stays within two levels of the full
// table.
constexpr std::array<Rgb, 11> kViridis = {{{0x44, 0x01, 0x54},
                                           {0x48, 0x25, 0x76},
                                           {0x41, 0x44, 0x87},
                                           {0x35, 0x60, 0x8D},
                                           {0x2A, 0x78, 0x8E},
                                           {0x21, 0x90, 0x8C},
                                           {0x22, 0xA8, 0x84},
                                           {0x43, 0xBF, 0x71},
                                           {0x7A, 0xD1, 0x51},
                                           {0xBB, 0xDF, 0x27},
                                           {0xFD, 0xE7, 0x25}}};

struct Oklab {
  double lightness, a, b;
};

// Our own diverging map, laid out in Oklab (B. Ottosson, 2020) so that equal errors of either sign
// look equally strong: lightness falls the same way on both sides and only the hue differs. Blue
// against orange stays apart for every common form of colour blindness.
constexpr std::array<Oklab, 7> kDivergingPoints = {{{0.36, -0.020, -0.115},
                                                    {0.55, -0.045, -0.130},
                                                    {0.77, -0.030, -0.075},
                                                    {0.965, 0.000, 0.002},
                                                    {0.77, 0.060, 0.095},
                                                    {0.55, 0.110, 0.105},
                                                    {0.36, 0.085, 0.065}}};

std::uint8_t srgb_level(double linear) {
  const double clamped = std::clamp(linear, 0.0, 1.0);
  const double level =
      clamped <= 0.0031308 ? 12.92 * clamped : 1.055 * std::pow(clamped, 1.0 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255.0 * level));
}

Rgb oklab_to_rgb(const Oklab& c) {
  const auto cube = [](double v) { return v * v * v; };
  const double l = cube(c.lightness + 0.3963377774 * c.a + 0.2158037573 * c.b);
  const double m = cube(c.lightness - 0.1055613458 * c.a - 0.0638541728 * c.b);
  const double s = cube(c.lightness - 0.0894841775 * c.a - 1.2914855480 * c.b);
  return {srgb_level(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          srgb_level(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          srgb_level(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

double mix(double from, double to, double share) { return from + (to - from) * share; }

std::uint8_t mix_level(std::uint8_t from, std::uint8_t to, double share) {
  return static_cast<std::uint8_t>(std::lround(mix(from, to, share)));
}

// What libpng calls back with; its default error handler would end the process.
[[noreturn]] void on_png_error(png_structp png, png_const_charp) { png_longjmp(png, 1); }
void on_png_warning(png_structp, png_const_charp) {}

void append_bytes(png_structp png, png_bytep data, png_size_t size) {
  static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<char*>(data), size);
}

void flush_nothing(png_structp) {}

// Only trivially destructible locals live here: libpng leaves by longjmp.
bool write_png(png_structp png, png_infop info, const IndexedImage& image, png_color* palette,
               png_byte* alpha, ColourMap map, std::string* out) {
  if (setjmp(png_jmpbuf(png))) return false;  // NOLINT(cert-err52-cpp): libpng's only way out
  png_set_write_fn(png, out, append_bytes, flush_nothing);
  png_set_IHDR(png, info, static_cast<png_uint_32>(image.width),
               static_cast<png_uint_32>(image.height), 8, PNG_COLOR_TYPE_PALETTE,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_PLTE(png, info, palette, 256);
  png_set_tRNS(png, info, alpha, 256, nullptr);
  // Indices rise with the value, so that row filters pay for smooth fields; errors are noise.
  png_set_filter(png, 0, map == ColourMap::kSequential ? PNG_ALL_FILTERS : PNG_FILTER_NONE);
  png_set_compression_level(png, 8);
  png_write_info(png, info);
  for (int row = 0; row < image.height; ++row) {
    png_write_row(png, image.pixels.data() + static_cast<std::size_t>(row) * image.width);
  }
  png_write_end(png, info);
  return true;
}

}  // namespace

Rgb colour_at(ColourMap map, double t) {
  t = std::clamp(t, 0.0, 1.0);
  if (map == ColourMap::kSequential) {
    const double place = t * (kViridis.size() - 1);
    const std::size_t k = std::min<std::size_t>(static_cast<std::size_t>(place), 9);
    const double share = place - static_cast<double>(k);
    const Rgb& from = kViridis[k];
    const Rgb& to = kViridis[k + 1];
    return {mix_level(from.red, to.red, share), mix_level(from.green, to.green, share),
            mix_level(from.blue, to.blue, share)};
  }
  const double place = t * (kDivergingPoints.size() - 1);
  const std::size_t k = std::min<std::size_t>(static_cast<std::size_t>(place), 5);
  const double share = place - static_cast<double>(k);
  const Oklab& from = kDivergingPoints[k];
  const Oklab& to = kDivergingPoints[k + 1];
  return oklab_to_rgb({mix(from.lightness, to.lightness, share), mix(from.a, to.a, share),
                       mix(from.b, to.b, share)});
}

std::uint8_t colour_index(double t) {
  if (std::isnan(t)) return kTransparentIndex;
  return static_cast<std::uint8_t>(std::lround(std::clamp(t, 0.0, 1.0) * (kColourCount - 1)));
}

std::string css_gradient(ColourMap map) {
  std::string out = "linear-gradient(90deg";
  constexpr int kStops = 17;
  for (int k = 0; k < kStops; ++k) {
    const Rgb c = colour_at(map, static_cast<double>(k) / (kStops - 1));
    appendf(out, ",#%02x%02x%02x", c.red, c.green, c.blue);
  }
  return out + ")";
}

std::string encode_png(const IndexedImage& image, ColourMap map) {
  const auto size = static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height);
  if (image.width <= 0 || image.height <= 0 || image.pixels.size() != size) {
    throw Error(ErrorCode::kInvalidArgument, "picture of " + std::to_string(image.width) + "x" +
                                                 std::to_string(image.height) + " with " +
                                                 std::to_string(image.pixels.size()) + " pixels");
  }
  png_color palette[256] = {};
  png_byte alpha[256];
  std::fill(std::begin(alpha), std::end(alpha), png_byte{255});
  alpha[kTransparentIndex] = 0;
  for (int k = 0; k < kColourCount; ++k) {
    const Rgb c = colour_at(map, static_cast<double>(k) / (kColourCount - 1));
    palette[k] = {c.red, c.green, c.blue};
  }
  png_structp png =
      png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, on_png_error, on_png_warning);
  png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
  std::string out;
  const bool written = info != nullptr && write_png(png, info, image, palette, alpha, map, &out);
  png_destroy_write_struct(&png, &info);
  if (!written) throw Error(ErrorCode::kOutOfMemory, "libpng could not encode a report picture");
  return out;
}

std::string base64(const std::string& bytes) {
  static constexpr char kAlphabet[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < have ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += k <= have ? kAlphabet[group >> (18 - 6 * k) & 63U] : '=';
    }
  }
  return out;
}

std::string png_data_uri(const IndexedImage& image, ColourMap map) {
  return "data:image/png;base64," + base64(encode_png(image, map));
}

}  // namespace tamis::cli::report
