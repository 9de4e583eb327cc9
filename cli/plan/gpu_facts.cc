#include "cli/plan/gpu_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm/errors.h"

namespace rankbox::plan {

// Peaks, sizes and bandwidths: NVIDIA's data sheets (SXM parts). The shares of A100 and H100 are
// fitted to runs of one node (cli/plan/published.csv); the others take those of their neighbours.
const std::vector<GpuFacts>& known_gpus() {
  static const std::vector<GpuFacts> gpus = {
      {"a100", 312e12, 80e9, 2.04e12, 0.72, 0.38}, {"h100", 989e12, 80e9, 3.35e12, 0.54, 0.23},
      {"h200", 989e12, 141e9, 4.8e12, 0.54, 0.23}, {"b200", 2250e12, 180e9, 7.7e12, 0.54, 0.23},
      {"gb200", 2500e12, 186e9, 8e12, 0.54, 0.23}, {"4090", 165e12, 24e9, 1.01e12, 0.72, 0.38},
  };
  return gpus;
}

GpuFacts gpu_named(std::string_view name, std::string_view cluster) {
  std::vector<std::string_view> names;
  for (const GpuFacts& gpu : known_gpus()) {
    names.push_back(gpu.name);
    if (gpu.name == name) return gpu;
    if (name.empty() && (cluster.starts_with(gpu.name + "-") || cluster.ends_with("-" + gpu.name)))
      return gpu;
  }
  if (name.empty()) {
    throw InvalidArgument(
        fmt::format("cluster \"{}\" does not say which GPU it has: add --gpu, one of {}", cluster,
                    fmt::join(names, ", ")));
  }
  throw InvalidArgument(
      fmt::format("unknown GPU \"{}\": choose one of {}", name, fmt::join(names, ", ")));
}

}  // namespace rankbox::plan
