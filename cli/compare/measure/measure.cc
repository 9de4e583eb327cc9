#include "cli/compare/measure/measure.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "cli/compare/plan/row_failure.h"
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
constexpr int kSingleCalls = 11;

/// Combines all ranks' numbers into one. A collective.
double agree(Comm& dist, double mine, Average average) {
  TensorOf<double> agreed = full<double>({1}, mine);
  switch (average) {
    case Average::kRank0:
      dist.broadcast(agreed, 0);
      return to_host(agreed).front();
    case Average::kMean:
      dist.all_reduce(agreed, ReduceOp::SUM);
      return to_host(agreed).front() / dist.world_size();
    case Average::kMin:
      dist.all_reduce(agreed, ReduceOp::MIN);
      return to_host(agreed).front();
    case Average::kMax:
      dist.all_reduce(agreed, ReduceOp::MAX);
      return to_host(agreed).front();
  }
  return mine;
}

/// Interpolates linearly between samples. REQUIRES: sorted, not empty.
double quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Times summarize(std::vector<double> seconds) {
  std::ranges::sort(seconds);
  return {quantile(seconds, 0.5), quantile(seconds, 0.25), quantile(seconds, 0.75),
          static_cast<std::int64_t>(seconds.size())};
}

/// One rank's part in measuring one contest.
class Measurement {
 public:
  Measurement(Comm& dist, Contest& contest, const Plan& plan, const Marks& marks)
      : dist_(dist), contest_(contest), plan_(plan), marks_(marks) {
    for (std::size_t i = 0; i < contest.size(); ++i) {
      if (!contest[i].row.failure) active_.push_back(i);
    }
  }

  void run() {
    if (active_.empty()) return;
    for (const std::size_t i : active_) check(i);
    std::erase_if(active_, [this](std::size_t i) { return contest_[i].row.failure.has_value(); });
    if (active_.empty()) return;
    make_shared_buffers();
    std::vector<Pace> paces;
    for (const std::size_t i : active_) paces.push_back(warm_up(i));
    take_turns(paces);
  }

 private:
  struct Pace {
    int calls = 1;
    int iterations = 1;
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
    std::int64_t sum = 0;
    for (int round = 0; round < plan_.checks; ++round) {
      Buffers buffers =
          make_buffers(row.collective, dist_.rank(), row.world_size, row.elements, 0, plan_.root);
      fill_input(row.collective, buffers, dist_.rank(), row.op);
      synchronize_before(i);
      call(i, buffers);
      dist_.synchronize();
      synchronize_after(i);
      auto wrong = from_host({count_wrong(row.collective, buffers, dist_.rank(), row.world_size,
                                          row.elements, row.op, plan_.root)});
      dist_.all_reduce(wrong, ReduceOp::SUM);
      sum += to_host(wrong).front();
    }
    row.wrong = sum;
    fail_if_wrong(row);
  }

  /// Competing jobs share memory. Ones stay ones under PRODUCT, MAX, MIN and AVG, and zeros stay
  /// zeros under SUM, so repeated calls give no infinities.
  void make_shared_buffers() {
    const Row& row = contest_[active_.front()].row;
    const float value = row.op == ReduceOp::SUM ? 0.0f : 1.0f;
    buffers_ =
        make_buffers(row.collective, dist_.rank(), row.world_size, row.elements, value, plan_.root);
  }

  double time_calls(std::size_t i, int calls) {
    synchronize_before(i);
    const double begin = now();
    for (int k = 0; k < calls; ++k) call(i, buffers_);
    dist_.synchronize();
    const double seconds = now() - begin;
    synchronize_after(i);
    return seconds;
  }

  /// The fastest call determines the calls per iteration and the number of iterations. All ranks
  /// must agree, so they use the slowest rank's value.
  Pace warm_up(std::size_t i) {
    double quickest = std::numeric_limits<double>::infinity();
    for (int k = 0; k < std::max(plan_.warmup, 1); ++k) {
      quickest = std::min(quickest, time_calls(i, 1));
    }
    const double one_call = std::max(agree(dist_, quickest, Average::kMax), 1e-9);
    Pace pace;
    pace.calls = plan_.calls.value_or(
        static_cast<int>(std::clamp(kIterationSeconds / one_call, 1.0, double{kMostCalls})));
    pace.iterations = plan_.iterations.value_or(
        static_cast<int>(std::clamp(kRowSeconds / (pace.calls * one_call),
                                    double{kFewestIterations}, double{kMostIterations})));
    return pace;
  }

  /// Times iteration `round` of the k-th job that has not failed, if that job has one.
  void iterate(std::size_t k, int round, const Pace& pace) {
    if (round >= pace.iterations) return;
    samples_[k].push_back(time_calls(active_[k], pace.calls) / pace.calls);
    if (pace.calls == 1 || round >= kSingleCalls) return;
    singles_[k].push_back(time_calls(active_[k], 1));
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
      row.time = summarize(of_all_ranks(samples_[k]));
      row.latency_seconds =
          singles_[k].empty() ? row.time->median : summarize(of_all_ranks(singles_[k])).median;
    }
  }

  std::vector<double> of_all_ranks(const std::vector<double>& mine) {
    std::vector<double> all;
    for (const double seconds : mine) all.push_back(agree(dist_, seconds, plan_.average));
    return all;
  }

  Comm& dist_;
  Contest& contest_;
  const Plan& plan_;
  const Marks& marks_;
  std::vector<std::size_t> active_;  // jobs that have not failed
  Buffers buffers_;
  std::vector<std::vector<double>> samples_;  // [active job][iteration] seconds of a call
  std::vector<std::vector<double>> singles_;  // [active job] seconds of a single call
};

}  // namespace

void measure(Comm& dist, Contest& contest, const Plan& plan, const Marks& marks) {
  Measurement(dist, contest, plan, marks).run();
}

}  // namespace rankbox::cli
