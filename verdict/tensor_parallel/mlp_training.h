// A classifier of linear layer, GELU and linear layer, trained twice: by all ranks together, each
// with its part of the layers and all of every batch, and by one rank alone. Afterwards the parts must
// be those of the one. (tests/verdict/mlp_training_test.cc: alone, it learns.)
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "comm/comm.h"
#include "parallel/parallel_mlp.h"
#include "verdict/subject.h"
#include "verdict/tensor_parallel/whole_mlp.h"

namespace rankbox {

inline constexpr std::int64_t kMlpBatch = 16;
inline constexpr std::int64_t kMlpInputs = 6;
inline constexpr std::int64_t kMlpClasses = 3;

/// Numbers of ranks that it is trained with.
std::vector<int> mlp_training_sizes();

/// So many steps of one rank.
void train_mlp_alone(WholeMlp& model, int steps);

std::optional<Difference> compare_mlp_training(Comm& dist, int steps,
                                               void (*block)(Comm& dist, ParallelMlp& shard,
                                                             Direction direction, Tensor& tensor,
                                                             Saved& saved));

}  // namespace rankbox
