// What a GPU computes and holds: facts of data sheets, and how much of them training reaches.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankbox::plan {

struct GpuFacts {
  std::string name;
  double peak = 0;                // operations a second of 16-bit products, without sparsity
  double memory = 0;              // bytes
  double bandwidth = 0;           // bytes a second of that memory
  double share_of_products = 0;   // of `peak` that large products reach
  double share_of_attention = 0;  // of `peak` that fused attention reaches
};

/// The GPUs that --gpu takes.
const std::vector<GpuFacts>& known_gpus();

/// Returns the GPU of that name; for "" the one that the cluster's name begins or ends with,
/// as "h100-efa" and "pcie-4090" do. Throws InvalidArgument that lists the names.
GpuFacts gpu_named(std::string_view name, std::string_view cluster);

}  // namespace rankbox::plan
