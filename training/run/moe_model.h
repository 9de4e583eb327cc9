// The multi-layer perceptron for digits, with a layer of experts (parallel/experts.h).
//
//   x [batch, 28, 28, 1] → [batch, width] → experts → [batch, width] → logits [batch, 10]
//
// Layers: fc1, relu1, experts, relu2, fc2. An image is a token.
#pragma once

#include <cstdint>
#include <vector>

#include "training/sequential.h"

namespace rankbox::train {

struct MoeOptions {
  std::int64_t inputs = 28 * 28;
  std::int64_t width = 64;
  std::int64_t experts = 8;
  int k = 2;  // experts of a token
  std::int64_t classes = 10;
  std::uint64_t seed = 1;
};

Model moe(const MoeOptions& options = {});

/// Returns the same model, whose experts count their loads when it is evaluated. REQUIRES: loads,
/// one for each expert, outlives the layers.
Model counting_loads(const Model& model, std::vector<std::int64_t>& loads);

}  // namespace rankbox::train
