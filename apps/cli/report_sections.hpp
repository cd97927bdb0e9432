// The parts of the report's page, in the order in which they stand on it. Each returns a complete
// <section>, or an empty string when it has nothing to show.
#pragma once

#include <string>

#include "report.hpp"

namespace tamis::cli::report {

std::string headline_section(const ReportInput& in);
/// Slices as pictures for two dimensions and more ...
std::string pictures_section(const ReportInput& in);
/// ... and curves for one.
std::string lines_section(const ReportInput& in);
std::string errors_section(const ReportInput& in);
/// Compresses again over a ladder of bounds.
std::string curves_section(const ReportInput& in);
std::string contents_section(const ReportInput& in);
std::string repeat_section(const ReportInput& in);

/// The command that makes the same container again, as typed into a shell.
std::string repeat_command(const ReportInput& in);

/// "relative bound 10⁻³", "PSNR of at least 80 dB", ... for headings and tables; escaped.
std::string bound_text(const reduce::Bound& bound);

}  // namespace tamis::cli::report
