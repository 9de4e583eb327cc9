// The families of chapter 1: a race, messages between two ranks, and a barrier.
#include <algorithm>
#include <tuple>
#include <type_traits>

#include <fmt/format.h>

#include "collectives/barrier_dissemination.h"
#include "collectives/exchange.h"
#include "collectives/ping_pong.h"
#include "collectives/race.h"
#include "collectives/shared_value.h"
#include "judge/case_lists.h"
#include "judge/checks.h"
#include "judge/collectives/families.h"
#include "judge/compare.h"
#include "judge/inputs.h"
#include "judge/race/explore_race.h"
#include "judge/race/judge_race.h"
#include "judge/race/steps_table.h"
#include "judge/salt.h"

namespace rankbox {

namespace {

// 1. The race: threads update one shared value, and no update may be lost.

constexpr int kThreadsOfLargeValue = 8;

/// Not 0: the program must start from the given value. Once it is one that needs 64 bits.
std::int64_t value_before(const Case& example) {
  const std::int64_t small = drawn("shared value", 1000, -1'000'000, 1'000'000);
  return example.threads == kThreadsOfLargeValue ? small * 5'000'000'007 : small;
}

std::vector<Case> cases_of_race() {
  const auto uneven = static_cast<int>(2 + 4 * drawn("uneven threads", 1, 1, 7));
  std::vector<Case> cases;
  for (std::int64_t repeats : {0, 1, 2, 1000, 3000}) {
    for (int threads : {2, 4, uneven, 8, 64}) {
      if (repeats == 2 && threads != 2) continue;
      if ((threads == uneven && repeats == 3000) || (threads == 64 && repeats != 1)) continue;
      // Where runs are only watched, one correct run proves nothing. A race is more likely to show
      // in a longer run.
      const std::size_t times = repeats >= 1000 ? 3 : 1;
      cases.insert(cases.end(), times, Case{.threads = threads, .repeats = repeats});
    }
  }
  return cases;
}

constexpr std::size_t kLongestReplay = 100;

/// Returns the address of the first store that undid another one; null if there is none.
const void* losing_store(const RaceRun& run, const interleave::Verdict& verdict) {
  constexpr std::int64_t kMostUpdates = 20'000;  // whose steps fit into the learner's memory
  const bool is_recorded = !verdict.steps.empty();
  if (verdict.ending != interleave::Ending::kDone) return nullptr;
  if (!is_recorded && run.threads * run.repeats > kMostUpdates) return nullptr;
  const std::vector<StepRow> rows =
      rows_of(is_recorded ? verdict.steps : replay_race(run, verdict.schedule).steps, run.before);
  const auto lost = std::ranges::find_if(rows, &StepRow::overwrote);
  return lost == rows.end() ? nullptr : lost->code;
}

/// Judges all schedules of the run, or a fixed list of them.
std::optional<Difference> explore(const RaceRun& run) {
  // The same run again has the same schedules: the list of cases repeats the long ones.
  static std::tuple<RaceFunction, std::int64_t, int, std::int64_t> right;
  const std::tuple key(run.function, run.before, run.threads, run.repeats);
  if (right == key) return std::nullopt;
  // A lock that polls takes many more steps than a mutex: then the longest runs are left out.
  constexpr std::int64_t kMostSteps = 4'000'000;
  static std::pair<RaceFunction, std::int64_t> steps;
  if (steps.first != run.function) steps = {run.function, 0};
  if (steps.second > kMostSteps && run.repeats > 2) return std::nullopt;
  const interleave::Verdict verdict = explore_race(run);
  steps.second += verdict.length;
  if (verdict.problem.empty()) {
    right = key;
    return std::nullopt;
  }
  using enum interleave::Ending;
  Difference difference = {"the shared value", -1, "no update is lost", verdict.problem, {}};
  difference.code = losing_store(run, verdict);
  if (verdict.ending == kDeadlock) {
    difference.what = "the threads";
    difference.expected = "all of them end";
    difference.kind = FailureKind::kDeadlock;
  } else if (verdict.ending == kLivelock) {
    difference.what = "the threads";
    difference.expected = "all of them end";
    difference.kind = FailureKind::kTimeout;
  }
  const std::string replay = replay_text(run, verdict.schedule);
  difference.hint = {
      "step-by-step",
      fmt::format("step by step: ./rankbox race FILE {}",
                  replay.size() <= kLongestReplay ? "--replay " + replay : "--step")};
  return difference;
}

std::optional<Difference> run_race(RaceFunction function, Comm& /*dist*/, const Case& example) {
  const std::int64_t before = value_before(example);
  if (can_explore(function)) return explore({function, before, *example.threads, *example.repeats});
  SharedValue value(before);
  function(value, *example.threads, *example.repeats);

  const auto wrong = what_is_wrong(value, before, *example.threads, *example.repeats);
  if (!wrong) return std::nullopt;
  return Difference{"the shared value", -1, "no update is lost", *wrong, {}};
}

// 2. Two ranks: the first is paired with the last, the second with the last but one, and so on; for
// some counts neighbours are. In a world of odd size one rank is its own partner.

int partner_of(int rank, const Case& example) {
  if (*example.count % 4 != 2) return example.world_size - 1 - rank;
  const int neighbour = rank ^ 1;
  return neighbour < example.world_size ? neighbour : rank;
}

/// Many elements.
std::vector<Case> far_pairs() { return {{.world_size = 3, .count = far_count()}}; }

/// Every rank with a partner sends one message.
/// @param steps of the longest chain
RunCheck check_of_pairs(int steps) {
  return number_check(
      [](const Case& example) -> std::int64_t { return example.world_size / 2 * 2; },
      {"one-message-each", "each of two partners sends the other one message, and no other rank"},
      [steps](const Case& example) -> double { return example.world_size > 1 ? steps : 0; });
}

static_assert(std::is_same_v<RaceFunction, decltype(&rankbox::race)>);
using PingPong = decltype(&rankbox::ping_pong);

std::optional<Difference> run_ping_pong(PingPong function, Comm& dist, const Case& example) {
  const int partner = partner_of(dist.rank(), example);
  const int server = std::min(dist.rank(), partner);

  Tensor tensor = shaped(elements_of(dist.rank(), *example.count));
  const Shape shape = tensor.shape();
  function(dist, tensor, partner);
  if (auto difference = compare_shape("tensor", tensor.shape(), shape)) return difference;
  return compare_moved("tensor", tensor, *example.count, example.world_size,
                       [&](std::int64_t i) { return element(server, i); });
}

/// Measures round trips of three sizes, and derives α and β.
std::string remark_on_ping_pong(const std::function<double(const Case&)>& seconds_of) {
  // Half a round trip takes α + nβ. Two sizes determine the line; the third tests it.
  constexpr std::int64_t kShort = 1;
  constexpr std::int64_t kMiddle = 750;
  constexpr std::int64_t kLong = 4096;
  const double shortest = seconds_of({.world_size = 2, .count = kShort});
  const double middle = seconds_of({.world_size = 2, .count = kMiddle});
  const double longest = seconds_of({.world_size = 2, .count = kLong});
  const double beta = (longest - shortest) / 2 / ((kLong - kShort) * kElementBytes);
  const double alpha = shortest / 2 - kShort * kElementBytes * beta;
  return fmt::format(
      "there and back on {}: {} B in {:.4f} µs, {} B in {:.4f} µs, {} B in {:.4f} µs\n"
      "the first and the last give α = {:.3g} µs, β = {:.3g} ns per byte; "
      "these give the middle one {:.4f} µs",
      Cluster().name, kShort * kElementBytes, 1e6 * shortest, kMiddle * kElementBytes, 1e6 * middle,
      kLong * kElementBytes, 1e6 * longest, 1e6 * alpha, 1e9 * beta,
      1e6 * 2 * (alpha + kMiddle * kElementBytes * beta));
}

using Exchange = decltype(&rankbox::exchange);

std::optional<Difference> run_exchange(Exchange function, Comm& dist, const Case& example) {
  const std::int64_t count = *example.count;
  const int partner = partner_of(dist.rank(), example);

  const Tensor mine = shaped(elements_of(dist.rank(), count));
  Tensor theirs = shaped(poison(count));
  function(dist, mine, theirs, partner);

  if (auto difference = compare_shape("theirs", theirs.shape(), mine.shape())) return difference;
  if (auto difference = compare_unchanged("mine", mine, dist.rank(), count)) return difference;
  return compare_moved("theirs", theirs, count, example.world_size,
                       [&](std::int64_t i) { return element(partner, i); });
}

// 3. The barrier: no rank leaves before all have entered. One rank, the root, enters an hour of
// virtual time after the others. A rank that leaves with less than an hour on its clock did not
// wait. Clocks depend on messages and not on thread timing, so every early exit is detected.

using Barrier = decltype(&barrier_dissemination);

constexpr double kLate = 3600;  // virtual seconds

std::vector<Case> cases_of_barrier() {
  std::vector<Case> cases;
  for (int world_size : world_sizes()) {
    for (int late = 0; late < world_size; ++late)
      cases.push_back({.world_size = world_size, .root = late});
  }
  return cases;
}

std::vector<Case> far_cases_of_barrier() {
  return {{.world_size = far_world(), .root = far_world() / 2}};
}

std::optional<Difference> run_barrier(Barrier function, Comm& dist, const Case& example) {
  if (dist.rank() == *example.root) dist.compute(kLate);
  function(dist);
  return std::nullopt;
}

std::optional<Difference> compare_clocks(const RunReport& report, const Case& example) {
  // A rank is late in each of several calls.
  std::int64_t calls = 0;
  for (const std::vector<Event>& events : report.trace.ranks)
    calls += std::ranges::count(events, kLate, &Event::seconds);
  for (std::size_t rank = 0; rank < report.clocks.size(); ++rank) {
    if (report.clocks[rank].seconds >= kLate * static_cast<double>(calls)) continue;
    return Difference{
        "the barrier",
        -1,
        fmt::format("rank {} leaves after rank {} came", rank, *example.root),
        fmt::format("rank {} left before rank {} came", rank, *example.root),
        {"news-of-every-rank", "news of every rank has to reach every other, directly or not"},
        static_cast<int>(rank)};
  }
  return std::nullopt;
}

}  // namespace

namespace family {

Family race() {
  return make_family<RaceFunction>("race",
                                   "(SharedValue& value, int threads, std::int64_t repeats)",
                                   {.cases = cases_of_race, .sends_messages = false}, run_race);
}

Family ping_pong() {
  return family_with_form<PingPong>("ping_pong", "(Comm& dist, Tensor& tensor, int partner)",
                                    {.cases = cases_by_count,
                                     .far_cases = far_pairs,
                                     .checks = {check_of_pairs(2)},
                                     .remark = remark_on_ping_pong},
                                    run_ping_pong);
}

Family exchange() {
  return family_with_form<Exchange>(
      "exchange", "(Comm& dist, const Tensor& mine, Tensor& theirs, int partner)",
      {.cases = cases_by_count, .far_cases = far_pairs, .checks = {check_of_pairs(1)}},
      run_exchange);
}

Family barrier() {
  return family_with_form<Barrier>("barrier", "(Comm& dist)",
                                   {.cases = cases_of_barrier,
                                    .far_cases = far_cases_of_barrier,
                                    .checks = {check_of(FailureKind::kValues, compare_clocks)},
                                    .is_barrier = true},
                                   run_barrier);
}

}  // namespace family

}  // namespace rankbox
