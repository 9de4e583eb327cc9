// What one rank of a layout has of the model and of a micro-batch.
#pragma once

#include <cstdint>

#include "cli/plan/layout.h"
#include "cli/plan/transformer.h"

namespace rankbox::plan {

/// Numbers of parameters are those before data-parallel ranks share them.
struct Share {
  double tokens = 0;        // of a micro-batch
  std::int64_t layers = 1;  // of the longest stage
  double dense = 0;         // parameters of one layer, without experts
  double experts = 0;       // those of its experts
  double embeddings = 0;

  // Bytes of a micro-batch's tokens, in 16 bits.
  double hidden = 0;           // at the border of a layer, of all tensor-parallel ranks together
  double saved = 0;            // what a layer leaves for its backward pass
  double keys_and_values = 0;  // of this rank's heads
  double routed = 0;           // rows for experts

  double of_experts() const { return static_cast<double>(layers) * experts; }
  double without_experts() const { return embeddings + static_cast<double>(layers) * dense; }
};

/// @param sequence tokens of one
/// REQUIRES: the layout's degrees divide what they cut, but for the pipeline's.
Share share_of(const Transformer& model, std::int64_t sequence, const Layout& layout);

}  // namespace rankbox::plan
