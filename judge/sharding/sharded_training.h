// Training with shards, compared with training on one rank.
//
// All three ZeRO stages use it: a small model is trained with shards and by one rank alone, and
// both must reach the same values. Some sizes are not divisible by the world size, and every batch
// has padding. A MemoryWindow measures every step: the memory that a rank holds during and after it
// must match the contract. Some cases have layers so wide that bookkeeping does not matter.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "judge/subject.h"
#include "judge/training/small_training.h"
#include "judge/training/watched_layer.h"
#include "parallel/shard.h"
#include "training/sequential.h"
#include "training/sgd.h"

namespace rankbox {

/// Returns fc1, gelu1, … fc5, in one width after dropout. `width` is the cases' count; fc2 to fc4
/// are the largest layers. Models of large cases have four times as many.
Model sharded_model(std::int64_t width);

/// Returns the elements of each layer that has parameters.
std::vector<std::int64_t> sharded_layer_sizes(std::int64_t width);

/// Returns the cases for Subject::large_cases.
std::vector<Case> large_cases_of_sharding();

/// Returns cases of one step, of 20 steps, and of two steps with wide layers.
std::vector<Case> cases_of_sharding();
int steps_in(const Case& example);

/// Returns how many ranks share a copy of the model: all, or where a case has nodes, a node's.
int ranks_of_copy(const Case& example);

/// The parameters of each shard.
using Groups = std::vector<std::vector<Parameter*>>;
Groups all_in_one(Sequential& model);
Groups by_layer(Sequential& model);

/// The bytes that a rank may hold in addition to its inputs.
struct MemoryLimit {
  std::int64_t peak = 0;  // during a step
  std::int64_t kept = 0;  // after it
};

/// Runs the function under judgement and measures its memory.
using Watch = std::function<void(const std::function<void()>& call)>;

/// A rank's model, its shards, and their optimizer.
struct ShardedTraining {
  ShardedTraining(const Case& example, int rank, Groups (*group)(Sequential& model));

  /// Runs all steps, each on this rank's part of the batch. Returns the first difference that a
  /// step returns, or else one of the values, or else the first excess of memory.
  std::optional<Difference> run(
      const MemoryLimit& limit,
      const std::function<std::optional<Difference>(const Batch& mine, const Watch& watch)>& step);

  /// The same, where the function gets the batches of all steps at once.
  std::optional<Difference> run_at_once(
      const MemoryLimit& limit,
      const std::function<std::optional<Difference>(const std::vector<Batch>& mine,
                                                    const Watch& watch)>& steps);

  /// Calls this before each pass of a layer, until it returns a difference; not where the function
  /// runs in another process, whose other layers are not seen here.
  using AtPass = std::function<std::optional<Difference>(const Layer& layer, bool is_backward)>;
  void set_at_pass(AtPass at_pass) { at_pass_ = std::move(at_pass); }

  /// Calls this before each pass of a layer, wherever the function runs.
  void set_on_pass(OnPass on_pass) { on_pass_ = std::move(on_pass); }

  /// Expects one step with a parameter that ranks of odd number do not use.
  void set_unused(std::size_t parameter) { unused_ = parameter; }

  const Case& example() const { return example_; }

  Sequential model;
  std::vector<Shard> shards;  // [group]
  Sgd optimizer;

 private:
  std::optional<Difference> compare();

  AtPass at_pass_;
  OnPass on_pass_;
  std::optional<Difference> wrong_;
  std::optional<std::size_t> unused_;
  const Case example_;
  const int rank_;
  const int place_;  // among the ranks of its copy
  Groups (*const group_)(Sequential& model);
};

/// Bytes of one rank's shards of all groups; of the largest group, padded; of its shard.
struct ShardBytes {
  std::int64_t all_shards = 0;
  std::int64_t largest = 0;
  std::int64_t largest_shard = 0;
};
ShardBytes shard_bytes(const std::vector<std::int64_t>& sizes, int world_size);

}  // namespace rankbox
