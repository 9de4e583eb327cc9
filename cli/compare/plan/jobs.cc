#include "cli/compare/plan/jobs.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/compare/plan/closed_form.h"
#include "cli/plugin/plugin.h"
#include "collectives/cost.h"
#include "comm/errors.h"

namespace rankbox::cli {
namespace {

using enum CollectiveKind;

StopHooks hooks_of_this_process;

bool is_wanted(const Plan& plan, const Algorithm& algorithm) {
  if (algorithm.whose == Whose::kNative) return true;
  if (algorithm.whose == Whose::kReference && !plan.has_reference) return false;
  return plan.algorithms.empty() ||
         std::ranges::find(plan.algorithms, algorithm.name) != plan.algorithms.end();
}

std::vector<std::int64_t> element_counts(const Plan& plan, CollectiveKind collective,
                                         int world_size) {
  if (collective == kBarrier) return {0};
  std::vector<std::int64_t> counts;
  for (const std::int64_t bytes : plan.sizes) {
    const std::int64_t elements = elements_of(collective, world_size, bytes);
    if (counts.empty() || counts.back() != elements) counts.push_back(elements);
  }
  return counts;
}

int segments_of(const Plan& plan, const Algorithm& algorithm, int world_size, std::int64_t bytes) {
  if (plan.segments > 0) return plan.segments;
  const CollectiveKind collective = algorithm.collective;
  const Link& link = plan.cluster.link(plan.cluster.nodes_for(world_size) == 1);
  if (algorithm.name == "double_tree")
    return cost::best_tree_segments(world_size, bytes, link, plan.cluster.gamma);
  return collective == kAllReduce
             ? cost::best_ring_segments(world_size, bytes, link, plan.cluster.gamma)
             : cost::best_segments(world_size, bytes, link);
}

Job job_of(const Plan& plan, const Algorithm& algorithm, ReduceOp op, int world_size,
           std::int64_t elements) {
  Job job;
  Row& row = job.row;
  row.collective = algorithm.collective;
  row.algorithm = algorithm.name;
  row.whose = algorithm.whose;
  row.op = op;
  row.root = has_root(row.collective) ? plan.root : -1;
  row.world_size = world_size;
  row.elements = elements;
  row.bytes = elements * size_of(Tensor::dtype());
  job.algorithm = algorithm;
  job.settings = {op, segments_of(plan, algorithm, world_size, row.bytes), plan.root};
  if (!algorithm.problem.empty()) row.failure = RowFailure{"compile", algorithm.problem, "", 0};
  // The closed form describes the reference. A learner's function may do anything.
  if (row.whose != Whose::kYours) set_closed_form(row, job.settings.segments, plan.cluster);
  return job;
}

}  // namespace

RankPart part_of(const Job& job, int rank) {
  return {.collective = job.row.collective,
          .rank = rank,
          .world_size = job.row.world_size,
          .elements = job.row.elements,
          .op = job.row.op,
          .root = job.settings.root};
}

void set_stop_hooks(const StopHooks& hooks) { hooks_of_this_process = hooks; }

const StopHooks& stop_hooks() { return hooks_of_this_process; }

Algorithms algorithms_in(const Plan& plan) {
  std::vector<Algorithm> yours;
  for (const NamedFile& mine : plan.mine) {
    const LoadedFunction loaded = load_function(mine.file, mine.name);
    std::optional<Algorithm> found = algorithm_of(mine.name, loaded.function, Whose::kYours);
    if (!found) throw Error(fmt::format("{}: this program has no such exercise", mine.name));
    Algorithm algorithm = std::move(*found);
    algorithm.problem = loaded.problem;
    algorithm.library = loaded.entry;
    algorithm.call = [call = algorithm.call](Comm& dist, Buffers& buffers,
                                             const CallSettings& settings) {
      hooks_of_this_process.entering();
      call(dist, buffers, settings);
    };
    yours.push_back(std::move(algorithm));
  }
  return [yours](CollectiveKind collective) {
    std::vector<Algorithm> all;
    for (const Algorithm& ours : algorithms_of(collective)) {
      all.push_back(ours);
      // A learner's function of the same name comes first.
      for (const Algorithm& each : yours) {
        if (each.collective == collective && each.name == ours.name) all.push_back(each);
      }
    }
    // An exercise of an external course has no solution in this program.
    for (const Algorithm& each : yours) {
      const bool is_there = std::ranges::any_of(all, [&](const Algorithm& other) {
        return other.whose == Whose::kYours && other.name == each.name;
      });
      if (each.collective == collective && !is_there) all.push_back(each);
    }
    return all;
  };
}

std::vector<Contest> contests_of(const Plan& plan, int world_size, const Algorithms& algorithms) {
  if (plan.root < 0 || plan.root >= world_size) {
    throw InvalidArgument(
        fmt::format("--root {}: the ranks are 0 to {} here", plan.root, world_size - 1));
  }
  std::vector<Contest> contests;
  for (const CollectiveKind collective : plan.collectives) {
    // A collective that does not reduce is measured once, not once per operation.
    const std::vector<ReduceOp> ops =
        is_reducing(collective) ? plan.ops : std::vector{ReduceOp::SUM};
    const std::vector<Algorithm> all = algorithms(collective);
    for (const ReduceOp op : ops) {
      for (const std::int64_t elements : element_counts(plan, collective, world_size)) {
        Contest contest;
        for (const Algorithm& algorithm : all) {
          if (is_wanted(plan, algorithm)) {
            contest.push_back(job_of(plan, algorithm, op, world_size, elements));
          }
        }
        contests.push_back(std::move(contest));
      }
    }
  }
  return contests;
}

}  // namespace rankbox::cli
