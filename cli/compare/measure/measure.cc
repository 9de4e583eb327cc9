#include "cli/compare/measure/measure.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/compare/measure/backend.h"
#include "cli/compare/measure/buffer_pool.h"
#include "cli/compare/plan/plan.h"
#include "cli/support/child.h"
#include "cli/support/now.h"

namespace rankbox::cli {

namespace {

// Iterations have several calls: shorter ones disappear in the jitter of leaving a barrier.
constexpr double kIterationSeconds = 0.5e-3;
// The time per row if the plan sets no number of iterations, and the bounds of that number.
constexpr double kRowSeconds = 0.1;
constexpr int kFewestIterations = 5;
constexpr int kMostIterations = 50;
constexpr int kMostCalls = 10000;
// At least as many calls are timed alone, for a 99th percentile. Slow calls, of which an iteration
// has one, are timed as often as there are iterations: 100 would take too long.
constexpr int kSingleCalls = 100;

/// Combines all ranks' numbers, each with the others' at its index. A collective.
std::vector<double> agree(Comm& dist, const std::vector<double>& mine, Average average) {
  TensorOf<double> agreed = from_host(mine);
  switch (average) {
    case Average::kRank0:
      dist.broadcast(agreed, 0);
      break;
    case Average::kMean:
      dist.all_reduce(agreed, ReduceOp::AVG);
      break;
    case Average::kMin:
      dist.all_reduce(agreed, ReduceOp::MIN);
      break;
    case Average::kMax:
      dist.all_reduce(agreed, ReduceOp::MAX);
      break;
  }
  return to_host(agreed);
}

/// While it lives, this rank's calls are timed: see set_timed() in backend.h.
class TimedCalls {
 public:
  explicit TimedCalls(Comm& dist) : dist_(dist) { set_timed(dist_, true); }
  ~TimedCalls() { set_timed(dist_, false); }
  TimedCalls(const TimedCalls&) = delete;
  TimedCalls& operator=(const TimedCalls&) = delete;

 private:
  Comm& dist_;
};

/// One rank's part in measuring one contest.
class Measurement {
 public:
  Measurement(Comm& dist, Contest& contest, const Plan& plan, const Marks& marks,
              std::int64_t pool_bytes)
      : dist_(dist), contest_(contest), plan_(plan), marks_(marks), pool_bytes_(pool_bytes) {
    for (std::size_t i = 0; i < contest.size(); ++i) {
      const Row& row = contest[i].row;
      if (!row.failure && row.skipped.empty()) active_.push_back(i);
    }
  }

  void run() {
    if (active_.empty()) return;
    for (const std::size_t i : active_) check(i);
    std::erase_if(active_, [this](std::size_t i) { return contest_[i].row.failure.has_value(); });
    if (active_.empty()) return;
    // Competing jobs share them.
    pool_.emplace(part_of(contest_[active_.front()], dist_.rank()), pool_bytes_);
    std::vector<Pace> paces;
    for (const std::size_t i : active_) paces.push_back(warm_up(i));
    take_turns(paces);
  }

 private:
  struct Pace {
    int calls = 1;
    int iterations = 1;
    int single_calls = 0;  // after each iteration
  };

  /// Synchronizes all ranks: earlier calls are done, and job `i` is next.
  void synchronize_before(std::size_t i) {
    marks_.announce(i);
    dist_.synchronize();
    dist_.barrier();
    dist_.synchronize();
    marks_.enter(i);
  }

  /// Synchronizes after a learner's job, so that a rank that hangs or dies does so while the job is
  /// announced.
  void synchronize_after(std::size_t i) {
    if (contest_[i].row.whose != Whose::kYours) return;
    dist_.barrier();
    marks_.leave();
  }

  void call(std::size_t i, Buffers& buffers) {
    InterruptGuard::check();
    contest_[i].algorithm.call(dist_, buffers, contest_[i].settings);
  }

  /// The sandbox has already checked the results (judge_contest() in backend.h).
  void check(std::size_t i) {
    Row& row = contest_[i].row;
    if (plan_.checks == 0 || row.wrong) return;
    const RankPart part = part_of(contest_[i], dist_.rank());
    std::int64_t sum = 0;
    for (int round = 0; round < plan_.checks; ++round) {
      Buffers buffers = make_buffers(part);
      fill_input(buffers, part);
      synchronize_before(i);
      call_once(i, buffers);
      synchronize_after(i);
      auto wrong = from_host({count_wrong(buffers, part)});
      dist_.all_reduce(wrong, ReduceOp::SUM);
      sum += to_host(wrong).front();
    }
    row.wrong = sum;
    fail_if_wrong(row);
  }

  /// A native collective runs as it is timed. Other algorithms keep their records, in case they
  /// fail.
  void call_once(std::size_t i, Buffers& buffers) {
    std::optional<TimedCalls> timed;
    if (contest_[i].row.whose == Whose::kNative) timed.emplace(dist_);
    call(i, buffers);
    dist_.synchronize();
  }

