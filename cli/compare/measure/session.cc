#include "cli/compare/measure/session.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <iterator>

#include <fmt/format.h>

#include "cli/compare/measure/backend.h"
#include "cli/compare/measure/baseline.h"
#include "cli/compare/measure/measure.h"
#include "cli/compare/plan/plan.h"
#include "cli/support/child.h"
#include "comm/run_failure.h"
#include "comm/run_ranks.h"

namespace rankbox::cli {

namespace {

std::int64_t largest_bytes(const std::vector<Contest>& contests) {
  std::int64_t largest = 0;
  for (const Contest& contest : contests) largest = std::max(largest, contest.front().row.bytes);
  return largest;
}

/// Checks the memory and calls the listener. If that throws, rank 0 rethrows and all other ranks
/// return, so that none waits in a collective that cannot be cancelled.
bool starts(Comm& dist, const Listener& listener, const std::vector<Device>& devices,
            std::int64_t largest) {
  std::exception_ptr refusal;
  try {
    if (dist.rank() == 0) check_memory(devices, largest);
    if (dist.rank() == 0 && listener.on_start) listener.on_start(devices);
  } catch (...) {
    refusal = std::current_exception();
  }
  auto go = full<std::int32_t>({1}, refusal == nullptr ? 1 : 0);
  dist.broadcast(go, 0);
  const bool goes = to_host(go).front() == 1;
  if (refusal != nullptr) std::rethrow_exception(refusal);
  return goes;
}

/// The last job that the ranks of this process entered together.
struct Position {
  std::atomic<bool> started{false};
  std::atomic<std::size_t> contest{0};
  std::atomic<int> job{-1};  // -1: none
};

void announce(const Contest& contest, std::size_t job, const Listener& listener) {
  const void* const library = contest[job].algorithm.library;
  if (library != nullptr) stop_hooks().starting(library);
  if (listener.on_job) listener.on_job(contest, job);
}

std::vector<Row> rows_of(const Contest& contest) {
  std::vector<Row> rows;
  for (const Job& job : contest) rows.push_back(job.row);
  return rows;
}

void report_as_judged(const std::vector<Contest>& contests, const Listener& listener) {
  for (const Contest& contest : contests) {
    if (listener.on_contest) listener.on_contest(rows_of(contest));
  }
}

/// A rank's row and column of the nodes, made once for all calls of a run, outside of the timed
/// part. Ranks act alike.
class Grid {
 public:
  /// Makes it if a job needs one. Call before the first job: what fails here is not to be blamed on
  /// a job.
  Grid(Comm& dist, const std::vector<Contest>& contests) {
    const auto needs_grid = [](const Job& job) { return job.algorithm.needs_grid; };
    if (std::ranges::none_of(
            contests, [&](const Contest& each) { return std::ranges::any_of(each, needs_grid); }))
      return;
    try {
      grid_ = split_by_node(dist, Place{});
    } catch (const UnevenNodes& error) {
      why_none_ = error.what();
    }
  }

  /// Adds it to the jobs that need one. Where there is none, their rows say so.
  void add_to(Contest& contest) {
    for (Job& job : contest) {
      if (!job.algorithm.needs_grid || job.row.failure || !job.row.skipped.empty()) continue;
      if (grid_) {
        job.settings.grid = &*grid_;
      } else {
        // The plan's figures are for the nodes of the cluster, which may be others.
        job.row.skipped = why_none_;
        job.row.cost.reset();
        job.row.virtual_seconds.reset();
      }
    }
  }

