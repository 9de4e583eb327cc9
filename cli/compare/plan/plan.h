// A comparison's plan, and the rows of its results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "cli/support/named_file.h"
#include "comm/cluster.h"
#include "comm/collective_kind.h"
#include "comm/errors.h"
#include "comm/reduce_op.h"
#include "comm/run_options.h"

namespace rankbox::cli {

/// The owner of a row's implementation: the backend, the reference or the learner.
enum class Whose : std::uint8_t { kNative, kReference, kYours };

constexpr const char* name_of(Whose whose) {
  return whose == Whose::kNative ? "native" : whose == Whose::kYours ? "yours" : "reference";
}

/// The rank whose time counts: nccl-tests' -a.
enum class Average : std::uint8_t { kRank0, kMean, kMin, kMax };

/// The native collective under another name, measured in a separate process with environment
/// variables set. A library that reads them once, at its start, ignores later changes.
struct Baseline {
  std::string label;                     // "native-ring"; "native" replaces the native rows
  std::vector<std::string> environment;  // "NCCL_ALGO=RING"
};

/// The label of the native rows.
inline constexpr const char* kNative = "native";

/// The label of the baseline that vs_ring compares with: NCCL with NCCL_ALGO=RING.
inline constexpr const char* kNativeRing = "native-ring";

struct Plan {
  std::vector<CollectiveKind> collectives = {CollectiveKind::kAllReduce};
  std::vector<std::string> algorithms;  // by name; empty: all. The native one is always measured.
  std::vector<NamedFile> mine;  // the learner's libraries for this backend (cli/plugin/compile.h)
  bool has_reference = true;    // false: native and yours only
  std::vector<Baseline> baselines;
  std::vector<ReduceOp> ops = {ReduceOp::SUM};
  int root = 0;
  std::vector<int> ranks;                    // world sizes
  std::vector<std::int64_t> sizes = {1024};  // bytes, ascending

  std::optional<int> iterations;  // none: as many as fit into 0.1 s
  std::optional<int> calls;       // of an iteration; none: as many as take 0.5 ms
  int warmup = 3;
  int checks = 1;  // times that each row's result is checked; 0: never
  Average average = Average::kMax;
  int segments = 0;  // of the rings that take them; 0: the best on the cluster
  double deadline_seconds = 30;

  bool takes_times = true;    // false: the sandbox's virtual times only
  bool without_data = false;  // --virtual: likewise, and tensors have no data

  Cluster cluster;                                // for virtual time
  Buffering buffering = Buffering::rendezvous();  // in the sandbox
  std::string executor = "auto";                  // likewise: see cli/support/executor_named.h
  int cores = 0;  // that run the ranks; 0: not known, or ranks are GPUs
};

/// The distribution of one call's seconds over the iterations, each as long as its ranks' Average.
struct Times {
  double median = 0;
  double q1 = 0;  // a quarter of the iterations took less,
  double q3 = 0;  // a quarter more
  std::int64_t iterations = 0;
};

/// Why a learner's row has no figures.
struct RowFailure {
  std::string kind;     // as in `check --json`: "deadlock", "values", "crash", …
  std::string message;  // one line
  std::string file;
  int line = 0;
};

struct Row {
  CollectiveKind collective = CollectiveKind::kAllReduce;
  std::string algorithm;
  Whose whose = Whose::kReference;
  ReduceOp op = ReduceOp::SUM;
  int root = -1;  // -1: no rank is special
  int world_size = 1;
  std::int64_t elements = 0;  // of all pieces together, see elements_of() in buffers.h
  std::int64_t bytes = 0;     // of all pieces together

  std::optional<Times> time;
  double latency_seconds = 0;             // of one call alone: the median
  double p99_seconds = 0;                 // the same: 99 % of these calls took at most this
  std::optional<double> mean_seconds;     // of NCCL's native: nccl-tests' mean, see measure.h
  double vs_native = 1;                   // median divided by the native collective's
  std::optional<double> vs_ring;          // the same with kNativeRing's; none: not measured
  std::optional<std::int64_t> wrong;      // elements of all ranks' results; none: not checked
  std::optional<double> virtual_seconds;  // on Plan::cluster; none: not known
  std::optional<Cost> cost;               // none: not known
  std::optional<RowFailure> failure;      // set: there is no time
  std::string skipped;  // why this world cannot run it: there are no figures. Empty: it can

  double bus_bandwidth() const;          // bytes per second, as nccl-tests define it; needs a time
  double virtual_bus_bandwidth() const;  // as above, for virtual_seconds
};

// Serialization between processes (comm/result_bytes.h).
inline auto fields_of(RowFailure& failure) {
  return std::tie(failure.kind, failure.message, failure.file, failure.line);
}
inline auto fields_of(Row& row) {
  return std::tie(row.collective, row.algorithm, row.whose, row.op, row.root, row.world_size,
                  row.elements, row.bytes, row.time, row.latency_seconds, row.p99_seconds,
                  row.mean_seconds, row.vs_native, row.vs_ring, row.wrong, row.virtual_seconds,
                  row.cost, row.failure, row.skipped);
}

/// Returns "ring" or "ring (yours)".
std::string label_of(const Row& row);

/// Returns "all_reduce (ring (yours)) on 4 ranks, 64 KiB".
std::string describe(const Row& row);

/// Returns the failure for an error of a run.
RowFailure row_failure_of(const Error& error);

/// Marks a learner's row as failed if its result is wrong.
void fail_if_wrong(Row& row);

/// Throws the error with the row named. User errors remain InvalidArgument.
[[noreturn]] void rethrow_naming(const Error& error, const Row& row);

/// Returns "deadlock: ranks 0, 1 blocked … (ring.cc:14)": one line, without the row.
std::string in_words(const RowFailure& failure);

}  // namespace rankbox::cli
