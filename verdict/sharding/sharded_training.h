// Judging ZeRO: what its three stages have in common.
//
// A model of some layers is trained with shards, and by one rank alone; both must come to the same values.
// Sizes that ranks cannot share equally are among the cases. Every step is watched by a MemoryWindow: what
// a rank holds while it works, and what is left when it is done, must be what the contract says. Layers
// of some cases are so wide that bookkeeping does not matter.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "parallel/shard.h"
#include "training/sequential.h"
#include "training/sgd.h"
#include "verdict/data_parallel/small_training.h"
#include "verdict/subject.h"

namespace rankbox {

/// fc1, relu1, … fc5. Its width is the cases' count; fc2 to fc4 are the largest layers.
Model sharded_model(std::int64_t width);

/// Elements of the parameters of each layer that has any.
std::vector<std::int64_t> sharded_layer_sizes(std::int64_t width);

/// A step; 20 of them; and a few with wide layers.
std::vector<Case> cases_of_sharding();
int steps_in(const Case& example);

/// How parameters are put together to shards.
using Groups = std::vector<std::vector<Parameter*>>;
Groups all_in_one(Sequential& model);
Groups by_layer(Sequential& model);

/// A rank's model, its shards, and the optimizer of these.
struct ShardedTraining {
  ShardedTraining(const Case& example, int rank, Groups (*group)(Sequential& model));

  Sequential model;
  std::vector<Shard> shards;  // [group]
  Sgd optimizer;
};

/// What a rank may hold besides what it was given, in bytes.
struct MemoryLimit {
  std::int64_t peak = 0;  // while it works
  std::int64_t kept = 0;  // when it is done
};

/// Runs one step, and says whether the rank held more than it may, and a bit for activations and
/// bookkeeping. Once `wrong` is set, it stays.
void watch_memory(const Case& example, const MemoryLimit& limit, const std::function<void()>& step,
                  std::optional<Difference>& wrong);

/// Compares the shards, and the values of the model's parameters if they have any, with those after
/// training alone.
std::optional<Difference> compare_sharded(const Case& example, int rank, ShardedTraining& actual,
                                          Groups (*group)(Sequential& model));

/// Bytes of one rank's shards of all groups; of the largest group, padded; of its shard.
struct ShardBytes {
  std::int64_t all_shards = 0;
  std::int64_t largest = 0;
  std::int64_t largest_shard = 0;
};
ShardBytes shard_bytes(const std::vector<std::int64_t>& sizes, int world_size);

/// What a step costs that reduce-scatters the gradients of each group once, and all-gathers its values so
/// many times.
Cost cost_of_step(const std::vector<std::int64_t>& sizes, int world_size, int gathers);

}  // namespace rankbox
