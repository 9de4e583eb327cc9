// A step of sharded training: the checks and the promises that the ZeRO stages share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "judge/sharding/sharded_training.h"
#include "judge/training/native_calls.h"
#include "parallel/zero3.h"

namespace rankbox {

/// After a step, no whole gradient may remain, and no whole value unless `keeps_values`.
std::optional<Difference> compare_dropped(Sequential& model, bool keeps_values);

/// Backward pops all that forward has saved.
std::optional<Difference> compare_saved(const Saved& saved);

/// Which layers may have values at another one's pass.
enum class Whole { kAll, kNone, kNext };

/// Before the pass of a layer, no others may be whole than these; before a backward none may have a
/// gradient.
std::optional<Difference> compare_at_pass(Sequential& model, const Layer& active, bool is_backward,
                                          Whole others);

/// A step from the batch to the optimizer, with shards alone before and after.
using WholeStep = decltype(&zero3);

/// Trains with it, and compares: each step's memory, what it leaves, and its loss.
std::optional<Difference> run_whole_step(WholeStep function, Comm& dist, ShardedTraining& training,
                                         const MemoryLimit& limit, Whole others);

/// One collective for each of the groups of these sizes.
struct ShardedCalls {
  NativeCalls reduce_scatters;
  NativeCalls all_gathers;
};
ShardedCalls sharded_calls(const std::vector<std::int64_t>& sizes, int world_size);

/// Returns the number of the model's elements.
std::int64_t elements_of_all(const Case& example);

/// Returns a subject that promises these calls, and limits memory.
Subject subject_of_sharding(const std::function<NativeCalls(const Case& example)>& calls,
                            std::vector<RunCheck> checks = {});

}  // namespace rankbox
