#include "cli/compare/measure.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>

#include <fmt/format.h>

#include "cli/compare/lists.h"
#include "collectives/cost.h"
#include "comm/run_ranks.h"

namespace rankbox::cli {
namespace {

// An iteration shorter than this is lost in the jitter of leaving a barrier: several calls make
// one.
constexpr double kIterationSeconds = 0.5e-3;
// What a row may take when the number of iterations is ours to choose, and the least and most that
// we choose.
constexpr double kRowSeconds = 0.1;
constexpr int kFewestIterations = 5;
constexpr int kMostIterations = 50;
constexpr int kMostCalls = 10000;

struct Job {
  Algorithm algorithm;
  Row row;
  CallSettings settings;
};

double now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

/// As many as make the pipelined ring fastest on this cluster.
int segments_for(const Cluster& cluster, int world_size, std::int64_t bytes) {
  return cost::best_segments(world_size, bytes, cluster.link(cluster.nodes_for(world_size) == 1));
}

bool is_wanted(const Plan& plan, std::string_view name) {
  return plan.algorithms.empty() || name == "native" ||
         std::find(plan.algorithms.begin(), plan.algorithms.end(), name) != plan.algorithms.end();
}

/// The sizes of a collective's rows; a barrier has but one.
std::vector<std::int64_t> sizes_of(const Plan& plan, CollectiveKind collective) {
  return collective == CollectiveKind::kBarrier ? std::vector<std::int64_t>{0} : plan.sizes;
}

std::vector<Job> jobs_of(const Plan& plan, int world_size) {
  std::vector<Job> jobs;
  for (const CollectiveKind collective : plan.collectives) {
    std::int64_t last_elements = -1;
    for (const std::int64_t bytes : sizes_of(plan, collective)) {
      const std::int64_t elements = elements_of(collective, world_size, bytes);
      if (elements == last_elements) {
        continue;  // two small sizes that both became one element per rank
      }
      last_elements = elements;
      for (const Algorithm& algorithm : algorithms_of(collective)) {
        if (is_wanted(plan, algorithm.name)) {
          Row row;
          row.collective = collective;
          row.algorithm = algorithm.name;
          row.world_size = world_size;
          row.elements = elements;
          row.bytes = elements * size_of(Tensor::dtype());
          jobs.push_back(
              {algorithm, row, {plan.op, segments_for(plan.cluster, world_size, row.bytes)}});
        }
      }
    }
  }
  return jobs;
}

RunOptions options_of(const Plan& plan, int world_size, bool trace) {
  RunOptions options;
  options.world_size = world_size;
  options.nodes = plan.cluster.nodes_for(world_size);
  options.cluster = plan.cluster;
  options.buffering = plan.buffering;
  options.executor = plan.executor;
  options.trace = trace;
  return options;
}

[[noreturn]] void rethrow_naming(const Error& error, const Row& row) {
  const std::string message =
      fmt::format("{} ({}) on {} ranks, {}: {}", name_of(row.collective), row.algorithm,
                  row.world_size, format_bytes(row.bytes), error.what());
  // What the user can mend stays what the user can mend.
  if (dynamic_cast<const InvalidArgument*>(&error) != nullptr) {
    throw InvalidArgument(message, error.context());
  }
  throw Error(message, error.context());
}

/// One call under the virtual clock: cost, time on the cluster, and whether the result is right.
void judge(Job& job, const RunOptions& options) {
  Row& row = job.row;
  try {
    const auto [wrong, report] = run_ranks(options, [&](Comm& dist) {
      const int rank = dist.rank();
      Buffers buffers = make_buffers(row.collective, rank, row.world_size, row.elements, 0);
      fill_input(row.collective, buffers, rank, job.settings.op);
      job.algorithm.call(dist, buffers, job.settings);
      return count_wrong(row.collective, buffers, rank, row.world_size, row.elements,
                         job.settings.op);
    });
    row.cost = report.cost;
    row.virtual_seconds = report.virtual_seconds;
    for (const std::int64_t of_rank : wrong) {
      row.wrong += of_rank;
    }
  } catch (const Error& error) {
    rethrow_naming(error, row);
  }
}

/// One rank's part in taking a row's times: seconds of each iteration.
std::vector<double> take_times(Comm& dist, const Job& job, const Plan& plan) {
  const Row& row = job.row;
  // Ones stay ones under PRODUCT, MAX, MIN and AVG; zeros under SUM: no infinities however often it
  // runs.
  const float value = plan.op == ReduceOp::SUM ? 0.0f : 1.0f;
  Buffers buffers = make_buffers(row.collective, dist.rank(), row.world_size, row.elements, value);
  const auto time_calls = [&](int calls) {
    const double begin = now();
    for (int call = 0; call < calls; ++call) {
      job.algorithm.call(dist, buffers, job.settings);
    }
    return now() - begin;
  };

  // 1. Warm up. The quickest call says how many make an iteration, and how many of those the row
  // can afford.
  //    All ranks must agree on it, so they take the slowest rank's figure.
  double quickest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < std::max(plan.warmup, 1); ++i) {
    dist.barrier();
    quickest = std::min(quickest, time_calls(1));
  }
  TensorOf<double> agreed = full<double>({1}, quickest);
  dist.all_reduce(agreed, ReduceOp::MAX);
  const double one_call = std::max(to_host(agreed).front(), 1e-9);
  const int calls =
      static_cast<int>(std::clamp(kIterationSeconds / one_call, 1.0, double{kMostCalls}));
  const double affordable = std::clamp(kRowSeconds / (calls * one_call), double{kFewestIterations},
                                       double{kMostIterations});
  const int iterations = plan.iterations.value_or(static_cast<int>(affordable));

