// All layouts of a task, the fastest first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/plan/estimate.h"

namespace rankbox::plan {

/// What a user fixed; the rest is searched.
struct Wanted {
  std::optional<std::int64_t> tensor, pipeline, context, expert, micro_batch, chunks;
  std::optional<Sharding> sharding;
  std::optional<Schedule> schedule;
  std::optional<bool> recomputes;
};

/// The estimates of every layout that divides what it cuts: those that fit, the fastest first,
/// then those that do not, the smallest first. Of times within half a per cent, the one that holds
/// less comes first. Costs some milliseconds for thousands of layouts.
/// Throws InvalidArgument for a fixed value that no layout can have, or if there is no layout.
std::vector<Estimate> search(const Task& task, const Wanted& wanted);

/// Returns the first estimate of each strategy, without its degrees, in their order: "FSDP × TP",
/// "ZeRO-1 × TP × PP (1F1B)". So the best few differ in kind.
std::vector<Estimate> best_of_each_kind(const std::vector<Estimate>& all);

/// The first estimate that uses a strategy, beside whichever others.
struct Use {
  std::string strategy;  // "DDP", "FSDP", "TP", "CP", "EP", "GPipe", "1F1B", …
  Estimate estimate;
};

/// Returns the first use of each strategy that some layout uses.
std::vector<Use> best_use_of_each(const std::vector<Estimate>& all);

}  // namespace rankbox::plan
