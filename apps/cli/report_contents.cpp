// What the container holds and the command that makes it again.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "report_sections.hpp"
#include "report_text.hpp"

namespace tamis::cli {
namespace {

// In single quotes when the shell would read it as anything but one plain word.
std::string shell_word(const std::string& text) {
  const std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+:@%,=-";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace

std::string command_line(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + shell_word(word);
  return out;
}

namespace report {
namespace {

struct Part {
  std::string name;
  std::int64_t bytes = 0;
};

// "name: bytes" as Info::sections has it; false when it does not read so.
bool parse_section(const std::string& text, Part& part) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return false;
  const char* first = text.data() + colon + 1;
  const char* last = text.data() + text.size();
  while (first < last && *first == ' ') ++first;
  const auto result = std::from_chars(first, last, part.bytes);
  part.name = text.substr(0, colon);
  return result.ec == std::errc() && part.bytes >= 0;
}

// Sections with bytes in them, the smallest ones together, and what the container needs besides.
std::vector<Part> container_parts(const reduce::Info& info) {
  constexpr std::size_t kMaxParts = 7;
  std::vector<Part> parts;
  std::int64_t sum = 0;
  for (const std::string& text : info.sections) {
    Part part;
    if (!parse_section(text, part) || part.bytes == 0) continue;
    sum += part.bytes;
    parts.push_back(part);
  }
  if (parts.size() > kMaxParts) {
    std::stable_sort(parts.begin(), parts.end(),
                     [](const Part& a, const Part& b) { return a.bytes > b.bytes; });
    Part rest{std::to_string(parts.size() - kMaxParts + 1) + " smaller sections", 0};
    for (std::size_t k = kMaxParts - 1; k < parts.size(); ++k) rest.bytes += parts[k].bytes;
    parts.resize(kMaxParts - 1);
    parts.push_back(rest);
  }
  if (sum < info.compressed_bytes) {
    parts.push_back({"header and framing", info.compressed_bytes - sum});
  }
  return parts;
}

std::string sections_bar(const reduce::Info& info) {
  const std::vector<Part> parts = container_parts(info);
  if (parts.empty()) return {};
  double total = 0.0;
  for (const Part& part : parts) total += static_cast<double>(part.bytes);
  std::string bar =
      "<div class=\"stack\" role=\"img\" aria-label=\"Bytes of the container by "
      "section\">";
  std::string list = "<ul class=\"parts\">\n";
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const double share = static_cast<double>(parts[k].bytes) / total;
    const std::string name = html_escape(parts[k].name);
    appendf(bar, "<i class=\"p%zu\" style=\"flex-grow:%.5f\" title=\"%s, %s\"></i>", k % 8, share,
            name.c_str(), format_share(share).c_str());
    appendf(list, "<li><i class=\"p%zu\"></i><span>%s</span><b>%s</b><em>%s</em></li>\n", k % 8,
            name.c_str(), format_bytes(static_cast<double>(parts[k].bytes)).c_str(),
            format_share(share).c_str());
  }
  return bar + "</div>\n" + list + "</ul>\n";
}

void add_row(std::string& out, const std::string& name, const std::string& value) {
  out += "<div><dt>" + name + "</dt><dd>" + value + "</dd></div>\n";
}

std::string share_of(std::int64_t count, std::int64_t total) {
  std::string out = format_count(count);
  if (count > 0 && total > 0) {
    out += " <span class=\"soft\">" +
           format_share(static_cast<double>(count) / static_cast<double>(total)) + "</span>";
  }
  return out;
}

std::string metadata(const ReportInput& in) {
  const reduce::Info& info = in.info;
  const std::int64_t points = info.shape.element_count();
  std::string out = "<dl class=\"facts\">\n";
  add_row(out, "Shape, slowest first", format_shape(info.shape));
  add_row(out, "Points", format_count(points));
  add_row(out, "Type", dtype_name(info.dtype));
  if (!in.units.empty()) add_row(out, "Units", html_escape(in.units));
  if (!std::isnan(info.min_value)) {
    add_row(out, "Least value", format_quantity(info.min_value, in.units, 6));
    add_row(out, "Greatest value", format_quantity(info.max_value, in.units, 6));
  }
  add_row(out, "Bound", bound_text(info.bound));
  if (info.absolute_bound > 0.0) {
    add_row(out, "Bound at each point", "±" + format_quantity(info.absolute_bound, in.units, 6));
  }
  add_row(out, "Mode", reduce::mode_name(info.mode));
  add_row(out, "Fill value",
          !info.fill_value ? std::string("none")
                           : format_value(*info.fill_value, 6) +
                                 (info.fill_detected ? " <span class=\"soft\">detected</span>"
                                                     : " <span class=\"soft\">declared</span>"));
  add_row(out, "Points of fill", share_of(info.masked_count, points));
  add_row(out, "Not finite", share_of(info.nonfinite_count, points));
  add_row(out, "Stored verbatim", share_of(info.exact_count, points));
  if (!info.number_map.empty()) add_row(out, "Number map", html_escape(info.number_map));
  add_row(out, "Levels for previews", format_count(info.level_count));
  add_row(out, "Format version", format_count(info.format_version));
  return out + "</dl>\n";
}

}  // namespace

std::string repeat_command(const ReportInput& in) {
  if (!in.command.empty()) return in.command;
  const reduce::Info& info = in.info;
  std::vector<std::string> words = {"tamis",
                                    "compress",
                                    in.field_name,
                                    "--shape",
                                    info.shape.to_string(),
                                    "--dtype",
                                    dtype_name(info.dtype)};
  words.emplace_back(std::string("--") + reduce::bound_kind_name(info.bound.kind));
  if (info.bound.kind != reduce::BoundKind::kLossless) {
    words.push_back(format_exact(info.bound.value));
  }
  if (info.mode != reduce::Mode::kDefault) {
    words.insert(words.end(), {"--mode", reduce::mode_name(info.mode)});
  }
  if (info.fill_value && !info.fill_detected) {
    words.insert(words.end(), {"--fill", format_exact(*info.fill_value)});
  } else if (!in.options.detect_fill) {
    words.emplace_back("--no-detect-fill");
  }
  words.insert(words.end(), {"-o", in.field_name + ".tms", "--report", in.field_name + ".html"});
  return command_line(words);
}

std::string contents_section(const ReportInput& in) {
  return "<section id=\"contents\">\n<h2>What is in the container</h2>\n" + sections_bar(in.info) +
         metadata(in) + "</section>\n";
}

std::string repeat_section(const ReportInput& in) {
  return "<section id=\"repeat\">\n<h2>Do it again</h2>\n<div class=\"command\"><pre><code "
         "id=\"command\">" +
         html_escape(repeat_command(in)) +
         "</code></pre><button type=\"button\" id=\"copy\" class=\"screen\">Copy</button></div>\n"
         "</section>\n";
}

}  // namespace report
}  // namespace tamis::cli