  // 2. Measure.
  std::vector<double> times;
  for (int i = 0; i < iterations; ++i) {
    dist.barrier();
    times.push_back(time_calls(calls) / calls);
  }
  return times;
}

/// Linear between the samples around it. REQUIRES: sorted, not empty.
double quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Times summarize(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return {quantile(seconds, 0.5), quantile(seconds, 0.25), quantile(seconds, 0.75),
          static_cast<std::int64_t>(seconds.size())};
}

}  // namespace

void check_world_can_start(const Plan& plan) {
  const int largest = *std::max_element(plan.ranks.begin(), plan.ranks.end());
  run_ranks(options_of(plan, largest, false), [](Comm&) {});
}

std::size_t count_rows(const Plan& plan, int world_size) {
  return jobs_of(plan, world_size).size();
}

std::vector<Row> measure_world(
    const Plan& plan, int world_size,
    const std::function<void(std::size_t row, const Row& now)>& progress) {
  std::vector<Job> jobs = jobs_of(plan, world_size);
  for (Job& job : jobs) {
    judge(job, options_of(plan, world_size, true));
  }

  // [rank][job][iteration]
  using RankTimes = std::vector<std::vector<double>>;
  std::vector<RankTimes> times;
  std::atomic<std::size_t> current = 0;
  try {
    times = run_ranks(options_of(plan, world_size, false), [&](Comm& dist) {
              RankTimes mine;
              for (std::size_t i = 0; i < jobs.size(); ++i) {
                if (dist.rank() == 0) {
                  current = i;
                  progress(i, jobs[i].row);
                }
                mine.push_back(take_times(dist, jobs[i], plan));
              }
              return mine;
            }).results;
  } catch (const Error& error) {
    rethrow_naming(error, jobs[current].row);
  }

  std::vector<Row> rows;
  double native = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    std::vector<double> slowest = times.front()[i];
    for (const RankTimes& of_rank : times) {
      std::transform(slowest.begin(), slowest.end(), of_rank[i].begin(), slowest.begin(),
                     [](double a, double b) { return std::max(a, b); });
    }
    Row row = jobs[i].row;
    row.time = summarize(std::move(slowest));
    native = row.algorithm == "native" ? row.time.median : native;
    row.vs_native = row.time.median / native;
    const double bus_bytes =
        static_cast<double>(row.bytes) * bus_factor(row.collective, world_size);
    row.busbw = bus_bytes / row.time.median;
    row.virtual_busbw = row.virtual_seconds > 0 ? bus_bytes / row.virtual_seconds : 0;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace rankbox::cli
