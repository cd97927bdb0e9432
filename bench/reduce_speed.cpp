// Times compress and decompress in memory through the public API. Two ways to use it: a table for
// people, and `--serve`, one job a line on standard input, so that reduce_speed.py can alternate it
// with a rival on the same data. Both directions allocate their output, as the rival's do.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bound_oracle.hpp"
#include "core/stopwatch.hpp"
#include "field_files.hpp"
#include "tamis/reduce.hpp"

namespace {

using namespace tamis;
using namespace tamis::bench;

struct Timing {
  double compress_s = 0;
  double decompress_s = 0;
  double compress_cpu_s = 0;  // all threads of the process; hardly moved by what else is running
  double decompress_cpu_s = 0;
  reduce::Info info;
  Verdict verdict;
  std::int64_t peak_bytes = 0;  // of the process, right after compressing
};

struct Job {
  reduce::CompressOptions options;
  bool verify = false;
};

template <typename T>
Verdict judge(const Tensor& field, const Tensor& decoded, const reduce::Info& info,
              const reduce::Bound& bound) {
  const Oracle<T> oracle(static_cast<const T*>(field.data()), field.element_count(),
                         info.fill_value);
  return oracle.judge(static_cast<const T*>(decoded.data()), bound);
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Timing run_once(const Tensor& field, const Job& job) {
  Timing t;
  double cpu = cpu_seconds();
  Stopwatch watch;
  const reduce::CompressResult result = reduce::compress(field.view(), job.options);
  t.compress_s = watch.seconds();
  t.compress_cpu_s = cpu_seconds() - cpu;
  t.peak_bytes = peak_resident_bytes();
  t.info = result.info;
  reduce::DecompressOptions options;
  options.threads = job.options.threads;
  cpu = cpu_seconds();
  watch.restart();
  const Tensor decoded = reduce::decompress(result.bytes, options);
  t.decompress_s = watch.seconds();
  t.decompress_cpu_s = cpu_seconds() - cpu;
  if (job.verify) {
    t.verdict = field.dtype() == DType::kF32
                    ? judge<float>(field, decoded, t.info, job.options.bound)
                    : judge<double>(field, decoded, t.info, job.options.bound);
  }
  return t;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// --- serving ------------------------------------------------------------------------------------
// load PATH SHAPE FILL|none      -> ok RESIDENT_BYTES
// run MODE KIND VALUE THREADS VERIFY
//   -> ok BYTES COMPRESS_S DECOMPRESS_S COMPRESS_CPU_S DECOMPRESS_CPU_S PEAK_BYTES EXACT MASK_BYTES
//      VIOLATIONS WORST MAP
// version                        -> ok MACHINE LINE
// Anything that fails            -> error TEXT

class Server {
 public:
  std::string answer(const std::string& line) {
    std::istringstream in(line);
    std::string verb;
    in >> verb;
    if (verb == "version") return "ok " + machine_line();
    if (verb == "load") return load(in);
    if (verb == "run") return run(in);
    throw std::runtime_error("unknown job '" + verb + "'");
  }

 private:
  std::string load(std::istringstream& in) {
    FieldFile file;
    std::string shape, fill;
    in >> file.path >> shape >> fill;
    file.name = file.path.substr(file.path.rfind('/') + 1);
    file.dtype = dtype_of_name(file.name);
    file.shape = parse_shape(shape);
    field_ = load_field(file);
    fill_ = fill == "none" ? std::nullopt : std::optional<double>(std::stod(fill));
    return "ok " + std::to_string(peak_resident_bytes());
  }

  std::string run(std::istringstream& in) {
    std::string mode, kind, value;
    Job job;
    in >> mode >> kind >> value >> job.options.threads >> job.verify;
    if (!in) throw std::runtime_error("run needs MODE KIND VALUE THREADS VERIFY");
    job.options.mode = parse_mode(mode);
    job.options.bound = {parse_bound_kind(kind), std::stod(value)};
    job.options.fill_value = fill_;
    const Timing t = run_once(field_, job);
    std::ostringstream out;
    out.precision(9);
    out << "ok " << t.info.compressed_bytes << ' ' << t.compress_s << ' ' << t.decompress_s << ' '
        << t.compress_cpu_s << ' ' << t.decompress_cpu_s << ' ' << t.peak_bytes << ' '
        << t.info.exact_count << ' ' << section_bytes(t.info, "mask") << ' ' << t.verdict.violations
        << ' ' << static_cast<double>(t.verdict.worst) << ' ' << t.info.number_map;
    return out.str();
  }

  Tensor field_;
  std::optional<double> fill_;
};

int serve() {
  Server server;
  for (std::string line; std::getline(std::cin, line);) {
    std::string reply;
    try {
      reply = server.answer(line);
    } catch (const std::exception& error) {
      reply = std::string("error ") + error.what();
      std::replace(reply.begin(), reply.end(), '\n', ' ');
    }
    std::cout << reply << std::endl;
  }
  return 0;
}

// --- a table ------------------------------------------------------------------------------------

struct TableOptions {
  std::vector<reduce::Mode> modes = {reduce::Mode::kDefault, reduce::Mode::kRatio,
                                     reduce::Mode::kFast};
  std::vector<double> bounds = {1e-3};
  std::vector<int> threads = {1, 2};
  int repeat = 5;
  std::vector<FieldFile> fields;
};

template <typename Fn>
auto split(const std::string& text, const Fn& parse) {
  std::vector<decltype(parse(text))> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) out.push_back(parse(part));
  return out;
}

TableOptions parse_table(int argc, char** argv) {
  TableOptions o;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const auto next = [&]() -> std::string {
      if (i + 1 >= argc) throw std::runtime_error(arg + " needs a value");
      return argv[++i];
    };
    if (arg == "--modes") {
      o.modes = split(next(), parse_mode);
    } else if (arg == "--rel") {
      o.bounds = split(next(), [](const std::string& s) { return std::stod(s); });
    } else if (arg == "--threads") {
      o.threads = split(next(), [](const std::string& s) { return std::stoi(s); });
    } else if (arg == "--repeat") {
      o.repeat = std::max(1, std::stoi(next()));
    } else {
      const auto colon = arg.rfind(':');
      if (colon == std::string::npos) throw std::runtime_error("expected FILE:SHAPE, not " + arg);
      FieldFile file;
      file.path = arg.substr(0, colon);
      file.name = file.path.substr(file.path.rfind('/') + 1);
      file.dtype = dtype_of_name(file.name);
      file.shape = parse_shape(arg.substr(colon + 1));
      o.fields.push_back(file);
    }
  }
  return o;
}

void print_table(const TableOptions& o) {
  std::printf("# %s; median of %d\n", machine_line().c_str(), o.repeat);
  std::printf("%-24s %-8s %8s %3s %9s %9s %9s\n", "field", "mode", "rel", "thr", "ratio", "c MB/s",
              "d MB/s");
  for (const FieldFile& file : o.fields) {
    const Tensor field = load_field(file);
    const double megabytes = static_cast<double>(field.size_bytes()) * 1e-6;
    for (const double bound : o.bounds) {
      for (const reduce::Mode mode : o.modes) {
        for (const int threads : o.threads) {
          Job job;
          job.options.mode = mode;
          job.options.bound = reduce::Bound::relative(bound);
          job.options.threads = threads;
          std::vector<double> c, d;
          Timing t;
          for (int r = 0; r < o.repeat; ++r) {
            t = run_once(field, job);
            c.push_back(t.compress_s);
            d.push_back(t.decompress_s);
          }
          std::printf(
              "%-24s %-8s %8.0e %3d %9.3f %9.1f %9.1f\n", file.name.c_str(),
              reduce::mode_name(mode), bound, threads,
              static_cast<double>(t.info.raw_bytes) / static_cast<double>(t.info.compressed_bytes),
              megabytes / median(c), megabytes / median(d));
          std::fflush(stdout);
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2 && std::string(argv[1]) == "--serve") return serve();
    const TableOptions options = parse_table(argc, argv);
    if (options.fields.empty()) {
      std::fprintf(stderr,
                   "usage: bench_reduce_speed [--modes M,..] [--rel E,..] [--threads N,..] "
                   "[--repeat N] FILE:SHAPE...\n       bench_reduce_speed --serve\n");
      return 2;
    }
    print_table(options);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_reduce_speed: %s\n", error.what());
    return 1;
  }
}