  /// As in nccl-tests, -m makes groups. A barrier cannot be in one, because the host waits for it;
  /// nor can other algorithms, whose calls wait for each other.
  bool is_grouped(std::size_t i, int calls) const {
    const Row& row = contest_[i].row;
    return plan_.calls && calls > 1 && row.whose == Whose::kNative &&
           row.collective != CollectiveKind::kBarrier;
  }

  /// @param iterations back to back
  double time_calls(std::size_t i, int calls, int iterations = 1) {
    const auto call_all = [&] {
      for (int k = 0; k < calls; ++k) call(i, pool_->next());
    };
    double seconds = 0;
    synchronize_before(i);
    {
      const TimedCalls timed(dist_);
      const double begin = now();
      for (int iteration = 0; iteration < iterations; ++iteration)
        is_grouped(i, calls) ? call_in_group(dist_, call_all) : call_all();
      dist_.synchronize();
      seconds = now() - begin;
    }
    synchronize_after(i);
    pool_->restore();
    return seconds;
  }

  /// The fastest call determines the calls per iteration and the number of iterations. All ranks
  /// must agree, so they use the slowest rank's value.
  Pace warm_up(std::size_t i) {
    double quickest = std::numeric_limits<double>::infinity();
    for (int k = 0; k < std::max(plan_.warmup, 1); ++k) {
      quickest = std::min(quickest, time_calls(i, 1));
    }
    const double one_call = std::max(agree(dist_, {quickest}, Average::kMax).front(), 1e-9);
    Pace pace;
    pace.calls = plan_.calls.value_or(
        static_cast<int>(std::clamp(kIterationSeconds / one_call, 1.0, double{kMostCalls})));
    pace.iterations = plan_.iterations.value_or(
        static_cast<int>(std::clamp(kRowSeconds / (pace.calls * one_call),
                                    double{kFewestIterations}, double{kMostIterations})));
    if (pace.calls > 1) {
      pace.single_calls =
          plan_.iterations ? 1 : (kSingleCalls + pace.iterations - 1) / pace.iterations;
    }
    return pace;
  }

  /// Times iteration `round` of the k-th job that has not failed, if that job has one.
  void iterate(std::size_t k, int round, const Pace& pace) {
    if (round >= pace.iterations) return;
    samples_[k].push_back(time_calls(active_[k], pace.calls) / pace.calls);
    for (int call = 0; call < pace.single_calls; ++call) {
      singles_[k].push_back(time_calls(active_[k], 1));
    }
  }

  /// As nccl-tests do by default: all iterations in one interval, and the mean over ranks.
  double mean_seconds(std::size_t i, const Pace& pace) {
    const double seconds = time_calls(i, pace.calls, pace.iterations);
    return agree(dist_, {seconds / pace.calls / pace.iterations}, Average::kMean).front();
  }

  void take_turns(const std::vector<Pace>& paces) {
    const std::size_t jobs = active_.size();
    samples_.resize(jobs);
    singles_.resize(jobs);
    const int rounds = std::ranges::max(paces, {}, &Pace::iterations).iterations;
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t step = 0; step < jobs; ++step) {
        const std::size_t k = round % 2 == 0 ? step : jobs - 1 - step;
        iterate(k, round, paces[k]);
      }
    }
    for (std::size_t k = 0; k < jobs; ++k) {
      Row& row = contest_[active_[k]].row;
      const std::vector<double> iterations = agree(dist_, samples_[k], plan_.average);
      // Iterations of one call are single calls.
      const std::vector<double> singles =
          singles_[k].empty() ? iterations : agree(dist_, singles_[k], plan_.average);
      row.time = summarize(iterations);
      row.latency_seconds = quantile(singles, 0.5);
      row.p99_seconds = quantile(singles, 0.99);
      if (row.whose == Whose::kNative && backend_name() == std::string_view("nccl"))
        row.mean_seconds = mean_seconds(active_[k], paces[k]);
    }
  }

  Comm& dist_;
  Contest& contest_;
  const Plan& plan_;
  const Marks& marks_;
  std::vector<std::size_t> active_;  // jobs that have not failed
  const std::int64_t pool_bytes_;
  std::optional<BufferPool> pool_;
  std::vector<std::vector<double>> samples_;  // [active job][iteration] seconds of a call
  std::vector<std::vector<double>> singles_;  // [active job] seconds of a single call
};

}  // namespace

void measure(Comm& dist, Contest& contest, const Plan& plan, const Marks& marks,
             std::int64_t pool_bytes) {
  Measurement(dist, contest, plan, marks, pool_bytes).run();
}

double quantile(std::vector<double> samples, double q) {
  std::ranges::sort(samples);
  const double position = q * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, samples.size() - 1);
  return samples[below] +
         (position - static_cast<double>(below)) * (samples[above] - samples[below]);
}

Times summarize(const std::vector<double>& seconds) {
  return {quantile(seconds, 0.5), quantile(seconds, 0.25), quantile(seconds, 0.75),
          static_cast<std::int64_t>(seconds.size())};
}

}  // namespace rankbox::cli
