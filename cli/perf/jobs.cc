#include "cli/perf/jobs.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/perf/sizes.h"
#include "cli/perf/virtual_time.h"
#include "collectives/cost.h"
#include "comm/errors.h"

namespace rankbox::perf {
namespace {

using enum CollectiveKind;

bool is_wanted(const Plan& plan, std::string_view name) {
  return plan.algorithms.empty() || name == "native" ||
         std::find(plan.algorithms.begin(), plan.algorithms.end(), name) != plan.algorithms.end();
}

/// Whether the tensor is made of one piece per rank: then `count` is that of a piece.
bool is_in_pieces(CollectiveKind collective) {
  return !cli::is_in_place(collective) && collective != kBarrier;
}

/// All pieces together.
std::int64_t elements_of(CollectiveKind collective, int world_size, std::int64_t bytes) {
  const std::int64_t elements = bytes / size_of(Tensor::dtype());
  if (collective == kBarrier) return 0;
  if (!is_in_pieces(collective)) return elements;
  return std::max(elements / world_size, std::int64_t{1}) * world_size;
}

std::vector<std::int64_t> element_counts(const Plan& plan, CollectiveKind collective,
                                         int world_size) {
  if (collective == kBarrier) return {0};
  std::vector<std::int64_t> counts;
  for (const std::int64_t bytes : sizes_of(plan)) {
    const std::int64_t elements = elements_of(collective, world_size, bytes);
    if (elements > 0 && (counts.empty() || counts.back() != elements)) counts.push_back(elements);
  }
  return counts;
}

int segments_of(const Plan& plan, int world_size, std::int64_t bytes) {
  if (plan.segments > 0) return plan.segments;
  const bool one_node = plan.cluster.nodes_for(world_size) == 1;
  return cost::best_segments(world_size, bytes, plan.cluster.link(one_node));
}

Job job_of(const Plan& plan, const cli::Algorithm& algorithm, ReduceOp op, int world_size,
           std::int64_t elements) {
  Job job;
  Row& row = job.row;
  row.collective = algorithm.collective;
  row.algorithm = algorithm.name;
  row.op = op;
  row.root = cli::has_root(row.collective) ? plan.root : -1;
  row.world_size = world_size;
  row.elements = elements;
  row.count = is_in_pieces(row.collective) ? elements / world_size : elements;
  row.bytes = elements * size_of(Tensor::dtype());
  job.algorithm = algorithm;
  job.settings = {op, segments_of(plan, world_size, row.bytes), plan.root};
  row.virtual_seconds = virtual_seconds(row, job.settings.segments, plan.cluster);
  return job;
}

}  // namespace

std::vector<Job> jobs_of(const Plan& plan, int world_size, const Algorithms& algorithms) {
  if (plan.root < 0 || plan.root >= world_size) {
    throw InvalidArgument(
        fmt::format("-r {}: the ranks are 0 to {} here", plan.root, world_size - 1));
  }
  std::vector<Job> jobs;
  for (const CollectiveKind collective : plan.collectives) {
    // What does not reduce is not measured once for every operation.
    const std::vector<ReduceOp> ops =
        cli::is_reducing(collective) ? plan.ops : std::vector{ReduceOp::SUM};
    const std::vector<std::int64_t> counts = element_counts(plan, collective, world_size);
    for (const cli::Algorithm& algorithm : algorithms(collective)) {
      if (!is_wanted(plan, algorithm.name)) continue;
      for (const ReduceOp op : ops) {
        for (const std::int64_t elements : counts) {
          jobs.push_back(job_of(plan, algorithm, op, world_size, elements));
        }
      }
    }
  }
  return jobs;
}

}  // namespace rankbox::perf
