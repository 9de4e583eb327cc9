// One run without buffers decides all schedules (docs/semantics.md). Every schedule of 1,000 small
// random programs is run; half of them are broken.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/program_walker.h"
#include "tests/sim/random_program.h"
#include "tests/sim/reference_model.h"
#include "tests/sim/run_program.h"
#include "tests/sim/turns.h"
#include "tests/support/executors.h"

namespace rankbox::testing {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kPrograms = 200;
#else
constexpr int kPrograms = 1000;
#endif
constexpr int kMostSchedules = 60;  // a program with more is too large: the next one is taken

/// While it lives, ranks are fibers.
class OnFibers {
 public:
  OnFibers() { current_executor = ExecutorKind::kFibers; }
  ~OnFibers() { current_executor = before_; }
  OnFibers(const OnFibers&) = delete;
  OnFibers& operator=(const OnFibers&) = delete;

 private:
  ExecutorKind before_ = current_executor;
};

RunOptions on_one_thread() {
  RunOptions options;
  options.fiber_threads = 1;
  return options;
}

/// Runs the program under one schedule.
ProgramRun run_in_turns(const Program& program, Turns& turns) {
  turns.begin(program.world_size);
  return run_program(program, on_one_thread(), [&](Comm& dist) {
    struct End {
      ~End() { turns.end(rank); }
      Turns& turns;
      int rank;
    } end{turns, dist.rank()};
    return walk(program, dist, [&] { turns.wait_for_turn(end.rank); });
  });
}

bool is_one_of(const Verdict& verdict, const std::vector<Verdict>& all) {
  return std::find(all.begin(), all.end(), verdict) != all.end();
}

/// What the schedules of one program came to.
struct Explored {
  int schedules = 0;
  std::vector<Verdict> verdicts;                               // each once
  std::set<std::vector<std::vector<std::uint64_t>>> received;  // by those that ended well
};

Explored explore(const Program& program) {
  Explored explored;
  explored.schedules = for_each_order(kMostSchedules + 1, [&](Turns& turns) {
    const ProgramRun run = run_in_turns(program, turns);
    if (!is_one_of(run.verdict, explored.verdicts)) explored.verdicts.push_back(run.verdict);
    if (run.verdict.kind == OutcomeKind::kOk) explored.received.insert(run.received);
  });
  return explored;
}

TEST_CASE("all schedules of a program end as its one run does, whatever is buffered") {
  const OnFibers on_fibers;
  std::map<OutcomeKind, int> seen;
  int programs = 0;
  for (std::uint64_t seed = 1; programs < kPrograms; ++seed) {
    Program program = seed % 2 == 0 ? matched_program(seed, 3, 4) : broken_program(seed, 3, 4);
    program.schedule = 0;
    program.buffering = Buffering::rendezvous();
    if (program.world_size == 1) continue;
    const Explored explored = explore(program);
    if (explored.schedules > kMostSchedules) continue;
    ++programs;
    CAPTURE(to_string(program));

    const Prediction prediction = predict(program);
    for (const Verdict& verdict : explored.verdicts) {
      CAPTURE(to_string(verdict));
      CHECK(is_one_of(verdict, prediction.possible));
      ++seen[verdict.kind];
    }

    const ProgramRun one = run_program(program, on_one_thread());
    CHECK(is_one_of(one.verdict, explored.verdicts));
    if (one.verdict.kind != OutcomeKind::kOk) continue;
    CHECK(explored.verdicts == std::vector<Verdict>{Verdict{}});
    CHECK(explored.received.size() == 1);
    // 40 bytes: some messages fit, others do not.
    for (const Buffering buffering : {Buffering::eager(40), Buffering::unbounded()}) {
      program.buffering = buffering;
      const Explored buffered = explore(program);
      CHECK(buffered.verdicts == std::vector<Verdict>{Verdict{}});
      CHECK(buffered.received == explored.received);
    }
  }
  CHECK(seen.size() == 6);
}

TEST_CASE("ranks that share a variable end in more than one way: the premise is needed") {
  const OnFibers on_fibers;
  Program program;
  program.world_size = 2;
  program.ranks.resize(2);
  std::set<OutcomeKind> ends;
  const int schedules = for_each_order(kMostSchedules, [&](Turns& turns) {
    turns.begin(2);
    bool is_told = false;
    const ProgramRun run = run_program(program, on_one_thread(), [&](Comm& dist) {
      Tensor tensor = zeros(1);
      turns.wait_for_turn(dist.rank());
      if (dist.rank() == 0) {
        is_told = true;
        turns.end(0);
        dist.recv(tensor, 1);
      } else if (is_told) {
        dist.send(tensor, 0);
      }
      turns.end(dist.rank());
      return std::vector<std::uint64_t>();
    });
    ends.insert(run.verdict.kind);
  });
  CHECK(schedules == 2);
  CHECK(ends == std::set{OutcomeKind::kOk, OutcomeKind::kDeadlock});
}

}  // namespace
}  // namespace rankbox::testing
