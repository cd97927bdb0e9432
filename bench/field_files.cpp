// Raw fields and facts about the machine for the C++ benchmarks.
#include "field_files.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <thread>

#ifndef TAMIS_BENCH_VERSION
#define TAMIS_BENCH_VERSION "unknown"
#endif

namespace tamis::bench {
namespace {

using nlohmann::json;

bool is_float_file(const std::string& name) {
  return name.ends_with(".f32") || name.ends_with(".f64");
}

void add_entry(const json& entry, const std::string& base, const std::string& folder,
               std::vector<FieldFile>& out) {
  FieldFile field;
  field.name = folder + entry.at("file").get<std::string>();
  field.path = base + field.name;
  if (!is_float_file(field.name) || !std::filesystem::is_regular_file(field.path)) return;
  field.dtype = dtype_of_name(field.name);
  field.shape = Extents(entry.at("shape").get<std::vector<std::int64_t>>());
  const auto fill = entry.find("fill_value");
  if (fill != entry.end() && fill->is_number()) field.fill_value = fill->get<double>();
  out.push_back(std::move(field));
}

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown CPU";
}

}  // namespace

std::vector<FieldFile> list_fields(const std::string& manifest_path) {
  std::ifstream in(manifest_path);
  if (!in) throw std::runtime_error("cannot read the manifest " + manifest_path);
  const std::string base = std::filesystem::path(manifest_path).parent_path().string() + "/";
  std::vector<FieldFile> out;
  const json manifest = json::parse(in);
  for (const json& entry : manifest.at("fields")) {
    if (entry.contains("file") && entry.contains("shape")) {
      add_entry(entry, base, "", out);
    } else if (entry.contains("arrays")) {
      const std::string folder = entry.at("directory").get<std::string>() + "/";
      for (const json& array : entry.at("arrays")) {
        if (array.contains("shape")) add_entry(array, base, folder, out);
      }
    }
  }
  return out;
}

Tensor load_field(const FieldFile& file) {
  Tensor field(file.dtype, file.shape);
  std::ifstream in(file.path, std::ios::binary | std::ios::ate);
  if (!in || in.tellg() != field.size_bytes()) {
    throw std::runtime_error(file.name + ": expected " + std::to_string(field.size_bytes()) +
                             " bytes for " + file.shape.to_string());
  }
  in.seekg(0);
  if (!in.read(static_cast<char*>(field.data()), field.size_bytes())) {
    throw std::runtime_error(file.name + ": cannot be read");
  }
  return field;
}

Extents parse_shape(const std::string& text) {
  std::vector<std::int64_t> sizes;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, 'x');) sizes.push_back(std::stoll(part));
  if (sizes.empty()) throw std::runtime_error("no shape in '" + text + "'");
  return Extents(sizes);
}

DType dtype_of_name(const std::string& name) {
  if (name.ends_with(".f32")) return DType::kF32;
  if (name.ends_with(".f64")) return DType::kF64;
  throw std::runtime_error(name + ": the name must end in .f32 or .f64");
}

reduce::Mode parse_mode(const std::string& text) {
  for (const auto mode : {reduce::Mode::kDefault, reduce::Mode::kRatio, reduce::Mode::kFast}) {
    if (text == reduce::mode_name(mode)) return mode;
  }
  throw std::runtime_error("mode '" + text + "'; expected default, ratio or fast");
}

reduce::BoundKind parse_bound_kind(const std::string& text) {
  for (int k = 1; k <= 5; ++k) {
    const auto kind = static_cast<reduce::BoundKind>(k);
    if (text == reduce::bound_kind_name(kind)) return kind;
  }
  throw std::runtime_error("bound '" + text + "'; expected abs, rel, pwrel, psnr or lossless");
}

std::int64_t section_bytes(const reduce::Info& info, const std::string& name) {
  for (const std::string& section : info.sections) {
    if (section.starts_with(name + ": ")) return std::stoll(section.substr(name.size() + 2));
  }
  return 0;
}

std::string machine_line() {
  std::string line =
      cpu_model() + ", " + std::to_string(std::thread::hardware_concurrency()) + " cores; ";
#if defined(__clang__)
  line += "clang " __clang_version__;
#elif defined(__GNUC__)
  line += "gcc " __VERSION__;
#endif
  line += "; Tamis " TAMIS_BENCH_VERSION;
  if (const char* revision = std::getenv("TAMIS_REVISION")) line += std::string(" ") + revision;
  return line;
}

std::int64_t peak_resident_bytes() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
  }
  return 0;
}

}  // namespace tamis::bench
