// The block that parallel_mlp and sequence_parallel take apart, whole.
#pragma once

#include <vector>

#include "parallel/layer_shards.h"
#include "parallel/parallel_mlp.h"
#include "training/layers/gelu.h"
#include "verdict/tensor_parallel/block.h"

namespace rankbox {

/// A hidden layer of two units for every rank.
struct WholeMlp {
  WholeMlp(std::int64_t in, std::int64_t out, int world_size)
      : fc1(small_values({2 * world_size, in}, "fc1.weight"),
            small_values(2 * world_size, "fc1.bias")),
        fc2(small_values({out, 2 * world_size}, "fc2.weight"), small_values(out, "fc2.bias")) {}

  Linear fc1;
  Gelu gelu;
  Linear fc2;
  Chain chain{fc1, gelu, fc2};

  std::vector<Parameter*> parameters() { return {&fc1.weight, &fc1.bias, &fc2.weight, &fc2.bias}; }
};

/// A rank's part of it.
struct MlpShard {
  MlpShard(const WholeMlp& whole, int rank, int world_size)
      : fc1(column_shard(whole.fc1, rank, world_size)),
        fc2(row_shard(whole.fc2, rank, world_size)),
        bias(whole.fc2.bias) {}

  Linear fc1;
  Gelu gelu;
  Linear fc2;
  Parameter bias;
  ParallelMlp block{fc1, gelu, fc2, bias};

  std::vector<Parameter*> parameters() { return block.parameters(); }
};

/// The shard's gradients should be these parts of the whole's; its values are those it was made of.
inline std::vector<ParameterCheck> checks_of(const MlpShard& shard, const WholeMlp& whole, int rank,
                                             int world_size) {
  const auto rows = [=](const Tensor& all) { return row_part(all, rank, world_size); };
  const auto columns = [=](const Tensor& all) { return column_part(all, rank, world_size); };
  return {
      {&shard.fc1.weight, "shard.fc1.weight", rows(whole.fc1.weight.gradient),
       rows(whole.fc1.weight.value)},
      {&shard.fc1.bias, "shard.fc1.bias", rows(whole.fc1.bias.gradient),
       rows(whole.fc1.bias.value)},
      {&shard.fc2.weight, "shard.fc2.weight", columns(whole.fc2.weight.gradient),
       columns(whole.fc2.weight.value)},
      {&shard.bias, "shard.bias", whole.fc2.bias.gradient, whole.fc2.bias.value},
  };
}

}  // namespace rankbox
