// What rankbox-compare measures, and the row that comes of each measurement.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "comm/cluster.h"
#include "comm/collective_kind.h"
#include "comm/reduce_op.h"

namespace rankbox::perf {

/// Which rank's time counts: nccl-tests' -a.
enum class Average : std::uint8_t { kRank0, kMean, kMin, kMax };

/// The native collective once more, under another name, in a process of its own where an environment
/// variable is set: what a library reads once, when it starts, cannot be changed later.
struct Baseline {
  std::string label;     // "native-ring"
  std::string variable;  // "NCCL_ALGO"
  std::string value;     // "RING"
};

struct Plan {
  std::vector<CollectiveKind> collectives = {CollectiveKind::kAllReduce};
  std::vector<std::string> algorithms;  // by name; empty: all. The native one is always measured.
  std::vector<Baseline> baselines;
  std::vector<ReduceOp> ops = {ReduceOp::SUM};
  int root = 0;

  // Bytes from min_bytes to max_bytes, times step_factor, or plus step_bytes if that is 0.
  std::int64_t min_bytes = std::int64_t{32} << 20;
  std::int64_t max_bytes = std::int64_t{32} << 20;
  std::int64_t step_bytes = std::int64_t{1} << 20;
  int step_factor = 0;

  int iterations = 20;
  int aggregated = 1;  // calls of an iteration
  int warmup = 5;
  int checks = 1;  // times that each row's result is checked; 0: never
  Average average = Average::kMean;
  int segments = 0;  // of the pipelined ring; 0: what is best on the cluster
  double deadline_seconds = 30;

  // Ranks that this process starts, unless a launcher has started them.
  int threads = 1;
  int gpus_per_thread = 1;

  Cluster cluster;  // whose virtual time is shown
};

struct Row {
  CollectiveKind collective = CollectiveKind::kAllReduce;
  std::string algorithm;
  ReduceOp op = ReduceOp::SUM;
  int root = -1;  // -1: no rank is special
  int world_size = 1;
  std::int64_t elements =
      0;                   // of all pieces together, see elements_of() in cli/compare/algorithms.h
  std::int64_t count = 0;  // of one piece, as nccl-tests count
  std::int64_t bytes = 0;  // of all pieces together

  double seconds = 0;                     // of one call, back to back
  double latency_seconds = 0;             // of one call alone
  std::optional<std::int64_t> wrong;      // elements of all ranks' results; none: not checked
  double vs_native = 1;                   // seconds divided by the native collective's
  std::optional<double> virtual_seconds;  // on Plan::cluster; none: no closed form is known

  double algorithm_bandwidth() const { return static_cast<double>(bytes) / seconds; }
  /// Bytes per second across each rank's link: nccl-tests' factor times the above.
  double bus_bandwidth() const;
};

/// All of a row, for its way from process to process (comm/result_bytes.h).
inline auto fields_of(Row& row) {
  return std::tie(row.collective, row.algorithm, row.op, row.root, row.world_size, row.elements,
                  row.count, row.bytes, row.seconds, row.latency_seconds, row.wrong, row.vs_native,
                  row.virtual_seconds);
}

}  // namespace rankbox::perf
