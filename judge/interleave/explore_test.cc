// Verdicts on small programs (programs_for_test.h): the right ones, and always the same ones.
#include "judge/interleave/explore.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <doctest/doctest.h>

#include "comm/errors.h"
#include "judge/interleave/programs_for_test.h"
#include "tests/support/run_tests.h"
#include "tests/support/text.h"

namespace rankbox::interleave {
namespace {

struct Row {
  const char* name;
  const char* problem;        // in the verdict; "": right in every schedule
  int most;                   // executions, at most
  bool is_exhaustive = true;  // of a right one
};

constexpr Row kRows[] = {
    {"lost_update", "value 1", 10},
    {"with_mutex", "", 4},
    {"other_mutexes", "value 1", 10},
    {"guard_is_temporary", "value 1", 10},
    {"recursive_mutex", "", 4},
    {"locked_twice", "which it holds itself", 4},
    {"two_orders", "which thread 2 holds; thread 2 waits for lock", 10},
    {"scoped_lock_of_two", "", 850, false},
    {"compare_and_swap", "", 10},
    {"fetch_add", "", 4},
    {"atomic_but_two_steps", "value 1", 10},
    {"spin_lock", "", 10},
    {"spin_lock_that_yields", "", 20},
    {"broken_spin_lock", "value 1", 30},
    {"plain_flag", "value 1", 30},
    {"ticket_lock", "", 20},
    {"peterson_right", "", 40},
    {"peterson_without_turn", "value 1", 40},
    {"double_checked", "", 20},
    {"checked_once", "value 4", 20},
    {"call_once", "", 10},
    {"local_static", "", 10},
    {"condition", "", 10},
    {"lost_wake_up", "waits for a notification of condition", 10},
    {"waits_some_time", "", 10},
    {"semaphore_of_one", "", 4},
    {"semaphore_of_two", "value 1", 10},
    {"semaphore_of_none", "which is 0", 4},
    {"standard_semaphore", "", 200},
    {"barrier", "", 100},
    {"posix_barrier", "", 10},
    {"barrier_before_both", "value 1", 10},
    {"latch", "", 40},
    {"shared_mutex_for_writers", "", 4},
    {"shared_mutex_for_readers", "value 1", 10},
    {"future", "", 10},
    {"futures_at_once", "value 1", 20},
    {"sleeps_between", "value 1", 10},
    {"one_after_the_other", "", 4},
    {"detached", "value", 10},
    {"try_lock_loop", "", 20},
    {"try_lock_ignored", "value 1", 20},
    {"spins_for_ever", "waits in a loop", 4},
    {"shared_pointer", "", 20},
    {"stop_token", "", 60},
    {"exit_of_thread", "", 4},
    {"seldom", "value 1", 40},
    {"mutex_polled", "", 850, false},
    {"turns_polled", "", 850, false},
    {"future_waits_some_time", "", 50},
    {"barrier_of_three", "", 400},
};

struct Library {
  std::vector<ProgramForTest> programs;
  long* value = nullptr;
};

const Library& library() {
  static const Library loaded = [] {
    Library found;
    void* opened = dlopen("judge/interleave/programs_for_test.so", RTLD_NOW);
    REQUIRE_MESSAGE(opened != nullptr, dlerror());
    const auto programs =
        reinterpret_cast<decltype(&programs_for_test)>(dlsym(opened, "programs_for_test"));
    const ProgramForTest* first = nullptr;
    const int count = programs(&first);
    found.programs.assign(first, first + count);
    found.value = reinterpret_cast<decltype(&value_for_test)>(dlsym(opened, "value_for_test"))();
    return found;
  }();
  return loaded;
}

MakeProgram program(const std::string& name) {
  void (*run)() = nullptr;
  for (const ProgramForTest& each : library().programs) {
    if (each.name == name) run = each.run;
  }
  const bool is_found = run != nullptr;
  REQUIRE_MESSAGE(is_found, name);
  return [run] {
    return Program{[run] {
                     *library().value = 0;
                     run();
                   },
                   [] {
                     const long value = *library().value;
                     return value == 2 ? "" : "value " + std::to_string(value);
                   }};
  };
}

}  // namespace

TEST_CASE("every program of the library is judged") {
  CHECK(library().programs.size() == std::size(kRows));
}

TEST_CASE("right programs pass in every schedule, wrong ones fail, in few executions") {
  for (const Row& row : kRows) {
    if (!testing::wants_row(row.name)) continue;
    const Verdict verdict = explore(program(row.name), {});
    CAPTURE(std::string(row.name));
    CAPTURE(verdict.problem);
    CAPTURE(verdict.schedule);
    CAPTURE(verdict.executions);
    CHECK(verdict.problem.empty() == (*row.problem == '\0'));
    CHECK(testing::contains(verdict.problem, row.problem));
    CHECK(verdict.executions <= row.most);
    if (verdict.problem.empty()) CHECK(verdict.is_exhaustive == row.is_exhaustive);
  }
}

TEST_CASE("a verdict is the same every time") {
  for (const Row& row : kRows) {
    if (!testing::wants_row(row.name) || row.most > 100) continue;
    const Verdict first = explore(program(row.name), {});
    for (int again = 1; again < 20; ++again) {
      const Verdict verdict = explore(program(row.name), {});
      CAPTURE(std::string(row.name));
      CHECK(verdict.problem == first.problem);
      CHECK(verdict.schedule == first.schedule);
      CHECK(verdict.executions == first.executions);
    }
  }
}

TEST_CASE("a schedule that goes wrong goes wrong again, step by step") {
  for (const Row& row : kRows) {
    if (!testing::wants_row(row.name) || *row.problem == '\0') continue;
    const Verdict verdict = explore(program(row.name), {});
    const Verdict again = replay(program(row.name), {}, verdict.schedule);
    CAPTURE(std::string(row.name));
    CAPTURE(verdict.schedule);
    CHECK(again.problem == verdict.problem);
    CHECK(again.steps.size() == verdict.steps.size());
  }
}

TEST_CASE("an object keeps its number, which no other of its kind has") {
  for (const Row& row : kRows) {
    if (!testing::wants_row(row.name) || *row.problem == '\0') continue;
    CAPTURE(std::string(row.name));
    std::map<std::pair<std::string, const void*>, std::int64_t> numbers;
    std::map<std::string, std::int64_t> objects;  // of each noun
    for (const Step& step : explore(program(row.name), {}).steps) {
      std::string noun = noun_of(step.operation.action);
      if (step.operation.action == Action::kTryLock) noun = "lock";
      if (noun.empty()) continue;
      const auto [number, is_new] = numbers.try_emplace({noun, step.operation.place}, 0);
      if (is_new) number->second = ++objects[noun];
      CAPTURE(noun);
      CHECK(step.number == number->second);
    }
  }
}

TEST_CASE("random schedules alone find a lost update, and pass what is right") {
  Limits limits;
  limits.executions = 0;
  limits.random = 100;
  for (const char* name : {"lost_update", "other_mutexes", "seldom", "checked_once"}) {
    const Verdict verdict = explore(program(name), limits);
    CAPTURE(std::string(name));
    CHECK(testing::contains(verdict.problem, "value"));
    CHECK(replay(program(name), limits, verdict.schedule).problem == verdict.problem);
  }
  for (const char* name : {"with_mutex", "spin_lock", "ticket_lock", "condition", "barrier"})
    CHECK(explore(program(name), limits).problem == "");
}

TEST_CASE("threads of the system get the same verdicts as fibers") {
  Limits limits;
  limits.real_threads = true;
  for (const char* name : {"lost_update", "with_mutex", "seldom", "condition", "exit_of_thread"}) {
    const Verdict verdict = explore(program(name), limits);
    const Verdict fibers = explore(program(name), {});
    CAPTURE(std::string(name));
    CHECK(verdict.problem == fibers.problem);
    CHECK(verdict.schedule == fibers.schedule);
    CHECK(verdict.executions == fibers.executions);
  }
}

TEST_CASE("schedules are text and back") {
  for (const std::vector<int>& schedule :
       {std::vector<int>{0}, {0, 0, 0, 1, 0, 2, 2}, {10, 10, 3}}) {
    CHECK(schedule_of(text_of(schedule)) == schedule);
  }
  CHECK(text_of({0, 0, 0, 1, 0, 0}) == "0x3.1.0x2");
  for (const char* wrong : {"", "x", "1x", "a", "0..1", "-1", "1x-2", "0x3,1"})
    CHECK_THROWS_AS(schedule_of(wrong), InvalidArgument);
}

}  // namespace rankbox::interleave
