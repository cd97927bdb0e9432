// A small cursor over the Python literal in an .npy header. Only the three keys that NumPy defines
// are accepted, each once; lengths are checked before any byte is trusted.
#include "npy_header.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "tamis/error.hpp"

namespace tamis::cli {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxHeaderBytes = 1 << 20;

[[noreturn]] void corrupt(const std::string& why) {
  throw Error(ErrorCode::kCorrupt, "not a valid .npy file: " + why);
}

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool accept(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) corrupt(std::string("expected '") + c + "' in the header");
  }

  char peek() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') corrupt("expected a quoted string in the header");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) corrupt("unterminated string in the header");
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return std::string(inside);
  }

  bool boolean() {
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (peek() == word[0] && text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    corrupt("fortran_order is neither True nor False");
  }

  std::int64_t size() {
    std::int64_t value = 0;
    int digits = 0;
    for (char c = peek(); c >= '0' && c <= '9'; c = at_ < text_.size() ? text_[at_] : '\0') {
      if (++digits > 18) corrupt("a dimension is too large");
      value = value * 10 + (c - '0');
      ++at_;
    }
    if (digits == 0) corrupt("a dimension is not a whole number");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote long integers so
    return value;
  }

  bool at_end() { return peek() == '\0' && at_ >= text_.size(); }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::vector<std::int64_t> parse_tuple(Cursor& cursor) {
  std::vector<std::int64_t> sizes;
  cursor.expect('(');
  while (!cursor.accept(')')) {
    sizes.push_back(cursor.size());
    if (sizes.size() > 64) corrupt("more than 64 dimensions");
    if (!cursor.accept(',')) {
      cursor.expect(')');
      break;
    }
  }
  return sizes;
}

void set_type(const std::string& descr, NpyHeader& header) {
  const bool known_order = descr.size() == 3 && std::strchr("<>=|", descr[0]) != nullptr;
  constexpr std::string_view kKnown[] = {"f2", "f4", "f8", "i1", "i2", "i4",
                                         "i8", "u1", "u2", "u4", "u8"};
  if (!known_order || std::find(std::begin(kKnown), std::end(kKnown),
                                std::string_view(descr).substr(1)) == std::end(kKnown)) {
    throw Error(ErrorCode::kUnsupported,
                "the .npy array has dtype \"" + descr +
                    "\"; expected f2, f4, f8 or an integer i1 to i8, u1 to u8 (either byte order)");
  }
  header.kind = descr[1];
  header.item_bytes = descr[2] - '0';
  header.big_endian = descr[0] == '>';
}

void parse_dictionary(std::string_view text, NpyHeader& header) {
  Cursor cursor(text);
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::int64_t>> shape;
  cursor.expect('{');
  while (!cursor.accept('}')) {
    const std::string key = cursor.quoted();
    cursor.expect(':');
    if (key == "descr" && !descr) {
      if (cursor.peek() == '[') {
        throw Error(ErrorCode::kUnsupported,
                    "the .npy file holds records; save the one field you mean as its own array");
      }
      descr = cursor.quoted();
    } else if (key == "fortran_order" && !fortran_order) {
      fortran_order = cursor.boolean();
    } else if (key == "shape" && !shape) {
      shape = parse_tuple(cursor);
    } else {
      corrupt("unexpected or repeated key in the header");
    }
    if (!cursor.accept(',')) {
      cursor.expect('}');
      break;
    }
  }
  if (!cursor.at_end()) corrupt("text after the header's dictionary");
  if (!descr || !fortran_order || !shape) {
    corrupt("the header must have descr, fortran_order and shape");
  }
  set_type(*descr, header);
  header.fortran_order = *fortran_order;
  header.shape = Extents(*shape);  // throws kUnsupported above kMaxRank
}

}  // namespace

std::string NpyHeader::type_name() const {
  const char* family = kind == 'f' ? "f" : kind == 'i' ? "int" : "uint";
  return family + std::to_string(8 * item_bytes);
}

bool is_npy(std::span<const std::byte> file) {
  return file.size() >= kMagic.size() &&
         std::memcmp(file.data(), kMagic.data(), kMagic.size()) == 0;
}

NpyHeader parse_npy_header(std::span<const std::byte> file) {
  if (!is_npy(file)) corrupt("it does not begin with \\x93NUMPY");
  if (file.size() < 10) corrupt("it ends within the header");
  const auto byte_at = [&](std::size_t i) { return std::to_integer<std::size_t>(file[i]); };
  const std::size_t version = byte_at(6);
  if (version < 1 || version > 3) {
    throw Error(ErrorCode::kUnsupported,
                ".npy format version " + std::to_string(version) + "; 1, 2 and 3 are known");
  }
  const std::size_t start = version == 1 ? 10 : 12;
  if (file.size() < start) corrupt("it ends within the header");
  std::size_t length = byte_at(8) | byte_at(9) << 8;
  if (version > 1) length |= byte_at(10) << 16 | byte_at(11) << 24;
  if (length > kMaxHeaderBytes) corrupt("the header claims " + std::to_string(length) + " bytes");
  if (file.size() - start < length) corrupt("it ends within the header");

  NpyHeader header;
  parse_dictionary({reinterpret_cast<const char*>(file.data()) + start, length}, header);
  header.data_offset = static_cast<std::int64_t>(start + length);
  const std::int64_t count = header.shape.element_count();
  const std::int64_t held = static_cast<std::int64_t>(file.size()) - header.data_offset;
  if (count > held / header.item_bytes) {
    corrupt("shape " + header.shape.to_string() + " of " + header.type_name() + " needs " +
            std::to_string(count) + " values, the file holds bytes for " +
            std::to_string(held / header.item_bytes));
  }
  return header;
}

std::string format_npy_header(DType dtype, const Extents& shape) {
  std::string text = std::string("{'descr': '<f") + (dtype == DType::kF32 ? "4" : "8") +
                     "', 'fortran_order': False, 'shape': (";
  for (int d = 0; d < shape.rank(); ++d) {
    text += std::to_string(shape[d]) + (d + 1 < shape.rank() ? ", " : "");
  }
  text += shape.rank() == 1 ? ",), }" : "), }";
  // NumPy pads so that the data begin at a multiple of 64; kMaxRank sizes fit version 1 easily.
  constexpr std::size_t kFixed = 10;
  while ((kFixed + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string header(kMagic);
  header += {'\x01', '\x00'};
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace tamis::cli
