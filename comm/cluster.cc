#include "comm/cluster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm/errors.h"

namespace rankbox {

const std::vector<Cluster>& cluster_presets() {
  // Round figures. The GPU ones are read off published nccl-tests all-reduce tables: β from the bus
  // bandwidth of large messages (370 GB/s is a ring on 8 H100 without NVLS; 238, 479 and 14.5 GB/s
  // are the others'), α from the time of 8 bytes divided by the rounds of a tree, γ from GPU memory
  // bandwidth (a reduction reads two and writes one byte).
  static const std::vector<Cluster> presets = {
      {"laptop", {0.3e-6, 0.1e-9}, {0.3e-6, 0.1e-9}, 0.1e-9, 0},
      {"h100-nvlink", {2.2e-6, 1 / 370e9}, {2.2e-6, 1 / 370e9}, 1 / 1.0e12, 8},
      {"a100-infiniband", {2.4e-6, 1 / 238e9}, {7.0e-6, 1 / 190e9}, 1 / 0.5e12, 8},
      {"h100-efa", {2.2e-6, 1 / 370e9}, {17e-6, 1 / 370e9}, 1 / 1.0e12, 8},
      {"pcie-4090", {6.5e-6, 1 / 14.5e9}, {6.5e-6, 1 / 14.5e9}, 1 / 0.3e12, 8},
      {"ethernet", {0.5e-6, 1 / 10e9}, {30e-6, 1 / 1.25e9}, 0.1e-9, 1},
  };
  return presets;
}

const Cluster& cluster_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Cluster& cluster : cluster_presets()) {
    if (cluster.name == name) return cluster;
    names.push_back(cluster.name);
  }
  throw InvalidArgument(
      fmt::format("unknown cluster \"{}\": choose one of {}", name, fmt::join(names, ", ")));
}

}  // namespace rankbox
