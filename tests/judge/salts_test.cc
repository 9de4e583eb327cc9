// Right programs pass under every salt: the solutions, under many salts, a case of each.
//
// A judge whose inputs or tolerances refuse a right program once in a thousand salts shows here. By
// default a share of the salts is tried. All 2,000 of them, which takes long:
//   bazel test //tests/judge:salts_test --test_env=RANKBOX_SALTS=2000 --test_timeout=7200
// `race` is left out: its cases explore thousands of schedules, which takes too long.
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "judge/catalog.h"
#include "judge/salt.h"
#include "judge/verdict_text.h"
#include "solutions/table.h"
#include "training/random.h"

namespace rankbox {

namespace {

constexpr int kFewSalts = 20;

int salts_to_try() {
  const char* const wanted = std::getenv("RANKBOX_SALTS");
  return wanted == nullptr ? kFewSalts : std::atoi(wanted);
}

/// Sets a salt until the end of the scope.
struct Salted {
  explicit Salted(std::uint64_t salt) { set_salt(salt); }
  ~Salted() { set_salt(0); }
  Salted(const Salted&) = delete;
  Salted& operator=(const Salted&) = delete;
};

void check_solution(const Exercise& exercise, const std::string& example) {
  const AnyFunction solution = solution_of(exercise.name);
  const Verdict verdict = judge_exercise(exercise, solution, {.replay = example}, solution);
  CHECK_MESSAGE(verdict.passed(), "--salt ", salt(), " --replay ", example, "\n", to_text(verdict));
}

/// A salt and a case in which a solution once failed.
struct Refused {
  const char* exercise;
  std::uint64_t salt;
  const char* example;
};
constexpr Refused kRefused[] = {
    {"zero1", 8883939939631024, "world_size=8,count=160,steps=2"},
    {"zero2", 8883939939631024, "world_size=8,count=160,steps=2"},
    {"zero3", 8883939939631024, "world_size=8,count=160,steps=2"},
    {"expert_parallel_layer", 6676325840971708, "world_size=4,count=5"},
    {"pipeline_interleaved", 8225069789931655,
     "world_size=11,segments=11,count=23,steps=0,chunks=2"},
};

}  // namespace

TEST_CASE("what was refused once passes") {
  for (const Refused& refused : kRefused) {
    const Salted salted(refused.salt);
    check_solution(*find_exercise(refused.exercise), refused.example);
  }
}

TEST_CASE("every solution passes a case of each salt") {
  const Random salts(31);
  for (int i = 0; i < salts_to_try(); ++i) {
    const Salted salted(1 + salts.at(static_cast<std::uint64_t>(i)) % kLargestSalt);
    Random cases = salts.stream(static_cast<std::uint64_t>(i));
    for (const Exercise& exercise : exercises()) {
      if (!sends_messages(exercise) && first_case_of(exercise).threads) continue;
      const AnyFunction solution = solution_of(exercise.name);
      std::vector<Case> all = subject_of(exercise, solution, solution).cases();
      // Replay lines do not have larger ones.
      std::erase_if(all, [](const Case& each) { return each.count.value_or(0) >= 10'000; });
      const auto some = static_cast<std::size_t>(cases.below(std::ssize(all)));
      check_solution(exercise, to_string(all[some]));
    }
    if (i % 100 == 99) MESSAGE((i + 1), " salts");
  }
}

}  // namespace rankbox
