// `tamis devices`: the GPUs of this machine, and where kernels for them would come from.
#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "console.hpp"
#include "summary_text.hpp"
#include "tamis/kernels.hpp"

namespace tamis::cli {
namespace {

std::string found_text(const std::string& version, const std::string& path,
                       const std::string& problem) {
  return problem.empty() ? version + "  " + path : problem;
}

// All names, or the first and the last of many.
std::string architectures_text(const CompilerStatus& compiler) {
  constexpr std::size_t kManyNames = 16;
  const std::size_t count = compiler.architectures.size();
  if (count > kManyNames) {
    return compiler.architectures.front() + " .. " + compiler.architectures.back() + " (" +
           std::to_string(count) + " architectures)";
  }
  std::string text;
  for (const std::string& name : compiler.architectures) text += (text.empty() ? "" : " ") + name;
  return text;
}

std::vector<SummaryRow> describe_status(const GpuStatus& status) {
  std::vector<SummaryRow> rows;
  for (const DeviceInfo& info : status.devices) {
    const std::string id =
        std::string(device_kind_name(info.kind)) + ":" + std::to_string(info.ordinal);
    rows.push_back({id, info.name, info.architecture});
    rows.push_back({"", format_bytes(info.memory_bytes), "memory"});
    rows.push_back({"", std::to_string(info.multiprocessors), "multiprocessors"});
    rows.push_back({"", format_bytes(info.l2_bytes), "L2 cache"});
    rows.push_back({"", format_bytes(info.shared_bytes_per_block), "shared memory a block"});
    rows.push_back({"", std::to_string(info.wave_size), "threads a wave"});
  }
  if (status.devices.empty()) rows.push_back({"devices", "none", "everything runs on the CPU"});
  for (const DriverStatus& driver : status.drivers) {
    rows.push_back({std::string(device_kind_name(driver.kind)) + " driver",
                    found_text(driver.version, driver.path, driver.problem), ""});
  }
  for (const CompilerStatus& compiler : status.compilers) {
    rows.push_back(
        {compiler.name, found_text(compiler.version, compiler.path, compiler.problem), ""});
    if (!compiler.architectures.empty()) rows.push_back({"", architectures_text(compiler), ""});
  }
  const KernelCacheStatus& cache = status.cache;
  rows.push_back({"cache", cache.folder.empty() ? "none" : cache.folder,
                  cache.usable ? "" : "not used: " + cache.problem});
  rows.push_back(
      {"", format_count(cache.files) + " kernels, " + format_bytes(cache.size_bytes), ""});
  for (const PrebuiltStatus& prebuilt : status.prebuilt) {
    rows.push_back(
        {"prebuilt", prebuilt.architecture,
         format_count(prebuilt.kernels) + " kernels, " + format_bytes(prebuilt.size_bytes)});
  }
  if (status.prebuilt.empty()) rows.push_back({"prebuilt", "none", ""});
  return rows;
}

nlohmann::ordered_json device_json(const DeviceInfo& info) {
  return {{"kind", device_kind_name(info.kind)},
          {"ordinal", info.ordinal},
          {"name", info.name},
          {"architecture", info.architecture},
          {"driver", info.driver},
          {"multiprocessors", info.multiprocessors},
          {"wave_size", info.wave_size},
          {"max_threads_per_block", info.max_threads_per_block},
          {"memory_bytes", info.memory_bytes},
          {"l2_bytes", info.l2_bytes},
          {"shared_bytes_per_block", info.shared_bytes_per_block}};
}

nlohmann::ordered_json status_json(const GpuStatus& status) {
  nlohmann::ordered_json json = {{"command", "devices"}, {"ok", true}};
  json["devices"] = nlohmann::ordered_json::array();
  for (const DeviceInfo& info : status.devices) json["devices"].push_back(device_json(info));
  for (const DriverStatus& driver : status.drivers) {
    json["drivers"][device_kind_name(driver.kind)] = {{"usable", driver.usable},
                                                      {"version", driver.version},
                                                      {"path", driver.path},
                                                      {"problem", driver.problem}};
  }
  for (const CompilerStatus& compiler : status.compilers) {
    json["compilers"][device_kind_name(compiler.kind)] = {
        {"name", compiler.name},       {"usable", compiler.usable},
        {"version", compiler.version}, {"path", compiler.path},
        {"problem", compiler.problem}, {"architectures", compiler.architectures}};
  }
  json["cache"] = {{"folder", status.cache.folder},
                   {"usable", status.cache.usable},
                   {"problem", status.cache.problem},
                   {"files", status.cache.files},
                   {"size_bytes", status.cache.size_bytes}};
  json["prebuilt"] = nlohmann::ordered_json::array();
  for (const PrebuiltStatus& prebuilt : status.prebuilt) {
    json["prebuilt"].push_back({{"architecture", prebuilt.architecture},
                                {"kernels", prebuilt.kernels},
                                {"size_bytes", prebuilt.size_bytes}});
  }
  return json;
}

int run_devices(const CommonArguments& arguments) {
  const Console console(arguments, false);
  const GpuStatus status = gpu_status();
  console.print(
      format_summary("GPUs and their kernels", describe_status(status), console.colour()));
  console.print_json(status_json(status));
  return kExitOk;
}

}  // namespace

void add_devices_command(CLI::App& root, RunCommand& chosen) {
  CLI::App& command =
      *root.add_subcommand("devices", "Show the GPUs of this machine and where kernels come from");
  auto arguments = std::make_shared<CommonArguments>();
  add_common_options(command, *arguments, false);
  command.footer(
      "TAMIS_CUDA_DRIVER, TAMIS_NVRTC, TAMIS_HIP and TAMIS_HIPRTC name libraries to use instead "
      "of\n"
      "those that are found; TAMIS_CACHE_DIR names the folder for compiled kernels.\n\n"
      "Examples:\n  tamis devices\n  tamis devices --json");
  command.callback(
      [arguments, &chosen] { chosen = [arguments] { return run_devices(*arguments); }; });
}

}  // namespace tamis::cli
