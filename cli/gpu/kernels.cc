// The kernels against device copy, and their memory accesses.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/gpu/sections.h"

namespace rankbox::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLeastOfCopy = 0.9;
constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kLargest = 1024 * kMiB;

const Json& row_of(const Figures& bench, const std::string& kernel, std::int64_t bytes) {
  for (const Json& row : bench.get().at("results"))
    if (row.at("kernel") == kernel && row.at("bytes") == bytes) return row;
  throw NotMeasured{"tensors of this size do not fit into the GPU's memory"};
}

/// Returns where compute-sanitizer is.
std::string sanitizer() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  const std::string folders =
      variable("PATH") + ":" + variable("CUDA_HOME") + "/bin:/usr/local/cuda/bin:/opt/cuda/bin:";
  for (std::size_t begin = 0; begin < folders.size();) {
    const std::size_t end = folders.find(':', begin);
    std::string path = folders.substr(begin, end - begin) + "/compute-sanitizer";
    if (access(path.c_str(), X_OK) == 0) return path;
    begin = end + 1;
  }
  throw NotMeasured{"compute-sanitizer is not in PATH or CUDA_HOME"};
}

}  // namespace

void measure_kernels(Session& session) {
  const Figures bench = session.figures(
      "kernels", {.program = "kernel_bench",
                  .arguments = {"--min", "64M", "--max", "1G", "--repeats", "11", "--json", "-"}});
  session.measure("device copy, 1 GiB", "", [&] {
    const auto speed = row_of(bench, "copy", kLargest).at("bytes_per_second").get<double>();
    session.copy_bytes_per_second = speed;
    return Value{fmt::format("{:.0f} GB/s", speed / 1e9), speed / 1e9};
  });
  for (const std::int64_t bytes : {64 * kMiB, 256 * kMiB, kLargest}) {
    session.measure(fmt::format("accumulate, {} MiB", bytes / kMiB), "at least 90 %", [&] {
      const auto ratio = row_of(bench, "accumulate", bytes).at("ratio_to_copy").get<double>();
      return Value{fmt::format("{:.1f} % of the copy", 100 * ratio), ratio, ratio >= kLeastOfCopy};
    });
  }
}

void check_memory_accesses(Session& session) {
  // Not racecheck, which looks for races in shared memory: no kernel uses any.
  session.measure("kernel tests under memcheck", "no error", [&] {
    const std::vector<std::string> under = {sanitizer(), "--tool", "memcheck", "--error-exitcode",
                                            "99"};
    const std::vector<std::string> programs = session.programs_in("kernels");
    for (const std::string& program : programs) {
      const Ended ended = session.run(
          {.program = program, .environment = {"RANKBOX_REQUIRE_GPU=1"}, .under = under});
      if (ended.code == 0) continue;
      session.report().details["memcheck"] = ended.messages();
      return Value{fmt::format("{} has exit code {}", program, ended.code), {}, false};
    }
    return Value{fmt::format("{} programs without an error", programs.size()), {}, true};
  });
}

}  // namespace rankbox::cli
