// Thousands of random programs, matched and broken, against the reference model.
//
// Each must end with the outcome and values of the model, and none may hang.
//
//   RANKBOX_STRESS_SEED=123  runs only the programs of that seed, many times
//   RANKBOX_STRESS_RUNS=500  runs this many programs of each kind
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tests/sim/random_program.h"
#include "tests/sim/reference_model.h"
#include "tests/sim/run_program.h"

namespace rankbox::testing {
namespace {

#if defined(RANKBOX_BACKEND_NCCL)
constexpr std::uint64_t kRuns = 150;  // an emulated GPU is slow
#elif defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kRuns = 600;
#else
constexpr std::uint64_t kRuns = 2000;
#endif
constexpr std::chrono::seconds kPatience{200};

// ---- Watching -------------------------------------------------------------------------------

/// Ends the process if one program runs for too long, and prints its seed.
class Watchdog {
 public:
  Watchdog() : thread_([this](const std::stop_token& stop) { watch(stop); }) {}

  void starts(const Program& program) {
    std::lock_guard guard(lock_);
    program_ = &program;
    deadline_ = std::chrono::steady_clock::now() + kPatience;
  }
  void ends() {
    std::lock_guard guard(lock_);
    program_ = nullptr;
  }

 private:
  void watch(const std::stop_token& stop) {
    std::unique_lock guard(lock_);
    while (!stop.stop_requested()) {
      wake_.wait_for(guard, stop, std::chrono::milliseconds(500), [] { return false; });
      if (program_ == nullptr || std::chrono::steady_clock::now() < deadline_) continue;
      std::fprintf(
          stderr, "\nstress_test: this program hangs; rerun it with RANKBOX_STRESS_SEED=%llu\n%s\n",
          static_cast<unsigned long long>(program_->seed), to_string(*program_).c_str());
      std::abort();
    }
  }

  std::mutex lock_;
  std::condition_variable_any wake_;
  const Program* program_ = nullptr;
  std::chrono::steady_clock::time_point deadline_;
  std::jthread thread_;
};

std::uint64_t environment(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

/// Calls body for every seed to run: `otherwise` seeds unless the environment sets the number. If
/// it sets one seed, calls body that often with that seed.
template <class Body>
void for_each_seed(std::uint64_t otherwise, Body body) {
  const std::uint64_t runs = environment("RANKBOX_STRESS_RUNS", otherwise);
  const std::uint64_t seed = environment("RANKBOX_STRESS_SEED", 0);
  for (std::uint64_t i = 1; i <= runs; ++i) body(seed == 0 ? i : seed);
}

/// Checks one program. Returns false if it did not end as predicted.
bool ends_as_predicted(const Program& program, Watchdog& watchdog,
                       std::map<OutcomeKind, int>& seen) {
  const Prediction prediction = predict(program);
  watchdog.starts(program);
  const ProgramRun got = run_program(program);
  watchdog.ends();
  ++seen[got.verdict.kind];

  const auto& possible = prediction.possible;
  bool right = std::find(possible.begin(), possible.end(), got.verdict) != possible.end();
  if (got.verdict.kind == OutcomeKind::kOk) right = right && got.received == prediction.received;
  if (right) return true;

  std::string predicted;
  for (const Verdict& verdict : possible) predicted += "\n  or " + to_string(verdict);
  FAIL_CHECK("rerun with RANKBOX_STRESS_SEED=" << program.seed << "\n"
                                               << to_string(program) << "\npredicted:" << predicted
                                               << "\ngot: " << to_string(got.verdict) << "\n"
                                               << got.what);
  return false;
}

TEST_CASE("matched programs end well, with the right values, whatever the dial and the schedule") {
  Watchdog watchdog;
  std::map<OutcomeKind, int> seen;
  int wrong = 0;
  for_each_seed(kRuns, [&](std::uint64_t seed) {
    if (wrong >= 3) return;  // enough to read
    const Program program = matched_program(seed);
    REQUIRE(predict(program).possible == std::vector<Verdict>{Verdict{}});
    wrong += !ends_as_predicted(program, watchdog, seen);
  });
  CHECK(seen.size() == 1);
  CHECK(wrong == 0);
}

TEST_CASE("broken programs end as the reference model says") {
  Watchdog watchdog;
  std::map<OutcomeKind, int> seen;
  int wrong = 0;
  for_each_seed(kRuns, [&](std::uint64_t seed) {
    if (wrong >= 3) return;
    wrong += !ends_as_predicted(broken_program(seed), watchdog, seen);
  });
  CHECK(wrong == 0);
  // Checks the mix: every kind of outcome occurs.
  if (environment("RANKBOX_STRESS_RUNS", kRuns) >= 1000 &&
      environment("RANKBOX_STRESS_SEED", 0) == 0) {
    CHECK(seen.size() == 6);
  }
}

TEST_CASE("virtual time does not depend on the schedule") {
  Watchdog watchdog;
  for_each_seed(kRuns / 20, [&](std::uint64_t seed) {
    Program program = matched_program(seed);
    CAPTURE(seed);
    std::optional<RunReport> first;
    for (std::uint64_t schedule : {std::uint64_t{0}, seed, seed + 1}) {
      program.schedule = schedule;
      watchdog.starts(program);
      const ProgramRun got = run_program(program);
      watchdog.ends();
      if (!first) first = got.report;
      CHECK(got.report.virtual_seconds == first->virtual_seconds);
      CHECK(got.report.cost == first->cost);
      CHECK(got.report.messages == first->messages);
      CHECK(got.report.trace.groups == first->trace.groups);
    }
  });
}

}  // namespace
}  // namespace rankbox::testing
