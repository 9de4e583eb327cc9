#include "cli/plan/gpu_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm/errors.h"

namespace rankbox::plan {

// Peaks and bandwidths: NVIDIA's data sheets (SXM parts). Memory: about what nvidia-smi reports.
// The shares of A100 and H100 are fitted to runs of one node (cli/plan/published.csv); the others
// take those of their neighbours.
const std::vector<GpuFacts>& known_gpus() {
  static const std::vector<GpuFacts> gpus = {
      {"a100", 312e12, 85.9e9, 2.04e12, 0.72, 0.38},
      {"a100-40", 312e12, 42.9e9, 1.56e12, 0.72, 0.38},
      {"h100", 989e12, 85.5e9, 3.35e12, 0.54, 0.23},
      {"h200", 989e12, 150.8e9, 4.8e12, 0.54, 0.23},
      {"b200", 2250e12, 192e9, 7.7e12, 0.54, 0.23},
      {"gb200", 2500e12, 198e9, 8e12, 0.54, 0.23},
      {"4090", 165e12, 25.7e9, 1.01e12, 0.72, 0.38},
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
    throw InvalidArgument(fmt::format("cluster \"{}\" names no GPU: add --gpu, one of {}", cluster,
                                      fmt::join(names, ", ")));
  }
  throw InvalidArgument(
      fmt::format("unknown GPU \"{}\": choose one of {}", name, fmt::join(names, ", ")));
}

}  // namespace rankbox::plan