 private:
  std::optional<NodeGrid> grid_;
  std::string why_none_;
};

/// One run of the ranks, starting at the contest in `position`.
void measure_from(const Plan& plan, const std::vector<Contest>& contests, const Listener& listener,
                  Position& position) {
  const bool is_first_run = !position.started;
  const std::size_t first = position.contest;
  position.job = -1;
  run_ranks(run_options(plan, contests.front().front().row.world_size), [&](Comm& dist) {
    const bool tells = dist.rank() == 0;
    position.started = true;
    const auto devices = devices_of(dist);
    const std::int64_t largest = largest_bytes(contests);
    if (is_first_run && !starts(dist, listener, *devices, largest)) return;
    Grid grid(dist, contests);
    const std::int64_t pool =
        pool_bytes((*devices)[static_cast<std::size_t>(dist.rank())], largest);
    for (std::size_t number = first; number < contests.size(); ++number) {
      Contest contest = contests[number];
      grid.add_to(contest);
      const Marks marks = {.announce =
                               [&](std::size_t job) {
                                 if (tells) announce(contest, job, listener);
                               },
                           .enter =
                               [&](std::size_t job) {
                                 position.contest = number;
                                 position.job = static_cast<int>(job);
                               },
                           .leave =
                               [&] {
                                 if (tells && listener.on_left) listener.on_left();
                               }};
      measure(dist, contest, plan, marks, pool);
      if (!tells || !listener.on_contest) continue;
      std::vector<Row> rows = rows_of(contest);
      set_ratios(rows);
      listener.on_contest(rows);
    }
  });
}

/// Marks the learner's job as failed in this contest and in those that follow.
void mark_failed(std::vector<Contest>& contests, std::size_t from, const Row& row,
                 const RowFailure& failure) {
  for (std::size_t number = from; number < contests.size(); ++number) {
    for (Job& job : contests[number]) {
      if (job.row.whose == Whose::kYours && job.row.collective == row.collective &&
          job.row.algorithm == row.algorithm && !job.row.failure) {
        job.row.failure = failure;
      }
    }
  }
}

/// Returns the learner's row that caused the error. If there is none, throws the error with the row
/// named.
Row blamed_row(const Error& error, const std::vector<Contest>& contests, const Position& position) {
  InterruptGuard::check();  // a signal explains the error
  if (position.job < 0) {
    if (position.started || dynamic_cast<const InvalidArgument*>(&error) != nullptr) throw;
    throw CannotStart(error.what(), error.context());
  }
  Row row = contests[position.contest][static_cast<std::size_t>(position.job)].row;
  if (row.whose != Whose::kYours) rethrow_naming(error, row);
  row.failure = row_failure_of(error);
  return row;
}

/// Describes a failed run that ends its processes.
RunEnd end_of(const RunFailure& failure, const std::vector<Contest>& contests,
              const Position& position) {
  RunEnd end{std::nullopt, failure.error, failure.details};
  try {
    std::rethrow_exception(failure.error);
  } catch (const Error& error) {
    try {
      end.failed_row = blamed_row(error, contests, position);
    } catch (...) {
      end.error = std::current_exception();
    }
  }
  return end;
}

/// Forwards failures that end the processes to the listener while it lives.
class ListenToEnd {
 public:
  ListenToEnd(const Listener& listener, const std::vector<Contest>& contests,
              const Position& position) {
    if (!listener.on_end) return;
    set_failure_handler([&](const RunFailure& failure) {
      return listener.on_end(end_of(failure, contests, position));
    });
  }
  ~ListenToEnd() { set_failure_handler(print_failure); }
  ListenToEnd(const ListenToEnd&) = delete;
  ListenToEnd& operator=(const ListenToEnd&) = delete;
};

}  // namespace

void run_session(const Plan& plan, std::vector<Contest> contests, const Listener& listener) {
  if (contests.empty()) return;
  for (Contest& contest : contests) {
    judge_contest(contest, plan, [&](std::size_t job) {
      InterruptGuard::check();
      announce(contest, job, listener);
    });
  }
  if (!plan.takes_times) return report_as_judged(contests, listener);
  Position position;
  const ListenToEnd listen_to_end(listener, contests, position);
  while (true) {
    try {
      return measure_from(plan, contests, listener, position);
    } catch (const Error& error) {
      const Row row = blamed_row(error, contests, position);
      mark_failed(contests, position.contest, row, *row.failure);
    }
  }
}

void set_ratios(std::vector<Row>& rows) {
  const auto native = std::ranges::find(rows, Whose::kNative, &Row::whose);
  const auto ring = std::ranges::find(rows, kNativeRing, &Row::algorithm);
  for (Row& row : rows) {
    if (!row.time) continue;
    if (native != rows.end() && native->time) {
      row.vs_native = row.time->median / native->time->median;
    }
    if (ring != rows.end() && ring->time) row.vs_ring = row.time->median / ring->time->median;
  }
}

namespace {

std::vector<int> world_sizes(const Plan& plan) {
  const int processes = launch().processes;
  return processes > 0 ? std::vector{processes} : plan.ranks;
}

// Starting a larger world takes seconds; its memory is known without that.
constexpr int kLargestTrial = 65'536;

/// Inserts the baselines of this contest after its native rows, or replaces these.
void insert_baselines(const std::vector<Row>& baselines, std::vector<Row>& rows) {
  std::vector<Row> of_contest;
  std::ranges::copy_if(baselines, std::back_inserter(of_contest), [&](const Row& baseline) {
    const Row& native = rows.front();
    return baseline.collective == native.collective && baseline.op == native.op &&
           baseline.elements == native.elements && baseline.world_size == native.world_size;
  });
  if (std::ranges::find(of_contest, kNative, &Row::algorithm) != of_contest.end())
    std::erase_if(rows, [](const Row& row) { return row.whose == Whose::kNative; });
  const auto at = std::ranges::count(rows, Whose::kNative, &Row::whose);
  rows.insert(rows.begin() + at, of_contest.begin(), of_contest.end());
  set_ratios(rows);
}

}  // namespace

void check_largest_world(const Plan& plan) {
  RunOptions options = run_options(plan, *std::ranges::max_element(plan.ranks));
  if (options.world_size > kLargestTrial) return static_cast<void>(rankbox::check_options(options));
  run_ranks(options, [](Comm&) {});
}

std::vector<std::string> measure_worlds(const Plan& plan, const Listener& listener,
                                        std::size_t first_contest) {
  const Algorithms algorithms = algorithms_in(plan);
  std::vector<std::string> failures;
  for (const int world_size : world_sizes(plan)) {
    std::vector<Contest> contests = contests_of(plan, world_size, algorithms);
    contests.erase(contests.begin(), contests.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                            first_contest, contests.size())));
    first_contest = 0;
    std::vector<Row> baselines;
    for (const Baseline& baseline : plan.baselines) {
      const BaselineRows measured = measure_baseline(world_size, baseline);
      baselines.insert(baselines.end(), measured.rows.begin(), measured.rows.end());
      if (!measured.failure.empty()) {
        failures.push_back(fmt::format("{} ({}) was not measured: {}", baseline.label,
                                       fmt::join(baseline.environment, " "), measured.failure));
      }
    }
    Listener with_baselines = listener;
    with_baselines.on_contest = [&](const std::vector<Row>& measured) {
      std::vector<Row> rows = measured;
      insert_baselines(baselines, rows);
      if (listener.on_contest) listener.on_contest(rows);
    };
    run_session(plan, std::move(contests), with_baselines);
  }
  return failures;
}

}  // namespace rankbox::cli
