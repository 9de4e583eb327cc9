// A small MLP, trained by all ranks together and by one rank alone.
//
// Together, each rank has its part of the layers and all of every batch. Afterwards the parts must
// equal those of the model that one rank trained. tests/judge/mlp_training_test.cc shows that it
// learns.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "comm/comm.h"
#include "judge/tensor_parallel/block.h"
#include "parallel/parallel_mlp.h"

namespace rankbox {

using MlpFunction = void (*)(Comm& dist, ParallelMlp& shard, Direction direction, Tensor& tensor,
                             Saved& saved);

inline constexpr std::int64_t kMlpBatch = 16;
inline constexpr std::int64_t kMlpInputs = 6;
inline constexpr std::int64_t kMlpClasses = 3;

/// Returns the world sizes for training.
std::vector<int> mlp_training_sizes();

/// Trains the block, with GELU between its layers, for `steps` steps on one rank.
void train_mlp_alone(Block& model, int steps);

std::optional<Difference> compare_mlp_training(Comm& dist, int steps, MlpFunction function);

}  // namespace rankbox
