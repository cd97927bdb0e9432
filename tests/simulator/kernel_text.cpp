// One pass over tokens; everything but the few words of the dialect is copied as it is.
#include "simulator/kernel_text.hpp"

#include <cctype>
#include <vector>

namespace tamis::simt {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

class Rewriter {
 public:
  explicit Rewriter(std::string_view text) : text_(text) {}

  std::string run() {
    while (at_ < text_.size()) step();
    return std::move(out_);
  }

 private:
  struct Kernel {
    std::string name;
    std::string max_threads;
    int depth;  // of the braces around it
  };

  void step() {
    const char c = text_[at_];
    if (c == '"' || c == '\'') {
      copy(quoted_end(at_) - at_);
    } else if (c == '#' && (at_ == 0 || text_[at_ - 1] == '\n')) {
      copy(std::min(text_.find('\n', at_), text_.size()) - at_);
    } else if (is_word(c)) {
      take_word();
    } else {
      copy(1);
      if (c == '{') ++depth_;
      if (c == '}') close_brace();
      if (!is_blank(c)) last_word_ = {};
    }
  }

  void copy(std::size_t count) {
    out_.append(text_.substr(at_, count));
    at_ += count;
  }

  // After the literal that begins there.
  std::size_t quoted_end(std::size_t at) const {
    const char quote = text_[at];
    // Between digits it separates them.
    if (quote == '\'' && at > 0 && std::isxdigit(static_cast<unsigned char>(text_[at - 1])) != 0) {
      return at + 1;
    }
    for (++at; at < text_.size() && text_[at] != quote; ++at) {
      if (text_[at] == '\\') ++at;
    }
    return std::min(at + 1, text_.size());
  }

  std::size_t word_end(std::size_t at) const {
    while (at < text_.size() && is_word(text_[at])) ++at;
    return at;
  }

  // After the parenthesis that closes the one which opens there.
  std::size_t closing(std::size_t at) const {
    int depth = 0;
    while (at < text_.size()) {
      const char c = text_[at];
      if (c == '"' || c == '\'') {
        at = quoted_end(at);
        continue;
      }
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      ++at;
      if (depth == 0) break;
    }
    return at;
  }

  std::size_t skip_blanks(std::size_t at) const {
    while (at < text_.size() && is_blank(text_[at])) ++at;
    return at;
  }

  void take_word() {
    const std::size_t end = word_end(at_);
    const std::string_view word = text_.substr(at_, end - at_);
    if (word == "__shared__") {
      at_ = end;
      take_shared();
    } else if (word == "__global__") {
      at_ = end;
      take_kernel();
    } else if (word == "__launch_bounds__") {
      at_ = closing(skip_blanks(end));
    } else {
      word_out_ = out_.size();
      last_word_ = word;
      copy(end - at_);
    }
  }

  void take_shared() {
    if (last_word_ == "static") return;
    const std::size_t end = text_.find(';', at_);
    if (last_word_ != "extern" || end == std::string_view::npos) {
      // As an attribute it may stand before others; "static" has to stand after them.
      for (std::size_t i = skip_blanks(at_); text_.substr(i, 7) == "alignas";
           i = skip_blanks(at_)) {
        copy(closing(text_.find('(', i)) - at_);
      }
      // Used by others: or the compiler would believe that it begins as zeros.
      out_ += " static __attribute__((used))";
      return;
    }
    out_.resize(word_out_);  // without "extern"
    std::string type;
    std::string name;
    for (std::size_t i = at_; i < end && text_[i] != '[';) {
      if (!is_word(text_[i])) {
        type += text_[i++];
        continue;
      }
      const std::string word(text_.substr(i, word_end(i) - i));
      i = word_end(i);
      if (word == "alignas" || word == "__attribute__") {
        i = closing(skip_blanks(i));  // all of it is well aligned
        continue;
      }
      type += name;
      name = word;
    }
    // Volatile: sanitizers trust accesses that they see to lie within a variable, and this one is
    // larger than what the launch asks for.
    out_ += "static " + type + "* const volatile " + name + " = (" + type +
            "*)::tamis::simt::g_dynamic_shared";
    at_ = end;
  }

  // Name and bounds from what follows; the text itself goes its way.
  void take_kernel() {
    Kernel kernel{"", "::tamis::simt::kMaxThreads", depth_};
    std::size_t i = at_;
    while (i < text_.size() && text_[i] != ';' && text_[i] != '{') {
      if (!is_word(text_[i])) {
        if (text_[i] == '(') break;
        ++i;
        continue;
      }
      const std::string word(text_.substr(i, word_end(i) - i));
      i = word_end(i);
      if (word == "__launch_bounds__" || word == "__attribute__") {
        const std::size_t open = skip_blanks(i);
        i = closing(open);
        if (word == "__launch_bounds__") kernel.max_threads = first_argument(open + 1);
        continue;
      }
      kernel.name = word;
    }
    if (i >= text_.size() || text_[i] != '(') return;
    const std::size_t after = skip_blanks(closing(i));
    if (after < text_.size() && text_[after] == '{') open_.push_back(kernel);
  }

  std::string first_argument(std::size_t at) const {
    std::size_t end = at;
    while (end < text_.size() && text_[end] != ',' && text_[end] != ')') {
      end = text_[end] == '(' ? closing(end) : end + 1;
    }
    return "(" + std::string(text_.substr(at, end - at)) + ")";
  }

  void close_brace() {
    --depth_;
    if (open_.empty() || open_.back().depth != depth_) return;
    const Kernel& kernel = open_.back();
    const std::string entry = "tamis_kernel_" + kernel.name;
    out_ +=
        " extern \"C\" __attribute__((visibility(\"default\"))) const "
        "::tamis::simt::KernelEntry " +
        entry + "; const ::tamis::simt::KernelEntry " + entry + " = ::tamis::simt::EntryOf<&" +
        kernel.name + ">::entry(" + kernel.max_threads + ");";
    open_.pop_back();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  int depth_ = 0;
  std::vector<Kernel> open_;
  std::string_view last_word_;  // when nothing but blanks followed it
  std::size_t word_out_ = 0;    // where it begins
};

}  // namespace

std::string rewrite_kernel_text(std::string_view text) { return Rewriter(text).run(); }

}  // namespace tamis::simt
