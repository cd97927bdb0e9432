// Puts the page together and writes it, whole or not at all.
#include "report.hpp"

#include <ctime>

#include "output_file.hpp"
#include "report_sections.hpp"
#include "report_style.hpp"
#include "report_text.hpp"
#include "tamis/error.hpp"

namespace tamis::cli {
namespace {

using namespace report;  // NOLINT(google-build-using-namespace): the parts of this very page

void check_input(const ReportInput& in) {
  if (in.original.shape.rank() == 0) {
    throw Error(ErrorCode::kInvalidArgument, "a report needs a field of rank 1 or more");
  }
  if (!(in.original.shape == in.decoded.shape) || in.original.dtype != in.decoded.dtype) {
    throw Error(ErrorCode::kInvalidArgument,
                std::string("report of a ") + dtype_name(in.original.dtype) + " field of " +
                    in.original.shape.to_string() + " with a " + dtype_name(in.decoded.dtype) +
                    " reconstruction of " + in.decoded.shape.to_string());
  }
}

// The program's mark: a sieve, drawn as a disc of holes.
std::string mark() {
  std::string out = "<svg viewBox=\"0 0 24 24\" aria-hidden=\"true\">";
  for (int row = -2; row <= 2; ++row) {
    for (int column = -2; column <= 2; ++column) {
      if (row * row + column * column > 5) continue;
      appendf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"1.75\"/>", 12 + 4.7 * column,
              12 + 4.7 * row);
    }
  }
  return out + "</svg>";
}

std::string style() {
  // The same dark colours twice: once by the reader's system, once by the button; paper is light.
  std::string out = std::string(":root{") + kLightColours +
                    "}\n@media (prefers-color-scheme: " + "dark){:root:not([data-theme=light]){" +
                    kDarkColours + "}}\n:root[data-theme=dark]{" + kDarkColours + "}" + kStyle;
  return out + "@media print{:root,:root[data-theme],:root:not([data-theme=light]){" +
         kLightColours + "}}\n";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d", &utc);
  return text;
}

std::string head(const std::string& name) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n"
         "<meta name=\"generator\" content=\"tamis\">\n<title>" +
         name + " – Tamis compression report</title>\n<style>" + style() + "</style>\n</head>\n";
}

std::string masthead(const ReportInput& in, const std::string& name) {
  std::string out = "<header>\n<div class=\"brand\">" + mark() +
                    "<span><b>Tamis</b> compression report</span><button type=\"button\" "
                    "id=\"theme\" hidden>Dark</button></div>\n<h1>" +
                    name + "</h1>\n<p class=\"subject\"><span>" + format_shape(in.info.shape) +
                    "</span><span>" + dtype_name(in.info.dtype) + "</span>";
  if (!in.units.empty()) out += "<span>" + html_escape(in.units) + "</span>";
  out += "<span>" + std::string(reduce::mode_name(in.info.mode)) + " mode</span><span>" +
         bound_text(in.info.bound) + "</span></p>\n</header>\n";
  return out;
}

}  // namespace

std::string report_html(const ReportInput& in) {
  check_input(in);
  const std::string name = in.field_name.empty() ? "Field" : html_escape(in.field_name);
  std::string out = head(name) + "<body>\n" + masthead(in, name) + "<main>\n";
  out += headline_section(in);
  out += pictures_section(in);
  out += lines_section(in);
  out += errors_section(in);
  out += curves_section(in);
  out += contents_section(in);
  out += repeat_section(in);
  out += "</main>\n<footer><p>Made by tamis on " + today() +
         ". Sizes are in decimal multiples; speeds count the bytes of the field; PSNR is "
         "20\u00A0log₁₀(range\u00A0÷\u00A0rms error).</p></footer>\n";
  return out + "<script>" + kScript + "</script>\n</body>\n</html>\n";
}

void write_report(const std::string& path, const ReportInput& in) {
  // Opened first: a folder without permission should show before the curves are measured.
  OutputFile file(path);
  file.write(report_html(in));
  file.commit();
}

}  // namespace tamis::cli
