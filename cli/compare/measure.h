// Takes the figures of a comparison: what is measured, how, and the row that comes of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/compare/algorithms.h"
#include "comm/run_options.h"

namespace rankbox::cli {

struct Plan {
  std::vector<CollectiveKind> collectives;
  std::vector<std::string> algorithms;  // by name; empty: all. The native one is always measured.
  std::vector<int> ranks;
  std::vector<std::int64_t> sizes;  // bytes
  ReduceOp op = ReduceOp::SUM;
  Cluster cluster;
  Buffering buffering = Buffering::rendezvous();
  ExecutorKind executor = ExecutorKind::kThreads;
  std::optional<int> iterations;  // none: as many as fit into a share of a second
  int warmup = 3;
};

/// Seconds of one iteration.
struct Times {
  double median = 0;
  double q1 = 0;  // a quarter of the iterations took less,
  double q3 = 0;  // a quarter more
  std::int64_t iterations = 0;
};

struct Row {
  CollectiveKind collective = CollectiveKind::kAllReduce;
  std::string algorithm;
  int world_size = 1;
  std::int64_t bytes = 0;  // as nccl-tests count them, see elements_of()
  std::int64_t elements = 0;
  Times time;
  double vs_native = 1;  // time divided by the native collective's
  double busbw = 0;      // bytes per second
  double virtual_seconds = 0;
  double virtual_busbw = 0;  // bytes per second
  Cost cost;
  std::int64_t wrong = 0;  // elements of all ranks' results
};

/// Starts the plan's largest world once, and does nothing in it. Throws InvalidArgument if this
/// machine cannot.
void check_world_can_start(const Plan& plan);

/// All rows of one world size: by collective, then size, then algorithm, the native one first.
///
/// Every row is run once under the virtual clock, where its result is checked too; then the ranks
/// are started anew, once, without the clock, and take the times of all rows. An iteration is one
/// call, or many back to back where a call is too short to time alone; its time is that of the
/// slowest rank.
///
/// @param progress called before each row's times are taken, with its number from 0, from another
/// thread
/// Errors: what an algorithm throws, with the row named. Blocks until all is measured.
std::vector<Row> measure_world(
    const Plan& plan, int world_size,
    const std::function<void(std::size_t row, const Row& now)>& progress);

/// Rows that measure_world() makes.
std::size_t count_rows(const Plan& plan, int world_size);

}  // namespace rankbox::cli
